package hub_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// TestLeaseOfResumed resumes a session and then, elsewhere, its conversation.
func TestLeaseOfResumed(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	first := l.awaitDone(s.ID, 1)
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.hub.Resume(l.ctx(), person, s.ID, api.Resume{Prompt: "@say again"}); err != nil {
		t.Fatal(err)
	}
	l.awaitDone(s.ID, 2)
	if _, err := l.hub.Create(l.ctx(), person, api.CreateSession{Dir: first.Dir, Resume: first.Conversation}); code(err) != api.CodeOwned {
		t.Errorf("resuming a conversation that a resumed session has: %v", err)
	}
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.journal.Lease(l.ctx(), "/config", first.Conversation); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("the lease is left behind: %v", err)
	}
}

// TestResumeFails retries a resume whose first start failed: its prompt must not
// be there twice.
func TestResumeFails(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(s.ID, 1)
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	l.launcher.mu.Lock()
	l.launcher.fail = errors.New("no such program")
	l.launcher.mu.Unlock()
	if _, err := l.hub.Resume(l.ctx(), person, s.ID, api.Resume{Prompt: "@say again"}); code(err) != api.CodeStartFailed {
		t.Errorf("a start that failed: %v", err)
	}
	if _, err := l.hub.Resume(l.ctx(), person, s.ID, api.Resume{Prompt: "@say again"}); err != nil {
		t.Fatal(err)
	}
	l.awaitDone(s.ID, 2)
	if n := strings.Count(strings.Join(l.launcher.of(s.ID).commands(), "\n"), "@say again"); n != 1 {
		t.Errorf("the CLI read the prompt %d times", n)
	}
}

// TestDeafProcess has a prompt fail on a process that takes no more input: it
// waits, and is not tried for ever.
func TestDeafProcess(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	shim := l.launcher.of(s.ID)
	shim.cut()
	wire := newDialler()
	a, _, err := l.hub.Attach(l.ctx(), shim.hello(), wire)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Lost(nil)
	l.send(s.ID, "@say hello")
	if err := a.Failed(l.ctx(), wire.await(t, 1).Number, "its input is closed"); err != nil {
		t.Fatal(err)
	}
	v := l.snapshot(s.ID)
	if len(v.Messages) != 1 || v.Messages[0].State != api.MessageQueued {
		t.Errorf("the message is %s", encode(v.Messages))
	}
	wire.mu.Lock()
	if len(wire.sent) != 1 {
		t.Errorf("it was sent %d times", len(wire.sent))
	}
	wire.mu.Unlock()
	// Another connection is another try.
	a.Lost(errors.New("cut"))
	wire = newDialler()
	if a, _, err = l.hub.Attach(l.ctx(), shim.hello(), wire); err != nil {
		t.Fatal(err)
	}
	wire.await(t, 1)
	a.Lost(errors.New("cut"))
}

// TestConflict has a commit refused: the session is read anew, and a run whose
// shim does not come back is still found dead.
func TestConflict(t *testing.T) {
	l := newLab(t)
	j := l.held()
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(s.ID, 1)
	j.failOnce(journal.ErrConflict)
	title := "x"
	if _, err := l.hub.Update(l.ctx(), person, s.ID, api.UpdateSession{Title: &title}); code(err) != api.CodeInternal {
		t.Errorf("a refused commit: %v", err)
	}
	l.awaitAnew(s.ID, "it is offline", func(s *api.Session) bool { return s.State == api.StateOffline })
	l.launcher.of(s.ID).kill()
	l.awaitAnew(s.ID, "it has ended", func(s *api.Session) bool { return s.State == api.StateEnded })
}

// awaitAnew is await for a session whose followers are sent away.
func (l *lab) awaitAnew(id, what string, ready func(*api.Session) bool) {
	l.t.Helper()
	ctx := l.ctx()
	for tick := time.NewTicker(10 * time.Millisecond); ; {
		s, err := l.hub.Snapshot(ctx, id)
		if err == nil && ready(s) {
			tick.Stop()
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			l.t.Fatalf("waiting until %s: %s, %v", what, encode(s), err)
		}
	}
}

// TestStoppedDialled stops a CLI that dialled in, resumes the session with a
// process of its own, and has the old one go on talking.
func TestStoppedDialled(t *testing.T) {
	l := newLab(t)
	grant, err := l.hub.DialGrant(l.ctx(), hub.DialRequest{Trusted: true, Name: "desk"})
	if err != nil {
		t.Fatal(err)
	}
	wire := newDialler()
	a, _, err := l.hub.AttachDialled(l.ctx(), hub.DialHello{Session: grant.Session, Run: grant.Run, Name: "desk"}, wire)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Connected(l.ctx(), false); err != nil {
		t.Fatal(err)
	}
	id := a.Session()
	init := `{"type":"system","subtype":"init","session_id":"c1","uuid":"u1","claude_code_version":"2.1.120","cwd":"` + t.TempDir() + `"}`
	l.send(id, "@say hello")
	wire.await(t, 2)
	if err := a.Receive(l.ctx(), []hub.Item{line(init)}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.hub.Stop(l.ctx(), person, id, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.hub.Resume(l.ctx(), person, id, api.Resume{Fresh: true}); err != nil {
		t.Fatal(err)
	}
	said := `{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"late"}]},"session_id":"c1","uuid":"u2"}`
	if err := a.Receive(l.ctx(), []hub.Item{line(said)}); !errors.Is(err, hub.ErrReplaced) {
		t.Errorf("a line of the run before: %v", err)
	}
	a.Lost(errors.New("closed"))
	l.send(id, "@say two")
	l.await(id, "the new process has answered", func(s *api.Session) bool { return s.Text == "two" && s.State == api.StateIdle })
	l.judgeRun(id, 2)
}

// judgeRun compares the log of a run with what its CLI wrote.
func (l *lab) judgeRun(id string, run int) {
	l.t.Helper()
	var logged []string
	for _, e := range l.events(id) {
		if e.Kind == api.KindLine && e.Run == run {
			logged = append(logged, string(e.Line))
		}
	}
	if wrote := l.launcher.of(id).lines(); strings.Join(wrote, "\n") != strings.Join(logged, "\n") {
		l.t.Errorf("the CLI wrote %d lines, the log has %d", len(wrote), len(logged))
	}
}

// TestDialWithShimToken dials in with the credential of a shim's run.
func TestDialWithShimToken(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	token := l.launcher.of(s.ID).spec.Token
	var owned *hub.OwnedError
	if grant, err := l.hub.DialGrant(l.ctx(), hub.DialRequest{Token: token, Name: s.ID}); !errors.As(err, &owned) {
		t.Errorf("it was granted %s, %v", encode(grant), err)
	}
	if _, _, err := l.hub.AttachDialled(l.ctx(), hub.DialHello{Session: s.ID, Run: 1}, newDialler()); !errors.As(err, &owned) {
		t.Errorf("attaching to a shim's run: %v", err)
	}
	if v := l.snapshot(s.ID); !v.Linked {
		t.Error("the shim was thrown out")
	}
}

// TestNameOfRemoved dials under a name whose session was removed.
func TestNameOfRemoved(t *testing.T) {
	l := newLab(t, func(o *hub.Options) { o.Rest = time.Nanosecond })
	a, _, err := l.hub.AttachDialled(l.ctx(), hub.DialHello{Name: "desk"}, newDialler())
	if err != nil {
		t.Fatal(err)
	}
	id := a.Session()
	if _, err := l.hub.Stop(l.ctx(), person, id, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	a.Lost(errors.New("closed"))
	ctx := l.ctx()
	for n := 0; n == 0; {
		if n, err = l.hub.Retain(ctx, journal.Retention{MaxAge: time.Nanosecond, Now: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	grant, err := l.hub.DialGrant(l.ctx(), hub.DialRequest{Trusted: true, Name: "desk"})
	if err != nil || grant.Session != "" {
		t.Errorf("the grant is %s, %v", encode(grant), err)
	}
}

func TestBadCursor(t *testing.T) {
	l := newLab(t)
	_, err := l.hub.List(l.ctx(), api.SessionFilter{Cursor: "nonsense"})
	if code(err) != api.CodeInvalid {
		t.Errorf("a cursor that is none of ours: %v", err)
	}
}

// TestClosing has a commit cut off by the end of the hub.
func TestClosing(t *testing.T) {
	l := newLab(t)
	j := l.held()
	created, _, a, _ := l.tee()
	release := j.hold()
	sent := make(chan error, 1)
	go func() {
		_, err := l.hub.Send(context.Background(), person, created.ID, api.SendMessage{Text: "hello"})
		sent <- err
	}()
	<-j.held
	go release()
	if err := l.hub.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil && code(err) != api.CodeClosing {
		t.Errorf("a message while the hub closes: %v", err)
	}
	a.Lost(nil)
	l.hub, _ = hub.New(context.Background(), l.options) // the lab closes it
}

// TestVersionOfNextRun resumes with another version than before.
func TestVersionOfNextRun(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(s.ID, 1)
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	l.launcher.mu.Lock()
	l.launcher.version = "2.1.37"
	l.launcher.mu.Unlock()
	resumed, err := l.hub.Resume(l.ctx(), person, s.ID, api.Resume{})
	if err != nil {
		t.Fatal(err)
	}
	if resumed.Version != "2.1.37" {
		t.Errorf("its version is said to be %s", resumed.Version)
	}
}

// TestNeverNamed resumes and copies conversations, ends the processes before they
// have named one, and sends a message: it goes on where it was meant to.
func TestNeverNamed(t *testing.T) {
	const old = "11111111-2222-4333-8444-555555555555"
	for _, fork := range []bool{false, true} {
		l := newLab(t)
		s := l.create(api.CreateSession{Resume: old, Fork: fork})
		l.await(s.ID, "it is there", func(s *api.Session) bool { return s.State == api.StateIdle || s.State == api.StateEnded })
		if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
			t.Fatal(err)
		}
		l.send(s.ID, "@say hello")
		l.await(s.ID, "it has a second process", func(s *api.Session) bool { return s.Run == 2 && (s.Linked || s.State == api.StateEnded) })
		if spec := l.launcher.of(s.ID).spec; spec.Resume != old || spec.Fork != fork {
			t.Errorf("the second process was started to resume %q (fork: %v)", spec.Resume, spec.Fork)
		}
	}
}

// A brokenJournal cannot read one session.
type brokenJournal struct {
	*journal.SQLite
	broken string
}

func (j *brokenJournal) Fold(ctx context.Context, session string) ([]byte, int64, error) {
	if session == j.broken {
		return nil, 0, errors.New("a damaged page")
	}
	return j.SQLite.Fold(ctx, session)
}

// TestOneBrokenSession opens a hub though one session cannot be read.
func TestOneBrokenSession(t *testing.T) {
	l := newLab(t)
	broken := l.create(api.CreateSession{Prompt: "@say hello"})
	sound := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(broken.ID, 1)
	l.awaitDone(sound.ID, 1)
	l.close()
	var err error
	if l.journal, err = journal.Open(context.Background(), l.dir, nil); err != nil {
		t.Fatal(err)
	}
	j := &brokenJournal{SQLite: l.journal, broken: broken.ID}
	l.options.Journal = j
	h, err := hub.New(context.Background(), l.options)
	if err != nil {
		_ = l.journal.Close()
		l.open()
		t.Fatal(err)
	}
	l.hub = h
	l.launcher.connectAll()
	l.await(sound.ID, "it is back", func(s *api.Session) bool { return s.Linked })
	if _, err := l.hub.Snapshot(l.ctx(), broken.ID); code(err) != api.CodeInternal {
		t.Errorf("the broken one: %v", err)
	}
}

// TestCloseDuringStart closes the hub while a process is being started: whoever
// asked is told, and the session is there when the hub is back.
func TestCloseDuringStart(t *testing.T) {
	l := newLab(t)
	hold := make(chan struct{})
	l.launcher.hold = hold
	created := make(chan error, 1)
	go func() {
		_, err := l.hub.Create(context.Background(), person, api.CreateSession{Dir: t.TempDir(), Prompt: "@say born", ClientID: "c"})
		created <- err
	}()
	for n := 0; n == 0; {
		list, err := l.hub.List(l.ctx(), api.SessionFilter{})
		if err != nil {
			t.Fatal(err)
		}
		n = len(list.Sessions)
	}
	l.launcher.listen(false)
	closed := make(chan error, 1)
	go func() { closed <- l.hub.Close() }()
	for {
		if _, err := l.hub.Snapshot(l.ctx(), "none"); code(err) == api.CodeClosing {
			break
		}
	}
	close(hold)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := <-created; code(err) != api.CodeClosing {
		t.Errorf("a start while the hub closes: %v", err)
	}
	l.launcher.hold = nil
	l.launcher.killAll()
	l.restart()
	list, err := l.hub.List(l.ctx(), api.SessionFilter{})
	if err != nil || len(list.Sessions) != 1 {
		t.Fatalf("%s, %v", encode(list), err)
	}
	l.await(list.Sessions[0].ID, "it has answered", func(s *api.Session) bool { return s.Text == "born" && s.State == api.StateIdle })
}

// TestLookWithoutRoom looks at sessions while the disk is full: at one that has
// something to write, and at one that has not.
func TestLookWithoutRoom(t *testing.T) {
	full := &fullJournal{}
	l := newLab(t)
	l.close()
	l.openWith(full)
	stuck, _, a, _ := l.tee()
	quiet, _, b, _ := l.tee()
	defer a.Lost(nil)
	defer b.Lost(nil)
	full.set(&journal.UnavailableError{Reason: "the disk is full", Err: errors.New("no space")})
	ctx, cancel := context.WithCancel(t.Context())
	received := make(chan error, 1)
	go func() { received <- a.Receive(l.ctx(), []hub.Item{numbered(1, bashQuestion("r1"))}) }()
	// Until it is known that nothing can be written a message waits.
	go func() {
		defer cancel()
		for {
			if _, err := l.hub.Send(ctx, person, quiet.ID, api.SendMessage{Text: "x", Mode: "nonsense"}); code(err) == api.CodeStorage {
				return
			}
		}
	}()
	<-ctx.Done()
	if _, err := l.hub.Snapshot(l.ctx(), quiet.ID); err != nil {
		t.Errorf("a session that has nothing to write: %v", err)
	}
	if _, err := l.hub.Snapshot(l.ctx(), stuck.ID); code(err) != api.CodeStorage {
		t.Errorf("a session that waits for room: %v", err)
	}
	gaveUp, stop := context.WithCancel(t.Context())
	stop()
	for range 3 {
		if _, err := l.hub.Snapshot(gaveUp, stuck.ID); err == nil {
			t.Error("a session that waits for room was shown")
		}
	}
	if n := l.hub.Waiting(stuck.ID); n > 1 { // the hub itself may look at what was announced
		t.Errorf("%d wait, where all have given up", n)
	}
	full.set(nil)
	if err := <-received; err != nil {
		t.Error(err)
	}
}

// TestLeaseAfterRestart keeps a conversation that no line of the run has named yet.
func TestLeaseAfterRestart(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	first := l.awaitDone(s.ID, 1)
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	second := l.create(api.CreateSession{Dir: first.Dir, Resume: first.Conversation})
	l.awaitState(second.ID, api.StateIdle)
	l.restart()
	if _, err := l.hub.Create(l.ctx(), person, api.CreateSession{Dir: first.Dir, Resume: first.Conversation}); code(err) != api.CodeOwned {
		t.Errorf("resuming a conversation that is in use: %v", err)
	}
}

// TestStopBeforeWritten stops a CLI that dialled in while nobody knows whether it
// has a prompt: that must not be sent again.
func TestStopBeforeWritten(t *testing.T) {
	l := newLab(t)
	wire := newDialler()
	a, _, err := l.hub.AttachDialled(l.ctx(), hub.DialHello{Name: "desk"}, wire)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Lost(nil)
	if err := a.Connected(l.ctx(), false); err != nil {
		t.Fatal(err)
	}
	l.send(a.Session(), "hello")
	wire.await(t, 2)
	stopped, err := l.hub.Stop(l.ctx(), person, a.Session(), api.Stop{})
	if err != nil || len(stopped.Messages) != 0 {
		t.Errorf("what may have been written waits to be sent again: %s, %v", encode(stopped), err)
	}
}

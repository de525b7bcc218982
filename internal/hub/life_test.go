package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/wire"
)

// TestRebuild folds the log anew and compares it with the tables.
func TestRebuild(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"make"}`, Title: "x"})
	asked := l.await(s.ID, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
	if _, err := l.hub.Answer(l.ctx(), person, asked.Questions[0].ID, api.Answer{Decision: "deny", Message: "no"}); err != nil {
		t.Fatal(err)
	}
	l.awaitDone(s.ID, 1)
	l.restart()
	l.await(s.ID, "it is back", func(s *api.Session) bool { return s.Linked })
	l.send(s.ID, `@tool Bash {"command":"make test"}`)
	l.await(s.ID, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
	l.send(s.ID, "@say later")
	stored, anew, row, questions, commands, err := l.hub.Projections(l.ctx(), s.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stored, anew); diff != "" {
		t.Errorf("folding on top of the stored fold differs from folding anew:\n%s", diff)
	}
	kept, err := l.journal.Session(l.ctx(), s.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(kept, row); diff != "" {
		t.Errorf("the row differs from what the log gives:\n%s", diff)
	}
	open, err := l.journal.Questions(l.ctx(), journal.QuestionQuery{Session: s.ID, State: "open"})
	if err != nil || len(open) != questions || questions != 1 {
		t.Errorf("%d open questions in the table, %d in the log (%v)", len(open), questions, err)
	}
	rows, err := l.journal.Commands(l.ctx(), s.ID, true)
	if err != nil || len(rows) != commands {
		t.Errorf("%d open commands in the table, %d in the log (%v)", len(rows), commands, err)
	}
}

// TestOffline queues for a session that cannot be reached, and resumes it only by
// force while its shim may live.
func TestOffline(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(s.ID, 1)
	shim := l.launcher.of(s.ID)
	shim.cut()
	l.awaitState(s.ID, api.StateOffline)
	m := l.send(s.ID, "@say queued")
	if m.State != api.MessageQueued {
		t.Errorf("the message is %s", m.State)
	}
	if _, err := l.hub.Resume(l.ctx(), person, s.ID, api.Resume{}); code(err) != api.CodeOffline {
		t.Errorf("resuming what may be alive: %v", err)
	}
	if _, err := l.hub.Interrupt(l.ctx(), person, s.ID, api.Interrupt{}); code(err) != api.CodeOffline {
		t.Errorf("interrupting it: %v", err)
	}
	if _, err := l.hub.Send(l.ctx(), person, s.ID, api.SendMessage{Text: "now", Mode: "steer"}); code(err) != api.CodeOffline {
		t.Errorf("steering it: %v", err)
	}
	resumed, err := l.hub.Resume(l.ctx(), person, s.ID, api.Resume{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	if resumed.Run != 2 {
		t.Errorf("after a resume by force the run is %d", resumed.Run)
	}
	done := l.await(s.ID, "it has answered", func(s *api.Session) bool { return s.Text == "queued" && s.State == api.StateIdle })
	if done.Run != 2 || shim.lives() {
		t.Errorf("run %d, the old shim lives: %v", done.Run, shim.lives())
	}
	l.judge(s.ID)
}

// TestGone connects the shim of a run that has ended.
func TestGone(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	hello := l.launcher.of(s.ID).hello()
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	var gone *hub.GoneError
	if _, _, err := l.hub.Attach(l.ctx(), hello, &conn{}); !errors.As(err, &gone) || !strings.Contains(gone.Reason, "ended") {
		t.Errorf("the shim of an ended run got %v", err)
	}
	stranger := hello
	stranger.Token = "sbr_" + s.ID + "_1_guess"
	if _, _, err := l.hub.Attach(l.ctx(), stranger, &conn{}); !errors.Is(err, hub.ErrCredential) {
		t.Errorf("a stranger got %v", err)
	}
	unknown := hello
	unknown.Session = "sunknown"
	if _, _, err := l.hub.Attach(l.ctx(), unknown, &conn{}); !errors.As(err, &gone) {
		t.Errorf("the shim of an unknown session got %v", err)
	}
}

// TestOwned connects a second shim to a run.
func TestOwned(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	hello := l.launcher.of(s.ID).hello()
	hello.Instance = "another"
	var owned *hub.OwnedError
	if _, _, err := l.hub.Attach(l.ctx(), hello, &conn{}); !errors.As(err, &owned) {
		t.Errorf("another instance got %v", err)
	}
	hello.Token = "wrong"
	if _, _, err := l.hub.Attach(l.ctx(), hello, &conn{}); !errors.Is(err, hub.ErrCredential) {
		t.Errorf("a wrong credential got %v", err)
	}
}

// TestRestoredBackup puts an older journal under a shim that goes on.
func TestRestoredBackup(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: "@say one"})
	l.awaitDone(s.ID, 1)
	l.close()
	backup := t.TempDir()
	if err := os.CopyFS(backup, os.DirFS(l.dir)); err != nil {
		t.Fatal(err)
	}
	l.open()
	l.await(s.ID, "it is back", func(s *api.Session) bool { return s.Linked })
	l.send(s.ID, "@say two")
	lost := l.awaitDone(s.ID, 2).LastEventID
	shim := l.launcher.of(s.ID)
	l.close()
	shim.forget() // as the real one does with what was acknowledged
	l.dir = filepath.Join(t.TempDir(), "restored")
	if err := os.CopyFS(l.dir, os.DirFS(backup)); err != nil {
		t.Fatal(err)
	}
	l.open()
	l.await(s.ID, "it is back", func(s *api.Session) bool { return s.Linked })
	l.send(s.ID, "@say three")
	done := l.await(s.ID, "it has answered", func(s *api.Session) bool { return s.Text == "three" && s.State == api.StateIdle })
	if page, err := l.hub.Events(l.ctx(), s.ID, lost, 1); err != nil || page.Resume != "reset" {
		t.Errorf("who has seen what was lost is told %s, %v", encode(page), err)
	}
	gaps := 0
	for _, e := range l.events(s.ID) {
		if e.Kind == api.KindGap {
			gaps++
		}
	}
	if gaps != 2 || done.Text != "three" {
		t.Errorf("%d gaps (one of lines, one of commands expected): %s", gaps, kinds(l.events(s.ID)))
	}
	if got := len(shim.commands()); got != 4 {
		t.Errorf("the CLI read %d lines, want initialize and three prompts: %q", got, shim.commands())
	}
}

// forget drops what was acknowledged.
func (s *shim) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items = nil
}

func TestResumeAndFork(t *testing.T) {
	l := newLab(t)
	l.launcher.history = map[string][]string{"11111111-2222-4333-8444-555555555555": {
		`{"type":"user","message":{"role":"user","content":"before"},"uuid":"u1","session_id":"11111111-2222-4333-8444-555555555555"}`,
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"long ago"}]},"uuid":"u2","session_id":"11111111-2222-4333-8444-555555555555"}`,
	}}
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	first := l.awaitDone(s.ID, 1)
	if _, err := l.hub.Create(l.ctx(), person, api.CreateSession{Dir: first.Dir, Resume: first.Conversation}); code(err) != api.CodeOwned {
		t.Errorf("resuming a conversation that is in use: %v", err)
	}
	fork, err := l.hub.Fork(l.ctx(), person, s.ID, api.Fork{Prompt: "@say forked", ClientID: "f"})
	if err != nil {
		t.Fatal(err)
	}
	forked := l.awaitDone(fork.ID, 1)
	if forked.Conversation == first.Conversation || forked.Text != "forked" {
		t.Errorf("the fork is %s", encode(forked))
	}
	if again, err := l.hub.Fork(l.ctx(), person, s.ID, api.Fork{Prompt: "@say forked", ClientID: "f"}); err != nil || again.ID != fork.ID {
		t.Errorf("forking with the same client id gave %v", err)
	}
	// A conversation that was begun elsewhere brings its history.
	created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Dir: first.Dir, Resume: "11111111-2222-4333-8444-555555555555"})
	if err != nil {
		t.Fatal(err)
	}
	if events := kinds(l.events(created.ID)); !strings.Contains(events, "history history") {
		t.Errorf("the history is missing: %s", events)
	}
	// A copy from the middle brings what the agent is told, and no more.
	l.launcher.history[first.Conversation] = l.launcher.history["11111111-2222-4333-8444-555555555555"]
	middle, err := l.hub.Fork(l.ctx(), person, s.ID, api.Fork{At: "u1"})
	if err != nil {
		t.Fatal(err)
	}
	if n := l.count(middle.ID, api.KindHistory); n != 1 {
		t.Errorf("a copy up to the first line shows %d of them", n)
	}
	none, err := l.hub.Create(l.ctx(), person, api.CreateSession{Dir: first.Dir, Resume: "11111111-2222-4333-8444-666666666666"})
	if err != nil {
		t.Fatal(err)
	}
	if events := kinds(l.events(none.ID)); !strings.Contains(events, "notice") {
		t.Errorf("nobody is told that the history is missing: %s", events)
	}
}

// TestFresh uses a new process for each turn.
func TestFresh(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: "@say one", Options: api.SessionOptions{Fresh: true}})
	l.send(s.ID, "@say two")
	done := l.await(s.ID, "both are done", func(s *api.Session) bool { return s.State == api.StateEnded && s.Text == "two" })
	if done.Run != 2 || len(done.Conversations) != 2 {
		t.Errorf("%d runs, conversations %s", done.Run, encode(done.Conversations))
	}
	l.send(s.ID, "@say three")
	l.await(s.ID, "the third is done", func(s *api.Session) bool { return s.State == api.StateEnded && s.Text == "three" && s.Run == 3 })
}

// TestPutAway lets a session rest and uses it again.
func TestPutAway(t *testing.T) {
	l := newLab(t, func(o *hub.Options) { o.Rest = time.Nanosecond })
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(s.ID, 1)
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	l.launcher.of(s.ID).cut() // a shim whose CLI has ended leaves
	ctx := l.ctx()
	for l.hub.InUse() > 0 {
		if ctx.Err() != nil {
			t.Fatal("the session was not evicted")
		}
		runtime.Gosched()
	}
	for i := range 20 {
		if v := l.snapshot(s.ID); v.State != api.StateEnded || v.Text != "hello" {
			t.Fatalf("time %d: %s", i, encode(v))
		}
	}
	l.send(s.ID, "@say again")
	l.await(s.ID, "it has answered", func(s *api.Session) bool { return s.Text == "again" && s.State == api.StateIdle })
}

// TestDiskFull stops the intake while nothing can be written, and loses nothing.
func TestDiskFull(t *testing.T) {
	full := &fullJournal{}
	l := newLab(t)
	l.close()
	l.openWith(full)
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(s.ID, 1)
	full.set(&journal.UnavailableError{Reason: "the disk is full", Err: errors.New("no space")})
	ctx, cancel := context.WithCancel(l.ctx())
	var leaving sync.WaitGroup
	leaving.Go(func() {
		defer cancel()
		// The first refusal is known to the hub when it tries again.
		for full.refusals() < 2 && ctx.Err() == nil {
			runtime.Gosched()
		}
	})
	_, err := l.hub.Send(ctx, person, s.ID, api.SendMessage{Text: "@flood 30\n@say later", ClientID: "x"})
	cancel()
	leaving.Wait()
	if code(err) != api.CodeStorage {
		t.Errorf("sending without room: %v", err)
	}
	full.set(nil)
	done := l.awaitDone(s.ID, 2)
	if done.Text != "later" {
		t.Errorf("the last text is %q", done.Text)
	}
	again, err := l.hub.Send(l.ctx(), person, s.ID, api.SendMessage{Text: "@flood 30\n@say later", ClientID: "x"})
	if err != nil {
		t.Errorf("asking what became of it: %s, %v", encode(again), err)
	}
	l.judge(s.ID)
	if n := strings.Count(fmt.Sprint(l.launcher.of(s.ID).commands()), "@say later"); n != 1 {
		t.Errorf("the CLI read the message %d times", n)
	}
}

// TestUnborn finds a run whose process was never started, because the hub was
// killed before it could.
func TestUnborn(t *testing.T) {
	l := newLab(t)
	hold := make(chan struct{})
	l.launcher.hold = hold
	created := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := l.hub.Create(ctx, person, api.CreateSession{Dir: t.TempDir(), Prompt: "@say born"})
		created <- err
	}()
	var id string
	for id == "" {
		list, err := l.hub.List(l.ctx(), api.SessionFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Sessions) == 1 && list.Sessions[0].State == api.StateStarting {
			id = list.Sessions[0].ID
		}
	}
	cancel()
	<-created
	// The journal as it would be if the hub were killed now.
	copied := t.TempDir()
	if err := l.journal.Backup(l.ctx(), filepath.Join(copied, "journal.db")); err != nil {
		t.Fatal(err)
	}
	close(hold)
	l.close()
	l.launcher.killAll()
	l.dir = copied
	l.open()
	done := l.await(id, "it has answered", func(s *api.Session) bool { return s.Text == "born" && s.State == api.StateIdle })
	if done.Run != 2 {
		t.Errorf("run %d", done.Run)
	}
	l.judge(id)
}

// TestCreateLeft has who creates a session go away while it is written. It is there
// all the same: its process has been started, and would belong to nobody.
func TestCreateLeft(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var creating atomic.Bool
	l := newLab(t, func(o *hub.Options) {
		o.Watch = time.Hour // then only steps ask for the time
		o.Now = func() time.Time {
			if creating.Load() {
				cancel()
			}
			return time.Now()
		}
	})
	creating.Store(true)
	if _, err := l.hub.Create(ctx, person, api.CreateSession{Dir: t.TempDir(), Prompt: "@say born"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("who went away was told %v", err)
	}
	list, err := l.hub.List(l.ctx(), api.SessionFilter{})
	if err != nil || len(list.Sessions) != 1 {
		t.Fatalf("there are %d sessions (%v), want 1", len(list.Sessions), err)
	}
	id := list.Sessions[0].ID
	l.await(id, "it has answered", func(s *api.Session) bool { return s.Text == "born" && s.State == api.StateIdle })
	l.judge(id)
}

// TestRetain removes what is too old and spares what is in use.
func TestRetain(t *testing.T) {
	l := newLab(t, func(o *hub.Options) { o.Rest = time.Hour })
	var ids []string
	for range 2 {
		s := l.create(api.CreateSession{})
		l.awaitState(s.ID, api.StateIdle)
		if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, s.ID)
	}
	limits := journal.Retention{MaxAge: time.Minute, Now: time.Now().Add(time.Hour)}
	if n, err := l.hub.Retain(l.ctx(), limits); err != nil || n != 0 {
		t.Errorf("%d sessions in use were removed, %v", n, err)
	}
	l.launcher.killAll() // as shims do whose CLI has ended
	l.restart()
	l.snapshot(ids[1])
	if n, err := l.hub.Retain(l.ctx(), limits); err != nil || n != 1 {
		t.Errorf("%d sessions were removed, %v; want the one that nobody uses", n, err)
	}
	if _, err := l.hub.Snapshot(l.ctx(), ids[0]); code(err) != api.CodeNotFound {
		t.Errorf("the removed session: %v", err)
	}
	l.snapshot(ids[1])
}

// TestResumeOnce repeats a resume with the same client id: there is one process.
func TestResumeOnce(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(s.ID, 1)
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		resumed, err := l.hub.Resume(l.ctx(), person, s.ID, api.Resume{ClientID: "again", Force: true, Prompt: "@say once more"})
		if err != nil || resumed.Run != 2 {
			t.Fatalf("run %d, %v", resumed.Run, err)
		}
	}
	l.await(s.ID, "it has answered", func(s *api.Session) bool { return s.Text == "once more" && s.State == api.StateIdle })
	l.judge(s.ID)
	if n := strings.Count(fmt.Sprint(l.launcher.of(s.ID).commands()), "once more"); n != 1 {
		t.Errorf("the prompt was sent %d times", n)
	}
}

// TestUpdateIsKept starts the next process in the mode that the last one was
// switched to.
func TestUpdateIsKept(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Options: api.SessionOptions{Model: "opus", PermissionMode: "acceptEdits", Settings: []byte(`{"env":{"KEY":"secret"}}`)}})
	l.awaitState(s.ID, api.StateIdle)
	mode, model := wire.PermissionMode("plan"), "haiku"
	if _, err := l.hub.Update(l.ctx(), person, s.ID, api.UpdateSession{PermissionMode: &mode, Model: &model}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.hub.Resume(l.ctx(), person, s.ID, api.Resume{}); err != nil {
		t.Fatal(err)
	}
	l.awaitState(s.ID, api.StateIdle)
	spec := l.launcher.of(s.ID).spec
	if spec.Run != 2 || spec.Options.PermissionMode != "plan" || spec.Options.Model != "haiku" || len(spec.Options.Settings) == 0 {
		t.Errorf("the next process was started with %s", encode(spec.Options))
	}
	if shown := encode(l.snapshot(s.ID)) + encode(l.events(s.ID)); strings.Contains(shown, "secret") {
		t.Error("settings are shown to everybody")
	}
}

// TestContentOnce keeps what a message says in one entry alone.
func TestContentOnce(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	shim := l.launcher.of(s.ID)
	shim.cut()
	l.awaitState(s.ID, api.StateOffline)
	m := l.send(s.ID, "@say a long story")
	l.restart()
	l.awaitDone(s.ID, 1)
	told := 0
	for _, e := range l.events(s.ID) {
		if e.Kind == api.KindMessage && strings.Contains(string(e.Data), "a long story") {
			told++
		}
	}
	rows, err := l.journal.Commands(l.ctx(), s.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	kept := ""
	for _, row := range rows {
		if row.ID == m.ID {
			kept = string(row.Data)
		}
	}
	if told != 1 || !strings.Contains(kept, "a long story") {
		t.Errorf("%d entries tell it, and its row is %s", told, kept)
	}
	l.judge(s.ID)
}

// TestResumeKeepsHidden resumes with the options of a snapshot, one of them changed: what the snapshot does not show is not lost by it.
func TestResumeKeepsHidden(t *testing.T) {
	l := newLab(t)
	given := api.SessionOptions{
		Env: map[string]string{"TOKEN": "secret"}, Settings: json.RawMessage(`{"permissions":{"deny":["Bash(rm:*)"]}}`), MCPServers: json.RawMessage(`{"srv":{"command":"srv"}}`),
	}
	s := l.create(api.CreateSession{Prompt: "@say hello", Options: given})
	l.awaitDone(s.ID, 1)
	again := func(change func(*api.SessionOptions)) api.SessionOptions {
		t.Helper()
		l.await(s.ID, "it can be reached", func(s *api.Session) bool { return s.State == api.StateIdle })
		stopped, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{})
		if err != nil {
			t.Fatal(err)
		}
		change(stopped.Options)
		if _, err := l.hub.Resume(l.ctx(), person, s.ID, api.Resume{Options: stopped.Options}); err != nil {
			t.Fatal(err)
		}
		return l.launcher.of(s.ID).spec.Options
	}
	got := again(func(o *api.SessionOptions) { o.Model = "another" })
	if got.Model != "another" || got.Env["TOKEN"] != "secret" || string(got.Settings) != string(given.Settings) || string(got.MCPServers) != string(given.MCPServers) {
		t.Errorf("the next process was started with %s", encode(got))
	}
	got = again(func(o *api.SessionOptions) { o.Settings = json.RawMessage(`{}`) })
	if string(got.Settings) != "{}" || got.Env["TOKEN"] != "secret" {
		t.Errorf("without settings it was started with %s", encode(got))
	}
}

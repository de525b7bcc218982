package hub_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/wire"
)

// TestProgramsOwn asks for what the program alone may do with its CLI, without its
// leave to steer and with it. Nothing of what is refused is sent.
func TestProgramsOwn(t *testing.T) {
	for _, steer := range []bool{false, true} {
		l := newLab(t, func(o *hub.Options) { o.Watch = time.Hour })
		created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Transport: "tee"})
		if err != nil {
			t.Fatal(err)
		}
		w := newDialler()
		a, _, err := l.hub.Attach(l.ctx(), hub.Hello{Hello: link.Hello{Session: created.ID, Run: 1, Instance: "i", Next: 1, Oldest: 1, Tee: true, Steer: steer}, Token: created.Token}, w)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Lost(nil)
		if err := a.Receive(l.ctx(), []hub.Item{numbered(1, bashQuestion("r1"))}); err != nil {
			t.Fatal(err)
		}
		refused := func(what string, err error) {
			t.Helper()
			if code(err) != api.CodeConflict || !strings.Contains(err.Error(), "another program") {
				t.Errorf("%s, steer %t: %v", what, steer, err)
			}
		}
		_, err = l.hub.Stop(l.ctx(), person, created.ID, api.Stop{})
		refused("stop", err)
		_, err = l.hub.Stop(l.ctx(), person, created.ID, api.Stop{Force: true})
		refused("stop by force", err)
		_, err = l.hub.Resume(l.ctx(), person, created.ID, api.Resume{Force: true})
		refused("resume by force", err)
		_, err = l.hub.Control(l.ctx(), person, created.ID, &wire.SetModelRequest{Model: "m"})
		refused("another model", err)
		if !steer {
			_, err = l.hub.Interrupt(l.ctx(), person, created.ID, api.Interrupt{})
			refused("interrupt", err)
			_, err = l.hub.Send(l.ctx(), person, created.ID, api.SendMessage{Text: "hello"})
			refused("a prompt", err)
		} else if _, err = l.hub.Send(l.ctx(), person, created.ID, api.SendMessage{Text: "hello"}); err != nil {
			t.Errorf("a prompt: %v", err)
		}
		w.mu.Lock()
		if len(w.sent) != 0 {
			t.Errorf("the CLI was sent %d lines", len(w.sent))
		}
		w.mu.Unlock()
		// What it asks people may be answered here.
		q := l.question(created.ID)
		l.answer(q.ID, api.Answer{Decision: "deny", Message: "no"})
		w.await(t, 1)
	}
}

// TestProgramNeverCame has a program's CLI announced that never comes, and one that
// comes and is lost: only the first is over.
func TestProgramNeverCame(t *testing.T) {
	clock := &clock{now: noon}
	l := newLab(t, func(o *hub.Options) { o.Now, o.Watch = clock.Now, 10*time.Millisecond })
	never, err := l.hub.Create(l.ctx(), person, api.CreateSession{Transport: "tee"})
	if err != nil {
		t.Fatal(err)
	}
	lost, _, a, _ := l.tee()
	a.Lost(nil)
	l.awaitState(lost.ID, api.StateOffline)
	clock.add(2 * time.Minute)
	l.awaitState(never.ID, api.StateEnded)
	late := hub.Hello{Hello: link.Hello{Session: never.ID, Run: 1, Instance: "i", Next: 1, Oldest: 1, Tee: true}, Token: never.Token}
	var gone *hub.GoneError
	if _, _, err := l.hub.Attach(l.ctx(), late, newDialler()); !errors.As(err, &gone) {
		t.Errorf("one that comes after all: %v; want it told to announce another", err)
	}
	if s, err := l.hub.Snapshot(l.ctx(), lost.ID); err != nil || s.State != api.StateOffline {
		t.Errorf("the one that is lost is %v, %v", s, err)
	}
}

// TestPromptForAbsentProgram has somebody prompt a program's CLI that cannot be reached.
// Whether that is allowed is not known, and it is not kept until somebody finds it.
func TestPromptForAbsentProgram(t *testing.T) {
	l := newLab(t, func(o *hub.Options) { o.Watch = time.Hour })
	created, hello, a, _ := l.tee()
	a.Lost(nil)
	l.awaitState(created.ID, api.StateOffline)
	if _, err := l.hub.Send(l.ctx(), person, created.ID, api.SendMessage{Text: "hello"}); code(err) != api.CodeOffline {
		t.Errorf("a prompt while there is no link: %v", err)
	}
	w := newDialler()
	if a, _, err := l.hub.Attach(l.ctx(), hello, w); err != nil {
		t.Fatal(err)
	} else {
		defer a.Lost(nil)
	}
	if _, err := l.hub.Send(l.ctx(), person, created.ID, api.SendMessage{Text: "hello"}); err != nil {
		t.Errorf("a prompt when it is back: %v", err)
	}
}

// TestLeftBehind has a program's CLI die, and what it kept for a hub come when the run is
// known to have ended: it is all there, but nothing is asked, nothing is held, and the run
// has ended as it had. What comes when the next run has begun is refused.
func TestLeftBehind(t *testing.T) {
	var asked []string
	l := newLab(t, func(o *hub.Options) {
		o.Left = func(_ context.Context, _ *hub.Hub, _, session string, run int) error {
			asked = append(asked, fmt.Sprintf("%s-%d", session, run)) // by one goroutine, and looked at when that has gone on
			return errors.New("not yet")
		}
	})
	created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Transport: "tee", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	hello := hub.Hello{Hello: link.Hello{Session: created.ID, Run: 1, Instance: "i", Next: 1, Oldest: 1, Tee: true, PID: 1 << 30, PIDStart: "dead"}, Token: created.Token}
	a, _, err := l.hub.Attach(l.ctx(), hello, newDialler())
	if err != nil {
		t.Fatal(err)
	}
	a.Lost(nil)
	before := l.awaitState(created.ID, api.StateEnded)
	if len(asked) != 1 || asked[0] != created.ID+"-1" {
		t.Errorf("what is left was asked for as %q", asked)
	}
	hello.Token, hello.Next = "", 5
	a, welcome, err := l.hub.AttachSpool(l.ctx(), hello, newDialler())
	if err != nil || welcome.Have != 0 {
		t.Fatalf("%+v, %v", welcome, err)
	}
	items := []hub.Item{
		numbered(1, `{"type":"system","subtype":"init","session_id":"11111111-2222-4333-8444-555555555555","cwd":"/w","tools":[],"model":"m"}`),
		numbered(2, `{"type":"control_request","request_id":"h","request":{"subtype":"hook_callback","callback_id":"x","input":{}}}`),
		numbered(3, bashQuestion("r1")),
		{Record: link.Record{Kind: link.Happened, Number: 4, Bytes: []byte(`{"event":"exited","code":0}`)}},
	}
	if err := a.Receive(l.ctx(), items); err != nil {
		t.Fatal(err)
	}
	a.Lost(nil)
	after := l.snapshot(created.ID)
	if after.State != api.StateEnded || len(after.Questions) != 0 || after.Ended.Reason != before.Ended.Reason {
		t.Errorf("it is %s with %d questions, ended as %+v", after.State, len(after.Questions), after.Ended)
	}
	if got := kinds(l.events(created.ID)); strings.Count(got, "line:control_request") != 2 || strings.Count(got, "line:system") != 1 || strings.Contains(got, api.KindSent) {
		t.Errorf("the log has %s", got)
	}
	other, err := l.hub.Create(l.ctx(), person, api.CreateSession{Dir: t.TempDir(), Resume: after.Conversation})
	if err != nil {
		t.Fatalf("somebody else wants the conversation %q: %v", after.Conversation, err)
	}
	l.await(other.ID, "its agent is there, or has ended", func(s *api.Session) bool { return s.Linked || s.State == api.StateEnded })
	if _, err := l.hub.Stop(l.ctx(), person, other.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.hub.Resume(l.ctx(), person, created.ID, api.Resume{}); err != nil {
		t.Fatal(err)
	}
	var gone *hub.GoneError
	if _, _, err := l.hub.AttachSpool(l.ctx(), hello, newDialler()); !errors.As(err, &gone) {
		t.Errorf("what comes in the next run: %v", err)
	}
}

// TestLeftUnrefused has what a program's CLI asked the program come while the run is taken
// to be alive. It was the program's to answer: the hub refuses nothing of it.
func TestLeftUnrefused(t *testing.T) {
	l := newLab(t, func(o *hub.Options) { o.Watch = time.Hour })
	created, hello, a, _ := l.tee()
	a.Lost(nil)
	l.awaitState(created.ID, api.StateOffline)
	hello.Tee, hello.Token = false, "" // a file does not tell
	a, _, err := l.hub.AttachSpool(l.ctx(), hello, newDialler())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Lost(nil)
	if err := a.Receive(l.ctx(), []hub.Item{numbered(1, `{"type":"control_request","request_id":"h","request":{"subtype":"hook_callback","callback_id":"x","input":{}}}`)}); err != nil {
		t.Fatal(err)
	}
	if got := kinds(l.events(created.ID)); strings.Contains(got, api.KindSent) {
		t.Errorf("the log has %s", got)
	}
}

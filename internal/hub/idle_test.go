package hub_test

import (
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// TestIdle ends the process of a session that has been idle for long, and not
// before; a message starts another.
func TestIdle(t *testing.T) {
	l := newLimited(t, []budget.Budget{{Name: "rest", Per: "session", Idle: time.Hour, Action: "ask"}})
	s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"make"}`})
	asked := l.await(s.ID, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
	l.pass(5 * time.Hour)
	if got := l.snapshot(s.ID); got.State != api.StateRequiresAction || got.Budgets[0].Used != 0 {
		t.Errorf("while it asks it is %s", encode(got))
	}
	if _, err := l.hub.Answer(l.ctx(), person, asked.Questions[0].ID, api.Answer{Decision: "deny", Message: "no"}); err != nil {
		t.Fatal(err)
	}
	l.awaitDone(s.ID, 1)
	l.pass(50 * time.Minute)
	// A restart of the hub does not make it less idle.
	l.restart()
	l.await(s.ID, "it is back", func(s *api.Session) bool { return s.Linked && s.State == api.StateIdle })
	if got := l.snapshot(s.ID); got.Budgets[0].Used != 3000 {
		t.Errorf("it has been idle for %s", encode(got.Budgets))
	}
	l.pass(9 * time.Minute)
	if got := l.snapshot(s.ID); got.State != api.StateIdle {
		t.Errorf("too soon it is %s", encode(got))
	}
	l.pass(time.Minute)
	ended := l.awaitState(s.ID, api.StateEnded)
	if ended.Ended.Reason != `the budget "rest" is used up: the session has been idle for 1h0m0s` || len(ended.Holds) != 0 {
		t.Errorf("it ended because %s", encode(ended.Ended))
	}
	if told := l.told(s.ID); len(told) != 1 || !told[0].Over || told[0].Unit != "idle" {
		t.Errorf("told was %s", encode(told))
	}
	l.pass(10 * time.Hour)
	l.send(s.ID, "@say again")
	if got := l.awaitDone(s.ID, 2); got.Run != 2 {
		t.Errorf("it goes on as run %d", got.Run)
	}
	l.sameProjections(s.ID)
	if got := l.post.kinds(s.ID); got != "needs_input done limit done" {
		t.Errorf("the notifications are %s", got)
	}
}

// TestIdleWarn only tells of it, once for each time that the session is idle.
func TestIdleWarn(t *testing.T) {
	l := newLimited(t, []budget.Budget{{Name: "rest", Per: "session", Idle: time.Hour, Action: "warn"}})
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	for i := range 2 {
		l.awaitDone(s.ID, int64(i)+1)
		for range 3 {
			l.pass(time.Hour)
			if got := l.snapshot(s.ID); got.State != api.StateIdle {
				t.Fatalf("it is %s", encode(got))
			}
		}
		if n := len(l.told(s.ID)); n != i+1 {
			t.Errorf("it was told %d times", n)
		}
		if i == 0 {
			l.send(s.ID, "@say more")
		}
	}
	l.sameProjections(s.ID)
}

// TestIdleMeanwhile sends a message while the idle process is being ended: another
// is started for it.
func TestIdleMeanwhile(t *testing.T) {
	l := newLimited(t, []budget.Budget{{Name: "rest", Per: "session", Idle: time.Hour, Action: "interrupt"}})
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(s.ID, 1)
	shim := l.launcher.of(s.ID)
	shim.cut()
	l.awaitState(s.ID, api.StateOffline)
	w := newDialler()
	a, welcome, err := l.hub.Attach(l.ctx(), shim.hello(), w)
	if err != nil {
		t.Fatal(err)
	}
	l.pass(time.Hour)
	l.await(s.ID, "it was told", func(*api.Session) bool { return len(l.told(s.ID)) == 1 })
	l.send(s.ID, "@say in time")
	w.mu.Lock()
	stopped, sent := w.stopped, len(w.sent)
	w.mu.Unlock()
	if !strings.Contains(stopped, "idle for 1h0m0s") || sent != 0 {
		t.Fatalf("it was stopped because %q, and sent %d commands", stopped, sent)
	}
	exited := hub.Item{Record: link.Record{Number: welcome.Have + 1, Kind: link.Happened, Bytes: []byte(`{"event":"exited","code":0,"requested":true}`)}}
	if err := a.Receive(l.ctx(), []hub.Item{exited}); err != nil {
		t.Fatal(err)
	}
	a.Lost(nil)
	shim.kill()
	if got := l.awaitDone(s.ID, 2); got.Run != 2 {
		t.Errorf("it goes on as run %d", got.Run)
	}
	l.sameProjections(s.ID)
}

// TestIdleTwice tells of each budget for idle sessions by itself.
func TestIdleTwice(t *testing.T) {
	l := newLimited(t, []budget.Budget{
		{Name: "soon", Per: "session", Idle: time.Hour, Action: "warn"},
		{Name: "end", Per: "session", Idle: 2 * time.Hour, Action: "ask"},
	})
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(s.ID, 1)
	l.pass(time.Hour)
	l.await(s.ID, "the first is told", func(*api.Session) bool { return len(l.told(s.ID)) == 1 })
	l.pass(time.Hour)
	l.awaitState(s.ID, api.StateEnded)
	if told := l.told(s.ID); len(told) != 2 || told[0].Name != "soon" || told[1].Name != "end" {
		t.Errorf("told was %s", encode(told))
	}
	l.sameProjections(s.ID)
}

package hub_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// TestRetry sends the prompt of a failed turn again: whole, and once.
func TestRetry(t *testing.T) {
	l := newLab(t)
	long := "@error 400\nx " + strings.Repeat("long ", 200)
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(s.ID, 1)
	if _, err := l.hub.Retry(l.ctx(), person, s.ID); code(err) != api.CodeConflict {
		t.Errorf("retrying what did not fail: %v", err)
	}
	l.send(s.ID, long)
	l.await(s.ID, "it has failed", func(s *api.Session) bool { return s.Failed && s.State == api.StateIdle })
	m, err := l.hub.Retry(l.ctx(), person, s.ID)
	if err != nil {
		t.Fatal(err)
	}
	if m.Text != long || m.By != person.Name {
		t.Errorf("the message is %s", encode(m))
	}
	l.await(s.ID, "it has failed again", func(s *api.Session) bool { return s.Failed && s.Cost.Turns == 3 })

	// The same after the process has gone: another one is started for it.
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	l.restart()
	if m, err = l.hub.Retry(l.ctx(), person, s.ID); err != nil || m.Text != long {
		t.Fatalf("%s, %v", encode(m), err)
	}
	l.await(s.ID, "it has failed once more", func(s *api.Session) bool { return s.Failed && s.Cost.Turns == 4 && s.Run == 2 })
}

// TestRetryQueued retries a session whose process could not be started: its prompt is
// still queued, and not sent twice.
func TestRetryQueued(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(s.ID, 1)
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	l.launcher.mu.Lock()
	l.launcher.fail = errors.New("no such program")
	l.launcher.mu.Unlock()
	sent := l.send(s.ID, "@say again")
	l.await(s.ID, "it has ended", func(s *api.Session) bool { return s.Run == 2 && s.Failed })
	m, err := l.hub.Retry(l.ctx(), person, s.ID)
	if err != nil || m.ID != sent.ID {
		t.Fatalf("%s, %v", encode(m), err)
	}
	done := l.await(s.ID, "it has answered", func(s *api.Session) bool { return s.Text == "again" && s.State == api.StateIdle })
	if done.Cost.Turns != 2 || done.Failed {
		t.Errorf("afterwards it is %s", encode(done))
	}
}

// TestListed shows what a list of sessions tells of those that nobody named: the
// first line of the first prompt, whatever comes after it, what the agent said last,
// and which failed.
func TestListed(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: "\n  @say  The slugs\tare fixed.\n@say That was\n@say all.\n"})
	l.awaitDone(s.ID, 1)
	named := l.create(api.CreateSession{Title: "Named", Prompt: "@error 400"})
	l.awaitDone(named.ID, 1)
	l.send(s.ID, "@say Something else.\n\nIt has **two** parts.")
	l.awaitDone(s.ID, 2)
	empty := l.create(api.CreateSession{})
	l.awaitState(empty.ID, api.StateIdle)

	check := func(f api.SessionFilter, want map[string][3]any) {
		t.Helper()
		list, err := l.hub.List(l.ctx(), f)
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Sessions) != len(want) {
			t.Errorf("%v lists %s", f.State, encode(list.Sessions))
		}
		for _, got := range list.Sessions {
			if w := want[got.ID]; got.Title != w[0] || got.Text != w[1] || got.Failed != w[2] {
				t.Errorf("session %s, expected %v", encode(got), w)
			}
			v := l.snapshot(got.ID)
			if v.Title != got.Title || v.Failed != got.Failed {
				t.Errorf("the list has %s, the snapshot %q, failed %v", encode(got), v.Title, v.Failed)
			}
		}
	}
	first := [3]any{"@say The slugs are fixed.", "Something else.", false}
	failed := [3]any{"Named", l.snapshot(named.ID).Text, true}
	all := map[string][3]any{s.ID: first, named.ID: failed, empty.ID: {"", "", false}}
	check(api.SessionFilter{}, all)
	check(api.SessionFilter{State: []api.State{api.StateFailed}}, map[string][3]any{named.ID: failed})
	check(api.SessionFilter{State: []api.State{api.StateEnded}}, nil)
	l.restart()
	check(api.SessionFilter{}, all)

	// A long one is cut.
	long := l.create(api.CreateSession{Prompt: "@say " + strings.Repeat("ä", 100)})
	if got := l.snapshot(long.ID).Title; got != "@say "+strings.Repeat("ä", 74)+"…" {
		t.Errorf("the title is %q", got)
	}
	l.awaitDone(long.ID, 1)
}

package hub_test

import (
	"errors"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// TestListFailed tells in the list of sessions which ones somebody should look into:
// those whose work has failed, until the next turn, and not what was stopped.
func TestListFailed(t *testing.T) {
	asks := func(l *lab, id string) {
		l.await(id, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
	}
	const ask = `@tool Bash {"command":"make"}`
	tests := []struct {
		name   string
		prompt string
		story  func(l *lab, id string)
		want   bool
	}{
		{"a turn", "@say hello", func(l *lab, id string) { l.awaitDone(id, 1) }, false},
		{"a turn that fails", "@error 400", func(l *lab, id string) { l.awaitDone(id, 1) }, true},
		{"and is stopped afterwards", "@error 400", func(l *lab, id string) {
			l.awaitDone(id, 1)
			if _, err := l.hub.Stop(l.ctx(), person, id, api.Stop{}); err != nil {
				l.t.Fatal(err)
			}
		}, true},
		{"and after a restart", "@error 400", func(l *lab, id string) {
			l.awaitDone(id, 1)
			l.restart()
			l.await(id, "it is back", func(s *api.Session) bool { return s.Linked && s.State == api.StateIdle })
		}, true},
		{"a turn after it", "@error 400", func(l *lab, id string) {
			l.awaitDone(id, 1)
			l.send(id, ask)
			asks(l, id)
		}, false},
		{"an interrupt", ask, func(l *lab, id string) {
			asks(l, id)
			if _, err := l.hub.Interrupt(l.ctx(), person, id, api.Interrupt{}); err != nil {
				l.t.Fatal(err)
			}
			l.awaitState(id, api.StateIdle)
		}, false},
		{"a process that dies at work", ask, func(l *lab, id string) {
			asks(l, id)
			l.launcher.of(id).kill()
			l.awaitState(id, api.StateEnded)
		}, true},
		{"a process that dies idle", "@say hello", func(l *lab, id string) {
			l.awaitDone(id, 1)
			l.launcher.of(id).kill()
			l.awaitState(id, api.StateEnded)
		}, false},
		{"a process that cannot be started", "@say hello", func(l *lab, id string) {
			l.awaitDone(id, 1)
			if _, err := l.hub.Stop(l.ctx(), person, id, api.Stop{}); err != nil {
				l.t.Fatal(err)
			}
			l.launcher.mu.Lock()
			l.launcher.fail = errors.New("no such program")
			l.launcher.mu.Unlock()
			l.send(id, "@say again")
			l.await(id, "it has ended", func(s *api.Session) bool { return s.Run == 2 && s.State == api.StateEnded })
		}, true},
		{"a stop at work", ask, func(l *lab, id string) {
			asks(l, id)
			if _, err := l.hub.Stop(l.ctx(), person, id, api.Stop{Force: true}); err != nil {
				l.t.Fatal(err)
			}
		}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t)
			s := l.create(api.CreateSession{Prompt: test.prompt})
			test.story(l, s.ID)
			list, err := l.hub.List(l.ctx(), api.SessionFilter{})
			if err != nil {
				t.Fatal(err)
			}
			if len(list.Sessions) != 1 || list.Sessions[0].Failed != test.want || !list.Sessions[0].Simulated {
				t.Errorf("the list is %s", encode(list.Sessions))
			}
		})
	}
}

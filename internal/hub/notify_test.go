package hub_test

import (
	"errors"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// TestNotify tells what people are notified of: once, and only of what they would
// want to know.
func TestNotify(t *testing.T) {
	ask := `@tool Bash {"command":"make"}`
	answer := func(l *limited, id string) {
		q := l.await(id, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 }).Questions[0]
		if _, err := l.hub.Answer(l.ctx(), person, q.ID, api.Answer{Decision: "deny", Message: "no"}); err != nil {
			l.t.Fatal(err)
		}
	}
	tests := []struct {
		name   string
		prompt string
		story  func(l *limited, id string)
		want   string
	}{
		{"a turn", "@say hello", func(l *limited, id string) { l.awaitDone(id, 1) }, "done"},
		{"several prompts are one piece of work", ask, func(l *limited, id string) {
			l.await(id, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
			l.send(id, "@say two")
			l.send(id, "@say three")
			answer(l, id)
			l.awaitDone(id, 3)
		}, "needs_input done"},
		{"a question and its answer", ask, func(l *limited, id string) {
			answer(l, id)
			l.awaitDone(id, 1)
		}, "needs_input done"},
		{"a question over a restart", ask, func(l *limited, id string) {
			l.await(id, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
			l.restart()
			l.await(id, "it is back", func(s *api.Session) bool { return s.Linked })
			answer(l, id)
			l.awaitDone(id, 1)
		}, "needs_input done"},
		{"a restart after a turn", "@say hello", func(l *limited, id string) {
			l.awaitDone(id, 1)
			l.restart()
			l.await(id, "it is back", func(s *api.Session) bool { return s.Linked && s.State == api.StateIdle })
		}, "done"},
		{"a turn that fails", "@error 400", func(l *limited, id string) { l.awaitDone(id, 1) }, "failed"},
		{"an interrupt", ask, func(l *limited, id string) {
			l.await(id, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
			if _, err := l.hub.Interrupt(l.ctx(), person, id, api.Interrupt{}); err != nil {
				l.t.Fatal(err)
			}
			l.awaitState(id, api.StateIdle)
		}, "needs_input"},
		{"a process that dies at work", ask, func(l *limited, id string) {
			l.await(id, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
			l.launcher.of(id).kill()
			l.awaitState(id, api.StateEnded)
		}, "needs_input failed"},
		{"a process that dies idle", "@say hello", func(l *limited, id string) {
			l.awaitDone(id, 1)
			l.launcher.of(id).kill()
			l.awaitState(id, api.StateEnded)
		}, "done"},
		{"a process that cannot be started", "@say hello", func(l *limited, id string) {
			l.awaitDone(id, 1)
			if _, err := l.hub.Stop(l.ctx(), person, id, api.Stop{}); err != nil {
				l.t.Fatal(err)
			}
			l.launcher.mu.Lock()
			l.launcher.fail = errors.New("no such program")
			l.launcher.mu.Unlock()
			l.send(id, "@say again")
			l.await(id, "it has ended", func(s *api.Session) bool { return s.Run == 2 && s.State == api.StateEnded })
		}, "done failed"},
		{"a stop at work", ask, func(l *limited, id string) {
			l.await(id, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
			if _, err := l.hub.Stop(l.ctx(), person, id, api.Stop{Force: true}); err != nil {
				l.t.Fatal(err)
			}
		}, "needs_input"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := newLimited(t, nil)
			s := l.create(api.CreateSession{Prompt: test.prompt, Title: "a title"})
			test.story(l, s.ID)
			if got := l.post.kinds(s.ID); got != test.want {
				t.Errorf("the notifications are %q, not %q", got, test.want)
			}
			l.post.mu.Lock()
			defer l.post.mu.Unlock()
			for _, n := range l.post.all {
				if n.Title != "a title" || n.Dir != s.Dir || n.Time.IsZero() || n.Text == "" || (n.Question != "") != (n.Kind == "needs_input") {
					t.Errorf("a notification is %+v", n)
				}
			}
		})
	}
}

// TestNotifyNobody has nobody to notify.
func TestNotifyNobody(t *testing.T) {
	l := newLab(t, func(o *hub.Options) { o.Notify = nil })
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(s.ID, 1)
}

// TestNotifyRules has a rule answer: nobody is asked. When a budget is used up
// the same rule answers nothing, until somebody releases the session.
func TestNotifyRules(t *testing.T) {
	r := newRules(t, `allow = ["Bash(make:*)"]`)
	l := newLimited(t, []budget.Budget{{Name: "hour", Per: "session", Wall: time.Hour, Action: "ask", WarnAt: 1}}, func(o *hub.Options) { o.Rules = r })
	s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"make one"}`})
	l.awaitDone(s.ID, 1)
	if got := l.post.kinds(s.ID); got != "done" {
		t.Errorf("with a rule the notifications are %q", got)
	}
	l.send(s.ID, "@tool Bash {\"command\":\"rm x\"}\n@next\n@tool Bash {\"command\":\"make two\"}")
	first := l.await(s.ID, "it asks", func(s *api.Session) bool { return len(s.Questions) > 0 }).Questions[0]
	l.pass(2 * time.Hour)
	l.await(s.ID, "it is held", func(s *api.Session) bool { return len(s.Holds) == 1 })
	if _, err := l.hub.Answer(l.ctx(), person, first.ID, api.Answer{Decision: "deny", Message: "no"}); err != nil {
		t.Fatal(err)
	}
	asked := l.await(s.ID, "it asks what the rule allows", func(s *api.Session) bool {
		return len(s.Questions) == 1 && s.Questions[0].ID != first.ID
	})
	if asked.Questions[0].Title != "make two" {
		t.Errorf("it asks %s", encode(asked.Questions))
	}
	l.release(s.ID, api.Release{})
	l.awaitDone(s.ID, 2)
	if got := l.post.kinds(s.ID); got != "done needs_input limit needs_input done" {
		t.Errorf("in the end the notifications are %q", got)
	}
}

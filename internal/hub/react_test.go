package hub_test

import (
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// rebuilt checks that the log of a session folds to what the hub has in memory.
func (l *lab) rebuilt(id string, questions int) {
	l.t.Helper()
	stored, anew, row, open, _, err := l.hub.Projections(l.ctx(), id)
	if err != nil || stored != anew {
		l.t.Errorf("on top of the stored fold the log folds to\n%s\nand from its beginning to\n%s, %v", stored, anew, err)
		return
	}
	v := l.snapshot(id)
	if open != questions || len(v.Questions) != questions || row.Open != questions || row.State != string(v.State) {
		l.t.Errorf("the log folds to %d questions in state %s; the session has %d in state %s, want %d", open, row.State, len(v.Questions), v.State, questions)
	}
}

// TestReactions has entries of the hub that the reducer of questions is told of come
// while a question is open. What an entry does to questions becomes further entries
// as it is added; these do nothing to them.
func TestReactions(t *testing.T) {
	t.Run("link lost and up", func(t *testing.T) {
		l := newLab(t)
		s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"make"}` + "\n@say made"})
		q := l.question(s.ID)
		l.launcher.cutAll()
		l.awaitState(s.ID, api.StateOffline)
		l.rebuilt(s.ID, 1)
		l.launcher.connectAll()
		l.awaitState(s.ID, api.StateRequiresAction)
		l.rebuilt(s.ID, 1)
		if got := kinds(l.events(s.ID)); strings.Count(got, api.KindQuestionOpened) != 1 || strings.Contains(got, api.KindQuestionSettled) {
			t.Errorf("the log is %s", got)
		}
		l.answer(q.ID, api.Answer{Decision: "allow"})
		if done := l.awaitDone(s.ID, 1); done.Text != "made" {
			t.Errorf("it ended with %q", done.Text)
		}
		l.rebuilt(s.ID, 0)
	})
	t.Run("run started", func(t *testing.T) {
		l := planLab(t, "the plan")
		s, q := l.plans(api.SessionOptions{})
		l.launcher.of(s.ID).kill()
		l.await(s.ID, "the plan has outlived its process", func(s *api.Session) bool {
			return s.State == api.StateEnded && len(s.Questions) == 1 && s.Questions[0].Stale
		})
		if _, err := l.hub.Resume(l.ctx(), person, s.ID, api.Resume{}); err != nil {
			t.Fatal(err)
		}
		l.await(s.ID, "it has a second process", func(s *api.Session) bool { return s.Run == 2 && s.State == api.StateIdle })
		l.rebuilt(s.ID, 1)
		if v := l.snapshot(s.ID).Questions; v[0].ID != q.ID || !v[0].Stale {
			t.Errorf("the plan is %s", encode(v))
		}
	})
	t.Run("run ended", func(t *testing.T) {
		l := newLab(t)
		s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"make"}`})
		l.question(s.ID)
		l.launcher.of(s.ID).kill()
		l.awaitState(s.ID, api.StateEnded)
		l.rebuilt(s.ID, 0)
		if got := kinds(l.events(s.ID)); strings.Count(got, api.KindQuestionSettled) != 1 {
			t.Errorf("the log is %s", got)
		}
	})
}

package hub_test

import (
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// TestActivityRestart restarts the hub, and kills an idle agent while it is away:
// the last activity of the sessions and their order stay as they were.
func TestActivityRestart(t *testing.T) {
	l := newLab(t)
	var ids []string
	for _, prompt := range []string{"@say one", "@say two", `@tool Bash {"command":"make"}`, "@say four"} {
		s := l.create(api.CreateSession{Prompt: prompt})
		ids = append(ids, s.ID)
		l.await(s.ID, "its turn is over or it asks", func(s *api.Session) bool {
			return s.State == api.StateIdle && s.Cost.Turns == 1 && len(s.Messages) == 0 || len(s.Questions) == 1
		})
	}
	before := l.activity()
	if _, err := l.hub.Stop(l.ctx(), person, ids[3], api.Stop{}); err != nil {
		t.Fatal(err)
	}
	if got := l.activity(); got[0].id != ids[3] || !got[0].updated.After(before[0].updated) {
		t.Errorf("the end of a connected agent is no activity: %v, before %v", got, before)
	}

	before = l.activity()
	l.close()
	l.launcher.of(ids[1]).kill()
	l.open()
	for _, id := range []string{ids[0], ids[2]} {
		l.await(id, "it is back", func(s *api.Session) bool { return s.Linked })
	}
	l.await(ids[1], "its end was found", func(s *api.Session) bool { return s.State == api.StateEnded })
	after := l.activity()
	for i := range before {
		if before[i] != after[i] {
			t.Errorf("place %d of the list was %v, and is %v after a restart", i, before[i], after[i])
		}
	}
	// Asking the agent for something that only people look at is none, either.
	if _, err := l.hub.Control(l.ctx(), person, ids[0], &wire.GetContextUsageRequest{}); err != nil {
		t.Fatal(err)
	}
	if got := l.activity(); got[0] != before[0] {
		t.Errorf("reading the context made %v the newest", got[0])
	}
	l.send(ids[0], "@say more")
	l.awaitDone(ids[0], 2)
	if got := l.activity(); got[0].id != ids[0] {
		t.Errorf("a turn made %v the newest", got[0])
	}
}

type active struct {
	id      string
	updated time.Time
}

// activity returns the list of sessions: their order and last activity.
func (l *lab) activity() []active {
	l.t.Helper()
	list, err := l.hub.List(l.ctx(), api.SessionFilter{})
	if err != nil {
		l.t.Fatal(err)
	}
	var all []active
	for _, s := range list.Sessions {
		if v := l.snapshot(s.ID); !v.Updated.Equal(s.Updated) {
			l.t.Errorf("session %s was updated at %v, and its row says %v", s.ID, v.Updated, s.Updated)
		}
		all = append(all, active{s.ID, s.Updated})
	}
	return all
}

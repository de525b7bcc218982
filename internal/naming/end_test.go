package naming

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// A lister has sessions, the most recently updated first.
type lister []api.SessionSummary

func (l lister) List(_ context.Context, f api.SessionFilter) (*api.SessionList, error) {
	list := &api.SessionList{}
	for _, s := range l {
		if (len(f.State) == 0 || slices.Contains(f.State, s.State)) && (f.Limit == 0 || len(list.Sessions) < f.Limit) {
			list.Sessions = append(list.Sessions, s)
		}
	}
	return list, nil
}

func (l lister) Session(_ context.Context, id string) (*api.Session, error) {
	for _, s := range l {
		if s.ID == id {
			return &api.Session{ID: s.ID, Title: s.Title, State: s.State, Updated: s.Updated}, nil
		}
	}
	return nil, errors.New("there is none")
}

// TestSessionToEnd holds that "-" ends nothing by chance: of two agents that work at the same moment it means neither.
func TestSessionToEnd(t *testing.T) {
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	const one, two = "saaaaaaaaaaaaaaaaaaaa", "sbbbbbbbbbbbbbbbbbbbb"
	both := func(first, second api.State, apart time.Duration) lister {
		return lister{{ID: one, Title: "First", State: first, Updated: now}, {ID: two, Title: "Second\nline", State: second, Updated: now.Add(-apart)}}
	}
	for _, test := range []struct {
		what string
		hub  lister
		name string
		want string // the id, or after "!" a part of the error
	}{
		{"the only one", both(api.StateRunning, api.StateRunning, 0)[:1], "-", one},
		{"both at work", both(api.StateRunning, api.StateRequiresAction, time.Second), "-", "!" + two + "  Second line"},
		{"by its id", both(api.StateRunning, api.StateRunning, 0), two, two},
		{"by its title", both(api.StateRunning, api.StateRunning, 0), "first", one},
		{"the other is long idle", both(api.StateRunning, api.StateIdle, time.Minute), "-", one},
		{"the other has ended", both(api.StateRunning, api.StateEnded, 0), "-", one},
		{"it has ended itself, so that nothing is lost", both(api.StateEnded, api.StateRunning, 0), "-", one},
		{"there is none", nil, "-", "!no sessions yet"},
	} {
		t.Run(test.what, func(t *testing.T) {
			session, err := SessionToEnd(t.Context(), test.hub, test.name)
			if want, fails := strings.CutPrefix(test.want, "!"); fails {
				if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, %v; want %q", session, err, want)
				}
				return
			}
			if err != nil || session.ID != test.want {
				t.Errorf("%v, %v; want %s", session, err, test.want)
			}
		})
	}
}

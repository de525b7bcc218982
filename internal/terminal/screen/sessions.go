package screen

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
)

const (
	// listPage is how many sessions are read at a time.
	listPage = 50
	// listPause is the shortest time between two readings of the list, so that many busy sessions do not mean many of them.
	listPause = time.Second
)

// listKinds are the events that change what the list shows.
func listKinds() []string {
	return []string{
		api.KindCreated, api.KindState, api.KindQuestionOpened, api.KindQuestionSettled, api.KindQuestionChanged, api.KindUpdated, api.KindRunEnded,
	}
}

// A sessionList is the list of sessions at the left. It is read by pages, and read again, at most once in listPause, when an event says that
// something in it has changed; states are changed at once.
type sessionList struct {
	sessions []api.SessionSummary
	next     string    // the cursor of the next page
	pages    int       // how many were read
	cursor   string    // the id of the session that the list is on
	top      int       // the first row that is shown
	asked    time.Time // when it was read last
	dirty    bool      // something has changed since then
	waiting  bool      // a reading is on its way or about to begin
	err      error
}

// listed is what a reading of the list gave.
type listed struct {
	sessions []api.SessionSummary
	next     string
	pages    int
	err      error
}

// listDue says that the pause before the next reading is over.
type listDue struct{}

// readList reads as many pages of the list as are shown.
func readList(ctx context.Context, hub Hub, pages int) tea.Msg {
	var out listed
	f := api.SessionFilter{Limit: listPage}
	for out.pages < pages {
		page, err := hub.List(ctx, f)
		if err != nil {
			out.err = err
			return out
		}
		out.sessions = append(out.sessions, page.Sessions...)
		out.next, f.Cursor = page.Next, page.Next
		out.pages++
		if page.Next == "" {
			break
		}
	}
	return out
}

// take puts what was read into the list.
func (l *sessionList) take(in *listed) {
	l.waiting, l.err = false, in.err
	if in.err != nil {
		return
	}
	l.sessions, l.next, l.pages = in.sessions, in.next, max(1, in.pages)
	slices.SortStableFunc(l.sessions, func(a, b api.SessionSummary) int { return rank(&a) - rank(&b) })
	if l.index() < 0 && len(l.sessions) > 0 {
		l.cursor = l.sessions[0].ID
	}
}

// rank puts those that wait for the user first, and those that have ended last. Within that the server's order counts: the most recent first.
func rank(s *api.SessionSummary) int {
	switch {
	case s.Questions > 0:
		return 0
	case s.State == api.StateEnded:
		return 2
	default:
		return 1
	}
}

// index returns the place of the session that the list is on, -1 if it is not in it.
func (l *sessionList) index() int {
	return slices.IndexFunc(l.sessions, func(s api.SessionSummary) bool { return s.ID == l.cursor })
}

// find returns a session of the list.
func (l *sessionList) find(id string) *api.SessionSummary {
	for i := range l.sessions {
		if l.sessions[i].ID == id {
			return &l.sessions[i]
		}
	}
	return nil
}

// move goes up or down the list, and says whether more of it must be read to go on.
func (l *sessionList) move(by int) (more bool) {
	if len(l.sessions) == 0 {
		return false
	}
	at := min(max(0, l.index()+by), len(l.sessions)-1)
	l.cursor = l.sessions[at].ID
	return l.next != "" && at == len(l.sessions)-1
}

// nextAsking returns the session behind another one, in the list's order and around its end, that has an open question.
func (l *sessionList) nextAsking(behind string) string {
	at := slices.IndexFunc(l.sessions, func(s api.SessionSummary) bool { return s.ID == behind })
	for i := range l.sessions {
		if s := l.sessions[(at+1+i)%len(l.sessions)]; s.Questions > 0 && s.ID != behind {
			return s.ID
		}
	}
	return ""
}

// asking counts the open questions of all sessions but one.
func (l *sessionList) asking(but string) int {
	n := 0
	for i := range l.sessions {
		if l.sessions[i].ID != but {
			n += l.sessions[i].Questions
		}
	}
	return n
}

// frame takes a frame of the stream of all sessions, and reports whether the list is to be read again.
func (l *sessionList) frame(f *api.Frame) (again bool) {
	switch {
	case f.Type == api.FrameResume:
		return true // whatever was missed
	case f.Event == nil:
		return false
	}
	if f.Event.Kind == api.KindState {
		var data struct {
			State api.State `json:"state"`
		}
		if s := l.find(f.Event.Session); s != nil && json.Unmarshal(f.Event.Data, &data) == nil && data.State != "" {
			s.State = data.State
		}
	}
	return true
}

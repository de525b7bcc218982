package naming

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// A fakeHub has sessions, the most recently updated first, and questions, the oldest first. It gives a few of them at a time.
type fakeHub struct {
	sessions  []api.SessionSummary
	questions []api.Question
	lists     int    // how often sessions were listed
	listed    func() // is called after each time
	err       error
}

// List lists two sessions at a time, whatever is asked for.
func (f *fakeHub) List(_ context.Context, filter api.SessionFilter) (*api.SessionList, error) {
	f.lists++
	if f.err != nil {
		return nil, f.err
	}
	list := &api.SessionList{}
	for _, s := range f.sessions {
		if s.Archived && !filter.Archived || filter.Cursor != "" && s.Updated.Format(time.RFC3339) >= filter.Cursor {
			continue
		}
		if len(list.Sessions) == 2 {
			list.Next = list.Sessions[1].Updated.Format(time.RFC3339)
			break
		}
		list.Sessions = append(list.Sessions, s)
	}
	if f.listed != nil {
		f.listed()
	}
	return list, nil
}

// add adds sessions, each updated before those that are there.
func (f *fakeHub) add(sessions ...api.SessionSummary) {
	for _, s := range sessions {
		s.Updated = time.Date(2026, 6, 1, 12, 0, -len(f.sessions), 0, time.UTC)
		f.sessions = append(f.sessions, s)
	}
}

func (f *fakeHub) Session(_ context.Context, id string) (*api.Session, error) {
	for _, s := range f.sessions {
		if s.ID == id {
			return &api.Session{ID: id, Title: s.Title}, nil
		}
	}
	return nil, api.Errorf(http.StatusNotFound, api.CodeNotFound, "no session %q", id)
}

func (f *fakeHub) Questions(_ context.Context, filter api.QuestionFilter) (*api.QuestionList, error) {
	from, _ := strconv.Atoi(filter.Cursor) // 0 if it is empty
	list := &api.QuestionList{}
	for i := from; i < len(f.questions); i++ {
		q := f.questions[i]
		if (filter.Session == "" || q.Session == filter.Session) && (filter.State == "" || q.State == filter.State) && strings.HasPrefix(q.ID, filter.Prefix) {
			list.Questions = append(list.Questions, q)
			if i+1 < len(f.questions) {
				list.Next = strconv.Itoa(i + 1)
			}
			break
		}
	}
	return list, f.err
}

func (f *fakeHub) Question(_ context.Context, id string) (*api.Question, error) {
	for i := range f.questions {
		if f.questions[i].ID == id {
			return &f.questions[i], nil
		}
	}
	return nil, api.Errorf(http.StatusNotFound, api.CodeNotFound, "no question %q", id)
}

const (
	slugs  = "s5k2m7q3zr4t6w8xabcdy"
	tests  = "s5k9aaaaaaaaaaaaaaaaa"
	old    = "sbbbbbbbbbbbbbbbbbbbb"
	older  = "sbbcccccccccccccccccc"
	liar   = "szzzzzzzzzzzzzzzzzzzz"
	untold = "sgggggggggggggggggggg"
	first  = "qaaaaaaaaaaaaaaaaaaaa"
	second = "qaab22222222222222222"
	third  = "qcccccccccccccccccccc"
	gone   = "qdddddddddddddddddddd"
)

// newFake has sessions that are easily taken for each other.
func newFake() *fakeHub {
	f := &fakeHub{
		questions: []api.Question{
			{ID: gone, Session: slugs, State: api.QuestionAnswered},
			{ID: first, Session: slugs, State: api.QuestionOpen, Kind: api.QuestionPermission, Tool: "Bash"},
			{ID: second, Session: slugs, State: api.QuestionOpen, Kind: api.QuestionPlan},
			{ID: third, Session: tests, State: api.QuestionOpen, Kind: api.QuestionChoice},
		},
	}
	f.add([]api.SessionSummary{
		{ID: old, Title: "Tidy up", Archived: true},
		{ID: slugs, Title: "Mend the slugs"},
		{ID: tests, Title: "Mend the tests"},
		{ID: older, Title: "Tidy up"},
		{ID: liar, Title: "ggg"}, // as another one's id begins
		{ID: untold},
	}...)
	return f
}

func TestSession(t *testing.T) {
	for _, test := range []struct {
		name string
		want string // an id, or parts of the error after "!"
	}{
		{slugs, slugs},
		{"-", slugs}, // the first one is archived
		{"s5k2", slugs},
		{"5k2", slugs},
		{"s5k", "!matches several sessions|" + slugs + "  Mend the slugs|" + tests},
		{"5k", "!no session"}, // too short for an id
		{"Mend the slugs", slugs},
		{"mend the S", slugs},
		{"Mend", "!" + slugs + "|" + tests},
		{"Tidy up", older}, // the other one is archived
		{"tidy", older},
		{"bbb", old}, // by its id it is found all the same
		{"ggg", "!" + liar + "|" + untold},
		{"sggg", untold},
		{untold, untold},
		{"nobody", `!no session "nobody"; switchboard ls lists them`},
		{"snnnnnnnnnnnnnnnnnnnn", "!no session"},
		{"", "!name a "},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Session(t.Context(), newFake(), test.name)
			if parts, fails := strings.CutPrefix(test.want, "!"); fails {
				wantError(t, err, KindSession, strings.Split(parts, "|")...)
				return
			}
			if err != nil || got.ID != test.want {
				t.Errorf("%v, %v; want %s", got, err, test.want)
			}
		})
	}
}

// wantError checks that an error is one of ours, with these parts.
func wantError(t *testing.T, err error, kind string, parts ...string) {
	t.Helper()
	failed, ok := errors.AsType[*Error](err)
	if !ok || failed.Kind != kind {
		t.Fatalf("%v is no error about a %s", err, kind)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in: %v", part, err)
		}
	}
}

func TestSessionLooksNoFurther(t *testing.T) {
	hub := newFake()
	if _, err := Session(t.Context(), hub, slugs); err != nil || hub.lists != 0 {
		t.Errorf("a whole id: %v, %d lists", err, hub.lists)
	}
	hub.err = errors.New("no connection")
	for _, name := range []string{"-", "Mend"} {
		if _, err := Session(t.Context(), hub, name); !errors.Is(err, hub.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Session(t.Context(), &fakeHub{}, "-"); err == nil || !strings.Contains(err.Error(), "no sessions yet") {
		t.Errorf("the last of none: %v", err)
	}
}

func TestQuestion(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{first, first},
		{gone, gone}, // whoever names it wants to know what became of it
		{"-", first},
		{"qaaa", first},
		{"aab", second},
		{"qaa", "!matches several questions|" + first + "  permission Bash|" + second},
		{"qddd", "!no question"}, // settled
		{"qdddddddd", gone},      // as it is shown, it is known all the same
		{"qnnnnnnnn", "!no question"},
		{"Mend the tests", third},
		{tests, third},
		{"s5k9", third},
		{slugs, "!" + first + "|" + second},
		{"Tidy up", "!no open question"},
		{"Mend", "!matches several sessions"},
		{"nobody", `!no question "nobody"; switchboard questions lists them`},
		{"", "!name a "},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Question(t.Context(), newFake(), test.name)
			if parts, fails := strings.CutPrefix(test.want, "!"); fails {
				kind := KindQuestion
				if strings.Contains(parts, "sessions") {
					kind = KindSession
				}
				wantError(t, err, kind, strings.Split(parts, "|")...)
				return
			}
			if err != nil || got.ID != test.want {
				t.Errorf("%v, %v; want %s", got, err, test.want)
			}
		})
	}
	if _, err := Question(t.Context(), &fakeHub{}, "-"); err == nil || !strings.Contains(err.Error(), "no open questions") {
		t.Errorf("the oldest of none: %v", err)
	}
}

func TestErrorIsShort(t *testing.T) {
	e := &Error{Name: "a", Kind: KindSession, Candidates: make([]string, 100)}
	if got := e.Error(); !strings.Contains(got, "and 92 more") || strings.Count(got, "\n") != 9 {
		t.Errorf("%s", got)
	}
}

func TestShort(t *testing.T) {
	if got := Short(slugs); got != "s5k2m7q3z" {
		t.Error(got)
	}
	if got := Short("s1"); got != "s1" {
		t.Error(got)
	}
}

// TestNothingElseIsMeant has names that stand for what is gone, or that are nearly others': nothing is answered or stopped that was not meant.
func TestNothingElseIsMeant(t *testing.T) {
	lost, settled, alike := "snnnnnnnnnnnnnnnnnnnn", "qnnnnnnnnnnnnnnnnnnnn", "qs5k9bbbbbbbbbbbbbbbb"
	hub := newFake()
	hub.add(
		api.SessionSummary{ID: "s22222222222222222222", Title: lost}, api.SessionSummary{ID: "s33333333333333333333", Title: settled},
		api.SessionSummary{ID: "s44444444444444444444", Title: Short(gone)}, api.SessionSummary{ID: "s55555555555555555555", Title: "two\n  s66666666666666666666  lines"},
		api.SessionSummary{ID: "s77777777777777777777", Title: "two words"})
	hub.questions = append(hub.questions,
		api.Question{ID: alike, Session: slugs, State: api.QuestionOpen}, api.Question{ID: "q33333333333333333333", Session: "s33333333333333333333", State: api.QuestionOpen},
		api.Question{ID: "q44444444444444444444", Session: "s44444444444444444444", State: api.QuestionOpen})
	if got, err := Session(t.Context(), hub, lost); err == nil {
		t.Errorf("the id of a session that is gone stands for %s, which is called so", got.ID)
	}
	if got, err := Question(t.Context(), hub, settled); err == nil {
		t.Errorf("the id of a question that is gone stands for %s of a session that is called so", got.ID)
	}
	if got, err := Question(t.Context(), hub, Short(gone)); err != nil || got.ID != gone {
		t.Errorf("the id of a question that is settled, as it is shown: %v, %v", got, err)
	}
	got, err := Question(t.Context(), hub, "s5k9")
	if err == nil {
		t.Fatalf("what begins like a session's id and a question's stands for %s", got.ID)
	}
	wantError(t, err, KindQuestion, alike, third)
	_, err = Session(t.Context(), hub, "two")
	if wantError(t, err, KindSession, "s55555555555555555555  two s66666666666666666666 lines"); strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("a title makes a line of its own: %v", err)
	}
}

// TestSessionsMove updates sessions while they are listed: none is missed, and none is there twice.
func TestSessionsMove(t *testing.T) {
	hub := newFake()
	hub.add(api.SessionSummary{ID: "s22222222222222222222", Title: "Mend the slugs"}, api.SessionSummary{ID: "s33333333333333333333", Title: "New"})
	hub.listed = func() {
		// One of the end is updated, and those that were seen already are after it.
		for range 3 {
			if n := len(hub.sessions); hub.lists < 8 {
				moved := hub.sessions[n-2]
				moved.Updated = hub.sessions[0].Updated.Add(time.Second)
				hub.sessions = slices.Insert(slices.Delete(slices.Clone(hub.sessions), n-2, n-1), 0, moved)
			}
		}
	}
	all, err := All(t.Context(), hub, api.SessionFilter{Archived: true})
	seen := map[string]bool{}
	for _, s := range all {
		seen[s.ID] = true
	}
	if err != nil || len(all) != 8 || len(seen) != 8 {
		t.Errorf("%d sessions, %d of them different, %v; want 8", len(all), len(seen), err)
	}
	hub.lists = 0
	got, err := Session(t.Context(), hub, "Mend the slugs")
	if err == nil {
		t.Fatalf("a name that two sessions have stands for %s", got.ID)
	}
	wantError(t, err, KindSession, slugs, "s22222222222222222222")
	// A server with which it never ends does not keep anybody for ever.
	hub.listed = func() {
		hub.lists = 0
		for range 5 {
			n := len(hub.sessions)
			moved := hub.sessions[n-1]
			moved.Updated = hub.sessions[0].Updated.Add(time.Second)
			hub.sessions = slices.Insert(slices.Clone(hub.sessions[:n-1]), 0, moved)
		}
	}
	if _, err := All(t.Context(), hub, api.SessionFilter{Archived: true}); err != nil {
		t.Error(err)
	}
}

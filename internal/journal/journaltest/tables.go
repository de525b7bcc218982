package journaltest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/internal/journal"
)

func testSessions(t *testing.T, j Journal) {
	const count = 25
	for i := range count {
		b := NewSession(fmt.Sprintf("s%02d", i), 1)
		b.Session.Updated = start.Add(time.Duration(i/2) * time.Second) // some at the same time
		b.Session.Dir = fmt.Sprintf("/dir/%d", i%2)
		b.Session.Title = fmt.Sprintf("Job 100%% %d", i)
		b.Session.State = []string{"idle", "running", "ended"}[i%3]
		if b.Session.Data = nil; i%4 == 0 {
			b.Session.Data = []byte(`{"failed":true}`)
		}
		if i%6 < 2 { // on two machines, one with a name
			b.Session.Node = fmt.Sprintf("n%d", i%6)
			if i%6 == 1 {
				b.Session.Data = []byte(`{"node":"gpu-1"}`)
			}
		}
		if i%5 == 0 {
			b.Session.Archived = start
		}
		commit(t, j, b)
	}
	list := func(t *testing.T, q journal.SessionQuery) []string {
		var ids []string
		var before time.Time
		for page := 0; ; page++ {
			p, err := j.Sessions(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if q.Limit > 0 && len(p.Sessions) > q.Limit || page > count {
				t.Fatalf("page %d has %d sessions", page, len(p.Sessions))
			}
			for _, s := range p.Sessions {
				if !before.IsZero() && s.Updated.After(before) {
					t.Errorf("session %s is not in its place", s.ID)
				}
				before = s.Updated
				ids = append(ids, s.ID)
			}
			if p.Next == "" {
				return ids
			}
			q.Cursor = p.Next
		}
	}
	tests := []struct {
		name  string
		query journal.SessionQuery
		want  func(i int) bool
	}{
		{"all", journal.SessionQuery{Archived: true}, func(int) bool { return true }},
		{"not archived", journal.SessionQuery{}, func(i int) bool { return i%5 != 0 }},
		{"one state", journal.SessionQuery{Archived: true, States: []string{"ended"}}, func(i int) bool { return i%3 == 2 }},
		{"two states", journal.SessionQuery{Archived: true, States: []string{"idle", "ended"}}, func(i int) bool { return i%3 != 1 }},
		{"unknown state", journal.SessionQuery{States: []string{`'"`}}, func(int) bool { return false }},
		{"failed", journal.SessionQuery{Archived: true, Failed: true}, func(i int) bool { return i%4 == 0 }},
		{"failed or in a state", journal.SessionQuery{Archived: true, Failed: true, States: []string{"ended"}}, func(i int) bool { return i%4 == 0 || i%3 == 2 }},
		{"folder", journal.SessionQuery{Archived: true, Dir: "/dir/1"}, func(i int) bool { return i%2 == 1 }},
		{"machine by its id", journal.SessionQuery{Archived: true, Node: "n0"}, func(i int) bool { return i%6 == 0 }},
		{"machine by its name", journal.SessionQuery{Archived: true, Node: "gpu-1"}, func(i int) bool { return i%6 == 1 }},
		{"machine and state", journal.SessionQuery{Node: "n1", States: []string{"running"}, Dir: "/dir/1"}, func(i int) bool { return i%5 != 0 && i%6 == 1 && i%3 == 1 }},
		{"unknown machine", journal.SessionQuery{Archived: true, Node: "gpu-2"}, func(int) bool { return false }},
		{"text in the title", journal.SessionQuery{Archived: true, Text: "JOB 100% 2"}, func(i int) bool { return i == 2 || i >= 20 }},
		{"text in the folder", journal.SessionQuery{Archived: true, Text: "r/0"}, func(i int) bool { return i%2 == 0 }},
		{"text that looks like a pattern", journal.SessionQuery{Text: "100_"}, func(int) bool { return false }},
		{"everything", journal.SessionQuery{States: []string{"running"}, Dir: "/dir/1", Text: "job"}, func(i int) bool { return i%5 != 0 && i%3 == 1 && i%2 == 1 }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			for i := range count {
				if test.want(i) {
					want = append(want, fmt.Sprintf("s%02d", i))
				}
			}
			for _, limit := range []int{0, 1, 4, 7} {
				test.query.Limit = limit
				got := list(t, test.query)
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("with limit %d got %v, expected %v", limit, got, want)
				}
			}
		})
	}
	if _, err := j.Sessions(t.Context(), journal.SessionQuery{Cursor: "nonsense"}); !errors.Is(err, journal.ErrCursor) {
		t.Errorf("a cursor that is none: %v", err)
	}
}

func testClock(t *testing.T, j Journal) {
	ctx := t.Context()
	for i := range 3 {
		b := NewSession("s", 1)
		b.After = int64(i)
		b.Session.Updated = start.Add(-time.Duration(i) * time.Hour)
		b.Entries[0].Time = b.Session.Updated
		commit(t, j, b)
		older := NewSession(fmt.Sprintf("t%d", i), 1)
		older.Session.Updated = start.Add(-time.Minute)
		commit(t, j, older)
	}
	list := must[[]journal.Entry](t)(j.Entries(ctx, "s", 0, 0, 0))
	for i, e := range list {
		if e.Seq != int64(i)+1 || !e.Time.Equal(start.Add(-time.Duration(i)*time.Hour)) {
			t.Errorf("entry %d has number %d and time %v", i+1, e.Seq, e.Time)
		}
	}
	if s := must[*journal.Session](t)(j.Session(ctx, "s")); !s.Updated.Equal(start) {
		t.Errorf("the session's time of change went back to %v", s.Updated)
	}
	if page := must[journal.SessionPage](t)(j.Sessions(ctx, journal.SessionQuery{Limit: 1})); page.Sessions[0].ID != "s" {
		t.Errorf("session %s is first in the list", page.Sessions[0].ID)
	}
}

// SearchFor searches until what is found satisfies the condition: the index
// may lag behind.
func SearchFor(t testing.TB, j Journal, q journal.SearchQuery, enough func(journal.SearchPage) bool) journal.SearchPage {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		page, err := j.Search(t.Context(), q)
		var later *journal.UnavailableError
		if err != nil && !errors.As(err, &later) {
			t.Fatalf("Search: %v", err)
		}
		if err == nil && enough(page) {
			return page
		}
		select {
		case <-ticker.C:
		case <-t.Context().Done():
			t.Fatalf("the search for %q still gives %d hits", q.Text, len(page.Hits))
		}
	}
}

func testSearch(t *testing.T, j Journal) {
	for _, id := range []string{"a", "b"} {
		b := NewSession(id, 0)
		for i := range 7 {
			b.Entries = append(b.Entries, journal.Entry{Kind: "line", Time: start, Source: journal.SourceAgent, Line: Line(fmt.Sprintf("The Quick brown fox number%d jumps over session %s", i, id))})
		}
		b.Entries = append(b.Entries,
			journal.Entry{Kind: "line", Line: []byte(`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"onlydelta"}}}`)},
			journal.Entry{Kind: "line", Line: []byte("quick: no JSON")},
			journal.Entry{Kind: "line", Line: Line("the last words"), Time: start},
		)
		commit(t, j, b)
	}
	for _, id := range []string{"a", "b"} {
		SearchFor(t, j, journal.SearchQuery{Text: "last words", Session: id}, func(p journal.SearchPage) bool { return len(p.Hits) == 1 })
	}
	tests := []struct {
		query journal.SearchQuery
		want  int
	}{
		{journal.SearchQuery{Text: "quick"}, 14},
		{journal.SearchQuery{Text: "QUICK fox"}, 14},
		{journal.SearchQuery{Text: "quick", Session: "a"}, 7},
		{journal.SearchQuery{Text: "quick", Session: "nobody"}, 0},
		{journal.SearchQuery{Text: "number3"}, 2},
		{journal.SearchQuery{Text: "numb*"}, 14},
		{journal.SearchQuery{Text: `"brown fox"`}, 14},
		{journal.SearchQuery{Text: `"fox brown"`}, 0},
		{journal.SearchQuery{Text: "fox brown"}, 14},
		{journal.SearchQuery{Text: "quick absent"}, 0},
		{journal.SearchQuery{Text: "onlydelta"}, 0},
		{journal.SearchQuery{Text: "  "}, 0},
		{journal.SearchQuery{Text: `" AND NOT ( ^ : * -`}, 0},
	}
	for _, test := range tests {
		t.Run(test.query.Text+" in "+test.query.Session, func(t *testing.T) {
			for _, limit := range []int{0, 1, 5, 14} {
				q := test.query
				q.Limit = limit
				var got []journal.Hit
				for {
					page := must[journal.SearchPage](t)(j.Search(t.Context(), q))
					got = append(got, page.Hits...)
					if page.Next == "" || len(got) > 100 {
						break
					}
					q.Cursor = page.Next
				}
				if len(got) != test.want {
					t.Errorf("with limit %d there are %d hits, expected %d", limit, len(got), test.want)
				}
				if !slices.IsSortedFunc(got, func(a, b journal.Hit) int { return int(b.Seq-a.Seq) + 100*strings.Compare(b.Session, a.Session) }) {
					t.Errorf("with limit %d the hits are not the newest first: %+v", limit, got)
				}
			}
		})
	}
	hit := must[journal.SearchPage](t)(j.Search(t.Context(), journal.SearchQuery{Text: "quick number3", Limit: 1})).Hits[0]
	want := journal.Hit{Session: "b", Seq: 4, Time: start, Kind: "assistant", Snippet: "The \x02Quick\x03 brown fox \x02number3\x03 jumps over session b"}
	equal(t, "hit", hit, want)
	if _, err := j.Search(t.Context(), journal.SearchQuery{Text: "x", Cursor: "?"}); !errors.Is(err, journal.ErrCursor) {
		t.Errorf("a cursor that is none: %v", err)
	}
}

// full returns a session with rows of every kind.
func full(id string) *journal.Batch {
	b := NewSession(id, 3)
	b.Entries[1].Line = []byte(strings.Repeat(id, 2<<20))
	b.Runs = []journal.Run{{Session: id, Run: 1}}
	b.Commands = []journal.Command{{Session: id, ID: "c"}}
	b.Questions = []journal.Question{{Session: id, ID: "q-" + id, State: "open"}}
	b.Turns = []journal.Turn{{Session: id, Run: 1, Seq: 1}}
	b.Conversations = []string{"conversation-" + id}
	b.ClientIDs = []journal.ClientID{{Scope: "create", ID: id}}
	b.Leases = []journal.Lease{{ConfigDir: "/c", Conversation: id, Session: id, Run: 1}}
	b.Fold = []byte("fold")
	return b
}

// gone fails the test unless nothing of a session is left.
func gone(t *testing.T, j Journal, id string) {
	t.Helper()
	ctx := t.Context()
	_, session := j.Session(ctx, id)
	_, run := j.Run(ctx, id, 1)
	_, question := j.Question(ctx, "q-"+id)
	_, conversation := j.SessionByConversation(ctx, "conversation-"+id)
	_, client := j.ClientID(ctx, "create", id)
	_, lease := j.Lease(ctx, "/c", id)
	for what, err := range map[string]error{"session": session, "run": run, "question": question, "conversation": conversation, "client id": client, "lease": lease} {
		if !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("%s of session %s: %v", what, id, err)
		}
	}
	entries := must[[]journal.Entry](t)(j.Entries(ctx, id, 0, 0, 0))
	commands := must[[]journal.Command](t)(j.Commands(ctx, id, false))
	turns := must[[]journal.Turn](t)(j.Turns(ctx, id))
	fold, _, err := j.Fold(ctx, id)
	if len(entries) > 0 || len(commands) > 0 || len(turns) > 0 || fold != nil || err != nil {
		t.Errorf("of session %s there are %d entries, %d commands, %d turns, a fold of %d bytes (%v)", id, len(entries), len(commands), len(turns), len(fold), err)
	}
}

func testDelete(t *testing.T, j Journal) {
	ctx := t.Context()
	commit(t, j, full("a"))
	commit(t, j, full("b"))
	SearchFor(t, j, journal.SearchQuery{Text: "entry"}, func(p journal.SearchPage) bool { return len(p.Hits) == 4 })
	last := must[int64](t)(j.LastPosition(ctx))
	if err := j.Delete(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	gone(t, j, "b")
	if page := must[journal.SearchPage](t)(j.Search(ctx, journal.SearchQuery{Text: "entry"})); len(page.Hits) != 2 {
		t.Errorf("the search still gives %d hits", len(page.Hits))
	}
	if n := len(must[[]journal.Entry](t)(j.EntriesByPosition(ctx, 0, 0, 100<<20))); n != 3 {
		t.Errorf("there are %d entries, not 3", n)
	}
	if n := len(must[[]journal.Run](t)(j.LiveRuns(ctx))); n != 1 {
		t.Errorf("%d runs live, not 1", n)
	}
	if err := j.Delete(ctx, "b"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("deleting it again: %v", err)
	}
	if _, _, err := j.Commit(ctx, &journal.Batch{SessionID: "b", After: 3, Entries: []journal.Entry{{Kind: "late"}}}); !errors.Is(err, journal.ErrConflict) {
		t.Errorf("a batch for a removed session: %v", err)
	}
	b := full("b")
	commit(t, j, b)
	if b.Entries[0].Position <= last {
		t.Errorf("position %d was given out twice", b.Entries[0].Position)
	}
	SearchFor(t, j, journal.SearchQuery{Text: "entry", Session: "b"}, func(p journal.SearchPage) bool { return len(p.Hits) == 2 })
	if wrong := must[[]string](t)(j.Check(ctx)); len(wrong) > 0 {
		t.Errorf("Check: %q", wrong)
	}
}

func testRetain(t *testing.T, j Journal) {
	ctx := t.Context()
	for i, id := range []string{"old", "middle", "new"} {
		b := full(id)
		b.Entries[1].Line = []byte(strings.Repeat("x", 100_000))
		b.Session.Ended = start.Add(time.Duration(i) * time.Hour)
		commit(t, j, b)
	}
	live := full("live")
	live.Session.Updated = start.Add(-1000 * time.Hour)
	commit(t, j, live)
	retain := func(r journal.Retention, want int) {
		t.Helper()
		if n, err := j.Retain(ctx, r); err != nil || n != want {
			t.Errorf("Retain(%+v) removed %d (%v), expected %d", r, n, err, want)
		}
	}
	retain(journal.Retention{Now: start.Add(100 * time.Hour)}, 0)
	// A session that is in use stays; one that is not is released again.
	var asked, released []string
	guarded := journal.Retention{MaxAge: time.Minute, Now: start.Add(time.Hour + 2*time.Minute), Guard: func(id string) (func(), bool) {
		asked = append(asked, id)
		return func() { released = append(released, id) }, false
	}}
	retain(guarded, 0)
	equal(t, "sessions asked for", asked, []string{"old", "middle"})
	equal(t, "sessions released that were in use", released, []string(nil))
	retain(journal.Retention{MaxAge: 3 * time.Hour, Now: start.Add(3*time.Hour + time.Minute), Guard: func(id string) (func(), bool) {
		return func() { released = append(released, id) }, true
	}}, 1)
	equal(t, "sessions released", released, []string{"old"})
	gone(t, j, "old")
	retain(journal.Retention{MaxBytes: 100 << 20, Now: start}, 0)
	size := int64(len(live.Entries[1].Line)) + 150_000
	retain(journal.Retention{MaxBytes: size, Now: start}, 1)
	gone(t, j, "middle")
	retain(journal.Retention{MaxBytes: 1, Now: start}, 1)
	gone(t, j, "new")
	if n := len(must[[]journal.Entry](t)(j.Entries(ctx, "live", 0, 0, 100<<20))); n != 3 {
		t.Errorf("the live session has %d entries", n)
	}
	if wrong := must[[]string](t)(j.Check(ctx)); len(wrong) > 0 {
		t.Errorf("Check: %q", wrong)
	}
}

// testBackup passes over implementations that cannot be copied to a file: they
// return [errors.ErrUnsupported].
func testBackup(t *testing.T, j Journal) {
	ctx := t.Context()
	commit(t, j, full("a"))
	file := filepath.Join(t.TempDir(), "backup.db")
	err := j.Backup(ctx, file)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Log("this journal cannot be copied to a file")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup: %+v, %v", info, err)
	}
	if err := j.Backup(ctx, file); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second backup to the same file: %v", err)
	}
	left, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(left) != 1 {
		t.Errorf("beside the backup there is %v (%v)", left, err)
	}
}

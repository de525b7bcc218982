package journaltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/internal/journal"
)

// A Journal is a [journal.Journal] with what tests alone read: rows that the hub only
// writes, and a check of the storage.
type Journal interface {
	journal.Journal
	// Commands lists a session's outbox: those that are not settled yet
	// (open = true), or all, the oldest first.
	Commands(ctx context.Context, session string, open bool) ([]journal.Command, error)
	// Lease returns the holder of a conversation; [journal.ErrNotFound] if there is
	// none.
	Lease(ctx context.Context, configDir, conversation string) (*journal.Lease, error)
	// Check verifies the storage and returns what is wrong with it, nothing if it is
	// sound.
	Check(ctx context.Context) ([]string, error)
}

// Run holds an implementation to the promises of [journal.Journal]. open
// returns an empty journal, which the suite closes.
func Run(t *testing.T, open func(t *testing.T) Journal) {
	tests := []struct {
		name string
		test func(*testing.T, Journal)
	}{
		{"numbering", testNumbering},
		{"round trip", testRoundTrip},
		{"entries much alike", testAlike},
		{"atomicity", testAtomicity},
		{"conflict", testConflict},
		{"concurrency", testConcurrency},
		{"cancelled commit", testCancelled},
		{"paging of entries", testEntryPages},
		{"long lines", testLongLines},
		{"rows", testRows},
		{"spent", testSpent},
		{"sums", testSums},
		{"decisions", testDecisions},
		{"commands", testCommands},
		{"questions", testQuestions},
		{"client ids", testClientIDs},
		{"leases", testLeases},
		{"conversations", testConversations},
		{"preferences", testPreferences},
		{"list of sessions", testSessions},
		{"clock goes back", testClock},
		{"search", testSearch},
		{"delete", testDelete},
		{"retain", testRetain},
		{"backup", testBackup},
		{"closed", testClosed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			j := open(t)
			test.test(t, j)
			if err := j.Close(); err != nil {
				t.Errorf("closing the journal: %v", err)
			}
		})
	}
}

// start is the time at which the stories of the suite begin. It is a little
// before 1 ns after a second, so that rounding shows.
var start = time.Date(2026, 3, 1, 12, 0, 0, 1, time.UTC)

// Line returns a line of the CLI with some text.
func Line(text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string can always be marshalled
	}
	return fmt.Appendf(nil, `{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":%s}]},"uuid":"u","session_id":"c"}`, quoted)
}

// NewSession returns the first batch of a session, with n entries.
func NewSession(id string, n int) *journal.Batch {
	b := &journal.Batch{SessionID: id, Session: &journal.Session{ID: id, Epoch: "e-" + id, State: "idle", Created: start, Updated: start}}
	for i := range n {
		b.Entries = append(b.Entries, journal.Entry{Time: start, Source: journal.SourceAgent, Kind: "line", Line: Line(fmt.Sprintf("entry %d of %s", i+1, id))})
	}
	return b
}

func commit(t *testing.T, j Journal, b *journal.Batch) {
	t.Helper()
	if _, _, err := j.Commit(t.Context(), b); err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func testNumbering(t *testing.T, j Journal) {
	if last := must[int64](t)(j.LastPosition(t.Context())); last != 0 {
		t.Errorf("an empty journal is at position %d", last)
	}
	var position int64
	seqs := map[string]int64{}
	for i, n := range []int{3, 1, 0, 2} {
		for _, id := range []string{"a", "b"} {
			b := NewSession(id, n)
			b.After = seqs[id]
			first, last, err := j.Commit(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				if first != 0 || last != 0 {
					t.Errorf("a batch without entries is at positions %d to %d", first, last)
				}
				continue
			}
			if first <= position || last != first+int64(n)-1 {
				t.Errorf("batch %d of %d entries after position %d got %d to %d", i, n, position, first, last)
			}
			position = last
			for k, e := range b.Entries {
				if e.Session != id || e.Seq != seqs[id]+int64(k)+1 || e.Position != first+int64(k) {
					t.Errorf("Commit filled in session %q, seq %d, position %d", e.Session, e.Seq, e.Position)
				}
			}
			seqs[id] += int64(n)
			if b.Session.Seq != seqs[id] {
				t.Errorf("Commit filled in seq %d of the session, not %d", b.Session.Seq, seqs[id])
			}
			if last := must[int64](t)(j.LastPosition(t.Context())); last != position {
				t.Errorf("the journal is at position %d, not %d", last, position)
			}
		}
	}
	for id, seq := range seqs {
		list := must[[]journal.Entry](t)(j.Entries(t.Context(), id, 0, 0, 0))
		if int64(len(list)) != seq {
			t.Errorf("session %s has %d entries, not %d", id, len(list), seq)
		}
		for i, e := range list {
			if e.Seq != int64(i)+1 {
				t.Errorf("entry %d of session %s has number %d", i+1, id, e.Seq)
			}
		}
	}
	var before int64
	for _, e := range must[[]journal.Entry](t)(j.EntriesByPosition(t.Context(), 0, 0, 0)) {
		if e.Position <= before {
			t.Errorf("position %d comes after %d", e.Position, before)
		}
		before = e.Position
	}
}

func testRoundTrip(t *testing.T, j Journal) {
	b := NewSession("s", 0)
	b.Entries = []journal.Entry{
		{Run: 1, Time: start.Add(time.Nanosecond), Source: journal.SourceAgent, Kind: "line", UUID: "u-1", Line: []byte(`{"type":"x"}`)},
		{Run: 2, Time: start, Source: journal.SourcePerson, By: "Ada \U0001F469\u200d\U0001F4BB", Kind: "sent", Line: []byte("not JSON: \x00\xff\r"), Data: json.RawMessage(`{"a":1}`)},
		{Source: journal.SourceHub, Kind: "state", Data: json.RawMessage(`{"state":"idle"}`)},
	}
	commit(t, j, b)
	equal(t, "entries", must[[]journal.Entry](t)(j.Entries(t.Context(), "s", 0, 0, 0)), b.Entries)
	equal(t, "entries by position", must[[]journal.Entry](t)(j.EntriesByPosition(t.Context(), 0, 0, 0)), b.Entries)
	if list := must[[]journal.Entry](t)(j.Entries(t.Context(), "nobody", 0, 0, 0)); len(list) != 0 {
		t.Errorf("a session that does not exist has %d entries", len(list))
	}
}

// testAlike writes batches of many lengths whose entries differ in little, and in
// each of them one that differs in something more.
func testAlike(t *testing.T, j Journal) {
	different := []func(e *journal.Entry){
		func(*journal.Entry) {},
		func(e *journal.Entry) { e.Run = 2 },
		func(e *journal.Entry) { e.Time = e.Time.Add(time.Nanosecond) },
		func(e *journal.Entry) { e.Time = time.Time{} },
		func(e *journal.Entry) { e.Source = journal.SourceProgram },
		func(e *journal.Entry) { e.By = "Ada" },
		func(e *journal.Entry) { e.Kind = "sent" },
		func(e *journal.Entry) { e.Data = json.RawMessage(`{}`) },
		func(e *journal.Entry) { e.Line = nil },
		func(e *journal.Entry) { e.Line, e.Data = nil, json.RawMessage(`{"a":1}`) },
		func(e *journal.Entry) { e.Line = bytes.Repeat([]byte("x"), 1<<20+1) },
	}
	var want []journal.Entry
	after := map[string]int64{}
	for n := 1; n <= 40; n++ {
		id := fmt.Sprint("s", n%3)
		b := NewSession(id, n)
		b.After = after[id]
		for i := range b.Entries {
			b.Entries[i].Run, b.Entries[i].UUID = 1, fmt.Sprint("u", n, "-", i)
		}
		different[n%len(different)](&b.Entries[(7*n)%len(b.Entries)])
		if n%4 == 0 {
			different[(n+5)%len(different)](&b.Entries[n/2])
		}
		commit(t, j, b)
		after[id] += int64(n)
		want = append(want, b.Entries...)
	}
	var got []journal.Entry
	for position := int64(0); ; position = got[len(got)-1].Position {
		page := must[[]journal.Entry](t)(j.EntriesByPosition(t.Context(), position, 0, 0))
		if len(page) == 0 {
			break
		}
		got = append(got, page...)
	}
	if len(got) != len(want) {
		t.Fatalf("there are %d entries, not %d", len(got), len(want))
	}
	for i := range want {
		// Long lines are too much for a comparison that can tell where they differ.
		if !bytes.Equal(got[i].Line, want[i].Line) || (got[i].Line == nil) != (want[i].Line == nil) {
			t.Errorf("entry %d of %s has another line: %.100q, not %.100q", want[i].Seq, want[i].Session, got[i].Line, want[i].Line)
		}
		if i > 0 && want[i].Position != want[i-1].Position+1 {
			t.Errorf("position %d comes after %d", want[i].Position, want[i-1].Position)
		}
		got[i].Line, want[i].Line = nil, nil
	}
	equal(t, "entries without their lines", got, want)
}

// testAtomicity has batches refused for their last row and looks for the first
// ones.
func testAtomicity(t *testing.T, j Journal) {
	holder := NewSession("holder", 1)
	holder.Leases = []journal.Lease{{ConfigDir: "/c", Conversation: "x", Session: "holder", Run: 1}}
	commit(t, j, holder)
	b := NewSession("s", 2)
	b.Runs = []journal.Run{{Session: "s", Run: 1}}
	b.Commands = []journal.Command{{Session: "s", ID: "c"}}
	b.Questions = []journal.Question{{Session: "s", ID: "q", State: "open"}}
	b.Conversations = []string{"conversation"}
	b.ClientIDs = []journal.ClientID{{Scope: "create", ID: "1"}}
	b.Fold = []byte("fold")
	b.Leases = []journal.Lease{{ConfigDir: "/c", Conversation: "x", Session: "s", Run: 1}}
	if _, _, err := j.Commit(t.Context(), b); !errors.Is(err, journal.ErrConflict) {
		t.Fatalf("a batch with a lease that is taken: %v", err)
	}
	ctx := t.Context()
	_, session := j.Session(ctx, "s")
	_, run := j.Run(ctx, "s", 1)
	_, question := j.Question(ctx, "q")
	_, conversation := j.SessionByConversation(ctx, "conversation")
	_, client := j.ClientID(ctx, "create", "1")
	for what, err := range map[string]error{"session": session, "run": run, "question": question, "conversation": conversation, "client id": client} {
		if !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("%s of a refused batch: %v", what, err)
		}
	}
	if list := must[[]journal.Entry](t)(j.EntriesByPosition(ctx, 0, 0, 0)); len(list) != 1 {
		t.Errorf("there are %d entries, not 1", len(list))
	}
	b.Leases = nil
	first, _, err := j.Commit(ctx, b)
	if err != nil {
		t.Fatalf("the same batch without the lease: %v", err)
	}
	if before := holder.Entries[0].Position; first <= before {
		t.Errorf("position %d was given out twice", before)
	}
}

func testConflict(t *testing.T, j Journal) {
	commit(t, j, NewSession("s", 2))
	tests := []struct {
		name  string
		batch *journal.Batch
		want  error
	}{
		{"behind", &journal.Batch{SessionID: "s", After: 1, Entries: []journal.Entry{{Kind: "x"}}}, journal.ErrConflict},
		{"ahead", &journal.Batch{SessionID: "s", After: 3, Entries: []journal.Entry{{Kind: "x"}}}, journal.ErrConflict},
		{"rows only, behind", &journal.Batch{SessionID: "s", After: 1, Fold: []byte("x")}, journal.ErrConflict},
		{"no such session", &journal.Batch{SessionID: "other", After: 1, Entries: []journal.Entry{{Kind: "x"}}}, journal.ErrConflict},
		{"new without a row", &journal.Batch{SessionID: "other", Entries: []journal.Entry{{Kind: "x"}}}, journal.ErrNotFound},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, _, err := j.Commit(t.Context(), test.batch); !errors.Is(err, test.want) {
				t.Errorf("Commit: %v, expected %v", err, test.want)
			}
		})
	}
	for name, batch := range map[string]*journal.Batch{
		"without session":     {},
		"row of another":      {SessionID: "s", After: 2, Runs: []journal.Run{{Session: "other", Run: 1}}},
		"question of another": {SessionID: "s", After: 2, Questions: []journal.Question{{Session: "other", ID: "q"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := j.Commit(t.Context(), batch); err == nil {
				t.Error("the batch was taken")
			}
		})
	}
	if n := len(must[[]journal.Entry](t)(j.EntriesByPosition(t.Context(), 0, 0, 0))); n != 2 {
		t.Errorf("there are %d entries, not 2", n)
	}
	commit(t, j, &journal.Batch{SessionID: "s", After: 2, Entries: []journal.Entry{{Kind: "x"}}})
}

// testConcurrency lets many sessions write at once, each with a rival that
// writes with the same After: one of the two must lose, and all that was
// promised must be there, at once.
func testConcurrency(t *testing.T, j Journal) {
	const sessions, batches = 8, 12
	var wg sync.WaitGroup
	for s := range sessions {
		wg.Go(func() {
			id := fmt.Sprintf("s%d", s)
			for i := range batches {
				b := NewSession(id, 2)
				b.After = int64(2 * i)
				rival := NewSession(id, 2)
				rival.After = b.After
				won := make(chan error, 2)
				for _, b := range []*journal.Batch{b, rival} {
					wg.Go(func() {
						_, _, err := j.Commit(context.WithoutCancel(t.Context()), b)
						won <- err
					})
				}
				lost := 0
				for range 2 {
					if err := <-won; errors.Is(err, journal.ErrConflict) {
						lost++
					} else if err != nil {
						t.Errorf("Commit: %v", err)
					}
				}
				if lost != 1 {
					t.Errorf("%d of two rivals lost", lost)
				}
				if list, err := j.Entries(t.Context(), id, b.After, 0, 0); err != nil || len(list) != 2 {
					t.Errorf("after a commit of two entries %d are there (%v)", len(list), err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(must[[]journal.Entry](t)(j.EntriesByPosition(t.Context(), 0, 0, 0))); n != sessions*batches*2 {
		t.Errorf("there are %d entries, not %d", n, sessions*batches*2)
	}
	wrong, err := j.Check(t.Context())
	if err != nil || len(wrong) > 0 {
		t.Errorf("Check: %q, %v", wrong, err)
	}
}

func testCancelled(t *testing.T, j Journal) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := j.Commit(ctx, NewSession("s", 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("Commit with a context that has ended: %v", err)
	}
	if _, err := j.Session(t.Context(), "s"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("the batch was written nevertheless: %v", err)
	}
}

func testEntryPages(t *testing.T, j Journal) {
	b := NewSession("s", 0)
	for range 10 {
		b.Entries = append(b.Entries, journal.Entry{Kind: "line", Line: bytes.Repeat([]byte("x"), 100), Data: bytes.Repeat([]byte("1"), 100)})
	}
	commit(t, j, b)
	tests := []struct {
		after int64
		limit int
		bytes int64
		want  int
	}{
		{0, 0, 0, 10}, {0, 3, 0, 3}, {8, 3, 0, 2}, {10, 0, 0, 0}, {99, 0, 0, 0}, {0, 0, 1, 1}, {0, 0, 650, 3}, {0, 2, 650, 2},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("after %d limit %d bytes %d", test.after, test.limit, test.bytes), func(t *testing.T) {
			list := must[[]journal.Entry](t)(j.Entries(t.Context(), "s", test.after, test.limit, test.bytes))
			if len(list) != test.want || len(list) > 0 && list[0].Seq != test.after+1 {
				t.Errorf("got %d entries, expected %d", len(list), test.want)
			}
			list = must[[]journal.Entry](t)(j.EntriesByPosition(t.Context(), test.after, test.limit, test.bytes))
			if len(list) != test.want {
				t.Errorf("by position got %d entries, expected %d", len(list), test.want)
			}
		})
	}
	b = NewSession("many", 0)
	for range 1100 {
		b.Entries = append(b.Entries, journal.Entry{Kind: "x"})
	}
	commit(t, j, b)
	if n := len(must[[]journal.Entry](t)(j.Entries(t.Context(), "many", 0, 0, 0))); n != 1000 {
		t.Errorf("without a limit there are %d entries in a page, not 1000", n)
	}
}

func testLongLines(t *testing.T, j Journal) {
	long := func(c byte, n int) []byte { return bytes.Repeat([]byte{c}, n) }
	b := NewSession("s", 0)
	b.Entries = []journal.Entry{
		{Kind: "line", Line: long('a', 1<<20)},
		{Kind: "line", Line: long('b', 1<<20+1)},
		{Kind: "line", Line: long('b', 1<<20+1)},
		{Kind: "line", Line: long('c', 3<<20), Data: long('1', 2<<20)},
	}
	b.Commands = []journal.Command{{Session: "s", ID: "c", Line: long('d', 2<<20)}}
	b.Questions = []journal.Question{{Session: "s", ID: "q", Ask: long('e', 2<<20), Answer: long('f', 2<<20)}}
	commit(t, j, b)
	list := must[[]journal.Entry](t)(j.Entries(t.Context(), "s", 0, 0, 1<<30))
	if len(list) != len(b.Entries) {
		t.Fatalf("got %d entries", len(list))
	}
	for i := range list {
		if !bytes.Equal(list[i].Line, b.Entries[i].Line) || !bytes.Equal(list[i].Data, b.Entries[i].Data) {
			t.Errorf("entry %d came back with %d and %d bytes", i+1, len(list[i].Line), len(list[i].Data))
		}
	}
	if n := len(must[[]journal.Entry](t)(j.Entries(t.Context(), "s", 0, 0, 2<<20))); n != 1 {
		t.Errorf("a page of 2 MiB has %d entries, not 1", n)
	}
	if n := len(must[[]journal.Entry](t)(j.Entries(t.Context(), "s", 3, 0, 1))); n != 1 {
		t.Errorf("a page that begins with a long line has %d entries, not 1", n)
	}
	command := must[[]journal.Command](t)(j.Commands(t.Context(), "s", false))[0]
	question := must[*journal.Question](t)(j.Question(t.Context(), "q"))
	if !bytes.Equal(command.Line, b.Commands[0].Line) || !bytes.Equal(question.Ask, b.Questions[0].Ask) || !bytes.Equal(question.Answer, b.Questions[0].Answer) {
		t.Error("long lines of commands and questions came back otherwise")
	}
}

func testClosed(t *testing.T, j Journal) {
	commit(t, j, NewSession("s", 1))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	_, _, commit := j.Commit(ctx, NewSession("t", 1))
	_, read := j.Session(ctx, "s")
	_, list := j.Sessions(ctx, journal.SessionQuery{})
	for what, err := range map[string]error{
		"Commit": commit, "Session": read, "Sessions": list, "Delete": j.Delete(ctx, "s"),
		"Backup": j.Backup(ctx, filepath.Join(t.TempDir(), "backup")),
	} {
		if !errors.Is(err, journal.ErrClosed) {
			t.Errorf("%s of a closed journal: %v", what, err)
		}
	}
}

package journaltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/internal/journal"
)

func testRows(t *testing.T, j Journal) {
	b := NewSession("s", 1)
	*b.Session = journal.Session{
		Node: "n1",
		ID:   "s", Epoch: "e", Title: "Title", Dir: "/dir", State: "running", Model: "m", Conversation: "c", Run: 2, Created: start,
		Updated: start.Add(time.Hour), Open: 3, CostUSD: 0.123456789, Ended: start.Add(2 * time.Hour), Archived: start.Add(3 * time.Hour), Data: json.RawMessage(`{"o":1}`),
	}
	b.Runs = []journal.Run{
		{
			Session: "s", Run: 1, Transport: "shim", Node: "n1", TokenHash: []byte{0, 255}, Instance: "i", Marker: "k", PID: 42, PIDStart: "99", Have: 7, NextCommand: 8,
			LastUUIDs: []string{"u1", "u2"}, Spec: json.RawMessage(`{}`), Started: start, Ended: start.Add(time.Minute), Reason: "because",
		},
		{Session: "s", Run: 2},
	}
	b.Turns = []journal.Turn{
		{Session: "s", Run: 1, Seq: 1, Time: start, CostUSD: 0.5, Data: json.RawMessage(`{"m":1}`)},
		{Session: "s", Run: 2, Seq: 9, CostUSD: 2},
	}
	b.Fold = []byte("first")
	commit(t, j, b)
	ctx := t.Context()
	check := func() {
		t.Helper()
		equal(t, "session", must[*journal.Session](t)(j.Session(ctx, "s")), b.Session)
		for i := range b.Runs {
			equal(t, "run", must[*journal.Run](t)(j.Run(ctx, "s", b.Runs[i].Run)), &b.Runs[i])
		}
		equal(t, "turns", must[[]journal.Turn](t)(j.Turns(ctx, "s")), b.Turns)
	}
	check()
	equal(t, "live runs", must[[]journal.Run](t)(j.LiveRuns(ctx)), b.Runs[1:])
	fold, seq, err := j.Fold(ctx, "s")
	if err != nil || string(fold) != "first" || seq != 1 {
		t.Errorf("Fold: %q at %d, %v", fold, seq, err)
	}
	b.After, b.Fold = 1, nil
	b.Session.Title, b.Session.Archived = "Other", time.Time{}
	b.Runs[1].Ended, b.Runs[1].LastUUIDs = start, []string{"u3"}
	b.Turns[1].CostUSD = 3
	commit(t, j, b)
	check()
	if list := must[[]journal.Run](t)(j.LiveRuns(ctx)); len(list) != 0 {
		t.Errorf("%d runs live", len(list))
	}
	if fold, seq, err := j.Fold(ctx, "s"); err != nil || string(fold) != "first" || seq != 1 {
		t.Errorf("Fold after a batch without one: %q at %d, %v", fold, seq, err)
	}
	commit(t, j, &journal.Batch{SessionID: "s", After: 2, Fold: []byte("second")})
	if fold, seq, err := j.Fold(ctx, "s"); err != nil || string(fold) != "second" || seq != 2 {
		t.Errorf("the second fold: %q at %d, %v", fold, seq, err)
	}
	commit(t, j, &journal.Batch{SessionID: "s", After: 2, Entries: []journal.Entry{{Kind: "x"}}})
	if got := must[*journal.Session](t)(j.Session(ctx, "s")); got.Seq != 3 || got.Title != "Other" {
		t.Errorf("after a batch without row the session has seq %d and title %q", got.Seq, got.Title)
	}
	if fold, seq, err := j.Fold(ctx, "nobody"); err != nil || fold != nil || seq != 0 {
		t.Errorf("the fold of nobody: %q at %d, %v", fold, seq, err)
	}
	if _, err := j.Session(ctx, "nobody"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("the session of nobody: %v", err)
	}
	if _, err := j.Run(ctx, "s", 9); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("a run that is not there: %v", err)
	}
}

func testSpent(t *testing.T, j Journal) {
	ctx := t.Context()
	if spent := must[[]journal.Spent](t)(j.Spent(ctx, time.Time{})); len(spent) != 0 {
		t.Errorf("before anything was spent there is %+v", spent)
	}
	for i, dir := range []string{"/b", "/a", "/b", ""} {
		b := NewSession(fmt.Sprintf("s%d", i), 1)
		b.Session.Dir = dir
		b.Turns = []journal.Turn{
			{Run: 1, Seq: 1, Time: start, CostUSD: 0.1, Data: json.RawMessage(`{"ms":1500,"other":{"ms":7}}`)},
			{Run: 1, Seq: 2, Time: start.Add(time.Hour), CostUSD: 0.2, Data: json.RawMessage(`{"other":1}`)},
			{Run: 2, Seq: 3, Time: start.Add(2 * time.Hour), Data: json.RawMessage(`{"ms":20}`)},
		}
		if i == 2 {
			b.Turns[1].Data = nil
		}
		commit(t, j, b)
	}
	elsewhere := NewSession("s4", 1)
	elsewhere.Session.Node, elsewhere.Session.Dir = "n1", "/a"
	elsewhere.Turns = []journal.Turn{{Run: 1, Seq: 1, Time: start.Add(-time.Hour), CostUSD: 0.25}}
	commit(t, j, elsewhere)
	tests := []struct {
		name  string
		since time.Time
		want  []journal.Spent
	}{
		{"all", time.Time{}, []journal.Spent{
			{Dir: "", CostUSD: 0.3, Turns: 3, Millis: 1520},
			{Dir: "/a", CostUSD: 0.3, Turns: 3, Millis: 1520},
			{Dir: "/b", CostUSD: 0.6, Turns: 6, Millis: 3040},
			{Node: "n1", Dir: "/a", CostUSD: 0.25, Turns: 1},
		}},
		{"from a turn's own time on", start.Add(time.Hour), []journal.Spent{
			{Dir: "", CostUSD: 0.2, Turns: 2, Millis: 20},
			{Dir: "/a", CostUSD: 0.2, Turns: 2, Millis: 20},
			{Dir: "/b", CostUSD: 0.4, Turns: 4, Millis: 40},
		}},
		{"just after it", start.Add(time.Hour + 1), []journal.Spent{
			{Dir: "", Turns: 1, Millis: 20}, {Dir: "/a", Turns: 1, Millis: 20}, {Dir: "/b", Turns: 2, Millis: 40},
		}},
		{"nothing", start.Add(3 * time.Hour), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			equal(t, "spent", must[[]journal.Spent](t)(j.Spent(t.Context(), test.since)), test.want)
		})
	}
	// What is written again counts once; a folder that changes takes it along;
	// what is removed is gone.
	b := NewSession("s1", 0)
	b.After, b.Session.Dir = 1, "/c"
	b.Turns = []journal.Turn{{Run: 1, Seq: 1, Time: start, CostUSD: 5, Data: json.RawMessage(`{"ms":1}`)}}
	commit(t, j, b)
	if err := j.Delete(ctx, "s2"); err != nil {
		t.Fatal(err)
	}
	equal(t, "spent after changes", must[[]journal.Spent](t)(j.Spent(ctx, time.Time{})), []journal.Spent{
		{Dir: "", CostUSD: 0.3, Turns: 3, Millis: 1520},
		{Dir: "/b", CostUSD: 0.3, Turns: 3, Millis: 1520},
		{Dir: "/c", CostUSD: 5.2, Turns: 3, Millis: 21},
		{Node: "n1", Dir: "/a", CostUSD: 0.25, Turns: 1},
	})
}

func testCommands(t *testing.T, j Journal) {
	b := NewSession("s", 1)
	b.Commands = []journal.Command{
		{Session: "s", ID: "z", Run: 1, Number: 4, ClientID: "k", Kind: "prompt", State: "queued", UUID: "u", Line: []byte(`{"a":1}`), Data: json.RawMessage(`{"d":1}`), By: "ada", Order: 3, Created: start, Updated: start.Add(time.Second)},
		{Session: "s", ID: "a", Kind: "request", RequestID: "r", State: "written", Settled: true, Created: start, Updated: start},
		{Session: "s", ID: "m", State: "sent"},
	}
	commit(t, j, b)
	other := NewSession("t", 1)
	other.Commands = []journal.Command{{Session: "t", ID: "z"}}
	commit(t, j, other)
	equal(t, "all", must[[]journal.Command](t)(j.Commands(t.Context(), "s", false)), b.Commands)
	equal(t, "open", must[[]journal.Command](t)(j.Commands(t.Context(), "s", true)), []journal.Command{b.Commands[0], b.Commands[2]})
	b.Commands[0].State, b.Commands[0].Settled = "picked_up", true
	commit(t, j, &journal.Batch{SessionID: "s", After: 1, Commands: b.Commands[:1]})
	equal(t, "all, later", must[[]journal.Command](t)(j.Commands(t.Context(), "s", false)), b.Commands)
	equal(t, "open, later", must[[]journal.Command](t)(j.Commands(t.Context(), "s", true)), b.Commands[2:])
}

func testQuestions(t *testing.T, j Journal) {
	b := NewSession("s", 1)
	b.Questions = []journal.Question{
		{ID: "z", Session: "s", Run: 1, RequestID: "r", Kind: "permission", State: "open", Opened: 1, Ask: []byte(`{"q":1}`), OpenedAt: start},
		{ID: "a", Session: "s", State: "answered", Opened: 1, Settled: 1, Answer: []byte(`{}`), By: "ada", Reason: "fine", Data: json.RawMessage(`{"d":1}`), OpenedAt: start, SettledAt: start},
	}
	commit(t, j, b)
	other := NewSession("t", 1)
	other.Questions = []journal.Question{{ID: "m", Session: "t", State: "open"}}
	commit(t, j, other)
	ctx := t.Context()
	z, a, m := b.Questions[0], b.Questions[1], other.Questions[0]
	tests := []struct {
		query journal.QuestionQuery
		want  []journal.Question
	}{
		{journal.QuestionQuery{}, []journal.Question{z, a, m}},
		{journal.QuestionQuery{Limit: 2}, []journal.Question{z, a}},
		{journal.QuestionQuery{State: "open"}, []journal.Question{z, m}},
		{journal.QuestionQuery{State: "answered"}, []journal.Question{a}},
		{journal.QuestionQuery{Session: "s"}, []journal.Question{z, a}},
		{journal.QuestionQuery{Session: "s", State: "open"}, []journal.Question{z}},
		{journal.QuestionQuery{Session: "nobody"}, nil},
		{journal.QuestionQuery{Kind: "permission"}, []journal.Question{z}},
		{journal.QuestionQuery{Kind: "permission", State: "answered"}, nil},
		{journal.QuestionQuery{Kind: "plan"}, nil},
		{journal.QuestionQuery{Prefix: "z"}, []journal.Question{z}},
		{journal.QuestionQuery{Prefix: "z", State: "answered"}, nil},
		{journal.QuestionQuery{Prefix: "zz"}, nil},
		{journal.QuestionQuery{After: "z"}, []journal.Question{a, m}},
		{journal.QuestionQuery{After: "z", Limit: 1}, []journal.Question{a}},
		{journal.QuestionQuery{After: "m"}, nil},
		{journal.QuestionQuery{After: "nobody"}, nil},
	}
	for _, test := range tests {
		equal(t, fmt.Sprintf("%+v", test.query), must[[]journal.Question](t)(j.Questions(ctx, test.query)), test.want)
	}
	z.State, z.Settled = "cancelled", 1
	commit(t, j, &journal.Batch{SessionID: "s", After: 1, Questions: []journal.Question{z}})
	equal(t, "settled", must[*journal.Question](t)(j.Question(ctx, "z")), &z)
	equal(t, "open", must[[]journal.Question](t)(j.Questions(ctx, journal.QuestionQuery{State: "open"})), []journal.Question{m})
	counts := must[journal.Counts](t)(j.Count(ctx))
	equal(t, "open questions by kind", counts.OpenQuestions, map[string]int{"": 1})
	equal(t, "sessions by state", counts.Sessions, map[string]int{b.Session.State: 2})
	if _, err := j.Question(ctx, "nothing"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("a question that is not there: %v", err)
	}
	if _, _, err := j.Commit(ctx, &journal.Batch{SessionID: "t", After: 1, Questions: []journal.Question{{ID: "z"}}}); !errors.Is(err, journal.ErrConflict) {
		t.Errorf("a question id of another session: %v", err)
	}
}

func testClientIDs(t *testing.T, j Journal) {
	b := NewSession("s", 1)
	id := journal.ClientID{Scope: "create", ID: "k", Sum: []byte{1}, Answer: json.RawMessage(`{"a":1}`), Time: start}
	b.ClientIDs = []journal.ClientID{id}
	commit(t, j, b)
	ctx := t.Context()
	equal(t, "client id", must[*journal.ClientID](t)(j.ClientID(ctx, "create", "k")), &id)
	if _, err := j.ClientID(ctx, "send", "k"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("the client id in another scope: %v", err)
	}
	second := NewSession("t", 1)
	second.ClientIDs = b.ClientIDs
	_, _, err := j.Commit(ctx, second)
	var taken *journal.TakenError
	if !errors.Is(err, journal.ErrConflict) || !errors.As(err, &taken) || taken.ClientID == nil || string(taken.ClientID.Answer) != `{"a":1}` {
		t.Errorf("a client id of another session: %v", err)
	}
	changed := id
	changed.Sum = []byte{2}
	if _, _, err := j.Commit(ctx, &journal.Batch{SessionID: "s", After: 1, ClientIDs: []journal.ClientID{changed}}); !errors.As(err, &taken) {
		t.Errorf("a client id with another request: %v", err)
	}
	id.Answer = json.RawMessage(`{"a":2}`)
	commit(t, j, &journal.Batch{SessionID: "s", After: 1, ClientIDs: []journal.ClientID{id}})
	equal(t, "client id, later", must[*journal.ClientID](t)(j.ClientID(ctx, "create", "k")), &id)
}

func testLeases(t *testing.T, j Journal) {
	lease := journal.Lease{ConfigDir: "/c", Conversation: "x", Session: "s", Run: 1}
	b := NewSession("s", 1)
	b.Leases = []journal.Lease{lease}
	commit(t, j, b)
	ctx := t.Context()
	equal(t, "lease", must[*journal.Lease](t)(j.Lease(ctx, "/c", "x")), &lease)
	if _, err := j.Lease(ctx, "/other", "x"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("the lease in another folder: %v", err)
	}
	after := func(session string, n int64, take, release []journal.Lease) error {
		_, _, err := j.Commit(ctx, &journal.Batch{SessionID: session, After: n, Leases: take, Release: release})
		return err
	}
	commit(t, j, NewSession("t", 1))
	theirs := journal.Lease{ConfigDir: "/c", Conversation: "x", Session: "t", Run: 1}
	next := journal.Lease{ConfigDir: "/c", Conversation: "x", Session: "s", Run: 2}
	for name, err := range map[string]error{
		"another session":      after("t", 1, []journal.Lease{theirs}, nil),
		"a release by another": after("t", 1, []journal.Lease{theirs}, []journal.Lease{theirs}),
		"the next run":         after("s", 1, []journal.Lease{next}, nil),
	} {
		var taken *journal.TakenError
		if !errors.As(err, &taken) || taken.Lease == nil || *taken.Lease != lease {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := after("s", 1, []journal.Lease{lease}, nil); err != nil {
		t.Errorf("the holder again: %v", err)
	}
	if err := after("t", 1, nil, []journal.Lease{lease}); err == nil {
		t.Error("a batch with a row of another session was taken")
	}
	if err := after("s", 1, []journal.Lease{next}, []journal.Lease{lease}); err != nil {
		t.Errorf("handing the lease on to the next run: %v", err)
	}
	equal(t, "lease, later", must[*journal.Lease](t)(j.Lease(ctx, "/c", "x")), &next)
	if err := after("s", 1, nil, []journal.Lease{next}); err != nil {
		t.Errorf("giving the lease back: %v", err)
	}
	if err := after("t", 1, []journal.Lease{theirs}, nil); err != nil {
		t.Errorf("taking a lease that was given back: %v", err)
	}
}

func testConversations(t *testing.T, j Journal) {
	for i, id := range []string{"a", "b", "c"} {
		b := NewSession(id, 1)
		b.Session.Updated = start.Add(time.Duration(i) * time.Second)
		b.Conversations = []string{"own-" + id}
		if id != "c" {
			b.Conversations = append(b.Conversations, "shared")
		}
		commit(t, j, b)
	}
	find := func(conversation string) string {
		return must[*journal.Session](t)(j.SessionByConversation(t.Context(), conversation)).ID
	}
	if got := find("own-a"); got != "a" {
		t.Errorf("own-a belongs to %s", got)
	}
	if got := find("shared"); got != "b" {
		t.Errorf("the newest session of the shared conversation is %s", got)
	}
	b := NewSession("a", 1)
	b.After, b.Session.Updated, b.Conversations = 1, start.Add(time.Minute), []string{"shared", "third"}
	commit(t, j, b)
	if got := find("shared"); got != "a" {
		t.Errorf("the newest session of the shared conversation is now %s", got)
	}
	if find("own-a") != "a" || find("third") != "a" {
		t.Error("a session lost a conversation")
	}
	b = NewSession("d", 1)
	b.Session.Updated, b.Session.Data, b.Conversations = start.Add(time.Hour), json.RawMessage(`{"unauthenticated":true}`), []string{"shared", "fourth"}
	commit(t, j, b)
	if find("shared") != "a" || find("fourth") != "d" {
		t.Errorf("with an unauthenticated session the conversations belong to %s and %s", find("shared"), find("fourth"))
	}
	if _, err := j.SessionByConversation(t.Context(), "none"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("a conversation that nobody had: %v", err)
	}
}

package journaltest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// testSums sums turns up by session, by quarter of an hour and by model.
func testSums(t *testing.T, j Journal) {
	figures := func(models string) json.RawMessage {
		return json.RawMessage(`{"ms":1000,"figures":{"cost_usd":9,"models":` + models + `}}`)
	}
	for i, id := range []string{"a", "b"} {
		b := NewSession(id, 1)
		b.Session.Title, b.Session.Dir = "Title of "+id, "/"+id
		b.Turns = []journal.Turn{
			{Run: 1, Seq: 1, Time: start, CostUSD: 0.1, Data: figures(`{"big":{"cost_usd":0.07,"input":1,"output":2,"cache_read":3,"cache_write":4},"small":{"cost_usd":0.03,"output":10}}`)},
			{Run: 1, Seq: 2, Time: start.Add(14 * time.Minute), CostUSD: 0.2, Data: figures(`{"big":{"cost_usd":0.2,"input":100}}`)},
			{Run: 1, Seq: 3, Time: start.Add(15 * time.Minute), CostUSD: 0.4},
		}
		if i == 1 {
			b.Turns = append(b.Turns, journal.Turn{Run: 1, Seq: 4, Time: start.Add(time.Hour), CostUSD: 1, Data: json.RawMessage(`{"figures":{"models":{}},"ms":5}`)})
		}
		commit(t, j, b)
	}
	used := func(input, output, read, write int64) fold.Tokens {
		return fold.Tokens{Input: input, Output: output, CacheRead: read, CacheWrite: write}
	}
	quarter := start.Truncate(15 * time.Minute)
	tests := []struct {
		name  string
		by    journal.SumBy
		since time.Time
		want  []journal.Sum
	}{
		{"by session", journal.SumBySession, time.Time{}, []journal.Sum{
			{Key: "a", Title: "Title of a", Dir: "/a", CostUSD: 0.7, Turns: 3, Millis: 2000, Tokens: used(101, 12, 3, 4)},
			{Key: "b", Title: "Title of b", Dir: "/b", CostUSD: 1.7, Turns: 4, Millis: 2005, Tokens: used(101, 12, 3, 4)},
		}},
		{"by session since", journal.SumBySession, start.Add(time.Hour), []journal.Sum{{Key: "b", Title: "Title of b", Dir: "/b", CostUSD: 1, Turns: 1, Millis: 5}}},
		{"by quarter", journal.SumByQuarter, time.Time{}, []journal.Sum{
			{Time: quarter, CostUSD: 0.6, Turns: 4, Millis: 4000, Tokens: used(202, 24, 6, 8)},
			{Time: quarter.Add(15 * time.Minute), CostUSD: 0.8, Turns: 2},
			{Time: quarter.Add(time.Hour), CostUSD: 1, Turns: 1, Millis: 5},
		}},
		{"by model", journal.SumByModel, time.Time{}, []journal.Sum{
			{Key: "", CostUSD: 1.8, Turns: 3, Millis: 5},
			{Key: "big", CostUSD: 0.54, Turns: 4, Millis: 4000, Tokens: used(202, 4, 6, 8)},
			{Key: "small", CostUSD: 0.06, Turns: 2, Millis: 2000, Tokens: used(0, 20, 0, 0)},
		}},
		{"by model since", journal.SumByModel, start.Add(14 * time.Minute), []journal.Sum{
			{Key: "", CostUSD: 1.8, Turns: 3, Millis: 5},
			{Key: "big", CostUSD: 0.4, Turns: 2, Millis: 2000, Tokens: used(200, 0, 0, 0)},
		}},
		{"nothing", journal.SumByQuarter, start.Add(2 * time.Hour), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := must[[]journal.Sum](t)(j.Sums(t.Context(), test.by, test.since))
			slices.SortFunc(got, func(a, b journal.Sum) int { return cmp.Or(cmp.Compare(a.Key, b.Key), a.Time.Compare(b.Time)) })
			equal(t, "sums", got, test.want)
		})
	}
	if _, err := j.Sums(t.Context(), "star sign", time.Time{}); err == nil {
		t.Error("turns were summed up by their star sign")
	}
}

// testDecisions lists what was decided, of all sessions and of one.
func testDecisions(t *testing.T, j Journal) {
	ctx := t.Context()
	seqs := map[string]int64{}
	var names []string // of the decisions, the newest first
	for i := range 12 {
		id := []string{"a", "b", "c"}[i%3]
		b := NewSession(id, 1)
		b.After = seqs[id]
		kind := []string{"decision", "question_settled", "sandbox_refused"}[i%3]
		if id == "c" {
			kind = "question_opened" // is none
		}
		b.Entries = append(b.Entries, journal.Entry{
			Time: start.Add(time.Duration(i) * time.Minute), Source: journal.SourceHub, Kind: kind, Data: fmt.Appendf(nil, `{"n":%d}`, i),
		}, journal.Entry{Time: start, Source: journal.SourceHub, Kind: "state"})
		seqs[id] += int64(len(b.Entries))
		commit(t, j, b)
		if id != "c" {
			names = append([]string{fmt.Sprintf("%s %d", id, i)}, names...)
		}
	}
	list := func(q journal.DecisionQuery) (got []string, pages int) {
		t.Helper()
		for {
			page := must[journal.DecisionPage](t)(j.Decisions(ctx, q))
			pages++
			for _, e := range page.Entries {
				var d struct{ N int }
				if err := json.Unmarshal(e.Data, &d); err != nil || page.Epochs[e.Session] != "e-"+e.Session || e.Position == 0 || e.Seq == 0 {
					t.Errorf("entry %+v of epoch %q: %v", e, page.Epochs[e.Session], err)
				}
				got = append(got, fmt.Sprintf("%s %d", e.Session, d.N))
			}
			if page.Next == "" {
				return got, pages
			}
			q.Cursor = page.Next
		}
	}
	of := func(id string) (mine []string) {
		for _, name := range names {
			if name[:1] == id {
				mine = append(mine, name)
			}
		}
		return mine
	}
	tests := []struct {
		name  string
		q     journal.DecisionQuery
		want  []string
		pages int
	}{
		{"all", journal.DecisionQuery{}, names, 1},
		{"in pages", journal.DecisionQuery{Limit: 3}, names, 3},
		{"in pages that come out even", journal.DecisionQuery{Limit: 4}, names, 2},
		{"of a session", journal.DecisionQuery{Session: "b"}, of("b"), 1},
		{"of a session, in pages", journal.DecisionQuery{Session: "a", Limit: 1}, of("a"), 4},
		{"of one without any", journal.DecisionQuery{Session: "c"}, nil, 1},
		{"since", journal.DecisionQuery{Since: start.Add(7 * time.Minute)}, names[:3], 1},
		{"of a session since", journal.DecisionQuery{Session: "a", Since: start.Add(7 * time.Minute)}, []string{"a 9"}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, pages := list(test.q)
			equal(t, "decisions", got, test.want)
			if pages != test.pages {
				t.Errorf("%d pages, expected %d", pages, test.pages)
			}
		})
	}
	if _, err := j.Decisions(ctx, journal.DecisionQuery{Session: "nobody"}); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("decisions of nobody: %v", err)
	}
	if _, err := j.Decisions(ctx, journal.DecisionQuery{Cursor: "?"}); !errors.Is(err, journal.ErrCursor) {
		t.Errorf("a cursor that is none: %v", err)
	}
	if err := j.Delete(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	got, _ := list(journal.DecisionQuery{})
	equal(t, "decisions after a session was removed", got, of("b"))
}

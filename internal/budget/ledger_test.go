package budget

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// spentJournal is a journal of which only what was spent is asked.
type spentJournal struct {
	journal.Journal
	all, today []journal.Spent
	since      []time.Time
}

func (j *spentJournal) Spent(_ context.Context, since time.Time) ([]journal.Spent, error) {
	j.since = append(j.since, since)
	if since.IsZero() {
		return j.all, nil
	}
	return j.today, nil
}

func TestBudgetChecks(t *testing.T) {
	good := Budget{Name: "x", Per: PerDay, USD: 1, Action: Ask}
	tests := []struct {
		name   string
		change func(*Budget)
		want   string // a part of the error, "" for none
	}{
		{"good", func(*Budget) {}, ""},
		{"in a folder", func(b *Budget) { b.Folder = "/src" }, ""},
		{"never warned", func(b *Budget) { b.WarnAt = 1 }, ""},
		{"no name", func(b *Budget) { b.Name = "" }, "no name"},
		{"no scope", func(b *Budget) { b.Per = "" }, "per: expected session, folder or day"},
		{"no action", func(b *Budget) { b.Action = "stop" }, `got "stop"`},
		{"a relative folder", func(b *Budget) { b.Folder = "src" }, "absolute"},
		{"no limit", func(b *Budget) { b.USD = 0 }, "limits nothing"},
		{"negative money", func(b *Budget) { b.USD = -1 }, "negative"},
		{"no money at all", func(b *Budget) { b.USD = math.NaN() }, "negative"},
		{"negative turns", func(b *Budget) { b.Turns = -1 }, "negative"},
		{"negative time", func(b *Budget) { b.Wall = -1 }, "negative"},
		{"warned too late", func(b *Budget) { b.WarnAt = 1.1 }, "warn_at"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := good
			test.change(&b)
			_, err := Open(t.Context(), Options{Journal: &spentJournal{}, Budgets: []Budget{b}, Now: time.Now})
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	if _, err := Open(t.Context(), Options{Journal: &spentJournal{}, Budgets: []Budget{good, good}, Now: time.Now}); err == nil {
		t.Error("two budgets of one name are taken")
	}
}

func TestBudgetConcerns(t *testing.T) {
	tests := []struct {
		folder, dir string
		want        bool
	}{
		{"", "", true},
		{"", "/a", true},
		{"/a", "/a", true},
		{"/a", "/a/b/c", true},
		{"/a", "/ab", false},
		{"/a", "/", false},
		{"/a", "", false},
		{"/", "/a", true},
		{"/", "", false},
	}
	for _, test := range tests {
		if got := (&Budget{Folder: test.folder}).concerns(Place(test.dir)); got != test.want {
			t.Errorf("a budget for %q concerns %q: %v", test.folder, test.dir, got)
		}
	}
}

// TestLedger adds up what was used before and since, by folder and by day.
func TestLedger(t *testing.T) {
	zone := time.FixedZone("west", -5*3600)
	now := time.Date(2026, 3, 1, 22, 0, 0, 0, zone) // the next day in UTC
	j := &spentJournal{
		all:   []journal.Spent{{Dir: "/a", CostUSD: 1, Turns: 10, Millis: 1000}, {Dir: "/a/b", CostUSD: 2, Turns: 20}, {Dir: "/c", CostUSD: 4, Turns: 30}, {Dir: "/c/", Turns: 10}},
		today: []journal.Spent{{Dir: "/a", CostUSD: 0.5, Turns: 5, Millis: 500}, {Dir: "/c", CostUSD: 0.25, Turns: 2}},
	}
	l, err := Open(t.Context(), Options{Journal: j, Now: func() time.Time { return now }, Budgets: []Budget{
		{Name: "folder", Per: PerFolder, USD: 1, Action: Ask},
		{Name: "day", Per: PerDay, USD: 1, Wall: time.Hour, Action: Ask},
		{Name: "day of a", Per: PerDay, Folder: "/a/", USD: 1, Action: Ask},
		{Name: "session", Per: PerSession, USD: 1, Action: Ask},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []time.Time{{}, time.Date(2026, 3, 1, 0, 0, 0, 0, zone)}; !cmp.Equal(j.since, want) {
		t.Errorf("asked was what was spent since %v", j.since)
	}
	check := func(what string, i int, dir Place, want Amount) {
		t.Helper()
		if got := l.usedBy(i, dir, now); got != want {
			t.Errorf("%s: %+v, not %+v", what, got, want)
		}
	}
	check("folder a", 0, "/a", Amount{1, 10, 1000})
	check("folder b", 0, "/a/b", Amount{2, 20, 0})
	check("folder c, which was written in two ways", 0, "/c", Amount{4, 40, 0})
	check("another folder", 0, "/z", Amount{})
	check("the day", 1, "/z", Amount{0.75, 7, 500})
	check("the day in a", 2, "/a/b", Amount{0.5, 5, 500})
	const stretches = 1000 + 22*3600*1000 // a second, and the whole of today
	l.works("other", "/a/b", now.Add(-time.Second), now)
	l.works("elsewhere", "/z", now.Add(-30*time.Hour), now)
	check("the day with those at work", 1, "/a", Amount{0.75, 7, 500 + stretches})
	if others := l.Add("s", "/a/b", now, Amount{0.1, 1, 10}); len(others) != 2 {
		t.Errorf("concerned are %v", others)
	}
	l.works("elsewhere", "/z", now.Add(-time.Second), now) // and again, at once
	l.works("other", "/a/b", time.Time{}, now)
	l.works("other", "/a/b", time.Time{}, now)
	check("the folder of one that has stopped", 0, "/a/b", Amount{2.1, 21, 1010})
	check("the day with one at work", 1, "/a", Amount{0.85, 8, 510 + stretches})
	l.works("elsewhere", "/z", time.Time{}, now)
	check("the day with nobody at work", 1, "/a", Amount{0.85, 8, 510 + stretches})
	check("folder a after a turn in b", 0, "/a", Amount{1, 10, 1000})
	check("folder b after a turn", 0, "/a/b", Amount{2.1, 21, 1010})
	check("the day after a turn", 1, "", Amount{0.85, 8, 510 + stretches})
	// What is late by a day does not count, and the next day begins anew.
	l.Add("s", "/a", now.Add(-24*time.Hour), Amount{5, 5, 5})
	check("the day after a late turn", 1, "", Amount{0.85, 8, 510 + stretches})
	check("the folder after a late turn", 0, "/a", Amount{6, 15, 1005})
	now = now.Add(2 * time.Hour)
	check("the next day", 1, "", Amount{})
	check("the folder on the next day", 0, "/a", Amount{6, 15, 1005})
	l.Add("s", "/a", now, Amount{0.3, 1, 1})
	check("a turn on the next day", 2, "/a", Amount{0.3, 1, 1})
}

// TestLedgerTogether adds from many sessions at once.
func TestLedgerTogether(t *testing.T) {
	l, err := Open(t.Context(), Options{Journal: &spentJournal{}, Budgets: []Budget{{Name: "x", Per: PerDay, USD: 1, Action: Ask}}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			id := fmt.Sprint(i)
			for range 100 {
				l.works(id, "/a", now, now)
				l.Add(id, "/a", now, Amount{USD: 0.001, Turns: 1})
				l.lookAt(id, now)
				l.Due(now)
				l.works(id, "/a", time.Time{}, now)
			}
		})
	}
	all.Wait()
	if got := l.usedBy(0, "/b", now); got.USD != 1 || got.Turns != 1000 {
		t.Errorf("the sum is %+v", got)
	}
}

func TestSentences(t *testing.T) {
	tests := []struct {
		use  api.BudgetUse
		want string
	}{
		{api.BudgetUse{Name: "a", Per: PerSession, Unit: USD, Used: 10.5, Limit: 10, Over: true}, `the budget "a" is used up: $10.50 of $10.00 in this session`},
		{api.BudgetUse{Name: "a", Per: PerFolder, Unit: USD, Used: 0.004, Limit: 0.005}, `the budget "a" is nearly used up: $0.0040 of $0.0050 in this folder`},
		{api.BudgetUse{Name: "a", Per: PerDay, Unit: Turns, Used: 1, Limit: 1, Over: true}, `the budget "a" is used up: 1 of 1 turn today`},
		{api.BudgetUse{Name: "a", Per: PerSession, Unit: Wall, Used: 4000, Limit: 3600, Over: true}, `the budget "a" is used up: 1h6m40s of 1h0m0s at work in this session`},
		{api.BudgetUse{Name: "a", Per: PerSession, Unit: Idle, Used: 61, Limit: 60, Over: true}, `the budget "a" is used up: the session has been idle for 1m1s`},
	}
	for _, test := range tests {
		if got := Sentence(test.use); got != test.want {
			t.Errorf("%+v: %s", test.use, got)
		}
	}
}

// TestLimitsTime counts time at work and idle over a session's phases.
func TestLimitsTime(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var l State
	tests := []struct {
		phase  fold.Phase
		worked time.Duration // when the next begins, a minute later
		idle   bool
	}{
		{fold.PhaseStarting, 0, false},
		{fold.PhaseIdle, 0, true},
		{fold.PhaseRunning, 1, false},
		{fold.PhaseRequiresAction, 2, false},
		{fold.PhaseRunning, 3, false},
		{fold.PhaseBackground, 3, false},
		{fold.PhaseRunning, 4, false},
		{fold.PhaseOffline, 4, false},
		{fold.PhaseRunning, 5, false},
		{fold.PhaseIdle, 5, true},
		{fold.PhaseOffline, 5, true},
		{fold.PhaseIdle, 5, true},
		{fold.PhaseEnded, 5, false},
	}
	now := start
	for i, test := range tests {
		l.clock(test.phase, now)
		now = now.Add(time.Minute)
		if got := l.worked(now); got != test.worked*time.Minute || !l.Idle.IsZero() != test.idle {
			t.Errorf("%d: after a minute of %s it has worked for %v and is idle since %v", i, test.phase, got, l.Idle)
		}
		if i == 11 && !l.Idle.Equal(start.Add(9*time.Minute)) {
			t.Errorf("after a lost connection it is idle since %v", l.Idle)
		}
	}
	l.clock(fold.PhaseRunning, now)
	l.clock(fold.PhaseIdle, now.Add(-time.Hour)) // the clock was set back
	if l.Worked != 5*time.Minute {
		t.Errorf("with a clock that was set back it has worked for %v", l.Worked)
	}
}

// TestLimitsBounds has a CLI tell of limits without end.
func TestLimitsBounds(t *testing.T) {
	var l State
	for i := range int64(1000) {
		l.rateLimit(&wire.RateLimitInfo{Status: wire.RateLimitStatusRejected, RateLimitType: wire.RateLimitType(fmt.Sprint(i)), ResetsAt: 1e300}, i)
		l.told(record.Budget{BudgetUse: api.BudgetUse{Name: fmt.Sprint(i), Unit: USD}})
		l.over(record.HoldOver{Granted: &record.Grant{Budget: fmt.Sprint(i), Unit: USD}}, i)
	}
	l.rateLimit(&wire.RateLimitInfo{Status: wire.RateLimitStatusRejected, RateLimitType: wire.RateLimitType(strings.Repeat("x", 1000))}, 1)
	if len(l.Rejected) != maxLimits || len(l.Marks) != maxMarks || len(l.Grants) != maxMarks {
		t.Errorf("%d limits, %d marks and %d grants are kept", len(l.Rejected), len(l.Marks), len(l.Grants))
	}
	if l.Marks[maxMarks-1].Budget != "999" || l.Rejected["0"].Until != (time.Time{}) {
		t.Errorf("the newest mark is %+v, the first limit %+v", l.Marks[maxMarks-1], l.Rejected["0"])
	}
	var empty State
	raw, err := json.Marshal(struct {
		L State `json:"l,omitzero"`
	}{empty})
	if err != nil || string(raw) != "{}" {
		t.Errorf("nothing is written as %s (%v)", raw, err)
	}
}

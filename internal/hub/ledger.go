package hub

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// What budgets are made of; see package budget.
const (
	perSession      = budget.PerSession
	perFolder       = budget.PerFolder
	perDay          = budget.PerDay
	actionWarn      = budget.Warn
	actionAsk       = budget.Ask
	actionInterrupt = budget.Interrupt
	unitUSD         = budget.USD
	unitTurns       = budget.Turns
	unitWall        = budget.Wall
	unitIdle        = budget.Idle
)

// A Budget limits what sessions may use. What is zero is not limited.
type Budget struct {
	// Name is how people are told of it. It is required, and no two have the same.
	Name string
	// Per is "session" (each by itself, over all of its runs), "folder" (all
	// sessions of the same folder together, for good) or "day" (all sessions
	// together on a day of the clock's zone).
	Per string
	// Folder has the budget count only for sessions in this folder or below. If
	// empty, for all.
	Folder string
	// USD is money, as far as the CLI has told it: it does so when a turn ends.
	// Turns counts turns that have ended. Wall is time at work, and Idle time
	// without work, which is each session's own whatever Per says.
	USD   float64
	Turns int64
	Wall  time.Duration
	Idle  time.Duration
	// Action is "warn" (somebody is told), "ask" (no further prompt is sent until
	// somebody releases the session, and rules allow nothing by themselves; an
	// idle process is ended) or "interrupt" (the same, and the running turn is
	// interrupted at once).
	Action string
	// WarnAt is the share at which people are warned, of 1. If zero, 0.8.
	WarnAt float64
}

// defaultWarnAt is the share of a budget at which people are warned.
const defaultWarnAt = 0.8

// check says what is wrong with a budget.
func (b *Budget) check() error {
	switch {
	case b.Name == "":
		return errors.New("it has no name")
	case b.Per != perSession && b.Per != perFolder && b.Per != perDay:
		return fmt.Errorf("per: expected session, folder or day, got %q", b.Per)
	case b.Action != actionWarn && b.Action != actionAsk && b.Action != actionInterrupt:
		return fmt.Errorf("action: expected warn, ask or interrupt, got %q", b.Action)
	case b.Folder != "" && !filepath.IsAbs(b.Folder):
		return fmt.Errorf("folder: expected an absolute path, got %q", b.Folder)
	case b.USD < 0 || math.IsNaN(b.USD) || math.IsInf(b.USD, 0) || b.Turns < 0 || b.Wall < 0 || b.Idle < 0:
		return errors.New("its limits must not be negative")
	case b.USD == 0 && b.Turns == 0 && b.Wall == 0 && b.Idle == 0:
		return errors.New("it limits nothing: give it usd, turns, wall or idle")
	case b.WarnAt < 0 || b.WarnAt > 1 || math.IsNaN(b.WarnAt):
		return fmt.Errorf("warn_at: expected a share from 0 to 1, got %v", b.WarnAt)
	}
	return nil
}

// concerns reports whether a budget counts for sessions of a folder.
func (b *Budget) concerns(dir string) bool {
	if b.Folder == "" || dir == b.Folder {
		return true
	}
	rest, below := strings.CutPrefix(dir, b.Folder)
	return below && (rest[0] == filepath.Separator || b.Folder[len(b.Folder)-1] == filepath.Separator)
}

// shared reports whether a budget is counted over several sessions.
func (b *Budget) shared() bool { return b.Per != perSession }

// limit returns how much of a unit a budget allows, 0 if it does not limit it.
// Times are in seconds.
func (b *Budget) limit(unit string) float64 {
	switch unit {
	case unitUSD:
		return b.USD
	case unitTurns:
		return float64(b.Turns)
	case unitWall:
		return b.Wall.Seconds()
	case unitIdle:
		return b.Idle.Seconds()
	}
	return 0
}

// An amount is what turns have used.
type amount struct {
	usd    float64
	turns  int64
	millis int64
}

func (a amount) plus(o amount) amount {
	return amount{usd: budget.Cents(a.usd + o.usd), turns: a.turns + o.turns, millis: a.millis + o.millis}
}

// of returns the part that a unit counts.
func (a amount) of(unit string) float64 {
	switch unit {
	case unitUSD:
		return a.usd
	case unitTurns:
		return float64(a.turns)
	case unitWall:
		return float64(a.millis) / 1000
	}
	return 0
}

// A ledger knows the budgets, and what all sessions together have used of those
// that are counted over several. What was used before is read once, when it is
// opened; what is used from then on is added when it is in the journal. It is
// safe for concurrent use.
type ledger struct {
	// Static after construction.
	budgets []Budget
	zone    *time.Location
	resumes bool // queues that a rate limit holds back go on by themselves
	spread  bool // some budget is counted over several sessions
	priced  bool // some budget counts money

	mu sync.Mutex
	// used holds what was used by budget and, of those per folder, by folder.
	used []map[string]amount
	day  string // that used holds of budgets per day
	// working are the sessions that are at work, with their folder and since when.
	working map[string]working
	// due is when a session has to be looked at, though nothing happens in it.
	due map[string]time.Time
	// told are the shared budgets of which somebody was told.
	told map[string]bool
}

type working struct {
	dir   string
	since time.Time
}

// openLedger checks the budgets and reads what was used before.
func openLedger(ctx context.Context, o Options, clock func() time.Time) (*ledger, error) {
	l := &ledger{
		budgets: slices.Clone(o.Budgets), resumes: o.ResumeAtReset, zone: clock().Location(),
		working: map[string]working{}, due: map[string]time.Time{}, told: map[string]bool{},
	}
	names := map[string]bool{}
	folders, days := false, false
	for i := range l.budgets {
		b := &l.budgets[i]
		if err := b.check(); err != nil {
			return nil, fmt.Errorf("budget %q: %w", b.Name, err)
		}
		if names[b.Name] {
			return nil, fmt.Errorf("budget %q: the name is used twice", b.Name)
		}
		names[b.Name] = true
		b.Folder = budget.Folder(b.Folder)
		if b.WarnAt == 0 {
			b.WarnAt = defaultWarnAt
		}
		l.priced = l.priced || b.USD > 0
		folders, days = folders || b.Per == perFolder, days || b.Per == perDay
		l.used = append(l.used, map[string]amount{})
	}
	l.spread = folders || days
	today := midnight(clock().In(l.zone))
	l.day = dayOf(today)
	if folders {
		if err := l.read(ctx, o.Journal, perFolder, time.Time{}); err != nil {
			return nil, err
		}
	}
	if days {
		if err := l.read(ctx, o.Journal, perDay, today); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// read adds up what was used before, for the budgets of one kind.
func (l *ledger) read(ctx context.Context, j journal.Journal, per string, since time.Time) error {
	spent, err := j.Spent(ctx, since)
	if err != nil {
		return fmt.Errorf("adding up what was used before: %w", err)
	}
	for _, s := range spent {
		l.addTo(per, budget.Folder(s.Dir), amount{usd: s.CostUSD, turns: s.Turns, millis: s.Millis})
	}
	return nil
}

// addTo adds to the budgets of one kind.
func (l *ledger) addTo(per, dir string, a amount) {
	for i := range l.budgets {
		if b := &l.budgets[i]; b.Per == per && b.concerns(dir) {
			key := scopeOf(b, dir)
			l.used[i][key] = l.used[i][key].plus(a)
		}
	}
}

// scopeOf returns what a shared budget is counted by.
func scopeOf(b *Budget, dir string) string {
	if b.Per == perFolder {
		return dir
	}
	return ""
}

// add adds what a turn used that is in the journal now, and returns the sessions
// at work which that may concern.
func (l *ledger) add(session, dir string, at time.Time, a amount) []string {
	if !l.spread {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.roll(at)
	l.addTo(perFolder, dir, a)
	if dayOf(at.In(l.zone)) == l.day {
		l.addTo(perDay, dir, a)
	}
	var others []string
	for id, w := range l.working {
		if id != session && slices.ContainsFunc(l.budgets, func(b Budget) bool {
			return b.shared() && b.concerns(dir) && b.concerns(w.dir) && scopeOf(&b, dir) == scopeOf(&b, w.dir)
		}) {
			others = append(others, id)
		}
	}
	return others
}

// roll begins a new day if there is one. mu is held.
func (l *ledger) roll(now time.Time) {
	day := dayOf(now.In(l.zone))
	if day <= l.day {
		return // the same, or the clock was set back
	}
	l.day = day
	for i := range l.budgets {
		if l.budgets[i].Per == perDay {
			clear(l.used[i])
		}
	}
}

// usedBy returns what is used of a shared budget, without turns that are not in
// the journal yet.
func (l *ledger) usedBy(i int, dir string, now time.Time) amount {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.roll(now)
	b := &l.budgets[i]
	used := l.used[i][scopeOf(b, dir)]
	if b.Wall == 0 {
		return used
	}
	for _, w := range l.working {
		if b.concerns(w.dir) && scopeOf(b, w.dir) == scopeOf(b, dir) {
			used.millis += l.stretch(b, w.since, now)
		}
	}
	return used
}

// stretch returns how much of a time at work counts for a budget.
func (l *ledger) stretch(b *Budget, since, until time.Time) int64 {
	if from := midnight(until.In(l.zone)); b.Per == perDay && since.Before(from) {
		since = from
	}
	return max(0, until.Sub(since).Milliseconds())
}

// works notes since when a session is at work; zero if it is not. Time at work is
// measured here as long as the hub lives, and what turns say of it only counts
// when it is read back: so it grows all the time, and also counts for turns that
// never end.
func (l *ledger) works(session, dir string, since, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.roll(now)
	old, was := l.working[session]
	if was && old.since.Equal(since) {
		return
	}
	if was {
		until := since // one stretch ended and another began
		if since.IsZero() {
			until = now
		}
		for i := range l.budgets {
			if b := &l.budgets[i]; b.shared() && b.concerns(old.dir) {
				key := scopeOf(b, old.dir)
				l.used[i][key] = l.used[i][key].plus(amount{millis: l.stretch(b, old.since, until)})
			}
		}
	}
	if since.IsZero() {
		delete(l.working, session)
		return
	}
	l.working[session] = working{dir: dir, since: since}
}

// lookAt notes when a session has to be looked at; zero for never.
func (l *ledger) lookAt(session string, due time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if due.IsZero() {
		delete(l.due, session)
		return
	}
	l.due[session] = due
}

// dueNow returns the sessions whose time has come.
func (l *ledger) dueNow(now time.Time) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var due []string
	for id, at := range l.due {
		if !at.After(now) {
			due = append(due, id)
			delete(l.due, id)
		}
	}
	return due
}

// tell reports whether somebody has still to be told of a shared budget: each
// session could tell of it, and one is enough. A budget that is one session's
// own is told by that session, which remembers it.
func (l *ledger) tell(m *meter, dir string, over bool) bool {
	if !m.budget.shared() {
		return true
	}
	key := fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%v\x00%v", m.budget.Name, m.unit, m.day, scopeOf(m.budget, dir), m.limit, over)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told[key] {
		return false
	}
	if len(l.told) >= mostTold {
		clear(l.told) // somebody is told once more, rather than nobody
	}
	l.told[key] = true
	return true
}

// mostTold is how many shared budgets a ledger remembers to have told of.
const mostTold = 10_000

// midnight returns when a time's day began.
func midnight(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, t.Location())
}

// nextMidnight returns when a time's day ends.
func nextMidnight(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, t.Location())
}

// dayOf names a time's day; names are in the order of days.
func dayOf(t time.Time) string { return t.Format(time.DateOnly) }

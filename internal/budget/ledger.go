package budget

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// A Ledger knows the budgets, and what all sessions together have used of those
// that are counted over several. What was used before is read once, when it is
// opened; what is used from then on is added when it is in the journal. It is
// safe for concurrent use.
type Ledger struct {
	// Static after construction.
	journal  journal.Journal
	budgets  []Budget
	zone     *time.Location
	resumes  bool // queues that a rate limit holds back go on by themselves
	spread   bool // some budget is counted over several sessions
	priced   bool // some budget counts money
	nodeName func(string) string

	mu sync.Mutex
	// used holds what was used by budget and, of those per folder, by place.
	used []map[Place]Amount
	day  string // that used holds of budgets per day
	// working are the sessions that are at work, with their place and since when.
	working map[string]working
	// due is when a session has to be looked at, though nothing happens in it.
	due map[string]time.Time
	// told are the shared budgets of which a notification was sent.
	told map[string]bool
}

type working struct {
	at    Place
	since time.Time
}

// Options are the options of a [Ledger].
type Options struct {
	// Journal is read for what was used before. It is required.
	Journal journal.Journal
	Budgets []Budget
	// ResumeAtReset has all queues that a rate limit holds back go on when it is
	// over.
	ResumeAtReset bool
	// Now is the clock; days are those of its zone. It is required.
	Now func() time.Time
	// NodeName returns what people call another machine. If nil, its id.
	NodeName func(node string) string
}

// Open checks the budgets and reads what was used before.
func Open(ctx context.Context, o Options) (*Ledger, error) {
	l := &Ledger{
		budgets: slices.Clone(o.Budgets), resumes: o.ResumeAtReset, zone: o.Now().Location(), journal: o.Journal,
		nodeName: o.NodeName, working: map[string]working{}, due: map[string]time.Time{}, told: map[string]bool{},
	}
	if l.nodeName == nil {
		l.nodeName = func(node string) string { return node }
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
		b.Folder = Folder(b.Folder)
		if b.WarnAt == 0 {
			b.WarnAt = defaultWarnAt
		}
		l.priced = l.priced || b.USD > 0
		folders, days = folders || b.Per == PerFolder, days || b.Per == PerDay
		l.used = append(l.used, map[Place]Amount{})
	}
	l.spread = folders || days
	today := midnight(o.Now().In(l.zone))
	l.day = dayOf(today)
	if folders {
		if err := l.read(ctx, o.Journal, PerFolder, time.Time{}); err != nil {
			return nil, err
		}
	}
	if days {
		if err := l.read(ctx, o.Journal, PerDay, today); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// read adds up what was used before, for the budgets of one kind.
func (l *Ledger) read(ctx context.Context, j journal.Journal, per string, since time.Time) error {
	spent, err := j.Spent(ctx, since)
	if err != nil {
		return fmt.Errorf("adding up what was used before: %w", err)
	}
	for _, s := range spent {
		l.addTo(per, PlaceOf(s.Node, s.Dir), Amount{USD: s.CostUSD, Turns: s.Turns, Millis: s.Millis})
	}
	return nil
}

// addTo adds to the budgets of one kind.
func (l *Ledger) addTo(per string, at Place, a Amount) {
	for i := range l.budgets {
		if b := &l.budgets[i]; b.Per == per && b.concerns(at) {
			key := scopeOf(b, at)
			l.used[i][key] = l.used[i][key].Plus(a)
		}
	}
}

// scopeOf returns what a shared budget is counted by.
func scopeOf(b *Budget, at Place) Place {
	if b.Per == PerFolder {
		return at
	}
	return ""
}

// Add adds what a turn used that is in the journal now, and returns the sessions
// at work which that may concern.
func (l *Ledger) Add(session string, at Place, now time.Time, a Amount) []string {
	if !l.spread {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.roll(now)
	l.addTo(PerFolder, at, a)
	if dayOf(now.In(l.zone)) == l.day {
		l.addTo(PerDay, at, a)
	}
	var others []string
	for id, w := range l.working {
		if id != session && slices.ContainsFunc(l.budgets, func(b Budget) bool {
			return b.shared() && b.concerns(at) && b.concerns(w.at) && scopeOf(&b, at) == scopeOf(&b, w.at)
		}) {
			others = append(others, id)
		}
	}
	return others
}

// roll begins a new day if there is one. mu is held.
func (l *Ledger) roll(now time.Time) {
	day := dayOf(now.In(l.zone))
	if day <= l.day {
		return // the same, or the clock was set back
	}
	l.day = day
	for i := range l.budgets {
		if l.budgets[i].Per == PerDay {
			clear(l.used[i])
		}
	}
}

// usedBy returns what is used of a shared budget, without turns that are not in
// the journal yet.
func (l *Ledger) usedBy(i int, at Place, now time.Time) Amount {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.roll(now)
	b := &l.budgets[i]
	used := l.used[i][scopeOf(b, at)]
	if b.Wall == 0 {
		return used
	}
	for _, w := range l.working {
		if b.concerns(w.at) && scopeOf(b, w.at) == scopeOf(b, at) {
			used.Millis += l.stretch(b, w.since, now)
		}
	}
	return used
}

// stretch returns how much of a time at work counts for a budget.
func (l *Ledger) stretch(b *Budget, since, until time.Time) int64 {
	if from := midnight(until.In(l.zone)); b.Per == PerDay && since.Before(from) {
		since = from
	}
	return max(0, until.Sub(since).Milliseconds())
}

// works notes since when a session is at work; zero if it is not. Time at work is
// measured here as long as the hub lives, and what turns say of it only counts
// when it is read back: so it grows all the time, and also counts for turns that
// never end.
func (l *Ledger) works(session string, at Place, since, now time.Time) {
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
			if b := &l.budgets[i]; b.shared() && b.concerns(old.at) {
				key := scopeOf(b, old.at)
				l.used[i][key] = l.used[i][key].Plus(Amount{Millis: l.stretch(b, old.since, until)})
			}
		}
	}
	if since.IsZero() {
		delete(l.working, session)
		return
	}
	l.working[session] = working{at: at, since: since}
}

// lookAt notes when a session has to be looked at; zero for never.
func (l *Ledger) lookAt(session string, due time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if due.IsZero() {
		delete(l.due, session)
		return
	}
	l.due[session] = due
}

// Due returns the sessions that have to be checked by now, each once.
func (l *Ledger) Due(now time.Time) []string {
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

// tell reports whether a notification of a shared budget is still to be sent: each
// session could tell of it, and one is enough. A budget that is one session's
// own is told by that session, which remembers it.
func (l *Ledger) tell(m *Meter, at Place, over bool) bool {
	if !m.budget.shared() {
		return true
	}
	key := fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%v\x00%v", m.budget.Name, m.unit, m.day, scopeOf(m.budget, at), m.limit, over)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told[key] {
		return false
	}
	if len(l.told) >= maxTold {
		clear(l.told) // one notification too many, rather than none
	}
	l.told[key] = true
	return true
}

// maxTold is how many shared budgets a ledger remembers to have told of.
const maxTold = 10_000

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

// Budgets returns the limits that the server was given, a row for each unit.
// What is used of one per session or per folder is told of the session or folder
// that has used most of it.
func (l *Ledger) Budgets(ctx context.Context, now time.Time) (*api.Budgets, error) {
	out := &api.Budgets{Budgets: []api.BudgetUse{}}
	var sessions []journal.Sum
	if slices.ContainsFunc(l.budgets, func(b Budget) bool { return b.Per == PerSession }) {
		var err error
		if sessions, err = l.journal.Sums(ctx, journal.SumBySession, time.Time{}); err != nil {
			return nil, err
		}
	}
	for i := range l.budgets {
		b := &l.budgets[i]
		for _, unit := range units {
			m := Meter{budget: b, unit: unit, limit: b.limit(unit)}
			if m.limit == 0 {
				continue
			}
			scope := ""
			most := func(used float64, of string) {
				if used > m.used {
					m.used, scope = used, of
				}
			}
			if b.shared() {
				for _, at := range l.scopes(i) {
					most(l.usedBy(i, at, now).of(unit), l.shown(at))
				}
			} else {
				for _, s := range sessions {
					if b.concerns(PlaceOf("", s.Dir)) {
						most(Amount{USD: s.CostUSD, Turns: s.Turns, Millis: s.Millis}.of(unit), s.Key)
					}
				}
			}
			use := m.Use()
			use.Scope = scope
			out.Budgets = append(out.Budgets, use)
		}
	}
	return out, nil
}

// scopes returns what a shared budget is counted by: the folders, or all at once.
func (l *Ledger) scopes(i int) []Place {
	b := &l.budgets[i]
	if b.Per != PerFolder {
		return []Place{""}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	places := map[Place]bool{}
	for at := range l.used[i] {
		places[at] = true
	}
	for _, w := range l.working {
		if b.concerns(w.at) {
			places[w.at] = true
		}
	}
	return slices.Sorted(maps.Keys(places))
}

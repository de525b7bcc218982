package hub

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A meter is one limit of a budget as it concerns a session now.
type meter struct {
	budget *Budget
	unit   string
	day    string // of a budget per day
	// used and limit are dollars, turns or seconds. From is where counting began:
	// a warning is due at a share of what is between it and the limit.
	used, limit, from float64
}

// over reports whether it is used up.
func (m *meter) over() bool { return m.used >= m.limit }

// near reports whether it is used up so far that people are warned.
func (m *meter) near() bool { return m.used >= m.from+m.budget.WarnAt*(m.limit-m.from) }

// use returns what people are shown of it.
func (m *meter) use() api.BudgetUse {
	return api.BudgetUse{
		Name: m.budget.Name, Per: m.budget.Per, Unit: m.unit, Limit: m.limit, Used: m.used, Action: m.budget.Action, Over: m.over(),
	}
}

// folder returns the folder that a session works in, as budgets know it.
func (b *book) folder() string { return budget.Folder(b.dir()) }

// meters returns the limits that concern a session. pending is what it has used
// that the ledger does not know of yet.
func (s *session) meters(pending amount, now time.Time) []meter {
	led, b := s.hub.ledger, s.book
	var list []meter
	if len(led.budgets) == 0 {
		return nil
	}
	dir := b.folder()
	own := amount{turns: b.Costs.Turns, millis: b.Limits.worked(now).Milliseconds()}
	if led.priced {
		own.usd = budget.Cents(b.Costs.Total().CostUSD)
	}
	for i := range led.budgets {
		budget := &led.budgets[i]
		if !budget.concerns(dir) {
			continue
		}
		all, day := own, ""
		if budget.shared() {
			all = led.usedBy(i, dir, now).plus(pending)
		}
		if budget.Per == perDay {
			day = dayOf(now.In(led.zone))
		}
		for _, unit := range []string{unitUSD, unitTurns, unitWall, unitIdle} {
			m := meter{budget: budget, unit: unit, day: day, limit: budget.limit(unit), used: all.of(unit)}
			if m.limit == 0 {
				continue
			}
			if unit == unitIdle {
				m.day, m.used = "", 0
				if !b.Limits.Idle.IsZero() {
					m.used = max(0, now.Sub(b.Limits.Idle).Seconds())
				}
			} else if g := b.Limits.granted(&m); g != nil && g.Limit > m.limit {
				m.limit, m.from = g.Limit, g.From
			}
			list = append(list, m)
		}
	}
	return list
}

// checkLimits opens and ends holds, tells of budgets that are used up or nearly
// so, and does what follows from that. It is called in every step, before prompts
// are sent.
func (st *step) checkLimits() {
	s, led := st.s, st.s.hub.ledger
	var pending amount
	if len(st.rows.turns) > 0 && led.spread {
		pending = st.account()
	}
	st.checkRateLimits()
	st.wake()
	if len(led.budgets) == 0 && len(s.book.Limits.Holds) == 0 {
		return
	}
	if led.spread {
		led.works(s.id, s.book.folder(), s.book.Limits.Since, st.now)
	}
	meters := s.meters(pending, st.now)
	st.checkHolds(meters)
	for i := range meters {
		if m := &meters[i]; m.unit != unitIdle {
			st.checkMeter(m)
		} else {
			st.checkIdle(m)
		}
	}
	st.interruptOver()
	led.lookAt(s.id, st.nextLook(meters))
}

// account has what the step's turns used added to the ledger once it is in the
// journal, and returns it.
func (st *step) account() amount {
	s, dir, sum := st.s, st.s.book.folder(), st.pending()
	// Before all else: who is shown the session in this step sees it.
	st.after = slices.Insert(st.after, 0, func() { s.hub.nudge(s.hub.ledger.add(s.id, dir, st.now, sum)) })
	return sum
}

// nudge has sessions looked at.
func (h *Hub) nudge(ids []string) {
	if len(ids) == 0 {
		return
	}
	h.mu.Lock()
	var list []*session
	for _, id := range ids {
		if s := h.sessions[id]; s != nil {
			list = append(list, s)
		}
	}
	h.mu.Unlock()
	for _, s := range list {
		s.later(func(*step) {}) // a step without an operation looks at the limits
	}
}

// tickLimits has the sessions looked at whose time has come.
func (h *Hub) tickLimits(now time.Time) { h.nudge(h.ledger.dueNow(now)) }

// concerned reports whether a session has something to do with its budgets now:
// it works, wants to, or has just done so. The others are told when they want to;
// or a budget of the day would wake every session there is.
func (st *step) concerned() bool {
	b := st.s.book
	if len(st.rows.turns) > 0 {
		return true
	}
	if _, waiting := b.nextPrompt(); waiting {
		return true
	}
	phase := b.phase()
	return phase == fold.PhaseRunning || phase == fold.PhaseRequiresAction || phase == fold.PhaseBackground
}

// checkMeter tells of a budget and holds the queue back if it is used up.
func (st *step) checkMeter(m *meter) {
	s, l := st.s, &st.s.book.Limits
	over := m.over()
	if !over && !m.near() || !st.concerned() {
		return
	}
	if !l.marked(m, over) && s.hub.ledger.tell(m, s.book.folder(), over) {
		st.event(api.KindBudget, Actor{}, record.Budget{BudgetUse: m.use(), Day: m.day})
	}
	if !over || m.budget.Action == actionWarn || l.holdOf(m) != nil {
		return
	}
	h := record.Hold{Hold: api.Hold{ID: newID("h"), Kind: holdBudget, Reason: budget.Sentence(m.use()), Since: st.now, Budget: m.budget.Name}, Unit: m.unit, Day: m.day, At: m.limit}
	if m.budget.Per == perDay {
		h.Until, h.Resumes = nextMidnight(st.now.In(s.hub.ledger.zone)).UTC(), true
	}
	st.event(api.KindHold, Actor{}, h)
}

// checkHolds ends the holds of budgets that are not used up any more: it is
// another day, or the budget is another one or was removed.
func (st *step) checkHolds(meters []meter) {
	paused := st.s.rulesPaused()
	for _, h := range slices.Clone(st.s.book.Limits.Holds) {
		if h.Kind != holdBudget {
			continue
		}
		i := slices.IndexFunc(meters, func(m meter) bool {
			return m.budget.Name == h.Budget && m.unit == h.Unit && m.day == h.Day && m.budget.Action != actionWarn
		})
		if i >= 0 && (meters[i].over() || meters[i].limit <= h.At) {
			continue // also if less is known to be used than was: sums are read anew at a start
		}
		reason := overGone
		if i < 0 && !h.Until.IsZero() && !h.Until.After(st.now) {
			reason = overReset
		}
		st.event(api.KindHoldOver, Actor{}, record.HoldOver{HoldOver: api.HoldOver{ID: h.ID, Reason: reason}})
	}
	if paused && !st.s.rulesPaused() {
		st.released()
	}
}

// checkIdle tells that a session has been idle for long, and ends its process.
// It never does while something is asked, queued or going on in the background.
func (st *step) checkIdle(m *meter) {
	s, b := st.s, st.s.book
	if !m.over() || b.phase() != fold.PhaseIdle || s.stopping != "" {
		return
	}
	if _, waiting := b.nextPrompt(); waiting {
		return
	}
	if !slices.Contains(b.Limits.Idled, m.budget.Name) {
		st.event(api.KindBudget, Actor{}, record.Budget{BudgetUse: m.use()})
	}
	if m.budget.Action == actionWarn || s.link == nil || !s.link.connected || s.link.tee {
		return // a program's own process is not ours to end
	}
	st.stop(budget.Sentence(m.use()), stopGrace)
}

// wake starts another process for a prompt that came while the one before was
// being ended because it was idle.
func (st *step) wake() {
	s, b := st.s, st.s.book
	if !b.Limits.Rested || b.Ended == nil || s.starts > 0 {
		return
	}
	if _, waiting := b.nextPrompt(); waiting {
		st.startRun(runSpec{fresh: b.Options.Fresh})
	}
}

// interruptOver interrupts the running turn if a budget says so. It is tried
// again if the turn goes on and can be reached again.
func (st *step) interruptOver() {
	s, b := st.s, st.s.book
	if !b.State.Turn || b.State.Interrupting || b.State.Ended != nil || s.reachable() != nil || s.stopping != "" {
		return
	}
	if b.Transport == transportTee {
		return // a program's own turns are the program's to end; it is told by the event
	}
	if !slices.ContainsFunc(b.Limits.Holds, func(h record.Hold) bool {
		budget := s.hub.ledger.budget(h.Budget)
		return h.Kind == holdBudget && budget != nil && budget.Action == actionInterrupt
	}) {
		return
	}
	line, err := wire.NewRequest("hub-"+random(10), &wire.InterruptRequest{})
	if err == nil {
		_, err = st.send("", commandRequest, Actor{}, line)
	}
	if err != nil {
		s.log.Error("interrupting a turn that is over budget", "session", s.id, "err", err)
	}
}

// budget returns the budget of a name, nil if there is none.
func (l *ledger) budget(name string) *Budget {
	for i := range l.budgets {
		if l.budgets[i].Name == name {
			return &l.budgets[i]
		}
	}
	return nil
}

// checkRateLimits holds the queue back while the account's limits are reached.
func (st *step) checkRateLimits() {
	s, l := st.s, &st.s.book.Limits
	for _, h := range slices.Clone(l.Holds) {
		if h.Kind != holdRateLimit {
			continue
		}
		r, still := l.Rejected[h.Limit]
		switch {
		case !still, h.Resumes && !h.Until.IsZero() && !h.Until.After(st.now):
			st.event(api.KindHoldOver, Actor{}, record.HoldOver{HoldOver: api.HoldOver{ID: h.ID, Reason: overReset}})
		case !r.Until.Equal(h.Until):
			h.Until, h.Reason, h.Changed = r.Until, limitSentence(h.Limit, r.Until), true
			st.event(api.KindHold, Actor{}, h)
		}
	}
	if len(l.Rejected) == 0 {
		return
	}
	kinds := make([]string, 0, len(l.Rejected))
	for kind := range l.Rejected {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		r := l.Rejected[kind]
		held := slices.ContainsFunc(l.Holds, func(h record.Hold) bool { return h.Kind == holdRateLimit && h.Limit == kind })
		if held || r.Seq <= l.Passed[kind] || !r.Until.IsZero() && !r.Until.After(st.now) {
			continue
		}
		st.event(api.KindHold, Actor{}, record.Hold{Hold: api.Hold{
			ID: newID("h"), Kind: holdRateLimit, Reason: limitSentence(kind, r.Until), Since: st.now, Until: r.Until,
			Resumes: !r.Until.IsZero() && (s.book.Options.ResumeAtReset || s.hub.ledger.resumes),
		}, Limit: kind})
	}
}

// limitSentence says in one sentence that a limit of the account is reached.
func limitSentence(kind string, until time.Time) string {
	name := "the account's rate limit"
	switch wire.RateLimitType(kind) {
	case wire.RateLimitTypeFiveHour:
		name = "the account's limit for five hours"
	case wire.RateLimitTypeSevenDay, wire.RateLimitTypeSevenDayOverageIncluded:
		name = "the account's limit for seven days"
	case wire.RateLimitTypeSevenDayOpus:
		name = "the account's limit for seven days of Opus"
	case wire.RateLimitTypeSevenDaySonnet:
		name = "the account's limit for seven days of Sonnet"
	case wire.RateLimitTypeHourly:
		name = "the account's limit for an hour"
	case wire.RateLimitTypeOverage:
		name = "the account's limit for usage beyond its plan"
	}
	if until.IsZero() {
		return name + " is reached"
	}
	return name + " is reached until " + until.Format("2006-01-02 15:04 MST")
}

// lookShared is how often time at work is looked at that is counted over several
// sessions.
const lookShared = 10 * time.Second

// nextLook returns when the limits have to be looked at again if nothing
// happens until then; zero for never.
func (st *step) nextLook(meters []meter) time.Time {
	l := &st.s.book.Limits
	var next time.Time
	at := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	for _, h := range l.Holds {
		if h.Resumes && !h.Until.IsZero() {
			at(h.Until)
		}
	}
	for i := range meters {
		m := &meters[i]
		switch {
		case m.unit == unitIdle && !l.Idle.IsZero() && !m.over():
			at(l.Idle.Add(m.budget.Idle))
		case m.unit == unitWall && !l.Since.IsZero() && !m.over():
			left := m.limit - m.used
			if !m.near() {
				left = m.from + m.budget.WarnAt*(m.limit-m.from) - m.used
			}
			if m.budget.shared() {
				left = min(left, lookShared.Seconds()) // others may be at work as well
			}
			at(st.now.Add(time.Duration(left * float64(time.Second))))
		}
	}
	return next
}

// viewLimits fills in what holds a session back and what it has used.
func (s *session) viewLimits(v *api.Session) {
	for _, h := range s.book.Limits.Holds {
		v.Holds = append(v.Holds, h.Hold)
	}
	meters := s.meters(amount{}, s.hub.now())
	for i := range meters {
		v.Budgets = append(v.Budgets, meters[i].use())
	}
}

// Budgets returns the limits that the server was given, a row for each unit.
// What is used of one per session or per folder is told of the session or folder
// that has used most of it.
func (h *Hub) Budgets(ctx context.Context) (*api.Budgets, error) {
	out := &api.Budgets{Budgets: []api.BudgetUse{}}
	led, now := h.ledger, h.now()
	var sessions []journal.Sum
	if slices.ContainsFunc(led.budgets, func(b Budget) bool { return b.Per == perSession }) {
		var err error
		if sessions, err = h.journal.Sums(ctx, journal.SumBySession, time.Time{}); err != nil {
			return nil, h.problem(err, "")
		}
	}
	for i := range led.budgets {
		b := &led.budgets[i]
		for _, unit := range []string{unitUSD, unitTurns, unitWall, unitIdle} {
			m := meter{budget: b, unit: unit, limit: b.limit(unit)}
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
				for _, dir := range led.scopes(i) {
					most(led.usedBy(i, dir, now).of(unit), dir)
				}
			} else {
				for _, s := range sessions {
					if b.concerns(budget.Folder(s.Dir)) {
						most(amount{usd: s.CostUSD, turns: s.Turns, millis: s.Millis}.of(unit), s.Key)
					}
				}
			}
			use := m.use()
			use.Scope = scope
			out.Budgets = append(out.Budgets, use)
		}
	}
	return out, nil
}

// scopes returns what a shared budget is counted by: the folders, or all at once.
func (l *ledger) scopes(i int) []string {
	b := &l.budgets[i]
	if b.Per != perFolder {
		return []string{""}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	dirs := map[string]bool{}
	for dir := range l.used[i] {
		dirs[dir] = true
	}
	for _, w := range l.working {
		if b.concerns(w.dir) {
			dirs[w.dir] = true
		}
	}
	return slices.Sorted(maps.Keys(dirs))
}

package budget

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A Session is what a [Check] needs of the session. Its methods are called by
// the goroutine that owns the session, in the midst of a step.
type Session interface {
	// ID and Place name the session and where it works.
	ID() string
	Place() Place
	// Limits is the session's state as it is folded up to the last entry.
	Limits() *State
	Costs() *fold.Costs
	Phase() fold.Phase
	// Waits reports whether a prompt is queued, Stopping whether the process is
	// being ended on purpose.
	Waits() bool
	Stopping() bool
	// ResumeAtReset says that the queue goes on when a rate limit is over.
	ResumeAtReset() bool
	// Turns are those that ended in this step, which no ledger knows of yet.
	Turns() Amount
	// NewHold returns the id of another hold.
	NewHold() string
	// Event adds an entry to the step and folds it.
	Event(kind string, data any)
	// Stop ends the process, if it is the hub's to end.
	Stop(reason string)
}

// A Check holds a session against its limits, in one step.
type Check struct {
	ledger  *Ledger
	session Session
	now     time.Time
}

// Check returns a check of a session.
func (l *Ledger) Check(s Session, now time.Time) *Check {
	return &Check{ledger: l, session: s, now: now}
}

// Meters returns the limits of budgets that concern the session.
func (c *Check) Meters() []Meter {
	led, state := c.ledger, c.session.Limits()
	if len(led.budgets) == 0 {
		return nil
	}
	var list []Meter
	at, costs := c.session.Place(), c.session.Costs()
	own := Amount{Turns: costs.Turns, Millis: state.worked(c.now).Milliseconds()}
	if led.priced {
		own.USD = Cents(costs.Total().CostUSD)
	}
	for i := range led.budgets {
		budget := &led.budgets[i]
		if !budget.concerns(at) {
			continue
		}
		all, day := own, ""
		if budget.shared() {
			all = led.usedBy(i, at, c.now).Plus(c.session.Turns())
		}
		if budget.Per == PerDay {
			day = dayOf(c.now.In(led.zone))
		}
		for _, unit := range units {
			m := Meter{budget: budget, unit: unit, day: day, limit: budget.limit(unit), used: all.of(unit)}
			if m.limit == 0 {
				continue
			}
			if unit == Idle {
				m.day, m.used = "", 0
				if !state.Idle.IsZero() {
					m.used = max(0, c.now.Sub(state.Idle).Seconds())
				}
			} else if g := state.granted(&m); g != nil && g.Limit > m.limit {
				m.limit, m.from = g.Limit, g.From
			}
			list = append(list, m)
		}
	}
	return list
}

// RateLimits holds the queue back while the account's limits are reached.
func (c *Check) RateLimits() {
	l := c.session.Limits()
	for _, h := range slices.Clone(l.Holds) {
		if h.Kind != HoldRateLimit {
			continue
		}
		r, still := l.Rejected[h.Limit]
		switch {
		case !still, h.Resumes && !h.Until.IsZero() && !h.Until.After(c.now):
			c.over(h, overReset, nil)
		case !r.Until.Equal(h.Until):
			h.Until, h.Reason, h.Changed = r.Until, limitSentence(h.Limit, r.Until), true
			c.session.Event(api.KindHold, h)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(l.Rejected)) {
		r := l.Rejected[kind]
		held := slices.ContainsFunc(l.Holds, func(h record.Hold) bool { return h.Kind == HoldRateLimit && h.Limit == kind })
		if held || r.Seq <= l.Passed[kind] || !r.Until.IsZero() && !r.Until.After(c.now) {
			continue
		}
		c.session.Event(api.KindHold, record.Hold{Hold: api.Hold{
			ID: c.session.NewHold(), Kind: HoldRateLimit, Reason: limitSentence(kind, r.Until), Since: c.now, Until: r.Until,
			Resumes: !r.Until.IsZero() && (c.session.ResumeAtReset() || c.ledger.resumes),
		}, Limit: kind})
	}
}

// Needed reports whether there is anything to hold the session against.
func (c *Check) Needed() bool { return len(c.ledger.budgets) > 0 || len(c.session.Limits().Holds) > 0 }

// Holds ends the holds of budgets that are not used up any more: it is another
// day, or the budget is another one or was removed. It reports whether rules may
// allow calls again that they could not before.
func (c *Check) Holds(meters []Meter) bool {
	l := c.session.Limits()
	paused := l.Paused()
	for _, h := range slices.Clone(l.Holds) {
		if h.Kind != HoldBudget {
			continue
		}
		i := slices.IndexFunc(meters, func(m Meter) bool { return m.causes(&h) && m.budget.Action != Warn })
		if i >= 0 && (meters[i].over() || meters[i].limit <= h.At) {
			continue // also if less is known to be used than was: sums are read anew at a start
		}
		reason := overGone
		if i < 0 && !h.Until.IsZero() && !h.Until.After(c.now) {
			reason = overReset
		}
		c.over(h, reason, nil)
	}
	return paused && !l.Paused()
}

// Budgets tells of budgets that are used up or nearly so, and does what follows
// from that, but for an interrupt: see [Check.Interrupts].
func (c *Check) Budgets(meters []Meter) {
	for i := range meters {
		if m := &meters[i]; m.unit != Idle {
			c.budget(m)
		} else {
			c.idle(m)
		}
	}
}

// budget tells of a budget and holds the queue back if it is used up.
func (c *Check) budget(m *Meter) {
	s, l := c.session, c.session.Limits()
	over := m.over()
	if !over && !m.near() || !c.concerned() {
		return
	}
	if !l.marked(m, over) && c.ledger.tell(m, s.Place(), over) {
		s.Event(api.KindBudget, record.Budget{BudgetUse: m.Use(), Day: m.day})
	}
	if !over || m.budget.Action == Warn || slices.ContainsFunc(l.Holds, func(h record.Hold) bool { return h.Kind == HoldBudget && m.causes(&h) }) {
		return
	}
	h := record.Hold{Hold: api.Hold{ID: s.NewHold(), Kind: HoldBudget, Reason: Sentence(m.Use()), Since: c.now, Budget: m.budget.Name}, Unit: m.unit, Day: m.day, At: m.limit}
	if m.budget.Per == PerDay {
		h.Until, h.Resumes = nextMidnight(c.now.In(c.ledger.zone)).UTC(), true
	}
	s.Event(api.KindHold, h)
}

// concerned reports whether a session has something to do with its budgets now:
// it works, wants to, or has just done so. The others are told when they want to;
// or a budget of the day would wake every session there is.
func (c *Check) concerned() bool {
	if c.session.Turns().Turns > 0 || c.session.Waits() {
		return true
	}
	phase := c.session.Phase()
	return phase == fold.PhaseRunning || phase == fold.PhaseRequiresAction || phase == fold.PhaseBackground
}

// idle tells that a session has been idle for long, and ends its process. It never
// does while something is asked, queued or going on in the background.
func (c *Check) idle(m *Meter) {
	s := c.session
	if !m.over() || s.Phase() != fold.PhaseIdle || s.Stopping() || s.Waits() {
		return
	}
	if !slices.Contains(s.Limits().Idled, m.budget.Name) {
		s.Event(api.KindBudget, record.Budget{BudgetUse: m.Use()})
	}
	if m.budget.Action != Warn {
		s.Stop(Sentence(m.Use()))
	}
}

// Interrupts reports whether a budget is used up that interrupts the running
// turn.
func (c *Check) Interrupts() bool {
	return slices.ContainsFunc(c.session.Limits().Holds, c.ledger.interrupts)
}

// interrupts reports whether a hold is one that interrupts the running turn.
func (l *Ledger) interrupts(h record.Hold) bool {
	i := slices.IndexFunc(l.budgets, func(b Budget) bool { return b.Name == h.Budget })
	return h.Kind == HoldBudget && i >= 0 && l.budgets[i].Action == Interrupt
}

// Works tells the ledger since when the session is at work.
func (c *Check) Works() {
	if c.ledger.spread {
		c.ledger.works(c.session.ID(), c.session.Place(), c.session.Limits().Since, c.now)
	}
}

// lookShared is how often time at work is looked at that is counted over several
// sessions.
const lookShared = 10 * time.Second

// LookAgain has the ledger tell when the session has to be checked again if
// nothing happens until then; see [Ledger.Due].
func (c *Check) LookAgain(meters []Meter) {
	l := c.session.Limits()
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
		case m.unit == Idle && !l.Idle.IsZero() && !m.over():
			at(l.Idle.Add(m.budget.Idle))
		case m.unit == Wall && !l.Since.IsZero() && !m.over():
			left := m.limit - m.used
			if !m.near() {
				left = m.from + m.budget.WarnAt*(m.limit-m.from) - m.used
			}
			if m.budget.shared() {
				left = min(left, lookShared.Seconds()) // others may be at work as well
			}
			at(c.now.Add(time.Duration(left * float64(time.Second))))
		}
	}
	c.ledger.lookAt(c.session.ID(), next)
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

// over ends a hold.
func (c *Check) over(h record.Hold, reason string, granted *record.Grant) {
	c.session.Event(api.KindHoldOver, record.HoldOver{HoldOver: api.HoldOver{ID: h.ID, Reason: reason}, Granted: granted})
}

// Release ends holds, or has them end on their own. Nothing has happened if it
// fails.
func (c *Check) Release(in api.Release) error {
	holds := slices.Clone(c.session.Limits().Holds)
	if len(holds) == 0 {
		return &api.Error{Status: http.StatusConflict, Code: api.CodeConflict, Title: "the session is not on hold"}
	}
	if in.Hold != "" {
		holds = slices.DeleteFunc(holds, func(h record.Hold) bool { return h.ID != in.Hold })
		if len(holds) == 0 {
			return api.Errorf(http.StatusNotFound, api.CodeNotFound, "no hold %q, or it is over", in.Hold)
		}
	}
	meters := c.Meters()
	done := false
	for _, h := range holds {
		switch {
		case in.AtReset:
			if h.Until.IsZero() {
				continue
			}
			done = true
			if !h.Resumes {
				h.Resumes, h.Changed = true, true
				c.session.Event(api.KindHold, h)
			}
		case h.Kind != HoldBudget:
			if amounts(in) && in.Hold == "" {
				continue // it is a budget that is meant
			}
			done = true
			c.over(h, overReleased, nil)
		default:
			g, fits := grantOf(h, meters, in)
			if !fits {
				continue
			}
			done = true
			c.over(h, overReleased, g)
		}
	}
	switch {
	case done:
		return nil
	case in.AtReset:
		return &api.Error{
			Status: http.StatusUnprocessableEntity, Code: api.CodeInvalid, Title: "this limit has no known reset time", Detail: holds[0].Reason,
			Hint: "release the session without at_reset",
		}
	}
	return &api.Error{
		Status: http.StatusUnprocessableEntity, Code: api.CodeInvalid, Title: "the hold is not of the kind that you grant", Detail: holds[0].Reason,
		Hint: "set usd, turns or seconds, or nothing to grant the same again",
	}
}

// amounts reports whether a release says how much more may be used.
func amounts(in api.Release) bool { return in.USD > 0 || in.Turns > 0 || in.Seconds > 0 }

// grantOf returns what a release grants of the budget that a hold is about: nil
// if there is no such budget any more, not ok if it was not meant.
func grantOf(h record.Hold, meters []Meter, in api.Release) (g *record.Grant, ok bool) {
	i := slices.IndexFunc(meters, func(m Meter) bool { return m.causes(&h) })
	if i < 0 {
		return nil, true
	}
	m := &meters[i]
	more := m.budget.limit(m.unit)
	if amounts(in) {
		more = map[string]float64{USD: in.USD, Turns: float64(in.Turns), Wall: float64(in.Seconds)}[m.unit]
		if more == 0 {
			return nil, false
		}
	}
	return &record.Grant{Budget: h.Budget, Unit: h.Unit, Day: h.Day, From: m.used, Limit: m.used + more}, true
}

// Steer says why a message cannot be sent into the running turn of a session that
// is held back. It can where the turn is allowed to go on.
func (c *Check) Steer() error {
	phase := c.session.Phase()
	turn := phase == fold.PhaseRunning || phase == fold.PhaseRequiresAction
	for _, h := range c.session.Limits().Holds {
		if turn && !c.ledger.interrupts(h) {
			continue
		}
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeConflict, Title: "the session is on hold", Detail: h.Reason,
			Hint: "release it first, or queue the message",
		}
	}
	return nil
}

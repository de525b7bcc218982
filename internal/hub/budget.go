package hub

import (
	"context"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// folder returns the folder that a session works in, cleaned.
func (p *projection) folder() string { return budget.Folder(p.dir()) }

// place returns where a session works, as budgets know it.
func (p *projection) place() budget.Place { return budget.PlaceOf(p.Node, p.dir()) }

// limited is a session as package budget sees it, in a step. by is in whose name
// entries are written.
type limited struct {
	st *step
	by Actor
}

var _ budget.Session = limited{}

func (l limited) ID() string                  { return l.st.s.id }
func (l limited) Place() budget.Place         { return l.st.s.projection.place() }
func (l limited) Limits() *budget.State       { return &l.st.s.projection.Limits }
func (l limited) Costs() *fold.Costs          { return &l.st.s.projection.Costs }
func (l limited) Phase() fold.Phase           { return l.st.s.projection.phase() }
func (l limited) Stopping() bool              { return l.st.s.process.stopping != "" }
func (l limited) ResumeAtReset() bool         { return l.st.s.projection.Options.ResumeAtReset }
func (l limited) NewHold() string             { return newID("h") }
func (l limited) Event(kind string, data any) { l.st.event(kind, l.by, data) }

// Waits reports whether a prompt is queued.
func (l limited) Waits() bool {
	_, waiting := l.st.s.projection.nextPrompt()
	return waiting
}

// Turns returns what the step's turns used. Their time the ledger measures itself.
func (l limited) Turns() budget.Amount {
	var sum budget.Amount
	for _, t := range l.st.rows.turns {
		sum = sum.Plus(budget.Amount{USD: t.CostUSD, Turns: 1})
	}
	return sum
}

// Stop ends the process of a session that is idle. A program's own is not ours to
// end.
func (l limited) Stop(reason string) {
	if link := l.st.s.link; link != nil && link.connected && !link.tee {
		l.st.stop(reason, stopGrace)
	}
}

// limits returns the check of the session's limits as the step finds it.
func (st *step) limits(by Actor) *budget.Check {
	return st.s.hub.ledger.Check(limited{st, by}, st.now)
}

// checkLimits opens and ends holds, tells of budgets that are used up or nearly
// so, and does what follows from that. It is called in every step, before prompts
// are sent.
func (st *step) checkLimits() {
	if len(st.rows.turns) > 0 {
		st.account()
	}
	check := st.limits(Actor{})
	check.RateLimits()
	st.wake()
	if !check.Needed() {
		return
	}
	check.Works()
	meters := check.Meters()
	if check.Holds(meters) {
		st.offerAll() // rules answer again
	}
	check.Budgets(meters)
	if check.Interrupts() {
		st.interruptOver()
	}
	check.LookAgain(meters)
}

// account has what the step's turns used added to the ledger once it is in the
// journal.
func (st *step) account() {
	s, at, sum := st.s, st.s.projection.place(), limited{st: st}.Turns()
	// Before all else: a client that is shown the session in this step sees it.
	st.after = slices.Insert(st.after, 0, func() { s.hub.poke(s.hub.ledger.Add(s.id, at, st.now, sum)) })
}

// poke has sessions looked at.
func (h *Hub) poke(ids []string) {
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
		s.post(func(*step) {}) // a step without an operation looks at the limits
	}
}

// tickLimits has the sessions looked at whose time has come.
func (h *Hub) tickLimits(now time.Time) { h.poke(h.ledger.Due(now)) }

// wake starts another process for a prompt that came while the one before was
// being ended because it was idle.
func (st *step) wake() {
	s, p := st.s, st.s.projection
	if !p.Limits.Rested || p.Ended == nil || s.process.starts > 0 {
		return
	}
	if _, waiting := p.nextPrompt(); waiting && p.notStartable() == nil {
		st.startRun(runSpec{fresh: p.Options.Fresh})
	}
}

// interruptOver interrupts the running turn because a budget says so. It is tried
// again if the turn goes on and can be reached again.
func (st *step) interruptOver() {
	s, p := st.s, st.s.projection
	if !p.State.Turn || p.State.Interrupting || p.State.Ended != nil || s.reachable() != nil || s.process.stopping != "" {
		return
	}
	if p.foreignProcess() {
		return // a program's own turns are the program's to end; it is told by the event
	}
	line, err := wire.NewRequest("hub-"+random(10), &wire.InterruptRequest{})
	if err == nil {
		_, err = st.send("", commandRequest, Actor{}, line)
	}
	if err != nil {
		s.log.Error("interrupting a turn that is over budget", "session", s.id, "err", err)
	}
}

// heldBack reports whether queued prompts have to wait.
func (st *step) heldBack() bool { return len(st.s.projection.Limits.Holds) > 0 }

// viewLimits fills in what holds a session back and what it has used.
func (s *session) viewLimits(v *api.Session) {
	for _, h := range s.projection.Limits.Holds {
		v.Holds = append(v.Holds, h.Hold)
	}
	st := &step{s: s, now: s.hub.now()}
	meters := st.limits(Actor{}).Meters()
	for i := range meters {
		v.Budgets = append(v.Budgets, meters[i].Use())
	}
}

// Budgets returns the limits that the server was given, with what is used of
// them; see [budget.Ledger.Budgets].
func (h *Hub) Budgets(ctx context.Context) (*api.Budgets, error) {
	out, err := h.ledger.Budgets(ctx, h.now())
	if err != nil {
		return nil, h.problem(err, "")
	}
	return out, nil
}

// Release lets a session go on that is held back: at once, with more to use of
// its budget; or, of a rate limit, when that is over. What is granted of a budget
// that is counted over several sessions is granted to this one alone.
func (h *Hub) Release(ctx context.Context, by Actor, id string, in api.Release) (*api.Session, error) {
	if !by.Admin {
		return nil, api.Errorf(http.StatusForbidden, api.CodeForbidden, "releasing a session needs the scope admin")
	}
	if in.USD < 0 || math.IsNaN(in.USD) || math.IsInf(in.USD, 0) || in.Turns < 0 || in.Seconds < 0 {
		return nil, api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "usd, turns and seconds must not be negative")
	}
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	request, err := repeatableOf("release", id, in.ClientID, in)
	if err != nil {
		return nil, h.problem(err, id)
	}
	_, err = s.once(ctx, request, func(st *step) error {
		if err := st.limits(by).Release(in); err != nil {
			return err
		}
		st.offerAll() // rules answer again
		st.keepAnswer(request, struct{}{})
		return nil
	})
	if err != nil {
		return nil, h.problem(err, id)
	}
	return s.snapshot(ctx)
}

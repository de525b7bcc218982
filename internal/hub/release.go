package hub

import (
	"context"
	"math"
	"net/http"
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

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
	err = s.ask(ctx, func(st *step) error {
		if old, err := st.answeredBefore(ctx, request); err != nil || old != nil {
			return err
		}
		if err := st.release(by, in); err != nil {
			return err
		}
		st.keepAnswer(request, struct{}{})
		return nil
	})
	if err != nil {
		return nil, h.problem(err, id)
	}
	return s.snapshot(ctx)
}

// release ends holds, or has them end by themselves.
func (st *step) release(by Actor, in api.Release) error {
	holds := slices.Clone(st.s.book.Limits.Holds)
	if len(holds) == 0 {
		return &api.Error{Status: http.StatusConflict, Code: api.CodeConflict, Title: "the session is not on hold"}
	}
	if in.Hold != "" {
		holds = slices.DeleteFunc(holds, func(h record.Hold) bool { return h.ID != in.Hold })
		if len(holds) == 0 {
			return api.Errorf(http.StatusNotFound, api.CodeNotFound, "no hold %q, or it is over", in.Hold)
		}
	}
	meters := st.s.meters(st.pending(), st.now)
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
				st.event(api.KindHold, by, h)
			}
		case h.Kind != holdBudget:
			if amounts(in) && in.Hold == "" {
				continue // it is a budget that is meant
			}
			done = true
			st.event(api.KindHoldOver, by, record.HoldOver{HoldOver: api.HoldOver{ID: h.ID, Reason: overReleased}})
		default:
			g, fits := grantOf(h, meters, in)
			if !fits {
				continue
			}
			done = true
			st.event(api.KindHoldOver, by, record.HoldOver{HoldOver: api.HoldOver{ID: h.ID, Reason: overReleased}, Granted: g})
		}
	}
	switch {
	case done:
		st.released()
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

// pending returns what the step's turns used, which the ledger does not know of
// yet. Their time it measures itself.
func (st *step) pending() amount {
	var sum amount
	for _, t := range st.rows.turns {
		sum = sum.plus(amount{usd: t.CostUSD, turns: 1})
	}
	return sum
}

// amounts reports whether a release says how much more may be used.
func amounts(in api.Release) bool { return in.USD > 0 || in.Turns > 0 || in.Seconds > 0 }

// grantOf returns what a release grants of the budget that a hold is about: nil
// if there is no such budget any more, not ok if it was not meant.
func grantOf(h record.Hold, meters []meter, in api.Release) (g *record.Grant, ok bool) {
	i := slices.IndexFunc(meters, func(m meter) bool { return m.budget.Name == h.Budget && m.unit == h.Unit && m.day == h.Day })
	if i < 0 {
		return nil, true
	}
	m := &meters[i]
	more := m.budget.limit(m.unit)
	if amounts(in) {
		more = map[string]float64{unitUSD: in.USD, unitTurns: float64(in.Turns), unitWall: float64(in.Seconds)}[m.unit]
		if more == 0 {
			return nil, false
		}
	}
	return &record.Grant{Budget: h.Budget, Unit: h.Unit, Day: h.Day, From: m.used, Limit: m.used + more}, true
}

// steerHeld says why a message cannot be sent into the running turn of a session
// that is held back. It can where the turn is allowed to go on.
func (s *session) steerHeld() error {
	phase := s.book.phase()
	turn := phase == fold.PhaseRunning || phase == fold.PhaseRequiresAction
	for _, h := range s.book.Limits.Holds {
		budget := s.hub.ledger.budget(h.Budget)
		if turn && (h.Kind != holdBudget || budget == nil || budget.Action != actionInterrupt) {
			continue
		}
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeConflict, Title: "the session is on hold", Detail: h.Reason,
			Hint: "release it first, or queue the message",
		}
	}
	return nil
}

package hub

import (
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/wire"
)

// An outline is what is known of pauses before a plan.
type outline struct {
	// Clicks counts the pauses since the last explicit answer, Last is when the
	// newest was, or when a plan was last refused by itself.
	Clicks int       `json:"clicks,omitempty"`
	Last   time.Time `json:"last,omitzero"`
}

// The cool-down after a pause.
const (
	outlineBase = 30 * time.Second
	outlineMost = 120 * time.Second
)

// settled folds the end of a plan review.
func (o *outline) settled(q *api.Question, e *journal.Entry) {
	switch {
	case q.State != api.QuestionAnswered || q.Answer == nil:
		// Nobody has said anything.
	case q.Answer.Outcome == api.PlanOutline && e.Source == journal.SourceHub:
		o.Last = e.Time
	case q.Answer.Outcome == api.PlanOutline:
		o.Clicks++
		o.Last = e.Time
	default:
		*o = outline{}
	}
}

// cools reports whether a plan that comes now comes too soon.
func (o *outline) cools(now time.Time) bool {
	return o.Clicks > 0 && now.Before(o.Last.Add(min(time.Duration(o.Clicks)*outlineBase, outlineMost)))
}

// refuseSoon refuses a plan that comes too soon after a pause. It reports whether
// it did.
func (st *step) refuseSoon(row journal.Question, ask *wire.ControlRequest) bool {
	if !st.s.book.Outline.cools(st.now) {
		return false
	}
	line, err := wire.NewPermission(ask, &wire.Deny{Message: outlineSoon})
	if err == nil {
		_, err = st.settle(hubItself, row, ask, settlement{
			answer: api.Answer{Outcome: api.PlanOutline, Message: outlineSoon}, line: line, reason: "it came too soon after a pause for its outline",
		})
	}
	if err != nil {
		st.s.log.Error("refusing a plan that came too soon", "session", st.s.id, "err", err)
		return false
	}
	return true
}

package hub

import (
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// overdue is what an agent is told whose question nobody has answered.
const overdue = "Nobody answered in time."

// deadline returns how long a question that opens now may wait, in seconds.
func (st *step) deadline() int {
	if d := st.s.book.Options.QuestionDeadline; d > 0 {
		return d
	}
	return int(st.s.hub.deadline / time.Second)
}

// watched counts the time for which somebody could see what is asked, and refuses
// what has waited too long. A plan is never refused for that. What a hub that is
// restarted has counted is lost: the time begins anew.
func (st *step) watched() {
	s := st.s
	if len(s.book.Questions) == 0 || st.deadline() <= 0 {
		s.seen, s.lastSeen = nil, time.Time{}
		return
	}
	passed := st.now.Sub(s.lastSeen)
	if s.lastSeen.IsZero() || s.followers.Load()+s.hub.wide.followers.Load() == 0 || passed < 0 {
		passed = 0
	}
	s.lastSeen = st.now
	seen := map[string]time.Duration{}
	for _, row := range slices.Clone(s.book.Questions) {
		d := dataOf(&row)
		if d.Deadline <= 0 || d.Stale || row.Kind == string(api.QuestionPlan) {
			continue
		}
		before, old := s.seen[row.ID]
		if old {
			before += passed // one that is new was not there for that time
		}
		if seen[row.ID] = before; before/time.Second < time.Duration(d.Deadline) {
			continue
		}
		ask, err := askOf(&row)
		if err != nil {
			continue
		}
		in := api.Answer{Decision: "deny", Message: overdue}
		switch api.QuestionKind(row.Kind) { //nolint:exhaustive // the others are denied
		case api.QuestionForm:
			in = api.Answer{Decision: string(wire.ElicitationActionDecline)}
		case api.QuestionDialog:
			in = api.Answer{Decision: "cancel"}
		}
		v, err := settlementOf(hubItself, api.QuestionKind(row.Kind), ask, in)
		if v.reason = "nobody answered in time"; err == nil {
			_, err = st.settle(hubItself, row, ask, v)
		}
		if err != nil {
			s.log.Error("refusing a question that has waited too long", "session", s.id, "err", err)
		}
		delete(seen, row.ID)
	}
	s.seen = seen
}

// restless reports whether something may be due in the session without anything
// happening.
func (s *session) restless() bool {
	b := s.book
	if b.Intent != nil {
		return true
	}
	if slices.ContainsFunc(b.Rules, func(r api.SessionRule) bool { return !r.Expires.IsZero() }) {
		return true
	}
	return len(s.seen) > 0 || s.doubtful()
}

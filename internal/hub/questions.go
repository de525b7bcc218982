package hub

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/answer"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// Questions lists questions, the oldest first.
func (h *Hub) Questions(ctx context.Context, f api.QuestionFilter) (*api.QuestionList, error) {
	limit := f.Limit
	if limit <= 0 || limit > 1000 {
		limit = 1000
	}
	if f.Cursor != "" {
		if _, err := h.Question(ctx, f.Cursor); err != nil {
			return nil, record.Unfit("cursor: not a valid cursor")
		}
	}
	rows, err := h.journal.Questions(ctx, journal.QuestionQuery{Session: f.Session, State: string(f.State), Kind: string(f.Kind), Prefix: f.Prefix, After: f.Cursor, Limit: limit + 1})
	if err != nil {
		return nil, h.problem(err, f.Session)
	}
	list := &api.QuestionList{Questions: make([]api.Question, 0, len(rows))}
	if len(rows) > limit {
		rows = rows[:limit]
		list.Next = rows[limit-1].ID
	}
	for _, row := range rows {
		list.Questions = append(list.Questions, answer.Question(row))
	}
	return list, nil
}

// Question returns one question.
func (h *Hub) Question(ctx context.Context, id string) (*api.Question, error) {
	row, err := h.journal.Question(ctx, id)
	if errors.Is(err, journal.ErrNotFound) {
		return nil, api.Errorf(http.StatusNotFound, api.CodeNotFound, "there is no question %q", id)
	}
	if err != nil {
		return nil, h.problem(err, "")
	}
	q := answer.Question(*row)
	return &q, nil
}

// Answer answers a question. The first valid answer counts; a client that comes later
// is told whose it was. An answer that does not fit is refused, and the question
// stays open.
func (h *Hub) Answer(ctx context.Context, by Actor, id string, in api.Answer) (*api.Question, error) {
	row, err := h.journal.Question(ctx, id)
	if errors.Is(err, journal.ErrNotFound) {
		return nil, api.Errorf(http.StatusNotFound, api.CodeNotFound, "there is no question %q", id)
	}
	if err != nil {
		return nil, h.problem(err, "")
	}
	s, release, err := h.acquire(ctx, row.Session)
	if err != nil {
		return nil, err
	}
	defer release()
	request, err := repeatableOf("answer", id, in.ClientID, in)
	if err != nil {
		return nil, h.problem(err, row.Session)
	}
	links, err := s.followEdited(ctx, row, &in)
	if err != nil {
		return nil, h.problem(err, row.Session)
	}
	var answered *api.Question
	old, err := s.once(ctx, request, func(st *step) (err error) {
		s.follow.answers = links
		defer func() { s.follow.answers = nil }()
		if answered, err = st.answer(by, id, in); err == nil {
			st.keepAnswer(request, struct{}{})
		}
		return err
	})
	switch {
	case err != nil:
		return nil, h.problem(h.settledBy(ctx, err), row.Session)
	case old != nil:
		return h.Question(ctx, id)
	}
	return answered, nil
}

// answer settles a question and sends the answer.
func (st *step) answer(by Actor, id string, in api.Answer) (*api.Question, error) {
	row, open := st.s.projection.question(id)
	if !open {
		return nil, &settledError{id}
	}
	ask, err := answer.Ask(&row)
	if err != nil {
		return nil, err
	}
	if row.Kind == string(api.QuestionPlan) {
		return st.answerPlan(by, row, ask, in)
	}
	v, err := settlementOf(by, api.QuestionKind(row.Kind), ask, in)
	if err == nil {
		err = st.checkEdited(ask, in)
	}
	if err != nil {
		return nil, err
	}
	if v.rule != "" {
		if err := st.roomForRule(); err != nil {
			return nil, err
		}
	}
	q, err := st.settle(by, row, ask, v)
	if err == nil && v.rule != "" {
		st.keepRule(by, api.AddRule{Rule: v.rule, Decision: api.RuleAllow})
		st.rulesChanged()
	}
	return q, err
}

// A settlement is how a question is settled.
type settlement struct {
	answer api.Answer
	// line is what the CLI is sent; nil if there is no CLI that waits.
	line []byte
	// reason and ref say why the hub answered by itself.
	reason string
	ref    *api.RuleRef
	// intent is what has to follow.
	intent *planIntent
	// rule is one of ours that is added along with the answer.
	rule string
}

// settlementOf returns how an answer settles a question that is no plan.
func settlementOf(by Actor, kind api.QuestionKind, ask *wire.ControlRequest, in api.Answer) (settlement, error) {
	line, err := answer.Of(by.Admin, kind, ask, in)
	if err != nil {
		return settlement{answer: in}, answerProblem(err)
	}
	return settlement{answer: in, line: line.Bytes, rule: line.Rule}, nil
}

// settle settles an open question and sends the answer. Nothing has happened if
// it fails.
func (st *step) settle(by Actor, row journal.Question, ask *wire.ControlRequest, v settlement) (*api.Question, error) {
	p := st.s.projection
	if v.line != nil {
		line, err := p.fit(v.line)
		if err != nil {
			return nil, answerProblem(err)
		}
		if scope := wire.ScopeOf(line, ask); scope == wire.ScopeAdmin && !by.Admin && !answer.IsHook(ask) {
			return nil, api.Errorf(http.StatusForbidden, api.CodeForbidden, "this answer allows more than was asked, which needs the scope admin")
		}
		if answerBypasses(line) && !p.bypass() {
			return nil, notBypassing()
		}
		v.line = line
	}
	q := answer.Question(row)
	q.State, q.By, q.Settled, q.Reason = api.QuestionAnswered, by.Name, st.now, v.reason
	if q.From = string(by.Source); q.From == "" {
		q.From = string(journal.SourceHub)
	}
	if v.ref != nil {
		q.Rule = v.ref
	}
	kept := v.answer
	kept.ClientID = ""
	q.Answer = &kept
	st.event(api.KindQuestionSettled, by, settledData{Question: q, Line: v.line, Intent: v.intent})
	st.settled(&row, q.State)
	if v.line == nil {
		return &q, nil
	}
	if _, err := st.send("", commandAnswer, by, v.line); err != nil {
		return nil, answerProblem(err)
	}
	q.Delivery = api.MessageSent
	return &q, nil
}

// A settledError says that a question is not open any more. [Hub.settledBy] makes a
// client's error of it.
type settledError struct{ question string }

func (e *settledError) Error() string { return "the question " + e.question + " is not open" }

// settledBy says by whom the question was settled that an operation found settled. It
// returns other errors as they are.
func (h *Hub) settledBy(ctx context.Context, err error) error {
	settled, ok := errors.AsType[*settledError](err)
	if !ok {
		return err
	}
	row, readErr := h.journal.Question(ctx, settled.question)
	if readErr != nil {
		return readErr
	}
	q := answer.Question(*row)
	title := "the question was answered already"
	switch q.State {
	case api.QuestionOpen: // what settled it was not written
		return err
	case api.QuestionCancelled:
		title = "the question is not asked any more"
	case api.QuestionAnswered, api.QuestionAnsweredTooLate:
	}
	if q.By != "" {
		title += " by " + q.By
	}
	return &api.Error{Status: http.StatusConflict, Code: api.CodeAlreadySettled, Title: title, Detail: q.Reason, Question: &q}
}

func answerProblem(err error) error {
	if problem, ok := errors.AsType[*api.Error](err); ok {
		return problem
	}
	return lineProblem(err)
}

// react turns what an entry did to the CLI's questions into entries. Lines do
// something to them, and beginnings and ends of runs; of a link that is lost or found
// again the reducer says that it changes none.
func (st *step) react(asked []fold.Change) {
	s := st.s
	for _, c := range asked {
		row, open := s.projection.asked(c.Question.RequestID)
		switch c.Fate {
		case fold.FateOpened:
			if !open && s.projection.Ended == nil { // else the CLI waits for no answer
				st.opened(&c.Question)
			}
		case fold.FateCancelled:
			if open && !st.outlive(&row, c) {
				st.settledByAgent(&row, api.QuestionCancelled, string(c.Reason), nil)
			}
		case fold.FateAnswered:
			// An answer of ours was written down before; this is one that a
			// program gave its own CLI.
			if open {
				st.settledByAgent(&row, api.QuestionAnswered, s.projection.answeredElsewhere(), c.Answer.Raw())
			}
		case fold.FateAskedAgain:
			if q := s.projection.recent(c.Question.RequestID); q != nil && len(q.Answer) > 0 {
				if _, err := st.send("", commandAnswer, Actor{}, q.Answer); err != nil {
					s.log.Error("sending an answer again", "session", s.id, "err", err)
				}
			}
		case fold.FateAnsweredTooLate:
		}
	}
}

// opened opens a question.
func (st *step) opened(q *fold.Question) {
	p := st.s.projection
	raw := q.Ask.Raw()
	if raw == nil {
		return
	}
	v := api.Question{
		ID: newID("q"), Session: p.ID, Run: p.Run, RequestID: q.RequestID, Kind: api.QuestionKind(q.Kind), State: api.QuestionOpen,
		Request: raw, Opened: st.now, Deadline: st.deadline(),
	}
	answer.Describe(&v, q.Ask)
	if q.Kind == fold.KindPlan {
		v.Plan, v.Deadline = st.planOf(q.Ask), 0
		st.dropStale("there is a newer plan", "")
	}
	st.event(api.KindQuestionOpened, Actor{Source: journal.SourceAgent}, v)
	row, open := p.question(v.ID)
	switch {
	case !open: // it could not be folded
		return
	case q.Kind != fold.KindPlan:
		if !st.crowded(&row, q.Ask) {
			st.offer(row)
		}
		return
	}
	st.s.plans.tool = answer.ToolExitPlan
	if !st.refuseSoon(row, q.Ask) {
		st.usage(v.ID)
	}
}

// settledByAgent settles an open question that no client of the hub answered.
func (st *step) settledByAgent(row *journal.Question, state api.QuestionState, reason string, line []byte) {
	st.settled(row, state)
	q := answer.Question(*row)
	q.State, q.Reason, q.Settled = state, reason, st.now
	st.event(api.KindQuestionSettled, Actor{Source: journal.SourceAgent}, settledData{Question: q, Line: line})
}

// tooLate notes that the CLI has withdrawn a question that was answered before:
// the answer did not count.
func (st *step) tooLate(requestID string) {
	v := st.s.projection.recent(requestID)
	if v == nil {
		return
	}
	q := answer.Question(*v)
	q.State, q.Reason = api.QuestionAnsweredTooLate, "the agent had withdrawn the question"
	st.event(api.KindQuestionSettled, Actor{Source: journal.SourceAgent}, settledData{Question: q})
}

// A questionState is for how long open questions with a deadline could be seen, up to
// last.
type questionState struct {
	seen map[string]time.Duration
	last time.Time
}

// overdue is what an agent is told whose question was not answered in time.
const overdue = "Nobody answered in time."

// deadline returns how long a question that opens now may wait, in seconds.
func (st *step) deadline() int {
	if d := st.s.projection.Options.QuestionDeadline; d > 0 {
		return d
	}
	return int(st.s.hub.deadline / time.Second)
}

// countWaiting counts the time for which a client could show what is asked, and refuses
// what has waited too long. A plan is never refused for that. What a hub that is
// restarted has counted is lost: the time begins anew.
func (st *step) countWaiting() {
	s := st.s
	if len(s.projection.Questions) == 0 || st.deadline() <= 0 {
		s.waiting.seen, s.waiting.last = nil, time.Time{}
		return
	}
	passed := st.now.Sub(s.waiting.last)
	if s.waiting.last.IsZero() || s.followers.Load()+s.hub.globalFeed.followers.Load() == 0 || passed < 0 {
		passed = 0
	}
	s.waiting.last = st.now
	seen := map[string]time.Duration{}
	for _, row := range slices.Clone(s.projection.Questions) {
		d := answer.DataOf(&row)
		if d.Deadline <= 0 || d.Stale || row.Kind == string(api.QuestionPlan) {
			continue
		}
		before, old := s.waiting.seen[row.ID]
		if old {
			before += passed // one that is new was not there for that time
		}
		if seen[row.ID] = before; before/time.Second < time.Duration(d.Deadline) {
			continue
		}
		ask, err := answer.Ask(&row)
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
	s.waiting.seen = seen
}

// needsClock reports whether something may be due in the session without anything
// happening.
func (s *session) needsClock() bool {
	p := s.projection
	if p.Intent != nil {
		return true
	}
	if slices.ContainsFunc(p.Rules, func(r api.SessionRule) bool { return !r.Expires.IsZero() }) {
		return true
	}
	return len(s.waiting.seen) > 0 || s.follow.due || s.doubtful()
}

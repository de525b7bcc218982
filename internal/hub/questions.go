package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
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
		list.Questions = append(list.Questions, toQuestion(row))
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
	q := toQuestion(*row)
	return &q, nil
}

// Answer answers a question. The first valid answer counts; whoever comes later
// is told who it was. An answer that does not fit is refused, and the question
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
	var answered *api.Question
	err = s.ask(ctx, func(st *step) error {
		old, err := st.answeredBefore(ctx, request)
		if err != nil {
			return err
		}
		if old != nil {
			if row, now := st.rows.questions[id]; now { // in this very step
				q := toQuestion(row)
				answered = &q
				return nil
			}
			answered, err = h.Question(ctx, id)
			return err
		}
		if answered, err = st.answer(by, id, in); err != nil {
			return err
		}
		st.keepAnswer(request, struct{}{})
		return nil
	})
	if err != nil {
		return nil, h.problem(err, row.Session)
	}
	return answered, nil
}

// answer settles a question and sends the answer.
func (st *step) answer(by Actor, id string, in api.Answer) (*api.Question, error) {
	b := st.s.book
	i := slices.IndexFunc(b.Questions, func(q journal.Question) bool { return q.ID == id })
	if i < 0 {
		return nil, st.settledBefore(id)
	}
	row := b.Questions[i]
	ask, err := askOf(&row)
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
		if _, err = st.addRule(by, api.AddRule{Rule: v.rule, Decision: api.RuleAllow}); err == nil {
			st.rulesChanged()
		}
	}
	return q, err
}

// askOf returns the request of a question.
func askOf(row *journal.Question) (*wire.ControlRequest, error) {
	m, err := wire.Decode(row.Ask)
	if err != nil {
		return nil, fmt.Errorf("reading question %s: %w", row.ID, err)
	}
	ask, ok := m.(*wire.ControlRequest)
	if !ok {
		return nil, fmt.Errorf("question %s is no request", row.ID)
	}
	return ask, nil
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

// settle settles an open question and sends the answer. Nothing has happened if
// it fails.
func (st *step) settle(by Actor, row journal.Question, ask *wire.ControlRequest, v settlement) (*api.Question, error) {
	b := st.s.book
	if v.line != nil {
		line, _, err := wire.Fit(v.line, b.version())
		if err != nil {
			return nil, answerProblem(err)
		}
		if scope := wire.ScopeOf(line, ask); scope == wire.ScopeAdmin && !by.Admin && !isHook(ask) {
			return nil, api.Errorf(http.StatusForbidden, api.CodeForbidden, "this answer allows more than was asked, which needs the scope admin")
		}
		if answerBypasses(line) && !b.bypass() {
			return nil, notBypassing()
		}
		v.line = line
	}
	q := toQuestion(row)
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

// settledBefore says by whom a question was settled.
func (st *step) settledBefore(id string) error {
	row, now := st.rows.questions[id] // in this very step
	if !now {
		old, err := st.s.hub.journal.Question(st.s.hub.ctx, id)
		if err != nil {
			return err
		}
		row = *old
	}
	q := toQuestion(row)
	title := "the question was answered already"
	if q.State == api.QuestionCancelled {
		title = "the question is not asked any more"
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

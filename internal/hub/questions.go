package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/wire"
)

// Questions lists questions, the oldest first.
func (h *Hub) Questions(ctx context.Context, f api.QuestionFilter) (*api.QuestionList, error) {
	rows, err := h.journal.Questions(ctx, journal.QuestionQuery{Session: f.Session, State: string(f.State), Limit: f.Limit})
	if err != nil {
		return nil, h.problem(err, f.Session)
	}
	list := &api.QuestionList{Questions: make([]api.Question, 0, len(rows))}
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
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, h.problem(err, row.Session)
	}
	sum := sumOf([]byte("answer"), raw)
	scope := "answer:" + id
	var answered *api.Question
	err = s.ask(ctx, func(st *step) (err error) {
		if in.ClientID != "" {
			old, err := st.remembered(ctx, scope, in.ClientID, sum)
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
		}
		if answered, err = st.answer(by, id, in); err != nil {
			return err
		}
		if in.ClientID != "" {
			st.batch.ClientIDs = append(st.batch.ClientIDs, journal.ClientID{Scope: scope, ID: in.ClientID, Sum: sum, Answer: json.RawMessage("{}"), Time: st.now})
		}
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
	m, err := wire.Decode(row.Ask)
	if err != nil {
		return nil, fmt.Errorf("reading question %s: %w", id, err)
	}
	ask, ok := m.(*wire.ControlRequest)
	if !ok {
		return nil, fmt.Errorf("question %s is no request", id)
	}
	line, err := answerLine(api.QuestionKind(row.Kind), ask, in)
	if err == nil {
		line, _, err = wire.Fit(line, b.version())
	}
	if err != nil {
		return nil, answerProblem(err)
	}
	if scope := wire.ScopeOf(line, ask); scope == wire.ScopeAdmin && !by.Admin {
		return nil, api.Errorf(http.StatusForbidden, api.CodeForbidden, "this answer changes more than the question asked for, which needs the right admin")
	}
	q := toQuestion(row)
	q.State, q.By, q.Settled = api.QuestionAnswered, by.Name, st.now
	kept := in
	kept.ClientID = ""
	q.Answer = &kept
	st.event(api.KindQuestionSettled, by, settledData{Question: q, Line: line})
	if _, err := st.send("", commandAnswer, by, line); err != nil {
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

// answerLine builds the line that answers a question.
func answerLine(kind api.QuestionKind, ask *wire.ControlRequest, in api.Answer) ([]byte, error) {
	unfit := func(want string) error {
		return api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "decision: expected %s for a %s, got %q", want, kind, in.Decision)
	}
	switch kind {
	case api.QuestionPermission, api.QuestionPlan, api.QuestionChoice:
		switch in.Decision {
		case "deny":
			return wire.NewPermission(ask, &wire.Deny{Message: in.Message, Interrupt: in.Interrupt})
		case "allow":
			if kind == api.QuestionChoice && in.Input == nil {
				return choiceLine(ask, in)
			}
			return allowLine(ask, in)
		}
		return nil, unfit("allow or deny")
	case api.QuestionForm:
		action := wire.ElicitationAction(in.Decision)
		switch action {
		case wire.ElicitationActionAccept, wire.ElicitationActionDecline, wire.ElicitationActionCancel:
			return wire.NewAnswer(ask.RequestID, &wire.ElicitationAnswer{Action: action, Content: in.Content})
		}
		return nil, unfit("accept, decline or cancel")
	case api.QuestionDialog:
		switch in.Decision {
		case "choose":
			return wire.NewAnswer(ask.RequestID, &wire.UserDialogAnswer{Behavior: wire.DialogBehaviorCompleted, Result: in.Result})
		case "cancel":
			return wire.NewAnswer(ask.RequestID, &wire.UserDialogAnswer{Behavior: wire.DialogBehaviorCancelled})
		}
		return nil, unfit("choose or cancel")
	}
	return nil, api.Errorf(http.StatusUnprocessableEntity, api.CodeUnsupported, "questions of kind %q cannot be answered here", kind)
}

// allowLine builds the answer that lets a tool run.
func allowLine(ask *wire.ControlRequest, in api.Answer) ([]byte, error) {
	body, err := json.Marshal(struct {
		Behavior string          `json:"behavior"`
		Input    json.RawMessage `json:"updatedInput,omitempty"`
		Updates  json.RawMessage `json:"updatedPermissions,omitempty"`
	}{"allow", in.Input, in.Updates})
	if err != nil {
		return nil, api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "input and updates must be JSON: %v", err)
	}
	result, err := wire.DecodePermission(body)
	if err != nil {
		return nil, api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "%v", err)
	}
	allow, ok := result.(*wire.Allow)
	if !ok {
		return nil, api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "input and updates make no answer")
	}
	return wire.NewPermission(ask, allow)
}

// choiceLine builds the answer to a choice.
func choiceLine(ask *wire.ControlRequest, in api.Answer) ([]byte, error) {
	choices := map[string]wire.Choice{}
	for question, c := range in.Choices {
		answers := slices.Clone(c.Labels)
		if c.Text != "" {
			answers = append(answers, c.Text)
		}
		choices[question] = wire.Choice{Answers: answers, Notes: c.Notes}
	}
	return wire.NewChoice(ask, choices)
}

package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// answer answers a question: rest is its id and what else was typed.
func (a *attachment) answer(ctx context.Context, command, rest string) error {
	id, text, _ := strings.Cut(rest, " ")
	if id == "" {
		return fmt.Errorf("which question? Write %s and its id", command)
	}
	q, err := a.find(ctx, id)
	if err != nil {
		return err
	}
	answer, err := AnswerTo(q, strings.TrimPrefix(command, "/"), strings.TrimSpace(text))
	if err != nil {
		return err
	}
	_, err = a.hub.Answer(ctx, q.ID, *answer)
	if problem, ok := errors.AsType[*api.Error](err); ok && problem.Code == api.CodeAlreadySettled && problem.Question != nil {
		return fmt.Errorf("%s was settled before: %s", q.ID, outcome(problem.Question))
	}
	return err
}

// outcome says how a question was settled.
func outcome(q *api.Question) string {
	if q.Answer != nil {
		return fmt.Sprintf("%s (%s)", describe(q.Answer), who(q.By))
	}
	return string(q.State) + " " + q.Reason
}

// find returns the open question of this session with an id, or with the only one that begins so.
func (a *attachment) find(ctx context.Context, id string) (*api.Question, error) {
	list, err := a.hub.Questions(ctx, api.QuestionFilter{State: api.QuestionOpen, Session: a.session})
	if err != nil {
		return nil, err
	}
	var found []*api.Question
	for i := range list.Questions {
		if q := &list.Questions[i]; q.ID == id {
			return q, nil
		} else if strings.HasPrefix(q.ID, id) {
			found = append(found, q)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("no open question of this session is called %s", id)
	case 1:
		return found[0], nil
	default:
		return nil, fmt.Errorf("%d open questions begin with %s; write more of the id", len(found), id)
	}
}

// AnswerTo makes the answer to a question out of what somebody typed: verb is "allow", "deny" or "answer", text what follows.
func AnswerTo(q *api.Question, verb, text string) (*api.Answer, error) {
	decisions := map[string]map[api.QuestionKind]string{
		"allow": {api.QuestionPermission: "allow", api.QuestionPlan: "allow", api.QuestionForm: "accept"},
		"deny": {
			api.QuestionPermission: "deny", api.QuestionPlan: "deny", api.QuestionChoice: "deny",
			api.QuestionForm: "decline", api.QuestionDialog: "cancel",
		},
		"answer": {api.QuestionChoice: "allow"},
	}
	decision, ok := decisions[verb][q.Kind]
	switch {
	case !ok && q.Kind == api.QuestionChoice:
		return nil, fmt.Errorf("%s is a choice; answer it with /answer %s and the numbers of what you choose", q.ID, q.ID)
	case !ok:
		return nil, fmt.Errorf("%s is a %s, which cannot be answered with /%s", q.ID, q.Kind, verb)
	}
	answer := &api.Answer{Decision: decision}
	var err error
	switch {
	case verb == "deny":
		answer.Message = text
	case text != "" && verb == "allow":
		return nil, fmt.Errorf("nothing can be said with /allow; send %q as a message", text)
	case verb == "answer":
		var set []wire.Question
		if set, err = choices(q); err == nil {
			answer.Choices, err = choose(set, text)
		}
	case q.Kind == api.QuestionForm:
		answer.Content, err = acceptForm(q)
	}
	return answer, err
}

// acceptForm returns the content of a form as it comes.
func acceptForm(q *api.Question) (json.RawMessage, error) {
	var form wire.ElicitationRequest
	if err := request(q, &form); err != nil {
		return nil, err
	}
	return accepted(&form)
}

// Choices returns how many questions a choice has, 0 if it is none.
func Choices(q *api.Question) int {
	set, err := choices(q)
	if err != nil {
		return 0
	}
	return len(set)
}

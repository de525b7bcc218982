package terminal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/decide"
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
	answer, err := decide.Slash(q, strings.TrimPrefix(command, "/"), text)
	if err != nil {
		return err
	}
	_, err = a.hub.Answer(ctx, q.ID, *answer)
	if problem, ok := errors.AsType[*api.Error](err); ok && problem.Code == api.CodeAlreadySettled && problem.Question != nil {
		return &decide.SettledError{Question: problem.Question, Err: err}
	}
	return err
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

// rule adds a rule to the session: a decision, the rule, and perhaps for how long.
func (a *attachment) rule(ctx context.Context, text string) error {
	decision, rule, _ := strings.Cut(text, " ")
	in := api.AddRule{Rule: strings.TrimSpace(rule), Decision: api.RuleDecision(decision)}
	if at := strings.LastIndex(in.Rule, " for "); at >= 0 {
		if d, err := time.ParseDuration(strings.TrimSpace(in.Rule[at+len(" for "):])); err == nil {
			if d < time.Second {
				return fmt.Errorf("a rule must last at least a second")
			}
			in.Rule, in.For = strings.TrimSpace(in.Rule[:at]), int64(d/time.Second)
		}
	}
	if in.Rule == "" || !slices.Contains([]api.RuleDecision{api.RuleAllow, api.RuleAsk, api.RuleDeny}, in.Decision) {
		return errors.New("write /rule, then allow, ask or deny, then the rule: /rule deny Bash(git push:*), or /rule allow * for 30m")
	}
	_, err := a.hub.AddRule(ctx, a.session, in)
	return err
}

// unrule removes a rule of the session.
func (a *attachment) unrule(ctx context.Context, id string) error {
	if id == "" {
		return errors.New("which rule? Write /unrule and its id")
	}
	_, err := a.hub.RemoveRule(ctx, a.session, id)
	return err
}

// release lets the session go on: after one hold, or after all.
func (a *attachment) release(ctx context.Context, hold string) error {
	_, err := a.hub.Release(ctx, a.session, api.Release{Hold: hold})
	return err
}

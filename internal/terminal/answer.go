package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/talk"
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
		return fmt.Errorf("%s was settled before: %s", q.ID, oneLine(talk.Settled(problem.Question)))
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

// AnswerTo makes the answer to a question out of what the user typed: verb is "allow", "deny", "abort" or "answer", text what follows.
func AnswerTo(q *api.Question, verb, text string) (*api.Answer, error) {
	switch verb {
	case "allow":
		return allow(q, text)
	case "deny":
		decisions := map[api.QuestionKind]string{api.QuestionForm: "decline", api.QuestionDialog: "cancel"}
		switch decision := decisions[q.Kind]; {
		case decision == "":
			return &api.Answer{Decision: "deny", Message: text}, nil
		case text != "":
			return nil, fmt.Errorf("a %s takes no reason; write /deny %s alone", q.Kind, q.ID)
		default:
			return &api.Answer{Decision: decision}, nil
		}
	case "abort":
		if q.Kind == api.QuestionForm || q.Kind == api.QuestionDialog {
			return nil, unfit(q, verb)
		}
		return &api.Answer{Decision: "deny", Message: text, Interrupt: true}, nil
	case "answer":
		return reply(q, text)
	default:
		return nil, unfit(q, verb)
	}
}

func unfit(q *api.Question, verb string) error {
	return fmt.Errorf("%s is a %s and can't be answered with /%s", q.ID, q.Kind, verb)
}

// allow makes the answer that lets something happen as it was asked.
func allow(q *api.Question, text string) (*api.Answer, error) {
	switch q.Kind {
	case api.QuestionPermission:
		always, err := allowAlways(q, text)
		return &api.Answer{Decision: "allow", Always: always}, err
	case api.QuestionPlan:
		if text != "" {
			return nil, said(text)
		}
		return &api.Answer{Decision: "allow"}, nil
	case api.QuestionForm:
		if text != "" {
			return nil, said(text)
		}
		var form wire.ElicitationRequest
		if err := request(q, &form); err != nil {
			return nil, err
		}
		content, err := accepted(&form)
		return &api.Answer{Decision: "accept", Content: content}, err
	case api.QuestionChoice:
		return nil, fmt.Errorf("%s is a choice; answer it with /answer %s and the numbers you choose", q.ID, q.ID)
	case api.QuestionDialog:
	}
	return nil, unfit(q, "allow")
}

func said(text string) error {
	return fmt.Errorf("/allow takes no text; send %q as a message", text)
}

// allowAlways reads the number of a suggestion, and perhaps where it is to be kept.
func allowAlways(q *api.Question, text string) (*api.Always, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // only this once
	}
	first, place, _ := strings.Cut(text, " ")
	number, err := strconv.Atoi(first)
	if err != nil {
		return nil, said(text)
	}
	if number < 1 || number > len(q.Suggestions) {
		return nil, fmt.Errorf("%s has %d suggestions, none of them number %d", q.ID, len(q.Suggestions), number)
	}
	place = strings.TrimSpace(place)
	if places := []string{"session", "localSettings", "projectSettings", "userSettings"}; place != "" && !slices.Contains(places, place) {
		return nil, fmt.Errorf("can't save it in %q; use one of: %s", place, strings.Join(places, ", "))
	}
	return &api.Always{Suggestion: new(number - 1), Destination: place}, nil
}

// reply makes an answer that says something.
func reply(q *api.Question, text string) (*api.Answer, error) {
	switch q.Kind {
	case api.QuestionChoice:
		set, err := choices(q)
		if err != nil {
			return nil, err
		}
		chosen, err := choose(set, text)
		return &api.Answer{Decision: "allow", Choices: chosen}, err
	case api.QuestionPlan:
		return review(q, text)
	case api.QuestionForm:
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &fields); err != nil || fields == nil {
			return nil, fmt.Errorf("fill in a form with a JSON object, such as {\"name\": \"value\"}")
		}
		return &api.Answer{Decision: "accept", Content: json.RawMessage(text)}, nil
	case api.QuestionDialog:
		if !json.Valid(bytes.TrimSpace([]byte(text))) {
			return nil, fmt.Errorf("write the result of a dialog as JSON: a word in quotes, a number or an object")
		}
		return &api.Answer{Decision: "choose", Result: json.RawMessage(text)}, nil
	case api.QuestionPermission:
	}
	return nil, unfit(q, "answer")
}

// review makes the answer to a plan: an outcome by number or name, and what belongs to it.
func review(q *api.Question, text string) (*api.Answer, error) {
	var outcomes []api.PlanOutcome
	if q.Plan != nil {
		outcomes = q.Plan.Outcomes
	}
	name, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	at := slices.Index(outcomes, api.PlanOutcome(name))
	if number, err := strconv.Atoi(name); err == nil {
		at = number - 1
	}
	if at < 0 || at >= len(outcomes) {
		names := make([]string, 0, len(outcomes))
		for _, o := range outcomes {
			names = append(names, string(o))
		}
		return nil, fmt.Errorf("%s can be answered with one of: %s", q.ID, strings.Join(names, ", "))
	}
	answer := &api.Answer{Outcome: outcomes[at]}
	switch answer.Outcome {
	case api.PlanFresh, api.PlanAcceptEdits, api.PlanAsk:
		for word := range strings.FieldsSeq(rest) {
			switch word {
			case "bypass":
				answer.Mode = string(wire.PermissionModeBypassPermissions)
			case "compact":
				answer.Compact = true
			case "no-prompts":
				answer.NoPrompts = true
			default:
				return nil, fmt.Errorf("an approval can be followed by bypass, compact and no-prompts, not by %q; to change the plan write /answer %s %s and what to change", word, q.ID, api.PlanRevise)
			}
		}
	case api.PlanOutline:
		if rest != "" {
			return nil, fmt.Errorf("outline takes no text; to change the plan write /answer %s %s and what to change", q.ID, api.PlanRevise)
		}
	case api.PlanRevise, api.PlanReject:
		answer.Message = rest
		if rest == "" && answer.Outcome == api.PlanRevise {
			return nil, fmt.Errorf("what should change? Write /answer %s %s and what to change", q.ID, api.PlanRevise)
		}
	default: // one of tomorrow
		answer.Message = rest
	}
	return answer, nil
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

package decide

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/internal/units"
	"github.com/switchboard-dev/switchboard/wire"
)

// choose makes the answer to a choice: for each of its questions numbers or labels with commas between them, words of one's own, or - to skip
// it. With Text all are words of one's own.
func (r *Reply) choose(q *api.Question) (map[string]api.ChoiceAnswer, error) {
	if len(q.Choices) == 0 {
		return nil, fmt.Errorf("%s offers nothing to choose", q.ID)
	}
	if len(r.Words) != len(q.Choices) {
		how := "one argument for each"
		if r.slash {
			how = "a semicolon between them"
		}
		return nil, fmt.Errorf("%s has %s, and %s given; %s, - to skip one:%s", q.ID, units.Plural(len(q.Choices), "question"), were(len(r.Words), "answer"), how, offered(q))
	}
	answers := map[string]api.ChoiceAnswer{}
	for i := range q.Choices {
		c, word := &q.Choices[i], strings.TrimSpace(r.Words[i])
		if r.Text && word != "" {
			answers[c.Question] = api.ChoiceAnswer{Text: word}
			continue
		}
		labels, ok, err := labelsOf(c, word)
		own, marked := quoted(word)
		switch {
		case word == "" && r.Text:
			return nil, fmt.Errorf("no answer to %q", c.Question)
		case word == "":
			return nil, fmt.Errorf("no answer to %q; write - to skip it", c.Question)
		case err != nil && !r.slash:
			return nil, err
		case word == "-":
			answers[c.Question] = api.ChoiceAnswer{Skip: true}
		case !ok && marked && r.slash:
			answers[c.Question] = api.ChoiceAnswer{Text: own}
		case !ok:
			answers[c.Question] = api.ChoiceAnswer{Text: word}
		case len(labels) > 1 && !c.Multiple:
			return nil, fmt.Errorf("%q takes one answer only", c.Question)
		default:
			answers[c.Question] = api.ChoiceAnswer{Labels: labels}
		}
	}
	return answers, nil
}

// allSkipped reports whether none of the questions is answered.
func allSkipped(answers map[string]api.ChoiceAnswer) bool {
	for _, a := range answers {
		if !a.Skip {
			return false
		}
	}
	return true
}

func were(n int, what string) string {
	verb := "were"
	if n == 1 {
		verb = "was"
	}
	return units.Plural(n, what) + " " + verb
}

// labelsOf returns the options that a text names by number or label, all of them or none. A number for which there is no option is an error: it is
// more likely to be a slip than an answer.
func labelsOf(c *api.Choice, text string) (labels []string, ok bool, err error) {
	at := func(part string) int {
		return slices.IndexFunc(c.Options, func(o api.Option) bool { return strings.EqualFold(o.Label, part) })
	}
	if i := at(text); i >= 0 { // a label may have commas in it, or be a number
		return []string{c.Options[i].Label}, true, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		i := at(part)
		if number, err := strconv.Atoi(part); err == nil && i < 0 {
			if i = number - 1; i < 0 || i >= len(c.Options) {
				return nil, false, fmt.Errorf("%d isn't an option of %q, which has %d; for your own words add --text", number, c.Question, len(c.Options))
			}
		}
		if i < 0 {
			return nil, false, nil
		}
		if !slices.Contains(labels, c.Options[i].Label) {
			labels = append(labels, c.Options[i].Label)
		}
	}
	return labels, true, nil
}

// offered lists what can be chosen.
func offered(q *api.Question) string {
	var b strings.Builder
	for i := range q.Choices {
		c := &q.Choices[i]
		b.WriteString("\n  " + paint.CleanLine(c.Question, 0))
		if c.Multiple {
			b.WriteString(" (several, with commas)")
		}
		for j, o := range c.Options {
			fmt.Fprintf(&b, "\n    %d  %s", j+1, paint.CleanLine(o.Label, 0))
		}
	}
	return b.String()
}

// review makes the answer to a plan: an outcome by number or name.
func (r *Reply) review(q *api.Question, answer *api.Answer) error {
	var outcomes []api.PlanOutcome
	if q.Plan != nil {
		outcomes = q.Plan.Outcomes
	}
	names := make([]string, len(outcomes))
	for i, o := range outcomes {
		names[i] = fmt.Sprintf("%d %s", i+1, o)
	}
	possible := fmt.Sprintf("%s can be answered with one of: %s", q.ID, strings.Join(names, ", "))
	switch {
	case len(r.Words) > 1:
		return fmt.Errorf("%s; say what to change with --feedback", possible)
	case len(r.Words) == 0 && r.Feedback == "":
		return errors.New(possible)
	case len(r.Words) == 0: // a user who says what is missing wants it changed
		answer.Outcome = api.PlanRevise
	default:
		word := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(r.Words[0])), "-", "_")
		answer.Outcome = api.PlanOutcome(word)
		if number, err := strconv.Atoi(word); err == nil && 0 < number && number <= len(outcomes) {
			answer.Outcome = outcomes[number-1]
		}
	}
	if !slices.Contains(outcomes, answer.Outcome) {
		return errors.New(possible)
	}
	approves := slices.Contains([]api.PlanOutcome{api.PlanFresh, api.PlanAcceptEdits, api.PlanAsk}, answer.Outcome)
	if r.slash {
		if err := r.follow(q, answer.Outcome, approves); err != nil {
			return err
		}
	}
	switch missing := answer.Outcome == api.PlanRevise && strings.TrimSpace(r.Feedback) == ""; {
	case missing && r.slash:
		return fmt.Errorf("what should change? Write %s %s and what to change", command(true, "answer", q), api.PlanRevise)
	case missing:
		return errors.New("what should change? Say it with --feedback")
	case r.Feedback != "" && (approves || answer.Outcome == api.PlanOutline):
		return fmt.Errorf("--feedback goes with revise and reject, not with %s", answer.Outcome)
	case !approves && (r.Plan != nil || r.Compact || r.NoPrompts || r.Bypass):
		return fmt.Errorf("--plan, --compact, --no-prompts and --bypass go with an approval, not with %s", answer.Outcome)
	case r.Plan != nil && strings.TrimSpace(*r.Plan) == "":
		return errors.New("the changed plan is empty")
	}
	answer.Message, answer.Plan, answer.Compact, answer.NoPrompts = r.Feedback, r.Plan, r.Compact, r.NoPrompts
	if r.Bypass {
		answer.Mode = string(wire.PermissionModeBypassPermissions)
	}
	return nil
}

// A field is one of a form.
type field struct {
	Type    any               `json:"type"`
	Enum    []json.RawMessage `json:"enum"`
	Default json.RawMessage   `json:"default"`
	Items   *field            `json:"items"`
}

// form fills in a form with fields, or with an object.
func (r *Reply) form(q *api.Question) (json.RawMessage, error) {
	text := strings.TrimSpace(strings.Join(r.Words, " "))
	isObject := strings.HasPrefix(text, "{") && json.Valid([]byte(text))
	switch {
	case r.slash && !isObject:
		return nil, fmt.Errorf(`fill in a form with a JSON object: %s {"name": "value"}`, command(true, "answer", q))
	case text != "" && len(r.Fields) > 0:
		return nil, errors.New("fill in a form with --field or a JSON object, not both")
	case text != "":
		var form wire.ElicitationRequest
		if err := words.Request(q, &form); err != nil {
			return nil, err
		}
		if !isObject {
			return nil, errors.New(`a form is filled in with --field NAME=VALUE, or with a JSON object, such as '{"name": "value"}'`)
		}
		return json.RawMessage(text), wire.CheckForm(&form, json.RawMessage(text))
	}
	return fill(q, r.Fields, false)
}

// fill fills in a form: fields that are named, and those that come filled in.
func fill(q *api.Question, given []string, slash bool) (json.RawMessage, error) {
	var form wire.ElicitationRequest
	if err := words.Request(q, &form); err != nil {
		return nil, err
	}
	if form.Mode == wire.ElicitationModeURL {
		if len(given) > 0 {
			return nil, fmt.Errorf("%s asks to visit a page, and has no fields", q.ID)
		}
		return nil, nil // a page was visited, and nothing filled in
	}
	var schema struct {
		Properties map[string]field `json:"properties"`
	}
	_ = json.Unmarshal(form.RequestedSchema, &schema) // one that is not understood here is judged by the server that asks
	content := map[string]json.RawMessage{}
	for name, f := range schema.Properties {
		if len(f.Default) > 0 && string(f.Default) != "null" {
			content[name] = f.Default
		}
	}
	for _, each := range given {
		name, text, found := strings.Cut(each, "=")
		f, known := schema.Properties[name]
		switch {
		case !found:
			return nil, fmt.Errorf("--field is %q; write NAME=VALUE", each)
		case !known && len(schema.Properties) > 0:
			return nil, fmt.Errorf("the form has no field %q; there are: %s", name, strings.Join(slices.Sorted(maps.Keys(schema.Properties)), ", "))
		}
		value, err := f.value(text)
		if err != nil {
			return nil, fmt.Errorf("--field %s: %w", name, err)
		}
		content[name] = value
	}
	filled, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	if err := wire.CheckForm(&form, filled); err != nil {
		how := "--field NAME=VALUE"
		if slash {
			how = command(true, "answer", q) + ` {"name": "value"}`
		}
		return nil, fmt.Errorf("%w; fill it in with %s", err, how)
	}
	return filled, nil
}

// value returns what the user wrote as a value of the field's type.
func (f *field) value(text string) (json.RawMessage, error) {
	kind, _ := f.Type.(string)
	switch kind {
	case "number", "integer":
		if _, err := strconv.ParseFloat(text, 64); err != nil || !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("%q isn't a number", text)
		}
		return json.RawMessage(text), nil
	case "boolean":
		switch strings.ToLower(text) {
		case "true", "yes", "y", "on", "1":
			return json.RawMessage("true"), nil
		case "false", "no", "n", "off", "0":
			return json.RawMessage("false"), nil
		}
		return nil, fmt.Errorf("%q isn't true or false", text)
	case "array":
		if list := strings.TrimSpace(text); strings.HasPrefix(list, "[") && json.Valid([]byte(list)) {
			return json.RawMessage(list), nil
		}
		item := f.Items
		if item == nil {
			item = &field{Type: "string"}
		}
		list := []json.RawMessage{}
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			value, err := item.value(part)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return json.Marshal(list)
	}
	// What is one of some may be a number, too.
	if raw := []byte(text); kind == "" && slices.ContainsFunc(f.Enum, func(e json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(e), raw) }) {
		return raw, nil
	}
	return json.Marshal(text)
}

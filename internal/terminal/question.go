package terminal

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// request decodes what the CLI asks.
func request(q *api.Question, into any) error {
	var whole struct {
		Request json.RawMessage `json:"request"`
	}
	raw := q.Request
	if json.Unmarshal(raw, &whole) == nil && len(whole.Request) > 0 {
		raw = whole.Request
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("reading question %s: %w", q.ID, err)
	}
	return nil
}

// question shows what is asked, and how to answer.
func (v *view) question(_ *api.Event, q *api.Question) {
	label := "question " + q.ID
	how := fmt.Sprintf("/allow %s or /deny %s why", q.ID, q.ID)
	var tool wire.CanUseToolRequest
	switch q.Kind {
	case api.QuestionPermission:
		if err := request(q, &tool); err != nil {
			v.print("", label, "may it use "+q.Tool+"?")
			break
		}
		v.print("", label, fmt.Sprintf("may it use %s?%s", oneLine(tool.ToolName), details(tool.Input)))
	case api.QuestionChoice:
		set, err := choices(q)
		if err != nil {
			v.print("", label, "it offers a choice")
			break
		}
		v.print("", label, listed(set))
		how = fmt.Sprintf("/answer %s 1 (numbers by commas, or words; a semicolon between questions) or /deny %s", q.ID, q.ID)
	case api.QuestionPlan:
		var plan wire.PlanExit
		if request(q, &tool) == nil && json.Unmarshal(tool.Input, &plan) == nil && plan.Plan != "" {
			v.print("", label, "may it go on with this plan?\n"+plan.Plan)
			break
		}
		v.print("", label, "may it go on with its plan?")
	case api.QuestionForm:
		var form wire.ElicitationRequest
		if err := request(q, &form); err != nil {
			v.print("", label, "a form is to be filled in")
			break
		}
		v.print("", label, fmt.Sprintf("%s asks: %s%s", oneLine(form.MCPServerName), oneLine(form.Message), filled(&form)))
		how = fmt.Sprintf("/allow %s (as it comes) or /deny %s", q.ID, q.ID)
	default:
		v.print("", label, string(q.Kind)+" "+short(string(q.Request)))
		how = fmt.Sprintf("/deny %s, or answer elsewhere", q.ID)
	}
	if v.hints {
		v.print("  ", "", "answer with "+how)
	}
}

// mostDetail is how much of a member is shown, in bytes.
const mostDetail = 64 << 10

// details shows all of what would be done, member by member: who allows something must have been able to read it to its end.
func details(input json.RawMessage) string {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(input, &members); err != nil {
		return "\n" + string(input)
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var text string
		if err := json.Unmarshal(members[name], &text); err != nil {
			text = string(members[name])
		}
		if len(text) > mostDetail {
			text = strings.ToValidUTF8(text[:mostDetail], "") + fmt.Sprintf("… (%d bytes more, NOT SHOWN)", len(text)-mostDetail)
		}
		if strings.Contains(text, "\n") {
			text = "\n  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ")
		}
		// A name is the agent's too: it must not look like another member.
		b.WriteString("\n" + oneLine(name) + ": " + text)
	}
	return b.String()
}

// choices returns the questions of a choice.
func choices(q *api.Question) ([]wire.Question, error) {
	var tool wire.CanUseToolRequest
	if err := request(q, &tool); err != nil {
		return nil, err
	}
	var set wire.QuestionSet
	if err := json.Unmarshal(tool.Input, &set); err != nil {
		return nil, fmt.Errorf("reading question %s: %w", q.ID, err)
	}
	if len(set.Questions) == 0 {
		return nil, fmt.Errorf("question %s offers nothing to choose", q.ID)
	}
	return set.Questions, nil
}

// listed returns the questions of a choice with their options numbered, each in one line: none of them can pass for another.
func listed(set []wire.Question) string {
	var lines []string
	for _, each := range set {
		text := oneLine(each.Question)
		if each.MultiSelect {
			text += " (several may be chosen)"
		}
		lines = append(lines, text)
		for i, option := range each.Options {
			lines = append(lines, fmt.Sprintf("  %d %s - %s", i+1, oneLine(option.Label), oneLine(option.Description)))
		}
	}
	return strings.Join(lines, "\n")
}

// choose makes an answer to a choice of what somebody typed: for each question numbers, labels, or words of their own.
func choose(set []wire.Question, typed string) (map[string]api.ChoiceAnswer, error) {
	parts := strings.Split(typed, ";")
	if len(parts) != len(set) {
		return nil, fmt.Errorf("there are %d questions and %d answers; put a semicolon between two answers", len(set), len(parts))
	}
	answers := map[string]api.ChoiceAnswer{}
	for i, each := range set {
		part := strings.TrimSpace(parts[i])
		if part == "" {
			return nil, fmt.Errorf("there is no answer to %q", each.Question)
		}
		labels, ok := labelsOf(&each, part)
		switch {
		case !ok:
			answers[each.Question] = api.ChoiceAnswer{Text: part}
		case len(labels) > 1 && !each.MultiSelect:
			return nil, fmt.Errorf("only one answer is possible to %q", each.Question)
		default:
			answers[each.Question] = api.ChoiceAnswer{Labels: labels}
		}
	}
	return answers, nil
}

// labelsOf returns the options that a text with commas names by number or label, all of them or none.
func labelsOf(q *wire.Question, text string) (labels []string, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		number, err := strconv.Atoi(part)
		at := number - 1
		if err != nil {
			at = slices.IndexFunc(q.Options, func(o wire.QuestionOption) bool { return strings.EqualFold(o.Label, part) })
		}
		if at < 0 || at >= len(q.Options) {
			return nil, false
		}
		labels = append(labels, q.Options[at].Label)
	}
	return labels, true
}

// A property is a field of a form.
type property struct {
	Title   string          `json:"title"`
	Default json.RawMessage `json:"default"`
}

// properties returns the fields of a form.
func properties(form *wire.ElicitationRequest) (fields map[string]property, required []string) {
	var schema struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	if err := json.Unmarshal(form.RequestedSchema, &schema); err != nil {
		return nil, nil
	}
	return schema.Properties, schema.Required
}

// filled says what a form comes filled in with, and which page is to be opened instead of one: that is what is accepted.
func filled(form *wire.ElicitationRequest) string {
	var b strings.Builder
	if form.URL != "" {
		b.WriteString("\npage to open: " + oneLine(form.URL))
	}
	fields, _ := properties(form)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if value := fields[name].Default; len(value) > 0 {
			b.WriteString("\n  " + oneLine(name) + ": " + oneLine(string(value)))
		}
	}
	return b.String()
}

// accepted returns the content of a form as it comes. It is an error if a field that must be filled in is not.
func accepted(form *wire.ElicitationRequest) (json.RawMessage, error) {
	fields, required := properties(form)
	content := map[string]json.RawMessage{}
	for name, field := range fields {
		if len(field.Default) > 0 {
			content[name] = field.Default
		}
	}
	for _, name := range required {
		if len(content[name]) == 0 {
			return nil, fmt.Errorf("the form wants %q, for which there is no value to take; fill it in with another front end, or deny it", name)
		}
	}
	return json.Marshal(content)
}

package talk

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/internal/transcript"
)

// question draws what the agent asks, and what became of it.
func (d *drawing) question() {
	s, q := d.Styles, d.item.Question
	if q == nil {
		return
	}
	open := q.State == api.QuestionOpen
	sign := s.Dim.Render("?")
	if open {
		sign = s.Accent.Render("?")
	}
	style := s.Text
	if !open {
		style = s.Dim
	}
	d.block(sign+" ", d.first(asked(q), 2, style, maxNotice))
	if text := details(q); d.unfolded && text != "" {
		d.block("  ", d.first(text, 2, s.Dim, maxLines))
	}
	if q.Kind == api.QuestionPlan && q.Plan != nil && q.Plan.Text != "" && (open || d.unfolded) {
		room := d.inner(2)
		d.block("  ", d.some(s.Markdown(q.Plan.Text, room), maxPrompt))
	}
	if open {
		if q.Stale {
			d.block("  ", d.all("the agent that asked has stopped", 2, s.Warn))
		}
		return
	}
	d.block("  "+s.Glyphs.Arrow+" ", d.first(Settled(q), 4, s.Dim, maxNotice))
}

// asked says in a few words what is asked.
func asked(q *api.Question) string {
	switch q.Kind {
	case api.QuestionPermission:
		return words.Asked(q, q.Title)
	case api.QuestionChoice:
		var texts []string
		for _, c := range q.Choices {
			options := make([]string, 0, len(c.Options))
			for _, o := range c.Options {
				options = append(options, o.Label)
			}
			text := c.Question
			if len(options) > 0 {
				text += " (" + strings.Join(options, ", ") + ")"
			}
			texts = append(texts, text)
		}
		if len(texts) == 0 {
			return words.Headline(q)
		}
		return strings.Join(texts, "\n")
	case api.QuestionPlan:
		return words.Headline(q)
	case api.QuestionForm:
		return strings.TrimSpace(words.Headline(q) + ": " + q.Title)
	case api.QuestionDialog:
		return strings.TrimSpace(words.Headline(q) + ": " + q.Title)
	default:
		return strings.TrimSpace(string(q.Kind) + " " + q.Title)
	}
}

// details returns what else is known of a question.
func details(q *api.Question) string {
	var lines []string
	for _, part := range []struct{ label, text string }{
		{"", q.Description}, {"why: ", q.Why}, {"path: ", q.BlockedPath},
	} {
		if part.text != "" {
			lines = append(lines, part.label+part.text)
		}
	}
	if q.Kind == api.QuestionPermission || q.Kind == api.QuestionForm || q.Kind == api.QuestionDialog {
		var request map[string]json.RawMessage
		if json.Unmarshal(q.Request, &request) == nil {
			for _, name := range []string{"input", "message", "requested_schema", "payload"} {
				if raw := request[name]; len(raw) > 0 {
					lines = append(lines, name+": "+indented(string(raw)))
				}
			}
		}
	}
	return strings.Join(lines, "\n")
}

// Settled says what became of a question, and by whom.
func Settled(q *api.Question) string {
	by := q.By
	if r := q.Rule; r != nil && r.Decision != api.RuleAsk {
		by = transcript.ByRule(r)
	} else if by == "" && q.From == "hub" {
		by = "the hub"
	}
	text := string(q.State)
	switch q.State {
	case api.QuestionAnswered, api.QuestionAnsweredTooLate:
		text = "answered"
		if q.Answer != nil {
			text = answered(q.Answer)
		}
		if q.State == api.QuestionAnsweredTooLate {
			text += ", too late"
		}
	case api.QuestionCancelled:
		text = "cancelled"
	case api.QuestionOpen:
	}
	if by != "" {
		text += " by " + by
	}
	switch {
	case q.State == api.QuestionCancelled && q.Reason == "interrupt":
		text = "cancelled by the interrupt"
	case q.Reason != "":
		text += ": " + q.Reason
	}
	return transcript.Short(text)
}

// answered says in a line what was answered.
func answered(a *api.Answer) string {
	var parts []string
	for _, word := range []struct {
		is   bool
		text string
	}{
		{a.Decision != "", map[string]string{
			"allow": "allowed", "deny": "denied", "accept": "filled in", "decline": "declined", "cancel": "cancelled", "choose": "chosen",
		}[a.Decision]},
		{a.Outcome != "", words.Outcome(a.Outcome)},
		{a.Interrupt, "and stopped"},
		{a.Mode != "", "mode " + words.Mode(a.Mode)},
		{len(a.Input) > 0, "as edited"},
		{a.Plan != nil, "with an edited plan"},
		{a.Always != nil, always(a.Always)},
		{len(a.Updates) > 0, "with changed permissions"},
		{a.NoPrompts, "without what the plan asks to be allowed"},
		{a.Compact, "and compact"},
		{len(a.Images) > 0, "with images"},
	} {
		if word.is && word.text != "" {
			parts = append(parts, word.text)
		}
	}
	text := strings.Join(parts, ", ")
	var choices []string
	for _, question := range slices.Sorted(maps.Keys(a.Choices)) {
		c := a.Choices[question]
		chosen := strings.Join(c.Labels, ", ")
		if c.Text != "" {
			chosen = strings.TrimPrefix(chosen+", "+c.Text, ", ")
		}
		if c.Skip {
			chosen = "-"
		}
		choices = append(choices, chosen)
	}
	switch {
	case len(choices) > 0:
		text = strings.TrimPrefix(text+": "+strings.Join(choices, "; "), "allowed: ")
	case a.Message != "":
		text += fmt.Sprintf(" (%s)", transcript.Short(a.Message))
	case len(a.Content) > 0:
		text += fmt.Sprintf(" (%s)", transcript.Short(string(a.Content)))
	case len(a.Result) > 0:
		text += fmt.Sprintf(" (%s)", transcript.Short(string(a.Result)))
	}
	if text == "" {
		return "answered"
	}
	return text
}

// always says what else was allowed for good.
func always(a *api.Always) string {
	text := "always"
	switch {
	case a == nil:
		return ""
	case a.Rule != "":
		text += " " + a.Rule
	case a.Suggestion != nil:
		text += fmt.Sprintf(" as suggested by %d", *a.Suggestion+1)
	}
	if a.Destination != "" {
		text += " in " + a.Destination
	}
	return text
}

package terminal

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/wire"
)

// A shownQuestion is what was shown of a question that is open.
type shownQuestion struct {
	asked string
	notes []note
}

// question shows what is asked, what is to be known about it, and how to answer; of one that was shown already, what is new. mu is held.
func (v *view) question(q *api.Question) {
	now := shownQuestion{asked(q), notes(q)}
	before, known := v.open[q.ID]
	v.open[q.ID] = now
	if !known || now.asked != before.asked {
		v.print("question "+q.ID, now.asked)
		v.about(q, now.notes)
		return
	}
	isNew := func(n note) bool { return !slices.Contains(before.notes, n) }
	// The outcomes are numbered, and only make sense together.
	others := slices.ContainsFunc(now.notes, func(n note) bool { return n.outcome() && isNew(n) })
	var fresh []note
	for _, n := range now.notes {
		if isNew(n) || n.outcome() && others {
			fresh = append(fresh, n)
		}
	}
	if len(fresh) > 0 {
		v.print("question "+q.ID, "updated")
		v.about(q, fresh)
	}
}

// about shows what is to be known about a question. What the agent wrote stands further in: none of it can pass for this.
func (v *view) about(q *api.Question, list []note) {
	for _, n := range list {
		v.print(n.label, n.text)
	}
	if v.hints {
		v.print("answer with", howTo(q))
	}
}

// asked returns what is asked, with all that would be done.
func asked(q *api.Question) string {
	switch q.Kind {
	case api.QuestionPermission:
		if _, input := words.Call(q); input != nil {
			return words.Headline(q) + details(input)
		}
		return words.Headline(q)
	case api.QuestionChoice:
		if len(q.Choices) == 0 {
			return words.Headline(q)
		}
		return listed(q.Choices)
	case api.QuestionPlan:
		switch text := planText(q); {
		case text != "":
			return words.Headline(q) + "\n" + text
		default:
			return words.Headline(q)
		}
	case api.QuestionForm:
		var form wire.ElicitationRequest
		if err := words.Request(q, &form); err != nil {
			return words.Headline(q)
		}
		return fmt.Sprintf("%s asks: %s%s", oneLine(form.MCPServerName), oneLine(form.Message), filled(&form))
	case api.QuestionDialog:
		var dialog wire.UserDialogRequest
		if err := words.Request(q, &dialog); err != nil || dialog.DialogKind == "" {
			return "dialog " + short(string(q.Request))
		}
		return "Claude shows the dialog " + oneLine(dialog.DialogKind) + details(dialog.Payload)
	default:
		return string(q.Kind) + " " + short(string(q.Request))
	}
}

// planText returns the plan that a review is about.
func planText(q *api.Question) string {
	if q.Plan != nil {
		return q.Plan.Text
	}
	var plan wire.PlanExit
	if _, input := words.Call(q); json.Unmarshal(input, &plan) != nil {
		return ""
	}
	return plan.Plan
}

// A note is something to be known about a question.
type note struct{ label, text string }

// outcome reports whether the note is about an outcome of a plan review.
func (n note) outcome() bool { return strings.HasPrefix(n.label, outcomeLabel) }

const outcomeLabel = "outcome "

// notes returns what is to be known about a question besides what is asked. Each is one line.
func notes(q *api.Question) []note {
	var list []note
	add := func(label, text string) {
		if text = oneLine(text); text != "" {
			list = append(list, note{label, text})
		}
	}
	if q.AgentID != "" {
		add("asked by", "the sub-agent "+q.AgentID)
	}
	if tool, input := words.Call(q); q.Kind == api.QuestionPermission && tool != wire.ToolSandboxNetwork {
		// What a server makes of the call itself is shown already.
		if input == nil || q.Title != wire.ActionTitle(tool, input) && tool != "EnterPlanMode" {
			add("title", q.Title)
		}
		if purpose, _ := wire.LookupString(input, "description"); q.Description != purpose {
			add("purpose", q.Description)
		}
	}
	add("reason", q.Why)
	if _, input := words.Call(q); !words.NamesPath(input, q.BlockedPath) { // else it is among the input
		add("path", q.BlockedPath)
	}
	if q.Rule != nil {
		text := string(q.Rule.Decision) + " by " + transcript.RuleName(q.Rule)
		if q.Rule.Reason != "" {
			text += ": " + q.Rule.Reason
		}
		add("rule", text)
	}
	if p := q.Plan; p != nil {
		add("plan file", p.Path)
		if p.Percent != nil {
			add("context", fmt.Sprintf("%.0f%% used", *p.Percent))
		}
		for _, prompt := range p.Prompts {
			add("asks to be allowed", prompt.Tool+" - "+prompt.Prompt)
		}
		for i, o := range p.Outcomes {
			add(fmt.Sprint(outcomeLabel, i+1), outcomeText(o))
		}
		if p.Bypass {
			add("bypass", "add the word bypass to an approval to skip all questions (DANGEROUS)")
		}
	}
	for i, s := range q.Suggestions {
		text := s.Text
		if text == "" {
			text = string(s.Update)
		}
		if tool, _ := words.Call(q); tool == wire.ToolSandboxNetwork {
			text += " (in this session)"
		} else if s.Destination != "" {
			text += " (Claude Code would save it in " + s.Destination + ")"
		}
		add(fmt.Sprintf("always %d", i+1), text)
	}
	if q.Stale {
		add("stale", stale(q))
	}
	if q.Deadline > 0 {
		add("deadline", fmt.Sprintf("denied automatically after %d s in view", q.Deadline))
	}
	return list
}

// stale says that the agent does not wait for the answer any more, and what is still possible.
func stale(q *api.Question) string {
	text := "the agent that asked has stopped"
	if q.Plan != nil && len(q.Plan.Outcomes) > 0 {
		names := make([]string, 0, len(q.Plan.Outcomes))
		for _, o := range q.Plan.Outcomes {
			names = append(names, oneLine(string(o)))
		}
		text += "; it can still be answered with " + strings.Join(names, ", ")
	}
	return text
}

// outcomeText says what an outcome of a plan review does.
func outcomeText(o api.PlanOutcome) string {
	what := map[api.PlanOutcome]string{
		api.PlanFresh:       "approve; a new agent with cleared context carries it out, edits accepted",
		api.PlanAcceptEdits: "approve; edits are accepted",
		api.PlanAsk:         "approve; each edit needs approval",
		api.PlanRevise:      "keep planning, with what you write after it",
		api.PlanReject:      "reject it",
		api.PlanOutline:     "have it write an outline first",
	}[o]
	if what == "" {
		return string(o)
	}
	return string(o) + " - " + what
}

// howTo says what can be typed to answer a question.
func howTo(q *api.Question) string {
	id := q.ID
	yesNo := fmt.Sprintf("/allow %s or /deny %s why", id, id)
	switch q.Kind {
	case api.QuestionPermission:
		if n := len(q.Suggestions); n == 1 {
			return fmt.Sprintf("/allow %s, /allow %s 1 (always) or /deny %s why", id, id, id)
		} else if n > 1 {
			return fmt.Sprintf("/allow %s, /allow %s 1 to %d (always) or /deny %s why", id, id, n, id)
		}
		return yesNo
	case api.QuestionChoice:
		return fmt.Sprintf("/answer %s 1 (numbers with commas, words, or - to skip; a semicolon between questions) or /deny %s", id, id)
	case api.QuestionPlan:
		if q.Plan != nil && len(q.Plan.Outcomes) > 0 {
			return fmt.Sprintf("/answer %s and the number or name of an outcome, then what the agent should know", id)
		}
		return yesNo
	case api.QuestionForm:
		return fmt.Sprintf("/allow %s (as it comes), /answer %s {\"field\": value} or /deny %s", id, id, id)
	case api.QuestionDialog:
		return fmt.Sprintf("/answer %s and the result, JSON or a word, or /deny %s", id, id)
	default:
		return fmt.Sprintf("/deny %s, or answer elsewhere", id)
	}
}

// maxDetail is how much of a member is shown, in bytes.
const maxDetail = 64 << 10

// details shows all of what would be done, member by member: a user who allows something must have been able to read it to its end.
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
		if len(text) > maxDetail {
			text = strings.ToValidUTF8(text[:maxDetail], "") + fmt.Sprintf("… (%d bytes more, NOT SHOWN)", len(text)-maxDetail)
		}
		if strings.Contains(text, "\n") {
			text = "\n  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ")
		}
		// A name is the agent's too: it must not look like another member.
		b.WriteString("\n" + oneLine(name) + ": " + text)
	}
	return b.String()
}

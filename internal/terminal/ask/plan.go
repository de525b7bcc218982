package ask

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/units"
	"github.com/switchboard-dev/switchboard/wire"
)

// A plan is the review of one.
type plan struct {
	at     int             // the outcome that is chosen, by its place among those that there are
	chosen api.PlanOutcome // and by its name
	// What goes with an approval.
	bypass, compact, without bool
	edited                   *string // the plan as it was edited; nil if it was not
	given                    string  // the plan as it came
}

func newPlan(q *api.Question) plan { return plan{given: planText(q)}.on(planChoices(q)) }

// on returns the plan with the name of the outcome that is chosen.
func (p plan) on(list []planChoice) plan {
	p.chosen = ""
	if p.at < len(list) {
		p.chosen = list[p.at].outcome
	}
	return p
}

// planText returns the plan that a review is about.
func planText(q *api.Question) string {
	if q.Plan != nil {
		return q.Plan.Text
	}
	var exit wire.PlanExit
	if json.Unmarshal(callOf(q).input, &exit) != nil {
		return ""
	}
	return exit.Plan
}

// A planChoice is an outcome and the key that chooses it.
type planChoice struct {
	key     string
	outcome api.PlanOutcome
}

// planChoices returns the outcomes that can be chosen. Keys stay the same whichever there are; without a plan there are only yes and no.
func planChoices(q *api.Question) []planChoice {
	if q.Plan == nil || len(q.Plan.Outcomes) == 0 {
		return nil
	}
	keys := map[api.PlanOutcome]string{
		api.PlanFresh: "1", api.PlanAcceptEdits: "2", api.PlanAsk: "3", api.PlanRevise: "4", api.PlanReject: "r", api.PlanOutline: "p",
	}
	if q.Plan.Text == "" && !slices.ContainsFunc(q.Plan.Outcomes, func(o api.PlanOutcome) bool { return o == api.PlanFresh || o == api.PlanRevise }) {
		keys = map[api.PlanOutcome]string{api.PlanAsk: "1", api.PlanReject: "2"}
	}
	var list []planChoice
	for _, o := range []api.PlanOutcome{api.PlanFresh, api.PlanAcceptEdits, api.PlanAsk, api.PlanRevise, api.PlanReject, api.PlanOutline} {
		if keys[o] != "" && slices.Contains(q.Plan.Outcomes, o) {
			list = append(list, planChoice{keys[o], o})
		}
	}
	return list
}

// text returns the plan.
func (p plan) text() string {
	if p.edited != nil {
		return *p.edited
	}
	return p.given
}

func (p plan) head(m Model) []string {
	q := m.q
	text := "Approve this plan?"
	if p.text() == "" {
		text = "Leave plan mode without a plan?"
	}
	lines := question(m, text)
	if q.Stale {
		lines = append(lines, fittedLines(m.styles.Warn.Render, "The agent that asked has stopped: only choices that start another one are left.", m.o.Width, 3)...)
	}
	lines = append(lines, about(m)...)
	if q.Plan != nil {
		lines = append(lines, note(m, "file", q.Plan.Path)...)
	}
	if p.edited != nil {
		lines = append(lines, fittedLines(m.styles.Warn.Render, "as you edited it:", m.o.Width, 1)...)
	}
	return lines
}

func (p plan) body(m Model) []string {
	text := p.text()
	if text == "" {
		return nil
	}
	if len(text) > maxPlan {
		text = strings.ToValidUTF8(text[:maxPlan], "") + fmt.Sprintf("\n\n… (%s more, NOT SHOWN; ctrl+g opens all of it)", units.Size(int64(len(text)-maxPlan)))
	}
	lines := whole(revealed(m.styles.Markdown(text, m.o.Width)), m.o.Width)
	if prompts, fit := asks(m, m.o.Width); !fit {
		lines = append(lines, "")
		lines = append(lines, fittedLines(m.styles.Bold.Render, "It asks to be allowed:", m.o.Width, 2)...)
		lines = append(lines, textLines("- "+strings.Join(prompts, "\n- "), m.o.Width, "")...)
	}
	return lines
}

// asks returns what a plan asks to be allowed, and whether that fits into the line that says so: if not it is listed below the plan, for
// no user may allow what they could not see.
func asks(m Model, width int) (prompts []string, fit bool) {
	if m.q.Plan == nil {
		return nil, true
	}
	size := 0
	for _, each := range m.q.Plan.Prompts {
		prompts = append(prompts, paint.CleanLine(each.Tool, 0)+": "+paint.CleanLine(each.Prompt, 0))
		size += paint.Width(prompts[len(prompts)-1]) + 2
	}
	return prompts, size <= width
}

// maxPlan is how much of a plan is shown, in bytes.
const maxPlan = 256 << 10

func (p plan) changed(m Model) part {
	// The outcome that was chosen stays so, whatever its number is now; the first is chosen if it is gone.
	list := planChoices(m.q)
	p.at = max(0, slices.IndexFunc(list, func(c planChoice) bool { return c.outcome == p.chosen }))
	p.given = planText(m.q)
	return p.on(list)
}

// approvals reports whether something can be approved, with which what goes with an approval makes sense.
func approvals(list []planChoice) bool {
	return slices.ContainsFunc(list, func(c planChoice) bool { return approves(c.outcome) })
}

func approves(o api.PlanOutcome) bool {
	return o == api.PlanFresh || o == api.PlanAcceptEdits || o == api.PlanAsk
}

// bypassable reports whether an outcome can also continue without asking for anything.
func bypassable(q *api.Question, o api.PlanOutcome) bool {
	return q.Plan != nil && q.Plan.Bypass && (o == api.PlanFresh || o == api.PlanAcceptEdits)
}

func (p plan) tail(m Model) tail {
	list := planChoices(m.q)
	if list == nil {
		return tail{lines: append(keyed(m, "y", "Yes", p.at == 0), keyed(m, "n", "No", p.at == 1)...), focus: p.at}
	}
	var t tail
	for i, c := range list {
		if i == p.at {
			t.focus = len(t.lines)
		}
		t.lines = append(t.lines, keyed(m, c.key, planLabel(m.q, c.outcome, p.bypass && bypassable(m.q, c.outcome)), i == p.at)...)
	}
	if !approvals(list) {
		return t
	}
	toggle := func(key, text string, on bool) {
		box := "[ ] "
		if on {
			box = "[x] "
		}
		t.lines = append(t.lines, keyed(m, key, box+text, false)...)
	}
	if m.q.Plan.Bypass {
		toggle("b", "bypass permissions (DANGEROUS: asks for nothing)", p.bypass)
	}
	if !m.q.Stale {
		toggle("c", "compact the conversation after the turn", p.compact)
	}
	inner := m.o.Width
	if inner >= leastBar {
		inner -= 2
	}
	switch prompts, fit := asks(m, inner); {
	case len(prompts) == 0:
	case fit:
		toggle("x", "allow what it asks for ("+strings.Join(prompts, "; ")+")", !p.without)
	default:
		toggle("x", fmt.Sprintf("allow what it asks for (%d, below the plan)", len(prompts)), !p.without)
	}
	return t
}

func (p plan) keys(m Model) []Key {
	list := planChoices(m.q)
	if list == nil {
		return []Key{{"y/enter", "yes"}, {"n", "no"}}
	}
	keys := []Key{{"enter", "choose"}, {"up/down", "move"}}
	if len(m.body) > 0 {
		keys = append(keys, Key{"pgup/pgdown", "scroll"})
	}
	if approvals(list) && p.text() != "" {
		keys = append(keys, Key{"ctrl+g", "edit the plan"})
	}
	if stoppable(m.q, list) {
		keys = append(keys, Key{"s", "reject and stop"})
	}
	return keys
}

func (p plan) key(m Model, key tea.KeyPressMsg) (Model, tea.Cmd) {
	name := key.String()
	list := planChoices(m.q)
	if list == nil {
		return p.plain(m, key)
	}
	approvable := approvals(list)
	switch name {
	case "up", "ctrl+p":
		p.at = (p.at + len(list) - 1) % len(list)
	case "down", "ctrl+n", "tab":
		p.at = (p.at + 1) % len(list)
	case "enter":
		return p.choose(m, list[p.at].outcome)
	case "shift+tab":
		if list[0].outcome != api.PlanFresh || p.bypass {
			return m, nil // it is what the label says that it is
		}
		return p.choose(m, api.PlanFresh)
	case "b":
		p.bypass = m.q.Plan.Bypass && !p.bypass
	case "c":
		p.compact = approvable && !m.q.Stale && !p.compact
	case "x":
		p.without = approvable && len(m.q.Plan.Prompts) > 0 && !p.without
	case "ctrl+g":
		return p.edit(m)
	case "s":
		if !stoppable(m.q, list) {
			m.problem = "not possible now"
			return m, nil
		}
		return p.reject(m, true)
	default:
		for _, c := range list {
			if c.key == name {
				return p.choose(m, c.outcome)
			}
		}
		switch name {
		case "1", "2", "3", "4", "r", "p":
			m.problem = "not possible now"
			if m.q.Stale {
				m.problem += ": the agent that asked has stopped"
			}
			return m, nil
		}
		return m.common(key)
	}
	m.part = p.on(list)
	return m, nil
}

// plain answers a plan of which no outcomes are known: the tool call alone.
func (p plan) plain(m Model, key tea.KeyPressMsg) (Model, tea.Cmd) {
	switch name := key.String(); name {
	case "y", "1":
		return m.answered(api.Answer{Decision: "allow"})
	case "enter":
		if p.at == 0 {
			return m.answered(api.Answer{Decision: "allow"})
		}
		return p.reason(m)
	case "n", "2":
		return p.reason(m)
	case "up", "down", "tab":
		p.at = 1 - p.at
		m.part = p
		return m, nil
	}
	return m.common(key)
}

func (p plan) reason(m Model) (Model, tea.Cmd) {
	m.entry = newEntry("No. Why? (shown to the agent)", "enter alone: no reason", true, func(m Model, in written) (Model, tea.Cmd) {
		return m.answered(api.Answer{Decision: "deny", Message: in.text})
	}).optional()
	return m, nil
}

// choose answers with an outcome, when what it needs is written.
func (p plan) choose(m Model, outcome api.PlanOutcome) (Model, tea.Cmd) {
	answer := api.Answer{Outcome: outcome}
	switch outcome {
	case api.PlanRevise:
		e := newEntry(planLabel(m.q, outcome, false), "Type here to tell Claude what to change", true, func(m Model, in written) (Model, tea.Cmd) {
			answer.Message, answer.Images = in.text, in.images
			return m.answered(answer)
		})
		e.images = true
		m.entry = e
		return m, nil
	case api.PlanReject:
		return p.reject(m, false)
	case api.PlanFresh, api.PlanAcceptEdits, api.PlanAsk:
		answer.Plan = p.edited
		answer.NoPrompts = p.without
		answer.Compact = p.compact && outcome != api.PlanFresh // a fresh start has nothing to compact
		if p.bypass && bypassable(m.q, outcome) {
			answer.Mode = string(wire.PermissionModeBypassPermissions)
		}
	case api.PlanOutline:
	}
	return m.answered(answer)
}

// reject asks why the plan is refused.
func (p plan) reject(m Model, stop bool) (Model, tea.Cmd) {
	label := "Reject the plan. Why? (shown to the agent)"
	if stop {
		label = "Reject the plan and stop the turn. Why? (shown to the agent)"
	}
	m.entry = newEntry(label, "enter alone: no reason", true, func(m Model, in written) (Model, tea.Cmd) {
		return m.answered(api.Answer{Outcome: api.PlanReject, Message: in.text, Interrupt: stop})
	}).optional()
	return m, nil
}

// stoppable reports whether there is a turn that a refusal can stop.
func stoppable(q *api.Question, list []planChoice) bool {
	return !q.Stale && slices.ContainsFunc(list, func(c planChoice) bool { return c.outcome == api.PlanReject })
}

// edit has the plan edited. What was edited goes along with an approval.
func (p plan) edit(m Model) (Model, tea.Cmd) {
	text := p.text()
	if text == "" {
		m.problem = "no plan to edit"
		return m, nil
	}
	return m.edit("Plan to carry out:", text, ".md", func(m Model, edited string) (Model, tea.Cmd) {
		if strings.TrimSpace(edited) == "" {
			m.problem = "a plan can't be empty; go back to reject it"
			return m, nil
		}
		if edited != text {
			p.edited = &edited
			m.part, m.scroll = p, 0
		}
		return m.relaid(), nil
	})
}

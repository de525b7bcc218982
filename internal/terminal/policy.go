package terminal

import (
	"fmt"
	"strconv"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
)

// naming returns a rule with where it stands and why it fits.
func naming(r *api.RuleRef) string {
	text := string(r.Decision) + " by " + ruleName(r)
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return oneLine(text)
}

// ruleName returns a rule with where it stands.
func ruleName(r *api.RuleRef) string {
	where := r.Source
	switch {
	case r.ID != "":
		where = "rule " + r.ID + " of this session"
	case where == "":
		where = r.Scope
	}
	if where == "" {
		return oneLine(r.Rule)
	}
	return oneLine(r.Rule + " (" + where + ")")
}

// ruleAdded shows a new rule of the session.
func (v *view) ruleAdded(e *api.Event, r *api.SessionRule) {
	text := string(r.Decision) + " " + oneLine(r.Rule)
	if r.Rule == "*" {
		text = string(r.Decision) + " everything"
	}
	if !r.Expires.IsZero() {
		text += " until " + clock(r.Expires)
	}
	by := r.By
	if by == "" {
		by = e.By
	}
	text += " (" + who(by) + ")"
	if r.Message != "" {
		text += "; shown to the agent: " + oneLine(r.Message)
	}
	if r.Pending {
		text += "; Claude Code enforces it after its next start"
	}
	v.print("", "rule "+r.ID, text)
}

// ruleRemoved shows that a rule does not hold any more.
func (v *view) ruleRemoved(e *api.Event, r *api.RuleRemoved) {
	text := "removed (" + who(e.By) + ")"
	if r.Reason != "" {
		text = oneLine(r.Reason)
	}
	v.print("", "rule "+r.ID, text)
}

// decision shows what a rule decided without anybody being asked.
func (v *view) decision(_ *api.Event, d *api.Decision) {
	call := oneLine(d.Tool)
	if what := about(d.Input); what != "" {
		call += " " + short(what)
	}
	v.print("", "decided", naming(&d.Rule)+": "+call)
}

// mode shows that the agent is in another permission mode.
func (v *view) mode(_ *api.Event, m *api.ModeChange) {
	text := words.Mode(m.Mode)
	switch {
	case m.Tool == enterPlanMode:
		text = "the agent entered plan mode"
	case m.Tool == "ExitPlanMode":
		text = "the agent left plan mode for " + text
	case m.Was != "":
		text += " (was " + words.Mode(m.Was) + ")"
	}
	v.print("", "mode", text)
}

// hold shows that the queue is held back.
func (v *view) hold(_ *api.Event, h *api.Hold) {
	text := oneLine(h.Reason)
	switch {
	case h.Resumes && !h.Until.IsZero():
		text += "; continues automatically at " + clock(h.Until)
	case !h.Until.IsZero():
		text += "; the limit ends at " + clock(h.Until)
	}
	v.print("", "held back", text)
	if v.hints {
		v.print("", "to continue", "/release "+h.ID)
	}
}

// holdOver shows that a hold is over.
func (v *view) holdOver(e *api.Event, h *api.HoldOver) {
	text := oneLine(h.Reason)
	switch h.Reason {
	case "released", "":
		text = "released by " + who(e.By)
	case "reset":
		text = "the limit has ended"
	case "gone":
		text = "the limit no longer applies"
	}
	v.print("", "no longer held back", text)
}

// budget shows how much of a budget is used.
func (v *view) budget(_ *api.Event, b *api.BudgetUse) {
	text := amounts(b.Unit, b.Used, b.Limit) + " per " + oneLine(b.Per)
	if b.Over {
		text = "spent: " + text
	}
	v.print("", "budget "+oneLine(b.Name), text)
}

// amounts returns how much of something is used of how much there is.
func amounts(unit string, used, limit float64) string {
	number := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	switch unit {
	case "usd":
		return fmt.Sprintf("$%.2f of $%.2f", used, limit)
	case "wall":
		return period(used) + " of " + period(limit) + " of work"
	case "idle":
		return period(used) + " of " + period(limit) + " without work"
	default:
		return number(used) + " of " + number(limit) + " " + oneLine(unit)
	}
}

// period returns a number of seconds in a form for people.
func period(seconds float64) string {
	const longest = 1 << 31 // of a duration, and more than anybody waits
	return (time.Duration(min(max(seconds, 0), longest)) * time.Second).String()
}

// clock returns a time in a form that is the same everywhere: a log is also read elsewhere.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }

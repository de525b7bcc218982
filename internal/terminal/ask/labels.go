package ask

import (
	"fmt"
	"math"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/wire"
)

// planLabel says what an outcome of a plan review does, in the words of Claude Code where it has some. bypass is for an approval after which
// nothing is asked any more.
func planLabel(q *api.Question, outcome api.PlanOutcome, bypass bool) string {
	none := q.Plan == nil || q.Plan.Text == ""
	switch outcome {
	case api.PlanFresh:
		used := ""
		if q.Plan != nil && q.Plan.Percent != nil {
			used = fmt.Sprintf(" (%.0f%% used)", math.Max(0, math.Min(100, *q.Plan.Percent)))
		}
		if bypass {
			return "Yes, clear context" + used + " and bypass permissions"
		}
		return "Yes, clear context" + used + " and accept edits (shift+tab)"
	case api.PlanAcceptEdits:
		if bypass {
			return "Yes, and bypass permissions"
		}
		return "Yes, and accept edits"
	case api.PlanAsk:
		if none {
			return "Yes"
		}
		return "Yes, and approve each edit"
	case api.PlanRevise:
		return "No, keep planning"
	case api.PlanReject:
		if none {
			return "No"
		}
		return "No, reject the plan"
	case api.PlanOutline:
		return "No, write an outline first"
	default: // one of tomorrow
		return paint.CleanLine(string(outcome), 60)
	}
}

// Outcome says in one line how a question was settled, and by whom.
func Outcome(q *api.Question) string {
	who := q.By
	switch {
	case q.From == "hub" && q.Rule != nil && q.Rule.Scope == api.ScopeSandbox:
		who = "the sandbox"
	case q.From == "hub" && q.Rule != nil:
		who = "the rule " + brief(q.Rule.Rule)
	case who == "" && q.From != "":
		who = "the " + q.From
	case who == "":
		who = "someone"
	}
	who = paint.CleanLine(brief(who), 80)
	text := "answered by " + who
	if q.Answer != nil {
		text = decided(q) + " by " + who
	} else if q.State == api.QuestionCancelled {
		text = "cancelled"
		if q.By != "" {
			text += " by " + who
		}
	}
	if q.State == api.QuestionAnsweredTooLate {
		text += ", too late: the agent no longer waited"
	}
	if q.Answer != nil && q.Answer.Message != "" {
		text += ": " + paint.CleanLine(brief(q.Answer.Message), 200)
	} else if q.Reason != "" {
		text += ": " + paint.CleanLine(brief(q.Reason), 200)
	}
	return text
}

// decided says what was answered.
func decided(q *api.Question) string {
	a := q.Answer
	if a.Outcome != "" {
		bypass := a.Mode == string(wire.PermissionModeBypassPermissions)
		return "answered \"" + strings.TrimSuffix(planLabel(q, a.Outcome, bypass), " (shift+tab)") + "\""
	}
	word := map[string]string{
		"allow": "allowed", "deny": "denied", "accept": "accepted", "decline": "declined", "choose": "answered", "cancel": "cancelled",
	}[a.Decision]
	switch {
	case word == "":
		return "answered"
	case a.Decision == "allow" && a.Always != nil:
		return "allowed always"
	case a.Decision == "allow" && a.Input != nil:
		return "allowed as edited"
	case a.Decision == "allow" && q.Kind == api.QuestionChoice:
		return "answered"
	case a.Decision == "deny" && a.Interrupt:
		return "denied, and the turn stopped,"
	}
	return word
}

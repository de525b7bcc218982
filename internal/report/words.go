package report

import (
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/internal/transcript"
)

// toolAskUser is the tool with which an agent asks questions.
const toolAskUser = "AskUserQuestion"

// toolExitPlan is the tool with which an agent presents a plan.
const toolExitPlan = "ExitPlanMode"

// runTitle says in a line that a process was started.
func runTitle(d *record.RunStarted) string {
	switch {
	case d.Unauthenticated:
		return "Process dialed in without a token"
	case d.Transport == record.TransportWebSocket || d.Transport == record.TransportHybrid:
		return "Process dialled in"
	case d.Transport == record.TransportTee:
		return "Process of a program connected"
	case d.Transport == record.TransportRelay:
		return "Agent found behind a relay"
	case d.Fork:
		return "Process started with a copy of a conversation"
	case d.Resume != "":
		return "Process started to continue the conversation"
	}
	return "Process started"
}

// resultWords says how a turn ended, and why if it failed.
func resultWords(it *transcript.Item) (what, why string) {
	switch {
	case it.Result.Interrupted:
		return "Turn interrupted", ""
	case !it.Failed:
		return "Turn finished", ""
	}
	return "Turn failed", it.Text
}

// stateWords says what the hub or the CLI tells: what it is about in words of our
// own, and the rest.
func stateWords(e *api.Event, it *transcript.Item) (what, text string) {
	switch e.Kind {
	case api.KindRunEnded:
		return "Process ended", it.Text
	case api.KindHold:
		return "Queue paused", it.Text
	case api.KindGap, api.KindOversize: // they begin with what it is about
		what, text, _ = strings.Cut(it.Text, ": ")
		return capital(what), text
	}
	return capital(it.Label), it.Text
}

// titled joins what something is about and the rest.
func titled(what, text string) string {
	if what == "" || text == "" {
		return what + text
	}
	return what + ": " + text
}

// capital returns words of our own with a capital letter at their beginning.
func capital(words string) string { return strings.ToUpper(words[:1]) + words[1:] }

// questionTitle says in a line what is asked.
func questionTitle(q *api.Question) string {
	switch q.Kind {
	case api.QuestionChoice:
		if len(q.Choices) > 0 {
			return q.Choices[0].Question
		}
	case api.QuestionPlan:
		return "A plan is presented"
	case api.QuestionForm:
		if q.Description != "" {
			return q.Title + ": " + q.Description
		}
	case api.QuestionPermission, api.QuestionDialog:
	}
	if q.Title != "" {
		return q.Title
	}
	return "The agent asks something"
}

// outcomeWords says in words what was decided.
func outcomeWords(outcome string) string {
	switch outcome {
	case "allow", "accept":
		return "Allowed"
	case "deny", string(api.PlanReject):
		return "Denied"
	case "ask":
		return "To be asked"
	case "decline":
		return "Declined"
	case "cancel", string(api.QuestionCancelled):
		return "Cancelled"
	case "choose":
		return "Chosen"
	case string(api.PlanFresh):
		return "Approved, carried out by a new process"
	case string(api.PlanAcceptEdits):
		return "Approved, edits accepted"
	case string(api.PlanRevise):
		return "To be revised"
	case string(api.PlanOutline):
		return "To be outlined first"
	case "":
		return "Answered"
	}
	return outcome
}

// settledTitle says in a line how a question was settled.
func settledTitle(q *api.Question) string {
	outcome := outcomeOf(q)
	words := outcomeWords(outcome)
	switch {
	case q.State == api.QuestionCancelled && q.Reason != "":
		return words + " (" + q.Reason + "): " + questionTitle(q)
	case q.Kind == api.QuestionChoice && outcome == "allow":
		words = "Answered"
	case q.Kind == api.QuestionChoice && outcome == "deny":
		words = "Skipped"
	case q.Kind == api.QuestionPlan && outcome == string(api.PlanAsk):
		words = "Approved, edits are asked about"
	}
	return words + ": " + questionTitle(q)
}

// byRule names the rule that has decided, or the sandbox, in which commands may be
// allowed without a question.
func byRule(r *api.RuleRef) string {
	if r.Scope == api.ScopeSandbox {
		return "sandbox"
	}
	return "rule " + r.Rule
}

// decidedBy names the person or rule that has settled a question; empty if none did.
func decidedBy(q *api.Question) string {
	if ruled(q) {
		return byRule(q.Rule)
	}
	return q.By
}

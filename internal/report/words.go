package report

import (
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
)

// toolAskUser is the tool with which an agent asks questions.
const toolAskUser = "AskUserQuestion"

// toolExitPlan is the tool with which an agent presents a plan.
const toolExitPlan = "ExitPlanMode"

// messageOfLine returns a line of those types that are told to people, nil for the
// others, which are not decoded.
func messageOfLine(line []byte) wire.Message {
	h, err := wire.Peek(line)
	if err != nil {
		return nil
	}
	switch string(h.Type) {
	case "user", "assistant", "result":
	case "system":
		if string(h.Subtype) != "compact_boundary" {
			return nil
		}
	default:
		return nil
	}
	m, err := wire.Decode(line)
	if err != nil {
		return nil
	}
	return m
}

// isPrompt reports whether a message in the user's name is something that a person
// said, and not the result of a tool or a note of the CLI.
func isPrompt(m *wire.User) bool {
	if m.IsSynthetic || m.ParentToolUseID != "" {
		return false
	}
	for _, b := range m.Message.Content.Blocks {
		if strings.HasSuffix(b.BlockType(), "tool_result") {
			return false
		}
	}
	return true
}

// beginsTurn reports whether a line was sent as a prompt, which is only done when no
// turn goes on.
func beginsTurn(e *journal.Entry) bool {
	d, ok := dataAs[record.Sent](e)
	return ok && d.Kind == record.CommandPrompt
}

// promptText returns what a person said. Pictures and files are named.
func promptText(m *wire.User) string {
	var parts []string
	for _, b := range m.Message.Content.All() {
		if text, ok := b.(*wire.TextBlock); ok {
			parts = append(parts, text.Text)
			continue
		}
		parts = append(parts, "["+b.BlockType()+"]")
	}
	return strings.Join(parts, "\n")
}

// runTitle says in a line that a process was started.
func runTitle(d *record.RunStarted) string {
	switch {
	case d.Transport == record.TransportWebSocket || d.Transport == record.TransportHybrid:
		return "Process dialled in"
	case d.Transport == record.TransportTee:
		return "Process of a program connected"
	case d.Fork:
		return "Process started with a copy of a conversation"
	case d.Resume != "":
		return "Process started to continue the conversation"
	}
	return "Process started"
}

// resultTitle says in a line how a turn ended.
func resultTitle(m *wire.Result, interrupted bool) string {
	aborted := m.TerminalReason == wire.TerminalReasonAbortedStreaming || m.TerminalReason == wire.TerminalReasonAbortedTools
	switch {
	case interrupted || aborted:
		return "Turn interrupted"
	case !m.Failed():
		return "Turn finished"
	}
	why := string(m.Subtype)
	switch {
	case len(m.Errors) > 0:
		why = m.Errors[0]
	case m.Result != "" && m.IsError:
		why = m.Result
	}
	return "Turn failed: " + why
}

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

// decidedBy names the person or rule that has settled a question; empty if none did.
func decidedBy(q *api.Question) string {
	if ruled(q) {
		return "rule " + q.Rule.Rule
	}
	return q.By
}

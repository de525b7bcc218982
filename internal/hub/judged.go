package hub

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// offerHook offers a question that a hook holds open to the rules, which have
// changed since they had a person asked. Only a refusal settles it: that person
// is asked already.
func (st *step) offerHook(row journal.Question, ask *wire.ControlRequest) {
	tool, input := callOf(ask)
	if tool == "" {
		return
	}
	if v := st.decide(tool, input); v.Decision == policy.Deny {
		answer := api.Answer{Decision: "deny", Message: v.Message}
		line, err := hookAnswer(ask, answer)
		st.byRule(row, ask, v, answer, line, err)
	}
}

// unhooked tells, once, that calls of a process which was started without a hook
// are not brought to the hub although the rules say so now.
func (st *step) unhooked() {
	s, b := st.s, st.s.book
	if s.unhooked || !st.everyCall() || b.Ended != nil || b.First == nil || bytes.Contains(b.First, []byte(`"`+hookEveryCall+`"`)) {
		return
	}
	s.unhooked = true
	st.event(api.KindNotice, Actor{}, api.Notice{
		Code: "hooks_from_next_start",
		Text: "the rules are to see every call; the agent was started without that, and brings its calls to them from its next start on, until then only what it asks",
	})
}

// callOf returns the tool call that a question is about.
func callOf(ask *wire.ControlRequest) (tool string, input json.RawMessage) {
	switch r := ask.Request.(type) { //nolint:gochecksumtype // the others are about no call
	case *wire.CanUseToolRequest:
		return r.ToolName, r.Input
	case *wire.HookCallbackRequest:
		if input, ok := r.Input.(*wire.PreToolUseInput); ok {
			return input.ToolName, input.ToolInput
		}
	}
	return "", nil
}

// checkEdited refuses a call that somebody has edited into one that a rule denies:
// the CLI asks nobody about it any more.
func (st *step) checkEdited(ask *wire.ControlRequest, in api.Answer) error {
	tool, _ := callOf(ask)
	if in.Input == nil || tool == "" {
		return nil
	}
	v := st.decide(tool, in.Input)
	if v.Decision != policy.Deny {
		return nil
	}
	name := ""
	if v.Rule != nil {
		name = " (" + v.Rule.Text + ")"
	}
	return record.Unfit("input: a rule denies the edited call%s: %s", name, v.Reason)
}

// dropHook cancels a question of a hook that the CLI has withdrawn.
func (st *step) dropHook(requestID string) {
	for _, row := range st.s.book.Questions {
		if ask, err := askOf(&row); err == nil && row.RequestID == requestID && isHook(ask) {
			st.cancelled(requestID, api.QuestionCancelled, string(fold.ReasonWithdrawn), nil)
			return
		}
	}
}

// dropRest cancels what a run has asked and the fold does not know of: what hooks
// hold open, and what it has forgotten because there was far too much. Plans that
// outlive the run stay.
func (st *step) dropRest(reason string) {
	for _, row := range slices.Clone(st.s.book.Questions) {
		if row.Run == st.s.book.Run && !dataOf(&row).Stale {
			st.cancelled(row.RequestID, api.QuestionCancelled, reason, nil)
		}
	}
}

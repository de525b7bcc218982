package fold_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/wire/fold"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Lines that many tests need. They are as short as a CLI would never write them.
const (
	started    = `! started 1`
	initialize = `> {"type":"control_request","request_id":"i","request":{"subtype":"initialize"}}`
	ready      = `< {"type":"control_response","response":{"subtype":"success","request_id":"i","response":{}}}`
	begin      = `< {"type":"system","subtype":"init","session_id":"c1","claude_code_version":"2.1.37"}`
	success    = `< {"type":"result","subtype":"success"}`
	interrupt  = `> {"type":"control_request","request_id":"stop","request":{"subtype":"interrupt"}}`
	stopped    = `< {"type":"control_response","response":{"subtype":"success","request_id":"stop"}}`
	toldIdle   = `< {"type":"system","subtype":"session_state_changed","state":"idle"}`
	toldBusy   = `< {"type":"system","subtype":"session_state_changed","state":"running"}`
	toldAction = `< {"type":"system","subtype":"session_state_changed","state":"requires_action"}`
)

func prompt(uuid string) string {
	return `> {"type":"user","message":{"role":"user","content":"do it"},"uuid":"` + uuid + `"}`
}

func echo(uuid string) string {
	return `< {"type":"user","message":{"role":"user","content":"do it"},"uuid":"` + uuid + `","isReplay":true}`
}

func lifecycle(uuid, state string) string {
	return `< {"type":"command_lifecycle","command_uuid":"` + uuid + `","state":"` + state + `"}`
}

func canUse(id, toolUse, more string) string {
	return `< {"type":"control_request","request_id":"` + id + `","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"` + toolUse + `"` + more + `}}`
}

func answer(id string) string {
	return `> {"type":"control_response","response":{"subtype":"success","request_id":"` + id + `","response":{"behavior":"allow","updatedInput":{}}}}`
}

func withdraw(id string) string {
	return `< {"type":"control_cancel_request","request_id":"` + id + `"}`
}

func toolResult(id, own string) string {
	return `< {"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"done"}]},"tool_use_result":` + own + `}`
}

// script parses lines in the form of a recording.
func script(t testing.TB, lines ...string) []step {
	t.Helper()
	steps, err := parse([]byte(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

// play folds lines in the form of a recording.
func play(t testing.TB, lines ...string) *all {
	t.Helper()
	a := new(all)
	for _, s := range script(t, lines...) {
		a.apply(s)
	}
	return a
}

// phases folds lines and returns the phase after each.
func phases(t testing.TB, lines ...string) []fold.Phase {
	t.Helper()
	var list []fold.Phase
	a := new(all)
	for _, s := range script(t, lines...) {
		a.apply(s)
		list = append(list, a.State.Phase())
	}
	return list
}

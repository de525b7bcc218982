package answer

import (
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// asked decodes what a CLI asks.
func asked(t *testing.T, request string) *wire.ControlRequest {
	t.Helper()
	m, err := wire.Decode([]byte(`{"type":"control_request","request_id":"r1","request":` + request + `}`))
	if err != nil {
		t.Fatal(err)
	}
	ask, ok := m.(*wire.ControlRequest)
	if !ok {
		t.Fatalf("%s is no request", request)
	}
	return ask
}

// TestOf holds which answers come to which lines. How they are settled is tested with the hub.
func TestOf(t *testing.T) {
	const (
		call   = `{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t1","input":{"command":"make"}}`
		choice = `{"subtype":"can_use_tool","tool_name":"AskUserQuestion","tool_use_id":"t1","input":{"questions":[{"question":"Which?","header":"W","options":[{"label":"One","description":""},{"label":"Two","description":""}],"multiSelect":false}]}}`
		hook   = `{"subtype":"hook_callback","callback_id":"c","input":{"hook_event_name":"PreToolUse","session_id":"s","transcript_path":"","cwd":"/","tool_name":"Bash","tool_input":{},"tool_use_id":"t"}}`
	)
	tests := []struct {
		name    string
		kind    api.QuestionKind
		request string
		admin   bool
		in      api.Answer
		line    string // part of the line
		rule    string
		refused string // part of the error
	}{
		{name: "allow", kind: api.QuestionPermission, request: call, in: api.Answer{Decision: "allow"}, line: `"behavior":"allow"`},
		{name: "deny", kind: api.QuestionPermission, request: call, in: api.Answer{Decision: "deny", Message: "no"}, line: `"message":"no"`},
		{name: "neither", kind: api.QuestionPermission, request: call, in: api.Answer{Decision: "maybe"}, refused: "expected allow or deny"},
		{name: "a member of another kind", kind: api.QuestionPermission, request: call, in: api.Answer{Decision: "allow", Plan: new("x")}, refused: "plan: a question of kind permission"},
		{name: "a rule of the hub", kind: api.QuestionPermission, request: call, admin: true, in: api.Answer{Decision: "allow", Always: &api.Always{Rule: "Bash(make:*)", Destination: "switchboard"}}, line: `"behavior":"allow"`, rule: "Bash(make:*)"},
		{name: "a rule of the hub, without the scope", kind: api.QuestionPermission, request: call, in: api.Answer{Decision: "allow", Always: &api.Always{Rule: "Bash(make:*)", Destination: "switchboard"}}, refused: "scope admin"},
		{name: "choose", kind: api.QuestionChoice, request: choice, in: api.Answer{Decision: "allow", Choices: map[string]api.ChoiceAnswer{"Which?": {Labels: []string{"Two"}}}}, line: `"Which?":"Two"`},
		{name: "choose twice", kind: api.QuestionChoice, request: choice, in: api.Answer{Decision: "allow", Choices: map[string]api.ChoiceAnswer{"Which?": {Labels: []string{"One", "Two"}}}}, refused: "takes one answer"},
		{name: "a hook", kind: api.QuestionPermission, request: hook, in: api.Answer{Decision: "allow"}, line: `"permissionDecision":"allow"`},
		{name: "a hook, for good", kind: api.QuestionPermission, request: hook, in: api.Answer{Decision: "allow", Always: &api.Always{Rule: "Bash"}}, refused: "comes from a hook"},
		{name: "a plan", kind: api.QuestionPlan, request: call, in: api.Answer{Decision: "allow"}, refused: "cannot be answered here"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Of(test.admin, test.kind, asked(t, test.request), test.in)
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Errorf("the error is %v", err)
				}
				return
			}
			if err != nil || !strings.Contains(string(got.Bytes), test.line) || got.Rule != test.rule {
				t.Errorf("the line is %s, the rule %q, the error %v", got.Bytes, got.Rule, err)
			}
		})
	}
}

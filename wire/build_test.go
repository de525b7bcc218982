package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestBuilders(t *testing.T) {
	q := question(t, "r1", "Bash", `,"input":{"command":"ls"}`)
	tests := []struct {
		name string
		make func() ([]byte, error)
		want string
	}{
		{"prompt", func() ([]byte, error) { return NewUser(TextContent("hi"), nil) }, `{"type":"user","message":{"role":"user","content":"hi"},"parent_tool_use_id":null}`},
		{"prompt with all", func() ([]byte, error) {
			return NewUser(BlockContent(&TextBlock{Text: "a\u2028b"}), &UserOptions{UUID: "u", SessionID: "s", Priority: "now", Append: true, Literal: true})
		}, `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"a\u2028b"}]},"parent_tool_use_id":null,"priority":"now","shouldQuery":false,"client_composed":true,"uuid":"u","session_id":"s"}`},
		{"interrupt", func() ([]byte, error) { return NewRequest("r", &InterruptRequest{}) }, `{"type":"control_request","request_id":"r","request":{"subtype":"interrupt"}}`},
		{"model", func() ([]byte, error) { return NewRequest("r", &SetModelRequest{Model: "opus"}) }, `{"type":"control_request","request_id":"r","request":{"subtype":"set_model","model":"opus"}}`},
		{"empty answer", func() ([]byte, error) { return NewAnswer("r", nil) }, `{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{}}}`},
		{"answer", func() ([]byte, error) { return NewAnswer("r", &ElicitationAnswer{Action: "decline"}) }, `{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"action":"decline"}}}`},
		{"error", func() ([]byte, error) { return NewError("r", "what?", ErrorCodeUnsupported) }, `{"type":"control_response","response":{"subtype":"error","request_id":"r","error":"what?","error_code":"unsupported_request"}}`},
		{"cancel", func() ([]byte, error) { return NewCancel("r") }, `{"type":"control_cancel_request","request_id":"r"}`},
		{"keep alive", NewKeepAlive, `{"type":"keep_alive"}`},
		{"environment", func() ([]byte, error) { return NewEnvironment(map[string]string{"B": "2", "A": "1"}) }, `{"type":"update_environment_variables","variables":{"A":"1","B":"2"}}`},
		{"no environment", func() ([]byte, error) { return NewEnvironment(nil) }, `{"type":"update_environment_variables","variables":{}}`},
		{"allow", func() ([]byte, error) { return NewPermission(q, &Allow{}) }, `{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"allow","updatedInput":{"command":"ls"},"toolUseID":"toolu_1"}}}`},
		{"allow, edited over lines", func() ([]byte, error) {
			return NewPermission(q, &Allow{UpdatedInput: json.RawMessage("{\n  \"command\": \"pwd\"\n}")})
		}, `{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"allow","updatedInput":{"command":"pwd"},"toolUseID":"toolu_1"}}}`},
		{"deny", func() ([]byte, error) { return NewPermission(q, &Deny{Interrupt: true}) }, `{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"deny","message":"` + DefaultDenial + `","interrupt":true,"toolUseID":"toolu_1"}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			line, err := tt.make()
			if err != nil {
				t.Fatal(err)
			}
			if string(line) != tt.want {
				t.Errorf("got  %s\nwant %s", line, tt.want)
			}
			if err := Validate(line); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBuildersRefuse(t *testing.T) {
	q := question(t, "r1", "Bash", `,"input":{"command":"ls"}`)
	tests := []struct {
		name string
		make func() ([]byte, error)
	}{
		{"request without id", func() ([]byte, error) { return NewRequest("", &InterruptRequest{}) }},
		{"no request", func() ([]byte, error) { return NewRequest("r", nil) }},
		{"the CLI's request", func() ([]byte, error) { return NewRequest("r", &CanUseToolRequest{ToolName: "Bash"}) }},
		{"invented mode", func() ([]byte, error) { return NewRequest("r", &SetPermissionModeRequest{Mode: "yolo"}) }},
		{"answer without id", func() ([]byte, error) { return NewAnswer("", nil) }},
		{"error without id", func() ([]byte, error) { return NewError("", "x", "") }},
		{"nil block", func() ([]byte, error) { return NewUser(Content{Blocks: []Block{nil}}, nil) }},
		{"input of another kind", func() ([]byte, error) { return NewPermission(q, &Allow{UpdatedInput: json.RawMessage(`[]`)}) }},
		{"input that is not JSON", func() ([]byte, error) { return NewPermission(q, &Allow{UpdatedInput: json.RawMessage(`{`)}) }},
		{"unknown update", func() ([]byte, error) {
			return NewPermission(q, &Allow{UpdatedPermissions: []PermissionUpdate{&UnknownUpdate{}}})
		}},
		{"neither yes nor no", func() ([]byte, error) { return NewPermission(q, &UnknownResult{}) }},
		{"nothing", func() ([]byte, error) { return NewPermission(q, nil) }},
		{"no question", func() ([]byte, error) { return NewPermission(nil, &Allow{}) }},
		{"another question", func() ([]byte, error) {
			return NewPermission(&ControlRequest{RequestID: "h", Request: &HookCallbackRequest{}}, &Allow{})
		}},
		{"choice for a command", func() ([]byte, error) { return NewChoice(q, nil) }},
		{"variable with =", func() ([]byte, error) { return NewEnvironment(map[string]string{"A=": "1"}) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if line, err := tt.make(); err == nil || !strings.HasPrefix(err.Error(), "building a line: ") {
				t.Errorf("got %s, %v", line, err)
			}
		})
	}
}

func TestNewChoice(t *testing.T) {
	q := question(t, "r1", "AskUserQuestion", `,"input":{"questions":[
		{"question":"Which box?","header":"Box","options":[{"label":"A","description":"a"},{"label":"B"}],"multiSelect":false,"novel":1},
		{"question":"Which tests?","header":"T","options":[{"label":"unit"},{"label":"e2e"}],"multiSelect":true}],"extra":[1.50]}`)
	line, err := NewChoice(q, map[string]Choice{
		"Which box?":   {Answers: []string{"a crate"}, Notes: "wood"},
		"Which tests?": {Answers: []string{"unit", "e2e"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	input := lookup(lookup(lookup(line, "response"), "response"), "updatedInput")
	want := `{"questions":[{"question":"Which box?","header":"Box","options":[{"label":"A","description":"a"},{"label":"B"}],"multiSelect":false,"novel":1},` +
		`{"question":"Which tests?","header":"T","options":[{"label":"unit"},{"label":"e2e"}],"multiSelect":true}],"extra":[1.50],` +
		`"answers":{"Which box?":"a crate","Which tests?":"unit, e2e"},"annotations":{"Which box?":{"notes":"wood"}}}`
	if compact := compactJSON(t, input); compact != want {
		t.Errorf("got  %s\nwant %s", compact, want)
	}
	if _, err := NewChoice(q, map[string]Choice{"Box": {Answers: []string{"A"}}}); err == nil {
		t.Error("an answer keyed by the header was taken")
	}
	if _, err := NewChoice(q, map[string]Choice{"Which box?": {Answers: []string{"A", "B"}}}); err == nil {
		t.Error("two answers to a question that takes one were taken")
	}
}

func compactJSON(t *testing.T, raw []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEncodeNothing(t *testing.T) {
	for _, m := range []Message{nil, (*User)(nil)} {
		if line, err := Encode(m); err == nil {
			t.Errorf("got %s", line)
		}
	}
}

func TestUnknownAnswerGoesThroughJSON(t *testing.T) {
	const body = `{"b":1.50,"a":null}`
	a, err := DecodeAnswer("brand_new", json.RawMessage(body))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(a); err != nil || string(text) != body {
		t.Errorf("got %s, %v", text, err)
	}
}

func TestBuildErrorsUnwrap(t *testing.T) {
	_, err := NewRequest("r", &SetPermissionModeRequest{Mode: "yolo"})
	var bad *InvalidError
	if !errors.As(err, &bad) || bad.Path != "request.mode" {
		t.Errorf("got %v", err)
	}
}

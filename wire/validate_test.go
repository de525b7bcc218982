package wire

import (
	"errors"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	const (
		req  = `{"type":"control_request","request_id":"r1","request":`
		resp = `{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":`
	)
	tests := []struct {
		name string
		line string
		want string // part of the error; empty means that the line is fine
	}{
		{"text prompt", `{"type":"user","message":{"role":"user","content":"hi"}}`, ""},
		{"blocks", `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"hi"}]},"parent_tool_use_id":null,"session_id":""}`, ""},
		{"empty content", `{"type":"user","message":{"role":"user","content":""}}`, ""},
		{"no blocks", `{"type":"user","message":{"role":"user","content":[]}}`, ""},
		{"unknown block and members", `{"type":"user","x":1,"message":{"role":"user","content":[{"type":"new"}]}}`, ""},
		{"surrounding space", "  {\"type\":\"keep_alive\"}\t\r", ""},
		{"escaped name counts", `{"\u0074ype":"keep_alive"}`, ""},
		{"last type wins", `{"type":"nonsense","type":"keep_alive"}`, ""},
		{"lone surrogate", `{"type":"user","message":{"role":"user","content":"\ud800"}}`, ""},

		{"empty", ``, "one complete JSON object"},
		{"spaces", `   `, "one complete JSON object"},
		{"null", `null`, "one complete JSON object"},
		{"number", `5`, "one complete JSON object"},
		{"list", `[1]`, "one complete JSON object"},
		{"half", `{"type":"user"`, "one complete JSON object"},
		{"two objects", `{"type":"keep_alive"}{"type":"keep_alive"}`, "one complete JSON object"},
		{"raw NUL", "{\"type\":\"keep_alive\",\"x\":\"\x00\"}", "one complete JSON object"},
		{"byte order mark", "\ufeff{\"type\":\"keep_alive\"}", "one complete JSON object"},
		{"line break inside", "{\"type\":\n\"keep_alive\"}", "without a line break"},
		{"invalid UTF-8", "{\"type\":\"keep_alive\",\"x\":\"\xff\"}", "UTF-8"},
		{"no type", `{}`, "type: expected a string"},
		{"wrong case", `{"Type":"keep_alive"}`, "type: expected a string"},
		{"last type wins against it", `{"type":"keep_alive","type":"nonsense"}`, "a type that a CLI reads"},
		{"assistant", `{"type":"assistant","message":{}}`, "a type that a CLI reads"},
		{"system", `{"type":"system","subtype":"init"}`, "a type that a CLI reads"},
		{"shell command", `{"type":"bash_command","command":"id"}`, "a type that a CLI reads"},

		{"user without message", `{"type":"user"}`, "message: expected an object"},
		{"user without role", `{"type":"user","message":{"content":"hi"}}`, "message.role"},
		{"role assistant", `{"type":"user","message":{"role":"assistant","content":"hi"}}`, "message.role"},
		{"last role wins", `{"type":"user","message":{"role":"user","role":"system","content":"hi"}}`, "message.role"},
		{"no content", `{"type":"user","message":{"role":"user"}}`, "message.content"},
		{"number content", `{"type":"user","message":{"role":"user","content":5}}`, "message.content"},
		{"null block", `{"type":"user","message":{"role":"user","content":[null]}}`, "message.content[0]"},
		{"text without text", `{"type":"user","message":{"role":"user","content":[{"type":"text"}]}}`, "message.content[0].text"},
		{"image without source", `{"type":"user","message":{"role":"user","content":[{"type":"image"}]}}`, "message.content[0].source"},
		{"priority", `{"type":"user","priority":"next","message":{"role":"user","content":"x"}}`, ""},
		{"invented priority", `{"type":"user","priority":"soon","message":{"role":"user","content":"x"}}`, "priority"},
		{"block without type", `{"type":"user","message":{"role":"user","content":[{"text":"x"}]}}`, "message.content[0].type"},

		{"settings", req + `{"subtype":"apply_flag_settings","settings":{"permissions":{"deny":["Bash(rm:*)"],"ask":[]}}}}`, ""},
		{"settings taken back", req + `{"subtype":"apply_flag_settings","settings":{"permissions":null}}}`, ""},
		{"MCP servers", req + `{"subtype":"mcp_set_servers","servers":{}}}`, ""},
		{"MCP servers that are nothing", req + `{"subtype":"mcp_set_servers","servers":null}}`, "request.servers"},
		{"settings that are a number", req + `{"subtype":"apply_flag_settings","settings":5}}`, "request.settings"},
		{"permissions that are a text", req + `{"subtype":"apply_flag_settings","settings":{"permissions":"x"}}}`, "request.settings.permissions"},
		{"rules that are no list", req + `{"subtype":"apply_flag_settings","settings":{"permissions":{"deny":"x"}}}}`, "request.settings.permissions.deny"},
		{"a rule that is a number", req + `{"subtype":"apply_flag_settings","settings":{"permissions":{"ask":["a",5]}}}}`, "request.settings.permissions.ask"},
		{"dialog", resp + `{"behavior":"completed","result":{"a":1}}}}`, ""},
		{"dialog left", resp + `{"behavior":"cancelled"}}}`, ""},
		{"another behavior", resp + `{"behavior":"perhaps"}}}`, "response.response.behavior"},

		{"request", req + `{"subtype":"interrupt"}}`, ""},
		{"unknown request", req + `{"subtype":"brand_new","x":1}}`, ""},
		{"mode", req + `{"subtype":"set_permission_mode","mode":"plan"}}`, ""},
		{"model null", req + `{"subtype":"set_model","model":null}}`, ""},
		{"request without id", `{"type":"control_request","request":{"subtype":"interrupt"}}`, "request_id"},
		{"numeric id", `{"type":"control_request","request_id":7,"request":{"subtype":"interrupt"}}`, "request_id"},
		{"request without request", `{"type":"control_request","request_id":"r1"}`, "request: expected an object"},
		{"no subtype", req + `{}}`, "request.subtype"},
		{"the CLI's own request", req + `{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t"}}`, "the CLI's to make"},
		{"missing member", req + `{"subtype":"set_permission_mode"}}`, "request.mode"},
		{"invented mode", req + `{"subtype":"set_permission_mode","mode":"yolo"}}`, "request.mode"},
		{"mode of another kind", req + `{"subtype":"set_permission_mode","mode":5}}`, "request.mode"},
		{"too deep to be judged", req + `{"subtype":"set_permission_mode","mode":"bypassPermissions","x":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}}`, "nested at most"},
		{"negative thinking", req + `{"subtype":"set_max_thinking_tokens","max_thinking_tokens":-5}}`, "max_thinking_tokens"},
		{"thinking in words", req + `{"subtype":"set_max_thinking_tokens","max_thinking_tokens":"abc"}}`, "max_thinking_tokens"},
		{"mcp message", req + `{"subtype":"mcp_message","server_name":"s","message":{"jsonrpc":"2.0","method":"x"}}}`, ""},
		{"mcp message of another kind", req + `{"subtype":"mcp_message","server_name":"s","message":5}}`, "request.message"},

		{"allow", resp + `{"behavior":"allow","updatedInput":{}}}}`, ""},
		{"allow with rules", resp + `{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"}]}}}`, ""},
		{"allow with rules that are nothing", resp + `{"behavior":"allow","updatedInput":{},"updatedPermissions":[null]}}}`, "updatedPermissions[0]"},
		{"deny", resp + `{"behavior":"deny","message":"no"}}}`, ""},
		{"empty answer", `{"type":"control_response","response":{"subtype":"success","request_id":"r1"}}`, ""},
		{"hook answer", resp + `{"continue":true}}}`, ""},
		{"error answer", `{"type":"control_response","response":{"subtype":"error","request_id":"r1","error":"no"}}`, ""},
		{"no envelope", `{"type":"control_response","request_id":"r1","approved":true}`, "response: expected an object"},
		{"answer without id", `{"type":"control_response","response":{"subtype":"success"}}`, "response.request_id"},
		{"subtype allow", `{"type":"control_response","response":{"subtype":"allow","request_id":"r1"}}`, "response.subtype"},
		{"body of another kind", resp + `5}}`, "response.response"},
		{"behaviour maybe", resp + `{"behavior":"maybe"}}}`, "behavior"},
		{"behaviour null", resp + `{"behavior":null}}}`, "behavior"},
		{"input of another kind", resp + `{"behavior":"allow","updatedInput":[]}}}`, "updatedInput"},
		{"input null", resp + `{"behavior":"allow","updatedInput":null}}}`, "updatedInput"},
		{"deny without words", resp + `{"behavior":"deny"}}}`, "message"},
		{"unknown update", resp + `{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"obey"}]}}}`, "updatedPermissions[0].type"},
		{"update to nowhere", resp + `{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"setMode","mode":"plan","destination":"moon"}]}}}`, "destination"},
		{"update to an odd mode", resp + `{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"setMode","mode":"yolo","destination":"session"}]}}}`, "mode"},
		{"rules of no tool", resp + `{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"addRules","rules":[{}],"behavior":"allow","destination":"session"}]}}}`, "toolName"},
		{"rules of odd behaviour", resp + `{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"addRules","rules":[],"behavior":"perhaps","destination":"session"}]}}}`, "behavior"},
		{"no rules", resp + `{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"addRules","behavior":"allow","destination":"session"}]}}}`, "rules"},
		{"no directories", resp + `{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"addDirectories","destination":"session"}]}}}`, "directories"},
		{"error without words", `{"type":"control_response","response":{"subtype":"error","request_id":"r1"}}`, "response.error"},

		{"cancel", `{"type":"control_cancel_request","request_id":"r1"}`, ""},
		{"cancel nothing", `{"type":"control_cancel_request"}`, "request_id"},
		{"environment", `{"type":"update_environment_variables","variables":{"A":"b"}}`, ""},
		{"environment without variables", `{"type":"update_environment_variables"}`, "variables"},
		{"environment with a number", `{"type":"update_environment_variables","variables":{"A":1}}`, "variables.A"},
		{"environment with an odd name", `{"type":"update_environment_variables","variables":{"A=B":"c"}}`, "variables"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Validate([]byte(tt.line))
			if tt.want == "" {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			if _, ok := errors.AsType[*InvalidError](err); !ok {
				t.Fatalf("got %v, expected an *InvalidError", err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q does not say %q", err, tt.want)
			}
		})
	}
}

func TestValidateRefusesLongLines(t *testing.T) {
	line := []byte(`{"type":"user","message":{"role":"user","content":"` + strings.Repeat("x", MaxFrontEndLine) + `"}}`)
	if err := Validate(line); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("got %v", err)
	}
}

func TestInvalidErrorNamesLineAndQuotesLittle(t *testing.T) {
	secret := strings.Repeat("s3cret", 20)
	err := Validate([]byte(`{"type":"user","message":{"role":"` + secret + `","content":"x"}}`))
	var bad *InvalidError
	if !errors.As(err, &bad) {
		t.Fatal(err)
	}
	bad.Line = 12
	if got := err.Error(); !strings.HasPrefix(got, "invalid line 12: message.role: expected") || strings.Contains(got, secret) {
		t.Errorf("error is %q", got)
	}
	err = Validate([]byte(`{"type":"update_environment_variables","variables":{"TOKEN":["hunter2"]}}`))
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error tells the value: %v", err)
	}
}

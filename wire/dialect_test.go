package wire

import (
	"errors"
	"strings"
	"testing"
)

// question returns a can_use_tool request as the CLI asks it.
func question(t *testing.T, id, tool, rest string) *ControlRequest {
	t.Helper()
	m, err := Decode([]byte(`{"type":"control_request","request_id":"` + id + `","request":{"subtype":"can_use_tool","tool_name":"` + tool +
		`","tool_use_id":"toolu_1"` + rest + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	return m.(*ControlRequest)
}

func TestTranslate(t *testing.T) {
	q := question(t, "r1", "Bash", `,"input":{"command":"ls <dir>"}`)
	hook := &ControlRequest{RequestID: "h1", Request: &HookCallbackRequest{CallbackID: "cb"}}
	find := func(id string) *ControlRequest {
		switch id {
		case "r1":
			return q
		case "h1":
			return hook
		}
		return nil
	}
	const (
		head    = `{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":`
		allowed = head + `{"behavior":"allow","updatedInput":{"command":"ls <dir>"},"toolUseID":"toolu_1"}}}`
		denied  = head + `{"behavior":"deny","message":"` + DefaultDenial + `","toolUseID":"toolu_1"}}}`
	)
	tests := []struct {
		name, line string
		want       string // "" means refused, "=" means as it is
	}{
		{"subtype allow", `{"request_id":"r1","type":"control_response","response":{"subtype":"allow"}}`, allowed},
		{"subtype allow, id inside", `{"type":"control_response","response":{"subtype":"allow","request_id":"r1"}}`, allowed},
		{"subtype allow with input", `{"request_id":"r1","type":"control_response","response":{"subtype":"allow","updatedInput":{"command":"pwd"}}}`, head + `{"behavior":"allow","updatedInput":{"command":"pwd"},"toolUseID":"toolu_1"}}}`},
		{"subtype deny", `{"request_id":"r1","type":"control_response","response":{"subtype":"deny"}}`, denied},
		{"approved", `{"type":"control_response","request_id":"r1","approved":true}`, allowed},
		{"not approved", `{"type":"control_response","request_id":"r1","approved":false}`, denied},
		{"not approved, why", `{"type":"control_response","request_id":"r1","approved":false,"denial_message":"too risky"}`, head + `{"behavior":"deny","message":"too risky","toolUseID":"toolu_1"}}}`},
		{"permission allow", `{"type":"control_response","request_id":"r1","permission":{"allow":true}}`, allowed},
		{"permission allow, edited", `{"type":"control_response","request_id":"r1","permission":{"allow":true},"updated_input":{"command":"echo"}}`, strings.Replace(allowed, `{"command":"ls <dir>"}`, `{"command":"echo"}`, 1)},
		{"permission refused", `{"type":"control_response","request_id":"r1","permission":{"allow":false}}`, denied},
		{"bare result", `{"type":"control_response","request_id":"r1","response":{"behavior":"allow"}}`, allowed},
		{"real without input", head + `{"behavior":"allow"}}}`, allowed},
		{"real with input null", head + `{"behavior":"allow","updatedInput":null}}}`, allowed},
		{"real without message", head + `{"behavior":"deny","interrupt":true}}}`, head + `{"behavior":"deny","message":"` + DefaultDenial + `","interrupt":true,"toolUseID":"toolu_1"}}}`},
		{"real keeps its updates", head + `{"behavior":"allow","updatedPermissions":[{"type":"setMode","mode":"plan","destination":"session"}]}}}`, head + `{"behavior":"allow","updatedInput":{"command":"ls <dir>"},"updatedPermissions":[{"type":"setMode","mode":"plan","destination":"session"}],"toolUseID":"toolu_1"}}}`},

		{"complete", allowed, "="},
		{"complete refusal", denied, "="},
		{"empty success", `{"type":"control_response","response":{"subtype":"success","request_id":"x"}}`, "="},
		{"error", `{"type":"control_response","response":{"subtype":"error","request_id":"x","error":"no"}}`, "="},
		{"prompt", `{"type":"user","message":{"role":"user","content":"hi"},"approved":true}`, "="},

		{"not JSON", `{"type":`, ""},
		{"nothing said", `{"type":"control_response","request_id":"r1"}`, ""},
		{"approved in words", `{"type":"control_response","request_id":"r1","approved":"true"}`, ""},
		{"approved null", `{"type":"control_response","request_id":"r1","approved":null}`, ""},
		{"permission empty", `{"type":"control_response","request_id":"r1","permission":{}}`, ""},
		{"permission true", `{"type":"control_response","request_id":"r1","permission":true}`, ""},
		{"unknown question", `{"type":"control_response","request_id":"r9","approved":true}`, ""},
		{"no id", `{"type":"control_response","approved":true}`, ""},
		{"question of a hook", `{"type":"control_response","request_id":"h1","approved":true}`, ""},
		{"edited and refused", `{"type":"control_response","request_id":"r1","permission":{"allow":false},"updated_input":{}}`, ""},
		{"edited twice", `{"type":"control_response","request_id":"r1","permission":{"allow":true},"updated_input":{},"updatedInput":{}}`, ""},
		{"edited into no object", `{"type":"control_response","request_id":"r1","permission":{"allow":true},"updated_input":5}`, ""},
		{"two forms", `{"type":"control_response","request_id":"r1","approved":false,"permission":{"allow":true}}`, ""},
		{"two forms, one real", `{"type":"control_response","approved":true,"response":{"subtype":"success","request_id":"r1","response":{"behavior":"deny"}}}`, ""},
		{"yes and no", `{"type":"control_response","request_id":"r1","response":{"subtype":"allow","response":{"behavior":"deny"}}}`, ""},
		{"maybe", `{"type":"control_response","request_id":"r1","response":{"subtype":"maybe"}}`, ""},
		{"odd input", `{"type":"control_response","request_id":"r1","response":{"subtype":"allow","updatedInput":"rm"}}`, ""},
		{"last answer wins", `{"type":"control_response","request_id":"r1","approved":true,"approved":false}`, denied},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := Translate([]byte(tt.line), find)
			switch tt.want {
			case "":
				if err == nil {
					t.Fatalf("translated to %s", out)
				}
			case "=":
				if err != nil || string(out) != tt.line {
					t.Fatalf("got %s, %v", out, err)
				}
			default:
				if err != nil || string(out) != tt.want {
					t.Fatalf("got  %s, %v\nwant %s", out, err, tt.want)
				}
				if err := Validate(out); err != nil {
					t.Errorf("the translation is not valid: %v", err)
				}
			}
		})
	}
	if _, err := Translate([]byte(`{"type":"control_response","request_id":"r9","approved":true}`), find); !errors.Is(err, ErrNoQuestion) {
		t.Errorf("unknown question: got %v", err)
	}
	if _, err := Translate([]byte(`{"type":"control_response","request_id":"h1","approved":true}`), find); !errors.Is(err, ErrNotPermission) {
		t.Errorf("question of a hook: got %v", err)
	}
}

func TestResultCostAndFailure(t *testing.T) {
	tests := []struct {
		line   string
		cost   float64
		failed bool
	}{
		{`{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.5}`, 0.5, false},
		{`{"type":"result","is_error":false,"subtype":"success","cost_usd":0.012}`, 0.012, false},
		{`{"type":"result","subtype":"success","is_error":true,"total_cost_usd":1,"cost_usd":2}`, 1, true},
		{`{"type":"result","subtype":"error_max_turns","is_error":false}`, 0, true},
	}
	for _, tt := range tests {
		m, err := Decode([]byte(tt.line))
		if err != nil {
			t.Fatal(err)
		}
		r := m.(*Result)
		if r.Cost() != tt.cost || r.Failed() != tt.failed {
			t.Errorf("%s: cost %v, failed %v", tt.line, r.Cost(), r.Failed())
		}
	}
}

func TestSeedOddities(t *testing.T) {
	m, err := Decode([]byte(`{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := m.(*ErrorLine); !ok || e.Error.Message != "busy" {
		t.Errorf("error line became %T %+v", m, m)
	}
	m, err = Decode([]byte(`{"type":"control_request","request_id":"u","request":{"subtype":"sdk_control_interrupt"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := m.(*ControlRequest).Request.(*SDKControlInterruptRequest); !ok || r == nil {
		t.Errorf("sdk_control_interrupt became %T", m.(*ControlRequest).Request)
	}
}

// TestTranslateRequest reads requests by the names that front ends have for them.
func TestTranslateRequest(t *testing.T) {
	const name = `"subtype":"sdk_control_interrupt"`
	tests := []struct{ line, want string }{
		{`{"type":"control_request","request_id":"a","request":{` + name + `}}`, `{"type":"control_request","request_id":"a","request":{"subtype":"interrupt"}}`},
		{`{"request":{` + name + `,"cancel_queued":true,"x":1},"request_id":"a","type":"control_request"}`, `{"type":"control_request","request_id":"a","request":{"subtype":"interrupt","cancel_queued":true}}`},
		{`{"type":"control_request","request_id":"a","request":{"subtype":"interrupt"}}`, ""},
		{`{"type":"control_request","request":{` + name + `}}`, ""}, // without an id: refused by Validate
		{`{"type":"control_request","request_id":5,"request":{` + name + `}}`, ""},
		{`{"type":"control_response","request_id":"a","response":{` + name + `}}`, ""},
		{`{"type":"control_request","request_id":"a","request":{` + name + `}} more`, ""},
		{`not JSON`, ""},
	}
	for _, tt := range tests {
		want := tt.want
		if want == "" {
			want = tt.line
		}
		got := TranslateRequest([]byte(tt.line))
		if string(got) != want {
			t.Errorf("%s became\n%s, want\n%s", tt.line, got, want)
		}
		if tt.want != "" && (Validate(got) != nil || ScopeOf(got, nil) != ScopePrompt) {
			t.Errorf("%s: %v, needs %v", got, Validate(got), ScopeOf(got, nil))
		}
		if tt.want == "" && strings.Contains(tt.line, name) && Validate(got) == nil {
			t.Errorf("%s may be sent to a CLI", got)
		}
	}
}

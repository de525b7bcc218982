package conformance

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

func subject(t *testing.T, kind, version, transport string) Subject {
	t.Helper()
	return Subject{kind, version, mustParse(t, version), transport}
}

func TestWant(t *testing.T) {
	want := Per{"2.1.37": {"old"}, "2.1.37/hybrid": {"old, posted"}, "2.1.120": {"new"}, "*/websocket": {"dialled"}, "*": {"any"}}
	tests := []struct {
		want               Want
		version, transport string
		notes              string
	}{
		{want, "2.1.37", stdio, "old"},
		{want, "2.1.37", hybrid, "old, posted"},
		{want, "2.1.120", hybrid, "new"},
		{want, "2.1.99", stdio, "old"},
		{want, "2.1.400", stdio, "new"},
		{want, "2.1.10", stdio, "any"},
		{want, "2.1.10", websocket, "dialled"},
		{Same("x"), "2.1.37", stdio, "x"},
		{Per{"2.1.120": {"new"}}, "2.1.37", stdio, ""},
	}
	for _, test := range tests {
		notes, err := test.want.on(subject(t, kindReal, test.version, test.transport))
		if got := strings.Join(notes, " "); got != test.notes || (err != nil) != (test.notes == "") {
			t.Errorf("%s over %s: %q, %v, want %q", test.version, test.transport, got, err, test.notes)
		}
	}
}

func TestSummaries(t *testing.T) {
	n := newNormalizer("/tmp/home", "/tmp/home/project")
	for _, test := range []struct{ line, want string }{
		{`{"type":"system","subtype":"init"}`, "system/init"},
		{`{"type":"system","subtype":"status","status":null,"permissionMode":"plan"}`, "system/status permissionMode=plan"},
		{`{"type":"assistant","message":{"content":[{"type":"text","text":"a\nb 123e4567-e89b-42d3-a456-426614174000"}]}}`, "assistant text: a b <uuid>"},
		{`{"type":"assistant","error":"rate_limit","parent_tool_use_id":"t","message":{"content":[{"type":"tool_use","name":"Bash","input":{"b":"/tmp/home/project/x","a":1}}]}}`, `sub assistant error=rate_limit tool_use Bash {"a":1,"b":"<dir>/x"}`},
		{`{"type":"user","isReplay":true,"message":{"role":"user","content":"hello\n[a.b real-2.1.37-stdio #12]"}}`, "user replay text: hello"},
		{`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","is_error":true,"content":"toolu_1 failed"}]}}`, "user tool_result error: <tool> failed"},
		{`{"type":"control_request","request_id":"1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}`, "asks can_use_tool Bash"},
		{`{"type":"control_request","request_id":"1","request":{"subtype":"hook_callback","callback_id":"cb","input":{"hook_event_name":"Stop"}}}`, "asks hook_callback cb Stop"},
		{`{"type":"control_response","response":{"subtype":"error","request_id":"1","error":"no","error_code":"busy"}}`, "answers error no busy"},
		{`{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["[ede_diagnostic] x=1"]}`, "result error_during_execution is_error error=[ede_diagnostic]"},
		{`{"type":"result","subtype":"success","is_error":false,"result":"Done."}`, "result success: Done."},
		{`{"type":"invented","subtype":"thing"}`, "invented/thing"},
	} {
		message, err := wire.Decode([]byte(test.line))
		if err != nil {
			t.Fatal(err)
		}
		if got := n.line(message); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.line, got, test.want)
		}
	}
}

func TestDrift(t *testing.T) {
	message, err := wire.Decode([]byte(`{"type":"assistant","new":1,"message":{"newer":2,"content":[{"type":"text","text":"x","newest":3},{"type":"invented"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"assistant.message.content[] (unknown type)", "assistant.message.content[].newest", "assistant.message.newer", "assistant.new"}
	if got := unknown("assistant", reflect.ValueOf(message)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMatrix(t *testing.T) {
	table := []Scenario{{ID: "a.b"}, {ID: "c.d"}}
	real, simulated := subject(t, kindReal, Oldest, stdio), subject(t, kindSimulated, Oldest, hybrid)
	m := newMatrix(table, []Subject{real, simulated})
	m.set("a.b", real, cell{kind: cellOK, took: 16 * time.Second})
	m.set("a.b", simulated, cell{kind: cellDiffers, reason: "it never runs a tool"})
	m.set("c.d", real, cell{kind: cellFail})
	m.set("c.d", simulated, cell{kind: cellNone, reason: "no such thing"})
	text := strings.Join(strings.Fields(m.String()), " ")
	for _, want := range []string{"R37p S37h", "a.b ok d1 16.0s over 15 s", "c.d FAIL n1", "1 ok, 1 FAIL, 1 differ", "d1: it never runs a tool", "n1: no such thing"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, m)
		}
	}
}

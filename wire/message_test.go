package wire

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeTypes(t *testing.T) {
	tests := []struct {
		line         string
		want         Message
		typ, subtype string
	}{
		{`{"type":"assistant"}`, &Assistant{}, "assistant", ""},
		{`{"type":"user"}`, &User{}, "user", ""},
		{`{"type":"result","subtype":"success"}`, &Result{}, "result", "success"},
		{`{"type":"result","subtype":"error_of_tomorrow"}`, &Result{}, "result", "error_of_tomorrow"},
		{`{"type":"result"}`, &Result{}, "result", ""},
		{`{"type":"stream_event"}`, &StreamEvent{}, "stream_event", ""},
		{`{"type":"system","subtype":"init"}`, &Init{}, "system", "init"},
		{`{"subtype":"init","type":"system"}`, &Init{}, "system", "init"},
		{`{"type":"system","subtype":"Init"}`, &Unknown{}, "system", "Init"},
		{`{"type":"system"}`, &Unknown{}, "system", ""},
		{`{"type":"control_request"}`, &ControlRequest{}, "control_request", ""},
		{`{"type":"control_response"}`, &ControlResponse{}, "control_response", ""},
		{`{"type":"control_cancel_request"}`, &ControlCancel{}, "control_cancel_request", ""},
		{`{"type":"keep_alive","subtype":"x"}`, &KeepAlive{}, "keep_alive", ""},
		{`{"type":"user","type":"keep_alive"}`, &KeepAlive{}, "keep_alive", ""},
		{`{"\u0074ype":"keep\u005falive"}`, &KeepAlive{}, "keep_alive", ""},
		{`{"Type":"user"}`, &Unknown{}, "", ""},
		{`{"type":5,"subtype":"x"}`, &Unknown{}, "", "x"},
		{`{"type":"of_tomorrow","subtype":"s"}`, &Unknown{}, "of_tomorrow", "s"},
		{`{}`, &Unknown{}, "", ""},
	}
	for _, tt := range tests {
		m := mustDecode(t, tt.line)
		if reflect.TypeOf(m) != reflect.TypeOf(tt.want) {
			t.Errorf("%s: %T, want %T", tt.line, m, tt.want)
		}
		if typ, subtype := m.MessageType(); typ != tt.typ || subtype != tt.subtype {
			t.Errorf("%s: type %q, subtype %q", tt.line, typ, subtype)
		}
		if got := mustEncode(t, m); got != tt.line {
			t.Errorf("%s: written as %s", tt.line, got)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"nothing", "", "found nothing"},
		{"space", "  \t", "found nothing"},
		{"text", "Error: no such file", `begins with "Error: no su"`},
		{"null", "null", `begins with "null"`},
		{"list", `[{"type":"user"}]`, `begins with "[{\"type\":\"us"`},
		{"number", "5", `begins with "5"`},
		{"cut off", `{"type":"user"`, "unexpected EOF"},
		{"syntax", `{"type":user}`, "at byte 9"},
		{"two objects", `{"type":"user"}{}`, "found more behind it at byte 16"},
		{"text behind", `{} x`, "found more behind it at byte 3"},
		{"nul in a string", "{\"type\":\"\x00\"}", "at byte 10"},
		{"nul behind", "{}\x00", "found more behind it at byte 3"},
		{"byte order mark", "\ufeff{}", `begins with "\ufeff{}"`},
		{"single quotes", `{'type':'user'}`, "at byte 2"},
		{"comma at the end", `{"a":1,}`, "at byte 8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Decode([]byte(tt.line))
			if err == nil {
				t.Fatalf("decoded as %T", m)
			}
			bad, ok := errors.AsType[*DecodeError](err)
			if !ok || bad.Line != 0 || !errors.Is(err, ErrNotObject) {
				t.Errorf("%T %v: want a DecodeError without a line, about what is no object", err, err)
			}
			if !strings.Contains(err.Error(), "expected one complete JSON object") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%q does not say what was expected and %q", err, tt.want)
			}
		})
	}
}

func TestDecoder(t *testing.T) {
	d := NewDecoder(strings.NewReader("\n" + `{"type":"keep_alive"}` + "\r\n" +
		"npm warn deprecated\n" + // what a wrapper script may print
		"\n" + `{"type":"user","message":{"role":"user","content":"a` + "\u2028" + `b"}}` + "\n" +
		`{"type":"result"` + "\n" + `{"type":"result","subtype":"success"}`))
	steps := []struct {
		want Message
		line int // of the error
	}{
		{&KeepAlive{}, 0}, {nil, 3}, {&User{}, 0}, {nil, 6}, {&Result{}, 0},
	}
	for i, s := range steps {
		m, err := d.Next()
		if s.want != nil {
			if err != nil || reflect.TypeOf(m) != reflect.TypeOf(s.want) {
				t.Errorf("step %d: %T, %v; want %T", i, m, err, s.want)
			}
			continue
		}
		bad, ok := errors.AsType[*DecodeError](err)
		if !ok || bad.Line != s.line || m != nil {
			t.Errorf("step %d: %T, %v; want an error about line %d", i, m, err, s.line)
			continue
		}
		for _, part := range []string{"decoding line ", "expected one complete JSON object"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("step %d: %q does not say %q", i, err, part)
			}
		}
	}
	if m, err := d.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %T, %v", m, err)
	}
}

// TestInventedMessage sends a message that nobody has ever heard of through.
func TestInventedMessage(t *testing.T) {
	const line = `{"subtype":"x","type":"invented_by_a_test","uuid":"u-1","list":[1.10,1e5,null,{"type":"text"}],"Type":"T","a":{"b":{"c":"\u00e9\/"}},"empty":{},"request_id":7}`
	m := mustDecode(t, line)
	u, ok := m.(*Unknown)
	if !ok {
		t.Fatalf("decoded as %T", m)
	}
	if typ, subtype := u.MessageType(); typ != "invented_by_a_test" || subtype != "x" {
		t.Errorf("type %q, subtype %q", typ, subtype)
	}
	if got := string(u.Extra("list")); got != `[1.10,1e5,null,{"type":"text"}]` {
		t.Errorf("list is %s", got)
	}
	if got := u.Extra("nothing"); got != nil {
		t.Errorf("a member that is not there is %s", got)
	}
	want := []string{"subtype", "type", "uuid", "list", "Type", "a", "empty", "request_id"}
	if diff := cmp.Diff(want, u.ExtraNames()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if got := mustEncode(t, m); got != line {
		t.Errorf("written as %s", got)
	}
}

// TestEncodeKeepsTheRest changes one thing in a message and expects everything
// else to stay: order, unknown members, null, the form of numbers.
func TestEncodeKeepsTheRest(t *testing.T) {
	const line = `{ "new":[1.0, 2],"uuid":"u","message":{"usage":{"output_tokens":1.0,"x":null},"content":[{"text":"one","type":"text","new":{}},{"type":"of_tomorrow","n":1e0},` +
		`{"type":"tool_use","id":"t","name":"Bash","input":{"b":1, "a":2.50}}],"role":"assistant","stop_reason":null,"id":7},"type":"assistant","session_id":null,"error":"overloaded" }`
	tests := []struct {
		name     string
		change   func(*Assistant)
		old, new string
	}{
		{"nothing", func(*Assistant) {}, "", ""},
		{"the same value", func(a *Assistant) { a.UUID = "u" }, "", ""},
		{"a field", func(a *Assistant) { a.UUID = "v" }, `"uuid":"u"`, `"uuid":"v"`},
		{"null", func(a *Assistant) { a.SessionID = "s" }, `"session_id":null`, `"session_id":"s"`},
		{"an optional field is emptied", func(a *Assistant) { a.Error = "" }, `,"error":"overloaded"`, ``},
		{"a field is added", func(a *Assistant) { a.RequestID = "r" }, `"overloaded"}`, `"overloaded","request_id":"r"}`},
		{"a field that had a value of another kind", func(a *Assistant) { a.Message.ID = "m" }, `"id":7`, `"id":"m"`},
		{"a number", func(a *Assistant) { a.Message.Usage.OutputTokens = 2 }, `"output_tokens":1.0`, `"output_tokens":2`},
		{"inside a block", func(a *Assistant) { a.Message.Content[0].(*TextBlock).Text = "two" }, `"text":"one"`, `"text":"two"`},
		{"free-form", func(a *Assistant) { a.Message.Content[2].(*ToolUseBlock).Input = json.RawMessage(`[]`) }, `{"b":1, "a":2.50}`, `[]`},
		{"a block goes", func(a *Assistant) { a.Message.Content = a.Message.Content[1:] }, `{"text":"one","type":"text","new":{}},`, ``},
		{"a block comes", func(a *Assistant) { a.Message.Content = append(a.Message.Content, &TextBlock{Text: "end"}) }, `}}],`, `}},{"type":"text","text":"end"}],`},
		{"blocks change places", func(a *Assistant) {
			c := a.Message.Content
			c[0], c[1] = c[1], c[0]
		}, `{"text":"one","type":"text","new":{}},{"type":"of_tomorrow","n":1e0}`, `{"type":"of_tomorrow","n":1e0},{"text":"one","type":"text","new":{}}`},
		{"a nil block", func(a *Assistant) { a.Message.Content[1] = nil }, `{"type":"of_tomorrow","n":1e0}`, `null`},
		{"a nil pointer as a block", func(a *Assistant) { a.Message.Content[1] = (*TextBlock)(nil) }, `{"type":"of_tomorrow","n":1e0}`, `null`},
	}
	// Where something changed, space between the members of its object goes.
	compact := strings.TrimSuffix(strings.TrimPrefix(line, "{ "), " }")
	compact = "{" + compact + "}"
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := mustDecode(t, line).(*Assistant)
			tt.change(a)
			want := line
			if tt.old != "" {
				if strings.Count(compact, tt.old) != 1 {
					t.Fatalf("bad test: %d times %s", strings.Count(compact, tt.old), tt.old)
				}
				want = strings.Replace(compact, tt.old, tt.new, 1)
			}
			if got := mustEncode(t, a); got != want {
				t.Errorf("written as\n%s, want\n%s", got, want)
			}
			if string(a.Raw()) != line {
				t.Errorf("Raw changed to %s", a.Raw())
			}
		})
	}
}

func TestEncodeMovesPartsBetweenMessages(t *testing.T) {
	from := mustDecode(t, `{"type":"assistant","message":{"content":[{"type":"text","text":"one","new":1}],"x":1}}`).(*Assistant)
	to := mustDecode(t, `{"type":"assistant","message":{"content":[]},"uuid":"u"}`).(*Assistant)
	to.Message.Content = from.Message.Content
	if got, want := mustEncode(t, to), `{"type":"assistant","message":{"content":[{"type":"text","text":"one","new":1}]},"uuid":"u"}`; got != want {
		t.Errorf("written as %s, want %s", got, want)
	}
	built := &Assistant{Message: from.Message, UUID: "v"}
	if got, want := mustEncode(t, built), `{"type":"assistant","message":{"content":[{"type":"text","text":"one","new":1}],"x":1},"parent_tool_use_id":null,"uuid":"v","session_id":""}`; got != want {
		t.Errorf("written as %s, want %s", got, want)
	}
}

func TestEncodeGivesItsOwnBytes(t *testing.T) {
	const line = `{"type":"keep_alive","x":1}`
	m := mustDecode(t, line)
	for range 2 {
		b, err := Encode(m)
		if err != nil || string(b) != line {
			t.Fatalf("written as %s, %v", b, err)
		}
		clear(b)
	}
	if string(m.Raw()) != line || string(m.Extra("x")) != "1" {
		t.Errorf("writing into what Encode returned changed the message to %s", m.Raw())
	}
}

func TestEncodePutsEverythingOnOneLine(t *testing.T) {
	var u User
	if err := json.Unmarshal([]byte("{\n\t\"type\": \"user\",\n\t\"new\": [\n1],\"message\": {\n\"role\":\"user\", \"content\": \"a\\nb\"}\n}\n"), &u); err != nil {
		t.Fatalf("decoding: %v", err)
	}
	if got, want := mustEncode(t, &u), `{"type":"user","new":[1],"message":{"role":"user","content":"a\nb"}}`; got != want {
		t.Errorf("written as %s, want %s", got, want)
	}
	u.Message.Role = "User"
	if got, want := mustEncode(t, &u), `{"type":"user","new":[1],"message":{"role":"User","content":"a\nb"}}`; got != want {
		t.Errorf("changed, written as %s, want %s", got, want)
	}
	raw := &ControlRequest{RequestID: "r", Request: &CanUseToolRequest{Input: json.RawMessage("{\n\"a\":\n1}")}}
	if got := mustEncode(t, raw); !strings.Contains(got, `"input":{"a":1}`) {
		t.Errorf("written as %s", got)
	}
}

func TestEncodeRefuses(t *testing.T) {
	tests := []struct {
		name string
		m    Message
		want string
	}{
		{"broken free-form value", &ControlRequest{Request: &CanUseToolRequest{Input: json.RawMessage(`{"a":`)}}, "control_request"},
		{"two free-form values", &ControlResponse{Response: ControlAnswer{Response: json.RawMessage(`{}{}`)}}, "control_response"},
		{"not a number", &Result{TotalCostUSD: math.NaN()}, "result"},
		{"infinite, deep inside", &Result{ModelUsage: map[string]ModelUsage{"m": {CostUSD: math.Inf(1)}}}, "result"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			line, err := Encode(tt.m)
			if err == nil || line != nil || !strings.Contains(err.Error(), "encoding a "+tt.want+" line") {
				t.Errorf("got %s, %v", line, err)
			}
		})
	}
}

// nestedResults is a line with tool results inside each other.
func nestedResults(depth int, leaf string) string {
	return `{"type":"user","message":{"role":"user","content":` +
		strings.Repeat(`[{"type":"tool_result","tool_use_id":"t","content":`, depth) + leaf + strings.Repeat(`}]`, depth) + `},"uuid":"u"}`
}

// TestEncodeNested would not end if the work doubled with each level.
func TestEncodeNested(t *testing.T) {
	const depth = 200
	line := nestedResults(depth, `"leaf"`)
	u := mustDecode(t, line).(*User)
	if got := mustEncode(t, u); got != line {
		t.Errorf("written as %.200s", got)
	}
	content := &u.Message.Content
	for range depth {
		content = &content.Blocks[0].(*ToolResultBlock).Content
	}
	if content.Text != "leaf" {
		t.Fatalf("the leaf is %+v", content)
	}
	content.Text = "changed"
	if got := mustEncode(t, u); got != nestedResults(depth, `"changed"`) {
		t.Errorf("changed, written as %.200s", got)
	}
}

// TestDecodeTooDeep expects a line that would cost too much to decode to be
// carried as it is.
func TestDecodeTooDeep(t *testing.T) {
	line := nestedResults(4000, `"leaf"`)
	m := mustDecode(t, line)
	if _, ok := m.(*Unknown); !ok {
		t.Errorf("decoded as %T", m)
	}
	if typ, _ := m.MessageType(); typ != "user" {
		t.Errorf("type %q", typ)
	}
	if got := mustEncode(t, m); got != line {
		t.Errorf("written as %.200s", got)
	}
	// Only what is too deep is left alone, not what is beside it.
	deep := strings.Repeat(`[`, maxDepth-2) + strings.Repeat(`]`, maxDepth-2)
	r, ok := mustDecode(t, `{"type":"result","result":"x","structured_output":{"a":`+deep+`}}`).(*Result)
	if !ok || r.Result != "x" {
		t.Errorf("a result with a deep output is decoded as %+v", r)
	}
}

func TestUnmarshalWithinOtherValues(t *testing.T) {
	type record struct {
		Value   Assistant
		Pointer *Assistant
		Nil     *Assistant
		List    []TextBlock
		Map     map[string]Usage
	}
	const text = `{"Value":{"uuid":"u","new":1},"Pointer":{"uuid":"p"},"Nil":null,"List":[{"type":"text","text":"a<b","x":null}],"Map":{"m":{"input_tokens":1.0}}}`
	var r record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("decoding: %v", err)
	}
	if r.Value.UUID != "u" || string(r.Value.Extra("new")) != "1" || r.Pointer.UUID != "p" || r.Nil != nil || r.List[0].Text != "a<b" || r.Map["m"].InputTokens != 1 {
		t.Errorf("decoded %+v", r)
	}
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatalf("encoding: %v", err)
	}
	refEqual(t, "within a record", []byte(text), got)

	type embedded struct{ *KeepAlive }
	got, err = json.Marshal(embedded{&KeepAlive{}})
	if err != nil || string(got) != `{"type":"keep_alive"}` {
		t.Errorf("embedded: %s, %v", got, err)
	}

	r.Value.UUID = "kept"
	if err := json.Unmarshal([]byte(`{"Value":null}`), &r); err != nil || r.Value.UUID != "kept" {
		t.Errorf("null changed the value to %q, %v", r.Value.UUID, err)
	}
	if err := json.Unmarshal([]byte(`{"Value":5}`), &r); err == nil {
		t.Error("a number was accepted")
	}
}

func TestDecodeAnswer(t *testing.T) {
	tests := []struct {
		subtype, body string
		want          Answer
	}{
		{"initialize", `{"models":[],"pid":5,"new":1}`, &InitializeAnswer{}},
		{"initialize", ``, &InitializeAnswer{}},
		{"initialize", `null`, &InitializeAnswer{}},
		{"interrupt", `{"still_queued":["u"]}`, &InterruptAnswer{}},
		{"of_tomorrow", `{"x":1}`, &UnknownAnswer{}},
		{"of_tomorrow", ``, &UnknownAnswer{}},
	}
	for _, tt := range tests {
		a, err := DecodeAnswer(tt.subtype, json.RawMessage(tt.body))
		if err != nil || reflect.TypeOf(a) != reflect.TypeOf(tt.want) {
			t.Errorf("%s %s: %T, %v; want %T", tt.subtype, tt.body, a, err, tt.want)
			continue
		}
		want := tt.body
		if want == "" || want == "null" {
			want = "{}"
		}
		if got, err := encodeObject(a); err != nil || string(got) != want {
			t.Errorf("%s %s: written as %s, %v", tt.subtype, tt.body, got, err)
		}
	}
	for _, body := range []string{`5`, `[]`, `{`, `{}{}`, `"x"`} {
		if _, err := DecodeAnswer("initialize", json.RawMessage(body)); !errors.Is(err, ErrNotObject) || !strings.Contains(err.Error(), "initialize") {
			t.Errorf("%s: %v", body, err)
		}
	}
	a, err := DecodeAnswer("initialize", json.RawMessage(`{"pid":5,"commands":"none"}`))
	if err != nil {
		t.Fatalf("decoding: %v", err)
	}
	if init := a.(*InitializeAnswer); init.PID != 5 || string(init.Extra("commands")) != `"none"` {
		t.Errorf("decoded %+v", init)
	}
}

func TestDecodePermission(t *testing.T) {
	tests := []struct {
		body string
		want PermissionResult
	}{
		{`{"behavior":"allow","updatedInput":{}}`, &Allow{}},
		{`{"behavior":"deny","message":"no"}`, &Deny{}},
		{`{"behavior":"maybe"}`, &UnknownResult{}},
		{`{}`, &UnknownResult{}},
	}
	for _, tt := range tests {
		got, err := DecodePermission(json.RawMessage(tt.body))
		if err != nil || reflect.TypeOf(got) != reflect.TypeOf(tt.want) {
			t.Errorf("%s: %T, %v; want %T", tt.body, got, err, tt.want)
		}
	}
	for _, body := range []string{``, `null`, `5`, `{`} {
		if got, err := DecodePermission(json.RawMessage(body)); err == nil {
			t.Errorf("%q was read as %T", body, got)
		}
	}
}

func TestClassOf(t *testing.T) {
	tests := []struct {
		line string
		want Class
		name string
	}{
		{`{"type":"assistant"}`, Durable, "durable"},
		{`{"type":"result","subtype":"success"}`, Durable, "durable"},
		{`{"type":"control_request"}`, Durable, "durable"},
		{`{"type":"stream_event"}`, Live, "live"},
		{`{"type":"tool_progress"}`, Live, "live"},
		{`{"type":"system","subtype":"thinking_tokens"}`, Live, "live"},
		{`{"type":"system","subtype":"hook_progress"}`, Live, "live"},
		{`{"type":"system","subtype":"task_progress"}`, Live, "live"},
		{`{"type":"system","subtype":"task_updated"}`, Durable, "durable"},
		{`{"type":"system","subtype":"init"}`, Durable, "durable"},
		{`{"type":"system"}`, Durable, "durable"},
		{`{"type":"keep_alive"}`, Consumed, "consumed"},
		{`{"type":"of_tomorrow"}`, Durable, "durable"},
		{`{"type":"thinking_tokens"}`, Durable, "durable"},
		{`{}`, Durable, "durable"},
	}
	for _, tt := range tests {
		h, err := Peek([]byte(tt.line))
		if err != nil {
			t.Fatalf("peeking: %v", err)
		}
		if got := ClassOf(h); got != tt.want || got.String() != tt.name {
			t.Errorf("%s is %v, want %v", tt.line, got, tt.want)
		}
	}
	if got := Class(0).String(); got != "unknown" {
		t.Errorf("no class is %q", got)
	}
}

package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPeek(t *testing.T) {
	type header = map[string]string // only what is there
	tests := []struct {
		name, line string
		want       header
	}{
		{"empty", `{}`, header{}},
		{"space", " \t\r { \t } \r", header{}},
		{
			"every field", `{"type":"a","subtype":"b","uuid":"c","session_id":"d","request_id":"e","request":{"subtype":"f"},"parent_tool_use_id":"g"}`,
			header{"Type": "a", "Subtype": "b", "UUID": "c", "SessionID": "d", "RequestID": "e", "RequestSubtype": "f", "ParentToolUseID": "g"},
		},
		{
			"space between tokens", ` { "type" : "a" , "uuid"	:	"c" ,"request" : { "subtype" : "f" , "x" : [ 1 , { } ] } , "n" : 5 } `,
			header{"Type": "a", "UUID": "c", "RequestSubtype": "f"},
		},
		{"empty strings are there", `{"type":"","uuid":""}`, header{"Type": "", "UUID": ""}},
		{"type last", `{"message":{"type":"message"},"type":"assistant"}`, header{"Type": "assistant"}},

		{"names are case-sensitive", `{"Type":"A","TYPE":"B","type":"c","UUID":"D","Uuid":"E","request":{"Subtype":"F"}}`, header{"Type": "c"}},
		{"names are not cut or padded", `{"typ":"A","types":"B"," type":"C","type ":"D","typ\u0000e":"E"}`, header{}},
		{"escaped name", `{"\u0074ype":"a","u\u0075id":"b","session\u005fid":"c","request":{"\u0073ubtype":"d"}}`, header{"Type": "a", "UUID": "b", "SessionID": "c", "RequestSubtype": "d"}},
		{"escaped name that is another", `{"\\type":"A","t\"ype":"B","\\u0074ype":"C"}`, header{}},
		{"escaped values", `{"type":"a\"b\\c\/d\b\f\n\r\te","uuid":"\u00e9\ud83d\ude00\u2028"}`, header{"Type": "a\"b\\c/d\b\f\n\r\te", "UUID": "é😀\u2028"}},
		{"half of a pair", `{"type":"\ud83d","uuid":"\ude00x","session_id":"\ud83d\u0041","request_id":"\ud83d\ud83d\ude00"}`, header{"Type": "\ufffd", "UUID": "\ufffdx", "SessionID": "\ufffdA", "RequestID": "\ufffd😀"}},
		{"backslash before the end", `{"type":"a\\","uuid":"\\\\","x":"\\\"","session_id":"s"}`, header{"Type": `a\`, "UUID": `\\`, "SessionID": "s"}},

		{"last of equal names", `{"type":"A","uuid":"A","type":"b","uuid":"b"}`, header{"Type": "b", "UUID": "b"}},
		{"last of equal names, one escaped", `{"type":"A","\u0074ype":"b"}`, header{"Type": "b"}},
		{"last of equal names, one escaped, the other way", `{"\u0074ype":"A","type":"b"}`, header{"Type": "b"}},
		{"the last is not a string", `{"type":"A","type":5,"uuid":"A","uuid":null,"session_id":"A","session_id":{"session_id":"A"}}`, header{}},
		{"last request", `{"request":{"subtype":"A","request_id":"A"},"request":{"subtype":"b"}}`, header{"RequestSubtype": "b"}},
		{"the last request is empty", `{"request":{"subtype":"A","request_id":"A"},"request":{}}`, header{}},
		{"the last request is not an object", `{"request":{"subtype":"A","request_id":"A"},"request":"x"}`, header{}},
		{"the last request is null", `{"request":{"subtype":"A","request_id":"A"},"request":null}`, header{}},
		{"last inside a request", `{"request":{"subtype":"A","request_id":"A","subtype":"b","request_id":"b"}}`, header{"RequestSubtype": "b", "RequestID": "b"}},
		{"the last inside a request is not a string", `{"request":{"subtype":"A","subtype":1,"request_id":"A","request_id":[]}}`, header{}},
		{"last response", `{"type":"control_response","response":{"subtype":"A","request_id":"A"},"response":{"request_id":"b","request_id":"c"}}`, header{"Type": "control_response", "RequestID": "c"}},
		{"the last response is not an object", `{"type":"control_response","response":{"subtype":"A","request_id":"A"},"response":[{"request_id":"B"}]}`, header{"Type": "control_response"}},

		{"numeric ids", `{"type":"control_request","request_id":5,"uuid":1e3,"session_id":-0,"request":{"subtype":"interrupt"}}`, header{"Type": "control_request", "RequestSubtype": "interrupt"}},
		{"other values", `{"type":true,"subtype":false,"uuid":null,"session_id":[],"parent_tool_use_id":{}}`, header{}},
		{"__proto__", `{"__proto__":{"type":"A","request_id":"A"},"type":"b","request":{"__proto__":{"subtype":"A"},"subtype":"c"}}`, header{"Type": "b", "RequestSubtype": "c"}},
		{"decoys", `{"message":{"type":"A","uuid":"A","session_id":"A"},"x":[{"type":"A"},"\",\"type\":\"A\""],"y":"}","type":"b"}`, header{"Type": "b"}},
		{"decoys deeper in a request", `{"request":{"input":{"subtype":"A","request_id":"A"},"subtype":"b"}}`, header{"RequestSubtype": "b"}},
		{"brackets in strings", `{"a":["]","[",{"}":"{"}],"b":{"]":"[{"},"type":"c"}`, header{"Type": "c"}},
		{"invalid UTF-8", "{\"type\":\"a\xff\",\"\xfe\":\"x\"}", header{"Type": "a\ufffd"}},

		{"control_request", `{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","request_id":"X"}}`, header{"Type": "control_request", "RequestID": "r", "RequestSubtype": "can_use_tool"}},
		{"control_response", `{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"request_id":"X","subtype":"X"}}}`, header{"Type": "control_response", "RequestID": "r", "RequestSubtype": "success"}},
		{"control_response, ids in two places", `{"request_id":"X","response":{"request_id":"r","subtype":"s"},"type":"control_response"}`, header{"Type": "control_response", "RequestID": "r", "RequestSubtype": "s"}},
		{"control_response, id outside", `{"request_id":"r","response":{"subtype":"s"},"type":"control_response"}`, header{"Type": "control_response", "RequestID": "r", "RequestSubtype": "s"}},
		{"control_response, numeric id inside", `{"request_id":"r","response":{"request_id":7},"type":"control_response"}`, header{"Type": "control_response", "RequestID": "r"}},
		{"control_cancel_request", `{"type":"control_cancel_request","request_id":"r"}`, header{"Type": "control_cancel_request", "RequestID": "r"}},
		{"another type, id inside", `{"response":{"request_id":"p","subtype":"q"},"type":"x"}`, header{"Type": "x", "RequestID": "p", "RequestSubtype": "q"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			line := []byte(tt.line)
			h, err := Peek(line)
			if err != nil {
				t.Fatalf("peeking: %v", err)
			}
			if diff := cmp.Diff(tt.want, headerMap(h)); diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
			ref, err := refHeader(line)
			if err != nil {
				t.Fatalf("reference: %v", err)
			}
			if diff := cmp.Diff(ref, tt.want); diff != "" {
				t.Errorf("the reference disagrees with the test (-reference +test):\n%s", diff)
			}
			if string(line) != tt.line {
				t.Errorf("Peek changed the line to %q", line)
			}
		})
	}
}

// TestPeekAnyOrder peeks at the same members in every order.
func TestPeekAnyOrder(t *testing.T) {
	parts := []string{
		`"type":"control_response"`, `"uuid":"u"`, `"session_id":"s"`, `"subtype":"b"`,
		`"parent_tool_use_id":"p"`, `"response":{"request_id":"r","subtype":"success"}`, `"x":{"type":"no"}`,
	}
	want := map[string]string{
		"Type": "control_response", "UUID": "u", "SessionID": "s", "Subtype": "b",
		"ParentToolUseID": "p", "RequestID": "r", "RequestSubtype": "success",
	}
	orders := 0
	var permute func(done, left []string)
	permute = func(done, left []string) {
		if len(left) == 0 {
			orders++
			line := "{" + strings.Join(done, ",") + "}"
			h, err := Peek([]byte(line))
			if diff := cmp.Diff(want, headerMap(h)); err != nil || diff != "" {
				t.Fatalf("%s: %v (-want +got):\n%s", line, err, diff)
			}
		}
		for i := range left {
			permute(append(slices.Clip(done), left[i]), slices.Concat(left[:i], left[i+1:]))
		}
	}
	permute(nil, parts)
	if orders != 5040 {
		t.Errorf("tried %d orders", orders)
	}
}

func TestPeekRefuses(t *testing.T) {
	tests := []struct {
		name, line string
		notObject  bool // the error says that this is no object
		at         int  // the byte that the error names, if any
	}{
		{"nothing", ``, true, 0},
		{"space", ` `, true, 0},
		{"null", `null`, true, 0},
		{"number", `5`, true, 0},
		{"string", `"{}"`, true, 0},
		{"list", `[{"type":"a"}]`, true, 0},
		{"byte order mark", "\ufeff{}", true, 0},
		{"text", `Error: {"type":"a"}`, true, 0},
		{"another object behind it", `{"type":"a"}{"type":"b"}`, true, 13},
		{"text behind it", `{"type":"a"} x`, true, 14},
		{"comma behind it", `{},`, true, 3},
		{"brackets behind it", `{}]}`, true, 3},
		{"nul behind it", "{}\x00", true, 3},
		{"open", `{`, false, 2},
		{"comma before the end", `{"type":"a",}`, false, 13},
		{"comma at the start", `{,"type":"a"}`, false, 2},
		{"no colon", `{"type" "a"}`, false, 2},
		{"no name", `{:"a"}`, false, 2},
		{"name without quotes", `{type:"a"}`, false, 2},
		{"number as a name", `{5:"a"}`, false, 2},
		{"no value", `{"type":}`, false, 9},
		{"no value for a name that is not needed", `{"x":,"type":"a"}`, false, 6},
		{"no comma", `{"type":"a" "uuid":"b"}`, false, 9},
		{"closed by the wrong bracket", `{"type":"a"]`, false, 9},
		{"malformed request", `{"request":{"subtype" "a"}}`, false, 12},
		{"open request", `{"request":{"subtype":"a"`, false, 12},
		{"comma in a request", `{"request":{"subtype":"a",}}`, false, 12},
		{"no value in a request", `{"request":{"x":}}`, false, 12},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, err := Peek([]byte(tt.line))
			if err == nil {
				t.Fatalf("accepted, header %v", headerMap(h))
			}
			if len(headerMap(h)) > 0 {
				t.Errorf("a header %v came with the error %v", headerMap(h), err)
			}
			if errors.Is(err, ErrNotObject) != tt.notObject {
				t.Errorf("errors.Is(%q, ErrNotObject) = %v", err, !tt.notObject)
			}
			if !strings.Contains(err.Error(), "expected") {
				t.Errorf("%q does not say what was expected", err)
			}
			if want := fmt.Sprintf("at byte %d", tt.at); tt.at > 0 && !strings.Contains(err.Error()+":", want) {
				t.Errorf("%q does not say %q", err, want)
			}
		})
	}
}

// peekLines are lines that have everything the scanner has a branch for.
var peekLines = []string{
	`{"type":"control_request","request_id":"r-1","request":{"subtype":"can_use_tool","input":{"command":"ls \"a\" \\"},"x":[1,{"y":null}]},"uuid":"u"}`,
	`  { "\u0074ype" : "a\u00e9\\" , "n" : -1.5e7 , "b" : true , "response" : { } , "e" : [ ] , "session_id" : null , "s" : "long enough for a look at several words at once \" and on" } `,
	`{"response":{"request_id":"r","subtype":"success"},"type":"control_response"}`,
}

func TestPeekTruncated(t *testing.T) {
	for _, line := range peekLines {
		end := len(strings.TrimRight(line, " "))
		for n := range end {
			// With and without capacity behind it, where the scanner must not look.
			for _, cut := range [][]byte{[]byte(line)[:n], bytes.Clone([]byte(line)[:n])} {
				if h, err := Peek(cut); err == nil {
					t.Errorf("the first %d bytes were accepted: %v\n%s", n, headerMap(h), cut)
				}
			}
		}
		for n := end; n <= len(line); n++ {
			if _, err := Peek([]byte(line[:n])); err != nil {
				t.Errorf("all but some space: %v", err)
			}
		}
	}
}

// TestPeekDamaged puts other bytes into lines. Peek must not panic, and must be
// right wherever the line is still JSON.
func TestPeekDamaged(t *testing.T) {
	valid := 0
	for _, line := range peekLines {
		for i := range line {
			for _, c := range []byte("\"\\{}[]:, \x00\xff01tn") {
				damaged := []byte(line)
				damaged[i] = c
				h, err := Peek(damaged)
				if !json.Valid(damaged) {
					continue
				}
				valid++
				want, refErr := refHeader(damaged)
				if refErr != nil {
					t.Fatalf("reference: %v", refErr)
				}
				if diff := cmp.Diff(want, headerMap(h)); err != nil || diff != "" {
					t.Errorf("%s: %v (-want +got):\n%s", damaged, err, diff)
				}
			}
		}
	}
	if valid < 500 {
		t.Errorf("only %d damaged lines were JSON: the test shows nothing", valid)
	}
}

// TestPeekStringsOfEveryLength moves quotes and backslashes over all places of the
// words that the scanner looks at.
func TestPeekStringsOfEveryLength(t *testing.T) {
	for n := range 80 {
		for _, escape := range []string{"", `\"`, `\\`, `\\\"`, `\n`, `\u0041`} {
			for at := 0; at <= n; at += max(1, n/9) {
				inside := strings.Repeat("x", at) + escape + strings.Repeat("y", n-at)
				line := fmt.Sprintf(`{"a":"%[1]s","%[1]s":[{"b":"%[1]s"}],"type":"%[1]s","uuid":"u"}`, inside)
				var want string
				if err := json.Unmarshal([]byte(`"`+inside+`"`), &want); err != nil {
					t.Fatalf("bad test: %v", err)
				}
				h, err := Peek([]byte(line))
				if err != nil || string(h.Type) != want || string(h.UUID) != "u" {
					t.Fatalf("%s: type %q, uuid %q, %v", line, h.Type, h.UUID, err)
				}
			}
		}
	}
}

func TestPeekDeepNesting(t *testing.T) {
	const depth = 1_000_000
	line := `{"x":` + strings.Repeat(`[{"type":`, depth) + `"no"` + strings.Repeat(`}]`, depth) + `,"type":"a"}`
	if h, err := Peek([]byte(line)); err != nil || string(h.Type) != "a" {
		t.Errorf("type %q, %v", h.Type, err)
	}
}

func TestPeekAllocates(t *testing.T) {
	big := []byte(`{"message":{"content":"` + strings.Repeat(`some \"text\" \\ `, 5<<20/16) + `"},"type":"user","uuid":"u","session_id":"s"}`)
	tests := []struct {
		name string
		line []byte
		runs int
		want float64
	}{
		{"100 bytes", []byte(`{"type":"control_response","response":{"subtype":"success","request_id":"r-1","response":{"x":"\n"}}}`), 100, 0},
		{"5 MB", big, 5, 0},
		{"an escape in a value that is needed", []byte(`{"type":"\u0061","uuid":"u"}`), 100, 1},
		{"an escape in a name", []byte(`{"\u0074ype":"a","uuid":"u"}`), 100, 1},
		{"both", []byte(`{"\u0074ype":"\u0061","request":{"subtype":"\u0061"}}`), 100, 3},
		{"an escape in a value that is not needed", []byte(`{"x":"\u0061","type":"a"}`), 100, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := testing.AllocsPerRun(tt.runs, func() {
				if h, err := Peek(tt.line); err != nil || h.Type == nil {
					t.Errorf("type %q, %v", h.Type, err)
				}
			})
			if got != tt.want {
				t.Errorf("%v allocations, want %v", got, tt.want)
			}
		})
	}
}

func TestPeekSharesTheLine(t *testing.T) {
	line := []byte(`{"type":"abc","uuid":"def"}`)
	h, err := Peek(line)
	if err != nil {
		t.Fatalf("peeking: %v", err)
	}
	kept := h.Clone()
	for i := range line {
		line[i] = '.'
	}
	if string(h.Type) != "..." || string(h.UUID) != "..." {
		t.Errorf("type %q, uuid %q: copies, want parts of the line", h.Type, h.UUID)
	}
	if diff := cmp.Diff(map[string]string{"Type": "abc", "UUID": "def"}, headerMap(kept)); diff != "" {
		t.Errorf("the clone changed with the line (-want +got):\n%s", diff)
	}
}

func TestHeaderIs(t *testing.T) {
	h := Header{Type: []byte("system"), Subtype: []byte("init")}
	tests := []struct {
		typ, subtype string
		want         bool
	}{
		{"system", "init", true},
		{"system", "", true},
		{"system", "status", false},
		{"System", "init", false},
		{"result", "", false},
		{"", "", false},
	}
	for _, tt := range tests {
		if got := h.Is(tt.typ, tt.subtype); got != tt.want {
			t.Errorf("Is(%q, %q) = %v", tt.typ, tt.subtype, got)
		}
	}
	if !(Header{}).Is("", "") {
		t.Error("an empty header is not of the empty type")
	}
}

func TestPeekContextUsage(t *testing.T) {
	for line, want := range map[string]bool{
		`{"type":"assistant","context_usage":{"used":1},"uuid":"u"}`:                true,
		`{"type":"assistant","context\u005fusage":null}`:                            true,
		`{"type":"assistant","message":{"context_usage":1},"text":"context_usage"}`: false,
	} {
		h, err := Peek([]byte(line))
		if err != nil || h.ContextUsage != want || h.Clone().ContextUsage != want {
			t.Errorf("%s: %v, %v, want %v", line, h.ContextUsage, err, want)
		}
	}
}

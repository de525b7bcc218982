package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The reference below reads JSON by the tokens of encoding/json, which keep the
// order of members and all duplicates. It shares nothing with this package.

// refMember is a member of a refObject.
type refMember struct {
	Name  string
	Value any
}

// refObject is an object with the last of equal names in the place of the first.
// Other values are []any, string, json.Number, bool and nil.
type refObject []refMember

func (o refObject) get(name string) any {
	for _, m := range o {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// refDecode reads one JSON value with nothing behind it.
func refDecode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := refValue(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more behind the value: %w", err)
	}
	return v, nil
}

func refValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := refValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	case json.Delim('{'):
		object := refObject{}
		at := map[string]int{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := refValue(d)
			if err != nil {
				return nil, err
			}
			if i, there := at[name.(string)]; there {
				object[i].Value = v
				continue
			}
			at[name.(string)] = len(object)
			object = append(object, refMember{name.(string), v})
		}
		_, err := d.Token()
		return object, err
	}
	return token, nil
}

// refEqual fails unless two JSON texts say the same: the same members in the same
// order, null where there was null, numbers as they were written.
func refEqual(t testing.TB, what string, want, got []byte) {
	t.Helper()
	w, err := refDecode(want)
	if err != nil {
		t.Fatalf("%s: reading %q: %v", what, want, err)
	}
	g, err := refDecode(got)
	if err != nil {
		t.Fatalf("%s: reading %q: %v", what, got, err)
	}
	// Not cmp: it takes very long over values that are nested deep.
	if !reflect.DeepEqual(w, g) {
		t.Errorf("%s: the text says something else:\nwant %.2000s\n got %.2000s", what, want, got)
	}
}

// refHeader is what Peek should find: absent members are missing from the map.
func refHeader(line []byte) (map[string]string, error) {
	v, err := refDecode(line)
	if err != nil {
		return nil, err
	}
	object, ok := v.(refObject)
	if !ok {
		return nil, errors.New("not an object")
	}
	h := map[string]string{}
	take := func(field string, places ...any) {
		for _, v := range places {
			if s, ok := v.(string); ok {
				h[field] = s
				return
			}
		}
	}
	request, _ := object.get("request").(refObject)
	response, _ := object.get("response").(refObject)
	take("Type", object.get("type"))
	take("Subtype", object.get("subtype"))
	take("UUID", object.get("uuid"))
	take("SessionID", object.get("session_id"))
	take("ParentToolUseID", object.get("parent_tool_use_id"))
	take("Error", object.get("error"))
	event, _ := object.get("event").(refObject)
	take("EventType", event.get("type"))
	if h["Type"] == "control_response" {
		take("RequestID", response.get("request_id"), object.get("request_id"), request.get("request_id"))
		take("RequestSubtype", response.get("subtype"), request.get("subtype"))
	} else {
		take("RequestID", object.get("request_id"), request.get("request_id"), response.get("request_id"))
		take("RequestSubtype", request.get("subtype"), response.get("subtype"))
	}
	return h, nil
}

// headerMap puts a header into the form of refHeader. Bytes that are not UTF-8
// become U+FFFD, as they do when encoding/json reads them.
func headerMap(h Header) map[string]string {
	m := map[string]string{}
	for name, v := range map[string][]byte{
		"Type": h.Type, "Subtype": h.Subtype, "UUID": h.UUID, "SessionID": h.SessionID,
		"RequestID": h.RequestID, "RequestSubtype": h.RequestSubtype, "ParentToolUseID": h.ParentToolUseID,
		"EventType": h.EventType, "Error": h.Error,
	} {
		if v != nil {
			m[name] = string([]rune(string(v)))
		}
	}
	return m
}

func TestReference(t *testing.T) {
	got, err := refDecode([]byte(`{"b":1.50,"a":[null,true,"\u00e9\ud800"],"b":{"x":{},"x":-0}}`))
	want := refObject{
		{"b", refObject{{"x", json.Number("-0")}}},
		{"a", []any{nil, true, "é\ufffd"}},
	}
	if diff := cmp.Diff(any(want), got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	for _, bad := range []string{``, `{`, `{}{}`, `{"a":1} x`, `[1`, `{"a"}`} {
		if v, err := refDecode([]byte(bad)); err == nil {
			t.Errorf("%q was read as %v", bad, v)
		}
	}
}

// messageMaker writes random messages: what a CLI may send, and what only someone
// who means harm would.
type messageMaker struct {
	*rand.Rand
	b []byte
}

func (m *messageMaker) one(in int) bool { return m.IntN(in) == 0 }

func pick[T any](m *messageMaker, of ...T) T { return of[m.IntN(len(of))] }

func (m *messageMaker) space() {
	if m.one(6) {
		m.b = append(m.b, pick(m, " ", "  ", "\t", "\r", " \r \t")...)
	}
}

// text writes a string, some of its characters as escapes.
func (m *messageMaker) text(s string) {
	m.b = append(m.b, '"')
	dense := m.one(4)
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			m.b = append(m.b, '\\', byte(r))
		case r == '\n':
			m.b = append(m.b, '\\', 'n')
		case r < 0x20, r < 0x10000 && (dense && m.one(3) || m.one(60)):
			m.b = fmt.Appendf(m.b, pick(m, `\u%04x`, `\u%04X`), r)
		case r == '/' && m.one(2):
			m.b = append(m.b, '\\', '/')
		case r >= 0x10000 && m.one(3):
			m.b = fmt.Appendf(m.b, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		default:
			m.b = append(m.b, string(r)...)
		}
	}
	if m.one(12) {
		m.b = append(m.b, pick(m, `\ud800`, `\udfff`, `\ud83dx`, `\udc00\ud800`, `\ud800\ud800`, `\\\"`, "\u2028", "\xff", "\xc3", "é\x80")...)
	}
	m.b = append(m.b, '"')
}

func (m *messageMaker) words() string {
	s := ""
	for range m.IntN(5) {
		s += pick(m, "hello ", "\\", "\"", "}{", "][", "é", "日本", "😀", "\u2029", "\x00", "\x1f", "\n", "C:\\", "\\\"", "type", `"type":"x"`, strings.Repeat("long ", m.IntN(40)))
	}
	return s
}

func (m *messageMaker) id() {
	switch m.IntN(8) {
	case 0:
		m.b = fmt.Appendf(m.b, "%d", m.Int64N(1<<40))
	case 1:
		m.b = append(m.b, pick(m, "null", "true", "1e5", "-0.5", "[]", "{}", `["x"]`, `{"type":"x"}`)...)
	case 2:
		m.text("")
	default:
		m.text(fmt.Sprintf("%08x-%04x", m.Uint32(), m.IntN(1<<16)))
	}
}

func (m *messageMaker) list(depth int) {
	m.b = append(m.b, '[')
	for i := range m.IntN(4) {
		if i > 0 {
			m.b = append(m.b, ',')
		}
		m.space()
		m.value(depth - 1)
		m.space()
	}
	m.b = append(m.b, ']')
}

func (m *messageMaker) value(depth int) {
	kind := m.IntN(8)
	switch {
	case kind == 0 && depth > 0:
		m.object(depth-1, m.IntN(5), pick(m, "type", "subtype", "request_id", "text", "content", "input", ""))
	case kind == 1 && depth > 0:
		m.list(depth)
	case kind == 2:
		m.b = append(m.b, pick(m, "null", "true", "false", "0", "-1", "12345678901234567890", "1.5e-7", "1E400", "0.1000")...)
	case kind == 3 && m.one(20):
		deep := 1 + m.IntN(1200)
		m.b = append(append(m.b, strings.Repeat(`[{"type":`, deep)+`"deep"`...), strings.Repeat(`}]`, deep)...)
	default:
		m.text(m.words())
	}
}

// object writes an object of n random members, and some with names that matter.
func (m *messageMaker) object(depth, n int, names ...string) {
	m.b = append(m.b, '{')
	m.space()
	for i := range n {
		if i > 0 {
			m.b = append(m.b, ',')
			m.space()
		}
		name := pick(m, names...)
		if m.one(4) {
			name = pick(m, "__proto__", "constructor", "Type", "TYPE", "types", "typ", "request", "message", "", "\x00", "é", "uuid ", "session_id", "type\u200b", m.words())
		}
		m.text(name)
		m.space()
		m.b = append(m.b, ':')
		m.space()
		m.member(name, depth)
		m.space()
	}
	m.b = append(m.b, '}')
}

func (m *messageMaker) member(name string, depth int) {
	switch {
	case m.one(12):
		m.value(depth)
	case name == "type" && depth > 0:
		m.text(pick(m, "control_request", "control_response", "control_response", "control_cancel_request", "assistant", "user", "system", "result", "stream_event", "keep_alive", "of_tomorrow"))
	case name == "subtype":
		m.text(pick(m, "init", "success", "error", "status", "can_use_tool", "initialize", "hook_callback", "of_tomorrow"))
	case (name == "request" || name == "response" || name == "__proto__") && depth > 0:
		m.object(depth-1, m.IntN(7), "subtype", "request_id", "request_id", "response", "input", "tool_name", "type")
	case name == "message" && depth > 0:
		m.object(depth-1, m.IntN(5), "role", "content", "id", "type", "usage")
	case name == "event" && depth > 0:
		m.object(depth-1, m.IntN(5), "type", "index", "delta", "content_block")
	case strings.HasSuffix(name, "id"):
		m.id()
	default:
		m.value(depth)
	}
}

func randomMessage(seed uint64) []byte {
	m := &messageMaker{Rand: rand.New(rand.NewPCG(seed, 2))}
	m.space()
	m.object(4, m.IntN(14), "type", "type", "subtype", "uuid", "session_id", "request_id", "parent_tool_use_id", "request", "response", "message", "event", "variables")
	m.space()
	return m.b
}

// TestPeekAgreesWithDecoding compares Peek with the reference, and Decode and
// Encode with both, on random messages.
func TestPeekAgreesWithDecoding(t *testing.T) {
	const seeds = 3000
	controls, found := 0, map[string]int{}
	for seed := range uint64(seeds) {
		line := randomMessage(seed)
		want, err := refHeader(line)
		if err != nil {
			t.Fatalf("seed %d: the test made a bad line: %v\n%s", seed, err, line)
		}
		h, err := Peek(line)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, line)
		}
		got := headerMap(h)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: header (-want +got):\n%s\n%s", seed, diff, line)
		}
		for name := range got {
			found[name]++
		}
		if strings.HasPrefix(got["Type"], "control") {
			controls++
		}
		m, err := Decode(line)
		if err != nil {
			t.Fatalf("seed %d: decoding: %v\n%s", seed, err, line)
		}
		if typ, _ := m.MessageType(); typ != got["Type"] {
			t.Fatalf("seed %d: decoded as type %q, peeked %q\n%s", seed, typ, got["Type"], line)
		}
		again, err := Encode(m)
		if err != nil {
			t.Fatalf("seed %d: encoding: %v\n%s", seed, err, line)
		}
		refEqual(t, fmt.Sprintf("seed %d", seed), line, again)
		if t.Failed() {
			t.FailNow()
		}
	}
	// The messages must be such that the comparison means something.
	if controls < seeds/20 {
		t.Errorf("only %d of %d lines were control messages", controls, seeds)
	}
	for _, name := range []string{"Type", "Subtype", "UUID", "SessionID", "RequestID", "RequestSubtype", "ParentToolUseID"} {
		if found[name] < seeds/20 {
			t.Errorf("only %d of %d lines had a %s", found[name], seeds, name)
		}
	}
}

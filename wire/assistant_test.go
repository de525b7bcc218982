package wire

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// assistantSeeds are lines of the model's, and what looks like them.
func assistantSeeds() []string {
	said := func(blocks string) string {
		return `{"type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"claude-x","content":[` + blocks +
			`],"usage":{"input_tokens":3,"cache_creation_input_tokens":5,"cache_read_input_tokens":7,"output_tokens":11,"service_tier":"standard"}},"uuid":"u1"}`
	}
	text := func(inside string) string { return `{"type":"text","text":"` + inside + `"}` }
	long := strings.Repeat("What an agent writes. ", 50)
	return []string{
		said(text("hello")),
		said(text(long)),
		said(text(`a \"b\" \\ \/ \n\t\r\b\f é \u00e9\u20AC\u0000`)),
		said(text(strings.Repeat(`\u00e9`, 300))),
		said(text(strings.Repeat(`\ud83d\ude00`, 300))),
		said(text(`\ud800 ` + long)),
		said(text("first") + "," + text("last")),
		said(text("first") + "," + text("")),
		said(text("")),
		said(""),
		said(`{"type":"text","text":null}`),
		said(`{"type":"text","text":5}`),
		said(`{"type":"text","text":"a","text":"b"}`),
		said(`{"text":"a","type":"text"}`),
		said(`{"type":"\u0074ext","te\u0078t":"a"}`),
		said(`{"type":"thinking","thinking":"hm","text":"no"}`),
		said(`{"type":"tool_use","id":"t","name":"Bash","input":{"type":"text","text":"no"}},` + text("yes")),
		said(text("yes") + `,null,"text",[{"type":"text","text":"no"}],{}`),
		`{"type":"assistant","message":{"model":"a\u0062","content":{"type":"text","text":"no"}}}`,
		`{"type":"assistant","message":{"model":"a","model":5,"content":[` + text("no") + `],"content":[]}}`,
		`{"type":"assistant","message":{"content":[` + text("no") + `],"content":null}}`,
		`{"type":"assistant","message":{"usage":{"input_tokens":1.5,"output_tokens":-2,"cache_read_input_tokens":"3"}}}`,
		`{"type":"assistant","message":{"usage":{"input_tokens":1,"input_tokens":2,"output_tokens":9,"output_tokens":null}}}`,
		`{"type":"assistant","message":{"usage":{"input_tokens":1},"usage":[]}}`,
		`{"type":"assistant","message":{"content":[` + text("no") + `]},"message":{"content":[` + text("yes") + `]}}`,
		`{"type":"assistant","message":[]}`,
		`{"type":"assistant","message":null}`,
		`{"type":"assistant"}`,
		`{"type":"user","message":{"model":"m","content":[` + text("no") + `]}}`,
		` { "type" : "assistant" , "message" : { "content" : [ ` + text("spaced") + ` ] , "usage" : { "input_tokens" : 4 } } } `,
	}
}

// checkAssistant holds that Header.Assistant finds what Decode finds.
func checkAssistant(t *testing.T, line []byte) {
	t.Helper()
	h, err := Peek(line)
	if err != nil {
		return
	}
	got := h.Assistant() // must not panic, whatever the line is
	text := got.Text(100)
	if !Valid(line) || !utf8.Valid(line) || nested(line, skipSpace(line, 0)) > maxDepth {
		return
	}
	m, err := Decode(line)
	if err != nil {
		t.Fatalf("%q is peeked but not decoded: %v", line, err)
	}
	var model, want string
	var tokens int64
	if a, ok := m.(*Assistant); ok {
		u := &a.Message.Usage
		model, tokens = a.Message.Model, u.InputTokens+u.CacheCreationInputTokens+u.CacheReadInputTokens+u.OutputTokens
		for _, b := range a.Message.Content {
			if b, ok := b.(*TextBlock); ok && b.Text != "" {
				want = b.Text
			}
		}
	}
	if string(got.Model) != model || got.Tokens != tokens {
		t.Errorf("%q: peeked %q, %d tokens; decoded %q, %d", line, got.Model, got.Tokens, model, tokens)
	}
	if len(want) <= 100 && string(text) != want || len(want) > 100 && (len(text) < 100 || string(text[:100]) != want[:100]) {
		t.Errorf("%q: the text is peeked as %q, decoded as %q", line, text, want)
	}
}

func TestHeaderAssistant(t *testing.T) {
	for _, line := range assistantSeeds() {
		checkAssistant(t, []byte(line))
		for n := range line {
			checkAssistant(t, []byte(line[:n]))
		}
	}
	for _, line := range samples(t) {
		checkAssistant(t, line)
	}
	h, err := Peek([]byte(assistantSeeds()[0]))
	if err != nil {
		t.Fatal(err)
	}
	if a := h.Assistant(); string(a.Model) != "claude-x" || a.Tokens != 26 || !bytes.Equal(a.Text(3), []byte("hello")) {
		t.Errorf("got %q, %d tokens, %q", a.Model, a.Tokens, a.Text(3))
	}
}

func FuzzHeaderAssistant(f *testing.F) {
	for _, line := range assistantSeeds() {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) { checkAssistant(t, line) })
}

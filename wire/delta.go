package wire

import (
	"strconv"
	"unicode/utf8"
)

// A DeltaPeek is a piece of a content block: what nearly all lines of an agent
// that writes are.
type DeltaPeek struct {
	// Index is the block's number within its message.
	Index int64
	// Text is what is added: to a text, a thought, or the input of a tool as JSON.
	// It may be a part of the line itself.
	Text []byte
}

// Delta reads the delta of a content_block_delta without decoding the line. It
// reports false for every other line, and for one in which it finds anything
// unusual: [Decode] says what that means. The line that the header is of is trusted
// to be valid JSON.
func (h Header) Delta() (DeltaPeek, bool) {
	event := h.Event
	if string(h.EventType) != "content_block_delta" || string(h.Type) != "stream_event" || len(event) < 2 {
		return DeltaPeek{}, false
	}
	// As everywhere, the last of several equal names counts.
	var of delta
	var index int64
	isIndexed := false
	name, i := firstMember(event, 0)
	for name != nil {
		value := i
		if string(name) == "delta" {
			i = of.peek(event, i)
		} else {
			i = skipValue(event, i)
		}
		if i >= 0 && string(name) == "index" {
			index, isIndexed = peekIndex(event[value:i])
		}
		name, i = nextMember(event, i)
	}
	if i < 0 {
		return DeltaPeek{}, false
	}
	text, ok := of.text()
	if !ok || !isIndexed {
		return DeltaPeek{}, false
	}
	return DeltaPeek{Index: index, Text: text}, true
}

// peekIndex reads a whole number. Of several digits strconv has the rules.
func peekIndex(raw []byte) (int64, bool) {
	if len(raw) == 1 && '0' <= raw[0] && raw[0] <= '9' {
		return int64(raw[0] - '0'), true
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}

// A delta is what [Header.Delta] reads inside "delta".
type delta struct {
	kind string
	// The values of the members that may hold the text, nil where one is missing.
	said, thought, input quoted
}

// peek reads the value at b[i] and returns the index behind it.
func (d *delta) peek(b []byte, i int) int {
	*d = delta{} // of several, the last counts
	name, i := firstMember(b, i)
	for name != nil {
		var text quoted
		text, i = peekQuoted(b, i)
		switch string(name) {
		case "type":
			d.kind = deltaKind(text)
		case "text":
			d.said = text
		case "thinking":
			d.thought = text
		case "partial_json":
			d.input = text
		}
		name, i = nextMember(b, i)
	}
	return i
}

// deltaKind returns the kinds that are known without allocating a string, and ""
// for all others.
func deltaKind(text quoted) string {
	if text.escaped {
		return ""
	}
	switch string(text.raw) {
	case "text_delta":
		return "text_delta"
	case "thinking_delta":
		return "thinking_delta"
	case "input_json_delta":
		return "input_json_delta"
	}
	return ""
}

// text returns the text that belongs to the kind, with its escapes resolved. It
// reports false if there is none, or if it is not UTF-8.
func (d *delta) text() ([]byte, bool) {
	var text quoted
	switch d.kind {
	case "text_delta":
		text = d.said
	case "thinking_delta":
		text = d.thought
	case "input_json_delta":
		text = d.input
	}
	if text.raw == nil || !utf8.Valid(text.raw) {
		return nil, false
	}
	if text.escaped {
		return unescape(text.raw), true
	}
	return text.raw, true
}

// DeltaText returns what a delta adds to a block's text: "" if it adds none.
func DeltaText(d Delta) string {
	switch d := d.(type) {
	case *TextDelta:
		return d.Text
	case *ThinkingDelta:
		return d.Thinking
	case *InputJSONDelta:
		return d.PartialJSON
	case *CompactionDelta:
		return d.Content
	default:
		return ""
	}
}

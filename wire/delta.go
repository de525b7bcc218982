package wire

import (
	"bytes"
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

// PeekDelta reads a stream_event line of a content_block_delta without decoding
// all of it. It reports false for every other line, and for one in which it finds
// anything unusual: [Decode] says what that means. The line is trusted to be valid
// JSON.
func PeekDelta(line []byte) (d DeltaPeek, ok bool) {
	event, delta := lookup(line, "event"), []byte(nil)
	var kind, index []byte
	if !eachMember(event, func(name, value []byte) {
		switch string(name) {
		case "type":
			kind = value
		case "index":
			index = value
		case "delta":
			delta = value
		}
	}) || string(kind) != `"content_block_delta"` {
		return d, false
	}
	var err error
	if d.Index, err = strconv.ParseInt(string(index), 10, 64); err != nil {
		return d, false
	}
	var of, text, thinking, input []byte
	if !eachMember(delta, func(name, value []byte) {
		switch string(name) {
		case "type":
			of = value
		case "text":
			text = value
		case "thinking":
			thinking = value
		case "partial_json":
			input = value
		}
	}) {
		return d, false
	}
	switch string(of) {
	case `"text_delta"`:
	case `"thinking_delta"`:
		text = thinking
	case `"input_json_delta"`:
		text = input
	default:
		return d, false
	}
	if !isString(text) {
		return d, false
	}
	if d.Text = text[1 : len(text)-1]; bytes.IndexByte(d.Text, '\\') >= 0 {
		d.Text = unescape(d.Text)
	}
	return d, utf8.Valid(d.Text)
}

// eachMember gives every member of an object to a function. It reports false if
// raw is no object, or an empty one.
func eachMember(raw []byte, f func(name, value []byte)) bool {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return false
	}
	i = skipSpace(raw, i+1)
	for done := false; !done; {
		name, value := scanMember(raw, i)
		if value < 0 {
			return false
		}
		end := skipValue(raw, value)
		if end < 0 {
			return false
		}
		f(name, raw[value:end])
		if i, done = nextMember(raw, end); i < 0 {
			return false
		}
	}
	return true
}

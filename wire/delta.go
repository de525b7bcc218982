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

// PeekDelta reads a stream_event line of a content_block_delta without decoding
// all of it. It reports false for every other line, and for one in which it finds
// anything unusual: [Decode] says what that means. The line is trusted to be valid
// JSON. Who has the line's header asks that: [Header.Delta].
func PeekDelta(line []byte) (d DeltaPeek, ok bool) {
	p, ok := peekPiece(lookup(line, "event"))
	if !ok {
		return d, false
	}
	return p.delta()
}

// Delta is [PeekDelta] for the line that the header is of, which is trusted to be
// valid JSON.
func (h Header) Delta() (d DeltaPeek, ok bool) {
	if h.piece.text != nil {
		return h.piece.delta()
	}
	p, ok := h.peekPiece()
	if !ok {
		return d, false
	}
	return p.delta()
}

// peekPiece returns the piece of the line that the header is of.
func (h *Header) peekPiece() (piece, bool) {
	if string(h.EventType) != "content_block_delta" || string(h.Type) != "stream_event" {
		return piece{}, false
	}
	return peekPiece(h.Event)
}

// peekPiece reads the event of such a line, in one pass. As everywhere the last
// of equal names counts.
func peekPiece(event []byte) (piece, bool) {
	if len(event) < 2 || event[0] != '{' {
		return piece{}, false
	}
	var of delta
	var index int64
	isDelta, isIndexed := false, false
	i := skipSpace(event, 1)
	for done := false; !done; {
		name, value := scanMember(event, i)
		if value < 0 {
			return piece{}, false
		}
		var end int
		if string(name) == "delta" {
			end = of.peek(event, value)
		} else {
			end = skipValue(event, value)
		}
		if end < 0 {
			return piece{}, false
		}
		switch string(name) {
		case "type":
			isDelta = string(event[value:end]) == `"content_block_delta"`
		case "index":
			index, isIndexed = peekIndex(event[value:end])
		}
		if i, done = nextMember(event, end); i < 0 {
			return piece{}, false
		}
	}
	if !isDelta || !isIndexed {
		return piece{}, false
	}
	return of.piece(index)
}

// peekIndex reads a whole number. Of several digits strconv has the rules.
func peekIndex(raw []byte) (int64, bool) {
	if len(raw) == 1 && '0' <= raw[0] && raw[0] <= '9' {
		return int64(raw[0] - '0'), true
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}

// A delta is what is peeked inside "delta".
type delta struct {
	kind string
	// The values of the members that may hold the text, nil where one is missing.
	said, thought, input deltaText
}

type deltaText struct {
	raw     []byte // without its quotes; nil if it is not a string
	escaped bool
}

// peek reads the value at b[i] and returns the index behind it.
func (d *delta) peek(b []byte, i int) int {
	*d = delta{} // of several, the last counts
	if i >= len(b) || b[i] != '{' {
		return skipValue(b, i)
	}
	if i = skipSpace(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1
	}
	for done := false; !done; {
		name, value := scanMember(b, i)
		if value < 0 {
			return value
		}
		var end int
		var text deltaText
		if value < len(b) && b[value] == '"' {
			if end, text.escaped = scanString(b, value); end > 0 {
				text.raw = b[value+1 : end-1]
			}
		} else {
			end = skipValue(b, value)
		}
		if end < 0 {
			return end
		}
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
		if i, done = nextMember(b, end); i < 0 {
			return i
		}
	}
	return i
}

// deltaKind returns the kinds that are known without allocating a string, and ""
// for all others.
func deltaKind(text deltaText) string {
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

// piece returns what belongs to the kind.
func (d *delta) piece(index int64) (piece, bool) {
	var text deltaText
	switch d.kind {
	case "text_delta":
		text = d.said
	case "thinking_delta":
		text = d.thought
	case "input_json_delta":
		text = d.input
	}
	return piece{text: text.raw, index: index, escaped: text.escaped}, text.raw != nil
}

// A piece is what a delta adds, as it stands in the line.
type piece struct {
	text    []byte // nil if nothing is known
	index   int64
	escaped bool
}

// delta returns the piece as Delta does.
func (p *piece) delta() (DeltaPeek, bool) {
	text := p.text
	if p.escaped {
		text = unescape(text)
	}
	if !utf8.Valid(text) {
		return DeltaPeek{}, false
	}
	return DeltaPeek{Index: p.index, Text: text}, true
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

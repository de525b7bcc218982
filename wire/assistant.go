package wire

import "bytes"

// An AssistantPeek is what [Peek] reads of what the model said. Like the header it is
// part of the line.
type AssistantPeek struct {
	// Model is the model that said it; nil if that is not told.
	Model []byte
	// Tokens is the sum of the tokens that the message's usage counts: what was read,
	// from the cache or not, and what was written.
	Tokens int64

	text quoted // of the last block of text that is not empty
}

// Text returns the last text of the message that is not empty: all of it, or a
// beginning of at least limit bytes. It may be a part of the line itself.
func (a *AssistantPeek) Text(limit int) []byte {
	if !a.text.escaped {
		return a.text.raw
	}
	return appendUnescaped(make([]byte, 0, min(len(a.text.raw), 2*limit)), a.text.raw, limit)
}

// Assistant returns what [Peek] has read of the message of an assistant line: what
// [Decode] finds in it, if the line is valid JSON. Of any other line it is the zero
// value.
func (h *Header) Assistant() AssistantPeek {
	if string(h.Type) != "assistant" {
		return AssistantPeek{}
	}
	return h.said
}

func (a *AssistantPeek) clone() AssistantPeek {
	c := *a
	c.Model, c.text.raw = bytes.Clone(a.Model), bytes.Clone(a.text.raw)
	return c
}

// peek reads the message at b[i] and returns the index behind it.
func (a *AssistantPeek) peek(b []byte, i int) int {
	*a = AssistantPeek{} // of several, the last counts
	name, i := firstMember(b, i)
	for name != nil {
		switch string(name) {
		case "model":
			a.Model, i = peekString(b, i)
		case "content":
			a.text = quoted{}
			var more bool
			for i, more = firstElement(b, i); more; i, more = nextElement(b, i) {
				i = a.block(b, i)
			}
		case "usage":
			i = a.usage(b, i)
		default:
			i = skipValue(b, i)
		}
		name, i = nextMember(b, i)
	}
	return i
}

// block reads the block at b[i] and returns the index behind it.
func (a *AssistantPeek) block(b []byte, i int) int {
	var typ []byte
	var text quoted
	name, i := firstMember(b, i)
	for name != nil {
		switch string(name) {
		case "type":
			typ, i = peekString(b, i)
		case "text":
			text, i = peekQuoted(b, i)
		default:
			i = skipValue(b, i)
		}
		name, i = nextMember(b, i)
	}
	if string(typ) == "text" && len(text.raw) > 0 {
		a.text = text
	}
	return i
}

// usage reads the usage at b[i] and returns the index behind it.
func (a *AssistantPeek) usage(b []byte, i int) int {
	var input, output, created, read int64
	name, i := firstMember(b, i)
	for name != nil {
		value := i
		if i = skipValue(b, i); i < 0 {
			break
		}
		switch string(name) {
		case "input_tokens":
			input, _ = wholeNumber(b[value:i])
		case "output_tokens":
			output, _ = wholeNumber(b[value:i])
		case "cache_creation_input_tokens":
			created, _ = wholeNumber(b[value:i])
		case "cache_read_input_tokens":
			read, _ = wholeNumber(b[value:i])
		}
		name, i = nextMember(b, i)
	}
	a.Tokens = input + created + read + output
	return i
}

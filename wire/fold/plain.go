package fold

import (
	"bytes"
	"encoding/hex"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A plain is all that reducers want to know of an ordinary line of the model's:
// one of the main conversation that has nothing in it which has to be counted or
// looked at more closely. Nearly all lines that a log keeps are such, and reading
// this little costs a fraction of decoding them.
type plain struct {
	// text is the beginning of the last text that is not empty, as it is kept.
	text string
	// model is a part of the line.
	model []byte
	// tokens are all that the message's usage counts.
	tokens int64
}

// plainly returns what a line says if it is a plain one. It reports false for
// every other, and for one in which there is anything unusual: then what it means
// is for the decoder to say. Only lines of the CLI are looked at.
func (l *Line) plainly() (*plain, bool) {
	if !l.looked {
		l.looked = true
		l.isPlain = l.message == nil && l.err == nil && !l.Sent && string(l.Header.Type) == "assistant" &&
			len(l.Header.ParentToolUseID) == 0 && l.Valid() && utf8.Valid(l.Raw) && l.plain.read(l.Raw)
	}
	return &l.plain, l.isPlain
}

// plainDepth is how deep the values of a plain line may be nested. The decoder
// takes more.
const plainDepth = 64

// A kind is what a member's value must be for its line to be a plain one.
type kind int

const (
	textual   kind = iota // a string, or null
	flag                  // true, false or null
	anything              // whatever it is, nobody looks at it
	composite             // looked at by who reads the object
)

// The functions that read return the index behind what they have read, -1 if it is
// not as it usually is. The names are those of the protocol table: a member that it
// does not have must be counted.

// read reads a line, which is valid JSON and valid UTF-8.
func (p *plain) read(line []byte) bool {
	var seen uint64
	return eachMember(line, space(line, 0), func(name []byte, i int) int {
		bit, k := 0, textual
		switch string(name) {
		case "type":
			bit = 1
		case "message":
			bit, k = 2, composite
		case "parent_tool_use_id":
			bit = 3
		case "uuid":
			bit = 4
		case "session_id":
			bit = 5
		case "request_id":
			bit = 6
		case "user_message_uuid":
			bit = 7
		case "timestamp":
			bit = 8
		case "error":
			bit = 9
		case "resume_reason":
			bit = 10
		case "aborted":
			bit, k = 11, flag
		case "resumed_from_incomplete_thinking":
			bit, k = 12, flag
		default:
			return -1
		}
		switch {
		case !once(&seen, bit):
			return -1
		case k == composite:
			return p.message(line, i)
		}
		return k.pass(line, i)
	}) >= 0
}

// message reads the message of a line, which is at b[i].
func (p *plain) message(b []byte, i int) int {
	var seen uint64
	return eachMember(b, i, func(name []byte, i int) int {
		bit, k := 0, textual
		switch string(name) {
		case "id":
			bit = 1
		case "type":
			bit = 2
		case "role":
			bit = 3
		case "model":
			bit, k = 4, composite
		case "content":
			bit, k = 5, composite
		case "usage":
			bit, k = 6, composite
		case "stop_reason":
			bit = 7
		case "stop_sequence":
			bit = 8
		case "stop_details":
			bit, k = 9, anything
		case "container":
			bit, k = 10, anything
		case "context_management":
			bit, k = 11, anything
		case "diagnostics":
			bit, k = 12, anything
		default:
			return -1
		}
		switch {
		case !once(&seen, bit):
			return -1
		case bit == 4:
			end := textual.pass(b, i)
			if end >= 0 && b[i] == '"' {
				if p.model = b[i+1 : end-1]; bytes.IndexByte(p.model, '\\') >= 0 {
					return -1
				}
			}
			return end
		case bit == 5:
			return eachElement(b, i, p.block)
		case bit == 6:
			return p.usage(b, i)
		}
		return k.pass(b, i)
	})
}

// block reads a block of the message, which is at b[i].
func (p *plain) block(b []byte, i int) int {
	var seen uint64
	var of, text []byte
	end := eachMember(b, i, func(name []byte, i int) int {
		bit, k := 0, textual
		switch string(name) {
		case "type":
			bit = 1
		case "text":
			bit = 2
		case "citations":
			bit, k = 3, anything
		case "thinking":
			bit = 4
		case "signature":
			bit = 5
		case "id":
			bit = 6
		case "name":
			bit = 7
		case "input":
			bit, k = 8, anything
		case "cache_control":
			bit, k = 9, anything
		default:
			return -1
		}
		if !once(&seen, bit) {
			return -1
		}
		end := k.pass(b, i)
		if end >= 0 && b[i] == '"' {
			switch bit {
			case 1:
				of = b[i+1 : end-1]
			case 2:
				text = b[i+1 : end-1]
			}
		}
		return end
	})
	if end < 0 {
		return -1
	}
	// Which of these members a block may have depends on its type.
	var may uint64
	switch string(of) {
	case "text":
		may = 1<<1 | 1<<2 | 1<<3 | 1<<9
	case "thinking":
		may = 1<<1 | 1<<4 | 1<<5
	case "tool_use":
		may = 1<<1 | 1<<6 | 1<<7 | 1<<8 | 1<<9
	default:
		return -1
	}
	if seen&^may != 0 {
		return -1
	}
	if len(text) > 0 {
		var ok bool
		if p.text, ok = beginning(text); !ok {
			return -1
		}
	}
	return end
}

// usage reads the usage of the message, which is at b[i]. What is unknown in it
// is counted by nobody.
func (p *plain) usage(b []byte, i int) int {
	var seen uint64
	return eachMember(b, i, func(name []byte, i int) int {
		bit := 0
		switch string(name) {
		case "input_tokens":
			bit = 1
		case "output_tokens":
			bit = 2
		case "cache_creation_input_tokens":
			bit = 3
		case "cache_read_input_tokens":
			bit = 4
		default:
			return pass(b, i)
		}
		if !once(&seen, bit) {
			return -1
		}
		end := pass(b, i)
		if end < 0 || b[i] == 'n' {
			return end
		}
		n, err := strconv.ParseInt(string(b[i:end]), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/8 {
			return -1
		}
		p.tokens += n
		return end
	})
}

// once notes that a member was seen and reports whether that was the first time:
// of several, the last one counts, which is for the decoder to see to.
func once(seen *uint64, bit int) bool {
	before := *seen
	*seen |= 1 << bit
	return *seen != before
}

// pass returns the index behind the value at b[i], -1 if it is of another kind.
func (k kind) pass(b []byte, i int) int {
	switch c := b[i]; {
	case k == anything, c == 'n', k == textual && c == '"', k == flag && (c == 't' || c == 'f'):
		return pass(b, i)
	}
	return -1
}

// beginning returns the beginning of a text, as clip makes it, of a string that is
// given as JSON has it between its quotes. It reports false where there is half of
// a surrogate pair, or a whole one.
func beginning(inside []byte) (string, bool) {
	// What is more than fits says that it is to be cut, and where.
	var buffer [shortText + utf8.UTFMax]byte
	out := buffer[:0]
	for i := 0; i < len(inside) && len(out) <= shortText; i++ {
		c := inside[i]
		if c != '\\' {
			plain := inside[i:min(len(inside), i+shortText+1-len(out))]
			if n := bytes.IndexByte(plain, '\\'); n >= 0 {
				plain = plain[:n]
			}
			out = append(out, plain...)
			i += len(plain) - 1
			continue
		}
		i++
		switch c = inside[i]; c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			var code [2]byte
			if _, err := hex.Decode(code[:], inside[i+1:i+5]); err != nil {
				return "", false
			}
			r := rune(code[0])<<8 | rune(code[1])
			if utf16.IsSurrogate(r) {
				return "", false
			}
			out = utf8.AppendRune(out, r)
			i += 4
			continue
		}
		out = append(out, c)
	}
	if len(out) <= shortText {
		return string(out), true
	}
	end := shortText - len(ellipsis)
	for !utf8.RuneStart(out[end]) {
		end--
	}
	return string(append(out[:end], ellipsis...)), true
}

// The functions below walk valid JSON.

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// eachMember gives every member of the object at b[i] to a function, which returns
// the index behind its value or -1. It returns the index behind the object, -1 if
// the function did, and if there is no object or a member with an escape in its
// name.
func eachMember(b []byte, i int, f func(name []byte, i int) int) int {
	if b[i] != '{' {
		return -1
	}
	for i = space(b, i+1); b[i] != '}'; {
		end := i + 1
		for b[end] != '"' {
			if b[end] == '\\' {
				return -1
			}
			end++
		}
		if i = f(b[i+1:end], space(b, space(b, end+1)+1)); i < 0 {
			return -1
		}
		if i = space(b, i); b[i] == ',' {
			i = space(b, i+1)
		}
	}
	return i + 1
}

// eachElement does the same for every element of the array at b[i].
func eachElement(b []byte, i int, f func(b []byte, i int) int) int {
	if b[i] != '[' {
		return -1
	}
	for i = space(b, i+1); b[i] != ']'; {
		if i = f(b, i); i < 0 {
			return -1
		}
		if i = space(b, i); b[i] == ',' {
			i = space(b, i+1)
		}
	}
	return i + 1
}

// pass returns the index behind the value at b[i], -1 if it is nested too deep.
func pass(b []byte, i int) int {
	switch b[i] {
	case '"':
		return passString(b, i)
	case '{', '[':
	default: // a number or a word
		for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
			i++
		}
		return i
	}
	for depth := 0; ; {
		switch b[i] {
		case '"':
			i = passString(b, i)
			continue
		case '{', '[':
			if depth++; depth > plainDepth {
				return -1
			}
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
}

// passString returns the index behind the string at b[i].
func passString(b []byte, i int) int {
	start := i + 1
	for i = start; ; i++ {
		i += bytes.IndexByte(b[i:], '"')
		slashes := i
		for slashes > start && b[slashes-1] == '\\' {
			slashes--
		}
		if (i-slashes)%2 == 0 {
			return i + 1
		}
	}
}

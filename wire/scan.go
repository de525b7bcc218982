package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// The scanner below walks JSON text without building anything. It trusts the
// inside of values that it skips (brackets and quotes are matched, nothing
// else); a caller that needs certainty calls Valid first.
//
// Every loop over an object has this form, in which i is the index of a value,
// then the index behind it, and in the end the index behind the object:
//
//	name, i := firstMember(b, i)
//	for name != nil {
//		i = skipValue(b, i) // or whatever reads the value
//		name, i = nextMember(b, i)
//	}
//
// A negative index, which tells what is wrong, ends the loop and is left in i.
// The loops over arrays are alike, with firstElement and nextElement.

var (
	errTruncated = errors.New("expected more: the JSON text ends in the middle")
	errSyntax    = errors.New("expected well-formed JSON")
)

// The functions that return an index return one of these where they cannot go
// on; scanError tells what is wrong.
const (
	truncated = -1
	malformed = -2
)

func scanError(index int) error {
	if index == truncated {
		return errTruncated
	}
	return errSyntax
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

const (
	ones        = 0x0101010101010101
	highBits    = 0x8080808080808080
	quotes      = ones * '"'
	backslashes = ones * '\\'
	spaces      = ones * ' '
)

// find returns a word whose lowest set bit is in the first byte of w that equals
// c; zero if there is none.
func find(w uint64, c byte) uint64 {
	w ^= ones * uint64(c)
	return (w - ones) &^ w & highBits
}

// endOfString returns the index behind the closing quote of the string whose
// opening quote is at b[i].
func endOfString(b []byte, i int) int {
	i++
	for start := i; ; i++ {
		// Most strings are short, and quotes in long ones are close together. Where
		// that is so, looking at two words costs less than a call of IndexByte.
		if i+16 <= len(b) {
			w := b[i : i+16 : i+16]
			m0 := find(binary.LittleEndian.Uint64(w), '"')
			m1 := find(binary.LittleEndian.Uint64(w[8:]), '"')
			switch {
			case m0 != 0:
				i += bits.TrailingZeros64(m0) / 8
			case m1 != 0:
				i += 8 + bits.TrailingZeros64(m1)/8
			default:
				j := bytes.IndexByte(b[i+16:], '"')
				if j < 0 {
					return truncated
				}
				i += 16 + j
			}
		} else {
			j := bytes.IndexByte(b[i:], '"')
			if j < 0 {
				return truncated
			}
			i += j
		}
		if b[i-1] != '\\' || !escapedAt(b, start, i) {
			return i + 1
		}
	}
}

// escapedAt reports whether the quote at b[i], inside a string that starts at
// start, has an odd number of backslashes before it.
func escapedAt(b []byte, start, i int) bool {
	k := i
	for k > start && b[k-1] == '\\' {
		k--
	}
	return (i-k)&1 == 1
}

// scanString reads the string whose opening quote is at b[i]. It returns the
// index behind the closing quote, and whether there is an escape in it.
func scanString(b []byte, i int) (end int, escaped bool) {
	start := i
	for i++; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		if m := (((w ^ quotes) - ones) | ((w ^ backslashes) - ones)) &^ w & highBits; m != 0 {
			i += bits.TrailingZeros64(m) / 8
			if b[i] == '"' {
				return i + 1, false
			}
			return endOfString(b, start), true
		}
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1, false
		case '\\':
			return endOfString(b, start), true
		}
	}
	return truncated, false
}

// skipValue returns the index behind the value that starts at b[i].
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return truncated
	}
	switch b[i] {
	case '"':
		return endOfString(b, i)
	case '{', '[':
		return skipComposite(b, i)
	case '}', ']', ',', ':':
		return malformed
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			return i
		}
	}
	return i
}

// skipComposite returns the index behind the object or array that starts at b[i].
func skipComposite(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			if i = endOfString(b, i); i < 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return truncated
}

// nested returns how deep the object or array that starts at b[i] is nested: 1 if
// nothing is inside another. It is well-formed.
func nested(b []byte, i int) (deepest int) {
	for depth := 0; ; {
		switch b[i] {
		case '"':
			i = endOfString(b, i)
			continue
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			if depth--; depth == 0 {
				return deepest
			}
		}
		i++
	}
}

// firstMember returns the name of the first member of the object at b[i], with its
// escapes resolved, and the index of its value. For an empty object, and for a value
// of another kind, which is skipped, the name is nil and the index is the one
// behind it.
func firstMember(b []byte, i int) (name []byte, value int) {
	if i >= len(b) || b[i] != '{' {
		return nil, skipValue(b, i)
	}
	if i = skipSpace(b, i+1); i < len(b) && b[i] == '}' {
		return nil, i + 1
	}
	return scanMember(b, i)
}

// nextMember returns the name of the member behind the value that ends at i, and
// the index of its own value. At the end of the object the name is nil and the
// index is the one behind it.
func nextMember(b []byte, i int) (name []byte, value int) {
	if i < 0 {
		return nil, i
	}
	if i+1 < len(b) && b[i] == ',' && b[i+1] == '"' {
		return scanMember(b, i+1)
	}
	if i = skipSpace(b, i); i >= len(b) {
		return nil, truncated
	}
	switch b[i] {
	case ',':
		return scanMember(b, skipSpace(b, i+1))
	case '}':
		return nil, i + 1
	}
	return nil, malformed
}

// scanMember reads the name of a member: b[i] is its opening quote. It returns the
// name with its escapes resolved and the index of the value.
func scanMember(b []byte, i int) (name []byte, value int) {
	if i >= len(b) {
		return nil, truncated
	}
	if b[i] != '"' {
		return nil, malformed
	}
	end, escaped := scanString(b, i)
	if end < 0 {
		return nil, end
	}
	if name = b[i+1 : end-1]; escaped {
		name = unescape(name)
	}
	if end+1 < len(b) && b[end] == ':' && b[end+1] > ' ' {
		return name, end + 1
	}
	if end >= len(b) || b[end] != ':' {
		if end = skipSpace(b, end); end >= len(b) {
			return nil, truncated
		}
		if b[end] != ':' {
			return nil, malformed
		}
	}
	return name, skipSpace(b, end+1)
}

// firstElement returns the index of the first element of the array at b[i]. For an
// empty array, and for a value of another kind, which is skipped, more is false and
// the index is the one behind it.
func firstElement(b []byte, i int) (element int, more bool) {
	if i >= len(b) || b[i] != '[' {
		return skipValue(b, i), false
	}
	if i = skipSpace(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1, false
	}
	return i, true
}

// nextElement returns the index of the element behind the one that ends at i. At
// the end of the array more is false and the index is the one behind it.
func nextElement(b []byte, i int) (element int, more bool) {
	if i < 0 {
		return i, false
	}
	if i = skipSpace(b, i); i >= len(b) {
		return truncated, false
	}
	switch b[i] {
	case ',':
		return skipSpace(b, i+1), true
	case ']':
		return i + 1, false
	}
	return malformed, false
}

// unescape resolves the escapes of a JSON string's inside. As in JavaScript
// text that leaves the program, half of a surrogate pair becomes U+FFFD.
func unescape(s []byte) []byte { return appendUnescaped(make([]byte, 0, len(s)), s, math.MaxInt) }

// appendUnescaped appends what the inside of a JSON string stands for. It leaves out
// the rest when out has limit bytes or more.
func appendUnescaped(out, s []byte, limit int) []byte {
	for {
		i := bytes.IndexByte(s, '\\')
		switch {
		case len(out) >= limit:
			return out
		case i < 0 || i+1 == len(s):
			return append(out, s[:min(len(s), limit-len(out))]...)
		}
		out = append(out, s[:i]...)
		c := s[i+1]
		s = s[i+2:]
		switch c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, n := unescapeRune(s)
			out = utf8.AppendRune(out, r)
			s = s[n:]
		default: // a quote, a backslash, a slash
			out = append(out, c)
		}
	}
}

// unescapeRune reads the hex digits behind "\u", and a second escape if the
// first is the high half of a pair. It returns how many bytes it took.
func unescapeRune(s []byte) (rune, int) {
	r, ok := hex4(s)
	if !ok {
		return utf8.RuneError, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 4
	}
	if len(s) >= 10 && s[4] == '\\' && s[5] == 'u' {
		if low, ok := hex4(s[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 10
			}
		}
	}
	return utf8.RuneError, 4
}

func hex4(s []byte) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range s[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

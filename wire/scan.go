package wire

import (
	"bytes"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

// The scanner below walks JSON text without building anything. It trusts the
// inside of values that it skips (brackets and quotes are matched, nothing
// else); whoever needs certainty calls json.Valid first.

var (
	errTruncated = errors.New("expected more: the JSON text ends in the middle")
	errSyntax    = errors.New("expected well-formed JSON")
)

// structural marks the bytes at which skipping a composite value has to stop.
var structural = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index behind the closing quote of the string whose
// opening quote is at b[i], and whether there is a backslash in it.
func skipString(b []byte, i int) (end int, escaped bool, err error) {
	start := i + 1
	for i = start; ; i++ {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return 0, false, errTruncated
		}
		i += j
		k := i
		for k > start && b[k-1] == '\\' {
			k--
		}
		if (i-k)%2 == 0 {
			break
		}
	}
	return i + 1, bytes.IndexByte(b[start:i], '\\') >= 0, nil
}

// endOfString is skipString without the look for a backslash, which costs a
// second pass over long strings.
func endOfString(b []byte, i int) (int, error) {
	start := i + 1
	for i = start; ; i++ {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return 0, errTruncated
		}
		i += j
		if b[i-1] != '\\' || i == start {
			return i + 1, nil
		}
		k := i
		for k > start && b[k-1] == '\\' {
			k--
		}
		if (i-k)%2 == 0 {
			return i + 1, nil
		}
	}
}

// skipValue returns the index behind the value that starts at b[i].
func skipValue(b []byte, i int) (int, error) {
	if i >= len(b) {
		return 0, errTruncated
	}
	switch b[i] {
	case '"':
		return endOfString(b, i)
	case '{', '[':
		return skipComposite(b, i)
	case '}', ']', ',', ':':
		return 0, errSyntax
	}
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			return i, nil
		}
		i++
	}
	return i, nil
}

func skipComposite(b []byte, i int) (int, error) {
	depth := 0
	for {
		for i < len(b) && !structural[b[i]] {
			i++
		}
		if i == len(b) {
			return 0, errTruncated
		}
		switch b[i] {
		case '"':
			end, err := endOfString(b, i)
			if err != nil {
				return 0, err
			}
			i = end
		case '{', '[':
			depth++
			i++
		default:
			depth--
			i++
			if depth == 0 {
				return i, nil
			}
		}
	}
}

// scanMember reads one member of an object: b[i] is the opening quote of its
// name. It returns the name as it stands between the quotes, whether that holds
// an escape, and where the value begins.
func scanMember(b []byte, i int) (name []byte, escaped bool, value int, err error) {
	if i >= len(b) {
		return nil, false, 0, errTruncated
	}
	if b[i] != '"' {
		return nil, false, 0, errSyntax
	}
	// Names are short: a plain loop beats two calls of IndexByte.
	j := i + 1
	for j < len(b) && b[j] != '"' && b[j] != '\\' {
		j++
	}
	end := j + 1
	if j == len(b) {
		return nil, false, 0, errTruncated
	}
	if b[j] == '\\' {
		escaped = true
		if end, err = endOfString(b, i); err != nil {
			return nil, false, 0, err
		}
	}
	name = b[i+1 : end-1]
	i = skipSpace(b, end)
	if i >= len(b) {
		return nil, false, 0, errTruncated
	}
	if b[i] != ':' {
		return nil, false, 0, errSyntax
	}
	return name, escaped, skipSpace(b, i+1), nil
}

// nextMember goes on behind a value: it returns the index of the following
// member's name, or done with the index behind the closing brace.
func nextMember(b []byte, i int) (next int, done bool, err error) {
	i = skipSpace(b, i)
	if i >= len(b) {
		return 0, false, errTruncated
	}
	switch b[i] {
	case ',':
		return skipSpace(b, i+1), false, nil
	case '}':
		return i + 1, true, nil
	}
	return 0, false, errSyntax
}

// unescape resolves the escapes of a JSON string's inside. As in JavaScript
// text that leaves the program, half of a surrogate pair becomes U+FFFD.
func unescape(s []byte) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			i++
			continue
		}
		c := s[i+1]
		i += 2
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
			r, n := unescapeRune(s[i:])
			out = utf8.AppendRune(out, r)
			i += n
		default: // a quote, a backslash, a slash
			out = append(out, c)
		}
	}
	return out
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

package wire

import (
	"encoding/binary"
	"math/bits"
)

// mostNested is how deep values may be nested, as in encoding/json.
const mostNested = 10_000

// Valid reports whether b is valid JSON. It says what json.Valid says of the same
// bytes, several times as fast where there is much text: lines are mostly that,
// and each is checked once on its way.
func Valid(b []byte) bool {
	// One bit per open object or array: set for an object.
	var objects [mostNested/64 + 1]uint64
	depth := 0
	i := skipSpace(b, 0)
	for {
		// A value begins at b[i].
		if i >= len(b) {
			return false
		}
		switch c := b[i]; c {
		case '{', '[':
			if depth == mostNested {
				return false
			}
			object := c == '{'
			if object {
				objects[depth/64] |= 1 << (depth % 64)
			} else {
				objects[depth/64] &^= 1 << (depth % 64)
			}
			depth++
			if i = skipSpace(b, i+1); i >= len(b) {
				return false
			}
			if b[i] == c+2 { // the two closing ones stand two behind theirs
				depth--
				i++
				break
			}
			if object {
				if i = validName(b, i); i < 0 {
					return false
				}
			}
			continue
		case '"':
			i = validString(b, i)
		case 't':
			i = validWord(b, i, "true")
		case 'f':
			i = validWord(b, i, "false")
		case 'n':
			i = validWord(b, i, "null")
		default:
			i = validNumber(b, i)
		}
		if i < 0 {
			return false
		}
		// It is over. What follows it ends those around it, or is the next one.
		for next := false; !next; {
			i = skipSpace(b, i)
			if depth == 0 {
				return i == len(b)
			}
			if i == len(b) {
				return false
			}
			object := objects[(depth-1)/64]>>((depth-1)%64)&1 == 1
			switch c := b[i]; {
			case c == ',':
				i = skipSpace(b, i+1)
				if object {
					if i = validName(b, i); i < 0 {
						return false
					}
				}
				next = true
			case object && c == '}' || !object && c == ']':
				depth--
				i++
			default:
				return false
			}
		}
	}
}

// The functions below return the index behind what stands at b[i], or malformed.

// validName also passes over the colon and the space around it.
func validName(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return malformed
	}
	if i = validString(b, i); i < 0 {
		return malformed
	}
	if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
		return malformed
	}
	return skipSpace(b, i+1)
}

func validWord(b []byte, i int, word string) int {
	if end := i + len(word); end <= len(b) && string(b[i:end]) == word {
		return end
	}
	return malformed
}

// validString checks a string whose opening quote is at b[i].
func validString(b []byte, i int) int {
	i++
	for {
		for ; i+8 <= len(b); i += 8 {
			w := binary.LittleEndian.Uint64(b[i:])
			// Of a control character the three highest bits are clear.
			control := (w - ones*' ') &^ w & highBits
			if m := find(w, '"') | find(w, '\\') | control; m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
		}
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
			i++
		}
		if i >= len(b) {
			return malformed
		}
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			if i+1 >= len(b) {
				return malformed
			}
			switch b[i+1] {
			case 'b', 'f', 'n', 'r', 't', '\\', '/', '"':
				i += 2
			case 'u':
				if _, ok := hex4(b[i+2:]); !ok {
					return malformed
				}
				i += 6
			default:
				return malformed
			}
		default:
			return malformed
		}
	}
}

func validNumber(b []byte, i int) int {
	digits := func() bool {
		from := i
		for i < len(b) && '0' <= b[i] && b[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if !digits() {
		return malformed
	}
	if i < len(b) && b[i] == '.' {
		i++
		if !digits() {
			return malformed
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return malformed
		}
	}
	return i
}

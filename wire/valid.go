package wire

import (
	"encoding/binary"
	"math/bits"
)

// maxNested is how deep values may be nested, as in encoding/json.
const maxNested = 10_000

// Valid reports whether b is valid JSON. It says what json.Valid says of the same
// bytes, several times as fast where there is much text: lines are mostly that,
// and each is checked once on its way.
func Valid(b []byte) bool {
	_, ok := scanValid(b, nil)
	return ok
}

// scanValid is Valid that also says how deep values are nested, and notes the
// objects and arrays if it is given a list.
func scanValid(b []byte, nodes *[]node) (deepest int, ok bool) {
	// One bit per open object or array: set for an object.
	var objects [maxNested/64 + 1]uint64
	depth, open := 0, -1
	i := skipSpace(b, 0)
	for {
		// A value begins at b[i].
		if i >= len(b) {
			return 0, false
		}
		switch c := b[i]; c {
		case '{', '[':
			if depth == maxNested {
				return 0, false
			}
			object := c == '{'
			if object {
				objects[depth/64] |= 1 << (depth % 64)
			} else {
				objects[depth/64] &^= 1 << (depth % 64)
			}
			depth++
			deepest = max(deepest, depth)
			if nodes != nil {
				*nodes = append(*nodes, node{end: open})
				open = len(*nodes) - 1
			}
			if i = skipSpace(b, i+1); i >= len(b) {
				return 0, false
			}
			if b[i] == c+2 { // the two closing ones stand two behind theirs
				depth--
				i++
				if nodes != nil {
					open = closeNode(*nodes, open, i)
				}
				break
			}
			if object {
				if i = validName(b, i); i < 0 {
					return 0, false
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
			return 0, false
		}
		// It is over. What follows it ends those around it, or is the next one.
		for next := false; !next; {
			i = skipSpace(b, i)
			if depth == 0 {
				return deepest, i == len(b)
			}
			if i == len(b) {
				return 0, false
			}
			object := objects[(depth-1)/64]>>((depth-1)%64)&1 == 1
			switch c := b[i]; {
			case c == ',':
				i = skipSpace(b, i+1)
				if object {
					if i = validName(b, i); i < 0 {
						return 0, false
					}
				}
				next = true
			case object && c == '}' || !object && c == ']':
				depth--
				i++
				if nodes != nil {
					open = closeNode(*nodes, open, i)
				}
			default:
				return 0, false
			}
		}
	}
}

// closeNode notes where a node ends, and returns the one around it.
func closeNode(nodes []node, open, end int) (around int) {
	around = nodes[open].end
	nodes[open] = node{end: end, next: len(nodes)}
	return around
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
	for i++; ; {
		// Two words at a time where there is nothing to look at. Of a control
		// character the three highest bits are clear.
		for i+16 <= len(b) {
			w := b[i : i+16 : i+16]
			w0, w1 := binary.LittleEndian.Uint64(w), binary.LittleEndian.Uint64(w[8:])
			m0 := (((w0 ^ quotes) - ones) | ((w0 ^ backslashes) - ones) | (w0 - spaces)) &^ w0 & highBits
			m1 := (((w1 ^ quotes) - ones) | ((w1 ^ backslashes) - ones) | (w1 - spaces)) &^ w1 & highBits
			if m0 != 0 {
				i += bits.TrailingZeros64(m0) / 8
				break
			}
			if m1 != 0 {
				i += 8 + bits.TrailingZeros64(m1)/8
				break
			}
			i += 16
		}
		if i+16 > len(b) {
			for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
				i++
			}
			if i >= len(b) {
				return malformed
			}
		}
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			if i+1 >= len(b) {
				return malformed
			}
			switch b[i+1] {
			case 'n', 't', '"', '\\', 'r', '/', 'b', 'f':
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

package paint

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxMarks is how many marks may stand on one letter. No language needs as many; without a limit one letter could be megabytes long.
const maxMarks = 30

// Clean makes a text that may be an agent's harmless for a terminal: control characters, with which it could move the cursor, set titles or
// fill the clipboard, and those that turn the order of letters around become visible. Line feeds stay; tabs become spaces. What stands on
// a letter beyond thirty marks is left out. The result is at most four times as long as the text, and cleaning it again changes nothing.
func Clean(text string) string {
	bad := firstBad(text)
	if bad == len(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	b.WriteString(text[:bad])
	marks := 0
	// The marks before the bad place count as well.
	for i := bad; i > 0; {
		r, n := utf8.DecodeLastRuneInString(text[:i])
		if !stacks(r) {
			break
		}
		i -= n
		marks++
	}
	for i := bad; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		if stacks(r) {
			if marks++; marks > maxMarks {
				continue
			}
		} else {
			marks = 0
		}
		switch {
		case r == '\r' && i < len(text) && text[i] == '\n':
		case harmless(r):
			b.WriteRune(r)
		case r == '\t':
			b.WriteString("    ")
		case r < 0x20:
			b.WriteRune('\u2400' + r) // its picture
		case r == 0x7f:
			b.WriteRune('\u2421')
		default:
			b.WriteRune(utf8.RuneError)
		}
	}
	return b.String()
}

// firstBad returns where the first character stands that has to be replaced or left out, or the text's length.
func firstBad(text string) int {
	marks := 0
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			if c < 0x20 && c != '\n' || c == 0x7f {
				return i
			}
			marks = 0
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if !harmless(r) {
			return i
		}
		if !stacks(r) {
			marks = 0
		} else if marks++; marks > maxMarks {
			return i
		}
		i += n
	}
	return len(text)
}

// stacks reports whether a character takes no place of its own.
func stacks(r rune) bool {
	return r == '\u00ad' || r >= 0x300 && (unicode.In(r, unicode.Mn, unicode.Me) || r == '\u200c' || r == '\u200d')
}

// harmless reports whether a character may reach a terminal. Of the format characters only those may that join scripts and emoji.
func harmless(r rune) bool {
	switch {
	case r < 0x7f:
		return r >= 0x20 || r == '\n'
	case r == utf8.RuneError, r == '\u2028', r == '\u2029', unicode.IsControl(r):
		return false
	case r == '\u200c', r == '\u200d', r == '\u00ad':
		return true
	default:
		return !unicode.Is(unicode.Cf, r)
	}
}

// CleanLine returns a text in one line of at most width columns, cut with an ellipsis if it is longer. A width of 0 does not cut.
func CleanLine(text string, width int) string { return cleanLine(text, width, "…") }

func cleanLine(text string, width int, ellipsis string) string {
	if width <= 0 {
		return strings.Join(strings.Fields(Clean(text)), " ")
	}
	// No more is looked at than could be shown, or a line of megabytes would be copied for eighty columns.
	text = strings.TrimSpace(text)
	more := false
	if most := 4096 + 64*width; len(text) > most {
		for most > 0 && !utf8.RuneStart(text[most]) {
			most--
		}
		text, more = text[:most], true
	}
	text = strings.Join(strings.Fields(Clean(text)), " ")
	if more {
		text += " " + ellipsis
	}
	return truncate(text, width, ellipsis)
}

// truncate cuts a clean line at width columns.
func truncate(line string, width int, ellipsis string) string {
	columns, end := 0, 0 // end is where to cut so that the ellipsis still fits
	for i := 0; i < len(line); {
		n, w := cluster(line[i:])
		if columns+w > width {
			return strings.TrimRight(line[:end], " ") + ellipsis
		}
		if columns += w; columns <= width-1 {
			end = i + n
		}
		i += n
	}
	return line
}

// Fields of long texts are not needed here: a text's beginning says what it is.
const maxPeek = 4 << 10

// FirstLine returns the first line of a text that is not blank, cleaned and cut at width columns, and how many lines follow it.
func FirstLine(text string, width int) (line string, more int) {
	text = strings.TrimRight(text, " \t\r\n")
	for {
		first, rest, found := strings.Cut(text, "\n")
		head := first
		if len(head) > maxPeek {
			head = head[:maxPeek]
		}
		if strings.TrimSpace(head) != "" || !found {
			if found {
				more = strings.Count(rest, "\n") + 1
			}
			return CleanLine(first, width), more
		}
		text = rest
	}
}

// CleanJSON returns the same JSON without characters that do something to a terminal: JSON escapes only some of them. Nothing is lost.
func CleanJSON(text []byte) []byte {
	harmful := func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }
	if bytes.IndexFunc(text, harmful) < 0 {
		return text
	}
	escaped := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case !harmful(r):
			escaped = append(escaped, text[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			escaped = fmt.Appendf(escaped, `\u%04x\u%04x`, high, low)
		default:
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		}
		text = text[size:]
	}
	return escaped
}

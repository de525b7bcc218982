package record

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// CutLine returns a text in one line, without control characters, cut to a number of
// runes.
func CutLine(text string, limit int) string {
	var b strings.Builder
	space, n := false, 0
	for _, r := range text {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError {
			space = n > 0
			continue
		}
		if n >= limit-1 {
			b.WriteRune('…')
			break
		}
		if space {
			b.WriteByte(' ')
			space, n = false, n+1
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes a text that may be an agent's harmless for a terminal: control characters, with which it could move the cursor, set titles or
// fill the clipboard, and those that turn the order of letters around become visible. Line feeds stay; tabs become spaces.
func Clean(text string) string {
	harmless := func(r rune) bool {
		return r == '\n' || r != utf8.RuneError && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) && r != '\u2028' && r != '\u2029'
	}
	if strings.IndexFunc(text, func(r rune) bool { return !harmless(r) }) < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		switch {
		case harmless(r), joiner(r):
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

// joiner reports whether a format character belongs to ordinary text: scripts and emoji are joined by these.
func joiner(r rune) bool { return r == '\u200c' || r == '\u200d' || r == '\u00ad' }

// most is how long a text in one line may become, in runes.
const most = 160

// oneLine returns a text in one line.
func oneLine(text string) string { return strings.Join(strings.Fields(Clean(text)), " ") }

// short returns a text in one line, cut if it is long.
func short(text string) string {
	text = oneLine(text)
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	runes := []rune(text)
	return string(runes[:most-1]) + "…"
}

// below puts the further lines of a text under its first one.
func below(text string, width int) string {
	text = strings.TrimRight(Clean(text), " \n")
	if !strings.Contains(text, "\n") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines[1:] {
		lines[i+1] = strings.TrimRight(strings.Repeat(" ", width)+line, " ")
	}
	return strings.Join(lines, "\n")
}

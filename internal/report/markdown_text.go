package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/internal/transcript"
)

// quoted writes Markdown of an agent's as Markdown. It stands in a quotation, so
// that none of it can pass for a heading or a note of the export, and what does
// something to a viewer that only opens the file is made text: HTML and pictures.
func (m *markdown) quoted(text string) {
	lines := strings.Split(strings.TrimRight(visible(text, true), "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		indent, mark, info, ok := fenceOf(lines[i])
		if !ok {
			m.write(strings.TrimRight("> "+harmless(lines[i]), " "), "\n")
			continue
		}
		end := i + 1
		for end < len(lines) && !closes(lines[end], mark) {
			end++
		}
		// The fence is written anew, so that every viewer agrees on where it ends.
		code := lines[i+1 : end]
		fence := strings.Repeat("`", max(3, longestRun(strings.Join(code, "\n"))+1))
		m.write("> ", indent, fence, info, "\n")
		for _, line := range code {
			m.write(strings.TrimRight("> "+indent+strings.TrimPrefix(line, indent), " "), "\n")
		}
		m.write("> ", indent, fence, "\n")
		i = end
	}
}

// fenceOf returns how far in a line that begins a block of code stands, at most
// three columns, its mark, and what it says the code is.
func fenceOf(line string) (indent, mark, info string, ok bool) {
	rest := strings.TrimLeft(line, " ")
	indent = line[:min(len(line)-len(rest), 3)]
	for _, sign := range []string{"`", "~"} {
		info := strings.TrimLeft(rest, sign)
		if n := len(rest) - len(info); n >= 3 {
			// One that has a back quote behind it is a word in code.
			word := strings.TrimSpace(info)
			return indent, rest[:n], onlyLetters(word), !strings.Contains(word, "`")
		}
	}
	return "", "", "", false
}

// closes reports whether a line ends a block of code that a mark has begun.
func closes(line, mark string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(mark) && strings.Trim(line, mark[:1]) == ""
}

// onlyLetters returns the name of a language; nothing if it is none.
func onlyLetters(word string) string {
	word, _, _ = strings.Cut(word, " ")
	if len(word) > 20 || strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' && r != '-' && r != '#'
	}) {
		return ""
	}
	return word
}

// harmless returns a line of Markdown without HTML and pictures. Words in code are
// written anew.
func harmless(line string) string {
	var b strings.Builder
	for line != "" {
		switch line[0] {
		case '`':
			rest := strings.TrimLeft(line, "`")
			ticks := line[:len(line)-len(rest)]
			if code, after, found := cutTicks(rest, ticks); found && strings.TrimSpace(code) != "" {
				b.WriteString(inCode(code))
				line = after
				continue
			}
			b.WriteString(strings.Repeat("\\`", len(ticks)))
			line = rest
		case '<':
			b.WriteString("&lt;")
			line = line[1:]
		case '!':
			b.WriteByte('!')
			if line = line[1:]; strings.HasPrefix(line, "[") {
				b.WriteByte('\\')
			}
		case '&':
			b.WriteString("&amp;")
			line = line[1:]
		case ']':
			if strange(line[1:]) {
				b.WriteByte('\\')
			}
			b.WriteByte(']')
			line = line[1:]
		case '\\':
			// A back quote, < and & are written in their own way in any case.
			b.WriteByte('\\')
			if line = line[1:]; line == "" || strings.IndexByte("`<&", line[0]) >= 0 {
				b.WriteByte('\\')
			} else if line[0] < utf8.RuneSelf {
				b.WriteByte(line[0])
				line = line[1:]
			}
		default:
			end := strings.IndexAny(line, "`<&!]\\")
			if end < 0 {
				end = len(line)
			}
			b.WriteString(line[:end])
			line = line[end:]
		}
	}
	return b.String()
}

// strange reports whether what follows a bracket makes a link of it that leads
// elsewhere than to a page, a file beside this one or a mailbox.
func strange(after string) bool {
	if after == "" || after[0] != '(' && after[0] != ':' {
		return false
	}
	target := strings.ToLower(strings.TrimSpace(strings.ReplaceAll(after[1:], "\\", "")))
	if target == "" {
		return true // it may stand in the next line
	}
	scheme, _, found := strings.Cut(target, ":")
	if !found || strings.ContainsAny(scheme, "/?#) ") {
		return false
	}
	return scheme != "http" && scheme != "https" && scheme != "mailto"
}

// cutTicks cuts a text at the next run of exactly these back quotes.
func cutTicks(text, ticks string) (before, after string, found bool) {
	for at := 0; ; {
		i := strings.Index(text[at:], ticks)
		if i < 0 {
			return "", "", false
		}
		i += at
		run := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
		if run == len(ticks) {
			return text[:i], text[i+run:], true
		}
		at = i + run
	}
}

// todos writes what an agent has to do as a list.
func (m *markdown) todos(list []transcript.Todo) {
	for _, todo := range list {
		box, more := "[ ] ", ""
		switch todo.Status {
		case "completed":
			box = "[x] "
		case "in_progress":
			more = " (in progress)"
		}
		m.write("- ", box, inText(todo.Text), more, "\n")
	}
}

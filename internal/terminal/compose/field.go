package compose

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/units"
)

// MaxText is how long a text in a field may become, in bytes: what the server takes as a message.
const MaxText = 1 << 20

// A Field is a text that is being written. It is moved in and deleted from by what a person sees as one character, however many code points
// that has. The zero value is an empty field of one line.
type Field struct {
	// Multiline lets line feeds in. Without it they become spaces.
	Multiline bool

	text string
	pos  int // in bytes, at the beginning of a character
	goal int // the column that up and down aim at, from 1; 0: where the cursor is
	undo []state
}

// A state is a text that can be gone back to.
type state struct {
	text string
	pos  int
}

// maxUndo is how many texts can be gone back to.
const maxUndo = 50

// Value returns the text.
func (f Field) Value() string { return f.text }

// Set replaces the text; the cursor is at its end. What a terminal could be harmed with is left out, and what is longer than MaxText too.
func (f Field) Set(text string) Field {
	f.undo = nil
	f.text, f.pos, f.goal = "", 0, 0
	f, _ = f.put(text)
	f.undo = nil
	return f
}

// Insert writes a text at the cursor, whole or not at all: it is an error if the field would become too long.
func (f Field) Insert(text string) (Field, error) {
	if len(text) > 2*MaxText {
		return f, tooLong(len(text)) // without looking at each letter of it
	}
	clean := f.fit(text)
	if len(f.text)+len(clean) > MaxText {
		return f, tooLong(len(f.text) + len(clean))
	}
	f, _ = f.put(clean)
	return f, nil
}

func tooLong(n int) error {
	return fmt.Errorf("the text would have %s, the limit is %s; put it into a file and attach it with @PATH", units.Size(int64(n)), units.Size(MaxText))
}

// put writes what fits.
func (f Field) put(text string) (Field, bool) {
	room := MaxText - len(f.text)
	if len(text) > 2*MaxText {
		text = text[:2*MaxText]
	}
	text = f.fit(text)
	whole := len(text) <= room
	if !whole {
		text = strings.ToValidUTF8(text[:room], "")
	}
	f = f.remember()
	f.text = f.text[:f.pos] + text + f.text[f.pos:]
	f.pos = f.edge(f.pos + len(text))
	f.goal = 0
	return f, whole
}

// fit takes out of a text what has no place in this field.
func (f Field) fit(text string) string {
	if strings.ContainsRune(text, 0x1b) {
		text = ansi.Strip(text)
	}
	text = strings.ReplaceAll(strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r\n", "\n"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' && f.Multiline, r == '\t' && f.Multiline:
			return r
		case r == '\n', r == '\t', r == '\u2028', r == '\u2029':
			return ' '
		case unicode.IsControl(r):
			return -1
		default:
			return r
		}
	}, text)
}

// remember keeps the text, so that it can be gone back to.
func (f Field) remember() Field {
	from := max(0, len(f.undo)-maxUndo+1)
	f.undo = append(f.undo[from:len(f.undo):len(f.undo)], state{f.text, f.pos})
	return f
}

// edge returns the beginning of the character that a place lies in: what was inserted may have joined what was there.
func (f Field) edge(at int) int {
	from := lineStart(f.text, at)
	for from < at {
		next := from + len(first(f.text[from:]))
		if next > at {
			return next
		}
		from = next
	}
	return at
}

// first returns the first character of a text, as a person sees it; "" of none.
func first(text string) string {
	if text == "" {
		return ""
	}
	if text[0] == '\n' {
		return "\n"
	}
	if len(text) > 1 && text[0] < utf8.RuneSelf && text[1] < utf8.RuneSelf {
		return text[:1] // the common case
	}
	// A character can be as long as the user wants (accents upon accents); it is cut where no user writes one.
	head := text[:min(len(text), maxCharacter)]
	cluster, _ := ansi.FirstGraphemeCluster(head, ansi.GraphemeWidth)
	if cluster == "" || len(cluster) == len(head) && len(head) < len(text) {
		_, n := utf8.DecodeRuneInString(text)
		return text[:n]
	}
	return cluster
}

// maxCharacter is how many bytes a character may have to be seen as one.
const maxCharacter = 256

func lineStart(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

func lineEnd(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}

// left returns the beginning of the character before the cursor.
func (f Field) left() int {
	if f.pos == 0 {
		return 0
	}
	from := lineStart(f.text, f.pos)
	if from == f.pos {
		return f.pos - 1
	}
	for {
		next := from + len(first(f.text[from:]))
		if next >= f.pos {
			return from
		}
		from = next
	}
}

func (f Field) right() int { return f.pos + len(first(f.text[f.pos:])) }

// wordLeft returns the beginning of the word before the cursor.
func (f Field) wordLeft() int {
	text := strings.TrimRightFunc(f.text[:f.pos], notWord)
	return len(strings.TrimRightFunc(text, func(r rune) bool { return !notWord(r) }))
}

// wordRight returns the end of the word after the cursor.
func (f Field) wordRight() int {
	text := strings.TrimLeftFunc(f.text[f.pos:], notWord)
	return len(f.text) - len(strings.TrimLeftFunc(text, func(r rune) bool { return !notWord(r) }))
}

func notWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '_'
}

// to moves the cursor.
func (f Field) to(at int) Field {
	f.pos, f.goal = f.edge(at), 0
	return f
}

// cut takes a part of the text away.
func (f Field) cut(from, to int) Field {
	if from >= to {
		return f
	}
	f = f.remember()
	f.text, f.pos = f.text[:from]+f.text[to:], from
	f.pos, f.goal = f.edge(from), 0
	return f
}

// Key changes the field as a key says, and reports whether the key is one of a text field's. Up and down need the width that the text is
// shown in; they report false at the first and the last row.
func (f Field) Key(key tea.KeyPressMsg, width int) (Field, bool) {
	switch key.String() {
	case "left", "ctrl+b":
		return f.to(f.left()), true
	case "right", "ctrl+f":
		return f.to(f.right()), true
	case "alt+left", "ctrl+left", "alt+b":
		return f.to(f.wordLeft()), true
	case "alt+right", "ctrl+right", "alt+f":
		return f.to(f.wordRight()), true
	case "home", "ctrl+a":
		return f.to(lineStart(f.text, f.pos)), true
	case "end", "ctrl+e":
		return f.to(lineEnd(f.text, f.pos)), true
	case "ctrl+home", "alt+<":
		return f.to(0), true
	case "ctrl+end", "alt+>":
		return f.to(len(f.text)), true
	case "up":
		return f.vertical(-1, width)
	case "down":
		return f.vertical(1, width)
	case "backspace", "ctrl+h", "shift+backspace":
		return f.cut(f.left(), f.pos), true
	case "delete":
		return f.cut(f.pos, f.right()), true
	case "alt+backspace", "ctrl+backspace":
		return f.cut(f.wordLeft(), f.pos), true
	case "ctrl+w":
		head := strings.TrimRightFunc(f.text[:f.pos], unicode.IsSpace)
		return f.cut(len(strings.TrimRightFunc(head, func(r rune) bool { return !unicode.IsSpace(r) })), f.pos), true
	case "alt+d", "ctrl+delete":
		return f.cut(f.pos, f.wordRight()), true
	case "ctrl+u":
		from := lineStart(f.text, f.pos)
		if from == f.pos && from > 0 {
			from--
		}
		return f.cut(from, f.pos), true
	case "ctrl+k":
		to := lineEnd(f.text, f.pos)
		if to == f.pos && to < len(f.text) {
			to++
		}
		return f.cut(f.pos, to), true
	case "ctrl+_", "ctrl+z", "ctrl+/":
		if n := len(f.undo); n > 0 {
			f.text, f.pos, f.undo, f.goal = f.undo[n-1].text, f.undo[n-1].pos, f.undo[:n-1:n-1], 0
		}
		return f, true
	case "alt+enter", "shift+enter", "ctrl+j", "ctrl+enter":
		if !f.Multiline {
			return f, false
		}
		f, _ = f.put("\n")
		return f, true
	}
	if text := key.Text; text != "" && key.Mod&^(tea.ModShift|tea.ModCapsLock|tea.ModNumLock) == 0 {
		f, _ = f.put(text)
		return f, true
	}
	return f, false
}

// vertical moves the cursor to another row.
func (f Field) vertical(by, width int) (Field, bool) {
	rows := layout(f.text, width)
	x, y := place(f.text, rows, f.pos)
	if y+by < 0 || y+by >= len(rows) {
		return f, false
	}
	if f.goal > 0 {
		x = f.goal - 1
	}
	r := rows[y+by]
	at, column := r.from, 0
	for at < r.to {
		c := first(f.text[at:])
		_, w := shown(c, width)
		if column+w > x || at+len(c) >= r.to && !r.hard {
			break // the end of a row that goes on is the beginning of the next
		}
		at, column = at+len(c), column+w
	}
	f.pos, f.goal = at, x+1
	return f, true
}

// Lines returns the rows around the cursor, at most most of them (0: all), each at most width columns wide, and where the cursor is in
// them.
func (f Field) Lines(width, most int) (lines []string, x, y int) {
	rows := layout(f.text, width)
	x, y = place(f.text, rows, f.pos)
	from, to := 0, len(rows)
	if most > 0 && to > most {
		from = min(max(0, y-most/2), to-most)
		to = from + most
	}
	for _, r := range rows[from:to] {
		lines = append(lines, draw(f.text[r.from:r.to], width))
	}
	return lines, min(x, max(0, width-1)), y - from
}

// A row is a part of a text that is shown in one line. It is hard if a line feed, or the text's end, follows.
type row struct {
	from, to int
	hard     bool
}

// layout cuts a text into rows. One column stays free for the cursor.
func layout(text string, width int) []row {
	width = max(1, width-1)
	var rows []row
	for at := 0; ; {
		end := lineEnd(text, at)
		rows = flow(rows, text, at, end, width)
		if end == len(text) {
			return rows
		}
		at = end + 1
	}
}

// flow cuts one line into rows, at spaces where there are any.
func flow(rows []row, text string, from, end, width int) []row {
	column, space := 0, -1
	start := from
	for at := from; at < end; {
		c := first(text[at:])
		_, w := shown(c, width)
		if column+w > width && at > start {
			cut := at
			if space > start {
				cut = space
			}
			rows = append(rows, row{start, cut, false})
			start, space = cut, -1
			column = 0
			for i := cut; i < at; {
				part := first(text[i:])
				_, pw := shown(part, width)
				column, i = column+pw, i+len(part)
			}
		}
		at, column = at+len(c), column+w
		if c == " " || c == "\t" {
			space = at
		}
	}
	return append(rows, row{start, end, true})
}

// place returns the column and the row of a place in the text.
func place(text string, rows []row, pos int) (x, y int) {
	for y < len(rows)-1 && (pos > rows[y].to || pos == rows[y].to && !rows[y].hard) {
		y++
	}
	for at := rows[y].from; at < pos && at < rows[y].to; {
		c := first(text[at:])
		_, w := shown(c, max(1, 1<<30))
		x, at = x+w, at+len(c)
	}
	return x, y
}

// shown returns how one character is shown, and how wide that is.
func shown(c string, width int) (string, int) {
	if len(c) == 1 && c[0] >= 0x20 && c[0] < 0x7f {
		return c, 1
	}
	if c == "\t" {
		n := min(4, max(1, width))
		return strings.Repeat(" ", n), n
	}
	c = paint.Clean(c)
	w := ansi.StringWidth(c)
	if w > width {
		return "?", 1
	}
	return c, w
}

// draw returns a row as it is shown.
func draw(text string, width int) string {
	var b strings.Builder
	for at := 0; at < len(text); {
		c := first(text[at:])
		s, _ := shown(c, max(1, width-1))
		b.WriteString(s)
		at += len(c)
	}
	return b.String()
}

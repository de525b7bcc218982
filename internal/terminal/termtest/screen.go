package termtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Cell is one place of the screen.
type Cell struct {
	// Rune is what stands there: a character with all that belongs to it, or a space. It is empty in the second half of a wide one.
	Rune string
	// Width is how many cells it takes: 1, 2, or 0 for the second half of a wide one.
	Width int
	// Style is how it looks.
	Style Style
}

// cell is a [Cell] as the emulator keeps it: text is empty where nothing was written.
type cell struct {
	text  string
	style Style
	width int8 // 0: the second half of a wide character; 1 also for empty cells
}

// A row is a line of the screen.
type row []cell

// text returns what stands in a row, without the blanks at its end.
func (r row) text() string {
	var b strings.Builder
	for i := range r {
		switch {
		case r[i].width == 0:
		case r[i].text == "":
			b.WriteByte(' ')
		default:
			b.WriteString(r[i].text)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// A Screen is what a terminal showed at one moment. It does not change any more.
type Screen struct {
	// Cols and Rows are its size.
	Cols, Rows int
	// CursorX and CursorY are where the cursor stands, from 0. CursorX is Cols-1 also after the last column was written.
	CursorX, CursorY int
	// CursorHidden says that the cursor is not shown.
	CursorHidden bool
	// Title is the window's title, and Titles how often it was set.
	Title  string
	Titles int
	// AltScreen says that the alternate screen is shown, which has no scrollback.
	AltScreen bool
	// Bell is how often the bell rang.
	Bell int
	// Clipboard is what was written to the clipboard (OSC 52), as it came.
	Clipboard []string
	// Unknown are the sequences that this terminal does not know, quoted; the first thousand.
	Unknown []string

	rows       []row
	scrollback []string
	modes      map[int]bool
	style      Style
	kitty      int
	otherKeys  bool
	colors     map[int]bool
	region     bool
}

// Text returns all rows, without the blanks at their ends and without the empty rows at the end.
func (s *Screen) Text() string {
	var b strings.Builder
	empty := 0
	for i := range s.rows {
		text := s.rows[i].text()
		if text == "" {
			empty++
			continue
		}
		for ; empty > 0; empty-- {
			b.WriteByte('\n')
		}
		b.WriteString(text)
		empty++
	}
	return b.String()
}

// Row returns a row from 0, without the blanks at its end; "" for one that there is not.
func (s *Screen) Row(i int) string {
	if i < 0 || i >= len(s.rows) {
		return ""
	}
	return s.rows[i].text()
}

// Cell returns the cell in a column and a row, both from 0; the zero value for one that there is not.
func (s *Screen) Cell(x, y int) Cell {
	if y < 0 || y >= len(s.rows) || x < 0 || x >= len(s.rows[y]) {
		return Cell{}
	}
	c := s.rows[y][x]
	if c.text == "" && c.width == 1 {
		c.text = " "
	}
	return Cell{Rune: c.text, Width: int(c.width), Style: c.style}
}

// Find returns where a text stands on the screen within one row, from the top; ok is false if it does not.
func (s *Screen) Find(text string) (x, y int, ok bool) {
	for y := range s.rows {
		before, _, found := strings.Cut(s.rows[y].text(), text)
		if !found {
			continue
		}
		// Columns are not bytes.
		for x := range s.rows[y] {
			if s.rows[y][:x].width() == len(before) {
				return x, y, true
			}
		}
	}
	return 0, 0, false
}

// width returns how many bytes of text the cells make.
func (r row) width() int {
	n := 0
	for i := range r {
		switch {
		case r[i].width == 0:
		case r[i].text == "":
			n++
		default:
			n += len(r[i].text)
		}
	}
	return n
}

// Contains reports whether a text stands on the screen, within one row.
func (s *Screen) Contains(text string) bool {
	return slices.ContainsFunc(s.rows, func(r row) bool { return strings.Contains(r.text(), text) })
}

// Scrollback returns the rows that have left the main screen at its top, oldest first.
func (s *Screen) Scrollback() []string { return slices.Clone(s.scrollback) }

// All returns the scrollback and the screen as one text: on the main screen everything that was ever shown.
func (s *Screen) All() string {
	return strings.Join(append(slices.Clone(s.scrollback), s.Text()), "\n")
}

// Mode reports whether a private mode (DECSET) is on, for instance 2004, bracketed paste.
func (s *Screen) Mode(n int) bool { return s.modes[n] }

// LeftOver lists what a program should have put back before it ended and has not: an alternate screen, a hidden cursor, mouse reports, colours
// and so on. For a program that leaves the terminal as it found it, it is empty.
func (s *Screen) LeftOver() []string {
	var left []string
	add := func(is bool, format string, args ...any) {
		if is {
			left = append(left, fmt.Sprintf(format, args...))
		}
	}
	add(s.AltScreen, "the alternate screen is shown")
	add(s.CursorHidden, "the cursor is hidden")
	for _, mode := range slices.Sorted(maps.Keys(s.modes)) {
		// A terminal begins with auto-wrap and a visible cursor; those of the alternate screen are said above.
		switch mode {
		case modeAutoWrap:
			add(!s.modes[mode], "lines are not wrapped (mode 7 is off)")
		case modeCursor, 47, 1047, 1049:
		default:
			add(s.modes[mode], "mode %d is on", mode)
		}
	}
	add(s.style != Style{}, "text is styled")
	add(s.kitty > 0 || s.otherKeys, "the keyboard protocol is on")
	add(s.region, "a scroll region is set")
	for _, n := range slices.Sorted(maps.Keys(s.colors)) {
		add(s.colors[n], "the terminal's colour %d is changed", n)
	}
	return left
}

// String draws the screen in a frame, for messages.
func (s *Screen) String() string {
	var b strings.Builder
	line := "+" + strings.Repeat("-", s.Cols) + "+\n"
	b.WriteString(line)
	for i := range s.rows {
		text := s.rows[i].text()
		fmt.Fprintf(&b, "|%s%s|\n", text, strings.Repeat(" ", max(s.Cols-columns(s.rows[i]), 0)))
	}
	b.WriteString(line)
	fmt.Fprintf(&b, "cursor %d,%d", s.CursorX, s.CursorY)
	if s.AltScreen {
		b.WriteString(", alternate screen")
	}
	if n := len(s.scrollback); n > 0 {
		fmt.Fprintf(&b, ", %d rows above", n)
	}
	if len(s.Unknown) > 0 {
		fmt.Fprintf(&b, ", not known: %s", strings.Join(s.Unknown[:min(len(s.Unknown), 5)], " "))
	}
	return b.String()
}

// columns returns up to which column a row is written.
func columns(r row) int {
	for i, c := range slices.Backward(r) {
		if c.width == 0 || c.text != "" && c.text != " " {
			return i + 1
		}
	}
	return 0
}

package termtest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Film is a recording of chosen moments: what was on the screen then, each shown for a chosen time. Unlike what a terminal records while
// things happen, it does not depend on how fast they do. The zero value is an empty one.
type Film struct {
	cast Cast
	last *Screen
	now  time.Duration
	mark string
}

// Mark names what comes.
func (f *Film) Mark(name string) {
	if f.mark != name {
		f.mark = name
		f.cast.Events = append(f.cast.Events, CastEvent{f.now, CastMark, name})
	}
}

// Show shows a screen for a while.
func (f *Film) Show(s *Screen, while time.Duration) {
	switch {
	case f.last == nil:
		f.cast.Version, f.cast.Width, f.cast.Height = 2, s.Cols, s.Rows
	case f.last.Cols != s.Cols || f.last.Rows != s.Rows:
		f.cast.Events = append(f.cast.Events, CastEvent{f.now, CastResize, resized(s.Cols, s.Rows)})
		f.last = nil
	}
	f.cast.Events = append(f.cast.Events, CastEvent{f.now, CastOutput, s.draw(f.last)})
	f.last = s
	f.now += while
}

// Cast returns the recording so far. It ends with a mark of no name, which says how long the last moment lasts.
func (f *Film) Cast(title string) *Cast {
	c := f.cast
	c.Title = title
	c.Events = append(slices.Clone(c.Events), CastEvent{f.now, CastMark, f.mark})
	return &c
}

// draw returns what makes a terminal that shows one screen show another; nil is an empty one.
func (s *Screen) draw(before *Screen) string {
	var b strings.Builder
	b.WriteString("\x1b[?25l")
	if before == nil {
		b.WriteString("\x1b[m\x1b[2J")
	}
	for y, r := range s.rows {
		if before != nil && slices.Equal(before.rows[y], r) {
			continue
		}
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[2K", y+1)
		style := Style{}
		for x := range inked(r) {
			if r[x].width == 0 {
				continue
			}
			if r[x].style != style {
				b.WriteString(r[x].style.sequence(style))
				style = r[x].style
			}
			if r[x].text == "" {
				b.WriteByte(' ')
			} else {
				b.WriteString(r[x].text)
			}
		}
		if style != (Style{}) {
			b.WriteString(Style{}.sequence(style))
		}
	}
	fmt.Fprintf(&b, "\x1b[%d;%dH", s.CursorY+1, s.CursorX+1)
	if !s.CursorHidden {
		b.WriteString("\x1b[?25h")
	}
	return b.String()
}

// sequence returns what makes a style of another.
func (s Style) sequence(before Style) string {
	var b strings.Builder
	if s.Link != before.Link {
		b.WriteString("\x1b]8;;" + s.Link + "\x1b\\")
	}
	codes := []string{"0"}
	for i := range 8 {
		if s.Attr&(1<<i) != 0 {
			codes = append(codes, []string{"1", "2", "3", "4", "5", "7", "8", "9"}[i])
		}
	}
	for _, c := range []struct {
		color Color
		code  string
	}{{s.Foreground, "38"}, {s.Background, "48"}, {s.UnderlineColor, "58"}} {
		if n, ok := c.color.Index(); ok {
			codes = append(codes, fmt.Sprintf("%s;5;%d", c.code, n))
		} else if c.color != 0 {
			codes = append(codes, fmt.Sprintf("%s;2;%d;%d;%d", c.code, c.color>>16&0xff, c.color>>8&0xff, c.color&0xff))
		}
	}
	b.WriteString("\x1b[" + strings.Join(codes, ";") + "m")
	return b.String()
}

// Replace returns the screen with all matches of an expression replaced, as [regexp.Regexp.ReplaceAllString] does: for numbers and names that are different
// each time. Rows that are full are taken as one with the next; what moves by that stays within them.
func (s *Screen) Replace(expression *regexp.Regexp, with string) *Screen {
	changed := *s
	changed.rows = slices.Clone(s.rows)
	for from := 0; from < len(changed.rows); {
		to := from + 1
		for to < len(changed.rows) && columns(changed.rows[to-1]) == s.Cols {
			to++
		}
		if line, ok := replaced(slices.Concat(changed.rows[from:to]...), expression, with); ok {
			for y := from; y < to; y++ {
				r := blank(s.Cols, Style{})
				n := copy(r, line)
				if n == s.Cols && r[n-1].width == 2 { // it has no place here
					r[n-1] = cell{width: 1}
					n--
				}
				line = line[n:]
				changed.rows[y] = r
			}
		}
		from = to
	}
	return &changed
}

// replaced replaces within a line; ok says that something was.
func replaced(line row, expression *regexp.Regexp, with string) (_ row, ok bool) {
	line = line[:columns(line)]
	text := line.text()
	matches := expression.FindAllStringSubmatchIndex(text, -1)
	if len(matches) == 0 {
		return nil, false
	}
	// at returns the cell that a byte of the text belongs to.
	at := func(offset int) int {
		n := 0
		for i := range line {
			if n >= offset && line[i].width > 0 {
				return i
			}
			n += line[i : i+1].width()
		}
		return len(line)
	}
	var out row
	done := 0
	for _, m := range matches {
		from, to := at(m[0]), at(m[1])
		out = append(out, line[done:from]...)
		style := Style{}
		if from < len(line) {
			style = line[from].style
		}
		fresh := Render(max(2*m[1]-2*m[0]+2*len(with)+2, 2), 1, string(expression.ExpandString(nil, with, text, m)))
		for _, c := range fresh.rows[0][:columns(fresh.rows[0])] {
			c.style = style
			out = append(out, c)
		}
		done = to
	}
	return append(out, line[done:]...), true
}

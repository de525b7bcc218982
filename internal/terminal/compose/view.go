package compose

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/units"
)

// prompt is how many columns stand before the text.
const prompt = 2

// textWidth returns how many columns the text has.
func (m Model) textWidth() int { return max(2, m.o.Width-prompt) }

// View draws the composer, in lines of at most its width.
func (m Model) View() string {
	lines, _, _ := m.lines()
	return strings.Join(lines, "\n")
}

// Height returns how many lines View has.
func (m Model) Height() int {
	lines, _, _ := m.lines()
	return len(lines)
}

// Cursor returns where the cursor is, from the left upper corner of the view; nil if it is elsewhere.
func (m Model) Cursor() *tea.Cursor {
	if !m.focused || m.busy || m.editing {
		return nil
	}
	_, x, y := m.lines()
	return tea.NewCursor(x, y)
}

// lines draws the composer and says where the cursor is.
func (m Model) lines() (lines []string, x, y int) {
	s, width := m.styles, m.o.Width
	for _, a := range m.attached {
		lines = append(lines, s.Dim.Render(paint.CleanLine(fmt.Sprintf("+ %s (%s, %s)", paint.CleanLine(a.Name, 0), class(a.MediaType), units.Size(a.Size)), width)))
	}
	if n := len(lines); n > 4 {
		lines = append(lines[:3:3], s.Dim.Render(paint.CleanLine(fmt.Sprintf("+ %d more attachments", n-3), width)))
	}
	above := len(lines)
	rows, x, y := m.field.Lines(m.textWidth(), m.o.Rows)
	for i, row := range rows {
		sign := "  "
		if i == 0 {
			style := s.Dim
			if m.focused {
				style = s.Accent
			}
			sign = style.Render(s.Glyphs.Prompt) + " "
		}
		if m.field.text == "" && m.o.Placeholder != "" {
			row = s.Dim.Render(paint.CleanLine(m.o.Placeholder, m.textWidth()))
		}
		lines = append(lines, paint.Cut(sign+row, width))
	}
	lines = append(lines, m.offered()...)
	switch {
	case m.problem != "":
		for _, line := range paint.Wrap(m.problem, width) {
			lines = append(lines, paint.Cut(s.Bad.Render(line), width)) // Wrap needs two columns at least
		}
	case m.busy:
		lines = append(lines, s.Dim.Render(paint.CleanLine("reading attachments (ctrl+x: stop)", width)))
	case m.editing:
		lines = append(lines, s.Dim.Render(paint.CleanLine("in the editor", width)))
	}
	return lines, min(x+prompt, max(0, width-1)), y + above
}

// offered draws the completions.
func (m Model) offered() []string {
	o, s := m.offer, m.styles
	from := min(max(0, o.at-maxOffered/2), max(0, len(o.list)-maxOffered))
	var lines []string
	for i := from; i < len(o.list) && i < from+maxOffered; i++ {
		text := o.list[i]
		if i < len(o.hints) && o.hints[i] != "" {
			text += "  " + o.hints[i]
		}
		text = paint.CleanLine(text, max(1, m.o.Width-prompt))
		if i == o.at {
			lines = append(lines, paint.Cut(s.Accent.Render(s.Glyphs.Arrow)+" "+s.Selected.Render(text), m.o.Width))
		} else {
			lines = append(lines, paint.Cut("  "+s.Dim.Render(text), m.o.Width))
		}
	}
	if more := len(o.list) - maxOffered; more > 0 {
		lines = append(lines, s.Dim.Render(paint.CleanLine(fmt.Sprintf("  %d of %d", o.at+1, len(o.list)), m.o.Width)))
	}
	return lines
}

// Keys returns the keys of the composer and what they do.
func (m Model) Keys() []Key {
	keys := []Key{
		{"enter", "send"},
		{"alt+enter", "new line (also shift+enter, ctrl+j, \\ enter)"},
		{"ctrl+s", "send into the running turn"},
		{"up/down", "earlier messages"},
		{"tab", "complete /command or @file"},
		{"@path", "attach a file or an image"},
		{"ctrl+x", "remove the last attachment"},
	}
	if m.o.Editor != nil {
		keys = append(keys, Key{"ctrl+g", "write in the editor"})
	}
	return append(keys, Key{"ctrl+_", "undo"})
}

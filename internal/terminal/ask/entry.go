package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/units"
)

// An entry is a text that is being written: a reason, a rule, an answer in one's own words.
type entry struct {
	open        bool
	label, hint string
	field       compose.Field
	// empty permits that nothing is written.
	empty bool
	// images permits images, pasted by their paths.
	images   bool
	attached []compose.Attachment
	done     func(m Model, in written) (Model, tea.Cmd)
}

// written is what came of an entry.
type written struct {
	text   string
	images json.RawMessage // content blocks; nil if there are none
}

// newEntry returns an entry with a label before it and a hint where nothing is written yet.
func newEntry(label, hint string, multiline bool, done func(m Model, in written) (Model, tea.Cmd)) entry {
	return entry{open: true, label: label, hint: hint, field: compose.Field{Multiline: multiline}, done: done}
}

// optional returns the entry as one that may stay empty.
func (e entry) optional() entry {
	e.empty = true
	return e
}

func (e entry) keys() []Key {
	keys := []Key{{"enter", "done"}}
	if e.field.Multiline {
		keys = append(keys, Key{"alt+enter", "new line"})
	}
	if len(e.attached) > 0 {
		keys = append(keys, Key{"ctrl+x", "remove the last image"})
	}
	return append(keys, Key{"esc", "back"})
}

// imageMsg says that an image was read.
type imageMsg struct {
	question string
	pasted   string
	image    compose.Attachment
	err      error
}

// entryKey does what a key says while a text is being written.
func (m Model) entryKey(key tea.KeyPressMsg) (Model, tea.Cmd) {
	e := m.entry
	switch key.String() {
	case "esc":
		m.entry = entry{}
		return m, nil
	case "enter":
		return m.finish()
	case "ctrl+x":
		if n := len(e.attached); n > 0 {
			e.attached = e.attached[: n-1 : n-1]
		}
	default:
		e.field, _ = e.field.Key(key, m.fieldWidth())
	}
	m.entry = e
	return m, nil
}

// finish takes what was written. If it is of no use, which is a problem then, it can be written on.
func (m Model) finish() (Model, tea.Cmd) {
	e := m.entry
	in := written{strings.TrimSpace(e.field.Value()), compose.Content("", e.attached)}
	if in.text == "" && in.images == nil && !e.empty {
		m.problem = "write something first, or go back with esc"
		return m, nil
	}
	m.entry = entry{}
	next, cmd := e.done(m, in)
	if next.problem != "" && next.phase == open && !next.entry.open {
		next.entry = e
	}
	return next, cmd
}

// entryPaste writes what was pasted, or attaches it.
func (m Model) entryPaste(text string) (Model, tea.Cmd) {
	if m.entry.images {
		if path, ok := compose.ImagePath(text, m.o.Dir); ok {
			question := m.q.ID
			return m, func() tea.Msg {
				a, err := compose.Attach(path)
				return imageMsg{question, text, a, err}
			}
		}
	}
	field, err := m.entry.field.Insert(text)
	if err != nil {
		m.problem = err.Error()
		return m, nil
	}
	m.entry.field = field
	return m, nil
}

// image adds an image that was read, or says why there is none.
func (e entry) image(msg imageMsg) (entry, string) {
	err := msg.err
	if err == nil && !msg.image.Image() {
		err = errors.New("only images can be attached here")
	}
	if err == nil {
		err = compose.Room(e.attached, msg.image)
	}
	if err != nil {
		if field, insertErr := e.field.Insert(msg.pasted); insertErr == nil {
			e.field = field
		}
		return e, err.Error()
	}
	e.attached = append(slices.Clip(e.attached), msg.image)
	return e, ""
}

// fieldWidth returns how many columns a text that is being written has.
func (m Model) fieldWidth() int { return max(2, m.o.Width-2) }

// maxRows is how many rows of a text that is being written are shown.
const maxRows = 8

// tail draws the entry.
func (e entry) tail(m Model) tail {
	s, width := m.styles, m.o.Width
	var t tail
	for _, line := range wrapped(e.label, width, 3) {
		t.lines = append(t.lines, s.Bold.Render(line))
	}
	for _, a := range e.attached {
		t.lines = append(t.lines, s.Dim.Render(paint.CleanLine(fmt.Sprintf("+ %s (%s)", a.Name, units.Size(a.Size)), width)))
	}
	rows := maxRows
	if m.o.Height > 0 {
		rows = max(1, min(rows, m.o.Height-len(t.lines)-2))
	}
	lines, x, y := e.field.Lines(m.fieldWidth(), rows)
	t.cursor, t.x, t.focus = true, min(x+2, max(0, width-1)), len(t.lines)+y
	for i, line := range lines {
		sign := "  "
		if i == 0 {
			sign = s.Accent.Render(s.Glyphs.Prompt) + " "
		}
		if e.field.Value() == "" && e.hint != "" {
			line = s.Dim.Render(paint.CleanLine(e.hint, m.fieldWidth()))
		}
		t.lines = append(t.lines, paint.Cut(sign+line, width))
	}
	return t
}

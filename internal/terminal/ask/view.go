package ask

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/units"
)

// folded is how many lines of a body are shown before it is unfolded.
const folded = 12

// View draws the question, in lines of at most its width, as many as there is room for.
func (m Model) View() string {
	lines, _, _ := m.lines()
	return strings.Join(lines, "\n")
}

// Height returns how many lines View has.
func (m Model) Height() int {
	lines, _, _ := m.lines()
	return len(lines)
}

// Cursor returns where the cursor is, from the left upper corner of the view; nil if there is nothing to write.
func (m Model) Cursor() *tea.Cursor {
	_, x, y := m.lines()
	if x < 0 {
		return nil
	}
	return tea.NewCursor(x, y)
}

// foot returns what stands below the body.
func (m Model) foot() tail {
	s, width := m.styles, m.o.Width
	var t tail
	switch {
	case m.phase == settled:
		t.lines = fittedLines(s.Accent.Render, Outcome(m.q), width, 6)
		return t
	case m.phase == sent:
		t.lines = fittedLines(s.Dim.Render, "answering"+s.Glyphs.Ellipsis, width, 1)
		return t
	case m.editing != nil:
		t.lines = fittedLines(s.Dim.Render, "in the editor", width, 1)
		return t
	case m.entry.open:
		t = m.entry.tail(m)
	case m.menu.open:
		t = m.menu.tail(m)
	default:
		t = m.part.tail(m)
	}
	t.lines = append(slices.Clip(t.lines), fittedLines(s.Bad.Render, m.problem, width, 4)...)
	keys := m.keyLines()
	if m.Guarded() && m.problem == "" && len(keys) > 0 {
		// In as many lines, so that nothing moves when they count.
		text := "one moment: stop typing to answer"
		keys = append([]string{s.Dim.Render(paint.CleanLine(text, width))}, make([]string, len(keys)-1)...)
	}
	t.lines = append(t.lines, keys...)
	return t
}

// bodyRows returns how many lines of the body can be seen.
func (m Model) bodyRows() int {
	_, rows, _ := m.share()
	return rows
}

// share divides the room between head, body and foot.
func (m Model) share() (head []string, rows int, foot tail) {
	head, foot = m.part.head(m), m.foot()
	if m.phase == settled {
		head = head[:min(1, len(head))] // what it was about
		return head, 0, foot
	}
	rows = len(m.body)
	if !m.unfolded && m.foldable() {
		rows = min(rows, folded)
	}
	if m.o.Height == 0 {
		return head, rows, foot
	}
	// What is asked may not hide what it is about: the first lines go before the notes.
	least := 0
	if m.weighty() {
		least = min(rows, 3)
	}
	if over := len(head) + least + len(foot.lines) - m.o.Height; over > 0 {
		head = head[:max(1, len(head)-over)]
	}
	rows = max(0, min(rows, m.o.Height-len(head)-len(foot.lines)))
	if rows == 1 && len(m.body) > 1 && !m.weighty() {
		rows = 0 // it would only be said that there is no room
	}
	return head, rows, foot
}

// weighty reports whether nothing can be decided without having seen the body.
func (m Model) weighty() bool {
	switch m.part.(type) {
	case permission, plan, form:
		return true
	}
	return false
}

// foldable reports whether the body is shown in part only at first: what is written into a file. What is run is shown as far as there is
// room.
func (m Model) foldable() bool {
	p, ok := m.part.(permission)
	return ok && p.writes()
}

// lines draws the question and says where the cursor is; x is negative if it is nowhere.
func (m Model) lines() (lines []string, x, y int) {
	head, rows, foot := m.share()
	lines = append(lines, head...)
	if rows > 0 {
		lines = append(lines, m.window(rows)...)
	}
	if h := m.o.Height; h > 0 && len(lines)+len(foot.lines) > h {
		// There is hardly any room: the line that counts is shown, what is around it, and the beginning of what is asked.
		lines = lines[:min(len(lines), h/3)]
		rest := min(h-len(lines), len(foot.lines))
		from := min(max(0, foot.focus-rest/2), len(foot.lines)-rest)
		foot.lines, foot.focus = foot.lines[from:from+rest], foot.focus-from
	}
	focus := len(lines) + foot.focus
	lines = append(slices.Clip(lines), foot.lines...)
	for i, line := range lines {
		if paint.Width(line) > m.o.Width { // where there is next to no room nothing is wrapped well
			lines[i] = paint.Cut(line, m.o.Width)
		}
	}
	if !foot.cursor {
		return lines, -1, 0
	}
	return lines, foot.x, focus
}

// window returns the lines of the body that are seen.
func (m Model) window(rows int) []string {
	n := len(m.body)
	if n <= rows {
		return m.body
	}
	if rows == 1 {
		return []string{m.styles.Dim.Render(paint.CleanLine(fmt.Sprintf("(%d lines hidden: no room)", n), m.o.Width))}
	}
	// One line says that there is more.
	from := max(0, min(m.scroll, n-rows+1))
	hint := fmt.Sprintf("(lines %d-%d of %d; pgup, pgdown)", from+1, from+rows-1, n)
	if m.foldable() && !m.unfolded {
		hint = fmt.Sprintf("(lines %d-%d of %d; pgup, pgdown, v: show all)", from+1, from+rows-1, n)
	}
	lines := append([]string{}, m.body[from:from+rows-1]...)
	return append(lines, m.styles.Dim.Render(paint.CleanLine(hint, m.o.Width)))
}

// keyLines draws the keys, as many in a line as fit.
func (m Model) keyLines() []string {
	s, width := m.styles, m.o.Width
	var lines []string
	line, used := "", 0
	for _, k := range m.Keys() {
		w := paint.Width(k.Key) + 1 + paint.Width(k.Help)
		if used > 0 && used+3+w > width {
			lines = append(lines, line)
			line, used = "", 0
		}
		if used > 0 {
			line += s.Dim.Render(" " + s.Glyphs.Dot + " ")
			used += 3
		}
		line += s.Key.Render(k.Key) + " " + s.Dim.Render(k.Help)
		used += w
	}
	if used > 0 {
		lines = append(lines, line)
	}
	for i, line := range lines {
		lines[i] = paint.Cut(line, width)
	}
	return lines
}

// most returns how far the body can be scrolled.
func (m Model) most() int {
	rows := m.bodyRows()
	if rows < 1 || len(m.body) <= rows {
		return 0
	}
	return len(m.body) - rows + 1
}

// whole returns styled lines with those that are too wide broken, so that nothing of them is lost.
func whole(lines []string, width int) []string {
	var out []string
	for _, line := range lines {
		if paint.Width(line) <= width {
			out = append(out, line)
			continue
		}
		out = append(out, broken(line, width)...)
	}
	return out
}

// broken breaks one styled line. The style goes on in the next.
func broken(line string, width int) []string {
	var out []string
	if more := len(line) - maxDetail; more > 0 {
		line = strings.ToValidUTF8(line[:maxDetail], "") + ansi.ResetStyle + fmt.Sprintf("… (%s more, NOT SHOWN)", units.Size(int64(more)))
	}
	var b, style strings.Builder
	used, state := 0, byte(0)
	for line != "" {
		seq, w, n, next := ansi.DecodeSequence(line, state, nil)
		if w > width { // a wide character where there is one column
			seq, w = "?", 1
		}
		if used+w > width {
			if style.Len() > 0 {
				b.WriteString(ansi.ResetStyle)
			}
			out = append(out, b.String())
			b.Reset()
			b.WriteString(style.String())
			used = 0
		}
		if w == 0 && strings.HasSuffix(seq, "m") && strings.HasPrefix(seq, "\x1b[") {
			if seq == ansi.ResetStyle || seq == "\x1b[0m" {
				style.Reset()
			} else {
				style.WriteString(seq)
			}
		}
		b.WriteString(seq)
		line, used, state = line[n:], used+w, next
	}
	return append(out, b.String())
}

// maxBrief is how much of a text is looked at that is shown in a few lines, in bytes.
const maxBrief = 2 << 10

// brief cuts a text where it would not be seen any more, so that drawing it costs little however long it is.
func brief(text string) string {
	if len(text) <= maxBrief {
		return text
	}
	return strings.ToValidUTF8(text[:maxBrief], "") + "…"
}

// wrapped returns a text in at most most lines of a width.
func wrapped(text string, width, most int) []string {
	if text == "" {
		return nil
	}
	// Only what can be seen is looked at.
	lines := paint.Wrap(strings.Join(strings.Fields(brief(text)), " "), width)
	if len(lines) > most {
		lines = lines[:most:most]
		lines[most-1] = paint.Cut(lines[most-1]+" …", width)
		if !strings.HasSuffix(lines[most-1], "…") {
			lines[most-1] = paint.Cut(lines[most-1]+strings.Repeat("…", width), width)
		}
	}
	return lines
}

// fittedLines returns a text in a style, in at most most lines.
func fittedLines(style func(...string) string, text string, width, most int) []string {
	lines := wrapped(text, width, most)
	for i, line := range lines {
		lines[i] = style(line)
	}
	return lines
}

// note returns something to be known about a question, with a label before it.
func note(m Model, label, text string) []string {
	if text = strings.TrimSpace(brief(text)); text == "" {
		return nil
	}
	width := paint.Width(label) + 2
	if width+10 > m.o.Width { // no room beside it
		return fittedLines(m.styles.Dim.Render, label+": "+text, m.o.Width, 4)
	}
	var lines []string
	for i, line := range wrapped(text, m.o.Width-width, 4) {
		if i == 0 {
			lines = append(lines, m.styles.Dim.Render(label+":")+" "+line)
		} else {
			lines = append(lines, spaces(width)+line)
		}
	}
	return lines
}

func spaces(n int) string { return strings.Repeat(" ", n) }

package screen

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/talk"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/units"
)

const (
	// wide is how many columns there must be for the list to stand beside the conversation.
	wide = 100
	// tall is how many rows there must be for a line of hints.
	tall = 16
	// least is how many rows of the conversation are left above a question.
	least = 3
	// gutter stands before the conversation, with a mark at what is selected.
	gutter = 2
)

// listWidth is how wide the list is, 0 if there is no room beside the conversation.
func (m *Model) listWidth() int {
	if m.width < wide {
		return 0
	}
	return min(38, m.width/4)
}

// mainWidth is how wide all else is.
func (m *Model) mainWidth() int {
	if w := m.listWidth(); w > 0 {
		return m.width - w - 1
	}
	return max(1, m.width)
}

// footerRows is how high the footer is.
func (m *Model) footerRows() int {
	if m.height < tall {
		return 1
	}
	return 2
}

// composerRows is how many rows of the text that is written are shown.
func (m *Model) composerRows() int { return max(1, min(8, m.height/4)) }

// askRows is how high a question may be.
func (m *Model) askRows() int { return max(3, m.height-2-m.footerRows()-least) }

// bottom returns what is at the bottom: an overlay, a question, or the composer; and where the cursor is in it. full says that it takes the place
// of the conversation too.
func (m *Model) bottom() (lines []string, cursor *tea.Cursor, full bool) {
	room := m.height - 1 - m.footerRows()
	switch {
	case m.overlay != nil:
		lines, full = m.overlay.draw(m, m.mainWidth(), max(3, room-1))
	case m.pane.Ask != nil:
		lines = strings.Split(strings.TrimRight(m.pane.Ask.View(), "\n"), "\n")
		if m.focus == areaBottom {
			cursor = m.pane.Ask.Cursor()
		}
	default:
		lines = strings.Split(m.pane.Composer.View(), "\n")
		if m.focus == areaBottom {
			cursor = m.pane.Composer.Cursor()
		}
	}
	if most := max(1, room-2); len(lines) > most && !full {
		cut := len(lines) - most
		lines = lines[cut:]
		if cursor != nil {
			if cursor.Position.Y -= cut; cursor.Position.Y < 0 {
				cursor = nil
			}
		}
	}
	return lines, cursor, full
}

// talkHeight is how many rows the conversation has.
func (m *Model) talkHeight() int {
	lines, _, full := m.bottom()
	if full {
		lines = nil
	}
	return max(1, m.height-2-m.footerRows()-len(lines))
}

// resize fits everything to the screen.
func (m *Model) resize() {
	m.pane.SetSize(m.mainWidth(), m.composerRows(), m.askRows())
	look := talk.Look{Styles: m.styles, Width: max(10, m.mainWidth()-gutter), Thinking: m.thinking, Now: time.Now()}
	height := m.talkHeight()
	for _, w := range []*window{m.tail, m.past} {
		if w != nil {
			w.size(look, height)
		}
	}
}

// View draws the screen.
func (m *Model) View() tea.View {
	m.resize()
	var view tea.View
	view.AltScreen = true
	if m.width < 20 || m.height < 6 {
		view.SetContent(paint.Cut("too small", m.width))
		return view
	}
	var lines []string
	if m.listOpen && m.listWidth() == 0 && m.overlay == nil {
		lines = append(m.drawList(m.width, m.height-m.footerRows()), m.footer(m.width)...)
	} else {
		var cursor *tea.Cursor
		lines, cursor = m.drawMain()
		view.Cursor = cursor
		if w := m.listWidth(); w > 0 {
			bar := m.styles.Dim.Render(m.styles.Glyphs.Bar)
			for i, line := range m.drawList(w, m.height) {
				lines[i] = fit(line, w) + bar + lines[i]
			}
			if cursor != nil {
				cursor.Position.X += w + 1
			}
		}
	}
	for i := range lines {
		lines[i] = paint.Cut(lines[i], m.width) // what was drawn too wide ends at the edge
	}
	view.SetContent(strings.Join(lines[:min(len(lines), m.height)], "\n"))
	return view
}

// fit makes a line exactly so wide.
func fit(line string, width int) string {
	line = paint.Cut(line, width)
	return line + strings.Repeat(" ", max(0, width-paint.Width(line)))
}

// drawMain draws all but the list: exactly as many lines as there are.
func (m *Model) drawMain() ([]string, *tea.Cursor) {
	width := m.mainWidth()
	bottom, cursor, full := m.bottom()
	lines := make([]string, 0, m.height)
	lines = append(lines, m.header(width))
	if full {
		lines = append(lines, bottom...)
		cursor = nil
	} else {
		lines = append(lines, m.drawTalk(width)...)
		lines = append(lines, m.rule(width))
		if cursor != nil {
			cursor.Position.Y += len(lines)
		}
		lines = append(lines, bottom...)
	}
	rows := m.height - m.footerRows()
	for len(lines) < rows {
		lines = append(lines, "")
	}
	return append(lines[:rows], m.footer(width)...), cursor
}

// title is what a session is called.
func title(t, dir, id string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(t), "\n")
	switch {
	case first != "":
		return first
	case dir != "":
		return dir[strings.LastIndexByte(dir, '/')+1:]
	default:
		return shortID(id)
	}
}

// header names the session.
func (m *Model) header(width int) string {
	if m.session == "" {
		return m.styles.Bold.Render("switchboard")
	}
	t, dir, extra := "", "", shortID(m.session)
	if s := m.list.find(m.session); s != nil {
		t, dir = s.Title, s.Dir
	}
	if s := m.snapshot; s != nil {
		t, dir = s.Title, s.Dir
		if s.Simulated {
			extra += " simulated"
		}
		if s.Unauthenticated {
			extra += " unauthenticated"
		}
		if s.Archived {
			extra += " archived"
		}
	}
	right := m.styles.Dim.Render(paint.CleanLine(extra, width/3))
	left := m.styles.Bold.Render(paint.CleanLine(title(t, dir, m.session), width/2))
	room := width - paint.Width(left) - paint.Width(right) - 4
	if room > 8 && dir != "" {
		left += "  " + m.styles.Dim.Render(tailOf(paint.CleanLine(dir, 0), room, m.styles.Glyphs.Ellipsis))
	}
	return fit(left, width-paint.Width(right)) + right
}

// tailOf returns the end of a text that is too wide.
func tailOf(text string, width int, ellipsis string) string {
	if w := paint.Width(text); w > width {
		return ellipsis + ansi.TruncateLeft(text, w-width+1, "")
	}
	return text
}

// drawTalk draws the conversation.
func (m *Model) drawTalk(width int) []string {
	height := m.talkHeight()
	lines := make([]string, 0, height)
	w := m.window()
	switch {
	case m.problem != nil && w == nil:
		lines = append(lines, m.styles.Bad.Render(paint.CleanLine(m.problem.Error(), width)))
	case w == nil && m.session == "" && m.list.pages > 0:
		lines = append(lines, "No sessions yet.", "Start one: switchboard run")
	case w == nil && m.session == "" && m.list.err != nil:
		lines = append(lines, m.styles.Bad.Render(paint.CleanLine(m.list.err.Error(), width)))
	case w == nil:
		lines = append(lines, m.styles.Dim.Render("reading "+m.styles.Glyphs.Ellipsis))
	default:
		rows := w.rows()
		for range height - len(rows) { // what there is stands at the bottom, where it goes on
			lines = append(lines, "")
		}
		if len(lines) > 0 && w.first > 1 {
			lines[0] = m.styles.Dim.Render("  reading further back " + m.styles.Glyphs.Ellipsis)
		}
		for _, r := range rows {
			lines = append(lines, m.drawRow(w, &r))
		}
	}
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines[:height]
}

// drawRow draws a row of the conversation.
func (m *Model) drawRow(w *window, r *row) string {
	text := r.text
	if m.search.text != "" {
		text = mark(text, strings.ToLower(m.search.text), m.styles.Selected)
	}
	if m.focus == areaTalk && r.item == w.selected && text != "" {
		return m.styles.Accent.Render(m.styles.Glyphs.Prompt) + " " + text
	}
	return "  " + text
}

// cutText returns the columns that a text, in lower case, takes in a drawn line.
func cutText(line, text string) (from, to int, found bool) {
	plain := ansi.Strip(line)
	lower := strings.ToLower(plain)
	at := strings.Index(lower, text)
	if at < 0 || text == "" {
		return 0, 0, false
	}
	if len(lower) != len(plain) { // there are letters whose small ones are longer
		return 0, 0, true
	}
	from = paint.Width(plain[:at])
	return from, from + paint.Width(plain[at:at+len(text)]), true
}

// mark makes a text visible in a drawn line.
func mark(line, text string, style lipgloss.Style) string {
	from, to, found := cutText(line, text)
	if !found || from == to {
		return line
	}
	return ansi.Cut(line, 0, from) + style.Render(ansi.Strip(ansi.Cut(line, from, to))) + ansi.Cut(line, to, paint.Width(line))
}

// rule stands between the conversation and what is below it.
func (m *Model) rule(width int) string {
	label := ""
	w := m.window()
	switch {
	case w == nil:
	case m.past != nil:
		label = " events " + itoa(int(w.first)) + " to " + itoa(int(w.last)) + " of " + itoa(int(m.tail.last)) + "; G for the end "
	case !w.bottom:
		label = " more below; G for the end "
	}
	label = paint.Cut(label, max(1, width-4))
	left := max(0, width-paint.Width(label)-2)
	return m.styles.Dim.Render(strings.Repeat(m.styles.Glyphs.Rule, left) + label + strings.Repeat(m.styles.Glyphs.Rule, width-left-paint.Width(label)))
}

// stateWord says what a session is doing.
func (m *Model) stateWord(s api.State) string {
	switch s {
	case api.StateRunning, api.StateStarting, api.StateBackground:
		return m.styles.Accent.Render(string(s))
	case api.StateRequiresAction:
		return m.styles.Warn.Render("asks")
	case api.StateOffline:
		return m.styles.Bad.Render("offline")
	case api.StateIdle:
		return m.styles.Good.Render("idle")
	default:
		return m.styles.Dim.Render(string(s))
	}
}

// footer says how things stand.
func (m *Model) footer(width int) []string {
	lines := []string{paint.Cut(m.status(), width)}
	hint := m.styles.Dim.Render(m.hint())
	if m.flash != "" {
		hint = m.styles.Warn.Render(paint.CleanLine(m.flash, width))
	}
	if m.footerRows() == 1 {
		if m.flash != "" {
			return []string{paint.Cut(hint, width)}
		}
		return lines
	}
	return append(lines, paint.Cut(hint, width))
}

// status is the first line of the footer: what matters most comes first, since what has no room is cut.
func (m *Model) status() string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	switch {
	case m.lost != nil:
		add(m.styles.Bad.Render("no connection to the hub; retrying"))
	case m.watching != nil:
		add(m.styles.Bad.Render("no connection for the list; retrying"))
	}
	if m.problem != nil && m.window() != nil {
		add(m.styles.Bad.Render(paint.CleanLine(m.problem.Error(), 60)))
	}
	if n := m.list.asking(m.session); n > 0 {
		add(m.styles.Warn.Render(count(n, "question", "questions") + " elsewhere (ctrl+r)"))
	}
	if m.tail != nil {
		m.sessionStatus(add)
	}
	return strings.Join(parts, m.styles.Dim.Render(" "+m.styles.Glyphs.Dot+" "))
}

// sessionStatus says how the open session stands.
func (m *Model) sessionStatus(add func(string)) {
	st := m.tail.talk.State()
	word := m.stateWord(st.Session)
	if !st.TurnStarted.IsZero() {
		word += " " + units.Duration(max(0, time.Since(st.TurnStarted)).Truncate(time.Second))
	}
	if st.Doing != "" {
		word += " " + paint.CleanLine(st.Doing, 20)
	}
	add(word)
	sandbox, loud := words.Sandbox(st.Sandbox)
	if loud {
		add(m.styles.Bad.Render(sandbox))
	}
	if waiting := len(m.pane.Open()); waiting > 0 && m.pane.Ask == nil {
		add(m.styles.Warn.Render(count(waiting, "question", "questions") + " put off (ctrl+r)"))
	}
	for _, h := range st.Holds {
		add(m.styles.Warn.Render("held: " + paint.CleanLine(h.Reason, 40) + " (/release)"))
	}
	if r := st.Retry; r != nil {
		add(m.styles.Warn.Render("retry " + itoa(int(r.Attempt)) + ": " + paint.CleanLine(r.Error, 30)))
	}
	if n := len(st.Queued); n > 0 {
		add(itoa(n) + " queued")
	}
	if st.Mode != "" {
		add(paint.CleanLine(words.Mode(st.Mode), 24))
	}
	if !loud {
		add(sandbox)
	}
	add(paint.CleanLine(m.model(), 28))
	add(units.Money(st.USD))
	if c := st.Context; c != nil && c.Percent > 0 {
		add("context " + itoa(int(c.Percent)) + "%")
	}
	if done, current := todo(st.Todos); len(st.Todos) > 0 {
		add("to-do " + itoa(done) + "/" + itoa(len(st.Todos)) + " " + paint.CleanLine(current, 30))
	}
	add(paint.CleanLine(st.RateLimit, 40))
}

// todo sums up a list of what is to do.
func todo(list []transcript.Todo) (done int, current string) {
	for _, t := range list {
		switch t.Status {
		case "completed":
			done++
		case "in_progress":
			if current = t.Active; current == "" {
				current = t.Text
			}
		}
	}
	return done, current
}

// hint says which keys are worth knowing here.
func (m *Model) hint() string {
	switch {
	case m.overlay != nil:
		return ""
	case m.focus == areaTalk && m.pane.Ask != nil:
		return "i answers the question  space folds  / search  g G  tab list  q leave  ? keys"
	case m.focus == areaTalk:
		return "space folds  / search  a actions  m model  M mode  i write  q leave  ? keys"
	case m.focus == areaList:
		return "enter opens  / search everywhere  A archives  esc back  q leave  ? keys"
	case m.pane.Ask != nil:
		return "esc later  ctrl+l sessions  shift+up scrolls  ? keys"
	default:
		return "enter sends  esc conversation  ctrl+l list  shift+tab mode  ctrl+x stop  ? keys"
	}
}

// drawList draws the list of sessions, two lines for each.
func (m *Model) drawList(width, height int) []string {
	lines := make([]string, 0, height)
	head := "Sessions"
	if m.focus == areaList {
		lines = append(lines, m.styles.Accent.Render(m.styles.Glyphs.Prompt)+" "+m.styles.Bold.Render(head))
	} else {
		lines = append(lines, m.styles.Bold.Render("  "+head))
	}
	room := max(1, (height-1)/2)
	at := max(0, m.list.index())
	if at < m.list.top {
		m.list.top = at
	}
	if at >= m.list.top+room {
		m.list.top = at - room + 1
	}
	m.list.top = max(0, min(m.list.top, len(m.list.sessions)-room))
	for i := m.list.top; i < min(len(m.list.sessions), m.list.top+room); i++ {
		lines = append(lines, m.drawSession(&m.list.sessions[i], width)...)
	}
	if len(m.list.sessions) == 0 && m.list.pages > 0 {
		lines = append(lines, m.styles.Dim.Render("  none yet"))
	}
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines[:height]
}

// drawSession draws a session of the list.
func (m *Model) drawSession(s *api.SessionSummary, width int) []string {
	sign, g := " ", &m.styles.Glyphs
	switch {
	case s.Questions > 0:
		sign = m.styles.Warn.Render("?")
	case s.State == api.StateRunning || s.State == api.StateStarting || s.State == api.StateBackground:
		sign = m.styles.Accent.Render(g.Running)
	case s.State == api.StateOffline || s.Failed:
		sign = m.styles.Bad.Render(g.Failed)
	case s.State == api.StateIdle:
		sign = m.styles.Good.Render(g.Dot)
	}
	name := paint.CleanLine(title(s.Title, s.Dir, s.ID), max(1, width-4))
	mark := " "
	switch {
	case s.ID == m.list.cursor && m.focus == areaList:
		mark, name = g.Prompt, m.styles.Selected.Render(name)
	case s.ID == m.session:
		mark, name = g.Bar, m.styles.Bold.Render(name)
	}
	word := m.stateWord(s.State)
	if s.Failed && (s.State == api.StateIdle || s.State == api.StateEnded) {
		word = m.styles.Bad.Render("failed")
	}
	if s.Questions > 0 {
		word = m.styles.Warn.Render(count(s.Questions, "question", "questions"))
	}
	if s.Sandbox == "none" && s.State != api.StateEnded {
		word += " " + m.styles.Bad.Render("no sandbox")
	}
	second := word + m.styles.Dim.Render(" "+g.Dot+" "+units.Money(s.USD)+" "+g.Dot+" "+units.Ago(s.Updated, time.Now()))
	return []string{paint.Cut(mark+sign+" "+name, width), paint.Cut("   "+second, width)}
}

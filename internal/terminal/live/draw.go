package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/pane"
	"github.com/switchboard-dev/switchboard/internal/terminal/talk"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/units"
)

// View returns the part that changes. It is asked for it after every message; what
// has not changed is not drawn again. While lines are on their way it stays as it
// is: they were counted to fit above it.
func (m *model) View() tea.View {
	if !m.printer.printing {
		m.refresh()
	}
	return m.cached
}

// refresh draws the part that changes if it has changed.
func (m *model) refresh() {
	if m.dirty {
		m.cached = m.draw()
		m.dirty = false
		lines := strings.Count(m.cached.Content, "\n") + 1
		cursor := lines - 1 // where drawing has ended
		if at := m.cached.Cursor; at != nil {
			cursor = at.Y
		}
		m.printer.measured(lines, cursor)
	}
}

// draw draws it.
func (m *model) draw() tea.View {
	if m.leaving || !m.sized {
		// Of nothing at all Bubble Tea would leave the first row as it was.
		view := tea.NewView(strings.Repeat("\n", m.blank()-1) + " ")
		view.Cursor = tea.NewCursor(0, 0)
		return view
	}
	var bottom []string
	var cursor *tea.Cursor
	if m.pane.Ask != nil {
		cursor = m.pane.Ask.Cursor()
		bottom = lines(m.pane.Ask.View())
	} else {
		cursor = m.pane.Composer.Cursor()
		bottom = lines(m.pane.Composer.View())
	}
	status, footer := m.status(), m.footer()
	todos := m.todos()
	// A row stays free: a terminal that is full to its last row scrolls.
	room := m.height - len(bottom) - len(status) - len(footer) - 1
	if len(todos) > room/2 {
		todos = nil
	}
	room -= len(todos)
	live := m.unfinished()
	if len(live) > room {
		live = live[len(live)-max(0, room):]
	}
	above := slices.Concat(live, todos, status)
	all := slices.Concat(above, bottom, footer)
	for i, line := range all {
		all[i] = paint.Cut(line, m.width)
	}
	if most := max(1, m.height-1); len(all) > most { // a very small terminal
		cut := len(all) - most
		all = all[cut:]
		above = above[min(cut, len(above)):]
	}
	for len(all) < m.printer.least() {
		all = append(all, "")
	}
	view := tea.NewView(strings.Join(all, "\n"))
	if cursor != nil {
		at := *cursor
		at.Y += len(above)
		if at.Y < len(all) {
			view.Cursor = &at
		}
	}
	return view
}

// blank is how many empty rows are drawn where nothing is shown.
func (m *model) blank() int {
	if m.blanked {
		return 1
	}
	return m.printer.least()
}

// lines splits a part that was drawn.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// unfinished draws what is not printed yet.
func (m *model) unfinished() []string {
	look := m.printer.look()
	look.Unfolded = nil // what runs is shown in a line
	var all []string
	for i := m.printer.first; i < m.talk.Len(); i++ {
		it := m.talk.Item(i)
		if m.printer.printed[it.ID] || quiet(it) || it.Kind == transcript.KindQuestion {
			continue
		}
		all = append(all, m.unfinishedItem(look, it)...)
		if len(all) > 4*m.height { // no more of it can be seen
			all = slices.Delete(all, 0, len(all)-2*m.height)
		}
	}
	for _, message := range m.talk.State().Queued {
		all = append(all, m.styles.Dim.Render(paint.CleanLine("queued: "+message.Text, m.width)))
	}
	if len(all) > 0 {
		all = append(all, "")
	}
	return all
}

// streamed is how much of a text that is being written is drawn, in bytes: more
// than a screen shows.
const streamed = 16 << 10

// unfinishedItem draws an item as it is now, without what of it is printed
// already.
func (m *model) unfinishedItem(look *talk.Look, it *transcript.Item) []string {
	if !it.Streaming || it.Kind != transcript.KindText {
		return look.Lines(it)
	}
	if len(it.Text)-len(m.printer.source) > 2*streamed {
		part := *it
		part.Text = strings.ToValidUTF8(it.Text[len(it.Text)-streamed:], "")
		return look.Lines(&part)
	}
	drawn := look.Lines(it)
	if shown := len(m.printer.shown); it.Depth == 0 && strings.HasPrefix(it.Text, m.printer.source) && len(drawn) >= shown {
		drawn = drawn[shown:]
	}
	return drawn
}

// todos draws the to-do list.
func (m *model) todos() []string {
	state := m.talk.State()
	open := slices.ContainsFunc(state.Todos, func(t transcript.Todo) bool { return t.Status != "completed" })
	if m.hideTodo || !open {
		return nil
	}
	return append(talk.TodoLines(m.styles, state.Todos, m.width), "")
}

// spinner returns a sign that moves.
func (m *model) spinner() string {
	frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	if m.styles.Profile.ASCII {
		frames = []rune(`|/-\`)
	}
	return string(frames[m.frame%len(frames)])
}

// status draws what the session is doing, in a line or none.
func (m *model) status() []string {
	state := m.talk.State()
	s := m.styles
	var line string
	switch {
	case m.lost != nil:
		line = s.Warn.Render(m.spinner() + " The hub is away (" + paint.CleanLine(m.lost.Error(), 60) + "); waiting for it. The agent keeps running.")
	case state.Offline || state.Session == api.StateOffline:
		line = s.Warn.Render(m.spinner() + " Connection to the agent lost; waiting for it.")
	case len(state.Holds) > 0:
		line = s.Warn.Render("Queue paused: " + paint.CleanLine(state.Holds[0].Reason, 0))
	case state.Retry != nil && state.Session == api.StateRunning:
		line = s.Warn.Render(fmt.Sprintf("%s Retry %d: %s", m.spinner(), state.Retry.Attempt, paint.CleanLine(state.Retry.Error, 0)))
	case state.Session == api.StateRequiresAction:
		line = s.Accent.Render(s.Glyphs.Prompt+" The agent is waiting for you.") + m.figures(&state)
		if m.pane.Ask == nil && m.pane.PutOff() {
			line += s.Dim.Render("  esc: the question")
		}
	case state.Session == api.StateRunning || state.Session == api.StateStarting:
		doing := "Working"
		switch {
		case state.Session == api.StateStarting:
			doing = "Starting"
		case state.Doing != "" && state.Doing != "requesting":
			doing = strings.ToUpper(state.Doing[:1]) + paint.CleanLine(state.Doing[1:], 30)
		}
		line = s.Accent.Render(m.spinner()+" "+doing+"…") + m.figures(&state)
	case state.Session == api.StateBackground:
		line = s.Dim.Render(fmt.Sprintf("%s %d in the background", m.spinner(), len(state.Tasks)))
	case state.Session == api.StateEnded:
		text := "The agent has stopped"
		if state.Ended != nil && state.Ended.Reason != "" {
			text += ": " + paint.CleanLine(state.Ended.Reason, 0)
		}
		line = s.Dim.Render(text + "; a message starts it again.")
	default:
		return nil
	}
	return []string{line}
}

// figures says how long the turn takes, and what it costs.
func (m *model) figures(state *transcript.State) string {
	var parts []string
	if !state.TurnStarted.IsZero() {
		parts = append(parts, units.Duration(max(0, m.now().Sub(state.TurnStarted)).Truncate(time.Second)))
	}
	if state.Tokens > 0 {
		parts = append(parts, units.Tokens(state.Tokens)+" tokens")
	}
	if state.USD > 0 {
		parts = append(parts, units.Money(state.USD))
	}
	if state.RateLimit != "" {
		parts = append(parts, paint.CleanLine(state.RateLimit, 0))
	}
	if len(parts) == 0 {
		return ""
	}
	return m.styles.Dim.Render("  " + strings.Join(parts, " · "))
}

// footer draws what one should know all the time.
func (m *model) footer() []string {
	if m.note != "" {
		return []string{m.styles.Warn.Render(m.note)}
	}
	state := m.talk.State()
	opened := m.session.Opened()
	var parts []string
	if opened.Simulated {
		parts = append(parts, "SIMULATED")
	}
	parts = append(parts, short(m.session.ID()))
	if m.turn() {
		parts = append(parts, "ctrl+c stops")
	} else {
		parts = append(parts, "ctrl+c leaves")
	}
	if waiting := len(m.pane.Open()); waiting > 1 {
		parts = append(parts, fmt.Sprintf("%d questions", waiting))
	}
	if state.Mode != "" {
		name, _, _ := strings.Cut(m.modeLabel(), " — ") // what follows explains it
		parts = append(parts, paint.CleanLine(name, 24))
	}
	sandbox, loud := words.Sandbox(state.Sandbox)
	if sandbox != "" && !loud {
		parts = append(parts, sandbox)
	}
	if state.Model != "" {
		parts = append(parts, paint.CleanLine(state.Model, 24))
	}
	if state.Session == api.StateIdle && state.USD > 0 {
		parts = append(parts, units.Money(state.USD))
	}
	if state.Context != nil && state.Context.Percent >= 1 {
		parts = append(parts, fmt.Sprintf("%.0f%% context", state.Context.Percent))
	}
	line := m.styles.Dim.Render(strings.Join(parts, " · "))
	if loud { // where nothing is cut
		line = m.styles.Bad.Render(sandbox) + m.styles.Dim.Render(" · ") + line
	}
	return []string{line}
}

// short returns the beginning of an id, which other verbs take.
func short(id string) string { return id[:min(len(id), 9)] }

// models returns the names of the models that the CLI offers.
func models(s *api.Session) []string {
	var names []string
	for _, m := range pane.Models(s) {
		names = append(names, m.Value)
	}
	return names
}

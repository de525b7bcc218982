package live

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/internal/terminal/words"
)

// key takes a key.
func (m *model) key(key tea.KeyPressMsg) tea.Cmd {
	name := key.String()
	if name != "ctrl+c" {
		m.note = ""
		m.interrupted = false
	}
	m.pane.Pressed()
	defer m.pane.Typed()
	switch name {
	case "ctrl+c":
		return m.interrupt()
	case "ctrl+z":
		return tea.Suspend
	case "ctrl+o":
		m.unfold = !m.unfold
		m.printer.again()
		return nil
	case "ctrl+t":
		m.hideTodo = !m.hideTodo
		return nil
	}
	p := m.pane
	if p.Ask != nil {
		if name == "?" && !p.Ask.Typing() && !p.Guarded() {
			m.help()
			return nil
		}
		return p.AskKey(key)
	}
	switch {
	case name == "esc" && !p.Composer.Completing() && p.PutOff():
		return p.BringBack()
	case name == "ctrl+d" && p.Composer.Empty():
		return m.leave()
	case name == "shift+tab" && !p.Composer.Completing():
		return m.mode("")
	case name == "?" && p.Composer.Empty():
		m.help()
		return nil
	}
	return p.Write(key)
}

// paste takes what was pasted. What comes while a question takes no keys yet is
// meant for the composer.
func (m *model) paste(msg tea.PasteMsg) tea.Cmd {
	m.pane.Pressed()
	defer m.pane.Typed()
	if m.pane.Ask == nil || m.pane.Guarded() {
		return m.pane.Write(msg)
	}
	return m.pane.AskKey(msg)
}

// interrupt stops the turn the first time, and leaves the second time, or if
// there is none.
func (m *model) interrupt() tea.Cmd {
	if m.interrupted || (!m.turn() && m.pane.Composer.Empty()) {
		return m.leave()
	}
	m.interrupted = true
	m.interrupts++
	number := m.interrupts
	over := m.later(twice, interruptOverMsg{number})
	if !m.turn() {
		m.pane.Composer = m.pane.Composer.Reset()
		m.note = "ctrl+c again leaves; the agent keeps running"
		return over
	}
	m.note = "stopping the turn …  ctrl+c again leaves; the agent keeps running"
	return tea.Batch(over, m.do("Stopping the turn", func(ctx context.Context) error {
		_, err := m.session.Interrupt(ctx)
		return err
	}))
}

// modeLabel says in what mode the agent is, for the footer.
func (m *model) modeLabel() string { return words.ModeLabel(m.talk.State().Mode) }

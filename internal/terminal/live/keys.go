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
	defer func() { m.typed = m.now() }()
	m.expected = false // a person who keeps typing no longer waits for a question
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
	if name == "?" && m.ask != nil && !m.ask.Typing() && !m.ask.Guarded() {
		m.help()
		return nil
	}
	if m.ask != nil {
		next, cmd := m.ask.Update(key)
		m.ask = &next
		return cmd
	}
	switch {
	case name == "esc" && !m.composer.Completing() && len(m.putOff) > 0:
		clear(m.putOff)
		m.expected = true
		return m.look()
	case name == "ctrl+d" && m.composer.Empty():
		return m.leave()
	case name == "shift+tab" && !m.composer.Completing():
		return m.mode("")
	case name == "?" && m.composer.Empty():
		m.help()
		return nil
	}
	var cmd tea.Cmd
	m.composer, cmd = m.composer.Update(key)
	return cmd
}

// paste takes what was pasted. What comes while a question takes no keys yet is
// meant for the composer.
func (m *model) paste(msg tea.PasteMsg) tea.Cmd {
	m.typed, m.expected = m.now(), false
	var cmd tea.Cmd
	if m.ask == nil {
		m.composer, cmd = m.composer.Update(msg)
		return cmd
	}
	if m.ask.Guarded() {
		m.composer, cmd = m.composer.Focus().Update(msg)
		m.composer = m.composer.Blur()
		return cmd
	}
	next, cmd := m.ask.Update(msg)
	m.ask = &next
	return cmd
}

// interrupt stops the turn the first time, and leaves the second time, or if
// there is none.
func (m *model) interrupt() tea.Cmd {
	if m.interrupted || (!m.turn() && m.composer.Empty()) {
		return m.leave()
	}
	m.interrupted = true
	m.interrupts++
	number := m.interrupts
	over := m.later(twice, interruptOverMsg{number})
	if !m.turn() {
		m.composer = m.composer.Reset()
		m.note = "ctrl+c again leaves; the agent keeps running"
		return over
	}
	m.note = "stopping the turn …  ctrl+c again leaves; the agent keeps running"
	return tea.Batch(over, m.do("Stopping the turn", func(ctx context.Context) error {
		_, err := m.session.Interrupt(ctx)
		return err
	}))
}

// askHeight is how much room a question has.
func (m *model) askHeight() int { return max(6, m.height-5) }

// modeLabel says in what mode the agent is, for the footer.
func (m *model) modeLabel() string { return words.ModeLabel(m.talk.State().Mode) }

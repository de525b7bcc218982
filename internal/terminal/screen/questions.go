package screen

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/ask"
)

// asked takes what has become of a question.
func (m *Model) asked(q *api.Question) tea.Cmd {
	at := slices.IndexFunc(m.questions, func(o *api.Question) bool { return o.ID == q.ID })
	shown := m.asking != nil && m.asking.Question().ID == q.ID
	switch {
	case q.State != api.QuestionOpen:
		if at >= 0 {
			m.questions = slices.Delete(m.questions, at, at+1)
		}
		delete(m.putOff, q.ID)
		if !shown {
			delete(m.answering, q.ID)
			return m.nextQuestion()
		}
		if m.answering[q.ID] {
			delete(m.answering, q.ID)
			return m.closeQuestion()
		}
		settled := m.asking.Settled(q)
		m.asking = &settled // until the next key
		return nil
	case at >= 0:
		m.questions[at] = q
		if shown {
			changed := m.asking.Changed(q)
			m.asking = &changed
		}
		return nil
	default:
		m.questions = append(m.questions, q)
		cmd := m.nextQuestion()
		if m.o.Bell {
			cmd = tea.Batch(cmd, tea.Raw("\a"))
		}
		return cmd
	}
}

// closeQuestion takes away the question that is shown, which is settled. The one that takes its place takes no keys for a while: they may be meant
// for this one.
func (m *Model) closeQuestion() tea.Cmd {
	m.asking, m.expected, m.lastKey = nil, false, time.Now()
	return m.nextQuestion()
}

// nextQuestion shows the oldest question that was not put off, if none is shown.
func (m *Model) nextQuestion() tea.Cmd {
	if m.asking != nil {
		return nil
	}
	for _, q := range m.questions {
		if !m.putOff[q.ID] {
			return m.ask(q)
		}
	}
	m.expected = false
	m.resize()
	return nil
}

// ask shows a question.
func (m *Model) ask(q *api.Question) tea.Cmd {
	dir := ""
	if m.snapshot != nil {
		dir = m.snapshot.Dir
	}
	a := ask.New(q, ask.Options{
		Styles: m.styles, Width: m.mainWidth(), Height: m.askRows(), Editor: m.o.Editor, Dir: dir,
	})
	m.asking = &a
	m.resize()
	return tea.Batch(a.Init(), m.guard())
}

// guardEnd says that nothing was typed for a while.
type guardEnd struct{ number int }

// guard begins the time in which no key answers a question. There is none if somebody has asked for the question.
func (m *Model) guard() tea.Cmd {
	wait := max(m.o.Guard-time.Since(m.lastKey), min(m.o.Guard, surprise))
	m.guarded = wait > 0 && !m.expected
	if m.expected = false; !m.guarded {
		return nil
	}
	m.guardNumber++
	return m.jobs.later(wait, guardEnd{m.guardNumber})
}

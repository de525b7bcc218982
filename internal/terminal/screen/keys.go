package screen

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// key does what a key asks for.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	m.pane.Pressed()
	defer func() { m.pane.Typed() }() // which may be another one by then
	m.typed++
	if name != "ctrl+c" {
		m.leaving = time.Time{}
	}
	if m.overlay != nil {
		if name == "ctrl+c" {
			m.overlay = nil
			return nil
		}
		return m.overlay.key(m, k)
	}
	switch name {
	case "ctrl+c":
		return m.ctrlC()
	case "ctrl+z":
		return tea.Suspend
	case "ctrl+l":
		if m.focus == areaList {
			m.focusOn(areaBottom)
		} else {
			m.focusOn(areaList)
		}
		return nil
	case "ctrl+r":
		return m.goToQuestion()
	case "shift+up":
		return m.scroll(-1)
	case "shift+down":
		return m.scroll(1)
	case "f1":
		m.overlay = &help{}
		return nil
	}
	if m.focus == areaBottom && m.pane.Ask != nil {
		return m.keyAsking(k)
	}
	switch name {
	case "pgup":
		return m.scroll(-m.talkHeight() + 1)
	case "pgdown":
		return m.scroll(m.talkHeight() - 1)
	case "shift+tab":
		return m.cycleMode()
	case "ctrl+o":
		if w := m.window(); w != nil {
			w.foldAll()
			return m.fill()
		}
		return nil
	case "ctrl+t":
		m.thinking = !m.thinking
		return nil
	}
	switch m.focus {
	case areaTalk:
		return m.keyTalk(k)
	case areaList:
		return m.keyList(k)
	default:
		return m.keyComposer(k)
	}
}

// ctrlC empties the composer; pressed twice it leaves.
func (m *Model) ctrlC() tea.Cmd {
	if m.focus == areaBottom && m.pane.Ask == nil && !m.pane.Composer.Empty() {
		m.pane.Composer = m.pane.Composer.Reset()
		return nil
	}
	if !m.leaving.IsZero() && time.Since(m.leaving) < leaveTime {
		return tea.Quit
	}
	m.leaving = time.Now()
	return m.say("Press ctrl+c again to leave; agents keep running. ctrl+x stops the turn.")
}

// keyAsking is a key while a question is shown.
func (m *Model) keyAsking(k tea.KeyPressMsg) tea.Cmd {
	switch typing := m.pane.Ask.Typing(); {
	case m.pane.Settled(): // by someone else: any key closes it
		return m.pane.Close()
	case k.String() == "ctrl+x" && !typing:
		return m.interrupt()
	case k.String() == "?" && !typing && !m.pane.Guarded():
		m.overlay = &help{}
		return nil
	}
	return m.pane.AskKey(k)
}

// keyComposer is a key while the user writes.
func (m *Model) keyComposer(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		if !m.pane.Composer.Completing() {
			m.focusOn(areaTalk)
			return nil
		}
	case "tab":
		if !m.pane.Composer.Completes() {
			m.focusOn(areaTalk)
			return nil
		}
	case "ctrl+d":
		if m.pane.Composer.Empty() {
			return tea.Quit
		}
	case "ctrl+x":
		if len(m.pane.Composer.Attachments()) == 0 {
			return m.interrupt()
		}
	case "?":
		if m.pane.Composer.Empty() {
			m.overlay = &help{}
			return nil
		}
	}
	return m.pane.Write(k)
}

// keyTalk is a key while the conversation has the focus.
func (m *Model) keyTalk(k tea.KeyPressMsg) tea.Cmd {
	w := m.window()
	switch k.String() {
	case "q", "ctrl+d":
		return tea.Quit
	case "esc":
		if m.search.text != "" {
			m.search = search{}
			return nil
		}
		m.focusOn(areaList)
		return nil
	case "tab":
		m.focusOn(areaList)
		return nil
	case "i":
		m.focusOn(areaBottom)
		return nil
	case "?":
		m.overlay = &help{}
		return nil
	case "m":
		return m.pickModel()
	case "M":
		return m.pickMode()
	case "a":
		return m.pickAction()
	case "F":
		return m.pickFork()
	case "R":
		return m.rewindHere()
	case "A":
		if m.snapshot == nil {
			return nil
		}
		return m.archive(m.session, !m.snapshot.Archived)
	case "ctrl+x":
		return m.interrupt()
	case "t":
		m.thinking = !m.thinking
		return nil
	case "/":
		m.overlay = m.newSearch()
		return nil
	}
	if w == nil {
		return nil
	}
	switch k.String() {
	case "up", "k":
		if !w.step(-1) && w.first > 1 {
			w.wanted--
		}
	case "down", "j":
		if !w.step(1) && !w.tail {
			w.wanted++
		}
	case "b", "ctrl+u":
		return m.scroll(-m.talkHeight() + 1)
	case "f", "ctrl+f":
		return m.scroll(m.talkHeight() - 1)
	case "space", " ", "enter":
		return m.foldOrAnswer(w)
	case "g", "home":
		return m.toStart()
	case "G", "end":
		m.toEnd()
	case "n":
		return m.nextMatch(-1)
	case "N":
		return m.nextMatch(1)
	}
	return m.fill()
}

// foldOrAnswer folds what is selected; an open question comes up instead.
func (m *Model) foldOrAnswer(w *window) tea.Cmd {
	if w.selected >= 0 && w.selected < w.talk.Len() {
		if q := w.talk.Item(w.selected).Question; q != nil {
			if cmd, open := m.pane.Show(q.ID); open {
				m.focusOn(areaBottom)
				return cmd
			}
		}
	}
	w.fold()
	return m.fill()
}

// goToQuestion shows a question that was put off, else opens the next session that asks something.
func (m *Model) goToQuestion() tea.Cmd {
	if m.pane.Ask != nil && m.focus != areaBottom {
		m.focusOn(areaBottom)
		return nil
	}
	if m.pane.Ask == nil && len(m.pane.Open()) > 0 {
		m.focusOn(areaBottom)
		return m.pane.BringBack()
	}
	if id := m.list.nextAsking(m.session); id != "" {
		m.focusOn(areaBottom)
		cmd := m.open(id)
		m.pane.Expect()
		return cmd
	}
	if m.pane.Ask != nil {
		return m.say("No other open questions.")
	}
	return m.say("No open questions.")
}

// keyList is a key while the list has the focus.
func (m *Model) keyList(k tea.KeyPressMsg) tea.Cmd {
	by := 0
	switch k.String() {
	case "q", "ctrl+d":
		return tea.Quit
	case "esc", "tab", "i":
		m.focusOn(areaBottom)
		return nil
	case "?":
		m.overlay = &help{}
		return nil
	case "/":
		m.overlay = &searchInput{everywhere: true}
		return nil
	case "enter", "space", " ", "right", "l":
		if m.list.cursor == "" {
			return nil
		}
		var cmd tea.Cmd
		if m.list.cursor != m.session {
			cmd = m.open(m.list.cursor)
		}
		m.focusOn(areaBottom)
		return cmd
	case "ctrl+x":
		return m.interruptOf(m.list.cursor)
	case "A":
		return m.archive(m.list.cursor, true) // those that are archived are not in the list
	case "up", "k":
		by = -1
	case "down", "j":
		by = 1
	case "home", "g":
		by = -len(m.list.sessions)
	case "end", "G":
		by = len(m.list.sessions)
	default:
		return nil
	}
	if m.list.move(by) {
		m.list.pages++
		return m.readList()
	}
	return nil
}

// scroll moves the conversation by lines, and reads what is missing for that.
func (m *Model) scroll(by int) tea.Cmd {
	w := m.window()
	if w == nil {
		return nil
	}
	missing := w.scroll(by)
	if rows := w.rows(); len(rows) > 0 && m.focus == areaTalk {
		w.selected = rows[0].item
		if by > 0 {
			w.selected = rows[len(rows)-1].item
		}
	}
	if missing < 0 && w.first > 1 || missing > 0 && !w.tail {
		w.wanted = missing
	}
	return m.fill()
}

// toStart shows the beginning of the log, without what lies between.
func (m *Model) toStart() tea.Cmd {
	if w := m.window(); w.first <= 1 {
		w.toStart()
		return nil
	}
	return m.jump(1)
}

// toEnd shows the end of the log, and follows it.
func (m *Model) toEnd() {
	m.past = nil
	if m.tail != nil {
		m.tail.wanted = 0
		m.tail.toEnd()
	}
}

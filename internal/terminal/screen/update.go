package screen

import (
	"context"
	"crypto/rand"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/pane"
	"github.com/switchboard-dev/switchboard/internal/transcript"
)

// Update takes a message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.resize()
		return m, m.fill()
	case tea.KeyPressMsg:
		cmd := m.key(msg)
		m.resize() // the composer may have grown
		return m, cmd
	case tea.PasteMsg:
		cmd := m.paste(msg)
		m.resize()
		return m, cmd
	case opened:
		return m, m.opened(&msg)
	case reopen:
		if msg.number == m.opening && m.session != "" {
			return m, m.open(m.session)
		}
		return m, nil
	case paged:
		return m, m.paged(&msg)
	case looked:
		m.looked(&msg)
		return m, nil
	case pane.Batch:
		return m, m.batch(&msg)
	case listed:
		return m, m.listed(&msg)
	case listDue:
		m.list.waiting = false
		return m, m.readList()
	case tick:
		return m, m.tick()
	case flashEnd:
		if msg.number == m.flashNumber {
			m.flash = ""
		}
		return m, nil
	case hits:
		return m, m.hits(&msg)
	case did:
		if msg.err != nil {
			return m, m.say("That failed: %v", msg.err)
		}
		return m, m.say("%s", msg.what)
	case modelSet:
		return m, m.modelSet(&msg)
	case forked:
		return m, m.forked(&msg)
	case archived:
		return m, m.archived(&msg)
	case promptsRead:
		return m, m.promptsRead(&msg)
	case rewound:
		m.rewound(&msg)
		return m, nil
	case pane.Msg:
		cmd := msg.Take()
		m.resize()
		return m, cmd
	case compose.SubmitMsg:
		return m, m.submit(&msg)
	case compose.CommandMsg:
		return m, m.command(msg.Name, msg.Rest)
	}
	cmd := m.pane.Update(msg)
	m.resize()
	return m, cmd
}

// batch takes what a stream brought.
func (m *Model) batch(b *pane.Batch) tea.Cmd {
	if final(b.Err) {
		return m.shutOut(b.Err)
	}
	if b.Stream != m.watch.Number {
		if m.follow == nil || b.Stream != m.follow.Number || m.tail == nil {
			return nil // of a session that was left
		}
		return m.followed(b)
	}
	m.watching = b.Lost
	if b.Err != nil {
		m.watching = b.Err
		return nil
	}
	again := false
	for i := range b.Frames {
		again = m.list.frame(&b.Frames[i]) || again
	}
	cmds := []tea.Cmd{m.jobs.Do(m.watch.Next)}
	if again {
		cmds = append(cmds, m.readList())
	}
	return tea.Batch(cmds...)
}

// listed takes the list.
func (m *Model) listed(in *listed) tea.Cmd {
	m.list.take(in)
	if in.err != nil {
		m.list.waiting = true
		return m.jobs.Later(retryPause, listDue{})
	}
	var cmds []tea.Cmd
	if m.session == "" {
		if len(m.list.sessions) > 0 {
			cmds = append(cmds, m.open(m.list.sessions[0].ID))
		}
	} else if m.list.index() < 0 {
		m.list.cursor = m.session
	}
	if m.list.dirty { // something has changed meanwhile
		cmds = append(cmds, m.readList())
	}
	return tea.Batch(cmds...)
}

// tick shows the time that passes.
func (m *Model) tick() tea.Cmd {
	m.ticking = false
	if w := m.window(); w != nil {
		w.look.Now = time.Now()
		for _, r := range w.rows() {
			if t := w.talk.Item(r.item).Tool; t != nil && t.State == transcript.ToolRunning {
				w.changed(transcript.Changed{Items: []int{r.item}})
			}
		}
	}
	return m.tickNow()
}

// paste puts pasted text where keys go.
func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	m.pane.Pressed()
	defer func() { m.pane.Typed() }() // which may be another one by then
	m.typed++
	switch {
	case m.overlay != nil:
		return m.overlay.paste(m, msg.Content)
	case m.pane.Ask != nil && m.focus == areaBottom && !m.pane.Guarded(): // else it is meant for the composer
		return m.pane.AskKey(msg)
	}
	m.focusOn(areaBottom)
	return m.pane.Write(msg)
}

// focusOn moves the focus.
func (m *Model) focusOn(p area) {
	m.focus = p
	m.listOpen = p == areaList && m.listWidth() == 0
	m.pane.SetFocus(p == areaBottom)
	if w := m.window(); p == areaTalk && w != nil && w.selected < 0 {
		w.selected = w.talk.Len() - 1
	}
	m.resize()
}

// newID returns an id for a request that may be repeated.
func newID() string { return "tui-" + rand.Text() }

// submit sends what was written.
func (m *Model) submit(in *compose.SubmitMsg) tea.Cmd {
	if m.session == "" {
		return m.say("No session to write to; start one: switchboard run")
	}
	m.toEnd()
	return m.pane.Send(*in)
}

// act does something with the open session.
func (m *Model) act(what string, f func(ctx context.Context, id string) error) tea.Cmd {
	if m.session == "" {
		return nil
	}
	id := m.session
	return m.jobs.Do(func(ctx context.Context) tea.Msg { return did{what, f(ctx, id)} })
}

// interrupt stops the turn.
func (m *Model) interrupt() tea.Cmd { return m.interruptOf(m.session) }

// interruptOf stops the turn of a session, and says which if it is not the one that is open.
func (m *Model) interruptOf(id string) tea.Cmd {
	if id == "" {
		return nil
	}
	where := ""
	if s := m.list.find(id); s != nil && id != m.session {
		where = " in " + title(s.Title, s.Dir, s.ID)
	}
	return tea.Batch(m.say("Stopping the turn%s …", where), m.jobs.Do(func(ctx context.Context) tea.Msg {
		done, err := m.hub.Interrupt(ctx, id, api.Interrupt{})
		if err == nil && !done.Was {
			return did{"No turn was running" + where, nil}
		}
		return did{"Turn stopped" + where, err}
	}))
}

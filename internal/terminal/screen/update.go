package screen

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/ask"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
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
	case batch:
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
	case guardEnd:
		if msg.number == m.guardNumber {
			m.guarded = false
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
	case sent:
		return m, m.sent(&msg)
	case answered:
		return m, m.answered(&msg)
	case ask.AnsweredMsg:
		return m, m.answer(&msg)
	case ask.PutOffMsg:
		if m.asking == nil || m.asking.Question().ID != msg.Question {
			return m, nil // it was settled meanwhile, and another one may have come up
		}
		m.putOff[msg.Question] = true
		m.asking, m.expected = nil, true // whoever puts one off looks at the next
		return m, m.nextQuestion()
	case compose.SubmitMsg:
		return m, m.submit(&msg)
	case compose.CommandMsg:
		return m, m.command(msg.Name, msg.Rest)
	}
	// What is left is that of the parts: completions, files, what comes from an editor, timers.
	return m, m.parts(msg)
}

// parts hands a message to the parts that have messages of their own.
func (m *Model) parts(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	if m.asking != nil {
		a, cmd := m.asking.Update(msg)
		m.asking = &a
		cmds = append(cmds, cmd)
	}
	composer, cmd := m.composer.Update(msg)
	m.composer = composer
	m.resize()
	return tea.Batch(append(cmds, cmd)...)
}

// batch takes what a stream brought.
func (m *Model) batch(b *batch) tea.Cmd {
	if b.stream != m.watch.number {
		if m.follow == nil || b.stream != m.follow.number || m.tail == nil {
			return nil // of a session that was left
		}
		return m.followed(b)
	}
	m.watching = b.lost
	if b.err != nil {
		m.watching = b.err
		return nil
	}
	again := false
	for i := range b.frames {
		again = m.list.frame(&b.frames[i]) || again
	}
	cmds := []tea.Cmd{m.jobs.do(m.watch.next)}
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
		return m.jobs.later(retryPause, listDue{})
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
	m.lastKey, m.expected = time.Now(), false
	m.typed++
	switch {
	case m.overlay != nil:
		return m.overlay.paste(m, msg.Content)
	case m.asking != nil && m.focus == paneBottom && !m.guarded: // else it is meant for the composer
		a, cmd := m.asking.Update(msg)
		m.asking = &a
		return cmd
	}
	m.focusOn(paneBottom)
	composer, cmd := m.composer.Update(msg)
	m.composer = composer
	return cmd
}

// focusOn moves the focus.
func (m *Model) focusOn(p pane) {
	m.focus = p
	m.listOpen = p == paneList && m.listWidth() == 0
	if p == paneBottom {
		m.composer = m.composer.Focus()
	} else {
		m.composer = m.composer.Blur()
	}
	if w := m.window(); p == paneTalk && w != nil && w.selected < 0 {
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
	message := in.Message()
	out := sent{draft: draft{m.session, in.Text}, attachments: in.Attachments, begun: time.Now()}
	// A text that is written once more because it seemed not to arrive is the same message.
	out.clientID = m.unsent[out.draft]
	if out.again = out.clientID != "" && len(in.Attachments) == 0; !out.again {
		out.clientID = newID()
	}
	message.ClientID = out.clientID
	m.toEnd()
	return m.jobs.act("this message wasn't sent: "+paint.CleanLine(in.Text, 0), func(ctx context.Context) (tea.Msg, error) {
		out.message, out.err = m.hub.Send(ctx, out.session, message)
		return out, out.err
	})
}

// sent takes what became of a message. If it did not arrive it comes back.
func (m *Model) sent(in *sent) tea.Cmd {
	if in.err == nil {
		delete(m.unsent, in.draft)
		if in.again && in.message != nil && !in.message.Created.IsZero() && in.message.Created.Before(in.begun) {
			return m.say("That was already sent. To send it again, write it again.")
		}
		return nil
	}
	m.unsent[in.draft] = in.clientID
	if e, ok := errors.AsType[*api.Error](in.err); ok && e.Status < 500 {
		delete(m.unsent, in.draft) // it was refused, so that there is none with this id
	}
	switch {
	case m.session == in.session && m.composer.Empty():
		m.composer = m.composer.SetValue(in.text).SetAttachments(in.attachments)
		m.resize()
	case m.session != in.session && m.drafts[in.session] == "":
		m.drafts[in.session] = in.text
	default:
		return m.say("Not sent, kept in the history (up): %v", in.err)
	}
	return m.say("Not sent: %v", in.err)
}

// answer sends an answer.
func (m *Model) answer(in *ask.AnsweredMsg) tea.Cmd {
	id, a := in.Question, in.Answer
	if a.ClientID == "" {
		a.ClientID = newID()
	}
	m.answering[id] = true
	return m.jobs.act("the answer to the question "+id+" wasn't sent", func(ctx context.Context) (tea.Msg, error) {
		q, err := m.hub.Answer(ctx, id, a)
		return answered{id, q, err}, err
	})
}

// answered takes what became of an answer.
func (m *Model) answered(in *answered) tea.Cmd {
	shown := m.asking != nil && m.asking.Question().ID == in.id
	if in.err == nil {
		if in.q != nil {
			return m.asked(in.q)
		}
		return nil
	}
	delete(m.answering, in.id)
	if shown {
		failed := m.asking.Failed(in.err)
		m.asking = &failed
		return nil
	}
	if e, ok := errors.AsType[*api.Error](in.err); ok && e.Code == api.CodeAlreadySettled {
		return m.say("Already answered by someone else.")
	}
	return m.say("Couldn't answer: %v", in.err)
}

// act does something with the open session.
func (m *Model) act(what string, f func(ctx context.Context, id string) error) tea.Cmd {
	if m.session == "" {
		return nil
	}
	id := m.session
	return m.jobs.do(func(ctx context.Context) tea.Msg { return did{what, f(ctx, id)} })
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
	return tea.Batch(m.say("Stopping the turn%s …", where), m.jobs.do(func(ctx context.Context) tea.Msg {
		done, err := m.hub.Interrupt(ctx, id, api.Interrupt{})
		if err == nil && !done.Was {
			return did{"No turn was running" + where, nil}
		}
		return did{"Turn stopped" + where, err}
	}))
}

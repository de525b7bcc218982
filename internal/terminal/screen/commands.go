package screen

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/pane"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/wire"
)

func itoa(n int) string { return strconv.Itoa(n) }

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// shortID returns the beginning of an id, which is enough for a person.
func shortID(id string) string { return id[:min(len(id), 7)] }

// slashCommands are those of the screen itself. All others are the CLI's.
func slashCommands() []compose.Command {
	return []compose.Command{
		{Name: "model", Hint: "choose the model"},
		{Name: "mode", Hint: "choose the permission mode"},
		{Name: "title", Hint: "give the session a title"},
		{Name: "search", Hint: "search in this session"},
		{Name: "sessions", Hint: "go to the list of sessions"},
		{Name: "interrupt", Hint: "stop the turn"},
		{Name: "takeback", Hint: "remove the last queued message"},
		{Name: "release", Hint: "continue a session that is held back"},
		{Name: "stop", Hint: "stop the agent"},
		{Name: "fork", Hint: "a new session with a copy of the conversation; with a text: and send it that"},
		{Name: "rewind", Hint: "restore files as they were before a prompt"},
		{Name: "archive", Hint: "archive the session; the agent keeps running"},
		{Name: "unarchive", Hint: "unarchive it"},
		{Name: "keys", Hint: "show all keys"},
		{Name: "quit", Hint: "leave; agents keep running"},
	}
}

// command does what one of them says.
func (m *Model) command(name, rest string) tea.Cmd {
	rest = strings.TrimSpace(rest)
	switch name {
	case "model":
		if rest != "" {
			return m.setModel(rest)
		}
		return m.pickModel()
	case "mode":
		if rest != "" {
			return m.setMode(rest)
		}
		return m.pickMode()
	case "title":
		return m.act("Title changed", func(ctx context.Context, id string) error {
			_, err := m.hub.Update(ctx, id, api.UpdateSession{Title: &rest})
			return err
		})
	case "search":
		m.focusOn(areaTalk)
		if rest == "" {
			m.overlay = m.newSearch()
			return nil
		}
		m.search = search{text: rest}
		if w := m.window(); w != nil {
			if i := w.find(rest, w.talk.Len()-1, -1); i >= 0 {
				m.found(w, i)
			}
		}
		return m.ask4hits(m.session, rest)
	case "sessions":
		m.focusOn(areaList)
		return nil
	case "interrupt":
		return m.interrupt()
	case "takeback":
		return m.takeBack()
	case "release":
		return m.act("The session continues", func(ctx context.Context, id string) error {
			_, err := m.hub.Release(ctx, id, api.Release{ClientID: newID()})
			return err
		})
	case "stop":
		return m.act("Agent stopped; a message starts it again", func(ctx context.Context, id string) error {
			_, err := m.hub.Stop(ctx, id, api.Stop{})
			return err
		})
	case "fork":
		return m.forkWith(rest)
	case "rewind":
		return m.pickPrompt()
	case "archive", "unarchive":
		return m.archive(m.session, name == "archive")
	case "keys":
		m.overlay = &help{}
		return nil
	case "quit":
		return tea.Quit
	}
	return m.say("Unknown command /%s.", name)
}

// takeBack withdraws the message that was queued last, and gives its text back.
func (m *Model) takeBack() tea.Cmd {
	if m.tail == nil {
		return nil
	}
	queued := m.tail.talk.State().Queued
	at := -1
	for i := range queued {
		if queued[i].State == api.MessageQueued {
			at = i
		}
	}
	if at < 0 {
		return m.say("No message is queued.")
	}
	message := queued[at]
	if m.pane.Composer.Empty() {
		m.pane.Composer = m.pane.Composer.SetValue(message.Text)
	}
	return m.act("Message removed from the queue", func(ctx context.Context, id string) error {
		name := message.ClientID
		if name == "" {
			name = message.ID
		}
		_, err := m.hub.TakeBack(ctx, id, name)
		return err
	})
}

// pickModel has a model chosen.
func (m *Model) pickModel() tea.Cmd {
	if m.snapshot == nil {
		return nil
	}
	p := &picker{title: "Model", chosen: func(m *Model, value string) tea.Cmd { return m.setModel(value) }}
	current := m.model()
	for _, c := range pane.Models(m.snapshot) {
		label := c.Name
		if label == "" {
			label = c.Value
		}
		if c.Value == current {
			p.at = len(p.picks)
			label += " (now)"
		}
		p.picks = append(p.picks, pick{value: c.Value, label: label, hint: c.Description})
	}
	if len(p.picks) == 0 {
		return m.say("The agent hasn't listed its models; name one: /model NAME.")
	}
	m.overlay = p
	return nil
}

// setModel changes the model.
func (m *Model) setModel(name string) tea.Cmd {
	if name == "default" {
		name = "" // the server's word for it
	}
	if m.tail == nil {
		return nil
	}
	id, was := m.session, m.tail.talk.State().Model
	return m.jobs.Do(func(ctx context.Context) tea.Msg {
		_, err := m.hub.Update(ctx, id, api.UpdateSession{Model: &name})
		return modelSet{id, name, was, err}
	})
}

// modelSet is what became of the choice of a model.
type modelSet struct {
	session, name, was string
	err                error
}

// modelSet remembers the model that was chosen: the CLI itself tells it with its next turn.
func (m *Model) modelSet(in *modelSet) tea.Cmd {
	if in.err != nil {
		return m.say("Couldn't change the model: %v", in.err)
	}
	if in.session == m.session {
		m.chosen = *in
	}
	if in.name == "" {
		return m.say("Model: default")
	}
	return m.say("Model: %s", in.name)
}

// model is the one that the session's next turn has.
func (m *Model) model() string {
	told := m.tail.talk.State().Model
	if c := &m.chosen; c.session == m.session && c.was == told && c.name != "" {
		return c.name
	}
	return told
}

// pickMode has a permission mode chosen.
func (m *Model) pickMode() tea.Cmd {
	if m.snapshot == nil {
		return nil
	}
	p := &picker{title: "Permission mode", chosen: func(m *Model, value string) tea.Cmd { return m.setMode(value) }}
	current := m.tail.talk.State().Mode
	for _, mode := range words.Modes() {
		label := words.ModeLabel(mode)
		if mode == current {
			p.at = len(p.picks)
			label += " (now)"
		}
		p.picks = append(p.picks, pick{value: mode, label: label, hint: mode})
	}
	m.overlay = p
	return nil
}

// cycleMode goes to the next mode.
func (m *Model) cycleMode() tea.Cmd {
	if m.tail == nil {
		return nil
	}
	return m.setMode(string(pane.NextMode(m.tail.talk.State().Mode)))
}

// setMode changes the permission mode.
func (m *Model) setMode(name string) tea.Cmd {
	mode := wire.PermissionMode(name)
	if mode == wire.PermissionModeBypassPermissions {
		return m.confirmBypass()
	}
	return m.changeMode(mode)
}

// confirmBypass asks before the mode in which nothing is asked any more.
func (m *Model) confirmBypass() tea.Cmd {
	m.overlay = &picker{
		title: "Bypass permissions? Every command runs and every file is edited without asking. Deny rules still apply.",
		picks: []pick{{value: "no", label: "No, keep the mode"}, {value: "yes", label: "Yes, bypass permissions"}},
		chosen: func(m *Model, value string) tea.Cmd {
			if value != "yes" {
				return nil
			}
			return m.changeMode(wire.PermissionModeBypassPermissions)
		},
	}
	return nil
}

// changeMode changes the permission mode.
func (m *Model) changeMode(mode wire.PermissionMode) tea.Cmd {
	name := string(mode)
	return m.act(fmt.Sprintf("Permission mode: %s", words.ModeLabel(name)), func(ctx context.Context, id string) error {
		_, err := m.hub.Update(ctx, id, api.UpdateSession{PermissionMode: &mode})
		return err
	})
}

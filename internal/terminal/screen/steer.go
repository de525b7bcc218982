package screen

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/eventlog"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/pane"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/units"
)

const (
	// maxPrompts is how many prompts can be chosen among to go back to, maxBack how many pages are read to find them, or what was said before one.
	maxPrompts = 30
	maxBack    = 20
)

// errNoMessage says that there is nothing to cut a copy at.
var errNoMessage = errors.New("nothing was said before that; start a new session instead: switchboard run")

// pickAction has the user choose what to do with the open session.
func (m *Model) pickAction() tea.Cmd {
	if m.snapshot == nil || m.tail == nil {
		return nil
	}
	away := pick{value: "archive", label: "Archive it", hint: "hides it from lists; a running agent keeps running"}
	if m.snapshot.Archived {
		away = pick{value: "unarchive", label: "Unarchive"}
	}
	m.overlay = &picker{
		title: "This session",
		picks: []pick{
			{value: "fork", label: "Fork", hint: "a new session with a copy of the conversation, or of its beginning"},
			{value: "rewind", label: "Restore files", hint: "as they were before a prompt; shows first what would change"},
			away,
		},
		chosen: func(m *Model, value string) tea.Cmd {
			switch value {
			case "fork":
				return m.pickFork()
			case "rewind":
				return m.rewindHere()
			default:
				return m.archive(m.session, value == "archive")
			}
		},
	}
	return nil
}

// chosenItem returns what is selected in the conversation, nil if nothing is or it is a sub-agent's.
func (m *Model) chosenItem() *transcript.Item {
	w := m.window()
	if w == nil || w.selected < 0 || w.selected >= w.talk.Len() {
		return nil
	}
	if it := w.talk.Item(w.selected); it.Depth == 0 {
		return it
	}
	return nil
}

// pickFork has the user choose how much of the conversation is copied.
func (m *Model) pickFork() tea.Cmd {
	if m.tail == nil {
		return nil
	}
	p := &picker{title: "Fork: a new session with a copy of"}
	p.picks = append(p.picks, pick{value: "all", label: "the whole conversation"})
	w, it := m.window(), m.chosenItem()
	switch {
	case it == nil || it.Event == "":
	case it.Kind == transcript.KindText:
		p.picks = append(p.picks, pick{value: "here", label: "everything up to here", hint: it.Text})
		p.at = 1
	case it.Kind == transcript.KindPrompt:
		p.picks = append(p.picks, pick{value: "before", label: "everything before this prompt, to rewrite it", hint: it.Text})
		p.at = 1
	}
	if it == nil {
		it = &transcript.Item{}
	}
	l, event, text := w.log, it.Event, it.Text
	// What the agent said last before a prompt: the items know the order, the log the ids.
	earlier, first := "", w.first
	for i := w.selected - 1; i >= 0 && i < w.talk.Len(); i-- {
		if o := w.talk.Item(i); o.Kind == transcript.KindText && o.Depth == 0 && o.Event != "" && !o.Failed {
			earlier = o.Event
			break
		}
	}
	p.chosen = func(m *Model, value string) tea.Cmd {
		switch value {
		case "here":
			return m.fork(api.Fork{}, "", func(ctx context.Context) (string, error) { return l.ReplyAt(ctx, event) })
		case "before":
			return m.fork(api.Fork{}, text, func(ctx context.Context) (string, error) {
				if earlier != "" {
					return l.ReplyAt(ctx, earlier)
				}
				uuid, err := l.Reply(ctx, first, maxBack)
				if err == nil && uuid == "" {
					err = errNoMessage
				}
				return uuid, err
			})
		default:
			return m.fork(api.Fork{}, "", nil)
		}
	}
	m.overlay = p
	return nil
}

// forked is what became of a fork.
type forked struct {
	from  string
	typed int    // how many keys had been pressed when it began
	draft string // what is written into the composer of the new session
	made  *api.Created
	err   error
}

// fork makes a new session with a copy of the conversation; at, if not nil, finds the last message to keep.
func (m *Model) fork(in api.Fork, draft string, at func(context.Context) (string, error)) tea.Cmd {
	if m.session == "" {
		return nil
	}
	in.ClientID = newID()
	out := forked{from: m.session, typed: m.typed, draft: draft}
	return tea.Batch(m.say("Forking …"), m.jobs.Act("the conversation wasn't forked", func(ctx context.Context) (tea.Msg, error) {
		if at != nil {
			if in.At, out.err = at(ctx); out.err != nil {
				return out, out.err
			}
		}
		out.made, out.err = m.hub.Fork(ctx, out.from, in)
		return out, out.err
	}))
}

// forked opens the new session, unless another one was opened meanwhile.
func (m *Model) forked(in *forked) tea.Cmd {
	if in.err != nil {
		return m.say("Couldn't fork: %v", in.err)
	}
	if in.draft != "" {
		made := m.paneOf(in.made.ID)
		made.Composer = made.Composer.SetValue(in.draft)
	}
	if m.session != in.from || m.overlay != nil || m.typed != in.typed {
		return tea.Batch(m.readList(), m.say("Forked as %s; ctrl+l lists it", title(in.made.Title, "", in.made.ID)))
	}
	cmd := m.open(in.made.ID)
	m.focusOn(areaBottom)
	return tea.Batch(cmd, m.readList(), m.say("This is the fork; the original session is unchanged"))
}

// archive puts a session away, or takes it out again.
func (m *Model) archive(id string, away bool) tea.Cmd {
	if id == "" {
		return nil
	}
	return m.jobs.Act("the session wasn't archived", func(ctx context.Context) (tea.Msg, error) {
		out := archived{session: id, away: away}
		if away {
			_, out.err = m.hub.Archive(ctx, id)
		} else {
			_, out.err = m.hub.Unarchive(ctx, id)
		}
		return out, out.err
	})
}

// archived is what became of an archiving.
type archived struct {
	session string
	away    bool
	err     error
}

// archived says what became of it.
func (m *Model) archived(in *archived) tea.Cmd {
	if in.err != nil {
		return m.say("That failed: %v", in.err)
	}
	if in.session == m.session && m.snapshot != nil {
		m.snapshot.Archived = in.away
	}
	name := shortID(in.session)
	if s := m.list.find(in.session); s != nil {
		name = title(s.Title, s.Dir, s.ID)
	}
	if !in.away {
		return tea.Batch(m.readList(), m.say("Unarchived %s", name))
	}
	return tea.Batch(m.readList(), m.say("Archived; undo: switchboard archive --undo %s (%s)", shortID(in.session), name))
}

// rewindHere shows what restoring the files before the selected prompt would change; if none is selected, it has one chosen.
func (m *Model) rewindHere() tea.Cmd {
	if it := m.chosenItem(); it != nil && it.Kind == transcript.KindPrompt && it.Message != nil && it.Message.UUID != "" && m.focus == areaTalk {
		return m.rewind(it.Message.UUID, it.Text)
	}
	return m.pickPrompt()
}

// promptsRead are the prompts to choose among.
type promptsRead struct {
	picker *picker
	list   []eventlog.Prompt
	err    error
}

// pickPrompt has a prompt chosen to restore files as they were before it.
func (m *Model) pickPrompt() tea.Cmd {
	if m.tail == nil {
		return nil
	}
	p := &picker{title: "Restore files as they were before", reading: true}
	m.overlay = p
	l, end := m.tail.log, m.tail.last+1
	return m.jobs.Do(func(ctx context.Context) tea.Msg {
		var list []eventlog.Prompt
		err := l.Prompts(ctx, end, maxBack, func(_ *api.Event, p eventlog.Prompt) bool {
			list = append(list, p)
			return len(list) < maxPrompts
		})
		return promptsRead{p, list, err}
	})
}

// promptsRead fills the list of prompts.
func (m *Model) promptsRead(in *promptsRead) tea.Cmd {
	if m.overlay != in.picker {
		return nil // the user has gone on
	}
	if in.err != nil || len(in.list) == 0 {
		m.overlay = nil
		if in.err != nil {
			return m.say("%v", in.err)
		}
		return m.say("No prompt to go back to.")
	}
	p := in.picker
	p.reading = false
	for i, prompt := range in.list {
		p.picks = append(p.picks, pick{value: itoa(i), label: paint.CleanLine(prompt.Text, 60), hint: units.Ago(prompt.Time, time.Now())})
	}
	p.chosen = func(m *Model, value string) tea.Cmd {
		prompt := in.list[atoi(value)]
		return m.rewind(prompt.UUID, prompt.Text)
	}
	return nil
}

// rewinding shows what restoring files would change, and restores them if the user says so.
type rewinding struct {
	session, uuid, text string
	would               *api.RewindResult // nil while it is asked for
	came                time.Time         // when it came
	err                 error
	top                 int
}

// rewound is what the trial brought.
type rewound struct {
	panel *rewinding
	would *api.RewindResult
	err   error
}

// rewind asks which files would change.
func (m *Model) rewind(uuid, text string) tea.Cmd {
	if m.session == "" {
		return nil
	}
	r := &rewinding{session: m.session, uuid: uuid, text: text}
	m.overlay = r
	return m.jobs.Do(func(ctx context.Context) tea.Msg {
		would, err := m.hub.Rewind(ctx, r.session, api.Rewind{UserMessageID: uuid, DryRun: true})
		return rewound{r, would, err}
	})
}

// rewound takes what would change.
func (m *Model) rewound(in *rewound) {
	r := in.panel
	r.would, r.err, r.came = in.would, in.err, time.Now()
	if r.err == nil && !r.would.CanRewind {
		r.err = errors.New(whyNot(r.would))
	}
}

// whyNot says why files cannot be restored.
func whyNot(r *api.RewindResult) string {
	if r.Error != "" {
		return r.Error
	}
	return "the agent gave no reason"
}

// ready reports whether there is something to restore.
func (r *rewinding) ready() bool {
	return r.would != nil && r.err == nil && len(r.would.FilesChanged) > 0
}

func (r *rewinding) paste(*Model, string) tea.Cmd { return nil }

func (r *rewinding) key(m *Model, k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "up", "k":
		r.top--
	case "down", "j":
		r.top++
	case "pgup":
		r.top -= m.height / 2
	case "pgdown", "space", " ":
		r.top += m.height / 2
	case "y":
		// A user who presses it before there was time to read the list has not read it.
		if !r.ready() || time.Since(r.came) < min(m.o.Guard, pane.Surprise) {
			return nil
		}
		m.overlay = nil
		return tea.Batch(m.say("Restoring …"), m.jobs.Act("the files weren't restored", func(ctx context.Context) (tea.Msg, error) {
			done, err := m.hub.Rewind(ctx, r.session, api.Rewind{UserMessageID: r.uuid})
			if err == nil && !done.CanRewind {
				err = errors.New(whyNot(done))
			}
			if err != nil {
				return did{"", fmt.Errorf("restoring files: %w", err)}, err
			}
			return did{"Restored " + count(len(r.would.FilesChanged), "file", "files") + "; the conversation is unchanged", nil}, nil
		}))
	case "n", "q", "esc", "enter":
		m.overlay = nil
	}
	return nil
}

func (r *rewinding) draw(m *Model, width, height int) ([]string, bool) {
	s := m.styles
	lines := []string{
		s.Heading.Render(paint.Cut("Restore files as they were before", width)),
		paint.Cut("  "+paint.CleanLine(r.text, max(1, width-2)), width), "",
	}
	last := "esc goes back"
	switch {
	case r.err != nil:
		for _, line := range paint.Wrap("Can't restore the files: "+paint.CleanLine(r.err.Error(), 0), max(1, width)) {
			lines = append(lines, s.Bad.Render(line))
		}
	case r.would == nil:
		lines = append(lines, s.Dim.Render(paint.Cut("asking the agent which files would change "+s.Glyphs.Ellipsis, width)))
	case len(r.would.FilesChanged) == 0:
		lines = append(lines, paint.Cut("No file has changed since: the agent's tools edited none.", width))
	default:
		head := count(len(r.would.FilesChanged), "file", "files") + " would change"
		if r.would.Insertions > 0 || r.would.Deletions > 0 {
			head += fmt.Sprintf(" (+%d -%d lines)", r.would.Insertions, r.would.Deletions)
		}
		lines = append(lines, paint.Cut(head+":", width))
		for _, file := range r.would.FilesChanged {
			lines = append(lines, "  "+tailOf(paint.CleanLine(file, 0), max(1, width-2), s.Glyphs.Ellipsis))
		}
		last = "y restores them and keeps the conversation; esc goes back; up and down scroll"
	}
	r.top = max(0, min(r.top, len(lines)-height+1))
	end := min(len(lines), r.top+height-1)
	lines = append(lines[r.top:end:end], s.Dim.Render(paint.Cut(last, width)))
	return lines, true
}

// forkWith forks the whole conversation and sends a prompt to the copy.
func (m *Model) forkWith(prompt string) tea.Cmd {
	if strings.TrimSpace(prompt) == "" {
		return m.pickFork()
	}
	return m.fork(api.Fork{Prompt: prompt}, "", nil)
}

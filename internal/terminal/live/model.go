package live

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/pane"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// twice is how soon the second Ctrl-C has to come to leave.
	twice = 2 * time.Second
	// tickPause is how often the time is drawn.
	tickPause = 120 * time.Millisecond
	// readyPause is how long the first drawing may take: Bubble Tea does not tell
	// when it has happened, and puts what is printed before it in the wrong place.
	readyPause = 150 * time.Millisecond
	// The size of a terminal that does not tell.
	usualWidth, usualHeight = 80, 24
	// maxItems is how much of a conversation that is printed is kept.
	maxItems = 2000
)

// A model is what is shown. It belongs to the program's goroutine.
type model struct {
	// Static after construction.
	session Session
	options *Options
	styles  *paint.Styles
	jobs    *pane.Jobs
	pane    *pane.Pane
	stream  *pane.Stream // of what happens in the session

	talk          transcript.Conversation
	width, height int
	sized         bool // the terminal has told its size
	ready         bool // the part that changes has been drawn: before, nothing can be printed above it

	printer printer

	// What was chosen.
	unfold   bool // what comes is shown unfolded
	hideTodo bool
	bypass   bool // it was said what bypassPermissions does

	lost        error  // why the hub cannot be reached, nil if it can
	note        string // something to say in the footer, until the next key
	interrupts  int    // counts Ctrl-C, to tell which one a timer belongs to
	interrupted bool   // one has come in the last moments
	seen        string // the id of the last event
	forgetting  bool   // a snapshot is on its way, with which to begin anew
	leaving     bool
	blanked     bool // nothing but empty rows is on the screen
	failed      error

	frame   int // of the spinner
	ticking bool
	dirty   bool
	cached  tea.View
	now     func() time.Time
	// later returns the command that says something after a while.
	later func(d time.Duration, msg tea.Msg) tea.Cmd
}

// newModel returns a model that has seen nothing yet.
func newModel(ctx context.Context, session Session, o *Options) *model {
	m := &model{
		session: session, options: o, styles: o.Profile.Styles(), jobs: pane.NewJobs(ctx),
		width: usualWidth, height: usualHeight, dirty: true, now: time.Now,
	}
	m.later = m.jobs.Later
	if o.Profile.Width > 0 {
		m.width = o.Profile.Width
	}
	opened := session.Opened()
	m.talk.Seed(opened)
	m.pane = pane.New(pane.Options{
		Session: session, Jobs: m.jobs, Styles: m.styles, Editor: o.Editor, Dir: opened.Dir, Guard: o.Guard, Inline: true, Say: m.say,
	}, compose.New(compose.Options{
		Styles: m.styles, Width: m.width, Rows: 6, Dir: opened.Dir, History: o.History, HistoryFile: o.HistoryFile, Editor: o.Editor, Slash: slash(),
		Placeholder: "Write to the agent. ? for help", Commands: pane.Commands(opened, slash()),
	}))
	m.printer.init(m)
	return m
}

// Init begins to keep time, and to follow the session.
func (m *model) Init() tea.Cmd { return tea.Batch(m.tick(), m.follow()) }

// follow waits for what happens next.
func (m *model) follow() tea.Cmd {
	if m.stream == nil {
		return nil
	}
	return m.jobs.Do(m.stream.Next)
}

// say prints a remark.
func (m *model) say(r pane.Remark) tea.Cmd {
	style := m.styles.Warn
	if r.Bad {
		style = m.styles.Bad
	}
	m.printer.add(style.Render(paint.CleanLine(r.Text, 0)))
	return nil
}

// tick keeps time while something goes on.
func (m *model) tick() tea.Cmd {
	if m.ticking {
		return nil
	}
	m.ticking = true
	return m.later(tickPause, tickMsg{})
}

// busy says whether time matters: something runs, or is waited for.
func (m *model) busy() bool {
	state := m.talk.State()
	switch state.Session {
	case api.StateIdle, api.StateEnded:
		return m.lost != nil
	case api.StateStarting, api.StateRunning, api.StateRequiresAction, api.StateBackground, api.StateOffline:
		return true
	}
	return true
}

// turn says whether there is something that an interrupt would stop.
func (m *model) turn() bool {
	//nolint:exhaustive // the others have no turn
	switch m.talk.State().Session {
	case api.StateStarting, api.StateRunning, api.StateRequiresAction:
		return true
	}
	return len(m.talk.State().Queued) > 0
}

// Update takes what happened.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case pane.Batch:
		m.dirty = true
		cmd = m.batch(&msg)
	case tickMsg:
		m.ticking = false
		m.frame++
		m.dirty = true
		if m.busy() {
			cmd = m.tick()
		}
	case printedMsg:
		m.printer.done()
		m.dirty = true
	case tea.WindowSizeMsg:
		if !m.sized {
			cmd = m.later(readyPause, readyMsg{})
		}
		m.resize(msg.Width, msg.Height)
	case readyMsg:
		m.ready = true
	case blankMsg:
		m.blanked, m.dirty = true, true
	case tea.KeyPressMsg:
		m.dirty = true
		cmd = m.key(msg)
	case tea.PasteMsg:
		m.dirty = true
		cmd = m.paste(msg)
	case interruptOverMsg:
		if msg.number == m.interrupts {
			m.interrupted, m.note, m.dirty = false, "", true
		}
	default:
		m.dirty = true
		cmd = m.other(msg)
	}
	return m, tea.Batch(cmd, m.after())
}

// after sees to what is due after any message: drawing, printing, leaving.
func (m *model) after() tea.Cmd {
	if m.printer.printing {
		return nil
	}
	// How much can be printed depends on how high the part that changes is, also
	// if that is drawn before the lines come.
	m.refresh()
	if print := m.printer.next(); print != nil {
		return print
	}
	if m.blanked && m.printer.empty() {
		return tea.Quit
	}
	return nil
}

// other takes what did not come from the terminal.
func (m *model) other(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case snapshotMsg:
		// What else it says may be older than what was seen meanwhile.
		m.pane.Composer = m.pane.Composer.SetCommands(pane.Commands(msg.session, slash()))
		m.forget(msg.session)
		return nil
	case compose.SubmitMsg:
		return m.pane.Send(msg)
	case compose.CommandMsg:
		return m.command(msg)
	case pane.Msg:
		return msg.Take()
	case doneMsg:
		if msg.err != nil {
			m.printer.add(m.styles.Bad.Render(msg.what + " failed: " + paint.CleanLine(msg.err.Error(), 0)))
		}
		return nil
	default:
		return m.pane.Update(msg)
	}
}

// batch takes what happened in the session.
func (m *model) batch(b *pane.Batch) tea.Cmd {
	m.lost = b.Lost
	again := []tea.Cmd{m.follow()}
	for _, frame := range b.Frames {
		if m.talk.Frame(frame).Reset {
			m.printer.moved()
		}
		if frame.Type == api.FrameResume && frame.Resume != nil && frame.Resume.Resume == "reset" {
			m.printer.reset()
		}
		if frame.Event != nil && frame.Event.ID != "" {
			m.seen = frame.Event.ID
		}
		if frame.Event != nil && starts(frame.Event) {
			again = append(again, m.snapshot())
		}
	}
	m.printer.items()
	if m.forgettable() && !m.forgetting {
		m.forgetting = true
		again = append(again, m.snapshot())
	}
	asked, _ := m.pane.Sync(&m.talk)
	again = append(again, asked)
	if m.busy() {
		again = append(again, m.tick())
	}
	if b.Err != nil {
		m.failed = b.Err
		return m.leave()
	}
	return tea.Batch(again...)
}

// forgettable says whether there is much to remember that no user needs any more:
// all of it is printed, and nothing goes on.
func (m *model) forgettable() bool {
	return m.talk.Len() > maxItems && m.printer.first == m.talk.Len() && m.talk.State().Session == api.StateIdle
}

// forget begins anew with how the session is now, so that one that is watched for
// days does not grow for days. If something has happened that the snapshot does
// not know of it is done another time.
func (m *model) forget(s *api.Session) {
	m.forgetting = false
	if m.forgettable() && s.LastEventID == m.seen {
		m.talk = transcript.Conversation{}
		m.talk.Seed(s)
		m.printer.forget()
	}
}

// starts says whether an event is that with which a CLI says what it can do.
func starts(e *api.Event) bool {
	if e.Kind != api.KindLine {
		return false
	}
	header, err := wire.Peek(e.Line)
	return err == nil && header.Is("system", "init")
}

// snapshot asks how the session is.
func (m *model) snapshot() tea.Cmd {
	return m.jobs.Do(func(ctx context.Context) tea.Msg {
		session, err := m.session.Snapshot(ctx)
		if err != nil {
			return nil // what it would have told is not worth an error
		}
		return snapshotMsg{session}
	})
}

// do does something and says what became of it.
func (m *model) do(what string, f func(context.Context) error) tea.Cmd {
	return m.jobs.Do(func(ctx context.Context) tea.Msg { return doneMsg{what, f(ctx)} })
}

// command obeys one of our own commands.
func (m *model) command(msg compose.CommandMsg) tea.Cmd {
	rest := strings.TrimSpace(msg.Rest)
	switch msg.Name {
	case "help":
		m.help()
		return nil
	case "quit":
		return m.leave()
	case "stop":
		return m.do("Stopping the agent", func(ctx context.Context) error {
			_, err := m.session.Stop(ctx)
			return err
		})
	case "model":
		if rest == "" {
			m.printer.add(m.styles.Dim.Render(paint.CleanLine("The model is "+m.talk.State().Model+". Others: "+strings.Join(models(m.session.Opened()), ", "), m.width)))
			return nil
		}
		return m.update("Changing the model", api.UpdateSession{Model: &rest})
	case "mode":
		return m.mode(rest)
	case "title":
		return m.update("Changing the title", api.UpdateSession{Title: &rest})
	default:
		m.printer.add(m.styles.Warn.Render(paint.CleanLine("Unknown command /"+msg.Name+". ? lists them.", m.width)))
		return nil
	}
}

// update changes the session.
func (m *model) update(what string, in api.UpdateSession) tea.Cmd {
	return m.do(what, func(ctx context.Context) error {
		_, err := m.session.Update(ctx, in)
		return err
	})
}

// mode changes the permission mode; "" takes the next of those that are cycled
// through.
func (m *model) mode(name string) tea.Cmd {
	mode := wire.PermissionMode(name)
	if name == "" {
		mode = pane.NextMode(m.talk.State().Mode)
	}
	if mode == wire.PermissionModeBypassPermissions && !m.bypass {
		m.bypass = true
		m.printer.add(m.styles.Warn.Render(paint.CleanLine("Bypass permissions runs and edits everything without asking. To confirm, write it again: /mode bypassPermissions", 0)))
		return nil
	}
	m.bypass = false
	m.note = "mode: " + words.ModeLabel(string(mode)) + " …"
	return m.update("Changing the mode", api.UpdateSession{PermissionMode: &mode})
}

// leave prints what is not finished, and ends the view.
func (m *model) leave() tea.Cmd {
	if m.leaving {
		return nil
	}
	m.printer.rest()
	m.leaving, m.dirty = true, true
	return m.later(readyPause, blankMsg{})
}

// resize takes another size of the terminal.
func (m *model) resize(width, height int) {
	m.dirty = true
	// The last column stays free: a row that is full to its end leaves the cursor
	// between two rows, and Bubble Tea erases its last character when it prints.
	if width > 0 {
		m.width = max(1, width-1)
	}
	if height > 0 {
		m.height = height
	}
	m.sized = true
	m.pane.SetSize(m.width, max(1, min(8, m.height/3)), max(6, m.height-5))
}

// help prints the keys.
func (m *model) help() {
	add := func(key, text string) {
		m.printer.add("  " + m.styles.Key.Render(fmt.Sprintf("%-12s", key)) + " " + text)
	}
	if m.pane.Ask != nil {
		m.printer.add("", m.styles.Bold.Render("This question"))
		for _, k := range m.pane.Ask.Keys() {
			add(k.Key, k.Help)
		}
	}
	m.printer.add("", m.styles.Bold.Render("Keys"))
	for _, k := range m.pane.Composer.Keys() {
		add(k.Key, k.Help)
	}
	add("ctrl+c", "stop the turn; twice, or when idle: leave, the agent keeps running")
	add("ctrl+o", "show tools in full; again: in a line")
	add("ctrl+t", "show or hide the to-do list")
	add("shift+tab", "next permission mode: Default, Accept edits, Plan mode")
	add("esc", "put a question off, and bring it back")
	m.printer.add(m.styles.Bold.Render("Commands") + m.styles.Dim.Render("  (all others go to the agent)"))
	for _, c := range slash() {
		add("/"+c.Name, c.Hint)
	}
	m.printer.add("")
}

package live

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/ask"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// twice is how soon the second Ctrl-C has to come to leave.
	twice = 2 * time.Second
	// drawPause is how long what comes in may wait to be drawn, tickPause how often
	// the time is.
	drawPause = 50 * time.Millisecond
	tickPause = 120 * time.Millisecond
	// readyPause is how long the first drawing may take: Bubble Tea does not tell
	// when it has happened, and puts what is printed before it in the wrong place.
	readyPause = 150 * time.Millisecond
	// The size of a terminal that does not tell.
	usualWidth, usualHeight = 80, 24
	// surprise is for how long a question that nobody waited for takes no keys, even
	// if nothing was typed: whoever presses one sooner has not read it.
	surprise = 350 * time.Millisecond
	// mostItems is how much of a conversation that is printed is kept.
	mostItems = 2000
)

// A model is what is shown. It belongs to the program's goroutine.
type model struct {
	// Static after construction.
	ctx     context.Context // ends with the view
	session Session
	options *Options
	styles  *paint.Styles

	talk          transcript.Conversation
	width, height int
	composer      compose.Model
	ask           *ask.Model // nil if nothing is asked, or it was put off
	putOff        map[string]bool
	sized         bool // the terminal has told its size
	ready         bool // the part that changes has been drawn: before, nothing can be printed above it

	printer printer

	// What was chosen.
	unfold   bool // what comes is shown unfolded
	hideTodo bool
	bypass   bool // it was said what bypassPermissions does

	lost        *lostMsg  // the hub is away
	note        string    // something to say in the footer, until the next key
	interrupts  int       // counts Ctrl-C, to tell which one a timer belongs to
	interrupted bool      // one has come in the last moments
	typed       time.Time // when the last key was pressed, or a question settled
	acts        *acts
	expected    bool   // somebody has asked for the next question
	seen        string // the id of the last event
	forgetting  bool   // a snapshot is on its way, with which to begin anew
	leaving     bool
	blanked     bool // nothing but empty rows is on the screen
	failed      error

	frame   int // of the spinner
	ticking bool
	drawing bool // a drawMsg is on its way
	dirty   bool
	cached  tea.View
	now     func() time.Time
	// later returns the command that says something after a while.
	later func(d time.Duration, msg tea.Msg) tea.Cmd
}

// newModel returns a model that has seen nothing yet.
func newModel(ctx context.Context, session Session, o *Options) *model {
	m := &model{
		ctx: ctx, session: session, acts: newActs(ctx), options: o, styles: o.Profile.Styles(), putOff: map[string]bool{},
		width: usualWidth, height: usualHeight, dirty: true, now: time.Now,
		later: func(d time.Duration, msg tea.Msg) tea.Cmd { return tea.Tick(d, func(time.Time) tea.Msg { return msg }) },
	}
	if o.Profile.Width > 0 {
		m.width = o.Profile.Width
	}
	opened := session.Opened()
	m.talk.Seed(opened)
	m.composer = compose.New(compose.Options{
		Styles: m.styles, Width: m.width, Rows: 6, Dir: opened.Dir, History: o.History, HistoryFile: o.HistoryFile, Editor: o.Editor, Slash: slash(),
		Placeholder: "Write to the agent. ? for help", Commands: commands(opened),
	})
	m.printer.init(m)
	return m
}

// Init begins to keep time.
func (m *model) Init() tea.Cmd {
	return m.tick()
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
	case framesMsg:
		cmd = m.frames(msg)
	case tickMsg:
		m.ticking = false
		m.frame++
		m.dirty = true
		if m.busy() {
			cmd = m.tick()
		}
	case drawMsg:
		m.drawing, m.dirty = false, true
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
	case lostMsg:
		m.lost = &msg
		return m.tick()
	case overMsg:
		m.failed = msg.err
		return m.leave()
	case snapshotMsg:
		// What else it says may be older than what was seen meanwhile.
		m.composer = m.composer.SetCommands(commands(msg.session))
		m.forget(msg.session)
		return nil
	case compose.SubmitMsg:
		return m.send(msg)
	case compose.CommandMsg:
		return m.command(msg)
	case sentMsg:
		if msg.err != nil {
			m.printer.add(m.styles.Bad.Render("Not sent: " + paint.CleanLine(msg.err.Error(), 0)))
			if m.composer.Empty() {
				m.composer = m.composer.SetValue(msg.message.Text).SetAttachments(msg.message.Attachments)
			}
		}
		return nil
	case doneMsg:
		if msg.err != nil {
			m.printer.add(m.styles.Bad.Render(msg.what + " failed: " + paint.CleanLine(msg.err.Error(), 0)))
		}
		return nil
	case ask.AnsweredMsg:
		return m.answer(msg)
	case ask.PutOffMsg:
		if m.ask == nil || m.ask.Question().ID != msg.Question {
			return nil // it was settled meanwhile, and another one may have come up
		}
		m.putOff[msg.Question] = true
		m.ask = nil
		m.composer = m.composer.Focus()
		return m.look()
	case answeredMsg:
		return m.answered(msg)
	default:
		return m.parts(msg)
	}
}

// parts hands a message on to the parts, which have messages of their own.
func (m *model) parts(msg tea.Msg) tea.Cmd {
	var first, second tea.Cmd
	if m.ask != nil {
		var next ask.Model
		next, first = m.ask.Update(msg)
		m.ask = &next
	}
	// Both have an editor, and take what they have asked it for alone.
	m.composer, second = m.composer.Update(msg)
	return tea.Batch(first, second)
}

// frames takes what happened in the session.
func (m *model) frames(batch framesMsg) tea.Cmd {
	var again []tea.Cmd
	for _, frame := range batch {
		if frame.Type != api.FrameHeartbeat && m.lost != nil {
			m.lost = nil
		}
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
	again = append(again, m.look())
	if m.busy() {
		again = append(again, m.tick())
	}
	if !m.drawing {
		m.drawing = true
		again = append(again, m.later(drawPause, drawMsg{}))
	}
	return tea.Batch(again...)
}

// forgettable says whether there is much to remember that nobody needs any more:
// all of it is printed, and nothing goes on.
func (m *model) forgettable() bool {
	return m.talk.Len() > mostItems && m.printer.first == m.talk.Len() && m.talk.State().Session == api.StateIdle
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
	return func() tea.Msg {
		session, err := m.session.Snapshot(m.ctx)
		if err != nil {
			return nil // what it would have told is not worth an error
		}
		return snapshotMsg{session}
	}
}

// look brings up the question that has waited longest, or brings down the one
// that is settled.
func (m *model) look() tea.Cmd {
	open := m.open()
	if m.ask != nil {
		id := m.ask.Question().ID
		for _, q := range open {
			if q.ID == id {
				if shown := m.ask.Question(); shown != q && (shown.State == "" || shown.State == api.QuestionOpen) { // else it is settled, and the log will say so
					next := m.ask.Changed(q)
					m.ask = &next
				}
				return nil
			}
		}
		m.settled()
	}
	for _, q := range open {
		if m.putOff[q.ID] {
			continue
		}
		next := ask.New(q, ask.Options{
			Styles: m.styles, Width: m.width, Height: m.askHeight(), Editor: m.options.Editor, Dir: m.session.Opened().Dir, Guard: m.guard(),
		})
		m.ask = &next
		m.composer = m.composer.Blur()
		m.dirty = true
		return m.ask.Init()
	}
	m.expected = false
	m.composer = m.composer.Focus()
	return nil
}

// settled takes away the question that is shown. The one that takes its place
// takes no keys for a while: they may be meant for this one.
func (m *model) settled() {
	m.ask, m.expected, m.typed = nil, false, m.now()
}

// guard returns for how long a question that comes up takes no keys.
func (m *model) guard() time.Duration {
	switch {
	case m.expected:
		m.expected = false
		return 0
	case m.now().Sub(m.typed) < m.options.Guard:
		return m.options.Guard
	}
	return min(m.options.Guard, surprise)
}

// open returns the open questions, the oldest first.
func (m *model) open() []*api.Question {
	var list []*api.Question
	for _, id := range m.talk.State().Questions {
		if q := m.talk.Question(id); q != nil && q.State == api.QuestionOpen {
			list = append(list, q)
		}
	}
	return list
}

// answer sends an answer.
func (m *model) answer(msg ask.AnsweredMsg) tea.Cmd {
	answer := msg.Answer
	if answer.ClientID == "" {
		answer.ClientID = rand.Text()
	}
	return m.acts.do("The answer to the question "+msg.Question, func(ctx context.Context) (tea.Msg, error) {
		settled, err := m.session.Answer(ctx, msg.Question, answer)
		return answeredMsg{msg.Question, settled, err}, err
	})
}

// answered says what became of an answer.
func (m *model) answered(msg answeredMsg) tea.Cmd {
	if m.ask == nil || m.ask.Question().ID != msg.question {
		return nil // it was answered by someone else, and the log has said so
	}
	problem, ok := errors.AsType[*api.Error](msg.err)
	switch {
	case msg.err == nil:
		next := m.ask.Settled(msg.settled)
		m.ask = &next
	case ok && problem.Code == api.CodeAlreadySettled:
		who := "someone else"
		if problem.Question != nil && problem.Question.By != "" {
			who = problem.Question.By
		}
		m.printer.add(m.styles.Warn.Render(paint.CleanLine("Already answered by "+who+".", m.width)))
		m.settled()
		m.composer = m.composer.Focus()
	default:
		next := m.ask.Failed(msg.err)
		m.ask = &next
	}
	return nil
}

// send sends what was written.
func (m *model) send(msg compose.SubmitMsg) tea.Cmd {
	message := msg.Message()
	message.ClientID = rand.Text()
	return m.acts.do("This message: "+paint.CleanLine(msg.Text, 0), func(ctx context.Context) (tea.Msg, error) {
		_, err := m.session.SendMessage(ctx, message)
		return sentMsg{msg, err}, err
	})
}

// do does something and says what became of it.
func (m *model) do(what string, f func(context.Context) error) tea.Cmd {
	return func() tea.Msg { return doneMsg{what, f(m.ctx)} }
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
		switch wire.PermissionMode(m.talk.State().Mode) {
		case wire.PermissionModeDefault, "":
			mode = wire.PermissionModeAcceptEdits
		case wire.PermissionModeAcceptEdits:
			mode = wire.PermissionModePlan
		default:
			mode = wire.PermissionModeDefault
		}
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
	m.composer = m.composer.SetSize(m.width, max(1, min(8, m.height/3)))
	if m.ask != nil {
		next := m.ask.SetSize(m.width, m.askHeight())
		m.ask = &next
	}
}

// help prints the keys.
func (m *model) help() {
	add := func(key, text string) {
		m.printer.add("  " + m.styles.Key.Render(fmt.Sprintf("%-12s", key)) + " " + text)
	}
	if m.ask != nil {
		m.printer.add("", m.styles.Bold.Render("This question"))
		for _, k := range m.ask.Keys() {
			add(k.Key, k.Help)
		}
	}
	m.printer.add("", m.styles.Bold.Render("Keys"))
	for _, k := range m.composer.Keys() {
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

package screen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/eventlog"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/pane"
)

const (
	// retryPause is how long to wait before something is read again that could not be read.
	retryPause = time.Second
	// flashTime is how long a remark stays in the footer, leaveTime within what a second ctrl+c leaves.
	flashTime = 6 * time.Second
	leaveTime = 4 * time.Second
	// guard is how long after the last key a question that has just come up takes none.
	guard = 700 * time.Millisecond
	// maxUnseen is how many pages are read to fill the screen if there is little to see in them. Scrolling reads more.
	maxUnseen = 10
	// maxEvents is how much of a log is kept while its end is watched. Then what is furthest back is let go.
	maxEvents = 20_000
)

// An area is a part of the screen that keys go to.
type area int

const (
	areaBottom area = iota // the pane of the session: the composer, or a question
	areaTalk
	areaList
)

// Options are the choices of a screen.
type Options struct {
	// Session is the id of the session to open. If empty, that in the list which comes first.
	Session string
	// Styles are what is drawn with.
	Styles *paint.Styles
	// NoLive shows texts when they are complete instead of while they are written, for slow lines.
	NoLive bool
	// Bell rings when a question is asked.
	Bell bool
	// HistoryFile is where prompts are kept; empty keeps none.
	HistoryFile string
	// Editor opens a text in the user's editor; see [compose.Editor].
	Editor func(text, suffix string) tea.Cmd
	// Guard is how long after the last key, and after a question before it was settled, a question that comes up takes none. If zero, 700ms;
	// negative is none.
	Guard time.Duration
}

// A Model is the screen. It belongs to one goroutine; everything that takes time is done by commands.
type Model struct {
	// Static after construction.
	hub    Hub
	o      Options
	styles *paint.Styles
	jobs   *pane.Jobs

	width, height int
	focus         area
	overlay       overlay // over everything, nil if there is none
	flash         string
	flashNumber   int
	leaving       time.Time // when ctrl+c was pressed last
	typed         int       // how many keys were pressed, and texts pasted
	ticking       bool

	list     sessionList
	listOpen bool // shown though there is no room for it beside the conversation
	watch    *pane.Stream
	watching error // why there is no connection, nil if there is one
	shut     error // why the hub is not to be reached any more, see final

	// The session that is open.
	session  string
	opening  int // the number of the last opening, which is also that of its stream
	loading  bool
	problem  error // why it could not be opened
	snapshot *api.Session
	follow   *pane.Stream
	tail     *window // follows the log's end
	past     *window // another part of the log, nil if the end is shown
	lost     error   // why there is no connection, nil if there is one

	pane  *pane.Pane            // that of the session
	panes map[string]*pane.Pane // those of all sessions that were open, with what was written in them

	thinking bool
	chosen   modelSet // the last model that was chosen
	search   search
	seek     int64 // the event to show when the session is open, 0 if none
}

// New makes a screen. Its commands end with ctx, and are waited for by Close.
func New(ctx context.Context, hub Hub, o Options) *Model {
	if o.Styles == nil {
		o.Styles = paint.Profile{}.Styles()
	}
	switch {
	case o.Guard == 0:
		o.Guard = guard
	case o.Guard < 0:
		o.Guard = 0
	}
	m := &Model{
		hub: hub, o: o, styles: o.Styles, jobs: pane.NewJobs(ctx), width: 80, height: 24, session: o.Session, panes: map[string]*pane.Pane{},
	}
	m.pane = m.paneOf(o.Session)
	return m
}

// A target is a session as its pane sees it.
type target struct {
	hub Hub
	id  string
}

// SendMessage sends a message to the session.
func (t target) SendMessage(ctx context.Context, m api.SendMessage) (*api.Message, error) {
	return t.hub.Send(ctx, t.id, m)
}

// Answer answers a question.
func (t target) Answer(ctx context.Context, question string, a api.Answer) (*api.Question, error) {
	return t.hub.Answer(ctx, question, a)
}

// paneOf returns the pane of a session.
func (m *Model) paneOf(id string) *pane.Pane {
	if m.panes[id] == nil {
		m.panes[id] = pane.New(pane.Options{
			Session: target{m.hub, id}, Jobs: m.jobs, Styles: m.styles, Editor: m.o.Editor, Guard: m.o.Guard,
			Say: func(r pane.Remark) tea.Cmd { return m.say("%s", r.Text) },
		}, m.newComposer(""))
	}
	return m.panes[id]
}

// newComposer makes an empty composer for a session that works in a folder.
func (m *Model) newComposer(dir string) compose.Model {
	history := []string(nil)
	if m.o.HistoryFile != "" {
		history, _ = compose.LoadHistory(m.o.HistoryFile) // without it one types more, and that is all
	}
	return compose.New(compose.Options{
		Styles: m.styles, Width: m.mainWidth(), Rows: m.composerRows(), Dir: dir, History: history, HistoryFile: m.o.HistoryFile,
		Slash: slashCommands(), Editor: m.o.Editor, Placeholder: "Write to the agent; / for commands, @ for files",
	}).Focus()
}

// Close ends what the screen has started, and waits for it: a moment also for messages and answers that are on their way. It returns an error if
// one of these did not arrive.
func (m *Model) Close() error {
	var errs []error
	for _, undone := range m.jobs.Close() {
		errs = append(errs, errors.New(undone.String()))
	}
	return errors.Join(errs...)
}

// Init begins to read.
func (m *Model) Init() tea.Cmd {
	m.watch = m.jobs.Stream(-1, func(ctx context.Context, lost func(error, time.Duration)) iter.Seq2[api.Frame, error] {
		return m.hub.Watch(ctx, &client.FollowOptions{After: "now", NoLive: true, Kinds: listKinds(), Lost: lost})
	})
	// The list is read when the stream says that it has begun: what happens after that is told.
	cmds := []tea.Cmd{m.jobs.Do(m.watch.Next)}
	if m.session != "" {
		cmds = append(cmds, m.open(m.session))
	}
	return tea.Batch(cmds...)
}

// Messages of commands.
type (
	// opened is a session with its last page.
	opened struct {
		number   int
		snapshot *api.Session
		events   []api.Event
		from     int64
		err      error
	}
	// paged is a page of a window.
	paged struct {
		window *window
		older  bool
		events []api.Event
		from   int64 // of older ones
		last   int64 // of newer ones
		seek   int64 // the event to show, 0 if none
		err    error
	}
	// did is what became of something else: what says that it was done, if there is no error.
	did struct {
		what string
		err  error
	}
	reopen   struct{ number int }
	tick     struct{}
	flashEnd struct{ number int }
)

// open opens a session: it is looked at, and the last page of its log is read.
func (m *Model) open(id string) tea.Cmd {
	if m.session != id {
		m.pane.Leave()
		// At once: what is written while the session is being read is for it, and what was written before is not.
		m.pane = m.paneOf(id)
		m.pane.Composer = m.newComposer("").SetValue(m.pane.Composer.Value()) // with the history of all sessions
		m.pane.SetFocus(m.focus == areaBottom)
		m.pane.Typed()
	}
	m.opening++
	if m.follow != nil {
		m.follow.Cancel()
		m.follow = nil
	}
	if m.session != id || m.tail == nil {
		m.tail, m.past, m.snapshot = nil, nil, nil
		m.pane.Leave()
		m.search = search{}
	}
	m.session, m.list.cursor, m.loading, m.problem, m.lost, m.seek = id, id, true, nil, nil, 0
	number := m.opening
	return m.jobs.Do(func(ctx context.Context) tea.Msg {
		out := opened{number: number}
		out.snapshot, out.err = m.hub.Session(ctx, id)
		if out.err != nil {
			return out
		}
		l, last := eventlog.Of(m.hub, out.snapshot)
		out.events, out.from, out.err = l.Before(ctx, last+1)
		return out
	})
}

// opened shows a session that was read.
func (m *Model) opened(in *opened) tea.Cmd {
	if in.number != m.opening {
		return nil // another one was opened meanwhile
	}
	if in.err != nil {
		if final(in.err) {
			return m.shutOut(in.err)
		}
		if e, ok := errors.AsType[*api.Error](in.err); ok && e.Status < 500 {
			m.loading, m.problem = false, in.err
			return nil
		}
		m.lost = in.err
		return m.jobs.Later(retryPause, reopen{in.number})
	}
	m.loading, m.lost = false, nil
	first := m.snapshot == nil
	s := in.snapshot
	log, last := eventlog.Of(m.hub, s)
	old := m.tail
	m.tail = newWindow(log, last+1, true)
	m.past = nil
	m.snapshot = s
	if old != nil { // the same session once more
		m.tail.unfolded, m.tail.open = old.unfolded, old.open
	}
	m.tail.talk.Seed(s)
	m.resize()
	m.tail.prepend(in.events, in.from)
	if first {
		m.pane.SetDir(s.Dir)
	}
	m.pane.Composer = m.pane.Composer.SetCommands(pane.Commands(s, slashCommands()))
	m.follow = m.jobs.Stream(in.number, func(ctx context.Context, lost func(error, time.Duration)) iter.Seq2[api.Frame, error] {
		return m.hub.Follow(ctx, s.ID, &client.FollowOptions{After: s.LastEventID, NoLive: m.o.NoLive, Lost: lost})
	})
	asked, _ := m.pane.Sync(m.tail.talk)
	m.resize()
	cmds := []tea.Cmd{m.jobs.Do(m.follow.Next), asked, m.fill(), m.tickNow()}
	if m.seek > 0 {
		cmds = append(cmds, m.jump(m.seek))
		m.seek = 0
	}
	return tea.Batch(cmds...)
}

// window returns the one that is shown, nil if there is none.
func (m *Model) window() *window {
	if m.past != nil {
		return m.past
	}
	return m.tail
}

// fill reads a page more if the screen is not full, or if the user has scrolled beyond what was read.
func (m *Model) fill() tea.Cmd {
	w := m.window()
	if w == nil || w.reading {
		return nil
	}
	switch {
	case w.wanted < 0 && w.first > 1:
		w.unseen = 0
		return m.older(w)
	case w.first > 1 && w.unseen < maxUnseen && w.short():
		w.unseen++
		return m.older(w)
	case w.wanted > 0 && !w.tail:
		return m.newer(w)
	}
	w.wanted = 0
	return nil
}

// older reads the page before a window.
func (m *Model) older(w *window) tea.Cmd {
	w.reading = true
	l, first := w.log, w.first
	return m.jobs.Do(func(ctx context.Context) tea.Msg {
		events, from, err := l.Before(ctx, first)
		return paged{window: w, older: true, events: events, from: from, err: err}
	})
}

// newer reads the page behind a window that does not end where the log does.
func (m *Model) newer(w *window) tea.Cmd {
	if m.tail == nil || w.last+1 >= m.tail.first { // the rest is there
		m.past = nil
		if m.tail != nil {
			m.tail.toStart()
		}
		return nil
	}
	w.reading = true
	l, seq, last := w.log, w.last, m.tail.first-1
	return m.jobs.Do(func(ctx context.Context) tea.Msg {
		events, err := l.After(ctx, seq, last)
		return paged{window: w, events: events, last: min(seq+eventlog.PageSize, last), err: err}
	})
}

// jump shows an event, wherever in the log it is.
func (m *Model) jump(seq int64) tea.Cmd {
	if m.tail == nil {
		return nil
	}
	for _, w := range []*window{m.past, m.tail} {
		if w != nil && seq >= w.first && seq <= w.last {
			if w.tail {
				m.past = nil
			}
			w.lookAt(max(0, w.at(seq)))
			return m.fill()
		}
	}
	from := max(1, seq-eventlog.PageSize/2)
	w := newWindow(m.tail.log, from, false)
	w.unfolded, w.reading = m.tail.unfolded, true
	l, last := w.log, min(from+eventlog.PageSize-1, m.tail.first-1)
	return m.jobs.Do(func(ctx context.Context) tea.Msg {
		events, err := l.Between(ctx, from, last)
		return paged{window: w, events: events, last: last, seek: seq, err: err}
	})
}

// paged puts a page into its window.
func (m *Model) paged(in *paged) tea.Cmd {
	w := in.window
	w.reading = false
	if w.log.Session != m.session {
		return nil
	}
	if in.err != nil {
		w.wanted = 0
		if errors.Is(in.err, eventlog.ErrReset) {
			return m.open(m.session)
		}
		return m.say("%v", in.err)
	}
	switch {
	case in.older:
		w.prepend(in.events, in.from)
	default:
		if in.seek > 0 {
			m.past = w
			m.resize()
		}
		w.more(in.events, in.last)
		if in.seek > 0 {
			w.lookAt(max(0, w.at(in.seek)))
		}
	}
	if w != m.window() {
		return nil
	}
	wanted := w.wanted
	w.wanted = 0
	if wanted != 0 {
		w.wanted = w.scroll(wanted)
		if at := w.rows(); len(at) > 0 && m.focus == areaTalk {
			w.selected = at[0].item
		}
	}
	return m.fill()
}

// followed takes what the open session's stream brought.
func (m *Model) followed(b *pane.Batch) tea.Cmd {
	m.lost = b.Lost
	cmds := []tea.Cmd{}
	for i := range b.Frames {
		f := &b.Frames[i]
		if f.Type == api.FrameResume && f.Resume != nil && f.Resume.Resume == "reset" {
			return m.open(m.session)
		}
		m.tail.append(f)
		if f.Event != nil && f.Type == api.FrameEvent {
			cmds = append(cmds, m.event(f.Event))
		}
	}
	asked, more := m.pane.Sync(m.tail.talk)
	cmds = append(cmds, asked)
	if more && m.o.Bell {
		cmds = append(cmds, tea.Raw("\a"))
	}
	m.resize()
	if b.Err != nil {
		m.lost = nil // nothing connects again
		if !m.jobs.Ended() {
			m.problem = b.Err
		}
		return tea.Batch(cmds...)
	}
	if w := m.tail; m.past == nil && w.bottom && w.last-w.first > maxEvents && !m.loading {
		// The user has watched this for days. A fresh look costs one page.
		return tea.Batch(append(cmds, m.open(m.session))...)
	}
	return tea.Batch(append(cmds, m.jobs.Do(m.follow.Next), m.fill(), m.tickNow())...)
}

// final says whether an error is the end of all that the screen can do: the hub shows another certificate than the pinned one, or does not accept the
// token any more. What to do then are more words than a line has room for, and nothing connects again.
func final(err error) bool {
	if _, ok := errors.AsType[*client.PinError](err); ok {
		return true
	}
	refused, ok := errors.AsType[*api.Error](err)
	return ok && refused.Status == http.StatusUnauthorized
}

// shutOut leaves the screen, so that the caller of Run says what to do.
func (m *Model) shutOut(err error) tea.Cmd {
	m.shut = err
	return tea.Quit
}

// event does what an event of the open session asks for besides being shown.
func (m *Model) event(e *api.Event) tea.Cmd {
	if e.Kind == api.KindUpdated || e.Kind == api.KindRunStarted {
		return m.look() // the title, the folder or what the process knows may be others now
	}
	return nil
}

// looked is a snapshot that was read again.
type looked struct {
	number   int
	snapshot *api.Session
	err      error
}

// look reads the open session's snapshot again.
func (m *Model) look() tea.Cmd {
	number, id := m.opening, m.session
	return m.jobs.Do(func(ctx context.Context) tea.Msg {
		s, err := m.hub.Session(ctx, id)
		return looked{number, s, err}
	})
}

// looked takes it.
func (m *Model) looked(in *looked) {
	if in.err != nil || in.number != m.opening || m.tail == nil {
		return // the next change has it read again
	}
	if _, seq := eventlog.Position(in.snapshot.LastEventID); seq < m.tail.last {
		// Events that it does not know were shown already: only what has no events is taken.
		m.snapshot.Title, m.snapshot.Init, m.snapshot.Initialize = in.snapshot.Title, in.snapshot.Init, in.snapshot.Initialize
	} else {
		m.snapshot = in.snapshot
		m.tail.talk.Seed(in.snapshot)
	}
	m.pane.Composer = m.pane.Composer.SetCommands(pane.Commands(m.snapshot, slashCommands()))
}

// say puts a remark into the footer for a while.
func (m *Model) say(format string, args ...any) tea.Cmd {
	m.flashNumber++
	m.flash = paint.CleanLine(fmt.Sprintf(format, args...), 0)
	return m.jobs.Later(flashTime, flashEnd{m.flashNumber})
}

// tickNow has the time shown go on, if something is going on.
func (m *Model) tickNow() tea.Cmd {
	if m.ticking || m.tail == nil || m.tail.talk.State().TurnStarted.IsZero() {
		return nil
	}
	m.ticking = true
	return m.jobs.Later(time.Second, tick{})
}

// readList reads the list, unless that is being done or was done just now: then it is done again in a while.
func (m *Model) readList() tea.Cmd {
	if m.list.waiting {
		m.list.dirty = true
		return nil
	}
	m.list.waiting, m.list.dirty = true, false
	if wait := listPause - time.Since(m.list.asked); wait > 0 {
		return m.jobs.Later(wait, listDue{})
	}
	m.list.asked = time.Now()
	pages := max(1, m.list.pages)
	return m.jobs.Do(func(ctx context.Context) tea.Msg { return readList(ctx, m.hub, pages) })
}

// redraws is how many there are in a second at most.
const redraws = 20

// A Terminal is where a screen is shown.
type Terminal struct {
	In  io.Reader
	Out io.Writer
	Env []string
}

// Run shows the screen until the user leaves it, and then restores the terminal. It returns ctx's error if that ends, and an error that says which
// messages and answers did not arrive. If the hub shows another certificate, or does not accept the token any more, it leaves by itself with a
// *[client.PinError] or an *[api.Error]. All that it has started has ended when it returns.
func Run(ctx context.Context, hub Hub, t Terminal, o Options) error {
	m := New(ctx, hub, o)
	// Signals are the caller's, which ends ctx. It is not given to the program: that would not wait for its goroutine that reads keys, whose file it
	// closes.
	p := tea.NewProgram(m, tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithEnvironment(t.Env), tea.WithFPS(redraws), tea.WithoutSignalHandler())
	stop := context.AfterFunc(ctx, p.Quit)
	_, err := p.Run()
	stop()
	undone := m.Close()
	switch {
	case m.shut != nil:
		return errors.Join(m.shut, undone)
	case undone != nil:
		return undone
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, tea.ErrInterrupted):
		return context.Canceled
	case err != nil:
		return fmt.Errorf("showing the screen: %w", err)
	}
	return nil
}

// A Hub is what the screen needs of a server; a *[client.Client] is one. Its methods are called from several goroutines at once, return soon after
// their ctx ends, and fail with an *[api.Error] where the server refused something.
type Hub interface {
	// List and Session tell what there is.
	List(ctx context.Context, f api.SessionFilter) (*api.SessionList, error)
	Session(ctx context.Context, id string) (*api.Session, error)
	// Events reads a page of a session's log: at most limit events behind the one named.
	Events(ctx context.Context, id, after string, limit int) (*api.EventPage, error)
	// Search looks for messages by their text.
	Search(ctx context.Context, f api.SearchFilter) (*api.SearchResult, error)

	// Follow and Watch go on until ctx ends, and connect again by themselves.
	Follow(ctx context.Context, id string, o *client.FollowOptions) iter.Seq2[api.Frame, error]
	Watch(ctx context.Context, o *client.FollowOptions) iter.Seq2[api.Frame, error]

	// Send, Answer, Interrupt, Update, Stop, Release and TakeBack act.
	Send(ctx context.Context, id string, m api.SendMessage) (*api.Message, error)
	Answer(ctx context.Context, question string, a api.Answer) (*api.Question, error)
	Interrupt(ctx context.Context, id string, in api.Interrupt) (*api.Interrupted, error)
	Update(ctx context.Context, id string, in api.UpdateSession) (*api.Session, error)
	Stop(ctx context.Context, id string, in api.Stop) (*api.Session, error)
	Release(ctx context.Context, id string, in api.Release) (*api.Session, error)
	TakeBack(ctx context.Context, id, message string) (*api.Message, error)

	// Fork makes a session with a copy of a conversation, Rewind restores files, Archive and Unarchive put a session away and take it out again.
	Fork(ctx context.Context, id string, in api.Fork) (*api.Created, error)
	Rewind(ctx context.Context, id string, in api.Rewind) (*api.RewindResult, error)
	Archive(ctx context.Context, id string) (*api.Session, error)
	Unarchive(ctx context.Context, id string) (*api.Session, error)
}

var _ Hub = (*client.Client)(nil)

package live

import (
	"context"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/pane"
)

// A Session is one as a front end sees it. [client.RemoteSession] is one.
type Session interface {
	// ID returns its id, Opened how it was when it was opened.
	ID() string
	Opened() *api.Session
	// Frames returns what happens, from where the session was opened, until ctx
	// ends. It reconnects automatically.
	Frames(ctx context.Context) iter.Seq2[api.Frame, error]
	// Snapshot returns the session as it is now.
	Snapshot(ctx context.Context) (*api.Session, error)
	// SendMessage and Answer may be called while the hub is away: they wait for it.
	SendMessage(ctx context.Context, m api.SendMessage) (*api.Message, error)
	Answer(ctx context.Context, question string, a api.Answer) (*api.Question, error)
	// Interrupt stops the turn, Stop ends the process, Update changes the session.
	Interrupt(ctx context.Context) (*api.Interrupted, error)
	Stop(ctx context.Context) (*api.Session, error)
	Update(ctx context.Context, in api.UpdateSession) (*api.Session, error)
}

// Options say how a session is shown.
type Options struct {
	// In and Out are the terminal, Env is its environment.
	In  io.Reader
	Out io.Writer
	Env []string
	// Profile is what the terminal can show.
	Profile paint.Profile
	// Editor opens a text in an editor; see [compose.Editor]. If nil, there is none.
	Editor func(text, suffix string) tea.Cmd
	// History is what was written before, HistoryFile where what is written goes.
	History     []string
	HistoryFile string
	// Heading are lines that are printed first.
	Heading []string
	// Guard is how long nothing must have been typed before a key counts for a
	// question that came up while the user was writing, or in the place of another
	// one. If zero, keys count at once.
	Guard time.Duration
}

// Left says how the user left a session.
type Left struct {
	// State is what the session was doing.
	State api.State
	// Questions is how many questions were open.
	Questions int
	// Undone is what was sent and did not arrive.
	Undone []pane.Undone
}

// A View shows one session. It is used once.
type View struct {
	options Options

	mu     sync.Mutex
	stream *pane.Stream // nil until Run, guarded by mu
}

// New returns a view.
func New(o Options) *View { return &View{options: o} }

// Lost tells the view that the hub is away. It may be called at any time, from
// any goroutine.
func (v *View) Lost(err error, _ time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.stream != nil {
		v.stream.Lost(err)
	}
}

// Run shows the session until the user leaves, which is no error, or ctx ends,
// which is. What was sent a moment before has a few seconds to arrive. It starts
// one goroutine besides those of Bubble Tea; all have ended when it returns.
func (v *View) Run(ctx context.Context, session Session) (Left, error) {
	m := newModel(ctx, session, &v.options)
	m.stream = m.jobs.Stream(0, func(ctx context.Context, _ func(error, time.Duration)) iter.Seq2[api.Frame, error] {
		return session.Frames(ctx)
	})
	v.mu.Lock()
	v.stream = m.stream
	v.mu.Unlock()
	// The program is not given ctx: it would not wait for the goroutine that reads
	// keys then, whose file it closes.
	program := tea.NewProgram(m,
		tea.WithInput(v.options.In), tea.WithOutput(v.options.Out), tea.WithEnvironment(v.options.Env),
		tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond))
	stop := context.AfterFunc(ctx, program.Quit)
	defer stop()
	for _, line := range v.options.Heading {
		if _, err := fmt.Fprintln(v.options.Out, line); err != nil {
			m.jobs.Close()
			return Left{}, err
		}
	}
	_, err := program.Run()
	over := ctx.Err()
	undone := m.jobs.Close()
	switch {
	case over != nil:
		err = over
	case err == nil:
		err = m.failed
	}
	state := m.talk.State()
	return Left{State: state.Session, Questions: len(state.Questions), Undone: undone}, err
}

// framesPerSecond bounds how often the terminal is written to: more than that
// no user sees, and a slow line has better things to carry.
const framesPerSecond = 20

// What the model is told.
type (
	// doneMsg is what became of something else that was asked of the hub.
	doneMsg struct {
		what string
		err  error
	}
	// snapshotMsg is the session as it is now.
	snapshotMsg struct{ session *api.Session }
	// tickMsg says that time passes, printedMsg that lines have been printed.
	readyMsg   struct{}
	blankMsg   struct{}
	tickMsg    struct{}
	printedMsg struct{}
	// interruptOverMsg says that a second Ctrl-C would be the first again.
	interruptOverMsg struct{ number int }
)

var _ tea.Model = (*model)(nil)

// slash are our own commands.
func slash() []compose.Command {
	return []compose.Command{
		{Name: "help", Hint: "keys and commands"},
		{Name: "model", Hint: "use another model: /model NAME"},
		{Name: "mode", Hint: "permission mode: /mode default, plan, acceptEdits, dontAsk"},
		{Name: "title", Hint: "name the session: /title TEXT"},
		{Name: "stop", Hint: "stop the agent; the next message starts it again"},
		{Name: "quit", Hint: "leave; the agent keeps running"},
	}
}

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
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
	// question that came up while somebody was writing, or in the place of another
	// one. If zero, keys count at once.
	Guard time.Duration
}

// Left says how somebody left a session.
type Left struct {
	// State is what the session was doing.
	State api.State
	// Questions is how many questions were open.
	Questions int
	// Undone says what was sent and did not arrive.
	Undone []string
}

// A View shows one session. It is used once.
type View struct {
	options Options

	mu      sync.Mutex
	program *tea.Program // nil until Run, guarded by mu
}

// New returns a view.
func New(o Options) *View { return &View{options: o} }

// Lost tells the view that the hub is away, and when it is tried again. It may be
// called at any time, from any goroutine.
func (v *View) Lost(err error, again time.Duration) {
	v.mu.Lock()
	program := v.program
	v.mu.Unlock()
	if program != nil {
		program.Send(lostMsg{err, again})
	}
}

// Run shows the session until somebody leaves, which is no error, or ctx ends,
// which is. What was sent a moment before has a few seconds to arrive. It starts
// one goroutine besides those of Bubble Tea; all have ended when it returns.
func (v *View) Run(ctx context.Context, session Session) (Left, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(ctx, session, &v.options)
	// The program is not given ctx: it would not wait for who reads keys then, whose
	// file it closes.
	program := tea.NewProgram(m,
		tea.WithInput(v.options.In), tea.WithOutput(v.options.Out), tea.WithEnvironment(v.options.Env),
		tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond))
	stop := context.AfterFunc(ctx, program.Quit)
	defer stop()
	v.mu.Lock()
	v.program = program
	v.mu.Unlock()
	for _, line := range v.options.Heading {
		if _, err := fmt.Fprintln(v.options.Out, line); err != nil {
			return Left{}, err
		}
	}
	var following sync.WaitGroup
	following.Go(func() { follow(ctx, session, program.Send) })
	_, err := program.Run()
	over := ctx.Err()
	undone := m.acts.end()
	cancel()
	following.Wait()
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
// nobody sees, and a slow line has better things to carry.
const framesPerSecond = 20

// most is how many frames are handed on at once.
const most = 256

// follow hands on what happens, many frames at once where they come quickly: who
// draws slowly then draws less often, and the hub waits.
func follow(ctx context.Context, session Session, send func(tea.Msg)) {
	frames := make(chan api.Frame, most)
	var failed error
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(frames)
		for frame, err := range session.Frames(ctx) {
			if err != nil {
				failed = err
				return
			}
			select {
			case frames <- frame:
			case <-ctx.Done():
				return
			}
		}
	})
	for frame := range frames {
		batch := framesMsg{frame}
	gather:
		for len(batch) < most {
			select {
			case next, more := <-frames:
				if !more {
					break gather
				}
				batch = append(batch, next)
			default:
				break gather
			}
		}
		send(batch)
	}
	reading.Wait()
	if ctx.Err() != nil {
		return
	}
	if failed == nil {
		failed = errors.New("the session's log has ended")
	}
	send(overMsg{failed})
}

// What the model is told.
type (
	// framesMsg is what happened.
	framesMsg []api.Frame
	// overMsg says that nothing more will come.
	overMsg struct{ err error }
	// lostMsg says that the hub is away.
	lostMsg struct {
		err   error
		again time.Duration
	}
	// answeredMsg is what the hub made of an answer.
	answeredMsg struct {
		question string
		settled  *api.Question
		err      error
	}
	// sentMsg is what the hub made of a message.
	sentMsg struct {
		message compose.SubmitMsg
		err     error
	}
	// doneMsg is what became of something else that was asked of the hub.
	doneMsg struct {
		what string
		err  error
	}
	// snapshotMsg is the session as it is now.
	snapshotMsg struct{ session *api.Session }
	// drawMsg says that it is time to draw what has changed, tickMsg that time
	// passes, printedMsg that lines have been printed.
	drawMsg    struct{}
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

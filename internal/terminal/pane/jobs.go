package pane

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// actPatience is how long a person who leaves waits for what was sent a moment ago.
const actPatience = 5 * time.Second

// Jobs are the commands of a view that are being carried out. Bubble Tea does not wait for its commands; Close does. All methods may be called by any
// goroutine.
type Jobs struct {
	ctx    context.Context //nolint:containedctx // it is that of all commands, which have no other way to get one
	cancel context.CancelFunc
	group  sync.WaitGroup

	// What is sent to an agent outlives ctx: a person who sends something and leaves at once means both.
	acting    context.Context //nolint:containedctx // as ctx
	cancelAct context.CancelFunc
	acts      sync.WaitGroup

	mu     sync.Mutex
	closed bool
	undone []Undone
}

// An Undone is what a person wanted to be done, and was not when the view was closed.
type Undone struct{ What, Why string }

// String says both.
func (u Undone) String() string { return u.What + ": " + u.Why }

// NewJobs returns jobs that end with ctx, but for those of Act.
func NewJobs(ctx context.Context) *Jobs {
	j := &Jobs{}
	j.ctx, j.cancel = context.WithCancel(ctx)
	j.acting, j.cancelAct = context.WithCancel(context.WithoutCancel(ctx))
	return j
}

// Ended reports whether the jobs are to end.
func (j *Jobs) Ended() bool { return j.ctx.Err() != nil }

// Do makes a command of something that ends when its ctx does.
func (j *Jobs) Do(what func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		j.mu.Lock()
		if j.closed {
			j.mu.Unlock()
			return nil
		}
		j.group.Add(1)
		j.mu.Unlock()
		defer j.group.Done()
		return what(j.ctx)
	}
}

// Act makes a command of something that a person wants to be done, also if they leave. undone says what it means if it is not.
func (j *Jobs) Act(undone string, what func(ctx context.Context) (tea.Msg, error)) tea.Cmd {
	return func() tea.Msg {
		j.mu.Lock()
		if j.closed {
			defer j.mu.Unlock()
			j.undone = append(j.undone, Undone{undone, "the view was closed"})
			return nil
		}
		j.acts.Add(1)
		j.mu.Unlock()
		defer j.acts.Done()
		msg, err := what(j.acting)
		j.mu.Lock()
		defer j.mu.Unlock()
		if err != nil && j.closed { // nothing reads the message any more
			j.undone = append(j.undone, Undone{undone, paint.CleanLine(err.Error(), 0)})
		}
		return msg
	}
}

// Later makes a command of a message that comes after a while.
func (j *Jobs) Later(d time.Duration, msg tea.Msg) tea.Cmd {
	return j.Do(func(ctx context.Context) tea.Msg {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return msg
		case <-ctx.Done():
			return nil
		}
	})
}

// Close waits a moment for what is to be done in any case, ends all other commands and streams, and waits for them. It returns what was not done.
func (j *Jobs) Close() []Undone {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	timer := time.AfterFunc(actPatience, j.cancelAct)
	j.acts.Wait()
	timer.Stop()
	j.cancelAct()
	j.cancel()
	j.group.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	undone := j.undone
	j.undone = nil
	return undone
}

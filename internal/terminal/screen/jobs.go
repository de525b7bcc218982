package screen

import (
	"context"
	"errors"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// actPatience is how long somebody who leaves waits for what was sent a moment ago.
const actPatience = 5 * time.Second

// Jobs are the commands that are being carried out. Bubble Tea does not wait for its commands; close does.
type jobs struct {
	ctx    context.Context //nolint:containedctx // it is that of all commands, which have no other way to get one
	cancel context.CancelFunc
	group  sync.WaitGroup

	// What is sent to an agent outlives ctx: who sends something and leaves at once means both.
	acting    context.Context //nolint:containedctx // as ctx
	cancelAct context.CancelFunc
	acts      sync.WaitGroup

	mu     sync.Mutex
	closed bool
	undone []error // what did not get done after closed
}

func newJobs(ctx context.Context) *jobs {
	j := &jobs{}
	j.ctx, j.cancel = context.WithCancel(ctx)
	j.acting, j.cancelAct = context.WithCancel(context.WithoutCancel(ctx))
	return j
}

// do makes a command of something that ends when its ctx does.
func (j *jobs) do(what func(ctx context.Context) tea.Msg) tea.Cmd {
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

// act makes a command of something that somebody wants to be done, also if they leave. undone says what it means if it is not.
func (j *jobs) act(undone string, what func(ctx context.Context) (tea.Msg, error)) tea.Cmd {
	return func() tea.Msg {
		j.mu.Lock()
		if j.closed {
			defer j.mu.Unlock()
			j.undone = append(j.undone, errors.New(undone+": the screen was closed"))
			return nil
		}
		j.acts.Add(1)
		j.mu.Unlock()
		defer j.acts.Done()
		msg, err := what(j.acting)
		j.mu.Lock()
		defer j.mu.Unlock()
		if err != nil && j.closed { // nobody reads the message
			j.undone = append(j.undone, errors.New(undone+": "+err.Error())) // not that of a context
		}
		return msg
	}
}

// later makes a command of a message that comes after a while.
func (j *jobs) later(d time.Duration, msg tea.Msg) tea.Cmd {
	return j.do(func(ctx context.Context) tea.Msg {
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

// close ends all commands and streams, and waits for them. It returns what somebody wanted to be done that was not.
func (j *jobs) close() []error {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.cancel()
	timer := time.AfterFunc(actPatience, j.cancelAct)
	j.acts.Wait()
	timer.Stop()
	j.cancelAct()
	j.group.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.undone
}

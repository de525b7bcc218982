package live

import (
	"context"
	"fmt"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// actPatience is how long somebody who leaves waits for what was sent a moment ago.
const actPatience = 5 * time.Second

// acts are messages and answers that are on their way. They outlive the view for a
// moment: who sends something and leaves at once means both.
type acts struct {
	ctx    context.Context //nolint:containedctx // it is that of commands, which have no other way to get one
	cancel context.CancelFunc
	group  sync.WaitGroup

	mu     sync.Mutex
	ended  bool
	undone []string
}

func newActs(ctx context.Context) *acts {
	a := &acts{}
	a.ctx, a.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return a
}

// do makes a command of something that is to be done, also if somebody leaves.
func (a *acts) do(name string, what func(context.Context) (tea.Msg, error)) tea.Cmd {
	return func() tea.Msg {
		a.mu.Lock()
		if a.ended {
			defer a.mu.Unlock()
			a.undone = append(a.undone, name)
			return nil
		}
		a.group.Add(1)
		a.mu.Unlock()
		defer a.group.Done()
		msg, err := what(a.ctx)
		a.mu.Lock()
		defer a.mu.Unlock()
		if err != nil && a.ended { // nobody reads the message
			a.undone = append(a.undone, fmt.Sprintf("%s (%s)", name, paint.CleanLine(err.Error(), 0)))
		}
		return msg
	}
}

// end waits a moment for what is on its way, and returns what did not arrive.
func (a *acts) end() []string {
	a.mu.Lock()
	a.ended = true
	a.mu.Unlock()
	timer := time.AfterFunc(actPatience, a.cancel)
	a.group.Wait()
	timer.Stop()
	a.cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.undone
}

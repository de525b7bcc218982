package screen

import (
	"context"
	"errors"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"
)

// redraws is how many there are in a second at most.
const redraws = 20

// A Terminal is where a screen is shown.
type Terminal struct {
	In  io.Reader
	Out io.Writer
	Env []string
}

// Run shows the screen until somebody leaves it, and then restores the terminal. It returns ctx's error if that ends, and an error that says which
// messages and answers did not arrive. All that it has started has ended when it returns.
func Run(ctx context.Context, hub Hub, t Terminal, o Options) error {
	m := New(ctx, hub, o)
	// Signals are the caller's, who ends ctx. It is not given to the program: that would not wait for who reads keys, whose file it closes.
	p := tea.NewProgram(m, tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithEnvironment(t.Env), tea.WithFPS(redraws), tea.WithoutSignalHandler())
	stop := context.AfterFunc(ctx, p.Quit)
	_, err := p.Run()
	stop()
	undone := m.Close()
	switch {
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

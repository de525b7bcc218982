package v1

import (
	"context"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// A Cursor follows a session, or all; *hub.Cursor and *hub.GlobalCursor are such. One
// goroutine uses it.
type Cursor interface {
	// Next returns the next frames, and blocks until there are some. They are
	// only looked at until the next call. A context that ends loses nothing.
	Next(ctx context.Context) ([]api.Frame, error)
	// Texts returns the texts of the frames that Next returned last, as far as other
	// followers are shown the same ones; there may be fewer than frames.
	Texts() []hub.Text
	// Close lets go of what is followed.
	Close()
}

package lines

import (
	"context"

	"github.com/switchboard-dev/switchboard/api"
)

// A Cursor follows a session, or all; *hub.Cursor and *hub.GlobalCursor are such. One
// goroutine uses it.
type Cursor interface {
	// Next returns the next frames, and blocks until there are some. They are only
	// looked at until the next call. A context that ends loses nothing.
	Next(ctx context.Context) ([]api.Frame, error)
	// Close lets go of what is followed.
	Close()
}

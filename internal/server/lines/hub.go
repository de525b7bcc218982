package lines

import (
	"context"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// A Hub is what this package needs of the hub, of which [Of] makes one; see there
// for what the methods promise. Errors that are meant for the client are
// *[api.Error].
type Hub interface {
	Follow(ctx context.Context, session string, o hub.FollowOptions) (Cursor, error)
	FollowAll(ctx context.Context, o hub.FollowOptions) (Cursor, error)
	List(ctx context.Context, f api.SessionFilter) (*api.SessionList, error)
	Snapshot(ctx context.Context, session string) (*api.Session, error)
	Resolve(ctx context.Context, id string) (session string, err error)
	Asked(ctx context.Context, requestID string) (sessions []string, err error)
	Submit(ctx context.Context, by hub.Actor, session string, line []byte, may hub.May) (answer []byte, err error)

	CreateDirect(ctx context.Context, by hub.Actor, in api.CreateSession) (*api.Created, error)
	Join(ctx context.Context, session string) (Driver, error)
	Stop(ctx context.Context, by hub.Actor, session string, s api.Stop) (*api.Session, error)
}

// A Driver is a client that may take what a CLI asks its program: *[hub.Driver] is
// one. Its methods are safe for concurrent use.
type Driver interface {
	// Submit sends a line to the CLI. It waits for the answer to a request, and
	// returns it as a line.
	Submit(ctx context.Context, by hub.Actor, line []byte, may hub.May) (answer []byte, err error)
	// Registered reports whether the CLI's requests to hooks and to MCP servers of
	// its program, and requests of unknown kinds, are for this driver.
	Registered() bool
	// Leave has the requests that are open for this driver answered.
	Leave()
}

// A Cursor follows a session, or all; *[hub.Cursor] and *[hub.WideCursor] are
// such. One goroutine uses it.
type Cursor interface {
	// Next returns the next frames, and blocks until there are some. They are only
	// looked at until the next call. A context that ends loses nothing.
	Next(ctx context.Context) ([]api.Frame, error)
	// Close lets go of what is followed.
	Close()
}

// Of returns a hub as this package uses it.
func Of(h *hub.Hub) Hub { return ofHub{h} }

type ofHub struct{ *hub.Hub }

// Follow returns the hub's cursor.
func (o ofHub) Follow(ctx context.Context, session string, options hub.FollowOptions) (Cursor, error) {
	c, err := o.Hub.Follow(ctx, session, options)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// FollowAll returns the hub's cursor.
func (o ofHub) FollowAll(ctx context.Context, options hub.FollowOptions) (Cursor, error) {
	c, err := o.Hub.FollowAll(ctx, options)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Join returns the hub's driver.
func (o ofHub) Join(ctx context.Context, session string) (Driver, error) {
	d, err := o.Hub.Join(ctx, session)
	if err != nil {
		return nil, err
	}
	return d, nil
}

package direct

import (
	"context"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/wire"
)

// A Hub is what Direct Connect needs of the hub, of which [Of] makes one; see
// there for what the methods promise. Errors that are meant for the client are
// *[api.Error].
type Hub interface {
	// CreateDirect makes a session whose process is started by the first
	// initialize of a driver.
	CreateDirect(ctx context.Context, by hub.Actor, in api.CreateSession) (*api.Created, error)
	// Resolve returns the hub's id of a session that is named by it, or by the id
	// of its conversation.
	Resolve(ctx context.Context, id string) (string, error)
	Snapshot(ctx context.Context, id string) (*api.Session, error)
	Stop(ctx context.Context, by hub.Actor, id string, s api.Stop) (*api.Session, error)
	Join(ctx context.Context, session string) (Driver, error)
	Follow(ctx context.Context, id string, o hub.FollowOptions) (Cursor, error)
}

// A Driver is a front end that may take what a CLI asks its program: *hub.Driver
// is one. Its methods are safe for concurrent use.
type Driver interface {
	// Submit sends a line to the CLI. It waits for the answer to a request, and
	// returns it as a line.
	Submit(ctx context.Context, by hub.Actor, line []byte, may func(wire.Scope) bool) (answer []byte, err error)
	// Registered reports whether the CLI's requests to hooks and to MCP servers of
	// its program, and requests that nobody knows, are for this driver.
	Registered() bool
	// Leave has the requests that are open for this driver answered.
	Leave()
}

// A Cursor follows a session; *hub.Cursor is one. One goroutine uses it.
type Cursor interface {
	// Next returns the next frames, and blocks until there are some. They are
	// only looked at until the next call.
	Next(ctx context.Context) ([]api.Frame, error)
	// Close lets go of the session.
	Close()
}

// Of returns a hub as Direct Connect uses it.
func Of(h *hub.Hub) Hub { return ofHub{h} }

type ofHub struct{ *hub.Hub }

// Join returns the hub's driver.
func (o ofHub) Join(ctx context.Context, session string) (Driver, error) {
	d, err := o.Hub.Join(ctx, session)
	if err != nil {
		return nil, err
	}
	return ofDriver{d}, nil
}

// Follow returns the hub's cursor.
func (o ofHub) Follow(ctx context.Context, id string, options hub.FollowOptions) (Cursor, error) {
	c, err := o.Hub.Follow(ctx, id, options)
	if err != nil {
		return nil, err
	}
	return c, nil
}

type ofDriver struct{ *hub.Driver }

// Submit submits a line.
func (o ofDriver) Submit(ctx context.Context, by hub.Actor, line []byte, may func(wire.Scope) bool) ([]byte, error) {
	return o.Driver.Submit(ctx, by, line, may)
}

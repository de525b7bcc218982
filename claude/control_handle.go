package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/internal/broadcast"
	"github.com/switchboard-dev/switchboard/wire"
)

// closeGrace is how long the end of a session waits for functions of the program
// that were called and have been told to end.
const closeGrace = 5 * time.Second

// A requestRouter answers what the CLI asks of a session: questions, hooks, and messages
// for MCP servers in the program.
//
// Functions of the program run in goroutines of their own, which close joins. One
// that does not end when its context does is not waited for longer than
// closeGrace: a session can be closed while a handler waits for a key.
type requestRouter struct {
	// Static after prepare.
	handler QuestionHandler
	pull    bool
	dialogs []string
	bypass  bool
	log     *slog.Logger
	ctx     context.Context // the session's
	hooks   *hookTable
	ready   chan struct{} // closed when conn is set

	calls   calls
	mcp     mcpTable
	settles questionTable

	attached sync.Once
	conn     *Conn // written before ready is closed, and not after
}

// prepare makes the router of a session whose context ends with it: it checks the
// hooks against the version and connects to the MCP servers, for which alone ctx
// is. A router that was prepared has to be closed.
func (d *requestRouter) prepare(ctx, session context.Context, o *Options, v wire.Version) error {
	d.handler, d.pull, d.dialogs = o.OnQuestion, o.Pull, o.DialogKinds
	d.bypass = o.AllowBypass || o.PermissionMode == wire.PermissionModeBypassPermissions
	d.log = o.logger()
	d.ctx, d.ready = session, make(chan struct{})
	var err error
	if d.hooks, err = newHookTable(&o.Hooks, v); err != nil {
		return err
	}
	d.mcp.links, err = d.openMCP(ctx, o.MCPServers)
	return err
}

// attach gives the router its connection, the first time. The connection calls
// handle, which does so; what an MCP server sends before waits for it.
func (d *requestRouter) attach(c *Conn) {
	d.attached.Do(func() {
		d.conn = c
		close(d.ready)
	})
}

// await waits for the connection.
func (d *requestRouter) await(ctx context.Context) error {
	select {
	case <-d.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-d.ctx.Done():
		return context.Cause(d.ctx)
	}
}

// close ends what the router has begun. The connection, if there is one, is closed
// before; cause is why it ended.
func (d *requestRouter) close(cause error) {
	for _, q := range d.pending() {
		d.withdraw(q.base(), withdrawal(cause))
	}
	if links := d.mcp.removeAll(); len(links) > 0 {
		d.calls.start(func() { closeMCP(links) })
	}
	d.calls.wait(closeGrace)
}

// handle is the [Handler] of a session's connection.
func (d *requestRouter) handle(ctx context.Context, q *wire.ControlRequest) ([]byte, error) {
	switch r := q.Request.(type) { //nolint:gochecksumtype // everything else is refused
	case *wire.CanUseToolRequest, *wire.ElicitationRequest, *wire.UserDialogRequest:
		return d.ask(ctx, q)
	case *wire.HookCallbackRequest:
		return d.callHook(ctx, q, r)
	case *wire.MCPMessageRequest:
		return d.receiveMCP(ctx, q, r)
	}
	return Decline(ctx, q)
}

// calls are functions of the program that are running. The zero value is ready.
type calls struct {
	mu      sync.Mutex
	running int
	none    broadcast.Broadcast // running has become zero
}

// start runs a function in a goroutine of its own.
func (c *calls) start(f func()) {
	c.mu.Lock()
	c.running++
	c.mu.Unlock()
	go func() { // joined by wait
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.running--; c.running == 0 {
				c.none.Notify()
			}
		}()
		f()
	}()
}

// wait returns when nothing runs any more, or after a while.
func (c *calls) wait(limit time.Duration) {
	c.mu.Lock()
	if c.running == 0 {
		c.mu.Unlock()
		return
	}
	none := c.none.Changed()
	c.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-none:
	case <-timer.C:
	}
}

// attempt runs a function of the program and returns when it has returned or
// no goroutine waits for it any more.
func attempt[T any](ctx context.Context, d *requestRouter, what string, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	d.calls.start(func() {
		r := result{err: errGone}
		defer func() { done <- r }() // also if f ends the goroutine
		r.value, r.err = protect(what, f)
		d.report(r.err)
	})
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done: // both at once
		return r.value, r.err
	default:
		var zero T
		return zero, context.Cause(ctx)
	}
}

// errGone is the failure of a function that neither returned nor panicked: it has
// ended its goroutine, as the Fatal of a test does.
var errGone = errors.New("the function that was called has ended its goroutine (runtime.Goexit)")

// A PanicError says that a function of the program panicked: a [QuestionHandler],
// a [Hook], or an [MCPServer]. The session goes on.
type PanicError struct {
	// What names the function.
	What string
	// Value is what it panicked with, Stack where.
	Value any
	Stack []byte
}

// Error names the function and the value, without the stack: the CLI and its model
// read it.
func (e *PanicError) Error() string { return fmt.Sprintf("the %s panicked: %v", e.What, e.Value) }

// report tells the program's log what only the CLI and its model would read
// otherwise: that a function of the program has failed in a way it did not choose.
func (d *requestRouter) report(err error) {
	if p, ok := errors.AsType[*PanicError](err); ok {
		d.log.Error("a function that the session called panicked", "function", p.What, "panic", p.Value, "stack", string(p.Stack))
	}
}

// protect turns a panic into an error.
func protect[T any](what string, f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{What: what, Value: p, Stack: debug.Stack()}
		}
	}()
	return f()
}

// goodEnd reports whether a connection ended in good order, or because it was
// asked to.
func goodEnd(cause error) bool { return errors.Is(cause, io.EOF) || errors.Is(cause, ErrClosed) }

// sortedKeys returns the keys of a map in their order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

package claudews

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// A Client is a connection that was dialled by [Dial] or [Connect]. It does not
// reconnect.
type Client struct {
	// Static after construction.
	link    *link
	inbox   *inbox
	outlet  *outlet
	session Session
	atClose func() error // nil if there is nothing to do

	taken   []item // owned by the goroutine in Read
	state   claude.StateVar
	closing atomic.Bool
	once    sync.Once
	err     error // of Close; written in once
}

var _ claude.Transport = (*Client)(nil)

// newClient starts to read a connection; Close joins what it starts.
func newClient(ws *websocket.Conn, o *DialOptions) *Client {
	c := &Client{link: newLink(ws, nil, 1), inbox: newInbox(o.MaxInbox), outlet: newOutlet()}
	c.state.Set(claude.StateConnecting)
	c.state.Set(claude.StateConnected)
	c.link.readTo(o.MaxLine, &clientTaker{c})
	interval, timeout, alive := o.PingInterval, o.PingTimeout, o.KeepAlive
	go func() {
		defer close(c.link.done)
		var watcher sync.WaitGroup
		watcher.Go(func() { c.link.keepAlive(interval, timeout) })
		if alive > 0 {
			watcher.Go(func() { c.sendKeepAlive(alive) })
		}
		err := c.link.read()
		c.link.stop(err)
		_ = c.link.ws.CloseNow()
		watcher.Wait()
		if c.closing.Load() {
			err = claude.ErrClosed
		}
		c.inbox.finish(ended(err))
		c.state.Set(claude.StateClosed)
	}()
	return c
}

// sendKeepAlive sends a keep_alive line at intervals until the connection ends.
func (c *Client) sendKeepAlive(interval time.Duration) {
	line, err := wire.NewKeepAlive()
	if err != nil { // cannot happen: it is the same line each time
		return
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-c.link.ctx.Done():
			return
		case <-ticker.C:
		}
		if c.Write(c.link.ctx, line) != nil {
			return
		}
	}
}

// ended returns what Read returns after a connection that ended with err.
func ended(err error) error {
	var closed *CloseError
	if errors.As(err, &closed) && (closed.Code == int(websocket.StatusNormalClosure) || closed.Code == int(websocket.StatusGoingAway)) {
		return io.EOF
	}
	return err
}

// A clientTaker hands the lines of a connection to the reader.
type clientTaker struct{ c *Client }

func (t *clientTaker) take(line []byte, tooLong *wire.LineTooLongError) error {
	it := item{line: bytes.Clone(line)}
	if tooLong != nil {
		it.err = tooLong
	}
	return t.c.link.wait(func() error { return t.c.inbox.put(t.c.link.ctx, nil, it) })
}

func (*clientTaker) flush() error { return nil } // nothing is held back

// Session returns what the Direct Connect server said of the session. It is
// zero after [Dial].
func (c *Client) Session() Session { return c.session }

// Read implements [claude.Transport]. After the last line it returns io.EOF if
// the server closed the connection with 1000 or 1001, [claude.ErrClosed] after
// Close, and otherwise a [*CloseError].
func (c *Client) Read(ctx context.Context) ([]byte, error) {
	if len(c.taken) == 0 {
		items, err := c.inbox.get(ctx)
		if err != nil {
			return nil, err
		}
		c.taken = items
	}
	it := c.taken[0]
	c.taken[0] = item{} // nothing else holds on to it
	c.taken = c.taken[1:]
	return it.line, it.err
}

// Write implements [claude.Transport]. [ErrLost] says that the connection was
// lost while the line was on its way. After that, and after Close, it returns
// [claude.ErrClosed].
func (c *Client) Write(ctx context.Context, line []byte) error {
	frame, err := frameOf(line)
	if err != nil {
		return err
	}
	if err := c.outlet.send(ctx, c.link, frame); !errors.Is(err, errNotSent) {
		return err
	}
	return fmt.Errorf("writing a line: %w", claude.ErrClosed)
}

// CloseInput implements [claude.Transport]; it returns an error that wraps
// [errors.ErrUnsupported], since a WebSocket has no end of input.
func (c *Client) CloseInput() error {
	return fmt.Errorf("ending the input: a WebSocket has no end of input: %w", errors.ErrUnsupported)
}

// Close implements [claude.Transport]. It closes the connection with 1000 and,
// if [DialOptions.DeleteOnClose] is set, deletes the session; its error is that
// of the latter.
func (c *Client) Close() error {
	c.once.Do(func() {
		c.closing.Store(true)
		c.state.Set(claude.StateClosing)
		c.link.close(int(websocket.StatusNormalClosure), "")
		<-c.link.done
		c.outlet.drain()
		if c.atClose != nil {
			c.err = c.atClose()
		}
	})
	return c.err
}

// State implements [claude.Transport].
func (c *Client) State() (state string, changed <-chan struct{}) { return c.state.Get() }

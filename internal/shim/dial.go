package shim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/internal/link"
)

// maxSocketPath is the longest path of a Unix socket that works everywhere.
const maxSocketPath = 100

// dialSocket returns a function that reaches the hub at a Unix socket. The
// token is sent only after the other end has proved to be of our own user: the
// folder of the socket can be entered by no other user, and the process that
// listens is the user's.
func dialSocket(path, token string) dialFunc {
	return func(ctx context.Context) (conn, error) {
		if len(path) >= maxSocketPath {
			return nil, fmt.Errorf("reaching the hub: the path %s is longer than a socket's may be (%d bytes)", path, maxSocketPath)
		}
		if err := checkSocket(path); err != nil {
			return nil, fmt.Errorf("reaching the hub: %w", err)
		}
		// No pool and no proxy: a connection is used for one link.
		var out *corked
		transport := &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				var d net.Dialer
				c, err := d.DialContext(ctx, "unix", path)
				if err != nil {
					return nil, err
				}
				if err := checkPeer(c); err != nil {
					return nil, errors.Join(err, c.Close())
				}
				out = &corked{Conn: c}
				return out, nil
			},
		}
		defer transport.CloseIdleConnections()
		ws, response, err := websocket.Dial(ctx, "http://switchboard"+link.Path, &websocket.DialOptions{ //nolint:bodyclose // the library does that
			HTTPClient: &http.Client{
				Transport: transport,
				// A token must not follow a redirect.
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			},
			HTTPHeader:      http.Header{"Authorization": {"Bearer " + token}},
			Subprotocols:    []string{link.Subprotocol},
			CompressionMode: websocket.CompressionDisabled,
		})
		if err != nil {
			if response != nil && response.StatusCode != http.StatusSwitchingProtocols {
				return nil, fmt.Errorf("reaching the hub: it answers %s", response.Status)
			}
			return nil, fmt.Errorf("reaching the hub: %w", err)
		}
		if ws.Subprotocol() != link.Subprotocol {
			_ = ws.CloseNow() // there is nothing to say to it
			return nil, errors.New("reaching the hub: what listens there does not speak the link protocol")
		}
		ws.SetReadLimit(link.MaxFrame)
		return &socketConn{ws: ws, out: out}, nil
	}
}

// A socketConn is a conn over a WebSocket.
type socketConn struct {
	ws  *websocket.Conn
	buf []byte  // owned by the reader
	out *corked // below ws
}

// A corked is a connection that collects what is written to it between cork and
// uncork: the library writes a message in pieces of 4 KiB.
type corked struct {
	net.Conn

	// Guarded by mu. The library writes pongs from the goroutine that reads.
	mu     sync.Mutex
	on     bool
	pieces []byte
}

func (c *corked) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.on {
		return c.Conn.Write(p)
	}
	c.pieces = append(c.pieces, p...)
	return len(p), nil
}

func (c *corked) cork() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on = true
}

// uncork writes what was collected.
func (c *corked) uncork() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.Conn.Write(c.pieces)
	c.on, c.pieces = false, c.pieces[:0]
	if cap(c.pieces) > keepWritten {
		c.pieces = nil
	}
	return err
}

// keepWritten is the largest buffer that is kept between messages.
const keepWritten = 4 * link.Batch

// keepRead is the largest buffer that is kept between frames.
const keepRead = 64 << 10

func (c *socketConn) Read(ctx context.Context) (text bool, frame []byte, err error) {
	if cap(c.buf) > keepRead {
		c.buf = nil
	}
	kind, r, err := c.ws.Reader(ctx)
	if err != nil {
		return false, nil, readError(err)
	}
	if c.buf, err = link.ReadFrame(r, c.buf); err != nil {
		return false, nil, readError(err)
	}
	return kind == websocket.MessageText, c.buf, nil
}

// readError names the end of a connection as what it is.
func readError(err error) error {
	var closed websocket.CloseError
	switch {
	case errors.As(err, &closed):
		return fmt.Errorf("the hub closed the link (%d %s)", closed.Code, closed.Reason)
	case errors.Is(err, io.EOF):
		return errors.New("the hub is gone from the link")
	}
	return err
}

func (c *socketConn) Write(ctx context.Context, text bool, frame []byte) error {
	kind := websocket.MessageBinary
	if text {
		kind = websocket.MessageText
	}
	// The library only fills the buffer. A write that waits for the hub ends with ctx.
	defer context.AfterFunc(ctx, func() { _ = c.out.Conn.Close() })()
	c.out.cork()
	return errors.Join(c.ws.Write(context.Background(), kind, frame), c.out.uncork())
}

func (c *socketConn) Close(err error) {
	if err != nil {
		_ = c.ws.CloseNow() // it is lost anyway
		return
	}
	// The library waits for the answer of a peer that may be stuck.
	timer := time.AfterFunc(closeTime, func() { _ = c.ws.CloseNow() })
	defer timer.Stop()
	_ = c.ws.Close(websocket.StatusNormalClosure, "the shim ends") // the hub may be gone
}

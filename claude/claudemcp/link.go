package claudemcp

import (
	"context"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A link is one session of the MCP server: what it takes for its transport and
// connection. A connection has one for each handshake of the CLI.
type link struct {
	// Static after construction.
	owner *connection
	in    chan jsonrpc.Message // to the server; never closed
	gone  chan struct{}        // closed when the session takes nothing more
	once  sync.Once            // closes gone

	// Set before the link is known to any goroutine but the server's.
	session *mcp.ServerSession

	// Guarded by the owner's mu.
	ready      bool // the CLI has said that the handshake is over
	superseded bool // a later handshake is over
	open       int  // requests of the CLI that it has not answered
}

var (
	_ mcp.Transport  = (*link)(nil)
	_ mcp.Connection = (*link)(nil)
)

// Connect makes the link the server's transport.
func (l *link) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// Read gives the server the next message. It is the end of the messages that
// ends the contexts of the requests that the server is handling.
func (l *link) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-l.in:
		return m, nil
	case <-l.gone:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write takes a message of the server.
func (l *link) Write(ctx context.Context, m jsonrpc.Message) error {
	return l.owner.fromServer(ctx, l, m)
}

// Close ends the link. The server calls it with locks of its own held, so it
// takes none of ours.
func (l *link) Close() error {
	l.once.Do(func() { close(l.gone) })
	return nil
}

// SessionID is empty: there is no session beyond the connection.
func (l *link) SessionID() string { return "" }

// push hands a message to the server, and reports false if it takes no more.
func (l *link) push(ctx context.Context, m jsonrpc.Message) bool {
	select {
	case <-l.gone:
		return false
	default:
	}
	select {
	case l.in <- m:
		return true
	case <-l.gone:
		return false
	case <-ctx.Done():
		return false
	}
}

// alive reports whether the session still takes messages.
func (l *link) alive() bool {
	select {
	case <-l.gone:
		return false
	default:
		return true
	}
}

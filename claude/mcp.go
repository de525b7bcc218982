package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/switchboard-dev/switchboard/wire"
)

// An MCPServer is an MCP server inside the program, whose tools the CLI uses as
// if they were those of a process of its own. Package claudemcp makes one of an
// official go-sdk server, or of Go functions.
type MCPServer interface {
	// Connect is called once for every session that names the server, before the
	// CLI is told of it. An error fails the start. The context is for Connect
	// alone; what it starts lives until the connection's Close.
	//
	// send is for what the server says by itself: a notification, or a request,
	// whose response then comes to Receive. It returns when the CLI has taken the
	// message, is safe for concurrent use, and can be used as soon as the session
	// has started; before, it waits. CLIs of all versions take notifications,
	// though 2.1.37 and 2.1.120 do nothing about them, and refuse requests that
	// they do not know, such as elicitation/create, with a JSON-RPC error.
	Connect(ctx context.Context, send func(ctx context.Context, message json.RawMessage) error) (MCPConnection, error)
}

// An MCPConnection is one session's connection to an [MCPServer].
type MCPConnection interface {
	// Receive is given one JSON-RPC message of the CLI and returns the response to
	// a request, nil for a notification or a response. An error becomes a JSON-RPC
	// error.
	//
	// Requests other than the handshake's come at the same time, each in a
	// goroutine of its own; initialize and notifications come one after the other,
	// in their order, and hold up what comes after them. The context of a request
	// ends when the CLI does not want its response any more, and with the session.
	//
	// CLIs up to 2.1.120 shake hands twice, with the same ids, in an interleaved
	// order, and all do so again when the server is switched off and on: a second
	// initialize must be answered like the first.
	Receive(ctx context.Context, message json.RawMessage) (response json.RawMessage, err error)
	// Close is called at the end of the session, once. Receive may still be
	// running, and its context has ended.
	Close() error
}

// An MCPConfigurer is an [MCPServer] with wishes about how the CLI treats it. What
// Options.MCPServerConfigs says goes before.
type MCPConfigurer interface {
	// MCPConfig returns the wishes. They need 2.1.325, and are left out before.
	MCPConfig() wire.SDKMCPServerConfig
}

// codeInternal is JSON-RPC's code for an error of the server itself.
const codeInternal = -32603

// mcpTable are the connections to the servers in the program, by name.
type mcpTable struct {
	setting sync.Mutex // held while the servers are being replaced

	mu    sync.Mutex
	links map[string]*mcpLink
}

func (t *mcpTable) find(name string) *mcpLink {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.links[name]
}

// removeAll removes all connections and returns them.
func (t *mcpTable) removeAll() map[string]*mcpLink {
	t.mu.Lock()
	defer t.mu.Unlock()
	links := t.links
	t.links = nil
	return links
}

// An mcpLink is one of them.
type mcpLink struct {
	server     MCPServer
	connection MCPConnection

	mu    sync.Mutex
	calls map[string]context.CancelCauseFunc // by JSON-RPC id
	early []string                           // ids that were cancelled before their request was handled
}

// maxEarly bounds early. A handshake clears it, since ids begin anew then.
const maxEarly = 64

// openMCP connects to servers. Either all are connected or none.
func (d *requestRouter) openMCP(ctx context.Context, servers map[string]MCPServer) (map[string]*mcpLink, error) {
	ctx = context.WithValue(ctx, routerKey{}, d)
	links := map[string]*mcpLink{}
	for _, name := range sortedKeys(servers) {
		server := servers[name]
		if server == nil {
			closeMCP(links)
			return nil, &OptionError{Option: "MCPServers", Reason: fmt.Sprintf("server %q is nil", name)}
		}
		send := func(ctx context.Context, message json.RawMessage) error { return d.sendMCP(ctx, name, message) }
		connection, err := protect("MCP server", func() (MCPConnection, error) { return server.Connect(ctx, send) })
		if err == nil && connection == nil {
			err = errors.New("Connect returned nothing")
		}
		if err != nil {
			closeMCP(links)
			return nil, fmt.Errorf("connecting to MCP server %q: %w", name, err)
		}
		links[name] = &mcpLink{server: server, connection: connection, calls: map[string]context.CancelCauseFunc{}}
	}
	return links, nil
}

// closeMCP closes connections, side by side.
func closeMCP(links map[string]*mcpLink) {
	var all sync.WaitGroup
	for _, link := range links {
		all.Go(func() {
			_, _ = protect("MCP server", func() (struct{}, error) { return struct{}{}, link.connection.Close() })
		})
	}
	all.Wait()
}

// sendMCP sends what a server says by itself.
func (d *requestRouter) sendMCP(ctx context.Context, server string, message json.RawMessage) error {
	if err := d.await(ctx); err != nil {
		return err
	}
	r := &wire.MCPMessageRequest{ServerName: server}
	if err := json.Unmarshal(message, &r.Message); err != nil {
		return fmt.Errorf("reading a message of MCP server %q: %w", server, err)
	}
	_, err := d.conn.Request(ctx, r)
	return err
}

// receiveMCP hands a message to its server and answers with the response.
func (d *requestRouter) receiveMCP(ctx context.Context, q *wire.ControlRequest, r *wire.MCPMessageRequest) ([]byte, error) {
	link := d.mcp.find(r.ServerName)
	if link == nil {
		return nil, fmt.Errorf("there is no MCP server %q here", r.ServerName)
	}
	ctx = context.WithValue(ctx, routerKey{}, d)
	message, err := json.Marshal(&r.Message)
	if err != nil {
		return nil, fmt.Errorf("reading a message for MCP server %q: %w", r.ServerName, err)
	}
	if r.Message.Method == "" || len(r.Message.ID) == 0 {
		if r.Message.Method == "notifications/cancelled" {
			link.cancelled(r.Message.Params)
		}
		_, err := attempt(ctx, d, "MCP server", func() (json.RawMessage, error) { return link.connection.Receive(ctx, message) })
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		// There is no response to give and no caller to return an error to; but the request
		// that carried it wants an answer, and this is the one that every version takes.
		return answerMCP(q, &wire.JSONRPC{Version: "2.0", ID: json.RawMessage("0"), Result: json.RawMessage("{}")})
	}
	ctx, done := link.begin(ctx, &r.Message)
	defer done()
	response, err := attempt(ctx, d, "MCP server", func() (json.RawMessage, error) { return link.connection.Receive(ctx, message) })
	var reply wire.JSONRPC
	switch {
	case err == nil && len(response) == 0:
		err = errors.New("the server gave no response")
	case err == nil:
		if json.Unmarshal(response, &reply) != nil {
			err = errors.New("the server's response isn't a JSON-RPC message")
		}
	}
	if err != nil {
		reply = wire.JSONRPC{Version: "2.0", ID: r.Message.ID, Error: &wire.JSONRPCError{Code: codeInternal, Message: err.Error()}}
	}
	return answerMCP(q, &reply)
}

func answerMCP(q *wire.ControlRequest, reply *wire.JSONRPC) ([]byte, error) {
	return wire.NewAnswer(q.RequestID, &wire.MCPMessageAnswer{MCPResponse: reply})
}

// errMCPCancelled is the cause with which the context of a request ends.
var errMCPCancelled = errors.New("the CLI has cancelled the call")

// begin registers a request, so that it can be cancelled.
func (l *mcpLink) begin(ctx context.Context, m *wire.JSONRPC) (context.Context, func()) {
	id := string(m.ID)
	ctx, cancel := context.WithCancelCause(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.Method == "initialize" {
		l.early = nil
		return ctx, func() { cancel(nil) } // two of them have the same id
	}
	if i := slices.Index(l.early, id); i >= 0 {
		l.early = slices.Delete(l.early, i, i+1)
		cancel(errMCPCancelled)
		return ctx, func() {}
	}
	l.calls[id] = cancel
	return ctx, func() {
		l.mu.Lock()
		delete(l.calls, id)
		l.mu.Unlock()
		cancel(nil)
	}
}

// cancelled folds a notification that takes a request back. It may be handled
// before the request is: they come in goroutines of their own.
func (l *mcpLink) cancelled(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil || len(p.RequestID) == 0 {
		return
	}
	id := string(p.RequestID)
	l.mu.Lock()
	defer l.mu.Unlock()
	if cancel := l.calls[id]; cancel != nil {
		cancel(errMCPCancelled)
		return
	}
	if l.early = append(l.early, id); len(l.early) > maxEarly {
		l.early = l.early[1:]
	}
}

package claudemcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/switchboard-dev/switchboard/claude"
)

// The methods that a connection looks at.
const (
	methodInitialize    = "initialize"
	methodCallTool      = "tools/call"
	notifyInitialized   = "notifications/initialized"
	notifyCancelled     = "notifications/cancelled"
	notifyPrefix        = "notifications/"
	suffixOfListChanged = "/list_changed"
)

const (
	// codeEnded is the JSON-RPC error for a request to a session that has ended.
	codeEnded = -32000
	// codeRejected is how a transport tells the MCP server that it did not carry
	// one message and is not broken.
	codeRejected = -32005
)

// A connection carries the MCP messages of one Claude Code session to an MCP
// server and back.
//
// The CLI knows one server of that name, but may open it more than once: older
// versions do two handshakes at the same time, with equal request ids; newer
// ones do another after a failure or when the server is switched on again. An
// MCP session takes one handshake, so every handshake gets a session of the
// server's (a [link]), and ids are replaced by ones that are unique here. All
// other requests go to the session whose handshake was over last, and the
// sessions before it end when they have answered what they were asked.
//
// A goroutine per session reads for the server; it and those that run handlers
// are the server's own, and Close joins them.
type connection struct {
	// Static after construction.
	server *mcp.Server
	send   func(ctx context.Context, message json.RawMessage) error
	values context.Context // what the handlers' contexts are made from; never ends
	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc
	limit  time.Duration // how long Close waits for handlers
	ending sync.WaitGroup

	mu     sync.Mutex
	closed bool
	links  []*link // oldest first
	last   int64   // the last id that was given, in either direction
	calls  map[int64]*call
	asked  map[int64]question
}

// A call is a request of the CLI that is not answered yet.
type call struct {
	id    jsonrpc.ID // the CLI's
	link  *link
	reply chan *jsonrpc.Response // has room for the one that comes
}

// A question is a request of the server's that the CLI has not answered yet.
type question struct {
	id   jsonrpc.ID // the server's
	link *link
}

// Receive gives a message of the CLI to the server. The reply to a request is
// the server's; other messages have none, and Receive does not wait for them to
// be handled. If ctx ends before there is a reply, the context of the request's
// handler ends too.
//
// An error means that there is no reply: the message is not JSON-RPC, ctx has
// ended, or the connection is closed ([claude.ErrClosed]).
func (c *connection) Receive(ctx context.Context, message json.RawMessage) (json.RawMessage, error) {
	m, err := jsonrpc.DecodeMessage(message)
	if err != nil {
		return nil, fmt.Errorf("reading an MCP message: %w", err)
	}
	switch m := m.(type) {
	case *jsonrpc.Response:
		return nil, c.answered(ctx, m)
	case *jsonrpc.Request:
		if m.IsCall() {
			return c.call(ctx, m)
		}
		return nil, c.notified(ctx, m)
	}
	return nil, fmt.Errorf("reading an MCP message: unexpected kind %T", m)
}

// call has the server answer a request.
func (c *connection) call(ctx context.Context, m *jsonrpc.Request) (json.RawMessage, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("answering %s: %w", m.Method, context.Cause(ctx))
	}
	c.mu.Lock()
	l, err := c.route(m.Method)
	if err != nil {
		c.mu.Unlock()
		return nil, err
	}
	waiting := &call{id: m.ID, link: l, reply: make(chan *jsonrpc.Response, 1)}
	n := c.next()
	c.calls[n] = waiting
	l.open++
	c.mu.Unlock()
	defer c.finish(n, waiting)

	own := number(n)
	m.ID = own
	var reply *jsonrpc.Response
	if l.push(ctx, m) {
		select {
		case reply = <-waiting.reply:
		case <-l.gone:
			select {
			case reply = <-waiting.reply: // it came before the end
			default:
			}
		case <-ctx.Done():
			c.cancelCall(l, own, context.Cause(ctx).Error())
		}
	}
	if m.Method == methodInitialize && (reply == nil || reply.Error != nil) {
		c.supersede(l) // the handshake will not be gone on with
	}
	switch {
	case reply != nil:
	case ctx.Err() != nil:
		return nil, fmt.Errorf("waiting for the MCP server to answer %s: %w", m.Method, context.Cause(ctx))
	case c.ctx.Err() != nil:
		return nil, fmt.Errorf("waiting for the MCP server to answer %s: %w", m.Method, context.Cause(c.ctx))
	default:
		reply = &jsonrpc.Response{Error: &jsonrpc.Error{Code: codeEnded, Message: "the MCP server has ended its session"}}
	}
	reply.ID = waiting.id
	return jsonrpc.EncodeMessage(reply)
}

// notified gives the server a notification.
func (c *connection) notified(ctx context.Context, m *jsonrpc.Request) error {
	if m.Method == notifyCancelled {
		return c.cancelled(m)
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return claude.ErrClosed
	}
	var l *link
	if m.Method == notifyInitialized {
		// Where two handshakes are under way, nothing tells whose this is. The
		// newest session takes the first, and there is none left for the second.
		l = c.newest(func(l *link) bool { return !l.ready && !l.superseded })
	} else {
		l = c.serving()
	}
	if l == nil {
		c.mu.Unlock()
		return nil
	}
	var before []*link
	if m.Method == notifyInitialized {
		l.ready = true
		before = slices.DeleteFunc(slices.Clone(c.links), func(other *link) bool { return other == l })
	}
	c.mu.Unlock()
	l.push(ctx, m)
	for _, other := range before {
		c.supersede(other)
	}
	return nil
}

// cancelled ends the context of the request that a notification names.
func (c *connection) cancelled(m *jsonrpc.Request) error {
	var params struct {
		ID     any    `json:"requestId"`
		Reason string `json:"reason"`
	}
	if err := json.Unmarshal(m.Params, &params); err != nil {
		return fmt.Errorf("reading %s: %w", m.Method, err)
	}
	id, err := jsonrpc.MakeID(params.ID)
	if err != nil {
		return fmt.Errorf("reading %s: %w", m.Method, err)
	}
	c.mu.Lock()
	var named int64
	for n, waiting := range c.calls {
		if waiting.id == id && n > named {
			named = n
		}
	}
	waiting := c.calls[named]
	c.mu.Unlock()
	if waiting != nil {
		c.cancelCall(waiting.link, number(named), params.Reason)
	}
	return nil
}

// cancelCall ends the context of a request's handler.
func (c *connection) cancelCall(l *link, own jsonrpc.ID, reason string) {
	params, err := json.Marshal(map[string]any{"requestId": own.Raw(), "reason": reason})
	if err != nil {
		return // cannot be: both are plain values
	}
	l.push(c.ctx, &jsonrpc.Request{Method: notifyCancelled, Params: params})
}

// answered gives the server the CLI's answer to a request of its own. One that
// no goroutine waits for is dropped.
func (c *connection) answered(ctx context.Context, m *jsonrpc.Response) error {
	n, ok := m.ID.Raw().(int64)
	if !ok {
		return nil
	}
	c.mu.Lock()
	q, ok := c.asked[n]
	delete(c.asked, n)
	c.mu.Unlock()
	if ok {
		m.ID = q.id
		q.link.push(ctx, m)
	}
	return nil
}

// fromServer takes a message that the server has written. An error that it
// returns reaches the sender of the message and does not break the session.
func (c *connection) fromServer(ctx context.Context, l *link, m jsonrpc.Message) error {
	switch m := m.(type) {
	case *jsonrpc.Response:
		n, _ := m.ID.Raw().(int64)
		c.mu.Lock()
		waiting := c.calls[n]
		c.mu.Unlock()
		if waiting != nil { // else no goroutine waits any more
			select {
			case waiting.reply <- m:
			default:
			}
		}
		return nil
	case *jsonrpc.Request:
		forward, n := c.outgoing(l, m)
		if forward == nil {
			return nil
		}
		if err := c.toCLI(ctx, forward); err != nil {
			c.mu.Lock()
			delete(c.asked, n)
			c.mu.Unlock()
			return fmt.Errorf("%w: %w", &jsonrpc.Error{Code: codeRejected, Message: "sending " + m.Method + " to the CLI"}, err)
		}
	}
	return nil
}

// outgoing returns a request or notification of the server's with ids as the
// CLI has to see them, and the id of a request. It returns nil for what the CLI
// has no use for.
func (c *connection) outgoing(l *link, m *jsonrpc.Request) (*jsonrpc.Request, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	forward := *m
	switch {
	case m.IsCall():
		n := c.next()
		c.asked[n] = question{id: m.ID, link: l}
		forward.ID = number(n)
		return &forward, n
	case m.Method == notifyCancelled:
		var params map[string]any
		if json.Unmarshal(m.Params, &params) != nil {
			return nil, 0
		}
		id, err := jsonrpc.MakeID(params["requestId"])
		if err != nil {
			return nil, 0
		}
		for n, q := range c.asked {
			if q.link == l && q.id == id {
				delete(c.asked, n)
				params["requestId"] = n
				if forward.Params, err = json.Marshal(params); err != nil {
					return nil, 0
				}
				return &forward, 0
			}
		}
		return nil, 0 // it is answered
	case strings.HasPrefix(m.Method, notifyPrefix) && strings.HasSuffix(m.Method, suffixOfListChanged):
		// The server tells all its sessions, which are one to the CLI.
		if l != c.newest(nil) {
			return nil, 0
		}
	}
	return &forward, 0
}

// toCLI sends a message of the server's.
func (c *connection) toCLI(ctx context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })()
	return c.send(ctx, data)
}

// route returns the session that a request goes to. mu is held.
func (c *connection) route(method string) (*link, error) {
	if c.closed {
		return nil, claude.ErrClosed
	}
	if method != methodInitialize {
		if l := c.serving(); l != nil {
			return l, nil
		}
	}
	return c.connect()
}

// serving returns the session whose handshake was over last, else the newest;
// nil if there is none. mu is held.
func (c *connection) serving() *link {
	if l := c.newest(func(l *link) bool { return l.ready && !l.superseded }); l != nil {
		return l
	}
	return c.newest(nil)
}

// newest returns the newest session of those that match and have not ended. mu
// is held.
func (c *connection) newest(match func(*link) bool) *link {
	for _, l := range slices.Backward(c.links) {
		if l.alive() && (match == nil || match(l)) {
			return l
		}
	}
	return nil
}

// connect begins another session of the server's. mu is held, which the server
// cannot ask for meanwhile: nothing has been sent to it yet.
func (c *connection) connect() (*link, error) {
	l := &link{owner: c, in: make(chan jsonrpc.Message), gone: make(chan struct{})}
	session, err := c.server.Connect(c.values, l, nil)
	if err != nil {
		return nil, fmt.Errorf("connecting to the MCP server: %w", err)
	}
	l.session = session
	c.links = slices.DeleteFunc(c.links, func(l *link) bool { return !l.alive() })
	c.links = append(c.links, l)
	return l, nil
}

// supersede ends a session when it has answered what it was asked.
func (c *connection) supersede(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.superseded = true
	c.retire(l)
}

// finish forgets a request of the CLI.
func (c *connection) finish(n int64, waiting *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, n)
	waiting.link.open--
	c.retire(waiting.link)
}

// retire ends a session that has been superseded and has nothing to answer. mu
// is held.
func (c *connection) retire(l *link) {
	if !l.superseded || l.open > 0 || c.closed || !slices.Contains(c.links, l) {
		return
	}
	c.links = slices.DeleteFunc(c.links, func(other *link) bool { return other == l })
	for n, q := range c.asked {
		if q.link == l {
			delete(c.asked, n)
		}
	}
	c.ending.Go(l.end) // joined by Close
}

// end ends the session and waits for its goroutines. Its messages end first: the
// server would otherwise wait for handlers whose contexts never end.
func (l *link) end() {
	_ = l.Close()
	_ = l.session.Close() // what it returns is what our own Close has returned
}

// Close ends the connection: the contexts of all handlers end, and Close waits
// for the handlers, but not for ever. Requests that wait for an answer fail with
// [claude.ErrClosed]. It is idempotent.
func (c *connection) Close() error {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		c.cancel(claude.ErrClosed)
		for _, l := range c.links {
			c.ending.Go(l.end)
		}
	}
	c.mu.Unlock()
	ended := make(chan struct{})
	go func() { // outlives Close only if a handler does
		c.ending.Wait()
		close(ended)
	}()
	timer := time.NewTimer(c.limit)
	defer timer.Stop()
	select {
	case <-ended:
		return nil
	case <-timer.C:
		return fmt.Errorf("closing the MCP server: a handler has not returned %v after its context ended; have it return when ctx.Done is closed", c.limit)
	}
}

// next gives out an id. mu is held.
func (c *connection) next() int64 {
	c.last++
	return c.last
}

// number makes a JSON-RPC id of an id of ours.
func number(n int64) jsonrpc.ID {
	id, err := jsonrpc.MakeID(float64(n))
	if err != nil {
		panic(err) // cannot be: numbers are ids
	}
	return id
}

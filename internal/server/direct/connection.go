package direct

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// maxRequests is how many requests of a client may wait for the CLI at a time.
	maxRequests = 32
	// maxWaiting and maxWaitingBytes are how many lines may wait for their turn.
	maxWaiting      = 256
	maxWaitingBytes = 2 * wire.MaxFrontEndLine
	// settleTime is how long requests may take to fail after the end of the CLI.
	settleTime = 2 * time.Second
	// keptBuffer is the largest buffer that is kept for the next line.
	keptBuffer = 64 << 10
)

// A connection is one client of one session.
type connection struct {
	// Static once serve has begun.
	server  *Server
	conn    *websocket.Conn
	session string
	by      hub.Actor
	may     func(wire.Scope) bool
	driver  Driver
	cancel  context.CancelCauseFunc
	done    chan struct{} // closed when the client has been told that it is over
	work    sync.WaitGroup

	// Owned by who reads.
	splitter wire.Splitter
	unknown  bool // who it is has not been said yet

	// Owned by who follows the session.
	view  *view
	first [][]byte // what is shown before anything else

	conversation atomic.Pointer[string] // the CLI's session_id; never nil
	lane         chan waiting           // lines that keep their order; never closed
	laneBytes    atomic.Int64
	over         atomic.Bool // the CLI has ended: a prompt would start another

	mu       sync.Mutex
	requests map[string]context.CancelFunc // under way, by the client's id; guarded by mu
	parallel int                           // how many of them are outside of the lane; guarded by mu
	starting chan struct{}                 // closed when the last initialize was answered; guarded by mu

	out    sync.Mutex // held while a line is written
	buffer []byte     // guarded by out
}

// A waiting line is one that keeps its order.
type waiting struct {
	line   []byte
	header header
	ctx    context.Context //nolint:containedctx // of the request that the line is
	finish func()
}

// A header is what is known of a line from a client.
type header struct{ kind, subtype, requestID string }

func newConnection(s *Server, conn *websocket.Conn) *connection {
	c := &connection{
		server: s, conn: conn, done: make(chan struct{}), lane: make(chan waiting, maxWaiting),
		splitter: wire.Splitter{Max: s.maxLine, Frames: true}, requests: map[string]context.CancelFunc{},
	}
	c.conversation.Store(new(string))
	return c
}

// nextLine reads the next line.
func (c *connection) nextLine(ctx context.Context) ([]byte, error) {
	for {
		line, err := c.splitter.Next()
		if line != nil || err != nil {
			return line, err
		}
		if c.unknown && len(c.splitter.Rest()) >= maxFirst {
			return nil, errLong // it would fill our memory, piece by piece
		}
		kind, message, err := c.conn.Read(ctx)
		switch {
		case err != nil:
			return nil, err
		case kind != websocket.MessageText:
			return nil, errBinary
		}
		c.splitter.Push(message)
	}
}

// readLoop takes what the client sends until it goes. reading ends with the
// connection, ctx when it is over for the client.
func (c *connection) readLoop(reading, ctx context.Context) {
	for {
		line, err := c.nextLine(reading)
		var long *wire.LineTooLongError
		switch {
		case errors.As(err, &long):
			c.tell(refusedLine(*c.conversation.Load(), "a line", tooLong(c.server.maxLine)))
		case errors.Is(err, errBinary):
			c.cancel(errBinary)
			return
		case err != nil:
			c.cancel(errGone)
			return
		case ctx.Err() == nil:
			c.take(ctx, bytes.Clone(line))
		}
	}
}

func tooLong(limit int) *api.Error {
	return api.Errorf(http.StatusRequestEntityTooLarge, api.CodeTooLarge, "it is longer than %d bytes", limit)
}

// take sees to it that a line is submitted: answers at once, because the CLI waits
// for them, whatever else goes on; prompts and what changes how they are carried
// out in their order; other requests side by side.
func (c *connection) take(ctx context.Context, line []byte) {
	peeked, err := wire.Peek(line)
	if err != nil {
		c.refuse(header{}, api.Errorf(http.StatusBadRequest, api.CodeInvalid, "it is no line of the protocol"))
		return
	}
	h := header{string(peeked.Type), string(peeked.RequestSubtype), string(peeked.RequestID)}
	switch h.kind {
	case "keep_alive", "auth":
		// The connection is what they are for.
	case "control_response":
		c.submit(ctx, h, line)
	case "control_cancel_request":
		c.mu.Lock()
		cancel := c.requests[h.requestID]
		c.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	case "control_request":
		c.request(ctx, h, line)
	default:
		c.queue(waiting{line: line, header: h, ctx: ctx, finish: func() {}})
	}
}

// ordered are the requests that prompts after them must not overtake.
func ordered() []string {
	return []string{"initialize", "set_permission_mode", "set_model", "set_max_thinking_tokens", "apply_flag_settings", "mcp_set_servers"}
}

// request takes a request of the client's.
func (c *connection) request(ctx context.Context, h header, line []byte) {
	inOrder := slices.Contains(ordered(), h.subtype)
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	_, used := c.requests[h.requestID]
	full := !inOrder && c.parallel >= maxRequests
	if used || full {
		c.mu.Unlock()
		cancel()
		why := "too many requests wait for the agent"
		if used {
			why = "this request_id is that of a request under way"
		}
		c.refuse(h, api.Errorf(http.StatusTooManyRequests, api.CodeConflict, "%s", why))
		return
	}
	c.requests[h.requestID] = cancel
	var started chan struct{}
	if h.subtype == "initialize" {
		started = make(chan struct{})
		c.starting = started
	}
	before := c.starting
	if !inOrder {
		c.parallel++
	}
	c.mu.Unlock()
	finish := func() {
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.requests, h.requestID)
		if !inOrder {
			c.parallel--
		}
		if started != nil {
			close(started)
		}
	}
	if inOrder {
		c.queue(waiting{line: line, header: h, ctx: ctx, finish: finish})
		return
	}
	c.work.Go(func() { // joined by serve
		defer finish()
		if before != nil { // there is no CLI to ask before that
			select {
			case <-before:
			case <-ctx.Done():
				return
			}
		}
		c.submit(ctx, h, line)
	})
}

// queue puts a line behind those that it must not overtake. The reader does not
// wait for them: an initialize may need an answer that is still to be read.
func (c *connection) queue(w waiting) {
	size := int64(len(w.line))
	if c.laneBytes.Add(size) <= maxWaitingBytes {
		select {
		case c.lane <- w:
			return
		default:
		}
	}
	c.laneBytes.Add(-size)
	w.finish()
	c.refuse(w.header, api.Errorf(http.StatusTooManyRequests, api.CodeConflict, "too many lines wait for the agent"))
}

// laneLoop submits what keeps its order.
func (c *connection) laneLoop(ctx context.Context) {
	for {
		select {
		case w := <-c.lane:
			c.submit(w.ctx, w.header, w.line)
			c.laneBytes.Add(-int64(len(w.line)))
			w.finish()
		case <-ctx.Done():
			return
		}
	}
}

// submit gives a line to the hub, and the client what comes of it.
func (c *connection) submit(ctx context.Context, h header, line []byte) {
	if h.kind == "user" && c.over.Load() {
		c.refuse(h, api.Errorf(http.StatusConflict, api.CodeEnded, "the agent has ended"))
		return
	}
	answer, err := c.driver.Submit(ctx, c.by, line, c.may)
	switch {
	case err != nil && ctx.Err() != nil:
		return // nobody waits for it any more
	case err != nil:
		c.refuse(h, c.server.problem(ctx, err))
	case answer != nil:
		c.tell(answer)
	}
}

// refuse tells the client that a line of its was refused, in a way that its
// program takes notice of.
func (c *connection) refuse(h header, why *api.Error) {
	conversation := *c.conversation.Load()
	switch h.kind {
	case "control_request":
		c.tell(failed(h.requestID, why))
	case "user":
		c.tell(refusedPrompt(conversation, why))
	case "control_response":
		if why.Code == api.CodeAlreadySettled || why.Code == api.CodeNotFound {
			return // the client is told that the question was withdrawn
		}
		c.tell(refusedLine(conversation, "an answer", why))
	default:
		c.tell(refusedLine(conversation, "a line", why))
	}
}

// settle waits until the requests under way have been answered.
func (c *connection) settle() {
	timer := time.NewTimer(c.server.settle)
	defer timer.Stop()
	tick := time.NewTicker(5 * time.Millisecond) // requests end one by one, mostly at once
	defer tick.Stop()
	for {
		c.mu.Lock()
		open := len(c.requests)
		c.mu.Unlock()
		if open == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-timer.C:
			return
		}
	}
}

// writeLoop shows the client what happens in the session.
func (c *connection) writeLoop(ctx context.Context, cursor Cursor) error {
	lines := c.first
	c.first = nil
	for {
		if c.view.over {
			c.over.Store(true) // before the client can react to what it is shown
		}
		for _, line := range lines {
			if err := c.write(line); err != nil {
				return err
			}
		}
		if c.view.over {
			return errOver
		}
		frames, err := cursor.Next(ctx)
		if err == nil {
			err = ctx.Err() // a cursor that has something gives it whatever ctx says
		}
		if err != nil {
			return err
		}
		lines = c.view.lines(lines[:0], frames)
		if name := c.view.conversation; name != "" && name != *c.conversation.Load() {
			c.conversation.Store(&name)
		}
	}
}

// tell writes a line that does not come from the session.
func (c *connection) tell(line []byte) {
	if err := c.write(line); err != nil {
		c.cancel(err)
	}
}

// write writes one line as one message. It does not end with the connection's
// context: that would cut it before the client was told why.
func (c *connection) write(line []byte) error {
	c.out.Lock()
	defer c.out.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), c.server.options.WriteTimeout)
	defer cancel()
	c.buffer = append(append(c.buffer[:0], line...), '\n') // the line is others' too
	if !utf8.Valid(c.buffer) {                             // in a string of it; the client would hang up
		c.buffer = bytes.ToValidUTF8(c.buffer, []byte("\ufffd"))
	}
	err := c.conn.Write(ctx, websocket.MessageText, c.buffer)
	if cap(c.buffer) > keptBuffer {
		c.buffer = nil
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		c.server.log.Info("cut a client of Direct Connect that does not read", slog.String("session", c.session))
		return errStuck
	}
	return errGone
}

// pingLoop finds out whether a client that is silent is there.
func (c *connection) pingLoop(ctx context.Context) {
	tick := time.NewTicker(c.server.options.Ping)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		// Not ctx: whoever ends it wants to say something before the connection is cut.
		ping, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.server.options.WriteTimeout)
		err := c.conn.Ping(ping)
		silent := err != nil && ctx.Err() == nil
		cancel()
		if silent {
			c.cancel(errGone)
			return
		}
	}
}

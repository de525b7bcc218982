package lines

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/wsconn"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// maxFirstLine is the longest message of a client that is not known.
	maxFirstLine = 8 << 10
	// spare is how much longer a message may be than the longest line, for what may
	// stand beside it.
	spare = 1 << 10
	// chunk is how much of a message is read at once. A message up to this length
	// is cut into lines as a whole.
	chunk = 1 << 20
	// firstChunk is how much is read of it at first.
	firstChunk = 4 << 10
	// keptBuffer is the largest buffer that is kept for other connections.
	keptBuffer = 256 << 10
)

// The causes of the end of a connection.
var (
	errLeft   = errors.New("the client has left")
	errBinary = errors.New("only text is understood here")
	errOver   = errors.New("the agent has ended")
)

// A dialect is what a connection speaks: the raw relay or Direct Connect. Its methods
// are called by the writing goroutine, unless they say otherwise.
type dialect interface {
	// behavior says how what the client says is worked on.
	behavior() *manners
	// follow finds what the client wants to see, and sets the connection's session. It is
	// called before any other but behavior, refused and restarting, by the reading goroutine.
	follow(ctx context.Context) (Cursor, error)
	// greet shows what is there before all that the cursor gives. Until the dialect is told
	// to leave, flush writes what was shown so far.
	greet(ctx context.Context, to sink, flush func() error) error
	// event shows what the dialect sees otherwise than the view, and reports whether it
	// is done with the event.
	event(e *api.Event, s *sight, to sink) (done bool)
	// label returns a request of the CLI, or the end of one, as the dialect shows it.
	label(e *api.Event, line []byte) []byte
	// resumed shows where the stream begins.
	resumed(v *api.Verdict, to sink)
	// over reports whether the last thing shown was the end of all that there is.
	over() bool

	// submit gives a line to the hub. It is safe for concurrent use.
	submit(ctx context.Context, l *said) (answer []byte, err error)
	// refusal returns the line that tells the client why a line was refused, nil if it
	// need not be told. l is nil if the line is none. It is safe for concurrent use.
	refusal(l *said, e *api.Error) []byte

	// refused returns how a client is told that it is not let in, or not any more, and
	// restarting how it is told to come back.
	refused(e *api.Error) farewell
	restarting(reason string) farewell
	// ended returns how a client is told that it is over.
	ended() farewell
	// leave is called when nothing more is shown.
	leave()
}

// A farewell is how a connection ends: with a last line, unless that is nil, and a code
// and a reason.
type farewell struct {
	last   []byte
	code   websocket.StatusCode
	reason string
}

// A conn is a client of either dialect.
type conn struct {
	// Static after construction.
	server  *Server
	ws      *wsconn.Conn
	dialect dialect
	manners *manners // the dialect's
	closed  func()   // to be called when it has ended

	// Static once the client is known.
	id      access.Identity
	by      hub.Actor
	session string // empty for all

	// Owned by the reading goroutine.
	known    bool
	request  context.Context // that of the request, until the client is known
	splitter wire.Splitter
	since    int // bytes since the end of the last line

	// Owned by the writing goroutine.
	view view

	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc
	desk   desk
}

// nonce returns a short text that no other connection has.
func nonce() string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// actor returns the client that makes a request, in the hub's words. By says how, so that
// others see where something came from, and a connection what was its own doing.
func actor(id access.Identity, by string) hub.Actor {
	a := id.Actor()
	a.Name += " (" + by + ")"
	return a
}

// serve serves a client until it leaves. It is the goroutine that reads.
func (c *conn) serve() {
	s := c.server
	defer s.leave()
	defer c.closed()
	defer c.ws.CloseNow()
	c.ctx, c.cancel = context.WithCancelCause(s.ctx)
	defer c.cancel(errLeft)
	c.splitter = c.newSplitter()
	if !c.known {
		if e := c.introduce(); e != nil {
			c.dismiss(e)
			return
		}
	}
	c.by = actor(c.id, c.manners.name+" "+nonce())
	c.ws.SetReadLimit(int64(s.maxLine) + spare)
	watched, stop := access.Watch(c.ctx, c.id)
	defer stop()
	defer context.AfterFunc(watched, c.ws.Hurry)()
	cursor, err := c.dialect.follow(watched)
	switch {
	case err != nil && errors.Is(context.Cause(watched), access.ErrRevoked):
		c.dismiss(revoked())
		return
	case err != nil:
		c.dismiss(s.problem(err))
		return
	}
	c.view.init(c.dialect, c.by.Name, c.manners.foresees, s.sight)
	first := begin(watched, cursor)
	c.desk.open(watched, c)
	defer c.desk.close()
	var writer sync.WaitGroup
	writer.Go(func() { c.write(watched, cursor, first) })
	stopPing := c.ws.KeepAlive(s.options.Ping, c.manners.silence)
	err = c.read(watched)
	s.log.Debug("a client has left", "error", err)
	c.cancel(errLeft)
	stopPing()
	c.ws.CloseNow() // the writing goroutine must not wait
	writer.Wait()
}

func (c *conn) newSplitter() wire.Splitter { return wire.Splitter{Max: c.server.maxLine, Frames: true} }

// introduce waits for the line that identifies the client.
func (c *conn) introduce() *api.Error {
	c.ws.SetReadLimit(maxFirstLine)
	_ = c.ws.SetReadDeadline(time.Now().Add(c.server.options.FirstLine)) // if it is closed, reading fails
	ctx, cancel := context.WithCancel(c.request)
	defer cancel()
	defer context.AfterFunc(c.ctx, func() {
		cancel()
		_ = c.ws.SetReadDeadline(time.Now()) // nothing is waited for any more
	})()
	line, err := c.firstLine()
	if err != nil {
		return &api.Error{Code: api.CodeUnauthorized, Title: "No token came", Hint: "Send it with the request, or at once as the first line."}
	}
	token, ok := access.FirstLine(line)
	if !ok {
		return &api.Error{Code: api.CodeUnauthorized, Title: "Authentication required", Hint: `Send {"type":"auth","token":"…"} as the first line.`}
	}
	id, problem := c.server.guard.Identify(ctx, token)
	if problem != nil {
		return problem
	}
	if !id.Scopes.Has(wire.ScopeObserve) {
		return mayNotLook(id)
	}
	_ = c.ws.SetReadDeadline(time.Time{}) // as above
	c.id, c.known, c.request = id, true, nil
	return nil
}

// firstLine reads the first line.
func (c *conn) firstLine() ([]byte, error) {
	for {
		_, r, err := c.ws.Reader(context.Background())
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		c.splitter.Push(b)
		line, err := c.splitter.Next()
		if line != nil || err != nil {
			return line, err
		}
		if len(c.splitter.Rest()) > maxFirstLine {
			return nil, errors.New("the first line is too long") // it would fill our memory, piece by piece
		}
	}
}

// dismiss ends a connection that is not wanted, and says why. It is called by the
// reading goroutine, while there is no other.
func (c *conn) dismiss(e *api.Error) {
	c.server.log.Debug("a client was sent away", "code", e.Code)
	switch {
	case c.server.ctx.Err() != nil, c.known && e.Code == api.CodeClosing: // it came as the hub was about to end
		c.end(c.dialect.restarting(c.server.why()))
	default:
		c.end(c.dialect.refused(e))
	}
	c.ws.Drain()
}

// revoked says that a client is not let in any more.
func revoked() *api.Error {
	return &api.Error{Code: api.CodeUnauthorized, Title: "The token is not valid any more", Hint: "Connect again with another one."}
}

// end ends the connection in good order.
func (c *conn) end(f farewell) { c.ws.Finish(f.last, f.code, f.reason) }

// begin takes a cursor to the live edge, if it is not far from it, and returns what it
// gave: a client may prompt an agent at once, and must not miss the beginning of the
// answer. The cursor gives no deltas before it has been at the edge, which takes it two
// calls. Nothing is waited for, and an error the next call returns too.
func begin(ctx context.Context, c Cursor) (frames []api.Frame) {
	now, cancel := context.WithCancel(ctx)
	cancel()
	for range 2 {
		if more, err := c.Next(now); err == nil {
			frames = slices.Concat(frames, more)
		}
	}
	return frames
}

// write shows the client what happens until the connection ends. It is the goroutine
// that writes.
func (c *conn) write(ctx context.Context, cursor Cursor, first []api.Frame) {
	defer cursor.Close()
	err := c.show(ctx, cursor, first)
	if errors.Is(err, errOver) {
		c.desk.settle(c.server.settle) // a program that waits for an answer is told that there will be none
	}
	c.dialect.leave()
	cause := context.Cause(ctx)
	switch {
	case errors.Is(err, wsconn.ErrWrite):
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.server.log.Info("cut a client that does not read", "session", c.session)
		}
		c.ws.CloseNow() // which ends the reader
	case errors.Is(cause, errLeft):
		c.ws.CloseNow() // likewise
	case errors.Is(cause, errBinary):
		c.end(farewell{code: websocket.StatusUnsupportedData, reason: errBinary.Error()})
	case errors.Is(cause, access.ErrRevoked):
		c.end(c.dialect.refused(revoked()))
	case errors.Is(err, errOver):
		c.end(c.dialect.ended())
	case c.server.ctx.Err() != nil, errors.Is(err, hub.ErrClosed):
		c.end(c.dialect.restarting(c.server.why()))
	default:
		// The client comes back and tries again.
		c.server.log.Warn("a client cannot be shown any more", "session", c.session, "error", err)
		c.end(farewell{code: websocket.StatusInternalError, reason: c.server.problem(err).Error()})
	}
}

// show shows what a cursor gives. It fails with [wsconn.ErrWrite] if the client cannot
// be written to.
func (c *conn) show(ctx context.Context, cursor Cursor, frames []api.Frame) error {
	b := c.ws.Batch()
	err := c.dialect.greet(ctx, &b, func() error {
		err := b.Flush()
		b = c.ws.Batch()
		return err
	})
	if err != nil {
		return errors.Join(err, b.Flush())
	}
	for {
		c.view.show(frames, &b)
		if err := b.Flush(); err != nil {
			return err
		}
		if c.dialect.over() {
			return errOver
		}
		if frames, err = cursor.Next(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err() // a cursor that has something gives it whatever ctx says
		}
		b = c.ws.Batch()
	}
}

// tell sends the client a line of its own.
func (c *conn) tell(line []byte) {
	if line != nil {
		_ = c.ws.Line(line) // if it cannot be written to, the writing goroutine finds out
	}
}

// read takes messages until the connection ends. Those that come when it is over for
// the client are discarded.
func (c *conn) read(ctx context.Context) error {
	c.lines(ctx) // what came with the first
	for {
		// No buffer is held here: most clients wait in this call most of the time.
		kind, r, err := c.ws.Reader(context.Background())
		if err != nil {
			return err
		}
		if kind != websocket.MessageText && c.manners.textOnly {
			c.cancel(errBinary)
		}
		if err := c.message(ctx, r); err != nil {
			return err
		}
	}
}

// message takes a message, in pieces if it is long.
func (c *conn) message(ctx context.Context, r io.Reader) error {
	buffer, _ := c.server.buffers.Get().(*[]byte) // nothing else is in there
	b := (*buffer)[:cap(*buffer)]
	defer func() {
		if cap(b) <= keptBuffer {
			*buffer = b
		}
		c.server.buffers.Put(buffer)
	}()
	if len(b) < firstChunk {
		b = make([]byte, firstChunk)
	}
	n := 0
	for {
		k, err := r.Read(b[n:])
		n += k
		switch {
		case errors.Is(err, io.EOF):
			c.push(b[:n])
			c.lines(ctx)
			return nil
		case err != nil:
			return err
		case n < len(b):
		case len(b) < chunk:
			b = append(b, make([]byte, len(b))...)
		default:
			c.push(b)
			c.lines(ctx)
			n = 0
		}
	}
}

// push adds a piece of what the client says.
func (c *conn) push(b []byte) {
	c.splitter.Push(b)
	c.since += len(b)
}

// lines takes the lines that are whole.
func (c *conn) lines(ctx context.Context) {
	for {
		line, err := c.splitter.Next()
		switch {
		case err != nil:
			c.since = 0
			e := api.Errorf(http.StatusRequestEntityTooLarge, api.CodeTooLarge, "The line is longer than %d bytes", c.server.maxLine)
			c.tell(c.dialect.refusal(nil, e))
		case line == nil:
			// A client that waits needs no memory, except in the middle of a line, which may
			// be one that is too long and of which nothing is kept.
			if len(c.splitter.Rest()) == 0 && c.since <= c.server.maxLine {
				c.splitter, c.since = c.newSplitter(), 0
			}
			return
		default:
			c.since = 0
			c.desk.take(ctx, line)
		}
	}
}

package ingress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/killpoint"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/server/wsconn"
)

const (
	// helloWait is how long a shim has to introduce itself.
	helloWait = 10 * time.Second
	// attachWait is how long the hub has to take it: longer than the shim waits for
	// an answer, so that a session which takes long to load is there when the shim
	// comes again.
	attachWait = link.DeadAfter
	// linkBuffer is the size of a link's read buffer. A shim writes batches of records,
	// which are read past it.
	linkBuffer = 4 << 10
)

// LinkOptions are the options of a [Link].
type LinkOptions struct {
	// Logger takes what happens to links. If nil, nothing is logged.
	Logger *slog.Logger
}

// A Link is the end of the hub where shims connect. It is an [http.Handler] for
// [link.Path], to be mounted where only the hub's own user can reach it: a
// shim's token says which run it is, not that it may talk to us.
type Link struct {
	// Static after construction.
	hub     theHub
	log     *slog.Logger
	ctx     context.Context // ends with Close
	cancel  context.CancelCauseFunc
	buffers sync.Pool    // *[]byte, for frames
	dropped atomic.Int64 // live lines left out

	requests sync.WaitGroup

	// Guarded by mu.
	mu     sync.Mutex
	closed bool
	open   int
	conns  map[*linkConn]struct{} // those that are attached
}

var _ http.Handler = (*Link)(nil)

func newLink(h theHub, o *LinkOptions) *Link {
	if o == nil {
		o = &LinkOptions{}
	}
	l := &Link{hub: h, log: discard(o.Logger), conns: map[*linkConn]struct{}{}}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	l.buffers.New = func() any { return new([]byte) }
	return l
}

// Open returns how many links there are.
func (l *Link) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

// Dropped returns how many live lines were left out because the hub was behind.
func (l *Link) Dropped() int64 { return l.dropped.Load() }

// errClosing is why connections end when the server does.
var errClosing = errors.New("the hub is closing")

// flushWait is how long Close waits for what is under way.
const flushWait = time.Second

// Close ends all links and waits until nothing of them is left. What has come
// before is journaled and acknowledged first, if that is quick: a shim whose CLI
// has ended waits for just that. Shims take the end for a hub that restarts:
// their agents go on.
func (l *Link) Close() error {
	ctx, cancel := context.WithTimeout(l.ctx, flushWait)
	defer cancel()
	l.mu.Lock()
	l.closed = true
	var flushes sync.WaitGroup
	for c := range l.conns {
		flushes.Go(func() { c.flush(ctx) })
	}
	l.mu.Unlock()
	flushes.Wait()
	l.cancel(errClosing)
	l.requests.Wait()
	return nil
}

// enter counts a request in, unless the server is closed.
func (l *Link) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.requests.Add(1)
	l.open++
	return true
}

func (l *Link) leave() {
	l.mu.Lock()
	l.open--
	l.mu.Unlock()
	l.requests.Done()
}

// An Origin says where links come from. The zero value is the hub's own machine.
type Origin struct {
	// Node is the id of the node whose connection carries the link. The hub refuses links
	// of runs that are elsewhere.
	Node string
	// Ended ends when the right to have links ends: they are cut. It may be nil.
	Ended context.Context //nolint:containedctx // the node's own life
	// RemoteTee says that the link is that of a tee on a machine that is no node, and must
	// not be another's. Its process is none of this machine.
	RemoteTee bool
	// Done, if set, is called once when there is no link, or no more.
	Done func()
}

// errRevoked is why the links of a node end whose right to have them was taken.
var errRevoked = errors.New("the right to have this link was revoked")

// ServeHTTP implements [http.Handler]. It returns when the link is open: the
// goroutine of the request, with all that is on its stack, would cost more than
// the link.
func (l *Link) ServeHTTP(w http.ResponseWriter, r *http.Request) { l.Serve(w, r, Origin{}) }

// Serve is ServeHTTP for links from elsewhere. The caller has checked that they may be
// from there.
func (l *Link) Serve(w http.ResponseWriter, r *http.Request, from Origin) {
	done := func() {
		if from.Done != nil {
			from.Done()
		}
	}
	if !l.enter() {
		done()
		http.Error(w, errClosing.Error(), http.StatusServiceUnavailable)
		return
	}
	ws, err := wsconn.Accept(w, r, &wsconn.Options{Subprotocols: []string{link.Subprotocol}, CheckOrigin: true, ReadBuffer: linkBuffer})
	if err != nil {
		l.log.Debug("a link was not opened", "error", err) // answered
		done()
		l.leave()
		return
	}
	token := bearer(r)
	go func() { // joined by Close
		defer l.leave()
		defer done()
		defer ws.CloseNow()
		if ws.Subprotocol() != link.Subprotocol {
			ws.Close(websocket.StatusPolicyViolation, "this is for the subprotocol "+link.Subprotocol)
			return
		}
		ws.SetReadLimit(link.MaxFrame)
		serveLink(l, ws, token, from)
	}()
}

// bearer returns the token of the request's Authorization header, or "".
func bearer(r *http.Request) string {
	const scheme = "Bearer "
	h := r.Header.Get("Authorization")
	if len(h) <= len(scheme) || !bytes.EqualFold([]byte(h[:len(scheme)]), []byte(scheme)) {
		return ""
	}
	return h[len(scheme):]
}

// A linkConn is one connection of a shim.
type linkConn struct {
	// Static after construction.
	server  *Link
	from    Origin
	ws      *wsconn.Conn
	ctx     context.Context
	cancel  context.CancelCauseFunc
	log     *slog.Logger
	out     *sender
	in      *intake
	runLink runLink

	// Owned by the reading goroutine.
	incoming *link.Incoming
	decoder  link.Decoder

	// heard is when the shim was heard last, as time since start; stalled says
	// that the hub is waited for, during which nothing can be heard.
	start   time.Time
	heard   atomic.Int64
	stalled atomic.Bool
}

// serveLink serves a connection until it ends.
func serveLink(l *Link, ws *wsconn.Conn, token string, from Origin) {
	c := &linkConn{server: l, from: from, ws: ws, log: l.log, start: time.Now()}
	c.ctx, c.cancel = context.WithCancelCause(l.ctx)
	defer c.cancel(nil)
	if from.Ended != nil {
		defer context.AfterFunc(from.Ended, func() { c.cancel(errRevoked) })()
	}
	defer context.AfterFunc(c.ctx, ws.CloseNow)()
	c.out = newSender(c.write, c.cancel)
	defer c.out.stop()
	hello, err := c.hello()
	if err != nil {
		c.log.Warn("a link did not begin well", "error", err)
		ws.Close(websocket.StatusPolicyViolation, "no hello")
		return
	}
	c.log = l.log.With("session", hello.Session, "run", hello.Run)
	if !c.attach(hello, token) {
		return
	}
	l.mu.Lock()
	l.conns[c] = struct{}{}
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.conns, c)
		l.mu.Unlock()
	}()
	defer c.keepAlive()()
	err = c.read()
	c.cancel(err) // the first cause counts
	cause := context.Cause(c.ctx)
	c.bye(cause)
	// What the hub has not been told yet the shim still has, and will send again.
	c.in.stop()
	c.runLink.Lost(cause)
	c.log.Debug("a link ended", "error", cause)
}

// hello reads the first message.
func (c *linkConn) hello() (*link.Hello, error) {
	timer := time.AfterFunc(helloWait, func() { c.cancel(errors.New("no hello came in time")) })
	defer timer.Stop()
	kind, r, err := c.ws.Reader(context.Background())
	if err != nil {
		return nil, fmt.Errorf("waiting for a hello: %w", err)
	}
	frame, err := link.ReadFrame(r, nil)
	if err != nil {
		return nil, fmt.Errorf("reading a hello: %w", err)
	}
	if kind != websocket.MessageText {
		return nil, errors.New("lines came before the hello")
	}
	m, err := link.ParseMessage(frame)
	if err != nil {
		return nil, err
	}
	hello, ok := m.(*link.Hello)
	if !ok {
		return nil, fmt.Errorf("a %T came instead of a hello", m)
	}
	return hello, nil
}

// attach makes the connection the run's, or says why not.
func (c *linkConn) attach(hello *link.Hello, token string) bool {
	version, err := link.Negotiate(hello.Version)
	if err != nil {
		c.refuse(&link.Gone{Reason: err.Error()}, err)
		return false
	}
	ctx, cancel := context.WithTimeout(c.ctx, attachWait)
	defer cancel()
	if c.from.RemoteTee {
		if !hello.Tee {
			c.refuse(nil, errors.New("a link that is none of a tee came from a machine that is no node"))
			return false
		}
		hello.PID, hello.PIDStart = 0, ""
	}
	l, welcome, err := c.server.hub.Attach(ctx, hub.Hello{Hello: *hello, Token: token, Node: c.from.Node, Elsewhere: c.from.RemoteTee}, c.out)
	if err != nil {
		if gone, ok := errors.AsType[*hub.GoneError](err); ok {
			c.refuse(&link.Gone{Reason: gone.Reason}, err)
		} else if owned, ok := errors.AsType[*hub.OwnedError](err); ok {
			c.refuse(&link.OwnedBy{Instance: owned.Instance}, err)
		} else {
			c.refuse(nil, err)
		}
		return false
	}
	c.incoming = link.NewIncoming(welcome.Have)
	c.runLink = l
	c.in = newIntake(c.ctx, l.Deliver, c.cancel, &c.server.dropped)
	welcome.Version = version
	c.out.welcome(&welcome)
	return true
}

// refuse ends a connection that was not attached. Without a message the shim
// tries again.
func (c *linkConn) refuse(m link.Message, cause error) {
	c.log.Info("a link was refused", "error", cause)
	if m == nil {
		c.ws.Close(websocket.StatusPolicyViolation, "refused")
		return
	}
	if err := c.write(websocket.MessageText, link.AppendMessage(nil, m, link.Version)); err == nil {
		c.ws.Close(websocket.StatusNormalClosure, "")
	}
}

// bye closes the connection with a code, if it is not broken.
func (c *linkConn) bye(cause error) {
	if closed, ok := errors.AsType[*closedError](cause); ok {
		c.log.Debug("the hub closed a link", "reason", closed.reason)
	}
	c.ws.CloseNow() // to a shim every end is the same: it comes back
}

// flush waits until what has come is journaled, and what follows from that is
// sent.
func (c *linkConn) flush(ctx context.Context) {
	done := make(chan struct{})
	c.in.do(func(context.Context) error {
		c.out.add(outgoing{sent: done})
		return nil
	})
	select {
	case <-done:
	case <-c.ctx.Done():
	case <-ctx.Done():
	}
}

// write sends a frame.
func (c *linkConn) write(kind websocket.MessageType, frame []byte) error {
	return c.ws.Write(kind, frame)
}

// keepAlive watches that the shim is heard, and returns a function that ends
// that. It needs no goroutine while nothing is due.
func (c *linkConn) keepAlive() (stop func()) {
	return wsconn.Every(link.PingAfter/2, func() bool {
		silent := time.Since(c.start) - time.Duration(c.heard.Load())
		switch stalled := c.stalled.Load(); {
		case stalled:
			// The hub is slow, and the shim is not read: its pings are not seen, so
			// it is told that the hub is here.
			c.out.say(&link.Ping{})
		case silent >= link.DeadAfter:
			c.cancel(errors.New("the shim was not heard of for too long"))
			return false
		case silent >= link.PingAfter:
			c.out.say(&link.Ping{})
		}
		return true
	})
}

// hear notes that the shim was heard.
func (c *linkConn) hear() { c.heard.Store(int64(time.Since(c.start))) }

// A listener notes that the shim was heard with every piece of a frame, since a
// large one may take long.
type listener struct {
	r io.Reader
	c *linkConn
}

// Read implements [io.Reader].
func (l listener) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.c.hear()
	return n, err
}

// read takes frames until the connection ends.
func (c *linkConn) read() error {
	for {
		// No buffer is held here: most links wait in this call most of the time.
		kind, r, err := c.ws.Reader(context.Background())
		if err != nil {
			return err
		}
		c.hear()
		if err := c.frame(kind, listener{r, c}); err != nil {
			return err
		}
	}
}

// largestBuffer is the largest frame buffer that is kept for other frames.
const largestBuffer = 4 * link.Batch

func (c *linkConn) frame(kind websocket.MessageType, r io.Reader) error {
	frame, err := c.readFrame(r)
	if err != nil {
		return err
	}
	if kind == websocket.MessageText {
		m, err := link.ParseMessage(frame)
		if err != nil {
			return err
		}
		c.message(m)
		return nil
	}
	err = c.records(frame)
	c.in.flush()
	if err != nil {
		return err
	}
	return c.wait()
}

// readFrame returns a frame that nothing else holds: its lines share its memory. Many
// links share the buffers that it is read into, whose size it need not know.
func (c *linkConn) readFrame(r io.Reader) ([]byte, error) {
	buffer, _ := c.server.buffers.Get().(*[]byte) // nothing else is in there
	defer c.server.buffers.Put(buffer)
	frame, err := link.ReadFrame(r, *buffer)
	if cap(frame) <= largestBuffer {
		*buffer = frame
	}
	if err != nil {
		return nil, err
	}
	return bytes.Clone(frame), nil
}

// records gives the records of a frame to the hub, those that are new.
func (c *linkConn) records(frame []byte) error {
	c.decoder.Push(frame)
	for {
		record, ok, err := c.decoder.Next()
		if err != nil || !ok {
			return err
		}
		// The hub sees a gap by itself, from the numbers.
		if !c.incoming.Accept(&record).Fresh {
			continue
		}
		it := hub.Item{Record: record}
		if it.Kind == link.Live {
			c.in.offer(&it, nil)
		} else if err := c.in.put(&it, nil); err != nil {
			return err
		}
	}
}

// wait waits for room, and lets keepAlive know that it does.
func (c *linkConn) wait() error {
	for room := c.in.room(); room != nil; room = c.in.room() {
		c.stalled.Store(true)
		select {
		case <-room:
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		}
		c.hear()
		c.stalled.Store(false)
	}
	return nil
}

// message acts on a text message.
func (c *linkConn) message(m link.Message) {
	switch m := m.(type) {
	case *link.Ping:
		c.out.say(&link.Pong{})
	case *link.Written:
		c.written(m.UpTo)
	case *link.Refused: // it was written before: as good as written
		c.written(m.Number)
	case *link.Failed:
		c.in.do(func(ctx context.Context) error { return c.runLink.Failed(ctx, m.Number, m.Reason) })
	default:
		// A pong has been heard, which is all. Nothing else comes from a shim of a
		// version that we know.
	}
}

func (c *linkConn) written(upTo int64) {
	c.in.do(func(ctx context.Context) error {
		killpoint.Reach("link.after-written")
		return c.runLink.Written(ctx, upTo)
	})
}

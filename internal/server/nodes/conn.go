package nodes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/internal/killpoint"
	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/server/wsconn"
)

const (
	// maxWaiting is how many messages wait to be written to a node.
	maxWaiting = 64
	// maxSamples is how many pings the difference of clocks is found from.
	maxSamples = 8
	// exitPause is how often at most a node has the hub look because runs have ended.
	exitPause = 200 * time.Millisecond
)

// Why control connections end.
var (
	errReplaced = errors.New("the node has connected again")
	errSilent   = errors.New("the node was not heard of for too long")
	errRevoked  = errors.New("the node was revoked")
)

// A conn is the control connection of a node.
type conn struct {
	// Static after construction.
	nodes   *Nodes
	entry   *entry
	ws      *wsconn.Conn
	ctx     context.Context //nolint:containedctx // the connection's own life
	cancel  context.CancelCauseFunc
	log     *slog.Logger
	ticket  string
	address string
	out     chan outgoing // to be written
	slots   chan struct{} // one for each call without an answer
	streams chan struct{} // one for each stream
	take    chan struct{} // has room for one: there are spools to take in
	start   time.Time
	heard   atomic.Int64 // when the node was heard last, as time since start

	mu      sync.Mutex
	last    uint64                        // number of the last call or ping; guarded by mu
	calls   map[uint64]chan<- node.Answer // guarded by mu
	pings   map[uint64]time.Time          // when they were sent; guarded by mu
	samples []sample                      // the newest last; guarded by mu
}

// A sample is what a pong has told about the node's clock.
type sample struct{ took, skew time.Duration }

// An outgoing is a message that is to be written.
type outgoing struct {
	text  []byte
	start bool // it is a start, after which the kill tests stop
}

// serve serves the control connection of a node until it ends.
func (n *Nodes) serve(e *entry, ws *wsconn.Conn, hello *node.Hello, address string) {
	c := &conn{
		nodes: n, entry: e, ws: ws, log: n.log.With("node", e.name), ticket: node.NewTicket(), address: address,
		out: make(chan outgoing, maxWaiting), slots: make(chan struct{}, node.MaxCalls), streams: make(chan struct{}, node.MaxStreams),
		take: make(chan struct{}, 1), start: time.Now(), calls: map[uint64]chan<- node.Answer{}, pings: map[uint64]time.Time{},
	}
	c.ctx, c.cancel = context.WithCancelCause(n.ctx)
	defer c.cancel(nil)
	defer context.AfterFunc(e.ended, func() { c.cancel(errRevoked) })()
	defer context.AfterFunc(c.ctx, ws.CloseNow)()
	ws.SetReadLimit(node.MaxMessage)
	welcome, err := node.Encode(&node.Welcome{Ticket: c.ticket, Time: time.Now(), MaxSessions: e.max})
	if err != nil {
		return // it is short
	}
	c.out <- outgoing{text: welcome} // before any call
	if !n.connected(e, c, &hello.Facts) {
		return
	}
	c.log.Info("a node has connected", "address", address, "version", hello.Facts.Version)
	n.saveSeen()
	var work sync.WaitGroup
	work.Go(c.write)
	work.Go(c.takeSpools)
	stop := wsconn.Every(n.times.ping, c.keepAlive)
	err = c.read()
	c.cancel(err) // the first cause counts
	stop()
	work.Wait()
	n.disconnected(e, c)
	c.log.Info("a node is gone", "reason", context.Cause(c.ctx))
	n.saveSeen()
}

// connected makes a connection the node's. It returns false if the node was revoked
// meanwhile.
func (n *Nodes) connected(e *entry, c *conn, facts *node.Facts) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || e.revoked || e.gone {
		return false
	}
	if e.conn != nil {
		e.conn.cancel(errReplaced)
	}
	e.conn, e.facts, e.met, e.seen = c, *facts, true, nowStored()
	c.spools()
	n.changed.Notify()
	return true
}

// disconnected notes that a connection is lost. Its ticket is good for a while.
func (n *Nodes) disconnected(e *entry, c *conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	e.seen = nowStored()
	if e.conn != c {
		return // there is another one
	}
	e.conn = nil
	if !e.revoked {
		e.lost, e.lostAt = c.ticket, time.Now()
	}
	n.changed.Notify()
}

// write writes what waits, until the connection ends.
func (c *conn) write() {
	for {
		select {
		case m := <-c.out:
			if err := c.ws.Write(websocket.MessageText, m.text); err != nil {
				c.cancel(err)
				return
			}
			if m.start {
				killpoint.Reach("nodes.after-start-sent")
			}
		case <-c.ctx.Done():
			return
		}
	}
}

// send has a message written.
func (c *conn) send(ctx context.Context, m outgoing) error {
	select {
	case c.out <- m:
		return nil
	case <-c.ctx.Done():
		return &lostError{context.Cause(c.ctx)}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// say has a message written that need not be, if too many wait.
func (c *conn) say(m node.Message) {
	text, err := node.Encode(m)
	if err != nil {
		return
	}
	select {
	case c.out <- outgoing{text: text}:
	default:
	}
}

// keepAlive pings the node, and gives the connection up if nothing is heard.
func (c *conn) keepAlive() bool {
	if c.ctx.Err() != nil {
		return false
	}
	if time.Since(c.start)-time.Duration(c.heard.Load()) >= c.nodes.times.dead {
		c.cancel(errSilent)
		return false
	}
	c.mu.Lock()
	c.last++
	id, now := c.last, time.Now()
	if len(c.pings) >= maxSamples {
		clear(c.pings) // none of them was answered
	}
	c.pings[id] = now
	c.mu.Unlock()
	c.say(&node.Ping{ID: id, Time: now})
	return true
}

// A listener notes that the node was heard with every piece of a frame, since a large one
// may take long.
type listener struct {
	r io.Reader
	c *conn
}

// Read implements [io.Reader].
func (l listener) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.c.heard.Store(int64(time.Since(l.c.start)))
	return n, err
}

// read takes messages until the connection ends.
func (c *conn) read() error {
	for {
		kind, r, err := c.ws.Reader(context.Background())
		if err != nil {
			return err
		}
		m, err := decode(kind, listener{r, c})
		if err != nil {
			return err
		}
		c.message(m)
	}
}

// message acts on a message. It does not wait for anything.
func (c *conn) message(m node.Message) {
	switch m := m.(type) {
	case *node.Answer:
		c.mu.Lock()
		answer := c.calls[m.ID]
		delete(c.calls, m.ID)
		c.mu.Unlock()
		if answer != nil {
			answer <- *m // has room
		}
	case *node.Facts:
		c.nodes.mu.Lock()
		if c.entry.conn == c {
			c.entry.facts = *m
			c.spools()
		}
		c.nodes.mu.Unlock()
	case *node.Exited:
		c.nodes.exited(c.entry)
	case *node.Pong:
		c.pong(m)
	case *node.Challenge, *node.Hello, *node.Welcome, *node.Refused, *node.Call, *node.Cancel, *node.Ping, *node.Unknown:
		// Nothing else comes from a node of a version that we know.
	}
}

// exited has the hub look what became of runs, but not too often.
func (n *Nodes) exited(e *entry) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if e.exits != nil || n.closed {
		return
	}
	n.changed.Notify()
	e.exits = time.AfterFunc(exitPause, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		e.exits = nil
		n.changed.Notify() // for those that came in the pause
	})
}

// pong takes the answer to a ping.
func (c *conn) pong(m *node.Pong) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	sent, found := c.pings[m.ID]
	if !found {
		return
	}
	delete(c.pings, m.ID)
	took := now.Sub(sent)
	if len(c.samples) == maxSamples {
		c.samples = slices.Delete(c.samples, 0, 1)
	}
	c.samples = append(c.samples, sample{took: took, skew: m.Time.Sub(sent.Add(took / 2))})
}

// skew returns the node's clock minus the hub's, by the quickest of the last pings.
func (c *conn) skew() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.samples) == 0 {
		return 0
	}
	return slices.MinFunc(c.samples, func(a, b sample) int { return cmp.Compare(a.took, b.took) }).skew
}

// A lostError says that a connection was lost before the answer to a call came.
type lostError struct{ err error }

func (e *lostError) Error() string { return "the connection was lost" }
func (e *lostError) Unwrap() error { return e.err }

// call asks the node, and waits for the answer. A *[node.Failure] is the node's own
// answer, a *lostError says that there is none.
func (c *conn) call(ctx context.Context, method string, body, out any) error {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-c.ctx.Done():
		return &lostError{context.Cause(c.ctx)}
	case <-ctx.Done():
		return ctx.Err()
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return errors.New("asking a node: a part of the question cannot be written as JSON")
	}
	answer := make(chan node.Answer, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.calls[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.calls, id)
		c.mu.Unlock()
	}()
	text, err := node.Encode(&node.Call{ID: id, Method: method, Body: raw})
	if err != nil {
		return err
	}
	if err := c.send(ctx, outgoing{text: text, start: method == node.MethodStart}); err != nil {
		return err
	}
	select {
	case a := <-answer:
		switch {
		case a.Failure != nil:
			return a.Failure
		case out == nil:
			return nil
		}
		if err := json.Unmarshal(a.Body, out); err != nil {
			return errors.New("a node's answer is not what was expected; install the same version of switchboard on both")
		}
		return nil
	case <-c.ctx.Done():
		return &lostError{context.Cause(c.ctx)}
	case <-ctx.Done():
		if method != node.MethodStart { // which goes on
			c.say(&node.Cancel{ID: id})
		}
		return ctx.Err()
	}
}

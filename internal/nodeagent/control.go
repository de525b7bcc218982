package nodeagent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/internal/node"
)

// The pauses between attempts to connect.
const (
	shortestPause = 200 * time.Millisecond
	longestPause  = 15 * time.Second
)

// A control is a control connection.
type control struct {
	// Static after construction.
	agent   *Agent
	ws      *websocket.Conn
	ctx     context.Context //nolint:containedctx // the connection's own life
	cancel  context.CancelCauseFunc
	ticket  string
	streams *streams
	slots   chan struct{} // one for each call without an answer
	start   time.Time
	heard   atomic.Int64 // when the hub was heard last, as time since start

	mu    sync.Mutex
	calls map[uint64]context.CancelFunc // guarded by mu
}

// A refusal says that the hub has refused the node.
type refusal struct{ node.Refused }

func (r *refusal) Error() string { return r.Reason }

// stayConnected connects to the hub, again and again, until the node ends.
func (a *Agent) stayConnected() {
	told := ""
	for pause := shortestPause; a.ctx.Err() == nil; {
		lasted, err := a.connect()
		if a.ctx.Err() != nil {
			return
		}
		if refused, ok := errors.AsType[*refusal](err); ok && refused.Code == node.RefusedRevoked {
			a.cancel(err)
			return
		}
		if lasted {
			pause = shortestPause
			told = ""
			a.log.Warn("the connection to the hub is lost; agents go on", "err", err)
		} else if text := err.Error(); text != told { // not each time
			told = text
			a.log.Warn("the hub cannot be reached; agents go on", "url", a.identity.URL, "err", err)
		}
		select {
		case <-time.After(pause/2 + rand.N(pause/2)): //nolint:gosec // not a secret
		case <-a.ctx.Done():
			return
		}
		pause = min(2*pause, longestPause)
	}
}

// connect connects to the hub and serves the connection until it has ended: everything
// that came on it was acted on when connect returns, so that the next connection is later
// than that. lasted says that the hub had let the node in.
func (a *Agent) connect() (lasted bool, err error) {
	ctx, cancel := context.WithCancelCause(a.ctx)
	defer cancel(nil)
	dialing, done := context.WithTimeout(ctx, node.HandshakeTime+2*node.PingEvery)
	defer done()
	ws, err := a.hub.Dial(dialing, node.ControlPath, node.Subprotocol, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = ws.CloseNow() }() // it has ended
	ws.SetReadLimit(node.MaxMessage)
	c := &control{
		agent: a, ws: ws, ctx: ctx, cancel: cancel, streams: newStreams(), slots: make(chan struct{}, node.MaxCalls),
		start: time.Now(), calls: map[uint64]context.CancelFunc{},
	}
	welcome, err := c.handshake(dialing)
	if err != nil {
		return false, err
	}
	c.ticket = welcome.Ticket
	a.runs.setLimit(lowest(a.options.MaxSessions, welcome.MaxSessions))
	c.hear()
	a.mu.Lock()
	a.control, a.connected = c, time.Now()
	a.mu.Unlock()
	a.log.Info("connected to the hub", "url", a.identity.URL, "node", a.identity.Name)
	if a.options.Connected != nil {
		a.options.Connected(*a.identity)
	}
	var work sync.WaitGroup
	work.Go(c.keepUp)
	err = c.read()
	cancel(err)
	a.mu.Lock()
	a.control = nil
	a.mu.Unlock()
	work.Wait()
	c.streams.closeAll()
	return true, context.Cause(ctx)
}

// lowest returns the lower of two limits of which zero is none.
func lowest(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// handshake proves which node this is. Before that it checks which hub it is: TLS has shown
// that it is the one that was dialed, and its id that it has this node's sessions.
func (c *control) handshake(ctx context.Context) (*node.Welcome, error) {
	a := c.agent
	m, err := c.receive(ctx)
	if err != nil {
		return nil, err
	}
	challenge, ok := m.(*node.Challenge)
	switch {
	case !ok:
		return nil, errors.New("the hub did not begin with a challenge; install the same version of switchboard on both")
	case challenge.Version != node.Version:
		return nil, fmt.Errorf("the hub speaks version %d of the protocol for nodes, and this node version %d; install the same version of switchboard on both", challenge.Version, node.Version)
	case challenge.Hub != a.identity.Hub:
		return nil, fmt.Errorf("the hub at %s is another one than the node has joined; if it was set up anew, remove %s and join again with a new invitation: switchboard node invite", a.identity.URL, a.options.DataDir)
	}
	hello := &node.Hello{Version: node.Version, Node: a.identity.ID, Facts: a.facts()}
	hello.Signature = node.Sign(a.identity.key, node.Proof{Nonce: challenge.Nonce, Hub: challenge.Hub, Host: node.Host(a.hub.Host()), Node: a.identity.ID})
	if err := c.send(ctx, hello); err != nil {
		return nil, err
	}
	if m, err = c.receive(ctx); err != nil {
		return nil, err
	}
	if welcome, ok := m.(*node.Welcome); ok {
		return welcome, nil
	}
	if refused, ok := m.(*node.Refused); ok {
		return nil, &refusal{*refused}
	}
	return nil, errors.New("the hub answered with something else than a welcome; install the same version of switchboard on both")
}

// hear notes that the hub was heard.
func (c *control) hear() { c.heard.Store(int64(time.Since(c.start))) }

// A listener notes that the hub was heard with every piece of a frame.
type listener struct {
	r io.Reader
	c *control
}

// Read implements [io.Reader].
func (l listener) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.c.hear()
	return n, err
}

// receive reads the next message.
func (c *control) receive(ctx context.Context) (node.Message, error) {
	kind, r, err := c.ws.Reader(ctx)
	if err != nil {
		return nil, err
	}
	if kind != websocket.MessageText {
		return nil, errors.New("a frame came that is no text")
	}
	text, err := io.ReadAll(io.LimitReader(listener{r, c}, node.MaxMessage+1))
	if err != nil {
		return nil, err
	}
	return node.Decode(text)
}

// send writes a message. One that cannot be written in time ends the connection.
func (c *control) send(ctx context.Context, m node.Message) error {
	text, err := node.Encode(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, node.DeadAfter)
	defer cancel()
	return c.ws.Write(ctx, websocket.MessageText, text)
}

// say writes a message; the goroutine that reads notices if it cannot be written.
func (c *control) say(m node.Message) { _ = c.send(c.ctx, m) }

// facts sends the facts.
func (c *control) facts() {
	f := c.agent.facts()
	c.say(&f)
}

// keepUp sends facts from time to time, and gives the connection up if nothing is heard.
func (c *control) keepUp() {
	tick := time.NewTicker(node.PingEvery)
	defer tick.Stop()
	told := time.Now()
	for {
		select {
		case <-tick.C:
		case <-c.agent.poke:
			told = time.Time{}
		case <-c.ctx.Done():
			return
		}
		if time.Since(c.start)-time.Duration(c.heard.Load()) >= node.DeadAfter {
			c.cancel(errors.New("the hub was not heard of for too long"))
			_ = c.ws.CloseNow() // nothing is waited for
			return
		}
		if time.Since(told) >= node.FactsEvery {
			told = time.Now()
			c.facts()
		}
	}
}

// read acts on messages until the connection ends.
func (c *control) read() error {
	for {
		m, err := c.receive(c.ctx)
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *node.Ping:
			c.say(&node.Pong{ID: m.ID, Time: time.Now()})
		case *node.Call:
			c.call(m)
		case *node.Cancel:
			c.mu.Lock()
			cancel := c.calls[m.ID]
			c.mu.Unlock()
			if cancel != nil {
				cancel()
			}
		case *node.Refused:
			return &refusal{*m}
		case *node.Challenge, *node.Hello, *node.Welcome, *node.Answer, *node.Facts, *node.Exited, *node.Pong, *node.Unknown:
			// Nothing else comes from a hub of a version that we know.
		}
	}
}

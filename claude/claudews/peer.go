package claudews

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/internal/broadcast"
	"github.com/switchboard-dev/switchboard/wire"
)

// gapWait is how long a line that must be on its way is waited for after a
// reconnect. A CLI that sends lines again begins at once.
const gapWait = 3 * time.Second

var errReplaced = errors.New("replaced by another connection of the same CLI")

// A Line is a line of a CLI, as [Peer.Receive] returns it.
type Line struct {
	// Bytes is the line without its line end. The slice is the receiver's.
	Bytes []byte
	// TooLong tells of a line that was over the limit and has been dropped, for
	// [Peer.Serve]; nil for all others.
	TooLong *wire.LineTooLongError
	// Header is what [wire.Peek] returned for the line; nil if that was an error, and
	// for a line that was dropped.
	Header *wire.Header
	// Repeat says that the line may have been received before this program was
	// started, which only the owner's own record can tell. It is set on what
	// comes first from a CLI that was connected before.
	Repeat bool

	receipt *receipt
}

// Ack says that the line is safe with its owner. The POST that brought it is
// answered when all its lines are acknowledged; for a line that came over the
// WebSocket it does nothing. Further calls do nothing.
func (l Line) Ack() { l.receipt.sign() }

// Awaited reports whether a POST waits for Ack.
func (l Line) Awaited() bool { return l.receipt != nil }

// A Peer is one CLI that dialled in. It outlives the loss of its connection: it
// is in [claude.StateReconnecting] then and goes on when the CLI is back, until
// [ServerOptions.ReconnectWait] has passed.
//
// All methods are safe for concurrent use, but only one goroutine may be in
// Read, Receive or Serve at a time.
type Peer struct {
	// Static after construction.
	server  *Server
	key     string
	limit   int
	inbox   *inbox
	outlet  *outlet
	ending  chan struct{} // closed when the end begins
	ended   chan struct{} // closed when everything is over
	entry   chan struct{} // holds an element while a connection is being let in
	onEvent func(*Peer, Event)
	log     *slog.Logger

	state   claude.StateVar
	history history
	taken   []item // owned by the goroutine in Read, Receive or Serve

	// Guarded by mu.
	mu        sync.Mutex
	link      *link               // nil while there is none
	news      broadcast.Broadcast // link has changed
	links     int                 // how many there have been
	lastErr   error               // how the last one ended
	posts     []*batch            // the last ones, oldest first
	posted    int                 // how many there have been
	announced bool                // Accept has it, or is going to
	closing   bool
	endStatus int         // what a POST is answered after the end
	patience  *time.Timer // runs while there is no connection
}

var _ claude.Transport = (*Peer)(nil)

func newPeer(s *Server, key string) *Peer {
	p := &Peer{
		server:  s,
		key:     key,
		limit:   s.opts.MaxLine,
		inbox:   newInbox(s.opts.MaxInbox),
		outlet:  newOutlet(),
		ending:  make(chan struct{}),
		ended:   make(chan struct{}),
		entry:   make(chan struct{}, 1),
		onEvent: s.opts.OnEvent,
		log:     s.opts.Logger.With("peer", key),
	}
	p.state.Set(claude.StateConnecting)
	return p
}

// Key returns the key that [ServerOptions.Authorize] gave the CLI.
func (p *Peer) Key() string { return p.key }

// Conn returns the number of the present WebSocket connection, from 1, or 0
// while there is none.
func (p *Peer) Conn() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link == nil {
		return 0
	}
	return p.link.number
}

// State implements [claude.Transport]. A peer starts in
// [claude.StateConnecting]; it stays there while its CLI has POSTed but not yet
// opened its WebSocket.
func (p *Peer) State() (state string, changed <-chan struct{}) { return p.state.Get() }

// Read implements [claude.Transport]. It acknowledges the line that it returns:
// for a CLI that POSTs its lines, the answer goes out then. See [Peer.Receive]
// for more time. Events that lie before the line are given to
// [ServerOptions.OnEvent] first, in the caller's goroutine.
//
// A CLI does not say whether it closes its connection to come back or to end.
// So after the last line there is either the error of an end that the owner
// asked for ([claude.ErrClosed], [ErrServerClosed]) or a [*GoneError].
func (p *Peer) Read(ctx context.Context) ([]byte, error) {
	line, err := p.Receive(ctx)
	if err != nil {
		return nil, err
	}
	line.Ack()
	return line.Bytes, nil
}

// Receive is Read for an owner that makes lines safe, in a journal for example,
// before they are acknowledged: it must call Ack on every line, and before it
// answers a request with Write. A CLI of version 2.1.120 sends a POST again that
// is not answered within 15 s; that does no harm, its lines are not returned
// twice.
func (p *Peer) Receive(ctx context.Context) (Line, error) {
	for {
		if len(p.taken) == 0 {
			items, err := p.inbox.get(ctx)
			if err != nil {
				return Line{}, err
			}
			p.taken = items
		}
		it := p.taken[0]
		p.taken[0] = item{} // nothing else holds on to it
		p.taken = p.taken[1:]
		switch {
		case it.event != nil:
			if p.onEvent != nil {
				p.onEvent(p, *it.event)
			}
		case it.err != nil:
			it.ack.sign()
			return Line{}, it.err
		default:
			return it.asLine(), nil
		}
	}
}

// Serve is Receive for an owner that has every line given to a function, in order,
// those that came together at once, until the function returns an error, ctx ends or
// the peer is over; Serve returns that error. The slice is the function's only during
// the call.
//
// The function must not wait: it is called by the goroutine that reads the connection, or
// the one that serves a POST, one at a time. An owner that has too many lines returns a
// channel, and is given more when that is closed; the lines wait in the inbox meanwhile, and
// the CLI is answered until that is full. Events are told as by Receive, by the same
// goroutines. When Serve returns, neither function is called any more.
func (p *Peer) Serve(ctx context.Context, take func([]Line) (full <-chan struct{}, err error)) error {
	before := p.taken // by Receive, which has not returned them yet
	p.taken = nil
	g := &giver{peer: p, take: take}
	return p.inbox.serve(ctx, before, g.give)
}

// A giver gives items to the function and the events of a peer. One goroutine uses it at
// a time.
type giver struct {
	// Static after construction.
	peer *Peer
	take func([]Line) (full <-chan struct{}, err error)

	lines []Line
}

// give is a sink.
func (g *giver) give(items []item) (full <-chan struct{}, err error) {
	for i := range items {
		it := &items[i]
		if it.event == nil {
			g.lines = append(g.lines, it.asLine())
			continue
		}
		if full, err = g.flush(full); err != nil {
			return nil, err
		}
		if g.peer.onEvent != nil {
			g.peer.onEvent(g.peer, *it.event)
		}
	}
	return g.flush(full)
}

// flush gives the lines.
func (g *giver) flush(before <-chan struct{}) (full <-chan struct{}, err error) {
	if len(g.lines) == 0 {
		return before, nil
	}
	full, err = g.take(g.lines)
	clear(g.lines) // nothing else holds on to them
	g.lines = g.lines[:0]
	return full, err
}

// Write implements [claude.Transport]. While there is no connection it waits
// for one, or for the end of ctx; a line that must not come late needs a context
// that ends in time, or [Peer.WriteOn].
//
// Nothing on this protocol acknowledges a line. That Write returns nil means
// that it was handed to the network, and if the connection is lost soon after,
// which an [EventDisconnected] and the state tell, it may never have arrived.
// [ErrLost] says that it was lost just then. An error that is the context's
// alone means that nothing was sent; together with [claude.ErrUnfinished] it
// means that the line is still on its way.
//
// The answer to a request that was POSTed is held back until its POST has been
// answered, and a moment more: 2.1.37 drops an answer that comes earlier, and
// then waits for it for ever. So a request must be acknowledged before it is
// answered (Read does that). It can still happen, because the two go on
// different connections: a 2.1.37 in hybrid mode that is silent after an answer
// should be asked with initialize whether it still waits.
func (p *Peer) Write(ctx context.Context, line []byte) error { return p.write(ctx, 0, line) }

// WriteOn is Write for a line that is only good for the connection with the
// number given, as an interrupt is: it returns [ErrReconnected], and sends
// nothing, if that is not the present one.
func (p *Peer) WriteOn(ctx context.Context, conn int, line []byte) error {
	if conn <= 0 {
		return ErrReconnected
	}
	return p.write(ctx, conn, line)
}

func (p *Peer) write(ctx context.Context, conn int, line []byte) error {
	frame, err := frameOf(line)
	if err != nil {
		return err
	}
	if err := p.awaitReply(ctx, line); err != nil {
		return err
	}
	for {
		l, err := p.await(ctx, conn)
		if err != nil {
			return err
		}
		if err := p.outlet.send(ctx, l, frame); !errors.Is(err, errNotSent) {
			return err
		}
	}
}

// await returns the connection, or waits for one; if conn is not 0 only that.
func (p *Peer) await(ctx context.Context, conn int) (*link, error) {
	for {
		p.mu.Lock()
		l, closing, news := p.link, p.closing, p.news.Changed()
		p.mu.Unlock()
		gone := l == nil || l.ctx.Err() != nil
		switch {
		case closing:
			return nil, claude.ErrClosed
		case conn != 0 && (gone || l.number != conn):
			return nil, ErrReconnected
		case !gone:
			return l, nil
		}
		select {
		case <-news:
		case <-p.ending:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// CloseInput implements [claude.Transport]; it returns an error that wraps
// [errors.ErrUnsupported]. A WebSocket has no end of input: a CLI of version
// 2.1.120 ends in good order on the control request end_session, and every one
// at once on Close.
func (p *Peer) CloseInput() error {
	return fmt.Errorf("ending the input of %q: a CLI that dialled in has none: %w", p.key, errors.ErrUnsupported)
}

// Close implements [claude.Transport]. It closes the connection with
// [CodeEnd], which makes the CLI end itself at once, and refuses it from then
// on. 2.1.37 obeys only the refusal, about 5 s later, and it is not recognised,
// and so not refused, if its credential is not its own (see [Grant]) and it
// cannot name a line that it wrote, as in hybrid mode: the program that started its
// process should end that, too. Lines that came before can still be read; after
// them Read returns [claude.ErrClosed].
func (p *Peer) Close() error {
	p.end(ending{err: claude.ErrClosed, code: CodeEnd, reason: "ended", status: http.StatusGone, refuse: true})
	return nil
}

// Reconnect closes the connection with [CodeRestart], so that the CLI comes
// back, to this same Peer. It does nothing if there is no connection.
func (p *Peer) Reconnect() {
	p.mu.Lock()
	l := p.link
	p.mu.Unlock()
	if l != nil {
		l.close(CodeRestart, "come back")
	}
}

// An ending says how a peer ends.
type ending struct {
	err    error // what Read returns after the last line
	code   int   // for the WebSocket
	reason string
	status int         // for POSTs that wait
	refuse bool        // the CLI must not come back
	unless func() bool // called with mu held; nil is never
}

// end is the one way in which a peer ends. It returns when all is over.
func (p *Peer) end(e ending) {
	p.mu.Lock()
	if p.closing {
		p.mu.Unlock()
		<-p.ended
		return
	}
	if e.unless != nil && e.unless() {
		p.mu.Unlock()
		return
	}
	p.closing = true
	p.endStatus = e.status
	p.patienceEnds()
	close(p.ending)
	l := p.link
	p.mu.Unlock()

	p.state.Set(claude.StateClosing)
	if l != nil {
		l.close(e.code, e.reason)
		<-l.done
	}
	p.outlet.drain()
	p.server.forget(p, e.refuse)
	p.inbox.finish(e.err)
	p.state.Set(claude.StateClosed)
	close(p.ended)
}

// attach makes l the peer's connection, in place of an older one. The caller
// holds p.entry. It reports whether l may be read; if not, the peer is ending.
func (p *Peer) attach(l func(number int) *link, wrote string, received []string) (*link, bool) {
	p.mu.Lock()
	old := p.link
	p.mu.Unlock()
	if old != nil {
		old.stop(errReplaced)
		<-old.done // nothing of the old one may come after the new one
	}
	p.mu.Lock()
	p.links++
	now := l(p.links)
	if p.closing {
		p.mu.Unlock()
		return now, false
	}
	first := p.links == 1
	now.readTo(p.limit, &peerTaker{peer: p, link: now})
	p.link = now
	p.patienceEnds()
	kind := EventReconnected
	if first {
		kind = EventConnected
	}
	p.inbox.tell(Event{Kind: kind, Conn: now.number})
	if p.history.begin(wrote, first && p.posted == 0, received) == unknown {
		p.inbox.tell(Event{Kind: EventUnknown, Conn: now.number, Wrote: wrote, Received: p.history.latest()})
	}
	p.state.Set(claude.StateConnected)
	p.news.Notify()
	p.mu.Unlock()
	p.announce()
	return now, true
}

// announce gives the peer to Accept, the first time it is called.
func (p *Peer) announce() {
	p.mu.Lock()
	first := !p.announced
	p.announced = true
	p.mu.Unlock()
	if first {
		p.server.announce(p)
	}
}

// run reads a connection until it ends.
func (p *Peer) run(l *link) {
	defer close(l.done)
	var watchers sync.WaitGroup
	watchers.Go(func() { l.keepAlive(p.server.opts.PingInterval, p.server.opts.PingTimeout) })
	watchers.Go(func() { p.watchGap(l) })
	err := l.read()
	l.stop(err)
	_ = l.ws.CloseNow()
	watchers.Wait()
	p.detach(l, err)
}

// detach notes the loss of a connection.
func (p *Peer) detach(l *link, err error) {
	p.mu.Lock()
	p.link = nil
	p.lastErr = err
	// Told before the lock is given up: the next connection comes after this.
	p.inbox.tell(Event{Kind: EventDisconnected, Conn: l.number, Err: err})
	if !p.closing {
		p.beginPatience()
		p.state.Set(claude.StateReconnecting)
	}
	p.mu.Unlock()
	p.log.Debug("connection ended", "conn", l.number, "error", err)
}

// A peerTaker hands the lines of a connection to the peer's reader, unless they are
// ones that were received before. Those that came together are handed on together.
type peerTaker struct {
	peer  *Peer
	link  *link
	items []item
	marks []mark
	bytes int
}

// maxTogether is how many bytes are handed on together, about: what is read at once,
// unless that ends a line that began long before.
const maxTogether = readBuffer

func (t *peerTaker) take(line []byte, tooLong *wire.LineTooLongError) error {
	var it item
	m, marked := mark{}, true
	if tooLong != nil {
		it.err = tooLong
		m.key = string(tooLong.Sum[:])
	} else {
		it.line = bytes.Clone(line)
		it.header = peek(it.line)
		m, marked = markOf(it.header)
	}
	if marked {
		dup, hole, repeat := t.peer.history.admit(m)
		if dup {
			return nil
		}
		if hole != "" {
			if err := t.flush(); err != nil { // the hole comes after these
				return err
			}
			t.peer.inbox.tell(Event{Kind: EventGap, Conn: t.link.number, Wrote: hole, Received: t.peer.history.latest()})
		}
		it.repeat = repeat
		t.marks = append(t.marks, m)
	}
	t.items = append(t.items, it)
	if t.bytes += it.size(); t.bytes >= maxTogether {
		return t.flush()
	}
	return nil
}

// peek returns the header of a line, nil if it is malformed.
func peek(line []byte) *wire.Header {
	h, err := wire.Peek(line)
	if err != nil {
		return nil
	}
	return &h
}

// flush hands on what was taken.
func (t *peerTaker) flush() error {
	if len(t.items) == 0 {
		return nil
	}
	err := t.link.wait(func() error {
		return t.peer.inbox.put(t.link.ctx, func() { t.peer.history.add(t.marks...) }, t.items...)
	})
	clear(t.items) // the inbox has its own copies
	t.items, t.marks, t.bytes = t.items[:0], t.marks[:0], 0
	return err
}

// watchGap reports a hole that no line has shown: the CLI wrote something that
// was lost, and is silent since.
func (p *Peer) watchGap(l *link) {
	timer := time.NewTimer(gapWait)
	defer timer.Stop()
	select {
	case <-l.ctx.Done():
		return
	case <-timer.C:
	}
	if hole := p.history.lost(); hole != "" {
		p.inbox.tell(Event{Kind: EventGap, Conn: l.number, Wrote: hole, Received: p.history.latest()})
	}
}

// beginPatience starts, or starts again, the time after which the CLI is given
// up. mu is held.
func (p *Peer) beginPatience() {
	wait := p.server.opts.ReconnectWait
	if p.patience != nil {
		p.patience.Reset(wait)
		return
	}
	gone := &GoneError{Key: p.key, Waited: wait, Err: p.lastErr}
	var timer *time.Timer
	timer = time.AfterFunc(wait, func() {
		p.end(ending{
			err: gone, code: CodeEnd, reason: "given up", status: http.StatusServiceUnavailable,
			unless: func() bool { return p.patience != timer }, // it has come back just now
		})
	})
	p.patience = timer
}

// patienceEnds stops it. mu is held.
func (p *Peer) patienceEnds() {
	if p.patience != nil {
		p.patience.Stop()
		p.patience = nil
	}
}

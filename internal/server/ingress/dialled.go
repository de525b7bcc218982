package ingress

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudews"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/killpoint"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/queue"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// The times between attempts to attach to a hub that cannot just now.
const (
	firstAttachWait = 50 * time.Millisecond
	lastAttachWait  = 2 * time.Second
)

// A dialled is a CLI that dialled in and is served.
type dialled struct {
	// Static after construction.
	server *Dial
	peer   *claudews.Peer
	caller *caller
	log    *slog.Logger
	in     *intake
	out    *courier
	doubt  *doubt

	// Owned by the calls and batches of in, one at a time, after the first attach.
	runLink runLink
	session string
	run     int
	conn    int  // the connection that the hub knows of, 0 for none
	posted  bool // the hub knows that it POSTs
}

// serve serves a CLI until it is over: all its connections.
func (d *Dial) serve(p *claudews.Peer) {
	c := d.served(p)
	if c == nil {
		_ = p.Close() // always nil
		return
	}
	defer d.gone(c)
	s := &dialled{server: d, peer: p, caller: c, log: d.log.With("cli", c.key), session: c.grant.Session, run: c.grant.Run}
	s.out = newCourier(p, func() { d.end(c) })
	s.doubt = newDoubt(d.opts.Insist, func() {
		s.tell(func(ctx context.Context, l runLink) error { return l.Recover(ctx) })
	})
	s.in = newIntake(d.ctx, s.deliver, s.failed, &d.dropped)
	s.out.doubt, s.out.owner = s.doubt, s
	if err := s.attach(d.ctx); err != nil {
		s.log.Info("a CLI was refused", "error", err)
		d.end(c)
		return
	}
	d.mu.Lock()
	c.serving, c.session, c.run = s, s.session, s.run
	d.mu.Unlock()
	cause := s.read(d.ctx)
	s.doubt.stop()
	s.out.stop()
	s.in.finish()
	s.runLink.Lost(cause)
	s.log.Debug("a CLI is over", "error", cause)
}

// attach makes the CLI the run's. It tries until the hub has an opinion.
func (s *dialled) attach(ctx context.Context) error {
	s.server.mu.Lock()
	runner := s.caller.runner
	s.server.mu.Unlock()
	hello := hub.DialHello{
		Session: s.session, Run: s.run, Name: s.caller.name, Reconnected: s.caller.again, Transport: "websocket", Runner: runner,
		Unauthenticated: s.caller.open,
	}
	if s.caller.posting.Load() {
		hello.Transport = "hybrid"
		s.posted = true
	}
	wait := firstAttachWait
	for {
		l, _, err := s.server.hub.AttachDialled(ctx, hello, s.out)
		if err == nil {
			// A new session has an id from now on.
			s.runLink, s.session, s.run = l, l.Session(), l.Run()
			return nil
		}
		if refusal(err) || ctx.Err() != nil {
			return err
		}
		s.log.Warn("a CLI could not be attached yet", "error", err)
		if err := pause(ctx, wait); err != nil {
			return err
		}
		wait = min(2*wait, lastAttachWait)
	}
}

// refusal reports whether the hub does not want a CLI, now or later.
func refusal(err error) bool {
	_, gone := errors.AsType[*hub.GoneError](err)
	_, owned := errors.AsType[*hub.OwnedError](err)
	problem, told := errors.AsType[*api.Error](err)
	return gone || owned || told && problem.Status == http.StatusNotFound ||
		errors.Is(err, hub.ErrCredential) || errors.Is(err, hub.ErrReplaced)
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// read takes what the CLI sends until it is over, and returns why it is.
func (s *dialled) read(ctx context.Context) error {
	err := s.peer.Serve(ctx, func(lines []claudews.Line) (full <-chan struct{}, err error) {
		for i := range lines {
			if err := s.line(&lines[i]); err != nil {
				return nil, err
			}
		}
		s.in.flush()
		return s.in.room(), nil
	})
	if _, ok := errors.AsType[*claudews.GoneError](err); ok {
		err = fmt.Errorf("%w: %w", hub.ErrGone, err)
	}
	if s.caller.died.Load() {
		err = fmt.Errorf("%w: its process has ended", hub.ErrGone)
	}
	if s.caller.evicted.Load() {
		err = fmt.Errorf("%w: another agent has taken its place, since only so many can dial in without a token", hub.ErrGone)
	}
	return err
}

// line adds a line to what the hub is given. A live line is left out where the hub is
// behind.
func (s *dialled) line(line *claudews.Line) error {
	var after func()
	if line.Awaited() {
		after = line.Ack
	}
	if line.TooLong != nil {
		return s.in.put(&hub.Item{Record: link.Record{Kind: link.TooLong, Bytes: link.NewOversize(line.TooLong).Encode()}}, after)
	}
	class := wire.Durable // what is malformed is kept
	if h := line.Header; h != nil {
		class = wire.ClassOf(*h)
		if len(h.UUID) > 0 && !s.caller.spoke.Load() {
			s.caller.spoke.Store(true)
		}
	}
	switch class {
	case wire.Consumed:
		line.Ack()
		return nil
	case wire.Live:
		if !s.in.offer(&hub.Item{Record: link.Record{Kind: link.Live, Bytes: line.Bytes}, Header: line.Header, Repeat: line.Repeat}, after) {
			line.Ack()
		}
		return nil
	case wire.Durable:
	}
	if s.caller.posting.Load() {
		l := fold.Line{Raw: line.Bytes}
		if line.Header != nil {
			l.Header = *line.Header
		}
		s.doubt.line(&l)
	}
	return s.in.put(&hub.Item{Record: link.Record{Kind: link.Line, Bytes: line.Bytes}, Header: line.Header, Repeat: line.Repeat}, after)
}

// deliver hands items to the hub, see [intake.deliver]. What may wait is done in a
// goroutine.
func (s *dialled) deliver(items []hub.Item, done func(error)) {
	ctx := s.server.ctx
	if s.caller.posting.Load() && !s.posted { // the hub is told first
		s.in.spawn(func() { done(s.receive(ctx, items)) })
		return
	}
	s.runLink.Deliver(items, func(err error) {
		if err == nil {
			killpoint.Reach("link.after-commit")
			done(nil)
			return
		}
		s.in.spawn(func() { done(s.deliverAgain(ctx, items, err)) })
	})
}

// deliverAgain hands items to the hub after an error. They say that they may be
// repetitions.
func (s *dialled) deliverAgain(ctx context.Context, items []hub.Item, err error) error {
	if err := s.call(ctx, func(context.Context, runLink) error { return err }); err != nil {
		return err
	}
	for i := range items {
		items[i].Repeat = true
	}
	return s.receive(ctx, items)
}

// receive is deliver for a goroutine that may wait. After an error items are handed
// over again, as by deliverAgain.
func (s *dialled) receive(ctx context.Context, items []hub.Item) error {
	for {
		done := false
		err := s.call(ctx, func(ctx context.Context, l runLink) error {
			if s.caller.posting.Load() && !s.posted {
				if err := l.Posting(ctx); err != nil {
					return err
				}
				s.posted = true
			}
			err := l.Receive(ctx, items)
			done = err == nil
			return err
		})
		if err != nil {
			return err
		}
		if done {
			killpoint.Reach("link.after-commit")
			return nil
		}
		for i := range items {
			items[i].Repeat = true
		}
	}
}

// tell has the hub told something at this place between the lines.
func (s *dialled) tell(f func(ctx context.Context, l runLink) error) {
	s.in.do(func(ctx context.Context) error { return s.call(ctx, f) })
}

// call calls the hub. If the hub has lost the link to the run but wants the CLI, it is
// attached anew, and the call has come to nothing: what became of a command is
// not known then, and it is sent again if it may be. An error means that the hub
// does not want the CLI, or that the server is closing.
func (s *dialled) call(ctx context.Context, f func(ctx context.Context, l runLink) error) error {
	for err := f(ctx, s.runLink); err != nil; err = s.runLink.Connected(ctx, true) {
		if refusal(err) || ctx.Err() != nil {
			return err
		}
		s.log.Warn("the hub has lost a CLI, attaching again", "error", err)
		s.runLink.Lost(err)
		if err := pause(ctx, firstAttachWait); err != nil {
			return err
		}
		if err := s.attach(ctx); err != nil {
			return err
		}
		if s.conn == 0 {
			return nil
		}
	}
	return nil
}

// failed ends a CLI that the hub does not want any more.
func (s *dialled) failed(err error) {
	if refusal(err) {
		s.log.Warn("a CLI is ended", "error", err)
		s.out.Stop(0, err.Error())
	}
}

// happened is told what happens to a CLI besides lines, at its place between
// them, by a goroutine that gives lines to read.
func (d *Dial) happened(p *claudews.Peer, e claudews.Event) {
	if s := d.servedBy(p); s != nil {
		s.happened(e)
	}
}

// servedBy returns the link that serves a CLI, nil if none does yet.
func (d *Dial) servedBy(p *claudews.Peer) *dialled {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.callers[p.Key()]
	if c == nil || c.peer != p {
		return nil
	}
	return c.serving
}

func (s *dialled) happened(e claudews.Event) {
	switch e.Kind {
	case claudews.EventConnected, claudews.EventReconnected:
		again := e.Kind == claudews.EventReconnected || s.caller.again
		s.tell(func(ctx context.Context, l runLink) error {
			s.conn = e.Conn
			s.out.connect(e.Conn)
			return l.Connected(ctx, again)
		})
	case claudews.EventDisconnected:
		s.tell(func(ctx context.Context, l runLink) error {
			s.conn = 0
			s.out.connect(0)
			return l.Disconnected(ctx, e.Err)
		})
		s.server.watch(s.caller, s.peer)
	case claudews.EventGap:
		s.gap(e, true, "lines that the CLI wrote did not arrive")
	case claudews.EventUnknown:
		s.gap(e, false, "the CLI wrote a line that is not known here, which may be all that is missing, or not")
	}
}

// gap tells the hub of a hole. It does not wait for room: there are few.
func (s *dialled) gap(e claudews.Event, certain bool, reason string) {
	if e.Err != nil {
		reason += ": " + e.Err.Error()
	}
	it := hub.Item{Gap: &api.Gap{Certain: certain, Wrote: e.Wrote, Received: e.Received, Reason: reason}}
	s.in.do(func(ctx context.Context) error { return s.receive(ctx, []hub.Item{it}) })
}

// A courier is the way from the hub to a CLI that dialled in. It only queues; the
// queue's worker writes the lines, and tells the hub what became of them.
type courier struct {
	// Static after construction.
	peer   *claudews.Peer
	end    func() // ends the CLI for good; it may wait
	queue  *queue.Queue[parcel]
	ctx    context.Context // ends with stop
	cancel context.CancelFunc

	// Static after serve has set them.
	doubt *doubt
	owner *dialled

	closing sync.WaitGroup // of connections
	ending  sync.Once

	mu      sync.Mutex
	conn    int  // what is queued now is for this connection, 0 for none; guarded by mu
	stopped bool // guarded by mu
}

// newCourier makes a courier. It starts nothing.
func newCourier(p *claudews.Peer, end func()) *courier {
	o := &courier{peer: p, end: end}
	o.ctx, o.cancel = context.WithCancel(context.Background())
	o.queue = queue.New(0, func(batch []parcel) {
		for i := range batch {
			o.deliver(o.ctx, &batch[i])
		}
	})
	return o
}

// A parcel is a command for one connection.
type parcel struct {
	command link.Order
	conn    int
}

var _ hub.LinkSender = (*courier)(nil)

// connect says which connection the hub sends for from now on.
func (o *courier) connect(conn int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.conn = conn
}

// Send implements the hub's contract.
func (o *courier) Send(commands []link.Order) {
	o.mu.Lock()
	defer o.mu.Unlock()
	parcels := make([]parcel, len(commands))
	for i, c := range commands {
		parcels[i] = parcel{c, o.conn}
	}
	o.queue.Add(parcels...) // false: nothing is written any more
}

// Stop implements the hub's contract: the connection is closed with the code
// that ends the CLI, and it is refused if it tries again. There is no grace.
func (o *courier) Stop(time.Duration, string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.stopped {
		o.ending.Do(func() { o.closing.Go(o.end) }) // the close handshake takes a moment; joined by stop
	}
}

// CloseInput implements the hub's contract. There is nothing to close: a
// WebSocket has no end of input that a CLI would understand.
func (o *courier) CloseInput() {}

// Ack implements the hub's contract. There are no numbers; POSTs are answered
// when the hub has taken their lines.
func (o *courier) Ack(int64) {}

// Close implements the hub's contract: another link has the run now, or
// the hub is closing. The CLI finds out when it comes back.
func (o *courier) Close(string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.stopped {
		o.closing.Go(o.peer.Reconnect) // the close handshake takes a moment; joined by stop
	}
}

// deliver writes a line and tells the hub. That it was written means that the
// network took it; nothing on this protocol says more.
func (o *courier) deliver(ctx context.Context, p *parcel) {
	killpoint.Reach("link.before-send")
	err := o.peer.WriteOn(ctx, p.conn, p.command.Line)
	number := p.command.Number
	switch {
	case err == nil:
		killpoint.Reach("link.after-send")
		if o.owner.caller.posting.Load() {
			o.doubt.line(fold.NewLine(p.command.Line, true))
		}
		o.owner.tell(func(ctx context.Context, l runLink) error {
			killpoint.Reach("link.after-written")
			return l.Written(ctx, number)
		})
	case errors.Is(err, claudews.ErrLost):
		o.owner.tell(func(ctx context.Context, l runLink) error { return l.Doubtful(ctx, number, err.Error()) })
	default:
		o.owner.tell(func(ctx context.Context, l runLink) error { return l.Failed(ctx, number, err.Error()) })
	}
}

// stop takes nothing more and waits for what is under way.
func (o *courier) stop() {
	o.mu.Lock()
	o.stopped = true
	o.mu.Unlock()
	o.queue.Stop()
	o.cancel()
	o.queue.Wait()
	o.closing.Wait()
}

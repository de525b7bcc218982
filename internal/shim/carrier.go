package shim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/internal/killpoint"
	"github.com/switchboard-dev/switchboard/internal/link"
)

const (
	// The wait between attempts to reach the hub: short at first, since a hub
	// that is restarted is back within a second.
	firstBackoff = 50 * time.Millisecond
	lastBackoff  = 5 * time.Second
	// handshakeTime bounds an attempt up to the hub's welcome.
	handshakeTime = 10 * time.Second
	// closeTime bounds what is still said when the link ends in good order.
	closeTime = 2 * time.Second
	// watchEvery is how often it is looked whether the hub still speaks.
	watchEvery = link.PingAfter / 4
)

// A conn is a connection to a hub. One goroutine reads, one writes.
type conn interface {
	// Read returns the next frame, which is valid until the next call.
	Read(ctx context.Context) (text bool, frame []byte, err error)
	// Write sends a frame.
	Write(ctx context.Context, text bool, frame []byte) error
	// Close ends the connection, with a good-bye if there was no error.
	Close(err error)
}

// A dialFunc reaches the hub.
type dialFunc func(ctx context.Context) (conn, error)

var (
	errOwned = errors.New("another instance has the run")
	errGone  = errors.New("the hub knows the run no more")
)

// A registerFunc has a hub make a run, and returns its session and number and how
// it is reached. [ErrRefused] means that no hub will.
type registerFunc func(ctx context.Context) (session string, run int, dial dialFunc, err error)

// A carrier is the part of a shim that keeps the link: the lines for the hub,
// the hub's commands, and a connection as often as there is a hub.
type carrier struct {
	// Static after construction.
	log *slog.Logger
	// onStop is called when the hub wants the CLI ended.
	onStop func(*link.Stop)
	// busy is called when the hub has said something; nil if no code wants to know.
	busy func(lines bool)
	// register is how a run comes to be that the hub has not made before; nil if the
	// run is there.
	register registerFunc

	// Owned by run.
	hello    link.Hello // what does not change of it
	dial     dialFunc   // nil if there is no run yet
	welcomed bool       // a hub has had the run

	wake    chan struct{} // there may be something to send
	room    chan struct{} // there may be room in the buffer
	work    chan struct{} // there may be a command to carry out
	quiet   chan struct{} // there may be no command left
	changed chan struct{} // the hub came or went, or the buffer is drained
	gone    chan struct{} // closed when the hub has said that the run is gone
	nudge   chan struct{} // a hub is to be looked for at once

	mu sync.Mutex
	// Guarded by mu.
	out        *link.Outgoing
	commands   link.Commands
	texts      []link.Message // to be sent before further lines; bounded by what the hub sends
	connected  bool
	trying     bool      // it is being found out whether there is a hub
	lost       time.Time // when the hub was last heard of, if not connected
	goneReason string
}

func newCarrier(hello link.Hello, out *link.Outgoing, dial dialFunc, log *slog.Logger) *carrier {
	return &carrier{
		hello: hello, dial: dial, log: log, out: out, lost: time.Now(), trying: true,
		wake: newFlag(), room: newFlag(), work: newFlag(), quiet: newFlag(), changed: newFlag(), nudge: newFlag(),
		gone: make(chan struct{}),
	}
}

// A flag is a channel that holds at most one element: something may have
// happened since it was last taken.
func newFlag() chan struct{} { return make(chan struct{}, 1) }

func raise(flag chan<- struct{}) {
	select {
	case flag <- struct{}{}:
	default:
	}
}

// update is the one way in which the guarded state changes. It tells everyone
// that may wait for what has become true.
func (c *carrier) update(change func()) {
	c.mu.Lock()
	change()
	pending := c.connected && (len(c.texts) > 0 || c.out.Pending())
	room, work, quiet, drained := !c.out.Full(), c.commands.Waiting() > 0, c.commands.Idle(), c.out.Drained()
	c.mu.Unlock()
	if pending {
		raise(c.wake)
	}
	if room {
		raise(c.room)
	}
	if work {
		raise(c.work)
	}
	if quiet {
		raise(c.quiet)
	}
	if drained {
		raise(c.changed)
	}
}

// event appends an event of the shim.
func (c *carrier) event(e *link.Event) {
	c.update(func() { c.out.Add(link.Happened, e.Encode()) })
}

// say queues a message. It must be called within update.
func (c *carrier) say(m link.Message) {
	if m != nil && c.connected {
		c.texts = append(c.texts, m)
	}
}

// begin waits for an order of the hub's.
func (c *carrier) begin(ctx context.Context) (link.Order, bool) {
	for {
		var order link.Order
		var ok bool
		c.update(func() { order, ok = c.commands.Begin() })
		if ok {
			return order, true
		}
		select {
		case <-c.work:
		case <-ctx.Done():
			return link.Order{}, false
		}
	}
}

// done reports what has become of the order that was begun.
func (c *carrier) done(reason string) {
	c.update(func() { c.say(c.commands.Done(reason)) })
}

// awaitQuiet waits until nothing is left of the hub's orders, or ctx ends.
func (c *carrier) awaitQuiet(ctx context.Context) {
	for {
		c.mu.Lock()
		idle := c.commands.Idle()
		c.mu.Unlock()
		if idle {
			return
		}
		select {
		case <-c.quiet:
		case <-ctx.Done():
			return
		}
	}
}

// state returns since when there is no hub, and whether there is one.
func (c *carrier) state() (connected bool, lost time.Time, drained bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.connected, c.lost, c.out.Drained()
}

// settled reports whether it is of no use to wait for a hub: there is none, or it
// has everything.
func (c *carrier) settled() bool {
	select {
	case <-c.gone:
		return true
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.connected && !c.trying || c.out.Drained()
}

// oldest returns the lowest number that no hub has.
func (c *carrier) oldest() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Oldest()
}

// hurry has a hub looked for at once, if there was none.
func (c *carrier) hurry() {
	c.mu.Lock()
	c.trying = true // it will be
	c.mu.Unlock()
	raise(c.nudge)
}

// try notes whether it is being found out whether there is a hub.
func (c *carrier) try(now bool) {
	c.mu.Lock()
	c.trying = now
	c.mu.Unlock()
	raise(c.changed)
}

// run keeps the link until ctx ends or the hub says that the run is gone.
func (c *carrier) run(ctx context.Context) {
	backoff := time.Duration(0)
	for failures := 0; ctx.Err() == nil; {
		began := time.Now()
		c.try(true)
		welcomed, err := c.connect(ctx)
		c.try(false)
		c.welcomed = c.welcomed || welcomed
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrRefused):
			c.log.Warn("there will be no hub", "error", err)
			c.goneReason = err.Error()
			close(c.gone)
			return
		case errors.Is(err, errGone) && c.register != nil && !c.welcomed:
			// It was restarted before it had more than the run's name.
			c.dial = nil
		case errors.Is(err, errGone):
			c.log.Warn("the hub says that the run is gone", "reason", c.goneReason)
			close(c.gone)
			return
		case welcomed && !errors.Is(err, errOwned):
			failures = 0
			if time.Since(began) >= backoff {
				backoff = 0 // unlike that of links that end as soon as they are up
			}
			c.log.Info("the link is lost", "error", err)
		default:
			// Once per outage and then now and then: the log has an end.
			if failures++; failures&(failures-1) == 0 {
				c.log.Info("the hub was not reached", "attempts", failures, "error", err)
			}
		}
		backoff = min(max(firstBackoff, backoff*2), lastBackoff)
		timer := time.NewTimer(backoff/2 + rand.N(backoff/2+1)) //nolint:gosec // it only spreads attempts
		select {
		case <-timer.C:
		case <-c.nudge:
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// connect makes one connection and serves it to its end. It reports whether
// the hub had welcomed the shim.
func (c *carrier) connect(ctx context.Context) (welcomed bool, err error) {
	shake, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	if c.dial == nil {
		if c.hello.Session, c.hello.Run, c.dial, err = c.register(shake); err != nil {
			c.dial = nil
			return false, err
		}
		c.log.Info("the run is registered", "session", c.hello.Session, "run", c.hello.Run)
	}
	conn, err := c.dial(shake)
	if err != nil {
		return false, err
	}
	defer func() {
		if ctx.Err() != nil {
			conn.Close(nil) // the shim ends
			return
		}
		conn.Close(err)
	}()
	version, err := c.shakeHands(shake, conn)
	cancel() // its timer would wake a shim that waits
	if err != nil {
		return false, err
	}
	c.log.Info("the link is up", "version", version)
	defer func() {
		c.update(func() {
			c.connected, c.lost, c.texts = false, time.Now(), nil
			c.out.Disconnect()
			c.commands.Cut()
		})
		raise(c.changed)
	}()
	return true, c.serve(ctx, conn, version)
}

// shakeHands introduces the shim and waits for the hub's answer.
func (c *carrier) shakeHands(ctx context.Context, conn conn) (version int, err error) {
	hello := c.hello
	hello.Version = link.Version
	c.update(func() {
		hello.Next, hello.Oldest = c.out.Next(), c.out.Oldest()
		c.commands.Fill(&hello)
	})
	if err := conn.Write(ctx, true, link.AppendMessage(nil, &hello, link.Version)); err != nil {
		return 0, fmt.Errorf("saying hello: %w", err)
	}
	for {
		text, frame, err := conn.Read(ctx)
		if err != nil {
			return 0, fmt.Errorf("waiting for the hub's welcome: %w", err)
		}
		if !text {
			return 0, fmt.Errorf("%w: lines before the welcome", link.ErrMalformed)
		}
		m, err := link.ParseMessage(frame)
		if err != nil {
			return 0, err
		}
		switch m := m.(type) {
		case *link.Welcome:
			if version, err = link.Negotiate(m.Version); err != nil {
				return 0, err
			}
			c.update(func() {
				if err = c.out.Connect(m.Have); err == nil {
					c.connected = true
					c.catchUp(&hello)
				}
			})
			raise(c.changed)
			return version, err
		case *link.Gone:
			return 0, c.isGone(m)
		case *link.OwnedBy:
			return 0, fmt.Errorf("%w: %s", errOwned, m.Instance)
		default: // not for this moment, or of tomorrow
		}
	}
}

// catchUp says what has become of commands since the hello was made. It must be
// called within update.
func (c *carrier) catchUp(hello *link.Hello) {
	var now link.Hello
	c.commands.Fill(&now)
	for _, f := range now.Failed {
		if !slices.Contains(hello.Failed, f) {
			c.say(&f)
		}
	}
	if now.Written > hello.Written {
		c.say(&link.Written{UpTo: now.Written})
	}
}

func (c *carrier) isGone(m *link.Gone) error {
	c.goneReason = m.Reason // read after gone is closed
	return fmt.Errorf("%w: %s", errGone, m.Reason)
}

// serve carries lines until the connection ends. It has two goroutines more
// than its own, which it joins: one that writes and one that watches the clock.
func (c *carrier) serve(parent context.Context, conn conn, version int) error {
	ctx, cancel := context.WithCancelCause(parent)
	var heard clock
	heard.set(time.Now())
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel(nil)
	workers.Go(func() { cancel(c.send(ctx, conn, version)) })
	workers.Go(func() { cancel(c.watch(ctx, &heard)) })
	var lines link.Decoder
	for {
		text, frame, err := conn.Read(ctx)
		if err == nil {
			heard.set(time.Now())
			if c.busy != nil {
				c.busy(false)
			}
			if text {
				err = c.handle(frame)
			} else {
				err = c.receive(&lines, frame)
			}
		}
		if err != nil {
			if cause := context.Cause(ctx); cause != nil && parent.Err() == nil {
				return cause // why reading was given up
			}
			return err
		}
	}
}

// send writes what there is to be sent, until ctx ends.
func (c *carrier) send(ctx context.Context, conn conn, version int) error {
	var frame []byte
	var texts []link.Message
	for {
		more := false
		c.update(func() {
			texts = append(texts[:0], c.texts...)
			clear(c.texts)
			c.texts = c.texts[:0]
			frame = c.out.AppendFrame(frame[:0])
			more = c.out.Pending()
		})
		// What was written is told first: a line that answers a command should
		// not overtake the news that the command was written.
		for _, m := range texts {
			if err := conn.Write(ctx, true, link.AppendMessage(nil, m, version)); err != nil {
				return fmt.Errorf("writing to the hub: %w", err)
			}
		}
		if len(frame) > 0 {
			if err := conn.Write(ctx, false, frame); err != nil {
				return fmt.Errorf("writing to the hub: %w", err)
			}
		}
		if cap(frame) > 4*link.Batch {
			frame = nil // of a long line
		}
		if more {
			continue
		}
		select {
		case <-c.wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// watch asks a silent hub for a sign of life and gives it up when there is none.
func (c *carrier) watch(ctx context.Context, heard *clock) error {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	asked := time.Time{}
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		last := heard.get()
		switch silent := time.Since(last); {
		case silent >= link.DeadAfter:
			return fmt.Errorf("nothing was heard from the hub for %s", silent.Round(time.Second))
		case silent >= link.PingAfter && asked.Before(last):
			asked = time.Now()
			c.update(func() { c.say(&link.Ping{}) })
		}
	}
}

// handle obeys a message of the hub's.
func (c *carrier) handle(frame []byte) error {
	m, err := link.ParseMessage(frame)
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case *link.Ack:
		c.update(func() { err = c.out.Ack(m.Have) })
		return err
	case *link.Ping:
		c.update(func() { c.say(&link.Pong{}) })
	case *link.Stop:
		c.onStop(m)
	case *link.CloseInput:
		c.update(func() { c.commands.CloseInput() })
	case *link.Gone:
		return c.isGone(m)
	case *link.OwnedBy:
		return fmt.Errorf("%w: %s", errOwned, m.Instance)
	default: // an answer to a ping, or of tomorrow
	}
	return nil
}

// receive takes commands out of a frame.
func (c *carrier) receive(lines *link.Decoder, frame []byte) error {
	lines.Push(frame)
	for {
		r, ok, err := lines.Next()
		if err != nil || !ok {
			return err
		}
		if r.Kind != link.Outbox {
			continue // of tomorrow
		}
		killpoint.Reach("shim.after-receive")
		line := append([]byte(nil), r.Bytes...)
		c.update(func() { c.say(c.commands.Accept(link.Order{Number: r.Number, Line: line})) })
	}
}

// A clock is a point in time that several goroutines look at.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = t
}

func (c *clock) get() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

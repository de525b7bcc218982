package ingress

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/queue"
	"github.com/switchboard-dev/switchboard/wire"
)

// ForeignOptions are the options of [AttachForeign].
type ForeignOptions struct {
	// Relay shows the agent. Session and Run are those of [hub.Hub.RelayGrant] or
	// [hub.Hub.RelayRuns]; without a session a new one is made.
	Relay   hub.Relay
	Session string
	Run     int
	// Back says that the hub has been connected to the agent before.
	Back bool
	// Write writes a line to the relay. It is called by one goroutine at a time, and
	// returns soon after ctx has ended. It is required.
	Write func(ctx context.Context, line []byte) error
	// Refused is called once if the hub does not want the agent any more. It must not
	// block. It may be nil.
	Refused func(err error)
	// Dropped counts live lines that were left out. It is required.
	Dropped *atomic.Int64
	// Logger takes what goes wrong. If nil, nothing is logged.
	Logger *slog.Logger
}

// A Foreign is one agent that a relay of another program shows, on one connection to
// that relay. Its lines take the way of those of a CLI that dialed in. Only the goroutine
// that reads the connection calls its methods.
type Foreign struct {
	// Static after construction.
	hub  theHub
	opts ForeignOptions
	log  *slog.Logger
	ctx  context.Context // ends with the connection to the hub
	in   *intake
	out  *foreignSender

	// Owned by the calls and batches of in, one at a time, after AttachForeign.
	runLink runLink
	session string
	run     int
}

// AttachForeign connects an agent to its run, or makes the run, or the session. It waits
// for the hub. The error is an *[hub.OwnedError], a *[hub.GoneError] or ctx's. ctx must
// live as long as the connection: its end gives up what waits. Close must be called.
func AttachForeign(ctx context.Context, h *hub.Hub, o ForeignOptions) (*Foreign, error) {
	return attachForeign(ctx, realHub{h}, o)
}

func attachForeign(ctx context.Context, h theHub, o ForeignOptions) (*Foreign, error) {
	f := &Foreign{hub: h, opts: o, log: discard(o.Logger), ctx: ctx, session: o.Session, run: o.Run}
	f.in = newIntake(ctx, f.deliver, f.failed, o.Dropped)
	f.out = newForeignSender(f)
	if err := f.attach(ctx); err != nil {
		f.out.stop()
		return nil, err
	}
	f.tell(func(ctx context.Context, l runLink) error { return l.Connected(ctx, o.Back) })
	return f, nil
}

// Session returns the id of the hub's session.
func (f *Foreign) Session() string { return f.session }

// attach makes the agent the run's. It tries until the hub has an opinion.
func (f *Foreign) attach(ctx context.Context) error {
	wait := firstAttachWait
	for {
		l, _, err := f.hub.AttachDialled(ctx, hub.DialHello{Session: f.session, Run: f.run, Relay: &f.opts.Relay}, f.out)
		if err == nil {
			if f.runLink = l; f.session == "" { // a new session has an id from now on
				f.session, f.run = l.Session(), l.Run()
			}
			return nil
		}
		if refusal(err) || ctx.Err() != nil {
			return err
		}
		f.log.Warn("an agent of a relay could not be attached yet", "error", err)
		if err := pause(ctx, wait); err != nil {
			return err
		}
		wait = min(2*wait, lastAttachWait)
	}
}

// Line gives the hub a line that the agent wrote; header is nil if it is not JSON. The hub
// keeps the slice. A live line is left out where the hub is behind.
func (f *Foreign) Line(line []byte, header *wire.Header) {
	// The CLI may repeat what the hub has of an earlier connection.
	item := hub.Item{Record: link.Record{Kind: link.Line, Bytes: line}, Header: header, Repeat: f.opts.Back}
	if header != nil {
		switch wire.ClassOf(*header) {
		case wire.Consumed:
			return
		case wire.Live:
			item.Kind = link.Live
			f.in.offer(&item, nil) // a hole is told with the next one
			return
		case wire.Durable:
		}
	}
	f.put(item)
}

// Program gives the hub a line that another front end of the relay wrote to the agent. The
// hub keeps the slice.
func (f *Foreign) Program(line []byte) {
	f.put(hub.Item{Record: link.Record{Kind: link.Program, Bytes: line}})
}

// TooLong tells the hub of a line that was too long to be carried.
func (f *Foreign) TooLong(err *wire.LineTooLongError) {
	f.put(hub.Item{Record: link.Record{Kind: link.TooLong, Bytes: link.NewOversize(err).Encode()}})
}

// Notice has an entry made that says something about the lines around it.
func (f *Foreign) Notice(n api.Notice) {
	f.tell(func(ctx context.Context, l runLink) error { return l.Notice(ctx, n) })
}

// Gap tells the hub that lines may be missing.
func (f *Foreign) Gap(reason string) { f.put(hub.Item{Gap: &api.Gap{Reason: reason}}) }

func (f *Foreign) put(item hub.Item) {
	_ = f.in.put(&item, nil) // an error means that the hub does not want the agent, of which Refused tells
}

// Flush gives the hub what was added. The channel is nil if there is room for more; else
// it is closed when there is, or when the hub does not want the agent any more.
func (f *Foreign) Flush() <-chan struct{} {
	f.in.flush()
	return f.in.room()
}

// End ends the run: the relay has told that the agent is gone. Close must follow.
func (f *Foreign) End(reason string) {
	f.tell(func(ctx context.Context, l runLink) error { return l.Ended(ctx, reason) })
}

// Close waits until the hub has taken what was added, and tells it that the agent cannot
// be reached, and why.
func (f *Foreign) Close(cause error) {
	f.out.stop()
	f.in.finish()
	f.runLink.Lost(cause)
}

// deliver implements the contract of the intake.
func (f *Foreign) deliver(items []hub.Item, done func(error)) {
	f.runLink.Deliver(items, func(err error) {
		if err == nil {
			done(nil)
			return
		}
		f.in.spawn(func() { done(f.deliverAgain(items, err)) })
	})
}

// deliverAgain hands items to the hub after an error. They say that they may be
// repetitions.
func (f *Foreign) deliverAgain(items []hub.Item, err error) error {
	for err != nil {
		if err := f.call(f.ctx, func(context.Context, runLink) error { return err }); err != nil {
			return err
		}
		for i := range items {
			items[i].Repeat = true
		}
		err = f.runLink.Receive(f.ctx, items)
	}
	return nil
}

// tell has the hub told something at this place between the lines.
func (f *Foreign) tell(what func(ctx context.Context, l runLink) error) {
	f.in.do(func(ctx context.Context) error { return f.call(ctx, what) })
}

// call calls the hub. If the hub has lost the link to the run but wants the agent, it is
// attached anew.
func (f *Foreign) call(ctx context.Context, what func(ctx context.Context, l runLink) error) error {
	for err := what(ctx, f.runLink); err != nil; err = f.runLink.Connected(ctx, true) {
		if refusal(err) || ctx.Err() != nil {
			return err
		}
		f.log.Warn("the hub has lost an agent of a relay, attaching again", "error", err)
		f.runLink.Lost(err)
		if err := pause(ctx, firstAttachWait); err != nil {
			return err
		}
		if err := f.attach(ctx); err != nil {
			return err
		}
	}
	return nil
}

// failed is told the first error after which the hub takes nothing more.
func (f *Foreign) failed(err error) {
	if f.ctx.Err() == nil && f.opts.Refused != nil {
		f.opts.Refused(err)
	}
}

// A foreignSender is the way from the hub to an agent that a relay shows. It only queues;
// the queue's worker writes the lines, and tells the hub what became of them.
type foreignSender struct {
	// Static after construction.
	owner  *Foreign
	queue  *queue.Queue[link.Order]
	ctx    context.Context // ends with stop
	cancel context.CancelFunc

	stopping sync.Once
}

var _ hub.LinkSender = (*foreignSender)(nil)

func newForeignSender(f *Foreign) *foreignSender {
	o := &foreignSender{owner: f}
	o.ctx, o.cancel = context.WithCancel(f.ctx)
	o.queue = queue.New(0, func(batch []link.Order) {
		for i := range batch {
			o.write(&batch[i])
		}
	})
	return o
}

// Send implements the hub's contract.
func (o *foreignSender) Send(commands []link.Order) { o.queue.Add(commands...) } // false: nothing is written any more

// Stop implements the hub's contract: the agent is not the hub's to end.
func (o *foreignSender) Stop(time.Duration, string) {}

// CloseInput implements the hub's contract, see Stop.
func (o *foreignSender) CloseInput() {}

// Ack implements the hub's contract. A relay waits for nothing.
func (o *foreignSender) Ack(int64) {}

// Close implements the hub's contract. The next call of the link says why.
func (o *foreignSender) Close(string) {}

// errNotWritten says that a line was surely not written.
var errNotWritten = errors.New("the connection to the relay has ended")

// write writes a line and tells the hub. That it was written means that the network took
// it: no relay says more.
func (o *foreignSender) write(c *link.Order) {
	number := c.Number
	if o.ctx.Err() != nil {
		o.owner.tell(func(ctx context.Context, l runLink) error { return l.Failed(ctx, number, errNotWritten.Error()) })
		return
	}
	err := o.owner.opts.Write(o.ctx, c.Line)
	o.owner.tell(func(ctx context.Context, l runLink) error {
		if err != nil {
			return l.Doubtful(ctx, number, err.Error())
		}
		return l.Written(ctx, number)
	})
}

// stop takes nothing more and waits for the line that is being written.
func (o *foreignSender) stop() {
	o.stopping.Do(func() {
		o.queue.Stop()
		o.cancel()
		o.queue.Wait()
	})
}

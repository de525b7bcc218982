package ingress

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/killpoint"
)

// The most that waits for the hub on one connection, beside what the hub is
// working on. A line that is larger than all of it waits alone.
const (
	intakeBytes = 1 << 20
	intakeItems = 1024
)

// A step is one thing that the hub is to be told.
type step struct {
	item hub.Item
	// do, if not nil, is called instead of handing over the item.
	do func(ctx context.Context) error
	// after, if not nil, is called when the item is safe.
	after func()
}

// An intake is the queue from a connection to the hub. One goroutine adds lines
// (put, offer), any may have a call made between them (do), and a worker goroutine,
// which exists only while the queue is not empty, hands all that waits to the hub
// at once, in order.
type intake struct {
	// Static after construction.
	ctx     context.Context
	receive func(ctx context.Context, items []hub.Item) error
	fail    func(err error) // called by the worker, once; nothing is done afterwards
	dropped *atomic.Int64   // counts live lines that were left out

	worker sync.WaitGroup

	// Guarded by mu.
	mu      sync.Mutex
	steps   []step
	bytes   int // of the items in steps
	items   int
	working bool
	stopped bool
	hole    bool          // live lines were left out since the last one
	room    chan struct{} // closed when there is room; nil while nobody waits
}

func newIntake(ctx context.Context, receive func(context.Context, []hub.Item) error, fail func(error), dropped *atomic.Int64) *intake {
	return &intake{ctx: ctx, receive: receive, fail: fail, dropped: dropped}
}

// put adds a durable item, when there is room for it. It returns an error if
// there will be none: the connection is ending.
func (in *intake) put(ctx context.Context, it hub.Item, after func()) error {
	for {
		in.mu.Lock()
		if in.stopped {
			in.mu.Unlock()
			return errStopped
		}
		if in.roomFor(len(it.Bytes)) {
			in.add(step{item: it, after: after})
			in.mu.Unlock()
			return nil
		}
		if in.room == nil {
			in.room = make(chan struct{})
		}
		room := in.room
		in.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// roomFor reports whether there is room for an item of so many bytes. mu is held.
func (in *intake) roomFor(size int) bool {
	return in.items == 0 || in.items < intakeItems && in.bytes+size <= intakeBytes
}

// offer adds a live item if there is plenty of room, else it is left out: half
// of the room is for lines that are kept. It never waits. It reports whether the
// item was taken.
func (in *intake) offer(it hub.Item, after func()) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.stopped {
		return false
	}
	if in.items > 0 && (in.items >= intakeItems/2 || in.bytes+len(it.Bytes) > intakeBytes/2) {
		in.hole = true
		in.dropped.Add(1)
		return false
	}
	it.Hole = it.Hole || in.hole
	in.hole = false
	in.add(step{item: it, after: after})
	return true
}

// do has something done at this place between the items. It never waits, and
// does nothing when the connection is ending.
func (in *intake) do(f func(ctx context.Context) error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.stopped {
		in.add(step{do: f})
	}
}

// add appends a step and starts the worker if there is none. mu is held.
func (in *intake) add(s step) {
	in.steps = append(in.steps, s)
	if s.do == nil {
		in.bytes += len(s.item.Bytes)
		in.items++
	}
	if !in.working {
		in.working = true
		in.worker.Go(in.work) // joined by stop
	}
}

// take returns all that waits. With nothing left the worker is over.
func (in *intake) take() []step {
	in.mu.Lock()
	defer in.mu.Unlock()
	steps := in.steps
	in.steps, in.bytes, in.items = nil, 0, 0
	if in.room != nil {
		close(in.room)
		in.room = nil
	}
	in.working = len(steps) > 0
	return steps
}

// work tells the hub what has come until there is nothing more.
func (in *intake) work() {
	var items []hub.Item
	for {
		steps := in.take()
		if len(steps) == 0 {
			return
		}
		if cap(items) < len(steps) {
			items = make([]hub.Item, 0, len(steps))
		}
		if err := in.tell(steps, items[:0]); err != nil {
			in.mu.Lock()
			in.stopped, in.steps, in.working = true, nil, false
			if in.room != nil {
				close(in.room)
				in.room = nil
			}
			in.mu.Unlock()
			in.fail(err)
			return
		}
	}
}

// tell hands over steps, items that follow each other in one call.
func (in *intake) tell(steps []step, items []hub.Item) error {
	for len(steps) > 0 {
		if do := steps[0].do; do != nil {
			if err := do(in.ctx); err != nil {
				return err
			}
			steps = steps[1:]
			continue
		}
		n := 0
		items = items[:0]
		for n < len(steps) && steps[n].do == nil {
			items = append(items, steps[n].item)
			n++
		}
		killpoint.Reach("link.after-receive")
		if err := in.receive(in.ctx, items); err != nil {
			return err
		}
		for i := range steps[:n] {
			if after := steps[i].after; after != nil {
				after()
			}
		}
		clear(items) // the bytes are the hub's now, nothing else holds them
		steps = steps[n:]
	}
	return nil
}

// finish lets nothing more in and waits until all that is in has been told.
func (in *intake) finish() {
	in.mu.Lock()
	in.stopped = true
	in.mu.Unlock()
	in.worker.Wait()
}

// stop lets nothing more in, forgets what waits, and waits for what the hub is
// being told just now.
func (in *intake) stop() {
	in.mu.Lock()
	in.stopped = true
	in.steps = nil
	in.mu.Unlock()
	in.worker.Wait()
}

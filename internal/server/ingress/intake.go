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

// An intake is the way from a connection to the hub. One goroutine puts lines
// in, any may ask for something to be done in between, and a worker that exists
// only while there is work tells the hub, in order. Who gives many lines at once
// is that worker itself, if there is none.
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
	if !in.offerLocked(it, after) {
		return false
	}
	in.start()
	return true
}

// offerLocked is offer for those who hold mu, and see to it that somebody works.
func (in *intake) offerLocked(it hub.Item, after func()) bool {
	if in.stopped {
		return false
	}
	if !in.plenty(len(it.Bytes)) {
		in.hole = true
		in.dropped.Add(1)
		return false
	}
	it.Hole = it.Hole || in.hole
	in.hole = false
	in.append(step{item: it, after: after})
	return true
}

// plenty reports whether there is room for a live item of so many bytes. mu is held.
func (in *intake) plenty(size int) bool {
	return in.items == 0 || in.items < intakeItems/2 && in.bytes+size <= intakeBytes/2
}

// give adds items, live ones as offer does and others as put does, and returns when
// somebody works on them. If nobody does that is the caller: it costs less than to
// wake somebody, and what comes meanwhile waits where it is. The items are not kept.
func (in *intake) give(ctx context.Context, steps []step) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	for i := range steps {
		s := &steps[i]
		if s.item.Kind == hub.ItemLive {
			if !in.working && !in.plenty(len(s.item.Bytes)) {
				in.workHere() // nobody is behind, there is just much
			}
			if !in.offerLocked(s.item, s.after) && s.after != nil {
				s.after()
			}
			continue
		}
		for !in.stopped && !in.roomFor(len(s.item.Bytes)) {
			if err := in.makeRoom(ctx); err != nil {
				return err
			}
		}
		if in.stopped {
			return errStopped
		}
		in.append(*s)
	}
	if !in.working && len(in.steps) > 0 {
		in.workHere()
	}
	return nil
}

// now gives live items to receive, which waits for nothing, in the caller's goroutine,
// unless something comes before them. It reports whether they were taken.
func (in *intake) now(items []hub.Item, receive func([]hub.Item) bool) bool {
	in.mu.Lock()
	if in.stopped || in.working {
		in.mu.Unlock()
		return false
	}
	in.working = true
	in.worker.Add(1)
	items[0].Hole = items[0].Hole || in.hole
	in.mu.Unlock()
	defer in.worker.Done()
	taken := receive(items)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.working = false
	if taken {
		in.hole = false
	}
	if len(in.steps) > 0 {
		in.start() // somebody has asked for something meanwhile
	}
	return taken
}

// makeRoom works, or waits for whoever does. mu is held, but not meanwhile.
func (in *intake) makeRoom(ctx context.Context) error {
	if !in.working {
		in.workHere()
		return nil
	}
	if in.room == nil {
		in.room = make(chan struct{})
	}
	room := in.room
	in.mu.Unlock()
	defer in.mu.Lock()
	select {
	case <-room:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// workHere works in the caller's goroutine. mu is held, but not meanwhile.
func (in *intake) workHere() {
	in.working = true
	in.worker.Add(1)
	in.mu.Unlock()
	defer in.mu.Lock()
	defer in.worker.Done()
	in.work()
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

// add appends a step and sees to it that somebody works. mu is held.
func (in *intake) add(s step) {
	in.append(s)
	in.start()
}

// append appends a step. mu is held.
func (in *intake) append(s step) {
	in.steps = append(in.steps, s)
	if s.do == nil {
		in.bytes += len(s.item.Bytes)
		in.items++
	}
}

// start sees to it that somebody works. mu is held.
func (in *intake) start() {
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

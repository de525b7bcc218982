package ingress

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/switchboard-dev/switchboard/internal/broadcast"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/killpoint"
)

// How much waits for the hub on one connection, beside what the hub is working on, before
// the connection is not read any more: what one read brings may come on top.
const (
	intakeBytes = 1 << 20
	intakeItems = 1024
)

// A batch is what the hub is told at once: items that follow each other, or a call.
type batch struct {
	items  []hub.Item
	memory *[]hub.Item // of items, from itemSlices
	bytes  int
	after  []func()                        // to be called when the items are safe
	do     func(ctx context.Context) error // nil for items
}

// itemSlices holds *[]hub.Item: connections that wait need none.
var itemSlices = sync.Pool{New: func() any { return new([]hub.Item) }}

// An intake is the queue from a connection to the hub. The goroutine that reads the
// connection adds lines (put, offer), calls flush, and waits if room says so; any goroutine
// may have a call made between the lines (do). The hub has at most one batch at a time: when
// it is done with it, it is given all that has come meanwhile.
type intake struct {
	// Static after construction.
	ctx context.Context
	// deliver gives the hub items, in order. It does not block; the hub calls done when
	// they are safe, or with the error.
	deliver func(items []hub.Item, done func(error))
	fail    func(err error) // called once, with the first error; nothing is done afterwards
	dropped *atomic.Int64   // counts live lines that were left out

	calls sync.WaitGroup // goroutines that spawn has started

	// Guarded by mu.
	mu      sync.Mutex
	queue   []batch
	bytes   int // of the items in queue
	items   int
	busy    bool // the hub has a batch, or a call is under way
	stopped bool // nothing more is let in
	failed  bool
	over    bool                // no goroutine is started any more
	hole    bool                // live lines were left out since the last one
	freed   broadcast.Broadcast // there is room
	idle    broadcast.Broadcast // busy was reset
}

func newIntake(ctx context.Context, deliver func([]hub.Item, func(error)), fail func(error), dropped *atomic.Int64) *intake {
	return &intake{ctx: ctx, deliver: deliver, fail: fail, dropped: dropped}
}

// put adds a durable item. It never waits. It returns an error if the connection is
// ending.
func (in *intake) put(it *hub.Item, after func()) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.stopped {
		return errStopped
	}
	in.add(it, after)
	return nil
}

// room returns nil if there is room for more, else a channel that is closed when there is
// or the connection is ending. It is called after flush.
func (in *intake) room() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.busy || in.stopped || in.items < intakeItems && in.bytes < intakeBytes {
		return nil
	}
	return in.freed.Changed()
}

// offer adds a live item if there is plenty of room, else it is left out: half
// of the room is for lines that are kept. It never waits. It reports whether the
// item was taken.
func (in *intake) offer(it *hub.Item, after func()) bool {
	in.mu.Lock()
	if in.items > 0 && !in.busy && !in.plenty(it) {
		in.mu.Unlock()
		in.flush() // the hub is not behind, there is just much
		in.mu.Lock()
	}
	defer in.mu.Unlock()
	if in.stopped {
		return false
	}
	if in.items > 0 && !in.plenty(it) {
		in.hole = true
		in.dropped.Add(1)
		return false
	}
	it.Hole = it.Hole || in.hole
	in.hole = false
	in.add(it, after)
	return true
}

// plenty reports whether there is room for a live item. mu is held.
func (in *intake) plenty(it *hub.Item) bool {
	return in.items < intakeItems/2 && in.bytes+len(it.Bytes) <= intakeBytes/2
}

// do has something done at this place between the items, in a goroutine of its own.
// It never waits, and does nothing when the connection is ending.
func (in *intake) do(f func(ctx context.Context) error) {
	in.mu.Lock()
	if !in.stopped {
		in.queue = append(in.queue, batch{do: f})
	}
	in.mu.Unlock()
	in.flush()
}

// add appends an item. mu is held.
func (in *intake) add(it *hub.Item, after func()) {
	if n := len(in.queue); n == 0 || in.queue[n-1].do != nil {
		memory, _ := itemSlices.Get().(*[]hub.Item) // nothing else is in there
		in.queue = append(in.queue, batch{items: (*memory)[:0], memory: memory})
	}
	last := &in.queue[len(in.queue)-1]
	last.items = append(last.items, *it)
	last.bytes += len(it.Bytes)
	if after != nil {
		last.after = append(last.after, after)
	}
	in.items++
	in.bytes += len(it.Bytes)
}

// flush gives the hub what waits, unless it has a batch already: then it is given the
// rest when it is done with that.
func (in *intake) flush() {
	in.mu.Lock()
	if in.busy || len(in.queue) == 0 {
		in.mu.Unlock()
		return
	}
	in.busy = true
	in.mu.Unlock()
	in.next()
}

// next gives the hub the next batch, or makes the next call. busy is set, and is
// reset if there is nothing left.
func (in *intake) next() {
	in.mu.Lock()
	if len(in.queue) == 0 || in.failed {
		in.rest()
		in.mu.Unlock()
		return
	}
	b := in.queue[0]
	in.queue = slices.Delete(in.queue, 0, 1)
	in.items -= len(b.items)
	in.bytes -= b.bytes
	in.freed.Notify()
	in.mu.Unlock()
	if b.do != nil {
		in.spawn(func() { in.done(b.do(in.ctx)) })
		return
	}
	killpoint.Reach("link.after-receive")
	in.deliver(b.items, func(err error) {
		if err == nil {
			for _, f := range b.after {
				f()
			}
			clear(b.items) // the bytes are the hub's now, nothing else holds them
			*b.memory = b.items
			itemSlices.Put(b.memory)
		}
		in.done(err)
	})
}

// spawn runs f in a goroutine, which finish and stop join. After them it does nothing:
// the connection is over.
func (in *intake) spawn(f func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.over {
		in.calls.Go(f)
	}
}

// join waits for the goroutines, and lets no more be started.
func (in *intake) join() {
	in.mu.Lock()
	in.over = true
	in.mu.Unlock()
	in.calls.Wait()
}

// done goes on after a batch or a call.
func (in *intake) done(err error) {
	if err == nil {
		in.next()
		return
	}
	in.mu.Lock()
	first := !in.failed
	in.stopped, in.failed = true, true
	in.rest()
	in.mu.Unlock()
	if first {
		in.fail(err)
	}
}

// rest notes that the hub has nothing of this connection, and holds no memory. mu is
// held.
func (in *intake) rest() {
	in.busy = false
	in.queue, in.bytes, in.items = nil, 0, 0
	in.freed.Notify()
	in.idle.Notify()
}

// finish lets nothing more in and waits until the hub has been told all that is in, or
// the connection's context ends.
func (in *intake) finish() {
	in.flush()
	in.mu.Lock()
	in.stopped = true
	var idle <-chan struct{}
	if in.busy {
		idle = in.idle.Changed()
	}
	in.mu.Unlock()
	if idle != nil {
		select {
		case <-idle:
		case <-in.ctx.Done(): // the hub may still take what it has
		}
	}
	in.join()
}

// stop lets nothing more in and forgets what waits. The connection's context has ended.
func (in *intake) stop() {
	in.mu.Lock()
	in.stopped = true
	in.queue, in.bytes, in.items = nil, 0, 0
	in.mu.Unlock()
	in.join()
}

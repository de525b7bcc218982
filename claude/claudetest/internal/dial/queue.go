package dial

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
)

// errGone is what push says once a queue takes nothing more.
var errGone = errors.New("the queue is closed")

// A gate guards a state and lets goroutines wait for a change of it. The zero value is ready.
type gate struct {
	mu      sync.Mutex
	changed chan struct{} // guarded by mu; closed at the next change, nil if no goroutine waits
}

// when calls step, alone, now and after each change, until it returns true. A step that returns true may have changed the state; one that
// returns false must not have. If ctx ends before that, it returns its error.
func (g *gate) when(ctx context.Context, step func() bool) error {
	for {
		g.mu.Lock()
		if step() {
			if g.changed != nil {
				close(g.changed)
				g.changed = nil
			}
			g.mu.Unlock()
			return nil
		}
		if g.changed == nil {
			g.changed = make(chan struct{})
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// update changes the state.
func (g *gate) update(change func()) {
	_ = g.when(context.Background(), func() bool { // it does not wait, so it cannot fail
		change()
		return true
	})
}

// A parcel is bytes on their way.
type parcel struct {
	data []byte
	kept bool          // nothing is lost with it: it is in the ring, or it carries nothing
	gone chan struct{} // closed when it has left or is lost; nil if no goroutine waits
}

// left says that the parcel has left or is lost.
func (p parcel) left() {
	if p.gone != nil {
		close(p.gone)
	}
}

// A queue hands parcels from goroutine to goroutine, first in, first out. It holds up to limit bytes, or one parcel of any size.
type queue struct {
	limit int

	gate
	parcels []parcel
	bytes   int
	closed  bool
}

func newQueue(limit int) *queue { return &queue{limit: limit} }

// push appends a parcel, and waits while there is no room for it. It returns errGone if the queue is closed.
func (q *queue) push(ctx context.Context, p parcel) error {
	var gone error
	err := q.when(ctx, func() bool {
		switch {
		case q.closed:
			gone = errGone
		case q.bytes > 0 && q.bytes+len(p.data) > q.limit:
			return false
		default:
			q.parcels = append(q.parcels, p)
			q.bytes += len(p.data)
		}
		return true
	})
	return errors.Join(err, gone)
}

// pop returns the next parcel, and waits for one. It returns io.EOF after the last one of a closed queue.
func (q *queue) pop(ctx context.Context) (parcel, error) {
	var p parcel
	found := false
	err := q.when(ctx, func() bool {
		if found = len(q.parcels) > 0; found {
			p = q.parcels[0]
			q.parcels[0] = parcel{}
			q.parcels = q.parcels[1:]
			q.bytes -= len(p.data)
		}
		return found || q.closed
	})
	if err == nil && !found {
		err = io.EOF
	}
	return p, err
}

// close lets nothing more in. What is in the queue stays there.
func (q *queue) close() { q.update(func() { q.closed = true }) }

// abandon closes the queue, throws away what is in it and returns how many parcels were lost by that.
func (q *queue) abandon() (lost int) {
	var left []parcel
	q.update(func() {
		q.closed = true
		left, q.parcels, q.bytes = q.parcels, nil, 0
	})
	for _, p := range left {
		p.left()
		if !p.kept {
			lost++
		}
	}
	return lost
}

// A ring holds the last lines that were put into it, up to size.
type ring struct {
	size  int
	lines [][]byte
	first int // the oldest line, once the ring is full
}

// put adds a line, in the place of the oldest one if the ring is full. It says whether the ring keeps lines at all.
func (r *ring) put(line []byte) bool {
	switch {
	case r.size <= 0:
		return false
	case len(r.lines) < r.size:
		r.lines = append(r.lines, line)
	default:
		r.lines[r.first] = line
		r.first = (r.first + 1) % r.size
	}
	return true
}

// all returns the lines, the oldest first.
func (r *ring) all() [][]byte { return slices.Concat(r.lines[r.first:], r.lines[:r.first]) }

package journal

import (
	"context"
	"sync"
)

// What has become of a request.
const (
	waiting = iota
	taken
	withdrawn
)

// A request is something to be done by the goroutine that writes: a batch to be written, or
// something else to be done with the connection between two transactions.
type request struct {
	batch *plan
	job   func(*conn) error
	done  chan error // holds one

	state int // guarded by queue.mu
}

// A queue holds requests until they are taken. It needs no bound: a goroutine that puts
// one in waits for it.
//
// It is a group commit without a goroutine of its own: of the goroutines that wait one
// holds the turn and writes for all. A lone writer does its own work at once, where
// handing it to another goroutine and back costs a third of a small transaction.
type queue struct {
	write func([]*request) // called by the goroutine that holds the turn
	turn  chan struct{}    // holds one while a goroutine writes

	mu     sync.Mutex
	list   []*request
	closed bool
}

func newQueue(write func([]*request)) *queue {
	return &queue{write: write, turn: make(chan struct{}, 1)}
}

// do puts a request in and waits until it is done. If ctx ends before the
// request is taken it is withdrawn: an error means that nothing was done.
func (q *queue) do(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.done = make(chan error, 1)
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return ErrClosed
	}
	q.list = append(q.list, r)
	q.mu.Unlock()
	// Every goroutine whose request is in the list waits here, so when the turn is given
	// back there is always one to take it.
	select {
	case err := <-r.done:
		return err
	case q.turn <- struct{}{}:
		q.lead(r)
		return <-r.done
	case <-ctx.Done():
	}
	q.mu.Lock()
	if r.state == waiting {
		r.state = withdrawn
		q.mu.Unlock()
		return ctx.Err()
	}
	q.mu.Unlock()
	return <-r.done
}

// lead does what is in the queue until the request is done, and gives the turn
// back.
func (q *queue) lead(r *request) {
	for len(r.done) == 0 {
		q.write(q.next())
	}
	<-q.turn
}

// A transaction is bounded, so that the first of many batches does not wait for
// long.
const (
	maxGroup      = 256
	maxGroupBytes = 8 << 20
)

// next takes the batches at the head of the queue, or the one job there.
func (q *queue) next() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	var group []*request
	size, n := 0, 0
	for _, r := range q.list {
		if r.state == withdrawn {
			n++
			continue
		}
		full := len(group) == maxGroup || size > maxGroupBytes
		if len(group) > 0 && (full || r.job != nil || group[0].job != nil) {
			break
		}
		n++
		r.state = taken
		group = append(group, r)
		if r.batch != nil {
			size += r.batch.size
		}
	}
	rest := copy(q.list, q.list[n:])
	clear(q.list[rest:])
	q.list = q.list[:rest]
	return group
}

// close refuses further requests, does those that are in, and keeps the turn.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.turn <- struct{}{}
	for group := q.next(); len(group) > 0; group = q.next() {
		q.write(group)
	}
}

package journal

import (
	"context"
	"sync"
)

// The states of a request.
const (
	waiting = iota
	taken
	withdrawn
)

// A request is something for the queue's leader to do: write a batch, or use the
// connection for something else between two transactions.
type request struct {
	batch *preparedBatch
	job   func(*conn) error
	done  chan error // holds one

	state int // guarded by queue.mu
}

// A queue holds requests until they are taken. It needs no bound: a goroutine that puts
// one in waits for it.
//
// It is a group commit without a goroutine of its own: of the goroutines that wait in do,
// the one that has filled writerSlot is the leader and commits for all. A goroutine that
// is alone commits its own batch at once; handing it to another goroutine and back would
// cost a third of a small transaction.
type queue struct {
	write      func([]*request) // called by the leader
	writerSlot chan struct{}    // holds one value while there is a leader

	mu     sync.Mutex
	list   []*request
	closed bool
}

func newQueue(write func([]*request)) *queue {
	return &queue{write: write, writerSlot: make(chan struct{}, 1)}
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
	// Every goroutine whose request is in the list waits here, so when a leader empties
	// writerSlot there is always a goroutine to become the next one.
	select {
	case err := <-r.done:
		return err
	case q.writerSlot <- struct{}{}:
		q.runAsLeader(r)
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

// runAsLeader works through the queue until the leader's own request r is done, and
// then empties writerSlot for the next leader.
func (q *queue) runAsLeader(r *request) {
	for len(r.done) == 0 {
		q.write(q.next())
	}
	<-q.writerSlot
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

// close refuses further requests, does those that are in the list, and leaves
// writerSlot filled: no goroutine becomes the leader again.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.writerSlot <- struct{}{}
	for group := q.next(); len(group) > 0; group = q.next() {
		q.write(group)
	}
}

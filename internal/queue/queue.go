package queue

import "sync"

// A Queue hands what is added to one worker, in order. The worker is a goroutine that
// exists while something waits; it is given all that waits at once. The zero value is
// not valid; use New. Its methods are safe for concurrent use.
type Queue[T any] struct {
	// Static after construction.
	work func(batch []T)
	max  int

	worker sync.WaitGroup

	mu      sync.Mutex
	items   []T  // guarded by mu
	held    bool // the worker must not begin; guarded by mu
	working bool // there is a worker; guarded by mu
	stopped bool // nothing more is taken; guarded by mu
}

// New makes a queue. work is called with what waits, in order, never twice at a time,
// and may add to the queue. At most max items wait beside those that it was given; 0
// means no bound, for queues that are bounded by the callers of Add.
func New[T any](max int, work func(batch []T)) *Queue[T] {
	return &Queue[T]{work: work, max: max}
}

// Hold keeps the worker from beginning until Release.
func (q *Queue[T]) Hold() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held = true
}

// Release ends Hold, and adds items before all that waits.
func (q *Queue[T]) Release(first ...T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped {
		return
	}
	q.held = false
	q.items = append(first, q.items...)
	q.begin()
}

// Add adds items, all or none. It does not wait, and reports false if the queue is full
// or stopped.
func (q *Queue[T]) Add(items ...T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped || q.max > 0 && len(q.items)+len(items) > q.max {
		return false
	}
	q.items = append(q.items, items...)
	q.begin()
	return true
}

// begin sees to it that there is a worker. mu is held.
func (q *Queue[T]) begin() {
	if !q.working && !q.held && len(q.items) > 0 {
		q.working = true
		q.worker.Go(q.run) // joined by Stop and Wait
	}
}

// run works until nothing waits.
func (q *Queue[T]) run() {
	for {
		q.mu.Lock()
		batch := q.items
		q.items = nil
		if len(batch) == 0 {
			q.working = false
			q.mu.Unlock()
			return
		}
		q.mu.Unlock()
		q.work(batch)
	}
}

// Stop forgets what waits and has Add take nothing more. It does not wait for the
// worker, so that may call it; Wait does.
func (q *Queue[T]) Stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped, q.items = true, nil
}

// Wait waits until there is no worker: nothing waits, or the queue was stopped. The
// worker must not call it, and nothing may be added meanwhile but by the worker.
func (q *Queue[T]) Wait() { q.worker.Wait() }

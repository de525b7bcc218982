package notify

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

const (
	// maxQueue is how many notifications wait for one target. A person who has
	// missed a hundred looks at the hub anyway.
	maxQueue = 100
	// maxAttempts and maxAge bound how often and how long one is tried.
	maxAttempts = 10
	maxAge      = 30 * time.Minute
	// attemptTimeout bounds one attempt.
	attemptTimeout = 10 * time.Second
	// firstPause is the longest pause after the first attempt. Each further one
	// is twice as long, up to maxPause.
	firstPause = 2 * time.Second
	maxPause   = 5 * time.Minute
	// maxRetryAfter is how long a target may ask to be left alone.
	maxRetryAfter = 15 * time.Minute
)

// A letter is a notification on its way to one target.
type letter struct {
	// Static after construction.
	id           string
	notification Notification
	created      time.Time

	// Owned by the goroutine that has taken it out of the queue, else guarded by the
	// outbox's mu.
	attempts int
	due      time.Time
}

// An outbox is the queue of one target. A letter that waits for its next attempt
// does not hold up the ones behind it.
type outbox struct {
	// Static after construction.
	courier *courier
	log     *slog.Logger
	wake    chan struct{} // has room for one; never closed

	mu      sync.Mutex
	queue   []*letter // in the order of their creation; guarded by mu, as all below
	closing bool
	quiet   time.Time // the target wants to be left alone until then
	failing bool      // the last attempt failed, and that was logged
	full    bool      // letters were dropped, and that was logged
	lost    int64     // letters given up since the last that arrived
	counts  Stats
}

func newOutbox(c *courier, log *slog.Logger) *outbox {
	return &outbox{courier: c, log: log, wake: make(chan struct{}, 1), counts: Stats{Kind: c.kind, Host: c.host}}
}

// put adds a letter. If the queue is full, the oldest one is dropped.
func (b *outbox) put(l *letter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closing {
		return
	}
	b.insert(l)
	b.signal()
}

// insert puts a letter into its place. b.mu is held.
func (b *outbox) insert(l *letter) {
	at, _ := slices.BinarySearchFunc(b.queue, l.created, func(other *letter, created time.Time) int { return other.created.Compare(created) })
	for at < len(b.queue) && b.queue[at].created.Equal(l.created) && l.attempts == 0 {
		at++ // a new one goes behind those of the same moment
	}
	b.queue = slices.Insert(b.queue, at, l)
	if len(b.queue) <= maxQueue {
		return
	}
	b.queue = slices.Delete(b.queue, 0, 1)
	b.counts.Dropped++
	b.lost++
	if !b.full {
		b.full = true
		b.log.Warn("too many notifications wait for this target; the oldest are dropped", "waiting", maxQueue)
	}
}

func (b *outbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// close has run end when all that is due has been tried.
func (b *outbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closing = true
	b.signal()
}

func (b *outbox) stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.counts
	s.Queued = len(b.queue)
	return s
}

// run delivers letters until the outbox is closed and nothing is due, or until
// ctx ends.
func (b *outbox) run(ctx context.Context) {
	for ctx.Err() == nil { // else what is put back at the end would be taken again for ever
		l, wait, done := b.take(time.Now())
		switch {
		case done:
			return
		case l != nil:
			l.attempts++
			b.settle(ctx, l, b.courier.deliver(ctx, l))
		case !b.await(ctx, wait):
			return
		}
	}
}

// await waits until there may be something to do and reports whether to go on.
// A wait of 0 has no end of its own.
func (b *outbox) await(ctx context.Context, wait time.Duration) bool {
	var due <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-b.wake:
	case <-due:
	}
	return true
}

// take takes the next letter out of the queue, or says how long to wait for one,
// or that there is nothing more to do.
func (b *outbox) take(now time.Time) (l *letter, wait time.Duration, done bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = slices.DeleteFunc(b.queue, func(l *letter) bool {
		old := now.Sub(l.created) > maxAge
		if old {
			b.counts.Expired++
			b.lost++
		}
		return old
	})
	if len(b.queue) == 0 {
		b.full = false
		return nil, 0, b.closing
	}
	next := slices.MinFunc(b.queue, func(x, y *letter) int { return x.due.Compare(y.due) })
	due := next.due
	if due.Before(b.quiet) {
		due = b.quiet
	}
	if due.After(now) {
		return nil, due.Sub(now), b.closing
	}
	b.queue = slices.DeleteFunc(b.queue, func(l *letter) bool { return l == next })
	return next, 0, false
}

// settle notes what became of an attempt and puts the letter back if there is to
// be another.
func (b *outbox) settle(ctx context.Context, l *letter, o outcome) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.attempts > 1 {
		b.counts.Retried++
	}
	if o.err == nil {
		b.counts.Sent++
		if b.failing {
			b.log.Info("notifications arrive again", "lost", b.lost)
		}
		b.failing, b.lost = false, 0
		return
	}
	if ctx.Err() != nil { // no fault of the target's
		b.insert(l)
		return
	}
	if !b.failing {
		b.failing = true
		b.log.Warn("a notification was not delivered; further failures are not logged until one arrives", "session", l.notification.Session, "retry", o.retry, "error", o.err)
	}
	if !o.retry {
		b.counts.Refused++
		b.lost++
		return
	}
	pause := pauseAfter(l.attempts)
	if after := min(o.after, maxRetryAfter); after > 0 {
		// It speaks for all notifications, not only for this one.
		b.quiet = now.Add(after)
		pause = max(pause, after)
	}
	l.due = now.Add(pause)
	if l.attempts >= maxAttempts {
		b.counts.Expired++
		b.lost++
		return
	}
	b.insert(l)
}

// pauseAfter returns how long to wait after so many attempts: between half of a
// pause that doubles each time and all of it, so that what failed together is not
// tried again together.
func pauseAfter(attempts int) time.Duration {
	pause := maxPause
	if shift := attempts - 1; shift < 16 {
		pause = min(firstPause<<shift, maxPause)
	}
	return pause/2 + rand.N(pause/2+1) //nolint:gosec // it spreads attempts and guards nothing
}

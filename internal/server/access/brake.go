package access

import (
	"context"
	"sync"
	"time"
)

// A brake slows down a client that tries tokens. It never holds up a request with a
// valid token, so no client can be locked out by another's attempts.
type brake struct {
	// slots bounds how many requests wait at once.
	slots chan struct{}

	mu       sync.Mutex
	failures int       // guarded by mu; in a row
	last     time.Time // guarded by mu
}

const (
	brakeShortest = 100 * time.Millisecond
	brakeLongest  = time.Second
	// brakeForgets is how long after the last failure the delay is short again.
	brakeForgets = time.Minute
	brakeSlots   = 64
)

func newBrake() *brake { return &brake{slots: make(chan struct{}, brakeSlots)} }

// delay counts a failure and returns how long its answer is held back.
func (b *brake) delay() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if now.Sub(b.last) > brakeForgets {
		b.failures = 0
	}
	b.last = now
	d := min(brakeShortest<<min(b.failures, 10), brakeLongest)
	b.failures++
	return d
}

// wait holds the response to a failure back. It is false if so many wait already that this one
// is to be sent away at once.
func (b *brake) wait(ctx context.Context) bool {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	default:
		return false
	}
	timer := time.NewTimer(b.delay())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return true
}

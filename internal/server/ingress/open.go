package ingress

import (
	"errors"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudews"
)

// The reasons for which a CLI without a credential is refused.
const (
	// RefusedOpen is for one that must bring a credential: its request does not come
	// from where it may, or is about the session of another.
	RefusedOpen = "dial_in"
	// RefusedOpenTotal is for one of too many at a time.
	RefusedOpenTotal = "dial_in_total"
	// RefusedOpenRate is for one of too many new ones within a short time.
	RefusedOpenRate = "dial_in_rate"
)

var (
	errOpenTotal = errors.New("too many CLIs have dialed in without a token")
	errOpenRate  = errors.New("too many CLIs without a token have begun sessions in a short time")
)

// refusedOpen returns the reason of an error for [DialOptions.Refused].
func refusedOpen(err error) string {
	switch {
	case errors.Is(err, errOpenTotal):
		return RefusedOpenTotal
	case errors.Is(err, errOpenRate):
		return RefusedOpenRate
	default:
		return RefusedOpen
	}
}

const (
	// openCallerWait is callerWait for a CLI without a credential: it holds a place, and
	// the body of its POST is read within a minute.
	openCallerWait = 2 * time.Minute
	// openBurst is how many sessions CLIs without a credential can begin at once, and
	// openEvery the time for each further one. A program that starts a CLI for each turn
	// needs less.
	openBurst = 60
	openEvery = time.Second
)

// nameKey returns the key of a name: CLIs without a credential have names of their own.
func nameKey(name string, open bool) string {
	if open {
		return "open/" + name // no name has a slash
	}
	return name
}

// makeRoom makes room for a CLI without a credential, or says why there is none. It
// returns one that is not connected and has to be closed for that, nil if none has. fresh
// says that the new one begins a session. mu is held.
func (d *Dial) makeRoom(now time.Time, fresh bool) (leaves *claudews.Peer, err error) {
	var away *caller // of those that are not connected, the one that came first
	n := 0
	for _, c := range d.callers {
		if !c.open || c.evicted.Load() {
			continue
		}
		n++
		if c.peer != nil && c.peer.Conn() == 0 && (away == nil || c.seen.Before(away.seen)) {
			away = c
		}
	}
	if n >= d.opts.MaxOpen && away == nil {
		return nil, errOpenTotal
	}
	if fresh && !d.openers.take(now) {
		return nil, errOpenRate
	}
	if n < d.opts.MaxOpen {
		return nil, nil
	}
	away.evicted.Store(true)
	return away.peer, nil
}

// A bucket bounds how often something happens. The zero value is full.
type bucket struct {
	used  int
	since time.Time // when used was last reduced
}

// take reports whether it may happen now, and counts it.
func (b *bucket) take(now time.Time) bool {
	if back := int(now.Sub(b.since) / openEvery); back > 0 {
		b.used, b.since = max(b.used-back, 0), b.since.Add(time.Duration(back)*openEvery)
		if b.used == 0 {
			b.since = now
		}
	}
	if b.used >= openBurst {
		return false
	}
	b.used++
	return true
}

// How often a CLI that has lost its connection is looked for.
const (
	firstLook = 50 * time.Millisecond
	lastLook  = 2 * time.Second
)

// watch ends a CLI that has lost its connection as soon as its process is gone, if that
// can be told. It is called by a goroutine of serving.
func (d *Dial) watch(c *caller, p *claudews.Peer) {
	d.mu.Lock()
	told := c.lives != nil
	d.mu.Unlock()
	if !told {
		return
	}
	d.serving.Go(func() { // joined by Close; it ends with the CLI
		for wait := firstLook; ; wait = min(2*wait, lastLook) {
			if p.Conn() != 0 {
				return
			}
			if d.dead(c) {
				_ = p.Close() // always nil
				return
			}
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-c.done:
				timer.Stop()
				return
			}
		}
	})
}

// dead notes and reports whether the process of a CLI has ended.
func (d *Dial) dead(c *caller) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.lives == nil || c.lives() {
		return false
	}
	c.died.Store(true)
	return true
}

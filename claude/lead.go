package claude

import (
	"sync/atomic"
	"time"
)

// Who reads the transport; see lead.
const (
	leadKept    = iota // the connection's own goroutine
	leadOffered        // whoever wants the next line
	leadTaken          // somebody who is at it
)

const (
	// leadTick is how long somebody who reads lines may be away with the right to
	// read the transport, at most twice: so long can a question wait.
	leadTick = 5 * time.Millisecond
	// leadTurns is after how many reads it is judged whether it is worth while.
	leadTurns = 16
	// mostRefusals bounds how many batches of a flood pass by before the right is
	// offered again to readers who were too slow.
	mostRefusals = 256
)

// A lead is the right to read a connection's transport. It belongs to the
// connection's goroutine, so that lines come in whatever the readers of lines do.
//
// In a flood most of the time would go into waking those readers, from one core to
// the other and back, for each batch. So the goroutine offers the right then, and a
// reader who has had all lines reads the transport itself, as long as there is
// something there. It never waits with the right, and if what it does with its lines
// takes longer than a moment, the goroutine takes the right back. One that does more
// with its lines than it takes to read them is better off if they are read meanwhile;
// it gives the right back by itself.
type lead struct {
	try   func() ([][]byte, error) // reads what is there; nil if the transport cannot
	state atomic.Int32
	turns atomic.Int64  // how often somebody has read with the right
	back  chan struct{} // has room for one: the right is there again

	// Owned by the connection's goroutine.
	refusals int // how many batches are passed by, twice as many each time
	passed   int // how many have been

	// Owned by whoever has the right.
	since      time.Time     // when the last read was over
	busy, away time.Duration // with reading and with the lines, since the right was lent
	heavy      bool          // the lines are what takes longer
}

func (l *lead) init(t Transport) {
	l.back = make(chan struct{}, 1)
	if t, ok := t.(batchTrier); ok {
		l.try = t.tryBatch
	}
}

// lend offers the right to those who read lines. It returns when it is back.
func (l *lead) lend() {
	if l.passed < l.refusals {
		l.passed++
		return
	}
	before := l.turns.Load()
	l.since, l.busy, l.away, l.heavy = time.Time{}, 0, 0, false
	l.state.Store(leadOffered)
	l.await()
	l.passed = 0
	switch {
	case l.heavy:
		l.refusals = mostRefusals
	case l.turns.Load() == before:
		l.refusals = min(2*l.refusals+1, mostRefusals)
	default:
		l.refusals = 0
	}
}

// await waits until the right is back, and takes it back from who does not use it.
func (l *lead) await() {
	tick := time.NewTicker(leadTick)
	defer tick.Stop()
	for seen := l.turns.Load(); ; {
		select {
		case <-l.back:
			return
		case <-tick.C:
		}
		now := l.turns.Load()
		if now == seen && l.state.CompareAndSwap(leadOffered, leadKept) {
			return
		}
		seen = now
	}
}

// read reads the transport if the right to do so is offered and there is something
// to read. It reports whether lines have come.
func (l *lead) read(c *Conn) (came bool) {
	if !l.state.CompareAndSwap(leadOffered, leadTaken) {
		return false
	}
	defer func() {
		if came {
			l.turns.Add(1)
			l.state.Store(leadOffered)
			return
		}
		l.state.Store(leadKept)
		l.back <- struct{}{}
	}()
	start := time.Now()
	if !l.since.IsZero() {
		l.away += start.Sub(l.since)
	}
	if l.heavy = l.turns.Load()%leadTurns == 0 && 2*l.away > l.busy; l.heavy {
		return false
	}
	lines, err := l.try()
	came = c.intake.receive(c, lines, err)
	l.since = time.Now()
	l.busy += l.since.Sub(start)
	return came
}

// leave gives the right back if it is still offered, for a reader who has had it and
// goes.
func (l *lead) leave() {
	if l.state.CompareAndSwap(leadOffered, leadKept) {
		l.back <- struct{}{}
	}
}

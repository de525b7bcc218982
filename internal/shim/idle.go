package shim

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// idleAfter is how long a shim has nothing to do before it gives memory back. An
// agent pauses for longer than that at every step, but not between the lines of
// one.
const idleAfter = 2 * time.Second

// pingAfter is how long that is after the hub has said something that no line follows: it
// asked for a sign of life and was given one.
const pingAfter = 100 * time.Millisecond

// An idleMemory gives memory back to the system when the process has nothing to do: what
// a flood of lines needed, and the pages of the program that were used. There may be
// hundreds of shims, most of which wait, and do not need more than a small part of a
// large program.
type idleMemory struct {
	awake atomic.Bool // something was done since the timer was set
	lines atomic.Bool // lines were carried since memory was given back

	wake   chan struct{} // a flag: there is something to give back again
	done   chan struct{}
	worker sync.WaitGroup
}

// pages are a range of the process's memory.
type pages struct{ from, to uintptr }

func newIdleMemory() *idleMemory {
	r := &idleMemory{wake: newFlag(), done: make(chan struct{})}
	r.lines.Store(true) // the start has used much as well
	r.worker.Go(r.work)
	return r
}

// busy records that something is done: lines are carried, or the hub has said something.
func (r *idleMemory) busy(lines bool) {
	if lines && !r.lines.Load() {
		r.lines.Store(true)
	}
	if !r.awake.Swap(true) {
		raise(r.wake)
	}
}

// work gives memory back whenever nothing was done for a while. It is a goroutine that
// stays and not a timer's, at whose end the runtime looks up the name of its function:
// of tables of many megabytes, which would be the first to come back.
func (r *idleMemory) work() {
	var program []pages // of the program's file
	known := false
	timer := time.NewTimer(idleAfter)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-r.done:
			return
		}
		if r.awake.Swap(false) {
			timer.Reset(idleAfter)
			continue
		}
		if !known {
			program, known = programPages(), true
		}
		// Without lines there is no garbage that would be worth a collection, but even
		// a ping needs some megabytes of the program.
		if r.lines.Swap(false) {
			debug.FreeOSMemory()
		}
		dropPages(program)
		select {
		case <-r.wake:
		case <-r.done:
			return
		}
		r.awake.Store(false)
		if r.lines.Load() {
			timer.Reset(idleAfter)
		} else {
			timer.Reset(pingAfter)
		}
	}
}

func (r *idleMemory) stop() {
	close(r.done)
	r.worker.Wait()
}

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

// An idleMemory gives memory back to the system when the process has nothing to do: what
// a flood of lines needed, and the pages of the program that were used. There may be
// hundreds of shims, most of which wait, and do not need more than a small part of a
// large program.
type idleMemory struct {
	awake atomic.Bool // something was done since the timer was set
	lines atomic.Bool // lines were carried since memory was given back

	mu sync.Mutex
	// Guarded by mu.
	timer   *time.Timer
	set     bool    // the timer is
	over    bool    // nothing is done any more
	program []pages // of the program's file
	known   bool    // program tells something
}

// pages are a range of the process's memory.
type pages struct{ from, to uintptr }

func newIdleMemory() *idleMemory {
	r := &idleMemory{set: true}
	r.lines.Store(true) // the start has used much as well
	r.timer = time.AfterFunc(idleAfter, r.giveBack)
	return r
}

// busy records that something is done: lines are carried, or the hub has said something.
func (r *idleMemory) busy(lines bool) {
	if lines && !r.lines.Load() {
		r.lines.Store(true)
	}
	if r.awake.Swap(true) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.set && !r.over {
		r.set = true
		r.timer.Reset(idleAfter)
	}
}

// giveBack gives memory back if nothing was done since the timer was set. Without lines
// there is no garbage that would be worth a collection, but even a ping needs some
// megabytes of the program.
func (r *idleMemory) giveBack() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	if r.awake.Swap(false) {
		r.timer.Reset(idleAfter)
		return
	}
	r.set = false
	if !r.known {
		r.program, r.known = programPages(), true
	}
	if r.lines.Swap(false) {
		debug.FreeOSMemory()
	}
	dropPages(r.program)
}

func (r *idleMemory) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.timer.Stop()
}

package ingress

import (
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A doubt has the hub ask a CLI which questions are open, when that CLI has been
// silent for a while after an answer that may have been lost; see
// [fold.Unconfirmed]. The hub sends again what was lost.
type doubt struct {
	// Static after construction.
	wait    time.Duration
	inquire func()

	mu      sync.Mutex
	answers fold.Unconfirmed
	timer   *time.Timer // runs while an answer is unconfirmed
	stopped bool
}

func newDoubt(wait time.Duration, inquire func()) *doubt {
	return &doubt{wait: wait, inquire: inquire}
}

// line takes in a line of either direction, and restarts the timer if the CLI
// wrote it or it is an answer.
func (d *doubt) line(l *fold.Line) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answers.Apply(l)
	if !l.Sent || l.Header.Is("control_response", "") {
		d.rearm()
	}
}

// rearm restarts the timer. mu is held.
func (d *doubt) rearm() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if d.answers.Waiting() && !d.stopped {
		d.timer = time.AfterFunc(d.wait, d.fire)
	}
}

// fire is called by the timer.
func (d *doubt) fire() {
	d.mu.Lock()
	ask := d.answers.Waiting() && !d.stopped
	if ask {
		d.rearm() // the inquiry may be lost, too
	}
	d.mu.Unlock()
	if ask {
		d.inquire()
	}
}

// stop ends it.
func (d *doubt) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.rearm()
}

package claude

import (
	"time"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// unconfirmed are the answers that may have been lost, for a connection with
// ConnOptions.Insist. Guarded by the Conn's mu.
type unconfirmed struct {
	fold.Unconfirmed

	timer     *time.Timer // runs while an answer is unconfirmed and inquire does not run
	inquiring bool        // inquire runs
}

// sending notes a line that is about to be written: the sign that the CLI has
// taken an answer may come before Write returns.
func (c *Conn) sending(line []byte) {
	if c.insist <= 0 {
		return
	}
	l := fold.NewLine(line, true)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unconfirmed.Apply(l)
	if l.Header.Is("control_response", "") {
		c.rearm()
	}
}

// received looks at a line of the CLI for a sign that an answer was taken or
// lost. Answers that were lost are written again.
func (c *Conn) received(line []byte, h wire.Header) {
	if c.insist <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	lost := c.unconfirmed.Apply(&fold.Line{Raw: line, Header: h})
	c.rearm()
	if len(lost) == 0 || c.ended != nil {
		return
	}
	c.handlers.Go(func() { // joined by Close
		for _, answer := range lost {
			_ = c.write(answer) // if it is lost again, the next inquiry shows it
		}
	})
}

// rearm restarts the timer, which runs inquire when the CLI has been silent for
// the time of Insist. mu is held.
func (c *Conn) rearm() {
	if c.unconfirmed.timer != nil {
		c.unconfirmed.timer.Stop()
		c.unconfirmed.timer = nil
	}
	if c.insist > 0 && c.ended == nil && !c.unconfirmed.inquiring && c.unconfirmed.Waiting() {
		c.unconfirmed.timer = time.AfterFunc(c.insist, c.inquire)
	}
}

// inquire asks the CLI which questions are open. The timer calls it in a
// goroutine of its own; readLoop acts on the answer, see received.
func (c *Conn) inquire() {
	c.mu.Lock()
	if c.unconfirmed.inquiring || c.ended != nil || !c.unconfirmed.Waiting() {
		c.mu.Unlock()
		return
	}
	c.unconfirmed.inquiring = true
	c.handlers.Add(1) // joined by Close, which ends the connection first
	c.mu.Unlock()
	defer c.handlers.Done()

	_, _ = c.Request(c.ctx, &wire.InitializeRequest{}) // a refusal has the list, too; without an answer the timer runs again
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unconfirmed.inquiring = false
	c.rearm()
}

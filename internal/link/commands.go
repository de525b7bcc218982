package link

import (
	"slices"
	"strings"
)

// An Order is a command that a shim has received.
type Order struct {
	// Number is that of the outbox; 0 has the input closed.
	Number int64
	// Line is what is written.
	Line []byte
}

// keepFailed is how many failures are remembered for the next hello.
const keepFailed = 64

// maxReason is how much of a reason is told: all of those that are remembered
// have to fit into one frame.
const maxReason = 1000

// Commands is the shim's record of what has come from the hub: it keeps each
// command from being written twice. The zero value is ready to use.
type Commands struct {
	queue   queue[Order]
	seen    int64 // the highest number that was received and is not forgotten
	written int64
	writing int64 // 0 for none
	failed  []Failed
}

// Accept takes a command. It returns what has to be said about it at once: nil
// if it will be written in its turn or is waiting for that already, else
// [*Refused] or [*Failed].
func (c *Commands) Accept(o Order) Message {
	if i := slices.IndexFunc(c.failed, func(f Failed) bool { return f.Number == o.Number }); i >= 0 {
		f := c.failed[i]
		return &f
	}
	switch {
	case o.Number <= c.written:
		return &Refused{o.Number}
	case o.Number <= c.seen: // it waits, or is being written
		return nil
	}
	c.seen = o.Number
	c.queue.push(o)
	return nil
}

// CloseInput has the input closed after what has been received so far.
func (c *Commands) CloseInput() { c.queue.push(Order{}) }

// Begin returns the next order to be carried out, of which [Commands.Done] must
// be called; ok is false if there is none.
func (c *Commands) Begin() (o Order, ok bool) {
	if c.queue.len() == 0 {
		return Order{}, false
	}
	o = c.queue.pop()
	c.writing = o.Number
	return o, true
}

// Done ends the order that was begun. A reason says why it has failed; if it is
// empty it has not. It returns what has to be said.
func (c *Commands) Done(reason string) Message {
	n := c.writing
	c.writing = 0
	switch {
	case n == 0:
		return nil
	case reason == "":
		c.written = n
		return &Written{n}
	}
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + "…"
	}
	f := Failed{n, reason}
	if len(c.failed) == keepFailed {
		c.failed = slices.Delete(c.failed, 0, 1)
	}
	c.failed = append(c.failed, f)
	return &f
}

// Cut says that the connection is lost: what has not been begun is forgotten.
func (c *Commands) Cut() {
	c.queue = queue[Order]{}
	c.seen = max(c.written, c.writing)
	for _, f := range c.failed {
		c.seen = max(c.seen, f.Number)
	}
}

// Waiting returns how many orders wait.
func (c *Commands) Waiting() int { return c.queue.len() }

// Idle reports whether nothing waits and nothing is being carried out.
func (c *Commands) Idle() bool { return c.queue.len() == 0 && c.writing == 0 }

// Fill writes what the next hello says about commands.
func (c *Commands) Fill(h *Hello) {
	h.Written, h.Writing, h.Failed = c.written, c.writing, slices.Clone(c.failed)
}

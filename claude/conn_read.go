package claude

import (
	"context"
	"errors"

	"github.com/switchboard-dev/switchboard/wire"
)

// A batchReader is a [Transport] that returns the lines of one read together.
// readBatch is Read for as many whole lines as there are, at least one. It returns
// either lines or an error. The lines may share memory with each other and belong
// to the caller; the slice is valid until the following call.
type batchReader interface {
	readBatch(ctx context.Context) ([][]byte, error)
}

// readLoop reads the transport to its end.
func (c *Conn) readLoop() {
	defer close(c.readDone)
	read := func(ctx context.Context) ([][]byte, error) {
		line, err := c.transport.Read(ctx)
		return [][]byte{line}, err
	}
	if t, ok := c.transport.(batchReader); ok {
		read = t.readBatch
	}
	for {
		lines, err := read(context.Background())
		if tooLong, ok := errors.AsType[*wire.LineTooLongError](err); ok {
			c.receive([][]byte{nil}, tooLong)
		} else if err != nil {
			c.end(err)
			if c.observer != nil {
				c.observer.ended(c.Err())
			}
			c.backlog.finish(c.Err())
			return
		} else {
			c.receive(lines, nil)
		}
		c.backlog.pace(c.ctx.Done())
	}
}

// receive takes in the lines of one read, or the one that was too long. The session
// folds them first, then readers may see them, and then control lines are acted on:
// a caller that gets an answer, or reads a line, finds the state that goes with it.
func (c *Conn) receive(lines [][]byte, tooLong *wire.LineTooLongError) {
	s := c.backlog.segment(lines, tooLong)
	if c.observer != nil {
		c.observer.lines(s.lines)
	}
	c.backlog.publish(s)
	for i := range s.lines {
		if l := &s.lines[i]; c.acts(&l.Header) {
			c.dispatch(l.Bytes, l.Header)
		}
	}
}

// acts reports whether a line may be about control. Nearly all are not.
func (c *Conn) acts(h *wire.Header) bool {
	switch string(h.Type) {
	case "":
		return false
	case "stream_event", "assistant", "user", "keep_alive":
		return c.insist > 0 // they may show that an answer was taken
	}
	return true
}

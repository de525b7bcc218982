package claude

import (
	"context"
	"errors"

	"github.com/switchboard-dev/switchboard/wire"
)

// A batchReader is a [Transport] that has lines in batches. readBatch is Read for
// as many whole lines as there are, at least one. Lines and an error do not come
// together. The lines may share memory, and nobody else has them; the slice is valid
// until the following call.
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
		if !c.intake.receive(c, lines, err) {
			c.end(err)
			if c.tap != nil {
				c.tap.ended(c.Err())
			}
			c.backlog.finish(c.Err())
			return
		}
		c.backlog.pace(c.ctx.Done())
	}
}

// An arrival is a line that has come.
type arrival struct {
	Line
	// piece says that the line is one of a delta like those before. There is nothing
	// to it, and its header is not filled in.
	piece bool
	agent bool // the piece is a sub-agent's
}

// An intake is what is needed for a batch, kept for the next one.
type intake struct {
	peeker wire.Peeker
	now    arrival // the line that is looked at
	next   int     // the number of the line to come in the batch
	acting []Line  // those that must be acted on
	take   func() *arrival

	// Of the batch.
	conn    *Conn
	lines   [][]byte
	tooLong *wire.LineTooLongError
}

// receive takes what a read brought: it is told to the session first, then shown to
// all readers at once, and then acted on: who gets an answer, or reads a line, finds
// the state that goes with it. It reports false if it is the end.
func (in *intake) receive(c *Conn, lines [][]byte, err error) bool {
	tooLong, ok := errors.AsType[*wire.LineTooLongError](err)
	switch {
	case ok:
		lines = [][]byte{nil}
	case err != nil:
		return false
	}
	if in.take == nil {
		in.take = in.one
	}
	in.conn, in.lines, in.tooLong, in.next = c, lines, tooLong, 0
	if c.tap != nil {
		c.tap.lines(in.take)
	}
	for in.one() != nil { // those that nobody has been told
	}
	c.backlog.publish()
	for i := range in.acting {
		c.take(in.acting[i].Bytes, in.acting[i].Header)
	}
	// Or it would keep the lines alive.
	clear(in.acting)
	in.acting, in.now, in.lines = in.acting[:0], arrival{}, nil
	return true
}

// one keeps the next line of the batch, which is looked at once. It returns nil if
// there is none, and otherwise what is valid until the following call.
func (in *intake) one() *arrival {
	if in.next == len(in.lines) {
		return nil
	}
	a, c, line := &in.now, in.conn, in.lines[in.next]
	in.next++
	more := len(in.lines) - in.next
	a.Bytes = line
	if in.tooLong == nil && c.insist == 0 {
		if a.agent, a.piece = c.backlog.stagePiece(line, &in.peeker, more); a.piece {
			return a
		}
	}
	a.piece = false
	a.TooLong, a.backlog, a.Header = in.tooLong, c.backlog, wire.Header{}
	if in.tooLong == nil {
		if h, err := in.peeker.Peek(line); err == nil {
			a.Header = h
		}
	}
	a.Number, a.shelf = c.backlog.stage(line, &a.Header, in.tooLong, more)
	if c.acts(&a.Header) {
		in.acting = append(in.acting, a.Line)
	}
	return a
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

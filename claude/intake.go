package claude

import (
	"context"
	"errors"
	"slices"

	"github.com/switchboard-dev/switchboard/wire"
)

// A batchReader is a [Transport] that has lines in batches. readBatch is Read for
// as many whole lines as there are, at least one. Lines and an error do not come
// together. The lines may share memory, and nobody else has them.
type batchReader interface {
	readBatch(ctx context.Context) ([][]byte, error)
}

// readLoop reads the transport to its end. What a read brings is told to the
// session first, then shown to all readers at once, and then acted on: who gets
// an answer, or reads a line, finds the state that goes with it.
func (c *Conn) readLoop() {
	defer close(c.readDone)
	read := func(ctx context.Context) ([][]byte, error) {
		line, err := c.transport.Read(ctx)
		return [][]byte{line}, err
	}
	if t, ok := c.transport.(batchReader); ok {
		read = t.readBatch
	}
	var in intake
	for {
		lines, err := read(context.Background())
		tooLong, ok := errors.AsType[*wire.LineTooLongError](err)
		switch {
		case ok:
			lines = [][]byte{nil}
		case err != nil:
			c.end(err)
			if c.tap != nil {
				c.tap.ended(c.Err())
			}
			c.backlog.finish(c.Err())
			return
		}
		in.receive(c, lines, tooLong)
		c.backlog.pace(c.ctx.Done())
	}
}

// An intake is what readLoop needs for a batch, kept for the next one.
type intake struct {
	all    []Line
	acting []int // those that must be acted on
}

// receive keeps the lines of a batch, each of which is looked at once.
func (in *intake) receive(c *Conn, lines [][]byte, tooLong *wire.LineTooLongError) {
	in.all, in.acting = slices.Grow(in.all[:0], len(lines))[:len(lines)], in.acting[:0]
	for i, bytes := range lines {
		l := &in.all[i]
		l.Bytes, l.TooLong, l.backlog = bytes, tooLong, c.backlog
		if tooLong == nil {
			var err error
			if l.Header, err = wire.Peek(bytes); err != nil {
				l.Header = wire.Header{}
			}
		}
		l.Number, l.record = c.backlog.stage(bytes, &l.Header, tooLong, len(lines)-i-1)
		if c.acts(&l.Header) {
			in.acting = append(in.acting, i)
		}
	}
	if c.tap != nil {
		c.tap.lines(in.all)
	}
	c.backlog.publish()
	for _, i := range in.acting {
		c.take(in.all[i].Bytes, in.all[i].Header)
	}
	clear(in.all) // or it would keep the lines alive
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

package claude

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/switchboard-dev/switchboard/wire"
)

const defaultBacklog = 64 << 20

// A Line is a line that the CLI wrote, with its place among them.
type Line struct {
	// Number counts the lines of a connection from 1.
	Number int64
	// Bytes is the line without its line end. It is shared by all readers and
	// must not be changed. It is nil for a line that was too long.
	Bytes []byte
	// TooLong tells of a line that was over the limit and has been dropped; nil
	// for all others.
	TooLong *wire.LineTooLongError
}

// Message decodes the line.
func (l Line) Message() (wire.Message, error) {
	if l.TooLong != nil {
		return nil, l.TooLong
	}
	return wire.Decode(l.Bytes)
}

// A LaggedError tells a reader that it was too slow, or came too late: lines
// before the ones that follow are no longer kept.
type LaggedError struct {
	// Missed is how many lines the reader does not get.
	Missed int64
}

// Error says how many lines were missed.
func (e *LaggedError) Error() string {
	return fmt.Sprintf("%d lines are no longer kept: the reader was too slow", e.Missed)
}

// A backlog keeps the last lines of a connection, bounded by bytes, for readers
// who are only a number each. It never waits for one.
type backlog struct {
	limit int

	mu    sync.Mutex
	lines []Line
	bytes int
	next  int64         // the number of the line to come
	end   error         // nil until finish
	news  chan struct{} // closed and replaced when a line comes or the end
}

func newBacklog(limit int) *backlog {
	if limit <= 0 {
		limit = defaultBacklog
	}
	return &backlog{limit: limit, next: 1, news: make(chan struct{})}
}

func (b *backlog) add(bytes []byte, tooLong *wire.LineTooLongError) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, Line{Number: b.next, Bytes: bytes, TooLong: tooLong})
	b.next++
	b.bytes += len(bytes)
	drop := 0
	for b.bytes > b.limit && drop < len(b.lines)-1 {
		b.bytes -= len(b.lines[drop].Bytes)
		b.lines[drop] = Line{}
		drop++
	}
	b.lines = b.lines[drop:]
	b.wake()
}

func (b *backlog) finish(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end = err
	b.wake()
}

// wake tells everyone who waits. mu is held.
func (b *backlog) wake() {
	close(b.news)
	b.news = make(chan struct{})
}

// after returns the lines behind a number, and if there are none a channel to
// wait on, or the end.
func (b *backlog) after(number int64) (lines []Line, missed int64, news <-chan struct{}, end error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.lines) == 0 {
		return nil, 0, b.news, b.end
	}
	first := b.lines[0].Number
	if number+1 < first {
		return nil, first - number - 1, nil, nil
	}
	if skip := number + 1 - first; skip < int64(len(b.lines)) {
		// A copy, since what is dropped is also cleared. A reader that stops early
		// should not have paid for all.
		const most = 256
		return slices.Clone(b.lines[skip:min(skip+most, int64(len(b.lines)))]), 0, nil, nil
	}
	return nil, 0, b.news, b.end
}

// Lines returns the lines behind the one with the number after, those that come
// included: every line that the CLI wrote, control lines too. Any number of
// readers may run, each at its own pace. A reader that is too slow gets a
// [*LaggedError] in the place of what it missed and can go on. The sequence ends
// with the error that ended the connection, or with that of ctx.
func (c *Conn) Lines(ctx context.Context, after int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		at := after
		for {
			lines, missed, news, end := c.backlog.after(at)
			switch {
			case missed > 0:
				if !yield(Line{}, &LaggedError{Missed: missed}) {
					return
				}
				at += missed
				continue
			case len(lines) > 0:
				for _, l := range lines {
					if ctx.Err() != nil {
						break
					}
					if !yield(l, nil) {
						return
					}
					at = l.Number
				}
			case end != nil:
				yield(Line{}, end)
				return
			}
			if ctx.Err() != nil {
				yield(Line{}, context.Cause(ctx))
				return
			}
			if news != nil {
				select {
				case <-news:
				case <-ctx.Done():
				}
			}
		}
	}
}

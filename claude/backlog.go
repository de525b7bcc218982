package claude

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchboard-dev/switchboard/internal/broadcast"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	defaultBacklog = 64 << 20
	// lineOverhead is what a line takes besides its bytes, about: a Line, most of
	// which is the header.
	lineOverhead = 400
	// A part of the backlog is kept also when every reader has had it, for readers
	// that come later. A reader that is further behind than that is waited for.
	historyPart = 32
	// minRate is how many bytes per second are read from the CLI at least, no
	// matter how slow a reader is: far more than any CLI writes, so that control
	// traffic is never held up for longer than a moment.
	minRate = 16 << 20
	// minWait is the shortest time that is worth a wait, maxWait how long a wait
	// may be, and with it the delay of a question that comes just then.
	minWait = time.Millisecond
	maxWait = 20 * time.Millisecond
)

// A Line is a line that the CLI wrote, with its place among them.
type Line struct {
	// Number counts the lines of a connection from 1.
	Number int64
	// Header is the line's header, which is read once for all readers. It is zero
	// if the line is not a JSON object. It is part of Bytes.
	Header wire.Header
	// Bytes is the line without its line end. It is shared by all readers and
	// must not be changed. It is nil for a line that was too long. A short line that
	// is kept for long keeps up to 64 KiB of its neighbours in memory; keep a copy
	// instead.
	Bytes []byte
	// TooLong tells of a line that was over the limit and has been dropped; nil
	// for all others.
	TooLong *wire.LineTooLongError

	segment *segment // nil for a line that is not from a backlog
}

// Message decodes the line, once for all readers that keep up. The message is shared
// and must not be changed.
func (l Line) Message() (wire.Message, error) {
	if l.TooLong != nil {
		return nil, l.TooLong
	}
	if d := l.decoded(); d != nil {
		return d.message, d.err
	}
	m, err := wire.DecodeShared(l.Bytes)
	l.share(m, err)
	return m, err
}

// Delta returns the piece of text, thought or tool input that the line adds to a
// message, without decoding all of it. It reports false for every line that is
// no such piece.
func (l Line) Delta() (wire.DeltaPeek, bool) {
	return l.Header.Delta()
}

// A decoded is what a line says, or why it says nothing.
type decoded struct {
	message wire.Message
	err     error
}

// decoded returns what the line says if that is known.
func (l *Line) decoded() *decoded {
	if d := l.shared(); d != nil {
		return d.Load()
	}
	return nil
}

// share lets all readers use what the line says, unless that is known already.
func (l *Line) share(m wire.Message, err error) {
	if d := l.shared(); d != nil {
		d.CompareAndSwap(nil, &decoded{m, err})
	}
}

// shared returns where the line's message is shared, nil if it is not.
func (l *Line) shared() *atomic.Pointer[decoded] {
	if l.segment == nil {
		return nil
	}
	list := l.segment.decoded.Load()
	if list == nil {
		return nil
	}
	return &(*list)[l.Number-l.segment.first]
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

// A segment is the lines of one read of the transport, which are kept and dropped
// together.
type segment struct {
	// Static after construction.
	first int64 // the number of the first line
	start int64 // how many bytes came before it on the connection
	lines []Line

	// decoded holds the messages that a reader or the session has decoded; nil once
	// they are not shared any more.
	decoded atomic.Pointer[[]atomic.Pointer[decoded]]
}

func byFirst(s *segment, number int64) int { return cmp.Compare(s.first, number) }

// A cursor is a reader's place. Its fields are guarded by the backlog's mu.
type cursor struct {
	at    int64 // the number of the last line it is done with
	bytes int64 // how many bytes came up to about there
}

// A backlog keeps the last lines of a connection, bounded by bytes, for readers,
// each of which is a cursor.
//
// Lines are kept until every reader has had them, and a part of the limit for
// longer. If there is no reader all are kept; more than the limit never are.
// While a reader is behind by more than that part, the connection is read no
// faster than the reader goes on, but never slower than minRate: a reader that works
// loses nothing and needs little memory, one that sleeps does not stop the CLI.
type backlog struct {
	// Static after construction.
	limit   int64
	history int64

	// Owned by the connection's readLoop.
	next   int64         // the number of the line to come
	total  int64         // how many bytes have come
	budget time.Duration // how long readers may be waited for
	paced  int64         // the total up to which the budget was counted

	mu       sync.Mutex
	segments []*segment
	cursors  []*cursor
	last     int64               // the number of the last line that readers may see
	bytes    int64               // total, up to that line
	shared   int64               // the number of the first line whose message may be shared
	end      error               // nil until finish
	news     broadcast.Broadcast // a line or the end has come
	moved    chan struct{}       // closed when no reader is far behind; nil while pace does not wait
}

func newBacklog(limit int) *backlog {
	if limit <= 0 {
		limit = defaultBacklog
	}
	return &backlog{limit: int64(limit), history: int64(limit) / historyPart, next: 1}
}

// segment numbers the lines of one read and reads their headers. Readers do not see
// them before publish. Both are called by readLoop only.
func (b *backlog) segment(lines [][]byte, tooLong *wire.LineTooLongError) *segment {
	s := &segment{first: b.next, start: b.total, lines: make([]Line, len(lines))}
	messages := make([]atomic.Pointer[decoded], len(lines))
	s.decoded.Store(&messages)
	for i, line := range lines {
		l := &s.lines[i]
		l.Number, l.Bytes, l.TooLong, l.segment = b.next, line, tooLong, s
		if h, err := wire.Peek(line); err == nil {
			l.Header = h
		}
		b.next++
		b.total += int64(len(line)) + lineOverhead
	}
	return s
}

// publish shows lines to the readers and drops what is not kept any longer.
func (b *backlog) publish(s *segment) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.segments = append(b.segments, s)
	b.last, b.bytes = b.next-1, b.total

	had := int64(0) // up to where every reader is done
	for i, c := range b.cursors {
		if i == 0 || c.at < had {
			had = c.at
		}
	}
	drop := 0
	for drop < len(b.segments)-1 {
		kept, after := b.total-b.segments[drop].start, b.segments[drop+1]
		if kept <= b.limit && (b.total-after.start < b.history || after.first > had+1) {
			break
		}
		drop++
	}
	b.unshare(had)
	clear(b.segments[:drop])
	b.segments = b.segments[drop:]
	b.wake()
}

// unshare drops the messages of lines that every reader has had, and of those that
// are far behind: decoded they take several times the memory. mu is held.
func (b *backlog) unshare(had int64) {
	from, _ := slices.BinarySearchFunc(b.segments, b.shared, byFirst)
	for _, s := range b.segments[from:] {
		end := s.first + int64(len(s.lines))
		if len(b.cursors) > 0 && end > had+1 && b.total-s.start < b.history {
			return
		}
		s.decoded.Store(nil)
		b.shared = end
	}
}

func (b *backlog) finish(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end = err
	b.wake()
}

// wake wakes every reader that waits. mu is held.
func (b *backlog) wake() {
	b.news.Notify()
}

// poke has readers that wait look again.
func (b *backlog) poke() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wake()
}

// newest returns the number of the last line that readers may see.
func (b *backlog) newest() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// pace is the back-pressure of readers: readLoop waits in it while one of them is far
// behind, for as long as is fair to a question that may come next.
func (b *backlog) pace(done <-chan struct{}) {
	b.budget = min(b.budget+time.Duration(float64(b.total-b.paced)/minRate*float64(time.Second)), maxWait)
	b.paced = b.total
	if b.budget < minWait {
		return
	}
	b.mu.Lock()
	if !b.behind(b.history) {
		b.mu.Unlock()
		return
	}
	moved := make(chan struct{})
	b.moved = moved
	b.mu.Unlock()
	start := time.Now()
	timer := time.NewTimer(b.budget)
	defer timer.Stop()
	select {
	case <-moved:
	case <-timer.C:
	case <-done:
	}
	b.budget -= time.Since(start)
	b.mu.Lock()
	b.moved = nil
	b.mu.Unlock()
}

// behind reports whether a reader has more than so many bytes before it. mu is
// held.
func (b *backlog) behind(bytes int64) bool {
	for _, c := range b.cursors {
		if b.bytes-c.bytes > bytes {
			return true
		}
	}
	return false
}

// join lets a reader begin behind a number.
func (b *backlog) join(after int64) *cursor {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &cursor{at: after}
	if c.at < 0 {
		c.at = b.last
	}
	b.find(c)
	b.cursors = append(b.cursors, c)
	return c
}

// leave forgets a reader.
func (b *backlog) leave(c *cursor) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cursors = slices.DeleteFunc(b.cursors, func(o *cursor) bool { return o == c })
	b.advanced()
}

// find returns the segment of a cursor's next line, nil if that has not come yet or is
// no longer kept, and notes how many bytes came up to the cursor. mu is held.
func (b *backlog) find(c *cursor) *segment {
	if c.at >= b.last {
		c.bytes = b.bytes
		return nil
	}
	i, found := slices.BinarySearchFunc(b.segments, c.at+1, byFirst)
	if !found {
		i--
	}
	if i < 0 {
		return nil
	}
	c.bytes = b.segments[i].start
	return b.segments[i]
}

// advanced wakes pace if no reader is far behind. mu is held.
func (b *backlog) advanced() {
	// Not as soon as they could go on: readLoop is to have something to do then.
	if b.moved != nil && !b.behind(b.history*3/4) {
		close(b.moved)
		b.moved = nil
	}
}

// after returns some lines behind the one that a reader is done with. If there are
// none it returns nil, or the end; if they are no longer kept, how many were missed.
func (b *backlog) after(c *cursor, done int64) (lines []Line, missed int64, end error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c.at = done
	s := b.find(c)
	b.advanced()
	switch {
	case s != nil:
		return s.lines[c.at+1-s.first:], 0, nil
	case c.at < b.last:
		return nil, b.segments[0].first - c.at - 1, nil
	}
	return nil, 0, b.end
}

// wait returns a channel that is closed when there is more than a reader is done
// with, or the end; nil if that is so already.
func (b *backlog) wait(c *cursor) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.at < b.last || b.end != nil {
		return nil
	}
	return b.news.Changed()
}

// Lines returns the lines behind the one with the number after, those that come
// included: every line that the CLI wrote, control lines too. With 0 it begins
// with the first that is kept. Any number of readers may run, each at its own
// pace. A reader that is too slow gets a [*LaggedError] in the place of what it
// missed and can go on. The sequence ends with the error that ended the
// connection, or with that of ctx.
func (c *Conn) Lines(ctx context.Context, after int64) iter.Seq2[Line, error] {
	return c.lines(ctx, after, nil)
}

// lines is Lines. Before it waits for a line, and each time that poke is called
// meanwhile, it calls pause, which reports false to end the sequence.
func (c *Conn) lines(ctx context.Context, after int64, pause func() bool) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		place := c.backlog.join(after)
		defer c.backlog.leave(place)
		at := place.at
		for {
			lines, missed, end := c.backlog.after(place, at)
			switch {
			case missed > 0:
				if !yield(Line{}, &LaggedError{Missed: missed}) {
					return
				}
				at += missed
				continue
			case end != nil:
				yield(Line{}, end)
				return
			}
			for i := range lines {
				if ctx.Err() != nil {
					break
				}
				at++
				if !yield(lines[i], nil) {
					return
				}
			}
			if ctx.Err() != nil {
				yield(Line{}, context.Cause(ctx))
				return
			}
			if len(lines) > 0 {
				continue
			}
			// Before pause, so that nothing is missed that is told meanwhile.
			news := c.backlog.wait(place)
			if pause != nil && !pause() {
				return
			}
			if news == nil {
				continue
			}
			select {
			case <-news:
			case <-ctx.Done():
			}
		}
	}
}

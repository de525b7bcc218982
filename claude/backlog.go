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

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

const (
	defaultBacklog = 64 << 20
	// A part of the backlog is kept also when every reader has had it, for those
	// who come later. A reader that is further behind than that is waited for.
	historyPart = 64
	// leastPace is how many bytes per second are read from the CLI at least, no
	// matter how slow a reader is: far more than any CLI writes, so that control
	// traffic is never held up for longer than a moment.
	leastPace = 16 << 20
	// leastWait is the shortest time that is worth a wait, mostWait how long a wait
	// may be, and with it a question that comes just then.
	leastWait = time.Millisecond
	mostWait  = 20 * time.Millisecond
	// A shelf is as many lines, or bytes of them, as are kept and dropped together.
	leastShelf = 16
	mostShelf  = 256
	shelfBytes = 64 << 10
)

// A Line is a line that the CLI wrote, with its place among them.
type Line struct {
	// Number counts the lines of a connection from 1.
	Number int64
	// Header is the line's header, which is read once for all readers. It is zero
	// if the line is not a JSON object. It is part of Bytes.
	Header wire.Header
	// Bytes is the line without its line end. It is shared by all readers and
	// must not be changed. It is nil for a line that was too long. Who keeps a
	// short line for long keeps up to 64 KiB of its neighbours alive, and does
	// better to keep a copy.
	Bytes []byte
	// TooLong tells of a line that was over the limit and has been dropped; nil
	// for all others.
	TooLong *wire.LineTooLongError

	shelf   *shelf // where it is kept; nil for a line that is not from a backlog
	backlog *backlog
}

// Message decodes the line. The message is shared by all readers where there are
// several, and must not be changed.
func (l Line) Message() (wire.Message, error) {
	switch {
	case l.TooLong != nil:
		return nil, l.TooLong
	case l.shelf == nil:
		return wire.Decode(l.Bytes)
	}
	return l.shelf.message(l.Number, l.Bytes, l.backlog)
}

// Delta returns the piece of text, thought or tool input that the line adds to a
// message, without decoding all of it. It reports false for every line that is
// no such piece.
func (l Line) Delta() (wire.DeltaPeek, bool) {
	return l.Header.Delta()
}

// share lets all readers use what a reducer has decoded, if it has.
func (l *Line) share(f *fold.Line) {
	if l.shelf == nil {
		return
	}
	if m, ok := f.Ready(); ok {
		l.shelf.share(l.Number, &decoded{message: m})
	}
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

// decoded is a line's message, decoded once for all.
type decoded struct {
	once    sync.Once
	message wire.Message
	err     error
}

// A shelf is some lines in a row. They never move, and those that have been shown
// never change. As little as possible of it are pointers, which the garbage collector
// would have to follow.
type shelf struct {
	// Static after construction.
	first int64 // the number of the first line
	start int64 // how many bytes came before it on the connection

	// Filled by the goroutine that adds, from the beginning.
	lines  [][]byte
	places []wire.Places // the lines' headers
	used   int           // how many there are
	bytes  int64
	rare   *rare // of a line that has more; it is the only one then

	shown int // how many readers may see; guarded by the backlog's mu

	mu      sync.Mutex
	decoded map[int64]*decoded // what lines say, as soon as more than one wants to know
}

// rare is what few lines have.
type rare struct {
	header  wire.Header // instead of its places
	tooLong *wire.LineTooLongError
}

// fill makes a Line of the one with the number given.
func (k *shelf) fill(l *Line, number int64) {
	i := number - k.first
	l.Number, l.Bytes, l.shelf = number, k.lines[i], k
	if k.rare != nil {
		l.Header, l.TooLong = k.rare.header, k.rare.tooLong
		return
	}
	l.Header, l.TooLong = k.places[i].Header(l.Bytes), nil
}

// share has all readers use what is decoded.
func (k *shelf) share(number int64, d *decoded) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.decoded == nil {
		k.decoded = map[int64]*decoded{}
	}
	k.decoded[number] = d
}

// shared returns what is decoded, or is to be by who asks first. It returns nil if
// nothing is and nobody else is there who could use it.
func (k *shelf) shared(number int64, b *backlog) *decoded {
	k.mu.Lock()
	defer k.mu.Unlock()
	d := k.decoded[number]
	if d == nil && b.readers.Load() >= 2 {
		d = new(decoded)
		if k.decoded == nil {
			k.decoded = map[int64]*decoded{}
		}
		k.decoded[number] = d
	}
	return d
}

// forget drops what is decoded.
func (k *shelf) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.decoded = nil
}

func (k *shelf) message(number int64, bytes []byte, b *backlog) (wire.Message, error) {
	d := k.shared(number, b)
	if d == nil {
		return wire.DecodeShared(bytes)
	}
	d.once.Do(func() {
		if d.message == nil {
			d.message, d.err = wire.DecodeShared(bytes)
		}
	})
	return d.message, d.err
}

func byFirst(k *shelf, number int64) int { return cmp.Compare(k.first, number) }

// A cursor is a reader's place. Its fields are guarded by the backlog's mu.
type cursor struct {
	at    int64 // the number of the last line it is done with
	bytes int64 // how many bytes came up to about there
}

// A backlog keeps the last lines of a connection, bounded by bytes, for readers
// who are only a number each.
//
// Lines are kept until every reader has had them, and a part of the limit for
// longer. If there is no reader all are kept; more than the limit never are.
// While a reader is behind by more than that part, the connection is read no
// faster than the reader goes on, but never slower than leastPace: one that works
// loses nothing and needs little memory, one that sleeps holds up nobody.
type backlog struct {
	// Static after construction.
	limit   int64
	history int64

	readers atomic.Int64 // how many there are

	// Owned by the goroutine that adds.
	tail     *shelf        // the last one, not full perhaps
	next     int64         // the number of the line to come
	total    int64         // how many bytes have come
	fresh    []*shelf      // those that readers do not know of yet
	patience time.Duration // how long readers may be waited for
	paced    int64         // the total up to which patience was counted

	mu      sync.Mutex
	shelves []*shelf
	cursors []*cursor
	last    int64         // the number of the last line that readers may see
	plain   int64         // the number of the first line whose message may be kept
	come    int64         // total, up to that line
	end     error         // nil until finish
	news    chan struct{} // closed when a line or the end comes; nil if nobody waits
	moved   chan struct{} // closed when no reader is far behind; nil if nobody waits
}

func newBacklog(limit int) *backlog {
	if limit <= 0 {
		limit = defaultBacklog
	}
	return &backlog{limit: int64(limit), history: int64(limit) / historyPart, next: 1}
}

// stage puts a line behind those that are kept, where no reader sees it yet.
// publish shows what was staged. Both are for the one goroutine that adds. more
// is how many are known to follow.
func (b *backlog) stage(bytes []byte, h *wire.Header, tooLong *wire.LineTooLongError, more int) (number int64, k *shelf) {
	t := b.room(more)
	if tooLong != nil || !t.places[t.used].Set(bytes, h) {
		if t.used > 0 {
			t = b.shelve(1)
		}
		t.rare = &rare{*h, tooLong}
	}
	return b.put(t, bytes), t
}

// stagePiece is stage for a line of a delta like those before. It reports whether it
// is one, and whether it is a sub-agent's.
func (b *backlog) stagePiece(bytes []byte, peeker *wire.Peeker, more int) (agent, ok bool) {
	t := b.room(more)
	places := &t.places[t.used]
	if !peeker.Delta(bytes, places) {
		return false, false
	}
	b.put(t, bytes)
	return places.Agent(), true
}

// room returns a shelf with room for a line.
func (b *backlog) room(more int) *shelf {
	t := b.tail
	if t == nil || t.rare != nil || t.used == len(t.lines) || t.bytes >= min(shelfBytes, b.limit/historyPart) {
		t = b.shelve(min(max(more+1, leastShelf), mostShelf))
	}
	return t
}

// put puts a line on a shelf and returns its number.
func (b *backlog) put(t *shelf, bytes []byte) (number int64) {
	t.lines[t.used] = bytes
	number = b.next
	t.used++
	t.bytes += int64(len(bytes))
	b.next++
	b.total += int64(len(bytes))
	return number
}

// shelve begins a shelf for so many lines.
func (b *backlog) shelve(size int) *shelf {
	b.tail = &shelf{first: b.next, start: b.total, lines: make([][]byte, size), places: make([]wire.Places, size)}
	b.fresh = append(b.fresh, b.tail)
	return b.tail
}

// publish shows the staged lines to the readers and drops what is not kept any
// longer.
func (b *backlog) publish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.shelves); n > 0 {
		b.shelves[n-1].shown = b.shelves[n-1].used
	}
	for _, f := range b.fresh {
		f.shown = f.used
	}
	b.shelves = append(b.shelves, b.fresh...)
	clear(b.fresh)
	b.fresh = b.fresh[:0]
	b.last, b.come = b.next-1, b.total

	had := int64(0) // up to where every reader is done
	for i, c := range b.cursors {
		if i == 0 || c.at < had {
			had = c.at
		}
	}
	drop := 0
	for drop < len(b.shelves)-1 {
		kept, after := b.total-b.shelves[drop].start, b.shelves[drop+1]
		if kept <= b.limit && (b.total-after.start < b.history || after.first > had+1) {
			break
		}
		drop++
	}
	clear(b.shelves[:drop])
	b.shelves = b.shelves[drop:]
	b.forget(had)
	b.wake()
}

// forget drops the messages of lines that every reader has had, and of those that
// are far behind: decoded they take several times the memory. mu is held.
func (b *backlog) forget(had int64) {
	from, _ := slices.BinarySearchFunc(b.shelves, b.plain, byFirst)
	for _, k := range b.shelves[from:] {
		end := k.first + int64(k.shown)
		if k == b.tail || end > had+1 && b.total-k.start < b.history {
			return
		}
		k.forget()
		b.plain = end
	}
}

func (b *backlog) finish(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end = err
	b.wake()
}

// wake tells everyone who waits. mu is held.
func (b *backlog) wake() {
	if b.news != nil {
		close(b.news)
		b.news = nil
	}
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

// pace waits for readers that are far behind, if they go on and for as long as is
// fair to who waits for a question. It is called by the goroutine that adds.
func (b *backlog) pace(done <-chan struct{}) {
	b.patience = min(b.patience+time.Duration(float64(b.total-b.paced)/leastPace*float64(time.Second)), mostWait)
	b.paced = b.total
	if b.patience < leastWait {
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
	timer := time.NewTimer(b.patience)
	defer timer.Stop()
	select {
	case <-moved:
	case <-timer.C:
	case <-done:
	}
	b.patience -= time.Since(start)
	b.mu.Lock()
	b.moved = nil
	b.mu.Unlock()
}

// behind reports whether a reader has more than so many bytes before it. mu is
// held.
func (b *backlog) behind(bytes int64) bool {
	for _, c := range b.cursors {
		if b.come-c.bytes > bytes {
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
	b.place(c)
	b.cursors = append(b.cursors, c)
	b.readers.Store(int64(len(b.cursors)))
	return c
}

// leave forgets a reader.
func (b *backlog) leave(c *cursor) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cursors = slices.DeleteFunc(b.cursors, func(o *cursor) bool { return o == c })
	b.readers.Store(int64(len(b.cursors)))
	b.advanced()
}

// place finds out how many bytes came up to a cursor, and on which shelf the next
// line is: -1 if it has not come yet. mu is held.
func (b *backlog) place(c *cursor) int {
	i, found := slices.BinarySearchFunc(b.shelves, c.at+1, byFirst)
	if !found {
		i--
	}
	if c.at >= b.last {
		c.bytes = b.come
		return -1
	}
	if i >= 0 {
		c.bytes = b.shelves[i].start
	}
	return i
}

// advanced tells who waits for readers. mu is held.
func (b *backlog) advanced() {
	// Not at each step: who waits is to have something to do then.
	if b.moved != nil && !b.behind(b.history*3/4) {
		close(b.moved)
		b.moved = nil
	}
}

// after returns the shelf with the line behind the one that a reader is done with,
// and the number of the last one there. If there are none it returns nil, or the end;
// if they are no longer kept, how many were missed.
func (b *backlog) after(c *cursor, done int64) (k *shelf, last, missed int64, end error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c.at = done
	i := b.place(c)
	b.advanced()
	if i < 0 {
		if len(b.shelves) > 0 && c.at < b.last {
			return nil, 0, b.shelves[0].first - c.at - 1, nil
		}
		return nil, 0, 0, b.end
	}
	k = b.shelves[i]
	return k, k.first + int64(k.shown) - 1, 0, nil
}

// wait returns a channel that is closed when there is more than a reader is done
// with, or the end; nil if that is so already.
func (b *backlog) wait(c *cursor) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.at < b.last || b.end != nil {
		return nil
	}
	if b.news == nil {
		b.news = make(chan struct{})
	}
	return b.news
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
// meanwhile, it calls pause, which reports false if that is enough.
func (c *Conn) lines(ctx context.Context, after int64, pause func() bool) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		place := c.backlog.join(after)
		defer c.backlog.leave(place)
		at := place.at
		for {
			k, last, missed, end := c.backlog.after(place, at)
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
			line := Line{backlog: c.backlog}
			for k != nil && at < last && ctx.Err() == nil {
				at++
				k.fill(&line, at)
				if !yield(line, nil) {
					return
				}
			}
			if ctx.Err() != nil {
				yield(Line{}, context.Cause(ctx))
				return
			}
			if k != nil {
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

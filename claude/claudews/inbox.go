package claudews

import (
	"context"
	"errors"
	"sync"

	"github.com/switchboard-dev/switchboard/wire"
)

// An item is what an inbox holds: a line, a line that was too long, or an event.
type item struct {
	line      []byte
	header    wire.Header // of the line
	malformed error       // why it has none
	err       error       // instead of a line
	event     *Event      // instead of a line
	repeat    bool
	ack       *receipt // nil if nobody waits for it
}

// size is what an item counts in an inbox. Events count nothing.
func (it item) size() int {
	if it.err != nil {
		return 1 << 10
	}
	return len(it.line)
}

// asLine returns the item as it is given to the peer's owner.
func (it item) asLine() Line {
	var tooLong *wire.LineTooLongError
	if it.err != nil {
		tooLong, _ = errors.AsType[*wire.LineTooLongError](it.err)
	}
	return Line{Bytes: it.line, TooLong: tooLong, Header: it.header, Malformed: it.malformed, Repeat: it.repeat, receipt: it.ack}
}

// An inbox is the queue between the connections of a transport and its reader.
// It is bounded by bytes and by count: when it is full the connection is not
// read further, and the CLI waits. Events are exempt, since a lost connection
// must be told even to a reader that is behind; pairs of them that cancel each
// other out are taken back, so they do not pile up.
type inbox struct {
	// Static after construction.
	maxBytes, maxItems int

	mu    sync.Mutex
	items []item
	bytes int
	end   error         // nil until finish
	news  chan struct{} // closed when there is something to take; nil while nobody waits
	room  chan struct{} // closed when there is more room; nil while nobody waits

	// consume is given what comes, by who puts it there; nil if it is to be taken.
	// busy says that it is being given something, refused is the error it returned,
	// leaving says that drain waits for the end of that.
	consume func([]item) error
	busy    bool
	refused error
	leaving bool
}

func newInbox(maxBytes int) *inbox {
	return &inbox{maxBytes: maxBytes, maxItems: 1 << 16}
}

// wake closes a channel that somebody may wait for. mu is held.
func wake(c *chan struct{}) {
	if *c != nil {
		close(*c)
		*c = nil
	}
}

// wait returns a channel that wake closes. mu is held.
func wait(c *chan struct{}) <-chan struct{} {
	if *c == nil {
		*c = make(chan struct{})
	}
	return *c
}

// inlineBytes is up to how much is consumed by who puts it in.
const inlineBytes = 8 << 10

// put adds items, all or none, when there is room. What is larger than the
// whole inbox goes in when it is empty. done, if not nil, is called when they
// are in and before anyone can take them.
func (b *inbox) put(ctx context.Context, done func(), items ...item) error {
	size := 0
	for _, it := range items {
		size += it.size()
	}
	for {
		b.mu.Lock()
		if b.end != nil {
			defer b.mu.Unlock()
			return b.end
		}
		if b.bytes == 0 || b.bytes+size <= b.maxBytes && len(b.items)+len(items) <= b.maxItems {
			defer b.mu.Unlock()
			b.items = append(b.items, items...)
			b.bytes += size
			if done != nil {
				done()
			}
			switch {
			case b.consume == nil:
				wake(&b.news)
			case b.busy: // who is takes this as well
			case b.bytes <= inlineBytes:
				b.consumeAll()
			default:
				wake(&b.news)
			}
			return nil
		}
		room := wait(&b.room)
		b.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tell adds an event at once.
func (b *inbox) tell(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end != nil {
		return
	}
	// A connection that came and went before the reader heard of it, and
	// brought nothing, is not worth telling.
	if n := len(b.items); e.Kind == EventDisconnected && n > 0 {
		if last := b.items[n-1].event; last != nil && last.Kind == EventReconnected {
			b.items = b.items[:n-1]
			return
		}
	}
	b.items = append(b.items, item{event: &e})
	wake(&b.news) // whoever tells it holds locks, and cannot give it to consume
}

// takeAll takes all items. mu is held.
func (b *inbox) takeAll() []item {
	items := b.items
	b.items, b.bytes = nil, 0
	wake(&b.room)
	return items
}

// get takes all items, one at least, or returns what finish was given when there is
// none.
func (b *inbox) get(ctx context.Context) ([]item, error) {
	for {
		b.mu.Lock()
		if len(b.items) > 0 {
			defer b.mu.Unlock()
			return b.takeAll(), nil
		}
		if end := b.end; end != nil {
			b.mu.Unlock()
			return nil, end
		}
		news := wait(&b.news)
		b.mu.Unlock()
		select {
		case <-news:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// consumeAll gives what is there to consume, and what comes meanwhile. mu is held,
// but not while something is consumed.
func (b *inbox) consumeAll() {
	b.busy = true
	for len(b.items) > 0 && b.refused == nil && !b.leaving {
		items := b.takeAll()
		b.mu.Unlock()
		err := b.consume(items)
		b.mu.Lock()
		b.refused = err
	}
	b.busy = false
	if b.refused != nil || b.leaving {
		wake(&b.news)
	}
}

// drain is get for somebody who has everything that comes given to a function, in
// order. Whoever puts a little in calls it, instead of waking somebody who does; with
// much of it more can be read meanwhile. drain returns the error of the function, or of
// ctx, or what finish was given when there is nothing left. The function is not
// called any more then.
func (b *inbox) drain(ctx context.Context, consume func([]item) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.consume = consume
	defer func() { b.consume, b.refused, b.leaving = nil, nil, false }()
	for {
		if !b.busy {
			switch {
			case b.refused != nil:
				return b.refused
			case ctx.Err() != nil:
				return ctx.Err()
			case len(b.items) > 0:
				b.consumeAll()
				continue
			case b.end != nil:
				return b.end
			}
		}
		over := ctx.Done()
		if b.leaving = ctx.Err() != nil; b.leaving {
			over = nil // what is being done is waited for
		}
		news := wait(&b.news)
		b.mu.Unlock()
		select {
		case <-news:
		case <-over:
		}
		b.mu.Lock()
	}
}

// finish lets nothing more in. What is there can still be taken; after it get
// returns err.
func (b *inbox) finish(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end == nil {
		b.end = err
		wake(&b.news)
		wake(&b.room)
	}
}

package claudews

import (
	"context"
	"errors"
	"sync"

	"github.com/switchboard-dev/switchboard/internal/broadcast"
	"github.com/switchboard-dev/switchboard/wire"
)

// An item is what an inbox holds: a line, a line that was too long, or an event.
type item struct {
	line   []byte
	header *wire.Header // of the line; nil if it is malformed
	err    error        // instead of a line
	event  *Event       // instead of a line
	repeat bool
	ack    *receipt // nil for a line that came over the WebSocket
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
	return Line{Bytes: it.line, TooLong: tooLong, Header: it.header, Repeat: it.repeat, receipt: it.ack}
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
	end   error               // nil until finish
	news  broadcast.Broadcast // there is something to take
	room  broadcast.Broadcast // there is more room
}

func newInbox(maxBytes int) *inbox {
	return &inbox{maxBytes: maxBytes, maxItems: 1 << 16}
}

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
			b.news.Notify()
			return nil
		}
		room := b.room.Changed()
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
	b.news.Notify()
}

// get takes all items, one at least, or returns what finish was given when there is
// none.
func (b *inbox) get(ctx context.Context) ([]item, error) {
	for {
		b.mu.Lock()
		if len(b.items) > 0 {
			defer b.mu.Unlock()
			items := b.items
			b.items, b.bytes = nil, 0
			b.room.Notify()
			return items, nil
		}
		if end := b.end; end != nil {
			b.mu.Unlock()
			return nil, end
		}
		news := b.news.Changed()
		b.mu.Unlock()
		select {
		case <-news:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// finish lets nothing more in. What is there can still be taken; after it get
// returns err.
func (b *inbox) finish(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end == nil {
		b.end = err
		b.news.Notify()
		b.room.Notify()
	}
}

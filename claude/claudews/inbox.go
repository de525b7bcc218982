package claudews

import (
	"context"
	"sync"
)

// An item is what an inbox holds: a line, a line that was too long, or an event.
type item struct {
	line   []byte
	err    error  // instead of a line
	event  *Event // instead of a line
	repeat bool
	ack    *receipt // nil if nobody waits for it
}

// size is what an item counts in an inbox. Events count nothing.
func (it item) size() int {
	if it.err != nil {
		return 1 << 10
	}
	return len(it.line)
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
	news  chan struct{} // closed when something changes; nil while nobody waits
}

func newInbox(maxBytes int) *inbox {
	return &inbox{maxBytes: maxBytes, maxItems: 1 << 16}
}

// changed wakes everyone who waits. mu is held.
func (b *inbox) changed() {
	if b.news != nil {
		close(b.news)
		b.news = nil
	}
}

// change returns a channel that is closed when something changes. mu is held.
func (b *inbox) change() <-chan struct{} {
	if b.news == nil {
		b.news = make(chan struct{})
	}
	return b.news
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
			b.changed()
			return nil
		}
		news := b.change()
		b.mu.Unlock()
		select {
		case <-news:
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
	b.changed()
}

// get takes the next item, or returns what finish was given when there is none.
func (b *inbox) get(ctx context.Context) (item, error) {
	for {
		b.mu.Lock()
		if len(b.items) > 0 {
			defer b.mu.Unlock()
			it := b.items[0]
			b.items[0] = item{}
			b.items = b.items[1:]
			b.bytes -= it.size()
			b.changed()
			return it, nil
		}
		if end := b.end; end != nil {
			b.mu.Unlock()
			return item{}, end
		}
		news := b.change()
		b.mu.Unlock()
		select {
		case <-news:
		case <-ctx.Done():
			return item{}, ctx.Err()
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
		b.changed()
	}
}

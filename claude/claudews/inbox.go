package claudews

import (
	"context"
	"errors"
	"slices"
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

// An inbox is the queue between the connections of a transport and its reader, which
// calls get, or serve. It is bounded by bytes and by count: when it is full the connection
// is not read further, and the CLI waits. Events are exempt, since a lost connection
// must be told even to a reader that is behind; pairs of them that cancel each
// other out are taken back, so they do not pile up.
type inbox struct {
	// Static after construction.
	maxBytes, maxItems int

	mu    sync.Mutex
	items []item
	bytes int
	end   error               // nil until finish
	news  broadcast.Broadcast // there is something for get or serve
	room  broadcast.Broadcast // there is more room

	// Of serve.
	sink   sink            // nil while there is none
	giving bool            // a goroutine calls it
	full   <-chan struct{} // what it has returned, until serve has seen that closed
	failed error           // what it has returned
	spare  []item          // memory for items
}

// A sink takes items, in order, without waiting. The slice is the sink's only during the
// call. If it returns a channel, it is called again when that is closed; after an error it
// is not called any more.
type sink func([]item) (full <-chan struct{}, err error)

func newInbox(maxBytes int) *inbox {
	return &inbox{maxBytes: maxBytes, maxItems: 1 << 16}
}

// put adds items, all or none, when there is room, and gives them to the sink if there is
// one. What is larger than the whole inbox goes in when it is empty. done, if not nil, is
// called when they are in and before any goroutine can take them.
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
			if b.sink == nil {
				b.news.Notify()
			}
			b.give()
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

// serve gives all items to a sink until ctx ends, the sink fails, or finish was called and
// nothing is left; it returns that error. Items are given by the goroutine that puts them,
// one at a time: no other has to be woken. The goroutine in serve gives what is left,
// events, and what came while the sink was full. When serve returns, the sink is not called
// any more.
func (b *inbox) serve(ctx context.Context, before []item, to sink) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = slices.Concat(before, b.items)
	b.sink, b.failed = to, nil
	defer func() {
		b.sink, b.full = nil, nil
		for b.giving {
			b.await(context.Background(), nil)
		}
	}()
	for {
		b.give()
		switch {
		case b.failed != nil:
			return b.failed
		case b.end != nil && len(b.items) == 0 && !b.giving:
			return b.end
		}
		b.await(ctx, b.full)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// await waits for news, or until the sink is not full any more. mu is held, and is not
// while it waits.
func (b *inbox) await(ctx context.Context, full <-chan struct{}) {
	news := b.news.Changed()
	b.mu.Unlock()
	select {
	case <-news:
		b.mu.Lock()
	case <-full:
		b.mu.Lock()
		b.full = nil
	case <-ctx.Done():
		b.mu.Lock()
	}
}

// give gives items to the sink, in parts, unless there is none, it is full, or another
// goroutine is at it, which then continues with them. mu is held, and is not while the sink is
// called.
func (b *inbox) give() {
	for b.sink != nil && b.failed == nil && !b.giving && b.full == nil && len(b.items) > 0 {
		part, to := b.part(), b.sink
		b.giving = true
		b.mu.Unlock()
		full, err := to(part)
		clear(part) // nothing else holds on to them
		b.mu.Lock()
		b.giving, b.full, b.failed, b.spare = false, full, err, part[:0]
		if full != nil || err != nil || b.sink == nil || b.end != nil {
			b.news.Notify() // serve may wait for that
		}
	}
}

// part removes items that are given at once. mu is held.
func (b *inbox) part() []item {
	n := 0
	for size := 0; n < len(b.items) && size < maxTogether; n++ {
		size += b.items[n].size()
		b.bytes -= b.items[n].size()
	}
	part, rest := b.items[:n:n], b.items[n:]
	if len(rest) == 0 {
		part, rest = b.items, b.spare
		b.spare = nil
	}
	b.items = rest
	b.room.Notify()
	return part
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

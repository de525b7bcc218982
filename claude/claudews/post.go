package claudews

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// rememberedPosts is how many POSTs are known again. A CLI tries one until
	// it is answered, and 2.1.37 has a few under way at a time.
	rememberedPosts = 64
	// uncertainPosts is how many of the first POSTs to a new peer may be
	// repetitions of what a server before this one has taken.
	uncertainPosts = 8
	// replyGrace is how much later than the answer to a POST the answer to a
	// request in it may go out.
	replyGrace = 250 * time.Millisecond
	headLength = 1 << 10
)

// A receipt is signed when its line is acknowledged. A nil receipt is for a line
// that no goroutine waits for.
type receipt struct {
	// Static after construction.
	sum     [sha256.Size]byte // of the line
	request string            // its id, if the line is a request of the CLI's

	once   sync.Once
	signed chan struct{}

	// Guarded by the peer's mu until replied is closed.
	repliedAt time.Time
	replied   chan struct{} // closed when a POST with the line has been answered
}

func (r *receipt) sign() {
	if r != nil {
		r.once.Do(func() { close(r.signed) })
	}
}

// A batch is the lines of one POST. Lines that came with an earlier one, which
// the CLI sends again because it got no answer, share their receipts with it.
type batch struct {
	receipts []*receipt

	// named says that a line of it can be told from all others, so that the
	// same lines are the same POST. The answers to two requests may be equal: a
	// controller that sends initialize again under its old id gets such ones.
	named    bool
	answered atomic.Bool

	settled chan struct{} // closed when the lines are in the inbox, or will not be
	err     error         // why they are not; read after settled
}

// newBatch makes the batch of a POST and gives its lines their receipts.
func (p *Peer) newBatch(items []item) *batch {
	b := &batch{settled: make(chan struct{}), receipts: make([]*receipt, len(items))}
	for i := range items {
		r := &receipt{signed: make(chan struct{}), replied: make(chan struct{})}
		b.receipts[i], items[i].ack = r, r
		if tooLong, ok := errors.AsType[*wire.LineTooLongError](items[i].err); ok {
			r.sum = tooLong.Sum
			b.named = true
			continue
		}
		r.sum = sha256.Sum256(items[i].line)
		h := peek(items[i].line)
		items[i].header = h
		if h == nil {
			continue
		}
		if h.Is("control_request", "") {
			r.request = string(h.RequestID)
		}
		b.named = b.named || named(h)
	}
	return b
}

// begins reports whether next is b once more, perhaps with more lines after it:
// 2.1.120 sends what it was not answered for together with what came since.
func (b *batch) begins(next *batch) bool {
	n := len(b.receipts)
	return n > 0 && n <= len(next.receipts) && (b.named || !b.answered.Load()) &&
		slices.EqualFunc(b.receipts, next.receipts[:n], func(x, y *receipt) bool { return x.sum == y.sum })
}

// servePost takes the lines of a POST and answers when they are safe.
//
// The status matters: 200 is the only one that every version takes for yes; on
// 4xx it drops the lines in silence, on everything else it tries again.
func (p *Peer) servePost(w http.ResponseWriter, r *http.Request) {
	body, err := p.readBody(w, r)
	if err != nil {
		if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
			// It would be as large the next time.
			p.refuse(w, http.StatusRequestEntityTooLarge, fmt.Errorf("a POST of more than %d bytes", tooLarge.Limit))
			return
		}
		// The connection is cut, or too slow: the body comes again.
		http.Error(w, "the body did not come", http.StatusServiceUnavailable)
		return
	}
	items, err := p.parse(body)
	if err != nil {
		p.refuse(w, http.StatusBadRequest, fmt.Errorf("a POST of %d bytes that is not understood: %w", len(body), err))
		return
	}
	b, err := p.post(r.Context(), items)
	if err == nil {
		err = p.awaitSafe(r.Context(), b)
	}
	switch {
	case err == nil:
		p.reply(w, b)
	case r.Context().Err() != nil: // the client has left
	default:
		http.Error(w, "the session is not here", p.statusAtEnd())
	}
}

// readBody reads a POST's body, which has to come in time.
func (p *Peer) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	// Not every connection can do it; the server's own time-outs remain.
	_ = control.SetReadDeadline(time.Now().Add(p.server.opts.BodyTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, p.server.opts.MaxBody))
	if err != nil {
		// The deadline stays, or the rest would be waited for after all.
		w.Header().Set("Connection", "close")
		return nil, err
	}
	// The wait for the acknowledgement has no end: a deadline that fired then
	// would look like a client that went away.
	_ = control.SetReadDeadline(time.Time{})
	return body, nil
}

// parse returns the lines of a body, {"events":[line, …]}, byte for byte.
func (p *Peer) parse(body []byte) ([]item, error) {
	var post struct {
		Events *[]json.RawMessage `json:"events"`
	}
	if err := json.Unmarshal(body, &post); err != nil {
		return nil, err
	}
	if post.Events == nil {
		return nil, errors.New("it has no member \"events\"")
	}
	items := make([]item, len(*post.Events))
	for i, event := range *post.Events {
		if bytes.IndexByte(event, '\n') >= 0 {
			// No CLI does this, but a line with a line end inside is not one.
			var line bytes.Buffer
			if err := json.Compact(&line, event); err != nil {
				return nil, err
			}
			event = line.Bytes()
		}
		if len(event) <= p.limit {
			items[i].line = event
			continue
		}
		items[i].err = &wire.LineTooLongError{
			Line: i + 1, Length: int64(len(event)), Limit: p.limit,
			Sum: sha256.Sum256(event), Head: bytes.Clone(event[:min(headLength, len(event))]),
		}
	}
	return items, nil
}

// post puts the lines of a POST into the inbox, except those that came with an
// earlier one, and returns the batch that is to be answered.
func (p *Peer) post(ctx context.Context, items []item) (*batch, error) {
	fresh := p.newBatch(items)
	for {
		earlier := p.claim(fresh, items)
		if earlier != nil {
			select {
			case <-earlier.settled:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			if earlier.err != nil {
				p.settle(fresh, earlier.err)
				fresh = p.newBatch(items) // it has to go in whole
				continue
			}
		}
		known := 0
		if earlier != nil {
			known = len(earlier.receipts)
		}
		var err error
		if known < len(items) {
			err = p.inbox.put(ctx, nil, items[known:]...)
		}
		p.settle(fresh, err)
		return fresh, err
	}
}

// claim makes a batch one of those that are known, and returns the longest one
// of which it is a repetition, if there is one. They share receipts then.
func (p *Peer) claim(fresh *batch, items []item) (earlier *batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link == nil && !p.closing {
		p.beginPatience() // it lives
	}
	for _, b := range p.posts {
		if b.begins(fresh) && (earlier == nil || len(b.receipts) > len(earlier.receipts)) {
			earlier = b
		}
	}
	if earlier != nil {
		copy(fresh.receipts, earlier.receipts)
	}
	for i := range items {
		items[i].repeat = p.posted < uncertainPosts
	}
	if len(p.posts) == rememberedPosts {
		p.posts = slices.Delete(p.posts, 0, 1)
	}
	p.posts = append(p.posts, fresh)
	p.posted++
	return earlier
}

// settle notes whether a batch got into the inbox. If it did not, it is as if it
// had never come.
func (p *Peer) settle(b *batch, err error) {
	b.err = err
	if err != nil {
		p.mu.Lock()
		p.posts = slices.DeleteFunc(p.posts, func(q *batch) bool { return q == b })
		p.mu.Unlock()
	}
	close(b.settled)
	if err == nil {
		p.announce()
	}
}

// awaitSafe waits until all lines of a batch are acknowledged.
func (p *Peer) awaitSafe(ctx context.Context, b *batch) error {
	for _, r := range b.receipts {
		select {
		case <-r.signed:
		case <-p.ending:
			return claude.ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// reply answers a POST whose lines are safe.
func (p *Peer) reply(w http.ResponseWriter, b *batch) {
	b.answered.Store(true) // first: the next POST may come before this goes on
	w.Header().Set("Content-Type", "application/json")
	if _, err := io.WriteString(w, "{}\n"); err != nil || http.NewResponseController(w).Flush() != nil {
		b.answered.Store(false) // it asks again
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range b.receipts {
		if r.repliedAt.IsZero() {
			r.repliedAt = time.Now()
			close(r.replied)
		}
	}
}

// refuse answers a POST whose lines are lost, and tells the owner.
func (p *Peer) refuse(w http.ResponseWriter, status int, cause error) {
	p.inbox.tell(Event{Kind: EventGap, Err: cause, Received: p.history.latest()})
	p.announce()
	http.Error(w, http.StatusText(status), status)
}

// statusAtEnd returns what a POST is answered that did not get in.
func (p *Peer) statusAtEnd() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.endStatus == 0 {
		return http.StatusServiceUnavailable
	}
	return p.endStatus
}

// awaitReply waits, if the line is the answer to a request that was POSTed,
// until the CLI can be expected to know that its POST has arrived.
func (p *Peer) awaitReply(ctx context.Context, line []byte) error {
	r := p.asked(line)
	if r == nil {
		return nil
	}
	select {
	case <-r.replied:
	case <-p.ending:
		return claude.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	timer := time.NewTimer(time.Until(r.repliedAt.Add(replyGrace)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-p.ending:
		return claude.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// asked returns the receipt of the request which the line answers, if that came
// in one of the last POSTs.
func (p *Peer) asked(line []byte) *receipt {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.posts) == 0 {
		return nil
	}
	h, err := wire.Peek(line)
	if err != nil || len(h.RequestID) == 0 || !h.Is("control_response", "") {
		return nil
	}
	for _, b := range p.posts {
		for _, r := range b.receipts {
			if r.request == string(h.RequestID) {
				return r
			}
		}
	}
	return nil
}

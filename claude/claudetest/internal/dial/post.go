package dial

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// maxAnswer is how much of the answer to a POST is read, so that its connection can be used again.
const maxAnswer = 1 << 20

// An entry is a line that waits for its POST.
type entry struct {
	parcel
	delta bool
}

// A poster sends lines by POST, in order, one POST at a time.
type poster struct {
	// Static after construction.
	link   *Link
	policy *PostPolicy
	url    string
	done   chan struct{} // closed when run has ended

	gate
	entries   []entry // in order; the first ones may be on their way
	bytes     int
	released  int         // how many entries may leave
	holding   *time.Timer // releases deltas; nil if none are held
	finishing bool        // nothing more is taken
	flying    int         // requests that overtake, on their way
}

func newPoster(l *Link) *poster {
	return &poster{link: l, policy: &l.opts.Policy.Post, url: eventsURL(l.url).String(), done: make(chan struct{})}
}

// add takes a line to be POSTed, and waits while too much is waiting already.
func (p *poster) add(ctx context.Context, line parcel) {
	header, _ := wire.Peek(line.data) // a line that is no object has no type
	if p.policy.RequestsOvertake && string(header.Type) == "control_request" {
		p.overtake(ctx, line)
		return
	}
	e := entry{parcel: line, delta: string(header.Type) == "stream_event"}
	lost := false
	err := p.when(ctx, func() bool {
		switch {
		case p.finishing:
			lost = true
		case p.bytes > 0 && p.bytes+len(line.data) > maxQueued:
			return false
		default:
			p.entries = append(p.entries, e)
			p.bytes += len(line.data)
			p.hold(e.delta)
		}
		return true
	})
	if lost || err != nil {
		p.drop([]entry{e}, 0, err)
	}
}

// hold decides when the last entry may leave. It is called inside an update.
func (p *poster) hold(delta bool) {
	switch {
	case !delta || p.policy.Hold <= 0:
		p.release()
	case p.holding == nil:
		p.holding = time.AfterFunc(p.policy.Hold, func() { p.update(p.release) })
	}
}

// release lets every entry leave. It is called inside an update.
func (p *poster) release() {
	p.released = len(p.entries)
	if p.holding != nil {
		p.holding.Stop()
		p.holding = nil
	}
}

// overtake sends a line at once, beside all others, in a goroutine that finish waits for.
func (p *poster) overtake(ctx context.Context, line parcel) {
	batch := []entry{{parcel: line}}
	lost := false
	p.update(func() {
		if lost = p.finishing; !lost {
			p.flying++
		}
	})
	if lost {
		p.drop(batch, 0, nil)
		return
	}
	go func() {
		defer p.update(func() { p.flying-- })
		for try := 1; p.try(ctx, batch, try); try++ {
		}
	}()
}

// run sends what add takes, until finish is called and all is sent, or ctx ends. It runs in a goroutine of its own.
func (p *poster) run(ctx context.Context) {
	defer close(p.done)
	for try := 1; ctx.Err() == nil; try++ {
		batch, err := p.batch(ctx)
		if err != nil {
			break
		}
		if !p.try(ctx, batch, try) {
			p.update(func() {
				for _, e := range batch {
					p.bytes -= len(e.data)
				}
				p.entries = p.entries[len(batch):]
				p.released -= len(batch)
			})
			try = 0
		}
	}
	var left []entry
	p.update(func() {
		p.finishing = true
		left, p.entries, p.bytes = p.entries, nil, 0
		p.release()
	})
	p.drop(left, 0, ctx.Err())
}

// batch returns the lines of the next POST, which stay the first entries until the caller takes them away: the next try may find more. It
// returns io.EOF when none will come.
func (p *poster) batch(ctx context.Context) ([]entry, error) {
	var batch []entry
	err := p.when(ctx, func() bool {
		for _, e := range p.entries[:min(p.released, max(p.policy.MaxBatch, 1))] {
			batch = append(batch, e)
			if !e.delta {
				break
			}
		}
		return len(batch) > 0 || p.finishing && len(p.entries) == 0
	})
	if err == nil && len(batch) == 0 {
		err = io.EOF
	}
	return batch, err
}

// try POSTs a batch and says whether it must be tried again, after the pause that it makes. If not, the lines have left or are lost.
func (p *poster) try(ctx context.Context, batch []entry, try int) (again bool) {
	status, cut, err := p.post(ctx, batch)
	if cut && try == 1 && p.policy.ResendsOnCut {
		status, _, err = p.post(ctx, batch)
	}
	switch {
	case ctx.Err() != nil:
		p.drop(batch, 0, ctx.Err())
		return false
	case err == nil && p.policy.judge(status) == taken:
		for _, e := range batch {
			e.left()
		}
		p.link.report(Event{Kind: Posted, Lines: len(batch), Status: status})
		return false
	case err == nil && p.policy.judge(status) == refused, p.policy.Tries > 0 && try >= p.policy.Tries:
		p.drop(batch, status, err)
		return false
	}
	pause := p.policy.pause(try, rand.Float64()) //nolint:gosec // a pause guards nothing
	p.link.report(Event{Kind: Retrying, Lines: len(batch), Status: status, Pause: pause, Err: err})
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return true
}

// post makes one POST. cut says that a connection broke that had been used before.
func (p *poster) post(ctx context.Context, batch []entry) (status int, cut bool, err error) {
	if p.policy.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.policy.Timeout, fmt.Errorf("no answer within %v", p.policy.Timeout))
		defer cancel()
	}
	used := false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { used = i.Reused }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body(batch)))
	if err != nil {
		return 0, false, withoutURL(err)
	}
	req.Header = http.Header{
		"Accept":          {"application/json, text/plain, */*"},
		"Accept-Encoding": {"gzip, compress, deflate, br"},
		"Content-Type":    {"application/json"},
		"User-Agent":      {p.policy.UserAgent},
	}
	if token := p.link.opts.Token(); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := p.link.client.Do(req)
	if err != nil {
		return 0, used && ctx.Err() == nil, withoutURL(err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, maxAnswer) // the status says it all
	return resp.StatusCode, false, nil
}

// body returns the body of a POST.
func body(batch []entry) []byte {
	const head, tail = `{"events":[`, `]}`
	size := len(head) + len(tail)
	for _, e := range batch {
		size += len(e.data)
	}
	b := append(make([]byte, 0, size), head...)
	for i, e := range batch {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, bytes.TrimSuffix(e.data, []byte("\n"))...)
	}
	return append(b, tail...)
}

// drop gives lines up.
func (p *poster) drop(lines []entry, status int, err error) {
	if len(lines) == 0 {
		return
	}
	for _, e := range lines {
		e.left()
	}
	p.link.report(Event{Kind: Dropped, Lines: len(lines), Status: status, Err: err})
}

// finish takes nothing more and waits until everything is sent or dropped.
func (p *poster) finish() {
	p.update(func() {
		p.finishing = true
		p.release()
	})
	<-p.done
	_ = p.when(context.Background(), func() bool { return p.flying == 0 }) // it waits, and cannot fail
}

package claudetest

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/dial"
)

// linkCarrier sends lines over a link.
type linkCarrier struct {
	link *dial.Link
	end  context.CancelFunc // of the link, at once

	mu   sync.Mutex
	last <-chan struct{} // closed when the last line has left
}

func (c *linkCarrier) writeLine(line []byte, uuid string) (<-chan struct{}, error) {
	gone, err := c.link.Send(line, uuid)
	if err != nil {
		return nil, fmt.Errorf("sending a line: %w", err)
	}
	c.mu.Lock()
	c.last = gone
	c.mu.Unlock()
	return gone, nil
}

// awaitPost waits until the lines before a question have left, which a question by POST would overtake: the real CLI takes longer to come to
// it than the POSTs before it last.
func (e *engine) awaitPost() {
	carrier, dialled := e.out.(*linkCarrier)
	if !dialled || !e.posts() {
		return
	}
	carrier.mu.Lock()
	last := carrier.last
	carrier.mu.Unlock()
	if last == nil {
		return
	}
	select {
	case <-last:
	case <-e.ctx.Done():
	}
}

// close sends what is left and ends the link. A process that has died does not wait for long.
func (c *linkCarrier) close(inGoodOrder bool) {
	const patience = time.Second
	if !inGoodOrder {
		timer := time.AfterFunc(patience, c.end)
		defer timer.Stop()
	}
	_ = c.link.Close() // its peer is gone
	c.end()
}

// linkReader reads what comes over a link.
type linkReader struct {
	ctx  context.Context
	link *dial.Link
	rest []byte
}

// Read returns bytes as they come. The end of the link is the end of input.
func (r *linkReader) Read(into []byte) (int, error) {
	for len(r.rest) == 0 {
		chunk, err := r.link.Read(r.ctx)
		if err != nil {
			return 0, io.EOF // whatever ended it: nothing more comes
		}
		r.rest = chunk
	}
	n := copy(into, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// dial connects to the controller at --sdk-url: what is read and written goes over the link. It outlives the engine's context, so that
// the last lines still leave; ctx ends it.
func (e *engine) dial(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	link, err := dial.Dial(ctx, dial.Options{
		URL: e.flags.SDKURL, Token: dial.TokenFrom(e.getenv), Header: dial.HeaderFrom(e.getenv), TLS: dial.TLSFrom(e.getenv),
		Post: truthy(e.getenv("CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2")), Policy: dial.PolicyFor(e.quirks.Version),
	})
	if err != nil {
		end()
		return fmt.Errorf("dialling the controller: %w", err)
	}
	carrier := &linkCarrier{link: link, end: end}
	e.out, e.input, e.dialled = carrier, &linkReader{ctx: e.ctx, link: link}, true
	e.hangUp = carrier.close
	return nil
}

// posts reports whether lines leave by POST.
func (e *engine) posts() bool {
	return e.dialled && truthy(e.getenv("CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2"))
}

package dial

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// keepAlive is the line that a CLI sends to show that it is there.
const keepAlive = `{"type":"keep_alive"}` + "\n"

// connect makes one attempt. status is that of an HTTP answer that refused the upgrade. There is no time limit: a server may take as long as
// it likes to answer.
func (l *Link) connect(token string) (ws *websocket.Conn, status int, err error) {
	header := l.opts.Header.Clone()
	if header == nil {
		header = make(http.Header)
	}
	header.Set("User-Agent", "") // which leaves it out
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	l.mu.Lock()
	if l.lastUUID != "" {
		header.Set("X-Last-Request-Id", l.lastUUID)
	}
	l.mu.Unlock()
	ws, resp, err := websocket.Dial(l.wanted, l.url.String(), &websocket.DialOptions{ //nolint:bodyclose // the library does that
		HTTPClient:      l.client,
		HTTPHeader:      header,
		CompressionMode: websocket.CompressionContextTakeover,
	})
	if err != nil {
		if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
			status = resp.StatusCode
		}
		return nil, status, withoutURL(err)
	}
	ws.SetReadLimit(-1)
	return ws, 0, nil
}

// serve carries bytes both ways until the WebSocket is lost, and says why.
func (l *Link) serve(ws *websocket.Conn, n int) error {
	ctx, lose := context.WithCancelCause(l.ctx)
	defer lose(nil)
	out := l.attach(n)
	var helpers sync.WaitGroup
	var mute atomic.Bool
	helpers.Go(func() { l.writeLoop(ctx, ws, out, lose) })
	helpers.Go(func() { mute.Store(!l.pingLoop(ctx, ws, lose)) })
	helpers.Go(func() { l.keepAliveLoop(ctx, out) })
	err := l.readLoop(ctx, ws)
	if cause := context.Cause(ctx); cause != nil && websocket.CloseStatus(err) < 0 {
		err = cause
	}
	l.mu.Lock()
	l.out = nil
	l.mu.Unlock()
	lost := out.abandon()
	lose(nil)
	_ = ws.CloseNow() // it is lost already
	helpers.Wait()
	if lost > 0 {
		l.report(Event{Kind: Dropped, Conn: n, Lines: lost})
	}
	if mute.Load() {
		return errNoPong // whatever came after that, the close frame's answer perhaps
	}
	return err
}

// attach makes the queue of a new WebSocket, which begins with the ring, and lets lines go there.
func (l *Link) attach(n int) *queue {
	out := newQueue(maxQueued)
	l.mu.Lock()
	replay := l.ring.all()
	for _, line := range replay {
		out.parcels = append(out.parcels, parcel{data: line, kept: true})
		out.bytes += len(line)
	}
	out.closed = l.wanted.Err() != nil // Close did not find this queue
	l.out = out
	l.mu.Unlock()
	l.report(Event{Kind: Connected, Conn: n}) // now, so that a test that waits for it can write without a loss
	if len(replay) > 0 {
		l.report(Event{Kind: Replayed, Conn: n, Lines: len(replay)})
	}
	return out
}

func (l *Link) readLoop(ctx context.Context, ws *websocket.Conn) error {
	for {
		_, frame, err := ws.Read(ctx)
		if err != nil {
			return err
		}
		if err := l.inbox.push(ctx, parcel{data: frame}); err != nil {
			return err
		}
	}
}

// writeLoop sends what is in the queue, a line a frame, and closes the WebSocket behind the last line of a queue that was closed.
func (l *Link) writeLoop(ctx context.Context, ws *websocket.Conn, out *queue, lose context.CancelCauseFunc) {
	for {
		p, err := out.pop(ctx)
		if errors.Is(err, io.EOF) {
			l.farewell(ws, lose)
			return
		}
		if err != nil {
			return
		}
		err = ws.Write(ctx, websocket.MessageText, p.data)
		p.left()
		if err != nil {
			lose(withoutURL(err))
			return
		}
	}
}

// farewell sends a close frame. The reader may meanwhile get the server's; it does not wait for that long.
func (l *Link) farewell(ws *websocket.Conn, lose context.CancelCauseFunc) {
	code := websocket.StatusNoStatusRcvd
	if l.opts.Policy.CloseCode != 0 {
		code = websocket.StatusCode(l.opts.Policy.CloseCode)
	}
	enough := time.AfterFunc(l.opts.Policy.CloseWait, func() { lose(nil) })
	defer enough.Stop()
	_ = ws.Close(code, "") // the peer may be gone
}

// pingLoop pings. It returns false if the other side does not answer, after saying goodbye to it.
func (l *Link) pingLoop(ctx context.Context, ws *websocket.Conn, lose context.CancelCauseFunc) (alive bool) {
	for tick := range every(ctx, l.opts.Policy.PingEvery) {
		until, cancel := context.WithDeadline(ctx, tick.Add(l.opts.Policy.PingEvery))
		err := ws.Ping(until)
		late := until.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return true
		case late:
			l.farewell(ws, lose)
			lose(nil)
			return false
		case err != nil:
			lose(err)
			return true
		}
	}
	return true
}

// keepAliveLoop sends keep_alive lines.
func (l *Link) keepAliveLoop(ctx context.Context, out *queue) {
	for range every(ctx, l.opts.Policy.KeepAliveEvery) {
		if out.push(ctx, parcel{data: []byte(keepAlive), kept: true}) != nil {
			return
		}
	}
}

// every yields the time at regular intervals until ctx ends; never, if the interval is not positive.
func every(ctx context.Context, interval time.Duration) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		if interval <= 0 {
			return
		}
		ticks := time.NewTicker(interval)
		defer ticks.Stop()
		for {
			select {
			case now := <-ticks.C:
				if !yield(now) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// withoutURL takes the URL out of an HTTP client's error: its path or query may hold a secret.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

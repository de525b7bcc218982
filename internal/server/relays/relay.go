package relays

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
)

const (
	// dialTime is how long a connection may take to be made.
	dialTime = 10 * time.Second
	// steady is how long a connection lasts after which the next attempt is not put off
	// further.
	steady = 10 * time.Second
	// maxNew and newEvery bound how many sessions a relay may begin: as many at once, and
	// one more after each such time.
	maxNew   = 64
	newEvery = time.Second
)

// A relay is a relay that the hub is attached to. Its goroutine, run, is started by
// newRelay and joined by stop.
type relay struct {
	// Static after construction.
	owner      *Relays
	entry      entry
	discovered bool
	cancel     context.CancelFunc
	done       chan struct{}

	dropped atomic.Int64 // lines that were not taken in
	omitted atomic.Int64 // live lines that were left out because the hub was behind

	// Owned by run.
	resume  bool      // the session that was shown last may be there still
	last    string    // that session, "" if any
	begun   int       // sessions that were begun, less those that time has forgiven
	forgave time.Time // when begun was counted down last

	// Guarded by mu.
	mu       sync.Mutex
	state    api.RelayState
	since    time.Time
	problem  string
	sessions []string
}

// newRelay begins to follow a relay. ws is its connection if there is one already, as of a
// relay that was discovered: that one is not connected to again. resume says that the
// session that it showed last may be there still.
func newRelay(m *Relays, e entry, ws *websocket.Conn, resume bool) *relay {
	r := &relay{owner: m, entry: e, discovered: ws != nil, done: make(chan struct{}), resume: resume}
	r.set(api.RelayConnecting, nil)
	ctx, cancel := context.WithCancel(m.ctx)
	r.cancel = cancel
	go func() { // joined by stop
		defer close(r.done)
		if ws != nil {
			r.once(ctx, ws)
			return
		}
		r.run(ctx)
	}()
	return r
}

// stop ends the connection and waits for its end.
func (r *relay) stop() {
	r.cancel()
	<-r.done
}

// run connects to the relay, again and again, until ctx ends.
func (r *relay) run(ctx context.Context) {
	wait := r.owner.opts.FirstWait
	for ctx.Err() == nil {
		ws, err := dial(ctx, r.entry.URL)
		if err == nil {
			begun := time.Now()
			if err = r.serve(ctx, ws); time.Since(begun) >= steady {
				wait = r.owner.opts.FirstWait
			}
		}
		if ctx.Err() != nil {
			return
		}
		r.set(api.RelayWaiting, err)
		timer := time.NewTimer(wait/2 + rand.N(wait/2+1)) //nolint:gosec // it only spreads attempts
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		wait = min(2*wait, r.owner.opts.LastWait)
		r.set(api.RelayConnecting, err)
	}
}

// once serves the connection of a relay that was discovered, and forgets the relay.
func (r *relay) once(ctx context.Context, ws *websocket.Conn) {
	err := r.serve(ctx, ws)
	r.owner.mu.Lock()
	defer r.owner.mu.Unlock()
	if r.owner.running[r.entry.ID] == r {
		delete(r.owner.running, r.entry.ID)
	}
	if r.owner.finder != nil {
		r.owner.finder.ended(portOf(r.entry.URL), err)
	}
}

// dial connects to a relay as its front ends do.
func dial(ctx context.Context, url string) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	client := &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: dialTime, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // it could lead to another machine
	}
	ws, response, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: client}) //nolint:bodyclose // the library does that
	if err != nil {
		if response != nil {
			return nil, fmt.Errorf("the server answered with status %d instead of a WebSocket", response.StatusCode)
		}
		return nil, err
	}
	return ws, nil
}

// serve takes in what a connection brings until it ends, and returns why it did. If the
// relay has closed it in good order, the agent behind it is gone, or will be another.
func (r *relay) serve(ctx context.Context, ws *websocket.Conn) error {
	r.set(api.RelayConnected, nil)
	c := newConn(ctx, r, ws)
	err := c.serve()
	r.last = c.close(reasonOf(err))
	r.resume = websocket.CloseStatus(err) == -1
	r.show(nil)
	if err != nil && ctx.Err() == nil {
		r.owner.log.Info("the connection to a relay has ended", "relay", r.entry.URL, "error", err)
	}
	return err
}

// mayBegin reports whether the relay may begin another session now.
func (r *relay) mayBegin(now time.Time) bool {
	if n := int(now.Sub(r.forgave) / newEvery); n > 0 {
		r.begun, r.forgave = max(r.begun-n, 0), now
	}
	if r.begun >= maxNew {
		return false
	}
	r.begun++
	return true
}

// set notes the state of the connection.
func (r *relay) set(state api.RelayState, problem error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.since, r.problem = state, time.Now().UTC(), ""
	if problem != nil {
		r.problem = reasonOf(problem).Error()
	}
}

// reasonOf returns why a connection ended, in words for people.
func reasonOf(err error) error {
	closed := websocket.CloseError{}
	switch {
	case errors.As(err, &closed):
		return fmt.Errorf("the relay closed the connection with code %d", closed.Code)
	case errors.Is(err, io.EOF):
		return errors.New("the connection to the relay was cut off")
	}
	return err
}

// trouble notes why something of the relay is not shown.
func (r *relay) trouble(problem string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problem = problem
}

// show notes which sessions the relay shows.
func (r *relay) show(sessions []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sessions = sessions
}

// view returns the relay as the interface shows it.
func (r *relay) view() api.Relay {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := api.Relay{
		ID: r.entry.ID, URL: r.entry.URL, Discovered: r.discovered, Rules: r.entry.Rules, Insecure: r.entry.Insecure, Created: r.entry.Created,
		State: r.state, Since: r.since, Error: r.problem, Dropped: r.dropped.Load(), Sessions: slices.Clone(r.sessions),
	}
	if v.Sessions == nil {
		v.Sessions = []string{}
	}
	return v
}

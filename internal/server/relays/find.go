package relays

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
)

const (
	// knock is how long a port may take to accept a connection.
	knock = 500 * time.Millisecond
	// notRelay is for how long a port is left alone that is no relay, or not for us.
	notRelay = 10 * time.Minute
)

// A finder looks for relays on the ports of this machine. Its goroutine is started by
// newFinder and joined by stop.
type finder struct {
	// Static after construction.
	owner  *Relays
	entry  entry
	cancel context.CancelFunc
	done   chan struct{}

	// Guarded by mu.
	mu    sync.Mutex
	avoid map[uint16]time.Time // until when
	left  map[uint16]bool      // the relay there has closed its last connection in good order
}

func newFinder(m *Relays, e entry) *finder {
	f := &finder{owner: m, entry: e, done: make(chan struct{}), avoid: map[uint16]time.Time{}, left: map[uint16]bool{}}
	ctx, cancel := context.WithCancel(m.ctx)
	f.cancel = cancel
	go func() { // joined by stop
		defer close(f.done)
		f.run(ctx)
	}()
	return f
}

// stop ends the search and waits for its end.
func (f *finder) stop() {
	f.cancel()
	<-f.done
}

// run looks at all ports, from time to time.
func (f *finder) run(ctx context.Context) {
	tick := time.NewTicker(f.owner.opts.Look)
	defer tick.Stop()
	for {
		for _, port := range f.owner.opts.Ports {
			if ctx.Err() == nil && f.wanted(port) {
				f.look(ctx, port)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// wanted reports whether a port is worth a look.
func (f *finder) wanted(port uint16) bool {
	if f.owner.opts.Own(port) {
		return false
	}
	f.mu.Lock()
	avoided := time.Now().Before(f.avoid[port])
	f.mu.Unlock()
	if avoided {
		return false
	}
	f.owner.mu.Lock()
	defer f.owner.mu.Unlock()
	for _, r := range f.owner.running {
		if portOf(r.entry.URL) == port {
			return false
		}
	}
	return true
}

// look connects to a port, and follows what is there if it is a relay.
func (f *finder) look(ctx context.Context, port uint16) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port)))
	dialer := net.Dialer{Timeout: knock}
	probe, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return // nothing is there
	}
	_ = probe.Close() // it was only to be seen
	url := fmt.Sprintf("ws://%s/ws", address)
	ws, err := dial(ctx, url)
	if err != nil {
		f.leave(port)
		return
	}
	m := f.owner
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || ctx.Err() != nil || m.finder != f {
		_ = ws.CloseNow() // nothing was read
		return
	}
	m.log.Info("a relay was found", "relay", url)
	e := entry{ID: newID(), URL: url, Rules: f.entry.Rules, Created: time.Now().UTC().Truncate(time.Second)}
	f.mu.Lock()
	resume := !f.left[port]
	f.mu.Unlock()
	m.running[e.ID] = newRelay(m, e, ws, resume)
}

// leave leaves a port alone for a while.
func (f *finder) leave(port uint16) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.avoid[port] = time.Now().Add(notRelay)
}

// ended is told how the connection to a relay ended that was found: one that wants a
// token is another hub's.
func (f *finder) ended(port uint16, err error) {
	code := websocket.CloseStatus(err)
	f.mu.Lock()
	f.left[port] = code != -1
	f.mu.Unlock()
	if code == websocket.StatusPolicyViolation {
		f.leave(port)
	}
}

// view returns the entry as the interface shows it.
func (f *finder) view() api.Relay {
	return api.Relay{ID: f.entry.ID, Discover: true, Rules: f.entry.Rules, State: api.RelayLooking, Created: f.entry.Created, Sessions: []string{}}
}

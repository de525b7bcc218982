package shim

import (
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/sandbox/netproxy"
)

const (
	// foldRefusals is how long further refusals of a host are counted before the
	// hub is told.
	foldRefusals = 5 * time.Second
	// maxRefusals is how many hosts have their own count.
	maxRefusals = 256
)

// refusals tells the hub what the proxy has refused: the first time at once, and
// then how often in the seconds after that, or until a tool call ends.
type refusals struct {
	carrier *carrier // static

	mu sync.Mutex
	// Guarded by mu.
	recent map[string]*refused // by host; the empty one is for all that are too many
	closed bool
}

// A refused host was refused a moment ago.
type refused struct {
	last  api.SandboxRefusal
	count int // since the hub was told
	timer *time.Timer
}

func newRefusals(c *carrier) *refusals { return &refusals{carrier: c, recent: map[string]*refused{}} }

// add notes a refusal.
func (r *refusals) add(request netproxy.Request, reason string) {
	refusal := api.SandboxRefusal{
		Kind: "network", Host: request.Host, Port: request.Port, Command: request.Command, Reason: reason, Time: time.Now().UTC(),
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	key := refusal.Host
	if _, ok := r.recent[key]; !ok && len(r.recent) >= maxRefusals {
		key = ""
		refusal = api.SandboxRefusal{Kind: "network", Reason: "connections to many other hosts were refused", Time: refusal.Time}
	}
	if known, ok := r.recent[key]; ok {
		known.last = refusal
		known.count++
		return
	}
	known := &refused{}
	known.timer = time.AfterFunc(foldRefusals, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.recent[key] == known {
			r.settle(key, known)
		}
	})
	r.recent[key] = known
	r.carrier.event(refusalEvent(&refusal))
}

// settle tells the hub of refusals that were counted. The caller holds mu.
func (r *refusals) settle(key string, known *refused) {
	delete(r.recent, key)
	if known.count > 0 {
		known.last.Count = known.count
		r.carrier.event(refusalEvent(&known.last))
	}
}

// callEnded tells the hub what was counted before the CLI writes the result of a
// tool call: afterwards the hub could no longer say which call it belongs to.
func (r *refusals) callEnded() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settleAll()
}

// close tells the hub what is left to be told. It may be called again.
func (r *refusals) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.settleAll()
}

// settleAll settles every host. The caller holds mu.
func (r *refusals) settleAll() {
	for key, known := range r.recent {
		known.timer.Stop()
		r.settle(key, known)
	}
}

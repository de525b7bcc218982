package netproxy

import (
	"context"
	"maps"
	"sync"
	"time"
)

const (
	// maxQuestions is about how many hosts Decide is asked at once.
	maxQuestions = 64
	// lingerTime is how long a question stays open after the last connection that
	// waited for it has gone. A program that gives up early tries again.
	lingerTime = 10 * time.Second
	// holdRefusal is how long a refusal speaks for later connections, so that a
	// program that tries again and again does not ask as often. maxHeld bounds
	// how many are remembered.
	holdRefusal = 10 * time.Second
	maxHeld     = 1024
	// holdAllowance is how long an allowance speaks for the next connection of the
	// same command to the same host and port, and holdAllowances for all: a
	// program that opens one connection after the other asks once.
	holdAllowance  = 10 * time.Second
	holdAllowances = time.Minute
)

// decisions has Decide called once for all connections that want the same host
// at the same time.
type decisions struct {
	// Static after construction.
	ctx    context.Context
	decide func(context.Context, Request) (Verdict, string, error)
	origin func(pid int) string // may be nil
	linger time.Duration

	workers sync.WaitGroup // goroutines that wait for Decide

	mu sync.Mutex
	// Guarded by mu.
	open    map[string]*question // by host: one is open at a time
	refused map[string]heldRefusal
	allowed map[allowance]heldAllowance
}

type heldRefusal struct {
	reason string
	until  time.Time
}

// An allowance is what a command was allowed.
type allowance struct {
	host string
	port int
	// origin names the command; it is not empty.
	origin string
}

type heldAllowance struct{ until, last time.Time }

// A question is a call of Decide.
type question struct {
	// Static after construction.
	port   int
	cancel context.CancelFunc

	done chan struct{} // closed when it is decided
	// Written before done is closed.
	verdict Verdict
	reason  string
	err     error

	// Guarded by decisions.mu.
	waiters int
	settled bool
	timer   *time.Timer // nil while connections wait
}

// ask returns what Decide says about a target, or what it says to another
// connection that has asked before. A connection to another port of the same host
// waits for that, too; a refusal holds for both, an allowance does not. request
// is called for the first one.
func (d *decisions) ask(ctx context.Context, t target, request func() Request) (Verdict, string, error) {
	host := t.host()
	for first := true; ; first = false {
		if first && d.held(host, t.port, request) {
			return Allow, "", nil
		}
		d.mu.Lock()
		if held, ok := d.refused[host]; ok && time.Now().Before(held.until) {
			d.mu.Unlock()
			return Refuse, held.reason, nil
		}
		q := d.open[host]
		if q == nil {
			if len(d.open) >= maxQuestions {
				d.mu.Unlock()
				return Refuse, "too many hosts are being asked about", nil
			}
			q = d.begin(host, t.port, request)
		}
		q.waiters++
		if q.timer != nil {
			q.timer.Stop()
			q.timer = nil
		}
		d.mu.Unlock()
		select {
		case <-q.done:
			d.leave(host, q)
			if q.port == t.port || q.verdict == Refuse {
				return q.verdict, q.reason, q.err
			}
		case <-ctx.Done():
			d.leave(host, q)
			return Refuse, "", ctx.Err()
		}
	}
}

// begin starts a question. The caller holds mu.
func (d *decisions) begin(host string, port int, request func() Request) *question {
	ctx, cancel := context.WithCancel(d.ctx)
	q := &question{port: port, cancel: cancel, done: make(chan struct{})}
	d.open[host] = q
	d.workers.Go(func() { // ends with the decision, or with d.ctx
		defer cancel()
		r := request()
		origin := d.originOf(r)
		verdict, reason, err := d.decide(ctx, r)
		if err != nil {
			verdict = Refuse
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if verdict == Allow && origin != "" {
			d.keep(allowance{host, port, origin})
		}
		q.verdict, q.reason, q.err, q.settled = verdict, reason, err, true
		close(q.done)
		if verdict == Refuse && err == nil {
			d.hold(host, reason)
		}
		// An allowance for which no connection waits any more is for the next one.
		if q.waiters > 0 || verdict == Refuse {
			d.forget(host, q)
		}
	})
	return q
}

// originOf names the command that a request belongs to, if that is known.
func (d *decisions) originOf(r Request) string {
	if d.origin == nil || r.PID == 0 {
		return ""
	}
	return d.origin(r.PID)
}

// held reports whether the command that makes a request was allowed the same just
// before. The process is looked for only if any command was.
func (d *decisions) held(host string, port int, request func() Request) bool {
	some := func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		now := time.Now()
		for a, h := range d.allowed {
			if a.host == host && a.port == port && now.Before(h.until) {
				return true
			}
		}
		return false
	}
	if !some() {
		return false
	}
	origin := d.originOf(request())
	d.mu.Lock()
	defer d.mu.Unlock()
	a, now := allowance{host, port, origin}, time.Now()
	h, ok := d.allowed[a]
	if origin == "" || !ok || now.After(h.until) {
		return false
	}
	if h.until = now.Add(holdAllowance); h.until.After(h.last) {
		h.until = h.last
	}
	d.allowed[a] = h
	return true
}

// keep remembers an allowance. The caller holds mu.
func (d *decisions) keep(a allowance) {
	now := time.Now()
	maps.DeleteFunc(d.allowed, func(_ allowance, h heldAllowance) bool { return now.After(h.until) })
	if len(d.allowed) >= maxHeld {
		clear(d.allowed)
	}
	d.allowed[a] = heldAllowance{until: now.Add(holdAllowance), last: now.Add(holdAllowances)}
}

// hold remembers a refusal, which ends what was allowed before. The caller holds mu.
func (d *decisions) hold(host, reason string) {
	now := time.Now()
	if len(d.refused) >= maxHeld {
		for host, held := range d.refused {
			if now.After(held.until) {
				delete(d.refused, host)
			}
		}
		if len(d.refused) >= maxHeld {
			clear(d.refused)
		}
	}
	d.refused[host] = heldRefusal{reason, now.Add(holdRefusal)}
	maps.DeleteFunc(d.allowed, func(a allowance, _ heldAllowance) bool { return a.host == host })
}

// forget removes a question. The caller holds mu.
func (d *decisions) forget(host string, q *question) {
	if q.timer != nil {
		q.timer.Stop()
		q.timer = nil
	}
	if d.open[host] == q {
		delete(d.open, host)
	}
}

// leave says that a connection waits no more.
func (d *decisions) leave(host string, q *question) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q.waiters--
	switch {
	case q.waiters > 0:
	case q.settled:
		d.forget(host, q)
	default:
		q.timer = time.AfterFunc(d.linger, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			if q.waiters == 0 {
				q.cancel()
				d.forget(host, q)
			}
		})
	}
}

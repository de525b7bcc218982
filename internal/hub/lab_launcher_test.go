package hub_test

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// A launcher starts shims that live in the test.
type launcher struct {
	lab  *lab
	node string // the machine; "" for the hub's own

	mu      sync.Mutex
	shims   map[string]*shim // by marker
	fail    error            // the next start fails with it
	specs   []hub.LaunchSpec
	history map[string][]string
	plan    string                // what Plan finds
	planned func(context.Context) // called by Plan, if it is not nil
	watched func(context.Context) // called by Life, if it is not nil
	version string
	pid     int
	hold    chan struct{} // starts wait for it, if it is not nil
	closed  bool          // there is no hub to connect to
	sandbox api.Sandbox   // what runs are started in
}

func (l *launcher) Start(_ context.Context, spec hub.LaunchSpec) (*hub.Launched, error) {
	if l.hold != nil {
		<-l.hold
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.specs = append(l.specs, spec)
	if err := l.fail; err != nil {
		l.fail = nil
		return nil, err
	}
	l.pid++
	version := l.version
	if version == "" {
		version = "2.1.325"
	}
	s := newShim(l.lab, spec, l.pid, version)
	s.node = l.node
	l.shims[spec.Marker] = s
	if !l.closed {
		s.connect()
	}
	return &hub.Launched{PID: s.pid, PIDStart: "x", Version: version, Simulated: true, ConfigDir: "/config", Sandbox: l.sandbox}, nil
}

func (l *launcher) Life(ctx context.Context, p hub.Process) hub.Life {
	if l.watched != nil {
		l.watched(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.shims {
		if s.pid == p.PID && s.lives() {
			return hub.LifeAlive
		}
	}
	return hub.LifeDead
}

func (*launcher) Resolve(context.Context, []string) ([]hub.Resolved, error) {
	return nil, errors.ErrUnsupported
}

func (l *launcher) Sweep(_ context.Context, marker string) (int, error) {
	l.mu.Lock()
	s := l.shims[marker]
	l.mu.Unlock()
	if s == nil || !s.lives() {
		return 0, nil
	}
	s.kill()
	return 1, nil
}

// keep gives a conversation a transcript.
func (l *launcher) keep(conversation string, lines ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.history = map[string][]string{conversation: lines}
}

func (l *launcher) History(_ context.Context, _, _, conversation string) (iter.Seq2[[]byte, error], error) {
	l.mu.Lock()
	lines, found := l.history[conversation]
	l.mu.Unlock()
	if !found {
		return nil, fs.ErrNotExist
	}
	return func(yield func([]byte, error) bool) {
		for _, line := range lines {
			if !yield([]byte(line), nil) {
				return
			}
		}
	}, nil
}

func (l *launcher) Plan(ctx context.Context, _ hub.PlanQuery) (*hub.PlanFile, error) {
	if l.planned != nil {
		l.planned(ctx)
	}
	if l.plan == "" {
		return nil, fs.ErrNotExist
	}
	return &hub.PlanFile{Path: "/config/plans/a.md", Text: l.plan}, nil
}

// spec returns how a session's newest run was started.
func (l *launcher) spec(session string) hub.LaunchSpec {
	l.mu.Lock()
	defer l.mu.Unlock()
	var newest hub.LaunchSpec
	for _, s := range l.specs {
		if s.Session == session && s.Run > newest.Run {
			newest = s
		}
	}
	return newest
}

func (l *launcher) each(f func(*shim)) {
	l.mu.Lock()
	var all []*shim
	for _, s := range l.shims {
		all = append(all, s)
	}
	l.mu.Unlock()
	for _, s := range all {
		f(s)
	}
}

func (l *launcher) connectAll() {
	l.listen(true)
	l.each((*shim).connect)
}

// alive has a process live that is no shim of the lab's.
func (l *launcher) alive(t *testing.T, pid int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shims["process"] = &shim{pid: pid}
	t.Cleanup(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.shims, "process")
	})
}

// specOf returns what was to be started for a session last.
func (l *launcher) specOf(session string) (spec hub.LaunchSpec) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.shims {
		if s.spec.Session == session && s.spec.Run > spec.Run {
			spec = s.spec
		}
	}
	return spec
}

// listen says whether there is a hub that shims can connect to.
func (l *launcher) listen(there bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = !there
}

func (l *launcher) cutAll()  { l.each((*shim).cut) }
func (l *launcher) killAll() { l.each((*shim).kill) }

// of returns the shim of a session's newest run.
func (l *launcher) of(session string) *shim {
	var newest *shim
	l.each(func(s *shim) {
		if s.spec.Session == session && (newest == nil || s.spec.Run > newest.spec.Run) {
			newest = s
		}
	})
	return newest
}

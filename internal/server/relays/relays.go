package relays

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// maxRelays is how many relays may be attached.
const maxRelays = 64

// Options are the options of [New]. The zero value is valid.
type Options struct {
	// File is where attached relays are kept. If empty, they are forgotten with the hub.
	File string
	// Own reports whether the hub itself listens on a port of this machine. If nil, on
	// none.
	Own func(port uint16) bool
	// Logger takes what an operator should know. If nil, nothing is logged.
	Logger *slog.Logger
	// FirstWait and LastWait are the shortest and the longest pause before a relay is
	// tried again. If zero, 1 s and 30 s.
	FirstWait, LastWait time.Duration
	// Look is how often ports are looked at, Ports which. If zero, 5 s and 8765 to 8774.
	Look  time.Duration
	Ports []uint16
}

// Relays are the relays that a hub is attached to. It owns a goroutine per relay, and
// one that looks for others while that is asked for; Close joins them.
type Relays struct {
	// Static after construction.
	hub    *hub.Hub
	opts   Options
	log    *slog.Logger
	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	// change is held while a relay is added or removed.
	change sync.Mutex

	// Guarded by mu.
	mu      sync.Mutex
	entries []entry           // that are kept, by age
	running map[string]*relay // by id; also those that were discovered
	finder  *finder           // nil unless an entry says so
	closed  bool
}

// New attaches a hub to the relays that it was attached to before. Close must be called
// before the hub is closed.
func New(h *hub.Hub, o *Options) (*Relays, error) {
	if o == nil {
		o = &Options{}
	}
	m := &Relays{hub: h, opts: *o, log: o.Logger, running: map[string]*relay{}}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	if m.opts.Own == nil {
		m.opts.Own = func(uint16) bool { return false }
	}
	if m.opts.FirstWait <= 0 {
		m.opts.FirstWait = time.Second
	}
	if m.opts.LastWait <= 0 {
		m.opts.LastWait = 30 * time.Second
	}
	if m.opts.Look <= 0 {
		m.opts.Look = 5 * time.Second
	}
	if m.opts.Ports == nil {
		for port := uint16(8765); port <= 8774; port++ {
			m.opts.Ports = append(m.opts.Ports, port)
		}
	}
	kept, err := load(o.File)
	if err != nil {
		return nil, err
	}
	m.entries = kept
	m.ctx, m.cancel = context.WithCancel(context.Background())
	for _, e := range kept {
		m.start(e)
	}
	return m, nil
}

// Close closes all connections and waits for them. The relays stay attached: their
// sessions are offline until the next hub connects.
func (m *Relays) Close() {
	m.change.Lock()
	defer m.change.Unlock()
	m.mu.Lock()
	m.closed = true
	running, found := slices.Collect(maps.Values(m.running)), m.finder
	m.mu.Unlock()
	m.cancel()
	if found != nil {
		found.stop()
	}
	for _, r := range running {
		r.stop()
	}
}

// start begins with an entry. The caller holds change, or is New.
func (m *Relays) start(e entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.Discover {
		m.finder = newFinder(m, e)
		return
	}
	m.running[e.ID] = newRelay(m, e, nil, true)
}

// newID returns an id for a relay.
func newID() string { return "r" + strings.ToLower(rand.Text()[:8]) }

// Attach attaches the hub to a relay, or has it look for some. It does not wait for the
// connection.
func (m *Relays) Attach(_ context.Context, in api.AttachRelay) (*api.Relay, error) {
	e := entry{ID: newID(), Discover: in.Discover, Rules: in.Rules, Insecure: in.Insecure, Created: time.Now().UTC().Truncate(time.Second)}
	switch {
	case in.Discover && in.URL != "":
		return nil, invalid("leave it out with discover")
	case in.Discover && in.Insecure:
		return nil, api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "insecure: leave it out with discover, which looks at the hub's machine only")
	case !in.Discover:
		var err error
		if e.URL, err = checkURL(in.URL, in.Insecure); err != nil {
			return nil, err
		}
		if port := portOf(e.URL); port != 0 && m.opts.Own(port) {
			return nil, invalid("%s is this hub", e.URL)
		}
	}
	m.change.Lock()
	defer m.change.Unlock()
	m.mu.Lock()
	closed, kept := m.closed, slices.Clone(m.entries)
	m.mu.Unlock()
	switch {
	case closed:
		return nil, &api.Error{Status: http.StatusServiceUnavailable, Code: api.CodeClosing, Title: "the hub is shutting down"}
	case len(kept) >= maxRelays:
		return nil, api.Errorf(http.StatusConflict, api.CodeConflict, "%d relays are attached already; detach some", len(kept))
	case slices.ContainsFunc(kept, func(k entry) bool { return k.Discover && e.Discover }):
		return nil, api.Errorf(http.StatusConflict, api.CodeConflict, "the hub is looking for relays already")
	case slices.ContainsFunc(kept, func(k entry) bool { return k.URL == e.URL && e.URL != "" }):
		return nil, api.Errorf(http.StatusConflict, api.CodeConflict, "%s is attached already", e.URL)
	}
	kept = append(kept, e)
	if err := save(m.opts.File, kept); err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.entries = kept
	m.mu.Unlock()
	if r := m.discovered(e.URL); r != nil { // it is attached for good now
		m.drop(r)
	}
	m.start(e)
	return m.view(e.ID)
}

// discovered returns the relay at an address that was found by looking, nil if there is
// none.
func (m *Relays) discovered(url string) *relay {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.running {
		if r.discovered && (r.entry.URL == url || portOf(r.entry.URL) == portOf(url)) {
			return r
		}
	}
	return nil
}

// drop ends the connection to a relay and forgets it. Its sessions stay as they are.
func (m *Relays) drop(r *relay) {
	r.stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running[r.entry.ID] == r {
		delete(m.running, r.entry.ID)
	}
}

// detached is why the sessions of a relay end that is detached.
const detached = "the relay was detached"

// Detach ends the connection to a relay, and the sessions that it shows, or has the hub
// look for relays no more.
func (m *Relays) Detach(ctx context.Context, id string) error {
	m.change.Lock()
	defer m.change.Unlock()
	m.mu.Lock()
	i := slices.IndexFunc(m.entries, func(e entry) bool { return e.ID == id })
	r, found, kept := m.running[id], m.finder, slices.Clone(m.entries)
	m.mu.Unlock()
	switch {
	case i < 0 && r != nil:
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeConflict, Title: "the relay was found by looking",
			Hint: "detach the entry that looks for relays, which lists as discover",
		}
	case i < 0:
		return api.Errorf(http.StatusNotFound, api.CodeNotFound, "there is no relay %q", id)
	}
	gone := kept[i]
	kept = slices.Delete(kept, i, i+1)
	if err := save(m.opts.File, kept); err != nil {
		return err
	}
	m.mu.Lock()
	m.entries = kept
	m.mu.Unlock()
	urls := []string{gone.URL}
	if gone.Discover {
		urls = nil
		found.stop()
		m.mu.Lock()
		m.finder = nil
		m.mu.Unlock()
		for {
			r := m.anyDiscovered()
			if r == nil {
				break
			}
			urls = append(urls, r.entry.URL)
			m.drop(r)
		}
	} else {
		m.drop(r)
	}
	// What was begun is done to its end: the entry is gone.
	ctx = context.WithoutCancel(ctx)
	for _, url := range urls {
		if err := m.hub.EndRelayRuns(ctx, url, detached); err != nil {
			return fmt.Errorf("ending the sessions of a relay: %w", err)
		}
	}
	return nil
}

// anyDiscovered returns one of the relays that were found by looking, nil if there is none.
func (m *Relays) anyDiscovered() *relay {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.running {
		if r.discovered {
			return r
		}
	}
	return nil
}

// List returns the relays: those that were attached by age, then those that were found.
func (m *Relays) List(context.Context) ([]api.Relay, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]api.Relay, 0, len(m.running)+1)
	for _, r := range m.running {
		list = append(list, r.view())
	}
	if m.finder != nil {
		list = append(list, m.finder.view())
	}
	slices.SortFunc(list, func(x, y api.Relay) int {
		if x.Discovered != y.Discovered {
			if x.Discovered {
				return 1
			}
			return -1
		}
		if c := x.Created.Compare(y.Created); c != 0 {
			return c
		}
		return strings.Compare(x.ID, y.ID)
	})
	return list, nil
}

// view returns the entry with an id.
func (m *Relays) view(id string) (*api.Relay, error) {
	list, err := m.List(m.ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(r api.Relay) bool { return r.ID == id })
	if i < 0 {
		return nil, api.Errorf(http.StatusNotFound, api.CodeNotFound, "there is no relay %q", id)
	}
	return &list[i], nil
}

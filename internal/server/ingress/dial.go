package ingress

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudews"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

const (
	// lastRequestHeader names, on a reconnect, the line that the CLI wrote last.
	lastRequestHeader = "X-Last-Request-Id"
	// callerWait is how long a CLI that was let in has until it is there: longer
	// than the body of a POST may take.
	callerWait = 10 * time.Minute
	// stoppedWait is how long a name is refused whose CLI was ended: 2.1.37 tries
	// to come back, and gives up after being refused, 5 s later at most.
	stoppedWait = 10 * time.Second
	// runnerHeader names the version of the environment that a CLI runs in.
	runnerHeader = "X-Environment-Runner-Version"
)

// DialOptions are the options of a [Dial].
type DialOptions struct {
	// Trusted reports whether a request brings a credential that may open
	// sessions. If nil, none does, and only CLIs that bring the token of a session
	// are let in.
	Trusted func(r *http.Request) bool

	// Open reports whether a CLI that brings no credential may dial in all the same.
	// If nil, none may.
	Open func(r *http.Request) bool

	// Lives returns what reports whether the process that a request came from still lives;
	// nil if that cannot be told. It is asked about CLIs that bring no credential: they are
	// on this machine. If nil, a CLI that is gone is waited for as one that has lost its
	// connection.
	Lives func(r *http.Request) (lives func() bool)

	// MaxOpen is how many of these there may be at a time. One more takes the place of
	// one that is not connected; if all are, it is refused. If zero, 64.
	MaxOpen int

	// Refused is told of each CLI without a credential that is refused: RefusedOpen,
	// RefusedOpenTotal or RefusedOpenRate. It must not block. If nil, nothing is told.
	Refused func(reason string)

	// Insist is how long a CLI in hybrid mode may be silent after it was sent an
	// answer, before it is asked whether it still waits. If zero, 5 s.
	Insist time.Duration

	// Server are further options of the server that accepts CLIs: sizes and times.
	// Authorize, OnEvent and Logger are set here. It may be nil.
	Server *claudews.ServerOptions

	// Logger takes refusals and ends. If nil, nothing is logged.
	Logger *slog.Logger
}

// A Dial is where CLIs come in that dial by themselves. It is an [http.Handler]
// for the requests of which [IsDial] says so. Which CLIs may come in the hub decides by
// the token that a request brings.
type Dial struct {
	// Static after construction.
	hub     theHub
	opts    DialOptions
	log     *slog.Logger
	server  *claudews.Server
	ctx     context.Context // ends when Close has waited long enough
	cancel  context.CancelFunc
	dropped atomic.Int64

	accepting sync.WaitGroup // the goroutine that accepts
	serving   sync.WaitGroup // one for each CLI

	// Guarded by mu.
	mu      sync.Mutex
	callers map[string]*caller   // by key
	stopped map[string]time.Time // by nameKey
	openers bucket               // of new sessions without a credential
}

var _ http.Handler = (*Dial)(nil)

func newDial(h theHub, o *DialOptions) *Dial {
	if o == nil {
		o = &DialOptions{}
	}
	d := &Dial{hub: h, opts: *o, log: discard(o.Logger), callers: map[string]*caller{}, stopped: map[string]time.Time{}}
	if d.opts.Insist <= 0 {
		d.opts.Insist = 5 * time.Second
	}
	if d.opts.MaxOpen <= 0 {
		d.opts.MaxOpen = 64
	}
	if d.opts.Refused == nil {
		d.opts.Refused = func(string) {}
	}
	so := claudews.ServerOptions{}
	if o.Server != nil {
		so = *o.Server
	}
	so.Authorize, so.OnEvent, so.Logger = d.authorize, d.happened, d.log
	server, err := claudews.NewServer(&so)
	if err != nil {
		panic(err) // Authorize is the only thing that could be missing
	}
	d.server = server
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.accepting.Go(d.accept) // joined by Close
	return d
}

// drainWait is how long Close waits for the hub to take what has come.
const drainWait = 10 * time.Second

// Close closes all connections with a code that has the CLIs come back, waits
// until the hub has taken what had come before, and then until nothing is left.
// It must be called before the hub is closed.
func (d *Dial) Close() error {
	timer := time.AfterFunc(drainWait, d.cancel)
	defer timer.Stop()
	err := d.server.Close()
	d.accepting.Wait()
	d.serving.Wait()
	d.cancel()
	return err
}

// Dropped returns how many live lines were left out because the hub was behind.
func (d *Dial) Dropped() int64 { return d.dropped.Load() }

// IsDial reports whether a request is one of a CLI that dials in: an upgrade on
// "/" or /ws/cli/NAME, or the POST that belongs to one of them.
func IsDial(r *http.Request) bool {
	_, ok := dialName(r)
	return ok
}

// dialName returns the name in the path of a CLI's request, "" for the root. ok
// is false for all other requests.
func dialName(r *http.Request) (name string, ok bool) {
	upgrade := r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
	post := r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/events")
	if !upgrade && !post {
		return "", false
	}
	path := claudews.RunPath(r)
	if path == "/" {
		return "", true
	}
	name, found := strings.CutPrefix(path, "/session/cli/")
	return name, found && goodName(name)
}

// goodName reports whether a name is one that we take: our ids and the CLI's
// are, and what people would choose.
func goodName(name string) bool {
	if name == "" || len(name) > 128 {
		return false
	}
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == ':':
		default:
			return false
		}
	}
	return true
}

// ServeHTTP implements [http.Handler].
func (d *Dial) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !IsDial(r) {
		http.NotFound(w, r)
		return
	}
	d.server.ServeHTTP(w, r)
}

// A caller is a CLI that was let in, from its first request on.
type caller struct {
	// Static after construction.
	key   string
	name  string
	token [sha256.Size]byte
	grant hub.DialGrant
	again bool          // it had been connected to a hub before
	open  bool          // it brought no credential
	done  chan struct{} // closed when it is over

	posting atomic.Bool // it sends lines by POST
	spoke   atomic.Bool // it has sent lines that have a uuid
	evicted atomic.Bool // another one has taken its place, see makeRoom
	died    atomic.Bool // its process has ended, see watch

	// Guarded by the server's mu.
	peer    *claudews.Peer // nil until it is served
	serving *dialled       // set when the hub has it
	session string         // its session and run, set with serving
	run     int
	seen    time.Time
	runner  string      // what it said of its environment
	lives   func() bool // reports whether its process does; nil if that is not known
}

// Reasons to turn a request away.
var (
	errNoToken   = errors.New("it brings no token")
	errAmbiguous = errors.New("several CLIs have dialled the root with this token, and a POST does not say which it is from; give each a path /ws/cli/NAME or a token of its own")
	errEnded     = errors.New("the CLI with this name has just been ended")
	errNotOpen   = errors.New("it brings no token, and does not come from a process of the hub's user on this machine")
)

// authorize says which run a request belongs to. An error ends the CLI.
func (d *Dial) authorize(r *http.Request) (claudews.Grant, error) {
	name, _ := dialName(r)
	req := hub.DialRequest{
		Token: claudews.BearerToken(r), Name: name, LastWritten: r.Header.Get(lastRequestHeader), Post: r.Method == http.MethodPost,
	}
	req.Trusted = d.opts.Trusted != nil && d.opts.Trusted(r)
	if req.Token == "" && !req.Trusted {
		if d.opts.Open == nil {
			return claudews.Grant{}, errNoToken
		}
		if req.Unauthenticated = d.opts.Open(r); !req.Unauthenticated {
			d.opts.Refused(RefusedOpen)
			return claudews.Grant{}, errNotOpen
		}
	}
	grant, err := d.admitted(r, req)
	if err != nil && req.Unauthenticated {
		d.opts.Refused(refusedOpen(err))
	}
	if err == nil && req.Unauthenticated && !req.Post && d.opts.Lives != nil {
		lives := d.opts.Lives(r)
		d.mu.Lock()
		if c := d.callers[grant.Key]; c != nil {
			c.lives = lives
		}
		d.mu.Unlock()
	}
	return grant, err
}

// admitted is authorize for a request whose credential, or lack of one, is known.
func (d *Dial) admitted(r *http.Request, req hub.DialRequest) (claudews.Grant, error) {
	// All that bring no credential have one token in common, which no other has.
	token := sha256.Sum256([]byte(req.Token))
	runner := r.Header.Get(runnerHeader)
	c, err := d.find(req, token, runner)
	if err != nil {
		return claudews.Grant{}, err
	}
	if c != nil {
		over := d.over(c)
		if !over && !d.replaced(c, req) {
			return c.granted(), nil
		}
		if !over {
			// Another process in the place of one that we knew: that one is done with.
			req.Fresh = true
			_ = c.peer.Close() // always nil
		}
		// The hub has to have all of the old one before it is asked about the new.
		select {
		case <-c.done:
		case <-r.Context().Done():
			return claudews.Grant{}, r.Context().Err()
		}
	}
	grant, err := d.hub.DialGrant(r.Context(), req)
	if err != nil {
		return claudews.Grant{}, err
	}
	return d.admit(req, token, runner, grant)
}

// over reports whether a caller is ending or has ended.
func (d *Dial) over(c *caller) bool {
	d.mu.Lock()
	peer := c.peer
	d.mu.Unlock()
	if peer == nil {
		return false
	}
	if c.died.Load() {
		return true
	}
	state, _ := peer.State()
	return state == claude.StateClosing || state == claude.StateClosed
}

// granted returns the caller's grant as the server wants it.
func (c *caller) granted() claudews.Grant {
	return claudews.Grant{Key: c.key, Own: c.grant.Own, Received: c.grant.Received}
}

// find returns the caller that a request comes from, nil if it is a new one.
func (d *Dial) find(req hub.DialRequest, token [sha256.Size]byte, runner string) (*caller, error) {
	key := ""
	if req.LastWritten != "" {
		key, _ = d.server.KeyOf(req.LastWritten)
	}
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.prune(now)
	c := d.callers[key]
	if c == nil || c.token != token {
		var err error
		if c, err = d.match(req, token); err != nil {
			return nil, err
		}
	}
	if c == nil {
		if req.Name != "" && d.stopped[nameKey(req.Name, req.Unauthenticated)].After(now) {
			return nil, errEnded
		}
		return nil, nil //nolint:nilnil // none is no error
	}
	c.seen = now
	if runner != "" {
		c.runner = runner
	}
	if req.Post {
		c.posting.Store(true)
	}
	return c, nil
}

// match is find for a request that names no line which we know. mu is held.
func (d *Dial) match(req hub.DialRequest, token [sha256.Size]byte) (*caller, error) {
	var found []*caller
	for _, c := range d.callers {
		switch {
		case c.token != token:
		case c.grant.Own:
			return c, nil
		case req.Name != c.name:
		case req.Name != "":
			return c, nil
		case req.Post:
			if c.posting.Load() || !c.spoke.Load() {
				found = append(found, c)
			}
		case req.LastWritten == "" && c.posting.Load() && c.peer != nil && c.peer.Conn() == 0:
			// In hybrid mode a CLI that comes back says nothing about itself.
			found = append(found, c)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1 && req.Post:
		return nil, errAmbiguous
	default:
		return nil, nil //nolint:nilnil // none is no error
	}
}

// replaced reports whether a request comes from another process than the one
// that the caller was: a CLI that has sent lines over its WebSocket names the
// last one when it comes back.
func (d *Dial) replaced(c *caller, req hub.DialRequest) bool {
	if req.Post || req.LastWritten != "" || c.posting.Load() || !c.spoke.Load() {
		return false
	}
	d.mu.Lock()
	peer := c.peer
	d.mu.Unlock()
	// Without a token of its own it must not take the place of one that lives;
	// the server finds out whether it does.
	return peer != nil && (c.grant.Own || peer.Conn() == 0)
}

// admit makes a caller of a request, unless the run is that of another caller:
// then the server finds out whether that one lives.
func (d *Dial) admit(req hub.DialRequest, token [sha256.Size]byte, runner string, grant hub.DialGrant) (claudews.Grant, error) {
	key := ""
	switch {
	case grant.Session != "":
		key = fmt.Sprintf("%s/%d", grant.Session, grant.Run)
		if req.Fresh {
			key += "/" + rand.Text() // the server does not let an ended key in again
		}
	case req.Name != "":
		key = "cli/" + nameKey(req.Name, req.Unauthenticated)
	default:
		key = "new/" + rand.Text()
	}
	c, away, err := d.enter(key, req, token, runner, grant)
	if away != nil {
		_ = away.Close() // always nil
	}
	if err != nil {
		return claudews.Grant{}, err
	}
	return claudews.Grant{Key: c.key, Own: grant.Own, Received: grant.Received}, nil
}

// enter returns the caller that has a key or the run of a grant, a new one if there is
// none. away is a CLI that has to leave for it, nil mostly.
func (d *Dial) enter(key string, req hub.DialRequest, token [sha256.Size]byte, runner string, grant hub.DialGrant) (c *caller, away *claudews.Peer, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.callers {
		if c.key == key || c.session != "" && c.session == grant.Session && c.run == grant.Run {
			if req.Post {
				c.posting.Store(true)
			}
			return c, nil, nil
		}
	}
	now := time.Now()
	if req.Unauthenticated {
		if away, err = d.makeRoom(now, grant.Session == ""); err != nil {
			return nil, nil, err
		}
	}
	c = &caller{
		key: key, name: req.Name, token: token, grant: grant, again: req.LastWritten != "" || req.Post, open: req.Unauthenticated,
		seen: now, runner: runner, done: make(chan struct{}),
	}
	c.posting.Store(req.Post)
	d.callers[key] = c
	return c, away, nil
}

// prune forgets callers that were let in and never came. mu is held.
func (d *Dial) prune(now time.Time) {
	for key, c := range d.callers {
		wait := callerWait
		if c.open {
			wait = openCallerWait
		}
		if c.peer == nil && now.Sub(c.seen) > wait {
			delete(d.callers, key)
		}
	}
	for name, until := range d.stopped {
		if !until.After(now) {
			delete(d.stopped, name)
		}
	}
}

// accept serves the CLIs that come.
func (d *Dial) accept() {
	for {
		p, err := d.server.Accept(context.Background()) // Close of the server ends it
		if err != nil {
			return
		}
		d.serving.Go(func() { d.serve(p) }) // joined by Close
	}
}

// served makes p the peer of its caller. If that is still busy with the last one
// of the same key, which ended just when the CLI was let in, it is waited for. It
// returns nil for one that is not known any more.
func (d *Dial) served(p *claudews.Peer) *caller {
	for {
		d.mu.Lock()
		c := d.callers[p.Key()]
		if c == nil || c.peer == nil {
			if c != nil {
				c.peer = p
			}
			d.mu.Unlock()
			return c
		}
		next := &caller{
			key: c.key, name: c.name, token: c.token, grant: c.grant, again: true, open: c.open, seen: c.seen, runner: c.runner, lives: c.lives,
			done: make(chan struct{}),
		}
		next.posting.Store(c.posting.Load())
		d.mu.Unlock()
		<-c.done
		d.mu.Lock()
		if d.callers[next.key] == nil {
			d.callers[next.key] = next
		}
		d.mu.Unlock()
	}
}

// gone forgets a caller.
func (d *Dial) gone(c *caller) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.callers[c.key] == c {
		delete(d.callers, c.key)
	}
	close(c.done)
}

// end ends a CLI for good.
func (d *Dial) end(c *caller) {
	if c.name != "" && !c.grant.Own {
		d.mu.Lock()
		d.stopped[nameKey(c.name, c.open)] = time.Now().Add(stoppedWait)
		d.mu.Unlock()
	}
	_ = c.peer.Close() // always nil
}

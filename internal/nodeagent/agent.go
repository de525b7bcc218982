package nodeagent

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/internal/disk"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/uplink"
)

// DefaultOrphanAfter is how long agents of a node go on without a hub, whether they are in
// a turn or not: a laptop that hosts the hub sleeps at night.
const DefaultOrphanAfter = 24 * time.Hour

// lookEvery is how often it is looked what became of shims that this process did not
// start, and of files that they have left.
const lookEvery = 2 * time.Second

// Options say how a node runs agents. DataDir is required.
type Options struct {
	// DataDir is the node's own folder, in which it has joined a hub.
	DataDir string
	// Program, Agent, Claude, RawFlags, Sandbox, Env and Scopes are as in [launch.Config].
	Program  string
	Agent    string
	Claude   launch.Defaults
	RawFlags bool
	Sandbox  launch.Sandbox
	Env      []string
	Scopes   bool
	// OrphanAfter and IdleOrphanAfter are how long agents go on without a hub, and without
	// a hub and anything to do. If zero, [DefaultOrphanAfter].
	OrphanAfter, IdleOrphanAfter time.Duration
	// MaxSessions is how many runs may live, if that is less than what the hub says. If
	// zero, what the hub says counts.
	MaxSessions int
	// Once ends the node when a session's run has ended and what it wrote is in the
	// hub's journal: the session's id, or [api.AnyNode] for the first one that is started
	// here. If empty, the node goes on.
	Once string
	// Own are folders and files beside the data folder that no agent may touch.
	Own []string
	// TLS names authorities to trust beside the system's. It may be nil.
	TLS *tls.Config
	// Version is that of switchboard.
	Version string
	// Connected, if set, is called whenever the node has connected. It must not block.
	Connected func(Identity)
	// Logger takes what an operator should know. If nil, nothing is logged.
	Logger *slog.Logger
}

// An Agent is a node that runs. It owns a goroutine for its control connection, one for
// its socket, one that looks after its shims, and those of calls and links, which Close
// joins. Shims, and the agents in them, go on.
type Agent struct {
	// Static after construction.
	options  Options
	log      *slog.Logger
	identity *Identity
	hub      *uplink.Hub
	launcher *launch.Launcher
	library  disk.Library
	runs     *runs
	spool    string // folder
	listener net.Listener
	server   *http.Server
	lock     *os.File
	ctx      context.Context //nolint:containedctx // the node's own life
	cancel   context.CancelCauseFunc
	tasks    sync.WaitGroup
	poke     chan struct{} // has room for one: the facts have changed
	closing  sync.Once

	mu        sync.Mutex
	closed    bool      // guarded by mu; no task is begun any more
	control   *control  // the connection, nil while there is none; guarded by mu
	found     found     // what was found on the machine; guarded by mu
	once      string    // the session that Options.Once means, "" if it is not known yet; guarded by mu
	connected time.Time // when there was a connection last; guarded by mu
}

// errOnce is why a node ends whose one session is over.
var errOnce = errors.New("the session has ended")

// Start starts a node. When it returns, shims can connect to its socket; the hub may not
// be reached yet. ctx bounds the start alone. The error says what to do.
func Start(ctx context.Context, o Options) (_ *Agent, err error) {
	a := &Agent{options: o, log: o.Logger, poke: make(chan struct{}, 1)}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.options.Env == nil {
		a.options.Env = os.Environ()
	}
	if a.options.DataDir, err = access.DataFolder(o.DataDir); err != nil {
		return nil, err
	}
	if a.identity, err = LoadIdentity(a.options.DataDir); err != nil {
		return nil, err
	}
	if a.hub, err = uplink.New(uplink.Options{URL: a.identity.URL, Pin: a.identity.Pin, TLS: o.TLS}); err != nil {
		return nil, err
	}
	if a.lock, err = lockFolder(a.options.DataDir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			a.putAway()
		}
	}()
	a.ctx, a.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := a.openLauncher(); err != nil {
		return nil, err
	}
	if a.runs, err = openRuns(a.options.DataDir, a.launcher.Alive, a.log); err != nil {
		return nil, err
	}
	if err := a.openOnce(); err != nil {
		return nil, err
	}
	if err := a.sweep(ctx); err != nil {
		return nil, err
	}
	if a.listener, err = access.ListenUnix(ctx, a.socket()); err != nil {
		return nil, err
	}
	a.serve()
	a.tasks.Go(a.find)
	a.tasks.Go(a.lookAfter)
	a.tasks.Go(a.stayConnected)
	return a, nil
}

// socket returns the path of the socket for shims.
func (a *Agent) socket() string { return filepath.Join(a.options.DataDir, "run", "hub.sock") }

// openLauncher makes the launcher.
func (a *Agent) openLauncher() error {
	o := &a.options
	sandbox := o.Sandbox
	sandbox.Own = slices.Concat(sandbox.Own, o.Own, []string{o.DataDir})
	var err error
	a.launcher, err = launch.New(launch.Config{
		Program: o.Program, DataDir: o.DataDir, Socket: a.socket(), Agent: o.Agent, Claude: o.Claude, RawFlags: o.RawFlags, Sandbox: sandbox,
		Env: o.Env, Logger: a.log, ClientApp: "switchboard/" + o.Version, Scopes: o.Scopes, OnExit: a.exit,
		OrphanAfter: cmp.Or(o.OrphanAfter, DefaultOrphanAfter), IdleOrphanAfter: cmp.Or(o.IdleOrphanAfter, DefaultOrphanAfter),
	})
	if err != nil {
		return err
	}
	a.library, a.spool = disk.New(a.launcher), filepath.Join(o.DataDir, "spool")
	return nil
}

// sweep ends what agents have left that died while there was no node.
func (a *Agent) sweep(ctx context.Context) error {
	swept, err := a.launcher.SweepAll(ctx)
	if err != nil {
		a.log.Warn("not all that earlier agents left was cleared away", "err", err)
	}
	for _, each := range swept {
		if each.Killed > 0 {
			a.log.Info("processes that an agent left were ended", "session", each.Session, "run", each.Run, "processes", each.Killed)
		}
	}
	return ctx.Err()
}

// serve serves the socket: links of shims, and nothing else.
func (a *Agent) serve() {
	guard := access.New(&access.Options{Log: a.log})
	links := a.hub.Links(node.LinkPath, a.ticket)
	mux := http.NewServeMux()
	mux.Handle("GET "+link.Path, guard.SocketOnly(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !a.begin() {
			http.Error(w, "the node is closing; try again", http.StatusServiceUnavailable)
			return
		}
		defer a.tasks.Done()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(a.ctx, cancel)()
		links.ServeHTTP(w, r.WithContext(ctx))
	})))
	a.server = &http.Server{
		Handler: guard.Checked(mux), ConnContext: guard.ConnContext, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
	a.tasks.Go(func() {
		if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
			a.cancel(fmt.Errorf("listening on %s: %w", a.socket(), err))
		}
	})
}

// begin counts a task in, unless the node ends. It ends with tasks.Done.
func (a *Agent) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.tasks.Add(1)
	return true
}

// ticket adds to a request for a link what the hub knows the node by. It returns false if
// there is no connection.
func (a *Agent) ticket(h http.Header) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.control == nil {
		return false
	}
	h.Set(node.HeaderNode, a.identity.ID)
	h.Set(node.HeaderTicket, a.control.ticket)
	return true
}

// Identity returns which node of which hub it is.
func (a *Agent) Identity() Identity { return *a.identity }

// Done is closed when the node ends by itself. Wait returns why.
func (a *Agent) Done() <-chan struct{} { return a.ctx.Done() }

// Wait waits until the node ends by itself, or ctx ends, which is no error. It returns nil
// if the session of Options.Once is over.
func (a *Agent) Wait(ctx context.Context) error {
	select {
	case <-a.ctx.Done():
	case <-ctx.Done():
		return nil
	}
	if err := context.Cause(a.ctx); !errors.Is(err, errOnce) && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// Close ends the node, and waits for everything that it does but for its agents, which go
// on and wait for the next one. It returns how many these are. Further calls do nothing.
func (a *Agent) Close() (running int) {
	a.closing.Do(func() {
		a.cancel(context.Canceled)
		a.mu.Lock()
		a.closed = true
		a.mu.Unlock()
		_ = a.server.Close() // what it serves ends with ctx
		a.tasks.Wait()
		a.runs.look()
		running = a.runs.count()
		a.putAway()
	})
	return running
}

// putAway undoes what Start did.
func (a *Agent) putAway() {
	if a.cancel != nil {
		a.cancel(context.Canceled)
	}
	if a.listener != nil {
		_ = a.listener.Close() // perhaps a second time
	}
	if a.launcher != nil {
		if err := a.launcher.Close(); err != nil {
			a.log.Warn("closing the launcher", "err", err)
		}
	}
	unlockFolder(a.lock)
}

// Run starts a node, and ends it when ctx does. It returns how many agents go on.
func Run(ctx context.Context, o Options) (running int, err error) {
	a, err := Start(ctx, o)
	if err != nil {
		return 0, err
	}
	err = a.Wait(ctx)
	return a.Close(), err
}

// exit is told when a shim that this process has started ends. It must not block.
func (a *Agent) exit(e launch.Exit) {
	key := runKey{e.Session, e.Run}
	if a.runs.exited(key, e.Code == 0) && a.begin() {
		go func() { // joined by Close
			defer a.tasks.Done()
			a.tell(key)
		}()
	}
}

// tell tells the hub that the shim of a run has ended: first what it has left.
func (a *Agent) tell(key runKey) {
	a.mu.Lock()
	c := a.control
	a.mu.Unlock()
	if c == nil {
		return // the hub asks when the node is back
	}
	c.facts()
	c.say(&node.Exited{Session: key.session, Run: key.run})
}

// lookAfter finds what changes without this process being told, until the node ends.
func (a *Agent) lookAfter() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		for _, key := range a.runs.look() {
			a.tell(key)
		}
		a.endOnce()
		select {
		case <-tick.C:
		case <-a.ctx.Done():
			return
		}
	}
}

package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/disk"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/notify"
	"github.com/switchboard-dev/switchboard/internal/report"
	"github.com/switchboard-dev/switchboard/internal/rulefile"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/console"
	"github.com/switchboard-dev/switchboard/internal/server/ingress"
	"github.com/switchboard-dev/switchboard/internal/server/lines"
	"github.com/switchboard-dev/switchboard/internal/server/metrics"
	"github.com/switchboard-dev/switchboard/internal/server/nodes"
	"github.com/switchboard-dev/switchboard/internal/server/relays"
	v1 "github.com/switchboard-dev/switchboard/internal/server/v1"
)

// Options say what to start. DataDir and Socket are required.
type Options struct {
	// DataDir is the folder for everything that is kept, Socket the path of the Unix socket. Both are absolute.
	DataDir, Socket string
	// Addr is the TCP address to listen on. If empty, the first free port from 8765 to 8774 on loopback.
	Addr string
	// URL is the address that others know the server by, such as "https://hub.example", if it is another than Addr. It has no path.
	URL string
	// TLSCert and TLSKey are files with the certificate of the port and its key. If empty, it is served without TLS.
	TLSCert, TLSKey string
	// TLSSelfSigned serves the port with a certificate that the hub makes once and keeps in the data folder. Clients know it by its fingerprint,
	// see [Server.Pin].
	TLSSelfSigned bool
	// BehindProxy says that a proxy with TLS is in front of the port, InsecureLAN that any machine on the network between may listen. Without TLS
	// one of them is what it takes to listen beyond loopback.
	BehindProxy, InsecureLAN bool
	// OpenRelay are the origins of web pages that may use the raw relay without a token; OpenRelayApprove has them answer questions.
	OpenRelay        []string
	OpenRelayApprove bool
	// OpenDial lets in CLIs that dial in without a token, from this machine alone; OpenDialMax is how many at a time. If zero, 64.
	OpenDial    bool
	OpenDialMax int
	// Limits bound connections over TCP.
	Limits access.Limits
	// Direct says what clients of Direct Connect may do.
	Direct Direct
	// Listeners were opened by a service manager, see [Activated]. A Unix socket among them takes the place of Socket, others that of Addr.
	// They are closed with the server, or when it cannot be started.
	Listeners []net.Listener
	// NotifySocket is the value of NOTIFY_SOCKET: the service manager that wants to know when the server is ready. It may be empty.
	NotifySocket string

	// Durability is what the journal survives. NewJournal sets aside the one that is there.
	Durability journal.Durability
	NewJournal bool
	// Retention limits what is kept of ended sessions that are not in use. MaxAge and MaxBytes count. It is enforced at the start and once a day.
	Retention journal.Retention

	// Program is the path of switchboard itself, which shims are started by. If empty, the running program.
	Program string
	// Agent is what sessions run: the path of a CLI, or [launch.Simulator]. If empty, the claude that is found.
	Agent string
	// Claude are the defaults of sessions.
	Claude launch.Defaults
	// RawFlags lets sessions name flags of the CLI that we know nothing of.
	RawFlags bool
	// Presets are sets of options that sessions can be started with by name.
	Presets []hub.Preset
	// Sandbox is what the operating system enforces where a session does not say, Enforcer what it is enforced by. Files of ours are added to
	// Enforcer.Own.
	Sandbox  hub.SandboxDefaults
	Enforcer launch.Sandbox
	// Env is the environment that agents are found by and get. If nil, that of the program.
	Env []string
	// OrphanAfter and IdleOrphanAfter are how long agents go on without a server. If zero, 24 h and 1 h.
	OrphanAfter, IdleOrphanAfter time.Duration
	// Silence is how long a CLI that dialled in and lost lines may be silent before its turn counts as over. If zero, 30 s.
	Silence time.Duration
	// Scopes puts shims into transient scopes of the user's service manager, where there is one.
	Scopes bool

	// Rules are what agents may do, in all sessions.
	Rules Rules
	// QuestionDeadline is how long a question may wait while a client could show it. If zero, for ever.
	QuestionDeadline time.Duration
	// Budgets limit what sessions use. ResumeAtReset has sessions go on by themselves when a rate limit is over.
	Budgets       []budget.Budget
	ResumeAtReset bool
	// Notify are the targets that are told what agents want, outside of all front ends; Link is what links to the console begin with.
	Notify []notify.Target
	Link   string

	// Console are the files of the page for browsers; nil if there is none. FreshConsole has them read anew for each request, which is for
	// developers who work on it.
	Console      fs.FS
	FreshConsole bool

	// Version is told to clients and agents.
	Version string
	// Logger takes what an operator should know. If nil, nothing is logged.
	Logger *slog.Logger
}

// Direct says what clients of Direct Connect may do.
type Direct struct {
	// AllowBypass lets them have sessions that ask for nothing.
	AllowBypass bool
	// Folders are those that their sessions may work in. If empty, everywhere but in our own.
	Folders []string
}

// A Server is a hub that can be reached. It owns a goroutine per listener and one for what is done from time to time, which Close joins.
type Server struct {
	// Static after construction.
	options  Options
	log      *slog.Logger
	journal  journal.Journal
	losses   []journal.Loss
	launcher *launch.Launcher
	rules    *rulefile.File
	hub      *hub.Hub
	reports  *report.Reports
	spools   *spools
	metrics  *metrics.Metrics
	tokens   *access.TokenStore
	guard    *access.Guard
	link     *ingress.Link
	dial     *ingress.Dial
	relays   *relays.Relays
	nodes    *nodes.Nodes
	v1       *v1.Server
	lines    *lines.Server
	console  *console.Handler // nil without one
	tls      *tls.Config      // nil without TLS
	servers  []*http.Server
	unix     []net.Listener
	tcp      []net.Listener
	socket   *socketFile // nil if a service manager owns it
	// fileToken is the id of the token in TokenFile, empty if there is none.
	fileToken string
	agent     *agentInfo
	unboxed   atomic.Pointer[string] // why agents run without a sandbox, once that is known
	ctx       context.Context        // ends when Close begins to put things away
	cancel    context.CancelFunc
	tasks     sync.WaitGroup
	failed    chan error // of a listener that ended unasked; has room for all
	undo      []func()   // what Close does in the end, the last one first
	closing   sync.Once
	phone     phone
}

// Start starts a server. When it returns, clients and agents can connect. ctx bounds the start alone. The error says what to do.
func Start(ctx context.Context, o Options) (_ *Server, err error) {
	s := &Server{options: o, log: o.Logger}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err == nil {
			return
		}
		s.cancel()
		s.tasks.Wait()
		s.putAway()
		for _, l := range o.Listeners {
			_ = l.Close() // perhaps a second time
		}
	}()
	if o.Console != nil {
		if s.console, err = console.New(o.Console, o.FreshConsole); err != nil {
			return nil, err
		}
	}
	// The journal is first: its lock is what tells that there is no other server.
	if err := s.openHub(ctx); err != nil {
		return nil, err
	}
	if err := s.listen(ctx); err != nil {
		return nil, err
	}
	s.link = ingress.NewLink(s.hub, &ingress.LinkOptions{Logger: s.log})
	s.undo = append(s.undo, func() { s.warn("closing links", s.link.Close()) })
	s.dial = ingress.NewDial(s.hub, s.dialOptions())
	s.undo = append(s.undo, func() { s.warn("closing connections of CLIs", s.dial.Close()) })
	s.relays, err = relays.New(s.hub, &relays.Options{File: filepath.Join(s.options.DataDir, relaysFile), Own: s.ownPort, Logger: s.log})
	if err != nil {
		return nil, err
	}
	s.undo = append(s.undo, s.relays.Close)
	s.v1 = v1.New(s.hub, s.reports, s.guard, &v1.Options{Info: s.info, Dial: webSocket(s.PublicURL()), Log: s.log, Tokens: s.tokens, Phone: s, Relays: s.relays, Nodes: s.nodes, Opened: s.metrics.Stream, Refused: s.metrics.Refused})
	s.lines = lines.New(s.hub, s.guard, &lines.Options{Log: s.log, Opened: s.metrics.Stream, Direct: lines.DirectOptions{
		URL: webSocket(s.PublicURL()), AllowBypass: o.Direct.AllowBypass, Folders: o.Direct.Folders, Own: slices.Concat([]string{o.DataDir}, o.Rules.Own),
	}})
	s.undo = append(s.undo, func() {
		s.lines.Close(goingAway)
		s.warn("closing connections of front ends", s.lines.Wait(context.Background()))
	})
	s.serve(s.unix, nil, s.socketHandler())
	limited := make([]net.Listener, len(s.tcp))
	for i, l := range s.tcp {
		limited[i] = s.guard.Limit(l)
	}
	s.serve(limited, s.tls, s.portHandler())
	for _, warning := range s.Warnings() {
		s.log.Warn("an endpoint is exposed", "which", warning)
	}
	s.tasks.Go(s.findAgent)
	s.tasks.Go(s.findEnforcer)
	s.tasks.Go(s.enforceRetention)
	s.tasks.Go(s.takeSpools)
	if err := tellManager(ctx, o.NotifySocket, "READY=1\nSTATUS=Listening on "+s.tcp[0].Addr().String()); err != nil {
		s.log.Warn("the service manager was not told that the server is ready", "err", err)
	}
	return s, nil
}

// openHub opens the journal and what works on it.
func (s *Server) openHub(ctx context.Context) error {
	o := &s.options
	folder, err := access.DataFolder(o.DataDir)
	if err != nil {
		return err
	}
	if folder != o.DataDir {
		o.Rules.Own = append(slices.Clone(o.Rules.Own), o.DataDir) // agents may not replace the link either
		o.DataDir = folder
	}
	opened, err := journal.Open(ctx, o.DataDir, &journal.Options{Durability: o.Durability, New: o.NewJournal, Logger: s.log})
	if err != nil {
		return err
	}
	s.journal, s.losses = opened, opened.Losses()
	s.undo = append(s.undo, func() { s.warn("closing the journal", opened.Close()) })

	if err := s.openAccess(); err != nil {
		return err
	}
	for _, l := range o.Listeners {
		if l.Addr().Network() == "unix" {
			o.Socket = l.Addr().String()
		}
	}
	enforcer := o.Enforcer
	enforcer.Own = s.hidden()
	s.launcher, err = launch.New(launch.Config{
		Sandbox: enforcer, Program: o.Program, DataDir: o.DataDir, Socket: o.Socket, Agent: o.Agent, Claude: o.Claude, Env: o.Env, Logger: s.log,
		ClientApp: "switchboard/" + o.Version, Scopes: o.Scopes, RawFlags: o.RawFlags, OrphanAfter: o.OrphanAfter, IdleOrphanAfter: o.IdleOrphanAfter,
	})
	if err != nil {
		return err
	}
	s.undo = append(s.undo, func() { s.warn("closing the launcher", s.launcher.Close()) })
	s.agent = &agentInfo{simulated: o.Agent == launch.Simulator}

	if err := s.openRules(ctx); err != nil {
		return err
	}
	tell, err := s.openNotify()
	if err != nil {
		return err
	}
	if s.nodes, err = nodes.Open(nodes.Options{
		File: filepath.Join(o.DataDir, nodes.File), Hub: s.journal.ID(), Guard: s.guard, URL: s.PublicURL, Pin: s.pin, Logger: s.log,
	}); err != nil {
		return err
	}
	s.undo = append(s.undo, s.nodes.Close)
	s.metrics = metrics.New(&metrics.Options{Version: o.Version, Logger: s.log})
	s.spools = newSpools(filepath.Join(o.DataDir, "spool"), s.log)
	s.hub, err = hub.New(ctx, hub.Options{
		Journal: s.journal, Launcher: launcher{s.launcher}, Logger: s.log, Rules: s.rules, Notify: tell, Metrics: s.metrics,
		QuestionDeadline: o.QuestionDeadline, Budgets: o.Budgets, ResumeAtReset: o.ResumeAtReset, Left: s.leftBy, Silence: o.Silence,
		Presets: o.Presets, Sandbox: o.Sandbox, Nodes: s.nodes,
	})
	if err != nil {
		return err
	}
	s.nodes.Use(s.hub)
	s.undo = append(s.undo, func() { s.warn("closing the hub", s.hub.Close()) })
	s.reports = report.New(report.Options{
		Journal: s.journal, Logger: s.log, Library: disk.New(s.launcher), Libraries: s.nodes.Library, Rules: s.rules, Evaluated: s.metrics.Evaluated, Live: s.hub.Unknown, Scratch: o.DataDir,
	})
	s.metrics.Watch(metrics.Sources{Stats: s.hub.Stats, Drift: s.reports.Drift, Nodes: s.nodes.Count})
	return s.tidy(ctx)
}

// tidy takes in what agents wrote while there was no server and had to put into files, then ends what agents left that died meanwhile. Neither
// keeps the server from starting.
func (s *Server) tidy(ctx context.Context) error {
	taking, cancel := context.WithTimeout(ctx, spoolsAtStart)
	s.spools.all(taking, s.hub) // what is left then is taken in later
	cancel()
	swept, err := s.launcher.SweepAll(ctx)
	if err != nil {
		s.log.Warn("not all that earlier agents left was cleared away", "err", err)
	}
	for _, each := range swept {
		if each.Killed > 0 {
			s.log.Info("processes that an agent left were ended", "session", each.Session, "run", each.Run, "processes", each.Killed)
		}
	}
	return ctx.Err()
}

// listen opens the socket and the port, or takes those that a service manager has opened.
func (s *Server) listen(ctx context.Context) error {
	for _, l := range s.options.Listeners {
		if l.Addr().Network() == "unix" {
			s.unix = append(s.unix, l)
		} else {
			s.tcp = append(s.tcp, l)
		}
	}
	if len(s.unix) == 0 {
		l, err := access.ListenUnix(ctx, s.options.Socket)
		if err != nil {
			return err
		}
		s.unix = append(s.unix, l)
		s.undo = append(s.undo, func() { _ = l.Close() }) // a second time, if it was served
		if s.socket, err = ownSocket(l, s.options.Socket); err != nil {
			return err
		}
		s.undo = append(s.undo, func() { s.warn("removing the socket", s.socket.remove()) })
	}
	for _, l := range s.tcp {
		if err := access.CheckListener(l, s.beyond()); err != nil {
			return err
		}
	}
	if len(s.tcp) == 0 {
		l, err := listenTCP(ctx, s.options.Addr, s.beyond())
		if err != nil {
			return err
		}
		s.tcp = append(s.tcp, l)
		s.undo = append(s.undo, func() { _ = l.Close() })
	}
	for _, l := range s.tcp { // also those of a service manager
		a, ok := l.Addr().(*net.TCPAddr)
		switch local := ok && a.IP.IsLoopback(); {
		case len(s.options.OpenRelay) > 0 && !local:
			return fmt.Errorf("an open relay is for this machine alone, and others can reach %s; leave out --open-relay, or listen on 127.0.0.1", l.Addr())
		case s.options.OpenDial && !local:
			return fmt.Errorf("dialing in without a token is for this machine alone, and others can reach %s; leave out --open-dial-in, or listen on 127.0.0.1", l.Addr())
		}
	}
	s.failed = make(chan error, len(s.unix)+len(s.tcp))
	return nil
}

// relaysFile is the file in the data folder that holds the relays that the hub is attached to.
const relaysFile = "relays.json"

// ownPort reports whether the server listens on a port of this machine.
func (s *Server) ownPort(port uint16) bool {
	return slices.ContainsFunc(s.tcp, func(l net.Listener) bool {
		a, ok := l.Addr().(*net.TCPAddr)
		return ok && a.Port == int(port)
	})
}

// Limits of the HTTP servers. There are none for whole requests: streams are as long as they are.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
)

// newHTTP makes a server of a handler, with TLS if there is a configuration of it.
func (s *Server) newHTTP(secure *tls.Config, handler http.Handler) *http.Server {
	// What a browser gains by HTTP/2 is not worth a second set of limits; a WebSocket needs the first version anyway.
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler: s.guard.Checked(s.metrics.HTTP(handler)), ConnContext: s.guard.ConnContext, TLSConfig: secure, Protocols: &protocols,
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}

// serve serves a handler on some listeners, with TLS if there is a configuration of it.
func (s *Server) serve(listeners []net.Listener, secure *tls.Config, handler http.Handler) {
	server := s.newHTTP(secure, handler)
	s.servers = append(s.servers, server)
	for _, l := range listeners {
		s.tasks.Go(func() {
			serve := server.Serve
			if secure != nil {
				serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
			}
			if err := serve(l); !errors.Is(err, http.ErrServerClosed) {
				s.failed <- fmt.Errorf("listening on %s: %w", l.Addr(), err)
			}
		})
	}
}

// warn logs an error of putting something away; nothing can be done about it.
func (s *Server) warn(doing string, err error) {
	if err != nil {
		s.log.Warn("an error at the end", "doing", doing, "err", err)
	}
}

// putAway undoes what Start did, the last thing first.
func (s *Server) putAway() {
	for _, undo := range slices.Backward(s.undo) {
		undo()
	}
}

// Socket returns the path of the Unix socket.
func (s *Server) Socket() string { return s.options.Socket }

// TokenFile returns the path of the file that may hold a token with all rights; see [access.LoadToken].
func (s *Server) TokenFile() string { return filepath.Join(s.options.DataDir, access.TokenFile) }

// Failed receives the error of a listener that has ended by itself.
func (s *Server) Failed() <-chan error { return s.failed }

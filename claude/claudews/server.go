package claudews

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/internal/broadcast"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// lastRequestHeader names, on a reconnect, the line that the CLI wrote last.
	lastRequestHeader = "X-Last-Request-Id"
	// probeTimeout is how fast a connection must answer a ping to keep its
	// place against another one that claims to be the same CLI.
	probeTimeout = time.Second
	// rememberedEnds is how many ended keys are known, to turn away a CLI that
	// does not know that it has been ended.
	rememberedEnds = 1024
)

// ServerOptions are the options of a [Server]. Only Authorize is required.
type ServerOptions struct {
	// Authorize judges every upgrade and every POST and says which run it
	// belongs to; see [Tokens]. An error refuses the request with 403, upon
	// which the CLI ends; the error is logged, so it must not hold a secret. It
	// must be safe for concurrent use and should be quick.
	//
	// An owner that has ended a run whose credential is not its Own should
	// refuse it here: a 2.1.37 in hybrid mode, or one that has not written
	// anything, comes back and looks new.
	Authorize func(r *http.Request) (Grant, error)

	// OnEvent is told what happens to a peer besides lines, if it is not nil. It
	// is called by [Peer.Read] and [Peer.Receive], in the goroutine of their
	// caller, at the event's place between the lines.
	OnEvent func(p *Peer, e Event)

	// AnyPath makes the server serve every path, instead of "/" and those with
	// "/ws/NAME" in them.
	AnyPath bool

	// Hosts lists the Host headers that are served, with their ports. If empty,
	// all are.
	Hosts []string

	// MaxPeers is how many CLIs may be there at a time. One more is told to come
	// back later. If zero, 1024.
	MaxPeers int

	// MaxLine is the longest line in bytes; a longer one comes from Read as a
	// [*wire.LineTooLongError]. If zero, [wire.DefaultMaxLine].
	MaxLine int

	// MaxBody is the largest POST in bytes. What a larger one held is lost, and
	// told as an [EventGap]. If zero, twice MaxLine.
	MaxBody int64

	// MaxInbox is how many bytes of lines a peer holds unread.
	// When it is full the CLI is not read further; it takes its connection for
	// dead after 20 s of that. If zero, 16 MiB.
	MaxInbox int

	// BodyTimeout is how long the body of a POST may take to arrive. If zero,
	// 60 s.
	BodyTimeout time.Duration

	// PingInterval is the time between pings. If zero, 10 s.
	PingInterval time.Duration

	// PingTimeout is the time after which a connection that does not answer a
	// ping is taken for dead. If zero, 20 s.
	PingTimeout time.Duration

	// ReconnectWait is how long a peer without a connection waits for its CLI,
	// from the loss or from its last POST. If zero, 11 minutes: 2.1.120 tries for
	// about 10.
	ReconnectWait time.Duration

	// Compression accepts permessage-deflate, which every CLI offers. It costs
	// several times the processor time of the rest and is of use only on slow
	// networks.
	Compression bool

	// Logger takes refusals and ends of connections. If nil, nothing is logged.
	Logger *slog.Logger
}

func (o *ServerOptions) withDefaults() ServerOptions {
	d := *o
	setDefault(&d.MaxPeers, 1024)
	setDefault(&d.MaxLine, wire.DefaultMaxLine)
	setDefault(&d.MaxBody, 2*int64(d.MaxLine))
	setDefault(&d.MaxInbox, 16<<20)
	setDefault(&d.BodyTimeout, time.Minute)
	setDefault(&d.PingInterval, defaultPingInterval)
	setDefault(&d.PingTimeout, defaultPingTimeout)
	setDefault(&d.ReconnectWait, 11*time.Minute)
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	d.Hosts = slices.Clone(d.Hosts)
	return d
}

func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// A Server accepts CLIs that dial in, over WebSocket and hybrid POST. It is an
// [http.Handler]; HTTPServer gives an [http.Server] with limits that fit it.
type Server struct {
	// Static after construction.
	opts ServerOptions

	requests sync.WaitGroup // every request that is being served

	// Guarded by mu.
	mu     sync.Mutex
	closed bool
	peers  map[string]*Peer
	ended  []string            // the last keys that must not come back
	fresh  []*Peer             // to be accepted
	news   broadcast.Broadcast // fresh or closed has changed
}

var _ http.Handler = (*Server)(nil)

// NewServer returns a server. It runs nothing by itself; what its requests
// start is over when Close returns.
func NewServer(o *ServerOptions) (*Server, error) {
	if o == nil || o.Authorize == nil {
		return nil, errors.New("making a server for CLIs: ServerOptions.Authorize is required")
	}
	return &Server{opts: o.withDefaults(), peers: make(map[string]*Peer)}, nil
}

// HTTPServer returns an http.Server for s alone, with time-outs and a header
// limit. The goroutine that serves it also closes it, after s.
func (s *Server) HTTPServer() *http.Server {
	return &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.opts.Logger.Handler(), slog.LevelDebug),
	}
}

// Accept returns the next CLI that has come, waiting for one if there is none.
// A CLI that comes back is not a new one.
func (s *Server) Accept(ctx context.Context) (*Peer, error) {
	for {
		s.mu.Lock()
		closed, news := s.closed, s.news.Changed()
		if !closed && len(s.fresh) > 0 {
			p := s.fresh[0]
			s.fresh = s.fresh[1:]
			s.mu.Unlock()
			return p, nil
		}
		s.mu.Unlock()
		if closed {
			return nil, ErrServerClosed
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// KeyOf returns the key of the peer from which a line with that uuid was
// received lately. It helps an Authorize that has nothing else to know a CLI by:
// one that comes back names such a line in the header X-Last-Request-Id.
func (s *Server) KeyOf(uuid string) (key string, ok bool) {
	s.mu.Lock()
	peers := make([]*Peer, 0, len(s.peers))
	for _, p := range s.peers {
		peers = append(peers, p)
	}
	s.mu.Unlock()
	for _, p := range peers {
		if p.history.knows(uuid) {
			return p.key, true
		}
	}
	return "", false
}

// Close ends all peers and waits for all requests. Their connections are closed
// with [CodeRestart], so the CLIs live on and come back to the server that listens on
// the address next; POSTs that wait are answered 503 and come again. To end a
// CLI, close its [Peer].
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.fresh = nil
	peers := s.peers
	s.peers = make(map[string]*Peer)
	s.changed()
	s.mu.Unlock()
	var ends sync.WaitGroup
	for _, p := range peers {
		ends.Go(func() {
			p.end(ending{err: ErrServerClosed, code: CodeRestart, reason: "restarting", status: http.StatusServiceUnavailable})
		})
	}
	ends.Wait()
	s.requests.Wait()
	return nil
}

// changed wakes every goroutine that waits. mu is held.
func (s *Server) changed() {
	s.news.Notify()
}

func (s *Server) announce(p *Peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.fresh = append(s.fresh, p)
	s.changed()
}

// forget removes a peer that has ended. refuse keeps its CLI from coming back.
func (s *Server) forget(p *Peer, refuse bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peers[p.key] == p {
		delete(s.peers, p.key)
	}
	// One that was never accepted is not worth accepting any more.
	s.fresh = slices.DeleteFunc(s.fresh, func(f *Peer) bool { return f == p })
	if refuse {
		if len(s.ended) == rememberedEnds {
			s.ended = slices.Delete(s.ended, 0, 1)
		}
		s.ended = append(s.ended, p.key)
	}
}

// enter counts a request in, unless the server is closed.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.requests.Add(1)
	return true
}

// Reasons to turn a request away.
var (
	errBusy    = errors.New("there are too many CLIs")
	errEnded   = errors.New("this CLI has been ended")
	errTaken   = errors.New("another CLI holds this place, and it lives")
	errBrowser = errors.New("the request comes from a web page")
	errHost    = errors.New("the Host header is not one of ours")
	errNoKey   = errors.New("the owner gave the request no key")
)

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	upgrade := r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
	post := r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/events")
	switch {
	case fromBrowser(r):
		s.refuse(w, r, errBrowser)
	case len(s.opts.Hosts) > 0 && !slices.ContainsFunc(s.opts.Hosts, func(h string) bool { return strings.EqualFold(h, r.Host) }):
		s.refuse(w, r, errHost)
	case !upgrade && !post, !s.opts.AnyPath && !ours(RunPath(r)):
		http.NotFound(w, r)
	default:
		grant, err := s.opts.Authorize(r)
		if err == nil && grant.Key == "" {
			err = errNoKey
		}
		switch {
		case err != nil:
			s.refuse(w, r, err)
		case upgrade:
			s.serveUpgrade(w, r, grant)
		default:
			s.servePost(w, r, grant)
		}
	}
}

// refuse turns a request away for good: a CLI ends when its upgrade is refused.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, cause error) {
	s.opts.Logger.Warn("request refused", "method", r.Method, "path", r.URL.Path, "remote", r.RemoteAddr, "error", cause)
	http.Error(w, "forbidden", http.StatusForbidden)
}

// peer finds a CLI's peer or makes it. again tells that the CLI was connected
// before.
func (s *Server) peer(grant Grant, again bool) (*Peer, error) {
	key := grant.Key
	s.mu.Lock()
	defer s.mu.Unlock()
	switch p := s.peers[key]; {
	case s.closed:
		return nil, ErrServerClosed
	case p != nil:
		return p, nil
	case (again || grant.Own) && slices.Contains(s.ended, key):
		return nil, errEnded
	case len(s.peers) >= s.opts.MaxPeers:
		return nil, errBusy
	}
	p := newPeer(s, key)
	s.peers[key] = p
	s.ended = slices.DeleteFunc(s.ended, func(k string) bool { return k == key })
	return p, nil
}

func (s *Server) servePost(w http.ResponseWriter, r *http.Request, grant Grant) {
	if !s.enter() {
		http.Error(w, ErrServerClosed.Error(), http.StatusServiceUnavailable)
		return
	}
	defer s.requests.Done()
	p, err := s.peer(grant, true)
	switch {
	case errors.Is(err, errEnded):
		http.Error(w, err.Error(), http.StatusGone) // it need not try again
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		p.servePost(w, r)
		p.abandon()
	}
}

func (s *Server) serveUpgrade(w http.ResponseWriter, r *http.Request, grant Grant) {
	if !s.enter() {
		s.turnAway(w, r, CodeRestart)
		return
	}
	defer s.requests.Done()
	p, l, err := s.admit(w, r, grant)
	switch {
	case err == nil:
		p.run(l)
	case errors.Is(err, errBusy):
		s.turnAway(w, r, CodeBusy)
	case errors.Is(err, ErrServerClosed):
		s.turnAway(w, r, CodeRestart)
	case errors.Is(err, errEnded), errors.Is(err, errTaken):
		s.refuse(w, r, err)
	default: // the handshake failed and has been answered, or the CLI is gone
		s.opts.Logger.Debug("upgrade failed", "remote", r.RemoteAddr, "error", err)
	}
}

// admit lets a CLI in and returns its connection, which is to be run.
func (s *Server) admit(w http.ResponseWriter, r *http.Request, grant Grant) (*Peer, *link, error) {
	wrote := r.Header.Get(lastRequestHeader)
	for {
		p, err := s.peer(grant, wrote != "")
		if err != nil {
			return nil, nil, err
		}
		select {
		case p.entry <- struct{}{}:
		case <-r.Context().Done():
			return nil, nil, r.Context().Err()
		}
		l, err := p.admit(w, r, wrote, grant)
		<-p.entry
		if errors.Is(err, claude.ErrClosed) {
			<-p.ended // it ended meanwhile, the CLI may be the next
			continue
		}
		if err != nil {
			p.abandon()
		}
		return p, l, err
	}
}

// admit makes the upgrade a connection of p, if it may be one. The caller holds
// p.entry.
func (p *Peer) admit(w http.ResponseWriter, r *http.Request, wrote string, grant Grant) (*link, error) {
	p.mu.Lock()
	old, closing := p.link, p.closing
	p.mu.Unlock()
	if closing {
		return nil, claude.ErrClosed
	}
	if old != nil && !grant.Own && !p.history.knows(wrote) && old.answers(probeTimeout) {
		return nil, errTaken
	}
	ws, conn, err := p.server.accept(w, r)
	if err != nil {
		return nil, err
	}
	l, ok := p.attach(func(n int) *link { return newLink(ws, conn, n) }, wrote, grant.Received)
	if !ok {
		l.close(CodeRestart, "try again")
		close(l.done)
		return nil, net.ErrClosed
	}
	return l, nil
}

// abandon removes a peer that no event has named, because what made it came to
// nothing.
func (p *Peer) abandon() {
	p.end(ending{
		err: claude.ErrClosed, code: CodeRestart, status: http.StatusServiceUnavailable,
		unless: func() bool { return p.announced || p.link != nil },
	})
}

// accept answers an upgrade.
func (s *Server) accept(w http.ResponseWriter, r *http.Request) (*websocket.Conn, *batchConn, error) {
	opts := &websocket.AcceptOptions{}
	if s.opts.Compression {
		opts.CompressionMode = websocket.CompressionContextTakeover
	}
	h := &hijacker{ResponseWriter: w}
	ws, err := websocket.Accept(h, r, opts)
	if err != nil {
		return nil, nil, fmt.Errorf("upgrading: %w", err)
	}
	return ws, h.conn, nil
}

// turnAway accepts a connection only to close it, with a code that makes the CLI
// come back: an HTTP error would end it.
func (s *Server) turnAway(w http.ResponseWriter, r *http.Request, code int) {
	ws, conn, err := s.accept(w, r)
	if err != nil {
		return // answered
	}
	newLink(ws, conn, 0).close(code, "come back")
}

// An EventKind says what an [Event] reports. More kinds may come.
type EventKind string

// The kinds of events.
const (
	// EventConnected reports a peer's first WebSocket connection.
	EventConnected EventKind = "connected"
	// EventDisconnected reports that a connection was lost. Lines written
	// shortly before may not have arrived.
	EventDisconnected EventKind = "disconnected"
	// EventReconnected reports another connection of the same CLI. Requests
	// that the CLI made meanwhile may be lost: send initialize again, its answer
	// lists the questions that are open.
	EventReconnected EventKind = "reconnected"
	// EventGap reports that lines are missing at this place.
	EventGap EventKind = "gap"
	// EventUnknown reports a CLI that was connected before to a server that is
	// gone, and that wrote a line of which neither this server nor its owner
	// knows. Lines may be missing or not; the CLI's transcript can tell.
	EventUnknown EventKind = "unknown"
)

// An Event is something other than a line that happened to a peer, at its place
// between the lines.
type Event struct {
	// Kind says what happened.
	Kind EventKind
	// Conn is the number of the connection that it happened to, from 1; 0 for a
	// gap in what was POSTed.
	Conn int
	// Err is why the connection was lost, a *CloseError if the CLI closed it or
	// it broke. For a gap it is the cause, where one is known.
	Err error
	// Wrote is the uuid of the line that the CLI says it wrote last, for
	// EventGap and EventUnknown. A line that it names twice is missed once.
	Wrote string
	// Received is the uuid of the line that was received last, "" if none was.
	Received string
}

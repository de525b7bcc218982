package lines

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/broadcast"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/wsconn"
	"github.com/switchboard-dev/switchboard/wire"
)

// A Guard identifies the client that makes a request; *[access.Guard] is one.
type Guard interface {
	// Authenticated lets through requests whose maker is known.
	Authenticated(next http.Handler) http.Handler
	// Admitted does too, and WebSockets that bring no token.
	Admitted(next http.Handler) http.Handler
	// Open lets in front ends of the relay that cannot send a token, where that is
	// allowed.
	Open(r *http.Request) (access.Identity, bool)
	// Identify returns the owner of a token that came as the first line. If it has none, it
	// takes its time.
	Identify(ctx context.Context, token string) (access.Identity, *api.Error)
}

// Options are the options of a [Server]. The zero value is valid, but tells clients of
// Direct Connect no address that they could connect to.
type Options struct {
	// Log takes what an operator should know. If nil, nothing is logged.
	Log *slog.Logger
	// Opened is told of each connection, and the function that it returns when that
	// has ended. It may be nil.
	Opened func(route, kind string) (closed func())
	// Ping is how often a client is pinged. If zero, 30 s.
	Ping time.Duration
	// FirstLine is how long a client has to identify itself. If zero,
	// [access.FirstLineTime].
	FirstLine time.Duration
	// Direct says how Direct Connect is served.
	Direct DirectOptions
}

// DirectOptions say how Direct Connect is served.
type DirectOptions struct {
	// URL is what ws_url begins with, such as "ws://127.0.0.1:8765". It is never
	// taken from a request.
	URL string
	// AllowBypass lets clients have sessions that ask for nothing.
	AllowBypass bool
	// Folders are those that sessions may work in, and in what is below them. If
	// empty, everywhere but in Own.
	Folders []string
	// Own are folders of the server itself, which no session may work in.
	Own []string
	// Home is the folder of a session whose client names none and where Folders is
	// empty. If empty, the user's home folder.
	Home string
	// WriteTimeout is how long a client may read nothing while there is something for
	// it, and how much longer than Ping it may be silent, before it is cut. If zero, 2m.
	WriteTimeout time.Duration
}

// relayStall is the same for front ends of the relay. They catch up from the journal,
// so patience costs little.
const relayStall = 5 * time.Minute

// errClosing is why connections end when the server does, if no reason was given.
var errClosing = errors.New("the hub is shutting down")

// A closeReason is the cause of the end of all connections.
type closeReason struct{ text string }

func (c *closeReason) Error() string { return c.text }

// A Server serves both dialects. It owns the goroutines of the connections; Wait joins
// them.
type Server struct {
	// Static after construction.
	hub      *hub.Hub
	guard    Guard
	options  Options
	log      *slog.Logger
	direct   http.Handler
	maxLine  int                       // the longest line of a client
	maxBytes int                       // see desk
	settle   time.Duration             // how long requests may take to fail after the end of the CLI
	pause    func(ctx context.Context) // see [relay.breathe]
	ctx      context.Context           // ends with Close, which gives its cause
	cancel   context.CancelCauseFunc
	buffers  sync.Pool // *[]byte, for what is read

	sights sightCache
	keys   *keys

	mu     sync.Mutex
	open   int                 // connections; guarded by mu
	left   broadcast.Broadcast // open has fallen to 0; guarded by mu
	begins map[string]string   // where the first client of a session begins; guarded by mu
}

// New makes a server. It starts nothing. Nil options are the same as zero ones.
func New(h *hub.Hub, guard Guard, o *Options) *Server {
	if o == nil {
		o = &Options{}
	}
	s := &Server{
		hub: h, guard: guard, options: *o, log: o.Log, maxLine: wire.MaxFrontEndLine, maxBytes: defaultBytes, settle: settleTime, pause: wait,
		keys: newKeys(), begins: map[string]string{},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.options.Ping <= 0 {
		s.options.Ping = 30 * time.Second
	}
	if s.options.FirstLine <= 0 {
		s.options.FirstLine = access.FirstLineTime
	}
	if s.options.Opened == nil {
		s.options.Opened = func(string, string) func() { return func() {} }
	}
	if s.options.Direct.WriteTimeout <= 0 {
		s.options.Direct.WriteTimeout = 2 * time.Minute
	}
	if s.options.Direct.Home == "" {
		s.options.Direct.Home, _ = os.UserHomeDir() // without one a client has to name a folder
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.buffers.New = func() any { return new([]byte) }
	if guard != nil {
		s.direct = s.directRoutes()
	}
	return s
}

// Relay returns the handler of the raw relay, to be mounted inside of
// [access.Guard.Admitted].
func (s *Server) Relay() http.Handler { return http.HandlerFunc(s.serveRelay) }

// Direct returns the handler of /sessions and what is below it, to be mounted inside
// of [access.Guard.Checked].
func (s *Server) Direct() http.Handler { return s.direct }

// Open returns how many clients are connected.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Close ends all connections: each client is told why, and to come back. Requests that
// come later are refused. It does not wait; Wait does.
func (s *Server) Close(reason string) { s.cancel(&closeReason{reason}) }

// Wait waits, after Close, until all connections have ended, or ctx does. The hub must
// not be closed before. A client that does not read is cut soon.
func (s *Server) Wait(ctx context.Context) error {
	for {
		s.mu.Lock()
		if s.open == 0 {
			s.mu.Unlock()
			return nil
		}
		left := s.left.Changed()
		s.mu.Unlock()
		select {
		case <-left:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// why returns why the server is closed.
func (s *Server) why() string {
	if reason, ok := errors.AsType[*closeReason](context.Cause(s.ctx)); ok && reason.text != "" {
		return reason.text
	}
	return errClosing.Error()
}

// enter counts a connection in, unless the server is closed.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return false
	}
	s.open++
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open--; s.open == 0 {
		s.left.Notify()
	}
}

// accept makes a request a connection, and serves it in a goroutine of its own: that of
// the request, with all that is on its stack, would cost more than the connection. c
// has its dialect, and its identity if that is known.
func (s *Server) accept(w http.ResponseWriter, r *http.Request, c *conn) {
	if !s.enter() {
		access.WriteProblem(w, closing())
		return
	}
	c.server, c.manners = s, c.dialect.behavior()
	if !c.known {
		c.request = context.WithoutCancel(r.Context())
	}
	ws, err := wsconn.Accept(w, r, &wsconn.Options{Subprotocols: []string{access.Subprotocol}, Stall: c.manners.stall})
	if err != nil {
		s.log.Debug("a client was not let in", "error", err) // it has been answered
		s.leave()
		return
	}
	c.ws, c.closed = ws, s.options.Opened(r.Pattern, "websocket")
	go c.serve() // joined by Wait
}

// mayNotLook says that the scope for looking is missing.
func mayNotLook(id access.Identity) *api.Error {
	e := api.Errorf(http.StatusForbidden, api.CodeForbidden, "This needs the scope %q", wire.ScopeObserve)
	e.Detail, e.Hint = id.Limited, "Use a token that has it."
	return e
}

// problem returns an error as the client is told it, and logs it if that is not all.
func (s *Server) problem(err error) *api.Error {
	var known *api.Error
	switch {
	case errors.As(err, &known):
		e := *known
		if e.Status < 400 || e.Status > 599 {
			e.Status = http.StatusInternalServerError
		}
		return &e
	case errors.Is(err, context.DeadlineExceeded):
		e := api.Errorf(http.StatusGatewayTimeout, api.CodeTimeout, "The agent did not answer in time")
		e.Hint = "Look at the session, then repeat it."
		return e
	case errors.Is(err, context.Canceled), errors.Is(err, hub.ErrClosed):
		return closing()
	}
	s.log.Error("a request of a client failed", "error", err)
	e := api.Errorf(http.StatusInternalServerError, api.CodeInternal, "Something went wrong in the server")
	e.Hint = "The server's log says more."
	return e
}

func closing() *api.Error {
	e := api.Errorf(http.StatusServiceUnavailable, api.CodeClosing, "The hub is shutting down")
	e.Hint = "Connect again in a moment, and repeat it."
	return e
}

// sight returns what clients see of an event.
func (s *Server) sight(e *api.Event) *sight {
	if v := s.sights.get(e); v != nil {
		return v
	}
	v := see(e)
	s.sights.put(v)
	return v
}

package relay

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

// A Hub is what the relay needs of the hub, of which [Of] makes one; see there
// for what the methods promise.
type Hub interface {
	Follow(ctx context.Context, session string, o hub.FollowOptions) (Cursor, error)
	FollowAll(ctx context.Context, o hub.FollowOptions) (Cursor, error)
	List(ctx context.Context, f api.SessionFilter) (*api.SessionList, error)
	Snapshot(ctx context.Context, session string) (*api.Session, error)
	Resolve(ctx context.Context, id string) (session string, err error)
	Asked(ctx context.Context, requestID string) (sessions []string, err error)
	Submit(ctx context.Context, by hub.Actor, session string, line []byte, may hub.May) (answer []byte, err error)
}

// A Cursor follows a session, or all; *[hub.Cursor] and *[hub.WideCursor] are
// such. One goroutine uses it.
type Cursor interface {
	// Next returns the next frames, and blocks until there are some. They are only
	// looked at until the next call. A context that ends loses nothing.
	Next(ctx context.Context) ([]api.Frame, error)
	// Close lets go of what is followed.
	Close()
}

// Of returns a hub as the relay uses it.
func Of(h *hub.Hub) Hub { return ofHub{h} }

type ofHub struct{ *hub.Hub }

// Follow returns the hub's cursor.
func (o ofHub) Follow(ctx context.Context, session string, options hub.FollowOptions) (Cursor, error) {
	c, err := o.Hub.Follow(ctx, session, options)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// FollowAll returns the hub's cursor.
func (o ofHub) FollowAll(ctx context.Context, options hub.FollowOptions) (Cursor, error) {
	c, err := o.Hub.FollowAll(ctx, options)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// A Guard says who a front end is that did not say so with its request;
// *[access.Guard] is one. For the others the relay relies on [access.From].
type Guard interface {
	// Open lets in front ends that cannot send a token, where that is allowed.
	Open(r *http.Request) (access.Identity, bool)
	// Identify says whose a token is. If it is nobody's, it takes its time.
	Identify(ctx context.Context, token string) (access.Identity, *api.Error)
}

// Options are the options of a [Server].
type Options struct {
	// Log takes what an operator should know. If nil, nothing is logged.
	Log *slog.Logger
	// Ping is how often a front end is pinged. If zero, 30 s.
	Ping time.Duration
	// FirstLine is how long a front end has to say who it is. If zero,
	// [access.FirstLineTime].
	FirstLine time.Duration
	// Opened is told of each front end, and the function that it returns when that
	// has left. It may be nil.
	Opened func(route, kind string) (closed func())
}

// errClosing is why connections end when the server does.
var errClosing = errors.New("the hub is shutting down")

// A Server is the relay. It is an [http.Handler] for upgrades, to be mounted
// inside of [access.Guard.Admitted]. It owns two goroutines per front end, which read
// and write, and one per line of a front end under way; Close joins them.
type Server struct {
	// Static after construction.
	hub       Hub
	guard     Guard
	log       *slog.Logger
	ping      time.Duration
	firstLine time.Duration
	opened    func(route, kind string) (closed func())
	maxLine   int             // the longest line of a front end
	maxBytes  int             // how many bytes of one are worked on at once
	ctx       context.Context // ends with Close
	cancel    context.CancelCauseFunc
	buffers   sync.Pool // *[]byte, for what is written and read
	sights    sightCache

	fronts sync.WaitGroup

	mu     sync.Mutex
	closed bool   // guarded by mu
	reason string // why, guarded by mu
	open   int    // guarded by mu
}

var _ http.Handler = (*Server)(nil)

// New makes a relay. Nil options are the same as zero ones.
func New(h Hub, guard Guard, o *Options) *Server {
	if o == nil {
		o = &Options{}
	}
	s := &Server{hub: h, guard: guard, log: o.Log, ping: o.Ping, firstLine: o.FirstLine, opened: o.Opened, maxLine: wire.MaxFrontEndLine, maxBytes: defaultBytes}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.ping <= 0 {
		s.ping = 30 * time.Second
	}
	if s.firstLine <= 0 {
		s.firstLine = access.FirstLineTime
	}
	if s.opened == nil {
		s.opened = func(string, string) func() { return func() {} }
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.buffers.New = func() any { return new([]byte) }
	return s
}

// Open returns how many front ends there are.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Close tells all front ends why the server goes away, and waits until they are
// gone. Those that do not listen are cut off.
func (s *Server) Close(reason string) {
	s.mu.Lock()
	if !s.closed {
		s.closed, s.reason = true, reason
	}
	s.mu.Unlock()
	s.cancel(errClosing)
	s.fronts.Wait()
}

// why returns why the server is closed.
func (s *Server) why() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason == "" {
		return errClosing.Error()
	}
	return s.reason
}

// enter counts a front end in, unless the server is closed.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.fronts.Add(1)
	s.open++
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	s.open--
	s.mu.Unlock()
	s.fronts.Done()
}

// ServeHTTP implements [http.Handler]. It returns when the connection is open: the
// goroutine of the request, with all that is on its stack, would cost more than
// the front end.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") == "" {
		w.Header().Set("Upgrade", "websocket")
		access.WriteProblem(w, &api.Error{
			Status: http.StatusUpgradeRequired, Code: api.CodeInvalid, Title: "This is for WebSockets",
			Hint: "Connect with ws:// or wss://, or use GET /v1/events.",
		})
		return
	}
	id, known := access.From(r.Context())
	if !known {
		id, known = s.guard.Open(r)
	}
	if known && !id.Scopes.Has(wire.ScopeObserve) {
		access.WriteProblem(w, mayNotLook(id))
		return
	}
	if !s.enter() {
		access.WriteProblem(w, &api.Error{
			Status: http.StatusServiceUnavailable, Code: api.CodeClosing, Title: "The hub is shutting down", Hint: "Come back in a moment.",
		})
		return
	}
	f := &front{server: s, id: id, known: known, closed: s.opened(r.Pattern, "websocket")}
	if !known {
		f.request = context.WithoutCancel(r.Context())
	}
	query := r.URL.Query()
	f.session, f.after, f.resumes = query.Get("session"), query.Get("after"), query.Has("after")
	h := &hijacker{ResponseWriter: w}
	ws, err := websocket.Accept(h, r, &websocket.AcceptOptions{
		Subprotocols: []string{access.Subprotocol}, CompressionMode: websocket.CompressionDisabled,
		InsecureSkipVerify: true, // the guard has looked at Host and Origin
	})
	if err != nil {
		s.log.Debug("a front end was not let in", "error", err) // answered
		f.closed()
		s.leave()
		return
	}
	f.ws, f.socket = ws, h.socket
	go f.serve() // joined by Close
}

// mayNotLook says that somebody lacks the right to look.
func mayNotLook(id access.Identity) *api.Error {
	e := api.Errorf(http.StatusForbidden, api.CodeForbidden, "This needs the scope %q", wire.ScopeObserve)
	e.Detail, e.Hint = id.Limited, "Use a token that has it."
	return e
}

// sight returns what front ends see of an event.
func (s *Server) sight(ctx context.Context, e *api.Event) *sight {
	if v := s.sights.get(e); v != nil {
		return v
	}
	v := see(e)
	if v.nameless {
		// Front ends that see several sessions tell lines apart by this.
		if session, err := s.hub.Snapshot(ctx, e.Session); err == nil && session.Conversation != "" {
			v.line = named(v.line, session.Conversation)
		}
	}
	s.sights.put(v)
	return v
}

package v1

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/report"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

// Options say how the interface is served. The zero value is valid.
type Options struct {
	// Info says what the server is and can do; its Storage, if not empty, makes
	// it not ready. API is filled in. If nil, little is said.
	Info func(ctx context.Context) api.Info
	// Dial is the address that CLIs dial, such as "ws://127.0.0.1:8765". It is
	// never taken from a request. If empty, no address is told.
	Dial string
	// Log gets what goes wrong in the server itself. If nil, it is discarded.
	Log *slog.Logger
	// Heartbeat is how long a stream of events is silent at most. If zero, 15s.
	Heartbeat time.Duration
	// WriteTimeout is how long a client may take for each 64 KiB of a stream
	// before it is cut. If zero, 20s.
	WriteTimeout time.Duration
	// Tokens keeps the tokens of the server. If nil, there are none to be managed.
	Tokens Tokens
	// Phone lets devices in the network reach the server. If nil, they cannot.
	Phone Phone
	// Relays attaches the hub to relays of other programs. If nil, it cannot be.
	Relays Relays
	// Nodes knows the other machines on which agents run. If nil, there are none.
	Nodes Nodes
	// Opened is told of each WebSocket: the route, and the kind "websocket". What it
	// returns is called when the connection ends. If nil, refusals are not reported.
	Opened func(route, kind string) (closed func())
	// Refused is told of each request that is refused because of a limit, by the name of
	// the limit. It must not block. If nil, refusals are not reported.
	Refused func(limit string)
}

// A Server serves /v1/…, /healthz and /readyz. It is an [http.Handler] that must
// stand inside [access.Guard.Checked], in an [http.Server] without WriteTimeout.
type Server struct {
	// Static after construction.
	hub          *hub.Hub
	reports      *report.Reports
	tokens       Tokens
	phone        Phone
	relays       Relays
	nodes        Nodes
	info         func(ctx context.Context) api.Info
	dial         string
	log          *slog.Logger
	heartbeat    time.Duration
	writeTimeout time.Duration
	mux          *http.ServeMux
	operations   *http.ServeMux         // what is behind authentication
	openapi      func() ([]byte, error) // the document, which is written when a client asks for it first

	// closing ends with Close, which gives its cause.
	closing context.Context //nolint:containedctx // the server's own life
	close   context.CancelCauseFunc
	sockets *sockets
	judge   *gate // before requests that have calls judged by rules
	opened  func(route, kind string) (closed func())

	// buffers holds *[]byte: an idle stream has none.
	buffers sync.Pool
}

// New makes a server. It starts nothing.
func New(h *hub.Hub, reports *report.Reports, guard *access.Guard, options *Options) *Server {
	if options == nil {
		options = &Options{}
	}
	s := &Server{
		hub: h, reports: reports, tokens: options.Tokens, phone: options.Phone, relays: options.Relays, nodes: options.Nodes, info: options.Info, dial: options.Dial, log: options.Log,
		heartbeat: options.Heartbeat, writeTimeout: options.WriteTimeout,
		mux: http.NewServeMux(), operations: http.NewServeMux(), sockets: newSockets(), opened: options.Opened,
		buffers: sync.Pool{New: func() any { return new([]byte) }},
	}
	s.closing, s.close = context.WithCancelCause(context.Background())
	if s.info == nil {
		s.info = func(context.Context) api.Info { return api.Info{} }
	}
	if s.opened == nil {
		s.opened = func(string, string) func() { return func() {} }
	}
	refused := options.Refused
	if refused == nil {
		refused = func(string) {}
	}
	s.judge = newGate(refused)
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.heartbeat <= 0 {
		s.heartbeat = 15 * time.Second
	}
	if s.writeTimeout <= 0 {
		s.writeTimeout = 20 * time.Second
	}

	strictNames()
	document := s.register()
	s.openapi = sync.OnceValues(func() ([]byte, error) { return writeDocument(document) })
	s.operations.HandleFunc("GET /v1/openapi.json", s.serveDocument)
	s.operations.HandleFunc("/v1/", s.notFound)

	s.mux.HandleFunc("GET /healthz", s.healthy)
	s.mux.HandleFunc("GET /readyz", s.ready)
	s.mux.Handle("/v1/", guard.Authenticated(s.operations))
	s.mux.HandleFunc("/", s.notFound)
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctl := http.NewResponseController(w)
	// A WebSocket's connection is not the HTTP server's any more in the end.
	if r.Body != nil && r.Body != http.NoBody && !wantsSocket(r) {
		body := newPacedBody(r.Body, w)
		defer body.over()
		r.Body = body
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Switchboard", "v1") // by which a client recognises a server before it shows a token
	s.mux.ServeHTTP(&pacedWriter{ResponseWriter: w, ctl: ctl, timeout: s.writeTimeout}, r)
}

// Close ends all streams: each gets a last frame with the reason. Requests that
// come later are refused. It does not wait: [http.Server.Shutdown] waits for
// requests, and [Server.Wait] for WebSockets, which that does not know.
func (s *Server) Close(reason string) {
	s.close(&closeReason{reason})
	s.sockets.close()
}

// Wait waits until all WebSockets have ended after Close. When ctx ends, those
// that are left are cut.
func (s *Server) Wait(ctx context.Context) { s.sockets.wait(ctx) }

// A closeReason is why a server was closed.
type closeReason struct{ text string }

func (c *closeReason) Error() string { return c.text }

// reason returns why the server was closed.
func (s *Server) reason() string {
	if err := context.Cause(s.closing); err != nil && err.Error() != "" {
		return err.Error()
	}
	return errClosing.Error()
}

// problem returns what the client is told about an error, and logs it if that is
// not all.
func (s *Server) problem(ctx context.Context, operation string, err error) *problem {
	p, unexpected := asProblem(err)
	if unexpected {
		s.log.LogAttrs(ctx, slog.LevelError, "a request failed", slog.String("operation", operation), slog.Any("error", err))
	}
	return p
}

// admit says why a request is not served, or nil.
func (s *Server) admit(ctx context.Context, scope wire.Scope) *api.Error {
	if s.closing.Err() != nil {
		return closing()
	}
	_, e := access.Require(ctx, scope)
	return e
}

// actor returns the client that makes a request, in the hub's words.
func actor(ctx context.Context) hub.Actor {
	id, _ := access.From(ctx) // admit has seen to it that there is one
	return id.Actor()
}

func (s *Server) serveDocument(w http.ResponseWriter, r *http.Request) {
	if e := s.admit(r.Context(), wire.ScopeObserve); e != nil {
		access.WriteProblem(w, e)
		return
	}
	document, err := s.openapi()
	if err != nil {
		access.WriteProblem(w, (*api.Error)(s.problem(r.Context(), "get-openapi", err)))
		return
	}
	w.Header().Set("Content-Type", "application/openapi+json")
	_, _ = w.Write(document) // the client may be gone
}

// notFound answers what no operation is for: 405 if there is one with another
// method.
func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodPatch, http.MethodPost, http.MethodPut} {
		probe := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		for _, mux := range []*http.ServeMux{s.mux, s.operations} {
			if _, pattern := mux.Handler(probe); strings.HasPrefix(pattern, method+" ") && !slices.Contains(allowed, method) {
				allowed = append(allowed, method)
			}
		}
	}
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		access.WriteProblem(w, &api.Error{
			Status: http.StatusMethodNotAllowed, Code: api.CodeInvalid,
			Title: "Method not allowed", Detail: "The method " + r.Method + " is not among: " + strings.Join(allowed, ", ") + ".",
		})
		return
	}
	access.WriteProblem(w, &api.Error{
		Status: http.StatusNotFound, Code: api.CodeNotFound, Title: "Not found",
		Hint: "See GET /v1/openapi.json.",
	})
}

// healthy says that the server runs.
func (s *Server) healthy(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok") }

// ready says whether it can do its work.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	if s.closing.Err() != nil {
		plain(w, http.StatusServiceUnavailable, s.reason())
		return
	}
	// The reason is for clients that may know it; this is for every client.
	if s.info(r.Context()).Storage != "" {
		plain(w, http.StatusServiceUnavailable, "the journal cannot be written")
		return
	}
	plain(w, http.StatusOK, "ready")
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // the client may be gone
}

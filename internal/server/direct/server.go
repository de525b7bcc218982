package direct

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

// Options say how Direct Connect is served. The zero value is valid, but tells
// clients no address that they could connect to.
type Options struct {
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
	// Log gets what goes wrong in the server itself. If nil, it is discarded.
	Log *slog.Logger

	// Ping is how often a client that is silent is asked whether it is there. If
	// zero, 30s. It has as long again to answer.
	Ping time.Duration
	// WriteTimeout is how long a client may take to read a line before it is cut.
	// If zero, 2m.
	WriteTimeout time.Duration
}

// A Guard knows who makes a request; *[access.Guard] is one.
type Guard interface {
	// Authenticated lets through requests whose maker is known.
	Authenticated(next http.Handler) http.Handler
	// Admitted does too, and WebSockets that bring no token.
	Admitted(next http.Handler) http.Handler
	// Identify says whose token it is that came as the first line.
	Identify(ctx context.Context, token string) (access.Identity, *api.Error)
}

// A Server serves /sessions and what is below it. It is an [http.Handler] that
// must stand inside [access.Guard.Checked].
type Server struct {
	// Static after construction.
	hub     Hub
	guard   Guard
	options Options
	log     *slog.Logger
	mux     *http.ServeMux
	maxLine int           // how long a line of a client may be
	settle  time.Duration // how long requests may take to fail after the end of the CLI

	// closing ends with Close, which gives its cause.
	closing context.Context //nolint:containedctx // the server's own life
	close   context.CancelCauseFunc

	keys *keys

	mu     sync.Mutex
	open   int           // connections; guarded by mu
	empty  chan struct{} // closed when open falls to 0, if somebody waits; guarded by mu
	begins map[string]string
}

// New makes a server. It starts nothing.
func New(h Hub, guard Guard, options *Options) *Server {
	if options == nil {
		options = &Options{}
	}
	s := &Server{hub: h, guard: guard, options: *options, log: options.Log, mux: http.NewServeMux(), keys: newKeys(), begins: map[string]string{}, maxLine: wire.MaxFrontEndLine, settle: settleTime}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.options.Ping <= 0 {
		s.options.Ping = 30 * time.Second
	}
	if s.options.WriteTimeout <= 0 {
		s.options.WriteTimeout = 2 * time.Minute
	}
	if s.options.Home == "" {
		s.options.Home, _ = os.UserHomeDir() // without one a client has to name a folder
	}
	s.closing, s.close = context.WithCancelCause(context.Background())
	s.mux.Handle("POST /sessions", guard.Authenticated(s.operation(s.create)))
	s.mux.Handle("DELETE /sessions/{id}", guard.Authenticated(s.operation(s.remove)))
	s.mux.Handle("GET /sessions/{id}/ws", guard.Admitted(http.HandlerFunc(s.connect)))
	s.mux.HandleFunc("/", notFound)
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.closing.Err() != nil {
		access.WriteProblem(w, closing())
		return
	}
	s.mux.ServeHTTP(w, r)
}

// A closeReason is the cause of the end of all connections.
type closeReason struct{ text string }

func (c *closeReason) Error() string { return c.text }

// Close ends all connections: each client is told to come back. Requests that
// come later are refused. It does not wait; Wait does.
func (s *Server) Close(reason string) { s.close(&closeReason{reason}) }

// Wait waits until all connections have ended, or ctx does. The hub must not be
// closed before.
func (s *Server) Wait(ctx context.Context) error {
	s.mu.Lock()
	if s.open == 0 {
		s.mu.Unlock()
		return nil
	}
	if s.empty == nil {
		s.empty = make(chan struct{})
	}
	empty := s.empty
	s.mu.Unlock()
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Open returns how many clients are connected.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// enter counts a connection; the function that it returns counts it out.
func (s *Server) enter() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open--
		if s.open == 0 && s.empty != nil {
			close(s.empty)
			s.empty = nil
		}
	}
}

// operation makes a handler of one that returns an answer. Everything here but
// the WebSocket needs the right admin: it starts and ends processes.
func (s *Server) operation(handle func(r *http.Request, id access.Identity) (status int, answer any, err error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, e := access.Require(r.Context(), wire.ScopeAdmin)
		if e != nil {
			access.WriteProblem(w, e)
			return
		}
		// Whoever sends a body sends a small one, and at once.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // not all can
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		status, answer, err := handle(r, id)
		if err != nil {
			access.WriteProblem(w, s.problem(r.Context(), err))
			return
		}
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		if answer == nil {
			w.WriteHeader(status)
			return
		}
		body, err := json.Marshal(answer)
		if err != nil {
			access.WriteProblem(w, s.problem(r.Context(), err))
			return
		}
		h.Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(append(body, '\n')) // the client has gone: nobody to tell
	})
}

const (
	// maxBody is how long the body of a request may be; a path is 4 KiB at most.
	maxBody = 64 << 10
	// bodyTime is how long it may take to come.
	bodyTime = 10 * time.Second
)

// problem returns what the client is told about an error, and logs it if that is
// not all.
func (s *Server) problem(ctx context.Context, err error) *api.Error {
	var known *api.Error
	switch {
	case errors.As(err, &known):
		e := *known
		if e.Status < 400 || e.Status > 599 {
			e.Status = http.StatusInternalServerError
		}
		return &e
	case errors.Is(err, context.DeadlineExceeded):
		return api.Errorf(http.StatusGatewayTimeout, api.CodeTimeout, "It took too long")
	case errors.Is(err, context.Canceled), errors.Is(err, hub.ErrClosed):
		return closing()
	}
	s.log.LogAttrs(ctx, slog.LevelError, "a request of Direct Connect failed", slog.Any("error", err))
	e := api.Errorf(http.StatusInternalServerError, api.CodeInternal, "Something went wrong in the server")
	e.Hint = "The server's log says more."
	return e
}

func closing() *api.Error {
	e := api.Errorf(http.StatusServiceUnavailable, api.CodeClosing, "The hub is shutting down")
	e.Hint = "Try again in a moment."
	return e
}

// notFound answers what there is nothing for.
func notFound(w http.ResponseWriter, r *http.Request) {
	var allowed string
	switch parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/"); {
	case slices.Equal(parts, []string{"sessions"}):
		allowed = http.MethodPost
	case len(parts) == 2 && parts[0] == "sessions":
		allowed = http.MethodDelete
	case len(parts) == 3 && parts[0] == "sessions" && parts[2] == "ws":
		allowed = http.MethodGet
	}
	if allowed != "" && allowed != r.Method {
		w.Header().Set("Allow", allowed)
		access.WriteProblem(w, &api.Error{
			Status: http.StatusMethodNotAllowed, Code: api.CodeInvalid, Title: "This cannot be done here",
			Detail: "The method " + r.Method + " is not " + allowed + ".",
		})
		return
	}
	access.WriteProblem(w, &api.Error{
		Status: http.StatusNotFound, Code: api.CodeNotFound, Title: "There is nothing here",
		Hint: "Direct Connect is at POST /sessions.",
	})
}

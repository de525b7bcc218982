package server

import (
	"net/http"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/ingress"
	"github.com/switchboard-dev/switchboard/wire"
)

// front is what the root says to programs, and to browsers if there is no console.
const front = `This is Switchboard. A browser finds the console here: "switchboard console" opens it.

/v1        the interface, described by /v1/openapi.json
/ws        the raw relay: lines of the CLI by WebSocket
/sessions  Direct Connect, as the official SDK speaks it
/metrics   for Prometheus

Over TCP all of them want a token: "switchboard token create" makes one.
`

// noConsole is what a browser is told if the program was compiled without the console.
const noConsole = `This program was compiled without the console: "make build" puts it in.

`

// proof is a header by which programs that look for a server recognise one before they show it a token.
const proof = "Switchboard"

// socketHandler serves the Unix socket: shims and front ends.
func (s *Server) socketHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(link.Path, s.guard.SocketOnly(s.link))
	s.common(mux)
	return mux
}

// portHandler serves the port: front ends, nodes, and CLIs that dial in. Those have the run's own token, which the hub judges.
func (s *Server) portHandler() http.Handler {
	mux := http.NewServeMux()
	s.common(mux)
	mux.Handle("GET "+node.ControlPath, s.nodes.Control())
	mux.Handle("GET "+node.LinkPath, s.nodes.Links(s.link))
	mux.Handle("GET "+node.TeePath, s.nodes.Tees(s.link))
	dial := s.guard.Vouched(s.dial)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ingress.IsDial(r) {
			dial.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// common serves what both have.
func (s *Server) common(mux *http.ServeMux) {
	s.forBrowsers(mux)
	mux.Handle(relayPath, s.guard.Admitted(s.lines.Relay()))
	mux.Handle("/sessions", s.lines.Direct())
	mux.Handle("/sessions/", s.lines.Direct())
	mux.Handle("GET /metrics", s.guard.Authenticated(observers(s.metrics.Handler())))
}

// forBrowsers serves the console and what it needs.
func (s *Server) forBrowsers(mux *http.ServeMux) {
	mux.Handle("/v1/", s.v1)
	mux.Handle("/healthz", proven(s.v1))
	mux.Handle("/readyz", proven(s.v1))
	mux.Handle("GET /{$}", proven(http.HandlerFunc(s.root)))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if s.console != nil && s.console.Has(r.URL.Path) {
			s.console.ServeHTTP(w, r)
			return
		}
		access.WriteProblem(w, &api.Error{
			Status: http.StatusNotFound, Code: api.CodeNotFound, Title: "There is nothing here", Hint: "GET /v1/openapi.json lists what there is.",
		})
	})
}

// root gives browsers the console, and programs a few words.
func (s *Server) root(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept")
	text := front
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		if s.console != nil {
			s.console.ServeHTTP(w, r)
			return
		}
		text = noConsole + front
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(text)) // the client may be gone
}

// proven says in a header what this is.
func proven(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(proof, "v1")
		next.ServeHTTP(w, r)
	})
}

// observers is for clients with the scope observe.
func observers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, e := access.Require(r.Context(), wire.ScopeObserve); e != nil {
			access.WriteProblem(w, e)
			return
		}
		next.ServeHTTP(w, r)
	})
}

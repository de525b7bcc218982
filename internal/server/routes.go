package server

import (
	"net/http"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/ingress"
)

// front is what the root says until there is a console.
const front = `This is Switchboard. Its interface is at /v1, described by /v1/openapi.json.
Over TCP it wants the admin token: the file admin.token in the data folder holds it.
`

// socketHandler serves the Unix socket: shims and front ends.
func (s *Server) socketHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(link.Path, s.guard.SocketOnly(s.link))
	s.common(mux)
	return mux
}

// portHandler serves the port: front ends and CLIs that dial in. Those have the run's own token, which the hub judges.
func (s *Server) portHandler() http.Handler {
	mux := http.NewServeMux()
	s.common(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ingress.IsDial(r) {
			s.dial.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// common serves what both have.
func (s *Server) common(mux *http.ServeMux) {
	for _, path := range []string{"/v1/", "/healthz", "/readyz"} {
		mux.Handle(path, s.v1)
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte(front)) // the client has gone: nobody to tell
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		access.WriteProblem(w, &api.Error{
			Status: http.StatusNotFound, Code: api.CodeNotFound, Title: "There is nothing here", Hint: "GET /v1/openapi.json lists what there is.",
		})
	})
}

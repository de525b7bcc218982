package metrics

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// served is a server of some routes whose requests are counted. Its streams end
// when release is closed, after saying on begun that they have begun.
func served(t *testing.T, m *Metrics) (server *httptest.Server, begun chan struct{}, release chan struct{}) {
	t.Helper()
	begun, release = make(chan struct{}, 8), make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/sessions/{id}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	mux.HandleFunc("POST /v1/sessions", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) })
	mux.HandleFunc("GET /empty", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /panic", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("GET /hints", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusTeapot)
	})
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.WriteHeader(http.StatusOK)
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Errorf("a stream cannot be flushed: %v", err)
		}
		begun <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("GET /ws", func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Errorf("upgrading: %v", err)
			return
		}
		begun <- struct{}{}
		<-release
		_ = c.CloseNow()
	})
	server = httptest.NewServer(m.HTTP(mux))
	t.Cleanup(server.Close)
	return server, begun, release
}

func TestRequests(t *testing.T) {
	m := New(nil)
	server, _, release := served(t, m)
	defer close(release)
	for _, r := range []struct{ method, path string }{
		{"GET", "/v1/sessions/sabc?token=secret"},
		{"GET", "/v1/sessions/sdef"},
		{"POST", "/v1/sessions"},
		{"GET", "/empty"},
		{"POST", "/panic"},
		{"GET", "/hints"},
		{"GET", "/nothing/here"},
		{"BREW", "/nothing/there"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), r.method, server.URL+r.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := server.Client().Do(request)
		if (err != nil) != (r.path == "/panic") {
			t.Fatalf("%s: %v", r.path, err)
		}
		if err == nil {
			_ = answer.Body.Close()
		}
	}
	server.Close() // which waits for the handlers
	wants(t, m,
		`switchboard_http_requests_total{method="GET",route="GET /v1/sessions/{id}",status="200"} 2`,
		`switchboard_http_requests_total{method="POST",route="POST /v1/sessions",status="201"} 1`,
		`switchboard_http_requests_total{method="GET",route="GET /empty",status="200"} 1`,
		`switchboard_http_requests_total{method="POST",route="POST /panic",status="none"} 1`,
		`switchboard_http_requests_total{method="GET",route="GET /hints",status="418"} 1`,
		`switchboard_http_requests_total{method="GET",route="none",status="404"} 1`,
		`switchboard_http_requests_total{method="other",route="none",status="404"} 1`,
		`switchboard_http_request_seconds_count{route="GET /v1/sessions/{id}"} 2`,
	)
	for _, line := range scrape(t, m) {
		for _, secret := range []string{"sabc", "secret", "nothing", "BREW"} {
			if strings.Contains(line, secret) {
				t.Errorf("%q is told: %s", secret, line)
			}
		}
	}
}

func TestStreams(t *testing.T) {
	m := New(nil)
	server, begun, release := served(t, m)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	ws, response, err := websocket.Dial(t.Context(), server.URL+"/ws", nil)
	if response != nil && response.Body != nil {
		defer func() { _ = response.Body.Close() }() // the library has read what there was
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.CloseNow() }()
	<-begun
	<-begun
	wants(t, m, `switchboard_http_streams{kind="sse",route="GET /events"} 1`, `switchboard_http_streams{kind="websocket",route="GET /ws"} 1`)
	close(release)
	_, _ = io.Copy(io.Discard, answer.Body)
	_, _, _ = ws.Read(t.Context()) // until it was closed
	server.Close()                 // does not wait for what was taken over, so the next line is only of the other
	wants(t, m,
		`switchboard_http_streams{kind="sse",route="GET /events"} 0`,
		`switchboard_http_requests_total{method="GET",route="GET /events",status="200"} 1`,
	)
	if slices.ContainsFunc(scrape(t, m), func(line string) bool {
		return strings.HasPrefix(line, "switchboard_http_request_seconds_count") && strings.Contains(line, "GET /events")
	}) {
		t.Error("how long a stream was open is counted as the time of a request")
	}
	done := m.Stream("", "telepathy")
	wants(t, m, `switchboard_http_streams{kind="other",route="none"} 1`)
	done()
	wants(t, m, `switchboard_http_streams{kind="other",route="none"} 0`)
}

package access

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// A record is what is known of a request while it is served. A handler may find
// out late which client makes it, and in another goroutine than the one that serves it.
type record struct {
	cookies cookies // static after construction

	mu       sync.Mutex
	identity Identity // guarded by mu
	known    bool     // guarded by mu
}

// set notes the client that makes the request.
func (r *record) set(id Identity) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.identity, r.known = id, true
}

// get returns the client that makes the request, if that is known.
func (r *record) get() (Identity, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.identity, r.known
}

// restTime is how long a client may take to send the rest of a body that no handler
// wants any more.
const restTime = 10 * time.Second

type recordKey struct{}

func recordOf(ctx context.Context) *record {
	r, _ := ctx.Value(recordKey{}).(*record)
	return r
}

// logged serves a request and writes a line about it. The line holds the route,
// never the path or the query: these may name folders or hold secrets.
func (g *Guard) logged(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
	start := time.Now()
	rec := &record{cookies: g.cookies(r)}
	r = r.WithContext(context.WithValue(r.Context(), recordKey{}, rec))
	// A deadline that the request before has left must not hit this one.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	sw := &statusWriter{ResponseWriter: w}
	// Also if the handler panics: net/http then closes the connection.
	defer func() {
		if r.ContentLength != 0 && sw.status != http.StatusSwitchingProtocols {
			// What a handler has left of the body net/http reads now, and would wait
			// for it for ever. It takes the deadline away before the next request.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(restTime))
		}
		level := slog.LevelInfo
		switch {
		case sw.status >= 500:
			level = slog.LevelWarn
		case sw.status < 400 && (r.Method == http.MethodGet || r.Method == http.MethodHead):
			level = slog.LevelDebug
		}
		if !g.log.Enabled(r.Context(), level) {
			return
		}
		route := r.Pattern
		if route == "" {
			route = "none"
		}
		actor, _ := rec.get()
		g.log.LogAttrs(r.Context(), level, "request",
			slog.String("method", r.Method),
			slog.String("route", route),
			slog.Int("status", sw.status),
			slog.Duration("duration", time.Since(start)),
			slog.String("actor", actor.Name))
	}()
	serve(sw, r)
}

// A statusWriter notes the status of an answer. [http.ResponseController] and
// WebSocket upgrades find the rest through Unwrap.
type statusWriter struct {
	http.ResponseWriter

	status int // 0 until there is an answer
}

// Unwrap returns the writer inside.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader notes and sends the status.
func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 || w.status == http.StatusEarlyHints || w.status == http.StatusContinue {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (w *statusWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

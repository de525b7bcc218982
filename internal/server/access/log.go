package access

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// A record is what is known of a request while it is served. It belongs to the
// goroutine that serves it, until the handler has authenticated it; then
// nobody changes it any more.
type record struct {
	identity Identity
	known    bool
}

type recordKey struct{}

func recordOf(ctx context.Context) *record {
	r, _ := ctx.Value(recordKey{}).(*record)
	return r
}

// logged serves a request and writes a line about it. The line holds the route,
// never the path or the query: these may name folders or hold secrets.
func (g *Guard) logged(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
	start := time.Now()
	rec := &record{}
	r = r.WithContext(context.WithValue(r.Context(), recordKey{}, rec))
	// A deadline that the request before has left must not hit this one.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	sw := &statusWriter{ResponseWriter: w}
	// Also if the handler panics: net/http then closes the connection.
	defer func() {
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
		g.log.LogAttrs(r.Context(), level, "request",
			slog.String("method", r.Method),
			slog.String("route", route),
			slog.Int("status", sw.status),
			slog.Duration("duration", time.Since(start)),
			slog.String("actor", rec.identity.Name))
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

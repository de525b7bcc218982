package metrics

import (
	"bufio"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// noRoute is the route of a request that none fits.
const noRoute = "none"

func (m *Metrics) makeHTTP() {
	m.requests = m.counter("switchboard_http_requests_total", "Requests that were answered, by method, route and status.", "method", "route", "status")
	m.took = m.histogramVec("switchboard_http_request_seconds", "Time that requests took which are no streams, by route.", fast(), "route")
	m.refused = m.counter("switchboard_refused_total", "Connections and requests that were refused because of a limit, by the limit.", "limit")
	for _, limit := range limits() { // so that a rate is known before the first
		m.refused.WithLabelValues(limit)
	}
	m.streams = m.gauge("switchboard_http_streams", "Streams that are open, by route and by kind: sse or websocket.", "route", "kind")
}

// HTTP counts the requests that next serves. It has to stand directly around the
// [http.ServeMux] that chooses the route: only then it sees the pattern, which
// is all that is told of a path.
func (m *Metrics) HTTP(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		o := &observer{ResponseWriter: w, metrics: m, request: r}
		// Also if the handler panics: net/http then closes the connection.
		defer func() { o.end(time.Since(start)) }()
		next.ServeHTTP(o, r)
		if o.status == 0 {
			o.status = http.StatusOK // which net/http answers for a handler that says nothing
		}
	})
}

// Request counts a request that was answered, for handlers that do not use [Metrics.HTTP].
// route must be the pattern of a route, or empty. stream says that it was as long
// as its client wanted, so that the time says nothing.
func (m *Metrics) Request(method, route string, status int, stream bool, took time.Duration) {
	if route == "" {
		route = noRoute
	}
	m.requests.WithLabelValues(methodLabel(method), route, statusLabel(status)).Inc()
	if !stream {
		m.took.WithLabelValues(route).Observe(took.Seconds())
	}
}

// Stream counts a stream that is open until done is called, for handlers that go on
// with a connection after its handler has returned. route is as for
// [Metrics.Request], kind is sse or websocket.
func (m *Metrics) Stream(route, kind string) (done func()) {
	if route == "" {
		route = noRoute
	}
	if kind != kindSSE && kind != kindWebSocket {
		kind = other
	}
	g := m.streams.WithLabelValues(route, kind)
	g.Inc()
	return g.Dec
}

// Refused counts a connection or a request that was refused because of a limit. The
// limit is one of a few names, never what a client has sent.
func (m *Metrics) Refused(limit string) {
	if !slices.Contains(limits(), limit) {
		limit = other
	}
	m.refused.WithLabelValues(limit).Inc()
}

// limits returns the limits that are told apart.
func limits() []string {
	return []string{"connections_total", "connections_address", "connections_token", "connections_tokens", "policy_token", "policy_hub", "dial_in", "dial_in_total", "dial_in_rate"}
}

// The kinds of streams.
const (
	kindSSE       = "sse"
	kindWebSocket = "websocket"
)

// methodLabel returns a method of HTTP; clients may make up others.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return other
}

// statusLabel returns a status. Without one the connection was cut.
func statusLabel(status int) string {
	if status < 100 || status > 599 {
		return noRoute
	}
	return strconv.Itoa(status)
}

// An observer notes what a handler answers. It belongs to the goroutine that
// serves the request. [http.ResponseController] and WebSocket upgrades find the
// rest through Unwrap.
type observer struct {
	http.ResponseWriter

	metrics *Metrics
	request *http.Request
	status  int              // 0 until there is an answer
	open    prometheus.Gauge // of a stream; nil if it is none
}

// Unwrap returns the writer inside.
func (o *observer) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// Hijack takes over the connection. It is here because not every handler that
// upgrades a connection looks for it through Unwrap.
func (o *observer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(o.ResponseWriter).Hijack()
}

// WriteHeader notes and sends the status.
func (o *observer) WriteHeader(status int) {
	if o.status < http.StatusOK && o.status != http.StatusSwitchingProtocols {
		o.status = status
		o.begin()
	}
	o.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (o *observer) Write(p []byte) (int, error) {
	if o.status == 0 {
		o.status = http.StatusOK
	}
	return o.ResponseWriter.Write(p)
}

// begin counts a stream that begins with this status.
func (o *observer) begin() {
	var kind string
	switch o.status {
	case http.StatusSwitchingProtocols:
		kind = kindWebSocket
	case http.StatusOK:
		media, _, err := mime.ParseMediaType(o.Header().Get("Content-Type"))
		if err != nil || media != "text/event-stream" {
			return
		}
		kind = kindSSE
	default:
		return
	}
	o.open = o.metrics.streams.WithLabelValues(o.route(), kind)
	o.open.Inc()
}

// route returns the pattern that the request was served by.
func (o *observer) route() string {
	if o.request.Pattern == "" {
		return noRoute
	}
	return o.request.Pattern
}

// end counts the request when its handler has returned, or panicked.
func (o *observer) end(took time.Duration) {
	if o.open != nil {
		o.open.Dec()
	}
	o.metrics.Request(o.request.Method, o.route(), o.status, o.open != nil, took)
}

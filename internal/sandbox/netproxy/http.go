package netproxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync"
)

// user is the name that clients show with the credential.
const user = "switchboard"

// An httpSide serves those connections that speak HTTP, by the server and the
// client of the standard library.
type httpSide struct {
	// Static after construction.
	server  *server
	http    http.Server
	reverse httputil.ReverseProxy
	conns   chan net.Conn // to Accept; never closed
	closed  chan struct{}
	once    sync.Once
}

type (
	clientKey struct{} // of the client in the context of a request
	routeKey  struct{} // of the route in the context of a request
)

func newHTTPSide(s *server) *httpSide {
	h := &httpSide{server: s, conns: make(chan net.Conn), closed: make(chan struct{})}
	silent := log.New(io.Discard, "", 0)
	h.http = http.Server{
		Handler:           h,
		ReadHeaderTimeout: s.config.handshake,
		IdleTimeout:       keptTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          silent,
		BaseContext:       func(net.Listener) context.Context { return s.ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, clientKey{}, c)
		},
		ConnState: func(conn net.Conn, state http.ConnState) {
			c := conn.(*client) //nolint:forcetypeassert // take gets nothing else
			switch state {
			case http.StateClosed:
				c.done()
			case http.StateHijacked:
				c.hijacked.Store(true)
			case http.StateNew, http.StateActive, http.StateIdle:
			}
		},
	}
	h.reverse = httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.Host = r.In.Host
			for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
				if values, ok := r.In.Header[name]; ok {
					r.Out.Header[name] = values // the client's own matter
				}
			}
		},
		Transport: &http.Transport{
			DialContext:           h.dial,
			DisableKeepAlives:     true, // each request is decided, and has a connection of its own
			DisableCompression:    true,
			ResponseHeaderTimeout: s.config.idle,
		},
		FlushInterval: -1,
		ErrorLog:      silent,
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, err error) { answer(w, err) },
	}
	return h
}

// serve serves connections until close is called.
func (h *httpSide) serve() {
	_ = h.http.Serve((*httpListener)(h)) // it ends with close
}

func (h *httpSide) close() {
	h.once.Do(func() { close(h.closed) })
	_ = h.http.Close() // its connections are closed already
}

// take passes a connection on to the HTTP server.
func (h *httpSide) take(c *client) {
	select {
	case h.conns <- c:
	case <-h.closed:
		c.done()
	case <-h.server.ctx.Done():
		c.done()
	}
}

// An httpListener gives connections to the HTTP server.
type httpListener httpSide

// Accept implements [net.Listener].
func (l *httpListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *httpListener) Close() error { return nil }

// Addr implements [net.Listener].
func (l *httpListener) Addr() net.Addr { return &net.TCPAddr{} }

// ServeHTTP serves a request, each with a decision of its own.
func (h *httpSide) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := r.Context().Value(clientKey{}).(*client) //nolint:forcetypeassert // ConnContext has put it there
	defer func() {
		if c.hijacked.Load() { // the server knows no more of it
			_ = c.Close()
			c.done()
		}
	}()
	if !h.authorized(r) {
		w.Header().Set("Proxy-Authenticate", `Basic realm="Switchboard sandbox"`)
		say(w, http.StatusProxyAuthRequired, "This proxy belongs to a sandbox of Switchboard, and is for the programs in it.")
		return
	}
	host, port, complaint := destination(r)
	if complaint != "" {
		say(w, http.StatusBadRequest, complaint)
		return
	}
	route, err := h.server.admit(r.Context(), c, host, port)
	if err != nil {
		answer(w, err)
		return
	}
	defer route.release()
	if r.Method == http.MethodConnect {
		h.connect(w, r, c, route)
		return
	}
	h.reverse.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), routeKey{}, route)))
}

// authorized checks the credential of a request, in a time that does not depend
// on how much of it is right.
func (h *httpSide) authorized(r *http.Request) bool {
	want := h.server.config.Credential
	if want == "" {
		return true
	}
	// The parser of another header reads this one.
	name, password, _ := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
	return valid(name, password, want)
}

func valid(name, password, want string) bool {
	a, b := sha256.Sum256([]byte(name+":"+password)), sha256.Sum256([]byte(user+":"+want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// destination returns where a request shall go, or what is wrong with it.
func destination(r *http.Request) (host string, port int, complaint string) {
	switch {
	case r.Method == http.MethodConnect:
		h, p, err := net.SplitHostPort(r.URL.Host)
		if err != nil {
			return "", 0, "CONNECT needs a host and a port."
		}
		host, port = h, parsePort(p)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		host, port = r.URL.Hostname(), 80
		if p := r.URL.Port(); p != "" {
			port = parsePort(p)
		}
	default:
		return "", 0, "This is the proxy of a sandbox of Switchboard. It takes CONNECT, and requests for http:// addresses."
	}
	return host, port, ""
}

// parsePort returns 0 for what is no port.
func parsePort(text string) int {
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return int(port)
}

// connect makes a connection and gives it to the client.
func (h *httpSide) connect(w http.ResponseWriter, r *http.Request, c *client, route *route) {
	out, err := h.server.dial(r.Context(), route)
	if err != nil {
		answer(w, err)
		return
	}
	defer func() { _ = out.Close() }() // tunnel has closed it
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		answer(w, err)
		return
	}
	early, _ := buffered.Reader.Peek(buffered.Reader.Buffered()) // what is buffered is there
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	t := &tunnel{idle: h.server.config.idle}
	t.run(h.server.ctx, c, out, io.MultiReader(bytes.NewReader(early), c))
}

// dial makes the connection of a plain request.
func (h *httpSide) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	route, ok := ctx.Value(routeKey{}).(*route)
	if !ok {
		return nil, errors.New("there is no decision about this connection")
	}
	return h.server.dial(ctx, route)
}

// answer tells a client why there is no connection.
func answer(w http.ResponseWriter, err error) {
	var refused *refusal
	var failed *failure
	var netErr net.Error
	switch {
	case errors.As(err, &refused):
		w.Header().Set("Proxy-Status", "switchboard; error=http_request_denied")
		say(w, http.StatusForbidden, refused.Error()+".")
	case errors.Is(err, errBusy):
		say(w, http.StatusServiceUnavailable, err.Error()+".")
	case errors.As(err, &netErr) && netErr.Timeout(), errors.Is(err, context.DeadlineExceeded):
		say(w, http.StatusGatewayTimeout, gatewayWords(err))
	case errors.As(err, &failed):
		say(w, http.StatusBadGateway, gatewayWords(failed))
	default:
		say(w, http.StatusBadGateway, gatewayWords(err))
	}
}

func gatewayWords(err error) string {
	if failed, ok := errors.AsType[*failure](err); ok {
		return failed.Error() + "."
	}
	return fmt.Sprintf("Switchboard's sandbox allowed this connection, and it failed: %v.", err)
}

// say answers with a text.
func say(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, strings.TrimRight(text, ".")+".\n") // the client may be gone
}

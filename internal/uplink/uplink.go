package uplink

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/killpoint"
)

const (
	dialTime     = 10 * time.Second
	responseTime = 20 * time.Second
	// maxProblem is how much of an answer is read that is no WebSocket.
	maxProblem = 4 << 10
)

// Options say which hub to reach. URL is required.
type Options struct {
	// URL is the hub's address: https, or http on this machine.
	URL string
	// Pin is the fingerprint of the hub's certificate, see [client.Options.Pin]. If empty,
	// the authorities that the machine trusts count.
	Pin string
	// TLS names other authorities to trust. It may be nil.
	TLS *tls.Config
}

// A Hub is a hub that can be reached. Its methods are safe for concurrent use. It starts
// no goroutines but those of [net/http] that hold connections.
type Hub struct {
	// Static after construction.
	base      *url.URL
	transport *http.Transport
}

// New returns a hub. It does not connect yet.
func New(o Options) (*Hub, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the hub's address is not of the form https://hub.example")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, fmt.Errorf("%s is not on this machine, and http can be read by everyone between; use https: start the hub with --tls-self-signed, or with a certificate", u.Redacted())
	case u.Scheme == "http" && o.Pin != "":
		return nil, errors.New("a pin needs an address that begins with https: others have no certificate")
	}
	config, err := client.PinnedTLS(o.TLS, o.Pin)
	if err != nil {
		return nil, err
	}
	config.NextProtos = []string{"http/1.1"} // a WebSocket needs it
	config.ClientSessionCache = tls.NewLRUClientSessionCache(64)
	dialer := &net.Dialer{Timeout: dialTime, KeepAlive: 15 * time.Second}
	h := &Hub{base: &url.URL{Scheme: u.Scheme, Host: u.Host}, transport: &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: config, TLSHandshakeTimeout: dialTime, ResponseHeaderTimeout: responseTime,
		DisableKeepAlives: true, DisableCompression: true, // each connection becomes one WebSocket
	}}
	if u.Scheme == "https" {
		h.transport.Proxy = http.ProxyFromEnvironment // it sees nothing but the hub's name
	}
	return h, nil
}

func loopback(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }

// Host returns the host of the hub's address, with its port if that is named.
func (h *Hub) Host() string { return h.base.Host }

// A RefusedError says that the hub has answered, and not with a WebSocket.
type RefusedError struct {
	// Status is that of the answer.
	Status int
	// Body is the beginning of the answer.
	Body string
}

// Error names the status.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("it answers %d %s", e.Status, http.StatusText(e.Status))
}

// Dial opens a WebSocket at a path of the hub. ctx bounds that alone. Redirects are not
// followed.
func (h *Hub) Dial(ctx context.Context, path, subprotocol string, header http.Header) (*websocket.Conn, error) {
	ws, response, err := websocket.Dial(ctx, h.base.String()+path, &websocket.DialOptions{ //nolint:bodyclose // the library does that
		HTTPClient: &http.Client{
			Transport:     h.transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		HTTPHeader: header, Subprotocols: []string{subprotocol}, CompressionMode: websocket.CompressionDisabled,
	})
	switch {
	case err == nil && ws.Subprotocol() != subprotocol:
		_ = ws.CloseNow() // there is nothing to say to it
		return nil, errors.New("what listens there does not speak the protocol of this version; install the same version of switchboard on both")
	case err == nil:
		return ws, nil
	case response != nil && response.StatusCode != http.StatusSwitchingProtocols:
		body, _ := io.ReadAll(io.LimitReader(response.Body, maxProblem)) // the status is what counts
		return nil, &RefusedError{Status: response.StatusCode, Body: string(body)}
	}
	if wrapped, ok := errors.AsType[*client.PinError](err); ok {
		return nil, wrapped
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return nil, err
}

// Links returns a handler that carries links of shims, which it is mounted for at a Unix
// socket, to a path of the hub. header returns what the hub is shown beside the shim's own
// token; if it returns false, or the hub cannot be reached, the shim is told to come again.
// The links of a request end with its context.
func (h *Hub) Links(path string, header func(http.Header) bool) http.Handler {
	proxy := &httputil.ReverseProxy{
		Transport: h.transport, ErrorLog: log.New(io.Discard, "", 0), // every error is answered
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL = &url.URL{Scheme: h.base.Scheme, Host: h.base.Host, Path: path}
			r.Out.Host = h.base.Host
			r.Out.Header = http.Header{}
			// Nothing else is the hub's business, or may pass for something of ours.
			for _, name := range []string{
				"Authorization", "Connection", "Upgrade", "Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Protocol",
			} {
				if values := r.In.Header.Values(name); len(values) > 0 {
					r.Out.Header[name] = values
				}
			}
			header(r.Out.Header)
		},
		ModifyResponse: func(r *http.Response) error {
			if r.StatusCode == http.StatusSwitchingProtocols {
				killpoint.Reach("node.after-link")
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			http.Error(w, "the hub cannot be reached; try again", http.StatusServiceUnavailable)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !header(http.Header{}) {
			http.Error(w, "the hub is not connected; try again", http.StatusServiceUnavailable)
			return
		}
		killpoint.Reach("node.before-link")
		proxy.ServeHTTP(w, r)
	})
}

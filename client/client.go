package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// Options say which server to talk to: either Socket or BaseURL.
type Options struct {
	// Socket is the path of the server's Unix socket. It, and the folder that it
	// is in, must belong to the user, and so must the server.
	Socket string
	// BaseURL is the server's address, such as "http://127.0.0.1:8765". Unless it
	// is on loopback it must begin with https: a token is a secret.
	BaseURL string
	// Token is the token to show, "sb_<id>_<secret>". It is never sent anywhere
	// but to BaseURL.
	Token string
	// TLS is how to speak to a server whose BaseURL begins with https: the roots to
	// trust, a certificate to show. If nil, the system's roots count.
	TLS *tls.Config
	// Pin is the [Fingerprint] of the certificate that the server at an https BaseURL
	// must show, "sha256:…". If it is not empty it counts instead of roots and host
	// names, and another certificate is a *[PinError] before anything is sent.
	Pin string
	// Silence is how long a stream of events may be silent before it counts as
	// lost and is opened anew. The server says something every 15 s. If zero, 45s:
	// three times missed.
	Silence time.Duration
	// Retry is the pause before a lost stream is opened anew. It doubles with each
	// attempt in vain, to 30 s, and is cut by a random part. If zero, 1s.
	Retry time.Duration
}

// A Client talks to one server. It is safe for concurrent use. It starts no
// goroutines of its own but those of [net/http] that hold connections, which
// Close ends.
type Client struct {
	// Static after construction.
	base      string // without a slash at its end
	token     string
	silence   time.Duration
	retry     time.Duration
	transport *http.Transport
	http      *http.Client
}

// New makes a client. It does not connect yet.
func New(options *Options) (*Client, error) {
	if options == nil {
		options = &Options{}
	}
	c := &Client{token: options.Token, silence: options.Silence, retry: options.Retry}
	if c.silence <= 0 {
		c.silence = 45 * time.Second
	}
	if c.retry <= 0 {
		c.retry = shortestPause
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	// Neither a proxy nor a redirect shall see what we send.
	c.transport = &http.Transport{
		DialContext:         dialer.DialContext,
		TLSClientConfig:     tlsConfig(options.TLS),
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 8,
		IdleConnTimeout:     30 * time.Second,
		DisableCompression:  true,
	}
	c.http = &http.Client{
		Transport:     c.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	switch {
	case options.Socket != "" && options.BaseURL != "":
		return nil, errors.New("making a client: give either a socket or a base URL, not both")
	case options.Socket != "":
		// The host is never looked up. The server's own name keeps it readable.
		c.base = "http://switchboard"
		c.transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialSocket(ctx, dialer, options.Socket)
		}
	case options.BaseURL != "":
		if err := c.setBase(options.BaseURL); err != nil {
			return nil, err
		}
	default:
		return nil, errors.New("making a client: give a socket or a base URL")
	}
	if options.Pin != "" {
		want, err := ParsePin(options.Pin)
		switch {
		case err != nil:
			return nil, fmt.Errorf("making a client: the pin: %w", err)
		case !strings.HasPrefix(c.base, "https:"):
			return nil, errors.New("making a client: a pin needs a base URL that begins with https: others have no certificate")
		}
		pin(c.transport.TLSClientConfig, want)
	}
	return c, nil
}

// tlsConfig returns a copy that keeps to TLS 1.2 and later.
func tlsConfig(given *tls.Config) *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if given != nil {
		config = given.Clone()
		config.MinVersion = max(config.MinVersion, tls.VersionTLS12)
	}
	return config
}

func (c *Client) setBase(base string) error {
	u, err := url.Parse(base)
	if err != nil {
		return fmt.Errorf("making a client: the base URL cannot be read: %w", err)
	}
	switch {
	case u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("making a client: the base URL %q is not of the form http://127.0.0.1:8765", u.Redacted())
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("making a client: the base URL %q has more than an address; the token has a place of its own", u.Redacted())
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return fmt.Errorf("making a client: %q is not on this machine: only https is safe there", u.Redacted())
	}
	c.base = strings.TrimRight(u.String(), "/")
	return nil
}

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// Close closes idle connections. Streams end with their contexts.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// maxProblem is how much of an error is read.
const maxProblem = 1 << 20

// request makes a request. body is sent as JSON if it is not nil.
func (c *Client) request(ctx context.Context, method, path string, query url.Values, body any) (*http.Request, error) {
	target := c.base + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	var reader io.Reader
	if body != nil {
		var buffer bytes.Buffer
		encoder := json.NewEncoder(&buffer)
		encoder.SetEscapeHTML(false) // what is raw stays as it is
		if err := encoder.Encode(body); err != nil {
			return nil, fmt.Errorf("writing the request: %w", err)
		}
		reader = &buffer
	}
	req, err := http.NewRequestWithContext(ctx, method, target, reader)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	return req, nil
}

// do makes a request and reads the answer into out, unless that is nil.
func (c *Client) do(ctx context.Context, method, path string, query url.Values, body, out any) error {
	req, err := c.request(ctx, method, path, query, body)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return transportError(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return problem(res)
	}
	if out != nil {
		if err := json.NewDecoder(res.Body).Decode(out); err != nil {
			return transportError(ctx, fmt.Errorf("reading the answer: %w", err))
		}
	}
	// The connection is used again only if nothing is left on it.
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxProblem))
	return nil
}

// transportError returns why a request did not get through. A context that has
// ended is the reason, whatever came of it.
func transportError(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // what it adds is our own URL, of which the host is made up
	}
	return fmt.Errorf("talking to the server: %w", err)
}

// problem reads the error that a server has answered with.
func problem(res *http.Response) error {
	e := &api.Error{Status: res.StatusCode}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxProblem))
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err == nil && (kind == "application/problem+json" || kind == "application/json") {
		if json.Unmarshal(body, e) != nil {
			e = &api.Error{}
		}
	}
	// Another server may have answered: a proxy, or another program on the port.
	e.Status = res.StatusCode
	if e.Title == "" {
		e.Title = "The server answered " + res.Status
	}
	if e.Code == "" {
		e.Code = codeOf(res.StatusCode)
	}
	return e
}

func codeOf(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return api.CodeUnauthorized
	case http.StatusForbidden:
		return api.CodeForbidden
	case http.StatusNotFound:
		return api.CodeNotFound
	case http.StatusRequestEntityTooLarge:
		return api.CodeTooLarge
	case http.StatusServiceUnavailable:
		return api.CodeClosing
	case http.StatusGatewayTimeout:
		return api.CodeTimeout
	}
	if status >= 400 && status < 500 {
		return api.CodeInvalid
	}
	return api.CodeInternal
}

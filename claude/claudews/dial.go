package claudews

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"
)

const (
	defaultConnectTimeout = 15 * time.Second
	deleteTimeout         = 5 * time.Second
	maxAnswer             = 1 << 20
	maxQuoted             = 200
	// defaultKeepAlive is how often the official clients send a keep_alive line.
	defaultKeepAlive = 50 * time.Second
)

// DialOptions are the options of [Dial] and [Connect]. nil means the defaults.
type DialOptions struct {
	// Token is sent as bearer token. It overrides the one of an address. It
	// never appears in an error.
	Token string

	// Header holds further headers of every request.
	Header http.Header

	// TLSConfig is used for https and wss. If nil, the system's certificates are
	// trusted.
	TLSConfig *tls.Config

	// ConnectTimeout bounds the time until the connection stands. If zero, 15 s.
	ConnectTimeout time.Duration

	// MaxLine is the longest line in bytes. If zero, [wire.DefaultMaxLine].
	MaxLine int

	// MaxInbox is how many bytes of unread lines are held. If
	// zero, 16 MiB.
	MaxInbox int

	// PingInterval and PingTimeout are as in [ServerOptions].
	PingInterval, PingTimeout time.Duration

	// KeepAlive is the time between two keep_alive lines to the server. A server
	// that is made for the official clients, which cannot ping from a browser, tells
	// by them that the client is there. If zero, 50 s, as those send them; if negative,
	// none are sent.
	KeepAlive time.Duration

	// Compression offers permessage-deflate.
	Compression bool

	// Session asks for a session; only Connect uses it.
	Session SessionRequest

	// AllowOtherHost lets Connect send the token to a WebSocket address that is
	// not on the server it was given for.
	AllowOtherHost bool

	// DeleteOnClose makes Close delete the session on the server; only Connect
	// uses it.
	DeleteOnClose bool
}

// A SessionRequest says what session a Direct Connect server shall give.
type SessionRequest struct {
	// Cwd is the folder that the session works in. If empty, the server's choice.
	Cwd string `json:"cwd,omitempty"`
	// Key names a session that is to be taken up again.
	Key string `json:"session_key,omitempty"`
	// PermissionMode is the session's first permission mode.
	PermissionMode string `json:"permission_mode,omitempty"`
}

// Session is what a Direct Connect server says of a session.
type Session struct {
	// ID is the server's id of the session.
	ID string `json:"session_id"`
	// WorkDir is the folder that it works in, if the server says so.
	WorkDir string `json:"work_dir"`
	// Key names the session, to take it up again.
	Key string `json:"session_key"`
}

func (o *DialOptions) withDefaults() DialOptions {
	var d DialOptions
	if o != nil {
		d = *o
	}
	setDefault(&d.ConnectTimeout, defaultConnectTimeout)
	setDefault(&d.MaxInbox, 16<<20)
	setDefault(&d.PingInterval, defaultPingInterval)
	setDefault(&d.PingTimeout, defaultPingTimeout)
	if d.KeepAlive == 0 {
		d.KeepAlive = defaultKeepAlive
	}
	return d
}

// A StatusError reports a server that answered with a status other than the one
// hoped for.
type StatusError struct {
	// Status is the HTTP status.
	Status int
	// Body is the beginning of what came with it, without the token.
	Body string
}

// Error names the status and quotes the body.
func (e *StatusError) Error() string {
	s := fmt.Sprintf("the server answered %d %s", e.Status, http.StatusText(e.Status))
	if e.Body != "" {
		s += fmt.Sprintf(": %q", e.Body)
	}
	return s
}

// Dial opens a WebSocket to a server that speaks lines: ws, wss, http or https.
func Dial(ctx context.Context, address string, o *DialOptions) (*Client, error) {
	d := newDialer(o)
	defer d.http.CloseIdleConnections()
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, errors.New("dialling: not a URL with a host")
	}
	ctx, cancel := context.WithTimeout(ctx, d.opts.ConnectTimeout)
	defer cancel()
	ws, err := d.open(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("dialling %s: %w", place(u), err)
	}
	return newClient(ws, &d.opts), nil
}

// Connect asks a Direct Connect server for a session and opens its WebSocket.
// See [ParseAddress] for the address. The token goes to that server only: its
// redirects are not followed, and a WebSocket address on another host, or
// without the encryption that the server's own has, is refused unless
// [DialOptions.AllowOtherHost] is set.
func Connect(ctx context.Context, address string, o *DialOptions) (*Client, error) {
	a, err := ParseAddress(address)
	if err != nil {
		return nil, err
	}
	d := newDialer(o)
	if d.opts.Token == "" {
		d.opts.Token = a.Token
	}
	ctx, cancel := context.WithTimeout(ctx, d.opts.ConnectTimeout)
	defer cancel()
	c, err := d.connect(ctx, a.Server)
	if err != nil {
		d.http.CloseIdleConnections()
		return nil, fmt.Errorf("connecting to %s: %w", place(a.Server), err)
	}
	return c, nil
}

// A dialer holds what the requests of one connection have in common.
type dialer struct {
	opts DialOptions
	http *http.Client
}

func newDialer(o *DialOptions) *dialer {
	opts := o.withDefaults()
	return &dialer{opts: opts, http: &http.Client{
		// No proxy: it would see the token.
		Transport: &http.Transport{TLSClientConfig: opts.TLSConfig.Clone()},
		// No redirects either, for the same reason.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (d *dialer) header() http.Header {
	h := d.opts.Header.Clone()
	if h == nil {
		h = make(http.Header)
	}
	if d.opts.Token != "" {
		h.Set("Authorization", "Bearer "+d.opts.Token)
	}
	return h
}

// open opens a WebSocket.
func (d *dialer) open(ctx context.Context, u *url.URL) (*websocket.Conn, error) {
	opts := &websocket.DialOptions{HTTPClient: d.http, HTTPHeader: d.header()}
	if d.opts.Compression {
		opts.CompressionMode = websocket.CompressionContextTakeover
	}
	ws, resp, err := websocket.Dial(ctx, u.String(), opts) //nolint:bodyclose // the library does that
	switch {
	case err == nil:
		return ws, nil
	case resp != nil && resp.StatusCode != http.StatusSwitchingProtocols:
		return nil, d.status(resp)
	default:
		return nil, withoutURL(err)
	}
}

func (d *dialer) connect(ctx context.Context, server *url.URL) (*Client, error) {
	var answer struct {
		Session
		URL string `json:"ws_url"`
	}
	body, err := json.Marshal(d.opts.Session)
	if err != nil {
		return nil, err
	}
	sessions := server.JoinPath("sessions")
	if err := d.do(ctx, http.MethodPost, sessions, body, &answer); err != nil {
		return nil, fmt.Errorf("asking for a session: %w", err)
	}
	if answer.ID == "" {
		return nil, errors.New("asking for a session: the answer has no session_id")
	}
	end := func(ctx context.Context) error {
		if !d.opts.DeleteOnClose {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, deleteTimeout)
		defer cancel()
		if err := d.do(ctx, http.MethodDelete, sessions.JoinPath(url.PathEscape(answer.ID)), nil, nil); err != nil {
			return fmt.Errorf("deleting the session at %s: %w", place(server), err)
		}
		return nil
	}
	u, err := d.socket(server, answer.URL)
	if err == nil {
		var ws *websocket.Conn
		if ws, err = d.open(ctx, u); err == nil {
			c := newClient(ws, &d.opts)
			c.session = answer.Session
			c.atClose = func() error {
				defer d.http.CloseIdleConnections()
				return end(context.Background())
			}
			return c, nil
		}
	}
	// The session exists, and no client will use it.
	return nil, errors.Join(fmt.Errorf("opening the WebSocket of the session: %w", err), end(context.WithoutCancel(ctx)))
}

// socket checks the WebSocket address that a server gave.
func (d *dialer) socket(server *url.URL, address string) (*url.URL, error) {
	ref, err := url.Parse(address)
	if err != nil || address == "" {
		return nil, errors.New("the answer has no ws_url")
	}
	u := server.ResolveReference(ref)
	switch u.Scheme {
	case "ws", "wss", "http", "https":
	default:
		return nil, fmt.Errorf("the answer has a ws_url with the scheme %q", u.Scheme)
	}
	wantSecure, want := origin(server)
	gotSecure, got := origin(u)
	if d.opts.Token != "" && !d.opts.AllowOtherHost && (got != want || wantSecure && !gotSecure) {
		return nil, fmt.Errorf("the ws_url is at %s, and the token is for %s only (see DialOptions.AllowOtherHost)", place(u), place(server))
	}
	return u, nil
}

// do makes a request with a JSON body and decodes a JSON answer.
func (d *dialer) do(ctx context.Context, method string, u *url.URL, body []byte, answer any) error {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return withoutURL(err)
	}
	req.Header = d.header()
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := d.http.Do(req)
	if err != nil {
		return withoutURL(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return d.status(resp)
	}
	if answer == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(answer); err != nil {
		return fmt.Errorf("reading the answer, expected a JSON object: %w", err)
	}
	return nil
}

// status makes an error of an answer. The body is the server's, and a server
// may quote what it was sent.
func (d *dialer) status(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxQuoted+int64(len(d.opts.Token)))) // what there is
	text := strings.TrimSpace(string(body))
	if d.opts.Token != "" {
		text = strings.ReplaceAll(text, d.opts.Token, "[redacted]")
	}
	if len(text) > maxQuoted {
		text = text[:maxQuoted]
	}
	return &StatusError{Status: resp.StatusCode, Body: text}
}

// withoutURL takes the URL out of an HTTP client's error: its path or query may
// hold a secret.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

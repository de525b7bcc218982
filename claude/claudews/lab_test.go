package claudews

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/claude"
)

// pipeListener is a network in memory, so that tests can run on synctest's
// clock.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// lab is a server and the means to reach it.
type lab struct {
	t      *testing.T
	server *Server
	http   *http.Server
	client *http.Client

	mu     sync.Mutex
	events []Event
}

// newLab starts a server with one run, "run", whose token is "secret". Requests
// with the token "shared" are for a run named by their path.
func newLab(t *testing.T, o ServerOptions) *lab {
	t.Helper()
	l := &lab{t: t}
	if o.Authorize == nil {
		own := Tokens(map[string]string{"secret": "run"})
		o.Authorize = func(r *http.Request) (Grant, error) {
			if BearerToken(r) == "shared" {
				return Grant{Key: RunPath(r)}, nil
			}
			return own(r)
		}
	}
	o.OnEvent = func(_ *Peer, e Event) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.events = append(l.events, e)
	}
	var err error
	if l.server, err = NewServer(&o); err != nil {
		t.Fatal(err)
	}
	listener := newPipeListener()
	l.http = l.server.HTTPServer()
	var serving sync.WaitGroup
	serving.Go(func() { _ = l.http.Serve(listener) })
	transport := &http.Transport{DialContext: listener.dial}
	l.client = &http.Client{Transport: transport}
	t.Cleanup(func() {
		if err := l.server.Close(); err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
		if err := l.http.Close(); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return l
}

// told returns the events so far as words, and forgets them.
func (l *lab) told() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var words []string
	for _, e := range l.events {
		word := string(e.Kind)
		if e.Kind == EventGap || e.Kind == EventUnknown {
			word += fmt.Sprintf("(%s..%s)", e.Received, e.Wrote)
		} else {
			word += fmt.Sprint(e.Conn)
		}
		words = append(words, word)
	}
	l.events = nil
	return strings.Join(words, " ")
}

func (l *lab) accept() *Peer {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	p, err := l.server.Accept(ctx)
	if err != nil {
		l.t.Fatalf("accepting a CLI: %v", err)
	}
	return p
}

// cli plays the part of a CLI that was started with --sdk-url.
type cli struct {
	lab   *lab
	path  string
	token string
	opts  websocket.DialOptions
	mute  bool // does not read: a half-open connection

	ws   *websocket.Conn
	in   chan string // frames received; binary ones have "binary:" before them
	gone chan error  // how the connection ended

	wrote []string // lines with a uuid, in order: 2.1.120's replay buffer
	last  string   // the uuid of the last of them
}

func (l *lab) cli() *cli { return &cli{lab: l, path: "/ws/cli/x", token: "secret"} }

// try dials and returns the status of the answer.
func (c *cli) try() int {
	c.lab.t.Helper()
	opts := c.opts
	opts.HTTPClient = c.lab.client
	opts.HTTPHeader = opts.HTTPHeader.Clone()
	if opts.HTTPHeader == nil {
		opts.HTTPHeader = http.Header{}
	}
	if c.token != "" {
		opts.HTTPHeader.Set("Authorization", "Bearer "+c.token)
	}
	if c.last != "" {
		opts.HTTPHeader.Set("X-Last-Request-Id", c.last)
	}
	ws, resp, err := websocket.Dial(c.lab.t.Context(), "ws://hub.test"+c.path, &opts) //nolint:bodyclose // the library does that
	if err != nil {
		if resp == nil {
			c.lab.t.Fatalf("dialling: %v", err)
		}
		return resp.StatusCode
	}
	ws.SetReadLimit(-1)
	in, gone := make(chan string, 1000), make(chan error, 1)
	c.ws, c.in, c.gone = ws, in, gone
	if c.mute {
		return http.StatusSwitchingProtocols
	}
	go func() {
		for {
			kind, frame, err := ws.Read(context.Background())
			if err != nil {
				gone <- err
				return
			}
			if kind == websocket.MessageBinary {
				frame = append([]byte("binary:"), frame...)
			}
			in <- string(frame)
		}
	}()
	return http.StatusSwitchingProtocols
}

func (c *cli) dial() {
	c.lab.t.Helper()
	if status := c.try(); status != http.StatusSwitchingProtocols {
		c.lab.t.Fatalf("dialling: status %d", status)
	}
}

// note remembers that a line was written, whether it arrived or not.
func (c *cli) note(lines ...string) {
	for _, line := range lines {
		if id := uuidOf(line); id != "" {
			c.wrote = append(c.wrote, line)
			c.last = id
		}
	}
}

// send writes each line in a frame.
func (c *cli) send(lines ...string) {
	c.lab.t.Helper()
	for _, line := range lines {
		c.frame(websocket.MessageText, line+"\n")
		c.note(line)
	}
}

func (c *cli) frame(kind websocket.MessageType, data string) {
	c.lab.t.Helper()
	if err := c.ws.Write(c.lab.t.Context(), kind, []byte(data)); err != nil {
		c.lab.t.Fatalf("sending a frame: %v", err)
	}
}

// replay does what 2.1.120 does after a reconnect.
func (c *cli) replay() {
	c.lab.t.Helper()
	for _, line := range c.wrote {
		c.frame(websocket.MessageText, line+"\n")
	}
}

// drop cuts the connection and waits until the server has noticed.
func (c *cli) drop(p *Peer) {
	c.lab.t.Helper()
	_ = c.ws.CloseNow()
	if !c.mute {
		<-c.gone
	}
	await(c.lab.t, p, claude.StateReconnecting)
}

// expect waits for the next line from the server.
func (c *cli) expect(want string) {
	c.lab.t.Helper()
	select {
	case got := <-c.in:
		if got != want+"\n" {
			c.lab.t.Fatalf("the CLI got %q, want %q", got, want+"\n")
		}
	case err := <-c.gone:
		c.lab.t.Fatalf("the connection ended before %q: %v", want, err)
	}
}

// code waits for the end of the connection and returns the close code.
func (c *cli) code() int {
	c.lab.t.Helper()
	err := <-c.gone
	return int(websocket.CloseStatus(err))
}

// post POSTs lines and returns the status.
func (c *cli) post(ctx context.Context, lines ...string) (int, error) {
	return c.postBody(ctx, []byte(`{"events":[`+strings.Join(lines, ",")+`]}`))
}

func (c *cli) postBody(ctx context.Context, body []byte) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://hub.test"+EventsPath(c.path), bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.lab.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// answer is what came of a POST.
type answer struct {
	status int
	err    error
}

// posting POSTs in the background.
func (c *cli) posting(ctx context.Context, lines ...string) <-chan answer {
	done := make(chan answer, 1)
	go func() {
		status, err := c.post(ctx, lines...)
		done <- answer{status, err}
	}()
	return done
}

// line returns a line with that uuid.
func line(uuid string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"content":[]},"uuid":%q}`, uuid)
}

func request(id string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":"can_use_tool"}}`, id)
}

func response(id string) string {
	return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q}}`, id)
}

func lines(prefix string, from, to int) []string {
	var list []string
	for i := from; i <= to; i++ {
		list = append(list, line(fmt.Sprint(prefix, i)))
	}
	return list
}

func uuidOf(line string) string {
	var v struct{ UUID string }
	_ = json.Unmarshal([]byte(line), &v)
	return v.UUID
}

// reads reads lines and compares them.
func reads(t *testing.T, r claude.Transport, want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i, w := range want {
		got, err := r.Read(ctx)
		if err != nil {
			t.Fatalf("reading line %d, want %.200q: %v", i+1, w, err)
		}
		if string(got) != w {
			t.Fatalf("line %d is %.200q, want %.200q", i+1, got, w)
		}
	}
}

// silent checks that there is nothing to read for a while. It is for tests on
// synctest's clock.
func silent(t *testing.T, r claude.Transport, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if got, err := r.Read(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("read %q, %v; want nothing", got, err)
	}
}

// await waits for a state.
func await(t *testing.T, r claude.Transport, want string) {
	t.Helper()
	for {
		state, changed := r.State()
		if state == want {
			return
		}
		select {
		case <-changed:
		case <-time.After(time.Minute):
			t.Fatalf("the state is %s, want %s", state, want)
		}
	}
}

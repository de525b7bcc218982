package lines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/broadcast"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
	"github.com/switchboard-dev/switchboard/wire"
)

// A directStage is a hub with sessions of which the test says what is shown of them and
// what becomes of lines: it stands between Direct Connect and the hub, see stagedDirect.
type directStage struct {
	lab *servertest.Lab

	mu       sync.Mutex
	sessions map[string]*directSession // by the test's names; guarded by mu
}

// A directSession is a session on a stage, and its one client.
type directSession struct {
	id string

	mu        sync.Mutex
	events    []api.Frame
	changed   broadcast.Broadcast
	left      chan struct{}
	submitted []string
	submit    func(ctx context.Context, by hub.Actor, line []byte, may hub.May) ([]byte, error)
	err       error  // what the cursor ends with
	cursor    Cursor // replaces that of the session, if it is not nil
}

// add makes a session that waits for a prompt.
func (h *directStage) add(name string) *directSession {
	a := h.lab.Dial(api.CreateSession{})
	a.Say(`{"type":"system","subtype":"init","session_id":"conv-` + name + `","uuid":"u","cwd":"/w","model":"m","permissionMode":"default","claude_code_version":"2.1.325","tools":[]}`)
	s := &directSession{id: a.Session, left: make(chan struct{})}
	s.submit = func(context.Context, hub.Actor, []byte, hub.May) ([]byte, error) { return nil, nil }
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions[name] = s
	return s
}

// id returns the id of a session, or what has none.
func (h *directStage) id(name string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.sessions[name]; s != nil {
		return s.id
	}
	return name
}

// of returns the session with an id, nil if it is not on the stage.
func (h *directStage) of(id string) *directSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		if s.id == id {
			return s
		}
	}
	return nil
}

// A stagedDirect is Direct Connect to a session on a stage. All else is the hub's.
type stagedDirect struct {
	*direct

	stage *directStage
	on    *directSession // nil if the session is not on the stage; set by follow
}

func (d *stagedDirect) follow(ctx context.Context) (Cursor, error) {
	c, err := d.direct.follow(ctx)
	if err != nil {
		return nil, err
	}
	if d.on = d.stage.of(d.session); d.on == nil {
		return c, nil
	}
	c.Close()
	if d.on.cursor != nil {
		return d.on.cursor, nil
	}
	return &directCursor{s: d.on}, nil
}

func (d *stagedDirect) submit(ctx context.Context, l *said) ([]byte, error) {
	if d.on == nil || l.kind == kindPrompt && d.gone.Load() {
		return d.direct.submit(ctx, l)
	}
	s := d.on
	s.mu.Lock()
	s.submitted = append(s.submitted, string(l.line))
	s.changed.Notify()
	submit := s.submit
	s.mu.Unlock()
	return submit(ctx, d.by, l.line, d.id.Scopes.Has)
}

func (d *stagedDirect) leave() {
	d.direct.leave()
	if s := d.on; s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		select {
		case <-s.left:
		default:
			close(s.left)
		}
	}
}

// handler serves Direct Connect, with its WebSockets on the stage.
func (h *directStage) handler(s *Server, guard *access.Guard) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", s.Direct())
	mux.Handle("GET /sessions/{id}/ws", guard.Admitted(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d := s.newDirect(w, r); d != nil {
			d.dialect = &stagedDirect{direct: d, stage: h}
			s.accept(w, r, d.conn)
		}
	})))
	return mux
}

// happen has frames follow.
func (s *directSession) happen(frames ...api.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, frames...)
	s.changed.Notify()
}

// fail ends the cursor.
func (s *directSession) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
	s.changed.Notify()
}

// await waits until something holds of what was submitted.
func (s *directSession) await(t *testing.T, what string, want func(lines []string) bool) {
	t.Helper()
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		ok, changed, got := want(s.submitted), s.changed.Changed(), strings.Join(s.submitted, "\n")
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("%s: was submitted:\n%s", what, got)
		}
	}
}

type directCursor struct {
	s *directSession
	n int
}

func (c *directCursor) Next(ctx context.Context) ([]api.Frame, error) {
	for {
		c.s.mu.Lock()
		if c.n < len(c.s.events) {
			frames := c.s.events[c.n:]
			c.n = len(c.s.events)
			c.s.mu.Unlock()
			return frames, nil
		}
		err, changed := c.s.err, c.s.changed.Changed()
		c.s.mu.Unlock()
		if err != nil {
			return nil, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (c *directCursor) Close() {}

// Further tokens of a directRig.
const (
	otherToken      = "sb_other_0123456789012345678901234567890123456789"
	approveToken    = "sb_approve_0123456789012345678901234567890123456789" // which is not enough to look
	wrongAdminToken = "sb_admin_0000000000000000000000000000000000000000"
)

// A directRig is a server on loopback.
type directRig struct {
	t      *testing.T
	hub    *directStage
	server *Server
	http   *httptest.Server
	guard  *access.Guard
	dir    string // a folder that may be worked in
	log    *lockedBuffer
}

// A lockedBuffer is written by several.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newDirectRig(t *testing.T, options *Options) *directRig {
	t.Helper()
	return newDirectRigOn(t, servertest.New(t, nil), options)
}

// newDirectRigOn serves a lab.
func newDirectRigOn(t *testing.T, lab *servertest.Lab, options *Options) *directRig {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &directRig{t: t, hub: &directStage{lab: lab, sessions: map[string]*directSession{}}, dir: dir, log: &lockedBuffer{}}
	var tokens []access.Token
	for text, scopes := range map[string]access.Scopes{
		adminToken: access.AllScopes(), otherToken: access.AllScopes(),
		observeToken: access.ScopesOf(wire.ScopeObserve), approveToken: access.ScopesOf(wire.ScopeApprove),
	} {
		token, err := access.ParseToken(text, "tester", scopes)
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token)
	}
	r.guard = access.New(&access.Options{Tokens: tokens})
	o := Options{Direct: DirectOptions{URL: "ws://hub.example:1234", Home: dir}}
	if options != nil {
		o = *options
	}
	o.Log = slog.New(slog.NewTextHandler(r.log, nil))
	r.server = New(lab.Hub, r.guard, &o)
	r.http = httptest.NewUnstartedServer(r.guard.Checked(r.hub.handler(r.server, r.guard)))
	r.http.Config.ConnContext = r.guard.ConnContext
	r.http.Start()
	t.Cleanup(func() {
		r.server.Close("the test is over")
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := r.server.Wait(ctx); err != nil {
			t.Errorf("connections are left: %v", err)
		}
		r.http.Close()
	})
	return r
}

// call makes a request, and returns its status and what was answered.
func (r *directRig) call(method, path, token, body string) (int, map[string]any) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.http.URL+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := r.http.Client().Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	content, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	answer := map[string]any{}
	if len(content) > 0 {
		if err := json.Unmarshal(content, &answer); err != nil {
			r.t.Fatalf("%s %s answers %q: %v", method, path, content, err)
		}
	}
	if response.StatusCode >= 400 && response.Header.Get("Content-Type") != access.ProblemType {
		r.t.Errorf("%s %s: an error of the type %q", method, path, response.Header.Get("Content-Type"))
	}
	return response.StatusCode, answer
}

// A directClient is one of Direct Connect.
type directClient struct {
	t    *testing.T
	conn *websocket.Conn
}

// dial connects to a session.
func (r *directRig) dial(id, token string) *directClient {
	r.t.Helper()
	header := http.Header{}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	c, tried := r.tryDial(id, header)
	if tried.err != nil {
		r.t.Fatal(tried.err)
	}
	return c
}

// A handshake is how the server answers somebody who wants to connect.
type handshake struct {
	err      error
	status   int
	protocol string
}

// protocols is the header for sub-protocols.
const protocols = "Sec-Websocket-Protocol"

func (r *directRig) tryDial(id string, header http.Header) (*directClient, handshake) {
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	options := &websocket.DialOptions{HTTPHeader: header.Clone()}
	if offered := header.Get(protocols); offered != "" {
		options.HTTPHeader.Del(protocols)
		options.Subprotocols = strings.Split(offered, ", ")
	}
	conn, response, err := websocket.Dial(ctx, r.http.URL+"/sessions/"+r.hub.id(id)+"/ws", options)
	tried := handshake{err: err}
	if response != nil {
		tried.status, tried.protocol = response.StatusCode, response.Header.Get(protocols)
		if response.Body != nil {
			_ = response.Body.Close() // nobody reads it
		}
	}
	if err != nil {
		return nil, tried
	}
	conn.SetReadLimit(1 << 30)
	r.t.Cleanup(func() { _ = conn.CloseNow() }) // perhaps a second time
	return &directClient{t: r.t, conn: conn}, tried
}

func (c *directClient) send(lines ...string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	for _, line := range lines {
		if err := c.conn.Write(ctx, websocket.MessageText, []byte(line+"\n")); err != nil {
			c.t.Fatal(err)
		}
	}
}

// next returns the next line.
func (c *directClient) next() string {
	c.t.Helper()
	line, err := c.read()
	if err != nil {
		c.t.Fatal(err)
	}
	return line
}

func (c *directClient) read() (string, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	kind, message, err := c.conn.Read(ctx)
	if err != nil {
		return "", err
	}
	line, ended := strings.CutSuffix(string(message), "\n")
	if kind != websocket.MessageText || !ended || strings.Contains(line, "\n") {
		return "", fmt.Errorf("a message is %v %q; want one line", kind, message)
	}
	return line, nil
}

// closed waits for the end and returns its code and reason.
func (c *directClient) closed() (websocket.StatusCode, string) {
	c.t.Helper()
	for {
		_, err := c.read()
		if err == nil {
			continue
		}
		if e, ok := errors.AsType[websocket.CloseError](err); ok {
			return e.Code, e.Reason
		}
		return -1, err.Error()
	}
}

// wrote is a frame with a line of the CLI.
func wrote(line string) api.Frame {
	return api.Frame{Type: api.FrameEvent, Event: &api.Event{Kind: api.KindLine, Line: json.RawMessage(line)}}
}

// event is a frame with an event of the hub.
func event(kind, data string) api.Frame {
	return api.Frame{Type: api.FrameEvent, Event: &api.Event{Kind: kind, Data: json.RawMessage(data)}}
}

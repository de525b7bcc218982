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
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

// A directHub makes sessions of which the test says what happens in them.
type directHub struct {
	Hub // the rest is not for this dialect

	mu       sync.Mutex
	sessions map[string]*directSession
	byClient map[string]*directSession
	made     []api.CreateSession // what was asked for
	by       []hub.Actor
	stops    []api.Stop
	stopErr  func(api.Stop) error
}

func newDirectHub() *directHub {
	return &directHub{sessions: map[string]*directSession{}, byClient: map[string]*directSession{}}
}

// A directSession is one session and its one driver.
type directSession struct {
	snapshot api.Session
	request  api.CreateSession

	mu         sync.Mutex
	events     []api.Frame
	changed    chan struct{}
	registered bool
	left       chan struct{}
	submitted  []string
	submit     func(ctx context.Context, by hub.Actor, line []byte, may hub.May) ([]byte, error)
	after      string // where the follower began
	err        error  // what the cursor ends with
}

func (h *directHub) add(id string) *directSession {
	s := &directSession{
		snapshot: api.Session{ID: id, State: api.StateIdle, LastEventID: "e:7", Conversation: "conv-" + id},
		changed:  make(chan struct{}), left: make(chan struct{}),
	}
	s.submit = func(context.Context, hub.Actor, []byte, hub.May) ([]byte, error) { return nil, nil }
	h.sessions[id] = s
	return s
}

func (h *directHub) CreateDirect(_ context.Context, by hub.Actor, in api.CreateSession) (*api.Created, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.made, h.by = append(h.made, in), append(h.by, by)
	if old := h.byClient[in.ClientID]; old != nil && in.ClientID != "" {
		if old.request.Dir != in.Dir {
			return nil, &api.Error{Status: http.StatusConflict, Code: api.CodeClientIDReused, Title: "used", Session: old.snapshot.ID}
		}
		if h.sessions[old.snapshot.ID] == nil {
			return nil, api.Errorf(http.StatusNotFound, api.CodeNotFound, "It was removed")
		}
		return &api.Created{Session: old.snapshot}, nil
	}
	s := h.add(fmt.Sprintf("s%d", len(h.sessions)+1))
	s.request, s.snapshot.Dir, s.snapshot.LastEventID = in, in.Dir, "e:1"
	if in.ClientID != "" {
		h.byClient[in.ClientID] = s
	}
	return &api.Created{Session: s.snapshot}, nil
}

func (h *directHub) find(id string) (*directSession, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.sessions[id]; s != nil {
		return s, nil
	}
	return nil, api.Errorf(http.StatusNotFound, api.CodeNotFound, "There is no such session")
}

func (h *directHub) Resolve(_ context.Context, id string) (string, error) {
	s, err := h.find(strings.TrimPrefix(id, "conv-"))
	if err != nil {
		return "", err
	}
	return s.snapshot.ID, nil
}

func (h *directHub) Snapshot(_ context.Context, id string) (*api.Session, error) {
	s, err := h.find(id)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	snapshot := s.snapshot
	return &snapshot, nil
}

func (h *directHub) Stop(_ context.Context, _ hub.Actor, id string, in api.Stop) (*api.Session, error) {
	s, err := h.find(id)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stops = append(h.stops, in)
	if h.stopErr != nil {
		if err := h.stopErr(in); err != nil {
			return nil, err
		}
	}
	s.snapshot.State, s.snapshot.LastEventID = api.StateEnded, "e:99"
	snapshot := s.snapshot
	return &snapshot, nil
}

func (h *directHub) Join(_ context.Context, id string) (Driver, error) { return h.find(id) }

func (h *directHub) Follow(_ context.Context, id string, o hub.FollowOptions) (Cursor, error) {
	s, err := h.find(id)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.after = o.After
	return &directCursor{s: s}, nil
}

func (s *directSession) Submit(ctx context.Context, by hub.Actor, line []byte, may hub.May) ([]byte, error) {
	s.mu.Lock()
	s.submitted = append(s.submitted, string(line))
	s.wakeLocked()
	submit := s.submit
	s.mu.Unlock()
	return submit(ctx, by, line, may)
}

func (s *directSession) Registered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.registered
}

func (s *directSession) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.left:
	default:
		close(s.left)
	}
}

// began returns where the last follower began.
func (s *directSession) began() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.after
}

func (s *directSession) wakeLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// happen has frames follow.
func (s *directSession) happen(frames ...api.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, frames...)
	s.wakeLocked()
}

// fail ends the cursor.
func (s *directSession) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
	s.wakeLocked()
}

// await waits until something holds of what was submitted.
func (s *directSession) await(t *testing.T, what string, want func(lines []string) bool) {
	t.Helper()
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		ok, changed, got := want(s.submitted), s.changed, strings.Join(s.submitted, "\n")
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
		err, changed := c.s.err, c.s.changed
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

// A directRig is a server over a fake hub, on loopback.
type directRig struct {
	t      *testing.T
	hub    *directHub
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
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &directRig{t: t, hub: newDirectHub(), dir: dir, log: &lockedBuffer{}}
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
	r.server = New(r.hub, r.guard, &o)
	r.http = httptest.NewUnstartedServer(r.guard.Checked(r.server.Direct()))
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
	conn, response, err := websocket.Dial(ctx, r.http.URL+"/sessions/"+id+"/ws", options)
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

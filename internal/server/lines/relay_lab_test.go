package lines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 4 * time.Minute

// Tokens of the tests, each with the rights that its name says.
const (
	adminToken   = "sb_admin_0123456789012345678901234567890123456789"
	promptToken  = "sb_prompt_0123456789012345678901234567890123456789"
	observeToken = "sb_observe_0123456789012345678901234567890123456789"
	blindToken   = "sb_blind_0123456789012345678901234567890123456789"
	wrongToken   = "sb_wrong_0123456789012345678901234567890123456789"
)

func newGuard(t testing.TB, open access.OpenRelay) *access.Guard {
	t.Helper()
	var tokens []access.Token
	for text, scopes := range map[string]access.Scopes{
		adminToken:   access.AllScopes(),
		promptToken:  access.ScopesOf(wire.ScopeObserve, wire.ScopePrompt),
		observeToken: access.ScopesOf(wire.ScopeObserve),
		blindToken:   access.ScopesOf(wire.ScopePrompt),
	} {
		token, err := access.ParseToken(text, "ada", scopes)
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token)
	}
	return access.New(&access.Options{Tokens: tokens, OpenRelay: open})
}

// A submission is a line that was given to a fakeHub.
type submission struct {
	by      hub.Actor
	session string
	line    string
}

// A fakeHub shows what a test publishes, and takes lines.
type fakeHub struct {
	Hub // the rest is not for this dialect

	mu       sync.Mutex
	changed  chan struct{} // closed at the next change
	frames   []api.Frame
	sessions []*api.Session
	names    map[string]string   // conversations to sessions
	asked    map[string][]string // request ids to sessions
	lines    []submission
	// submit is what becomes of a line; nil takes all.
	submit func(ctx context.Context, v submission) ([]byte, error)
	follow hub.FollowOptions // of the last cursor
	open   int               // cursors
	all    []*fakeCursor     // that have ever been
}

func newFakeHub(sessions ...*api.Session) *fakeHub {
	return &fakeHub{changed: make(chan struct{}), sessions: sessions, names: map[string]string{}, asked: map[string][]string{}}
}

func (h *fakeHub) update(f func()) {
	h.mu.Lock()
	f()
	close(h.changed)
	h.changed = make(chan struct{})
	h.mu.Unlock()
}

// await waits until ok, which is called with mu held.
func (h *fakeHub) await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		h.mu.Lock()
		done, changed := ok(), h.changed
		h.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-limit.C:
			t.Fatalf("waiting for %s", what)
		}
	}
}

// publish shows events.
func (h *fakeHub) publish(events ...*api.Event) {
	h.update(func() {
		for _, e := range events {
			f := api.Frame{Type: api.FrameEvent, Event: e}
			if e.Kind == api.KindLive {
				f.Type = api.FrameLive
			} else {
				e.Seq = int64(len(h.frames) + 1)
				e.ID = fmt.Sprintf("e:%d", e.Seq)
				f.Position = fmt.Sprintf("g:%d", e.Seq)
			}
			h.frames = append(h.frames, f)
		}
	})
}

func (h *fakeHub) publishFrame(f api.Frame) { h.update(func() { h.frames = append(h.frames, f) }) }

func (h *fakeHub) Follow(_ context.Context, session string, o hub.FollowOptions) (Cursor, error) {
	return h.cursor(session, o), nil
}

func (h *fakeHub) FollowAll(_ context.Context, o hub.FollowOptions) (Cursor, error) {
	return h.cursor("", o), nil
}

func (h *fakeHub) cursor(session string, o hub.FollowOptions) Cursor {
	c := &fakeCursor{hub: h, session: session}
	h.update(func() {
		h.follow = o
		h.open++
		h.all = append(h.all, c)
		if o.After == "now" {
			c.at = len(h.frames)
		} else {
			c.at = int(numberOf(o.After))
		}
	})
	return c
}

type fakeCursor struct {
	hub     *fakeHub
	session string
	at      int
	begun   bool
}

func (c *fakeCursor) Next(ctx context.Context) ([]api.Frame, error) {
	h := c.hub
	for {
		h.mu.Lock()
		changed := h.changed
		if !c.begun {
			c.begun = true
			v := api.Verdict{Resume: "ok", LastEventID: fmt.Sprintf("e:%d", len(h.frames))}
			h.mu.Unlock()
			return []api.Frame{{Type: api.FrameResume, Resume: &v}}, nil
		}
		frames := c.collect()
		h.mu.Unlock()
		if len(frames) > 0 {
			return frames, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// collect returns what the cursor has not given yet. The hub's mu is held.
func (c *fakeCursor) collect() (frames []api.Frame) {
	for ; c.at < len(c.hub.frames); c.at++ {
		if f := c.hub.frames[c.at]; c.session == "" || f.Event == nil || f.Event.Session == c.session {
			frames = append(frames, f)
		}
	}
	return frames
}

func (c *fakeCursor) Close() { c.hub.update(func() { c.hub.open-- }) }

func (h *fakeHub) List(_ context.Context, f api.SessionFilter) (*api.SessionList, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := &api.SessionList{}
	for _, s := range h.sessions {
		if slices.Contains(f.State, s.State) {
			list.Sessions = append(list.Sessions, api.SessionSummary{ID: s.ID, State: s.State})
		}
	}
	return list, nil
}

func (h *fakeHub) Snapshot(_ context.Context, id string) (*api.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		if s.ID == id {
			return s, nil
		}
	}
	return nil, api.Errorf(http.StatusNotFound, api.CodeNotFound, "there is no session %q", id)
}

func (h *fakeHub) Resolve(ctx context.Context, id string) (string, error) {
	h.mu.Lock()
	name := h.names[id]
	h.mu.Unlock()
	if name != "" {
		return name, nil
	}
	s, err := h.Snapshot(ctx, id)
	if err != nil {
		return "", err
	}
	return s.ID, nil
}

func (h *fakeHub) Asked(_ context.Context, requestID string) ([]string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked[requestID], nil
}

func (h *fakeHub) Submit(ctx context.Context, by hub.Actor, session string, line []byte, _ hub.May) ([]byte, error) {
	v := submission{by, session, string(line)}
	h.mu.Lock()
	submit := h.submit
	h.mu.Unlock()
	h.update(func() { h.lines = append(h.lines, v) })
	if submit == nil {
		return nil, nil
	}
	return submit(ctx, v)
}

// idle returns a session that waits for a prompt.
func idle(id string) *api.Session {
	return &api.Session{ID: id, State: api.StateIdle, Run: 1, Linked: true, Conversation: "c-" + id, Init: json.RawMessage(`{"type":"system","subtype":"init","session_id":"c-` + id + `"}`)}
}

// line returns an event with a line of a CLI.
func line(session, text string) *api.Event {
	return &api.Event{Session: session, Run: 1, Kind: api.KindLine, Line: json.RawMessage(text)}
}

func liveLine(session, text string) *api.Event {
	return &api.Event{Session: session, Run: 1, Kind: api.KindLive, Line: json.RawMessage(text)}
}

func happened(session, kind, data string) *api.Event {
	return &api.Event{Session: session, Run: 1, Kind: kind, Data: json.RawMessage(data)}
}

// A rig is a relay on loopback.
type rig struct {
	hub    Hub
	fake   *fakeHub // nil if it is a real one
	relay  *Server
	addr   string
	server *http.Server
}

func newRig(t testing.TB, h Hub, o *Options, change ...func(*rigOptions)) *rig {
	t.Helper()
	var options rigOptions
	for _, c := range change {
		c(&options)
	}
	if options.guard == nil {
		options.guard = newGuard(t, access.OpenRelay{})
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{hub: h, addr: listener.Addr().String(), relay: New(h, options.guard, o)}
	r.fake, _ = h.(*fakeHub)
	mux := http.NewServeMux()
	mux.Handle("/ws", options.guard.Admitted(r.relay.Relay()))
	r.server = &http.Server{Handler: options.guard.Checked(mux), ConnContext: options.guard.ConnContext, ReadHeaderTimeout: time.Minute}
	var done sync.WaitGroup
	done.Go(func() { _ = r.server.Serve(listener) })
	t.Cleanup(func() {
		r.close(t, "the test is over")
		_ = r.server.Close()
		done.Wait()
		if n := r.relay.Open(); n != 0 {
			t.Errorf("%d front ends are left", n)
		}
		if r.fake != nil && r.fake.open != 0 {
			t.Errorf("%d cursors are left", r.fake.open)
		}
	})
	return r
}

// close closes the relay, and waits for it.
func (r *rig) close(t testing.TB, reason string) {
	t.Helper()
	r.relay.Close(reason)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.relay.Wait(ctx); err != nil {
		t.Error(err)
	}
}

type rigOptions struct {
	guard *access.Guard
}

// A client is a front end.
type client struct {
	t      testing.TB
	ws     *websocket.Conn
	ctx    context.Context
	header http.Header
}

// dial connects as admin.
func (r *rig) dial(t testing.TB, query string) *client {
	t.Helper()
	return r.dialAs(t, query, http.Header{"Authorization": {"Bearer " + adminToken}})
}

func (r *rig) dialAs(t testing.TB, query string, header http.Header, protocols ...string) *client {
	t.Helper()
	return r.dialWith(t, query, &websocket.DialOptions{HTTPHeader: header, Subprotocols: protocols})
}

// dialNarrow connects as admin. Little fits into the connection that is not read.
func (r *rig) dialNarrow(t testing.TB, query string) *client {
	t.Helper()
	narrow := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if tcp, ok := conn.(*net.TCPConn); ok {
			err = tcp.SetReadBuffer(64 << 10)
		}
		return conn, err
	}}}
	return r.dialWith(t, query, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + adminToken}}, HTTPClient: narrow})
}

func (r *rig) dialWith(t testing.TB, query string, o *websocket.DialOptions) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	ws, answer, err := r.open(ctx, query, o)
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(1 << 30)
	t.Cleanup(func() { _ = ws.CloseNow() })
	return &client{t: t, ws: ws, ctx: ctx, header: answer.header}
}

// An opening is what the server answers to somebody who wants to connect.
type opening struct {
	status int
	header http.Header
}

// open connects.
func (r *rig) open(ctx context.Context, query string, o *websocket.DialOptions) (*websocket.Conn, opening, error) {
	ws, answer, err := websocket.Dial(ctx, "ws://"+r.addr+"/ws"+query, o) //nolint:bodyclose // the library does that
	if answer == nil {
		return ws, opening{}, err
	}
	return ws, opening{answer.StatusCode, answer.Header}, err
}

// next returns the next line: a message is one line with its end.
func (c *client) next() string {
	c.t.Helper()
	kind, b, err := c.ws.Read(c.ctx)
	if err != nil {
		c.t.Fatalf("reading: %v", err)
	}
	text, ok := strings.CutSuffix(string(b), "\n")
	if kind != websocket.MessageText || !ok || strings.Contains(text, "\n") {
		c.t.Fatalf("a message is not one line: %.200q", b)
	}
	return text
}

// expect reads lines and compares them.
func (c *client) expect(want ...string) {
	c.t.Helper()
	for i, w := range want {
		if got := c.next(); got != w {
			c.t.Fatalf("line %d:\n got %.500s\nwant %.500s", i, got, w)
		}
	}
}

// say sends a message.
func (c *client) say(text string) {
	c.t.Helper()
	if err := c.ws.Write(c.ctx, websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// refused reads a refusal.
func (c *client) refused() status {
	c.t.Helper()
	text := c.next()
	var s status
	if err := json.Unmarshal([]byte(text), &s); err != nil || s.Type != "status" || s.Subtype != subtypeRefused || s.Text == "" || s.Code == "" {
		c.t.Fatalf("expected a refusal, got %s", text)
	}
	return s
}

// end reads until the connection ends, and returns how, and the lines before.
func (c *client) end() (lines []string, closed websocket.CloseError) {
	c.t.Helper()
	for {
		_, b, err := c.ws.Read(c.ctx)
		if err != nil {
			closed.Code = websocket.CloseStatus(err)
			if e, ok := errorsAsClose(err); ok {
				closed = e
			}
			return lines, closed
		}
		lines = append(lines, strings.TrimSuffix(string(b), "\n"))
	}
}

// connected is the greeting of an idle session.
func connected(id string) []string {
	return []string{`{"type":"status","text":"claude code is connected"}`, string(idle(id).Init)}
}

func errorsAsClose(err error) (websocket.CloseError, bool) {
	return errors.AsType[websocket.CloseError](err)
}

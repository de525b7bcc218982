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
	"github.com/switchboard-dev/switchboard/internal/broadcast"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
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

// A submission is a line that was given to a stage.
type submission struct {
	by      hub.Actor
	session string
	line    string
}

// A stage is a hub with sessions of which the test says what is shown of them and what
// becomes of lines: it stands between the relay and the hub, see staged. Sessions have
// names of the test.
type stage struct {
	lab    *servertest.Lab
	agents map[string]*servertest.Agent // by name

	mu      sync.Mutex
	changed broadcast.Broadcast
	frames  []api.Frame
	lines   []submission
	// submit is what becomes of a line; nil takes all.
	submit func(ctx context.Context, v submission) ([]byte, error)
	// follow replaces the cursors of the stage, if it is not nil.
	follow func(Cursor) (Cursor, error)
	// greeting is called before a client is greeted; it may be nil.
	greeting func()
	open     int           // cursors
	all      []*fakeCursor // that have ever been
}

// newStage makes a stage with sessions.
func newStage(t testing.TB, sessions ...func(*stage)) *stage {
	t.Helper()
	h := &stage{lab: servertest.New(t, nil), agents: map[string]*servertest.Agent{}}
	for _, s := range sessions {
		s(h)
	}
	return h
}

// idle makes a session that waits for a prompt.
func idle(name string) func(*stage) {
	return func(h *stage) {
		a := h.lab.Dial(api.CreateSession{})
		a.Say(initOf(name))
		h.agents[name] = a
	}
}

// asksFor makes a session that asks.
func asksFor(name string, requests ...string) func(*stage) {
	return func(h *stage) {
		idle(name)(h)
		h.agents[name].Say(requests...)
	}
}

// ended makes a session without a process.
func ended(name string) func(*stage) {
	return func(h *stage) {
		a := h.lab.Create(api.CreateSession{})
		if _, err := h.lab.Hub.Stop(context.Background(), servertest.Admin, a.Session, api.Stop{}); err != nil {
			panic(err)
		}
		h.agents[name] = a
	}
}

// initOf is what a CLI says first.
func initOf(name string) string {
	return `{"type":"system","subtype":"init","session_id":"c-` + name + `","uuid":"u","cwd":"/w","model":"m","permissionMode":"default","claude_code_version":"2.1.325","tools":[]}`
}

// id returns the id of a session, or what has none.
func (h *stage) id(name string) string {
	if a := h.agents[name]; a != nil {
		return a.Session
	}
	return name
}

// named is the other way around.
func (h *stage) named(id string) string {
	for name, a := range h.agents {
		if a.Session == id {
			return name
		}
	}
	return id
}

func (h *stage) update(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
	h.changed.Notify()
}

// await waits until ok, which is called with mu held.
func (h *stage) await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		h.mu.Lock()
		done, changed := ok(), h.changed.Changed()
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
func (h *stage) publish(events ...*api.Event) {
	h.update(func() {
		for _, e := range events {
			e.Session = h.id(e.Session)
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

func (h *stage) publishFrame(f api.Frame) {
	if f.Partial != nil {
		f.Partial.Session = h.id(f.Partial.Session)
	}
	h.update(func() { h.frames = append(h.frames, f) })
}

// take takes a line.
func (h *stage) take(ctx context.Context, by hub.Actor, session string, line []byte) ([]byte, error) {
	v := submission{by, h.named(session), string(line)}
	h.mu.Lock()
	submit := h.submit
	h.mu.Unlock()
	h.update(func() { h.lines = append(h.lines, v) })
	if submit == nil {
		return nil, nil
	}
	return submit(ctx, v)
}

// A staged is a relay that shows what is on a stage, and gives it what clients say. All
// else is the hub's.
type staged struct {
	*relay

	stage *stage
}

func (d *staged) follow(ctx context.Context) (Cursor, error) {
	of, err := d.relay.follow(ctx)
	if err != nil {
		return nil, err
	}
	of.Close()
	h := d.stage
	c := &fakeCursor{hub: h, session: d.session}
	h.update(func() {
		h.open++
		h.all = append(h.all, c)
		c.at = len(h.frames)
		if d.resumes {
			c.at = int(numberOf(d.after))
		}
	})
	if h.follow != nil {
		return h.follow(c)
	}
	return c, nil
}

func (d *staged) greet(ctx context.Context, to sink, flush func() error) error {
	if d.stage.greeting != nil {
		d.stage.greeting()
	}
	return d.relay.greet(ctx, to, flush)
}

func (d *staged) submit(ctx context.Context, l *said) ([]byte, error) {
	session, err := d.route(ctx, l)
	if err != nil {
		return nil, err
	}
	l.session = session
	return d.stage.take(ctx, d.by, session, l.line)
}

// handler serves the relay on the stage to those that are known. The others are served as
// ever.
func (h *stage) handler(s *Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			s.Relay().ServeHTTP(w, r)
			return
		}
		if front := s.newRelay(w, r); front != nil {
			front.dialect = &staged{front, h}
			s.accept(w, r, front.conn)
		}
	})
}

// A fakeCursor shows what is on a stage.
type fakeCursor struct {
	hub     *stage
	session string
	at      int
	begun   bool
}

func (c *fakeCursor) Next(ctx context.Context) ([]api.Frame, error) {
	h := c.hub
	for {
		h.mu.Lock()
		if !c.begun {
			c.begun = true
			v := api.Verdict{Resume: "ok", LastEventID: fmt.Sprintf("e:%d", len(h.frames))}
			h.mu.Unlock()
			return []api.Frame{{Type: api.FrameResume, Resume: &v}}, nil
		}
		frames, changed := c.collect(), h.changed.Changed()
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

// collect returns what the cursor has not given yet. The stage's mu is held.
func (c *fakeCursor) collect() (frames []api.Frame) {
	for ; c.at < len(c.hub.frames); c.at++ {
		if f := c.hub.frames[c.at]; c.session == "" || f.Event == nil || f.Event.Session == c.session {
			frames = append(frames, f)
		}
	}
	return frames
}

func (c *fakeCursor) Close() { c.hub.update(func() { c.hub.open-- }) }

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
	stage  *stage // nil if it is that of the hub
	relay  *Server
	addr   string
	server *http.Server
}

// newRig serves the relay on a stage.
func newRig(t testing.TB, h *stage, o *Options, change ...func(*rigOptions)) *rig {
	t.Helper()
	return serveRelay(t, h.lab.Hub, h, o, change...)
}

// serveRelay serves the relay: on a stage if that is not nil.
func serveRelay(t testing.TB, h *hub.Hub, on *stage, o *Options, change ...func(*rigOptions)) *rig {
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
	r := &rig{stage: on, addr: listener.Addr().String(), relay: New(h, options.guard, o)}
	handler := r.relay.Relay()
	if on != nil {
		handler = on.handler(r.relay)
	}
	mux := http.NewServeMux()
	mux.Handle("/ws", options.guard.Admitted(handler))
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
		if on != nil && on.open != 0 {
			t.Errorf("%d cursors are left", on.open)
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
	if name, found := strings.CutPrefix(query, "?session="); found && r.stage != nil {
		name, rest, _ := strings.Cut(name, "&")
		query = "?session=" + r.stage.id(name) + "&" + rest
	}
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
func connected(name string) []string { return []string{labeled(name, saysIsConnected), initOf(name)} }

// labeled is a line with the conversation of a session.
func labeled(name, line string) string {
	return strings.TrimSuffix(line, "}") + `,"session_id":"c-` + name + `"}`
}

// turned is the line before the first of another session.
func turned(name string) string { return `{"type":"init","session_id":"c-` + name + `"}` }

// greeted reads the greetings of sessions, in any order, and what they ask. It returns
// the session that was the first.
func (c *client) greeted(asked []string, names ...string) (first string) {
	c.t.Helper()
	want := slices.Clone(asked)
	for _, name := range names {
		want = append(want, connected(name)...)
	}
	got := []string{c.next()}
	for _, name := range names {
		if got[0] == labeled(name, saysIsConnected) {
			first = name
		}
	}
	for range names[1:] {
		want = append(want, turned(first))
	}
	for range want[1:] {
		got = append(got, c.next())
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		c.t.Fatalf("greeted with %q", got)
	}
	return first
}

func errorsAsClose(err error) (websocket.CloseError, bool) {
	return errors.AsType[websocket.CloseError](err)
}

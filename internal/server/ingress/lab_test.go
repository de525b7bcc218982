package ingress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// A fakeHub takes what the ingress brings and lets a test look at it. It keeps
// durable items as a journal would: each number once.
type fakeHub struct {
	mu      sync.Mutex
	changed chan struct{} // closed at the next change

	several bool  // links do not replace each other
	refuse  error // what Attach and AttachDialled say
	next    int64
	hellos  []hub.Hello
	dials   []hub.DialHello
	grants  []hub.DialRequest
	grant   func(hub.DialRequest) (hub.DialGrant, error)
	links   []*fakeRunLink // the last one counts
	early   []link.Order   // sent before Attach returns
	gate    chan struct{}  // Receive waits for it to be closed, if it is not nil
	entered int            // how many calls of Receive there have been
	items   []hub.Item     // all durable ones
	live    []hub.Item
	batches []int    // items per Receive
	calls   []string // all others
	fail    error    // what the next Receive says
	// failCall is what the next of all other calls says.
	failCall error
}

// A fakeRunLink is a link to a fakeHub.
type fakeRunLink struct {
	hub    *fakeHub
	sender hub.LinkSender
	lost   error
	over   bool

	ctx    context.Context // ends with Lost
	cancel context.CancelFunc
}

func newFakeRunLink(h *fakeHub, out hub.LinkSender) *fakeRunLink {
	l := &fakeRunLink{hub: h, sender: out}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

func newFakeHub() *fakeHub { return &fakeHub{changed: make(chan struct{})} }

func (h *fakeHub) update(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
	close(h.changed)
	h.changed = make(chan struct{})
}

// await waits until ok, which is called with mu held.
func (h *fakeHub) await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit := time.NewTimer(30 * time.Second)
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
			h.mu.Lock()
			defer h.mu.Unlock()
			t.Fatalf("waiting for %s: %d items, %d live, calls %q", what, len(h.items), len(h.live), h.calls)
		}
	}
}

func (h *fakeHub) have() int64 {
	have := int64(0)
	for _, it := range h.items {
		have = max(have, it.Number)
	}
	return have
}

func (h *fakeHub) last() *fakeRunLink {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.links[len(h.links)-1]
}

func (h *fakeHub) attach(out hub.LinkSender) (runLink, link.Welcome, error) {
	if h.refuse != nil {
		return nil, link.Welcome{}, h.refuse
	}
	for _, old := range h.links {
		if !old.over && !h.several {
			old.over = true
			old.sender.Close("replaced")
		}
	}
	a := newFakeRunLink(h, out)
	h.links = append(h.links, a)
	if h.early != nil {
		out.Send(h.early)
	}
	return a, link.Welcome{Epoch: "e", Have: h.have(), Next: h.next + 1}, nil
}

func (h *fakeHub) Attach(_ context.Context, hello hub.Hello, out hub.LinkSender) (l runLink, welcome link.Welcome, err error) {
	h.update(func() {
		h.hellos = append(h.hellos, hello)
		l, welcome, err = h.attach(out)
	})
	return l, welcome, err
}

func (h *fakeHub) AttachDialled(_ context.Context, hello hub.DialHello, out hub.LinkSender) (l runLink, welcome link.Welcome, err error) {
	h.update(func() {
		h.dials = append(h.dials, hello)
		l, welcome, err = h.attach(out)
	})
	return l, welcome, err
}

func (h *fakeHub) DialGrant(_ context.Context, r hub.DialRequest) (g hub.DialGrant, err error) {
	h.update(func() { h.grants = append(h.grants, r) })
	if h.grant == nil {
		return hub.DialGrant{}, hub.ErrCredential
	}
	return h.grant(r)
}

func (l *fakeRunLink) Session() string { return "s1" }
func (l *fakeRunLink) Run() int        { return 1 }

func (l *fakeRunLink) Deliver(items []hub.Item, done func(error)) {
	go func() { done(l.Receive(l.ctx, items)) }()
}

func (l *fakeRunLink) Receive(ctx context.Context, items []hub.Item) error {
	h := l.hub
	var gate chan struct{}
	h.update(func() {
		h.entered++
		gate = h.gate
	})
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	var err error
	h.update(func() {
		if l.over {
			err = errors.New("replaced")
			return
		}
		if err = h.fail; err != nil {
			h.fail = nil
			return
		}
		h.batches = append(h.batches, len(items))
		for _, it := range items {
			switch {
			case it.Kind == link.Live:
				h.live = append(h.live, it)
			case it.Number == 0 || it.Number > h.have():
				h.items = append(h.items, it)
			}
		}
	})
	if err == nil {
		l.sender.Ack(func() int64 { h.mu.Lock(); defer h.mu.Unlock(); return h.have() }())
	}
	return err
}

func (l *fakeRunLink) call(s string) (err error) {
	l.hub.update(func() {
		if err = l.hub.failCall; err != nil {
			l.hub.failCall = nil
			return
		}
		l.hub.calls = append(l.hub.calls, s)
	})
	return err
}

// A pipeListener accepts connections in memory, so that a test can run in a
// bubble of package synctest.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serve serves h in memory and returns a client for it.
func serve(t *testing.T, h http.Handler) *http.Client {
	t.Helper()
	l := newPipeListener()
	server := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return &http.Client{Transport: &http.Transport{DialContext: l.dial, DisableKeepAlives: true}}
}

// A linkLab is a Link with a fake hub.
type linkLab struct {
	hub    *fakeHub
	link   *Link
	client *http.Client
}

func newLinkLab(t *testing.T) *linkLab {
	t.Helper()
	lab := &linkLab{hub: newFakeHub()}
	lab.link = newLink(lab.hub, nil)
	lab.client = serve(t, lab.link)
	t.Cleanup(func() { _ = lab.link.Close() })
	return lab
}

// A testShim is a shim's end of a link.
type testShim struct {
	t  *testing.T
	ws *websocket.Conn
}

// dial connects to the lab, without a hello.
func (lab *linkLab) dial(t *testing.T, token string) *testShim {
	t.Helper()
	header := http.Header{}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	ws, response, err := websocket.Dial(t.Context(), "ws://switchboard"+link.Path, &websocket.DialOptions{
		HTTPClient: lab.client, HTTPHeader: header, Subprotocols: []string{link.Subprotocol}, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		t.Fatalf("dialling: %v", err)
	}
	if response.Body != nil {
		_ = response.Body.Close()
	}
	ws.SetReadLimit(link.MaxFrame)
	t.Cleanup(func() { _ = ws.CloseNow() })
	return &testShim{t, ws}
}

// open connects and says hello, and returns the welcome.
func (lab *linkLab) open(t *testing.T, hello link.Hello) (*testShim, *link.Welcome) {
	t.Helper()
	s := lab.dial(t, "secret")
	s.say(&hello, hello.Version)
	m := s.message()
	welcome, ok := m.(*link.Welcome)
	if !ok {
		t.Fatalf("after hello comes %T, want a welcome", m)
	}
	return s, welcome
}

func hello() link.Hello {
	return link.Hello{Version: link.Version, Session: "s1", Run: 1, Instance: "i", Next: 1, Oldest: 1, PID: 7, PIDStart: "8"}
}

func (s *testShim) say(m link.Message, version int) {
	s.t.Helper()
	if err := s.ws.Write(s.t.Context(), websocket.MessageText, link.AppendMessage(nil, m, version)); err != nil {
		s.t.Fatalf("saying %T: %v", m, err)
	}
}

func (s *testShim) send(records ...link.Record) {
	s.t.Helper()
	for frame := range link.Frames(slices.Values(records)) {
		if err := s.ws.Write(s.t.Context(), websocket.MessageBinary, frame); err != nil {
			s.t.Fatalf("sending: %v", err)
		}
	}
}

// message reads the next text frame.
func (s *testShim) message() link.Message {
	s.t.Helper()
	kind, frame := s.frame()
	if kind != websocket.MessageText {
		s.t.Fatalf("lines come, want a message")
	}
	m, err := link.ParseMessage(frame)
	if err != nil {
		s.t.Fatalf("reading a message: %v", err)
	}
	return m
}

func (s *testShim) frame() (websocket.MessageType, []byte) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	kind, frame, err := s.ws.Read(ctx)
	if err != nil {
		s.t.Fatalf("reading a frame: %v", err)
	}
	return kind, frame
}

// commands reads n commands.
func (s *testShim) commands(n int) (records []link.Record) {
	s.t.Helper()
	var d link.Decoder
	for len(records) < n {
		kind, frame := s.frame()
		if kind != websocket.MessageBinary {
			s.t.Fatalf("the message %s comes, want commands", frame)
		}
		d.Push(frame)
		for {
			r, ok, err := d.Next()
			if err != nil {
				s.t.Fatal(err)
			}
			if !ok {
				break
			}
			records = append(records, r)
		}
	}
	return records
}

// awaitAck reads messages until an acknowledgement reaches a number.
func (s *testShim) awaitAck(have int64) {
	s.t.Helper()
	for {
		if ack, ok := s.message().(*link.Ack); ok && ack.Have >= have {
			return
		}
	}
}

// ended waits for the end of the connection and returns how it ended.
func (s *testShim) ended() error {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	for {
		if _, _, err := s.ws.Read(ctx); err != nil {
			if ctx.Err() != nil {
				s.t.Fatal("the connection does not end")
			}
			return err
		}
	}
}

func line(n int64, s string) link.Record {
	return link.Record{Kind: link.Line, Number: n, Bytes: []byte(s)}
}

func (l *fakeRunLink) Lost(cause error) {
	l.cancel()
	l.hub.update(func() { l.over, l.lost = true, cause })
}

func (l *fakeRunLink) Written(_ context.Context, upTo int64) error {
	return l.call(fmt.Sprint("written ", upTo))
}

func (l *fakeRunLink) Failed(_ context.Context, number int64, reason string) error {
	return l.call(fmt.Sprint("failed ", number, " ", reason))
}

func (l *fakeRunLink) Doubtful(_ context.Context, number int64, _ string) error {
	return l.call(fmt.Sprint("doubtful ", number))
}

func (l *fakeRunLink) Connected(_ context.Context, again bool) error {
	return l.call(fmt.Sprint("connected ", again))
}

func (l *fakeRunLink) Disconnected(context.Context, error) error { return l.call("disconnected") }
func (l *fakeRunLink) Posting(context.Context) error             { return l.call("posting") }
func (l *fakeRunLink) Recover(context.Context) error             { return l.call("recover") }
func (l *fakeRunLink) Ended(context.Context, string) error       { return l.call("ended") }
func (l *fakeRunLink) Notice(context.Context, api.Notice) error  { return l.call("notice") }

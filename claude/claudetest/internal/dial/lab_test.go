package dial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/wire"
)

var (
	v37  = wire.Version{Major: 2, Minor: 1, Patch: 37}
	v120 = wire.Version{Major: 2, Minor: 1, Patch: 120}
)

// memory is a network in memory, so that tests can run on synctest's clock.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once

	mu      sync.Mutex
	refuses bool
}

func newMemory() *memory {
	return &memory{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// refuse makes the port look closed, or open again.
func (m *memory) refuse(refuses bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuses = refuses
}

func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	m.mu.Lock()
	refuses := m.refuses
	m.mu.Unlock()
	if refuses {
		return nil, errors.New("connection refused")
	}
	near, far := net.Pipe()
	select {
	case m.conns <- far:
		return near, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A post is a POST that waits for its answer.
type post struct {
	at     time.Duration // since the lab began
	header http.Header
	path   string
	lines  []string
	answer chan int // a status; 0 cuts the connection
}

// A socket is the server's end of a WebSocket.
type socket struct {
	*websocket.Conn
	lab    *lab
	header http.Header
	path   string
	in     chan string // frames
	end    chan error
}

// lab is a server that a link dials.
type lab struct {
	t       *testing.T
	net     *memory
	began   time.Time
	sockets chan *socket
	posts   chan *post

	// upgrade decides what becomes of the n-th attempt: 101, another status, or 0 to cut the connection. nil means 101.
	upgrade func(n int) int
	// mute makes the server answer no ping, deaf makes it read nothing at all.
	mute, deaf atomic.Bool
	// status answers POSTs by itself; if it is nil, they wait in posts.
	status func(p *post) int

	mu       sync.Mutex
	attempts []time.Duration // guarded by mu
	events   []Event         // guarded by mu
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{t: t, net: newMemory(), began: time.Now(), sockets: make(chan *socket, 100), posts: make(chan *post, 1000)}
	server := &http.Server{Handler: l}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l.net) })
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return l
}

func (l *lab) clock() time.Duration { return time.Since(l.began) }

func (l *lab) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") == "" {
		l.servePost(w, r)
		return
	}
	l.mu.Lock()
	l.attempts = append(l.attempts, l.clock())
	n := len(l.attempts)
	l.mu.Unlock()
	status := http.StatusSwitchingProtocols
	if l.upgrade != nil {
		status = l.upgrade(n)
	}
	switch status {
	case http.StatusSwitchingProtocols:
	case 0:
		panic(http.ErrAbortHandler)
	default:
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		return
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		CompressionMode: websocket.CompressionContextTakeover,
		OnPingReceived:  func(context.Context, []byte) bool { return !l.mute.Load() },
	})
	if err != nil {
		l.t.Errorf("accepting: %v", err)
		return
	}
	ws.SetReadLimit(-1)
	s := &socket{Conn: ws, lab: l, header: r.Header, path: r.URL.Path, in: make(chan string, 10000), end: make(chan error, 1)}
	l.sockets <- s
	if l.deaf.Load() {
		return
	}
	for {
		_, frame, err := ws.Read(context.Background())
		if err != nil {
			s.end <- err
			close(s.in)
			return
		}
		s.in <- string(frame)
	}
}

func (l *lab) servePost(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // cut
	}
	p := &post{at: l.clock(), header: r.Header, path: r.URL.RequestURI(), answer: make(chan int, 1)}
	var events struct{ Events []json.RawMessage }
	if err := json.Unmarshal(body, &events); err != nil {
		l.t.Errorf("the body of a POST is %.200q: %v", body, err)
	}
	for _, e := range events.Events {
		p.lines = append(p.lines, string(e))
	}
	if l.status != nil {
		p.answer <- l.status(p)
	}
	l.posts <- p
	select {
	case status := <-p.answer:
		if status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
	case <-r.Context().Done():
	}
}

// link dials the lab.
func (l *lab) link(p Policy, change ...func(*Options)) *Link {
	l.t.Helper()
	return l.linkUntil(l.t.Context(), p, change...)
}

func (l *lab) linkUntil(ctx context.Context, p Policy, change ...func(*Options)) *Link {
	l.t.Helper()
	o := Options{
		URL: "ws://hub.test/ws/x", Policy: p, DialContext: l.net.dial, Token: func() string { return "secret" },
		OnEvent: func(e Event) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.events = append(l.events, e)
		},
	}
	for _, c := range change {
		c(&o)
	}
	k, err := Dial(ctx, o)
	if err != nil {
		l.t.Fatalf("dialling: %v", err)
	}
	l.t.Cleanup(func() { _ = k.Close() })
	return k
}

func hybrid(o *Options) { o.Post = true }

// accept returns the next WebSocket. It is for tests on synctest's clock.
func (l *lab) accept() *socket {
	l.t.Helper()
	select {
	case s := <-l.sockets:
		synctest.Wait() // until the link knows it too: what it writes before that does not reach this connection
		return s
	case <-time.After(time.Hour):
		l.t.Fatal("nobody connects")
		return nil
	}
}

// posted returns the next POST.
func (l *lab) posted() *post {
	l.t.Helper()
	select {
	case p := <-l.posts:
		return p
	case <-time.After(time.Hour):
		l.t.Fatal("nothing is posted")
		return nil
	}
}

// told returns the events so far as words, and forgets them.
func (l *lab) told() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var words []string
	for _, e := range l.events {
		word := string(e.Kind)
		if e.Status != 0 {
			word += fmt.Sprint(":", e.Status)
		}
		if e.Code != 0 {
			word += fmt.Sprint("#", e.Code)
		}
		if e.Lines != 0 {
			word += fmt.Sprint("*", e.Lines)
		}
		words = append(words, word)
	}
	l.events = nil
	return strings.Join(words, " ")
}

// tried returns when attempts were made.
func (l *lab) tried() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]time.Duration(nil), l.attempts...)
}

// expect compares the next frames.
func (s *socket) expect(lines ...string) {
	s.lab.t.Helper()
	for i, want := range lines {
		select {
		case got, open := <-s.in:
			if !open {
				s.lab.t.Fatalf("the connection ended before %q: %v", want, <-s.end)
			}
			if got != want+"\n" {
				s.lab.t.Fatalf("frame %d is %.200q, want %.200q", i+1, got, want+"\n")
			}
		case <-time.After(time.Hour):
			s.lab.t.Fatalf("no frame comes, want %q", want)
		}
	}
}

// send sends a text frame.
func (s *socket) send(frame string) {
	s.lab.t.Helper()
	if err := s.Write(s.lab.t.Context(), websocket.MessageText, []byte(frame)); err != nil {
		s.lab.t.Fatalf("sending %q: %v", frame, err)
	}
}

// drop cuts the connection.
func (s *socket) drop() { _ = s.CloseNow() }

// line returns a line of a type, with its uuid if that is not empty.
func line(kind, uuid string) string {
	if uuid == "" {
		return fmt.Sprintf(`{"type":%q}`, kind)
	}
	return fmt.Sprintf(`{"type":%q,"uuid":%q}`, kind, uuid)
}

// write writes lines of type assistant with these uuids.
func write(t *testing.T, k *Link, uuids ...string) {
	t.Helper()
	for _, uuid := range uuids {
		writeLine(t, k, line("assistant", uuid), uuid)
	}
}

func writeLine(t *testing.T, k *Link, text, uuid string) {
	t.Helper()
	if err := k.Write([]byte(text), uuid); err != nil {
		t.Fatalf("writing %q: %v", text, err)
	}
}

// ends waits for the end of the link and returns when it came.
func (l *lab) ends(k *Link) time.Duration {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Hour)
	defer cancel()
	if got, err := k.Read(ctx); !errors.Is(err, io.EOF) {
		l.t.Fatalf("read %q, %v; want io.EOF", got, err)
	}
	return l.clock()
}

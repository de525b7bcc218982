package wsconn

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/internal/server/access"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A halfPipe is a connection of which a write ends in the middle.
type halfPipe struct {
	net.Conn

	fails  bool
	closed bool
	times  int           // how often a write was given time
	takes  time.Duration // how long a write takes
	writes []int
}

func (p *halfPipe) Write(b []byte) (int, error) {
	switch {
	case p.closed:
		return 0, net.ErrClosed
	case p.fails:
		return len(b) / 2, errors.New("too slow")
	}
	time.Sleep(p.takes) // in a bubble
	p.writes = append(p.writes, len(b))
	return len(b), nil
}

func (p *halfPipe) Close() error {
	p.closed = true
	return nil
}

func (p *halfPipe) SetWriteDeadline(time.Time) error {
	p.times++
	return nil
}

// What comes after half a frame would be taken for its rest.
func TestNothingFollowsHalfAFrame(t *testing.T) {
	for name, write := range map[string]func(*Conn) error{
		"message":  func(s *Conn) error { return s.send([]byte("one")) },
		"long one": func(s *Conn) error { return s.send([]byte("one"), []byte("two")) },
		"ping":     (*Conn).Ping,
	} {
		p := &halfPipe{fails: true}
		s := &Conn{conn: p, out: p, stall: time.Millisecond}
		if write(s) == nil {
			t.Errorf("%s: half of it is all of it", name)
		}
		p.fails = false
		if s.send([]byte("more")) == nil {
			t.Errorf("%s: more was written", name)
		}
	}
}

// TestLongLineHasTime gives each part of a long line time of its own.
func TestLongLineHasTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &halfPipe{takes: time.Minute}
		s := &Conn{conn: p, out: p, stall: 2 * time.Minute}
		line := make([]byte, 5*piece/2)
		if err := s.send([]byte("head"), line, []byte{'\n'}); err != nil {
			t.Fatal(err)
		}
		written := 0
		for _, n := range p.writes {
			written += n
		}
		if written != len("head")+len(line)+1 || p.times < 3 {
			t.Errorf("%d bytes were written, with time given %d times", written, p.times)
		}
	})
}

// A pipe is a connection whose other end decides when something is read.
type pipe struct {
	net.Conn

	gate    chan struct{} // each write takes one from it
	mu      sync.Mutex
	written bytes.Buffer
	writes  int
}

func (p *pipe) Write(b []byte) (int, error) {
	<-p.gate
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writes++
	return p.written.Write(b)
}
func (*pipe) SetWriteDeadline(time.Time) error { return nil }
func (*pipe) SetReadDeadline(time.Time) error  { return nil }

func TestControlFramesDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipe{gate: make(chan struct{})}
		s := &Conn{conn: p, out: p}
		go func() { _ = s.send([]byte("one")) }()
		synctest.Wait() // it is stuck
		for range 10 * maxControl {
			if err := s.writeControl([]byte("p")); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.control) > maxControl {
			t.Errorf("%d bytes wait", len(s.control))
		}
		p.gate <- struct{}{}
		p.gate <- struct{}{}
		synctest.Wait()
		if got := p.written.String(); got != "one"+strings.Repeat("p", maxControl) {
			t.Errorf("got %.50q", got)
		}
		close(p.gate)
		if err := s.writeControl([]byte("q")); err != nil || !strings.HasSuffix(p.written.String(), "pq") {
			t.Error("a control frame waits although nobody writes")
		}
		s.Finish([]byte("last"), 1012, strings.Repeat("ä", 100))
		before := p.written.Len()
		if err := s.writeControl([]byte("q")); err != nil || p.written.Len() != before || s.send([]byte("x")) == nil {
			t.Error("something is written after the end")
		}
		tail := p.written.Bytes()[before-maxReason-4:]
		if tail[0] != opClose || int(tail[1]) != len(tail)-2 || string(tail[2:4]) != "\x03\xf4" || !bytes.HasSuffix(tail, []byte("ä…")) {
			t.Errorf("the close frame is %q", tail)
		}
	})
}

// TestManyMessagesPerWrite is what makes fan-out fast.
func TestManyMessagesPerWrite(t *testing.T) {
	p := &pipe{gate: make(chan struct{})}
	close(p.gate)
	c := &Conn{conn: p, out: p}
	text := []byte(`{"type":"stream_event","x":"` + strings.Repeat("x", 970) + `"}`)
	const n = 256
	show := func() {
		b := c.Batch()
		for range n {
			b.Line(text)
		}
		if err := b.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	show()
	if want := strings.Repeat(string(appendLine(nil, text)), n); p.written.String() != want {
		t.Error("not all was written")
	}
	if p.writes > 5 {
		t.Errorf("%d messages took %d writes", n, p.writes)
	}
	p.written.Grow(2 * p.written.Len())
	per := testing.AllocsPerRun(20, func() {
		p.written.Reset()
		show()
	}) / n
	if per > 0.1 {
		t.Errorf("a message takes %v allocations", per)
	}
}

// dial connects to a server that handles one connection.
func dial(t *testing.T, o *Options, d *websocket.DialOptions, handle func(*Conn)) (*websocket.Conn, int, error) {
	t.Helper()
	var handlers sync.WaitGroup
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handlers.Add(1) // before Accept: from then on server.Close does not wait for the handler
		defer handlers.Done()
		c, err := Accept(w, r, o)
		if err != nil {
			return
		}
		defer c.CloseNow()
		handle(c)
	}))
	t.Cleanup(func() {
		server.Close()
		handlers.Wait()
	})
	ws, answer, err := websocket.Dial(t.Context(), server.URL, d) //nolint:bodyclose // the library does that
	status := 0
	if answer != nil {
		status = answer.StatusCode
	}
	if err == nil {
		t.Cleanup(func() { _ = ws.CloseNow() }) // perhaps a second time
		ws.SetReadLimit(1 << 30)
	}
	return ws, status, err
}

// TestMessages sends messages of all lengths in both directions.
func TestMessages(t *testing.T) {
	ws, _, err := dial(t, &Options{Subprotocols: []string{"a", "b"}, Stall: time.Minute}, &websocket.DialOptions{Subprotocols: []string{"b"}}, func(c *Conn) {
		if c.Subprotocol() != "b" {
			t.Errorf("the subprotocol is %q", c.Subprotocol())
		}
		c.SetReadLimit(1 << 30)
		for {
			kind, r, err := c.Reader(context.Background())
			if err != nil {
				return
			}
			message, err := io.ReadAll(r)
			if err != nil {
				t.Error(err)
			}
			if err := c.Write(kind, message); err != nil {
				t.Error(err)
			}
			b := c.Batch()
			b.Text(message)
			b.Line(message)
			if err := b.Flush(); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 125, 126, 1 << 10, 1<<16 - 1, 1 << 16, 3*piece + 5} {
		message := strings.Repeat("x", n)
		if err := ws.Write(t.Context(), websocket.MessageBinary, []byte(message)); err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{message, message, message + "\n"} {
			kind, got, err := ws.Read(t.Context())
			if err != nil || string(got) != want || (kind == websocket.MessageBinary) != (i == 0) {
				t.Fatalf("message %d of %d bytes: got %v with %d bytes, %v", i, n, kind, len(got), err)
			}
		}
	}
}

// A stuckListener accepts connections whose writes can be held up.
type stuckListener struct {
	net.Listener

	conns chan *stuckConn
}

func (l *stuckListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &stuckConn{Conn: conn, held: make(chan struct{}), free: make(chan struct{})}
	l.conns <- c
	return c, nil
}

// A stuckConn is a connection whose next write waits, once stuck is set, until the
// connection gets another deadline or is closed.
type stuckConn struct {
	net.Conn

	stuck atomic.Bool
	held  chan struct{} // closed when a write waits
	free  chan struct{} // closed when it may go on
	once  sync.Once
}

func (c *stuckConn) Write(p []byte) (int, error) {
	if c.stuck.CompareAndSwap(true, false) {
		close(c.held)
		<-c.free
	}
	return c.Conn.Write(p)
}

func (c *stuckConn) SetWriteDeadline(t time.Time) error {
	defer c.release()
	return c.Conn.SetWriteDeadline(t)
}

func (c *stuckConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// release lets a write go on that waits.
func (c *stuckConn) release() {
	select {
	case <-c.held:
		c.once.Do(func() { close(c.free) })
	default:
	}
}

// TestPeerClosesDuringWrite has a peer say goodbye while a line is being written. It
// gets the line and an answer.
func TestPeerClosesDuringWrite(t *testing.T) {
	conns, done := make(chan *stuckConn, 1), make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		c, err := Accept(w, r, &Options{})
		if err != nil {
			t.Error(err)
			return
		}
		defer c.CloseNow()
		(<-conns).stuck.Store(true)
		var writer sync.WaitGroup
		defer writer.Wait()
		writer.Go(func() {
			if err := c.Line([]byte("one")); err != nil {
				t.Error(err)
			}
		})
		c.Drain()
		if err := c.Line([]byte("two")); !errors.Is(err, ErrWrite) {
			t.Errorf("a line after the close frame: %v", err)
		}
	}))
	listener := &stuckListener{Listener: server.Listener, conns: make(chan *stuckConn, 1)}
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	ws, _, err := websocket.Dial(t.Context(), server.URL, nil) //nolint:bodyclose // the library does that
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.CloseNow() }() // perhaps a second time
	conn := <-listener.conns
	conns <- conn
	<-conn.held
	if err := ws.Close(websocket.StatusNormalClosure, "bye"); err != nil {
		t.Errorf("closing: %v", err)
	}
	<-done
}

// TestFinish ends a connection in good order: a last line, a code, and a moment for
// the peer.
func TestFinish(t *testing.T) {
	ws, _, err := dial(t, &Options{}, nil, func(c *Conn) {
		c.Finish([]byte("last"), websocket.StatusServiceRestart, "come back")
		c.Drain()
		if err := c.Line([]byte("more")); !errors.Is(err, ErrWrite) {
			t.Errorf("something is written after the end: %v", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, got, err := ws.Read(t.Context()); err != nil || string(got) != "last\n" {
		t.Errorf("got %q, %v", got, err)
	}
	_, _, err = ws.Read(t.Context())
	if e, ok := errors.AsType[websocket.CloseError](err); !ok || e.Code != websocket.StatusServiceRestart || e.Reason != "come back" {
		t.Errorf("it is closed with %v", err)
	}
}

// TestStall cuts a peer that does not read.
func TestStall(t *testing.T) {
	failed := make(chan error, 1)
	_, _, err := dial(t, &Options{Stall: 50 * time.Millisecond}, nil, func(c *Conn) {
		line := make([]byte, 1<<20)
		for {
			if err := c.Line(line); err != nil {
				failed <- err
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, ErrWrite) {
		t.Errorf("writing fails with %v", err)
	}
}

// TestKeepAlive pings a peer, and cuts one that is silent only if it is asked to.
func TestKeepAlive(t *testing.T) {
	for _, silence := range []time.Duration{0, 20 * time.Millisecond} {
		pings := make(chan struct{}, 1000)
		ended := make(chan struct{})
		ws, _, err := dial(t, &Options{Stall: time.Minute}, &websocket.DialOptions{OnPingReceived: func(context.Context, []byte) bool {
			select {
			case pings <- struct{}{}:
			default:
			}
			return false // it does not answer
		}}, func(c *Conn) {
			defer close(ended)
			defer c.KeepAlive(time.Millisecond, silence)()
			c.Drain()
		})
		if err != nil {
			t.Fatal(err)
		}
		read := make(chan struct{})
		go func() { // joined below
			defer close(read)
			_, _, _ = ws.Read(t.Context()) // fails when it is closed
		}()
		if silence > 0 {
			<-ended
		} else {
			for range 3 {
				<-pings
			}
		}
		_ = ws.CloseNow() // perhaps it is closed
		<-ended
		<-read
	}
}

// TestEvery ends when it is told to, by either side.
func TestEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		stop := Every(time.Second, func() bool {
			calls.Add(1)
			return true
		})
		time.Sleep(3500 * time.Millisecond)
		stop()
		time.Sleep(time.Minute)
		if n := calls.Load(); n != 3 {
			t.Errorf("called %d times; want 3", n)
		}
		Every(time.Second, func() bool {
			calls.Add(1)
			return false
		})
		time.Sleep(time.Minute)
		if n := calls.Load(); n != 4 {
			t.Errorf("called %d times; want 4", n)
		}
	})
}

// TestHandshake tells what is wrong with a request in the form of all errors.
func TestHandshake(t *testing.T) {
	answer := httptest.NewRecorder()
	if _, err := Accept(answer, httptest.NewRequest(http.MethodGet, "/", nil), &Options{}); err == nil {
		t.Error("a request without a handshake is accepted")
	}
	if answer.Code != http.StatusUpgradeRequired || answer.Header().Get("Content-Type") != access.ProblemType || !strings.Contains(answer.Body.String(), "Sec-WebSocket-Key") {
		t.Errorf("got %d %s", answer.Code, answer.Body)
	}
	origin := &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"http://evil.example"}}}
	if _, status, err := dial(t, &Options{CheckOrigin: true}, origin, func(*Conn) {}); err == nil || status != http.StatusForbidden {
		t.Errorf("a page of another origin gets %d, %v", status, err)
	}
	if _, _, err := dial(t, &Options{}, origin, func(*Conn) {}); err != nil {
		t.Errorf("a page that the guard has let in is refused: %v", err)
	}
}

func TestShorten(t *testing.T) {
	for text, want := range map[string]string{"": "", "short": "short", strings.Repeat("ä", 100): strings.Repeat("ä", 60) + "…"} {
		if got := shorten(text); got != want || len(got) > maxReason {
			t.Errorf("shorten(%q) = %q; want %q", text, got, want)
		}
	}
}

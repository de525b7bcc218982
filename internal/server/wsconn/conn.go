package wsconn

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/access"
)

const (
	// HurryTime is how long a peer has to read and to close when the connection is to
	// end.
	HurryTime = time.Second
	// maxControl bounds control frames that wait for a peer to read: one that pings
	// without reading must not fill our memory.
	maxControl = 1 << 10
	// readBuffer is for frame headers and short messages; longer ones are read past it.
	readBuffer = 1 << 10
	// piece is how much is written under one deadline: a peer that reads a long
	// message slowly is not stuck.
	piece = 64 << 10
	// writeBuffer takes a control frame, the only thing that the library writes.
	writeBuffer = 256
)

// ErrWrite says that a peer cannot be written to. Errors of writing wrap it.
var ErrWrite = errors.New("the peer does not read, or has gone")

// Options are the options of [Accept].
type Options struct {
	// Subprotocols are those that the server speaks.
	Subprotocols []string
	// CheckOrigin refuses pages of other origins. It is for handlers that do not stand
	// inside [access.Guard.Checked], which knows more names of this server.
	CheckOrigin bool
	// Stall is how long the peer may read nothing while there is something for it. If
	// zero, for ever.
	Stall time.Duration
	// ReadBuffer is the size of the read buffer. If zero, 1 KiB.
	ReadBuffer int
}

// A Conn is a WebSocket. One goroutine reads it; the methods that write and those
// that end it are safe for concurrent use.
//
// A goroutine that writes holds mu. A ping or pong does not wait for mu: if it is
// held, the frame is left for the goroutine that holds it. A close frame waits, since
// the library closes the connection as soon as it has written one. Frames are never
// mixed, because each call writes whole ones.
type Conn struct {
	// Static after construction.
	ws    *websocket.Conn
	conn  net.Conn
	out   net.Conn // to be written to: conn, or the connection inside of it
	stall time.Duration

	early []byte      // read by the HTTP server already; owned by the reading goroutine
	heard atomic.Bool // something was read since the last look; see KeepAlive

	mu    sync.Mutex // held while writing
	until time.Time  // the write deadline; guarded by mu

	controlMu sync.Mutex
	control   []byte // control frames that wait, guarded by controlMu
	over      bool   // a close frame was written, guarded by controlMu

	hurried atomic.Bool // the write deadline is not to be moved any more
}

// Accept answers a request for a WebSocket. If it returns an error, the request has
// been answered.
func Accept(w http.ResponseWriter, r *http.Request, o *Options) (*Conn, error) {
	h := &hijacker{ResponseWriter: w, options: o}
	ws, err := websocket.Accept(h, r, &websocket.AcceptOptions{
		Subprotocols: o.Subprotocols, InsecureSkipVerify: !o.CheckOrigin, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, fmt.Errorf("accepting a WebSocket: %w", err)
	}
	h.conn.ws = ws
	return h.conn, nil
}

// Subprotocol returns the subprotocol that both ends speak, "" for none.
func (c *Conn) Subprotocol() string { return c.ws.Subprotocol() }

// SetReadLimit sets how long a message may be. A longer one ends the connection.
func (c *Conn) SetReadLimit(n int64) { c.ws.SetReadLimit(n) }

// SetReadDeadline sets until when the peer may say something.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.conn.SetReadDeadline(t) }

// Reader waits for the next message. Control frames are answered meanwhile. The
// connection is closed when ctx ends.
func (c *Conn) Reader(ctx context.Context) (websocket.MessageType, io.Reader, error) {
	return c.ws.Reader(ctx)
}

// Drain reads and discards messages until the connection ends.
func (c *Conn) Drain() {
	for {
		_, r, err := c.ws.Reader(context.Background())
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			return
		}
	}
}

// Write writes a message.
func (c *Conn) Write(kind websocket.MessageType, message []byte) error {
	b := c.Batch()
	b.add(kind, nil, message, "")
	return b.Flush()
}

// Line writes a text message that is a line; its line end is added.
func (c *Conn) Line(line []byte) error {
	b := c.Batch()
	b.Line(line)
	return b.Flush()
}

// Hurry has writes fail soon if the peer does not read.
func (c *Conn) Hurry() {
	c.hurried.Store(true)
	_ = c.conn.SetWriteDeadline(time.Now().Add(HurryTime)) // fails if it is closed, and then the write does too
}

// Finish writes a last line, if there is one, and a close frame, after which nothing
// else is written, and gives the peer a moment to close as well: the goroutine that
// reads is to go on until it fails.
func (c *Conn) Finish(last []byte, code websocket.StatusCode, reason string) {
	var b []byte
	if last != nil {
		b = appendLine(b, last)
	}
	_ = c.writeLast(appendClose(b, code, reason))         // a peer that has gone need not be told
	_ = c.conn.SetReadDeadline(time.Now().Add(HurryTime)) // as above
}

// Close closes the connection with a code, and waits a moment for the peer to do the
// same. No other goroutine may be reading.
func (c *Conn) Close(code websocket.StatusCode, reason string) {
	c.Finish(nil, code, reason)
	c.Drain()
	c.CloseNow()
}

// CloseNow cuts the connection. The goroutines that read and write it fail.
func (c *Conn) CloseNow() { _ = c.conn.Close() } // it may be closed

// Ping sends a ping, and does not wait for the answer: a peer that reads slowly may
// take long for it.
func (c *Conn) Ping() error { return c.writeControl([]byte{opPing, 0}) }

// KeepAlive pings the peer at intervals, so that everything between sees that the
// connection is in use, and cuts the connection if a ping cannot be written. If
// silence is above 0, it also cuts a connection on which nothing was read for that
// long. stop ends it. It needs no goroutine while nothing is due.
func (c *Conn) KeepAlive(interval, silence time.Duration) (stop func()) {
	last := time.Now()
	return Every(interval, func() bool {
		if c.heard.Swap(false) {
			last = time.Now()
		}
		if silence > 0 && time.Since(last) >= silence || c.Ping() != nil {
			c.CloseNow()
			return false
		}
		return true
	})
}

// Every calls f again and again, an interval after the last call has returned, until
// f returns false or stop is called. It needs no goroutine while nothing is due. A
// call that has begun may go on after stop.
func Every(interval time.Duration, f func() bool) (stop func()) {
	var mu sync.Mutex
	var timer *time.Timer
	stopped := false
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(interval, func() {
		if !f() {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if !stopped {
			timer.Reset(interval)
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}

// read is what the library reads with.
func (c *Conn) read(p []byte) (int, error) {
	if len(c.early) > 0 {
		n := copy(p, c.early)
		if c.early = c.early[n:]; len(c.early) == 0 {
			c.early = nil
		}
		return n, nil
	}
	n, err := c.conn.Read(p)
	if n > 0 {
		c.heard.Store(true)
	}
	return n, err
}

// writeControl writes whole control frames, or leaves them for the goroutine that
// writes.
func (c *Conn) writeControl(p []byte) error {
	c.controlMu.Lock()
	if !c.over && len(c.control)+len(p) <= maxControl {
		c.control = append(c.control, p...)
	}
	c.controlMu.Unlock()
	if !c.mu.TryLock() {
		return nil
	}
	c.extend()
	return c.release()
}

// writeLast writes frames of which the last is a close frame, unless one was written
// before. It waits for the goroutine that writes, which has little time left.
func (c *Conn) writeLast(frames []byte) error {
	c.Hurry()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.controlMu.Lock()
	over := c.over
	c.over, c.control = true, nil
	c.controlMu.Unlock()
	if over {
		return nil
	}
	_, err := c.out.Write(frames)
	return err
}

// takeControl returns the control frames that wait.
func (c *Conn) takeControl() []byte {
	c.controlMu.Lock()
	defer c.controlMu.Unlock()
	b := c.control
	c.control = nil
	return b
}

// release writes control frames that have come meanwhile, and unlocks mu.
func (c *Conn) release() error {
	for {
		if b := c.takeControl(); len(b) > 0 {
			if _, err := c.out.Write(b); err != nil {
				c.fail()
				return errors.Join(ErrWrite, err)
			}
		}
		c.mu.Unlock()
		c.controlMu.Lock()
		more := len(c.control) > 0
		c.controlMu.Unlock()
		if !more || !c.mu.TryLock() {
			return nil
		}
	}
}

// extend gives the next write its time. A deadline that is still far is left alone:
// it costs more to set than many a write. mu is held.
func (c *Conn) extend() {
	if now := time.Now(); c.stall > 0 && c.until.Sub(now) < c.stall/4*3 {
		c.until = now.Add(c.stall)
		_ = c.conn.SetWriteDeadline(c.until) // as in Hurry
	}
	if c.hurried.Load() {
		c.Hurry() // it was called between: the earlier deadline counts
	}
}

// send writes whole frames: b, and then, if there are any, more.
func (c *Conn) send(b []byte, more ...[]byte) error {
	c.mu.Lock()
	c.controlMu.Lock()
	over := c.over
	c.controlMu.Unlock()
	if over {
		c.mu.Unlock()
		return errors.Join(ErrWrite, net.ErrClosed)
	}
	if err := c.write(b, more); err != nil {
		c.fail()
		return errors.Join(ErrWrite, err)
	}
	return c.release()
}

// write writes b and more, long ones in pieces. mu is held.
func (c *Conn) write(b []byte, more [][]byte) error {
	c.extend()
	if len(more) == 0 {
		_, err := c.out.Write(b)
		return err
	}
	list := net.Buffers{b}
	for _, part := range more {
		for len(part) > piece {
			list = append(list, part[:piece])
			if _, err := list.WriteTo(c.out); err != nil {
				return err
			}
			list, part = nil, part[piece:]
			c.extend()
		}
		list = append(list, part)
	}
	_, err := list.WriteTo(c.out)
	return err
}

// fail ends the connection after a write that failed, perhaps in the middle of a
// frame: what came next would be taken for its rest. It unlocks mu.
func (c *Conn) fail() {
	c.controlMu.Lock()
	c.over, c.control = true, nil
	c.controlMu.Unlock()
	c.mu.Unlock()
	c.CloseNow()
}

// A socket is the connection as the library sees it: it reads from it, and writes
// its control frames to it.
type socket struct {
	net.Conn

	c *Conn
}

// Read implements [net.Conn].
func (s *socket) Read(p []byte) (int, error) { return s.c.read(p) }

// Write implements [net.Conn]. It takes whole control frames.
func (s *socket) Write(p []byte) (int, error) {
	write := s.c.writeControl
	if p[0] == opClose {
		write = s.c.writeLast
	}
	if err := write(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// A hijacker gives the library a socket instead of the connection itself.
type hijacker struct {
	http.ResponseWriter

	options *Options
	conn    *Conn // set by Hijack
	refused bool
}

// Unwrap returns the writer inside.
func (h *hijacker) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// WriteHeader sends the status. What is wrong with a handshake is told in the form of
// all errors.
func (h *hijacker) WriteHeader(status int) {
	if status == http.StatusSwitchingProtocols {
		h.ResponseWriter.WriteHeader(status)
		return
	}
	h.refused = true
	access.WriteProblem(h.ResponseWriter, &api.Error{
		Status: status, Code: api.CodeInvalid, Title: "Invalid WebSocket request",
		Hint: "Send GET with HTTP/1.1 and the headers Connection, Upgrade, Sec-WebSocket-Version: 13 and Sec-WebSocket-Key.",
	})
}

// Write discards what the library says about a handshake in another form.
func (h *hijacker) Write(p []byte) (int, error) {
	if h.refused {
		return len(p), nil
	}
	return h.ResponseWriter.Write(p)
}

// Hijack implements [http.Hijacker]. The HTTP server's buffers are left to the
// garbage collector: they are larger than a connection that waits needs.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	_ = conn.SetDeadline(time.Time{}) // what the HTTP server has set was for the request
	early, _ := rw.Reader.Peek(rw.Reader.Buffered())
	h.conn = &Conn{conn: conn, out: bare(conn), stall: h.options.Stall, early: slices.Clone(early)}
	size := h.options.ReadBuffer
	if size == 0 {
		size = readBuffer
	}
	s := &socket{Conn: conn, c: h.conn}
	return s, bufio.NewReadWriter(bufio.NewReaderSize(s, size), bufio.NewWriterSize(s, writeBuffer)), nil
}

// bare returns the connection inside of one that is merely counted: only that one
// can write several buffers at once.
func bare(conn net.Conn) net.Conn {
	if _, ok := conn.(*tls.Conn); ok {
		return conn
	}
	if wrapper, ok := conn.(interface{ NetConn() net.Conn }); ok {
		if inner, ok := wrapper.NetConn().(*net.TCPConn); ok {
			return inner
		}
	}
	return conn
}

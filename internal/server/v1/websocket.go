package v1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
)

const (
	// subprotocol is what a WebSocket is told to speak, if it offers that.
	subprotocol = "switchboard.v1"
	// maxIncoming is how long a message of a client may be. There is nothing that
	// it could say.
	maxIncoming = 4 << 10
	// socketBuffer is the size of a WebSocket's own buffers. What is long goes past
	// them.
	socketBuffer = 1 << 10
)

// wantsSocket reports whether a request asks for a WebSocket.
func wantsSocket(r *http.Request) bool {
	for _, line := range r.Header.Values("Upgrade") {
		for part := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(part), "websocket") {
				return true
			}
		}
	}
	return false
}

// serveSocket follows events by a WebSocket: each text message is a frame. It
// returns when the connection is one: what the HTTP server has on its stack and in
// its buffers for a request is more than all that an idle WebSocket needs.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request, req *request) {
	if !s.sockets.enter() {
		access.WriteProblem(w, closing())
		return
	}
	entered := true
	defer func() {
		if entered {
			s.sockets.leave()
		}
	}()
	cursor, err := s.follow(r.Context(), req)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	hijacked := &hijacker{ResponseWriter: w, timeout: s.writeTimeout}
	ws, err := websocket.Accept(hijacked, r, &websocket.AcceptOptions{
		Subprotocols: []string{subprotocol},
		// access.Guard.Checked has looked at the Origin.
		InsecureSkipVerify: true,
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		cursor.Close()
		return // it has answered
	}
	entered = false
	ctx, conn, closed := context.WithoutCancel(r.Context()), hijacked.conn, s.opened(r.Pattern, "websocket")
	go func() { // joined by Wait
		defer s.sockets.leave()
		defer closed()
		s.followSocket(ctx, ws, conn, cursor, req)
	}()
}

// followSocket writes what a cursor gives to a WebSocket, until the client leaves,
// does not read, or the server closes.
func (s *Server) followSocket(ctx context.Context, ws *websocket.Conn, conn *pacedConn, cursor Cursor, req *request) {
	defer cursor.Close()
	ctx, cancel, done := watched(ctx)
	defer done()
	defer context.AfterFunc(s.sockets.cut, func() { _ = ws.CloseNow() })()
	ws.SetReadLimit(maxIncoming)
	read := make(chan struct{})
	go func() { // joined below
		defer close(read)
		cancel(listen(ws))
	}()
	s.newStream(&socket{server: s, ws: ws, conn: conn}, req, cancel).run(ctx, cursor)
	_ = ws.CloseNow() // if it was closed, nothing happens
	<-read
}

// listen reads what a client sends until it is gone, so that its pings and its
// goodbye are answered. It has nothing to say: messages are thrown away.
func listen(ws *websocket.Conn) error {
	for {
		_, message, err := ws.Reader(context.Background())
		if err != nil {
			return errGone
		}
		if _, err := io.Copy(io.Discard, message); err != nil {
			return errGone
		}
	}
}

// A socket sends frames as messages of a WebSocket.
type socket struct {
	server *Server
	ws     *websocket.Conn
	conn   *pacedConn
}

func (o *socket) frames(frames []api.Frame, f *filter) (wrote bool, err error) {
	buffer := o.server.buffers.Get().(*[]byte)
	b := (*buffer)[:0]
	defer func() {
		if cap(b) <= keptBuffer {
			*buffer = b
			o.server.buffers.Put(buffer)
		}
	}()
	o.conn.cork()
	for i := range frames {
		if !f.frame(&frames[i]) {
			continue
		}
		wrote = true
		if b, err = appendMessage(b[:0], &frames[i]); err != nil {
			break
		}
		if err = o.write(b); err != nil {
			break
		}
	}
	return wrote, errors.Join(err, o.conn.uncork())
}

// write writes a message. It has no context: the connection's deadlines are those
// of each part of it.
func (o *socket) write(message []byte) error {
	if !utf8.Valid(message) { // in a string of a line; a browser would hang up
		message = []byte(strings.ToValidUTF8(string(message), "\uFFFD"))
	}
	return o.ws.Write(context.Background(), websocket.MessageText, message)
}

func (o *socket) beat(visible bool) error {
	if visible {
		if err := o.write([]byte(`{"type":"` + string(api.FrameHeartbeat) + `"}`)); err != nil {
			return err
		}
	}
	return o.conn.ping()
}

// end closes the connection in good order, with a reason for those who look at
// that only.
func (o *socket) end(why error) {
	code, reason := websocket.StatusInternalError, "the stream ended"
	switch {
	case errors.Is(why, errClosing):
		code, reason = websocket.StatusServiceRestart, o.server.reason()
	case errors.Is(why, hub.ErrClosed):
		code, reason = websocket.StatusGoingAway, o.server.reason()
	case errors.Is(why, access.ErrRevoked):
		code, reason = websocket.StatusPolicyViolation, "the token was revoked or has expired"
	}
	const most = 123 // of a control frame
	for len(reason) > most {
		_, last := utf8.DecodeLastRuneInString(reason)
		reason = reason[:len(reason)-last]
	}
	_ = o.ws.Close(code, reason) // the client has gone: nobody to tell
}

// A hijacker gives the connection of a request away with deadlines and without
// the HTTP server's buffers, which are larger than a WebSocket needs them.
type hijacker struct {
	http.ResponseWriter

	timeout time.Duration
	conn    *pacedConn
	refused bool
}

// WriteHeader sends the status. What is wrong with a handshake is told in the
// form of all errors.
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

// Write throws away what is said about a handshake in another form.
func (h *hijacker) Write(p []byte) (int, error) {
	if h.refused {
		return len(p), nil
	}
	return h.ResponseWriter.Write(p)
}

// Hijack returns the connection.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	early, err := rw.Reader.Peek(rw.Reader.Buffered())
	if err != nil {
		_ = conn.Close() // it cannot be used
		return nil, nil, err
	}
	h.conn = &pacedConn{Conn: conn, timeout: h.timeout, early: append([]byte(nil), early...)}
	return h.conn, bufio.NewReadWriter(bufio.NewReaderSize(h.conn, socketBuffer), bufio.NewWriterSize(h.conn, socketBuffer)), nil
}

// A pacedConn gives each piece that is written a deadline of its own, as a
// pacedWriter does, and can collect many small ones to write them at once.
type pacedConn struct {
	net.Conn

	timeout time.Duration

	early []byte // owned by the reader; what came with the request

	mu     sync.Mutex
	corked bool   // guarded by mu
	held   []byte // guarded by mu; what is collected
}

// Read reads what the client sends.
func (c *pacedConn) Read(p []byte) (int, error) {
	if len(c.early) > 0 {
		n := copy(p, c.early)
		if c.early = c.early[n:]; len(c.early) == 0 {
			c.early = nil
		}
		return n, nil
	}
	return c.Conn.Read(p)
}

// Write writes all of p, or fails; or keeps it for uncork.
func (c *pacedConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.corked && len(c.held)+len(p) <= chunkSize {
		c.held = append(c.held, p...)
		return len(p), nil
	}
	if err := c.release(); err != nil {
		return 0, err
	}
	return c.write(p)
}

// cork begins to collect.
func (c *pacedConn) cork() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked = true
}

// uncork writes what was collected.
func (c *pacedConn) uncork() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked = false
	err := c.release()
	c.held = nil
	return err
}

// ping sends a ping without waiting for the answer: a client that reads slowly
// may take long for it. It must not be called while a message is being written.
func (c *pacedConn) ping() error {
	_, err := c.Write([]byte{0x89, 0x00}) // final, opcode 9, no payload
	return err
}

// release writes what was collected so far. mu is held.
func (c *pacedConn) release() error {
	if len(c.held) == 0 {
		return nil
	}
	_, err := c.write(c.held)
	c.held = c.held[:0]
	return err
}

// write writes in pieces. mu is held.
func (c *pacedConn) write(p []byte) (done int, err error) {
	for done < len(p) {
		n := min(len(p)-done, chunkSize)
		if err := c.SetWriteDeadline(time.Now().Add(c.timeout)); err != nil {
			return done, err
		}
		n, err = c.Conn.Write(p[done : done+n])
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// sockets counts the WebSockets that are open.
type sockets struct {
	// cut ends when those that are left are to be closed at once.
	cut  context.Context //nolint:containedctx // the life of the sockets
	stop context.CancelFunc

	mu     sync.Mutex
	open   int           // guarded by mu
	closed bool          // guarded by mu
	none   chan struct{} // closed when closed is set and none is open
}

func newSockets() *sockets {
	s := &sockets{none: make(chan struct{})}
	s.cut, s.stop = context.WithCancel(context.Background())
	return s
}

// enter counts one, unless no more are wanted.
func (s *sockets) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.open++
	return true
}

// leave counts one less.
func (s *sockets) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.closed && s.open == 0 {
		close(s.none)
	}
}

// close lets no more in.
func (s *sockets) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	if s.open == 0 {
		close(s.none)
	}
}

// wait waits until none is left, after close.
func (s *sockets) wait(ctx context.Context) {
	select {
	case <-s.none:
	case <-ctx.Done():
		s.stop()
		<-s.none
	}
}

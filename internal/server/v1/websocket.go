package v1

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/wsconn"
)

const (
	// subprotocol is what a WebSocket is told to speak, if it offers that.
	subprotocol = "switchboard.v1"
	// maxIncoming is how long a message of a client may be. There is nothing that
	// it could say.
	maxIncoming = 4 << 10
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

// serveSocket follows events by a WebSocket: each text message is a frame.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request, req *request) {
	cursor, err := s.follow(r.Context(), req)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	s.acceptSocket(w, r, cursor, req)
}

// acceptSocket makes a request a WebSocket that shows what a cursor gives, which it
// closes in the end. It returns when the connection is one: what the HTTP server has on
// its stack and in its buffers for a request is more than all that an idle WebSocket
// needs.
func (s *Server) acceptSocket(w http.ResponseWriter, r *http.Request, cursor Cursor, req *request) {
	if !s.sockets.enter() {
		cursor.Close()
		access.WriteProblem(w, closing())
		return
	}
	ws, err := wsconn.Accept(w, r, &wsconn.Options{Subprotocols: []string{subprotocol}, Stall: s.writeTimeout})
	if err != nil {
		cursor.Close()
		s.sockets.leave()
		return // it has answered
	}
	ctx, closed := context.WithoutCancel(r.Context()), s.opened(r.Pattern, "websocket")
	go func() { // joined by Wait
		defer s.sockets.leave()
		defer closed()
		s.followSocket(ctx, ws, cursor, req)
	}()
}

// followSocket writes what a cursor gives to a WebSocket, until the client leaves,
// does not read, or the server closes.
func (s *Server) followSocket(ctx context.Context, ws *wsconn.Conn, cursor Cursor, req *request) {
	defer cursor.Close()
	ctx, cancel, done := watched(ctx)
	defer done()
	defer ws.CloseNow()
	defer context.AfterFunc(s.sockets.cut, ws.CloseNow)()
	ws.SetReadLimit(maxIncoming)
	read := make(chan struct{})
	go func() { // joined below
		defer close(read)
		// A client has nothing to say; its pings and its goodbye are answered meanwhile.
		ws.Drain()
		cancel(errGone)
	}()
	out := &socket{server: s, ws: ws}
	s.newStream(out, req, cancel).run(ctx, cursor)
	if !out.ended {
		ws.CloseNow()
	}
	<-read
}

// A socket sends frames as messages of a WebSocket.
type socket struct {
	server *Server
	ws     *wsconn.Conn
	ended  bool // the client was told why it is over
}

func (o *socket) frames(frames []api.Frame, texts []hub.Text, f *filter) (wrote bool, err error) {
	buffer := o.server.buffers.Get().(*[]byte)
	b := (*buffer)[:0]
	defer func() {
		if cap(b) <= keptBuffer {
			*buffer = b
			o.server.buffers.Put(buffer)
		}
	}()
	out := o.ws.Batch()
	for i := range frames {
		if !f.frame(&frames[i]) {
			continue
		}
		wrote = true
		text := textAt(texts, i)
		if json, plain := text.JSON(appendEvents); plain && frames[i].Position == "" {
			b = appendMessageHead(b[:0], &frames[i])
			out.Around(b, json, "}") // as appendMessage, with a copy less
			continue
		}
		if b, err = appendMessage(b[:0], &frames[i], text); err != nil {
			break
		}
		out.Text(b)
	}
	return wrote, errors.Join(err, out.Flush())
}

func (o *socket) beat(visible bool) error {
	if visible {
		if err := o.ws.Write(websocket.MessageText, []byte(`{"type":"`+string(api.FrameHeartbeat)+`"}`)); err != nil {
			return err
		}
	}
	return o.ws.Ping()
}

// end closes the connection in good order, with a reason for developers who look at
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
	o.ended = true
	o.ws.Finish(nil, code, reason)
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

package relay

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

const (
	// stallTime is how long a front end may read nothing while there is something
	// for it. It then catches up from the journal, so patience costs little.
	stallTime = 5 * time.Minute
	// hurryTime is how long it has when the connection is to end.
	hurryTime = time.Second
	// maxControl bounds control frames that wait for a front end to read: a peer that
	// pings without reading must not fill our memory.
	maxControl = 1 << 10
	// readBuffer is for frame headers and short lines; longer ones are read past it.
	readBuffer = 1 << 10
	// piece is how much of a long line is written under one deadline.
	piece = 1 << 20
	// writeBuffer takes a control frame, the only thing that the library writes.
	writeBuffer = 256
)

// The first bytes of frames that are not fragmented.
const (
	opText  = 0x81
	opClose = 0x88
	opPing  = 0x89
)

// A socket is the connection below a WebSocket. The library reads from it and
// writes its control frames; messages are framed here, so that many of them
// leave in one write.
//
// A goroutine that writes holds mu. A control frame does not wait for mu: if it is
// held, the frame is left for the goroutine that holds it. Frames are never mixed,
// because each call writes whole ones.
type socket struct {
	net.Conn // to be read and closed

	out   net.Conn // to be written to: the connection itself where that can be told
	early []byte   // read by the HTTP server already; owned by the reading goroutine

	mu sync.Mutex // held while writing

	controlMu sync.Mutex
	control   []byte // control frames that wait, guarded by controlMu
	over      bool   // a close frame was written, guarded by controlMu

	hurried atomic.Bool // write deadlines are not to be moved any more
}

// Read implements [net.Conn].
func (s *socket) Read(p []byte) (int, error) {
	if len(s.early) > 0 {
		n := copy(p, s.early)
		s.early = s.early[n:]
		return n, nil
	}
	return s.Conn.Read(p)
}

// Write takes whole control frames. It implements [net.Conn].
func (s *socket) Write(p []byte) (int, error) {
	s.controlMu.Lock()
	if !s.over && len(s.control)+len(p) <= maxControl {
		s.control = append(s.control, p...)
	}
	s.controlMu.Unlock()
	if s.mu.TryLock() {
		s.extend()
		if err := s.release(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// takeControl returns the control frames that wait.
func (s *socket) takeControl() []byte {
	s.controlMu.Lock()
	defer s.controlMu.Unlock()
	b := s.control
	s.control = nil
	return b
}

// release writes control frames that have come meanwhile, and unlocks mu.
func (s *socket) release() error {
	for {
		if b := s.takeControl(); len(b) > 0 {
			if _, err := s.out.Write(b); err != nil {
				s.fail()
				return err
			}
		}
		s.mu.Unlock()
		s.controlMu.Lock()
		more := len(s.control) > 0
		s.controlMu.Unlock()
		if !more || !s.mu.TryLock() {
			return nil
		}
	}
}

// extend gives the next write its time. mu is held.
func (s *socket) extend() {
	_ = s.Conn.SetWriteDeadline(time.Now().Add(stallTime)) // fails if it is closed, and then the write does too
	if s.hurried.Load() {
		s.hurry() // it was told to between: the earlier deadline counts
	}
}

// hurry has writes fail soon if the front end does not read.
func (s *socket) hurry() {
	s.hurried.Store(true)
	_ = s.Conn.SetWriteDeadline(time.Now().Add(hurryTime)) // as above
}

// send writes whole frames: b, and then, if there are any, more.
func (s *socket) send(b []byte, more ...[]byte) error {
	s.mu.Lock()
	s.controlMu.Lock()
	over := s.over
	s.controlMu.Unlock()
	if over {
		s.mu.Unlock()
		return net.ErrClosed
	}
	if err := s.write(b, more); err != nil {
		s.fail()
		return err
	}
	return s.release()
}

// write writes b and more, long ones in pieces: a front end that reads a long line
// slowly is not stuck. mu is held.
func (s *socket) write(b []byte, more [][]byte) error {
	s.extend()
	if len(more) == 0 {
		_, err := s.out.Write(b)
		return err
	}
	list := net.Buffers{b}
	for _, part := range more {
		for len(part) > piece {
			list = append(list, part[:piece])
			if _, err := list.WriteTo(s.out); err != nil {
				return err
			}
			list, part = nil, part[piece:]
			s.extend()
		}
		list = append(list, part)
	}
	_, err := list.WriteTo(s.out)
	return err
}

// fail ends the connection after a write that failed, perhaps in the middle of a
// frame: what came next would be taken for its rest. It unlocks mu.
func (s *socket) fail() {
	s.controlMu.Lock()
	s.over, s.control = true, nil
	s.controlMu.Unlock()
	s.mu.Unlock()
	_ = s.Conn.Close() // it is of no use any more
}

// finish writes last frames and a close frame, after which nothing else is
// written, and gives the front end a moment to say goodbye as well.
func (s *socket) finish(last []byte, code websocket.StatusCode, reason string) {
	s.hurry()
	s.mu.Lock()
	s.controlMu.Lock()
	over := s.over
	s.over, s.control = true, nil
	s.controlMu.Unlock()
	if !over {
		_, _ = s.out.Write(appendClose(slices.Clone(last), code, reason)) // nobody to tell if it has gone
	}
	s.mu.Unlock()
	_ = s.Conn.SetReadDeadline(time.Now().Add(hurryTime)) // as above
}

// ping sends a ping.
func (s *socket) ping() error {
	_, err := s.Write([]byte{opPing, 0})
	return err
}

// A hijacker gives the library a socket instead of the connection itself.
type hijacker struct {
	http.ResponseWriter

	socket *socket // set by Hijack
}

// Unwrap returns the writer inside.
func (h *hijacker) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// Hijack implements [http.Hijacker]. The HTTP server's buffers are left to the
// garbage collector: they are larger than a front end that waits needs.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	_ = conn.SetDeadline(time.Time{}) // what the HTTP server has set was for the request
	early, _ := rw.Reader.Peek(rw.Reader.Buffered())
	h.socket = &socket{Conn: conn, out: bare(conn), early: slices.Clone(early)}
	return h.socket, bufio.NewReadWriter(bufio.NewReaderSize(h.socket, readBuffer), bufio.NewWriterSize(h.socket, writeBuffer)), nil
}

// bare returns the connection inside of one that is merely counted: only that one
// can write several buffers at once.
func bare(conn net.Conn) net.Conn {
	if wrapper, ok := conn.(interface{ NetConn() net.Conn }); ok {
		if inner, ok := wrapper.NetConn().(*net.TCPConn); ok && !isTLS(conn) {
			return inner
		}
	}
	return conn
}

func isTLS(conn net.Conn) bool {
	_, ok := conn.(*tls.Conn)
	return ok
}

// appendMessage appends a text message that holds a line.
func appendMessage(b, line []byte) []byte {
	b = appendHeader(b, len(line)+1)
	b = append(b, line...)
	return append(b, '\n')
}

// appendHeader appends the header of a text message.
func appendHeader(b []byte, length int) []byte {
	switch {
	case length < 126:
		return append(b, opText, byte(length))
	case length <= 0xffff:
		return binary.BigEndian.AppendUint16(append(b, opText, 126), uint16(length))
	}
	return binary.BigEndian.AppendUint64(append(b, opText, 127), uint64(length))
}

// maxReason is the longest reason that a close frame can hold.
const maxReason = 123

// appendClose appends a close frame.
func appendClose(b []byte, code websocket.StatusCode, reason string) []byte {
	reason = cut(reason, maxReason)
	b = append(b, opClose, byte(2+len(reason)))
	b = binary.BigEndian.AppendUint16(b, uint16(code))
	return append(b, reason...)
}

// cut shortens a text to a number of bytes, between two characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && text[most]&0xc0 == 0x80 {
		most--
	}
	return text[:most]
}

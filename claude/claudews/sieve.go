package claudews

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
)

const (
	// sieveBuffer is how much is read from a CLI at once: a CLI that streams writes
	// many short frames.
	sieveBuffer = 32 << 10
	// maxHeader is the longest header of a frame: two bytes, a length, a mask.
	maxHeader = 14
	// restBuffer is what the library reads with: it only gets control frames.
	restBuffer = 512
)

// Bits and kinds of frames.
const (
	bitFin     = 0x80
	bitsRSV    = 0x70
	bitMask    = 0x80
	opContinue = 0x0
	opText     = 0x1
	opBinary   = 0x2
	opControl  = 0x8 // and above
)

var (
	errNested = errors.New("a message began inside of another")
	errLength = errors.New("a frame with an impossible length")
)

// A sieve is the connection below a WebSocket on which a CLI writes lines. It
// takes the data frames out of what comes: for lines it does not matter where a
// message begins or ends, and taking the frames of one read together costs a
// fraction of what it costs to ask the library for each. The library is given all
// else: control frames, and whatever it has to refuse.
//
// Only Read changes it, which the library calls in one goroutine at a time.
type sieve struct {
	net.Conn
	in io.Reader // of Conn

	// take is given payloads, in order, and flush is called when all that was read
	// has been taken. Both are set before the first Read and called by it. If take
	// is nil, everything is the library's.
	take  func(payload []byte) error
	flush func() error

	buf        []byte
	begin, end int    // buf[begin:end] is unread
	data       uint64 // so many bytes of a data frame are still to come
	mask       uint32 // with which they are masked, from the next one on
	rest       uint64 // so many bytes from here are the library's
	open       bool   // a message in several frames is under way
}

func newSieve(conn net.Conn) *sieve { return &sieve{Conn: conn, in: quick(conn)} }

// Read implements [net.Conn] for the library.
func (s *sieve) Read(p []byte) (int, error) {
	for {
		have := s.end - s.begin
		switch {
		case s.take == nil && have > 0:
			n := copy(p, s.buf[s.begin:s.end])
			s.begin += n
			return n, nil
		case s.take == nil:
			return s.Conn.Read(p)
		case s.rest > 0 && have > 0:
			if err := s.flush(); err != nil { // the library may find that this is the end
				return 0, err
			}
			n := copy(p, s.buf[s.begin:s.begin+int(min(uint64(have), s.rest))])
			s.begin += n
			s.rest -= uint64(n)
			return n, nil
		case s.data > 0 && have > 0:
			payload := s.buf[s.begin : s.begin+int(min(uint64(have), s.data))]
			s.begin += len(payload)
			s.data -= uint64(len(payload))
			s.mask = unmask(payload, s.mask)
			if err := s.take(payload); err != nil {
				return 0, err
			}
		case s.rest == 0 && s.data == 0 && s.header():
			if err := s.frame(); err != nil {
				// What came before is whole.
				return 0, cmp.Or(s.flush(), err)
			}
		default:
			if err := s.fill(); err != nil {
				return 0, err
			}
		}
	}
}

// fill reads more.
func (s *sieve) fill() error {
	if err := s.flush(); err != nil {
		return err
	}
	if s.buf == nil {
		s.buf = make([]byte, sieveBuffer)
	}
	if s.begin > 0 {
		s.end = copy(s.buf, s.buf[s.begin:s.end])
		s.begin = 0
	}
	n, err := s.in.Read(s.buf[s.end:])
	s.end += n
	if n > 0 {
		return nil // an error comes again with the next read
	}
	return err
}

// headerLength returns how long the header is that begins with these two bytes.
func headerLength(second byte) int {
	n := 2
	switch second &^ bitMask {
	case 126:
		n += 2
	case 127:
		n += 8
	}
	if second&bitMask != 0 {
		n += 4
	}
	return n
}

// header reports whether there is a whole header.
func (s *sieve) header() bool {
	have := s.end - s.begin
	return have >= 2 && have >= headerLength(s.buf[s.begin+1])
}

// frame begins the frame whose header is next.
func (s *sieve) frame() error {
	b := s.buf[s.begin:s.end]
	size := headerLength(b[1])
	length := uint64(b[1] &^ bitMask)
	switch length {
	case 126:
		length = uint64(binary.BigEndian.Uint16(b[2:]))
	case 127:
		length = binary.BigEndian.Uint64(b[2:])
	}
	if length > math.MaxInt64-maxHeader {
		return errLength
	}
	kind := b[0] & 0xf
	known := kind == opText || kind == opBinary || kind == opContinue && s.open
	if !known || b[0]&bitsRSV != 0 || b[1]&bitMask == 0 {
		s.rest = uint64(size) + length
		return nil
	}
	if kind != opContinue && s.open {
		return errNested // the library does not know that one is under way
	}
	s.open = b[0]&bitFin == 0
	s.mask = binary.LittleEndian.Uint32(b[size-4:])
	s.data = length
	s.begin += size
	return nil
}

// unmask takes the mask off and returns the mask for what follows.
func unmask(b []byte, mask uint32) uint32 {
	wide := uint64(mask)<<32 | uint64(mask)
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^wide)
		b = b[8:]
	}
	for i := range b {
		b[i] ^= byte(mask)
		mask = mask>>8 | mask<<24
	}
	return mask
}

// A hijacker gives the library a sieve instead of the connection itself.
type hijacker struct {
	http.ResponseWriter

	sieve *sieve // set by Hijack
}

// Unwrap returns the writer inside.
func (h *hijacker) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// Hijack implements [http.Hijacker].
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.sieve = newSieve(conn)
	if early, _ := rw.Reader.Peek(rw.Reader.Buffered()); len(early) > 0 {
		h.sieve.buf = make([]byte, max(sieveBuffer, len(early)))
		h.sieve.end = copy(h.sieve.buf, early)
	}
	return h.sieve, bufio.NewReadWriter(bufio.NewReaderSize(h.sieve, restBuffer), bufio.NewWriter(h.sieve)), nil
}

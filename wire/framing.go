package wire

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
)

// DefaultMaxLine is the longest line that a [LineReader] or [Splitter] accepts
// unless told otherwise. A CLI writes lines of many megabytes as a matter of
// course (an image, the output of a command), so the limit is there to stop a
// runaway and not to police size.
const DefaultMaxLine = 256 << 20

const (
	firstBuffer = 64 << 10
	// keepBuffer is the largest buffer kept between lines: one huge line must
	// not pin its size in memory for the rest of the session.
	keepBuffer = 1 << 20
	headLength = 1 << 10
)

// A LineTooLongError reports a line over the limit. The line has been read to
// its end and dropped; whoever returned the error goes on with the next one.
type LineTooLongError struct {
	// Line is the line's number, from 1.
	Line int
	// Length is the line's length in bytes without its line end.
	Length int64
	// Limit is the length that would have been accepted.
	Limit int
	// Sum is the SHA-256 of the whole line.
	Sum [sha256.Size]byte
	// Head is the beginning of the line, at most 1 KiB.
	Head []byte
}

// Error names the line, its length and the limit.
func (e *LineTooLongError) Error() string {
	return fmt.Sprintf("line %d is %d bytes long, expected at most %d", e.Line, e.Length, e.Limit)
}

// A LineReader cuts a byte stream into lines as the CLI writes them: only "\n"
// ends a line (never U+2028 or U+2029), one "\r" before it is dropped, blank
// lines are passed over, a last line without "\n" counts.
//
// A LineReader is not safe for concurrent use.
type LineReader struct {
	r   io.Reader
	b   lineBuffer
	err error
}

// NewLineReader returns a reader of the lines of r. A line longer than limit
// bytes is refused with a [*LineTooLongError]; a limit of zero or less means
// [DefaultMaxLine].
func NewLineReader(r io.Reader, limit int) *LineReader {
	return &LineReader{r: r, b: lineBuffer{limit: limit}}
}

// Next returns the next line without its line end. The slice is valid until the
// following call. After the last line it returns the error of the underlying
// reader, which is io.EOF at a regular end. A [*LineTooLongError] does not end
// the stream: the following call returns the following line.
func (l *LineReader) Next() ([]byte, error) {
	for {
		line, ok, err := l.b.next()
		if err != nil || ok {
			return line, err
		}
		if l.err != nil {
			line, ok, err = l.b.last()
			if err != nil || ok {
				return line, err
			}
			return nil, l.err
		}
		space := l.b.grow()
		n, err := l.r.Read(space)
		l.b.buf = l.b.buf[:len(l.b.buf)+n]
		if err != nil {
			l.err = err
		}
	}
}

// Line returns the number, from 1, of the line that Next returned or refused
// last. Blank lines are counted.
func (l *LineReader) Line() int { return l.b.line }

// A Splitter cuts pushed chunks, such as WebSocket messages, into lines by the
// rules of [LineReader]: a chunk may hold several lines, or a part of one. The
// zero value is ready to use.
//
// A Splitter is not safe for concurrent use.
type Splitter struct {
	// Max is the longest accepted line in bytes. If zero, DefaultMaxLine.
	Max int
	// Frames makes the end of a chunk end a line too, if what is held back by
	// then is a complete object. Front ends send such frames; for a CLI it must
	// be false, because its frames are a byte stream and nothing more.
	Frames bool

	b lineBuffer
}

// Push adds a chunk; the bytes are copied.
func (s *Splitter) Push(chunk []byte) {
	if s.Frames {
		s.endFrame()
	}
	s.b.limit = s.Max
	s.b.compact()
	s.b.buf = append(s.b.buf, chunk...)
}

// Next returns the next whole line, or nil when more input is needed. The slice
// is valid until the following call of Push or Next.
func (s *Splitter) Next() ([]byte, error) {
	s.b.limit = s.Max
	line, ok, err := s.b.next()
	if !ok && err == nil && s.Frames && s.endFrame() {
		line, _, err = s.b.next()
	}
	return line, err
}

// endFrame ends the line that is held back if it is a complete object.
func (s *Splitter) endFrame() bool {
	rest := s.b.buf[s.b.start:]
	if s.b.over != nil || !completeObject(rest) {
		return false
	}
	s.b.buf = append(s.b.buf, '\n')
	return true
}

// Rest returns what has been pushed and is not yet a whole line.
func (s *Splitter) Rest() []byte { return s.b.buf[s.b.start:] }

// Line returns the number, from 1, of the line that Next returned or refused
// last. Blank lines are counted.
func (s *Splitter) Line() int { return s.b.line }

// completeObject reports whether b is one JSON object with nothing after it, as
// far as brackets and quotes tell.
func completeObject(b []byte) bool {
	b = bytes.TrimRight(b, " \t\r")
	if len(b) == 0 || b[len(b)-1] != '}' {
		return false
	}
	i := skipSpace(b, 0)
	if i == len(b) || b[i] != '{' {
		return false
	}
	end, err := skipValue(b, i)
	return err == nil && end == len(b)
}

// lineBuffer holds bytes that have not become lines yet. It is the one place
// where the rules of framing are.
type lineBuffer struct {
	limit   int
	buf     []byte
	start   int // buf[start:] is unread
	scanned int // buf[start:start+scanned] holds no "\n"
	line    int
	over    *oversize
}

// oversize gathers what is reported of a line that is being dropped.
type oversize struct {
	length int64
	head   []byte
	sum    hash.Hash
}

func (o *oversize) add(p []byte) {
	o.length += int64(len(p))
	o.sum.Write(p)
	if room := headLength - len(o.head); room > 0 {
		o.head = append(o.head, p[:min(room, len(p))]...)
	}
}

func (b *lineBuffer) max() int {
	if b.limit <= 0 {
		return DefaultMaxLine
	}
	return b.limit
}

// next returns the next line that ends in "\n". ok is false when there is none.
func (b *lineBuffer) next() (line []byte, ok bool, err error) {
	for {
		rest := b.buf[b.start:]
		i := bytes.IndexByte(rest[b.scanned:], '\n')
		if i < 0 {
			b.scanned = len(rest)
			// One byte more than the limit may be the "\r" of a line end.
			if b.over != nil || len(rest) > b.max()+1 {
				b.drop(rest)
			}
			return nil, false, nil
		}
		i += b.scanned
		b.start += i + 1
		b.scanned = 0
		b.line++
		if line, ok, err = b.finish(rest[:i]); ok || err != nil {
			return line, ok, err
		}
	}
}

// last returns what is left when the stream has ended without a "\n".
func (b *lineBuffer) last() (line []byte, ok bool, err error) {
	rest := b.buf[b.start:]
	if len(rest) == 0 && b.over == nil {
		return nil, false, nil
	}
	b.start, b.scanned = len(b.buf), 0
	b.line++
	return b.finish(rest)
}

// finish judges a line that has been cut: a blank one gives ok false.
func (b *lineBuffer) finish(line []byte) ([]byte, bool, error) {
	if b.over == nil {
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if len(line) <= b.max() {
			return line, !blank(line), nil
		}
		b.over = newOversize()
	}
	b.over.add(line)
	e := &LineTooLongError{Line: b.line, Length: b.over.length, Limit: b.max(), Head: b.over.head}
	b.over.sum.Sum(e.Sum[:0])
	b.over = nil
	return nil, false, e
}

func newOversize() *oversize { return &oversize{sum: sha256.New()} }

// drop throws away bytes of a line that is over the limit.
func (b *lineBuffer) drop(rest []byte) {
	if b.over == nil {
		b.over = newOversize()
	}
	b.over.add(rest)
	b.start, b.scanned = len(b.buf), 0
}

// compact moves the unread bytes to the front.
func (b *lineBuffer) compact() {
	if b.start == 0 {
		return
	}
	n := copy(b.buf, b.buf[b.start:])
	b.buf, b.start = b.buf[:n], 0
	if n == 0 && cap(b.buf) > keepBuffer {
		b.buf = nil
	}
}

// grow returns free space behind the unread bytes.
func (b *lineBuffer) grow() []byte {
	if cap(b.buf)-len(b.buf) < firstBuffer/4 {
		b.compact()
	}
	if cap(b.buf)-len(b.buf) < firstBuffer/4 {
		bigger := make([]byte, len(b.buf), max(firstBuffer, 2*cap(b.buf)))
		copy(bigger, b.buf)
		b.buf = bigger
	}
	return b.buf[len(b.buf):cap(b.buf)]
}

func blank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// ErrNotObject says that a line is not one complete JSON object.
var ErrNotObject = errors.New("expected one complete JSON object")

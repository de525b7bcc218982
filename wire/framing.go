package wire

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
)

// DefaultMaxLine is the longest line that a [LineReader] or [Splitter] accepts
// unless told otherwise. A CLI writes lines of many megabytes as a matter of
// course (an image, the output of a command), so the limit is there to stop a
// runaway and not to police size.
const DefaultMaxLine = 256 << 20

const (
	firstBuffer = 64 << 10
	// spareBuffer is the least free space that is worth a call of Read.
	spareBuffer = firstBuffer / 4
	// keepBuffer is the largest buffer kept between lines: one huge line must
	// not pin its size in memory for the rest of the session.
	keepBuffer = 1 << 20
	headLength = 1 << 10
	// maxEmptyReads is how often in a row a reader may return nothing, and no
	// error, before it is taken to be broken.
	maxEmptyReads = 100
)

// A LineTooLongError reports a line over the limit. The line has been read to
// its end and dropped; the reader that returned the error continues with the next one.
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
	// refused is the error of a line that is too long, while Batch first returns
	// those before it.
	refused error
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
	if err := l.takeRefused(); err != nil {
		return nil, err
	}
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
		l.read()
	}
}

// Batch adds to lines what one read of the underlying reader brings, at least
// one line, each without its line end. Unlike those of Next they are the
// caller's: they share memory with each other, in chunks of 64 KiB or less than
// four times a line's length, and are never written to again. Lines and an error
// do not come together; errors are those of Next.
func (l *LineReader) Batch(lines [][]byte) ([][]byte, error) {
	if err := l.takeRefused(); err != nil {
		return lines, err
	}
	had := len(lines)
	lines, err := l.views(lines)
	l.b.detach(lines[had:])
	return lines, err
}

// views is Batch, but the lines are valid until the following call.
func (l *LineReader) views(lines [][]byte) ([][]byte, error) {
	l.b.batch = true
	for had := len(lines); ; {
		for {
			line, ok, err := l.b.next()
			if !ok && err == nil && l.err != nil {
				line, ok, err = l.b.last()
			}
			if err != nil {
				if len(lines) > had {
					l.refused = err
					return lines, nil
				}
				return lines, err
			}
			if !ok {
				break
			}
			lines = append(lines, line)
		}
		switch {
		case len(lines) > had:
			return lines, nil
		case l.err != nil:
			return lines, l.err
		}
		l.read()
	}
}

func (l *LineReader) takeRefused() error {
	err := l.refused
	l.refused = nil
	return err
}

// read reads until there are more bytes, or an error.
func (l *LineReader) read() {
	for range maxEmptyReads {
		n, err := l.r.Read(l.b.grow())
		l.b.buf = l.b.buf[:len(l.b.buf)+n]
		l.err = err
		if n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}

// Line returns the number, from 1, of the line that Next returned or refused
// last. Blank lines are counted.
func (l *LineReader) Line() int { return l.b.line }

// A Splitter cuts pushed chunks, such as WebSocket messages, into lines by the
// rules of [LineReader]: a chunk may hold several lines, or a part of one. The
// zero value is ready to use. Call Next until it returns nil after each Push, or
// what is pushed piles up.
//
// A Splitter is not safe for concurrent use.
type Splitter struct {
	// Max is the longest accepted line in bytes. If zero, DefaultMaxLine.
	Max int
	// Frames makes the end of a chunk end a line too, unless an object is still
	// open there. Front ends send such frames; for a CLI it must be false, because
	// its frames are a byte stream and nothing more.
	Frames bool

	b     lineBuffer
	frame frameScanner
}

// Push adds a chunk; the bytes are copied.
func (s *Splitter) Push(chunk []byte) {
	s.b.compact()
	s.b.buf = append(s.b.buf, chunk...)
	if s.Frames && s.frame.ends(chunk) {
		s.b.buf = append(s.b.buf, '\n')
	}
}

// Next returns the next whole line, or nil when more input is needed. The slice
// is valid until the following call of Push or Next.
func (s *Splitter) Next() ([]byte, error) {
	s.b.limit = s.Max
	line, _, err := s.b.next()
	return line, err
}

// Rest returns what has been pushed and is not yet a whole line.
func (s *Splitter) Rest() []byte { return s.b.buf[s.b.start:] }

// Line returns the number, from 1, of the line that Next returned or refused
// last. Blank lines are counted.
func (s *Splitter) Line() int { return s.b.line }

// frameScanner follows the brackets and quotes of a line over the frames that it
// comes in. It sees every byte once, and those of a line over the limit too:
// that one must end as well.
type frameScanner struct {
	begun    bool // there is something other than space
	inString bool
	escaped  bool // the next byte is, by a backslash in a string
	depth    int
}

// ends takes the next frame and reports whether a line ends with it. A line goes
// on only while an object is open: text that cannot become one any more is a
// line of its own, for the reader to refuse, or it would swallow every
// frame that comes after it.
func (f *frameScanner) ends(frame []byte) bool {
	if i := bytes.LastIndexByte(frame, '\n'); i >= 0 {
		*f = frameScanner{}
		frame = frame[i+1:]
	}
	for i := 0; i < len(frame); i++ {
		if f.inString {
			i = f.string(frame, i)
			continue
		}
		switch frame[i] {
		case ' ', '\t', '\r':
			continue
		case '"':
			f.inString = true
		case '{', '[':
			f.depth++
		case '}', ']':
			f.depth--
		}
		f.begun = true
	}
	if !f.begun || f.depth > 0 {
		return false
	}
	*f = frameScanner{}
	return true
}

// string goes on within a string at frame[i]. It returns the index of the closing
// quote, or of the last byte if the string does not end in this frame.
func (f *frameScanner) string(frame []byte, i int) int {
	if f.escaped {
		f.escaped = false
		i++
	}
	for start := i; i < len(frame); i++ {
		j := bytes.IndexByte(frame[i:], '"')
		if j < 0 {
			f.escaped = escapedAt(frame, start, len(frame))
			break
		}
		if i += j; !escapedAt(frame, start, i) {
			f.inString = false
			return i
		}
	}
	return len(frame) - 1
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

	// Of Batch: whether it is what is called, and whether a part of buf before start
	// belongs to its caller, see give.
	batch bool
	given bool
}

// oversize gathers what is reported of a line that is being dropped.
type oversize struct {
	length int64
	head   []byte
	sum    hash.Hash
	// cr says that the last byte so far was a "\r". It is held back: it is not
	// part of the line if the line ends there.
	cr bool
}

func (o *oversize) add(p []byte) {
	if len(p) == 0 {
		return
	}
	if o.cr {
		o.count([]byte{'\r'})
	}
	if o.cr = p[len(p)-1] == '\r'; o.cr {
		p = p[:len(p)-1]
	}
	o.count(p)
}

func (o *oversize) count(p []byte) {
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
			if b.over != nil || len(rest)-1 > b.max() {
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
		if cut := bytes.TrimSuffix(line, []byte{'\r'}); len(cut) <= b.max() {
			return cut, !blank(cut), nil
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

// detach makes lines that next has cut in a row the caller's. They get memory of their
// own, since a buffer that is used again is quicker to read into than one that has to
// be cleared and fetched first. Only of a buffer that has grown for a long line is
// that line given away as it is; the buffer is left to the garbage collector then.
func (b *lineBuffer) detach(lines [][]byte) {
	for len(lines) > 0 {
		if first := lines[0]; cap(b.buf) > firstBuffer && len(first) >= cap(b.buf)/4 {
			b.given = true
			lines[0] = slices.Clip(first)
			lines = lines[1:]
			continue
		}
		// Their places follow from what is left of the buffer behind them.
		from := cap(lines[0])
		n, end := 1, len(lines[0])
		for ; n < len(lines); n++ {
			next := from - cap(lines[n]) + len(lines[n])
			if next > firstBuffer {
				break
			}
			end = next
		}
		chunk := append([]byte(nil), lines[0][:end]...)
		for i, line := range lines[:n] {
			start := from - cap(line)
			lines[i] = chunk[start : start+len(line) : start+len(line)]
		}
		lines = lines[n:]
	}
}

// compact moves the unread bytes to the front, and out of a buffer of the wrong
// size.
func (b *lineBuffer) compact() {
	rest := b.buf[b.start:]
	switch {
	case b.given || b.isUnfit(len(rest)):
		b.given = false
		b.buf = append(make([]byte, 0, max(firstBuffer, 2*len(rest))), rest...)
	case b.start > 0:
		b.buf = b.buf[:copy(b.buf, rest)]
	}
	b.start = 0
}

// isUnfit reports whether the buffer is much too large for what is unread. With
// Batch that comes sooner, since lines cannot share such a buffer.
func (b *lineBuffer) isUnfit(rest int) bool {
	if b.batch {
		return cap(b.buf) > firstBuffer && rest <= firstBuffer/4
	}
	return cap(b.buf) > keepBuffer && rest <= keepBuffer/4
}

// grow returns free space behind the unread bytes.
func (b *lineBuffer) grow() []byte {
	rest := len(b.buf) - b.start
	if !b.given && rest < spareBuffer || cap(b.buf)-len(b.buf) < spareBuffer || b.isUnfit(rest) {
		b.compact()
	}
	if cap(b.buf)-len(b.buf) < spareBuffer {
		// Twice as much, but no more than the longest line can need.
		size := min(2*cap(b.buf), b.max()+min(firstBuffer, math.MaxInt-b.max()))
		bigger := make([]byte, len(b.buf), max(firstBuffer, size, len(b.buf)+spareBuffer))
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

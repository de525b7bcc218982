package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/switchboard-dev/switchboard/wire"
)

// The carrier.
const (
	// Path is where the hub accepts links.
	Path = "/link"
	// Subprotocol is the WebSocket subprotocol of links.
	Subprotocol = "switchboard-link"
	// MaxFrame is the most bytes that a frame has.
	MaxFrame = 1 << 20
	// Batch is how many bytes a frame should have when many lines wait: with
	// more, frames cost memory and gain nothing.
	Batch = 64 << 10
)

// MaxLine is the longest line that a link carries. A shim takes none that is
// longer from its CLI; what it says about one that is takes little.
const MaxLine = wire.DefaultMaxLine

// A Kind says what a record is.
type Kind byte

// The kinds.
const (
	// Line is a durable line of the CLI.
	Line Kind = 'L'
	// Program is a line that the program which owns the CLI has written to it.
	Program Kind = 'P'
	// TooLong stands for a line over the limit; its bytes are an [Oversize].
	TooLong Kind = 'O'
	// Happened is an [Event] of the shim.
	Happened Kind = 'E'
	// Live is a line that is not kept.
	Live Kind = 'V'
	// Outbox is a line to the CLI.
	Outbox Kind = 'C'
)

// Durable reports whether records of this kind are numbered, kept and
// acknowledged. An unknown kind is.
func (k Kind) Durable() bool { return k != Live && k != Outbox }

// A Record is a line on its way.
type Record struct {
	Kind Kind
	// Number is the line's own, for a live line that of the durable line before
	// it (0 if there is none), for a command that of the outbox.
	Number int64
	// K counts live lines since the durable one, from 1; 0 for all others.
	K int64
	// Hole says that live lines before this one were left out.
	Hole bool
	// Bytes is the line without its line end.
	Bytes []byte
}

const (
	flagMore = 1 << iota
	flagHole
)

// maxHeader is the most bytes that a record has besides its line.
const maxHeader = 2 + 3*binary.MaxVarintLen64

// AppendRecord appends a record to a frame, from an offset into its bytes on
// (0 at first), as far as it fits into limit bytes, which must be some hundred
// at least. It returns the frame and the new offset, and whether the record is
// complete; otherwise the next frame goes on there. If hardly anything fits,
// nothing is appended.
func AppendRecord(frame []byte, r *Record, offset, limit int) (out []byte, next int, done bool) {
	rest := r.Bytes[offset:]
	room := limit - len(frame) - maxHeader
	flags := byte(0)
	if r.Hole {
		flags |= flagHole
	}
	if done = len(rest) <= room; !done {
		if room < minPiece && len(frame) > 0 {
			return frame, offset, false
		}
		rest = rest[:room]
		flags |= flagMore
	}
	frame = append(frame, byte(r.Kind), flags)
	frame = binary.AppendUvarint(frame, uint64(r.Number))
	if r.Kind == Live {
		frame = binary.AppendUvarint(frame, uint64(r.K))
	}
	frame = binary.AppendUvarint(frame, uint64(len(rest)))
	return append(frame, rest...), offset + len(rest), done
}

// minPiece is the least of a line that is worth a record of its own at the end
// of a frame.
const minPiece = 1 << 10

// Frames packs records into frames, each of about [Batch] bytes, and of up to
// [MaxFrame] where a line is longer. A frame is valid until the next one.
func Frames(records iter.Seq[Record]) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var frame []byte
		for r := range records {
			for offset, done := 0, false; !done; {
				frame, offset, done = AppendRecord(frame, &r, offset, MaxFrame)
				if !done || len(frame) >= Batch {
					if !yield(frame) {
						return
					}
					frame = frame[:0]
				}
			}
		}
		if len(frame) > 0 {
			yield(frame)
		}
	}
}

// ErrMalformed is what every error of a [Decoder] is, and of what reads the
// text messages. The connection is of no more use then.
var ErrMalformed = errors.New("malformed link data")

// A Decoder takes records out of frames. The zero value is ready to use, for
// one direction of one connection. Between lines it holds no memory.
type Decoder struct {
	// Max is the longest line that is accepted. If zero, [MaxLine].
	Max int

	frame []byte
	open  bool   // a line has begun
	line  Record // as far as it has come, if open
	err   error
}

// Push gives the decoder a frame, which must remain unchanged until Next has
// returned all that is in it. What was left of the frame before is lost.
func (d *Decoder) Push(frame []byte) { d.frame = frame }

// Next returns the next line; ok is false when another frame is needed. The
// bytes of a line that fits into one record are part of the frame; those of any
// other are the caller's. After an error it always returns that.
func (d *Decoder) Next() (r Record, ok bool, err error) {
	for d.err == nil && len(d.frame) > 0 {
		var more bool
		r, more, d.err = d.record()
		if d.err != nil {
			break
		}
		if !more && !d.open {
			return r, true, nil
		}
		if d.err = d.join(r); d.err == nil && !more {
			r, d.line, d.open = d.line, Record{}, false
			return r, true, nil
		}
	}
	return Record{}, false, d.err
}

// join adds a record to the line that has begun.
func (d *Decoder) join(r Record) error {
	switch {
	case len(r.Bytes) == 0:
		return fmt.Errorf("%w: an empty part of a line", ErrMalformed)
	case !d.open:
		d.open = true
		d.line = r
		// A copy of no more than that: most long lines have just two parts.
		d.line.Bytes = append([]byte(nil), r.Bytes...)
		return nil
	case r.Kind != d.line.Kind || r.Number != d.line.Number || r.K != d.line.K:
		return fmt.Errorf("%w: record %c %d inside line %c %d", ErrMalformed, r.Kind, r.Number, d.line.Kind, d.line.Number)
	case len(d.line.Bytes)+len(r.Bytes) > d.max():
		return fmt.Errorf("%w: line %d is longer than %d bytes", ErrMalformed, r.Number, d.max())
	}
	d.line.Bytes = append(d.line.Bytes, r.Bytes...)
	return nil
}

func (d *Decoder) max() int {
	if d.Max > 0 {
		return d.Max
	}
	return MaxLine
}

// record takes the next record off the frame.
func (d *Decoder) record() (r Record, more bool, err error) {
	b := d.frame
	if len(b) < 2 {
		return r, false, fmt.Errorf("%w: a record that is cut off", ErrMalformed)
	}
	r.Kind = Kind(b[0])
	more, r.Hole = b[1]&flagMore != 0, b[1]&flagHole != 0
	b = b[2:]
	if r.Number, b, err = number(b); err != nil {
		return r, false, err
	}
	if r.Kind == Live {
		if r.K, b, err = number(b); err != nil {
			return r, false, err
		}
		if r.K == 0 {
			return r, false, fmt.Errorf("%w: a live line without a place", ErrMalformed)
		}
	} else if r.Number == 0 {
		return r, false, fmt.Errorf("%w: a record without a number", ErrMalformed)
	}
	length, b, err := number(b)
	if err != nil {
		return r, false, err
	}
	if length > int64(len(b)) {
		return r, false, fmt.Errorf("%w: a record of %d bytes where %d are left", ErrMalformed, length, len(b))
	}
	if length > int64(d.max()) {
		return r, false, fmt.Errorf("%w: line %d is longer than %d bytes", ErrMalformed, r.Number, d.max())
	}
	// Clipped, so that an append cannot write into the next record.
	r.Bytes, d.frame = b[:length:length], b[length:]
	return r, more, nil
}

func number(b []byte) (int64, []byte, error) {
	v, n := binary.Uvarint(b)
	if n <= 0 || v > math.MaxInt64 {
		return 0, nil, fmt.Errorf("%w: a number that is cut off or too big", ErrMalformed)
	}
	return int64(v), b[n:], nil
}

// ReadFrame reads a frame of at most [MaxFrame] bytes to the end of r, into buf
// as far as that is large enough. It lets many links share few buffers: between
// frames none is needed.
func ReadFrame(r io.Reader, buf []byte) ([]byte, error) {
	buf = buf[:0]
	for {
		if len(buf) == cap(buf) {
			// More than append would: the most frequent sizes are a line and a batch.
			grown := make([]byte, len(buf), max(4<<10, 4*cap(buf)))
			copy(grown, buf)
			buf = grown
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > MaxFrame:
			return buf, fmt.Errorf("%w: a frame of more than %d bytes", ErrMalformed, MaxFrame)
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return buf, err
		}
	}
}

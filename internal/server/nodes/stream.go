package nodes

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/node"
)

// maxLine is the longest line that is taken from a node: longer ones no CLI is sent.
const maxLine = 256 << 20

// A stream is something long that a node sends in pieces. Read is for one goroutine.
type stream struct {
	// Static after construction.
	ctx    context.Context //nolint:containedctx // of the caller that reads
	conn   *conn
	name   string
	handle uint64
	close  func() // gives the stream back; further calls do nothing

	// Owned by the reader.
	rest []byte
	end  bool
	err  error
}

// open opens a stream. It is closed when ctx ends.
func (l launcher) open(ctx context.Context, method string, body any) (*stream, error) {
	c, _, display := l.now()
	if c == nil {
		return nil, &hub.UnreachableError{Node: display}
	}
	select {
	case c.streams <- struct{}{}:
	case <-c.ctx.Done():
		return nil, &hub.UnreachableError{Node: display, Err: context.Cause(c.ctx)}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var opened node.Opened
	if err := c.call(ctx, method, body, &opened); err != nil {
		<-c.streams
		return nil, reached(display, err)
	}
	s := &stream{ctx: ctx, conn: c, name: display, handle: opened.Handle}
	var stop func() bool
	s.close = sync.OnceFunc(func() {
		if stop != nil {
			stop()
		}
		// The node may have closed it at its end; then this says nothing to it.
		c.cast(node.MethodClose, node.Handle{Handle: s.handle})
		<-c.streams
	})
	stop = context.AfterFunc(ctx, s.close)
	return s, nil
}

// cast asks the node for something whose answer is not waited for.
func (c *conn) cast(method string, body node.Handle) {
	c.mu.Lock()
	c.last++
	id := c.last
	c.mu.Unlock()
	raw := fmt.Appendf(nil, `{"handle":%d}`, body.Handle)
	c.say(&node.Call{ID: id, Method: method, Body: raw})
}

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		switch {
		case s.err != nil:
			return 0, s.err
		case s.end:
			return 0, io.EOF
		}
		var piece node.Piece
		if err := s.conn.call(s.ctx, node.MethodNext, node.Handle{Handle: s.handle}, &piece); err != nil {
			s.err = reached(s.name, err)
			continue
		}
		if len(piece.Bytes) > node.MaxPiece || len(piece.Bytes) == 0 && !piece.End {
			s.err = errors.New("reading from a node: a piece is out of bounds")
			continue
		}
		s.rest, s.end = piece.Bytes, piece.End
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// errReadAlready is what a second loop over lines gets.
var errReadAlready = errors.New("reading from a node: these lines were read already")

// lines opens a stream of lines, each after its length in four bytes.
func (l launcher) lines(ctx context.Context, method string, body any) (iter.Seq2[[]byte, error], error) {
	s, err := l.open(ctx, method, body)
	if err != nil {
		return nil, err
	}
	var once sync.Once
	return func(yield func([]byte, error) bool) {
		first := false
		once.Do(func() { first = true })
		if !first {
			yield(nil, errReadAlready)
			return
		}
		defer s.close()
		r := bufio.NewReader(s)
		for {
			line, err := readLine(r)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}, nil
}

// readLine reads one line. The error is [io.EOF] at the end of all.
func readLine(r *bufio.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	length := int64(binary.BigEndian.Uint32(head[:]))
	if length > maxLine {
		return nil, fmt.Errorf("reading from a node: a line is longer than %d bytes", maxLine)
	}
	// What the node says is not taken for granted: memory is for what has come.
	var line bytes.Buffer
	if n, err := io.CopyN(&line, r, length); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("reading from a node: a line ends after %d of %d bytes: %w", n, length, err)
	}
	return line.Bytes(), nil
}

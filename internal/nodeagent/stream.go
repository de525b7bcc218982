package nodeagent

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/internal/node"
)

// idleStream is after what time without a call a stream may be closed that another one
// needs the place of.
const idleStream = time.Minute

// A stream is something long that the hub reads in pieces.
type stream struct {
	// Guarded by mu, which is held while a piece is read.
	mu    sync.Mutex
	r     io.Reader
	close func()
	over  bool
	used  time.Time
}

// streams are those of a connection. Its methods are safe for concurrent use.
type streams struct {
	mu   sync.Mutex
	last uint64             // guarded by mu
	open map[uint64]*stream // guarded by mu; nil when the connection has ended
}

func newStreams() *streams { return &streams{open: map[uint64]*stream{}} }

// add keeps a stream, and returns its handle. It closes the stream if there is no place.
func (s *streams) add(r io.Reader, done func()) (*node.Opened, error) {
	s.mu.Lock()
	if s.open != nil && len(s.open) >= node.MaxStreams {
		for handle, each := range s.open {
			if each.idle() {
				delete(s.open, handle)
				defer each.end()
			}
		}
	}
	if s.open == nil || len(s.open) >= node.MaxStreams {
		s.mu.Unlock()
		done()
		return nil, &node.Failure{Code: node.Busy, Reason: "too many files of the machine are being read", Hint: "try again"}
	}
	s.last++
	s.open[s.last] = &stream{r: r, close: done, used: time.Now()}
	opened := &node.Opened{Handle: s.last}
	s.mu.Unlock()
	return opened, nil
}

// idle reports whether a stream was not read for long.
func (s *stream) idle() bool {
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	return time.Since(s.used) > idleStream
}

// end closes a stream, when it is not being read.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.over = true
		s.close()
	}
}

// next reads a piece.
func (s *streams) next(handle uint64) (*node.Piece, error) {
	s.mu.Lock()
	each := s.open[handle]
	s.mu.Unlock()
	if each == nil {
		return nil, &node.Failure{Code: node.Invalid, Reason: "the file is not open any more"}
	}
	each.mu.Lock()
	if each.over {
		each.mu.Unlock()
		return nil, &node.Failure{Code: node.Invalid, Reason: "the file is not open any more"}
	}
	piece := &node.Piece{Bytes: make([]byte, node.MaxPiece)}
	n, err := io.ReadFull(each.r, piece.Bytes)
	each.used = time.Now()
	each.mu.Unlock()
	piece.Bytes = piece.Bytes[:n]
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		piece.End = true
		s.drop(handle)
	case err != nil:
		s.drop(handle)
		return nil, err
	}
	return piece, nil
}

// drop closes a stream, if there is one.
func (s *streams) drop(handle uint64) {
	s.mu.Lock()
	each := s.open[handle]
	delete(s.open, handle)
	s.mu.Unlock()
	if each != nil {
		each.end()
	}
}

// closeAll closes all streams, and takes no more.
func (s *streams) closeAll() {
	s.mu.Lock()
	open := s.open
	s.open = nil
	s.mu.Unlock()
	for _, each := range open {
		each.end()
	}
}

// handleStream answers a call about something long.
func (c *control) handleStream(m *node.Call) (any, error) {
	a := c.agent
	switch m.Method {
	case node.MethodNext:
		return with(m, func(h *node.Handle) (*node.Piece, error) { return c.streams.next(h.Handle) })
	case node.MethodClose:
		return with(m, func(h *node.Handle) (any, error) {
			c.streams.drop(h.Handle)
			return nil, nil
		})
	case node.MethodHistory:
		return with(m, func(h *node.History) (*node.Opened, error) {
			return c.lines(func(ctx context.Context) (iter.Seq2[[]byte, error], error) {
				return a.launcher.History(ctx, h.ConfigDir, h.Dir, h.Conversation)
			})
		})
	case node.MethodTranscript:
		return with(m, func(h *node.History) (*node.Opened, error) {
			return c.lines(func(ctx context.Context) (iter.Seq2[[]byte, error], error) {
				return a.library.ReadTranscript(ctx, h.Dir, h.Conversation)
			})
		})
	case node.MethodSpool:
		return with(m, func(s *node.Spool) (*node.Opened, error) {
			file, err := a.openSpool(s.Name)
			if err != nil {
				return nil, err
			}
			return c.streams.add(file, func() { _ = file.Close() }) // it was only read
		})
	}
	return with(m, func(t *node.Taken) (any, error) { return nil, a.taken(t) })
}

// lines opens a stream of lines, each after its length in four bytes. They end with the
// connection.
func (c *control) lines(open func(context.Context) (iter.Seq2[[]byte, error], error)) (*node.Opened, error) {
	ctx, cancel := context.WithCancel(c.ctx)
	list, err := open(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	next, stop := iter.Pull2(list)
	return c.streams.add(&lineReader{next: next}, func() {
		cancel()
		stop()
	})
}

// A lineReader reads lines, each after its length in four bytes.
type lineReader struct {
	next func() ([]byte, error, bool)
	rest []byte
}

// Read implements [io.Reader].
func (l *lineReader) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		line, err, ok := l.next()
		if !ok {
			return 0, io.EOF
		}
		if err != nil {
			return 0, err
		}
		l.rest = append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(line)), uint32(len(line))), line...)
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// openSpool opens a file that a shim has left.
func (a *Agent) openSpool(name string) (*os.File, error) {
	if !node.IsSpool(name) {
		return nil, errBody
	}
	root, err := os.OpenRoot(a.spool) // no link leads out of it
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // the file has its own
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &node.Failure{Code: node.Invalid, Reason: "what is called like a file that a shim has left is none"}
	}
	return root.Open(name)
}

// taken puts away a file that the hub has in its journal.
func (a *Agent) taken(t *node.Taken) error {
	if !node.IsSpool(t.Name) {
		return errBody
	}
	path := filepath.Join(a.spool, t.Name)
	var err error
	if t.Damaged {
		err = os.Rename(path, path+".damaged")
	} else {
		err = os.Remove(path)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil // it was taken before, and the answer got lost
	}
	return err
}

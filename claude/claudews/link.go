package claudews

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	defaultPingInterval = 10 * time.Second
	defaultPingTimeout  = 20 * time.Second
	// closeTimeout bounds the close handshake: a peer that does not answer by then is
	// cut off.
	closeTimeout = 2 * time.Second
	readChunk    = 32 << 10
)

var (
	errPing    = errors.New("no answer to a ping")
	errClosing = errors.New("closed on this side")
	errNotSent = errors.New("the connection ended before the line was sent")
)

// A link is one WebSocket connection.
type link struct {
	// Static after construction.
	ws     *websocket.Conn
	conn   *batchConn      // below ws; nil for a connection that was dialled
	number int             // counts the connections of a transport, from 1
	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc
	done   chan struct{} // closed by the reading goroutine, as the last thing it does
	lines  *lineReader   // set by readTo

	// stalled is true while the reader of the transport is waited for, and
	// active counts what was read. Pongs are not read while stalled, so their
	// absence says nothing then.
	stalled atomic.Bool
	active  atomic.Uint64
}

func newLink(ws *websocket.Conn, conn *batchConn, number int) *link {
	// Lines have their own limit, and one that is over it must not end the
	// connection: the CLI would come back and send it again.
	ws.SetReadLimit(-1)
	ctx, cancel := context.WithCancelCause(context.Background())
	if conn != nil {
		// Every read ends with the connection, so that none has to register with a
		// context of its own.
		context.AfterFunc(ctx, func() { _ = conn.Close() }) // it may have been closed before
	}
	return &link{ws: ws, conn: conn, number: number, ctx: ctx, cancel: cancel, done: make(chan struct{})}
}

// stop ends the connection without a close frame. The first cause counts.
func (l *link) stop(cause error) { l.cancel(cause) }

// close ends the connection with a close frame, and waits a moment for the
// other side's.
func (l *link) close(code int, reason string) {
	timer := time.AfterFunc(closeTimeout, func() { l.stop(errClosing) })
	defer timer.Stop()
	// Whatever goes wrong here, the connection is gone afterwards.
	_ = l.ws.Close(websocket.StatusCode(code), reason)
	l.stop(errClosing)
}

// A taker takes the lines of a connection.
type taker interface {
	// take takes a line, which is the taker's only during the call, or what is known
	// of one that was too long.
	take(line []byte, tooLong *wire.LineTooLongError) error
	// flush hands on the lines that were taken since it was called last. It is called
	// before the connection is waited for, and when it has ended.
	flush() error
}

// readTo sets the taker of the lines. It is called before the link is shared.
func (l *link) readTo(limit int, to taker) {
	l.lines = &lineReader{link: l, to: to, split: wire.Splitter{Max: limit}}
	if l.conn != nil {
		l.conn.flush = l.lines.flush
	}
}

// read hands every line that comes to the taker, until the connection ends or the
// taker returns an error. It returns why it ended.
func (l *link) read() error {
	err := l.lines.run()
	if refused := l.lines.flush(); refused != nil {
		err = refused
	}
	var closed websocket.CloseError
	if !errors.As(err, &closed) && l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	return closeError(err)
}

// A lineReader splits what comes on a connection into lines.
type lineReader struct {
	// Static after construction.
	link *link

	// Guarded by mu: besides the goroutine in run, the one in link.close reads the
	// connection, while it waits for the other side's close frame, and flushes.
	mu      sync.Mutex
	to      taker
	split   wire.Splitter
	refused error // of the taker; nothing is taken afterwards
}

// run reads messages until the connection ends or the taker returns an error.
func (r *lineReader) run() error {
	ctx := r.link.ctx
	if r.link.conn != nil {
		ctx = context.Background() // see newLink
	}
	var buf []byte
	for {
		_, message, err := r.link.ws.Reader(ctx)
		if err != nil {
			return err
		}
		if buf == nil {
			buf = make([]byte, readChunk)
		}
		for err == nil {
			var n int
			n, err = message.Read(buf)
			if n == 0 {
				continue
			}
			if err := r.push(buf[:n]); err != nil {
				return err
			}
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
	}
}

// push takes bytes of a message.
func (r *lineReader) push(b []byte) error {
	r.link.active.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused != nil {
		return r.refused
	}
	r.split.Push(b)
	for {
		line, err := r.split.Next()
		if line == nil && err == nil {
			return nil
		}
		tooLong, ok := errors.AsType[*wire.LineTooLongError](err)
		if err != nil && !ok {
			return err
		}
		if r.refused = r.to.take(line, tooLong); r.refused != nil {
			return r.refused
		}
	}
}

// flush has the taker hand on what it took.
func (r *lineReader) flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == nil {
		r.refused = r.to.flush()
	}
	return r.refused
}

// wait marks the link as stalled while put waits for the transport's reader.
func (l *link) wait(put func() error) error {
	l.stalled.Store(true)
	defer l.stalled.Store(false)
	return put()
}

// write sends one frame.
func (l *link) write(frame []byte) error {
	kind := websocket.MessageText
	if !utf8.Valid(frame) {
		// A text frame that is not UTF-8 ends the connection; a binary one is
		// read as the same bytes.
		kind = websocket.MessageBinary
	}
	if err := l.ws.Write(l.ctx, kind, frame); err != nil {
		l.stop(closeError(err))
		return fmt.Errorf("%w: %w", ErrLost, context.Cause(l.ctx))
	}
	return nil
}

// answers reports whether the other side answers a ping in time.
func (l *link) answers(timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(l.ctx, timeout)
	defer cancel()
	return l.ws.Ping(ctx) == nil
}

// keepAlive pings until the connection ends, and ends it if there is no answer.
func (l *link) keepAlive(interval, timeout time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-ticker.C:
		}
		before := l.active.Load()
		if !l.answers(timeout) && !l.stalled.Load() && l.active.Load() == before {
			l.stop(&CloseError{Code: codeAbnormal, Err: errPing})
			return
		}
	}
}

// frameOf returns a line with its line end, or an error for what is not a line.
func frameOf(line []byte) ([]byte, error) {
	if len(bytes.TrimSpace(line)) == 0 || bytes.IndexByte(line, '\n') >= 0 {
		return nil, claude.ErrBadLine
	}
	frame := make([]byte, len(line)+1)
	copy(frame, line)
	frame[len(line)] = '\n'
	return frame, nil
}

// An outlet lets frames through one at a time. The end of a caller's context
// ends its wait and not the connection, so a frame may outlive the call that
// sent it; drain waits for it.
type outlet struct {
	turn chan struct{} // holds an element while a frame is on its way

	mu       sync.Mutex
	drained  bool
	underway sync.WaitGroup
}

func newOutlet() *outlet { return &outlet{turn: make(chan struct{}, 1)} }

// send writes a frame to the link. It returns errNotSent if the connection
// ended before that began, and the context's error alone if that ended first.
func (o *outlet) send(ctx context.Context, l *link, frame []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case o.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-l.ctx.Done():
		return errNotSent
	}
	if l.ctx.Err() != nil || !o.enter() {
		<-o.turn
		return errNotSent
	}
	done := make(chan error, 1)
	go func() { // joined by drain
		defer o.underway.Done()
		err := l.write(frame)
		<-o.turn
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", claude.ErrUnfinished, ctx.Err())
	}
}

func (o *outlet) enter() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.drained {
		return false
	}
	o.underway.Add(1)
	return true
}

// drain lets nothing more through and waits for what is on its way.
func (o *outlet) drain() {
	o.mu.Lock()
	o.drained = true
	o.mu.Unlock()
	o.underway.Wait()
}

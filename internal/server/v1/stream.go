package v1

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// keptBuffer is the largest buffer that is kept for the next batch.
const keptBuffer = 256 << 10

var (
	errClosing = errors.New("the server is going away")
	errBeat    = errors.New("the client does not read")
)

// A stream is one client that follows a session by server-sent events.
//
// Two may write: the goroutine of the request and, when nothing else has been
// written for a while, the timer. Whoever does holds mu.
type stream struct {
	// Static after construction.
	server *Server
	w      http.ResponseWriter
	ctl    *http.ResponseController
	cancel context.CancelCauseFunc // ends the wait for frames

	mu    sync.Mutex
	timer *time.Timer // guarded by mu; beats
	over  bool        // guarded by mu; nobody may write any more
}

// serveStream writes what a cursor gives until the client leaves, does not read, or
// the server closes.
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request, c Cursor) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(s.closing, func() { cancel(errClosing) })()

	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // a proxy must not collect events
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}

	st := &stream{server: s, w: w, ctl: http.NewResponseController(w), cancel: cancel}
	st.start()
	defer st.stop()
	for {
		frames, err := c.Next(ctx)
		if err != nil {
			st.end(ctx, err)
			return
		}
		closing, err := st.send(frames)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.log.LogAttrs(ctx, slog.LevelInfo, "cut a client that does not read its stream")
		}
		if err != nil || closing {
			return
		}
	}
}

// start begins to beat.
func (st *stream) start() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.timer = time.AfterFunc(st.server.heartbeat, st.beat)
}

// stop waits for whoever writes and keeps all others from it.
func (st *stream) stop() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.over = true
	st.timer.Stop()
}

// beat writes a comment, so that a client, and whatever is between, sees that
// the connection lives, and that we see if it does not.
func (st *stream) beat() {
	if !st.mu.TryLock() {
		return // somebody writes, and sets the timer again afterwards
	}
	defer st.mu.Unlock()
	if st.over {
		return
	}
	if err := st.write([]byte(":\n\n")); err != nil {
		st.over = true
		st.cancel(errBeat)
		return
	}
	st.timer.Reset(st.server.heartbeat)
}

// send writes frames and flushes once. It reports whether the last one said that
// the stream ends.
func (st *stream) send(frames []api.Frame) (closing bool, err error) {
	if len(frames) == 0 {
		return false, nil
	}
	buffer := st.server.buffers.Get().(*[]byte)
	b := (*buffer)[:0]
	defer func() {
		if cap(b) <= keptBuffer {
			*buffer = b
			st.server.buffers.Put(buffer)
		}
	}()
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.over {
		return false, errBeat
	}
	for i := range frames {
		if b, err = appendFrame(b, &frames[i]); err != nil {
			return false, err
		}
		closing = frames[i].Type == api.FrameClosing
		if len(b) >= chunkSize {
			if _, err := st.w.Write(b); err != nil {
				return false, err
			}
			b = b[:0]
		}
	}
	err = st.write(b)
	st.timer.Reset(st.server.heartbeat)
	return closing, err
}

// write writes and flushes. The deadline of what was written holds for the
// flush too. mu is held.
func (st *stream) write(b []byte) error {
	if _, err := st.w.Write(b); err != nil {
		return err
	}
	return st.ctl.Flush()
}

// end tells the client, if it is still there, why the stream ends.
func (st *stream) end(ctx context.Context, err error) {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errClosing):
		err = errClosing
	case cause != nil: // the client has gone
		return
	}
	frame := api.Frame{Type: api.FrameClosing, Reason: "the server is going away"}
	var known *api.Error
	switch {
	case errors.Is(err, errClosing), errors.Is(err, hub.ErrClosed):
		frame.Reason = st.server.reason()
	case errors.As(err, &known):
		frame.Reason = known.Error()
	default:
		// The client comes back and tries again.
		st.server.log.LogAttrs(ctx, slog.LevelWarn, "a stream of events ended", slog.Any("error", err))
	}
	_, _ = st.send([]api.Frame{frame}) // the client has gone: nobody to tell
}

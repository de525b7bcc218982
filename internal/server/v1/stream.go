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
	"github.com/switchboard-dev/switchboard/internal/server/access"
)

// keptBuffer is the largest buffer that is kept for the next batch.
const keptBuffer = 256 << 10

var (
	errClosing = errors.New("the hub is shutting down")
	errBeat    = errors.New("the client does not read")
	errGone    = errors.New("the client has gone")
)

// An outlet is how frames get to a client.
type outlet interface {
	// frames writes those that a filter lets through, and reports whether there
	// were any. It flushes once. The first of them may have texts.
	frames(frames []api.Frame, texts []hub.Text, f *filter) (wrote bool, err error)
	// beat shows that the connection lives. If visible, it is a frame.
	beat(visible bool) error
	// end says goodbye after the last frame.
	end(why error)
}

// A stream is one client that follows events.
//
// Two may write: the goroutine of the request and, when nothing else has been
// written for a while, the timer. The goroutine that writes holds mu.
type stream struct {
	// Static after construction.
	server    *Server
	out       outlet
	filter    *filter
	heartbeat time.Duration
	visible   bool                    // heartbeats are frames
	cancel    context.CancelCauseFunc // ends the wait for frames

	mu    sync.Mutex
	timer *time.Timer // guarded by mu; beats
	due   time.Time   // guarded by mu; when it should, if nothing is written
	over  bool        // guarded by mu; no goroutine may write any more
}

// newStream makes a stream of what a request asks for.
func (s *Server) newStream(out outlet, req *request, cancel context.CancelCauseFunc) *stream {
	st := &stream{server: s, out: out, filter: &req.filter, heartbeat: s.heartbeat, cancel: cancel}
	if req.heartbeat > 0 {
		st.heartbeat, st.visible = req.heartbeat, true
	}
	return st
}

// serveStream writes what a cursor gives, as server-sent events, until the client
// leaves, does not read, or the server closes.
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request, c Cursor, req *request) {
	ctx, cancel, done := watched(r.Context())
	defer done()

	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // a proxy must not collect events
	if r.ProtoMajor == 1 {
		// The end of the connection is the end of the stream. In chunks the HTTP server
		// would write all that is longer than its buffer in three pieces.
		h.Set("Transfer-Encoding", "identity")
	}
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	s.newStream(&sse{server: s, w: w, ctl: http.NewResponseController(w)}, req, cancel).run(ctx, c)
}

// watched returns a context that ends with the one of a request, when the token
// that it came with is not good any more, and with cancel. done has to be called.
func watched(ctx context.Context) (_ context.Context, cancel context.CancelCauseFunc, done func()) {
	id, _ := access.From(ctx) // admit has seen to it that there is one
	ctx, stop := access.Watch(ctx, id)
	ctx, cancel = context.WithCancelCause(ctx)
	return ctx, cancel, func() {
		cancel(nil)
		stop()
	}
}

// run writes what a cursor gives until it ends, ctx ends, the server closes, or
// the client does not read.
func (st *stream) run(ctx context.Context, c Cursor) {
	defer context.AfterFunc(st.server.closing, func() { st.cancel(errClosing) })()
	st.start()
	defer st.stop()
	for {
		frames, err := c.Next(ctx)
		if err == nil {
			err = ctx.Err() // a cursor that has something gives it whatever ctx says
		}
		if err != nil {
			st.end(ctx, err)
			return
		}
		closing, err := st.send(frames, c.Texts())
		if errors.Is(err, os.ErrDeadlineExceeded) {
			st.server.log.LogAttrs(ctx, slog.LevelInfo, "cut a client that does not read its stream")
		}
		if closing && err == nil {
			st.out.end(errClosing)
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
	st.due = time.Now().Add(st.heartbeat)
	st.timer = time.AfterFunc(st.heartbeat, st.beat)
}

// stop waits for the goroutine that writes and keeps all others from it.
func (st *stream) stop() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.over = true
	st.timer.Stop()
}

// beat writes something without a meaning, so that a client, and whatever is
// between, sees that the connection lives, and that we see if it does not.
func (st *stream) beat() {
	if !st.mu.TryLock() {
		return // another goroutine writes, and sets the timer again afterwards
	}
	defer st.mu.Unlock()
	if st.over {
		return
	}
	if err := st.out.beat(st.visible); err != nil {
		st.over = true
		st.cancel(errBeat)
		return
	}
	st.due = time.Now().Add(st.heartbeat)
	st.timer.Reset(st.heartbeat)
}

// send writes frames and flushes once. It reports whether the last one said that
// the stream ends.
func (st *stream) send(frames []api.Frame, texts []hub.Text) (closing bool, err error) {
	if len(frames) == 0 {
		return false, nil
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.over {
		return false, errBeat
	}
	wrote, err := st.out.frames(frames, texts, st.filter)
	if wrote {
		st.due = time.Now().Add(st.heartbeat)
	}
	// What is left out is silence, which must not last: the timer is set for what
	// remains, also if it came while mu was held.
	st.timer.Reset(time.Until(st.due))
	return frames[len(frames)-1].Type == api.FrameClosing, err
}

// end tells the client, if it is still there, why the stream ends.
func (st *stream) end(ctx context.Context, err error) {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errClosing), errors.Is(cause, access.ErrRevoked):
		err = cause
	case cause != nil: // the client has gone
		return
	}
	frame := api.Frame{Type: api.FrameClosing, Reason: "the hub is shutting down"}
	var known *api.Error
	switch {
	case errors.Is(err, errClosing), errors.Is(err, hub.ErrClosed):
		frame.Reason = st.server.reason()
	case errors.Is(err, access.ErrRevoked):
		frame.Reason = "the token was revoked or has expired"
	case errors.As(err, &known):
		frame.Reason = known.Error()
	default:
		// The client comes back and tries again.
		st.server.log.LogAttrs(ctx, slog.LevelWarn, "a stream of events ended", slog.Any("error", err))
	}
	if _, failed := st.send([]api.Frame{frame}, nil); failed == nil {
		st.out.end(err)
	}
}

// textAt returns the text of a frame, the zero value if it has none.
func textAt(texts []hub.Text, i int) (text hub.Text) {
	if i < len(texts) {
		text = texts[i]
	}
	return text
}

// An sse sends server-sent events.
type sse struct {
	server *Server
	w      http.ResponseWriter
	ctl    *http.ResponseController
}

func (o *sse) frames(frames []api.Frame, texts []hub.Text, f *filter) (wrote bool, err error) {
	buffer := o.server.buffers.Get().(*[]byte)
	b := (*buffer)[:0]
	defer func() {
		if cap(b) <= keptBuffer {
			*buffer = b
			o.server.buffers.Put(buffer)
		}
	}()
	for i := range frames {
		if !f.frame(&frames[i]) {
			continue
		}
		wrote = true
		if b, err = appendFrame(b, &frames[i], textAt(texts, i)); err != nil {
			return wrote, err
		}
		if len(b) >= chunkSize {
			if _, err := o.w.Write(b); err != nil {
				return wrote, err
			}
			b = b[:0]
		}
	}
	if !wrote {
		return false, nil
	}
	return true, o.write(b)
}

func (o *sse) beat(visible bool) error {
	if visible {
		return o.write([]byte("event: heartbeat\ndata: {}\n\n"))
	}
	return o.write([]byte(":\n\n"))
}

func (o *sse) end(error) {}

// write writes and flushes. The deadline of what was written holds for the
// flush too.
func (o *sse) write(b []byte) error {
	if _, err := o.w.Write(b); err != nil {
		return err
	}
	return o.ctl.Flush()
}

package relay

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// maxFirstLine is the longest message of somebody who is not known.
	maxFirstLine = 8 << 10
	// spare is how much longer a message may be than the longest line, for what may
	// stand beside it.
	spare = 1 << 10
	// leaveTime is how long what a front end has said may go on when it has left.
	leaveTime = 10 * time.Second
	// chunk is how much of a message is read at once. A message up to this length
	// is cut into lines as a whole.
	chunk = 1 << 20
	// firstChunk is how much is read of it at first.
	firstChunk = 4 << 10
	// keptBuffer is the largest buffer that is kept for others.
	keptBuffer = 256 << 10
)

// errLeft is why what belongs to a front end ends when it has left.
var errLeft = errors.New("the front end has left")

// A front is a front end.
type front struct {
	// Static after construction.
	server  *Server
	ws      *websocket.Conn
	socket  *socket
	after   string // where to go on
	resumes bool   // it says so
	closed  func() // to be called when it has left

	// Static once the front end is known.
	id      access.Identity
	session string // empty for all

	// Owned by the reading goroutine.
	known    bool
	request  context.Context // that of the request, until the front end is known
	splitter wire.Splitter
	since    int // bytes since the end of the last line

	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc

	// What the front end has said.
	own
	desk desk
}

// serve serves a front end until it leaves. It is the goroutine that reads.
func (f *front) serve() {
	s := f.server
	defer s.leave()
	defer f.closed()
	defer func() { _ = f.ws.CloseNow() }()
	f.ctx, f.cancel = context.WithCancelCause(s.ctx)
	defer f.cancel(errLeft)
	f.splitter = f.newSplitter()
	if !f.known {
		if e := f.introduce(); e != nil {
			if s.ctx.Err() != nil {
				f.goodbye(nil, websocket.StatusServiceRestart, s.why())
				f.drain()
				return
			}
			f.dismiss(e)
			return
		}
	}
	f.ws.SetReadLimit(int64(s.maxLine) + spare)
	watched, stop := access.Watch(f.ctx, f.id)
	defer stop()
	defer context.AfterFunc(watched, f.socket.hurry)()
	f.desk.open(f)
	defer f.desk.close()
	cursor, e := f.follow(watched)
	if e != nil {
		f.dismiss(e)
		return
	}
	var writer sync.WaitGroup
	writer.Go(func() { f.write(watched, cursor) })
	stopPing := f.keepAlive()
	err := f.read(watched)
	s.log.Debug("a front end has left", "error", err)
	f.cancel(errLeft)
	stopPing()
	_ = f.ws.CloseNow() // whoever writes to it must not wait
	writer.Wait()
}

func (f *front) newSplitter() wire.Splitter {
	return wire.Splitter{Max: f.server.maxLine, Frames: true}
}

// introduce waits for the line that says who the front end is.
func (f *front) introduce() *api.Error {
	f.ws.SetReadLimit(maxFirstLine)
	_ = f.socket.SetReadDeadline(time.Now().Add(f.server.firstLine))
	ctx, cancel := context.WithCancel(f.request)
	defer cancel()
	defer context.AfterFunc(f.ctx, func() {
		cancel()
		_ = f.socket.SetReadDeadline(time.Now()) // nobody is waited for any more
	})()
	line, err := f.firstLine()
	if err != nil {
		return &api.Error{Code: api.CodeUnauthorized, Title: "No token came", Hint: "Send it with the request, or at once as the first line."}
	}
	token, ok := access.FirstLine(line)
	if !ok {
		return &api.Error{Code: api.CodeUnauthorized, Title: "Authentication required", Hint: `Send {"type":"auth","token":"…"} as the first line.`}
	}
	id, problem := f.server.guard.Identify(ctx, token)
	if problem != nil {
		return problem
	}
	if !id.Scopes.Has(wire.ScopeObserve) {
		return mayNotLook(id)
	}
	_ = f.socket.SetReadDeadline(time.Time{})
	f.id, f.known, f.request = id, true, nil
	return nil
}

// firstLine reads the first line.
func (f *front) firstLine() ([]byte, error) {
	for {
		_, r, err := f.ws.Reader(context.Background())
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		f.splitter.Push(b)
		line, err := f.splitter.Next()
		if line != nil || err != nil {
			return line, err
		}
		if len(f.splitter.Rest()) > maxFirstLine {
			return nil, errors.New("the first line is too long")
		}
	}
}

// dismiss ends a connection that is not wanted, and says why. Nothing is shown to
// those who are not known but the reason.
func (f *front) dismiss(e *api.Error) {
	if f.known && e.Code == api.CodeClosing { // it came as the hub was about to end
		f.restarting()
		f.drain()
		return
	}
	var last []byte
	if f.known {
		last = appendMessage(nil, refusal(e, "", f.session))
	}
	f.server.log.Debug("a front end was sent away", "code", e.Code)
	f.goodbye(last, websocket.StatusPolicyViolation, e.Error())
	f.drain()
}

// restarting ends the connection of a front end that is to come back.
func (f *front) restarting() {
	reason := f.server.why()
	last := status{Subtype: subtypeClosing, Text: reason, Code: api.CodeClosing}.line()
	f.goodbye(appendMessage(nil, last), websocket.StatusServiceRestart, reason)
}

// goodbye ends the connection in good order.
func (f *front) goodbye(last []byte, code websocket.StatusCode, reason string) {
	f.socket.finish(last, code, reason)
}

// drain waits until the front end has closed the connection, or does not.
func (f *front) drain() {
	for {
		_, r, err := f.ws.Reader(context.Background())
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			return
		}
	}
}

// follow finds what the front end wants to see.
func (f *front) follow(ctx context.Context) (Cursor, *api.Error) {
	h := f.server.hub
	o := hub.FollowOptions{After: "now"}
	if f.resumes {
		o.After = f.after
	}
	if f.session == "" {
		c, err := h.FollowAll(ctx, o)
		if err != nil {
			return nil, problemOf(err)
		}
		return c, nil
	}
	session, err := h.Resolve(ctx, f.session)
	if err != nil {
		return nil, problemOf(err)
	}
	f.session = session
	c, err := h.Follow(ctx, session, o)
	if err != nil {
		return nil, problemOf(err)
	}
	return c, nil
}

// keepAlive pings the front end, so that whatever is between sees that the
// connection is in use, and returns a function that ends that. It needs no
// goroutine while nothing is due. A front end that does not answer is not cut off
// for that: one that does not read is, when a write has waited for long enough.
func (f *front) keepAlive() (stop func()) {
	var mu sync.Mutex
	var timer *time.Timer
	ended := false
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(f.server.ping, func() {
		if f.socket.ping() != nil {
			_ = f.socket.Close() // which ends the reader
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if !ended {
			timer.Reset(f.server.ping)
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
		timer.Stop()
	}
}

// write shows the front end what happens until the connection ends. It is the
// goroutine that writes.
func (f *front) write(ctx context.Context, c Cursor) {
	defer c.Close()
	err := f.show(ctx, c)
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errLeft), errors.Is(err, errWrite):
		_ = f.socket.Close() // which ends the reader
	case errors.Is(cause, errClosing), errors.Is(err, hub.ErrClosed):
		f.restarting()
	case errors.Is(cause, access.ErrRevoked):
		e := &api.Error{Code: api.CodeUnauthorized, Title: "The token is not valid any more", Hint: "Connect again with another one."}
		f.goodbye(appendMessage(nil, refusal(e, "", "")), websocket.StatusPolicyViolation, e.Error())
	default:
		// The front end comes back and tries again.
		f.server.log.Warn("a front end cannot be shown any more", "error", err)
		f.goodbye(nil, websocket.StatusInternalError, problemOf(err).Error())
	}
}

// show shows what a cursor gives. It fails with errWrite if the front end cannot be
// written to.
func (f *front) show(ctx context.Context, c Cursor) error {
	v := newView(f.session, func(e *api.Event) *sight { return f.server.sight(ctx, e) })
	if v.replaying = f.resumes; f.resumes && f.session != "" && f.after != "" {
		v.up(f.session) // as far as it knew
	}
	first, err := begin(ctx, c)
	if err != nil {
		return err
	}
	if err := f.greet(ctx, v); err != nil {
		return err
	}
	for frames := first; ; {
		if err := f.showAll(v, frames); err != nil {
			return err
		}
		var err error
		if frames, err = c.Next(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err() // a cursor that has something gives it whatever ctx says
		}
	}
}

// begin takes a cursor to the live edge, if it is not far from it, and returns what
// it gave. A front end that is told that an agent is there may prompt it at once, and
// must not miss the beginning of the answer.
func begin(ctx context.Context, c Cursor) ([]api.Frame, error) {
	resume, err := c.Next(ctx)
	if err != nil {
		return nil, err
	}
	now, cancel := context.WithCancel(ctx)
	cancel()               // nothing is waited for, and nothing lost by that
	more, _ := c.Next(now) // if something is wrong, the next call says so too
	return slices.Concat(resume, more), nil
}

// showAll shows frames of a cursor.
func (f *front) showAll(v *view, frames []api.Frame) error {
	b := f.server.batch(f)
	for i := range frames {
		v.frame(&frames[i], b)
	}
	return b.flush()
}

// live are the states of sessions that have a process.
func live() []api.State {
	return []api.State{api.StateStarting, api.StateIdle, api.StateRunning, api.StateRequiresAction, api.StateBackground, api.StateOffline}
}

// greet shows what is there when a front end comes.
func (f *front) greet(ctx context.Context, v *view) error {
	ids := []string{f.session}
	if f.session == "" {
		var err error
		if ids, err = f.server.liveSessions(ctx, 0); err != nil {
			return err
		}
	}
	b := f.server.batch(f)
	for _, id := range ids {
		session, err := f.server.hub.Snapshot(ctx, id)
		if err != nil {
			if e, ok := errors.AsType[*api.Error](err); ok && e.Code == api.CodeNotFound {
				continue // removed meanwhile
			}
			_ = b.flush()
			return err
		}
		v.greet(session, b)
	}
	return b.flush()
}

// liveSessions returns the sessions that have a process, the most recent first:
// at most so many, all if most is 0.
func (s *Server) liveSessions(ctx context.Context, most int) ([]string, error) {
	var ids []string
	filter := api.SessionFilter{State: live(), Archived: true, Limit: most}
	for {
		list, err := s.hub.List(ctx, filter)
		if err != nil {
			return nil, err
		}
		for i := range list.Sessions {
			ids = append(ids, list.Sessions[i].ID)
		}
		if list.Next == "" || most > 0 && len(ids) >= most {
			return ids, nil
		}
		filter.Cursor = list.Next
	}
}

// errWrite says that a front end cannot be written to.
var errWrite = errors.New("the front end does not read, or has gone")

const (
	// batchSize is how much is written at once.
	batchSize = 64 << 10
	// largeLine is a line that is written from where it is: copying it would cost
	// more than a write of its own.
	largeLine = 32 << 10
)

// A batch is what is shown to a front end at once. It is its audience.
type batch struct {
	*own

	server *Server
	socket *socket
	buffer *[]byte
	b      []byte
	err    error
}

// batch begins a batch, which flush ends.
func (s *Server) batch(f *front) *batch {
	buffer, _ := s.buffers.Get().(*[]byte) // nothing else is in there
	return &batch{own: &f.own, server: s, socket: f.socket, buffer: buffer, b: (*buffer)[:0]}
}

// line adds a line.
func (b *batch) line(line []byte) {
	switch {
	case b.err != nil:
	case len(line) >= largeLine:
		b.b = appendHeader(b.b, len(line)+1)
		b.write(line, []byte{'\n'})
	default:
		if b.b = appendMessage(b.b, line); len(b.b) >= batchSize {
			b.write()
		}
	}
}

// write writes what there is.
func (b *batch) write(more ...[]byte) {
	if err := b.socket.send(b.b, more...); err != nil {
		b.err = errors.Join(errWrite, err)
	}
	b.b = b.b[:0]
}

// flush writes the rest and gives the buffer back.
func (b *batch) flush() error {
	if b.err == nil && len(b.b) > 0 {
		b.write()
	}
	if cap(b.b) <= keptBuffer {
		*b.buffer = b.b[:0]
	}
	b.server.buffers.Put(b.buffer)
	return b.err
}

// tell sends the front end a line of its own.
func (f *front) tell(line []byte) {
	// If it cannot be written to, the writing goroutine finds out.
	_ = f.socket.send(appendMessage(nil, line))
}

package relay

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// maxRequests is how many requests of a front end may be under way. More are
	// refused: an agent may take as long as it likes to answer.
	maxRequests = 16
	// maxOthers is how many other lines may be, defaultBytes how many bytes in all
	// beyond the first line. For more the front end is not read meanwhile.
	maxOthers    = 16
	defaultBytes = 16 << 20
)

// A lineKind is what a front end's line is to the relay.
type lineKind uint8

const (
	kindOther   lineKind = iota // whatever it is, the hub judges it
	kindPrompt                  // a message to the agent
	kindAnswer                  // an answer to a question
	kindRequest                 // a control request
)

// An incoming is a line that a front end has said.
type incoming struct {
	line      []byte
	kind      lineKind
	requestID string
	names     string // the session that it names
	uuid      string // of a prompt
}

// A desk takes what a front end says. A line is worked on by a goroutine that ends
// with it: answers and requests one each, all others one after the other.
type desk struct {
	// Static after open.
	front  *front
	ctx    context.Context // ends when what was said has had its time
	cancel context.CancelFunc

	tasks sync.WaitGroup

	mu      sync.Mutex
	asked   int           // requests under way
	others  int           // other lines under way
	bytes   int           // their length
	queue   []*incoming   // lines that wait for their turn
	working bool          // somebody works on queue
	room    chan struct{} // closed when there may be room; nil if nobody waits
}

// open makes the desk ready. It goes on for a while when the front end has left:
// who says something and leaves wants it done.
func (d *desk) open(f *front) {
	d.front = f
	d.ctx, d.cancel = context.WithCancel(f.server.ctx)
}

// close waits until what was said is done, or its time is over.
func (d *desk) close() {
	timer := time.AfterFunc(leaveTime, d.cancel)
	defer timer.Stop()
	d.tasks.Wait()
	d.cancel()
}

// read takes messages until the connection ends.
func (f *front) read(ctx context.Context) error {
	if err := f.lines(ctx); err != nil { // what came with the first
		return err
	}
	for {
		// No buffer is held here: most front ends wait in this call most of the time.
		_, r, err := f.ws.Reader(context.Background())
		if err != nil {
			return err
		}
		if err := f.message(ctx, r); err != nil {
			return err
		}
	}
}

// message takes a message, in pieces if it is long.
func (f *front) message(ctx context.Context, r io.Reader) error {
	buffer, _ := f.server.buffers.Get().(*[]byte) // nothing else is in there
	b := (*buffer)[:cap(*buffer)]
	defer func() {
		if cap(b) <= keptBuffer {
			*buffer = b
		}
		f.server.buffers.Put(buffer)
	}()
	if len(b) < firstChunk {
		b = make([]byte, firstChunk)
	}
	n := 0
	for {
		k, err := r.Read(b[n:])
		n += k
		switch {
		case errors.Is(err, io.EOF):
			f.push(b[:n])
			return f.lines(ctx)
		case err != nil:
			return err
		case n < len(b):
		case len(b) < chunk:
			b = append(b, make([]byte, len(b))...)
		default:
			f.push(b)
			if err := f.lines(ctx); err != nil {
				return err
			}
			n = 0
		}
	}
}

// push adds a piece of what the front end says.
func (f *front) push(b []byte) {
	f.splitter.Push(b)
	f.since += len(b)
}

// lines takes the lines that are whole.
func (f *front) lines(ctx context.Context) error {
	for {
		line, err := f.splitter.Next()
		switch {
		case err != nil:
			f.since = 0
			e := api.Errorf(http.StatusRequestEntityTooLarge, api.CodeTooLarge, "The line is too long")
			e.Detail = err.Error()
			f.tell(refusal(e, "", ""))
		case line == nil:
			// Who waits needs no memory, except in the middle of a line, which may be
			// one that is too long and of which nothing is kept.
			if len(f.splitter.Rest()) == 0 && f.since <= f.server.maxLine {
				f.splitter, f.since = f.newSplitter(), 0
			}
			return nil
		default:
			f.since = 0
			if err := f.desk.take(ctx, line); err != nil {
				return err
			}
		}
	}
}

// take takes a line, whose bytes are not the desk's. It waits while too much is
// under way.
func (d *desk) take(ctx context.Context, line []byte) error {
	f := d.front
	if ctx.Err() != nil {
		return context.Cause(ctx) // the token may be good no more
	}
	l, e := read(line)
	if e != nil {
		f.tell(refusal(e, "", ""))
		return nil
	}
	if l == nil {
		return nil
	}
	if err := d.wait(ctx, l.kind, len(line)); err != nil {
		return err
	}
	d.mu.Lock()
	if l.kind == kindRequest && d.asked >= maxRequests {
		d.mu.Unlock()
		f.tell(refusalOf(l, tooManyRequests(), ""))
		return nil
	}
	d.count(l.kind, 1)
	d.bytes += len(line)
	l.line = slices.Clone(line)
	if l.kind == kindAnswer || l.kind == kindRequest {
		d.mu.Unlock()
		d.tasks.Go(func() { d.work(l) })
		return nil
	}
	d.queue = append(d.queue, l)
	begin := !d.working
	d.working = true
	d.mu.Unlock()
	if begin {
		d.tasks.Go(d.workOff)
	}
	return nil
}

// count counts lines that are under way. mu is held.
func (d *desk) count(kind lineKind, n int) {
	if kind == kindRequest {
		d.asked += n
	} else {
		d.others += n
	}
}

func tooManyRequests() *api.Error {
	e := api.Errorf(http.StatusTooManyRequests, api.CodeConflict, "Too many requests are under way")
	e.Hint = "Wait for answers before you send more."
	return e
}

// read finds out what a line is. It returns nil for one that means nothing here.
func read(line []byte) (*incoming, *api.Error) {
	h, err := wire.Peek(line)
	if err != nil {
		e := api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "The line is not one complete JSON object")
		e.Detail, e.Hint = err.Error(), "Send each message as a line of its own; nothing of it has reached an agent."
		return nil, e
	}
	l := &incoming{requestID: string(h.RequestID), names: string(h.SessionID), uuid: string(h.UUID)}
	switch string(h.Type) {
	case "keep_alive", "auth": // it is known who it is
		return nil, nil
	case "user":
		l.kind = kindPrompt
	case "control_response":
		l.kind = kindAnswer
	case "control_request":
		l.kind = kindRequest
	}
	return l, nil
}

// wait waits until there is room for a line of n bytes.
func (d *desk) wait(ctx context.Context, kind lineKind, n int) error {
	for {
		d.mu.Lock()
		if (d.bytes == 0 || d.bytes+n <= d.front.server.maxBytes) && (kind == kindRequest || d.others < maxOthers) {
			d.mu.Unlock()
			return nil
		}
		if d.room == nil {
			d.room = make(chan struct{})
		}
		room := d.room
		d.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// workOff works on the queue until it is empty.
func (d *desk) workOff() {
	for {
		d.mu.Lock()
		if len(d.queue) == 0 {
			d.working, d.queue = false, nil
			d.mu.Unlock()
			return
		}
		l := d.queue[0]
		d.queue = d.queue[1:]
		d.mu.Unlock()
		d.work(l)
	}
}

// work works on a line.
func (d *desk) work(l *incoming) {
	n := len(l.line)
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.count(l.kind, -1)
		d.bytes -= n
		if d.room != nil {
			close(d.room)
			d.room = nil
		}
	}()
	session, e := d.route(l)
	if e != nil {
		d.front.tell(refusalOf(l, e, ""))
		return
	}
	d.submit(l, session)
}

// submit gives a line to the hub, and the front end the hub's answer.
func (d *desk) submit(l *incoming, session string) {
	f := d.front
	asked := question{session, l.requestID}
	switch l.kind {
	case kindPrompt:
		var err error
		if l.line, l.uuid, err = hub.WithUUID(l.line); err != nil {
			f.tell(refusalOf(l, problemOf(err), session))
			return
		}
		f.own.prompt(l.uuid)
	case kindAnswer:
		f.own.answer(asked)
	case kindOther, kindRequest:
	}
	answer, err := f.server.hub.Submit(d.ctx, f.id.Actor(), session, l.line, f.id.Scopes.Has)
	// First of all, as what is shown from now on depends on it.
	lost := l.kind == kindAnswer && f.own.answered(asked, err == nil)
	if err != nil {
		e := problemOf(err)
		if e.Code == api.CodeInternal {
			f.server.log.Error("a line of a front end was not taken", "session", session, "error", err)
		}
		if l.kind == kindPrompt {
			f.own.mine(l.uuid) // nothing will be seen of it
		}
		f.tell(refusalOf(l, e, session))
	}
	if lost {
		if b, err := wire.NewCancel(l.requestID); err == nil {
			f.tell(b)
		}
	}
	if err == nil && len(answer) > 0 {
		f.tell(asText(answer))
	}
}

// route finds the session that a line is for.
func (d *desk) route(l *incoming) (string, *api.Error) {
	f := d.front
	h := f.server.hub
	if l.kind == kindAnswer && l.requestID != "" {
		sessions, err := h.Asked(d.ctx, l.requestID)
		if err != nil {
			return "", d.problem(err)
		}
		if session, e := d.choose(l, sessions); session != "" || e != nil {
			return session, e
		}
	}
	if f.session != "" {
		return f.session, nil
	}
	if session, e := d.named(l); session != "" || e != nil {
		return session, e
	}
	session, e := d.only()
	if e != nil && l.kind == kindAnswer && l.requestID != "" {
		e = api.Errorf(http.StatusNotFound, api.CodeNotFound, "No open question has this request_id")
		e.Hint = "It may have been answered by someone else, or withdrawn."
	}
	return session, e
}

// problem returns an error of the hub as the front end is told it.
func (d *desk) problem(err error) *api.Error {
	e := problemOf(err)
	if e.Code == api.CodeInternal {
		d.front.server.log.Error("finding out what a line is for", "error", err)
	}
	return e
}

// choose chooses among the sessions that ask what a line answers. None is not an
// error: the session that the line is for otherwise says who has answered it.
func (d *desk) choose(l *incoming, sessions []string) (string, *api.Error) {
	f := d.front
	if f.session != "" {
		return f.session, nil // what others ask is not shown here
	}
	if len(sessions) < 2 {
		return slices.Concat(sessions, []string{""})[0], nil
	}
	session, e := d.named(l)
	if e == nil && !slices.Contains(sessions, session) {
		e = api.Errorf(http.StatusConflict, api.CodeConflict, "Several sessions ask with this request_id")
		e.Hint = "Say in session_id which one you answer, or connect with ?session=ID."
	}
	return session, e
}

// named returns the session that a line names, empty if it names none. "default" is
// what a client says that does not know.
func (d *desk) named(l *incoming) (string, *api.Error) {
	if l.names == "" || l.names == "default" {
		return "", nil
	}
	session, err := d.front.server.hub.Resolve(d.ctx, l.names)
	if err != nil {
		return "", d.problem(err)
	}
	return session, nil
}

// only returns the only session that has a process.
func (d *desk) only() (string, *api.Error) {
	ids, err := d.front.server.liveSessions(d.ctx, 2)
	switch {
	case err != nil:
		return "", d.problem(err)
	case len(ids) == 0:
		e := api.Errorf(http.StatusConflict, api.CodeEnded, "No agent is running")
		e.Hint = "Start one, or say in session_id which session is to go on."
		return "", e
	case len(ids) > 1:
		e := api.Errorf(http.StatusConflict, api.CodeConflict, "Several agents are running, and the line does not say for which it is")
		e.Hint = "Say so in session_id, or connect with ?session=ID."
		return "", e
	}
	return ids[0], nil
}

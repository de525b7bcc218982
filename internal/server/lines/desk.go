package lines

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/broadcast"
	"github.com/switchboard-dev/switchboard/internal/queue"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// maxRequests is how many requests of a client may be under way side by side. More
	// are refused: an agent may take as long as it likes to answer.
	maxRequests = 32
	// maxAnswers is how many answers may be under way. For more the client is not read
	// meanwhile, which is short: an answer waits for nothing but the journal.
	maxAnswers = 16
	// maxLines is how many lines may wait for their turn.
	maxLines = 256
	// defaultBytes is how many bytes in each of these may be under way beyond the first
	// line.
	defaultBytes = 16 << 20
)

// Manners say how what a client says is worked on.
type manners struct {
	name     string        // in the names under which connections act
	stall    time.Duration // how long the client may read nothing while there is something for it
	silence  time.Duration // how long it may be silent although it is pinged; 0 for ever
	textOnly bool          // binary messages end the connection
	foresees bool          // a question that is settled as soon as it is seen is not shown

	// waits says that the client is not read while too many lines are under way. Else
	// such lines are refused: what is under way may wait for an answer that is still to
	// be read.
	waits bool
	// ordered are the requests that prompts after them must not overtake.
	ordered []string
	// distinct refuses a request with the id of one that is under way.
	distinct bool
	// linger is how long what was said may go on when the client has left.
	linger time.Duration
}

// A lineKind is what a line of a client is.
type lineKind uint8

const (
	kindOther   lineKind = iota // whatever it is, the hub judges it
	kindPrompt                  // a message to the agent
	kindAnswer                  // an answer to a question
	kindRequest                 // a control request
	kindCancel                  // a control request is taken back
)

// A said is a line that a client has said.
type said struct {
	line      []byte
	kind      lineKind
	subtype   string // of a request
	requestID string
	names     string // the session that it names
	session   string // that it turned out to be for; set by the relay

	ctx  context.Context //nolint:containedctx // ends when the line is taken back or has had its time
	done func()
}

// errTakenBack is why a request ends that its client has cancelled.
var errTakenBack = errors.New("the request was taken back")

// A lane is how a line is worked on: answers and requests side by side, all others, and
// requests that must keep their order with them, one after the other.
type lane struct{ count, bytes int }

// A desk takes what a client says. Answers are never kept waiting by anything but
// answers, because the CLI waits for them.
type desk struct {
	// Static after open.
	conn    *conn
	manners *manners        // the connection's
	ctx     context.Context // ends when what was said has had its time
	cancel  context.CancelFunc
	line    *queue.Queue[*said] // what keeps its order

	tasks sync.WaitGroup

	// Guarded by mu.
	mu       sync.Mutex
	answers  lane
	requests lane
	lines    lane
	underway map[string]*said    // requests under way, by the client's id
	starting chan struct{}       // closed when the last initialize was answered
	changed  broadcast.Broadcast // something is not under way any more
}

// open makes the desk ready. What was said goes on for a while when the client has left,
// if its dialect wants that.
func (d *desk) open(ctx context.Context, c *conn) {
	d.conn, d.manners = c, c.manners
	if d.manners.linger > 0 {
		ctx = c.server.ctx
	}
	d.ctx, d.cancel = context.WithCancel(ctx)
	d.line = queue.New(0, func(batch []*said) {
		for _, l := range batch {
			d.work(l)
		}
	})
}

// close waits until what was said is done, or its time is over. Nothing is taken any
// more.
func (d *desk) close() {
	timer := time.AfterFunc(d.manners.linger, d.cancel)
	defer timer.Stop()
	d.line.Wait()
	d.tasks.Wait()
	d.cancel()
}

// take takes a line, whose bytes are not the desk's. It waits while too much is under
// way, and does nothing when ctx has ended: the token may not be valid any more.
func (d *desk) take(ctx context.Context, line []byte) {
	c := d.conn
	if ctx.Err() != nil {
		return
	}
	l, e := read(line)
	switch {
	case e != nil:
		c.tell(c.dialect.refusal(nil, e))
	case l == nil: // it means nothing here
	case l.kind == kindCancel:
		d.takeBack(l.requestID)
	default:
		l.line = line
		if e, ok := d.admit(ctx, l); e != nil {
			c.tell(c.dialect.refusal(l, e))
		} else if ok {
			d.start(l)
		}
	}
}

// read finds out what a line is. It returns nil for one that means nothing here.
func read(line []byte) (*said, *api.Error) {
	h, err := wire.Peek(line)
	if err != nil {
		e := api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "The line is not one complete JSON object")
		e.Detail, e.Hint = err.Error(), "Send each message as a line of its own; nothing of it has reached an agent."
		return nil, e
	}
	l := &said{requestID: string(h.RequestID), names: string(h.SessionID)}
	switch string(h.Type) {
	case "keep_alive", "auth": // the connection is what they are for
		return nil, nil
	case "user":
		l.kind = kindPrompt
	case "control_response":
		l.kind = kindAnswer
	case "control_request":
		l.kind, l.subtype = kindRequest, string(h.RequestSubtype)
	case "control_cancel_request":
		l.kind = kindCancel
	}
	return l, nil
}

// takeBack ends a request that the client wants no more.
func (d *desk) takeBack(requestID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.underway[requestID]; l != nil {
		l.done()
	}
}

// admit counts a line in when there is room for it, and makes it the desk's. It returns
// why the line is refused; ok is false if the connection ended first.
func (d *desk) admit(ctx context.Context, l *said) (refused *api.Error, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	to, most := d.laneOf(l)
	for {
		if l.kind == kindRequest {
			if d.manners.distinct && d.underway[l.requestID] != nil {
				return tooMany("The request_id is that of a request under way"), false
			}
			if to == &d.requests && to.count >= maxRequests {
				return tooMany("Too many requests are under way"), false
			}
		}
		if to.count < most && (to.bytes == 0 || to.bytes+len(l.line) <= d.conn.server.maxBytes) {
			break
		}
		if to != &d.answers && !d.manners.waits {
			return tooMany("Too many lines wait for the agent"), false
		}
		changed := d.changed.Changed()
		d.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		d.mu.Lock()
		if ctx.Err() != nil {
			return nil, false
		}
	}
	l.line = slices.Clone(l.line)
	to.count++
	to.bytes += len(l.line)
	d.register(l)
	return nil, true
}

// laneOf returns how a line is worked on, and how many such lines may be under way.
func (d *desk) laneOf(l *said) (*lane, int) {
	switch {
	case l.kind == kindAnswer:
		return &d.answers, maxAnswers
	case l.kind == kindRequest && !slices.Contains(d.manners.ordered, l.subtype):
		return &d.requests, maxRequests
	}
	return &d.lines, maxLines + 1 // one is being worked on
}

func tooMany(title string) *api.Error {
	e := api.Errorf(http.StatusTooManyRequests, api.CodeConflict, "%s", title)
	e.Hint = "Wait for answers before you send more."
	return e
}

// register gives a line its context, and notes a request. mu is held.
func (d *desk) register(l *said) {
	ctx, cancel := context.WithCancelCause(d.ctx)
	l.ctx, l.done = ctx, func() { cancel(errTakenBack) }
	if l.kind != kindRequest {
		return
	}
	if d.underway == nil {
		d.underway = map[string]*said{}
	}
	d.underway[l.requestID] = l
}

// start sees to it that a line is worked on.
func (d *desk) start(l *said) {
	d.mu.Lock()
	to, _ := d.laneOf(l)
	before := d.starting
	if to == &d.lines && l.kind == kindRequest && l.subtype == "initialize" {
		started, done := make(chan struct{}), l.done
		d.starting = started
		l.done = sync.OnceFunc(func() {
			close(started)
			done()
		})
	}
	d.mu.Unlock()
	if to == &d.lines {
		d.line.Add(l)
		return
	}
	d.tasks.Go(func() {
		if before != nil && l.kind == kindRequest { // there is no CLI to ask before that
			select {
			case <-before:
			case <-l.ctx.Done():
			}
		}
		d.work(l)
	})
}

// work gives a line to the hub, and the client the hub's answer.
func (d *desk) work(l *said) {
	defer d.finish(l)
	c := d.conn
	if l.ctx.Err() != nil {
		return
	}
	answer, err := c.dialect.submit(l.ctx, l)
	switch {
	case err != nil && l.ctx.Err() != nil && c.server.ctx.Err() == nil: // the client does not wait for it any more
	case err != nil:
		c.tell(c.dialect.refusal(l, c.server.problem(err)))
	case len(answer) > 0:
		c.tell(asText(answer))
	}
}

// finish counts a line out.
func (d *desk) finish(l *said) {
	l.done()
	d.mu.Lock()
	defer d.mu.Unlock()
	to, _ := d.laneOf(l)
	to.count--
	to.bytes -= len(l.line)
	if d.underway[l.requestID] == l {
		delete(d.underway, l.requestID)
	}
	d.changed.Notify()
}

// settle waits until the requests under way have been answered, or a time is over.
func (d *desk) settle(most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	for {
		d.mu.Lock()
		open, changed := len(d.underway), d.changed.Changed()
		d.mu.Unlock()
		if open == 0 {
			return
		}
		select {
		case <-changed:
		case <-timer.C:
			return
		}
	}
}

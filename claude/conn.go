package claude

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

const (
	defaultRequestTimeout = 60 * time.Second
	// answerTimeout bounds the write of an answer, for which the handler's own
	// context may have ended.
	answerTimeout = 10 * time.Second
)

// A Handler answers a request of the CLI. It runs in a goroutine of its own; its
// context ends when the CLI withdraws the request or the connection ends.
//
// It returns the answer as a line, made by wire.NewPermission, wire.NewAnswer
// or their kin. An error, or a panic, becomes an error answer, with the code
// unsupported_request if it is [errors.ErrUnsupported]. A nil line without an
// error leaves the request alone: another client may answer it, or none.
type Handler func(ctx context.Context, request *wire.ControlRequest) (line []byte, err error)

// ConnOptions are the options of a [Conn]. Nil and the zero value are valid.
type ConnOptions struct {
	// Handler answers the CLI's requests. If nil, [Decline].
	Handler Handler
	// Version is the CLI's version, to which lines are fitted. If zero, the
	// oldest is assumed until the CLI tells its own.
	Version wire.Version
	// RequestTimeout is how long an answer is waited for if the caller's
	// context has no deadline: some versions never answer what they do not know.
	// If zero, 60 s.
	RequestTimeout time.Duration
	// Backlog is how many bytes are kept for readers: of lines, and about 400 for the
	// header of each. If zero, 64 MiB.
	Backlog int
	// Insist is for transports on which an answer can be lost. If nothing comes
	// for this long while it is not known whether the answer to a question for
	// permission was taken, the CLI is asked with another initialize request
	// which questions are open, and their answers are sent again; the handler is
	// not asked a second time. If zero, an answer is sent once.
	//
	// 2.1.37 with hybrid POST needs it: it takes an answer only after it has seen
	// the reply to the POST that brought its question, and the two come on
	// different connections. An answer must not be sent again without asking:
	// with the tool call's id in it, 2.1.37 would run the tool a second time.
	Insist time.Duration

	observer *observer // of the session that owns the connection
}

// An observer gets everything that goes over a connection, in the order in which
// it is meant: a line is passed to it before readers see it, a line of ours
// before it is written, so that no answer to it is passed to it first.
type observer struct {
	// lines is called by readLoop with the lines of one read.
	lines func([]Line)
	// sending is called for each line that is about to be written. What it
	// returns takes that back, for a line that was surely not sent.
	sending func(line []byte) (undo func())
	// ended is called once, behind the last line.
	ended func(cause error)
}

// A Conn speaks the control protocol over a [Transport]: it matches requests and
// answers in both directions, and keeps the lines for any number of readers.
//
// One goroutine (readLoop) reads the transport, whether there are readers of the lines or
// not, so that a slow reader never holds up a question or an answer. Every request
// of the CLI is handled in a goroutine of its own. Close joins them all.
type Conn struct {
	// Static after construction.
	transport Transport
	handler   Handler
	timeout   time.Duration
	insist    time.Duration
	observer  *observer // nil without a session
	prefix    string    // makes our request ids unlike the CLI's
	backlog   *backlog
	ctx       context.Context // ends with the connection
	cancel    context.CancelCauseFunc
	readDone  chan struct{}
	handlers  sync.WaitGroup

	lastID atomic.Uint64

	mu          sync.Mutex
	version     wire.Version
	least       wire.Version // what version is not older than, while it is not known
	pending     map[string]*pendingCall
	incoming    map[string]context.CancelCauseFunc
	turns       map[string]chan struct{} // by MCP server: closed when its last handshake message is done
	unconfirmed unconfirmed
	ended       error // why the connection ended; nil while it lives
}

// A pendingCall is a request of ours that has no answer yet.
type pendingCall struct {
	subtype string
	answer  chan *wire.ControlAnswer // has room for the one that comes
}

var (
	// ErrWithdrawn is the cause with which a handler's context ends when the CLI
	// withdraws its request.
	ErrWithdrawn = errors.New("the CLI has withdrawn the request")
	// ErrNoAnswer is returned by [Conn.Request] when the CLI did not answer in
	// time.
	ErrNoAnswer = errors.New("the CLI did not answer in time")
)

// A ControlError is an error answer of the CLI.
type ControlError struct {
	// Subtype is the request that was refused.
	Subtype string
	// Message is the CLI's text.
	Message string
	// Code is the CLI's code, empty on older versions.
	Code string
	// Answer is the whole answer.
	Answer *wire.ControlAnswer
}

// Error names the request and gives the CLI's text and code.
func (e *ControlError) Error() string {
	s := fmt.Sprintf("the CLI refused %s: %s", e.Subtype, e.Message)
	if e.Code != "" {
		s += " (" + e.Code + ")"
	}
	return s
}

// NewConn starts reading the transport, which the Conn owns from then on.
func NewConn(t Transport, o *ConnOptions) *Conn {
	c := newConn(t, o)
	c.start()
	return c
}

// newConn returns a connection that does not read yet.
func newConn(t Transport, o *ConnOptions) *Conn {
	if o == nil {
		o = &ConnOptions{}
	}
	c := &Conn{
		transport: t,
		handler:   o.Handler,
		timeout:   o.RequestTimeout,
		insist:    o.Insist,
		observer:  o.observer,
		prefix:    "sb-" + rand.Text()[:8] + "-",
		backlog:   newBacklog(o.Backlog),
		readDone:  make(chan struct{}),
		version:   o.Version,
		pending:   map[string]*pendingCall{},
		incoming:  map[string]context.CancelCauseFunc{},
		turns:     map[string]chan struct{}{},
	}
	if c.handler == nil {
		c.handler = Decline
	}
	if c.timeout <= 0 {
		c.timeout = defaultRequestTimeout
	}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c
}

// start begins to read. It is called once.
func (c *Conn) start() { go c.readLoop() } // joined by Close

// Version returns the CLI's version as far as it is known.
func (c *Conn) Version() wire.Version {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// fit fits a line to the CLI's version, or to what is known of it.
func (c *Conn) fit(line []byte) ([]byte, error) {
	c.mu.Lock()
	v, least := c.version, c.least
	c.mu.Unlock()
	if v.IsZero() {
		fitted, _, err := wire.FitLeast(line, least)
		return fitted, err
	}
	fitted, _, err := wire.Fit(line, v)
	return fitted, err
}

// Request sends a request and waits for its answer. An error answer is a
// [*ControlError]. The end of ctx ends the wait and not the connection; where the
// version takes it, the request is withdrawn then.
func (c *Conn) Request(ctx context.Context, r wire.Request) (*wire.ControlAnswer, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.timeout, ErrNoAnswer)
		defer cancel()
	}
	if ctx.Err() != nil {
		return nil, c.fail(r, context.Cause(ctx)) // a transport might still take the line
	}
	id := c.prefix + strconv.FormatUint(c.lastID.Add(1), 10)
	line, err := wire.NewRequest(id, r)
	if err != nil {
		return nil, err
	}
	waiting := &pendingCall{subtype: r.RequestSubtype(), answer: make(chan *wire.ControlAnswer, 1)}
	c.mu.Lock()
	if c.ended != nil {
		defer c.mu.Unlock()
		return nil, c.fail(r, c.ended)
	}
	c.pending[id] = waiting
	c.mu.Unlock()
	defer c.forget(id)
	if err := c.Send(ctx, line); err != nil {
		return nil, c.fail(r, err)
	}
	select {
	case a := <-waiting.answer:
		return c.checkAnswer(r, a)
	case <-ctx.Done():
		c.withdraw(id)
		return nil, c.fail(r, context.Cause(ctx))
	case <-c.ctx.Done():
		// The answer may have come with the last lines.
		select {
		case a := <-waiting.answer:
			return c.checkAnswer(r, a)
		default:
			return nil, c.fail(r, c.Err())
		}
	}
}

func (c *Conn) fail(r wire.Request, err error) error {
	return fmt.Errorf("requesting %s: %w", r.RequestSubtype(), err)
}

func (c *Conn) checkAnswer(r wire.Request, a *wire.ControlAnswer) (*wire.ControlAnswer, error) {
	if a.Subtype == "success" {
		return a, nil
	}
	return a, &ControlError{Subtype: r.RequestSubtype(), Message: a.Error, Code: a.ErrorCode, Answer: a}
}

func (c *Conn) forget(id string) {
	c.mu.Lock()
	delete(c.pending, id)
	c.mu.Unlock()
}

// withdraw tells the CLI that no caller waits for an answer any more, where that
// does not end it. The caller that gave up does not wait for the write.
func (c *Conn) withdraw(id string) {
	line, err := wire.NewCancel(id)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return
	}
	c.handlers.Go(func() { // joined by Close
		_ = c.write(line) // a version that cannot take it answers late, and is not heard
	})
}

// Send checks a line, fits it to the CLI's version and writes it.
func (c *Conn) Send(ctx context.Context, line []byte) error {
	fitted, err := c.fit(line)
	if err != nil {
		return err
	}
	c.sending(line)
	if c.observer == nil {
		return c.transport.Write(ctx, fitted)
	}
	undo := c.observer.sending(fitted)
	if err = c.transport.Write(ctx, fitted); unsent(err) {
		undo()
	}
	return err
}

// unsent reports whether an error of Write means that nothing was sent and the
// connection goes on.
func unsent(err error) bool {
	if err == nil || errors.Is(err, ErrUnfinished) {
		return false
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrBadLine)
}

// Transport returns what carries the lines. Writing to it bypasses the
// checks of Send.
func (c *Conn) Transport() Transport { return c.transport }

// Done is closed when the connection has ended and its last line is there to be
// read.
func (c *Conn) Done() <-chan struct{} { return c.readDone }

// Err returns why the connection ended: io.EOF if it did so in good order, nil
// while it lives.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// Close ends the transport and waits for every goroutine. Requests that wait are
// failed with the cause; handlers' contexts end.
func (c *Conn) Close() error {
	c.end(ErrClosed)
	err := c.transport.Close()
	<-c.readDone
	c.handlers.Wait()
	return err
}

// end records why the connection ended; the first cause counts.
func (c *Conn) end(cause error) {
	c.mu.Lock()
	if c.ended == nil {
		c.ended = cause
	}
	c.rearm() // which stops the timer
	c.mu.Unlock()
	c.cancel(cause)
}

// dispatch acts on a line that every reader may see by now. A request is registered
// here, in the order of the lines, so that its withdrawal cannot come first.
func (c *Conn) dispatch(line []byte, h wire.Header) {
	c.received(line, h)
	switch string(h.Type) {
	case "control_response":
		c.answered(line, string(h.RequestID))
	case "control_request":
		c.startHandler(line, string(h.RequestID))
	case "control_cancel_request":
		c.withdrawn(string(h.RequestID))
	case "system":
		if string(h.Subtype) == "init" {
			c.learnVersion(line)
		}
	}
}

// answered hands an answer to the Request that waits for it. One without such a call is a
// second one, a late one, or the echo of an answer of ours.
func (c *Conn) answered(line []byte, id string) {
	c.mu.Lock()
	waiting := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if waiting == nil {
		return
	}
	m, err := wire.Decode(line)
	if err != nil {
		return
	}
	r, ok := m.(*wire.ControlResponse)
	if !ok {
		return
	}
	if a, err := wire.DecodeAnswer(waiting.subtype, r.Response.Response); err == nil {
		if init, ok := a.(*wire.InitializeAnswer); ok {
			c.setVersion(init.ClaudeCodeVersion)
			c.mu.Lock()
			c.least = wire.LeastVersion(init)
			c.mu.Unlock()
		}
	}
	waiting.answer <- &r.Response
}

func (c *Conn) learnVersion(line []byte) {
	if m, err := wire.Decode(line); err == nil {
		if init, ok := m.(*wire.Init); ok {
			c.setVersion(init.ClaudeCodeVersion)
		}
	}
}

func (c *Conn) setVersion(s string) {
	v, err := wire.ParseVersion(s)
	if err != nil {
		return
	}
	c.mu.Lock()
	c.version = v
	c.mu.Unlock()
}

func (c *Conn) withdrawn(id string) {
	c.mu.Lock()
	cancel := c.incoming[id]
	c.mu.Unlock()
	if cancel != nil {
		cancel(ErrWithdrawn)
	}
}

// startHandler starts the handler for a request of the CLI. One that is being handled
// is not handled twice.
func (c *Conn) startHandler(line []byte, id string) {
	if id == "" {
		return // an answer could not name the request
	}
	m, err := wire.Decode(line)
	q, ok := m.(*wire.ControlRequest)
	if err != nil || !ok || q.Request == nil {
		// No handler can answer it either, but the CLI must not wait forever.
		q = &wire.ControlRequest{RequestID: id, Request: &wire.UnknownRequest{}}
	}
	ctx, cancel := context.WithCancelCause(c.ctx)
	c.mu.Lock()
	if _, running := c.incoming[id]; running || c.ended != nil {
		c.mu.Unlock()
		cancel(nil)
		return
	}
	c.incoming[id] = cancel
	before, done := c.queue(q)
	c.handlers.Add(1)
	c.mu.Unlock()
	go func() { // joined by Close
		defer c.handlers.Done()
		defer func() {
			c.mu.Lock()
			delete(c.incoming, id)
			c.mu.Unlock()
			cancel(nil)
			if done != nil {
				close(done)
			}
		}()
		if before != nil {
			select {
			case <-before:
			case <-ctx.Done():
			}
		}
		c.handle(ctx, q)
	}()
}

// queue orders the messages to one MCP server: a message of the handshake is
// handled when those before it are done, any other when the handshake is. mu is
// held.
func (c *Conn) queue(q *wire.ControlRequest) (before <-chan struct{}, done chan struct{}) {
	m, ok := q.Request.(*wire.MCPMessageRequest)
	if !ok {
		return nil, nil
	}
	switch m.Message.Method {
	case "":
		// The handler that it would queue behind may be the one that waits for this answer.
		return nil, nil
	case "initialize", "notifications/initialized", "tools/list":
		done = make(chan struct{})
	}
	before = c.turns[m.ServerName]
	if done != nil {
		c.turns[m.ServerName] = done
	}
	return before, done
}

// handle answers one request.
func (c *Conn) handle(ctx context.Context, q *wire.ControlRequest) {
	line, err := protect("handler", func() ([]byte, error) { return c.handler(ctx, q) })
	if errors.Is(context.Cause(ctx), ErrWithdrawn) {
		return // it has its answer from elsewhere
	}
	if err != nil {
		code := ""
		if errors.Is(err, errors.ErrUnsupported) {
			code = wire.ErrorCodeUnsupported
		}
		if line, err = wire.NewError(q.RequestID, err.Error(), code); err != nil {
			return
		}
	}
	if line == nil {
		return
	}
	if err := c.write(line); err != nil {
		// A handler's line that cannot be sent must not leave the CLI waiting.
		if refusal, e := wire.NewError(q.RequestID, "the answer could not be sent: "+err.Error(), ""); e == nil {
			_ = c.write(refusal) // if that fails too, the connection is gone
		}
	}
}

// write sends an answer.
func (c *Conn) write(line []byte) error {
	ctx, cancel := context.WithTimeout(c.ctx, answerTimeout)
	defer cancel()
	return c.Send(ctx, line)
}

// Decline is the handler of a connection that has none: it denies every
// permission, declines every form, leaves dialogs alone and refuses the rest.
func Decline(_ context.Context, q *wire.ControlRequest) ([]byte, error) {
	switch r := q.Request.(type) { //nolint:gochecksumtype // everything else is refused
	case *wire.CanUseToolRequest:
		return wire.NewPermission(q, &wire.Deny{Message: "Nobody is there to allow this."})
	case *wire.ElicitationRequest:
		return wire.NewAnswer(q.RequestID, &wire.ElicitationAnswer{Action: wire.ElicitationActionDecline})
	case *wire.UserDialogRequest:
		return nil, nil
	case *wire.UnknownRequest:
		if MustNotAnswer(r.RequestSubtype()) {
			return nil, nil
		}
	}
	return nil, fmt.Errorf("unsupported control request subtype: %s: %w", q.Request.RequestSubtype(), errors.ErrUnsupported)
}

// MustNotAnswer reports whether a request of the CLI is one that is left alone
// by a client that does not know it: another client, or the CLI's own deadline, settles
// it.
func MustNotAnswer(subtype string) bool {
	switch subtype {
	case "request_user_dialog", "remote_tool_call", "remote_plumbing_call", "remote_tools_probe", "remote_tools_reannounce":
		return true
	}
	return false
}

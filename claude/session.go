package claude

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/internal/broadcast"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A Session is a conversation with a CLI: prompts go in, events come out, and
// in between it answers what the CLI asks. [Start] starts the CLI too,
// [NewSession] takes one that is there.
//
// All methods are safe for concurrent use. A session must be closed; see
// [Session.Close] and [Session.Finish].
//
// It owns these goroutines, which Close joins: the one of its [Conn] that reads,
// one for each request of the CLI that is being handled, one that writes
// prompts, and one that watches the connection.
type Session struct {
	// Static after construction.
	conn      *Conn
	process   *Process // nil if the transport is something else
	options   *Options // a copy, never nil
	first     *wire.InitializeRequest
	ctx       context.Context // ends with the session
	cancel    context.CancelCauseFunc
	wake      chan struct{} // has room for one: the pump has something to look at
	done      chan struct{} // closed when the last line has been folded
	workers   sync.WaitGroup
	closeOnce sync.Once
	closeErr  error
	trouble   trouble // what the lines tell about why a session ends

	router requestRouter // answers what the CLI asks

	mu      sync.Mutex
	fold    fold.State
	costs   fold.Costs
	partial fold.Partial
	outbox  outbox
	turns   turns
	phase   fold.Phase          // the one that was told last
	changed broadcast.Broadcast // the phase
	seen    int64               // the number of the newest line that was folded
	folding bool                // lines are being folded
	info    infoCache
	link    context.Context         // ends when the connection is lost; another when it is back
	unlink  context.CancelCauseFunc // ends link
	closing bool                    // Close was called
	ended   error                   // why the session ended; nil while it lives
}

// Start finds a CLI, starts it and makes it ready: it returns when the CLI has
// answered the initialize request. A CLI that is not prompted yet costs nothing
// but memory, so a program that wants its first answer soon calls Start early.
//
// ctx bounds the start only; the session lives until Close. A nil o starts a new
// conversation with all defaults. What went wrong is a typed error; see the list
// at [ErrClosed].
func Start(ctx context.Context, o *Options) (*Session, error) {
	if o == nil {
		o = &Options{}
	}
	started, wrap, discard, err := openStore(ctx, o)
	if err != nil {
		return nil, err
	}
	p, err := started.startProcess(ctx)
	if err != nil {
		return nil, errors.Join(err, discard())
	}
	s := newSession(started)
	s.process = p
	return s.open(ctx, wrap(p), p.command.Version)
}

// NewSession makes a session on a transport of any kind, such as a CLI that
// dialled in, and owns it from then on: if NewSession fails, the transport is
// closed. Options that only the start of a process can carry are refused.
func NewSession(ctx context.Context, t Transport, o *Options) (*Session, error) {
	if o == nil {
		o = &Options{}
	}
	if err := o.forTransport(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	started, wrap, _, err := openStore(ctx, o)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	s := newSession(started)
	var v wire.Version
	if s.process = processOf(t); s.process != nil {
		v = s.process.command.Version
	} else if o.CLI != nil {
		v = o.CLI.Version
	}
	return s.open(ctx, wrap(t), v)
}

// processOf returns the process that carries a transport, nil if none does.
func processOf(t Transport) *Process {
	for {
		if p, ok := t.(*Process); ok {
			return p
		}
		u, ok := t.(interface{ Unwrap() Transport })
		if !ok {
			return nil
		}
		t = u.Unwrap()
	}
}

func newSession(o *Options) *Session {
	copied := *o
	s := &Session{
		options: &copied,
		wake:    make(chan struct{}, 1),
		done:    make(chan struct{}),
		phase:   fold.PhaseStarting,
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.link, s.unlink = context.WithCancelCause(s.ctx)
	started := fold.Event{Kind: fold.EventStarted, Run: 1, Resumed: o.Resume != "" || o.Continue, Time: time.Now()}
	s.fold.Happened(started)
	s.costs.Happened(started)
	return s
}

// open connects the session and sends the initialize request. If that fails,
// everything is closed.
func (s *Session) open(ctx context.Context, t Transport, v wire.Version) (*Session, error) {
	fail := func(err error) (*Session, error) {
		if s.conn == nil {
			s.cancel(err)
			err = errors.Join(err, t.Close())
			s.closeRouter()
			return nil, err
		}
		return nil, errors.Join(err, s.Close())
	}
	if err := s.prepareRouter(ctx, v); err != nil {
		return fail(err)
	}
	first, err := s.options.initializeRequest(v, s.hookRegistrations())
	if err != nil {
		return fail(err)
	}
	s.first = first
	o := s.options.connOptions(v, s.handle)
	o.observer = &observer{lines: s.received, sending: s.sending, ended: s.foldEnd}
	s.conn = newConn(t, o)
	s.conn.start()
	s.workers.Go(s.pump)
	s.workers.Go(s.watch)
	if err := s.initialize(ctx); err != nil {
		return fail(err)
	}
	return s, nil
}

// initialize sends the first request of all and waits for its answer.
func (s *Session) initialize(ctx context.Context) error {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.options.startTimeout(), ErrNoAnswer)
		defer cancel()
	}
	a, err := s.conn.Request(ctx, s.first)
	if err == nil {
		var answer *wire.InitializeAnswer
		if body, err := wire.DecodeAnswer("initialize", a.Response); err == nil {
			answer, _ = body.(*wire.InitializeAnswer)
		}
		if answer == nil {
			answer = &wire.InitializeAnswer{}
		}
		return s.hooksAccepted(answer)
	}
	if refused, ok := errors.AsType[*ControlError](err); ok && refused.Answer.PendingPermissionRequests != nil {
		// An older CLI that was initialized before: it dialled in again, or
		// another program has started it. It lists what it waits for.
		return nil
	}
	if _, exited := errors.AsType[*ExitError](err); exited {
		select {
		case <-s.conn.Done(): // soon: what it wrote before is still being read
		case <-ctx.Done():
		}
	}
	if end := s.conn.Err(); end != nil {
		// Its last lines say more than the request that failed.
		<-s.conn.Done()
		err = s.trouble.explain(end)
	} else {
		err = s.trouble.explain(err)
	}
	return fmt.Errorf("starting a session: %w", err)
}

// Conn returns the connection, for what the session has no method for.
func (s *Session) Conn() *Conn { return s.conn }

// PID returns the id of the CLI's process, 0 if it is not a process of ours and
// has not told it.
func (s *Session) PID() int {
	if s.process != nil {
		return s.process.PID()
	}
	if a := s.Info().Initialize; a != nil {
		return int(a.PID)
	}
	return 0
}

// Done is closed when the session has ended and its last event is there to be
// read.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err returns why the session ended: nil while it lives, [ErrClosed] after Close,
// [io.EOF] if the CLI ended by itself in good order, otherwise the cause, such as
// an [*ExitError]. A CLI that ends in mid-turn does not end in good order, whatever
// its exit code is: that is [io.ErrUnexpectedEOF].
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// version returns the CLI's version as far as it is known.
func (s *Session) version() wire.Version { return s.conn.Version() }

// inBackground reports whether a task goes on beside the turns. mu is held.
func (s *Session) inBackground() bool {
	return slices.ContainsFunc(s.fold.Tasks, func(t fold.Task) bool { return t.Background && !t.Ambient })
}

// noteTrouble keeps what may later say why the session ended. Messages of the
// model that tell of a failure are looked at when the turn has failed: looking at
// all of them costs time. mu is held.
func (s *Session) noteTrouble(f *fold.Line) {
	switch string(f.Header.Type) {
	case "result", "auth_status":
		if m, err := f.Message(); err == nil {
			s.trouble.observe(m)
		}
	}
}

// sending folds a line that is about to be written.
func (s *Session) sending(line []byte) (undo func()) {
	f := fold.NewLine(line, true)
	f.Time = time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	changes := s.fold.Apply(f)
	if len(changes) > 0 {
		s.questionsChanged(changes)
	}
	s.notifyChanges()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.takeBackSent(f)
		s.notifyChanges()
	}
}

// foldEnd folds the end. The connection's reader calls it behind the last line.
func (s *Session) foldEnd(cause error) {
	s.mu.Lock()
	s.refusal(s.turns.current)
	if !errors.Is(cause, io.EOF) && !errors.Is(cause, ErrClosed) {
		cause = s.trouble.explain(cause)
	}
	if errors.Is(cause, io.EOF) && (s.turns.current != nil || len(s.outbox.open) > 0) {
		cause = errEndedEarly // whatever its exit code says
	}
	e := fold.Event{Kind: fold.EventEnded, Reason: cause.Error(), Time: time.Now()}
	changes := s.fold.Happened(e)
	s.partial.Happened(e)
	s.ended = cause
	s.abandon(cause)
	if len(changes) > 0 {
		s.questionsChanged(changes)
	}
	s.notifyChanges()
	s.mu.Unlock()
	s.cancel(cause)
	close(s.done)
}

// notifyChanges wakes the goroutines that wait for another phase, and the pump. mu is held.
func (s *Session) notifyChanges() {
	if p := s.phaseNow(); p != s.phase {
		s.phase = p
		s.changed.Notify()
	}
	if s.turns.current == nil {
		s.turns.changed.Notify() // the turn that a caller waits for may never begin
	}
	s.nudge()
}

// nudge has the pump look again.
func (s *Session) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

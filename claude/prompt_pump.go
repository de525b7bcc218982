package claude

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/wire/fold"
)

// pump writes prompts when their time has come. No other goroutine does, so
// they are written in order and a caller's context cannot cut one in half.
func (s *Session) pump() {
	for {
		q := s.next()
		if q == nil {
			select {
			case <-s.wake:
			case <-s.ctx.Done():
				return
			}
			continue
		}
		_, changed := s.conn.transport.State()
		err := s.conn.Send(s.ctx, q.line)
		s.wrote(q, err, err != nil && s.lossFollows(err, changed))
	}
}

// lossGrace is how long a transport may take to tell that its connection is lost
// when a write has failed because of that.
const lossGrace = 5 * time.Second

// lossFollows waits for a transport to tell that its connection was lost, of which
// the failure of a write may be the first sign. It reports whether it does. If the CLI
// has ended, the end of the session is waited for: its last lines say why.
func (s *Session) lossFollows(err error, changed <-chan struct{}) bool {
	_, exited := errors.AsType[*ExitError](err)
	if refused(err) || s.process != nil && !exited {
		return false // it is not lost, or it cannot come back
	}
	if exited {
		changed = nil
	}
	timer := time.NewTimer(lossGrace)
	defer timer.Stop()
	select {
	case <-changed:
		return true
	case <-timer.C:
	case <-s.ctx.Done():
	}
	return false
}

// next returns the prompt to be written now, nil if there is none.
func (s *Session) next() *sentPrompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := &s.outbox
	phase := s.fold.Phase()
	if s.ended != nil || s.closing || phase == fold.PhaseOffline || phase == fold.PhaseStarting || phase == fold.PhaseEnded {
		return nil
	}
	for len(o.again) > 0 {
		id := o.again[0]
		o.again = o.again[1:]
		if q := o.open[id]; q != nil && s.isWaiting(id) {
			o.writing = q
			return q
		}
	}
	i := slices.IndexFunc(o.queue, func(q *sentPrompt) bool { return q.Steer })
	takes := phase.TakesPrompt() || phase == fold.PhaseRunning && o.quiet
	if i < 0 && len(o.queue) > 0 && takes && (o.held == 0 || o.queue[0].now) {
		i, o.quiet = 0, false
	}
	if i < 0 {
		if s.stuck() {
			s.doubtState()
		}
		return nil
	}
	q := o.queue[i]
	o.queue = slices.Delete(o.queue, i, i+1)
	o.writing = q
	if o.open == nil {
		o.open = map[string]*sentPrompt{}
	}
	// Before it is written, since the turn may be over by the time that Write
	// returns.
	if !q.Append {
		o.open[q.ID] = q
	}
	return q
}

// isWaiting reports whether the CLI has not picked up a prompt yet. mu is held.
func (s *Session) isWaiting(id string) bool {
	return slices.ContainsFunc(s.fold.Queue.Waiting, func(p fold.Prompt) bool { return p.UUID == id })
}

// stuck reports whether a prompt waits only because the CLI says that it is
// running: no turn has begun, and it has been given nothing to do. mu is held.
func (s *Session) stuck() bool {
	o := &s.outbox
	return s.ended == nil && !s.closing && len(o.queue) > 0 && o.held == 0 && s.turns.current == nil &&
		len(s.fold.Queue.Waiting) == 0 && s.fold.Phase() == fold.PhaseRunning
}

// doubtState has the next prompt written all the same if the CLI says nothing more
// for a while. None is known to do that; but no caller should wait forever. mu is
// held.
func (s *Session) doubtState() {
	if s.outbox.doubt != nil {
		return
	}
	last := s.conn.backlog.newest()
	s.outbox.doubt = time.AfterFunc(quietGrace, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.outbox.doubt = nil
		if s.stuck() {
			s.outbox.quiet = s.outbox.quiet || s.conn.backlog.newest() == last
			s.nudge() // which writes it, or begins to doubt anew
		}
	})
}

// wrote notes that a prompt was written, or why not; lost says that the connection
// was lost meanwhile.
func (s *Session) wrote(q *sentPrompt, err error, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outbox.writing = nil
	switch {
	case err == nil:
		q.isWritten()
		if q.Append {
			q.finish(nil, nil) // no turn will answer it
		}
	case s.ended != nil || s.closing:
		s.drop(q, s.endCause())
	case (lost || s.reconnects()) && !refused(err) && !q.Append:
		// It may have arrived or not. The CLI swallows a second one, so it is
		// written again when the connection is back, unless it is picked up.
		q.isWritten()
	default:
		s.unwait(q.ID)
		s.outbox.forget(q.ID)
		s.drop(q, err)
	}
	s.notifyChanges()
}

// refused reports whether a line was not sent because of what it is.
func refused(err error) bool {
	_, unsupported := errors.AsType[*UnsupportedError](err)
	return unsupported || errors.Is(err, ErrBadLine) || errors.Is(err, ErrInputClosed)
}

// reconnects reports whether the transport has lost its connection, or had it
// back before: then the failure of a write is not final.
func (s *Session) reconnects() bool {
	state, _ := s.conn.transport.State()
	return state == StateReconnecting || state == StateConnecting || s.outbox.lost
}

func (q *sentPrompt) isWritten() {
	select {
	case <-q.written:
	default:
		close(q.written)
	}
}

// finish settles a prompt. Only the first outcome counts. mu is held.
func (q *sentPrompt) finish(c *Completion, err error) {
	if q.isDone {
		return
	}
	q.isDone, q.completion, q.err = true, c, err
	close(q.done)
	q.isWritten()
}

// drop gives a prompt up. mu is held.
func (s *Session) drop(q *sentPrompt, cause error) {
	delete(s.outbox.open, q.ID)
	if q.isDone {
		return
	}
	q.finish(nil, cause)
	s.mark(&PromptDropped{ID: q.ID, Err: cause})
}

// abandon gives up all prompts and the turn at the end of the session. mu is
// held.
func (s *Session) abandon(cause error) {
	s.cutTurn(cause)
	o := &s.outbox
	if errors.Is(cause, io.EOF) {
		cause = errEndedEarly
	}
	for _, q := range o.queue {
		s.drop(q, cause)
	}
	for _, q := range o.open {
		s.drop(q, cause)
	}
	o.queue, o.open, o.again = nil, nil, nil
	if s.turns.orphaned != nil {
		s.turns.orphaned.Stop()
	}
	if o.doubt != nil {
		o.doubt.Stop()
	}
}

// endCause returns why nothing can be sent any more. mu is held.
func (s *Session) endCause() error {
	switch {
	case s.ended == nil:
		return ErrClosed
	case errors.Is(s.ended, io.EOF):
		return fmt.Errorf("the CLI has ended: %w", s.ended)
	}
	return s.ended
}

// watch follows the connection of a transport that may lose it and get it back.
func (s *Session) watch() {
	t := s.conn.transport
	lost, before := false, ""
	for {
		state, changed := t.State()
		// A change that has led back to where it began was one that no goroutine saw: the
		// connection was replaced by another at once.
		if state == StateReconnecting || state == StateConnected && before == StateConnected {
			if !lost {
				lost = true
				s.linked(fold.EventLinkLost)
			}
		}
		if state == StateConnected && lost {
			lost = false
			s.linked(fold.EventLinkBack)
			s.workers.Go(s.recover)
		}
		before = state
		select {
		case <-changed:
		case <-s.ctx.Done():
			return
		}
	}
}

// linked folds the loss or the return of the connection.
func (s *Session) linked(kind fold.EventKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return
	}
	if kind == fold.EventLinkLost {
		s.outbox.lost = true
		s.unlink(ErrOffline)
	} else {
		s.link, s.unlink = context.WithCancelCause(s.ctx)
	}
	changes := s.fold.Happened(fold.Event{Kind: kind, Time: time.Now()})
	if len(changes) > 0 {
		s.questionsChanged(changes)
	}
	s.notifyChanges()
}

// recover asks a CLI that is back what it waits for, with the first initialize
// request once more, and has the prompts written again that it has not picked
// up: it swallows those that it knows. Interrupts are not repeated, they would
// stop another turn.
func (s *Session) recover() {
	_, err := s.conn.Request(s.ctx, s.first)
	if _, answered := errors.AsType[*ControlError](err); err != nil && !answered {
		if !errors.Is(err, context.Canceled) && !errors.Is(err, ErrNoAnswer) {
			return // the next reconnect asks again
		}
	}
	s.mu.Lock()
	link := s.link
	for _, p := range s.fold.Queue.Waiting {
		if p.UUID != "" && !slices.Contains(s.outbox.again, p.UUID) {
			s.outbox.again = append(s.outbox.again, p.UUID)
		}
	}
	s.notifyChanges()
	s.mu.Unlock()
	s.awaitQuiet(link)
}

// quietGrace is how long a CLI that may have lost the end of its turn must say
// nothing before it is prompted.
const quietGrace = 5 * time.Second

// awaitQuiet finds out whether a turn that goes on after a reconnect does so only
// because its result was lost with the connection: then the CLI says nothing. The
// next prompt is written all the same. If the turn does go on, the CLI works the
// prompt into it, which is better than waiting for ever.
func (s *Session) awaitQuiet(link context.Context) {
	timer := time.NewTimer(quietGrace)
	defer timer.Stop()
	for last := s.conn.backlog.newest(); ; {
		select {
		case <-timer.C:
		case <-link.Done():
			return
		}
		s.mu.Lock()
		running := s.fold.Phase() == fold.PhaseRunning
		newest := s.conn.backlog.newest()
		quiet := running && newest == last
		if quiet {
			s.outbox.quiet = true
			s.notifyChanges()
		}
		s.mu.Unlock()
		if quiet || !running {
			return
		}
		last = newest
		timer.Reset(quietGrace)
	}
}

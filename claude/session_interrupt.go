package claude

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/switchboard-dev/switchboard/wire"
)

// Interrupt ends the turn that is going on and returns when it has really ended:
// its result has been read, and with it the end of everything that it was doing.
// A turn that has not begun yet, because the CLI has not picked up its prompt, is
// interrupted as soon as it begins: a CLI takes no notice of an interrupt that
// comes earlier. If there is no turn, Interrupt returns at once.
//
// Prompts that the session keeps, or that the CLI has queued, come next; tasks in
// the background go on. The answer tells what is queued where the version does,
// and is empty elsewhere.
func (s *Session) Interrupt(ctx context.Context) (*wire.InterruptAnswer, error) {
	return s.interruptIf(ctx, func() bool { return true })
}

// interruptIf is Interrupt if the condition holds, which is called with mu held.
func (s *Session) interruptIf(ctx context.Context, wanted func() bool) (*wire.InterruptAnswer, error) {
	target, ok := s.beginInterrupt(wanted)
	if !ok {
		return &wire.InterruptAnswer{}, nil
	}
	defer s.endInterrupt()
	for {
		begun := s.interrupting(target)
		answer, err := s.interrupt(ctx)
		if err != nil {
			if over, _, _ := s.turnState(target); over && s.Err() == nil && ctx.Err() == nil {
				return &wire.InterruptAnswer{}, nil // it ended meanwhile, whatever became of the request
			}
			return answer, fmt.Errorf("interrupting: %w", err)
		}
		if target == 0 {
			return answer, nil
		}
		again, err := s.awaitTurn(ctx, target, begun)
		if err != nil {
			return answer, fmt.Errorf("interrupting: %w", err)
		}
		if !again {
			return answer, nil
		}
	}
}

// beginInterrupt returns the number of the turn to interrupt, 0 if there is none,
// and keeps further prompts back. It reports false, and does nothing, if none is
// wanted.
func (s *Session) beginInterrupt(wanted func() bool) (target int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !wanted() {
		return 0, false
	}
	o := &s.outbox
	if s.turns.current == nil && !s.turnComes() && o.held == 0 && len(o.queue) > 0 {
		// The prompt that is to be written next is what the caller means.
		o.queue[0].now = true
	}
	o.held++
	switch {
	case s.turns.current != nil:
		return s.turns.current.number, true
	case s.turnComes():
		return s.turns.number + 1, true
	}
	return 0, true
}

// turnComes reports whether a turn is about to begin. mu is held.
func (s *Session) turnComes() bool {
	return len(s.fold.Queue.Waiting) > 0 || s.outbox.writing != nil || s.fold.Turn ||
		slices.ContainsFunc(s.outbox.queue, func(q *sentPrompt) bool { return q.now })
}

func (s *Session) endInterrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outbox.held--
	s.notifyChanges()
}

// interrupting notes that a turn is being interrupted. It reports whether the CLI
// is at work on it.
func (s *Session) interrupting(target int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.turns.current
	if t == nil || t.number != target {
		return false
	}
	t.interrupted = true
	return t.begun
}

// ErrOffline is returned by [Session.Interrupt] when the connection to the CLI is
// lost, or was lost before the turn was over. A transport that can reconnect may
// have it back soon. The interrupt is not sent again by itself: it would stop
// another turn.
var ErrOffline = errors.New("the connection to the CLI is lost")

// interrupt sends the request, on the present connection or not at all.
func (s *Session) interrupt(ctx context.Context) (*wire.InterruptAnswer, error) {
	s.mu.Lock()
	link := s.link
	s.mu.Unlock()
	if link.Err() != nil {
		return nil, context.Cause(link)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(link, func() { cancel(context.Cause(link)) })()
	a, err := s.conn.Request(ctx, &wire.InterruptRequest{})
	if err != nil {
		return nil, err
	}
	body, err := wire.DecodeAnswer("interrupt", a.Response)
	if answer, ok := body.(*wire.InterruptAnswer); ok && err == nil {
		return answer, nil
	}
	return &wire.InterruptAnswer{}, nil // older versions say nothing
}

// awaitTurn waits until a turn is over. It reports true if the turn has begun only
// now, so that an interrupt sent before did not count.
func (s *Session) awaitTurn(ctx context.Context, target int64, begun bool) (again bool, err error) {
	s.mu.Lock()
	link := s.link
	s.mu.Unlock()
	for {
		over, now, changed := s.turnState(target)
		switch {
		case over:
			return false, nil
		case now && !begun:
			return true, nil
		}
		select {
		case <-changed:
		case <-s.done:
			return false, s.Err()
		case <-link.Done():
			return false, context.Cause(link)
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// turnState reports whether a turn is over or being worked on, and returns a channel that
// is closed when that may have changed.
func (s *Session) turnState(target int64) (over, now bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.turns
	switch {
	case t.current != nil:
		over, now = t.current.number > target, t.current.number == target && t.current.begun
	case t.number >= target:
		over = true
	default:
		// It has not begun. If nothing waits any more, it never will.
		over = !s.turnComes()
	}
	return over, now, t.changed.Changed()
}

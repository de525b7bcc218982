package claude

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/switchboard-dev/switchboard/wire/fold"
)

// turnGrace bounds how long Close waits for a turn to end that it interrupts.
const turnGrace = 3 * time.Second

// Close ends the session and returns when everything that belongs to it is gone:
// goroutines, the process and what that has started. It is idempotent.
//
// It loses nothing of the conversation. In this order: prompts that wait are
// dropped; a turn that is going on is interrupted, and its end awaited for up to
// 3 s, so that what it has come to is in the transcript; what is being asked is
// withdrawn; the CLI's input ends, so that it writes its files and ends by itself;
// only one that does not is ended, as [Process.Close] says. Lines that come
// meanwhile can still be read. To wait for work instead of ending it, see
// [Session.Finish].
//
// It returns an error only if something could not be ended. Why the session ended
// is told by [Session.Err].
func (s *Session) Close() error {
	s.closeOnce.Do(func() { s.closeErr = s.shutDown() })
	return s.closeErr
}

func (s *Session) shutDown() error {
	s.mu.Lock()
	s.closing = true
	queue := s.outbox.queue
	s.outbox.queue = nil
	for _, q := range queue {
		s.drop(q, ErrClosed)
	}
	running := s.turns.current != nil && s.ended == nil && !s.fold.Offline
	s.notifyChanges()
	s.mu.Unlock()
	if running {
		ctx, cancel := context.WithTimeout(context.Background(), turnGrace)
		_, _ = s.Interrupt(ctx) // one that does not end by this is ended with its process
		cancel()
	}
	err := s.conn.Close()
	s.cancel(ErrClosed)
	s.workers.Wait()
	s.closeRouter()
	if err != nil {
		return fmt.Errorf("closing a session: %w", err)
	}
	return nil
}

// ErrStillBusy is returned by [Session.Finish] when [Options.BackgroundLimit] is
// over and tasks in the background still go on. The session is closed.
var ErrStillBusy = errors.New("tasks in the background had not ended in time")

// Finish waits until the session has nothing to do any more, and closes it: no
// turn is going on, nothing is queued or asked, and no task runs in the
// background, whose end may start a turn of its own. What is asked meanwhile can
// still be answered: the CLI's input stays open.
//
// ctx bounds the wait, and [Options.BackgroundLimit] that for tasks in the
// background; the session is closed in any case. An older CLI (2.1.37) does not
// say when such a task is done until it is spoken to, so there one of the two is
// needed. Finish returns nil if the session ended in good order.
func (s *Session) Finish(ctx context.Context) error {
	err := s.awaitRest(ctx)
	if closeErr := s.Close(); closeErr != nil {
		err = errors.Join(err, closeErr)
	}
	return err
}

// followGrace is how long Finish waits for the turn that a task in the background
// starts when it is done: between the two a CLI (2.1.325) is idle for a moment.
const followGrace = 3 * time.Second

// stateAndFollows is State, and how long a turn may still come that a task has started. Both are
// of one moment: a turn that begins forgets the task, and a caller that had seen the session idle
// before it would take that for the end.
func (s *Session) stateAndFollows() (phase fold.Phase, changed <-chan struct{}, follows time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if over := s.turns.tasksOver; !over.IsZero() {
		follows = followGrace - time.Since(over)
	}
	phase, changed = s.state()
	return phase, changed, follows
}

// awaitRest waits until the session has nothing to do.
func (s *Session) awaitRest(ctx context.Context) error {
	var limit <-chan time.Time
	for {
		phase, changed, follows := s.stateAndFollows()
		var comes <-chan time.Time
		switch phase {
		case fold.PhaseIdle:
			if follows <= 0 {
				return nil
			}
			timer := time.NewTimer(follows)
			defer timer.Stop() // there are few
			comes = timer.C
		case fold.PhaseEnded:
			if err := s.Err(); !s.orderly(err) {
				return fmt.Errorf("finishing: %w", err)
			}
			return nil
		case fold.PhaseBackground:
			if limit == nil && s.options.BackgroundLimit > 0 {
				timer := time.NewTimer(s.options.BackgroundLimit)
				defer timer.Stop()
				limit = timer.C
			}
		default:
			limit = nil // the tasks have led to something
		}
		select {
		case <-changed:
		case <-comes:
		case <-limit:
			return fmt.Errorf("finishing: %w", ErrStillBusy)
		case <-ctx.Done():
			return fmt.Errorf("finishing: %w", context.Cause(ctx))
		}
	}
}

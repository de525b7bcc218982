package claude

import (
	"context"
	"iter"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// Pending returns the questions that are open, in the order of asking.
func (s *Session) Pending() []Question { return s.desk.pending() }

// Questions yields every question, each once: those that are open, then those
// that come. Whether a handler is asked too makes no difference. One that is
// settled before its turn comes is left out; the Done of a question tells when
// its answer is not wanted any more.
//
// The loop ends with the session, with its cause as the last error if that was
// not a good end, and with the context, whose error is then the last.
//
//	for q, err := range s.Questions(ctx) {
//		if err != nil {
//			return err
//		}
//		go show(q) // and call s.Answer(ctx, q.ID(), …)
//	}
func (s *Session) Questions(ctx context.Context) iter.Seq2[Question, error] {
	return s.desk.questions(ctx)
}

// Answer answers an open question with one of its own replies. The first answer
// counts: a later one gets [ErrSettled], one to a question that the CLI does not
// ask any more [ErrWithdrawn], and one to a question that never was
// [ErrNoQuestion]. A reply that does not fit, or that this version of the CLI
// cannot take, is refused before anything is sent, and the question stays open.
//
// It returns when the answer is written; the end of ctx does not hold up one that is
// on its way. If it cannot be written, the question is settled all the same: on a
// transport that reconnects the answer is given when the CLI asks for it again.
func (s *Session) Answer(ctx context.Context, id string, r Reply) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return s.desk.answer(id, r)
}

// prepareDesk makes the desk ready for the connection to come.
func (s *Session) prepareDesk(ctx context.Context, v wire.Version) error {
	return s.desk.prepare(ctx, s.ctx, s.options, v)
}

// hookRegistrations is what the initialize request tells of hooks.
func (s *Session) hookRegistrations() map[string][]wire.HookMatcher {
	return s.desk.hooks.registration()
}

// deskAccepted looks at the answer to initialize for what was not accepted.
func (s *Session) deskAccepted(a *wire.InitializeAnswer) error {
	return s.desk.hooks.accepted(a, s.version())
}

// handle is the connection's [Handler].
func (s *Session) handle(ctx context.Context, q *wire.ControlRequest) ([]byte, error) {
	s.desk.attach(s.conn)
	return s.desk.handle(ctx, q)
}

// questionsChanged is told what the fold makes of the lines. It does not block.
func (s *Session) questionsChanged(changes []fold.Change) {
	s.desk.attach(s.conn)
	s.desk.folded(changes)
}

// closeDesk ends what the desk has begun.
func (s *Session) closeDesk() {
	cause := s.Err()
	if cause == nil {
		cause = ErrClosed
	}
	s.desk.close(cause)
}

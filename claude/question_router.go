package claude

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/switchboard-dev/switchboard/internal/broadcast"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// What is answered where no person is asked.
const nobodyAsked = "Nobody could be asked: the program that runs this session answers no questions."

// A questionTable keeps the questions of a session, each of which is settled once.
type questionTable struct {
	mu      sync.Mutex
	open    []Question // in the order of asking
	settled []settledQuestion
	lines   map[string]int64    // the lines of those that are asked, and were not withdrawn or answered
	last    int64               // the number of the newest question
	changed broadcast.Broadcast // a question has opened
}

// A settledQuestion is remembered so that a late answer gets an error, and so
// that an answer that was lost on the way can be given again.
type settledQuestion struct {
	id   string
	err  error
	line []byte
}

// maxSettled bounds what is remembered.
const maxSettled = 200

// find returns an open question. mu is held.
func (b *questionTable) find(id string) Question {
	if i := slices.IndexFunc(b.open, func(q Question) bool { return q.ID() == id }); i >= 0 {
		return b.open[i]
	}
	return nil
}

// findSettled returns the place of a settled question, or -1. mu is held.
func (b *questionTable) findSettled(id string) int {
	return slices.IndexFunc(b.settled, func(s settledQuestion) bool { return s.id == id })
}

// remember keeps what became of a question. mu is held.
func (b *questionTable) remember(s settledQuestion) {
	b.settled = append(b.settled, s)
	if len(b.settled) > maxSettled {
		b.settled = slices.Delete(b.settled, 0, len(b.settled)-maxSettled)
	}
}

// opened notes that the CLI asks a question, in a line of that number. What was
// given up before on this side only is asked anew.
func (b *questionTable) opened(id string, line int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lines == nil {
		b.lines = map[string]int64{}
	}
	b.lines[id] = line
	if i := b.findSettled(id); i >= 0 && b.settled[i].line == nil {
		b.settled = slices.Delete(b.settled, i, i+1)
	}
}

// cancelled notes that a question is not asked any more. It returns the
// question, nil if it is not open: its request may not have been handled yet, and
// must not be asked when it is.
func (b *questionTable) cancelled(id string, why error) Question {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.lines, id)
	q := b.find(id)
	if q == nil && b.findSettled(id) < 0 {
		b.remember(settledQuestion{id: id, err: why})
	}
	return q
}

// insert puts a question among those that are open. Their requests are handled in
// goroutines of their own, so that it need not be the last. mu is held.
func (b *questionTable) insert(q Question) {
	i := len(b.open)
	for i > 0 && b.open[i-1].base().line > q.base().line {
		i--
	}
	b.open = slices.Insert(b.open, i, q)
}

// ask handles a request of the CLI that is a question. It returns when the
// question is settled, so that its withdrawal ends ctx until then. The answer is
// sent by the goroutine that settles it.
func (d *requestRouter) ask(ctx context.Context, request *wire.ControlRequest) ([]byte, error) {
	q, line, fresh := d.openQuestion(request, asking{})
	switch {
	case line != nil:
		return line, nil // it was answered, and the answer was lost
	case q == nil:
		return nil, nil
	case fresh && ctx.Err() == nil:
		d.pose(q)
	}
	select {
	case <-q.Done():
	case <-ctx.Done():
		d.withdraw(q.base(), withdrawal(context.Cause(ctx)))
	}
	return nil, nil
}

// withdrawal says why a question is not asked any more.
func withdrawal(cause error) error {
	if cause == nil || errors.Is(cause, ErrWithdrawn) {
		return ErrWithdrawn
	}
	return fmt.Errorf("%w: %w", ErrWithdrawn, cause)
}

// asking says how a question was asked.
type asking struct {
	recovered bool // while the CLI was not connected
	byTool    bool // with a call of an MCP tool, see AskPermission
}

// openQuestion notes a question. It returns the question, unless it is not to be
// asked or is settled; then the line that answered it, if one did.
func (d *requestRouter) openQuestion(request *wire.ControlRequest, how asking) (q Question, line []byte, fresh bool) {
	if r, ok := request.Request.(*wire.UserDialogRequest); ok && !slices.Contains(d.dialogs, r.DialogKind) {
		return nil, nil, false // it is for another client, which has declared it
	}
	b := &d.settles
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.find(request.RequestID); q != nil {
		return q, nil, false
	}
	if i := b.findSettled(request.RequestID); i >= 0 {
		return nil, b.settled[i].line, false
	}
	if d.ctx.Err() != nil {
		return nil, nil, false
	}
	b.last++
	a := &asked{
		request: request, kind: fold.KindOf(request.Request), recovered: how.recovered, byTool: how.byTool, bypass: d.bypass,
		number: b.last, line: b.lines[request.RequestID], done: make(chan struct{}),
	}
	// It ends when the question is settled, and never before: what a handler
	// returns because its context has ended must find it so.
	a.ctx, a.cancel = context.WithCancelCause(context.WithoutCancel(d.ctx))
	if q = questionOf(a); q == nil {
		a.cancel(nil)
		return nil, nil, false
	}
	a.stop = context.AfterFunc(d.ctx, func() { d.withdraw(a, withdrawal(context.Cause(d.ctx))) })
	b.insert(q)
	b.changed.Notify()
	return q, nil, true
}

// pose has a question answered, or leaves it open for [Session.Answer].
func (d *requestRouter) pose(q Question) {
	switch {
	case d.handler != nil:
		d.calls.start(func() { d.consult(q) }) // joined by close
	case d.pull || q.Kind() == fold.KindDialog:
	default:
		_ = d.settle(q, q.Decline(nobodyAsked)) // it is settled, or the connection is gone
	}
}

// consult asks the handler, and gives its answer.
func (d *requestRouter) consult(q Question) {
	var reply Reply
	err := errGone
	returned := false
	defer func() {
		if !returned { // it has ended its goroutine
			d.refuse(q, err)
		}
	}()
	reply, err = protect("question handler", func() (Reply, error) { return d.handler(q.base().ctx, q) })
	returned = true
	switch {
	case errors.Is(err, ErrLater):
		return
	case err == nil && reply == nil:
		err = errors.New("the question handler gave no answer")
	case err == nil:
		if err = d.settle(q, reply); err == nil || q.Err() != nil {
			return
		}
	}
	d.refuse(q, err)
}

// refuse declines a question whose handler failed.
func (d *requestRouter) refuse(q Question, err error) {
	if q.Err() != nil {
		return // it has its answer, or none is wanted
	}
	d.report(err)
	d.log.Warn("a question is refused because its handler failed", "question", q.ID(), "kind", q.Kind(), "error", err)
	_ = d.settle(q, q.Decline("The question could not be answered: "+err.Error())) // it is settled, or the connection is gone
}

// settle gives a question its answer, if it is the first. An answer that does not
// fit is refused, and the question stays open.
func (d *requestRouter) settle(q Question, r Reply) error {
	a := q.base()
	if r == nil {
		return fmt.Errorf("answering question %s: there is no reply", a.ID())
	}
	given := r.answer()
	if given == nil || given.to != a {
		return fmt.Errorf("answering question %s: the reply was made for another question", a.ID())
	}
	// What it was made of is the program's, which may have left a nil in it.
	line, err := protect("reply", func() ([]byte, error) { return given.line(d.conn.Version()) })
	if err == nil {
		_, err = d.conn.fit(line)
	}
	if err != nil {
		return err
	}
	if err := d.closeQuestion(a, ErrSettled, line); err != nil {
		return fmt.Errorf("answering question %s: %w", a.ID(), err)
	}
	if a.byTool {
		return nil // askByTool returns it
	}
	if err := d.conn.write(line); err != nil {
		return fmt.Errorf("answering question %s: %w", a.ID(), err)
	}
	return nil
}

// closeQuestion settles a question with what its Err says. It returns the Err of
// one that is settled already.
func (d *requestRouter) closeQuestion(a *asked, how error, line []byte) error {
	b := &d.settles
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := a.Err(); err != nil {
		return err
	}
	a.err, a.given = how, line
	close(a.done)
	a.stop()
	a.cancel(how)
	b.open = slices.DeleteFunc(b.open, func(q Question) bool { return q.base() == a })
	b.remember(settledQuestion{a.ID(), how, line})
	return nil
}

func (d *requestRouter) withdraw(a *asked, why error) { _ = d.closeQuestion(a, why, nil) } // or it is settled

// folded takes in what the reducer makes of the lines: questions that were asked while
// the CLI was not connected, and those that are not asked any more though the CLI has
// not withdrawn them. It does not block, and writes nothing itself.
func (d *requestRouter) folded(changes []fold.Change) {
	for i := range changes {
		q := changes[i].Question
		switch changes[i].Fate {
		case fold.FateOpened, fold.FateAskedAgain:
			d.settles.opened(q.RequestID, q.Seq)
			if q.Recovered { // what is not, the connection hands to ask
				d.recovered(q.Ask)
			}
		case fold.FateCancelled:
			if changes[i].Reason == fold.ReasonEnded {
				continue // the end of the session says why
			}
			d.settleElsewhere(q.RequestID, fmt.Errorf("%w (%s)", ErrWithdrawn, changes[i].Reason))
		case fold.FateAnswered: // here, or by a line that was sent on the connection itself
			d.settleElsewhere(q.RequestID, ErrSettled)
		case fold.FateAnsweredTooLate:
		}
	}
}

// settleElsewhere settles a question, if it is open, that was not answered by the router.
func (d *requestRouter) settleElsewhere(id string, why error) {
	if open := d.settles.cancelled(id, why); open != nil {
		d.withdraw(open.base(), why)
	}
}

// recovered notes that the CLI still waits for an answer to a question, which it
// asked while it was not connected, or whose answer was lost on the way.
func (d *requestRouter) recovered(request *wire.ControlRequest) {
	q, line, fresh := d.openQuestion(request, asking{recovered: true})
	switch {
	case fresh:
		d.calls.start(func() { d.pose(q) })
	case line != nil && d.conn.insist == 0: // or the connection sends it again by itself
		d.calls.start(func() { _ = d.conn.write(line) }) // if it is lost again, it is asked for again
	}
}

// pending returns the open questions.
func (d *requestRouter) pending() []Question {
	d.settles.mu.Lock()
	defer d.settles.mu.Unlock()
	return slices.Clone(d.settles.open)
}

// answer answers an open question by its id.
func (d *requestRouter) answer(id string, r Reply) error {
	b := &d.settles
	b.mu.Lock()
	q := b.find(id)
	i := b.findSettled(id)
	var err error
	switch {
	case q != nil:
	case i >= 0:
		err = fmt.Errorf("answering question %s: %w", id, b.settled[i].err)
	default:
		err = fmt.Errorf("answering question %q: %w", id, ErrNoQuestion)
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	return d.settle(q, r)
}

// questions yields each question once, those that are open first.
func (d *requestRouter) questions(ctx context.Context) iter.Seq2[Question, error] {
	return func(yield func(Question, error) bool) {
		seen := int64(0)
		for {
			d.settles.mu.Lock()
			var next Question
			if i := slices.IndexFunc(d.settles.open, func(q Question) bool { return q.base().number > seen }); i >= 0 {
				next = d.settles.open[i]
			}
			changed := d.settles.changed.Changed()
			d.settles.mu.Unlock()
			if next != nil {
				seen = next.base().number
				if !yield(next, nil) {
					return
				}
				continue
			}
			select {
			case <-changed:
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return
			case <-d.ctx.Done():
				if cause := context.Cause(d.ctx); !goodEnd(cause) {
					yield(nil, cause)
				}
				return
			}
		}
	}
}

// Pending returns the questions that are open, in the order of asking.
func (s *Session) Pending() []Question { return s.router.pending() }

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
	return s.router.questions(ctx)
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
	return s.router.answer(id, r)
}

// prepareRouter makes the router ready for the connection to come.
func (s *Session) prepareRouter(ctx context.Context, v wire.Version) error {
	return s.router.prepare(ctx, s.ctx, s.options, v)
}

// hookRegistrations is what the initialize request tells of hooks.
func (s *Session) hookRegistrations() map[string][]wire.HookMatcher {
	return s.router.hooks.registration()
}

// hooksAccepted looks at the answer to initialize for what was not accepted.
func (s *Session) hooksAccepted(a *wire.InitializeAnswer) error {
	return s.router.hooks.accepted(a, s.version())
}

// handle is the connection's [Handler].
func (s *Session) handle(ctx context.Context, q *wire.ControlRequest) ([]byte, error) {
	s.router.attach(s.conn)
	return s.router.handle(ctx, q)
}

// questionsChanged takes in what the reducer makes of the lines. It does not block.
func (s *Session) questionsChanged(changes []fold.Change) {
	s.router.attach(s.conn)
	s.router.folded(changes)
}

// closeRouter ends what the router has begun.
func (s *Session) closeRouter() {
	cause := s.Err()
	if cause == nil {
		cause = ErrClosed
	}
	s.router.close(cause)
}

package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/internal/broadcast"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// errEndedEarly is why a prompt has no completion although the CLI ended with exit
// code 0.
var errEndedEarly = fmt.Errorf("the CLI ended before it had answered: %w", io.ErrUnexpectedEOF)

// A Completion is how a turn ended.
type Completion struct {
	// Turn is the number of the turn in this session, from 1.
	Turn int64
	// Answer is the result's text, else the last text that the model said in this
	// turn.
	Answer string
	// Result is the line that ended the turn; nil if the turn ended without one,
	// because the process did. Err says why then.
	Result *wire.Result
	// Structured is the output that a schema asked for, nil if none did.
	Structured json.RawMessage
	// Prompts are the ids of the prompts that the turn answers. A turn that tasks
	// in the background have started answers none.
	Prompts []string
	// Origin says what started a turn that no person prompted; empty where the
	// version does not tell it.
	Origin wire.OriginKind
	// Interrupted says that an interrupt ended the turn.
	Interrupted bool
	// Costs is what was used and what it cost since the turn before, sub-agents in
	// the background included.
	Costs fold.Figures

	refusal wire.AssistantError // of the last message, where it has one
	err     error
}

// Err returns nil if the turn succeeded, and else why not: a [*ResultError] with
// all that the result tells, a [*LoginError] or another error that says what to
// do, or why the session ended if that is what ended the turn.
func (c *Completion) Err() error {
	if c.Result == nil {
		return c.err
	}
	return resultError(c.Result, c.refusal)
}

// turns keeps track of the turns of a session.
type turns struct {
	number    int64 // of the newest turn
	completed int64
	current   *turn               // nil while none is going on
	changed   broadcast.Broadcast // a turn has begun or ended
	marks     []mark
	marksGone int64       // how many are no longer kept
	orphans   []string    // prompts that the CLI has had, and no turn has shown
	orphaned  *time.Timer // runs while there are some
	tasksOver time.Time   // when the last task in the background ended, until a turn begins
}

// A turn is one that is going on.
type turn struct {
	number      int64
	prompts     []string
	last        []byte      // the line with what the model said last
	texts       [][]byte    // the newest lines that may have text
	begun       bool        // the CLI is at work on it, and hears an interrupt
	doubt       *time.Timer // runs while its result is overdue
	interrupted bool
}

// maxTexts is how many lines are kept to find the last text in.
const maxTexts = 8

// waiting returns the prompts that the CLI has not picked up.
func (t *turns) waiting(f *fold.State) []fold.Prompt {
	if len(f.Queue.Waiting) == 0 {
		return nil
	}
	return slices.Clone(f.Queue.Waiting)
}

// follow keeps track of the turn that a line belongs to. It is called when the
// line has been folded; waiting is what the CLI had not picked up before, cost
// what the turn cost if the line ends one. mu is held.
func (s *Session) follow(f *fold.Line, waiting []fold.Prompt, cost *fold.Turn) {
	s.seen = f.Seq
	picked := s.picked(waiting)
	isResult := f.Header.Is("result", "")
	sign := s.signOf(f, len(picked) > 0)
	if s.turns.current == nil && sign != noSign {
		s.beginTurn()
	}
	t := s.turns.current
	if t != nil && sign == sureSign {
		if !t.begun {
			t.begun = true
			s.turns.changed.Notify()
		}
	}
	if len(picked) > 0 {
		switch {
		case s.dropped(f):
			for _, id := range picked {
				if q := s.outbox.open[id]; q != nil {
					s.drop(q, ErrTakenBack)
				}
			}
		case t != nil:
			t.prompts = append(t.prompts, picked...)
		default:
			s.orphan(picked)
		}
	}
	if t == nil {
		return
	}
	switch {
	case isResult:
		s.endTurn(f, cost)
	case f.Header.Is("assistant", "") && len(f.Header.ParentToolUseID) == 0:
		s.keepMessage(t, f)
	case !s.fold.Turn:
		s.doubtTurn(t)
	}
}

// orphan keeps prompts that the CLI cannot be waiting with any more, since it says
// that it is idle, although no turn has shown them: the next turn answers them, or
// nothing does. mu is held.
func (s *Session) orphan(ids []string) {
	s.turns.orphans = append(s.turns.orphans, ids...)
	if s.turns.orphaned != nil {
		return
	}
	s.turns.orphaned = time.AfterFunc(resultGrace, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.turns.orphaned = nil
		if ids := s.turns.orphans; len(ids) > 0 {
			s.turns.orphans = nil
			s.completePrompts(ids, &Completion{Turn: s.turns.number, Prompts: ids, err: errNoResult})
		}
	})
}

// resultGrace is how long the result of a turn is waited for when the CLI says
// that it is idle.
const resultGrace = 5 * time.Second

// doubtTurn gives a turn up whose result does not come although the CLI says that
// it is idle. None is known to do that; but no caller should wait forever. mu is
// held.
func (s *Session) doubtTurn(t *turn) {
	if t.doubt != nil {
		return
	}
	t.doubt = time.AfterFunc(resultGrace, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		t.doubt = nil
		if s.turns.current == t && !s.fold.Turn {
			s.cutTurn(errNoResult)
			s.notifyChanges()
		}
	})
}

// errNoResult is why a turn has no result although the session goes on.
var errNoResult = errors.New("the CLI is idle and has not told the result of the turn")

// How surely a line shows that a turn is going on.
const (
	noSign   = iota
	someSign // the CLI has picked up a prompt
	sureSign // the CLI is at work, and would hear an interrupt
)

// signOf returns how surely a line shows that a turn is going on. The state that
// the CLI tells is no sign: it is running before it looks at the prompt. mu is
// held.
func (s *Session) signOf(f *fold.Line, picked bool) int {
	h := f.Header
	switch string(h.Type) {
	case "result":
		return sureSign
	case "assistant":
		if len(h.ParentToolUseID) == 0 {
			return sureSign
		}
	case "control_request":
		// Hooks and MCP servers are also called before a turn.
		if string(h.RequestSubtype) == "can_use_tool" && s.fold.Turn {
			return sureSign
		}
	case "system":
		switch string(h.Subtype) {
		case "init":
			return sureSign
		case "status", "api_retry":
			if s.fold.Turn {
				return sureSign
			}
		}
	case "user", "command_lifecycle":
		if picked && s.fold.Turn {
			return someSign
		}
	}
	return noSign
}

// picked returns the prompts that are not waiting any more. mu is held.
func (s *Session) picked(waiting []fold.Prompt) []string {
	var ids []string
	for _, p := range waiting {
		if p.UUID != "" && !s.isWaiting(p.UUID) {
			ids = append(ids, p.UUID)
		}
	}
	return ids
}

// dropped reports whether a line says that prompts were taken back, not up.
func (s *Session) dropped(f *fold.Line) bool {
	switch string(f.Header.Type) {
	case "control_response":
		return true // to an interrupt, or to cancel_async_message
	case "command_lifecycle", "system":
		m, err := f.Message()
		if err != nil {
			return false
		}
		if l, ok := m.(*wire.CommandLifecycle); ok {
			switch l.State {
			case wire.CommandStateCancelled, wire.CommandStateDiscarded, wire.CommandStateRefused:
				return true
			default:
			}
		}
	}
	return false
}

// beginTurn begins a turn. mu is held.
func (s *Session) beginTurn() {
	s.turns.number++
	s.turns.tasksOver = time.Time{}
	s.outbox.quiet = false
	s.turns.current = &turn{number: s.turns.number, prompts: s.turns.orphans}
	s.turns.orphans = nil
	s.mark(&TurnStarted{Turn: s.turns.number})
	s.turns.changed.Notify()
}

// keepMessage keeps what the model says, for the answer and for why it failed. The fold
// knows whether there was text in it, where lines have an id. mu is held.
func (s *Session) keepMessage(t *turn, f *fold.Line) {
	t.last = f.Raw
	if id := f.Header.UUID; len(id) > 0 {
		if s.fold.TextUUID == string(id) {
			t.texts = append(t.texts[:0], f.Raw)
		}
		return
	}
	if len(t.texts) >= maxTexts {
		t.texts = slices.Delete(t.texts, 0, 1)
	}
	t.texts = append(t.texts, f.Raw)
}

// refusal returns the error that the last message of a turn tells, and notes it.
// mu is held.
func (s *Session) refusal(t *turn) wire.AssistantError {
	if t == nil || t.last == nil {
		return ""
	}
	m, err := wire.DecodeShared(t.last)
	if err != nil {
		return ""
	}
	a, ok := m.(*wire.Assistant)
	if !ok || a.Error == "" {
		return ""
	}
	s.trouble.observe(a)
	return a.Error
}

// text returns the last text that the model said.
func (t *turn) text() string {
	for _, line := range slices.Backward(t.texts) {
		m, err := wire.DecodeShared(line)
		if err != nil {
			continue
		}
		a, ok := m.(*wire.Assistant)
		if !ok {
			continue
		}
		for _, b := range slices.Backward(a.Message.Content) {
			if b, ok := b.(*wire.TextBlock); ok && b.Text != "" {
				return b.Text
			}
		}
	}
	return ""
}

// endTurn ends a turn with its result. mu is held.
func (s *Session) endTurn(f *fold.Line, cost *fold.Turn) {
	t := s.turns.current
	// A copy, since a completion may be kept for long, and the line is in one piece of
	// memory with others.
	m, err := wire.Decode(f.Raw)
	r, ok := m.(*wire.Result)
	if err != nil || !ok {
		return
	}
	c := &Completion{Turn: t.number, Answer: r.Result, Result: r, Structured: r.StructuredOutput, Prompts: t.prompts}
	if r.Failed() {
		c.refusal = s.refusal(t)
	}
	for _, id := range append(slices.Clone(r.UserMessageUUIDs), r.UserMessageUUID) {
		if id != "" && !slices.Contains(c.Prompts, id) {
			c.Prompts = append(c.Prompts, id)
		}
	}
	if c.Answer == "" {
		c.Answer = t.text()
	}
	if r.Origin != nil {
		c.Origin = r.Origin.Kind
	}
	if cost != nil {
		c.Costs = cost.Figures
	}
	c.Interrupted = r.TerminalReason == wire.TerminalReasonAbortedStreaming || r.TerminalReason == wire.TerminalReasonAbortedTools ||
		r.Failed() && (t.interrupted || s.fold.Result != nil && s.fold.Result.Interrupted)
	s.completeTurn(c)
}

// cutTurn ends a turn that has no result. mu is held.
func (s *Session) cutTurn(cause error) {
	t := s.turns.current
	if t == nil {
		return
	}
	if errors.Is(cause, io.EOF) {
		cause = errEndedEarly
	}
	s.completeTurn(&Completion{Turn: t.number, Answer: t.text(), Prompts: t.prompts, Interrupted: t.interrupted, refusal: s.refusal(t), err: cause})
}

func (s *Session) completeTurn(c *Completion) {
	if t := s.turns.current; t.doubt != nil {
		t.doubt.Stop()
	}
	s.turns.current = nil
	s.outbox.quiet = false
	s.turns.completed++
	s.completePrompts(c.Prompts, c)
	s.mark(&TurnCompleted{Completion: c})
	s.turns.changed.Notify()
}

// completePrompts completes the calls that wait for prompts. mu is held.
func (s *Session) completePrompts(ids []string, c *Completion) {
	for _, id := range ids {
		if q := s.outbox.open[id]; q != nil {
			delete(s.outbox.open, id)
			q.finish(c, nil)
		}
	}
}

// askGrace bounds how long Ask waits for a turn to end that no caller waits for any
// more.
const askGrace = 10 * time.Second

// Ask sends a prompt and waits until its turn is over. What the turn came to is
// in the completion; that it failed is no error of Ask, see [Completion.Err].
//
// If ctx ends, the prompt is taken back or its turn interrupted, for which Ask
// waits up to 10 s, and the cause is returned.
func (s *Session) Ask(ctx context.Context, p Prompt) (*Completion, error) {
	if p.Append {
		return nil, &OptionError{"Append", "nothing answers a prompt that starts no turn; use Send"}
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("asking: %w", context.Cause(ctx))
	}
	_, q, err := s.send(ctx, p)
	if err != nil {
		return nil, err
	}
	if q == nil {
		return nil, fmt.Errorf("asking: a prompt with the id %s has been answered before", p.ID)
	}
	select {
	case <-q.done:
	case <-ctx.Done():
		s.giveUp(ctx, q)
		select {
		case <-q.done:
			if q.err == nil && !q.completion.Interrupted {
				return q.completion, nil // just in time
			}
		default:
		}
		return nil, fmt.Errorf("asking: %w", context.Cause(ctx))
	}
	if q.err != nil {
		return nil, fmt.Errorf("asking: %w", q.err)
	}
	if q.completion.Result == nil {
		return q.completion, fmt.Errorf("asking: %w", q.completion.Err())
	}
	return q.completion, nil
}

// giveUp takes a prompt back, or interrupts the turn that works on it.
func (s *Session) giveUp(ctx context.Context, q *sentPrompt) {
	if s.unqueue(q.ID, ErrTakenBack) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askGrace)
	defer cancel()
	s.mu.Lock()
	other := s.turns.current != nil && s.isWaiting(q.ID) // it waits behind the turn of another prompt
	s.mu.Unlock()
	if other {
		_, _ = s.TakeBack(ctx, q.ID) // what cannot be taken back is left to its fate
		return
	}
	// The caller is told why it gave up. Its turn may have ended just now, and the
	// next one belongs to another prompt.
	_, _ = s.interruptIf(ctx, func() bool { return !q.isDone })
}

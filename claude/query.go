package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/switchboard-dev/switchboard/wire"
)

// Query starts a session for a single prompt and returns what comes of it, from
// the first event to the last: also those of turns that tasks in the background
// lead to. The CLI's input stays open for all that time, so that questions,
// hooks and tools of the program work to the end. It may be iterated over once
// per call; each iteration is a session of its own.
//
// Leaving the loop, or the end of ctx, closes the session. If the start fails,
// the session breaks or the turn of the prompt failed, that is the last thing
// that is yielded: see the list at [ErrClosed]. The prompts of a conversation,
// and everything that can be done in the middle of one, are those of a
// [Session]; see [Start].
func Query(ctx context.Context, prompt string, o *Options) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s, err := Start(ctx, o)
		if err != nil {
			yield(Event{}, err)
			return
		}
		// Not bounded by ctx: the reader gets its error first, and then
		// the session is closed.
		asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
		outcome := make(chan error, 1)
		go func() { outcome <- s.askOnce(asking, prompt) }() // joined below
		over := false
		defer func() {
			if !over {
				_ = s.Close() // why it is closed is known
				<-outcome
			}
			cancel()
		}()
		for e, err := range s.Events(ctx, 0) {
			if !yield(e, err) {
				return
			}
			if _, lagged := errors.AsType[*LaggedError](err); err != nil && !lagged {
				return
			}
		}
		err, over = <-outcome, true
		if err != nil {
			yield(Event{}, err)
		}
	}
}

// askOnce asks a prompt, waits for all that comes of it and closes the session.
func (s *Session) askOnce(ctx context.Context, prompt string) error {
	c, err := s.Ask(ctx, TextPrompt(prompt))
	if err == nil {
		err = c.Err()
	}
	if rest := s.Finish(ctx); err == nil && !errors.Is(rest, ErrStillBusy) {
		err = rest
	}
	return err
}

// Text asks a single prompt and returns the answer: the one of the last turn, if
// tasks in the background have led to further ones. See [Query].
//
// If the turn failed, the error says why, and what text there is comes with it.
func Text(ctx context.Context, prompt string, o *Options) (string, error) {
	all, err := runPrompt(ctx, prompt, o, nil)
	answer := ""
	for _, c := range all {
		if c.Answer != "" {
			answer = c.Answer
		}
	}
	return answer, err
}

// runPrompt runs a session of a single prompt and returns all turns that came of it.
// watch, if there is one, is told of the session, and returns what ends it.
func runPrompt(ctx context.Context, prompt string, o *Options, watch func(*Session) (stop func())) ([]*Completion, error) {
	s, err := Start(ctx, o)
	if err != nil {
		return nil, err
	}
	if watch != nil {
		defer watch(s)()
	}
	defer func() { _ = s.Close() }() // a second one does nothing
	c, err := s.Ask(ctx, TextPrompt(prompt))
	if err != nil {
		return s.completions(), err
	}
	if err := c.Err(); err != nil {
		return []*Completion{c}, err
	}
	if err := s.Finish(ctx); err != nil && !errors.Is(err, ErrStillBusy) {
		return s.completions(), err
	}
	all := s.completions()
	return all, all[len(all)-1].Err()
}

// completions returns the turns that are over, as far back as they are kept.
func (s *Session) completions() []*Completion {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*Completion
	for _, m := range s.turns.marks {
		if t, ok := m.what.(*TurnCompleted); ok {
			all = append(all, t.Completion)
		}
	}
	return all
}

// queryTurns is how many model calls QueryAs allows if its options do not say.
const queryTurns = 25

// QueryAs asks a single prompt and returns the answer as a value of a Go type,
// whose schema the model is held to; see [SchemaOf]. A type that is no JSON
// object, such as a slice, is wrapped into one on the way. If o has a JSONSchema,
// that is used instead of the type's own.
//
// There is always a limit to the calls of the model: o.MaxTurns or, if that is
// zero, 25. CLIs before 2.1.325 would ask a model that answers in plain text again
// and again, and 2.1.37 without counting; with them QueryAs counts too, and ends
// the turn.
//
// An answer that is not of the type, or no structured answer at all, is a
// [*MismatchError]. The completion is that of the turn with the answer; it is nil
// if there was none.
func QueryAs[T any](ctx context.Context, prompt string, o *Options) (T, *Completion, error) {
	var value T
	q, err := newTypedQuery(reflect.TypeFor[T](), o)
	if err != nil {
		return value, nil, err
	}
	c, err := q.run(ctx, prompt)
	if err != nil {
		return value, c, err
	}
	err = q.decode(c, &value)
	if err != nil {
		var zero T
		return zero, c, err
	}
	return value, c, nil
}

// A typedQuery is QueryAs without its type.
type typedQuery struct {
	options Options
	wrapped bool // the value is the member "value" of an object
}

func newTypedQuery(t reflect.Type, o *Options) (*typedQuery, error) {
	q := &typedQuery{}
	if o != nil {
		q.options = *o
	}
	if q.options.MaxTurns == 0 {
		q.options.MaxTurns = queryTurns
	}
	q.options.counted = true
	if len(q.options.JSONSchema) > 0 {
		return q, nil
	}
	n, err := schemaOf(t)
	if err != nil {
		return nil, err
	}
	if !n.isObject() {
		q.wrapped = true
		n = &schemaNode{Type: "object", Properties: &schemaProperties{{"value", n}}, Required: []string{"value"}, Other: false}
	}
	q.options.JSONSchema, err = n.encode()
	return q, err
}

// run asks, and returns the turn that has the answer.
func (q *typedQuery) run(ctx context.Context, prompt string) (*Completion, error) {
	var counter *callCounter
	all, err := runPrompt(ctx, prompt, &q.options, func(s *Session) (stop func()) {
		if s.version().Compare(version(325)) >= 0 {
			return func() {} // it reminds the model once
		}
		counter = newCallCounter(s, q.options.MaxTurns)
		return counter.stop
	})
	if len(all) == 0 {
		return nil, err
	}
	c := all[len(all)-1]
	if counter != nil && counter.exceeded && c.Interrupted {
		return c, &MismatchError{Text: c.Answer, Err: fmt.Errorf("the model did not give a structured answer in %d calls (MaxTurns), and its turn was ended", q.options.MaxTurns)}
	}
	if err != nil {
		return c, err
	}
	for _, one := range all {
		if len(one.Structured) > 0 {
			c = one
		}
	}
	return c, nil
}

// decode reads the answer of a turn.
func (q *typedQuery) decode(c *Completion, value any) error {
	raw := c.Structured
	if len(raw) == 0 {
		return &MismatchError{Text: c.Answer, Err: errors.New("the model answered in plain text")}
	}
	if q.wrapped {
		inner, ok := wire.Lookup(raw, "value")
		if !ok {
			return &MismatchError{Raw: raw, Text: c.Answer, Err: errors.New(`there is no member "value"`)}
		}
		raw = inner
	}
	if err := json.Unmarshal(raw, value); err != nil {
		return &MismatchError{Raw: c.Structured, Text: c.Answer, Err: err}
	}
	return nil
}

// A callCounter interrupts a session whose model was called too often.
type callCounter struct {
	cancel   context.CancelFunc
	done     chan struct{}
	exceeded bool // written before done is closed
}

// newCallCounter starts to count. Its stop must be called.
func newCallCounter(s *Session, limit int) *callCounter {
	ctx, cancel := context.WithCancel(context.Background())
	c := &callCounter{cancel: cancel, done: make(chan struct{})}
	go func() { // joined by stop
		defer close(c.done)
		seen := map[string]bool{}
		for e, err := range s.Events(ctx, 0) {
			if err != nil || !e.Header.Is("assistant", "") || len(e.Header.ParentToolUseID) > 0 {
				continue
			}
			m, err := e.Message()
			if err != nil {
				continue
			}
			if a, ok := m.(*wire.Assistant); ok {
				seen[a.Message.ID] = true
			}
			if len(seen) > limit {
				c.exceeded = true
				_, _ = s.Interrupt(ctx) // Ask tells how the turn ended
				return
			}
		}
	}()
	return c
}

func (c *callCounter) stop() {
	c.cancel()
	<-c.done
}

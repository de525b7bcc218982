package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// An ask is a request of the CLI that waits for the controller's answer.
type ask struct {
	id      string
	subtype string
	line    members // the request as it was sent, for the list of open ones
	agent   bool    // of a background agent: it outlives the turn
	quiet   bool    // taken back without a word
	answer  chan answerBody
	deaf    bool            // an answer counts only when the question has left
	gone    <-chan struct{} // closed then; nil before it is known
}

// listening reports whether an answer counts. The engine's mu is held.
func (a *ask) listening() bool {
	if !a.deaf {
		return true
	}
	if a.gone == nil {
		return false
	}
	select {
	case <-a.gone:
		return true
	default:
		return false
	}
}

// An answerBody is the controller's answer to a request.
type answerBody struct {
	subtype string          // "success" or "error"
	body    json.RawMessage // absent or null if there is none
	message string          // of an error
}

// errStreamClosed is what a question ends with when the input ends before its answer.
var errStreamClosed = errors.New("Tool permission stream closed before response received")

// errNoAnswer is what a request ends with that had no answer in time.
var errNoAnswer = errors.New("no answer in time")

// request sends a control request and waits for its answer. When ctx ends, or the limit is over (0: none), the request is withdrawn on the wire;
// end of input fails it.
func (e *engine) request(ctx context.Context, request members, background bool, limit time.Duration) (answerBody, error) {
	question, err := e.open(&ask{agent: background}, request)
	if err != nil {
		return answerBody{}, err
	}
	return e.await(ctx, question, limit)
}

// open sends a control request. It fails if the input has ended, since no answer could come.
func (e *engine) open(question *ask, request members) (*ask, error) {
	question.id, question.answer = wire.NewUUID(), make(chan answerBody, 1)
	question.subtype, _ = request[1].(string)
	question.deaf = e.quirks.AnswersAfterPost && e.posts()
	question.line = members{"type", "control_request", "request_id", question.id, "request", request}
	e.mu.Lock()
	ended := e.ended
	if !ended {
		e.asks = append(e.asks, question)
	}
	e.mu.Unlock()
	if ended {
		return nil, errStreamClosed
	}
	e.awaitPost()
	gone := e.emit(question.line)
	e.mu.Lock()
	question.gone, question.deaf = gone, question.deaf && gone != nil
	e.mu.Unlock()
	return question, nil
}

// await waits for the answer to a request, as [engine.request] does.
func (e *engine) await(ctx context.Context, question *ask, limit time.Duration) (answerBody, error) {
	var timeout <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case answer, ok := <-question.answer:
		if !ok {
			return answerBody{}, errStreamClosed
		}
		return answer, nil
	case <-timeout:
		e.withdraw(question)
		return answerBody{}, errNoAnswer
	case <-ctx.Done():
		e.withdraw(question)
		return answerBody{}, context.Cause(ctx)
	}
}

// withdraw takes back a request that is still open.
func (e *engine) withdraw(question *ask) {
	e.mu.Lock()
	i := slices.Index(e.asks, question)
	if i >= 0 {
		e.asks = slices.Delete(e.asks, i, i+1)
	}
	e.mu.Unlock()
	if i >= 0 && !question.quiet {
		e.emit(members{"type", "control_cancel_request", "request_id", question.id})
	}
}

// withdrawAll takes back the open requests that match, before anything else is said.
func (e *engine) withdrawAll(match func(*ask) bool) {
	e.mu.Lock()
	var open []*ask
	e.asks = slices.DeleteFunc(e.asks, func(a *ask) bool {
		if match(a) {
			open = append(open, a)
			return true
		}
		return false
	})
	e.mu.Unlock()
	for _, question := range open {
		if !question.quiet {
			e.emit(members{"type", "control_cancel_request", "request_id", question.id})
		}
	}
}

// answered hands an answer to the request that it is for. The first answer counts; one to no open request is ignored.
func (e *engine) answered(id string, answer answerBody) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, question := range e.asks {
		if question.id == id && !question.listening() {
			return // lost; the question stays open
		}
		if question.id == id {
			e.asks = slices.Delete(e.asks, i, i+1)
			question.answer <- answer // has room for one
			return
		}
	}
}

// openQuestions returns the open requests for permission as they were sent.
func (e *engine) openQuestions() []members {
	e.mu.Lock()
	defer e.mu.Unlock()
	open := []members{}
	for _, question := range e.asks {
		if question.subtype == "can_use_tool" {
			open = append(open, question.line)
		}
	}
	return open
}

// endInput tells the engine that nothing more comes, and fails all open requests. Both happen at once: a request that was opened in between would
// wait for ever.
func (e *engine) endInput() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
	for _, question := range e.asks {
		close(question.answer)
	}
	e.asks = nil
	e.signal()
}

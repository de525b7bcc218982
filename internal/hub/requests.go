package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// An outcome is the answer to a request to the CLI, or why there is none.
type outcome struct {
	answer *wire.ControlAnswer
	err    error
}

// requests are those to the CLI whose answer a caller waits for, by id. Each channel
// has room for its outcome.
type requests map[string]chan outcome

// add notes that a caller waits for the answer to a request.
func (r *requests) add(id string, answer chan outcome) {
	if *r == nil {
		*r = requests{}
	}
	(*r)[id] = answer
}

// take returns where the outcome of a request is waited for, and forgets it; nil if no
// caller waits.
func (r requests) take(id string) chan outcome {
	answer := r[id]
	delete(r, id)
	return answer
}

// requestTimeout is how long an answer is waited for: some versions never answer
// what they do not know.
const requestTimeout = 60 * time.Second

// request sends a control request and waits for its answer. If when is not nil it
// is asked, in the same step, whether the request still makes sense; its error is
// returned.
func (s *session) request(ctx context.Context, by Actor, r wire.Request, when func(*step) error) (*wire.ControlAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	answer := make(chan outcome, 1)
	id := "hub-" + random(10)
	err := s.do(ctx, writing, func(st *step) error {
		if when != nil {
			if err := when(st); err != nil {
				return err
			}
		}
		if err := s.reachable(); err != nil {
			return err
		}
		_, interrupt := r.(*wire.InterruptRequest)
		if err := s.foreign(interrupt); err != nil {
			return err
		}
		if requestBypasses(r) && !s.projection.bypass() {
			return notBypassing()
		}
		line, err := wire.NewRequest(id, r)
		if err == nil {
			_, err = st.send("", commandRequest, by, line)
		}
		if err != nil {
			return lineProblem(err)
		}
		s.requests.add(id, answer)
		return nil
	})
	if errors.Is(err, errNoTurn) {
		return nil, err
	}
	if err != nil {
		return nil, s.hub.problem(err, s.id)
	}
	select {
	case o := <-answer:
		return o.answer, o.err
	case <-s.done:
		return nil, s.hub.problem(ErrClosed, s.id)
	case <-ctx.Done():
		s.post(func(*step) { delete(s.requests, id) })
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, api.Errorf(http.StatusGatewayTimeout, api.CodeTimeout, "the agent did not answer %s in time", r.RequestSubtype())
		}
		return nil, ctx.Err()
	}
}

// reachable says why the process cannot be spoken to, nil if it can.
func (s *session) reachable() error {
	switch {
	case s.projection.Ended != nil:
		return &api.Error{Status: http.StatusConflict, Code: api.CodeEnded, Title: "the session has no process", Detail: s.projection.Ended.Reason, Hint: "resume it, or send it a message"}
	case s.link == nil || !s.link.connected:
		return &api.Error{Status: http.StatusConflict, Code: api.CodeOffline, Title: "the agent can't be reached now", Hint: "the hub reconnects automatically"}
	}
	return nil
}

// answered hands an answer of the CLI to the caller that waits for it.
func (st *step) answered(l *RunLink, requestID string, line []byte) {
	if requestID != "" && requestID == l.recovers {
		l.recovers = ""
		st.confirm(l.recovery)
	}
	if l.dialled {
		st.echoed(requestID)
		if requestID != "" && requestID == st.s.doubt.interrupt {
			st.s.doubt.answered = st.now
		}
	}
	if _, waits := st.s.requests[requestID]; !waits {
		return
	}
	m, err := wire.Decode(line)
	if err != nil {
		return
	}
	response, ok := m.(*wire.ControlResponse)
	if !ok {
		return
	}
	answer := st.s.requests.take(requestID)
	o := outcome{answer: &response.Response}
	switch {
	case response.Response.Unsupported():
		// It was not known to the table of features, and the CLI was asked itself.
		o.err = &api.Error{Status: http.StatusUnprocessableEntity, Code: api.CodeUnsupported, Title: "this version of the CLI cannot do it", Detail: response.Response.Error}
	case response.Response.Subtype != "success":
		o.err = &api.Error{Status: http.StatusUnprocessableEntity, Code: api.CodeRefused, Title: "the agent refused", Detail: response.Response.Error}
	}
	st.then(func() { answer <- o })
}

// failRequest tells the caller that waits for an answer that there will be none.
func (st *step) failRequest(requestID, reason string) {
	if answer := st.s.requests.take(requestID); answer != nil {
		st.then(func() { answer <- outcome{err: api.Errorf(http.StatusConflict, api.CodeOffline, "%s", reason)} })
	}
}

// errNoTurn says that there is nothing to interrupt.
var errNoTurn = errors.New("no turn is going on")

// Interrupt stops the current turn. It returns when the turn has really ended.
func (h *Hub) Interrupt(ctx context.Context, by Actor, id string, in api.Interrupt) (*api.Interrupted, error) {
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	var taken []api.Message
	sure := true // that there is a turn, or that there is none
	_, err = s.request(ctx, by, &wire.InterruptRequest{}, func(st *step) error {
		var nothing error
		switch s.projection.phase() {
		case fold.PhaseRunning, fold.PhaseRequiresAction, fold.PhaseStarting, fold.PhaseOffline:
		case fold.PhaseIdle, fold.PhaseBackground, fold.PhaseEnded:
			if sure = !s.projection.State.Unsure; sure {
				nothing = errNoTurn
			}
		}
		// If the interrupt is refused, nothing has happened: the messages stay.
		if in.CancelQueued && (nothing != nil || s.reachable() == nil && s.foreign(true) == nil) {
			taken = st.takeAll(by)
		}
		return nothing
	})
	if err != nil && !errors.Is(err, errNoTurn) {
		return nil, err
	}
	out := &api.Interrupted{Was: err == nil && sure, Taken: taken}
	if out.Was {
		wait, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		if err = s.await(wait, interrupted); err != nil {
			if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
				return nil, &api.Error{
					Status: http.StatusGatewayTimeout, Code: api.CodeTimeout, Title: "the agent received the interrupt, but the turn continues",
					Hint: "stop the session to end its process",
				}
			}
			return nil, h.problem(err, id)
		}
	}
	out.Session, err = s.snapshot(ctx)
	return out, err
}

// interrupted reports whether an interrupted turn has ended. Versions that tell
// their state do so after the result.
func interrupted(s *session) bool {
	state := &s.projection.State
	return !state.Interrupting && (state.Turn || s.projection.phase() != fold.PhaseRunning)
}

// takeAll takes back every queued message.
func (st *step) takeAll(by Actor) []api.Message {
	var taken []api.Message
	for _, v := range append([]journal.Command(nil), st.s.projection.Commands...) {
		if takenUp(v.Kind) && v.State == string(api.MessageQueued) {
			m := messageOf(v)
			m.State = api.MessageTakenBack
			st.event(api.KindMessage, by, withoutContent(m))
			taken = append(taken, m)
		}
	}
	return taken
}

// Update changes title, archive mark, model, permission mode and thinking.
func (h *Hub) Update(ctx context.Context, by Actor, id string, in api.UpdateSession) (*api.Session, error) {
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	if in.PermissionMode != nil && *in.PermissionMode == wire.PermissionModeBypassPermissions && !by.Admin {
		return nil, api.Errorf(http.StatusForbidden, api.CodeForbidden, "bypassPermissions needs the scope admin")
	}
	var requests []wire.Request
	if in.Model != nil {
		requests = append(requests, &wire.SetModelRequest{Model: *in.Model})
	}
	if in.PermissionMode != nil {
		requests = append(requests, &wire.SetPermissionModeRequest{Mode: *in.PermissionMode})
	}
	if in.MaxThinkingTokens != nil {
		tokens := int64(*in.MaxThinkingTokens)
		requests = append(requests, &wire.SetMaxThinkingTokensRequest{MaxThinkingTokens: &tokens})
	}
	for _, r := range requests {
		if _, err := s.request(ctx, by, r, nil); err != nil {
			return nil, err
		}
	}
	if changed := (record.Updated{
		Title: in.Title, Archived: in.Archived, Model: in.Model, PermissionMode: in.PermissionMode, MaxThinkingTokens: in.MaxThinkingTokens,
	}); changed != (record.Updated{}) {
		err = s.do(ctx, writing, func(st *step) error {
			st.event(api.KindUpdated, by, changed)
			return nil
		})
		if err != nil {
			return nil, h.problem(err, id)
		}
	}
	return s.snapshot(ctx)
}

// lineProblem explains why a line could not be built or fitted.
func lineProblem(err error) error {
	if unsupported, ok := errors.AsType[*wire.UnsupportedError](err); ok {
		return &api.Error{Status: http.StatusUnprocessableEntity, Code: api.CodeUnsupported, Title: unsupported.Error()}
	}
	return &api.Error{Status: http.StatusUnprocessableEntity, Code: api.CodeInvalid, Title: fmt.Sprintf("this cannot be sent to the agent: %v", err)}
}

package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/answer"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// May says which rights the sender of a line has.
type May func(wire.Scope) bool

// Submit takes one line of a front end that speaks as if it had the CLI before
// it: a message, an answer, a control request. What such a line does is what the
// other methods do: a message is queued, the first valid answer settles its
// question, a request is sent under an id of the hub's. The answer is a line for
// the sender: that to its request, under its own id, or nil.
//
// Answers and requests in the forms of other front ends are translated, everything is checked,
// and the right that the line needs is asked of may. A request that is refused or
// fails is answered with an error; of other lines the error says why they were not
// taken. It waits for the CLI's answer.
func (h *Hub) Submit(ctx context.Context, by Actor, id string, line []byte, may May) ([]byte, error) {
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	return s.submit(ctx, by, line, may, nil)
}

// submit is Submit to a session in use; d is the driver that sent the line, or nil.
func (s *session) submit(ctx context.Context, by Actor, line []byte, may May, d *Driver) ([]byte, error) {
	if len(line) > wire.MaxFrontEndLine {
		return nil, api.Errorf(http.StatusRequestEntityTooLarge, api.CodeTooLarge, "the line has %d bytes; the maximum is %d", len(line), wire.MaxFrontEndLine)
	}
	header, err := wire.Peek(line)
	if err != nil {
		return nil, record.Unfit("expected one complete JSON object: %v", err)
	}
	line = bytes.Clone(wire.TranslateRequest(line))
	if string(header.Type) == "control_response" {
		return nil, s.submitAnswer(ctx, by, line, may, d)
	}
	if err := wire.Validate(line); err != nil {
		err = lineProblem(err)
		if string(header.Type) == "control_request" && len(header.RequestID) > 0 {
			return errorLine(string(header.RequestID), err, "")
		}
		return nil, err
	}
	needs := wire.ScopeOf(line, nil)
	switch string(header.Type) {
	case "keep_alive", "control_cancel_request":
		return nil, nil // of no meaning beyond this connection
	case "user":
		if !may(needs) {
			return nil, lacks(needs)
		}
		return nil, s.submitMessage(ctx, by, line)
	case typeEnvironment:
		if !may(needs) {
			return nil, lacks(needs)
		}
		return nil, s.setEnvironment(ctx, by, line)
	}
	m, err := wire.Decode(line)
	request, ok := m.(*wire.ControlRequest)
	if err != nil || !ok {
		return nil, record.Unfit("lines of type %q can't be sent to an agent", header.Type)
	}
	if _, first := request.Request.(*wire.InitializeRequest); first && may(wire.ScopeObserve) {
		return s.submitInitialize(ctx, by, request, may, d)
	}
	if !may(needs) {
		return errorLine(request.RequestID, lacks(needs), "")
	}
	answer, err := s.control(ctx, by, request.Request)
	if err != nil {
		code := ""
		if answer != nil {
			code = answer.ErrorCode
		}
		return errorLine(request.RequestID, err, code)
	}
	return encodeAnswer(request.RequestID, &wire.ControlAnswer{Subtype: "success", Response: answer.Response})
}

// lacks says that the sender of a line may not send it.
func lacks(needs wire.Scope) error {
	if needs == wire.ScopeNone {
		return record.Unfit("this line can't be sent to an agent")
	}
	return api.Errorf(http.StatusForbidden, api.CodeForbidden, "this needs the scope %q", needs)
}

// errorLine answers a front end's request with an error.
func errorLine(requestID string, err error, code string) ([]byte, error) {
	text := err.Error()
	if problem, ok := errors.AsType[*api.Error](err); ok {
		if code == "" {
			code = problem.Code
		}
		if problem.Code == api.CodeRefused && problem.Detail != "" {
			text = problem.Detail // the CLI's own words
		}
	}
	return encodeAnswer(requestID, &wire.ControlAnswer{Subtype: "error", Error: text, ErrorCode: code})
}

func encodeAnswer(requestID string, a *wire.ControlAnswer) ([]byte, error) {
	a.RequestID = requestID
	line, err := wire.Encode(&wire.ControlResponse{Response: *a})
	if err != nil {
		return nil, fmt.Errorf("building an answer: %w", err)
	}
	return line, nil
}

// maxUUID is how long a message's uuid may be. It is also the client's id of it.
const maxUUID = 128

// submitMessage queues a message that came as a line, or writes it into the running
// turn if it says that it is for now. The same uuid is the same message.
func (s *session) submitMessage(ctx context.Context, by Actor, line []byte) error {
	line, uuid, err := WithUUID(line)
	if err != nil {
		return err
	}
	m, err := wire.Decode(line)
	user, ok := m.(*wire.User)
	if err != nil || !ok {
		return record.Unfit("this isn't a message")
	}
	if len(uuid) > maxUUID {
		return record.Unfit("uuid: expected at most %d characters, got %d", maxUUID, len(uuid))
	}
	in := incoming{SendMessage: api.SendMessage{ClientID: uuid}, line: line, uuid: uuid}
	if user.Priority == wire.MessagePriorityNow {
		in.Mode = modeSteer
		if s.idle(ctx) {
			in.Mode = modeQueue // there is no turn to write into
		}
	}
	if message, ok := wire.Lookup(line, "message"); ok {
		in.Text, _ = wire.LookupString(message, "content")
	}
	_, err = s.send(ctx, by, in)
	return err
}

// idle reports whether the session waits for a prompt.
func (s *session) idle(ctx context.Context) (idle bool) {
	err := s.do(ctx, reading, func(*step) error {
		idle = s.projection.Ended != nil || s.projection.phase().TakesPrompt()
		return nil
	})
	return err == nil && idle
}

// WithUUID returns a message's line with a uuid, which it is given if it has none.
// Front ends tell their own messages by it.
func WithUUID(line []byte) (out []byte, uuid string, err error) {
	if uuid, _ := wire.LookupString(line, "uuid"); uuid != "" {
		return line, uuid, nil
	}
	end := bytes.LastIndexByte(line, '}')
	if end < 0 {
		return nil, "", record.Unfit("expected one complete JSON object")
	}
	uuid = wire.NewUUID()
	out = append(bytes.Clone(line[:end]), `,"uuid":"`+uuid+`"}`...) // the last of several counts
	return out, uuid, nil
}

// submitAnswer settles a question, or answers a request that was the driver's to
// answer.
func (s *session) submitAnswer(ctx context.Context, by Actor, line []byte, may May, d *Driver) error {
	header, err := wire.Peek(line)
	if err != nil {
		return record.Unfit("expected one complete JSON object: %v", err)
	}
	id := string(header.RequestID)
	if id == "" {
		return record.Unfit("request_id: an answer names the request that it answers")
	}
	err = s.do(ctx, writing, func(st *step) error {
		if f := s.projection.foreign(id); f != nil && d != nil && s.drivers.registrant == d {
			return st.answerForeign(by, f, line, may)
		}
		row, open := s.projection.asked(id)
		if !open {
			return st.noQuestion(id)
		}
		ask, err := answer.Ask(&row)
		if err != nil {
			return err
		}
		if answer.IsHook(ask) || answer.DataOf(&row).Stale {
			return record.Unfit("this question is answered by its id %s, not by a line", row.ID)
		}
		given := line
		if kind := api.QuestionKind(row.Kind); kind != api.QuestionForm && kind != api.QuestionDialog {
			given, err = wire.Translate(line, func(string) *wire.ControlRequest { return ask })
		}
		if err == nil {
			err = wire.Validate(given)
		}
		if err != nil {
			return lineProblem(err)
		}
		if needs := wire.ScopeOf(given, ask); !may(needs) {
			return lacks(needs)
		}
		v, err := st.readAnswer(&row, ask, given)
		if err != nil {
			return err
		}
		if v.rule != "" {
			if err := st.roomForRule(); err != nil {
				return err
			}
		}
		_, err = st.settle(by, row, ask, v)
		if err == nil && v.rule != "" {
			st.keepRule(by, api.AddRule{Rule: v.rule, Decision: api.RuleAllow})
			st.rulesChanged()
		}
		return err
	})
	return s.hub.problem(s.hub.settledBy(ctx, err), s.id)
}

// noQuestion says why a request id names no open question.
func (st *step) noQuestion(requestID string) error {
	if v := st.s.projection.recent(requestID); v != nil {
		return &settledError{v.ID}
	}
	return &api.Error{
		Status: http.StatusNotFound, Code: api.CodeNotFound, Title: "no open question has this request id",
		Hint: "it may be withdrawn, or belong to another session",
	}
}

// readAnswer makes a settlement of an answer that came as a line.
func (st *step) readAnswer(row *journal.Question, ask *wire.ControlRequest, line []byte) (settlement, error) {
	v := settlement{line: line}
	body, _ := wire.Lookup(line, "response")
	result, _ := wire.Lookup(body, "response")
	if subtype, _ := wire.LookupString(body, "subtype"); subtype == "error" {
		text, _ := wire.LookupString(body, "error")
		v.answer = api.Answer{Decision: "deny", Message: text}
		return v, nil
	}
	switch api.QuestionKind(row.Kind) {
	case api.QuestionForm:
		// Its values have to fit what was asked.
		action, _ := wire.LookupString(result, "action")
		content, _ := wire.Lookup(result, "content")
		return settlementOf(Actor{}, api.QuestionForm, ask, api.Answer{Decision: action, Content: json.RawMessage(content)})
	case api.QuestionDialog:
		// What answers a tool call would leave it open for ever.
		behavior, _ := wire.LookupString(result, "behavior")
		switch wire.DialogBehavior(behavior) {
		case wire.DialogBehaviorCompleted:
			chosen, _ := wire.Lookup(result, "result")
			return settlementOf(Actor{}, api.QuestionDialog, ask, api.Answer{Decision: "choose", Result: clone(chosen)})
		case wire.DialogBehaviorCancelled:
			return settlementOf(Actor{}, api.QuestionDialog, ask, api.Answer{Decision: "cancel"})
		}
		return v, record.Unfit("behavior: expected completed or cancelled for a dialog, got %.40q", behavior)
	case api.QuestionPermission, api.QuestionChoice, api.QuestionPlan:
	}
	decoded, err := wire.DecodePermission(result)
	if err != nil {
		return v, lineProblem(err)
	}
	switch r := decoded.(type) {
	case *wire.Allow:
		if api.QuestionKind(row.Kind) == api.QuestionChoice {
			if v.line, err = withQuestions(ask, r, line); err != nil {
				return v, err
			}
		}
		if v.rule, err = hostRule(ask, r); err != nil {
			return v, err
		}
		v.answer = api.Answer{Decision: "allow", Input: clone(r.UpdatedInput)}
		if err := st.checkEdited(ask, v.answer); err != nil {
			return v, err
		}
		if updates, ok := wire.Lookup(result, "updatedPermissions"); ok {
			v.answer.Updates = clone(updates)
		}
		if call, ok := ask.Request.(*wire.CanUseToolRequest); ok && bytes.Equal(v.answer.Input, call.Input) {
			v.answer.Input = nil // it was only repeated
		}
	case *wire.Deny:
		v.answer = api.Answer{Decision: "deny", Message: r.Message, Interrupt: r.Interrupt}
	case *wire.UnknownResult:
		return v, record.Unfit("the answer neither allows nor denies")
	}
	return v, nil
}

// withQuestions has the answer to a choice repeat its questions, without which newer
// CLIs do not take it. The answer is changed along with its line.
func withQuestions(ask *wire.ControlRequest, r *wire.Allow, line []byte) ([]byte, error) {
	call, ok := ask.Request.(*wire.CanUseToolRequest)
	if _, found := wire.Lookup(r.UpdatedInput, "questions"); found || !ok {
		return line, nil
	}
	questions, found := wire.Lookup(call.Input, "questions")
	if !found {
		return line, nil
	}
	input := map[string]json.RawMessage{}
	if err := json.Unmarshal(r.UpdatedInput, &input); err != nil {
		return nil, record.Unfit("updatedInput: expected an object: %v", err)
	}
	input["questions"] = json.RawMessage(questions)
	r.UpdatedInput = encoded(input)
	line, err := wire.NewPermission(ask, &wire.Allow{UpdatedInput: r.UpdatedInput, UpdatedPermissions: r.UpdatedPermissions})
	if err != nil {
		return nil, lineProblem(err)
	}
	return line, nil
}

// Resolve returns the id of the session that is meant by its own id, or by that of
// one of its conversations.
func (h *Hub) Resolve(ctx context.Context, id string) (string, error) {
	row, err := h.journal.Session(ctx, id)
	if errors.Is(err, journal.ErrNotFound) {
		row, err = h.journal.SessionByConversation(ctx, id)
	}
	if err != nil {
		return "", h.problem(err, id)
	}
	return row.ID, nil
}

// Asked returns the sessions that have an open question with this request id: one,
// unless a client means to confuse.
func (h *Hub) Asked(ctx context.Context, requestID string) ([]string, error) {
	rows, err := h.journal.Questions(ctx, journal.QuestionQuery{State: string(api.QuestionOpen)})
	if err != nil {
		return nil, h.problem(err, "")
	}
	var sessions []string
	for i := range rows {
		if rows[i].RequestID == requestID && !slices.Contains(sessions, rows[i].Session) {
			sessions = append(sessions, rows[i].Session)
		}
	}
	return sessions, nil
}

// initialized answers a front end's initialize with what the CLI has answered the
// hub's, and with what is asked at present.
func (s *session) initialized(ctx context.Context, requestID string) ([]byte, error) {
	wait, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := s.await(wait, func(s *session) bool { return s.projection.State.Initialize != nil || s.projection.Ended != nil })
	if err != nil {
		return errorLine(requestID, s.hub.problem(err, s.id), "")
	}
	a := &wire.ControlAnswer{Subtype: "success"}
	err = s.do(ctx, reading, func(*step) error {
		p := s.projection
		if p.State.Initialize == nil {
			return &api.Error{Status: http.StatusConflict, Code: api.CodeEnded, Title: "the session has no process", Hint: "send it a message, or resume it"}
		}
		a.Response = clone(p.State.Initialize)
		for i := range p.Questions {
			ask, err := answer.Ask(&p.Questions[i])
			if err != nil || answer.IsHook(ask) || answer.DataOf(&p.Questions[i]).Stale {
				continue
			}
			switch fold.KindOf(ask.Request) {
			case fold.KindPermission, fold.KindChoice, fold.KindPlan:
				a.PendingPermissionRequests = append(a.PendingPermissionRequests, *ask)
			case fold.KindForm:
				a.PendingElicitationRequests = append(a.PendingElicitationRequests, *ask)
			case fold.KindDialog:
				a.PendingUserDialogRequests = append(a.PendingUserDialogRequests, *ask)
			}
		}
		return nil
	})
	if err != nil {
		return errorLine(requestID, s.hub.problem(err, s.id), "")
	}
	return encodeAnswer(requestID, a)
}

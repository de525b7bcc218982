package fold

import (
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// A Kind is the kind of a question.
type Kind string

// The kinds of questions.
const (
	// KindPermission asks whether a tool may run.
	KindPermission Kind = "permission"
	// KindChoice asks the user to choose (the tool AskUserQuestion).
	KindChoice Kind = "choice"
	// KindPlan asks whether a plan may be carried out (the tool ExitPlanMode).
	KindPlan Kind = "plan"
	// KindForm asks the user to fill in an MCP server's form, or to visit its page.
	KindForm Kind = "form"
	// KindDialog asks the host to show a dialog.
	KindDialog Kind = "dialog"
)

// KindOf returns the kind of question that a control request is, or "" if it is
// none.
func KindOf(r wire.Request) Kind {
	switch r := r.(type) {
	case *wire.CanUseToolRequest:
		switch r.ToolName {
		case "AskUserQuestion":
			return KindChoice
		case "ExitPlanMode":
			return KindPlan
		}
		return KindPermission
	case *wire.ElicitationRequest:
		return KindForm
	case *wire.UserDialogRequest:
		return KindDialog
	default:
		return ""
	}
}

// A Question is something that the CLI asks and waits for.
type Question struct {
	// RequestID is the id that an answer has to carry.
	RequestID string `json:"request_id"`
	// Kind is the kind of question.
	Kind Kind `json:"kind"`
	// Ask is the whole request, from which [wire.NewPermission] and its kin build
	// an answer.
	Ask *wire.ControlRequest `json:"ask"`
	// Tool is the name of the tool that is asked about.
	Tool string `json:"tool,omitempty"`
	// ToolUseID is the tool call that is asked about.
	ToolUseID string `json:"tool_use_id,omitempty"`
	// AgentID is the sub-agent that asks. Such a question outlives the turn.
	AgentID string `json:"agent_id,omitempty"`
	// HookRequestID is the call of a PermissionRequest hook that asks the very
	// same, at the same time. The first decision counts; the other request is
	// still to be answered, with nothing to say.
	HookRequestID string `json:"hook_request_id,omitempty"`
	// HookDecided says that the hook's answer decided and the CLI will withdraw
	// the question.
	HookDecided bool `json:"hook_decided,omitempty"`
	// Recovered says that the question was learnt from an answer to initialize.
	Recovered bool `json:"recovered,omitempty"`
	// Seq is the number of the line after which the question was open.
	Seq int64 `json:"seq,omitempty"`
	// Time is when it was opened.
	Time time.Time `json:"time,omitzero"`
}

// Request returns what is asked.
func (q *Question) Request() wire.Request { return q.Ask.Request }

// A Fate is what became of a question.
type Fate string

// The fates.
const (
	// FateOpened is the beginning: the question is open now.
	FateOpened Fate = "opened"
	// FateAnswered means that an answer was written to the CLI.
	FateAnswered Fate = "answered"
	// FateCancelled means that no answer is wanted any more; the reason says why.
	FateCancelled Fate = "cancelled"
	// FateAnsweredTooLate means that an answer was written for a question that had
	// been cancelled, or answered, before. The CLI ignores it.
	FateAnsweredTooLate Fate = "answered_too_late"
	// FateAskedAgain means that the CLI still waits for an answer that was
	// written: it was lost on the way and has to be written again.
	FateAskedAgain Fate = "asked_again"
)

// A Reason says why a question was cancelled.
type Reason string

// The reasons.
const (
	// ReasonWithdrawn means that the CLI took the question back.
	ReasonWithdrawn Reason = "withdrawn"
	// ReasonHook means that a PermissionRequest hook decided.
	ReasonHook Reason = "hook"
	// ReasonInterrupt means that the turn was interrupted.
	ReasonInterrupt Reason = "interrupt"
	// ReasonTurnOver means that the turn ended without an answer.
	ReasonTurnOver Reason = "turn_over"
	// ReasonToolDone means that the tool call has its result already.
	ReasonToolDone Reason = "tool_done"
	// ReasonNotListed means that the CLI does not know the question any more.
	ReasonNotListed Reason = "not_listed"
	// ReasonEnded means that the process ended.
	ReasonEnded Reason = "ended"
)

// A Change is something that happened to a question.
type Change struct {
	// Fate is what happened.
	Fate Fate `json:"fate"`
	// Reason says why a question was cancelled.
	Reason Reason `json:"reason,omitempty"`
	// Question is the question as it was before it was settled. For
	// FateAnsweredTooLate and FateAskedAgain it only holds what is still known.
	Question Question `json:"question"`
	// Answer is the line that answered it, for FateAnswered and
	// FateAnsweredTooLate.
	Answer *wire.ControlResponse `json:"answer,omitempty"`
}

// Questions are what the CLI asks and waits for, in the order of asking.
//
// A question is opened by a control request and settled by the first of: an
// answer; a control_cancel_request, which is also how an interrupt takes it
// back; the result of its tool call; the end of its turn, unless a sub-agent,
// an MCP server (and the turn was not interrupted) or a dialog asks, which may
// outlive the turn; the end of the process. The answer to a repeated initialize
// lists what the CLI still waits for, and settles or opens what differs. What the
// sandbox around the CLI asks ([wire.IsSandboxRequest]) belongs to no turn: an
// answer, its withdrawal or the end of the process settles it.
type Questions struct {
	// Open holds the open questions.
	Open []Question `json:"open,omitempty"`
	// Settled remembers what became of the last questions of this run.
	Settled []Settlement `json:"settled,omitempty"`
	// Dropped counts questions that were forgotten because far too many were open.
	Dropped int64 `json:"dropped,omitempty"`

	// Hooks are calls of PermissionRequest hooks that no question is known for.
	Hooks []HookCall `json:"hooks,omitempty"`
	// Initializes and Interrupts are requests of these kinds that the CLI has not
	// answered yet.
	Initializes []string `json:"initializes,omitempty"`
	Interrupts  []string `json:"interrupts,omitempty"`
}

// A Settlement is what became of a question.
type Settlement struct {
	// RequestID is the question's.
	RequestID string `json:"request_id"`
	// Kind is the question's.
	Kind Kind `json:"kind"`
	// Fate is FateAnswered or FateCancelled.
	Fate Fate `json:"fate"`
	// Reason says why it was cancelled.
	Reason Reason `json:"reason,omitempty"`
	// Again says that the CLI still waits for the answer that was written.
	Again bool `json:"again,omitempty"`
}

// A HookCall is a call of a PermissionRequest hook.
type HookCall struct {
	// RequestID is the call's.
	RequestID string `json:"request_id"`
	// ToolUseID is the tool call it is about.
	ToolUseID string `json:"tool_use_id"`
}

// How much Questions remembers. A CLI asks one thing at a time, rarely a few.
const (
	maxQuestions = 256
	maxSettled   = 200
	maxCalls     = 50
)

// Find returns the open question with the request id given, or nil.
func (s *Questions) Find(requestID string) *Question {
	if i := s.index(requestID); i >= 0 {
		return &s.Open[i]
	}
	return nil
}

func (s *Questions) index(requestID string) int {
	return slices.IndexFunc(s.Open, func(q Question) bool { return q.RequestID == requestID })
}

// Apply folds a line and returns what it did to questions.
func (s *Questions) Apply(l *Line) []Change {
	switch string(l.Header.Type) {
	case "control_request":
		m, ok := l.decoded().(*wire.ControlRequest)
		switch {
		case !ok:
			return nil
		case l.Sent:
			s.requested(m)
			return nil
		}
		return s.asked(m, l)
	case "control_response":
		if m, ok := l.decoded().(*wire.ControlResponse); ok {
			return s.answered(m, l)
		}
	case "control_cancel_request":
		// One that was written to the CLI takes back a request of ours.
		if m, ok := l.decoded().(*wire.ControlCancel); ok && !l.Sent {
			return s.withdrawn(m.RequestID)
		}
	case "user":
		if len(s.Open) > 0 && !l.Sent {
			return s.toolsDone(l)
		}
	case "result":
		if !l.Sent && l.decoded() != nil {
			s.Interrupts = nil
			m, ok := l.decoded().(*wire.Result)
			// 2.1.120 does not take back the form of a tool that was interrupted.
			interrupted := ok && m.Subtype == wire.ResultSubtypeErrorDuringExecution
			return s.cancel(ReasonTurnOver, func(q *Question) bool {
				return q.AgentID == "" && (q.Kind != KindForm || interrupted) && q.Kind != KindDialog
			})
		}
	}
	return nil
}

// Happened folds an event and returns what it did to questions.
func (s *Questions) Happened(e Event) []Change {
	switch e.Kind {
	case EventEnded:
		return s.cancel(ReasonEnded, func(*Question) bool { return true })
	case EventStarted:
		// Request ids belong to a run.
		changes := s.cancel(ReasonEnded, func(*Question) bool { return true })
		*s = Questions{Dropped: s.Dropped}
		return changes
	case EventTurnLost:
		s.Interrupts = nil
	case EventLinkLost, EventLinkBack, EventTurnFound:
	}
	return nil
}

// requested remembers a request to the CLI whose answer matters.
func (s *Questions) requested(m *wire.ControlRequest) {
	switch m.Request.(type) {
	case *wire.InitializeRequest:
		s.Initializes, _ = last(append(s.Initializes, name(m.RequestID)), maxCalls)
	case *wire.InterruptRequest:
		s.Interrupts, _ = last(append(s.Interrupts, name(m.RequestID)), maxCalls)
	default:
	}
}

// asked folds a request of the CLI.
func (s *Questions) asked(m *wire.ControlRequest, l *Line) []Change {
	if hook, ok := m.Request.(*wire.HookCallbackRequest); ok {
		s.hooked(m.RequestID, hook)
		return nil
	}
	if KindOf(m.Request) == "" {
		return nil
	}
	return s.open(m, l, false)
}

// open opens a question, unless it is open or answered already.
func (s *Questions) open(m *wire.ControlRequest, l *Line, recovered bool) []Change {
	q := Question{
		RequestID: name(m.RequestID), Kind: KindOf(m.Request), Ask: own(m), Recovered: recovered,
		Seq: l.Seq, Time: instant(l.Time),
	}
	if s.index(q.RequestID) >= 0 {
		return nil
	}
	if i := s.settled(q.RequestID); i >= 0 {
		if s.Settled[i].Fate == FateAnswered {
			s.Settled[i].Again = true
			return []Change{{Fate: FateAskedAgain, Question: q}}
		}
		// It was given up on our side only.
		s.Settled = slices.Delete(s.Settled, i, i+1)
	}
	switch r := m.Request.(type) {
	case *wire.CanUseToolRequest:
		q.Tool, q.ToolUseID, q.AgentID = name(r.ToolName), name(r.ToolUseID), name(r.AgentID)
	case *wire.UserDialogRequest:
		q.ToolUseID = name(r.ToolUseID)
	default:
	}
	if i := slices.IndexFunc(s.Hooks, func(h HookCall) bool { return h.ToolUseID == q.ToolUseID }); i >= 0 && q.Tool != "" {
		q.HookRequestID = s.Hooks[i].RequestID
		s.Hooks = slices.Delete(s.Hooks, i, i+1)
	}
	var dropped int64
	s.Open, dropped = last(append(s.Open, q), maxQuestions)
	s.Dropped += dropped
	return []Change{{Fate: FateOpened, Question: q}}
}

// own returns a request that shares no memory with the line it came in, which
// may be much longer: an answer to initialize brings a whole list of them.
func own(m *wire.ControlRequest) *wire.ControlRequest {
	c := new(wire.ControlRequest)
	if m.Raw() == nil || c.UnmarshalJSON(m.Raw()) != nil {
		return m
	}
	return c
}

// hooked folds the call of a hook: that of a PermissionRequest hook asks what a
// can_use_tool asks, since 2.1.62 at the same time.
func (s *Questions) hooked(id string, r *wire.HookCallbackRequest) {
	if _, ok := r.Input.(*wire.PermissionRequestInput); !ok || r.ToolUseID == "" {
		return
	}
	call := HookCall{RequestID: name(id), ToolUseID: name(r.ToolUseID)}
	for i := range s.Open {
		if q := &s.Open[i]; q.Tool != "" && q.ToolUseID == call.ToolUseID && q.HookRequestID == "" {
			q.HookRequestID = call.RequestID
			return
		}
	}
	s.Hooks, _ = last(append(s.Hooks, call), maxCalls)
}

// answered folds an answer. One that the CLI wrote answers a request of ours,
// or, with --replay-user-messages, repeats an answer of ours.
func (s *Questions) answered(m *wire.ControlResponse, l *Line) []Change {
	id := name(m.Response.RequestID)
	if !l.Sent {
		if i := slices.Index(s.Initializes, id); i >= 0 {
			s.Initializes = slices.Delete(s.Initializes, i, i+1)
			return s.recover(&m.Response, l)
		}
		if i := slices.Index(s.Interrupts, id); i >= 0 {
			s.Interrupts = slices.Delete(s.Interrupts, i, i+1)
			return s.interrupted(&m.Response)
		}
	}
	i := s.index(id)
	if i < 0 {
		s.hookAnswered(m)
		if j := s.settled(id); j >= 0 && l.Sent {
			if s.Settled[j].Again {
				s.Settled[j].Again = false
				return nil
			}
			q := Question{RequestID: id, Kind: s.Settled[j].Kind}
			return []Change{{Fate: FateAnsweredTooLate, Question: q, Answer: m}}
		}
		return nil
	}
	if s.Open[i].Kind == KindDialog && m.Response.Subtype != "success" {
		return nil // the CLI throws such an answer away and goes on waiting
	}
	return []Change{s.settle(i, FateAnswered, "", m)}
}

// hookAnswered folds the answer to a hook. If it decides, the CLI will withdraw
// the question that asks the same.
func (s *Questions) hookAnswered(m *wire.ControlResponse) {
	id := name(m.Response.RequestID)
	s.Hooks = slices.DeleteFunc(s.Hooks, func(h HookCall) bool { return h.RequestID == id })
	for i := range s.Open {
		if q := &s.Open[i]; id != "" && q.HookRequestID == id {
			q.HookRequestID, q.HookDecided = "", hookDecides(m.Response)
		}
	}
}

// hookDecides reports whether an answer to a PermissionRequest hook decides.
func hookDecides(a wire.ControlAnswer) bool {
	if a.Subtype != "success" {
		return false
	}
	body, err := wire.DecodeAnswer("hook_callback", a.Response)
	if err != nil {
		return false
	}
	answer, ok := body.(*wire.HookCallbackAnswer)
	if !ok {
		return false
	}
	out, ok := answer.HookSpecificOutput.(*wire.PermissionRequestOutput)
	return ok && out.Decision != nil
}

// withdrawn folds a control_cancel_request of the CLI.
func (s *Questions) withdrawn(requestID string) []Change {
	id := name(requestID)
	s.Hooks = slices.DeleteFunc(s.Hooks, func(h HookCall) bool { return h.RequestID == id })
	for i := range s.Open {
		if q := &s.Open[i]; id != "" && q.HookRequestID == id {
			q.HookRequestID = ""
		}
	}
	i := s.index(id)
	if i < 0 {
		return nil
	}
	reason := ReasonWithdrawn
	switch {
	case s.Open[i].HookDecided:
		reason = ReasonHook
	case len(s.Interrupts) > 0:
		reason = ReasonInterrupt
	}
	return []Change{s.settle(i, FateCancelled, reason, nil)}
}

// interrupted folds the answer to an interrupt. The CLI has withdrawn the
// questions before it; this is for those that it forgot.
func (s *Questions) interrupted(a *wire.ControlAnswer) []Change {
	if a.Subtype != "success" {
		return nil
	}
	return s.cancel(ReasonInterrupt, func(q *Question) bool { return q.AgentID == "" })
}

// toolsDone settles questions about tool calls that have their result: at the
// end of its input a CLI refuses what it has asked about and goes on.
func (s *Questions) toolsDone(l *Line) []Change {
	m, ok := l.decoded().(*wire.User)
	if !ok {
		return nil
	}
	var changes []Change
	for _, b := range m.Message.Content.Blocks {
		if r, ok := b.(*wire.ToolResultBlock); ok && r.ToolUseID != "" {
			id := name(r.ToolUseID)
			changes = append(changes, s.cancel(ReasonToolDone, func(q *Question) bool { return q.ToolUseID == id })...)
		}
	}
	return changes
}

// recover folds an answer to initialize, which lists what the CLI waits for.
// The first answer of a run has no lists on older versions.
func (s *Questions) recover(a *wire.ControlAnswer, l *Line) []Change {
	changes := s.list(a.PendingPermissionRequests, l, KindPermission, KindChoice, KindPlan)
	changes = append(changes, s.list(a.PendingUserDialogRequests, l, KindDialog)...)
	return append(changes, s.list(a.PendingElicitationRequests, l, KindForm)...)
}

// list makes the open questions of some kinds those of a list. An empty list is
// one, a missing one (nil) says nothing.
func (s *Questions) list(pending []wire.ControlRequest, l *Line, kinds ...Kind) []Change {
	if pending == nil {
		return nil
	}
	listed := map[string]bool{}
	for i := range pending {
		listed[name(pending[i].RequestID)] = true
	}
	changes := s.cancel(ReasonNotListed, func(q *Question) bool {
		return slices.Contains(kinds, q.Kind) && !listed[q.RequestID]
	})
	for i := range pending {
		if KindOf(pending[i].Request) != "" {
			changes = append(changes, s.open(&pending[i], l, true)...)
		}
	}
	return changes
}

// cancel settles every open question that match names.
func (s *Questions) cancel(reason Reason, match func(*Question) bool) []Change {
	var changes []Change
	for i := 0; i < len(s.Open); {
		if !match(&s.Open[i]) || reason != ReasonEnded && wire.IsSandboxRequest(s.Open[i].RequestID) {
			i++
			continue
		}
		changes = append(changes, s.settle(i, FateCancelled, reason, nil))
	}
	return changes
}

// settle closes the i-th open question.
func (s *Questions) settle(i int, fate Fate, reason Reason, answer *wire.ControlResponse) Change {
	q := s.Open[i]
	s.Open = slices.Delete(s.Open, i, i+1)
	s.Settled, _ = last(append(s.Settled, Settlement{RequestID: q.RequestID, Kind: q.Kind, Fate: fate, Reason: reason}), maxSettled)
	return Change{Fate: fate, Reason: reason, Question: q, Answer: answer}
}

func (s *Questions) settled(requestID string) int {
	return slices.IndexFunc(s.Settled, func(v Settlement) bool { return v.RequestID == requestID })
}

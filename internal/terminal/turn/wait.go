package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/terminal/eventlog"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/wire"
)

// Over reports whether a session has nothing left to do but what goes on in the background. A question whose process has ended can wait for
// ever.
func Over(session *api.Session) bool {
	asks := slices.ContainsFunc(session.Questions, func(q api.Question) bool { return !q.Stale })
	over := session.State == api.StateIdle || session.State == api.StateEnded || session.State == api.StateBackground
	return over && !asks && len(session.Messages) == 0
}

// TellsEnd reports whether a frame can mean that a session has nothing left to do, or asks something.
func TellsEnd(frame api.Frame) bool {
	if frame.Type == api.FrameResume {
		return true
	}
	return frame.Type == api.FrameEvent && slices.Contains([]string{
		api.KindState, api.KindTurn, api.KindMessage, api.KindRunEnded, api.KindQuestionOpened, api.KindQuestionSettled, api.KindLine,
	}, frame.Event.Kind) && (frame.Event.Kind != api.KindLine || typeOf(frame.Event.Line) == "result")
}

// A Result is what the end of a turn tells.
type Result struct {
	Subtype string   `json:"subtype"`
	IsError bool     `json:"is_error"`
	Result  string   `json:"result"`
	Errors  []string `json:"errors"`
	// Messages are the uuids of those that the turn was about; older CLIs do not tell.
	Messages []string `json:"user_message_uuids"`

	// Line is all of it.
	Line json.RawMessage `json:"-"`
}

// Failed reports whether the turn failed.
func (r *Result) Failed() bool { return r.IsError || r.Subtype != "success" }

// A Waiter waits for the end of the turn that a message belongs to. What keeps the turn from ending is said on Errs.
type Waiter struct {
	Client  *client.Client
	Errs    io.Writer
	Session *api.Session // before the message was sent
	Message *api.Message // as it is, when Wait has returned
	Steer   bool         // it went into the running turn
	Name    string       // what people are told the session is called
}

// Wait follows the session from where it was before the message was sent.
func (w *Waiter) Wait(ctx context.Context) (*Result, error) {
	for i := range w.Session.Questions {
		w.asked(&w.Session.Questions[i])
	}
	for frame, err := range eventlog.Follow(ctx, w.Client, w.Session.ID, w.Errs, client.FollowOptions{
		After: w.Session.LastEventID, Types: []string{"user", "result"},
		Kinds: []string{api.KindSent, api.KindLine, api.KindMessage, api.KindQuestionOpened, api.KindRunEnded, api.KindHold},
	}) {
		if err != nil {
			return nil, err
		}
		if frame.Type != api.FrameEvent {
			continue
		}
		line, err := w.event(ctx, frame.Event)
		if line != nil || err != nil {
			return line, err
		}
	}
	return nil, context.Cause(ctx)
}

// event takes in what happened; it returns the end of the turn.
func (w *Waiter) event(ctx context.Context, e *api.Event) (*Result, error) {
	switch e.Kind {
	case api.KindMessage:
		var m api.Message
		if json.Unmarshal(e.Data, &m) != nil || m.ID != w.Message.ID {
			return nil, nil //nolint:nilerr // it is about another one
		}
		w.Message.State, w.Message.Reason = m.State, m.Reason
		switch m.State { //nolint:exhaustive // all others are on the way
		case api.MessageTakenBack:
			return nil, errors.New("the message was removed before the agent got it")
		case api.MessageNotDelivered, api.MessageUnknown:
			return nil, fmt.Errorf("the message didn't reach the agent, as far as known: %s", m.Reason)
		}
	case api.KindQuestionOpened:
		var q api.Question
		if json.Unmarshal(e.Data, &q) == nil {
			w.asked(&q)
		}
	case api.KindHold:
		var hold api.Hold
		if json.Unmarshal(e.Data, &hold) == nil {
			fmt.Fprintf(w.Errs, "switchboard: the session is held back: %s\n", paint.CleanLine(hold.Reason, 0))
		}
	case api.KindRunEnded:
		now, err := w.Client.Session(ctx, w.Session.ID)
		if err != nil {
			return nil, err
		}
		if now.State != api.StateEnded { // another process goes on with it
			return nil, nil
		}
		fmt.Fprintf(w.Errs, "switchboard: the agent stopped before the turn was over: %s\n", paint.CleanLine(reasonOf(now.Ended), 0))
		return nil, ErrFailed
	case api.KindSent, api.KindLine:
		header, err := wire.Peek(e.Line)
		if err != nil {
			return nil, nil //nolint:nilerr // it is neither
		}
		// That it was written is not always told by an event of its own.
		if string(header.Type) == "user" && w.Message.UUID != "" && string(header.UUID) == w.Message.UUID {
			w.Message.State = api.MessageWritten
		}
		if e.Kind == api.KindLine && string(header.Type) == "result" {
			return w.ended(ctx, e)
		}
	}
	return nil, nil
}

func reasonOf(e *api.Ended) string {
	if e == nil {
		return "nobody knows why"
	}
	return e.Reason
}

// ended looks whether a turn that has ended is the message's.
func (w *Waiter) ended(ctx context.Context, e *api.Event) (*Result, error) {
	line := &Result{Line: e.Line}
	if err := json.Unmarshal(e.Line, line); err != nil {
		return nil, nil //nolint:nilerr // it is none
	}
	if w.Message.UUID != "" && slices.Contains(line.Messages, w.Message.UUID) {
		return line, nil
	}
	switch w.Message.State { //nolint:exhaustive // all others are not there yet
	case api.MessagePickedUp, api.MessageWritten:
		if !w.Steer && len(line.Messages) == 0 {
			return line, nil
		}
		// The turn was about something else, as far as is told. What is written into a turn may have come too late for it, and begins another.
		now, err := w.Client.Session(ctx, w.Session.ID)
		if err != nil {
			return nil, err
		}
		if len(now.Messages) == 0 && now.State != api.StateRunning && now.State != api.StateRequiresAction {
			return line, nil
		}
	}
	return nil, nil
}

// asked says that the agent waits for an answer.
func (w *Waiter) asked(q *api.Question) {
	how := "allow"
	if q.Kind == api.QuestionChoice || q.Kind == api.QuestionDialog {
		how = "answer"
	}
	fmt.Fprintf(w.Errs, "switchboard: %s asks: %s; answer with: switchboard %s %s\n",
		w.Name, paint.CleanLine(string(q.Kind)+" "+q.Tool+" "+q.Title, 100), how, q.ID)
}

package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"

	"github.com/switchboard-dev/switchboard/api"
)

// newID returns a client id that no other client has.
func newID() string { return "client-" + rand.Text() }

// errAway is why a question is given up that the session no longer has.
var errAway = errors.New("the session no longer asks this")

// An answerer has the questions of a remote session answered. It is owned by one
// goroutine, which runs it.
type answerer struct {
	remote *RemoteSession
	// open holds what ends the call about each question that is open, those whose
	// call has returned too: they are not asked about again.
	open map[string]context.CancelCauseFunc
}

// run follows questions until ctx ends, or there is an error that does not pass by
// waiting.
func (a *answerer) run(ctx context.Context, snapshot *api.Session) error {
	pause := backoff{first: a.remote.client.retry}
	for {
		a.meet(ctx, snapshot)
		went, err := a.follow(ctx, snapshot.LastEventID)
		if err != nil {
			return err
		}
		// Something is missing: what is open is told by the session itself. A server
		// that says so each time is not asked without a pause.
		if went {
			pause.reset()
		}
		if err := sleep(ctx, pause.next()); err != nil {
			return err
		}
		if snapshot, err = insist(ctx, a.remote, a.remote.Snapshot); err != nil {
			return err
		}
	}
}

// meet makes the questions that are open those of a snapshot.
func (a *answerer) meet(ctx context.Context, snapshot *api.Session) {
	here := make(map[string]bool, len(snapshot.Questions))
	for i := range snapshot.Questions {
		here[snapshot.Questions[i].ID] = true
		a.ask(ctx, &snapshot.Questions[i])
	}
	for id := range a.open {
		if !here[id] {
			a.settle(id, errAway)
		}
	}
}

// follow takes questions from the stream. Without an error events are missing in
// it; went says whether it went well before.
func (a *answerer) follow(ctx context.Context, after string) (went bool, err error) {
	options := &FollowOptions{
		After: after, NoLive: true, Lost: a.remote.options.Lost,
		Kinds: []string{api.KindQuestionOpened, api.KindQuestionSettled},
	}
	for frame, err := range a.remote.client.Follow(ctx, a.remote.id, options) {
		switch {
		case err != nil:
			return went, err
		case frame.Resume != nil && frame.Resume.Resume != "ok":
			return went, nil
		case frame.Resume != nil:
			went = true
			continue
		case frame.Type != api.FrameEvent || frame.Event == nil:
			continue
		}
		var q api.Question
		if json.Unmarshal(frame.Event.Data, &q) != nil || q.ID == "" {
			continue // of a newer server
		}
		switch frame.Event.Kind {
		case api.KindQuestionOpened:
			a.ask(ctx, &q)
		case api.KindQuestionSettled:
			a.settle(q.ID, &SettledError{Question: q})
		}
	}
	return went, nil
}

// ask has a question answered, in a goroutine of its own, unless that was begun
// before.
func (a *answerer) ask(ctx context.Context, q *api.Question) {
	if _, known := a.open[q.ID]; known || q.State != api.QuestionOpen {
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	a.open[q.ID] = cancel
	question := *q
	a.remote.tasks.Go(func() { a.remote.reply(ctx, question) })
}

// settle ends the call about a question.
func (a *answerer) settle(id string, cause error) {
	if cancel, known := a.open[id]; known {
		cancel(cause)
		delete(a.open, id)
	}
}

// reply gets an answer and sends it, unless the question is settled meanwhile.
func (r *RemoteSession) reply(ctx context.Context, q api.Question) {
	answer, err := r.options.Answer(ctx, q)
	if err == nil && ctx.Err() == nil {
		_, err = r.Answer(ctx, q.ID, answer)
	}
	problem, _ := errors.AsType[*api.Error](err)
	switch {
	case err == nil || ctx.Err() != nil:
	case problem != nil && problem.Code == api.CodeAlreadySettled: // another client was faster
	case r.options.Failed != nil:
		r.options.Failed(q, err)
	}
}

package v1

import (
	"context"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// A Hub is what the interface needs of the hub, of which [Of] makes one; see
// there for what the methods promise. Errors that are meant for the client are *[api.Error].
type Hub interface {
	Create(ctx context.Context, by hub.Actor, c api.CreateSession) (*api.Created, error)
	List(ctx context.Context, f api.SessionFilter) (*api.SessionList, error)
	Snapshot(ctx context.Context, id string) (*api.Session, error)
	Update(ctx context.Context, by hub.Actor, id string, u api.UpdateSession) (*api.Session, error)
	Send(ctx context.Context, by hub.Actor, id string, m api.SendMessage) (*api.Message, error)
	EditMessage(ctx context.Context, by hub.Actor, id, clientID string, m api.EditMessage) (*api.Message, error)
	TakeBack(ctx context.Context, by hub.Actor, id, clientID string) (*api.Message, error)
	Interrupt(ctx context.Context, by hub.Actor, id string, i api.Interrupt) (*api.Interrupted, error)
	Stop(ctx context.Context, by hub.Actor, id string, s api.Stop) (*api.Session, error)
	Resume(ctx context.Context, by hub.Actor, id string, r api.Resume) (*api.Session, error)
	Fork(ctx context.Context, by hub.Actor, id string, f api.Fork) (*api.Created, error)
	Questions(ctx context.Context, f api.QuestionFilter) (*api.QuestionList, error)
	Question(ctx context.Context, id string) (*api.Question, error)
	Answer(ctx context.Context, by hub.Actor, question string, a api.Answer) (*api.Question, error)
	AddRule(ctx context.Context, by hub.Actor, session string, in api.AddRule) (*api.SessionRule, error)
	RemoveRule(ctx context.Context, by hub.Actor, session, rule string) (*api.SessionRule, error)
	Policy(ctx context.Context) (*api.Policy, error)
	ConfirmPolicy(ctx context.Context, by hub.Actor, in api.ConfirmPolicy) (*api.Policy, error)
	Release(ctx context.Context, by hub.Actor, session string, in api.Release) (*api.Session, error)
	Events(ctx context.Context, id, after string, limit int) (*api.EventPage, error)
	Follow(ctx context.Context, id string, o hub.FollowOptions) (Cursor, error)
}

// A Cursor follows a session; *hub.Cursor is one. One goroutine uses it.
type Cursor interface {
	// Next returns the next frames, and blocks until there are some. They are
	// only looked at until the next call. A context that ends loses nothing.
	Next(ctx context.Context) ([]api.Frame, error)
	// Close lets go of the session.
	Close()
}

// Of returns a hub as the interface uses it.
func Of(h *hub.Hub) Hub { return ofHub{h} }

type ofHub struct{ *hub.Hub }

// Follow returns the hub's cursor.
func (o ofHub) Follow(ctx context.Context, id string, options hub.FollowOptions) (Cursor, error) {
	c, err := o.Hub.Follow(ctx, id, options)
	if err != nil {
		return nil, err
	}
	return c, nil
}

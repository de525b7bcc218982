package screen

import (
	"context"
	"iter"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
)

// A Hub is what the screen needs of a server; a *[client.Client] is one. Its methods are called from several goroutines at once, return soon after
// their ctx ends, and fail with an *[api.Error] where the server refused something.
type Hub interface {
	// List and Session tell what there is.
	List(ctx context.Context, f api.SessionFilter) (*api.SessionList, error)
	Session(ctx context.Context, id string) (*api.Session, error)
	// Events reads a page of a session's log: at most limit events behind the one named.
	Events(ctx context.Context, id, after string, limit int) (*api.EventPage, error)
	// Search looks for messages by their text.
	Search(ctx context.Context, f api.SearchFilter) (*api.SearchResult, error)

	// Follow and Watch go on until ctx ends, and connect again by themselves.
	Follow(ctx context.Context, id string, o *client.FollowOptions) iter.Seq2[api.Frame, error]
	Watch(ctx context.Context, o *client.FollowOptions) iter.Seq2[api.Frame, error]

	// Send, Answer, Interrupt, Update, Stop, Release and TakeBack act.
	Send(ctx context.Context, id string, m api.SendMessage) (*api.Message, error)
	Answer(ctx context.Context, question string, a api.Answer) (*api.Question, error)
	Interrupt(ctx context.Context, id string, in api.Interrupt) (*api.Interrupted, error)
	Update(ctx context.Context, id string, in api.UpdateSession) (*api.Session, error)
	Stop(ctx context.Context, id string, in api.Stop) (*api.Session, error)
	Release(ctx context.Context, id string, in api.Release) (*api.Session, error)
	TakeBack(ctx context.Context, id, message string) (*api.Message, error)

	// Fork makes a session with a copy of a conversation, Rewind restores files, Archive and Unarchive put a session away and take it out again.
	Fork(ctx context.Context, id string, in api.Fork) (*api.Created, error)
	Rewind(ctx context.Context, id string, in api.Rewind) (*api.RewindResult, error)
	Archive(ctx context.Context, id string) (*api.Session, error)
	Unarchive(ctx context.Context, id string) (*api.Session, error)
}

var _ Hub = (*client.Client)(nil)

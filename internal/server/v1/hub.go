package v1

import (
	"context"
	"encoding/json"
	"io"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/wire"
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
	Retry(ctx context.Context, by hub.Actor, id string) (*api.Message, error)
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
	AllEvents(ctx context.Context, after string, limit int) (*api.EventPage, error)
	FollowAll(ctx context.Context, o hub.FollowOptions) (Cursor, error)

	Control(ctx context.Context, by hub.Actor, id string, r wire.Request) (json.RawMessage, error)
	Environment(ctx context.Context, by hub.Actor, id string, variables map[string]string) error

	Budgets(ctx context.Context) (*api.Budgets, error)
	RulesFile(ctx context.Context) (*api.RulesFile, error)
	ReplaceRules(ctx context.Context, by hub.Actor, in api.ReplaceRules) (*api.Policy, error)
	Explain(ctx context.Context, in api.ExplainCall) (*api.Decision, error)
}

// Reports reads the journal for the interface; *report.Reports is one.
type Reports interface {
	Search(ctx context.Context, f api.SearchFilter) (*api.SearchResult, error)
	Timeline(ctx context.Context, id, after string, limit int) (*api.Timeline, error)
	Audit(ctx context.Context, f api.AuditFilter) (*api.Audit, error)
	Costs(ctx context.Context, f api.CostFilter) (*api.Costs, error)
	Drift(ctx context.Context) (*api.Drift, error)
	Export(ctx context.Context, id, format string, w io.Writer) error
	Backup(ctx context.Context, w io.Writer) error
	Transcripts(ctx context.Context, f api.TranscriptFilter) (*api.TranscriptList, error)
	Transcript(ctx context.Context, conversation, dir string, from, limit int) (*api.TranscriptPage, error)
	Folders(ctx context.Context, prefix string, limit int) (*api.Folders, error)
	TestRules(ctx context.Context, in api.TestRules) (*api.RulesTested, error)
	Adopt(ctx context.Context, conversation string, in api.Adopt) (api.CreateSession, error)
}

// A Cursor follows a session; *hub.Cursor is one. One goroutine uses it.
type Cursor interface {
	// Next returns the next frames, and blocks until there are some. They are
	// only looked at until the next call. A context that ends loses nothing.
	Next(ctx context.Context) ([]api.Frame, error)
	// Texts returns the texts of the frames that Next returned last, as far as other
	// followers are shown the same ones; there may be fewer than frames.
	Texts() []hub.Text
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

// FollowAll returns the hub's cursor on all sessions.
func (o ofHub) FollowAll(ctx context.Context, options hub.FollowOptions) (Cursor, error) {
	c, err := o.Hub.FollowAll(ctx, options)
	if err != nil {
		return nil, err
	}
	return c, nil
}

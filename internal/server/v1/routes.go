package v1

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

// How long a request's body may be. Messages and answers may carry images and
// documents.
const (
	maxBody    = 1 << 20
	maxMessage = 64 << 20
)

// idPattern is what the ids of sessions look like, as their parameter says.
var idPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`) })

// The parts of requests and answers. Those that are embedded have exported
// names, or huma would pass over them.
type (
	none struct{}
	// OfSession is a request about a session.
	OfSession struct {
		ID string `path:"id" maxLength:"64" pattern:"^[A-Za-z0-9_-]+$" doc:"The session's id" example:"s5k2m7q3zr4t6w8xabcdy"`
	}
	// OfMessage is a request about a message.
	OfMessage struct {
		OfSession
		ClientID string `path:"client_id" minLength:"1" maxLength:"128" doc:"Your id of the message" example:"m-17"`
	}
	// OfQuestion is a request about a question.
	OfQuestion struct {
		ID string `path:"id" maxLength:"64" pattern:"^[A-Za-z0-9_-]+$" doc:"The question's id" example:"q7h2m4n6p8r3t5v9wxyza"`
	}
	// about is a request about a session with a body.
	about[T any] struct {
		OfSession
		Body T
	}
	// optional is one whose body may be left out.
	optional[T any] struct {
		OfSession
		Body *T `required:"false"`
	}
	// answer is an answer with a body.
	answer[T any] struct {
		Body *T
	}
)

// value returns a body that may be missing.
func value[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}

// reply makes an answer of what the hub says.
func reply[T any](body *T, err error) (*answer[T], error) {
	if err != nil {
		return nil, err
	}
	return &answer[T]{Body: body}, nil
}

// done is the answer to what has none.
func done(err error) (*none, error) {
	if err != nil {
		return nil, err
	}
	return &none{}, nil
}

func (s *Server) routes(h huma.API) {
	s.sessionRoutes(h)
	s.messageRoutes(h)
	s.questionRoutes(h)
	s.policyRoutes(h)
	s.eventRoutes(h)
	s.controlRoutes(h)
	s.libraryRoutes(h)
	s.diskRoutes(h)
	s.backupRoute(h)
	s.accessRoutes(h)
	s.phoneRoutes(h)
	s.preferenceRoutes(h)
	s.relayRoutes(h)
	s.nodeRoutes(h)

	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-info", Method: http.MethodGet, Path: "/v1/info",
		Summary: "Show version and capabilities of the hub", Tags: []string{"server"},
		Description: "Capabilities list what this hub can do: check them instead of its version.",
	}, func(ctx context.Context, _ *none) (*answer[api.Info], error) {
		info := s.info(ctx)
		info.API = "v1"
		if info.Capabilities == nil {
			info.Capabilities = []string{}
		}
		return &answer[api.Info]{Body: &info}, nil
	})
}

func (s *Server) sessionRoutes(h huma.API) {
	tags := []string{"sessions"}
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "create-session", Method: http.MethodPost, Path: "/v1/sessions",
		Summary: "Start an agent, or prepare a session for one that dials in", Tags: tags, DefaultStatus: http.StatusCreated,
		Description: "With transport websocket or hybrid no process is started: the response contains, once, the address and the credential for a CLI to dial in. " +
			"The same client_id with the same request returns the same session. " +
			"With a preset, the session has its options where the request has none.",
	}, func(ctx context.Context, in *struct{ Body api.CreateSession }) (*answer[api.Created], error) {
		created, err := s.hub.Create(ctx, actor(ctx), in.Body)
		if err == nil && created.Token != "" && s.dial != "" {
			created.URL = s.dial + "/ws/cli/" + created.ID
		}
		return reply(created, err)
	}, ofStart()...)
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "list-sessions", Method: http.MethodGet, Path: "/v1/sessions",
		Summary: "List sessions, most recently updated first", Tags: tags,
		Description: "Leaves out archived ones by default.",
	}, func(ctx context.Context, in *sessionQuery) (*answer[api.SessionList], error) {
		list, err := s.hub.List(ctx, api.SessionFilter{
			State: in.State, Dir: in.Dir, Text: in.Text, Archived: in.Archived, Node: in.Node, Cursor: in.Cursor, Limit: in.Limit,
		})
		if err == nil && list.Sessions == nil {
			list.Sessions = []api.SessionSummary{}
		}
		return reply(list, err)
	})
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-session", Method: http.MethodGet, Path: "/v1/sessions/{id}",
		Summary: "Show a session as it is now", Tags: tags,
		Description: "Its state, open questions, queued messages, the message being written, and what the CLI last reported about its tools, commands, agents and models. Follow it from the event last_event_id.",
	}, func(ctx context.Context, in *OfSession) (*answer[api.Session], error) {
		return reply(s.hub.Snapshot(ctx, in.ID))
	})
	operation(s, h, wire.ScopePrompt, huma.Operation{
		OperationID: "update-session", Method: http.MethodPatch, Path: "/v1/sessions/{id}",
		Summary: "Change title, model, permission mode or thinking", Tags: tags,
		Description: "The permission mode needs the scope approve; modes that run commands without asking need admin.",
	}, func(ctx context.Context, in *about[api.UpdateSession]) (*answer[api.Session], error) {
		if mode := in.Body.PermissionMode; mode != nil {
			if _, e := access.Require(ctx, scopeOfMode(*mode)); e != nil {
				return nil, e
			}
		}
		return reply(s.hub.Update(ctx, actor(ctx), in.ID, in.Body))
	}, ofAgent()...)
	operation(s, h, wire.ScopePrompt, huma.Operation{
		OperationID: "interrupt-session", Method: http.MethodPost, Path: "/v1/sessions/{id}/interrupt",
		Summary: "Interrupt the current turn, and wait for its end", Tags: tags,
		Description: "Cancels the turn's questions. If no turn was running, was is false and nothing is done.",
	}, func(ctx context.Context, in *optional[api.Interrupt]) (*answer[api.Interrupted], error) {
		return reply(s.hub.Interrupt(ctx, actor(ctx), in.ID, value(in.Body)))
	}, ofAgent()...)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "stop-session", Method: http.MethodPost, Path: "/v1/sessions/{id}/stop",
		Summary: "Stop the agent's process; the session remains", Tags: tags,
		Description: "It gets time to finish writing, except with force. A later message or resume-session starts another process.",
	}, func(ctx context.Context, in *optional[api.Stop]) (*answer[api.Session], error) {
		return reply(s.hub.Stop(ctx, actor(ctx), in.ID, value(in.Body)))
	}, api.CodeConflict, api.CodeOffline, api.CodeTimeout, api.CodeStorage)
	operation(s, h, wire.ScopePrompt, huma.Operation{
		OperationID: "resume-session", Method: http.MethodPost, Path: "/v1/sessions/{id}/resume",
		Summary: "Start a new process for a session that has ended", Tags: tags,
		Description: "Options that differ from the session's, and force, need the scope admin.",
	}, func(ctx context.Context, in *optional[api.Resume]) (*answer[api.Session], error) {
		r := value(in.Body)
		if r.Options != nil || r.Force {
			if _, e := access.Require(ctx, wire.ScopeAdmin); e != nil {
				return nil, e
			}
		}
		return reply(s.hub.Resume(ctx, actor(ctx), in.ID, r))
	}, ofStart(api.CodeOffline)...)
	operation(s, h, wire.ScopePrompt, huma.Operation{
		OperationID: "retry-session", Method: http.MethodPost, Path: "/v1/sessions/{id}/retry",
		Summary: "Send the prompt of the failed turn again", Tags: tags, DefaultStatus: http.StatusAccepted,
		Description: "It is a new message with the same text. A session that has ended is resumed for it. A session whose member failed is not set is refused with the code conflict.",
	}, func(ctx context.Context, in *OfSession) (*answer[api.Message], error) {
		return reply(s.hub.Retry(ctx, actor(ctx), in.ID))
	}, ofStart(api.CodeOffline, api.CodeEnded, api.CodeTooMany)...)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "fork-session", Method: http.MethodPost, Path: "/v1/sessions/{id}/fork",
		Summary: "Start a new session with a copy of the conversation", Tags: tags, DefaultStatus: http.StatusCreated,
		Description: "The original session is not affected. Options, if given, are those of the new session.",
	}, func(ctx context.Context, in *optional[api.Fork]) (*answer[api.Created], error) {
		return reply(s.hub.Fork(ctx, actor(ctx), in.ID, value(in.Body)))
	}, ofStart()...)
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "list-presets", Method: http.MethodGet, Path: "/v1/presets",
		Summary: "List the presets for new sessions, by name", Tags: tags,
		Description: "They are in the hub's configuration. What may hold secrets is not shown, only the names of variables, servers, settings and flags.",
	}, func(context.Context, *none) (*answer[api.Presets], error) {
		return &answer[api.Presets]{Body: s.hub.Presets()}, nil
	})
	s.archiveRoutes(h, tags)
}

// archiveRoutes are a short way to put sessions aside.
func (s *Server) archiveRoutes(h huma.API, tags []string) {
	for _, way := range []struct {
		name, summary string
		archived      bool
	}{
		{"archive", "Archive a session; lists leave it out", true},
		{"unarchive", "Unarchive a session", false},
	} {
		operation(s, h, wire.ScopePrompt, huma.Operation{
			OperationID: way.name + "-session", Method: http.MethodPost, Path: "/v1/sessions/{id}/" + way.name,
			Summary: way.summary, Tags: tags, Description: "Same as update-session with the member archived.",
		}, func(ctx context.Context, in *OfSession) (*answer[api.Session], error) {
			return reply(s.hub.Update(ctx, actor(ctx), in.ID, api.UpdateSession{Archived: new(way.archived)}))
		}, api.CodeStorage)
	}
}

// scopeOfMode returns the right that is needed to set a permission mode, by the
// same table as lines to the CLI.
func scopeOfMode(mode wire.PermissionMode) wire.Scope {
	line, err := wire.Encode(&wire.ControlRequest{RequestID: "scope", Request: &wire.SetPermissionModeRequest{Mode: mode}})
	if err != nil {
		return wire.ScopeAdmin
	}
	return max(wire.ScopeOf(line, nil), wire.ScopeApprove)
}

type sessionQuery struct {
	State    []api.State `query:"state" maxItems:"16" doc:"Only sessions in one of these states, separated by commas; failed selects those whose member failed is set" enum:"starting,idle,running,requires_action,background,offline,ended,failed"`
	Dir      string      `query:"dir" maxLength:"4096" doc:"Only sessions in this folder"`
	Text     string      `query:"q" maxLength:"1024" doc:"Only sessions with this text in their title or folder"`
	Archived bool        `query:"archived" doc:"Include archived sessions"`
	Node     string      `query:"node" maxLength:"64" doc:"Only sessions on this machine: a name or id of list-nodes"`
	Page
}

const contentRight = "Content blocks that people don't write, such as tool results, need the scope admin."

// scopeOfContent returns the right that is needed to send content blocks, by the
// same table as lines to the CLI.
func scopeOfContent(content json.RawMessage) wire.Scope {
	if len(content) == 0 {
		return wire.ScopePrompt
	}
	line := append(append([]byte(`{"type":"user","message":{"role":"user","content":`), content...), "}}"...)
	if wire.ScopeOf(line, nil) == wire.ScopePrompt {
		return wire.ScopePrompt
	}
	return wire.ScopeAdmin // also for what cannot be sent at all, of which the hub says why
}

func (s *Server) messageRoutes(h huma.API) {
	tags := []string{"messages"}
	operation(s, h, wire.ScopePrompt, huma.Operation{
		OperationID: "send-message", Method: http.MethodPost, Path: "/v1/sessions/{id}/messages",
		Summary: "Send a message to the agent", Tags: tags, DefaultStatus: http.StatusAccepted, MaxBodyBytes: maxMessage,
		Description: "It waits until the agent is idle, or with mode steer is written into the running turn. An ended session is resumed for it. Events of the kind message report its progress. " +
			"The same client_id is one message, however often it is sent. " + contentRight,
	}, func(ctx context.Context, in *about[api.SendMessage]) (*answer[api.Message], error) {
		if _, e := access.Require(ctx, scopeOfContent(in.Body.Content)); e != nil {
			return nil, e
		}
		return reply(s.hub.Send(ctx, actor(ctx), in.ID, in.Body))
	}, ofStart(api.CodeOffline, api.CodeEnded, api.CodeTooMany)...)
	operation(s, h, wire.ScopePrompt, huma.Operation{
		OperationID: "edit-message", Method: http.MethodPatch, Path: "/v1/sessions/{id}/messages/{client_id}",
		Summary: "Edit a queued message", Tags: tags, MaxBodyBytes: maxMessage,
		Description: contentRight,
	}, func(ctx context.Context, in *struct {
		OfMessage
		Body api.EditMessage
	},
	) (*answer[api.Message], error) {
		if _, e := access.Require(ctx, scopeOfContent(in.Body.Content)); e != nil {
			return nil, e
		}
		return reply(s.hub.EditMessage(ctx, actor(ctx), in.ID, in.ClientID, in.Body))
	}, api.CodeNotQueued, api.CodeStorage)
	operation(s, h, wire.ScopePrompt, huma.Operation{
		OperationID: "take-back-message", Method: http.MethodDelete, Path: "/v1/sessions/{id}/messages/{client_id}",
		Summary: "Cancel a queued message", Tags: tags,
		Description: "If it is already being sent, the code is not_queued.",
	}, func(ctx context.Context, in *OfMessage) (*answer[api.Message], error) {
		return reply(s.hub.TakeBack(ctx, actor(ctx), in.ID, in.ClientID))
	}, api.CodeNotQueued, api.CodeStorage)
}

func (s *Server) questionRoutes(h huma.API) {
	tags := []string{"questions"}
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "list-questions", Method: http.MethodGet, Path: "/v1/questions",
		Summary: "List questions, oldest first", Tags: tags,
		Description: "Includes settled ones, unless a state is given.",
	}, func(ctx context.Context, in *struct {
		State   api.QuestionState `query:"state" enum:"open,answered,answered_too_late,cancelled" doc:"Only questions in this state"`
		Session string            `query:"session" maxLength:"64" doc:"Only questions of this session"`
		Kind    api.QuestionKind  `query:"kind" enum:"permission,choice,plan,form,dialog" doc:"Only questions of this kind"`
		Prefix  string            `query:"prefix" maxLength:"64" doc:"Only questions whose id has this prefix"`
		Cursor  string            `query:"cursor" maxLength:"256" doc:"Where the previous page ended: its member next"`
		Limit   int               `query:"limit" minimum:"1" maximum:"1000" doc:"Maximum number of results; default 1000"`
	},
	) (*answer[api.QuestionList], error) {
		list, err := s.hub.Questions(ctx, api.QuestionFilter{State: in.State, Session: in.Session, Kind: in.Kind, Prefix: in.Prefix, Cursor: in.Cursor, Limit: in.Limit})
		if err == nil && list.Questions == nil {
			list.Questions = []api.Question{}
		}
		return reply(list, err)
	})
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-question", Method: http.MethodGet, Path: "/v1/questions/{id}",
		Summary: "Show a question", Tags: tags,
		Description: "A settled one says who answered, and how.",
	}, func(ctx context.Context, in *OfQuestion) (*answer[api.Question], error) {
		return reply(s.hub.Question(ctx, in.ID))
	})
	operation(s, h, wire.ScopeApprove, huma.Operation{
		OperationID: "answer-question", Method: http.MethodPost, Path: "/v1/questions/{id}/answer",
		Summary: "Answer a question", Tags: tags, MaxBodyBytes: maxMessage,
		Description: "The first answer counts. A later one gets the code already_settled and the settled question. " +
			"An answer that does not fit is rejected with the reason, and the question stays open. " +
			"Allowing more than the question suggests, permissions that outlive the agent's process, and the mode bypassPermissions need the scope admin.",
	}, func(ctx context.Context, in *struct {
		OfQuestion
		Body api.Answer
	},
	) (*answer[api.Question], error) {
		return reply(s.hub.Answer(ctx, actor(ctx), in.ID, in.Body))
	}, api.CodeAlreadySettled, api.CodeConflict, api.CodeClientIDReused, api.CodeOffline, api.CodeUnsupported, api.CodeStorage)
}

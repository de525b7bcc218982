package v1

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

// How long a request's body may be. Messages and answers may carry images and
// documents.
const (
	maxBody    = 1 << 20
	maxMessage = 64 << 20
)

const eventsPath = "/v1/sessions/{id}/events"

var errorType = reflect.TypeFor[api.Error]()

// The parts of requests and answers. Those that are embedded have exported
// names, or huma would pass over them.
type (
	none struct{}
	// OfSession is a request about a session.
	OfSession struct {
		ID string `path:"id" doc:"The session's id"`
	}
	// OfMessage is a request about a message.
	OfMessage struct {
		OfSession
		ClientID string `path:"client_id" doc:"Your id of the message"`
	}
	// OfQuestion is a request about a question.
	OfQuestion struct {
		ID string `path:"id" doc:"The question's id"`
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

func (s *Server) routes(h huma.API) {
	s.sessionRoutes(h)
	s.messageRoutes(h)
	s.questionRoutes(h)
	s.policyRoutes(h)
	s.eventRoutes(h)

	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-info", Method: http.MethodGet, Path: "/v1/info",
		Summary: "Say what the server is and can do", Tags: []string{"server"},
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
		Summary: "Start an agent, or make a place for one that dials in", Tags: tags, DefaultStatus: http.StatusCreated,
	}, func(ctx context.Context, in *struct{ Body api.CreateSession }) (*answer[api.Created], error) {
		created, err := s.hub.Create(ctx, actor(ctx), in.Body)
		if err == nil && created.Token != "" && s.dial != "" {
			created.URL = s.dial + "/ws/cli/" + created.ID
		}
		return reply(created, err)
	})
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "list-sessions", Method: http.MethodGet, Path: "/v1/sessions",
		Summary: "List sessions, the most recently updated first", Tags: tags, RejectUnknownQueryParameters: true,
	}, func(ctx context.Context, in *sessionQuery) (*answer[api.SessionList], error) {
		list, err := s.hub.List(ctx, api.SessionFilter{
			State: in.State, Dir: in.Dir, Text: in.Text, Archived: in.Archived, Cursor: in.Cursor, Limit: in.Limit,
		})
		if err == nil && list.Sessions == nil {
			list.Sessions = []api.SessionSummary{}
		}
		return reply(list, err)
	})
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-session", Method: http.MethodGet, Path: "/v1/sessions/{id}",
		Summary: "Show a session as it is now", Tags: tags,
	}, func(ctx context.Context, in *OfSession) (*answer[api.Session], error) {
		return reply(s.hub.Snapshot(ctx, in.ID))
	})
	operation(s, h, wire.ScopePrompt, huma.Operation{
		OperationID: "update-session", Method: http.MethodPatch, Path: "/v1/sessions/{id}",
		Summary: "Change title, model, permission mode or thinking", Tags: tags,
		Description: "The permission mode needs the right approve; modes that run commands without asking need admin.",
	}, func(ctx context.Context, in *about[api.UpdateSession]) (*answer[api.Session], error) {
		if mode := in.Body.PermissionMode; mode != nil {
			if _, e := access.Require(ctx, scopeOfMode(*mode)); e != nil {
				return nil, e
			}
		}
		return reply(s.hub.Update(ctx, actor(ctx), in.ID, in.Body))
	})
	operation(s, h, wire.ScopePrompt, huma.Operation{
		OperationID: "interrupt-session", Method: http.MethodPost, Path: "/v1/sessions/{id}/interrupt",
		Summary: "Stop the current turn, and answer when it has ended", Tags: tags,
	}, func(ctx context.Context, in *optional[api.Interrupt]) (*answer[api.Interrupted], error) {
		return reply(s.hub.Interrupt(ctx, actor(ctx), in.ID, value(in.Body)))
	})
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "stop-session", Method: http.MethodPost, Path: "/v1/sessions/{id}/stop",
		Summary: "End the agent's process; the session stays", Tags: tags,
	}, func(ctx context.Context, in *optional[api.Stop]) (*answer[api.Session], error) {
		return reply(s.hub.Stop(ctx, actor(ctx), in.ID, value(in.Body)))
	})
	operation(s, h, wire.ScopePrompt, huma.Operation{
		OperationID: "resume-session", Method: http.MethodPost, Path: "/v1/sessions/{id}/resume",
		Summary: "Start a new process for a session that has ended", Tags: tags,
		Description: "Other options than those of the session, and force, need the right admin.",
	}, func(ctx context.Context, in *optional[api.Resume]) (*answer[api.Session], error) {
		r := value(in.Body)
		if r.Options != nil || r.Force {
			if _, e := access.Require(ctx, wire.ScopeAdmin); e != nil {
				return nil, e
			}
		}
		return reply(s.hub.Resume(ctx, actor(ctx), in.ID, r))
	})
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "fork-session", Method: http.MethodPost, Path: "/v1/sessions/{id}/fork",
		Summary: "Start a new session with a copy of the conversation", Tags: tags, DefaultStatus: http.StatusCreated,
	}, func(ctx context.Context, in *optional[api.Fork]) (*answer[api.Created], error) {
		return reply(s.hub.Fork(ctx, actor(ctx), in.ID, value(in.Body)))
	})
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
	State    []api.State `query:"state" doc:"Only sessions in one of these states, separated by commas" enum:"starting,idle,running,requires_action,background,offline,ended"`
	Dir      string      `query:"dir" doc:"Only sessions in this folder"`
	Text     string      `query:"q" doc:"Only sessions with this text in their title or folder"`
	Archived bool        `query:"archived" doc:"Also sessions that are archived"`
	Cursor   string      `query:"cursor" doc:"Where the page before ended: its member next"`
	Limit    int         `query:"limit" minimum:"1" maximum:"1000" doc:"How many at most; 100 if absent"`
}

const contentRight = "Blocks in content that no person writes, such as results of tools, need the right admin."

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
		Description: contentRight,
	}, func(ctx context.Context, in *about[api.SendMessage]) (*answer[api.Message], error) {
		if _, e := access.Require(ctx, scopeOfContent(in.Body.Content)); e != nil {
			return nil, e
		}
		return reply(s.hub.Send(ctx, actor(ctx), in.ID, in.Body))
	})
	operation(s, h, wire.ScopePrompt, huma.Operation{
		OperationID: "edit-message", Method: http.MethodPatch, Path: "/v1/sessions/{id}/messages/{client_id}",
		Summary: "Change a message that is still queued", Tags: tags, MaxBodyBytes: maxMessage,
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
	})
	operation(s, h, wire.ScopePrompt, huma.Operation{
		OperationID: "take-back-message", Method: http.MethodDelete, Path: "/v1/sessions/{id}/messages/{client_id}",
		Summary: "Take a message back that is still queued", Tags: tags,
	}, func(ctx context.Context, in *OfMessage) (*answer[api.Message], error) {
		return reply(s.hub.TakeBack(ctx, actor(ctx), in.ID, in.ClientID))
	})
}

func (s *Server) questionRoutes(h huma.API) {
	tags := []string{"questions"}
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "list-questions", Method: http.MethodGet, Path: "/v1/questions",
		Summary: "List what agents ask, the oldest first", Tags: tags, RejectUnknownQueryParameters: true,
	}, func(ctx context.Context, in *struct {
		State   api.QuestionState `query:"state" enum:"open,answered,answered_too_late,cancelled" doc:"Only questions in this state"`
		Session string            `query:"session" doc:"Only questions of this session"`
		Kind    api.QuestionKind  `query:"kind" enum:"permission,choice,plan,form,dialog" doc:"Only questions of this kind"`
		Limit   int               `query:"limit" minimum:"1" maximum:"1000" doc:"How many at most"`
	},
	) (*answer[api.QuestionList], error) {
		list, err := s.hub.Questions(ctx, api.QuestionFilter{State: in.State, Session: in.Session, Kind: in.Kind, Limit: in.Limit})
		if err == nil && list.Questions == nil {
			list.Questions = []api.Question{}
		}
		return reply(list, err)
	})
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-question", Method: http.MethodGet, Path: "/v1/questions/{id}",
		Summary: "Show a question", Tags: tags,
	}, func(ctx context.Context, in *OfQuestion) (*answer[api.Question], error) {
		return reply(s.hub.Question(ctx, in.ID))
	})
	operation(s, h, wire.ScopeApprove, huma.Operation{
		OperationID: "answer-question", Method: http.MethodPost, Path: "/v1/questions/{id}/answer",
		Summary: "Answer a question", Tags: tags, MaxBodyBytes: maxMessage,
		Description: "The first answer counts. A later one is refused with the code already_settled and the question as it was settled. " +
			"One that does not fit is refused with the reason, and the question stays open. " +
			"What is allowed beyond what the question brought, what is kept longer than the agent's process, and the mode bypassPermissions need the right admin.",
	}, func(ctx context.Context, in *struct {
		OfQuestion
		Body api.Answer
	},
	) (*answer[api.Question], error) {
		return reply(s.hub.Answer(ctx, actor(ctx), in.ID, in.Body))
	})
}

type eventQuery struct {
	OfSession
	After       string `query:"after" doc:"The id of the last event that you have; absent: from the beginning; now: only what comes"`
	Limit       int    `query:"limit" minimum:"1" maximum:"1000" doc:"How many events a page has at most"`
	Live        bool   `query:"live" default:"true" doc:"Whether a stream has deltas and partial messages too"`
	LastEventID string `header:"Last-Event-ID" doc:"As after, and stronger: what a browser sends when it comes back"`
	Accept      string `header:"Accept" doc:"text/event-stream for a stream"`
}

func (s *Server) eventRoutes(h huma.API) {
	schemas := h.OpenAPI().Components.Schemas
	for _, t := range []reflect.Type{reflect.TypeFor[api.Event](), reflect.TypeFor[api.Verdict](), reflect.TypeFor[api.Partials](), reflect.TypeFor[api.Closing]()} {
		schemas.Schema(t, true, t.Name())
	}
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-events", Method: http.MethodGet, Path: eventsPath,
		Summary: "Read a session's log, or follow it", Tags: []string{"events"}, RejectUnknownQueryParameters: true,
		Description: "A page of the log in JSON, or with \"Accept: text/event-stream\" a stream: first an event \"resume\" (Verdict) that says whether it goes on where you left off, " +
			"then \"event\" (Event, with an id), \"live\" (Event, without), \"partial\" (Partials: replaces what you have of messages that are being written) and at the end perhaps \"closing\" (Closing: come back).",
		Responses: map[string]*huma.Response{"200": {
			Description: "The log",
			Content: map[string]*huma.MediaType{
				"application/json":  {Schema: schemas.Schema(reflect.TypeFor[api.EventPage](), true, "EventPage")},
				"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}},
			},
		}},
	}, func(ctx context.Context, in *eventQuery) (*huma.StreamResponse, error) {
		after := in.After
		if in.LastEventID != "" {
			after = in.LastEventID
		}
		if !wantsStream(in.Accept) {
			page, err := s.hub.Events(ctx, in.ID, after, in.Limit)
			if err != nil {
				return nil, err
			}
			return &huma.StreamResponse{Body: func(c huma.Context) {
				c.SetHeader("Content-Type", "application/json")
				_, _ = c.BodyWriter().Write(appendPage(nil, page)) // the client has gone: nobody to tell
			}}, nil
		}
		cursor, err := s.hub.Follow(ctx, in.ID, hub.FollowOptions{After: after, NoLive: !in.Live})
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			defer cursor.Close()
			r, w := humago.Unwrap(c)
			s.serveStream(w, r, cursor)
		}}, nil
	})
}

// A shortcut registers operations, and has streams of events go past huma:
// what it has on the stack while it handles a request would double the memory
// that each open stream needs.
type shortcut struct {
	*http.ServeMux

	server *Server
}

// HandleFunc registers an operation.
func (c shortcut) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	if pattern != "GET "+eventsPath {
		c.ServeMux.HandleFunc(pattern, handler)
		return
	}
	c.ServeMux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		cursor, ok := c.server.followQuickly(w, r)
		switch {
		case !ok:
			handler(w, r)
		case cursor != nil:
			defer cursor.Close()
			c.server.serveStream(w, r, cursor)
		}
	})
}

// followQuickly opens the cursor for a stream. It is not ok if the request is
// for a page, or is one that huma shall say what is wrong with; without a cursor
// it was answered with an error.
func (s *Server) followQuickly(w http.ResponseWriter, r *http.Request) (cursor Cursor, ok bool) {
	if !wantsStream(r.Header.Get("Accept")) {
		return nil, false
	}
	o := hub.FollowOptions{}
	for name, values := range r.URL.Query() {
		switch name {
		case "after":
			o.After = values[0]
		case "live":
			live, err := strconv.ParseBool(values[0])
			if err != nil {
				return nil, false
			}
			o.NoLive = !live
		default:
			return nil, false
		}
	}
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		o.After = id
	}
	if e := s.admit(r.Context(), wire.ScopeObserve); e != nil {
		access.WriteProblem(w, e)
		return nil, true
	}
	cursor, err := s.hub.Follow(r.Context(), r.PathValue("id"), o)
	if err != nil {
		access.WriteProblem(w, (*api.Error)(s.problem(r.Context(), "get-events", err)))
		return nil, true
	}
	return cursor, true
}

// wantsStream reports whether a client asks for a stream of events.
func wantsStream(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		kind, _, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(kind), "text/event-stream") {
			return true
		}
	}
	return false
}

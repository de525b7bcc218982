package v1

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	eventsPath    = "/v1/sessions/{id}/events"
	allEventsPath = "/v1/events"
	// maxNames is how many kinds and types a filter may name, maxPlace how long an id
	// to go on after may be; as the parameters say.
	maxNames = 64
	maxPlace = 128
)

// EventQuery is what pages and streams of events are asked with.
type EventQuery struct {
	After       string     `query:"after" maxLength:"128" doc:"The id of the last event that you have; absent: from the beginning; now: only new events. For all sessions: the position of the last event" example:"k3v9:1284"`
	Cursor      string     `query:"cursor" maxLength:"128" doc:"Same as after, under its name in other lists: the member next of the previous page"`
	Limit       int        `query:"limit" minimum:"1" maximum:"1000" doc:"Maximum number of events that a page examines; default 1000. A stream has no limit"`
	Live        bool       `query:"live" default:"true" doc:"Whether a stream has deltas and partial messages too"`
	Kinds       []string   `query:"kinds" maxItems:"64" doc:"Only events of these kinds, separated by commas; live stands for deltas and partial messages" enum:"line,sent,live,history,created,run_started,run_launched,run_ended,link_up,link_lost,state,question_opened,question_settled,message,command,gap,oversize,updated,notice,question_changed,rule_added,rule_removed,decision,mode,hold,hold_over,budget,turn,sandbox_refused"`
	Types       []LineType `query:"types" maxItems:"64" doc:"Only lines of these types, separated by commas, such as assistant,user,result. Events that aren't lines are not affected"`
	Messages    bool       `query:"messages" doc:"Only the conversation: lines of the types user, assistant and result, their deltas, questions, messages, states and gaps"`
	Heartbeat   int        `query:"heartbeat" minimum:"1" maximum:"300" doc:"Maximum silence of a stream in seconds; default 15. Heartbeats are then also sent as frames of the type heartbeat, which scripts in browsers can see"`
	LastEventID string     `header:"Last-Event-ID" maxLength:"128" doc:"Same as after, and overrides it: sent by browsers when they reconnect"`
	Accept      string     `header:"Accept" maxLength:"4096" doc:"text/event-stream for a stream"`
}

// A request is one for events, understood.
type request struct {
	session   string // empty for all
	after     string
	noLive    bool
	filter    filter
	heartbeat time.Duration // zero if none was asked for
}

// A LineType is the type of a line of the CLI.
type LineType string

// Schema says what it looks like.
func (LineType) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, MaxLength: new(64), Pattern: typeName().String()}
	s.PrecomputeMessages()
	return s
}

// typeName is what the type of a line looks like.
var typeName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`) })

// understand returns what is asked for.
func (in *EventQuery) understand(session string) *request {
	r := &request{
		session: session, after: in.After, noLive: !in.Live, heartbeat: time.Duration(in.Heartbeat) * time.Second,
		filter: filter{kinds: in.Kinds, messages: in.Messages},
	}
	for _, name := range in.Types {
		r.filter.types = append(r.filter.types, string(name))
	}
	for _, other := range []string{in.Cursor, in.LastEventID} {
		if other != "" {
			r.after = other
		}
	}
	return r
}

// follow opens the cursor for a stream.
func (s *Server) follow(ctx context.Context, r *request) (Cursor, error) {
	o := hub.FollowOptions{After: r.after, NoLive: r.noLive || !r.filter.live()}
	if r.session == "" {
		return s.hub.FollowAll(ctx, o)
	}
	return s.hub.Follow(ctx, r.session, o)
}

// page returns a page.
func (s *Server) page(ctx context.Context, r *request, limit int) (page *api.EventPage, err error) {
	if r.session == "" {
		page, err = s.hub.AllEvents(ctx, r.after, limit)
	} else {
		page, err = s.hub.Events(ctx, r.session, r.after, limit)
	}
	if err != nil {
		return nil, err
	}
	r.filter.page(page)
	return page, nil
}

const streamText = "A page of the log in JSON; with \"Accept: text/event-stream\" a stream of server-sent events; with \"Upgrade: websocket\" the same as text messages, each a Frame. " +
	"A stream begins with a frame \"resume\" (Verdict), which says whether it continues where you left off: ok; gap, if something in between was removed; reset, if it starts over because the log is a different one. " +
	"Then come \"event\" (Event, stored, with an id), \"live\" (Event, not stored, without an id), \"partial\" (Partials: replaces what you have of messages being written) " +
	"and possibly \"closing\" at the end (Closing: reconnect with the last id). " +
	"An idle stream gets a comment or a ping every 15 seconds. A client that does not read is disconnected after a while and can resume with the last id; nothing is lost. " +
	"Filters leave events out; ids and resuming work as without them. A filtered page may be empty and still have a next one."

func (s *Server) eventRoutes(h huma.API) {
	tags := []string{"events"}
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-events", Method: http.MethodGet, Path: eventsPath,
		Summary: "Read a session's log, or follow it", Tags: tags, Description: streamText, Responses: s.eventResponses(h),
	}, func(ctx context.Context, in *struct {
		OfSession
		EventQuery
	},
	) (*huma.StreamResponse, error) {
		return s.events(ctx, in.ID, &in.EventQuery), nil
	})
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-all-events", Method: http.MethodGet, Path: allEventsPath,
		Summary: "Read or follow the logs of all sessions at once", Tags: tags,
		Description: "Events of all sessions in the order in which they were stored. Your place in it is a position: the id of server-sent events, the member position of a Frame, and the member next of a page. " + streamText,
		Responses:   s.eventResponses(h),
	}, func(ctx context.Context, in *EventQuery) (*huma.StreamResponse, error) {
		return s.events(ctx, "", in), nil
	})
}

// eventResponses describes the ways in which events are sent.
func (s *Server) eventResponses(h huma.API) map[string]*huma.Response {
	schemas := h.OpenAPI().Components.Schemas
	schema := func(t reflect.Type) *huma.Schema { return schemas.Schema(t, true, t.Name()) }
	frames := map[api.FrameType]*huma.Schema{
		api.FrameResume: schema(reflect.TypeFor[api.Verdict]()), api.FrameEvent: schema(reflect.TypeFor[api.Event]()), api.FrameLive: schema(reflect.TypeFor[api.Event]()),
		api.FramePartial: schema(reflect.TypeFor[api.Partials]()), api.FrameClosing: schema(reflect.TypeFor[api.Closing]()),
	}
	var data []*huma.Schema // each once, in the order of the names
	for _, name := range slices.Sorted(maps.Keys(frames)) {
		if !slices.ContainsFunc(data, func(s *huma.Schema) bool { return s.Ref == frames[name].Ref }) {
			data = append(data, frames[name])
		}
	}
	return map[string]*huma.Response{
		"101": {
			Description: "With \"Upgrade: websocket\": a WebSocket. The content is that of each text message",
			Content:     map[string]*huma.MediaType{"application/json": {Schema: schema(reflect.TypeFor[api.Frame]())}},
		},
		"200": {
			Description: "The log",
			Content: map[string]*huma.MediaType{
				"application/json": {Schema: schema(reflect.TypeFor[api.EventPage]())},
				"text/event-stream": {
					Schema: &huma.Schema{
						Type: huma.TypeString, Description: "Server-sent events. x-events has the schema of the data of each by its name",
						Extensions: map[string]any{"contentMediaType": "text/event-stream", "contentSchema": &huma.Schema{OneOf: data}},
					},
					Extensions: map[string]any{"x-events": frames},
					Example: "event: resume\ndata: {\"resume\":\"ok\",\"last_event_id\":\"k3v9:1284\"}\n\n" +
						"event: event\nid: k3v9:1285\ndata: {\"id\":\"k3v9:1285\",\"session\":\"s5k2m7q3zr4t6w8xabcdy\",\"run\":1,\"seq\":1285,\"kind\":\"state\",\"data\":{\"state\":\"idle\"}}\n\n",
				},
			},
		},
	}
}

// events answers a request that went the long way: for a page, or one that has to
// be looked at closely.
func (s *Server) events(ctx context.Context, session string, in *EventQuery) *huma.StreamResponse {
	req := in.understand(session)
	return &huma.StreamResponse{Body: func(c huma.Context) {
		r, w := humago.Unwrap(c)
		if !wantsStream(in.Accept) && !wantsSocket(r) {
			page, err := s.page(ctx, req, in.Limit)
			if err != nil {
				s.refuse(w, r, err)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(appendPage(nil, page)) // the client may be gone
			return
		}
		s.serveEvents(w, r, req)
	}}
}

// refuse answers a request for events with an error.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	access.WriteProblem(w, (*api.Error)(s.problem(r.Context(), "get-events", err)))
}

// serveEvents serves a stream of either kind.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request, req *request) {
	if wantsSocket(r) {
		s.serveSocket(w, r, req)
		return
	}
	cursor, err := s.follow(r.Context(), req)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer cursor.Close()
	s.serveStream(w, r, cursor, req)
}

// A shortcut registers operations, and has streams of events go past huma:
// what it has on the stack while it handles a request would double the memory
// that each open stream needs. The ways to get a token and to
// become a node go past authentication.
type shortcut struct {
	*http.ServeMux

	server *Server
}

// HandleFunc registers an operation.
func (c shortcut) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	switch pattern {
	case "POST " + loginPath, "POST " + joinPath:
		c.server.mux.HandleFunc(pattern, handler)
	case "GET " + eventsPath, "GET " + allEventsPath:
		c.ServeMux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			req, ok := quickly(r)
			if !ok {
				handler(w, r)
				return
			}
			if e := c.server.admit(r.Context(), wire.ScopeObserve); e != nil {
				access.WriteProblem(w, e)
				return
			}
			c.server.serveEvents(w, r, req)
		})
	default:
		c.ServeMux.HandleFunc(pattern, handler)
	}
}

// quickly returns what a request for a stream asks for. It is not ok if it asks
// for a page, or is one that huma shall say what is wrong with.
func quickly(r *http.Request) (*request, bool) {
	if !wantsStream(r.Header.Get("Accept")) && !wantsSocket(r) {
		return nil, false
	}
	session, query := r.PathValue("id"), r.URL.Query()
	if r.Pattern != "" && strings.HasSuffix(r.Pattern, eventsPath) && !idPattern().MatchString(session) {
		return nil, false
	}
	in := EventQuery{Live: true, LastEventID: r.Header.Get("Last-Event-ID")}
	for name := range query {
		if !in.set(name, query) {
			return nil, false
		}
	}
	if len(in.After) > maxPlace || len(in.LastEventID) > maxPlace {
		return nil, false
	}
	return in.understand(session), true
}

// set takes over a parameter, and reports whether it is as it should be.
func (in *EventQuery) set(name string, query url.Values) (ok bool) {
	value := query.Get(name)
	var err error
	switch name {
	case "after":
		in.After = value
	case "live":
		in.Live, err = strconv.ParseBool(value)
	case "messages":
		in.Messages, err = strconv.ParseBool(value)
	case "types":
		for name := range strings.SplitSeq(value, ",") {
			if !typeName().MatchString(name) || len(in.Types) == maxNames {
				return false
			}
			in.Types = append(in.Types, LineType(name))
		}
	case "kinds":
		in.Kinds = strings.Split(value, ",")
		known := kinds()
		return len(in.Kinds) <= maxNames && !slices.ContainsFunc(in.Kinds, func(k string) bool { return !slices.Contains(known, k) })
	default:
		return false
	}
	return err == nil
}

// kinds lists the kinds of events that there are, from the one place where they
// are written down.
func kinds() []string {
	field, _ := reflect.TypeFor[EventQuery]().FieldByName("Kinds")
	return strings.Split(field.Tag.Get("enum"), ",")
}

// wantsStream reports whether a client asks for server-sent events.
func wantsStream(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		kind, _, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(kind), "text/event-stream") {
			return true
		}
	}
	return false
}

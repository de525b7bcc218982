package lines

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// settleTime is how long requests may take to fail after the end of the CLI.
	settleTime = 2 * time.Second
	// maxBody is how long the body of a request may be; a path is 4 KiB at most.
	maxBody = 64 << 10
	// bodyTime is how long it may take to come.
	bodyTime = 10 * time.Second
)

// directRoutes returns the handler of /sessions.
func (s *Server) directRoutes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /sessions", s.guard.Authenticated(s.operation(s.create)))
	mux.Handle("DELETE /sessions/{id}", s.guard.Authenticated(s.operation(s.remove)))
	mux.Handle("GET /sessions/{id}/ws", s.guard.Admitted(http.HandlerFunc(s.serveDirect)))
	mux.HandleFunc("/", notFound)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.ctx.Err() != nil {
			access.WriteProblem(w, closing())
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// operation makes a handler of one that returns an answer. Everything here but
// the WebSocket needs the right admin: it starts and ends processes.
func (s *Server) operation(handle func(r *http.Request, id access.Identity) (status int, answer any, err error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, e := access.Require(r.Context(), wire.ScopeAdmin)
		if e != nil {
			access.WriteProblem(w, e)
			return
		}
		// A client that sends a body sends a small one, and at once.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // not all can
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		status, answer, err := handle(r, id)
		if err != nil {
			access.WriteProblem(w, s.problem(err))
			return
		}
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		if answer == nil {
			w.WriteHeader(status)
			return
		}
		body, err := json.Marshal(answer)
		if err != nil {
			access.WriteProblem(w, s.problem(err))
			return
		}
		h.Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(append(body, '\n')) // the client has gone: nothing to do
	})
}

// notFound answers what there is nothing for.
func notFound(w http.ResponseWriter, r *http.Request) {
	var allowed string
	switch parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/"); {
	case slices.Equal(parts, []string{"sessions"}):
		allowed = http.MethodPost
	case len(parts) == 2 && parts[0] == "sessions":
		allowed = http.MethodDelete
	case len(parts) == 3 && parts[0] == "sessions" && parts[2] == "ws":
		allowed = http.MethodGet
	}
	if allowed != "" && allowed != r.Method {
		w.Header().Set("Allow", allowed)
		access.WriteProblem(w, &api.Error{
			Status: http.StatusMethodNotAllowed, Code: api.CodeInvalid, Title: "This cannot be done here",
			Detail: "The method " + r.Method + " is not " + allowed + ".",
		})
		return
	}
	access.WriteProblem(w, &api.Error{
		Status: http.StatusNotFound, Code: api.CodeNotFound, Title: "There is nothing here",
		Hint: "Direct Connect is at POST /sessions.",
	})
}

// serveDirect answers a request for the WebSocket of a session.
func (s *Server) serveDirect(w http.ResponseWriter, r *http.Request) {
	if d := s.newDirect(w, r); d != nil {
		d.dialect = d
		s.accept(w, r, d.conn)
	}
}

// newDirect returns a client of Direct Connect, or refuses it and returns nil.
func (s *Server) newDirect(w http.ResponseWriter, r *http.Request) *direct {
	id, known := access.From(r.Context())
	c := &conn{id: id, known: known}
	if known {
		if !id.Scopes.Has(wire.ScopeObserve) {
			access.WriteProblem(w, mayNotLook(id))
			return nil
		}
		var err error
		if c.session, err = s.hub.Resolve(r.Context(), r.PathValue("id")); err != nil {
			access.WriteProblem(w, s.problem(err))
			return nil
		}
	}
	return &direct{conn: c, options: &s.options, name: r.PathValue("id")}
}

// A direct is the dialect of Direct Connect.
type direct struct {
	*conn

	// Static after construction.
	options *Options
	name    string // of the session, in the client's words

	driver *hub.Driver    // set by follow
	first  []api.Question // those that are open when the client comes; set by follow

	// Owned by the writing goroutine.
	echoes echoes
	last   *api.Ended // how the last process ended; nil while there is one

	gone atomic.Bool // there is no process any more: a prompt would start another
}

var _ dialect = (*direct)(nil)

// What a client has said ends with its connection: its program is gone, and what the
// CLI asks it is answered for it.
func (d *direct) behavior() *manners {
	timeout := d.options.Direct.WriteTimeout
	return &manners{
		name: "Direct Connect", stall: timeout, silence: d.options.Ping + timeout, textOnly: true, foresees: true, distinct: true,
		ordered: []string{"initialize", "set_permission_mode", "set_model", "set_max_thinking_tokens", "apply_flag_settings", "mcp_set_servers"},
	}
}

func (d *direct) follow(ctx context.Context) (_ Cursor, err error) {
	h := d.server.hub
	if d.session == "" {
		if d.session, err = h.Resolve(ctx, d.name); err != nil {
			return nil, err
		}
	}
	driver, err := h.Join(ctx, d.session)
	if err != nil {
		return nil, err
	}
	cursor, err := d.followAfter(ctx)
	if err != nil {
		driver.Leave()
		return nil, err
	}
	d.driver = driver
	return cursor, nil
}

// followAfter returns a cursor that begins where the client has to be told from.
func (d *direct) followAfter(ctx context.Context) (Cursor, error) {
	after := d.server.claim(d.session)
	if after == "" {
		snapshot, err := d.server.hub.Snapshot(ctx, d.session)
		if err != nil {
			return nil, err
		}
		after, d.first = snapshot.LastEventID, snapshot.Questions
	}
	return d.server.hub.Follow(ctx, d.session, hub.FollowOptions{After: after})
}

// greet shows what is asked at present.
func (d *direct) greet(_ context.Context, to sink, _ func() error) error {
	for i := range d.first {
		q := &d.first[i]
		h, err := wire.Peek(q.Request)
		if err != nil || q.Stale || string(h.Type) != "control_request" || string(h.RequestSubtype) == "hook_callback" {
			continue
		}
		d.view.ask(question{q.Session, q.RequestID})
		to.Line(asText(q.Request))
	}
	d.first = nil
	return nil
}

func (d *direct) event(e *api.Event, s *sight, to sink) bool {
	switch s.kind {
	case sightText:
		return true // clients would not take it
	case sightPrompt:
		// Programs do not expect to be told what they said, either.
		d.echoes.expect(s.id)
	case sightUser:
		return d.echoes.is(s.id)
	case sightProgram:
		if d.driver.Registered() {
			to.Line(s.line)
		}
	case sightWithdrawn:
		if q := (question{e.Session, s.id}); d.view.unask(q) || d.driver.Registered() {
			to.Line(s.line)
		}
		return true
	case sightStarted:
		d.last = nil
		d.gone.Store(false)
	case sightGone:
		d.last = new(api.Ended)
		_ = json.Unmarshal(e.Data, d.last) // then nothing is known of it
	case sightState:
		// A process may end so that another can continue the session. This is noted before
		// the client can react to what it is shown.
		state, _ := wire.LookupString(e.Data, "state")
		d.gone.Store(d.last != nil && api.State(state) == api.StateEnded)
	case sightNothing, sightLine, sightQuestion, sightSettled, sightUp: // as in both dialects
	}
	return false
}

func (*direct) label(_ *api.Event, line []byte) []byte { return line }

func (*direct) resumed(*api.Verdict, sink) {}

func (d *direct) over() bool { return d.gone.Load() }

// leave has the hub answer what the CLI asks this client's program, at once: the CLI
// may wait for it.
func (d *direct) leave() { d.driver.Leave() }

func (*direct) refused(e *api.Error) farewell {
	f := farewell{code: websocket.StatusPolicyViolation, reason: e.Title}
	if e.Status >= http.StatusInternalServerError {
		f.code = websocket.StatusInternalError
	}
	return f
}

func (*direct) restarting(reason string) farewell {
	return farewell{code: websocket.StatusServiceRestart, reason: reason}
}

// ended tells of the end of the process. One that ended in good order is no error to
// the client's program; another is.
func (d *direct) ended() farewell {
	if d.last.Signal == "" && (d.last.Code == nil || *d.last.Code == 0) {
		return farewell{code: websocket.StatusNormalClosure, reason: errOver.Error()}
	}
	return farewell{code: websocket.StatusInternalError, reason: errOver.Error() + ": " + strings.TrimSpace(d.last.Reason)}
}

func (d *direct) submit(ctx context.Context, l *said) ([]byte, error) {
	if l.kind == kindPrompt && d.gone.Load() {
		return nil, api.Errorf(http.StatusConflict, api.CodeEnded, "%s", errOver)
	}
	return d.driver.Submit(ctx, d.by, l.line, d.id.Scopes.Has)
}

// refusal tells the client that a line was refused, in a way that its program takes
// notice of.
func (d *direct) refusal(l *said, e *api.Error) []byte {
	what := "a line"
	if l != nil {
		switch l.kind {
		case kindRequest:
			return failed(l.requestID, e)
		case kindPrompt:
			return refusedPrompt(d.conversation(), e)
		case kindAnswer:
			if e.Code == api.CodeAlreadySettled || e.Code == api.CodeNotFound {
				return nil // the client is told that the question was withdrawn
			}
			what = "an answer"
		case kindOther, kindCancel:
		}
	}
	return refusedLine(d.conversation(), what, e)
}

// conversation returns the CLI's session_id, "" if it is not known.
func (d *direct) conversation() string {
	session, err := d.server.hub.Snapshot(d.ctx, d.session)
	if err != nil {
		return ""
	}
	return session.Conversation
}

package lines

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

// A relay is the dialect of the raw relay.
type relay struct {
	*conn

	// Static after construction.
	wants   string // the session that it asks for, empty for all
	after   string // where to go on
	resumes bool   // it says so

	live map[string]struct{} // sessions that are there, as far as was told; owned by the writing goroutine
}

var _ dialect = (*relay)(nil)

// serveRelay answers a request for the raw relay.
func (s *Server) serveRelay(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") == "" {
		w.Header().Set("Upgrade", "websocket")
		access.WriteProblem(w, &api.Error{
			Status: http.StatusUpgradeRequired, Code: api.CodeInvalid, Title: "This is for WebSockets",
			Hint: "Connect with ws:// or wss://, or use GET /v1/events.",
		})
		return
	}
	if front := s.newRelay(w, r); front != nil {
		front.dialect = front
		s.accept(w, r, front.conn)
	}
}

// newRelay returns a front end of the relay, or refuses it and returns nil.
func (s *Server) newRelay(w http.ResponseWriter, r *http.Request) *relay {
	id, known := access.From(r.Context())
	if !known {
		id, known = s.guard.Open(r)
	}
	if known && !id.Scopes.Has(wire.ScopeObserve) {
		access.WriteProblem(w, mayNotLook(id))
		return nil
	}
	query := r.URL.Query()
	return &relay{conn: &conn{id: id, known: known}, wants: query.Get("session"), after: query.Get("after"), resumes: query.Has("after")}
}

// A front end that does not answer a ping is not cut off for that: one that does not
// read is, when a write has waited for long enough. What it has said before it left
// is done.
func (*relay) behavior() *manners {
	return &manners{name: "relay", stall: relayStall, waits: true, linger: 10 * time.Second}
}

func (r *relay) follow(ctx context.Context) (Cursor, error) {
	o := hub.FollowOptions{After: "now"}
	if r.resumes {
		o.After = r.after
		r.view.replaying = true
	}
	if r.wants == "" {
		return r.server.hub.FollowAll(ctx, o)
	}
	session, err := r.server.hub.Resolve(ctx, r.wants)
	if err != nil {
		return nil, err
	}
	r.session = session
	if r.resumes && r.after != "" {
		r.up(session) // as far as it knew
	}
	return r.server.hub.Follow(ctx, session, o)
}

// live are the states of sessions that have a process.
func live() []api.State {
	return []api.State{api.StateStarting, api.StateIdle, api.StateRunning, api.StateRequiresAction, api.StateBackground, api.StateOffline}
}

// liveSessions returns the sessions that have a process, the most recent first:
// at most so many, all if most is 0.
func (s *Server) liveSessions(ctx context.Context, most int) ([]string, error) {
	var ids []string
	filter := api.SessionFilter{State: live(), Archived: true, Limit: most}
	for {
		list, err := s.hub.List(ctx, filter)
		if err != nil {
			return nil, err
		}
		for i := range list.Sessions {
			ids = append(ids, list.Sessions[i].ID)
		}
		if list.Next == "" || most > 0 && len(ids) >= most {
			return ids, nil
		}
		filter.Cursor = list.Next
	}
}

// greet shows what is there when a front end comes: that the agent is connected, what
// it said last of itself, and what it asks.
func (r *relay) greet(ctx context.Context, to sink) error {
	ids := []string{r.session}
	if r.session == "" {
		var err error
		if ids, err = r.server.liveSessions(ctx, 0); err != nil {
			return err
		}
	}
	for _, id := range ids {
		session, err := r.server.hub.Snapshot(ctx, id)
		if err != nil {
			if e, ok := errors.AsType[*api.Error](err); ok && e.Code == api.CodeNotFound {
				continue // removed meanwhile
			}
			return err
		}
		if !there(session) {
			continue
		}
		r.up(session.ID)
		to.Line(connection(textIsConnected))
		if len(session.Init) > 0 {
			to.Line(asText(session.Init))
		}
		for i := range session.Questions {
			q := &session.Questions[i]
			if h, err := wire.Peek(q.Request); err == nil && q.State == api.QuestionOpen && !q.Stale && h.Is("control_request", "") && isQuestion(string(h.RequestSubtype)) {
				r.view.ask(question{session.ID, q.RequestID})
				to.Line(asText(q.Request))
			}
		}
	}
	return nil
}

// there reports whether a session has a process that has been heard of.
func there(s *api.Session) bool {
	switch s.State {
	case api.StateEnded:
		return false
	case api.StateStarting:
		return s.Linked
	case api.StateIdle, api.StateRunning, api.StateRequiresAction, api.StateBackground, api.StateOffline:
	}
	return s.Run > 0
}

// up notes that a session is there, and reports whether that is news.
func (r *relay) up(session string) bool {
	if _, there := r.live[session]; there {
		return false
	}
	if r.live == nil {
		r.live = map[string]struct{}{}
	}
	r.live[session] = struct{}{}
	return true
}

func (r *relay) event(e *api.Event, s *sight, to sink) bool {
	switch s.kind {
	case sightPrompt:
		if e.By == r.view.me || s.named == nil {
			return false
		}
		to.Line(s.named)
		return true
	case sightUp:
		if r.up(e.Session) {
			to.Line(connection(textConnected))
		}
	case sightGone:
		if _, there := r.live[e.Session]; !there {
			return true
		}
		delete(r.live, e.Session)
		// To front ends this means that nothing is there any more.
		if len(r.live) == 0 {
			to.Line(connection(textDisconnected))
		}
	case sightNothing, sightLine, sightText, sightUser, sightQuestion, sightProgram, sightWithdrawn, sightSettled, sightStarted, sightState: // as in both dialects
	}
	return false
}

func (r *relay) resumed(v *api.Verdict, to sink) {
	if r.resumes {
		to.Line(status{
			Subtype: subtypeResume, Text: resumeText(v.Resume), Session: r.session, Resume: v.Resume, LastEventID: v.LastEventID,
		}.line())
	}
}

func resumeText(verdict string) string {
	switch verdict {
	case "ok":
		return "what you have missed follows"
	case "gap":
		return "some of what you have missed is gone; the rest follows"
	}
	return "this is not the log that you know; all of it follows"
}

func (*relay) over() bool { return false }
func (*relay) leave()     {}

func (r *relay) refused(e *api.Error) farewell {
	f := farewell{code: websocket.StatusPolicyViolation, reason: e.Error()}
	if r.known { // nothing is shown to others but the reason
		f.last = refusal(e, "", r.wants)
	}
	return f
}

func (r *relay) restarting(reason string) farewell {
	f := farewell{code: websocket.StatusServiceRestart, reason: reason}
	if r.known {
		f.last = status{Subtype: subtypeClosing, Text: reason, Code: api.CodeClosing}.line()
	}
	return f
}

func (*relay) ended() farewell { return farewell{code: websocket.StatusNormalClosure} } // it is never over

func (*relay) refusal(l *said, e *api.Error) []byte {
	if l == nil {
		return refusal(e, "", "")
	}
	return refusalOf(l, e)
}

// submit gives a line to the session that it is for.
func (r *relay) submit(ctx context.Context, l *said) ([]byte, error) {
	session, err := r.route(ctx, l)
	if err != nil {
		return nil, err
	}
	l.session = session
	return r.server.hub.Submit(ctx, r.by, session, l.line, r.id.Scopes.Has)
}

// route finds the session that a line is for.
func (r *relay) route(ctx context.Context, l *said) (string, error) {
	if l.kind == kindAnswer && l.requestID != "" {
		sessions, err := r.server.hub.Asked(ctx, l.requestID)
		if err != nil {
			return "", err
		}
		if session, err := r.choose(ctx, l, sessions); session != "" || err != nil {
			return session, err
		}
	}
	if r.session != "" {
		return r.session, nil
	}
	if session, err := r.named(ctx, l); session != "" || err != nil {
		return session, err
	}
	session, err := r.only(ctx)
	if _, ok := errors.AsType[*api.Error](err); ok && l.kind == kindAnswer && l.requestID != "" {
		e := api.Errorf(http.StatusNotFound, api.CodeNotFound, "No open question has this request_id")
		e.Hint = "It may have been answered by someone else, or withdrawn."
		return "", e
	}
	return session, err
}

// choose chooses among the sessions that ask what a line answers. None is not an
// error: the session that the line is for otherwise says which client has answered it.
func (r *relay) choose(ctx context.Context, l *said, sessions []string) (string, error) {
	if r.session != "" {
		return r.session, nil // what others ask is not shown here
	}
	if len(sessions) < 2 {
		return slices.Concat(sessions, []string{""})[0], nil
	}
	session, err := r.named(ctx, l)
	if err == nil && !slices.Contains(sessions, session) {
		e := api.Errorf(http.StatusConflict, api.CodeConflict, "Several sessions ask with this request_id")
		e.Hint = "Say in session_id which one you answer, or connect with ?session=ID."
		return "", e
	}
	return session, err
}

// named returns the session that a line names, empty if it names none. "default" is
// what a client says that does not know.
func (r *relay) named(ctx context.Context, l *said) (string, error) {
	if l.names == "" || l.names == "default" {
		return "", nil
	}
	return r.server.hub.Resolve(ctx, l.names)
}

// only returns the only session that has a process.
func (r *relay) only(ctx context.Context) (string, error) {
	ids, err := r.server.liveSessions(ctx, 2)
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		e := api.Errorf(http.StatusConflict, api.CodeEnded, "No agent is running")
		e.Hint = "Start one, or say in session_id which session is to go on."
		return "", e
	case len(ids) > 1:
		e := api.Errorf(http.StatusConflict, api.CodeConflict, "Several agents are running, and the line does not say for which it is")
		e.Hint = "Say so in session_id, or connect with ?session=ID."
		return "", e
	}
	return ids[0], nil
}

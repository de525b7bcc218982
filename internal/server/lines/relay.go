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

	// Owned by the writing goroutine, once there is one.
	tabs    tabs
	echoes  echoes
	flush   func() error // writes what was shown; set by greet
	greeted bool
	pauses  int // in the greeting
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
	r.tabs.turned = r.breathe
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
	r.session, r.tabs.one = session, true
	if r.resumes && r.after != "" {
		t := r.tabs.of(session)
		t.up, t.told = true, true // as far as it knew
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

// greet shows what is there when a front end comes. Agents that have not said which
// conversation they are in come last.
func (r *relay) greet(ctx context.Context, to sink, flush func() error) error {
	ids := []string{r.session}
	if r.session == "" {
		var err error
		if ids, err = r.server.liveSessions(ctx, 0); err != nil {
			return err
		}
	}
	r.flush = flush
	var nameless []*tab
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
		t := r.tabs.of(session.ID)
		t.run, t.up = session.Run, true
		if conversation := currentConversation(session); conversation != "" {
			t.conversation, t.named = conversation, session.Run
			r.introduceAgent(t, session, to)
		} else {
			nameless = append(nameless, t)
		}
	}
	for _, t := range nameless {
		r.tabs.announce(t, textIsConnected, to)
	}
	r.greeted = true
	return nil
}

const (
	// pagePause is how long a page may take to draw.
	pagePause = 100 * time.Millisecond
	// maxPauses is how often a page is waited for when it is greeted.
	maxPauses = 20
)

// breathe gives a page of the open relay the time to draw what it was shown. There are
// pages that forget a tab which is made while others are drawn, and make it once more
// later. Front ends with a token are not held up.
func (r *relay) breathe() {
	if !r.id.OpenRelay || r.view.replaying {
		return
	}
	if !r.greeted {
		if r.pauses++; r.pauses > maxPauses {
			return
		}
	}
	if r.flush() == nil { // else the next write fails too
		r.server.pause(r.ctx)
	}
}

// wait waits for pagePause, or until ctx ends.
func wait(ctx context.Context) {
	timer := time.NewTimer(pagePause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// introduceAgent shows that an agent is connected, what it said last of itself, and what
// it asks.
func (r *relay) introduceAgent(t *tab, session *api.Session, to sink) {
	r.tabs.announce(t, textIsConnected, to)
	if len(session.Init) > 0 {
		to.Line(asText(session.Init))
	}
	for i := range session.Questions {
		q := &session.Questions[i]
		if h, err := wire.Peek(q.Request); err == nil && q.State == api.QuestionOpen && !q.Stale && h.Is("control_request", "") && isQuestion(string(h.RequestSubtype)) {
			r.view.ask(question{session.ID, q.RequestID})
			to.Line(withConversation(asText(q.Request), t.conversation))
		}
	}
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

func (r *relay) event(e *api.Event, s *sight, to sink) bool {
	switch s.kind {
	case sightPrompt:
		if e.By != r.view.me {
			r.echoes.expect(s.id)
			r.tabs.prompt(e, s.line, to)
		}
		return true
	case sightStarted:
		r.tabs.started(e)
	case sightUp:
		r.tabs.arrived(e.Session, to)
	case sightGone:
		r.tabs.gone(e, to)
	case sightLine, sightUser:
		if s.conversation == "" {
			break
		}
		if r.tabs.name(e, s.conversation, to) {
			// The line that opens a conversation comes first, as the CLI says it.
			if s.opens {
				to.Line(s.line)
			}
			r.tabs.of(e.Session).release(s.conversation, to)
			if s.opens {
				return true
			}
		}
	case sightNothing, sightText, sightQuestion, sightProgram, sightWithdrawn, sightSettled, sightState: // as in both dialects
	}
	return s.kind == sightUser && r.echoes.is(s.id)
}

// label names the conversation in a request of the CLI, or in its end. These are the lines
// in which the CLI does not.
func (r *relay) label(e *api.Event, line []byte) []byte {
	return withConversation(line, r.tabs.open[e.Session].in(e.Run))
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

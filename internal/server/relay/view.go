package relay

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// A question is one that an agent asks, by the CLI's own id for it.
type question struct{ session, request string }

// A stream is one of live lines: that of a session, or of a sub-agent in it.
type stream struct{ session, parent string }

// An audience is who sees what a view shows.
type audience interface {
	// line shows a line.
	line([]byte)
	// mine reports whether a prompt is the front end's own, by its uuid.
	mine(uuid string) bool
	// settled reports whether the front end itself has settled a question, or may
	// yet turn out to have.
	settled(question) bool
}

// A view decides what a front end is shown. It belongs to one goroutine.
type view struct {
	// Static after construction.
	session string // empty for all sessions
	see     func(*api.Event) *sight

	live      map[string]struct{}   // sessions that are there, as far as was told
	asked     map[question]struct{} // questions that were shown and are open
	held      map[stream]struct{}   // streams whose beginning was missed
	replaying bool                  // what was before the front end came is shown
	until     int64                 // the number of the last event of that
}

// newView returns a view of a session, or of all if it is empty.
func newView(session string, see func(*api.Event) *sight) *view {
	return &view{session: session, see: see}
}

// greet shows what is there already: that the agent is connected, what it said
// last of itself, and what it asks.
func (v *view) greet(s *api.Session, to audience) {
	if !there(s) {
		return
	}
	v.up(s.ID)
	to.line(connection(textIsConnected))
	if len(s.Init) > 0 {
		to.line(asText(s.Init))
	}
	for i := range s.Questions {
		q := &s.Questions[i]
		if q.State != api.QuestionOpen || q.Stale {
			continue
		}
		h, err := wire.Peek(q.Request)
		if err != nil || !h.Is("control_request", "") || !isQuestion(string(h.RequestSubtype)) {
			continue
		}
		v.ask(question{s.ID, q.RequestID})
		to.line(asText(q.Request))
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

// up notes that a session is there, and reports whether that is news.
func (v *view) up(session string) bool {
	if _, there := v.live[session]; there {
		return false
	}
	if v.live == nil {
		v.live = map[string]struct{}{}
	}
	v.live[session] = struct{}{}
	return true
}

// ask notes that a question is shown, and reports whether it was not before.
func (v *view) ask(q question) bool {
	if _, there := v.asked[q]; there {
		return false
	}
	if v.asked == nil {
		v.asked = map[question]struct{}{}
	}
	v.asked[q] = struct{}{}
	return true
}

// frame shows a frame of the stream of events.
func (v *view) frame(f *api.Frame, to audience) {
	switch f.Type {
	case api.FrameLive:
		v.replaying = false
		if len(v.held) == 0 || v.begun(f.Event) {
			to.line(lineOf(f.Event))
		}
	case api.FrameEvent:
		v.event(f.Event, to)
		if v.replaying {
			v.replaying = numberOf(cmp.Or(f.Position, f.Event.ID)) < v.until
		}
	case api.FramePartial:
		v.hold(f.Partial)
		v.replaying = false
	case api.FrameResume:
		if v.replaying {
			v.until = numberOf(f.Resume.LastEventID)
			to.line(status{
				Subtype: subtypeResume, Text: resumeText(f.Resume.Resume), Session: v.session,
				Resume: f.Resume.Resume, LastEventID: f.Resume.LastEventID,
			}.line())
		}
	case api.FrameClosing, api.FrameHeartbeat: // the connection has its own
	}
}

// numberOf returns the number in the id of an event or in a position.
func numberOf(id string) int64 {
	_, number, _ := strings.Cut(id, ":")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0
	}
	return n
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

// event shows an event of the log.
func (v *view) event(e *api.Event, to audience) {
	s := v.see(e)
	switch s.kind {
	case sightNothing:
	case sightLine:
		to.line(s.line)
	case sightPrompt:
		if !to.mine(s.id) {
			to.line(s.line)
		}
	case sightQuestion:
		if v.ask(question{e.Session, s.id}) {
			to.line(s.line)
		}
	case sightWithdrawn:
		q := question{e.Session, s.id}
		if _, shown := v.asked[q]; shown {
			delete(v.asked, q)
			to.line(s.line)
		}
	case sightSettled:
		q := question{e.Session, s.id}
		_, shown := v.asked[q]
		delete(v.asked, q)
		// Who goes on where it left off may have been shown it back then.
		if own := to.settled(q); own || !shown && !v.replaying {
			return
		}
		if b, err := wire.NewCancel(s.id); err == nil {
			to.line(b)
		}
	case sightUp:
		if v.up(e.Session) {
			to.line(connection(textConnected))
		}
	case sightGone:
		if _, there := v.live[e.Session]; !there {
			return
		}
		delete(v.live, e.Session)
		// To front ends this means that nothing is there any more.
		if len(v.live) == 0 {
			to.line(connection(textDisconnected))
		}
	}
}

// hold notes what a session is writing of which the beginning was not shown. A
// front end could make nothing of the rest, or worse, a text with a hole.
func (v *view) hold(p *api.Partials) {
	for k := range v.held {
		if k.session == p.Session {
			delete(v.held, k)
		}
	}
	for i := range p.Messages {
		if v.held == nil {
			v.held = map[stream]struct{}{}
		}
		v.held[stream{p.Session, p.Messages[i].ParentToolUseID}] = struct{}{}
	}
}

// begun reports whether a live line may be shown: all but those of messages whose
// beginning was missed.
func (v *view) begun(e *api.Event) bool {
	if !v.holds(e.Session) {
		return true
	}
	h, err := wire.Peek(e.Line)
	if err != nil || string(h.Type) != "stream_event" {
		return true
	}
	k := stream{e.Session, string(h.ParentToolUseID)}
	if _, held := v.held[k]; !held {
		return true
	}
	event, _ := wire.Lookup(e.Line, "event")
	if kind, _ := wire.LookupString(event, "type"); kind != "message_start" {
		return false
	}
	delete(v.held, k)
	return true
}

// holds reports whether something of a session is held.
func (v *view) holds(session string) bool {
	for k := range v.held {
		if k.session == session {
			return true
		}
	}
	return false
}

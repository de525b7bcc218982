package lines

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

// A sink takes the lines that a client is shown; a *[wsconn.Batch] is one.
type sink interface{ Line(line []byte) }

// A view decides what a client is shown, as far as that is the same in both dialects.
// It belongs to one goroutine.
type view struct {
	// Static after init.
	dialect  dialect
	me       string // what the client's own doings are signed with
	foresees bool   // see manners
	see      func(*api.Event) *sight

	asked     map[question]struct{} // questions that were shown and are open
	held      map[stream]struct{}   // streams whose beginning was missed
	replaying bool                  // what was before the client came is shown
	until     int64                 // the number of the last event of that
}

func (v *view) init(d dialect, me string, foresees bool, see func(*api.Event) *sight) {
	v.dialect, v.me, v.foresees, v.see = d, me, foresees, see
}

// show shows frames of the stream of events.
func (v *view) show(frames []api.Frame, to sink) {
	var settled map[question]struct{}
	if v.foresees {
		settled = v.settledIn(frames)
	}
	for i := range frames {
		switch f := &frames[i]; f.Type {
		case api.FrameLive:
			v.replaying = false
			if len(v.held) == 0 || v.begun(f.Event) {
				to.Line(lineOf(f.Event))
			}
		case api.FrameEvent:
			v.event(f.Event, settled, to)
			if v.replaying {
				v.replaying = numberOf(cmp.Or(f.Position, f.Event.ID)) < v.until
			}
		case api.FramePartial:
			v.hold(f.Partial)
			v.replaying = false
		case api.FrameResume:
			if v.replaying {
				v.until = numberOf(f.Resume.LastEventID)
			}
			v.dialect.resumed(f.Resume, to)
		case api.FrameClosing, api.FrameHeartbeat: // the connection has its own
		}
	}
}

// settledIn returns the questions that are settled in some frames by others: one that
// a rule has answered already is none for people.
func (v *view) settledIn(frames []api.Frame) (settled map[question]struct{}) {
	for i := range frames {
		f := &frames[i]
		if f.Type != api.FrameEvent || f.Event.Kind != api.KindQuestionSettled {
			continue
		}
		if s := v.see(f.Event); s.by != v.me {
			if settled == nil {
				settled = map[question]struct{}{}
			}
			settled[question{f.Event.Session, s.id}] = struct{}{}
		}
	}
	return settled
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

// event shows an event of the log.
func (v *view) event(e *api.Event, settled map[question]struct{}, to sink) {
	s := v.see(e)
	if v.dialect.event(e, s, to) {
		return
	}
	q := question{e.Session, s.id}
	switch s.kind {
	case sightLine, sightText, sightUser:
		to.Line(s.line)
	case sightPrompt:
		if e.By != v.me {
			to.Line(s.line)
		}
	case sightQuestion:
		if _, over := settled[q]; !over && v.ask(q) {
			to.Line(v.dialect.label(e, s.line))
		}
	case sightWithdrawn:
		if v.unask(q) {
			to.Line(v.dialect.label(e, s.line))
		}
	case sightSettled:
		// A client that goes on where it left off may have been shown it back then.
		if shown := v.unask(q); s.by == v.me || !shown && !v.replaying {
			return
		}
		if b, err := wire.NewCancel(s.id); err == nil {
			to.Line(v.dialect.label(e, b))
		}
	case sightNothing, sightProgram, sightUp, sightStarted, sightGone, sightState:
	}
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

// unask notes that a question is not open any more, and reports whether it was shown.
func (v *view) unask(q question) bool {
	_, shown := v.asked[q]
	delete(v.asked, q)
	return shown
}

// hold notes what a session is writing of which the beginning was not shown. A
// client could make nothing of the rest, or worse, a text with a hole: it goes on with
// the next message, and gets this one when it is whole.
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

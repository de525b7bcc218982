package direct

import (
	"encoding/json"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// A view turns the events of a session into the lines that one client is shown.
// One goroutine uses it.
type view struct {
	// Static after construction.
	me         string      // what the client's own doings are signed with
	registered func() bool // whether the CLI's requests to its program are for the client

	asked        map[string]bool // request ids of questions that the client was shown and that are open
	echoes       []string        // uuids of prompts whose echo is still to come
	broken       map[string]bool // messages of which the client has missed a part, by parent
	conversation string          // the CLI's session_id
	ended        *api.Ended      // how the last process ended; nil while there is one
	over         bool            // there is none any more
}

func newView(me string, registered func() bool) *view {
	return &view{me: me, registered: registered, asked: map[string]bool{}, broken: map[string]bool{}}
}

// maxEchoes is how many prompts may wait for their echo. There are more only if
// their CLI writes none.
const maxEchoes = 1024

// lines appends what a client is shown of some frames.
func (v *view) lines(list [][]byte, frames []api.Frame) [][]byte {
	// A question that a rule has answered already is none for people.
	var settled map[string]bool
	for _, frame := range frames {
		if q := question(frame); q != nil && q.By != v.me {
			if settled == nil {
				settled = map[string]bool{}
			}
			settled[q.RequestID] = true
		}
	}
	for _, frame := range frames {
		switch frame.Type {
		case api.FrameEvent, api.FrameLive:
			if line := v.line(frame.Event, settled); line != nil {
				list = append(list, line)
			}
		case api.FramePartial:
			// The client has no way to be told a text anew. It goes on with the next
			// message; this one it gets when it is whole.
			clear(v.broken)
			for _, m := range frame.Partial.Messages {
				v.broken[m.ParentToolUseID] = true
			}
		case api.FrameResume, api.FrameClosing, api.FrameHeartbeat:
		}
	}
	return list
}

// question returns the question that a frame says is settled.
func question(frame api.Frame) *api.Question {
	if frame.Type != api.FrameEvent || frame.Event.Kind != api.KindQuestionSettled {
		return nil
	}
	var q api.Question
	if json.Unmarshal(frame.Event.Data, &q) != nil {
		return nil
	}
	return &q
}

// line returns the line that a client is shown of an event, nil for none.
func (v *view) line(e *api.Event, settled map[string]bool) []byte {
	switch e.Kind {
	case api.KindLine, api.KindLive:
		return v.written(e.Line, settled)
	case api.KindSent:
		return v.sent(e)
	case api.KindQuestionSettled:
		return v.withdraw(e)
	case api.KindRunStarted:
		v.ended, v.over = nil, false
	case api.KindRunEnded:
		v.ended = new(api.Ended)
		_ = json.Unmarshal(e.Data, v.ended) // then nothing is known of it
	case api.KindState:
		// A process may end so that another can go on with the session.
		state, _ := wire.LookupString(e.Data, "state")
		v.over = v.ended != nil && api.State(state) == api.StateEnded
	}
	return nil
}

// written returns what the CLI wrote if it is for the client.
func (v *view) written(line []byte, settled map[string]bool) []byte {
	if len(line) == 0 {
		return nil // no JSON: clients would not take it
	}
	h, err := wire.Peek(line)
	if err != nil {
		return nil
	}
	if len(h.SessionID) > 0 {
		v.conversation = string(h.SessionID)
	}
	switch string(h.Type) {
	case "control_response":
		return nil // the client's own requests are answered by the hub
	case "control_request":
		return v.request(line, h, settled)
	case "control_cancel_request":
		delete(v.asked, string(h.RequestID))
	case "user":
		if v.isEcho(string(h.UUID)) {
			return nil
		}
	case "stream_event":
		if parent := string(h.ParentToolUseID); v.broken[parent] {
			event, _ := wire.Lookup(line, "event")
			if kind, _ := wire.LookupString(event, "type"); kind != "message_start" {
				return nil
			}
			delete(v.broken, parent)
		}
	}
	return line
}

// ownHook is what the ids of the hub's own hooks begin with.
const ownHook = "switchboard-"

// request returns a request of the CLI's if it is for the client: questions are
// for everybody, the rest for who has said in initialize that it takes them.
func (v *view) request(line []byte, h wire.Header, settled map[string]bool) []byte {
	id := string(h.RequestID)
	switch string(h.RequestSubtype) {
	case "can_use_tool", "elicitation", "request_user_dialog":
		if settled[id] {
			return nil
		}
		v.asked[id] = true
		return line
	case "hook_callback":
		request, _ := wire.Lookup(line, "request")
		if callback, _ := wire.LookupString(request, "callback_id"); strings.HasPrefix(callback, ownHook) {
			return nil
		}
	}
	if !v.registered() {
		return nil
	}
	return line
}

// open returns the question of a snapshot as the CLI asked it.
func (v *view) open(q *api.Question) []byte {
	h, err := wire.Peek(q.Request)
	if err != nil || q.Stale || string(h.Type) != "control_request" || string(h.RequestSubtype) == "hook_callback" {
		return nil
	}
	v.asked[q.RequestID] = true
	return q.Request
}

// sent returns a prompt of somebody else.
func (v *view) sent(e *api.Event) []byte {
	h, err := wire.Peek(e.Line)
	if err != nil || string(h.Type) != "user" {
		return nil
	}
	// The CLI repeats prompts that it has taken. Programs do not expect to be
	// told twice, nor to be told what they said.
	if len(h.UUID) > 0 {
		if len(v.echoes) == maxEchoes {
			v.echoes = v.echoes[1:]
		}
		v.echoes = append(v.echoes, string(h.UUID))
	}
	if e.By == v.me {
		return nil
	}
	return e.Line
}

// isEcho reports whether a line repeats a prompt.
func (v *view) isEcho(uuid string) bool {
	for i, one := range v.echoes {
		if one == uuid {
			v.echoes = append(v.echoes[:i:i], v.echoes[i+1:]...)
			return true
		}
	}
	return false
}

// withdraw returns the line that withdraws a question which the client was shown
// and which somebody else has settled.
func (v *view) withdraw(e *api.Event) []byte {
	q := question(api.Frame{Type: api.FrameEvent, Event: e})
	if q == nil || !v.asked[q.RequestID] {
		return nil
	}
	delete(v.asked, q.RequestID)
	if q.By == v.me {
		return nil
	}
	line, err := json.Marshal(struct {
		Type      string `json:"type"`
		RequestID string `json:"request_id"`
	}{"control_cancel_request", q.RequestID})
	if err != nil {
		return nil // every text can be written
	}
	return line
}

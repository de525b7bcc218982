package lines

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// A sightKind says what an event means to clients.
type sightKind uint8

const (
	sightNothing   sightKind = iota // not for clients
	sightLine                       // a line of the CLI that is shown as it is
	sightText                       // likewise, but it is no line of the protocol
	sightUser                       // a message of the user that the CLI repeats, or the output of a command
	sightQuestion                   // a request of the CLI that a person answers
	sightProgram                    // a request that the program answers that drives the CLI
	sightWithdrawn                  // the CLI takes a request back
	sightPrompt                     // a prompt that was sent to the CLI
	sightSettled                    // a question was settled
	sightUp                         // the agent is there
	sightStarted                    // its process was started
	sightGone                       // its process is gone
	sightState                      // its state has changed
)

// A sight is what clients see of an event. It is the same for all of them.
type sight struct {
	event *api.Event
	kind  sightKind
	// line is what is shown.
	line []byte
	// id is the request's id, or the uuid of a message.
	id string
	// by is the actor that has settled a question.
	by string
	// conversation is the session_id of a line of the CLI, opens says that the line opens a
	// turn in it.
	conversation string
	opens        bool
}

// see finds out what clients see of an event.
func see(e *api.Event) *sight {
	v := &sight{event: e}
	switch e.Kind {
	case api.KindLive:
		v.kind, v.line = sightLine, lineOf(e)
	case api.KindLine:
		v.line = lineOf(e)
		v.kind = sightText
		if e.Line == nil {
			return v
		}
		h, err := wire.Peek(e.Line)
		if err != nil {
			return v
		}
		v.kind, v.id = kindOfLine(e.Line, h), string(h.RequestID)
		if v.kind == sightUser {
			v.id = string(h.UUID)
		}
		// The result of a resume that failed names a conversation that never was.
		if !h.Is("result", "") && len(h.SessionID) <= maxConversation {
			v.conversation, v.opens = string(h.SessionID), h.Is("system", "init")
		}
	case api.KindSent:
		h, err := wire.Peek(e.Line)
		if err != nil || string(h.Type) != "user" {
			return v
		}
		v.kind, v.line, v.id = sightPrompt, lineOf(e), string(h.UUID)
	case api.KindQuestionSettled:
		if id, ok := wire.LookupString(e.Data, "request_id"); ok {
			v.kind, v.id = sightSettled, id
			v.by, _ = wire.LookupString(e.Data, "by")
		}
	case api.KindLinkUp:
		v.kind = sightUp
	case api.KindRunStarted:
		v.kind = sightStarted
	case api.KindRunEnded:
		v.kind = sightGone
	case api.KindState:
		v.kind = sightState
	}
	return v
}

// maxConversation is the longest session_id that front ends are told sessions apart by.
// Those of CLIs have 36 characters.
const maxConversation = 256

// ownHook is what the ids of the hub's own hooks begin with.
const ownHook = "switchboard-"

// kindOfLine returns what a line of a CLI means to clients. Answers are for the one that
// asked, which the hub gives them to.
func kindOfLine(line []byte, h wire.Header) sightKind {
	switch string(h.Type) {
	case "control_request":
		if isQuestion(string(h.RequestSubtype)) {
			return sightQuestion
		}
		if string(h.RequestSubtype) == "hook_callback" {
			request, _ := wire.Lookup(line, "request")
			if callback, _ := wire.LookupString(request, "callback_id"); strings.HasPrefix(callback, ownHook) {
				return sightNothing
			}
		}
		return sightProgram
	case "control_response", "keep_alive":
		return sightNothing
	case "control_cancel_request":
		return sightWithdrawn
	case "user":
		return sightUser
	}
	return sightLine
}

// isQuestion reports whether a request of a CLI is one that people answer.
func isQuestion(subtype string) bool {
	switch subtype {
	case "can_use_tool", "elicitation", "request_user_dialog":
		return true
	}
	return false
}

// lineOf returns an event's line.
func lineOf(e *api.Event) []byte {
	line := []byte(e.Line)
	switch {
	case e.Line != nil:
	case e.Text != "":
		return []byte(e.Text)
	default:
		line = e.Base64
	}
	return asText(line)
}

// asText returns a line as it can be shown. A text message must be UTF-8: a browser
// gives up a connection on which it is not, so a byte that is none becomes U+FFFD.
func asText(line []byte) []byte {
	if utf8.Valid(line) {
		return line
	}
	return bytes.ToValidUTF8(line, []byte("\ufffd"))
}

const (
	// maxSights is how many events a sightCache holds.
	maxSights = 1024
	// maxSightBytes is the longest event that it holds. Longer ones would keep much
	// memory from being freed, and are rare.
	maxSightBytes = 8 << 10
)

// A sightCache holds what clients see of the newest lines of the log: cursors
// that keep up give all clients the same event, whose header is then read once,
// and not once for each client. Live lines are not in it, since there is nothing
// to find out about them. The zero value is ready to use.
type sightCache struct {
	mu    sync.Mutex
	known map[*api.Event]*sight
	ring  [maxSights]*api.Event // the keys of known, oldest at next once it is full
	next  int
}

// cached reports whether the cache holds events of that kind and length.
func cached(e *api.Event) bool {
	return (e.Kind == api.KindLine || e.Kind == api.KindSent) && len(e.Line)+len(e.Text)+len(e.Base64) <= maxSightBytes
}

// get returns what is held of an event, or nil.
func (c *sightCache) get(e *api.Event) *sight {
	if !cached(e) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[e]
}

// put adds what is seen of an event, in place of the oldest if the cache is full.
func (c *sightCache) put(v *sight) {
	if !cached(v.event) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.known[v.event]; there {
		return
	}
	if c.known == nil {
		c.known = map[*api.Event]*sight{}
	}
	if old := c.ring[c.next]; old != nil {
		delete(c.known, old)
	}
	c.known[v.event], c.ring[c.next] = v, v.event
	c.next = (c.next + 1) % maxSights
}

package shim

import (
	"time"

	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/wire"
)

// An arrival is a line of the CLI with what [route] has to know of its header.
type arrival struct {
	line      []byte
	class     wire.Class
	typ       []byte // parts of line
	eventType []byte
	stream    string // the tool call of the sub-agent that the line is from
}

func arrivalOf(line []byte, h *wire.Header, class wire.Class) arrival {
	return arrival{line: line, class: class, typ: h.Type, eventType: h.EventType, stream: string(h.ParentToolUseID)}
}

// route appends a line of the CLI to what goes to the hub. Stream events are
// kept from the beginning of their message to its end, so that a hub that comes
// later can rebuild what is being written; a turn's end ends all of them.
func route(out *link.Outgoing, a *arrival) {
	if a.class != wire.Live {
		out.Add(link.Line, a.line)
		if string(a.typ) == "result" {
			out.SettleAll()
		}
		return
	}
	if string(a.typ) != "stream_event" {
		out.AddLive(a.line, "", false)
		return
	}
	switch string(a.eventType) {
	case "message_start":
		out.Settle(a.stream)
		out.AddLive(a.line, a.stream, true)
	case "message_stop":
		out.AddLive(a.line, a.stream, true)
		out.Settle(a.stream)
	default:
		out.AddLive(a.line, a.stream, true)
	}
}

// maxOpen bounds how many requests of the CLI are remembered.
const maxOpen = 1024

// A tracker knows, in the simplest way, whether a CLI is at rest: when it wrote
// last, whether it waits for an answer, and whether it is in the middle of a
// turn, in which a tool may run for hours without a line.
type tracker struct {
	last time.Time
	busy bool
	open map[string]struct{} // ids of requests
}

// line notes that the CLI wrote something.
func (t *tracker) line(now time.Time) { t.last = now }

// wrote notes what it wrote.
func (t *tracker) wrote(line []byte, h wire.Header) {
	switch string(h.Type) {
	case "user", "assistant", "stream_event":
		// Those of sub-agents may come when the turn is over, and go on without one.
		t.busy = t.busy || len(h.ParentToolUseID) == 0
	case "result":
		t.busy = false
	case "system":
		if string(h.Subtype) != "session_state_changed" {
			return
		}
		if m, err := wire.Decode(line); err == nil {
			if told, ok := m.(*wire.SessionStateChanged); ok {
				t.busy = told.State != wire.SessionStateIdle
			}
		}
	case "control_request":
		if t.open == nil {
			t.open = make(map[string]struct{})
		}
		if len(t.open) < maxOpen {
			t.open[string(h.RequestID)] = struct{}{}
		}
	case "control_cancel_request":
		delete(t.open, string(h.RequestID))
	}
}

// answered notes what was written to the CLI.
func (t *tracker) answered(h wire.Header) {
	switch string(h.Type) {
	case "user":
		t.busy = true
	case "control_response":
		delete(t.open, string(h.RequestID))
	}
}

// ended notes that the CLI is no more.
func (t *tracker) ended(now time.Time) { t.last, t.busy, t.open = now, false, nil }

// idle reports whether the CLI does nothing and waits for nothing, and when it
// wrote last.
func (t *tracker) idle() (bool, time.Time) { return !t.busy && len(t.open) == 0, t.last }

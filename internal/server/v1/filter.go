package v1

import (
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// deltas is the type of the lines that a message grows by.
const deltas = "stream_event"

// A filter says which events a client wants. The zero value is for all. It is
// not shared, and never changed.
type filter struct {
	kinds    []string // of events; all if empty
	types    []string // of the CLI's lines; all if empty
	messages bool     // only the conversation
}

// all reports whether nothing is left out.
func (f *filter) all() bool { return len(f.kinds) == 0 && len(f.types) == 0 && !f.messages }

// live reports whether deltas and partial messages may be among what is wanted,
// so that a client that does not want them does not have the hub collect them.
func (f *filter) live() bool { return len(f.kinds) == 0 || slices.Contains(f.kinds, api.KindLive) }

// frame reports whether a frame is wanted. Those that are about the stream itself
// always are.
func (f *filter) frame(frame *api.Frame) bool {
	switch {
	case f.all():
		return true
	case frame.Event != nil:
		return f.event(frame.Event)
	case frame.Partial != nil:
		// It stands for the deltas before it.
		return f.live() && (len(f.types) == 0 || slices.Contains(f.types, deltas))
	}
	return true
}

// event reports whether an event is wanted.
func (f *filter) event(e *api.Event) bool {
	if len(f.kinds) > 0 && !slices.Contains(f.kinds, e.Kind) {
		return false
	}
	switch e.Kind {
	case api.KindLine, api.KindHistory, api.KindLive, api.KindSent:
		return f.line(e)
	}
	return !f.messages || conversational(e.Kind)
}

// line reports whether a line of the CLI, or to it, is wanted.
func (f *filter) line(e *api.Event) bool {
	if len(f.types) == 0 && !f.messages {
		return true
	}
	header, err := wire.Peek(e.Line)
	if err != nil {
		return false // it has no type
	}
	if len(f.types) > 0 && !slices.Contains(f.types, string(header.Type)) {
		return false
	}
	if !f.messages {
		return true
	}
	switch string(header.Type) {
	case "user", "assistant", "result":
		return e.Kind != api.KindSent // the event "message" tells of it already
	case deltas:
		return e.Kind == api.KindLive
	}
	return false
}

// conversational reports whether an event of the hub belongs to what people call
// the conversation. A gap does: its reader must not take what is left for the
// whole. So does a turn without a result.
func conversational(kind string) bool {
	switch kind {
	case api.KindQuestionOpened, api.KindQuestionChanged, api.KindQuestionSettled, api.KindMessage, api.KindState, api.KindGap, api.KindTurn:
		return true
	}
	return false
}

// page leaves out of a page what is not wanted. Where it goes on stays as it is.
func (f *filter) page(p *api.EventPage) {
	if f.all() {
		return
	}
	p.Events = slices.DeleteFunc(p.Events, func(e api.Event) bool { return !f.event(&e) })
}

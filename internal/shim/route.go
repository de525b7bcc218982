package shim

import (
	"bytes"
	"encoding/json"

	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/wire"
)

// route appends a line of the CLI to what goes to the hub. Stream events are
// kept from the beginning of their message to its end, so that a hub that comes
// later can rebuild what is being written; a turn's end ends all of them.
func route(out *link.Outgoing, line []byte, h wire.Header, class wire.Class) {
	if class != wire.Live {
		out.Add(link.Line, line)
		if string(h.Type) == "result" {
			out.SettleAll()
		}
		return
	}
	if string(h.Type) != "stream_event" {
		out.AddLive(line, "", false)
		return
	}
	stream := string(h.ParentToolUseID)
	switch eventType(line) {
	case "message_start":
		out.Settle(stream)
		out.AddLive(line, stream, true)
	case "message_stop":
		out.AddLive(line, stream, true)
		out.Settle(stream)
	default:
		out.AddLive(line, stream, true)
	}
}

// boundary is part of the names of the events that begin and end a message.
var boundary = []byte("message_st")

// eventType returns the type of a stream event if it begins or ends a message.
// Nearly all do not, and are not decoded to see that.
func eventType(line []byte) string {
	if !bytes.Contains(line, boundary) {
		return ""
	}
	var m struct {
		Event struct {
			Type string `json:"type"`
		} `json:"event"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return ""
	}
	return m.Event.Type
}

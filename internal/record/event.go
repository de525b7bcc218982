package record

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// EventID returns the id of an entry.
func EventID(epoch string, seq int64) string {
	b := make([]byte, 0, 64) // more than any has
	return string(strconv.AppendInt(append(append(b, epoch...), ':'), seq, 10))
}

// ParseEventID splits an id.
func ParseEventID(id string) (epoch string, seq int64, ok bool) {
	epoch, number, found := strings.Cut(id, ":")
	if !found || epoch == "" {
		return "", 0, false
	}
	seq, err := strconv.ParseInt(number, 10, 64)
	return epoch, seq, err == nil && seq >= 0
}

// The verdicts.
const (
	ResumeOK    = "ok"
	ResumeGap   = "gap"
	ResumeReset = "reset"
)

// Place returns the number of the last event that a client has which names an id,
// and how that relates to the log.
func Place(after, epoch string, last int64) (seq int64, verdict string) {
	switch after {
	case "":
		return 0, ResumeOK
	case "now":
		return last, ResumeOK
	}
	named, seq, ok := ParseEventID(after)
	if !ok || named != epoch || seq > last {
		return 0, ResumeReset
	}
	return seq, ResumeOK
}

// Event returns an entry as the interface shows it. The event shares the
// entry's bytes.
func Event(e *journal.Entry, epoch string) *api.Event {
	event := LineEvent(e, epoch, nil)
	return &event
}

// LineEvent is Event for an entry whose line was folded, unless line is nil.
func LineEvent(e *journal.Entry, epoch string, line *fold.Line) api.Event {
	event := api.Event{
		ID: EventID(epoch, e.Seq), Session: e.Session, Run: e.Run, Seq: e.Seq, Time: e.Time, Source: string(e.Source), By: e.By, Kind: e.Kind, Data: e.Data,
	}
	switch {
	case line != nil:
		SetLine(&event, line)
	case e.Kind == api.KindSent:
		setLine(&event, ShownLine(e.Line))
	case e.Line != nil:
		setLine(&event, e.Line)
	}
	switch e.Kind {
	case api.KindCreated:
		var d Created
		if json.Unmarshal(e.Data, &d) == nil && hasSecrets(&d.Options) {
			d.Options = ShownOptions(d.Options)
			event.Data = encoded(d)
		}
	case api.KindRunStarted:
		var d RunStarted
		if json.Unmarshal(e.Data, &d) == nil && d.Options != nil {
			options := ShownOptions(*d.Options)
			d.Options = &options
			event.Data = encoded(d)
		}
	}
	return event
}

// setLine puts a line into an event: as JSON, or else as text or bytes.
func setLine(event *api.Event, line []byte) {
	_, err := wire.Peek(line)
	switch {
	case err == nil && wire.Valid(line):
		event.Line = line
	case utf8.Valid(line):
		event.Text = string(line)
	default:
		event.Base64 = line
	}
}

// SetLine puts a line that was folded, and so checked, into an event.
func SetLine(event *api.Event, line *fold.Line) {
	if line.Valid() {
		event.Line = line.Raw
		return
	}
	setLine(event, line.Raw)
}

// ShownOptions returns a session's options without what may hold secrets of its
// user: environments and headers of MCP servers, settings, variables, raw flags.
func ShownOptions(o api.SessionOptions) api.SessionOptions {
	o.MCPServers, o.Settings, o.Env, o.ExtraArgs = nil, nil, nil, nil
	return o
}

// hasSecrets reports whether options hold what ShownOptions leaves out.
func hasSecrets(o *api.SessionOptions) bool {
	return o.MCPServers != nil || o.Settings != nil || o.Env != nil || o.ExtraArgs != nil
}

// hidden stands for what may be a secret.
const hidden = `"hidden"`

// ShownLine returns a line to the CLI without what may hold secrets of its user:
// the same as ShownOptions leaves out. Of variables, servers and settings the names
// are shown, and of settings what they permit.
func ShownLine(line []byte) []byte {
	h, err := wire.Peek(line)
	if err != nil {
		return line
	}
	var member string
	switch subtype := string(h.RequestSubtype); {
	case string(h.Type) == "update_environment_variables":
		return encoded(map[string]any{"type": "update_environment_variables", "variables": namesIn(line, "variables")})
	case string(h.Type) != "control_request":
		return line
	case subtype == "mcp_set_servers":
		member = "servers"
	case subtype == "apply_flag_settings":
		member = "settings"
	default:
		return line
	}
	request, _ := wire.Lookup(line, "request")
	if !hides(request, member) {
		return line // byte for byte, as everything else
	}
	return encoded(map[string]any{
		"type": "control_request", "request_id": string(h.RequestID),
		"request": map[string]any{"subtype": string(h.RequestSubtype), member: namesIn(request, member)},
	})
}

// hides reports whether a member of a request holds what is not shown: anything but
// what settings permit.
func hides(request []byte, member string) bool {
	raw, _ := wire.Lookup(request, member)
	values := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &values) != nil {
		return true
	}
	for name := range values {
		if member != "settings" || name != "permissions" {
			return true
		}
	}
	return false
}

// namesIn returns the names in a member that is an object.
func namesIn(object []byte, member string) map[string]json.RawMessage {
	raw, _ := wire.Lookup(object, member)
	values := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &values) != nil {
		return nil
	}
	for name := range values {
		if member != "settings" || name != "permissions" {
			values[name] = json.RawMessage(hidden)
		}
	}
	return values
}

// encoded returns a value of plain data as JSON.
func encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return raw
}

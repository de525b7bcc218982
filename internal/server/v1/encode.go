package v1

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// appendEvent appends an event as JSON. It says what encoding/json would, but
// copies the line as it is, byte for byte, and needs no memory of its own: this
// is what most of the server's output goes through.
func appendEvent(b []byte, e *api.Event) []byte { return appendBody(appendHead(b, e), e) }

// appendEvents is an [hub.Encoder]. Live lines that were shown together have the same
// head, which is encoded once.
func appendEvents(b []byte, ends []int, events []api.Event) ([]byte, []int) {
	from, to := 0, 0 // the head of the event before
	for i := range events {
		e, start := &events[i], len(b)
		if i > 0 && sameHead(e, &events[i-1]) {
			b = append(b, b[from:to]...)
		} else {
			b = appendHead(b, e)
		}
		from, to = start, len(b)
		b = appendBody(b, e)
		ends = append(ends, len(b))
	}
	return b, ends
}

// sameHead reports whether appendHead appends the same for two events.
func sameHead(a, b *api.Event) bool {
	return a.ID == b.ID && a.Seq == b.Seq && a.Time == b.Time && a.Run == b.Run && a.Session == b.Session && a.Source == b.Source && a.By == b.By && a.Kind == b.Kind
}

// appendHead appends the members of an event that do not tell what it says.
func appendHead(b []byte, e *api.Event) []byte {
	b = append(b, '{')
	if e.ID != "" {
		b = append(appendString(append(b, `"id":`...), e.ID), ',')
	}
	b = appendString(append(b, `"session":`...), e.Session)
	if e.Run != 0 {
		b = strconv.AppendInt(append(b, `,"run":`...), int64(e.Run), 10)
	}
	if e.Seq != 0 {
		b = strconv.AppendInt(append(b, `,"seq":`...), e.Seq, 10)
	}
	if !e.Time.IsZero() {
		b = append(b, `,"time":"`...)
		b = append(e.Time.AppendFormat(b, time.RFC3339Nano), '"')
	}
	if e.Source != "" {
		b = appendString(append(b, `,"source":`...), e.Source)
	}
	if e.By != "" {
		b = appendString(append(b, `,"by":`...), e.By)
	}
	return appendString(append(b, `,"kind":`...), e.Kind)
}

// appendBody appends the others, and the end.
func appendBody(b []byte, e *api.Event) []byte {
	if len(e.Line) > 0 {
		b = append(append(b, `,"line":`...), e.Line...)
	}
	if e.Text != "" {
		b = appendString(append(b, `,"text":`...), e.Text)
	}
	if len(e.Base64) > 0 {
		b = append(b, `,"base64":"`...)
		b = append(base64.StdEncoding.AppendEncode(b, e.Base64), '"')
	}
	if len(e.Data) > 0 {
		b = append(append(b, `,"data":`...), e.Data...)
	}
	if e.After != 0 {
		b = strconv.AppendInt(append(b, `,"after":`...), e.After, 10)
	}
	return append(b, '}')
}

// appendString appends a JSON string.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= 0x7f {
			quoted, _ := json.Marshal(s) // a string always can be
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// appendPage appends a page of events as JSON.
func appendPage(b []byte, p *api.EventPage) []byte {
	b = appendString(append(b, `{"resume":`...), p.Resume)
	b = append(b, `,"events":[`...)
	for i := range p.Events {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendEvent(b, &p.Events[i])
	}
	b = append(b, ']')
	if p.Next != "" {
		b = appendString(append(b, `,"next":`...), p.Next)
	}
	if p.More {
		b = append(b, `,"more":true`...)
	}
	return append(b, '}')
}

// appendText appends an event as JSON. If other followers are shown it too, it was encoded
// for all of them; text is its own then. plain says that it is UTF-8 and has no line break;
// else it may be so.
func appendText(b []byte, e *api.Event, text hub.Text) (_ []byte, plain bool) {
	if json, plain := text.JSON(appendEvents); json != nil {
		return append(b, json...), plain
	}
	return appendEvent(b, e), false
}

// appendFrame appends a frame as a server-sent event, with an event as appendText does.
func appendFrame(b []byte, f *api.Frame, text hub.Text) ([]byte, error) {
	b = append(append(append(b, "event: "...), f.Type...), '\n')
	if id := placeOf(f); id != "" {
		start := len(b)
		b = append(append(b, "id: "...), id...)
		onOneLine(b[start:])
		b = append(b, '\n')
	}
	b = append(b, "data: "...)
	start := len(b)
	switch {
	case f.Event != nil:
		var plain bool
		if b, plain = appendText(b, f.Event, text); !plain {
			onOneLine(b[start:])
		}
	default:
		payload, err := json.Marshal(payloadOf(f))
		if err != nil {
			return b, err
		}
		b = append(b, payload...)
	}
	return append(b, "\n\n"...), nil
}

// placeOf returns what a client names to go on after a frame, if it can.
func placeOf(f *api.Frame) string {
	switch {
	case f.Type != api.FrameEvent || f.Event == nil:
		return ""
	case f.Position != "":
		return f.Position
	}
	return f.Event.ID
}

// appendMessage appends a frame as JSON: what encoding/json would say, with the
// line as it is, unless that is not UTF-8: a browser would hang up. An event is appended
// as appendText does.
func appendMessage(b []byte, f *api.Frame, text hub.Text) ([]byte, error) {
	if f.Event == nil {
		whole, err := json.Marshal(f)
		if err != nil {
			return b, err
		}
		return append(b, whole...), nil
	}
	b = appendMessageHead(b, f)
	start := len(b)
	b, plain := appendText(b, f.Event, text)
	if !plain && !utf8.Valid(b[start:]) {
		b = append(b[:start], bytes.ToValidUTF8(b[start:], []byte("\uFFFD"))...)
	}
	if f.Position != "" {
		b = appendString(append(b, `,"position":`...), f.Position)
	}
	return append(b, '}'), nil
}

// appendMessageHead appends what stands before the event of a message.
func appendMessageHead(b []byte, f *api.Frame) []byte {
	return append(appendString(append(b, `{"type":`...), string(f.Type)), `,"event":`...)
}

func payloadOf(f *api.Frame) any {
	switch {
	case f.Resume != nil:
		return f.Resume
	case f.Partial != nil:
		return f.Partial
	default:
		return api.Closing{Reason: f.Reason}
	}
}

// onOneLine makes line breaks to spaces. In JSON they only stand between tokens,
// where the two mean the same; in a stream a carriage return ends a line too.
// Should the text be no JSON after all, it cannot break out of its place.
func onOneLine(b []byte) {
	for _, c := range []byte{'\r', '\n'} {
		for rest := b; ; {
			i := bytes.IndexByte(rest, c)
			if i < 0 {
				break
			}
			rest[i] = ' '
			rest = rest[i+1:]
		}
	}
}

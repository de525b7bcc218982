package wire

import (
	"bytes"
	"fmt"
)

// A Header is what routing, storing and counting need to know of a line. Its
// fields are parts of the line itself, so they live as long as the line's bytes
// do; a member that is missing, or is not a string, gives nil.
type Header struct {
	// Type is the member "type".
	Type []byte
	// Subtype is the member "subtype" (of system and result lines).
	Subtype []byte
	// UUID is the line's own id.
	UUID []byte
	// SessionID is the CLI's id of the conversation.
	SessionID []byte
	// RequestID is the id of the control request that the line is, answers or
	// withdraws, wherever it stands: beside "type", or inside "response" (where
	// a control_response has it) or "request".
	RequestID []byte
	// RequestSubtype is the subtype inside "request" or "response".
	RequestSubtype []byte
	// ParentToolUseID is the tool call of the sub-agent that the line is from.
	ParentToolUseID []byte
	// Event is the member "event" as it stands in the line, of whatever kind it is:
	// what a stream_event line is about. See Delta.
	Event []byte
	// EventType is the type inside "event".
	EventType []byte
	// Error is the member "error": of an assistant line, that its text is not the
	// model's but tells of a failure.
	Error []byte
	// Supersedes reports whether there is a member "supersedes": the line takes back
	// others.
	Supersedes bool
	// ContextUsage reports whether there is a member "context_usage": how full the
	// context is, and how large.
	ContextUsage bool

	said AssistantPeek // read of the member "message"; see Assistant
}

// Is reports whether the line is of the type and subtype given; an empty
// subtype matches any.
func (h Header) Is(typ, subtype string) bool {
	return string(h.Type) == typ && (subtype == "" || string(h.Subtype) == subtype)
}

// Equal reports whether two headers say the same. A member that is missing is not
// one that is empty.
func (h Header) Equal(o Header) bool {
	for _, of := range [][2][]byte{
		{h.Type, o.Type},
		{h.Subtype, o.Subtype},
		{h.UUID, o.UUID},
		{h.SessionID, o.SessionID},
		{h.RequestID, o.RequestID},
		{h.RequestSubtype, o.RequestSubtype},
		{h.ParentToolUseID, o.ParentToolUseID},
		{h.Event, o.Event},
		{h.EventType, o.EventType},
		{h.Error, o.Error},
		{h.said.Model, o.said.Model},
		{h.said.text.raw, o.said.text.raw},
	} {
		if (of[0] == nil) != (of[1] == nil) || !bytes.Equal(of[0], of[1]) {
			return false
		}
	}
	return h.ContextUsage == o.ContextUsage && h.Supersedes == o.Supersedes && h.said.Tokens == o.said.Tokens
}

// Clone returns a copy that does not share memory with the line.
func (h Header) Clone() Header {
	return Header{
		Type:            bytes.Clone(h.Type),
		Subtype:         bytes.Clone(h.Subtype),
		UUID:            bytes.Clone(h.UUID),
		SessionID:       bytes.Clone(h.SessionID),
		RequestID:       bytes.Clone(h.RequestID),
		RequestSubtype:  bytes.Clone(h.RequestSubtype),
		ParentToolUseID: bytes.Clone(h.ParentToolUseID),
		Event:           bytes.Clone(h.Event),
		EventType:       bytes.Clone(h.EventType),
		Error:           bytes.Clone(h.Error),
		Supersedes:      h.Supersedes,
		ContextUsage:    h.ContextUsage,
		said:            h.said.clone(),
	}
}

// inner is what is peeked inside "request" or "response".
type inner struct {
	subtype, requestID []byte
}

// Peek reads a line's header in one pass. It finds members in any order, takes
// names literally (case counts, escapes are resolved) and lets the last of
// several equal names win, as the CLI does. It allocates only to resolve an
// escape. Values that it does not need are skipped without being checked: a
// line that Peek accepts may still be malformed inside them.
func Peek(line []byte) (h Header, err error) {
	i := skipSpace(line, 0)
	if i == len(line) || line[i] != '{' {
		return h, ErrNotObject
	}
	var request, response inner
	var outerID []byte
	value, end := i, i // where the last value begins, and the index behind it
	name, i := firstMember(line, i)
	for name != nil {
		value = i
		switch string(name) {
		case "type":
			h.Type, i = peekString(line, i)
		case "subtype":
			h.Subtype, i = peekString(line, i)
		case "uuid":
			h.UUID, i = peekString(line, i)
		case "session_id":
			h.SessionID, i = peekString(line, i)
		case "request_id":
			outerID, i = peekString(line, i)
		case "parent_tool_use_id":
			h.ParentToolUseID, i = peekString(line, i)
		case "error":
			h.Error, i = peekString(line, i)
		case "context_usage":
			h.ContextUsage = true
			i = skipValue(line, i)
		case "message":
			i = h.said.peek(line, i)
		case "supersedes":
			h.Supersedes = true
			i = skipValue(line, i)
		case "event":
			if h.EventType, i = peekType(line, i); i >= 0 {
				h.Event = line[value:i]
			}
		case "request":
			i = request.peek(line, i)
		case "response":
			i = response.peek(line, i)
		default:
			i = skipValue(line, i)
		}
		end = i
		name, i = nextMember(line, i)
	}
	if i < 0 {
		return Header{}, peekError(line, value, end, i)
	}
	if i = skipSpace(line, i); i != len(line) {
		return Header{}, fmt.Errorf("reading the header: %w, found more behind it at byte %d", ErrNotObject, i+1)
	}
	// Which of the places that may hold a request id counts depends on the type.
	near, far := &request, &response
	if string(h.Type) == "control_response" {
		near, far = far, near
		outerID = either(near.requestID, outerID)
	}
	h.RequestID = either(outerID, either(near.requestID, far.requestID))
	h.RequestSubtype = either(near.subtype, far.subtype)
	return h, nil
}

func either(a, b []byte) []byte {
	if a != nil {
		return a
	}
	return b
}

// peekString returns the string at b[i], nil for any other value, and the index
// behind it.
func peekString(b []byte, i int) (s []byte, end int) {
	if i >= len(b) || b[i] != '"' {
		return nil, skipValue(b, i)
	}
	end, escaped := scanString(b, i)
	if end < 0 {
		return nil, end
	}
	if s = b[i+1 : end-1]; escaped {
		s = unescape(s)
	}
	return s, end
}

// A quoted is a string as it stands in a line.
type quoted struct {
	raw     []byte // without its quotes; nil if it is not a string
	escaped bool   // there is an escape in it
}

// peekQuoted returns the string at b[i], with nil for any other value, and the index
// behind it.
func peekQuoted(b []byte, i int) (s quoted, end int) {
	if i >= len(b) || b[i] != '"' {
		return s, skipValue(b, i)
	}
	if end, s.escaped = scanString(b, i); end > 0 {
		s.raw = b[i+1 : end-1]
	}
	return s, end
}

// peekType returns the member "type" of the object at b[i], and the index behind
// that.
func peekType(b []byte, i int) (typ []byte, end int) {
	name, i := firstMember(b, i)
	for name != nil {
		if string(name) == "type" {
			typ, i = peekString(b, i)
		} else {
			i = skipValue(b, i)
		}
		name, i = nextMember(b, i)
	}
	return typ, i
}

// peek reads the object at b[i] and returns the index behind it.
func (in *inner) peek(b []byte, i int) int {
	*in = inner{} // of several, the last counts
	name, i := firstMember(b, i)
	for name != nil {
		switch string(name) {
		case "subtype":
			in.subtype, i = peekString(b, i)
		case "request_id":
			in.requestID, i = peekString(b, i)
		default:
			i = skipValue(b, i)
		}
		name, i = nextMember(b, i)
	}
	return i
}

// peekError tells what is wrong behind the value that begins and ends at these
// indexes, or in it; both are those of the opening brace if there is none.
func peekError(line []byte, value, end, index int) error {
	at := value
	if end >= 0 {
		// The name of the next member, if there is to be one.
		if i := skipSpace(line, end); i < len(line) && (line[i] == ',' || end == value) {
			at = skipSpace(line, i+1)
		}
	}
	return fmt.Errorf("reading the header at byte %d: %w", at+1, scanError(index))
}

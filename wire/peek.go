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
}

// Is reports whether the line is of the type and subtype given; an empty
// subtype matches any.
func (h Header) Is(typ, subtype string) bool {
	return string(h.Type) == typ && (subtype == "" || string(h.Subtype) == subtype)
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
func Peek(line []byte) (Header, error) {
	var h Header
	i := skipSpace(line, 0)
	if i == len(line) || line[i] != '{' {
		return h, ErrNotObject
	}
	var (
		request, response inner
		outerID           []byte
		done              bool
		err               error
	)
	if i = skipSpace(line, i+1); i < len(line) && line[i] == '}' {
		i, done = i+1, true
	}
	for !done {
		name, escaped, value, err := scanMember(line, i)
		if err != nil {
			return h, peekError(i, err)
		}
		if escaped {
			name = unescape(name)
		}
		switch string(name) {
		case "type":
			h.Type, i, err = peekString(line, value)
		case "subtype":
			h.Subtype, i, err = peekString(line, value)
		case "uuid":
			h.UUID, i, err = peekString(line, value)
		case "session_id":
			h.SessionID, i, err = peekString(line, value)
		case "request_id":
			outerID, i, err = peekString(line, value)
		case "parent_tool_use_id":
			h.ParentToolUseID, i, err = peekString(line, value)
		case "request":
			request, i, err = peekInner(line, value)
		case "response":
			response, i, err = peekInner(line, value)
		default:
			i, err = skipValue(line, value)
		}
		if err != nil {
			return h, peekError(value, err)
		}
		if i, done, err = nextMember(line, i); err != nil {
			return h, peekError(value, err)
		}
	}
	if i = skipSpace(line, i); i != len(line) {
		return h, peekError(i, fmt.Errorf("%w, found more behind it", ErrNotObject))
	}
	h.RequestID, h.RequestSubtype = placeRequest(h.Type, outerID, request, response)
	return h, err
}

// placeRequest decides which of the places that may hold a request id counts.
func placeRequest(typ, outerID []byte, request, response inner) (id, subtype []byte) {
	if string(typ) == "control_response" {
		return first(response.requestID, outerID, request.requestID), first(response.subtype, request.subtype)
	}
	return first(outerID, request.requestID, response.requestID), first(request.subtype, response.subtype)
}

func first(candidates ...[]byte) []byte {
	for _, c := range candidates {
		if c != nil {
			return c
		}
	}
	return nil
}

// peekString returns the string at b[i], nil for any other value, and the index
// behind it.
func peekString(b []byte, i int) ([]byte, int, error) {
	if i >= len(b) || b[i] != '"' {
		end, err := skipValue(b, i)
		return nil, end, err
	}
	end, escaped, err := skipString(b, i)
	if err != nil {
		return nil, 0, err
	}
	s := b[i+1 : end-1]
	if escaped {
		s = unescape(s)
	}
	return s, end, nil
}

// peekInner reads the subtype and the request id of the object at b[i].
func peekInner(b []byte, i int) (in inner, end int, err error) {
	if i >= len(b) || b[i] != '{' {
		end, err = skipValue(b, i)
		return in, end, err
	}
	if i = skipSpace(b, i+1); i < len(b) && b[i] == '}' {
		return in, i + 1, nil
	}
	for done := false; !done; {
		name, escaped, value, err := scanMember(b, i)
		if err != nil {
			return in, 0, err
		}
		if escaped {
			name = unescape(name)
		}
		switch string(name) {
		case "subtype":
			in.subtype, i, err = peekString(b, value)
		case "request_id":
			in.requestID, i, err = peekString(b, value)
		default:
			i, err = skipValue(b, value)
		}
		if err != nil {
			return in, 0, err
		}
		if i, done, err = nextMember(b, i); err != nil {
			return in, 0, err
		}
	}
	return in, i, nil
}

func peekError(at int, err error) error {
	return fmt.Errorf("reading the header at byte %d: %w", at+1, err)
}

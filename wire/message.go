package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A DecodeError reports a line that is not a message.
type DecodeError struct {
	// Line is the line's number, from 1; zero if it is not known.
	Line int
	// Err says what was expected.
	Err error
}

// Error names the line and what was expected.
func (e *DecodeError) Error() string {
	if e.Line == 0 {
		return "decoding a line: " + e.Err.Error()
	}
	return fmt.Sprintf("decoding line %d: %v", e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *DecodeError) Unwrap() error { return e.Err }

// Decode turns a line into a message. Any JSON object is one: what the protocol
// table does not know becomes [*Unknown], a member that has no field, or does
// not fit it, is kept in Extra. The line is copied. The error, if the line is not
// a JSON object, is a [*DecodeError].
func Decode(line []byte) (Message, error) {
	return DecodeShared(bytes.Clone(line))
}

// DecodeShared is [Decode] without the copy: the line must not be changed as long
// as the message is in use.
func DecodeShared(line []byte) (Message, error) {
	if i := skipSpace(line, 0); i < len(line) && line[i] == '{' {
		if d := newDecoder(line); d != nil {
			defer d.done()
			return decodeMessage(d, d.root()), nil
		}
	}
	return nil, &DecodeError{Err: checkObject(line)}
}

// checkObject returns an error that says where and why a line is not one
// complete JSON object.
func checkObject(line []byte) error {
	i := skipSpace(line, 0)
	switch {
	case i == len(line):
		return fmt.Errorf("%w, found nothing", ErrNotObject)
	case line[i] != '{':
		return fmt.Errorf("%w, found one that begins with %q", ErrNotObject, line[i:min(i+12, len(line))])
	case Valid(line):
		return nil
	}
	var syntax *json.SyntaxError
	dec := json.NewDecoder(bytes.NewReader(line))
	var v json.RawMessage
	if err := dec.Decode(&v); errors.As(err, &syntax) {
		return fmt.Errorf("%w: %w at byte %d", ErrNotObject, err, syntax.Offset)
	} else if err != nil {
		return fmt.Errorf("%w: %w", ErrNotObject, err)
	}
	return fmt.Errorf("%w, found more behind it at byte %d", ErrNotObject, dec.InputOffset()+1)
}

// Encode returns a message as a line without its line end. What was decoded and
// not changed since is written with the bytes that it was decoded from.
func Encode(m Message) ([]byte, error) {
	if m == nil || isNil(m) {
		return nil, errors.New("encoding a line: expected a message, found nil")
	}
	line, err := encodeObject(m)
	if err != nil {
		typ, _ := m.MessageType()
		return nil, fmt.Errorf("encoding a %s line: %w", typ, err)
	}
	return line, nil
}

// Header returns what can be known of a line of an unknown type.
func (v *Unknown) Header() Header {
	h, _ := Peek(v.raw) // it was an object, or it would not have been decoded
	return h
}

// A Decoder reads messages from a CLI's output.
type Decoder struct {
	lines *LineReader
}

// NewDecoder returns a decoder of the lines of r, which may be as long as
// [DefaultMaxLine].
func NewDecoder(r io.Reader) *Decoder { return &Decoder{lines: NewLineReader(r, 0)} }

// Next returns the next message. A [*DecodeError] or [*LineTooLongError] names
// the line and does not end the stream; io.EOF does.
func (d *Decoder) Next() (Message, error) {
	line, err := d.lines.Next()
	if err != nil {
		return nil, err
	}
	m, err := Decode(line)
	if bad, ok := errors.AsType[*DecodeError](err); ok {
		bad.Line = d.lines.Line()
	}
	return m, err
}

// Answer is the success body of a control request. The set of types behind it
// is closed; the body of a request that the table does not know, or that has no
// shape of its own, is an [*UnknownAnswer].
type Answer interface {
	object
	// Raw returns the bytes that the value was decoded from, nil if it was built.
	Raw() json.RawMessage
	// Extra returns a member that no field holds, or nil.
	Extra(name string) json.RawMessage
	// ExtraNames returns the names that Extra knows.
	ExtraNames() []string
	answer()
}

// UnknownAnswer is an answer without a type of its own.
type UnknownAnswer struct {
	Source
}

func (*UnknownAnswer) answer()                                {}
func (*UnknownAnswer) setMember(*decoder, []byte, value) bool { return false }
func (*UnknownAnswer) appendMembers(*encoder)                 {}
func (*UnknownAnswer) fresh() object                          { return new(UnknownAnswer) }

// UnmarshalJSON keeps the value as it is.
func (v *UnknownAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON returns the value as it was decoded.
func (v UnknownAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// DecodeAnswer decodes the success body of a request by the request's subtype.
// A body that is missing, as many are, is an empty answer. The answer to
// can_use_tool is not one of these, see [DecodePermission].
func DecodeAnswer(subtype string, body json.RawMessage) (Answer, error) {
	if len(body) == 0 || isNull(body) {
		body = json.RawMessage("{}")
	}
	if err := checkObject(body); err != nil {
		return nil, fmt.Errorf("decoding the answer to %s: %w", subtype, err)
	}
	a := newAnswer(subtype)
	if a == nil {
		a = new(UnknownAnswer)
	}
	if err := decodeInto(a, bytes.Clone(body)); err != nil {
		return nil, fmt.Errorf("decoding the answer to %s: %w", subtype, err)
	}
	return a, nil
}

// DecodePermission decodes the body of an answer to can_use_tool.
func DecodePermission(body json.RawMessage) (PermissionResult, error) {
	if err := checkObject(body); err != nil {
		return nil, fmt.Errorf("decoding a permission answer: %w", err)
	}
	d := newDecoder(bytes.Clone(body))
	defer d.done()
	return decodePermissionResult(d, d.root()), nil
}

// A Direction says which end sends something.
type Direction int

// The directions.
const (
	// FromCLI is what the CLI writes.
	FromCLI Direction = iota + 1
	// ToCLI is what the CLI reads.
	ToCLI
	// BothWays is what either side may send.
	BothWays
)

// requestSpec is what the table says of a control request besides its shape.
type requestSpec struct {
	direction Direction
	scope     Scope
	required  []string
}

// A Class says how long a line from a CLI lives.
type Class int

// The classes.
const (
	// Durable lines are kept for good.
	Durable Class = iota + 1
	// Live lines (token deltas, progress) are for clients that follow at this
	// moment; what they say comes again in a durable one.
	Live
	// Consumed lines mean nothing beyond the connection they came on.
	Consumed
)

// String returns the class in lower case.
func (c Class) String() string {
	switch c {
	case Durable:
		return "durable"
	case Live:
		return "live"
	case Consumed:
		return "consumed"
	}
	return "unknown"
}

// ClassOf returns the class of a line from a CLI by its header. A line that is
// not known is durable: nothing is lost because it is new.
func ClassOf(h Header) Class { return classOf(string(h.Type), string(h.Subtype)) }

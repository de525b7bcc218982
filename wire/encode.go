package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
)

// encoder gathers the members of one object.
type encoder struct {
	list []member
	err  error
	// asDecoded makes it write the values inside with the bytes that they were
	// decoded from: it is gathering what an object was, not what it is.
	asDecoded bool
	// decoded holds what has been decoded again during one call of encodeObject,
	// by the first byte of its text.
	decoded map[*byte]object
}

// presence says what to write for a field that holds its zero value.
type presence int

const (
	always   presence = iota // the zero value itself
	optional                 // nothing
	nullable                 // null
)

func (e *encoder) raw(name string, raw []byte) { e.list = append(e.list, member{name, raw}) }

// absent handles a zero value; it returns true when the value is dealt with.
func (e *encoder) absent(name string, zero bool, p presence) bool {
	if !zero || p == always {
		return false
	}
	if p == nullable {
		e.raw(name, []byte("null"))
	}
	return true
}

// put adds a field; enc writes its value.
func put[T any](e *encoder, name string, v T, zero bool, p presence, enc func(*encoder, T) []byte) {
	if !e.absent(name, zero, p) {
		e.raw(name, enc(e, v))
	}
}

func encString[T ~string](_ *encoder, v T) []byte { return appendString(nil, string(v)) }

func encInt(_ *encoder, v int64) []byte { return strconv.AppendInt(nil, v, 10) }

func encNum(e *encoder, v float64) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		e.err = err
		return []byte("null")
	}
	return b
}

func encBool(_ *encoder, v bool) []byte { return strconv.AppendBool(nil, v) }

func encRaw(e *encoder, v json.RawMessage) []byte {
	if len(v) == 0 {
		return []byte("null")
	}
	if !e.asDecoded && !json.Valid(v) {
		e.err = errors.New("expected valid JSON in a free-form value")
		return []byte("null")
	}
	if bytes.IndexByte(v, '\n') < 0 {
		return v
	}
	// A line break would end the line in the middle of the value.
	var b bytes.Buffer
	if err := json.Compact(&b, v); err != nil {
		e.err = err
	}
	return b.Bytes()
}

func encPointer[T any](enc func(*encoder, T) []byte) func(*encoder, *T) []byte {
	return func(e *encoder, v *T) []byte {
		if v == nil {
			return []byte("null")
		}
		return enc(e, *v)
	}
}

func encList[T any](enc func(*encoder, T) []byte) func(*encoder, []T) []byte {
	return func(e *encoder, list []T) []byte {
		b := []byte{'['}
		for i, v := range list {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, enc(e, v)...)
		}
		return append(b, ']')
	}
}

func encMap[T any](enc func(*encoder, T) []byte) func(*encoder, map[string]T) []byte {
	return func(e *encoder, m map[string]T) []byte {
		names := make([]string, 0, len(m))
		for name := range m {
			names = append(names, name)
		}
		slices.Sort(names)
		b := []byte{'{'}
		for i, name := range names {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, name), ':')
			b = append(b, enc(e, m[name])...)
		}
		return append(b, '}')
	}
}

func encStruct[T any, P objectPointer[T]](e *encoder, v T) []byte { return e.object(P(&v)) }

// encUnion writes a value behind one of the sealed interfaces.
func encUnion[T any](e *encoder, v T) []byte {
	o, ok := any(v).(object)
	if !ok || isNil(o) {
		return []byte("null")
	}
	return e.object(o)
}

// isNil reports whether there is no value behind an interface, or a nil pointer.
func isNil(o object) bool { return o == nil || reflect.ValueOf(o).IsNil() }

func (e *encoder) object(o object) []byte {
	if raw := o.source().raw; e.asDecoded && raw != nil {
		e.decoded[&raw[0]] = o
		return raw
	}
	b, err := encodeValue(o, e.decoded)
	if err != nil {
		e.err = err
		return []byte("null")
	}
	return b
}

// encodeObject writes a value, on one line. What was decoded and not changed
// since is written with the very bytes it was decoded from, so that nothing is
// lost: not a member that this package does not know, not the difference between
// null and absent, not the form of a number.
func encodeObject(o object) ([]byte, error) {
	if isNil(o) {
		return nil, errors.New("expected a value, found nil")
	}
	b, err := encodeValue(o, map[*byte]object{})
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(b, '\n') < 0 {
		return bytes.Clone(b), nil // it may be the value's own raw bytes
	}
	// Values that did not come from a line may have line breaks between tokens.
	var line bytes.Buffer
	if err := json.Compact(&line, b); err != nil {
		return nil, fmt.Errorf("putting a value on one line: %w", err)
	}
	return line.Bytes(), nil
}

// encodeValue returns the text of a value; it may be part of the value's own raw
// bytes. To know what has changed it decodes those again. It does so once: what
// that gives for the values inside is kept in decoded.
func encodeValue(o object, decoded map[*byte]object) ([]byte, error) {
	raw := o.source().raw
	if raw == nil {
		now, err := fieldsOf(o, &encoder{decoded: decoded})
		if err != nil {
			return nil, err
		}
		return appendObject(nil, now), nil
	}
	was := decoded[&raw[0]]
	if was == nil || reflect.TypeOf(was) != reflect.TypeOf(o) {
		was = decodeAgain(o, raw)
	}
	if was == nil {
		return raw, nil
	}
	before, err := fieldsOf(was, &encoder{asDecoded: true, decoded: decoded})
	if err != nil {
		return nil, err
	}
	now, err := fieldsOf(o, &encoder{decoded: decoded})
	if err != nil {
		return nil, err
	}
	if slices.EqualFunc(before, now, func(a, b member) bool { return a.name == b.name && bytes.Equal(a.raw, b.raw) }) {
		return raw, nil
	}
	old, err := members(raw)
	if err != nil {
		return nil, fmt.Errorf("reading the bytes of a decoded value again: %w", err)
	}
	return appendObject(nil, merge(old, before, now)), nil
}

// decodeAgain returns what o was made from raw. It is nil if raw is not an object
// or nested too deep: o then has no fields that could have changed.
func decodeAgain(o object, raw []byte) object {
	was := o.fresh()
	if decodeInto(was, raw) != nil {
		return nil
	}
	return was
}

// merge replaces in old what differs between before and now.
func merge(old, before, now []member) []member {
	was, is, seen := index(before), index(now), index(old)
	out := make([]member, 0, len(old))
	for _, m := range old {
		b, had := was[m.name]
		n, has := is[m.name]
		switch {
		case had == has && bytes.Equal(b, n):
			out = append(out, m)
		case has:
			out = append(out, member{m.name, n})
		}
	}
	for _, m := range now {
		if _, there := seen[m.name]; there {
			continue
		}
		if b, had := was[m.name]; !had || !bytes.Equal(b, m.raw) {
			out = append(out, m)
		}
	}
	return out
}

func index(list []member) map[string][]byte {
	at := make(map[string][]byte, len(list))
	for _, m := range list {
		at[m.name] = m.raw
	}
	return at
}

func fieldsOf(o object, e *encoder) ([]member, error) {
	o.appendMembers(e)
	return e.list, e.err
}

func appendObject(b []byte, list []member) []byte {
	b = append(b, '{')
	for i, m := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, m.name), ':')
		b = append(b, m.raw...)
	}
	return append(b, '}')
}

// appendString writes a JSON string. Unlike encoding/json it leaves <, > and &
// alone; like it, it escapes the two line separators that some readers take for
// line ends.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = append(b, s[start:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, '\\', 'n')
			case '\r':
				b = append(b, '\\', 'r')
			case '\t':
				b = append(b, '\\', 't')
			default:
				b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
			b = append(b, s[start:i]...)
			b = fmt.Appendf(b, `\u%04x`, r)
			start = i + size
		}
		i += size
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

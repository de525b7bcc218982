package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"unicode/utf8"
)

// Source is part of every decoded value: the bytes it was made from, and the
// members that none of its fields holds. A value that was built and not decoded
// has an empty one.
type Source struct {
	raw   json.RawMessage
	extra []member
}

// Raw returns the bytes that the value was decoded from, or nil. For a line
// they are the line itself, byte for byte. They must not be changed.
func (s *Source) Raw() json.RawMessage { return s.raw }

// Extra returns the raw value of a member that no field of the type holds, or
// whose value does not fit its field; nil if there is none of that name.
func (s *Source) Extra(name string) json.RawMessage {
	for _, m := range s.extra {
		if m.name == name {
			return m.raw
		}
	}
	return nil
}

// ExtraNames returns the names of the members that Extra knows, in the order in
// which they stand in the line. They are what a newer CLI says that this package
// does not know yet.
func (s *Source) ExtraNames() []string {
	names := make([]string, len(s.extra))
	for i, m := range s.extra {
		names[i] = m.name
	}
	return names
}

func (s *Source) source() *Source { return s }

// member is one name and value of an object; the name's escapes are resolved.
type member struct {
	name string
	raw  []byte
}

// object is what the generated types implement.
type object interface {
	source() *Source
	// setMember stores a value in the field for name. It returns false if there
	// is no such field or the value does not fit.
	setMember(d *decoder, name []byte, raw value) bool
	// appendMembers adds the fields, in the table's order.
	appendMembers(e *encoder)
	// fresh returns a new value of the same type.
	fresh() object
}

// members returns the members of a valid JSON object. Of equal names the last
// value counts, in the place of the first, as in JavaScript.
func members(raw []byte) (list []member, err error) {
	i := skipSpace(raw, 0)
	if i == len(raw) || raw[i] != '{' {
		return nil, ErrNotObject
	}
	name, i := firstMember(raw, i)
	for name != nil {
		value := i
		if i = skipValue(raw, i); i >= 0 {
			list = append(list, member{string(name), raw[value:i]})
		}
		name, i = nextMember(raw, i)
	}
	if i < 0 {
		return nil, scanError(i)
	}
	return dropDuplicates(list), nil
}

// dropDuplicates keeps the last value of each name. Objects are small, except
// for those that mean harm: hence the map from a size on.
func dropDuplicates(list []member) []member {
	const small = 24
	if len(list) <= small {
		out := list[:0]
		for _, m := range list {
			if i := slices.IndexFunc(out, func(o member) bool { return o.name == m.name }); i >= 0 {
				out[i].raw = m.raw
				continue
			}
			out = append(out, m)
		}
		return out
	}
	at := make(map[string]int, len(list))
	out := list[:0]
	for _, m := range list {
		if i, ok := at[m.name]; ok {
			out[i].raw = m.raw
			continue
		}
		at[m.name] = len(out)
		out = append(out, m)
	}
	return out
}

// elements returns the elements of a valid JSON array.
func elements(raw []byte) ([][]byte, bool) {
	i := skipSpace(raw, 0)
	if i == len(raw) || raw[i] != '[' {
		return nil, false
	}
	list := [][]byte{}
	i, more := firstElement(raw, i)
	for more {
		element := i
		if i = skipValue(raw, i); i >= 0 {
			list = append(list, raw[element:i])
		}
		i, more = nextElement(raw, i)
	}
	if i < 0 {
		return nil, false
	}
	return list, true
}

// lookup returns the raw value of a member of an object, nil if raw is not an
// object or has no such member.
func lookup(raw []byte, name string) (found []byte) {
	each, i := firstMember(raw, skipSpace(raw, 0))
	for each != nil {
		value := i
		if i = skipValue(raw, i); i >= 0 && string(each) == name {
			found = raw[value:i]
		}
		each, i = nextMember(raw, i)
	}
	if i < 0 {
		return nil
	}
	return found
}

// lookupString returns a member's value if it is a string, else "".
func lookupString(raw []byte, name string) string {
	if raw = lookup(raw, name); isString(raw) {
		return text(raw)
	}
	return ""
}

// maxDepth is how deep the values of an object may be nested for it to be
// decoded. Decoding looks at a value once per level, so that a line made for the
// purpose could cost hours; what a CLI writes is nowhere near.
const maxDepth = 500

// unmarshal checks and decodes JSON text; the generated UnmarshalJSON methods
// call it. By the convention of encoding/json, null leaves the value alone.
func unmarshal(v object, data []byte) error {
	if !json.Valid(data) {
		return errors.New("expected valid JSON")
	}
	if data = bytes.Trim(data, " \t\r\n"); isNull(data) {
		return nil
	}
	return decodeInto(v, bytes.Clone(data))
}

func isNull(raw []byte) bool { return len(raw) == 4 && raw[0] == 'n' }

func isString(raw []byte) bool { return len(raw) >= 2 && raw[0] == '"' }

func isObject(raw []byte) bool { return len(raw) >= 2 && raw[0] == '{' }

// text returns the value of a JSON string.
func text(raw []byte) string {
	inside := raw[1 : len(raw)-1]
	if bytes.IndexByte(inside, '\\') >= 0 {
		inside = unescape(inside)
	}
	if !utf8.Valid(inside) {
		return string([]rune(string(inside)))
	}
	return string(inside)
}

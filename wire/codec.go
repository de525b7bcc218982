package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	setMember(name string, raw []byte) bool
	// appendMembers adds the fields, in the table's order.
	appendMembers(e *encoder)
	// fresh returns a new value of the same type.
	fresh() object
}

// members returns the members of a valid JSON object. Of equal names the last
// value counts, in the place of the first, as in JavaScript.
func members(raw []byte) ([]member, error) {
	i := skipSpace(raw, 0)
	if i == len(raw) || raw[i] != '{' {
		return nil, ErrNotObject
	}
	if i = skipSpace(raw, i+1); i < len(raw) && raw[i] == '}' {
		return nil, nil
	}
	var list []member
	for done := false; !done; {
		name, escaped, value, err := scanMember(raw, i)
		if err != nil {
			return nil, err
		}
		if escaped {
			name = unescape(name)
		}
		end, err := skipValue(raw, value)
		if err != nil {
			return nil, err
		}
		list = append(list, member{string(name), raw[value:end]})
		if i, done, err = nextMember(raw, end); err != nil {
			return nil, err
		}
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
	if i = skipSpace(raw, i+1); i < len(raw) && raw[i] == ']' {
		return list, true
	}
	for {
		end, err := skipValue(raw, i)
		if err != nil {
			return nil, false
		}
		list = append(list, raw[i:end])
		if i = skipSpace(raw, end); i >= len(raw) {
			return nil, false
		}
		switch raw[i] {
		case ',':
			i = skipSpace(raw, i+1)
		case ']':
			return list, true
		default:
			return nil, false
		}
	}
}

// lookup returns the raw value of a member of an object, nil if raw is not an
// object or has no such member.
func lookup(raw []byte, name string) []byte {
	list, err := members(raw)
	if err != nil {
		return nil
	}
	for _, m := range list {
		if m.name == name {
			return m.raw
		}
	}
	return nil
}

// lookupString returns a member's value if it is a string, else "".
func lookupString(raw []byte, name string) string {
	var s string
	setString(&s, lookup(raw, name))
	return s
}

// decodeInto fills v from a valid JSON object.
func decodeInto(v object, raw []byte) error {
	list, err := members(raw)
	if err != nil {
		return err
	}
	src := v.source()
	src.raw, src.extra = raw, nil
	for _, m := range list {
		if !v.setMember(m.name, m.raw) {
			src.extra = append(src.extra, m)
		}
	}
	return nil
}

// unmarshal checks and decodes JSON text; the generated UnmarshalJSON methods
// call it.
func unmarshal(v object, data []byte) error {
	if !json.Valid(data) {
		return errors.New("expected valid JSON")
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

// The setters below return false when the value is of another kind than the
// field. null empties a field of any kind.

func setString[T ~string](dst *T, raw []byte) bool {
	switch {
	case isString(raw):
		*dst = T(text(raw))
	case isNull(raw):
		*dst = ""
	default:
		return false
	}
	return true
}

func setInt(dst *int64, raw []byte) bool {
	if isNull(raw) {
		*dst = 0
		return true
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		*dst = n
		return true
	}
	// The CLI has been seen to write fractions where its own schema says whole.
	var f float64
	if !setNum(&f, raw) || f < -1<<63 || f >= 1<<63 {
		return false
	}
	*dst = int64(f)
	return true
}

func setNum(dst *float64, raw []byte) bool {
	if isNull(raw) {
		*dst = 0
		return true
	}
	if len(raw) == 0 || (raw[0] != '-' && (raw[0] < '0' || raw[0] > '9')) {
		return false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return false
	}
	*dst = f
	return true
}

func setBool(dst *bool, raw []byte) bool {
	switch string(raw) {
	case "true":
		*dst = true
	case "false", "null":
		*dst = false
	default:
		return false
	}
	return true
}

func setRaw(dst *json.RawMessage, raw []byte) bool {
	*dst = raw
	return true
}

func setPointer[T any](set func(*T, []byte) bool) func(**T, []byte) bool {
	return func(dst **T, raw []byte) bool {
		if isNull(raw) {
			*dst = nil
			return true
		}
		v := new(T)
		if !set(v, raw) {
			return false
		}
		*dst = v
		return true
	}
}

func setList[T any](set func(*T, []byte) bool) func(*[]T, []byte) bool {
	return func(dst *[]T, raw []byte) bool {
		if isNull(raw) {
			*dst = nil
			return true
		}
		items, ok := elements(raw)
		if !ok {
			return false
		}
		out := make([]T, len(items))
		for i, item := range items {
			if !set(&out[i], item) {
				return false
			}
		}
		*dst = out
		return true
	}
}

func setMap[T any](set func(*T, []byte) bool) func(*map[string]T, []byte) bool {
	return func(dst *map[string]T, raw []byte) bool {
		if isNull(raw) {
			*dst = nil
			return true
		}
		list, err := members(raw)
		if err != nil {
			return false
		}
		out := make(map[string]T, len(list))
		for _, m := range list {
			var v T
			if !set(&v, m.raw) {
				return false
			}
			out[m.name] = v
		}
		*dst = out
		return true
	}
}

// objectPointer lets setStruct take a struct whose pointer is an object.
type objectPointer[T any] interface {
	*T
	object
}

func setStruct[T any, P objectPointer[T]](dst *T, raw []byte) bool {
	if isNull(raw) {
		*dst = *new(T)
		return true
	}
	return isObject(raw) && decodeInto(P(dst), raw) == nil
}

func setUnion[T any](decode func([]byte) T) func(*T, []byte) bool {
	return func(dst *T, raw []byte) bool {
		if isNull(raw) {
			*dst = *new(T)
			return true
		}
		*dst = decode(raw)
		return true
	}
}

// encoder gathers the members of one object.
type encoder struct {
	list []member
	err  error
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
	if !json.Valid(v) {
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
	if !ok {
		return []byte("null")
	}
	return e.object(o)
}

func (e *encoder) object(o object) []byte {
	b, err := encodeObject(o)
	if err != nil {
		e.err = err
		return []byte("null")
	}
	return b
}

// encodeObject writes a value. What was decoded and not changed since is written
// with the very bytes it was decoded from, so that nothing is lost: not a member
// that this package does not know, not the difference between null and absent,
// not the form of a number.
func encodeObject(o object) ([]byte, error) {
	now, err := fieldsOf(o)
	if err != nil {
		return nil, err
	}
	src := o.source()
	if src.raw == nil {
		return appendObject(nil, now), nil
	}
	unchanged := o.fresh()
	if err := decodeInto(unchanged, src.raw); err != nil {
		return nil, fmt.Errorf("reading the bytes of a decoded value again: %w", err)
	}
	before, err := fieldsOf(unchanged)
	if err != nil {
		return nil, err
	}
	old, err := members(src.raw)
	if err != nil {
		return nil, fmt.Errorf("reading the bytes of a decoded value again: %w", err)
	}
	return appendObject(nil, merge(old, before, now)), nil
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

func fieldsOf(o object) ([]member, error) {
	var e encoder
	o.appendMembers(&e)
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

package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"
)

// Decoding goes over the text once to check it, which also notes where each
// object and array ends, and then over each object's own members: what is inside
// of a value is skipped by what was noted. So a text that lies deep down is not
// looked at again on each level.

// A decoder is what decoding a line needs besides the line.
type decoder struct {
	b     []byte // valid JSON
	nodes []node
	// text is b again, for strings to be parts of, so that they need no memory of
	// their own; empty if b is long, of which a short string should not keep all.
	text  string
	utf8  bool   // b is valid UTF-8
	deep  bool   // values are nested so deep that it must be looked at
	parts []part // of the objects and arrays that are being decoded
	plain []byte // a string without its escapes
}

// A node is an object or array. Nodes are in the order of their beginnings.
type node struct {
	end  int // the index behind it; the node around it until the end is known
	next int // the first node that is not inside of it
}

// A value is a part of the text.
type value struct {
	start, end int
	node       int // of an object or array
	escaped    bool
}

// A part is a member of an object, or an element of an array: then without a
// name.
type part struct {
	name []byte
	value
}

// oneText is the longest line whose strings are parts of one text.
const oneText = 1 << 10

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// newDecoder returns a decoder of a text, nil if it is not valid JSON. It is given
// back with done.
func newDecoder(b []byte) *decoder {
	d, _ := decoders.Get().(*decoder)
	d.nodes = d.nodes[:0]
	deepest, ok := scanValid(b, &d.nodes)
	if !ok {
		decoders.Put(d)
		return nil
	}
	d.b, d.deep, d.utf8 = b, deepest > maxDepth, utf8.Valid(b)
	if len(b) <= oneText && d.utf8 {
		d.text = string(b)
	}
	return d
}

// done gives the decoder back, without what one line alone needed much of.
func (d *decoder) done() {
	const most = 1 << 10
	clear(d.parts[:cap(d.parts)])
	if cap(d.parts) > most || cap(d.nodes) > most || cap(d.plain) > 64*most {
		return
	}
	*d = decoder{nodes: d.nodes[:0], parts: d.parts[:0], plain: d.plain[:0]}
	decoders.Put(d)
}

// root returns the whole text as a value.
func (d *decoder) root() value { return value{start: 0, end: len(d.b)} }

// raw returns the text of a value.
func (d *decoder) raw(v value) []byte { return d.b[v.start:v.end:v.end] }

func (d *decoder) isNull(v value) bool { return v.end-v.start == 4 && d.b[v.start] == 'n' }

func (d *decoder) isString(v value) bool { return v.end > v.start && d.b[v.start] == '"' }

// value reads the value at b[i]. next is the node that it is if it is one; the
// node that follows it is returned.
func (d *decoder) value(i, next int) (v value, after int) {
	v.start = i
	switch d.b[i] {
	case '"':
		v.end, v.escaped = scanString(d.b, i)
	case '{', '[':
		n := d.nodes[next]
		v.end, v.node = n.end, next
		return v, n.next
	default:
		v.end = skipValue(d.b, i)
	}
	return v, next
}

// members returns the members of an object: of equal names the last value, in the
// place of the first, as in JavaScript. It reports false if the value is none, or
// is nested too deep. The list is valid until drop is called with mark.
func (d *decoder) members(v value) (list []part, mark int, ok bool) {
	mark = len(d.parts)
	i := skipSpace(d.b, v.start)
	if i >= v.end || d.b[i] != '{' || d.deep && d.tooDeep(i) {
		return nil, mark, false
	}
	// Names that are the same are alike in some bits, which others rarely are. For
	// objects that mean harm there is a map.
	var seen uint64
	var at map[string]int
	next := v.node + 1
	name, i := firstMember(d.b, i)
	for name != nil {
		p := part{name: name}
		p.value, next = d.value(i, next)
		name, i = nextMember(d.b, p.end)
		own := d.parts[mark:]
		if at == nil && len(own) >= manyMembers {
			at = make(map[string]int, 2*len(own))
			for k := range own {
				at[string(own[k].name)] = k
			}
		}
		bit := likeness(p.name)
		same := -1
		switch {
		case at != nil:
			k, found := at[string(p.name)]
			if found {
				same = k
			} else {
				at[string(p.name)] = len(own)
			}
		case seen&bit != 0:
			same = slices.IndexFunc(own, func(o part) bool { return string(o.name) == string(p.name) })
		}
		if same >= 0 {
			own[same].value = p.value
			continue
		}
		seen |= bit
		d.parts = append(d.parts, p)
	}
	return d.parts[mark:], mark, true
}

// manyMembers is how many members an object has for which a map is made.
const manyMembers = 64

// likeness has one bit set, the same for equal names.
func likeness(name []byte) uint64 {
	n := len(name)
	if n == 0 {
		return 1
	}
	return 1 << ((uint(n)*7 + uint(name[0])*5 + uint(name[n-1])*3 + uint(name[n/2])) & 63)
}

// drop forgets the parts behind mark.
func (d *decoder) drop(mark int) { d.parts = d.parts[:mark] }

// tooDeep reports whether the values of the object at b[i] are nested too deep.
func (d *decoder) tooDeep(i int) bool {
	return nested(d.b, i)-1 > maxDepth
}

// elements returns the elements of an array, false if the value is none.
func (d *decoder) elements(v value) (list []part, mark int, ok bool) {
	mark = len(d.parts)
	if d.b[v.start] != '[' {
		return nil, mark, false
	}
	next := v.node + 1
	i, more := firstElement(d.b, v.start)
	for more {
		var p part
		p.value, next = d.value(i, next)
		d.parts = append(d.parts, p)
		i, more = nextElement(d.b, p.end)
	}
	return d.parts[mark:], mark, true
}

// tag returns the member that tells the variants of a union apart; nil if it is
// not a string.
func (d *decoder) tag(list []part, name string) []byte {
	for k := range list {
		if p := &list[k]; string(p.name) == name {
			if !d.isString(p.value) {
				return nil
			}
			inside := d.b[p.start+1 : p.end-1]
			if p.escaped {
				return unescape(inside)
			}
			return inside
		}
	}
	return nil
}

// fill fills an object with its members.
func (d *decoder) fill(o object, v value, list []part) {
	src := o.source()
	src.raw, src.extra = d.raw(v), nil
	for k := range list {
		if p := &list[k]; !o.setMember(d, p.name, p.value) {
			src.extra = append(src.extra, member{string(p.name), d.raw(p.value)})
		}
	}
}

// object fills o from a value. It reports false if that is not an object, or is
// nested too deep.
func (d *decoder) object(o object, v value) bool {
	list, mark, ok := d.members(v)
	if ok {
		d.fill(o, v, list)
	}
	d.drop(mark)
	return ok
}

// string returns the value of a string.
func (d *decoder) string(v value) string {
	if !v.escaped && d.text != "" {
		return d.text[v.start+1 : v.end-1]
	}
	inside := d.b[v.start+1 : v.end-1]
	if v.escaped {
		d.plain = appendUnescaped(d.plain[:0], inside, math.MaxInt)
		inside = d.plain
	}
	if !d.utf8 && !utf8.Valid(inside) {
		return string([]rune(string(inside)))
	}
	return string(inside)
}

// decodeInto fills o from a valid JSON object.
func decodeInto(o object, raw []byte) error {
	if i := skipSpace(raw, 0); i == len(raw) || raw[i] != '{' {
		return ErrNotObject
	}
	d := newDecoder(raw)
	if d == nil {
		return errSyntax
	}
	defer d.done()
	if !d.object(o, d.root()) {
		return fmt.Errorf("expected values nested at most %d deep, found %d", maxDepth, nested(raw, skipSpace(raw, 0))-1)
	}
	return nil
}

// settable is what has fields.
type settable interface {
	setMember(d *decoder, name []byte, v value) bool
}

// setField stores a raw value, which must be valid JSON, in the field of that
// name. It reports false if there is none, or the value does not fit.
func setField(o settable, name string, raw []byte) bool {
	d := newDecoder(raw)
	if d == nil {
		return false
	}
	defer d.done()
	v, _ := d.value(skipSpace(raw, 0), 0)
	return o.setMember(d, []byte(name), v)
}

// The setters below return false when the value is of another kind than the
// field. null empties a field of any kind.

func setString[T ~string](d *decoder, dst *T, v value) bool {
	switch {
	case d.isString(v):
		*dst = T(d.string(v))
	case d.isNull(v):
		*dst = ""
	default:
		return false
	}
	return true
}

func setInt(d *decoder, dst *int64, v value) bool {
	if d.isNull(v) {
		*dst = 0
		return true
	}
	n, ok := wholeNumber(d.b[v.start:v.end])
	if ok {
		*dst = n
	}
	return ok
}

// wholeNumber reads a number. The CLI has been seen to write fractions where its own
// schema says whole.
func wholeNumber(raw []byte) (int64, bool) {
	if n, ok := parseInt(raw); ok {
		return n, true
	}
	f, ok := parseNum(raw)
	if !ok || f < -1<<63 || f >= 1<<63 {
		return 0, false
	}
	return int64(f), true
}

// parseInt reads a whole number.
func parseInt(raw []byte) (n int64, ok bool) {
	if len(raw) > 18 {
		n, err := strconv.ParseInt(string(raw), 10, 64)
		return n, err == nil
	}
	digits := raw
	if len(raw) > 0 && raw[0] == '-' {
		digits = raw[1:]
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if len(digits) < len(raw) {
		n = -n
	}
	return n, len(digits) > 0
}

func setNum(d *decoder, dst *float64, v value) bool {
	if d.isNull(v) {
		*dst = 0
		return true
	}
	f, ok := parseNum(d.b[v.start:v.end])
	if ok {
		*dst = f
	}
	return ok
}

// parseNum reads a number.
func parseNum(raw []byte) (float64, bool) {
	if len(raw) == 0 || (raw[0] != '-' && (raw[0] < '0' || raw[0] > '9')) {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return f, err == nil
}

func setBool(d *decoder, dst *bool, v value) bool {
	switch string(d.b[v.start:v.end]) {
	case "true":
		*dst = true
	case "false", "null":
		*dst = false
	default:
		return false
	}
	return true
}

func setRaw(d *decoder, dst *json.RawMessage, v value) bool {
	*dst = d.raw(v)
	return true
}

func setPointer[T any](d *decoder, dst **T, v value, set func(*decoder, *T, value) bool) bool {
	if d.isNull(v) {
		*dst = nil
		return true
	}
	p := new(T)
	if !set(d, p, v) {
		return false
	}
	*dst = p
	return true
}

func setList[T any](d *decoder, dst *[]T, v value, set func(*decoder, *T, value) bool) bool {
	if d.isNull(v) {
		*dst = nil
		return true
	}
	list, mark, ok := d.elements(v)
	defer d.drop(mark)
	if !ok {
		return false
	}
	out := make([]T, len(list))
	for i := range list {
		if !set(d, &out[i], list[i].value) {
			return false
		}
	}
	*dst = out
	return true
}

func setMap[T any](d *decoder, dst *map[string]T, v value, set func(*decoder, *T, value) bool) bool {
	if d.isNull(v) {
		*dst = nil
		return true
	}
	list, mark, ok := d.members(v)
	defer d.drop(mark)
	if !ok {
		return false
	}
	out := make(map[string]T, len(list))
	for i := range list {
		var element T
		if !set(d, &element, list[i].value) {
			return false
		}
		out[string(list[i].name)] = element
	}
	*dst = out
	return true
}

// objectPointer lets setStruct take a struct whose pointer is an object.
type objectPointer[T any] interface {
	*T
	object
}

func setStruct[T any, P objectPointer[T]](d *decoder, dst *T, v value) bool {
	if d.isNull(v) {
		*dst = *new(T)
		return true
	}
	return d.b[v.start] == '{' && d.object(P(dst), v)
}

func setUnion[T any](d *decoder, dst *T, v value, decode func(*decoder, value) T) bool {
	if d.isNull(v) {
		*dst = *new(T)
		return true
	}
	*dst = decode(d, v)
	return true
}

// setFrom is a setter for a value that stands alone. It must be valid JSON; nil
// fits nothing.
func setFrom[T any](dst *T, raw []byte, set func(*decoder, *T, value) bool) bool {
	d := newDecoder(raw)
	if d == nil {
		return false
	}
	defer d.done()
	v, _ := d.value(skipSpace(raw, 0), 0)
	return set(d, dst, v)
}

// decodeFrom decodes a union's value that stands alone, which must be valid JSON.
func decodeFrom[T any](raw []byte, decode func(*decoder, value) T) T {
	d := newDecoder(raw)
	if d == nil {
		return decode(&decoder{b: raw}, value{}) // nothing that is known
	}
	defer d.done()
	return decode(d, d.root())
}

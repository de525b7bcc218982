package wire

import "iter"

// Lookup returns the raw value of a member of a JSON object as a CLI would read
// it: names are case-sensitive, escapes in them count as what they stand for,
// and of equal names the last one counts. It reports false if there is no such
// member or object is none. The value aliases object, which is trusted to be
// valid JSON: a caller that is not sure calls [Valid] first.
func Lookup(object []byte, name string) (raw []byte, ok bool) {
	raw = lookup(object, name)
	return raw, raw != nil
}

// LookupString is [Lookup] for a member that is a string. It reports false if
// the member is missing or of another kind.
func LookupString(object []byte, name string) (value string, ok bool) {
	raw := lookup(object, name)
	if !isString(raw) {
		return "", false
	}
	return text(raw), true
}

// Members yields the members of a JSON object in their order, with names as in
// [Lookup]. Several may have the same name, of which the last one counts. The
// values alias object, which is trusted to be valid JSON. Of a text that is cut
// off, the last value is what there is of it. A value that is not an object has no
// members.
func Members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(name string, value []byte) bool) {
		i := skipSpace(object, 0)
		if i == len(object) || object[i] != '{' {
			return
		}
		name, i := firstMember(object, i)
		for name != nil {
			end := skipValue(object, i)
			if !yield(string(name), rawValue(object, i, end)) {
				return
			}
			name, i = nextMember(object, end)
		}
	}
}

// Elements yields the elements of a JSON array, like [Members].
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		i := skipSpace(array, 0)
		if i == len(array) || array[i] != '[' {
			return
		}
		i, more := firstElement(array, i)
		for more {
			end := skipValue(array, i)
			if !yield(rawValue(array, i, end)) {
				return
			}
			i, more = nextElement(array, end)
		}
	}
}

// rawValue returns the value between two indexes, or all there is of one that
// does not end.
func rawValue(b []byte, i, end int) []byte {
	if end < 0 {
		end = len(b)
	}
	return b[i:end:end]
}

// StringOf returns what a JSON string stands for. It reports false if the value is
// of another kind. It is trusted to be valid JSON.
func StringOf(value []byte) (s string, ok bool) {
	if !isString(value) {
		return "", false
	}
	return text(value), true
}

// A NamedString is a string inside of a JSON value. Name is that of the member
// whose value it is, or in whose list it stands; "" if there is none.
type NamedString struct{ Name, Value string }

// Strings returns every string in a JSON value, at any depth, in its order; the
// names of members are not among them. It returns at most limit, and whether
// these are all. The value is trusted to be valid JSON.
func Strings(value []byte, limit int) (list []NamedString, all bool) {
	name := ""
	for i := skipSpace(value, 0); i < len(value); {
		if value[i] != '"' {
			i++
			continue
		}
		end := endOfString(value, i)
		if end < 0 {
			return list, false
		}
		raw := value[i:end]
		if i = skipSpace(value, end); i < len(value) && value[i] == ':' {
			name = text(raw)
			continue
		}
		if len(list) == limit {
			return list, false
		}
		list = append(list, NamedString{name, text(raw)})
	}
	return list, true
}

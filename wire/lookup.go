package wire

// Lookup returns the raw value of a member of a JSON object as a CLI would read
// it: names are case-sensitive, escapes in them count as what they stand for,
// and of equal names the last one counts. It reports false if there is no such
// member or object is none. The value aliases object, which is trusted to be
// valid JSON: whoever is not sure calls json.Valid first.
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

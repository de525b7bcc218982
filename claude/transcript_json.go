package claude

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// A jsonObject is a JSON object. Names are exact and the last of two counts, as
// in the CLI. Values are parts of the text that was read, not copies: messages
// can be long, and most of what a transcript holds is only passed on.
type jsonObject map[string]json.RawMessage

// objectOf takes an object apart. The text must be valid JSON, or empty.
func objectOf(text []byte) (jsonObject, bool) {
	i := skipSpace(text, 0)
	if i == len(text) || text[i] != '{' {
		return nil, false
	}
	m := make(jsonObject)
	for i = skipSpace(text, i+1); i < len(text) && text[i] == '"'; {
		end := skipValue(text, i)
		name := textOf(text[i:end])
		i = skipSpace(text, end) // the colon
		i = skipSpace(text, i+1)
		end = skipValue(text, i)
		m[name] = text[i:end:end]
		i = skipSeparator(text, end)
	}
	return m, true
}

// objectsOf returns the objects in an array; whatever else is in it is left out.
// The text must be valid JSON, or empty.
func objectsOf(text []byte) []jsonObject {
	i := skipSpace(text, 0)
	if i == len(text) || text[i] != '[' {
		return nil
	}
	var list []jsonObject
	for i = skipSpace(text, i+1); i < len(text) && text[i] != ']'; {
		end := skipValue(text, i)
		if m, ok := objectOf(text[i:end]); ok {
			list = append(list, m)
		}
		i = skipSeparator(text, end)
	}
	return list
}

// textOf reads a string; whatever else it is, is none.
func textOf(text []byte) string {
	if len(text) < 2 || text[0] != '"' {
		return ""
	}
	if inner := text[1 : len(text)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var s string
	if json.Unmarshal(text, &s) != nil {
		return ""
	}
	return s
}

// isText reports whether a value is a string with something in it.
func isText(text []byte) bool { return len(text) > 2 && text[0] == '"' }

func isTrue(text []byte) bool { return string(text) == "true" }

func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n') {
		i++
	}
	return min(i, len(text))
}

// skipSeparator returns where the next member or element begins, or where the
// end of all is.
func skipSeparator(text []byte, i int) int {
	i = skipSpace(text, i)
	if i < len(text) && text[i] == ',' {
		i = skipSpace(text, i+1)
	}
	return i
}

// skipValue returns the index behind the value that begins at an index.
func skipValue(text []byte, i int) int {
	if i >= len(text) {
		return len(text)
	}
	switch text[i] {
	case '"':
		return skipString(text, i)
	case '{', '[':
		depth := 0
		for i < len(text) {
			switch text[i] {
			case '"':
				i = skipString(text, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			i++
			if depth == 0 {
				return i
			}
		}
		return len(text)
	}
	if n := bytes.IndexAny(text[i:], ",]} \t\r\n"); n >= 0 {
		return i + max(n, 1) // always ahead
	}
	return len(text)
}

// skipString returns the index behind the string that begins at an index.
func skipString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			break
		}
		escapes := 0
		for escapes < n && text[i+n-1-escapes] == '\\' {
			escapes++
		}
		if i += n; escapes%2 == 0 {
			return i + 1
		}
	}
	return len(text)
}

// snakeCase returns an object with its names, and those of the objects in it, as
// the protocol writes them: preTokens becomes pre_tokens.
func snakeCase(text []byte) json.RawMessage {
	m, ok := objectOf(text)
	if !ok {
		return json.RawMessage("{}")
	}
	out := make(jsonObject, len(m))
	for name, value := range m {
		if value[0] == '{' {
			value = snakeCase(value)
		}
		out[snakeName(name)] = value
	}
	data, err := json.Marshal(out)
	if err != nil {
		return json.RawMessage("{}") // what was read can be written
	}
	return data
}

func snakeName(name string) string {
	var b strings.Builder
	for _, r := range name {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

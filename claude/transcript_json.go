package claude

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// A jsonObject is a JSON object. Names are exact and the last of two counts, as
// in the CLI. Values are parts of the text that was read, not copies: messages
// can be long, and most of what a transcript holds is only passed on.
type jsonObject map[string]json.RawMessage

// objectOf takes an object apart. The text must be valid JSON, or empty.
func objectOf(text []byte) (jsonObject, bool) {
	if !isObject(text) {
		return nil, false
	}
	m := make(jsonObject)
	for name, value := range wire.Members(text) {
		m[name] = value
	}
	return m, true
}

// objectsOf returns the objects in an array; whatever else is in it is left out.
// The text must be valid JSON, or empty.
func objectsOf(text []byte) []jsonObject {
	var list []jsonObject
	for value := range wire.Elements(text) {
		if m, ok := objectOf(value); ok {
			list = append(list, m)
		}
	}
	return list
}

// isObject reports whether a text is an object, if it is JSON at all.
func isObject(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && text[0] == '{'
}

// textOf reads a string; whatever else it is, is none.
func textOf(text []byte) string {
	s, _ := wire.StringOf(text)
	return s
}

// isText reports whether a value is a string with something in it.
func isText(text []byte) bool { return len(text) > 2 && text[0] == '"' }

func isTrue(text []byte) bool { return string(text) == "true" }

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

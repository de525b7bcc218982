package claudetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// members are the members of a JSON object in order, names and values in turn. The order is that of the real CLI's lines: a test that
// depends on it would fail there, one that a person reads looks familiar.
type members []any

// with returns the members with more of them behind.
func (m members) with(more ...any) members { return append(slices.Clip(m), more...) }

// when returns the members with more of them behind if the condition holds.
func (m members) when(condition bool, more ...any) members {
	if !condition {
		return m
	}
	return m.with(more...)
}

// MarshalJSON writes the members in their order.
func (m members) MarshalJSON() ([]byte, error) {
	var buffer bytes.Buffer
	buffer.WriteByte('{')
	for i := 0; i+1 < len(m); i += 2 {
		if i > 0 {
			buffer.WriteByte(',')
		}
		name, ok := m[i].(string)
		if !ok {
			return nil, fmt.Errorf("member %d has a name of type %T", i/2, m[i])
		}
		buffer.Write(plainJSON(name))
		buffer.WriteByte(':')
		buffer.Write(plainJSON(m[i+1]))
	}
	buffer.WriteByte('}')
	return buffer.Bytes(), nil
}

// plainJSON returns a value's JSON as JSON.stringify would write it: the CLI does not escape for HTML.
func plainJSON(value any) []byte {
	if raw, ok := value.(json.RawMessage); ok && len(raw) > 0 {
		return raw
	}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		// Values are of our own making, or raw JSON that was read before.
		panic(fmt.Sprintf("claudetest: encoding a line: %v", err))
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}

// unescapeSeparators writes U+2028 and U+2029 as they are, as an old JSON.stringify does.
func unescapeSeparators(line []byte) []byte {
	if !bytes.Contains(line, []byte(`\u202`)) {
		return line
	}
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); i++ {
		if line[i] != '\\' || i+1 >= len(line) {
			out = append(out, line[i])
			continue
		}
		switch {
		case bytes.HasPrefix(line[i:], []byte(`\u2028`)):
			out = append(out, "\u2028"...)
			i += 5
		case bytes.HasPrefix(line[i:], []byte(`\u2029`)):
			out = append(out, "\u2029"...)
			i += 5
		default:
			out = append(out, line[i], line[i+1])
			i++
		}
	}
	return out
}

package v1

import (
	"bytes"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// jsonFormat reads and writes bodies.
func jsonFormat() huma.Format {
	return huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal}
}

// wholeBelow is how long a body, and a member of a longer one, is decoded whole
// for the check against its schema.
const wholeBelow = 1 << 20

// unmarshal is json.Unmarshal, except that the long members of a long body are
// not taken apart where huma only wants to check their types: content blocks and
// inputs of tools, which have no schema, but as Go values would need many times
// their size.
func unmarshal(data []byte, v any) error {
	target, checks := v.(*any)
	if !checks || len(data) <= wholeBelow {
		return json.Unmarshal(data, v)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	object := make(map[string]any, len(members))
	for name, raw := range members {
		raw = bytes.TrimSpace(raw)
		switch {
		case len(raw) > wholeBelow && raw[0] == '[':
			object[name] = []any{}
		case len(raw) > wholeBelow && raw[0] == '{':
			object[name] = map[string]any{}
		default:
			var value any
			if err := json.Unmarshal(raw, &value); err != nil {
				return err
			}
			object[name] = value
		}
	}
	*target = object
	return nil
}

package v1

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// writeDocument returns the OpenAPI document as JSON.
//
// huma says of every object that it has no other members than those listed, and
// holds requests to that, so that a misspelt member is noticed. Of answers it is
// not true: they grow, and a client that is generated from the document must not
// refuse what it does not know.
func writeDocument(api *huma.OpenAPI) ([]byte, error) {
	text, err := json.Marshal(api)
	if err != nil {
		return nil, fmt.Errorf("writing the OpenAPI document: %w", err)
	}
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	schemas, _ := at(document, "components", "schemas").(map[string]any)
	paths, _ := document["paths"].(map[string]any)
	answered := map[string]bool{
		// Within streams, of which the document says no more than that they are text.
		"Event": true, "Verdict": true, "Partials": true, "Closing": true,
	}
	for _, path := range paths {
		operations, _ := path.(map[string]any)
		for _, op := range operations {
			references(at(op, "responses"), answered)
		}
	}
	for grown := true; grown; {
		before := len(answered)
		for name := range answered {
			references(schemas[name], answered)
		}
		grown = len(answered) > before
	}
	for name := range answered {
		if schema, ok := schemas[name].(map[string]any); ok && schema["additionalProperties"] == false {
			delete(schema, "additionalProperties")
		}
	}
	return json.Marshal(document)
}

// at returns what is at a path of members, nil if there is nothing.
func at(v any, path ...string) any {
	for _, name := range path {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// references notes the names of all schemas that a part of the document refers
// to.
func references(v any, names map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if ref, ok := value.(string); ok && key == "$ref" {
				names[strings.TrimPrefix(ref, "#/components/schemas/")] = true
			}
			references(value, names)
		}
	case []any:
		for _, value := range v {
			references(value, names)
		}
	}
}

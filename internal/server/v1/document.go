package v1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/switchboard-dev/switchboard/wire"
)

// writeDocument returns the OpenAPI document as JSON, indented.
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
	answered := map[string]bool{}
	for _, path := range paths {
		operations, _ := path.(map[string]any)
		for _, op := range operations {
			references(at(op, "responses"), answered)
			// huma cannot say that an operation needs no token.
			if op, ok := op.(map[string]any); ok && op["x-scope"] == wire.ScopeNone.String() {
				op["security"] = []any{}
			}
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
	// Members are sorted by their names, so that the text only changes with the
	// interface.
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return nil, fmt.Errorf("writing the OpenAPI document: %w", err)
	}
	return out.Bytes(), nil
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
				names[strings.TrimPrefix(ref, schemaPrefix)] = true
			}
			references(value, names)
		}
	case []any:
		for _, value := range v {
			references(value, names)
		}
	}
}

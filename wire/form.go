package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// A formSchema is the part of JSON Schema that forms of MCP servers are made of:
// a flat object of strings, numbers, booleans and lists of choices.
type formSchema struct {
	Properties map[string]formField `json:"properties"`
	Required   []string             `json:"required"`
}

type formField struct {
	Type      string            `json:"type"`
	Enum      []json.RawMessage `json:"enum"`
	OneOf     []formConst       `json:"oneOf"`
	AnyOf     []formConst       `json:"anyOf"`
	MinLength *int              `json:"minLength"`
	MaxLength *int              `json:"maxLength"`
	Minimum   *float64          `json:"minimum"`
	Maximum   *float64          `json:"maximum"`
	MinItems  *int              `json:"minItems"`
	MaxItems  *int              `json:"maxItems"`
	Items     *formField        `json:"items"`
}

type formConst struct {
	Const json.RawMessage `json:"const"`
}

// CheckForm holds what was filled in against the form of a request. The server would
// refuse it too, but by then the question is settled.
func CheckForm(request *ElicitationRequest, content json.RawMessage) error {
	if request.Mode == ElicitationModeURL {
		if len(content) > 0 {
			return errors.New("a page that was visited is accepted without fields")
		}
		return nil
	}
	var values map[string]json.RawMessage
	if len(content) == 0 || json.Unmarshal(content, &values) != nil || values == nil {
		return errors.New("a form is accepted with an object of its fields")
	}
	// A form that is not understood here is judged by its server: then the schema
	// stays empty, and everything fits.
	var schema formSchema
	if len(request.RequestedSchema) > 0 && json.Unmarshal(request.RequestedSchema, &schema) != nil {
		schema = formSchema{}
	}
	for _, name := range schema.Required {
		if _, found := values[name]; !found {
			return fmt.Errorf("the field %q of the form is required", name)
		}
	}
	for name, value := range values {
		field, known := schema.Properties[name]
		if !known && len(schema.Properties) > 0 {
			return fmt.Errorf("the form has no field %q", name)
		}
		if reason := field.refuses(value); reason != "" {
			return fmt.Errorf("the field %q of the form %s", name, reason)
		}
	}
	return nil
}

// refuses says what is wrong with a value, "" if nothing is.
func (f *formField) refuses(value json.RawMessage) string {
	if choices := f.choices(); len(choices) > 0 && f.Type != "array" {
		if !slices.ContainsFunc(choices, func(c json.RawMessage) bool { return samePlain(c, value) }) {
			return "must be one of its choices"
		}
		return ""
	}
	switch f.Type {
	case "string":
		var s string
		if json.Unmarshal(value, &s) != nil || string(value) == "null" {
			return "must be a text"
		}
		if n := utf8.RuneCountInString(s); f.MinLength != nil && n < *f.MinLength || f.MaxLength != nil && n > *f.MaxLength {
			return "has a length that is not allowed"
		}
	case "number", "integer":
		var n float64
		if json.Unmarshal(value, &n) != nil || string(value) == "null" {
			return "must be a number"
		}
		if f.Type == "integer" && n != math.Trunc(n) {
			return "must be a whole number"
		}
		if f.Minimum != nil && n < *f.Minimum || f.Maximum != nil && n > *f.Maximum {
			return "is out of range"
		}
	case "boolean":
		if text := strings.TrimSpace(string(value)); text != "true" && text != "false" {
			return "must be true or false"
		}
	case "array":
		return f.refusesList(value)
	}
	return ""
}

func (f *formField) refusesList(value json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil || list == nil {
		return "must be a list"
	}
	if n := len(list); f.MinItems != nil && n < *f.MinItems || f.MaxItems != nil && n > *f.MaxItems {
		return "has too few or too many entries"
	}
	if f.Items == nil {
		return ""
	}
	for _, v := range list {
		if reason := f.Items.refuses(v); reason != "" {
			return "has an entry that " + reason
		}
	}
	return ""
}

// choices returns what can be chosen, in each of the ways to write that.
func (f *formField) choices() []json.RawMessage {
	out := f.Enum
	for _, c := range slices.Concat(f.OneOf, f.AnyOf) {
		if c.Const != nil {
			out = append(out, c.Const)
		}
	}
	return out
}

// samePlain compares two values that are no objects and no lists.
func samePlain(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	switch x.(type) {
	case string, float64, bool, nil:
		return x == y
	}
	return false
}

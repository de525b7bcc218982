package terminal

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// A property is a field of a form.
type property struct {
	Type        any             `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Enum        []any           `json:"enum"`
	Default     json.RawMessage `json:"default"`
}

// properties returns the fields of a form.
func properties(form *wire.ElicitationRequest) (fields map[string]property, required []string) {
	var schema struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	if err := json.Unmarshal(form.RequestedSchema, &schema); err != nil {
		return nil, nil
	}
	return schema.Properties, schema.Required
}

// filled says which fields a form has and what they come filled in with, and which page is to be opened instead of one: that is what is
// accepted.
func filled(form *wire.ElicitationRequest) string {
	var b strings.Builder
	if form.URL != "" {
		b.WriteString("\npage to open: " + oneLine(form.URL))
	}
	fields, required := properties(form)
	names := make([]string, 0, len(fields))
	for _, name := range form.PropertyOrder {
		if _, ok := fields[name]; ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		field := fields[name]
		b.WriteString("\n  " + oneLine(name))
		if slices.Contains(required, name) {
			b.WriteString(" (needed)")
		}
		if len(field.Default) > 0 {
			b.WriteString(": " + oneLine(string(field.Default)))
		}
		for _, text := range []string{field.Title, field.Description} {
			if text = oneLine(text); text != "" {
				b.WriteString(" - " + text)
			}
		}
		if len(field.Enum) > 0 {
			values := make([]string, 0, len(field.Enum))
			for _, value := range field.Enum {
				values = append(values, oneLine(fmt.Sprint(value)))
			}
			b.WriteString(" - one of " + strings.Join(values, ", "))
		} else if kind, ok := field.Type.(string); ok && kind != "string" {
			b.WriteString(" - " + oneLine(kind))
		}
	}
	return b.String()
}

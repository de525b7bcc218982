package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A document is what is read of an OpenAPI document. A member of a schema that has
// no place here is an error: what it says would be missing in the declarations.
type document struct {
	Info  struct{ Title, Description string }
	Paths map[string]map[string]*operation
	// Components holds the schemas that have names.
	Components struct{ Schemas map[string]*schema }
}

// An operation is one method of a path.
type operation struct {
	OperationID string
	Summary     string
	Description string
	Scope       string `json:"x-scope"`
	Parameters  []parameter
	RequestBody *struct {
		Required bool
		Content  map[string]struct{ Schema *schema }
	}
	Responses map[string]struct {
		Content map[string]struct{ Schema *schema }
	}
}

// A parameter is one of a path, a query or the header.
type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                *schema
}

// A schema describes a JSON value.
type schema struct {
	ref         string
	types       []string // empty means any
	description string
	enum        []any
	properties  map[string]*schema
	required    []string
	items       *schema
	// others describes members that are not named; free allows them to be anything.
	others *schema
	free   bool
}

// notes are members of a schema that narrow values down, or say something about
// them, in ways that TypeScript has no words for.
var notes = []string{
	"$schema", "contentEncoding", "contentMediaType", "contentSchema", "default", "deprecated", "example", "examples", "exclusiveMaximum", "exclusiveMinimum", "format", "maxItems",
	"maxLength", "maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "pattern", "readOnly", "title",
	"uniqueItems", "writeOnly",
}

// UnmarshalJSON reads a schema.
func (s *schema) UnmarshalJSON(raw []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if err := s.take(name, members[name]); err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
	}
	return nil
}

func (s *schema) take(name string, raw json.RawMessage) error {
	switch name {
	case "$ref":
		if err := json.Unmarshal(raw, &s.ref); err != nil {
			return err
		}
		var ok bool
		if s.ref, ok = strings.CutPrefix(s.ref, "#/components/schemas/"); !ok {
			return fmt.Errorf("unexpected %q", s.ref)
		}
		return nil
	case "type":
		if raw[0] == '"' {
			s.types = []string{""}
			return json.Unmarshal(raw, &s.types[0])
		}
		return json.Unmarshal(raw, &s.types)
	case "description":
		return json.Unmarshal(raw, &s.description)
	case "enum":
		return json.Unmarshal(raw, &s.enum)
	case "properties":
		return json.Unmarshal(raw, &s.properties)
	case "required":
		return json.Unmarshal(raw, &s.required)
	case "items":
		return json.Unmarshal(raw, &s.items)
	case "additionalProperties":
		switch string(raw) {
		case "false":
			return nil
		case "true":
			s.free = true
			return nil
		}
		return json.Unmarshal(raw, &s.others)
	}
	if !slices.Contains(notes, name) {
		return fmt.Errorf("this is not known; what does it mean in TypeScript?")
	}
	return nil
}

// parse reads an OpenAPI document.
func parse(text []byte) (*document, error) {
	d := new(document)
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(d); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	return d, nil
}

// methods are those of operations, in the order in which they are written.
var methods = []string{"get", "post", "put", "patch", "delete"}

// operations returns all operations with their methods and paths, by path.
func (d *document) operations() []*route {
	var all []*route
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range methods {
			if op := d.Paths[path][method]; op != nil {
				all = append(all, &route{operation: op, method: strings.ToUpper(method), path: path})
			}
		}
	}
	return all
}

// A route is an operation with its place.
type route struct {
	*operation

	method, path string
}

// told returns the names of all schemas that answers and streams are made of. These
// may grow; requests are held to what is written.
func (d *document) told() map[string]bool {
	asked, told := map[string]bool{}, map[string]bool{}
	for _, r := range d.operations() {
		for _, response := range r.Responses {
			for _, content := range response.Content {
				d.reach(content.Schema, told)
			}
		}
		if r.RequestBody != nil {
			for _, content := range r.RequestBody.Content {
				d.reach(content.Schema, asked)
			}
		}
	}
	for name, s := range d.Components.Schemas {
		if !asked[name] && !told[name] { // only in streams
			told[name] = true
			d.reach(s, told)
		}
	}
	return told
}

// reach notes the names of all schemas that one is made of.
func (d *document) reach(s *schema, names map[string]bool) {
	if s == nil {
		return
	}
	if s.ref != "" && !names[s.ref] {
		names[s.ref] = true
		d.reach(d.Components.Schemas[s.ref], names)
	}
	for _, p := range s.properties {
		d.reach(p, names)
	}
	d.reach(s.items, names)
	d.reach(s.others, names)
}

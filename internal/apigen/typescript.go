package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// typescript makes declarations of an OpenAPI document: one type for each schema
// that has a name, and one entry of Operations for each operation.
func typescript(text []byte) ([]byte, error) {
	d, err := parse(text)
	if err != nil {
		return nil, err
	}
	w := &writer{document: d, told: d.told()}
	w.line("// Code generated from openapi.json by internal/apigen. DO NOT EDIT.\n")
	w.line("/** Any JSON value. */\nexport type Json = null | boolean | number | string | Json[] | { [name: string]: Json };\n")
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		w.schema(name, d.Components.Schemas[name])
	}
	if err := w.operations(); err != nil {
		return nil, err
	}
	return w.Bytes(), w.err
}

// A writer writes declarations.
type writer struct {
	bytes.Buffer

	document *document
	told     map[string]bool // schemas whose lists of values may grow
	err      error           // the first one
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// comment writes a comment, if there is something to say.
func (w *writer) comment(indent, text string) {
	if text != "" {
		w.line("%s/** %s */", indent, strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "*/", "* /"))
	}
}

// schema writes the type of a schema that has a name.
func (w *writer) schema(name string, s *schema) {
	if !regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`).MatchString(name) {
		w.fail("the schema %q has a name that is none in TypeScript", name)
	}
	w.comment("", s.description)
	if slices.Equal(s.types, []string{"object"}) && s.others == nil && !s.free {
		w.line("export interface %s {", name)
		w.members("  ", s, w.told[name])
		w.line("}\n")
		return
	}
	w.line("export type %s = %s;\n", name, w.typ(s, "", w.told[name]))
}

// members writes the members of an object.
func (w *writer) members(indent string, s *schema, grows bool) {
	for _, name := range slices.Sorted(maps.Keys(s.properties)) {
		if name == "$schema" {
			continue
		}
		p := s.properties[name]
		w.comment(indent, p.description)
		w.line("%s%s%s: %s;", indent, key(name), optional(slices.Contains(s.required, name)), w.typ(p, indent, grows))
	}
}

// key returns a member's name as TypeScript writes it.
func key(name string) string {
	if regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(name) {
		return name
	}
	return quote(name)
}

func quote(s string) string {
	text, _ := json.Marshal(s) // a string always can be
	return string(text)
}

func optional(required bool) string {
	if required {
		return ""
	}
	return "?"
}

// typ returns the type of a schema. grows says that a list of values may grow.
func (w *writer) typ(s *schema, indent string, grows bool) string {
	switch {
	case s == nil:
		return "Json"
	case s.ref != "":
		if w.document.Components.Schemas[s.ref] == nil {
			w.fail("the schema %s is not there", s.ref)
		}
		return s.ref
	case len(s.enum) > 0:
		return w.enum(s, grows)
	case len(s.types) == 0:
		if len(s.properties) > 0 {
			w.fail("a schema with members that is no object")
		}
		return "Json"
	}
	var parts []string
	for _, t := range s.types {
		parts = append(parts, w.one(t, s, indent, grows))
	}
	return strings.Join(parts, " | ")
}

// one returns the type of a schema if its value is of this JSON type.
func (w *writer) one(t string, s *schema, indent string, grows bool) string {
	switch t {
	case "string", "boolean", "null":
		return t
	case "integer", "number":
		return "number"
	case "array":
		item := w.typ(s.items, indent, grows)
		if strings.Contains(item, "|") {
			item = "(" + item + ")"
		}
		return item + "[]"
	case "object":
		switch {
		case s.others != nil:
			return "{ [name: string]: " + w.typ(s.others, indent, grows) + " }"
		case len(s.properties) == 0:
			return "{ [name: string]: Json }"
		}
		inner := &writer{document: w.document, told: w.told}
		inner.members(indent+"  ", s, grows)
		if inner.err != nil {
			w.fail("%w", inner.err)
		}
		return "{\n" + inner.String() + indent + "}"
	}
	w.fail("the type %q is not known", t)
	return "never"
}

// enum returns the type of a list of values.
func (w *writer) enum(s *schema, grows bool) string {
	var values []string
	for _, v := range s.enum {
		text, ok := v.(string)
		if !ok {
			w.fail("a value %v that is no string", v)
		}
		values = append(values, quote(text))
	}
	if grows {
		// Editors still offer the known ones.
		values = append(values, "(string & {})")
	}
	all := strings.Join(values, " | ")
	if slices.Contains(s.types, "array") {
		return "(" + all + ")[]"
	}
	return all
}

// operations writes the table of all operations.
func (w *writer) operations() error {
	w.comment("", "Operations holds every operation of the interface by its id. A parameter of the path stands in it in braces; answer is what comes with success, as JSON.")
	w.line("export interface Operations {")
	seen := map[string]bool{}
	for _, r := range w.document.operations() {
		if r.OperationID == "" || seen[r.OperationID] {
			return fmt.Errorf("%s %s has no id of its own: %q", r.method, r.path, r.OperationID)
		}
		seen[r.OperationID] = true
		w.comment("  ", strings.TrimSpace(r.Summary+". "+r.Description))
		w.line("  %s: {", quote(r.OperationID))
		w.line("    method: %s;", quote(r.method))
		w.line("    path: %s;", quote(r.path))
		if r.Scope != "" {
			w.line("    scope: %s;", quote(r.Scope))
		}
		w.parameters("pathParams", "path", r)
		w.parameters("query", "query", r)
		w.body(r)
		w.answer(r)
		w.line("  };")
	}
	w.line("}\n")
	w.comment("", "OperationID is the id of an operation.")
	w.line("export type OperationID = keyof Operations;")
	return nil
}

// parameters writes the parameters of one kind. Those in the header are the
// business of the client that makes requests.
func (w *writer) parameters(name, in string, r *route) {
	var chosen []parameter
	needed := false
	for _, p := range r.Parameters {
		if p.In == in {
			chosen = append(chosen, p)
			needed = needed || p.Required
		}
	}
	if len(chosen) == 0 {
		return
	}
	w.line("    %s%s: {", name, optional(needed))
	for _, p := range chosen {
		w.comment("      ", p.Description)
		w.line("      %s%s: %s;", key(p.Name), optional(p.Required), w.typ(p.Schema, "      ", false))
	}
	w.line("    };")
}

// body writes the type of a request's body, if it has one.
func (w *writer) body(r *route) {
	if r.RequestBody == nil {
		return
	}
	content, ok := r.RequestBody.Content["application/json"]
	if !ok {
		w.fail("%s takes a body that isn't JSON", r.OperationID)
	}
	w.line("    body%s: %s;", optional(r.RequestBody.Required), w.typ(content.Schema, "    ", false))
}

// answer writes the type of the answer that comes with success.
func (w *writer) answer(r *route) {
	for _, status := range slices.Sorted(maps.Keys(r.Responses)) {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		content := r.Responses[status].Content
		switch json, ok := content["application/json"]; {
		case ok:
			w.line("    answer: %s;", w.typ(json.Schema, "    ", true))
		case len(content) > 0:
			w.line("    answer: string;") // a file, for instance
		default:
			w.line("    answer: void;")
		}
		return
	}
	w.fail("%s has no answer", r.OperationID)
}

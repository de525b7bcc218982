package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// typescript makes the declarations for the console.
func typescript(decls []*decl) []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("// Code generated from schema/*.wire by wire/internal/gen. DO NOT EDIT.\n")
	p("/** Any JSON value. */\nexport type Json = null | boolean | number | string | Json[] | { [name: string]: Json };\n")
	p("/** A message's content: plain text, or blocks. */\nexport type Content = string | Block[];\n")
	byName := map[string]*decl{}
	for _, d := range decls {
		byName[d.name] = d
	}
	for _, d := range decls {
		if d.kind == "enum" {
			tsDoc(&b, "", d.name+" "+d.doc)
			var values []string
			for _, f := range d.fields {
				values = append(values, fmt.Sprintf("%q", f.wire))
			}
			p("export type %s = %s | (string & {});\n", d.name, strings.Join(values, " | "))
			continue
		}
		tsDoc(&b, "", d.name+" "+d.doc)
		base := ""
		if d.kind == "hook" {
			base = " extends " + common
		}
		p("export interface %s%s {", d.name, base)
		for _, k := range d.discriminators() {
			p("  %s: %q;", k[0], k[1])
		}
		for _, f := range d.fields {
			tsDoc(&b, "  ", f.doc)
			mark := ""
			if f.optional {
				mark = "?"
			}
			p("  %s%s: %s;", f.wire, mark, tsType(f.typ))
		}
		p("}\n")
	}
	for i := range unions {
		u := &unions[i]
		var names []string
		for _, d := range decls {
			if d.kind == u.kind {
				names = append(names, d.name)
			}
		}
		tsDoc(&b, "", u.doc+" A newer CLI may send others: keep a default branch.")
		p("export type %s =\n  | %s;\n", u.name, strings.Join(names, "\n  | "))
	}
	tsDoc(&b, "", "Answers gives the success body of each control request by its subtype.")
	p("export interface Answers {")
	for _, d := range decls {
		name := strings.TrimSuffix(d.name, "Request") + "Answer"
		if d.kind == "request" && slices.ContainsFunc(decls, func(a *decl) bool { return a.name == name }) {
			p("  %s: %s;", d.tags[0], name)
		}
	}
	p("}")
	return b.Bytes()
}

func tsDoc(b *bytes.Buffer, indent, text string) {
	if text != "" {
		fmt.Fprintf(b, "%s/** %s */\n", indent, strings.ReplaceAll(text, "*/", "* /"))
	}
}

func tsType(t *typ) string {
	s := t.name
	switch {
	case t.form == "list":
		s = "(" + tsType(t.elem) + ")[]"
		if !strings.Contains(tsType(t.elem), "|") {
			s = tsType(t.elem) + "[]"
		}
	case t.form == "map":
		s = "{ [name: string]: " + tsType(t.elem) + " }"
	case t.name == "int" || t.name == "num":
		s = "number"
	case t.name == "bool":
		s = "boolean"
	case t.name == "raw":
		s = "Json"
	}
	if t.nullable {
		s += " | null"
	}
	return s
}

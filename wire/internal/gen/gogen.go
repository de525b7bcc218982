package main

import (
	"bytes"
	"fmt"
	"go/format"
	"slices"
	"strings"
)

// homes says which file a kind of declaration goes to.
var homes = []struct {
	file  string
	kinds []string
}{
	{"zz_enums.go", []string{"enum"}},
	{"zz_structs.go", []string{"struct"}},
	{"zz_messages.go", []string{"message"}},
	{"zz_blocks.go", []string{"block", "event", "delta"}},
	{"zz_permissions.go", []string{"update", "result"}},
	{"zz_requests.go", []string{"request", "answer"}},
	{"zz_hooks.go", []string{"hook", "hookout"}},
}

const header = "// Code generated from schema/*.wire by wire/internal/gen. DO NOT EDIT.\n\n"

// writer gathers Go source.
type writer struct {
	bytes.Buffer
	decls map[string]*decl
}

func (w *writer) p(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// doc writes a comment, wrapped.
func (w *writer) doc(indent, text string) {
	line := indent + "//"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > 79 && line != indent+"//" {
			w.p("%s", line)
			line = indent + "//"
		}
		line += " " + word
	}
	w.p("%s", line)
}

func goFiles(decls []*decl) ([]file, error) {
	byName := map[string]*decl{}
	for _, d := range decls {
		byName[d.name] = d
	}
	var files []file
	add := func(name string, w *writer) error {
		text, err := format.Source(append([]byte(header+"package wire\n\n"+imports(w.String())), w.Bytes()...))
		if err != nil {
			return fmt.Errorf("formatting %s: %w", name, err)
		}
		files = append(files, file{name, text})
		return nil
	}
	for _, h := range homes {
		w := &writer{decls: byName}
		for _, d := range decls {
			if !slices.Contains(h.kinds, d.kind) {
				continue
			}
			if d.kind == "enum" {
				w.enum(d)
			} else {
				w.object(d)
			}
		}
		if err := add(h.file, w); err != nil {
			return nil, err
		}
	}
	w := &writer{decls: byName}
	for i := range unions {
		w.union(&unions[i], decls)
	}
	w.answers(decls)
	w.tables(decls)
	return files, add("zz_unions.go", w)
}

func imports(body string) string {
	if strings.Contains(body, "json.RawMessage") {
		return "import \"encoding/json\"\n\n"
	}
	return ""
}

func (w *writer) enum(d *decl) {
	w.doc("", d.name+" "+d.doc+" The set is open: a newer CLI may use other values.")
	w.p("type %s string\n", d.name)
	w.p("// The values of %s that are known.", d.name)
	w.p("const (")
	for _, f := range d.fields {
		if f.doc != "" {
			w.doc("\t", f.goName+": "+f.doc)
		}
		w.p("\t%s %s = %q", f.goName, d.name, f.wire)
	}
	w.p(")\n")
}

// common is the struct that all hook inputs share.
const common = "HookCommon"

func (w *writer) object(d *decl) {
	w.doc("", d.name+" "+d.doc)
	w.p("type %s struct {", d.name)
	if d.name != common {
		w.p("\tSource")
	}
	if d.kind == "hook" {
		w.p("\t%s", common)
	}
	for i, f := range d.fields {
		if i > 0 || d.kind == "hook" {
			w.p("")
		}
		doc := f.doc
		if doc == "" {
			doc = "is the member " + f.wire + "."
		}
		w.doc("\t", doc)
		w.p("\t%s %s `json:%q`", f.goName, w.goType(f), f.wire+map[bool]string{true: ",omitempty"}[f.optional])
	}
	w.p("}\n")
	w.methods(d)
}

func (w *writer) methods(d *decl) {
	discriminators := d.discriminators()
	w.p("func (v *%s) setMember(d *decoder, name []byte, raw value) bool {", d.name)
	w.p("\tswitch string(name) {")
	for _, k := range discriminators {
		w.p("\tcase %q:\n\t\treturn true", k[0])
	}
	for _, f := range d.fields {
		w.p("\tcase %q:\n\t\treturn %s", f.wire, w.set(w.fieldType(f), "&v."+f.goName))
	}
	w.p("\t}")
	if d.kind == "hook" {
		w.p("\treturn v.%s.setMember(d, name, raw)", common)
	} else {
		w.p("\treturn false")
	}
	w.p("}\n")
	w.p("func (v *%s) appendMembers(e *encoder) {", d.name)
	for _, k := range discriminators {
		w.p("\te.raw(%q, []byte(`%q`))", k[0], k[1])
	}
	if d.kind == "hook" {
		w.p("\tv.%s.appendMembers(e)", common)
	}
	for _, f := range d.fields {
		t := w.fieldType(f)
		w.p("\tput(e, %q, v.%s, %s, %s, %s)", f.wire, f.goName, w.zero(t, "v."+f.goName), presence(f), w.encFunc(t))
	}
	w.p("}\n")
	if d.name == common {
		return
	}
	w.p("func (*%s) fresh() object { return new(%s) }\n", d.name, d.name)
	w.p("// UnmarshalJSON decodes the value and keeps what no field holds.\nfunc (v *%s) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }\n", d.name)
	w.p("// MarshalJSON encodes the value, with what was kept at decoding.\nfunc (v %s) MarshalJSON() ([]byte, error) { return encodeObject(&v) }\n", d.name)
	if d.kind == "answer" {
		w.p("func (*%s) answer() {}\n", d.name)
	}
	u := unionOf(d.kind)
	if u == nil {
		return
	}
	w.p("func (*%s) %s() {}\n", d.name, u.method)
	switch {
	case d.kind == "message" && d.anySubtype():
		w.p("// MessageType returns the line's type and subtype.\nfunc (v *%s) MessageType() (typ, subtype string) { return %q, string(v.Subtype) }\n", d.name, d.tags[0])
	case d.kind == "message":
		sub := ""
		if len(d.tags) > 1 {
			sub = d.tags[1]
		}
		w.p("// MessageType returns the line's type and subtype.\nfunc (*%s) MessageType() (typ, subtype string) { return %q, %q }\n", d.name, d.tags[0], sub)
	default:
		w.p("// %s returns %q.\nfunc (*%s) %s() string { return %q }\n", u.tag, d.tags[0], d.name, u.tag, d.tags[0])
	}
	if d.kind == "hook" {
		w.p("// Common returns the members that every hook input has.\nfunc (v *%s) Common() *%s { return &v.%s }\n", d.name, common, common)
	}
}

func (d *decl) anySubtype() bool { return len(d.tags) > 1 && d.tags[1] == "*" }

// discriminators returns the names and values that mark a variant.
func (d *decl) discriminators() [][2]string {
	u := unionOf(d.kind)
	if u == nil {
		return nil
	}
	var out [][2]string
	for i, tag := range d.tags {
		if tag != "*" {
			out = append(out, [2]string{u.keys[i], tag})
		}
	}
	return out
}

func presence(f *field) string {
	switch {
	case f.optional:
		return "optional"
	case f.typ.nullable:
		return "nullable"
	}
	return "always"
}

// fieldType makes the implicit pointers of a field's type explicit.
func (w *writer) fieldType(f *field) *typ {
	t := *f.typ
	if t.form != "name" || t.pointer {
		return &t
	}
	d := w.decls[t.name]
	isStruct := d != nil && d.kind != "enum"
	switch {
	case isStruct && (f.optional || t.nullable):
		t.pointer = true
	case t.nullable && (t.name == "int" || t.name == "num" || t.name == "bool"):
		t.pointer = true
	}
	return &t
}

func (w *writer) goType(f *field) string { return w.typeName(w.fieldType(f)) }

func (w *writer) typeName(t *typ) string {
	s := t.name
	switch {
	case t.form == "list":
		s = "[]" + w.typeName(t.elem)
	case t.form == "map":
		s = "map[string]" + w.typeName(t.elem)
	case t.name == "int":
		s = "int64"
	case t.name == "num":
		s = "float64"
	case t.name == "raw":
		s = "json.RawMessage"
	}
	if t.pointer {
		s = "*" + s
	}
	return s
}

// forms gives the setter and the encoder of a basic type.
var forms = map[string][2]string{
	"string": {"setString[string]", "encString[string]"},
	"int":    {"setInt", "encInt"}, "num": {"setNum", "encNum"}, "bool": {"setBool", "encBool"},
	"raw": {"setRaw", "encRaw"}, "Content": {"setContent", "encContent"},
}

// set returns the call that sets what dst points to.
func (w *writer) set(t *typ, dst string) string {
	if t.pointer {
		base := *t
		base.pointer = false
		return fmt.Sprintf("setPointer(d, %s, raw, %s)", dst, w.setter(&base))
	}
	switch {
	case t.form == "list":
		return fmt.Sprintf("setList(d, %s, raw, %s)", dst, w.setter(t.elem))
	case t.form == "map":
		return fmt.Sprintf("setMap(d, %s, raw, %s)", dst, w.setter(t.elem))
	case forms[t.name][0] == "" && unionNamed(t.name) != nil:
		return fmt.Sprintf("setUnion(d, %s, raw, decode%s)", dst, t.name)
	}
	return fmt.Sprintf("%s(d, %s, raw)", w.setter(t), dst)
}

// setter returns a function that sets a value of a type.
func (w *writer) setter(t *typ) string {
	d := w.decls[t.name]
	switch {
	case t.pointer || t.form == "list" || t.form == "map" || forms[t.name][0] == "" && unionNamed(t.name) != nil:
		return fmt.Sprintf("func(d *decoder, dst *%s, raw value) bool { return %s }", w.typeName(t), w.set(t, "dst"))
	case forms[t.name][0] != "":
		return forms[t.name][0]
	case d.kind == "enum":
		return fmt.Sprintf("setString[%s]", t.name)
	}
	return fmt.Sprintf("setStruct[%s]", t.name)
}

// encFunc returns a function that encodes a value of a type.
func (w *writer) encFunc(t *typ) string {
	var s string
	switch d := w.decls[t.name]; {
	case t.form == "list":
		s = fmt.Sprintf("encList(%s)", w.encFunc(t.elem))
	case t.form == "map":
		s = fmt.Sprintf("encMap(%s)", w.encFunc(t.elem))
	case forms[t.name][1] != "":
		s = forms[t.name][1]
	case unionNamed(t.name) != nil:
		s = fmt.Sprintf("encUnion[%s]", t.name)
	case d.kind == "enum":
		s = fmt.Sprintf("encString[%s]", t.name)
	default:
		s = fmt.Sprintf("encStruct[%s]", t.name)
	}
	if t.pointer {
		s = fmt.Sprintf("encPointer(%s)", s)
	}
	return s
}

func (w *writer) zero(t *typ, v string) string {
	d := w.decls[t.name]
	switch {
	case t.pointer || t.form != "name" || t.name == "raw" || unionNamed(t.name) != nil:
		return v + " == nil"
	case t.name == "string" || d != nil && d.kind == "enum":
		return v + ` == ""`
	case t.name == "int" || t.name == "num":
		return v + " == 0"
	case t.name == "bool":
		return "!" + v
	case t.name == "Content":
		return v + ".IsZero()"
	}
	return "false"
}

func (w *writer) union(u *union, decls []*decl) {
	var variants []*decl
	for _, d := range decls {
		if d.kind == u.kind {
			variants = append(variants, d)
		}
	}
	w.doc("", u.doc+" The set of types behind it is closed; what the table does not know is a [*"+u.unknown+"]. A switch over it that must be complete is checked by the gochecksumtype linter:")
	w.p("//\n//\tswitch v := v.(type) {")
	for i, d := range variants {
		if i == 3 {
			w.p("//\t…")
			break
		}
		w.p("//\tcase *wire.%s:", d.name)
	}
	w.p("//\tcase *wire.%s:\n//\t}", u.unknown)
	w.p("//\n//sumtype:decl")
	w.p("type %s interface {", u.name)
	w.p("\tobject")
	w.p("\t// Raw returns the bytes that the value was decoded from, nil if it was built.\n\tRaw() json.RawMessage")
	w.p("\t// Extra returns a member that no field holds, or nil.\n\tExtra(name string) json.RawMessage")
	w.p("\t// ExtraNames returns the names that Extra knows.\n\tExtraNames() []string")
	if u.kind == "message" {
		w.p("\t// MessageType returns the line's type and subtype.\n\tMessageType() (typ, subtype string)")
	} else {
		w.p("\t// %s returns what tells the variants apart (member %q).\n\t%s() string", u.tag, u.keys[0], u.tag)
	}
	if u.kind == "hook" {
		w.p("\t// Common returns the members that every hook input has.\n\tCommon() *%s", common)
	}
	w.p("\t%s()\n}\n", u.method)
	w.unknown(u)

	w.p("func decode%s(d *decoder, raw value) %s {", u.name, u.name)
	w.p("\tlist, mark, ok := d.members(raw)")
	w.p("\tdefer d.drop(mark)")
	w.p("\tif !ok {\n\t\tu := new(%s)\n\t\tu.raw = d.raw(raw) // not even an object, or nested too deep\n\t\treturn u\n\t}", u.unknown)
	w.p("\tvar v %s", u.name)
	if u.kind == "message" {
		w.p("\tswitch typ, subtype := d.tag(list, \"type\"), d.tag(list, \"subtype\"); string(typ) {")
		w.messageCases(variants)
	} else {
		w.p("\tswitch string(d.tag(list, %q)) {", u.keys[0])
		for _, d := range variants {
			w.p("\tcase %q:\n\t\tv = new(%s)", d.tags[0], d.name)
		}
	}
	w.p("\t}")
	w.p("\tif v == nil {\n\t\tv = new(%s)\n\t}", u.unknown)
	w.p("\td.fill(v, raw, list)\n\treturn v\n}\n")
}

// messageCases writes the choice by type, and by subtype where there is one.
func (w *writer) messageCases(variants []*decl) {
	var types []string
	for _, d := range variants {
		if !slices.Contains(types, d.tags[0]) {
			types = append(types, d.tags[0])
		}
	}
	for _, t := range types {
		w.p("\tcase %q:", t)
		var plain *decl
		var subs []*decl
		for _, d := range variants {
			switch {
			case d.tags[0] != t:
			case len(d.tags) == 1 || d.anySubtype():
				plain = d
			default:
				subs = append(subs, d)
			}
		}
		if len(subs) == 0 {
			w.p("\t\tv = new(%s)", plain.name)
			continue
		}
		w.p("\t\tswitch string(subtype) {")
		for _, d := range subs {
			w.p("\t\tcase %q:\n\t\t\tv = new(%s)", d.tags[1], d.name)
		}
		if plain != nil {
			w.p("\t\tdefault:\n\t\t\tv = new(%s)", plain.name)
		}
		w.p("\t\t}")
	}
}

func (w *writer) unknown(u *union) {
	w.doc("", fmt.Sprintf("%s is a %s that the protocol table does not know. Its members are all in Extra; encoded, it is what it was decoded from.", u.unknown, u.name))
	w.p("type %s struct {\n\tSource\n}\n", u.unknown)
	w.p("func (*%s) setMember(*decoder, []byte, value) bool { return false }\n\nfunc (*%s) appendMembers(*encoder) {}\n", u.unknown, u.unknown)
	w.p("func (*%s) fresh() object { return new(%s) }\n\nfunc (*%s) %s() {}\n", u.unknown, u.unknown, u.unknown, u.method)
	w.p("// UnmarshalJSON keeps the value as it is.\nfunc (v *%s) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }\n", u.unknown)
	w.p("// MarshalJSON returns the value as it was decoded.\nfunc (v %s) MarshalJSON() ([]byte, error) { return encodeObject(&v) }\n", u.unknown)
	if u.kind == "message" {
		w.p("// MessageType returns the line's type and subtype, whatever they are.\nfunc (v *%s) MessageType() (typ, subtype string) {\n\treturn lookupString(v.raw, \"type\"), lookupString(v.raw, \"subtype\")\n}\n", u.unknown)
	} else {
		w.p("// %s returns the member %q, whatever it is.\nfunc (v *%s) %s() string { return lookupString(v.raw, %q) }\n", u.tag, u.keys[0], u.unknown, u.tag, u.keys[0])
	}
	if u.kind == "hook" {
		w.p("// Common returns the members that every hook input has.\nfunc (v *%s) Common() *%s {\n\tc := new(%s)\n\tfor _, m := range v.extra {\n\t\tsetField(c, m.name, m.raw)\n\t}\n\treturn c\n}\n", u.unknown, common, common)
	}
}

// answers writes the choice of an answer's type by its request's subtype.
func (w *writer) answers(decls []*decl) {
	w.p("func newAnswer(subtype string) Answer {\n\tswitch subtype {")
	for _, d := range decls {
		if d.kind != "request" {
			continue
		}
		name := strings.TrimSuffix(d.name, "Request") + "Answer"
		if w.decls[name] != nil {
			w.p("\tcase %q:\n\t\treturn new(%s)", d.tags[0], name)
		}
	}
	w.p("\t}\n\treturn nil\n}\n")
}

// tables writes what the table says besides shapes.
func (w *writer) tables(decls []*decl) {
	w.p("// requestSpecOf returns what the table says of a control request.")
	w.p("func requestSpecOf(subtype string) (requestSpec, bool) {\n\tswitch subtype {")
	for _, d := range decls {
		if d.kind != "request" {
			continue
		}
		required := "nil"
		for _, f := range d.fields {
			if !f.optional {
				required = strings.TrimSuffix(strings.Replace(required, "nil", "[]string{}", 1), "}") + fmt.Sprintf("%q, }", f.wire)
			}
		}
		w.p("\tcase %q:\n\t\treturn requestSpec{%s, %s, "+required+"}, true", d.tags[0],
			map[string]string{"in": "FromCLI", "out": "ToCLI", "both": "BothWays"}[or(d.attrs["dir"], "out")],
			map[string]string{"observe": "ScopeObserve", "prompt": "ScopePrompt", "approve": "ScopeApprove", "admin": "ScopeAdmin"}[or(d.attrs["scope"], "admin")])
	}
	w.p("\t}\n\treturn requestSpec{}, false\n}\n")
	w.p("// classOf returns what the table says of a line's life.")
	w.p("func classOf(typ, subtype string) Class {\n\tswitch typ {")
	byType := map[string][]*decl{}
	var types []string
	for _, d := range decls {
		if d.kind == "message" && or(d.attrs["class"], "durable") != "durable" {
			if byType[d.tags[0]] == nil {
				types = append(types, d.tags[0])
			}
			byType[d.tags[0]] = append(byType[d.tags[0]], d)
		}
	}
	class := map[string]string{"live": "Live", "consumed": "Consumed"}
	for _, t := range types {
		w.p("\tcase %q:", t)
		if len(byType[t][0].tags) == 1 {
			w.p("\t\treturn %s", class[byType[t][0].attrs["class"]])
			continue
		}
		w.p("\t\tswitch subtype {")
		for _, d := range byType[t] {
			w.p("\t\tcase %q:\n\t\t\treturn %s", d.tags[1], class[d.attrs["class"]])
		}
		w.p("\t\t}")
	}
	w.p("\t}\n\treturn Durable\n}")
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

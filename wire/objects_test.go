package wire

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tableEntry is a declaration of the protocol table that has a tag of its own.
type tableEntry struct {
	kind, name, tag, subtype string
}

// table reads the declarations of the protocol table. It does not use the
// generator: what that makes is being tested.
func table(t testing.TB) []tableEntry {
	t.Helper()
	files, err := filepath.Glob("schema/*.wire")
	if err != nil || len(files) == 0 {
		t.Fatalf("looking for the tables: %v, found %d", err, len(files))
	}
	pattern := regexp.MustCompile(`(?m)^(message|block|event|delta|update|result|request|answer|hook|hookout) (\w+)(?: ([\w*]+))?(?: ([\w*]+))?(?: |$)`)
	suffix := map[string]string{"request": "Request", "answer": "Answer", "hook": "Input", "hookout": "Output"}
	var all []tableEntry
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("reading a table: %v", err)
		}
		for _, m := range pattern.FindAllStringSubmatch(string(text), -1) {
			e := tableEntry{kind: m[1], name: m[2] + suffix[m[1]], tag: m[3], subtype: m[4]}
			if e.tag == "" {
				e.tag = m[2]
			}
			all = append(all, e)
		}
	}
	if len(all) < 200 {
		t.Fatalf("the tables have only %d declarations", len(all))
	}
	return all
}

// decode makes the Go value of an entry by decoding as little as tells it apart.
func (e tableEntry) decode(t testing.TB, subtypes map[string]string) object {
	t.Helper()
	with := func(name string) []byte { return fmt.Appendf(nil, `{%q:%q}`, name, e.tag) }
	switch e.kind {
	case "message":
		return decodeFrom(fmt.Appendf(nil, `{"type":%q,"subtype":%q}`, e.tag, e.subtype), decodeMessage)
	case "block":
		return decodeFrom(with("type"), decodeBlock)
	case "event":
		return decodeFrom(with("type"), decodeEvent)
	case "delta":
		return decodeFrom(with("type"), decodeDelta)
	case "update":
		return decodeFrom(with("type"), decodePermissionUpdate)
	case "result":
		return decodeFrom(with("behavior"), decodePermissionResult)
	case "request":
		return decodeFrom(with("subtype"), decodeRequest)
	case "hook":
		return decodeFrom(with("hook_event_name"), decodeHookInput)
	case "hookout":
		return decodeFrom(with("hookEventName"), decodeHookSpecific)
	case "answer":
		return newAnswer(subtypes[strings.TrimSuffix(e.name, "Answer")+"Request"])
	}
	t.Fatalf("%s: unknown kind", e.kind)
	return nil
}

var objectType = reflect.TypeFor[object]()

// walk calls visit for every object within v, v included.
func walk(v reflect.Value, visit func(object)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			walk(v.Elem(), visit)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i), visit)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			walk(v.MapIndex(key), visit)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Source]() {
			return
		}
		if reflect.PointerTo(v.Type()).Implements(objectType) {
			p := reflect.New(v.Type())
			p.Elem().Set(v)
			visit(p.Interface().(object))
		}
		for _, f := range v.Fields() {
			walk(f, visit)
		}
	default: // there is nothing inside
	}
}

// structTypes adds the struct types that are objects and reachable from typ.
func structTypes(typ reflect.Type, found map[string]reflect.Type) {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		structTypes(typ.Elem(), found)
	case reflect.Struct:
		if found[typ.Name()] != nil {
			return
		}
		if reflect.PointerTo(typ).Implements(objectType) {
			found[typ.Name()] = typ
		}
		for f := range typ.Fields() {
			structTypes(f.Type, found)
		}
	default: // there is nothing inside
	}
}

// everyType returns all generated types, by name. Most are found by way of the
// table; the source tells whether any is missing.
func everyType(t testing.TB) map[string]reflect.Type {
	t.Helper()
	found := map[string]reflect.Type{}
	subtypes := map[string]string{}
	entries := table(t)
	for _, e := range entries {
		if e.kind == "request" {
			subtypes[e.name] = e.tag
		}
	}
	for _, e := range entries {
		o := e.decode(t, subtypes)
		if name := reflect.TypeOf(o).Elem().Name(); name != e.name {
			t.Errorf("%s %s %s is decoded as a %s, want %s", e.kind, e.tag, e.subtype, name, e.name)
		}
		structTypes(reflect.TypeOf(o), found)
	}
	// Not part of anything else: the inputs of the tools that ask the user, whose
	// place is in a raw member, and the unknown ones.
	for _, o := range []object{
		&QuestionSet{}, &PlanExit{},
		&Unknown{}, &UnknownBlock{}, &UnknownEvent{}, &UnknownDelta{}, &UnknownUpdate{}, &UnknownResult{},
		&UnknownRequest{}, &UnknownHookInput{}, &UnknownHookSpecific{}, &UnknownAnswer{},
	} {
		structTypes(reflect.TypeOf(o), found)
	}
	for _, name := range declaredStructs(t) {
		if found[name] == nil {
			t.Errorf("type %s is generated and not tried: add it to everyType", name)
		}
	}
	return found
}

// declaredStructs returns the names of the generated structs that have a Source.
func declaredStructs(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("zz_*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("looking for generated files: %v, found %d", err, len(files))
	}
	var names []string
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("parsing %s: %v", file, err)
		}
		for _, d := range tree.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				ts, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				st, ok := ts.Type.(*ast.StructType)
				if !ok || len(st.Fields.List) == 0 {
					continue
				}
				if id, ok := st.Fields.List[0].Type.(*ast.Ident); ok && id.Name == "Source" {
					names = append(names, ts.Name.Name)
				}
			}
		}
	}
	if len(names) < 250 {
		t.Fatalf("only %d generated structs found", len(names))
	}
	return names
}

// forEachType runs a test for every generated type.
func forEachType(t *testing.T, f func(t *testing.T, fresh func() object)) {
	all := everyType(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			f(t, func() object { return reflect.New(all[name]).Interface().(object) })
		})
	}
}

// jsonField is a field of a generated struct that has a place on the wire.
type jsonField struct {
	name     string // on the wire
	optional bool
	index    []int
	typ      reflect.Type
}

func jsonFields(typ reflect.Type) []jsonField {
	var all []jsonField
	for _, f := range reflect.VisibleFields(typ) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" {
			all = append(all, jsonField{name, strings.Contains(options, "omitempty"), f.Index, f.Type})
		}
	}
	return all
}

// filler puts a value that is not zero into everything.
type filler struct{ n int }

var variants = map[reflect.Type]func() object{
	reflect.TypeFor[Block]():            func() object { return new(TextBlock) },
	reflect.TypeFor[Event]():            func() object { return new(ContentBlockDeltaEvent) },
	reflect.TypeFor[Delta]():            func() object { return new(TextDelta) },
	reflect.TypeFor[PermissionUpdate](): func() object { return new(AddRules) },
	reflect.TypeFor[PermissionResult](): func() object { return new(Deny) },
	reflect.TypeFor[Request]():          func() object { return new(SetModelRequest) },
	reflect.TypeFor[HookInput]():        func() object { return new(StopInput) },
	reflect.TypeFor[HookSpecific]():     func() object { return new(PreToolUseOutput) },
	reflect.TypeFor[Message]():          func() object { return new(ControlCancel) },
}

func (f *filler) fill(t testing.TB, v reflect.Value, depth int) {
	t.Helper()
	f.n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d \"é\u2028\\\n", f.n))
	case reflect.Int64:
		v.SetInt(int64(-f.n))
	case reflect.Float64:
		v.SetFloat(float64(f.n) + 0.25)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(t, v.Elem(), depth)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes(fmt.Appendf(nil, `{"n":[%d,null]}`, f.n))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(t, v.Index(0), depth)
		f.fill(t, v.Index(1), depth)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, key := range []string{"b \"", "a"} {
			e := reflect.New(v.Type().Elem()).Elem()
			f.fill(t, e, depth)
			v.SetMapIndex(reflect.ValueOf(key), e)
		}
	case reflect.Interface:
		variant := variants[v.Type()]
		if variant == nil {
			t.Fatalf("no variant of %s", v.Type())
		}
		o := reflect.ValueOf(variant())
		f.fill(t, o.Elem(), depth)
		v.Set(o)
	case reflect.Struct:
		switch {
		case v.Type() == reflect.TypeFor[Source]():
		case v.Type() == reflect.TypeFor[Content]():
			if f.n%2 == 0 || depth == 0 {
				v.Set(reflect.ValueOf(TextContent(fmt.Sprint("content ", f.n))))
				return
			}
			v.Set(reflect.ValueOf(BlockContent(&TextBlock{Text: "content"}, &ToolUseBlock{ID: "t", Input: json.RawMessage(`{}`)})))
		case depth > 0:
			for _, field := range v.Fields() {
				f.fill(t, field, depth-1)
			}
		}
	default:
		t.Fatalf("no value for %s", v.Type())
	}
}

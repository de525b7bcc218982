package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A decl is one declaration of the table.
type decl struct {
	pos    string
	kind   string // enum, struct, message, block, event, delta, update, result, request, answer, hook, hookout
	name   string // the Go name
	tags   []string
	attrs  map[string]string
	doc    string
	fields []*field
}

// A field is a member of an object, or a value of an enum.
type field struct {
	pos      string
	wire     string
	goName   string
	typ      *typ
	optional bool
	doc      string
}

// A typ is the type of a field.
type typ struct {
	form     string // name, list, map
	name     string
	elem     *typ
	nullable bool
	pointer  bool
}

// A union is a sealed interface and how its variants are told apart.
type union struct {
	kind    string // the declarations that are its variants
	name    string // the Go interface
	unknown string // the Go type of a variant that the table does not have
	keys    []string
	doc     string
	method  string // the method that seals it
	tag     string // an exported method that returns the discriminator
}

var unions = []union{
	{"message", "Message", "Unknown", []string{"type", "subtype"}, "Message is one line, in either direction.", "message", ""},
	{"block", "Block", "UnknownBlock", []string{"type"}, "Block is one piece of a message's content.", "block", "BlockType"},
	{"event", "Event", "UnknownEvent", []string{"type"}, "Event is one step of the model's streamed answer, as a stream_event line carries it.", "event", "EventType"},
	{"delta", "Delta", "UnknownDelta", []string{"type"}, "Delta is what a content_block_delta event adds to a block.", "delta", "DeltaType"},
	{"update", "PermissionUpdate", "UnknownUpdate", []string{"type"}, "PermissionUpdate is a change of the CLI's rules, mode or folders that goes with a permission answer.", "update", "UpdateType"},
	{"result", "PermissionResult", "UnknownResult", []string{"behavior"}, "PermissionResult is the answer to a can_use_tool request.", "result", "Behavior"},
	{"request", "Request", "UnknownRequest", []string{"subtype"}, "Request is the inside of a control request.", "request", "RequestSubtype"},
	{"hook", "HookInput", "UnknownHookInput", []string{"hook_event_name"}, "HookInput is what a hook is told.", "hookInput", "HookEventName"},
	{"hookout", "HookSpecific", "UnknownHookSpecific", []string{"hookEventName"}, "HookSpecific is the part of a hook's answer that is particular to its event.", "hookSpecific", "HookEventName"},
}

func unionOf(kind string) *union {
	for i := range unions {
		if unions[i].kind == kind {
			return &unions[i]
		}
	}
	return nil
}

func unionNamed(name string) *union {
	for i := range unions {
		if unions[i].name == name {
			return &unions[i]
		}
	}
	return nil
}

// suffixes are added to the declared name of some kinds.
var suffixes = map[string]string{"request": "Request", "answer": "Answer", "hook": "Input", "hookout": "Output"}

var (
	declPattern  = regexp.MustCompile(`^(enum|struct|message|block|event|delta|update|result|request|answer|hook|hookout) ([A-Z]\w*)((?: +[^ :=]+)*)((?: +\w+=\S+)*)$`)
	fieldPattern = regexp.MustCompile(`^([A-Za-z_][\w-]*)(\??) +(\S+)(?: +as +([A-Z]\w*))?$`)
	valuePattern = regexp.MustCompile(`^(\S+)(?: +([A-Z]\w*))?$`)
)

// attributes are the words that may stand behind a declaration, with their
// values.
var attributes = map[string][]string{
	"dir":   {"in", "out", "both"},
	"class": {"durable", "live", "consumed"},
	"scope": {"observe", "prompt", "approve", "admin"},
}

var sincePattern = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

// parseDir reads all tables of a folder, in the order of their names.
func parseDir(dir string) ([]*decl, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.wire"))
	if err != nil {
		return nil, fmt.Errorf("listing the tables: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no tables in %s", dir)
	}
	slices.Sort(files)
	var all []*decl
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("reading a table: %w", err)
		}
		decls, err := parse(filepath.Base(f), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, decls...)
	}
	return all, check(all)
}

func parse(file, text string) ([]*decl, error) {
	var decls []*decl
	var cur *decl
	var doc *string
	for i, line := range strings.Split(text, "\n") {
		pos := fmt.Sprintf("%s:%d", file, i+1)
		fail := func(format string, args ...any) ([]*decl, error) {
			return nil, fmt.Errorf("%s: %s", pos, fmt.Sprintf(format, args...))
		}
		line = strings.TrimRight(line, " \t\r")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "        : ") {
			if doc == nil {
				return fail("a continued comment with nothing before it")
			}
			*doc += " " + strings.TrimSpace(line[10:])
			continue
		}
		body, comment, _ := strings.Cut(line, " : ")
		comment = strings.TrimSpace(comment)
		if !strings.HasPrefix(line, "    ") {
			d, err := parseDecl(strings.TrimSpace(body))
			if err != nil {
				return fail("%v", err)
			}
			d.pos, d.doc = pos, comment
			decls, cur, doc = append(decls, d), d, &d.doc
			continue
		}
		if cur == nil {
			return fail("a field outside a declaration")
		}
		f, err := parseField(cur, strings.TrimSpace(body))
		if err != nil {
			return fail("%v", err)
		}
		f.pos, f.doc = pos, comment
		cur.fields, doc = append(cur.fields, f), &f.doc
	}
	return decls, nil
}

func parseDecl(body string) (*decl, error) {
	m := declPattern.FindStringSubmatch(body)
	if m == nil {
		return nil, fmt.Errorf("expected a declaration such as `message Status system status`, found %q", body)
	}
	d := &decl{kind: m[1], name: m[2] + suffixes[m[1]], tags: strings.Fields(m[3]), attrs: map[string]string{}}
	for kv := range strings.FieldsSeq(m[4]) {
		k, v, _ := strings.Cut(kv, "=")
		if !slices.Contains(attributes[k], v) && (k != "since" || !sincePattern.MatchString(v)) {
			return nil, fmt.Errorf("%s %s: unexpected %s", d.kind, d.name, kv)
		}
		d.attrs[k] = v
	}
	want := map[string][2]int{"message": {1, 2}, "block": {1, 1}, "event": {1, 1}, "delta": {1, 1}, "update": {1, 1}, "result": {1, 1}, "request": {1, 1}}[d.kind]
	if n := len(d.tags); n < want[0] || n > want[1] {
		return nil, fmt.Errorf("%s %s: expected %d to %d tags, found %d", d.kind, d.name, want[0], want[1], n)
	}
	if d.kind == "hook" || d.kind == "hookout" {
		d.tags = []string{m[2]}
	}
	return d, nil
}

func parseField(d *decl, body string) (*field, error) {
	if d.kind == "enum" {
		m := valuePattern.FindStringSubmatch(body)
		if m == nil {
			return nil, fmt.Errorf("expected a value, found %q", body)
		}
		name := m[2]
		if name == "" {
			name = goName(m[1])
		}
		return &field{wire: m[1], goName: d.name + name}, nil
	}
	m := fieldPattern.FindStringSubmatch(body)
	if m == nil {
		return nil, fmt.Errorf("expected a field such as `exit_code? int*`, found %q", body)
	}
	t, rest, err := parseType(m[3])
	if err != nil {
		return nil, err
	}
	if rest != "" {
		return nil, fmt.Errorf("type %q: unexpected %q", m[3], rest)
	}
	f := &field{wire: m[1], optional: m[2] == "?", typ: t, goName: m[4]}
	if f.goName == "" {
		f.goName = goName(m[1])
	}
	return f, nil
}

func parseType(s string) (*typ, string, error) {
	var t *typ
	switch {
	case s == "":
		return nil, "", fmt.Errorf("expected a type")
	case s[0] == '[' || s[0] == '{':
		form, closing := "list", byte(']')
		if s[0] == '{' {
			form, closing = "map", '}'
		}
		elem, rest, err := parseType(s[1:])
		if err != nil {
			return nil, "", err
		}
		if rest == "" || rest[0] != closing {
			return nil, "", fmt.Errorf("expected %q in %q", closing, s)
		}
		t, s = &typ{form: form, elem: elem}, rest[1:]
	default:
		n := strings.IndexFunc(s, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
		})
		if n < 0 {
			n = len(s)
		}
		if n == 0 {
			return nil, "", fmt.Errorf("expected a type at %q", s)
		}
		t, s = &typ{form: "name", name: s[:n]}, s[n:]
	}
	for {
		switch {
		case strings.HasPrefix(s, "|null"):
			t.nullable, s = true, s[5:]
		case strings.HasPrefix(s, "*"):
			t.pointer, s = true, s[1:]
		default:
			return t, s, nil
		}
	}
}

var basic = map[string]bool{"string": true, "int": true, "num": true, "bool": true, "raw": true, "Content": true}

// check finds what is declared twice, used and not declared, or undocumented.
func check(decls []*decl) error {
	byName := map[string]*decl{}
	tags := map[string]*decl{}
	for _, d := range decls {
		if other := byName[d.name]; other != nil {
			return fmt.Errorf("%s: %s is declared at %s too", d.pos, d.name, other.pos)
		}
		byName[d.name] = d
		if d.doc == "" {
			return fmt.Errorf("%s: %s has no documentation", d.pos, d.name)
		}
		if len(d.tags) > 0 {
			key := d.kind + " " + strings.Join(d.tags, "/")
			if other := tags[key]; other != nil {
				return fmt.Errorf("%s: %s is declared at %s too", d.pos, key, other.pos)
			}
			tags[key] = d
		}
	}
	for _, d := range decls {
		if d.kind == "answer" && byName[strings.TrimSuffix(d.name, "Answer")+"Request"] == nil {
			return fmt.Errorf("%s: answer to a request that is not declared", d.pos)
		}
		seen := map[string]bool{}
		for _, f := range d.fields {
			if seen[f.wire] || seen[f.goName] {
				return fmt.Errorf("%s: %s.%s is declared twice", f.pos, d.name, f.wire)
			}
			seen[f.wire], seen[f.goName] = true, true
			if d.kind == "enum" {
				continue
			}
			t := f.typ
			for t.elem != nil {
				t = t.elem
			}
			if !basic[t.name] && unionNamed(t.name) == nil && byName[t.name] == nil {
				return fmt.Errorf("%s: %s.%s: type %s is not declared", f.pos, d.name, f.wire, t.name)
			}
		}
	}
	return nil
}

var initialisms = map[string]string{
	"id": "ID", "ids": "IDs", "uuid": "UUID", "uuids": "UUIDs", "url": "URL", "urls": "URLs", "uri": "URI", "mcp": "MCP", "api": "API",
	"json": "JSON", "usd": "USD", "sdk": "SDK", "http": "HTTP", "oauth": "OAuth", "ttft": "TTFT", "ui": "UI", "html": "HTML", "pid": "PID", "md": "MD", "ms": "Ms",
}

// goName turns a wire name into a Go name.
func goName(wire string) string {
	var words []string
	word := ""
	flush := func() {
		if word != "" {
			words = append(words, word)
		}
		word = ""
	}
	for i, r := range wire {
		switch {
		case r == '_' || r == '-' || r == '/' || r == ' ' || r == '.':
			flush()
			continue
		case r >= 'A' && r <= 'Z':
			// A run of capitals is one word: toolUseID, costUSD.
			if i > 0 && !(wire[i-1] >= 'A' && wire[i-1] <= 'Z') {
				flush()
			}
		}
		word += string(r)
	}
	flush()
	var b strings.Builder
	for _, w := range words {
		if s, ok := initialisms[strings.ToLower(w)]; ok {
			b.WriteString(s)
			continue
		}
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

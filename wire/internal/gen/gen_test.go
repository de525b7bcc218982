package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wireDir is the folder of package wire.
var wireDir = filepath.Join("..", "..")

func TestGoName(t *testing.T) {
	tests := []struct{ wire, want string }{
		{"type", "Type"},
		{"session_id", "SessionID"},
		{"parent_tool_use_id", "ParentToolUseID"},
		{"toolUseID", "ToolUseID"},
		{"sessionId", "SessionID"},
		{"hookCallbackIds", "HookCallbackIDs"},
		{"user_message_uuids", "UserMessageUUIDs"},
		{"costUSD", "CostUSD"},
		{"total_cost_usd", "TotalCostUSD"},
		{"sdkMcpServers", "SDKMCPServers"},
		{"mcp_servers", "MCPServers"},
		{"apiKeySource", "APIKeySource"},
		{"jsonSchema", "JSONSchema"},
		{"permissionMode", "PermissionMode"},
		{"ttft_ms", "TTFTMs"},
		{"duration_ms", "DurationMs"},
		{"url", "URL"},
		{"task-notification", "TaskNotification"},
		{"tools/list", "ToolsList"},
		{"bypassPermissions", "BypassPermissions"},
		{"_meta", "Meta"},
		{"omitClaudeMd", "OmitClaudeMD"},
		{"ephemeral_1h_input_tokens", "Ephemeral1hInputTokens"},
		{"cacheCreationEphemeral5mInputTokens", "CacheCreationEphemeral5mInputTokens"},
		{"needs auth", "NeedsAuth"},
		{"a.b", "AB"},
		{"", ""},
	}
	for _, tt := range tests {
		if got := goName(tt.wire); got != tt.want {
			t.Errorf("goName(%q) = %q, want %q", tt.wire, got, tt.want)
		}
	}
}

func TestParse(t *testing.T) {
	decls, err := parse("a.wire", `# a comment
enum Mode : is a mode.
    plan : Plan.
    dont-ask DoNotAsk

message Status system status dir=in class=live : tells something
        : over two lines.
# a comment among the fields
    mode? Mode|null : The mode.
        : And more.
    exit_code? int*
    lists? [[string]] as Table : Lists.
    by_name {Content}|null
message Result result * : ends a turn.
request Set set dir=out since=2.1.120 scope=prompt : sets.
answer Set : answers.
hook Stop : is told.
hookout Stop : answers.
`)
	if err != nil {
		t.Fatalf("parsing: %v", err)
	}
	name := func(s string) *typ { return &typ{form: "name", name: s} }
	want := []*decl{
		{pos: "a.wire:2", kind: "enum", name: "Mode", attrs: map[string]string{}, doc: "is a mode.", fields: []*field{
			{pos: "a.wire:3", wire: "plan", goName: "ModePlan", doc: "Plan."},
			{pos: "a.wire:4", wire: "dont-ask", goName: "ModeDoNotAsk"},
		}},
		{
			pos: "a.wire:6", kind: "message", name: "Status", tags: []string{"system", "status"}, attrs: map[string]string{"dir": "in", "class": "live"},
			doc: "tells something over two lines.", fields: []*field{
				{pos: "a.wire:9", wire: "mode", goName: "Mode", typ: &typ{form: "name", name: "Mode", nullable: true}, optional: true, doc: "The mode. And more."},
				{pos: "a.wire:11", wire: "exit_code", goName: "ExitCode", typ: &typ{form: "name", name: "int", pointer: true}, optional: true},
				{pos: "a.wire:12", wire: "lists", goName: "Table", typ: &typ{form: "list", elem: &typ{form: "list", elem: name("string")}}, optional: true, doc: "Lists."},
				{pos: "a.wire:13", wire: "by_name", goName: "ByName", typ: &typ{form: "map", elem: name("Content"), nullable: true}},
			},
		},
		{pos: "a.wire:14", kind: "message", name: "Result", tags: []string{"result", "*"}, attrs: map[string]string{}, doc: "ends a turn."},
		{pos: "a.wire:15", kind: "request", name: "SetRequest", tags: []string{"set"}, attrs: map[string]string{"dir": "out", "since": "2.1.120", "scope": "prompt"}, doc: "sets."},
		{pos: "a.wire:16", kind: "answer", name: "SetAnswer", attrs: map[string]string{}, doc: "answers."},
		{pos: "a.wire:17", kind: "hook", name: "StopInput", tags: []string{"Stop"}, attrs: map[string]string{}, doc: "is told."},
		{pos: "a.wire:18", kind: "hookout", name: "StopOutput", tags: []string{"Stop"}, attrs: map[string]string{}, doc: "answers."},
	}
	options := cmp.Options{cmp.AllowUnexported(decl{}, field{}, typ{}), cmp.Transformer("empty", func(tags []string) string { return strings.Join(tags, " ") })}
	if diff := cmp.Diff(want, decls, options); diff != "" {
		t.Errorf("declarations (-want +got):\n%s", diff)
	}
	if err := check(decls); err != nil {
		t.Errorf("checking: %v", err)
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"not a declaration", "struct : is.\n", `a.wire:1: expected a declaration such as`},
		{"unknown kind", "# x\nthing A : is.\n", `a.wire:2: expected a declaration such as`},
		{"name in lower case", "struct a : is.\n", `a.wire:1: expected a declaration`},
		{"field first", "    a string\n", "a.wire:1: a field outside a declaration"},
		{"comment first", "        : more\n", "a.wire:1: a continued comment with nothing before it"},
		{"message without a type", "message A : is.\n", "a.wire:1: message A: expected 1 to 2 tags, found 0"},
		{"message with too many tags", "message A a b c : is.\n", "a.wire:1: message A: expected 1 to 2 tags, found 3"},
		{"block without a type", "block A : is.\n", "a.wire:1: block A: expected 1 to 1 tags, found 0"},
		{"request without a subtype", "request A dir=in : is.\n", "a.wire:1: request ARequest: expected 1 to 1 tags, found 0"},
		{"struct with a tag", "struct A a : is.\n", "a.wire:1: struct A: expected 0 to 0 tags, found 1"},
		{"hook with a tag", "hook A a : is.\n", "a.wire:1: hook AInput: expected 0 to 0 tags, found 1"},
		{"field without a type", "struct A : is.\n    a : Text.\n", "a.wire:2: expected a field such as"},
		{"field with two types", "struct A : is.\n    a string int\n", "a.wire:2: expected a field such as"},
		{"field with a bad name", "struct A : is.\n    1a string\n", "a.wire:2: expected a field such as"},
		{"Go name in lower case", "struct A : is.\n    a string as b\n", "a.wire:2: expected a field such as"},
		{"list not closed", "struct A : is.\n    a [string\n", `a.wire:2: expected ']' in "[string"`},
		{"map closed as a list", "struct A : is.\n    a {string]\n", `a.wire:2: expected '}' in "{string]"`},
		{"empty list", "struct A : is.\n    a []\n", `a.wire:2: expected a type at "]"`},
		{"list of nothing", "struct A : is.\n    a [\n", `a.wire:2: expected a type`},
		{"unknown attribute value", "message A a class=alive : is.\n", `a.wire:1: message A: unexpected class=alive`},
		{"unknown attribute", "message A a colour=red : is.\n", `a.wire:1: message A: unexpected colour=red`},
		{"odd version", "request A a since=2.1 : is.\n", `a.wire:1: request ARequest: unexpected since=2.1`},
		{"rest behind a type", "struct A : is.\n    a string|undefined\n", `a.wire:2: type "string|undefined": unexpected "|undefined"`},
		{"value of an enum with too much", "enum A : is.\n    a B C\n", `a.wire:2: expected a value, found "a B C"`},

		{"declared twice", "struct A : is.\n\nstruct A : is.\n", "a.wire:3: A is declared at a.wire:1 too"},
		{"declared twice by suffix", "request A a : is.\nstruct ARequest : is.\n", "a.wire:2: ARequest is declared at a.wire:1 too"},
		{"tag twice", "block A a : is.\nblock B a : is.\n", "a.wire:2: block a is declared at a.wire:1 too"},
		{"tags twice", "message A s a : is.\nmessage B s b : is.\nmessage C s a : is.\n", "a.wire:3: message s/a is declared at a.wire:1 too"},
		{"no documentation", "struct A\n    a string\n", "a.wire:1: A has no documentation"},
		{"answer to nothing", "answer A : is.\n", "a.wire:1: answer to a request that is not declared"},
		{"field twice", "struct A : is.\n    a string\n    a int\n", "a.wire:3: A.a is declared twice"},
		{"Go name twice", "struct A : is.\n    a_b string\n    aB int\n", "a.wire:3: A.aB is declared twice"},
		{"value twice", "enum A : is.\n    a\n    a B\n", "a.wire:3: A.a is declared twice"},
		{"unknown type", "struct A : is.\n    a [{B}]|null\n", "a.wire:2: A.a: type B is not declared"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			decls, err := parse("a.wire", tt.text)
			if err == nil {
				err = check(decls)
			}
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestParseDirRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := parseDir(dir); err == nil || !strings.Contains(err.Error(), "no tables in") {
		t.Errorf("empty folder: %v", err)
	}
	write(t, filepath.Join(dir, "2.wire"), "struct A : is.\n")
	write(t, filepath.Join(dir, "1.wire"), "struct A : is.\n")
	if _, err := parseDir(dir); err == nil || err.Error() != "2.wire:1: A is declared at 1.wire:1 too" {
		t.Errorf("declared in two files: %v", err)
	}
	write(t, filepath.Join(dir, "2.wire"), "nonsense\n")
	if _, err := generate(dir); err == nil || !strings.HasPrefix(err.Error(), "2.wire:1: expected a declaration") {
		t.Errorf("bad file: %v", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatalf("writing a table: %v", err)
	}
}

// TestUpToDate fails when the tables, or this program, changed and the generated
// files did not.
func TestUpToDate(t *testing.T) {
	files, err := generate(filepath.Join(wireDir, "schema"))
	if err != nil {
		t.Fatalf("generating: %v", err)
	}
	made := map[string]bool{}
	for _, f := range files {
		made[f.name] = true
		have, err := os.ReadFile(filepath.Join(wireDir, f.name))
		if err != nil {
			t.Errorf("reading what was generated: %v", err)
			continue
		}
		if !bytes.Equal(have, f.text) {
			t.Errorf("%s is out of date: run go generate ./wire", f.name)
		}
	}
	left, err := filepath.Glob(filepath.Join(wireDir, "zz_*.go"))
	if err != nil {
		t.Fatalf("looking for generated files: %v", err)
	}
	for _, path := range left {
		if !made[filepath.Base(path)] {
			t.Errorf("%s is not made any more: remove it", path)
		}
	}
}

const smallTable = `struct HookCommon : holds what is common.
    session_id string : The session.
enum Mode : is a mode.
    plan : Plan.
message Status system status class=live : tells.
    mode? Mode|null : The mode.
message Result result * : ends.
    subtype Mode : How.
block Text text : is text.
    text string : The text, which may hold */ or "quotes".
event Ping ping : pings.
delta More more : is more.
update Add add : adds.
result Allow allow : allows.
request Set set since=2.1.120 scope=prompt : sets.
    value raw : Anything.
answer Set : answers.
    value {[num]} : Numbers.
hook Stop : is told.
hookout Stop : answers.
`

// TestRun makes the files of a small table, checks them, and finds a change.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "schema"), 0o700); err != nil {
		t.Fatalf("making a folder: %v", err)
	}
	write(t, filepath.Join(dir, "schema", "a.wire"), smallTable)
	if err := run(dir, true); err == nil || !strings.Contains(err.Error(), "reading what was generated") {
		t.Errorf("checking before the first run: %v", err)
	}
	if err := run(dir, false); err != nil {
		t.Fatalf("generating: %v", err)
	}
	if err := run(dir, true); err != nil {
		t.Errorf("checking after it: %v", err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "zz_*.go"))
	if err != nil || len(paths) < 8 {
		t.Fatalf("made %d Go files, %v", len(paths), err)
	}
	for _, path := range paths {
		if _, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments); err != nil {
			t.Errorf("the Go code is malformed: %v", err)
		}
	}
	ts, err := os.ReadFile(filepath.Join(dir, "protocol.d.ts"))
	if err != nil {
		t.Fatalf("reading the declarations: %v", err)
	}
	checkTypeScript(t, ts)
	for _, part := range []string{
		"export type Mode = \"plan\" | (string & {});\n",
		"export interface Status {\n  type: \"system\";\n  subtype: \"status\";\n",
		"  mode?: Mode | null;\n",
		"export interface StopInput extends HookCommon {\n  hook_event_name: \"Stop\";\n",
		"which may hold * / or",
		"  value: { [name: string]: number[] };\n",
		"export interface Answers {\n  set: SetAnswer;\n}\n",
	} {
		if !bytes.Contains(ts, []byte(part)) {
			t.Errorf("%q is missing in\n%s", part, ts)
		}
	}
	write(t, filepath.Join(dir, "schema", "a.wire"), smallTable+"block Other other : is another.\n")
	if err := run(dir, true); err == nil || !strings.Contains(err.Error(), "is out of date: run go generate ./wire") {
		t.Errorf("checking after a change: %v", err)
	}
}

func TestTypeScript(t *testing.T) {
	decls, err := parseDir(filepath.Join(wireDir, "schema"))
	if err != nil {
		t.Fatalf("parsing: %v", err)
	}
	ts := typescript(decls)
	checkTypeScript(t, ts)
	declared := map[string]bool{}
	for _, m := range tsName.FindAllSubmatch(ts, -1) {
		declared[string(m[1])] = true
	}
	for _, d := range decls {
		if !declared[d.name] {
			t.Errorf("%s is not declared", d.name)
		}
	}
}

var (
	tsComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	tsString  = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)
	tsName    = regexp.MustCompile(`(?m)^export (?:interface|type) (\w+)`)
	tsMember  = regexp.MustCompile(`(?m)^  (\w+)\??: `)
	tsWord    = regexp.MustCompile(`\b[A-Z]\w*`)
)

// checkTypeScript looks for what a compiler would refuse first: brackets that do
// not match, names declared twice or not at all.
func checkTypeScript(t *testing.T, ts []byte) {
	t.Helper()
	code := regexp.MustCompile(`(?m)^//.*$`).ReplaceAllString(string(ts), "")
	if strings.Count(code, "/*") != strings.Count(code, "*/") {
		t.Error("a comment holds the end of a comment")
	}
	code = tsComment.ReplaceAllString(code, "")
	code = tsString.ReplaceAllString(code, "''")
	if strings.Contains(code, `"`) {
		t.Error("a quote is left open")
	}
	var open []rune
	pairs := map[rune]rune{')': '(', ']': '[', '}': '{'}
	for i, r := range code {
		switch r {
		case '(', '[', '{':
			open = append(open, r)
		case ')', ']', '}':
			if len(open) == 0 || open[len(open)-1] != pairs[r] {
				t.Fatalf("a %q that nothing opened, at %.60q", r, code[i:])
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("left open: %q", string(open))
	}
	declared := map[string]bool{}
	for _, m := range tsName.FindAllStringSubmatch(code, -1) {
		if declared[m[1]] {
			t.Errorf("%s is declared twice", m[1])
		}
		declared[m[1]] = true
	}
	// Members have names in capitals too, but only before a colon.
	for _, word := range tsWord.FindAllString(tsMember.ReplaceAllString(code, ""), -1) {
		if !declared[word] {
			t.Errorf("%s is used and not declared", word)
			declared[word] = true // once is enough
		}
	}
	for body := range strings.SplitSeq(code, "\n}\n") {
		seen := map[string]bool{}
		for _, m := range tsMember.FindAllStringSubmatch(body, -1) {
			if seen[m[1]] {
				t.Errorf("member %s is declared twice in %.80q", m[1], strings.TrimSpace(body))
			}
			seen[m[1]] = true
		}
	}
}

package policy

import (
	"encoding/json"
	"maps"
	"path"
	"strings"
	"testing"
)

// FuzzRule: no text is too strange for the rule language. What is accepted can be
// written in one way that means the same, and all that is made of a rule works.
func FuzzRule(f *testing.F) {
	for _, seed := range []string{
		"*", "Bash", "Bash(*)", "Bash(git status:*)", `Bash(a \(b\) \\ c)`, "Read(//etc/**)", "Edit(~/a/[b-c]?/**/x)", `Edit(a\*b)`, "WebFetch(domain:*.example.com)",
		"mcp__a__b", "mcp__a__*", "Agent(x)", "Skill(a:*)", "Read({a,b})", "Read([)", "Bash((", "Bash(a)(b)", "Edit(./.)", "Read(**)", "Read(a/**/)",
	} {
		f.Add(seed, "src/a.go")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		if err := CheckRule(text); err != nil {
			if err.Error() == "" {
				t.Errorf("%q is refused without a word", text)
			}
			return
		}
		if text == everything {
			return
		}
		s, err := parseRule(text)
		if err != nil {
			t.Fatalf("CheckRule accepts %q, parseRule does not: %v", text, err)
		}
		if again, err := parseRule(s.String()); err != nil || again != s {
			t.Fatalf("%q becomes %q, which reads as %+v, %v; want %+v", text, s.String(), again, err, s)
		}
		for _, d := range []Decision{Allow, Ask, Deny} {
			e, err := New(&File{Rules: []Rule{{Text: text, Decision: d, Scope: ScopeGlobal}}}, testOptions())
			if err != nil {
				if d == Allow && s.tool == "Bash" {
					continue // some can only deny
				}
				t.Fatalf("CheckRule accepts %q, New does not: %v", text, err)
			}
			for _, tool := range []string{s.tool, "Bash", "Edit", "Grep", "WebFetch", "Skill"} {
				input, err := json.Marshal(map[string]string{"command": name, "file_path": name, "path": name, "url": name, "skill": name, "pattern": name})
				if err != nil {
					t.Fatal(err)
				}
				v := e.Decide(Call{Tool: tool, Input: input, Dir: testDir})
				if v.Decision != "" && v.Decision != d && (v.Decision != Deny || v.Rule.Scope != ScopeBuiltin) {
					t.Fatalf("a rule that can only %s decides %q", d, v.Decision)
				}
				if v.Reason == "" {
					t.Fatal("no reason")
				}
			}
			set := e.Settings(testDir, testNow)
			for _, given := range append(set.Deny, set.Ask...) {
				if !cliTakes(given) {
					t.Fatalf("of %q the CLI is given %q, which it does not take", text, given)
				}
			}
			if hub := Enforced(Rule{Text: text, Decision: d}) == EnforcedHub; d != Allow && hub != (len(set.HubOnly) == 1) {
				t.Fatalf("%q is enforced by the hub only: %t, %v", text, hub, set.HubOnly)
			}
		}
	})
}

// FuzzFile: no text is too strange for the file's parser; what is accepted makes
// an engine, and a file does not widen itself.
func FuzzFile(f *testing.F) {
	f.Add(wholeFile)
	f.Add("allow = [\"Bash\"]\n[[folder]]\npath='~/x'\nrule=[{rule='Edit',decision='deny'}]")
	f.Add("[folder]\npath = 1")
	f.Add("folder.path = '/x'")
	f.Add("[[rule]]\nrule=\"\"\"\nBash\"\"\"\ndecision='ask'\nexpires = 2026-01-01")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := ParseFile("rules.toml", []byte(text), testHome)
		if err != nil {
			if !strings.Contains(err.Error(), "rules.toml:") {
				t.Fatalf("the error names no place: %v", err)
			}
			return
		}
		if _, err := New(file, testOptions()); err != nil {
			t.Fatalf("ParseFile accepts what New refuses: %v", err)
		}
		if list := Widens(file, file); list != nil {
			t.Fatalf("the file widens itself: %q", list)
		}
		if list := Widens(nil, Narrowed(nil, file)); list != nil {
			t.Fatalf("what may hold unconfirmed widens: %q", list)
		}
		if list := Widens(file, Narrowed(file, nil)); list != nil {
			t.Fatalf("what may hold unconfirmed widens: %q", list)
		}
		for _, r := range file.Rules {
			if !strings.HasPrefix(r.Source, "rules.toml:") || strings.HasSuffix(r.Source, ":0") {
				t.Fatalf("the rule %s is at %q", r.Text, r.Source)
			}
		}
	})
}

// FuzzDecidePath: if an allow rule for a folder covers a path, the path is in that
// folder both as it is written and with its links followed, by a computation that
// shares nothing with the engine's; and a deny rule for the same folder denies at
// least what the allow rule allows.
func FuzzDecidePath(f *testing.F) {
	for _, name := range []string{
		"src/a.go", "/home/u/work/src/a.go", "src/../x", "src", "src/", "link/a", "inner/a", "src/link/../../x", "~/work/src/a", "~", "", ".", "..", "/", "//home/u/work/src/a",
		"src\x00", " src/a", "src/a ", "src/\u0301", "/srv/work/src/a", "loop/a", "src/.git/x", "/home/u/work/link/../src/a", "\ufeffsrc/a", "src/a\\b", "./src/./a",
	} {
		f.Add(name, "src", "Edit")
		f.Add(name, "a", "Grep")
	}
	f.Fuzz(func(t *testing.T, name, folder, tool string) {
		if CheckRule("Edit("+quote("./"+folder+"/**")+")") != nil || strings.ContainsAny(folder, `*?[]\`) || strings.HasPrefix(folder, "/") {
			return
		}
		if tool != "Read" && tool != "Grep" && tool != "LS" {
			tool = "Edit"
		}
		links := maps.Clone(testLinks)
		links[testDir+"/src/out"] = "/tmp"
		options := testOptions()
		options.Resolve = resolver(links)
		text := "Edit(" + quote("./"+folder+"/**") + ")"
		c := file(tool, name)
		v := engineOf(t, options, "allow "+text).Decide(c)
		if v.Decision != Allow {
			return
		}
		var input map[string]string
		if err := json.Unmarshal(c.Input, &input); err != nil {
			t.Fatal(err)
		}
		given := input["file_path"] + input["path"]
		switch {
		case given == "" && (tool == "Grep" || tool == "LS"):
			given = testDir
		case given == "~", strings.HasPrefix(given, "~/"):
			given = testHome + given[1:]
		case !path.IsAbs(given):
			given = testDir + "/" + given
		}
		root := path.Join(testDir, folder)
		in := func(name string) bool { return name == root || strings.HasPrefix(name+"/", root+"/") }
		if literal := path.Clean(given); !in(literal) {
			t.Errorf("%s allows %q, which is %q", text, name, literal)
		}
		if real, err := options.Resolve(path.Clean(given)); err != nil || !in(real) {
			t.Errorf("%s allows %q, which leads to %q, %v", text, name, real, err)
		}
		if strings.Contains(given, "\x00") {
			t.Errorf("%s allows a path with a NUL: %q", text, name)
		}
		for _, own := range testOwn {
			if strings.HasPrefix(path.Clean(given)+"/", own+"/") {
				t.Errorf("%s allows our own %q", text, name)
			}
		}
		if tool != "Edit" {
			return
		}
		if v := engineOf(t, options, "deny "+text).Decide(c); v.Decision != Deny {
			t.Errorf("%s allows %q, and does not deny it", text, name)
		}
	})
}

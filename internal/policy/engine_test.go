package policy

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// engineOf makes an engine of rules written as in docs/rules.md.
func engineOf(t testing.TB, o Options, texts ...string) *Engine {
	t.Helper()
	f := &File{}
	for _, text := range texts {
		if set, ok := strings.CutPrefix(text, "set "); ok {
			f.Sets = append(f.Sets, set)
			continue
		}
		decision, rule, _ := strings.Cut(text, " ")
		f.Rules = append(f.Rules, Rule{Text: rule, Decision: Decision(decision), Scope: ScopeGlobal})
	}
	e, err := newEngine(f, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func bash(command string) Call {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return Call{Tool: "Bash", Input: input, Dir: testDir, Now: testNow}
}

func file(tool, name string) Call {
	member := "file_path"
	if slices.Contains([]string{"Grep", "Glob", "LS"}, tool) {
		member = "path"
	}
	input, err := json.Marshal(map[string]string{member: name})
	if err != nil {
		panic(err)
	}
	return Call{Tool: tool, Input: input, Dir: testDir, Now: testNow}
}

func want(t *testing.T, e *Engine, c Call, d Decision) Verdict {
	t.Helper()
	v := e.Decide(c)
	if v.Decision != d {
		t.Errorf("%s %s: %q, want %q: %s", c.Tool, c.Input, v.Decision, d, v.Reason)
	}
	return v
}

func TestEmptyEngine(t *testing.T) {
	t.Parallel()
	e, err := New(nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want(t, e, bash("ls"), "")
	want(t, e, Call{}, "")
	want(t, e, Call{Tool: "Read"}, "")
	if e.Enforce() != EnforceCLI || len(e.Rules("")) != 0 {
		t.Errorf("an engine without rules: %q, %v", e.Enforce(), e.Rules(""))
	}
}

func TestRulesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for _, r := range []Rule{
		{Text: "bash", Decision: Deny},
		{Text: "Bash", Decision: "never"},
		{Text: "Bash"},
		{Text: "*", Decision: Allow, Scope: ScopeGlobal},
		{Text: "Bash(a; b)", Decision: Allow},
	} {
		_, err := New(&File{Rules: []Rule{r}}, Options{})
		if wrong, ok := errors.AsType[*RuleError](err); !ok || wrong.Rule != r || wrong.Unwrap() == nil {
			t.Errorf("New with %+v: %v, want a *RuleError", r, err)
		}
	}
	if _, err := New(&File{Sets: []string{"all"}}, Options{}); err == nil {
		t.Error("New took a set that does not exist")
	}
}

// TestWithWhatCannotBeRead: whatever the other rules of a session are, none may
// switch off what is denied; and what it may have denied is not allowed.
func TestWithWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	base := engineOf(t, testOptions(), "deny Bash(rm:*)", "allow Bash(ls:*)")
	for _, bad := range []Rule{{Text: "bash", Decision: Deny, ID: "r2"}, {Text: "Bash(a; b)", Decision: Allow, ID: "r2"}, {Text: "*", Decision: "never", ID: "r2"}} {
		e, err := base.With([]Rule{{Text: "Bash(git push:*)", Decision: Ask, ID: "r1"}, bad, {Text: "Bash(curl:*)", Decision: Deny, ID: "r3"}})
		if wrong, ok := errors.AsType[*RuleError](err); !ok || wrong.Rule.ID != "r2" {
			t.Errorf("With %+v: %v, want a *RuleError", bad, err)
		}
		want(t, e, bash("rm x"), Deny)
		want(t, e, bash("curl x"), Deny)
		want(t, e, bash("git push"), Ask)
		want(t, e, bash("ls"), "")
		want(t, e, file("Read", testOwn[0]), Deny)
	}
}

// TestTooMuchInput: what was not looked at is not allowed.
func TestTooMuchInput(t *testing.T) {
	t.Parallel()
	e := engineOf(t, testOptions(), "allow mcp__fs", "allow Write")
	list := func(n int) Call {
		return Call{Tool: "mcp__fs__read", Input: json.RawMessage(`{"paths":["x"` + strings.Repeat(`,"x"`, n-1) + `]}`), Dir: testDir}
	}
	want(t, e, list(maxStrings), Allow)
	want(t, e, list(maxStrings+1), "")
}

// TestWith: a session's rules are its own.
func TestWith(t *testing.T) {
	t.Parallel()
	base := engineOf(t, testOptions(), "deny Bash(rm:*)", "allow Bash(ls:*)")
	session, err := base.With([]Rule{{Text: "Bash(make:*)", Decision: Allow, ID: "r1"}, {Text: "Bash(ls:*)", Decision: Deny, ID: "r2", Message: "no"}})
	if err != nil {
		t.Fatal(err)
	}
	want(t, base, bash("make"), "")
	want(t, base, bash("ls"), Allow)
	want(t, session, bash("rm x"), Deny)
	if v := want(t, session, bash("make"), Allow); v.Rule.ID != "r1" || v.Rule.Scope != ScopeSession {
		t.Errorf("the rule is %+v", v.Rule)
	}
	if v := want(t, session, bash("ls"), Deny); v.Rule.ID != "r2" || v.Message != "no" {
		t.Errorf("%+v", v)
	}
	// Another session's rules replace these.
	other, err := session.With(nil)
	if err != nil {
		t.Fatal(err)
	}
	want(t, other, bash("make"), "")
	// Allow rules of several places together cover a command.
	want(t, mustWith(t, base, Rule{Text: "Bash(make:*)", Decision: Allow}), bash("ls && make"), Allow)
}

func mustWith(t *testing.T, e *Engine, rules ...Rule) *Engine {
	t.Helper()
	with, err := e.With(rules)
	if err != nil {
		t.Fatal(err)
	}
	return with
}

func TestRules(t *testing.T) {
	t.Parallel()
	f := &File{Sets: []string{SetAutoApprove}, Enforce: EnforceHook, Rules: []Rule{
		{Text: "Bash", Decision: Allow, Scope: ScopeGlobal},
		{Text: "Read", Decision: Deny, Scope: ScopeFolder, Folder: "/home/u/work"},
		{Text: "Edit", Decision: Deny, Scope: ScopeFolder, Folder: "/opt"},
	}}
	e, err := New(f, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	e = mustWith(t, e, Rule{Text: "*", Decision: Allow, Expires: testNow})
	texts := func(dir string) string {
		var list []string
		for _, r := range e.Rules(dir) {
			list = append(list, string(r.Scope)+" "+r.Text)
		}
		return strings.Join(list[:min(len(list), 9)], ", ")
	}
	own := "builtin Read(//home/u/.config/switchboard/**), builtin Edit(//home/u/.config/switchboard/**), " +
		"builtin Read(//home/u/.local/share/switchboard/**), builtin Edit(//home/u/.local/share/switchboard/**), session *, "
	for dir, want := range map[string]string{
		"":              own + "global Bash, folder Read, folder Edit, builtin Grep",
		"/home/u/work":  own + "global Bash, folder Read, builtin Grep, builtin Glob",
		"/opt/x":        own + "global Bash, folder Edit, builtin Grep, builtin Glob",
		"/somewhere":    own + "global Bash, builtin Grep, builtin Glob, builtin Read",
		"/srv/work/src": own + "global Bash, folder Read, builtin Grep, builtin Glob",
	} {
		if got := texts(dir); got != want {
			t.Errorf("Rules(%q) = %s\nwant %s", dir, got, want)
		}
	}
	if e.Enforce() != EnforceHook {
		t.Errorf("Enforce() = %q", e.Enforce())
	}
}

// TestInput: the input is judged as the CLI reads it, or not at all.
func TestInput(t *testing.T) {
	t.Parallel()
	e := engineOf(t, testOptions(), "allow Bash(ls:*)", "allow Bash", "allow Edit(**)", "allow Agent", "deny Bash(rm:*)")
	for input, d := range map[string]Decision{
		`{"command":"ls"}`:                      Allow,
		`{"command":"ls","command":"rm x"}`:     Deny,
		`{"command":"rm x","command":"ls"}`:     Allow,
		`{"command":"ls","comm\u0061nd":"rm"}`:  Deny,
		`{"command":"ls","COMMAND":"rm x"}`:     Allow,
		`{"command":"ls"`:                       "",
		`{"command":"ls"} x`:                    "",
		`not JSON`:                              "",
		`{"command":["ls"]}`:                    "",
		`{}`:                                    "",
		`{"command":"\u0072m x"}`:               Deny,
		`{"command":"ls","description":"rm x"}`: Allow,
	} {
		want(t, e, Call{Tool: "Bash", Input: json.RawMessage(input), Dir: testDir}, d)
	}
	want(t, e, Call{Tool: "Bash", Dir: testDir}, "")
	want(t, e, Call{Tool: "Edit", Input: json.RawMessage(`[]`), Dir: testDir}, "")
	want(t, e, Call{Tool: "Agent"}, Allow)
}

// TestNoFolder: without a folder nothing is below it.
func TestNoFolder(t *testing.T) {
	t.Parallel()
	e := engineOf(t, testOptions(), "allow Edit(**)", "deny Edit(secret/**)", "set read-only")
	for _, dir := range []string{"", "relative", "."} {
		for _, name := range []string{"a", "/a", "relative/a"} {
			c := file("Edit", name)
			c.Dir = dir
			want(t, e, c, "")
			c = file("Read", name)
			c.Dir = dir
			want(t, e, c, "")
		}
		c := Call{Tool: "Grep", Input: json.RawMessage(`{"pattern":"x"}`), Dir: dir}
		want(t, e, c, "")
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	end := testNow.Add(time.Minute)
	e, err := New(&File{Rules: []Rule{
		{Text: "Bash(a:*)", Decision: Allow, Expires: end}, {Text: "Bash(b:*)", Decision: Deny, Expires: end}, {Text: "Bash(b:*)", Decision: Allow},
	}}, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	at := func(command string, now time.Time) Call {
		c := bash(command)
		c.Now = now
		return c
	}
	want(t, e, at("a", testNow), Allow)
	want(t, e, at("a", end.Add(-time.Nanosecond)), Allow)
	want(t, e, at("a", end), "")
	want(t, e, at("b", testNow), Deny)
	want(t, e, at("b", end), Allow)
	// Nobody knows the time: what expires counts unless it allows.
	want(t, e, at("a", time.Time{}), "")
	want(t, e, at("b", time.Time{}), Deny)
	// Another zone is the same time.
	want(t, e, at("a", end.In(time.FixedZone("x", 7200))), "")
}

// TestFolderRules: an allow rule for a folder wants the session to be there with
// all links followed, a deny rule not.
func TestFolderRules(t *testing.T) {
	t.Parallel()
	e, err := New(&File{Rules: []Rule{
		{Text: "Bash(a:*)", Decision: Allow, Scope: ScopeFolder, Folder: "/home/u/work"},
		{Text: "Bash(b:*)", Decision: Deny, Scope: ScopeFolder, Folder: "/home/u/work"},
		{Text: "Bash(c:*)", Decision: Deny, Scope: ScopeFolder, Folder: "/etc"},
	}}, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		dir     string
		a, b, c Decision
	}{
		{"/home/u/work", Allow, Deny, ""},
		{"/home/u/work/src", Allow, Deny, ""},
		{"/home/u/work/link/x", "", Deny, Deny}, // it leads to /etc/x
		{"/srv/work", "", Deny, ""},             // it leads here, and is not written so
		{"/home/u/workshop", "", "", ""},
		{"/home/u", "", "", ""},
		{"/etc/x", "", "", Deny},
		{"", "", "", ""},
	} {
		for command, d := range map[string]Decision{"a": test.a, "b": test.b, "c": test.c} {
			c := bash(command)
			c.Dir = test.dir
			if v := e.Decide(c); v.Decision != d {
				t.Errorf("%s in %q: %q, want %q: %s", command, test.dir, v.Decision, d, v.Reason)
			}
		}
	}
}

// TestDeniedElsewhere: a deny rule also holds where its folder really lies.
func TestDeniedElsewhere(t *testing.T) {
	t.Parallel()
	e := engineOf(t, testOptions(), "deny Read(~/.vault/**)", "deny Read(//srv/work/*.pem)", "allow Read(//**)")
	want(t, e, file("Read", "/home/u/.vault/a"), Deny)
	want(t, e, file("Read", "/secure/vault/a"), Deny)
	want(t, e, file("Read", "/secure/vaults/a"), Allow)
	want(t, e, file("Read", "/home/u/work/a.pem"), Deny)
	want(t, e, file("Read", "/home/u/work/a.pen"), Allow)
}

// TestOwn: no rule and no trick reaches our own files.
func TestOwn(t *testing.T) {
	t.Parallel()
	e := mustWith(t, engineOf(t, testOptions(), "allow Bash", "allow Read(//**)", "allow Edit(//**)", "allow Read", "allow Edit", "allow Write", "allow mcp__fs", "set read-only", "set auto-approve"),
		Rule{Text: "*", Decision: Allow})
	raw := func(tool, input string) Call { return Call{Tool: tool, Input: json.RawMessage(input), Dir: testDir} }
	for _, c := range []Call{
		file("Read", "/home/u/.config/switchboard"),
		file("Read", "/home/u/.config/switchboard/rules.toml"),
		file("Read", "/home/u/.config/./x/../switchboard//rules.toml"),
		file("Read", "../.config/switchboard/rules.toml"),
		file("Read", "~/.config/switchboard/rules.toml"),
		file("Read", "mine/rules.toml"),
		file("Read", " /home/u/.config/switchboard/x "),
		file("Write", "/home/u/.local/share/switchboard/journal.db"),
		file("Grep", "/home/u/.config/switchboard"),
		file("LS", "/home/u/work/mine"),
		raw("Glob", `{"pattern":"/home/u/.config/switchboard/*"}`),
		raw("Glob", `{"pattern":"*","path":"~/.config/switchboard"}`),
		raw("NotebookEdit", `{"notebook_path":"/home/u/.config/switchboard/a.ipynb"}`),
		raw("mcp__fs__read", `{"path":"../.config/switchboard/x"}`),
		raw("mcp__fs__read", `{"uri":"file:///home/u/.config/switchboard/x"}`),
		raw("mcp__fs__read", `{"a":{"b":["/home/u/.config/switchboard/x"]}}`),
		raw("SomeTool", `{"command":"cat ~/.config/switchboard/x"}`),
		bash("cat /home/u/.config/switchboard/x"),
		bash("cat '/home/u/.config/switchboard/x'"),
		bash("cat ../.config/switchboard/x"),
		bash("cat mine/x"),
		bash("cat /srv/work/../.config/switchboard/x"), // a shell follows the link before it goes up
		bash("echo x > ~/.config/switchboard/rules.toml"),
		bash("sqlite3 ${HOME}/.local/share/switchboard/journal.db"),
		bash(`sh -c 'cat "$HOME"/.config/switchboard/x'`),
		bash("python3 -c 'open(\"/home/u/.config/switchboard/x\")'"),
		bash("cat /home/u/.config/switchboard/x )))"), // cannot be parsed
		bash("tar -C /home/u/.config -cf - switchboard"),
	} {
		if v := e.Decide(c); v.Decision == Allow {
			t.Errorf("%s %s: allowed: %s", c.Tool, c.Input, v.Reason)
		} else if v.Decision == Deny && (v.Rule.Scope != ScopeBuiltin || v.Message == "") {
			t.Errorf("%s %s: %+v", c.Tool, c.Input, v)
		} else if v.Decision == "" {
			t.Errorf("%s %s: not decided: %s", c.Tool, c.Input, v.Reason)
		}
	}
	for _, c := range []Call{
		file("Read", "/home/u/.config/switchboard-notes"),
		file("Read", "/home/u/work/.config/switchboard"),
		file("Read", "/home/u/.config"),
		file("Read", "/srv/work/../.config/switchboard/x"), // the CLI goes up first
		bash("cat /home/u/.config/switchboard-notes"),
		bash("cat .config/switchboard/x"), // below the session's folder: a folder of the same name
		bash("ls ~"),
		raw("mcp__fs__write", `{"path":"/tmp/a","content":"see /home/u/.config/switchboard/x"}`),
		raw("Write", `{"file_path":"/tmp/a","content":"/home/u/.config/switchboard/x"}`),
	} {
		want(t, e, c, Allow)
	}
	// What changes or searches everything above them is asked.
	for _, c := range []Call{bash("rm -rf /home/u"), bash("rm -rf ~/.config"), bash("mv / /x"), file("Grep", "/home/u"), raw("Glob", `{"pattern":"**","path":"/"}`)} {
		want(t, e, c, "")
	}
}

// TestOwnIsNotEverything: a mistake in our folders must not deny everything.
func TestOwnIsNotEverything(t *testing.T) {
	t.Parallel()
	e := engineOf(t, Options{Home: testHome, Own: []string{"/", "", "relative"}, Resolve: resolver(nil)}, "allow Read(//**)")
	want(t, e, file("Read", "/a"), Allow)
	if len(e.Rules("")) != 1 {
		t.Errorf("%+v", e.Rules(""))
	}
}

// TestConcurrent: an engine is used by many at once; the race detector looks.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	e := engineOf(t, testOptions(), "allow Bash(git status:*)", "deny Read(*.key)", "set read-only")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				want(t, e, bash("git status"), Allow)
				want(t, e, file("Read", "a.key"), Deny)
				want(t, e, file("Read", "a"), Allow)
			}
		})
	}
	wg.Wait()
}

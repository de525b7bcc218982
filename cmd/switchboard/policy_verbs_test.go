package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// someRules are rules of each decision.
const someRules = `
allow = ["Bash(git status:*)"]
ask = ["WebFetch"]
deny = ["Bash(rm:*)"]
[[rule]]
rule = "Bash(make:*)"
decision = "allow"
expires = 2026-06-01T00:00:00Z
`

// rulesFile writes a rules file.
func rulesFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "rules.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// verb runs the program and returns what it has written.
func verb(t *testing.T, vars []string, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, wrong bytes.Buffer
	code = run(t.Context(), append([]string{"switchboard"}, args...), &env{stdin: strings.NewReader(stdin), stdout: &out, stderr: &wrong, env: vars})
	return code, out.String(), wrong.String()
}

func TestPolicyExplain(t *testing.T) {
	rules, broken, dir := rulesFile(t, someRules), rulesFile(t, "allow = 3\n"), t.TempDir()
	home := t.TempDir()
	usual := filepath.Join(home, ".config", "switchboard", "rules.toml")
	if err := os.MkdirAll(filepath.Dir(usual), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(usual, []byte("deny = [\"WebSearch\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + home}
	call := func(tool, input string, more ...string) []string {
		return append([]string{"--rules", rules, "--dir", dir, "--tool", tool, "--input", input}, more...)
	}
	tests := []struct {
		name   string
		args   []string
		env    []string
		code   int
		stdout string
		stderr string
	}{
		{"allow", call("Bash", `{"command":"git status"}`), env, 0, "allow\nrule: Bash(git status:*) (global, ", ""},
		{"deny", call("Bash", `{"command":"rm x"}`), env, codeDeny, "deny\nrule: Bash(rm:*) (global, ", ""},
		{"ask", call("WebFetch", `{"url":"https://example.com"}`), env, codeAsk, "ask\nrule: WebFetch (global, ", ""},
		{"no rule", call("Bash", `{"command":"ls"}`), env, codeAsk, "ask: no rule\nreason: ", ""},
		{"expired", call("Bash", `{"command":"make"}`, "--at", "2026-06-02T00:00:00Z"), env, codeAsk, "ask: no rule\n", ""},
		{"not yet expired", call("Bash", `{"command":"make"}`, "--at", "2026-05-31T00:00:00+02:00"), env, 0, "allow\nrule: Bash(make:*)", ""},
		{"our settings", call("Read", `{"file_path":"`+usual+`"}`), env, codeDeny, "deny\n", ""},
		{"our data", call("Bash", `{"command":"cat ~/.local/share/switchboard/admin.token"}`), env, codeDeny, "deny\n", ""},
		{"our data elsewhere", call("Read", `{"file_path":"/boards/journal.db"}`), append(env, "SWITCHBOARD_DATA_DIR=/boards"), codeDeny, "deny\n", ""},
		{"the rules themselves", call("Edit", `{"file_path":"`+rules+`"}`), env, codeDeny, "deny\n", ""},
		{"the usual file", []string{"--tool", "WebSearch", "--input", "{}"}, env, codeDeny, "deny\nrule: WebSearch", ""},
		{"the file of the environment", []string{"--tool", "Bash", "--input", `{"command":"rm x"}`}, append(env, "SWITCHBOARD_RULES_FILE="+rules), codeDeny, "deny\nrule: Bash(rm:*)", ""},
		{"no usual file", []string{"--tool", "WebSearch", "--input", "{}"}, []string{"HOME=" + t.TempDir()}, codeAsk, "ask: no rule", ""},
		{"JSON", call("Bash", `{"command":"rm x"}`, "--json"), env, codeDeny, `{"decision":"deny","rule":{"rule":"Bash(rm:*)","decision":"deny","scope":"global","source":"`, ""},
		{"JSON without a rule", call("Bash", `{"command":"ls"}`, "--json"), env, codeAsk, `{"decision":"ask","rule":null,"reason":"`, ""},

		{"no home", []string{"--tool", "Bash", "--input", "{}"}, []string{}, codeExplainError, "", "--rules"},
		{"no such file", []string{"--rules", "/nowhere/rules.toml", "--tool", "Bash", "--input", "{}"}, env, codeExplainError, "", "/nowhere/rules.toml"},
		{"broken", []string{"--rules", broken, "--tool", "Bash", "--input", "{}"}, env, codeExplainError, "", "rules.toml:1"},
		{"no JSON", call("Bash", `git status`), env, codeExplainError, "", "--input: this isn't valid JSON"},
		{"no input", []string{"--rules", rules, "--tool", "Bash"}, env, codeExplainError, "", "--input: this isn't valid JSON"},
		{"no object", call("Bash", `"git status"`), env, codeExplainError, "", "--input: not a JSON object"},
		{"null", call("Bash", `null`), env, codeExplainError, "", "--input: not a JSON object"},
		{"input alone", []string{"--rules", rules, "--input", "{}"}, env, codeExplainError, "", "--input needs --tool"},
		{"no time", call("Bash", `{}`, "--at", "soon"), env, codeExplainError, "", "--at"},
		{"unknown flag", call("Bash", `{}`, "--nope"), env, codeExplainError, "", "--nope"},
		{"an argument", call("Bash", `{}`, "now"), env, codeExplainError, "", `"now"`},
		{"bad environment", call("Bash", `{}`), append(env, "SWITCHBOARD_DATA_DIR=boards"), codeExplainError, "", "SWITCHBOARD_DATA_DIR"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := verb(t, test.env, "", append([]string{"policy", "explain"}, test.args...)...)
			if code != test.code || !strings.HasPrefix(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) {
				t.Errorf("code %d, want %d; it wrote\n%s%s", code, test.code, stdout, stderr)
			}
			if (test.stdout == "") != (stdout == "") || (test.stderr == "") != (stderr == "") {
				t.Errorf("it wrote\n%s%s", stdout, stderr)
			}
		})
	}
}

func TestPolicyExplainLines(t *testing.T) {
	rules, dir := rulesFile(t, "allow = [\"Edit(src/**)\"]\ndeny = [\"Bash(rm:*)\"]\n"), t.TempDir()
	env := []string{"HOME=" + t.TempDir()}
	calls := []string{
		`{"tool":"Bash","input":{"command":"rm x"}}`,
		``,
		`{"tool":"Edit","input":{"file_path":"` + dir + `/src/a"}}`,
		`{"tool":"Edit","input":{"file_path":"` + dir + `/src/a"},"dir":"/elsewhere"}`,
		// As the CLI reads it: of two members the last, and case counts.
		`{"tool":"Read","tool":"Bash","input":{"command":"ls","command":"rm x"},"Tool":"Read"}`,
		`{"tool":"WebSearch"}`,
	}
	code, stdout, stderr := verb(t, env, strings.Join(calls, "\n"), "policy", "explain", "--rules", rules, "--dir", dir)
	if code != 0 || stderr != "" {
		t.Errorf("code %d: %s", code, stderr)
	}
	var got []string
	for line := range strings.Lines(stdout) {
		var answer struct {
			Line           int
			Tool, Decision string
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got = append(got, answer.Tool+" "+answer.Decision)
	}
	if want := "Bash deny|Edit allow|Edit ask|Bash deny|WebSearch ask"; strings.Join(got, "|") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, "|"), want)
	}

	calls = []string{"no JSON", `{"input":{}}`, `{"tool":"Bash","input":"rm"}`, `{"tool":"Bash","dir":"here"}`, `{"tool":"Bash","dir":3}`, `[]`, calls[0]}
	code, stdout, _ = verb(t, env, strings.Join(calls, "\n"), "policy", "explain", "--rules", rules, "--dir", dir)
	if code != codeExplainError || strings.Count(stdout, `"error":`) != 6 || strings.Count(stdout, "\n") != 7 || strings.Count(stdout, `"tool":"Bash","decision":"deny"`) != 1 {
		t.Errorf("code %d:\n%s", code, stdout)
	}
}

func TestPolicyTestFile(t *testing.T) {
	rules := rulesFile(t, someRules)
	log := filepath.Join(t.TempDir(), "log.jsonl")
	text := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"rm x"}}]}}` + "\n" +
		"no JSON\n" + `{"type":"system","pad":"` + strings.Repeat("x", 2<<20) + `"}` + "\n" +
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"make"}}]}}`
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + t.TempDir()}
	code, stdout, stderr := verb(t, env, "", "policy", "test", rules, log, "--at", "2026-05-01T00:00:00Z")
	if code != 0 || !strings.Contains(stdout, "1     Bash  rm x   deny") || !strings.Contains(stdout, "4     Bash  make   allow") || !strings.Contains(stdout, "2 calls: the rules allow 1, deny 1") {
		t.Errorf("code %d: %s\n%s", code, stderr, stdout)
	}
	code, stdout, stderr = verb(t, env, text, "policy", "test", rules, "-", "--json")
	if lines := strings.Split(strings.TrimSpace(stdout), "\n"); code != 0 || len(lines) != 3 || !strings.HasPrefix(lines[2], `{"summary":{"calls":2,`) {
		t.Errorf("code %d: %s\n%s", code, stderr, stdout)
	}
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no such file":  {[]string{rules, "./nowhere.jsonl"}, codeFailed, "nowhere.jsonl"},
		"no server":     {[]string{rules, "s5k2m7q3zr4t6w8xabcdy"}, codeNoServer, "switchboard serve"},
		"no such rules": {[]string{"/nowhere.toml", log}, codeFailed, "/nowhere.toml"},
		"a folder":      {[]string{rules, t.TempDir()}, codeFailed, "reading the log"},
		"no time":       {[]string{rules, log, "--at", "soon"}, codeUsage, "--at"},
		"one argument":  {[]string{rules}, codeUsage, "accepts 2 arg"},
	} {
		code, stdout, stderr := verb(t, env, "", append([]string{"policy", "test"}, test.args...)...)
		if code != test.code || !strings.Contains(stderr, test.want) || stdout != "" {
			t.Errorf("%s: code %d: %s\n%s", name, code, stderr, stdout)
		}
	}
}

// TestPolicyServed has a hub read rules: what widens is announced, shown and confirmed, and a session of it is tested.
func TestPolicyServed(t *testing.T) {
	dir, env := filepath.Join(shortDir(t), "d"), environment(t)
	rules := rulesFile(t, someRules)
	env = append(env, "SWITCHBOARD_RULES_FILE="+rules)
	s := serve(t, dir, env, "--agent", "sim")
	policy := func(stdin string, args ...string) (int, string, string) {
		return verb(t, env, stdin, append(append([]string{"policy"}, args...), "--data-dir", dir)...)
	}
	show := func() *api.Policy {
		t.Helper()
		code, stdout, stderr := policy("", "show", "--json")
		p := &api.Policy{}
		if err := json.Unmarshal([]byte(stdout), p); code != 0 || err != nil {
			t.Fatalf("code %d, %v: %s\n%s", code, err, stderr, stdout)
		}
		return p
	}
	pending := show().Pending
	if pending == nil || len(pending.Widens) != 2 {
		t.Fatalf("what waits: %+v", pending)
	}
	code, stdout, stderr := policy("", "show")
	for _, part := range []string{
		"rules file: " + rules + "\n", "deny", "Bash(rm:*)", "Claude Code, hub", "built-in rules keep agents away", "waits for confirmation", "git status", "to confirm: switchboard policy confirm " + pending.Sum,
	} {
		if code != 0 || !strings.Contains(stdout, part) {
			t.Errorf("code %d: show has no %q: %s\n%s", code, part, stderr, stdout)
		}
	}
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no terminal":   {[]string{"confirm"}, codeUsage, "not a terminal"},
		"no sum":        {[]string{"confirm", "--yes"}, codeUsage, "--yes needs the sum"},
		"a wrong sum":   {[]string{"confirm", "--yes", "0123"}, codeTooLate, "another one by now"},
		"no explaining": {[]string{"show", "all"}, codeUsage, `"all"`},
	} {
		if code, stdout, stderr := policy("y\n", test.args...); code != test.code || !strings.Contains(stderr, test.want) || stdout != "" {
			t.Errorf("%s: code %d: %s\n%s", name, code, stderr, stdout)
		}
	}
	if show().Pending == nil {
		t.Fatal("it was confirmed all the same")
	}
	if code, stdout, stderr := policy("", "confirm", "--yes", pending.Sum); code != 0 || !strings.Contains(stdout, "  - ") || !strings.Contains(stdout, "git status") || !strings.HasSuffix(stdout, "apply now\n") {
		t.Errorf("code %d: %s\n%s", code, stderr, stdout)
	}
	allows := false
	for _, r := range show().Rules {
		allows = allows || r.Rule == "Bash(git status:*)" && r.Decision == api.RuleAllow
	}
	if p := show(); p.Pending != nil || !allows {
		t.Errorf("after the confirmation: %+v", p)
	}

	c := s.client()
	created, err := c.Create(t.Context(), api.CreateSession{Dir: t.TempDir(), Prompt: "@tool Bash {\"command\":\"rm -r x\"}\n@next\n@say done"})
	if err != nil {
		t.Fatal(err)
	}
	await(t, c, created.ID, "it is done", says("done"))
	code, stdout, stderr = policy("", "test", rules, created.ID)
	if code != 0 || !strings.Contains(stdout, "rm -r x  deny") || !strings.Contains(stdout, "1 call: the rules allow 0, deny 1") {
		t.Errorf("code %d: %s\n%s", code, stderr, stdout)
	}
	if code, _, stderr := policy("", "test", rules, "snothere"); code != codeNotFound || !strings.Contains(stderr, "snothere") {
		t.Errorf("code %d: %s", code, stderr)
	}
	if _, err := c.Stop(t.Context(), created.ID, api.Stop{Force: true}); err != nil {
		t.Error(err)
	}
	await(t, c, created.ID, "the run ends", func(e *api.Event) bool { return e.Kind == api.KindRunEnded })
	said := s.end()
	if want := "rules " + rules + ": 2 changes wait for confirmation: switchboard policy confirm"; !strings.Contains(said, want) {
		t.Errorf("it said:\n%s\nwant %s", said, want)
	}
	// What was confirmed is not asked again.
	s = serve(t, dir, env, "--agent", "sim")
	if show().Pending != nil {
		t.Error("it waits again")
	}
	if said := s.end(); strings.Contains(said, "confirmation") {
		t.Errorf("it said:\n%s", said)
	}
}

func TestAgree(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "Yes\n": true, "y": true, "": false, "\n": false, "n\n": false, "yellow\n": false, "no\ny\n": false} {
		var out bytes.Buffer
		got, err := consent(t.Context(), &env{stdin: strings.NewReader(answer), stderr: &out}, "Allow? ")
		if got != want || err != nil || out.String() != "Allow? " {
			t.Errorf("%q: %t, %v", answer, got, err)
		}
	}
}

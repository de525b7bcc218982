package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/internal/audit"
	"github.com/switchboard-dev/switchboard/internal/policy"
)

// auditEngine returns rules for the tests below.
func auditEngine(t *testing.T, rules string) *policy.Engine {
	t.Helper()
	file, err := policy.ParseFile("rules.toml", []byte(rules), "/home/x")
	if err != nil {
		t.Fatal(err)
	}
	engine, err := policy.New(file, policy.Options{Home: "/home/x"})
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

const auditRules = `
allow = ["Bash(git status:*)"]
ask = ["WebFetch"]
[[rule]]
rule = "Bash(rm:*)"
decision = "deny"
message = "Nothing is removed."
`

var inJune = time.Date(2026, 6, 15, 0, 0, 0, 0, time.UTC)

func bashInput(command string) string {
	raw, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err) // a map of strings
	}
	return string(raw)
}

func TestWriteAudit(t *testing.T) {
	a := audit.New(audit.Options{Engine: auditEngine(t, auditRules), Dir: "/home/x/p", Now: inJune})
	for i, command := range []string{"rm -r build", "git status", "echo \x1b[2J" + strings.Repeat("x", 100) + "\n\tend"} {
		a.Line(int64(i+4), fmt.Appendf(nil, `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":%s}]},"session_id":"c"}`,
			i, bashInput(command)))
	}
	a.Line(7, []byte(`{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"rm -r build"},"tool_use_id":"t0"}}`))
	a.Line(8, []byte(`{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"allow"}}}`))
	var out bytes.Buffer
	if err := WriteAudit(&out, a); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if strings.ContainsAny(text, "\x1b\t") {
		t.Errorf("control characters reach the terminal:\n%q", text)
	}
	for _, part := range []string{
		"LINE  TOOL", "HAPPENED\n", "4     Bash", "rm -r build", "deny      Bash(rm:*)", "allowed\n", "…",
		"\n3 calls: the rules allow 1, deny 1, ask about 0, and say nothing about 1.\n", "Of 1 that people had allowed, rules allow 0 and deny 1.\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the table has no %q:\n%s", part, text)
		}
	}
	for line := range strings.Lines(text) {
		if n := len([]rune(line)); n > 200 {
			t.Errorf("a line of %d characters", n)
		}
	}
}

func TestWriteVerdict(t *testing.T) {
	for _, test := range []struct {
		rules, tool, input string
		want               []string
	}{
		{auditRules, "Bash", bashInput("rm x"), []string{"deny\nrule: Bash(rm:*) (global, ", "\nreason: ", "\nshown to the model: Nothing is removed.\n", "\nenforced by: Claude Code itself, and the hub"}},
		{auditRules, "Bash", bashInput("git status"), []string{"allow\nrule: Bash(git status:*) (global, ", "\nenforced by: the hub, for what Claude Code asks\n"}},
		{auditRules, "WebFetch", `{"url":"https://example.com"}`, []string{"ask\nrule: WebFetch (global, "}},
		{auditRules, "Bash", bashInput("ls"), []string{"ask: no rule\nreason: "}},
		{"enforce = \"hook\"\nallow = [\"WebSearch\"]\n", "WebSearch", "{}", []string{"which sees every call"}},
	} {
		v := audit.Judge(auditEngine(t, test.rules), policy.Call{Tool: test.tool, Input: json.RawMessage(test.input), Dir: "/home/x/p", Now: inJune})
		var out strings.Builder
		if err := WriteVerdict(&out, &v); err != nil {
			t.Fatal(err)
		}
		for _, part := range test.want {
			if !strings.Contains("\n"+out.String(), part) {
				t.Errorf("%s %s: no %q in\n%s", test.tool, test.input, part, &out)
			}
		}
	}
}

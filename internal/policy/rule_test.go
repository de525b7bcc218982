package policy

import (
	"strings"
	"testing"
)

func TestCheckRule(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"*", ""},
		{"Bash", ""},
		{"Bash(*)", ""},
		{"Bash(git status:*)", ""},
		{`Bash(node -e "f\(1\)")`, ""},
		{`Bash(node -e "f(1)")`, ""},
		{"Read(//etc/**)", ""},
		{"Edit(~/a b/c.txt)", ""},
		{"WebFetch(domain:EXAMPLE.com)", ""},
		{"Network", ""},
		{"Network(*)", ""},
		{"Network(host:*)", ""},
		{"Network(host:Example.com)", ""},
		{"Network(host:*.example.com)", ""},
		{"Network(host:localhost)", ""},
		{"Network(host:10.0.0.1)", ""},
		{"Network(host:2001:db8::1)", ""},
		{"Network(host:[::1])", ""},
		{"mcp__a__b", ""},
		{"mcp__a", ""},
		{"mcp__a__*", ""},
		{"SomeToolOfTomorrow", ""},
		{"", "the rule is empty"},
		{" Bash", "white space"},
		{"Bash ", "white space"},
		{"Bash()", "nothing between the parentheses; write Bash"},
		{"(x)", "no tool's name"},
		{"Bash(x", "do not match"},
		{"Bash x)", "no opening one"},
		{"Bash(x) ", "white space"},
		{"Bash(x)y", "goes on behind"},
		{"Bash(x), Bash(y)", "goes on behind"}, // reads as one rule with much inside; its parentheses are in the wrong order
		{"Bash\u200b", "U+200B"},
		{"Bash(a\nb)", "U+000A"},
		{"Bash(\xff)", "UTF-8"},
		{"Bash(" + strings.Repeat("a", maxRule) + ")", "longer than"},
		{"bash", "write Bash"},
		{"Ba sh", "no tool's name"},
		{"Bash*", "no tool's name"},
		{"ExitPlanMode", "a person answers"},
		{"AskUserQuestion", "a person answers"},
		{"Write(src/**)", "write Edit(src/**)"},
		{"NotebookEdit(x)", "write Edit(x)"},
		{"Grep(src/**)", "write Read(src/**)"},
		{"Glob(x)", "write Read(x)"},
		{"WebSearch(x)", "write WebSearch for all"},
		{"mcp__a__b(x)", "write mcp__a__b"},
		{"mcp__", "name the MCP server"},
		{"mcp__*", "name the MCP server"},
		{"mcp__a__get_*", "write mcp__a__*"},
		{"Read(src:*)", "is for Bash rules"},
		{"Read(!x)", "takes nothing back"},
		{"Read(a/../b)", `".."`},
		{"Read(a/./b)", `"."`},
		{"Read(a//b)", "two slashes"},
		{"Read(~root/x)", "your own"},
		{"Read([a)", "not complete"},
		{"Read([a/b])", "not complete"},
		{`Read(a\\)`, "not complete"},
		{"Read( a)", "white space"},
		{"WebFetch(https://example.com/x)", "write WebFetch(domain:example.com)"},
		{"WebFetch(example.com)", "write WebFetch(domain:example.com)"},
		{"WebFetch(domain:a/b)", "is no host"},
		{"WebFetch(domain:)", "is no host"},
		{"WebFetch(domain:a:80)", "is no host"},
		{"WebFetch(domain:a.*)", "is no host"},
		{"WebFetch(domain:bücher.de)", "xn--"},
		{"Network(example.com)", "write Network(host:example.com)"},
		{"Network(domain:example.com)", "write Network(host:example.com); domain: is for WebFetch"},
		{"Network(https://example.com/x)", "write Network(host:example.com)"},
		{"Network(host:)", "is no host"},
		{"Network(host:example.com:443)", "without port"},
		{"Network(host:example.com/x)", "is no host"},
		{"Network(host:*.*.com)", "is no host"},
		{"Network(host:*.10.0.0.1)", "is no host"},
		{"Network(host:0x7f.1)", "is no host"},
		{"Network(host:2130706433)", "is no host"},
		{"Network(host:fe80::1%eth0)", "is no host"},
		{"Network(host:bücher.de)", "xn--"},
		{"SandboxNetworkAccess(host:a.b)", "write Network(host:example.com)"},
		{"Agent(a b)", "is no name"},
		{"Agent(a*)", "is no name"},
		{"Skill(a*)", "or Skill(plugin:*)"},
		{"Skill(:*)", "is no name"},
	} {
		err := CheckRule(test.text)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%.40q: %v", test.text, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%.40q: %v, want it to say %q", test.text, err, test.want)
		}
	}
}

// TestRuleText: a rule's own text and the canonical one mean the same.
func TestRuleText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Bash":                 "Bash",
		"Bash(*)":              "Bash",
		"Bash(a (b))":          `Bash(a \(b\))`,
		`Bash(a \(b\))`:        `Bash(a \(b\))`,
		`Bash(echo \\)`:        `Bash(echo \\)`,
		`Bash(grep \. x)`:      `Bash(grep \\. x)`,
		"mcp__a":               "mcp__a",
		"Read(//a/[b]/**)":     "Read(//a/[b]/**)",
		"WebFetch(domain:a.b)": "WebFetch(domain:a.b)",
	} {
		s, err := parseRule(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if s.String() != want {
			t.Errorf("%s becomes %s, want %s", text, s, want)
		}
		if again, err := parseRule(s.String()); err != nil || again != s {
			t.Errorf("%s reads as %+v, %v; want %+v", s, again, err, s)
		}
	}
}

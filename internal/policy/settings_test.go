package policy

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	options := testOptions()
	options.Own = []string{"/home/u/.config/switch(board)"}
	until := testNow.Add(time.Hour)
	rules := func(d Decision, texts ...string) []Rule {
		var list []Rule
		for _, text := range texts {
			list = append(list, Rule{Text: text, Decision: d, Scope: ScopeGlobal})
		}
		return list
	}
	own := []string{"Read(//home/u/.config/switch?board?/**)", "Edit(//home/u/.config/switch?board?/**)"}
	for _, test := range []struct {
		name  string
		rules []Rule
		dir   string
		want  Settings
	}{
		{name: "nothing but our own", want: Settings{}},
		{name: "allow rules stay here", rules: rules(Allow, "Bash", "Edit(**)"), want: Settings{}},
		{
			name: "tools", rules: rules(Deny, "Bash", "Edit", "Read", "mcp__a__*", "mcp__a__b", "Task", "WebSearch"),
			want: Settings{Deny: []string{
				"Bash", "Edit", "Write", "MultiEdit", "NotebookEdit", "Read", "NotebookRead", "Grep", "Glob", "LS", "mcp__a", "mcp__a__b", "Agent", "Task", "WebSearch",
			}},
		},
		{
			name: "paths", rules: rules(Ask, "Read(//etc/**)", "Read(~/.ssh/**)", "Edit(src/**)", "Edit(/a.go)", "Edit(.env)", "Edit(**)", "Read(//)", `Read(a\(1\))`),
			want: Settings{Ask: []string{
				"Read(//etc)", "Read(//etc/**)",
				"Read(//home/u/.ssh)", "Read(//home/u/.ssh/**)",
				"Edit(//home/u/work/src)", "Edit(//home/u/work/src/**)",
				"Edit(//home/u/work/a.go)", "Edit(//home/u/work/a.go/**)",
				"Edit(//home/u/work/**/.env)", "Edit(//home/u/work/**/.env/**)",
				"Edit(//home/u/work/**)",
				"Read(//**)",
				`Read(//home/u/work/**/a\(1\))`, `Read(//home/u/work/**/a\(1\)/**)`,
			}},
		},
		{
			name: "a folder that is a link, with special characters", dir: "/srv/work/a[1] (b)", rules: rules(Deny, "Edit(x)"),
			want: Settings{Deny: []string{
				"Edit(//srv/work/a?1? ?b?/**/x)", "Edit(//srv/work/a?1? ?b?/**/x/**)",
				"Edit(//home/u/work/a?1? ?b?/**/x)", "Edit(//home/u/work/a?1? ?b?/**/x/**)",
			}},
		},
		{
			name: "others", rules: rules(Deny, "Bash(rm:*)", "Bash(a (b))", "WebFetch(domain:Example.com)", "Agent(x)", "Skill(/y)"),
			want: Settings{Deny: []string{"Bash(rm:*)", `Bash(a \(b\))`, "WebFetch(domain:example.com)", "Agent(x)", "Task(x)", "Skill(y)"}},
		},
		{
			name:  "without words",
			rules: append(rules(Deny, "WebFetch(domain:*.a.b)", "WebFetch(domain:*)", "Skill(a:*)", "Read(a*b)"), Rule{Text: "Bash", Decision: Ask, Expires: until}, Rule{Text: "Read", Decision: Deny, Expires: testNow}),
			want:  Settings{HubOnly: append(rules(Deny, "WebFetch(domain:*.a.b)", "WebFetch(domain:*)", "Skill(a:*)", "Read(a*b)"), Rule{Text: "Bash", Decision: Ask, Expires: until})},
		},
		{
			name:  "folders",
			rules: []Rule{{Text: "Bash", Decision: Deny, Scope: ScopeFolder, Folder: "/home/u"}, {Text: "Edit", Decision: Ask, Scope: ScopeFolder, Folder: "/opt"}},
			want:  Settings{Deny: []string{"Bash"}},
		},
		{name: "twice the same", rules: rules(Deny, "Bash", "Bash(*)"), want: Settings{Deny: []string{"Bash"}}},
	} {
		e, err := New(&File{Rules: test.rules}, options)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		dir := test.dir
		if dir == "" {
			dir = testDir
		}
		test.want.Deny = append(append([]string{}, own...), test.want.Deny...)
		if diff := cmp.Diff(test.want, e.Settings(dir, testNow)); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
	}
}

// cliTakes is what 2.1.37 wants of a rule's text, written after its own check and
// not after ours.
func cliTakes(text string) bool {
	count := func(c byte) (n int) {
		for i := range len(text) {
			before := text[:i]
			if text[i] == c && (len(before)-len(strings.TrimRight(before, `\`)))%2 == 0 {
				n++
			}
		}
		return n
	}
	if strings.TrimSpace(text) == "" || count('(') != count(')') || strings.Contains(text, "()") {
		return false
	}
	tool, content, _ := strings.Cut(text, "(")
	content = strings.TrimSuffix(content, ")")
	content = strings.NewReplacer(`\(`, "(", `\)`, ")", `\\`, `\`).Replace(content)
	switch {
	case strings.HasPrefix(tool, "mcp__"):
		return content == ""
	case strings.ToUpper(tool[:1]) != tool[:1]:
		return false
	case content == "":
		return true
	case tool == "WebSearch":
		return !strings.ContainsAny(content, "*?")
	case tool == "WebFetch":
		return strings.HasPrefix(content, "domain:") && !strings.Contains(content, "://")
	case tool == "Bash":
		return content != ":*" && (!strings.Contains(content, ":*") || strings.HasSuffix(content, ":*"))
	case slices.Contains([]string{"Read", "Write", "Edit", "Glob", "NotebookRead", "NotebookEdit"}, tool):
		well := regexp.MustCompile(`^\*|\*$|\*\*|/\*|\*\.|\*\)`)
		return !strings.Contains(content, ":*") && (!strings.Contains(content, "*") || well.MatchString(content))
	}
	return true
}

// TestCLITakes: the check of the tests knows good from bad, and no text that the
// CLI would not take reaches it.
func TestCLITakes(t *testing.T) {
	t.Parallel()
	for text, takes := range map[string]bool{
		"Bash": true, "Bash(git:*)": true, "Read(//a/**)": true, `Bash(a \(b\))`: true, "mcp__x": true,
		"Bash(": false, "": false, "Bash()": false, "mcp__x(y)": false, "Read(a*b)": false, "Read(a:*)": false, "WebFetch(http://x)": false, "bash": false, "Bash(a:*b)": false, "Bash(:*)": false,
	} {
		if cliTakes(text) != takes {
			t.Errorf("cliTakes(%q) = %t", text, !takes)
		}
	}
	for _, text := range []string{"Bash(a:*b)", "Bash(echo a:*b c)", `Read(a\\*b)`, `Bash(echo "()")`, "Read(:/x)", "Edit(a/b*c/d)", `Bash(echo \\)`, `Bash(a \(\))`} {
		if CheckRule(text) != nil {
			continue
		}
		e := engineOf(t, testOptions(), "deny "+text)
		set := e.Settings("/home/u/a: (*)", testNow)
		for _, given := range set.Deny {
			if !cliTakes(given) {
				t.Errorf("of %s the CLI is given %s", text, given)
			}
		}
		if enforced := Enforced(Rule{Text: text, Decision: Deny}); (enforced == EnforcedHub) != (len(set.HubOnly) == 1) {
			t.Errorf("%s: enforced by %q, and only by us: %v", text, enforced, set.HubOnly)
		}
	}
}

func TestSettingsOfSession(t *testing.T) {
	t.Parallel()
	base, err := New(&File{Rules: []Rule{{Text: "Bash(rm:*)", Decision: Deny}}}, Options{Home: testHome, Resolve: resolver(nil)})
	if err != nil {
		t.Fatal(err)
	}
	e, err := base.With([]Rule{{Text: "WebFetch", Decision: Ask, ID: "r1"}, {Text: "*", Decision: Deny, ID: "r2"}, {Text: "*", Decision: Allow, ID: "r3"}})
	if err != nil {
		t.Fatal(err)
	}
	want := Settings{
		Deny: []string{"Bash(rm:*)"}, Ask: []string{"WebFetch"},
		HubOnly: []Rule{{Text: "*", Decision: Deny, ID: "r2", Scope: ScopeSession}},
	}
	if diff := cmp.Diff(want, e.Settings(testDir, testNow)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Settings{Deny: []string{"Bash(rm:*)"}}, base.Settings(testDir, testNow)); diff != "" {
		t.Errorf("the engine without the session's rules has changed:\n%s", diff)
	}
}

// TestEnforced: what explain says agrees with what the CLI is given.
func TestEnforced(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Bash": EnforcedBoth, "Bash(rm:*)": EnforcedBoth, "Read(.env)": EnforcedBoth, "WebFetch(domain:a.b)": EnforcedBoth, "mcp__a__b": EnforcedBoth, "Agent(x)": EnforcedBoth,
		"WebFetch(domain:*.a.b)": EnforcedHub, "Read(a*b)": EnforcedHub, "Skill(a:*)": EnforcedHub, "*": EnforcedHub, "no rule": EnforcedHub,
	} {
		r := Rule{Text: text, Decision: Deny}
		if got := Enforced(r); got != want {
			t.Errorf("deny %s: %q, want %q", text, got, want)
		}
		r.Expires = testNow
		if got := Enforced(r); got != EnforcedHub {
			t.Errorf("deny %s until then: %q", text, got)
		}
		if got := Enforced(Rule{Text: text, Decision: Allow}); got != EnforcedHub {
			t.Errorf("allow %s: %q", text, got)
		}
	}
}

package policy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSandbox(t *testing.T) {
	t.Parallel()
	until := testNow.Add(time.Hour)
	rules := func(d Decision, texts ...string) []Rule {
		var list []Rule
		for _, text := range texts {
			list = append(list, Rule{Text: text, Decision: d, Scope: ScopeGlobal})
		}
		return list
	}
	own := []string{"/home/u/.config/switchboard", "/home/u/.local/share/switchboard"}
	for _, test := range []struct {
		name    string
		rules   []Rule
		session []Rule
		dir     string
		want    Sandbox // without our own folders
	}{
		{name: "nothing but our own"},
		{name: "tools and commands are not for a sandbox", rules: rules(Deny, "Bash", "Bash(rm:*)", "Write", "Grep", "Glob", "NotebookEdit", "WebFetch", "mcp__a", "Skill(x)")},
		{
			name:  "paths",
			rules: rules(Deny, "Read(//etc/**)", "Read(~/.ssh/**)", "Read(~)", "Read(/secret)", "Read(src/*/x)", "Read(.env)", "Read(*.pem)", "Read(.)", "Edit(~/.bashrc)", "Edit(//)", "Edit(.env)"),
			want: Sandbox{
				DenyRead: []string{
					"/etc", "~/.ssh", "~", "/home/u/work/secret", "/home/u/work/src/*/x", "/home/u/work/**/.env", "/home/u/work/**/*.pem", "/home/u/work",
				},
				DenyWrite: []string{"~/.bashrc", "/"},
			},
		},
		{
			name: "what has a meaning in patterns", dir: `/srv/a[1] {b}*\`, rules: rules(Deny, "Read(x{1})", `Read(//y\[1\]/{a,b}*)`, `Read(p\(1\))`),
			want: Sandbox{DenyRead: []string{`/srv/a\[1\] \{b\}\*\\/**/x\{1\}`, `/y\[1\]/\{a,b\}*`, `/srv/a\[1\] \{b\}\*\\/**/p(1)`}},
		},
		{name: "no file is to be written", rules: rules(Deny, "Edit"), want: Sandbox{DenyWrite: []string{"/"}}},
		{
			name: "all files cannot be hidden", rules: rules(Deny, "Read"),
			want: Sandbox{Notes: []SandboxNote{{rules(Deny, "Read")[0], "The sandbox cannot hide all files: programs have to be read. Claude Code's own tools are denied."}}},
		},
		{
			name:  "other decisions",
			rules: append(rules(Ask, "Read(a)", "Edit(b)", "Edit"), rules(Allow, "Read(c)", "Edit(**)")...),
		},
		{
			name:    "expired, expiring, of a folder, of a session",
			session: []Rule{{Text: "Read(s)", Decision: Deny}, {Text: "*", Decision: Deny, Expires: until}},
			rules: []Rule{
				{Text: "Read(//old)", Decision: Deny, Expires: testNow},
				{Text: "Read(//soon)", Decision: Deny, Expires: until},
				{Text: "Read(//here)", Decision: Deny, Folder: "/home/u"},
				{Text: "Read(//there)", Decision: Deny, Folder: "/home/v"},
				{Text: "WebFetch(domain:a.example)", Decision: Allow, Expires: until},
			},
			want: Sandbox{
				DenyRead: []string{"/soon", "/here", "/home/u/work/**/s"},
				Notes: []SandboxNote{{
					Rule{Text: "Read(//soon)", Decision: Deny, Expires: until}, "The rule expires, and the sandbox holds it until the run ends.",
				}},
			},
		},
		{
			name: "hosts",
			rules: append(append(
				rules(Deny, "WebFetch(domain:evil.example)", "WebFetch(domain:*.Bad.example)"),
				rules(Ask, "WebFetch(domain:ask.mid.example)", "WebFetch(domain:*.some.example)", "WebFetch(domain:same.example)")...),
				rules(Allow, "WebFetch(domain:good.example)", "WebFetch(domain:*.mid.example)", "WebFetch(domain:a.some.example)", "WebFetch(domain:some.example)",
					"WebFetch(domain:same.example)", "WebFetch(domain:evil.example)", "WebFetch", "WebFetch(domain:*)")...),
			want: Sandbox{
				DenyHosts:  []string{"evil.example", "*.bad.example"},
				AskHosts:   []string{"ask.mid.example", "*.some.example", "same.example"},
				AllowHosts: []string{"good.example", "some.example"},
			},
		},
		{
			name: "connections of any program",
			rules: append(append(rules(Deny, "Network(host:evil.example)", "Network(host:10.0.0.1)"), rules(Ask, "Network(host:*.ask.example)")...),
				rules(Allow, "Network(host:*.Good.example)", "WebFetch(domain:a.ask.example)", "Network(host:b.example)")...),
			want: Sandbox{
				DenyHosts: []string{"evil.example", "10.0.0.1"}, AskHosts: []string{"*.ask.example"}, AllowHosts: []string{"*.good.example", "b.example"},
			},
		},
		{name: "no connection", rules: append(rules(Deny, "Network"), rules(Allow, "Network(host:a.example)")...), want: Sandbox{DenyNetwork: true}},
		{
			name: "all hosts", rules: append(rules(Deny, "WebFetch(domain:*)"), rules(Allow, "WebFetch(domain:a.example)")...),
			want: Sandbox{DenyNetwork: true},
		},
		{
			name: "all hosts are asked about", rules: append(rules(Ask, "Network"), rules(Allow, "WebFetch(domain:a.example)")...),
			want: Sandbox{AskNetwork: true},
		},
		{
			name:    "a rule that cannot be read",
			rules:   append(rules(Deny, "Read(~/x)"), rules(Allow, "WebFetch(domain:a.example)")...),
			session: []Rule{{Text: "Bash(", Decision: Deny}},
			want:    Sandbox{DenyRead: []string{"~/x"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e, err := New(&File{Rules: test.rules}, testOptions())
			if err != nil {
				t.Fatal(err)
			}
			if test.session != nil {
				e, _ = e.With(test.session) // one of them cannot be read
				for i := range test.want.Notes {
					test.want.Notes[i].Rule.Scope = ""
				}
			}
			if test.dir == "" {
				test.dir = testDir
			}
			test.want.DenyRead = append(append([]string(nil), own...), test.want.DenyRead...)
			if diff := cmp.Diff(test.want, e.Sandbox(test.dir, testNow)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSandboxWithoutFolder: a rule about a folder that is not known is told of.
func TestSandboxWithoutFolder(t *testing.T) {
	t.Parallel()
	e, err := New(&File{Rules: []Rule{{Text: "Read(.env)", Decision: Deny}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s := e.Sandbox("", testNow); len(s.DenyRead) > 0 || len(s.Notes) != 1 {
		t.Errorf("a rule about an unknown folder: %+v", s)
	}
}

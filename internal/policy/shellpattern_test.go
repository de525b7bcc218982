package policy

import (
	"strings"
	"testing"
)

func TestShellPatterns(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{"cat a '*' \"?\" \\*", ""},
		{"[ -f x ]", ""},
		{"[[ -f x ]]", ""},
		{"cat *", "."},
		{"cat src/*.go", "src"},
		{"cat src/a?/b", "src"},
		{"cat ~/.s*/id_rsa", "~"},
		{"cat ../.s[s]h/x", ".."},
		{"cat /*/passwd", "/"},
		{"cat /home/*/x", "/home"},
		{"cat \"$HOME\"/.s*", "~"},
		{"cd ~ && cat .s*/x", ". ~/."},
		{"x=$(cat a/*)", "a"},
		{"sh -c ls; echo > out/*", "out"},
		{"ls a/@(b|c)", "a"},
		{"sh -c 'cat ~/.s*/x'", "~"},
		{"for f in /etc/*; do cat $f; done", "/etc"},
		{"cat 'unclosed *", ""},
	} {
		var folders []string
		for _, p := range parseShell(tt.command).patterns() {
			folders = append(folders, p.folder)
		}
		if got := strings.Join(folders, " "); got != tt.want {
			t.Errorf("%q: patterns = %q, want %q", tt.command, got, tt.want)
		}
	}
}

// TestPatternsReachFolded is for file systems that do not tell capital letters.
func TestPatternsReachFolded(t *testing.T) {
	e := engineOf(t, Options{Home: testHome, Own: testOwn, Resolve: resolver(nil), FoldCase: true}, "allow Bash(cat:*)", "deny Read(~/.ssh/**)")
	for _, command := range []string{"cat ~/.CONFIG/switch*/x", "cat /HOME/u/.s*/id_rsa", "cat ~/.S*/id_rsa"} {
		c := bash(command)
		if j := (&judge{e: e, call: &c}); j.patternsReach() == "" {
			t.Errorf("%q reaches nothing", command)
		}
	}
}

// TestPatternsReach says for which patterns a person decides although an allow
// rule covers the command.
func TestPatternsReach(t *testing.T) {
	e := engineOf(
		t, Options{Home: testHome, Own: testOwn, Resolve: resolver(nil)},
		"allow Bash(cat:*)", "deny Read(~/.ssh/**)", "deny Read(.env)", "ask Edit(src/gen/**)", "deny Read(//srv/*/keys)",
	)
	for _, tt := range []struct {
		command string
		reaches bool
	}{
		{"cat src/*.go", false},
		{"cat ~/notes/*.md", false},
		{"cat ~/n*/x", false},
		{"cat /usr/*/x", false},
		{"cat ../o*/x", false},
		{"cat ~/.s*/id_rsa", true},
		{"cat ~/.ss[h]/id_rsa", true},
		{"cat ~/*/id_rsa", true},
		{"cat /home/*/.ssh/id_rsa", true},
		{"cat /h*/u/.ssh/id_rsa", true},
		{"cat ../.s*/x", true},
		{"cat ~/.config/switch*/x", true},
		{"cat ~/.c*/switchboard/x", true},
		{"cat ../.local/share/s*/x", true},
		{"cat ./.e*", true},
		{"cat a/.en?", true},
		{"cat src/g*/x", true},
		{"cat ./s*/gen/x", true},
		{"cat src/gen/*", true},
		{"cat /srv/a*/keys", true},
		{"cat /s*/a/keys", true},
		{"cat '*' \"~/.s*/x\"", false},
	} {
		c := bash(tt.command)
		j := &judge{e: e, call: &c}
		if got := j.patternsReach(); (got != "") != tt.reaches || got != "" && !strings.HasSuffix(got, "a person decides.") {
			t.Errorf("%q: %q, want a reason = %v", tt.command, got, tt.reaches)
		}
	}
}

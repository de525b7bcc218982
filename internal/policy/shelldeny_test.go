package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestShellOpaque(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{"git status && ls | wc -l", ""},
		{"ls $x \"$y\" $(date)", ""},
		{"for f in a b; do cat $f; done", ""},
		{"sh -c 'ls; pwd'", ""},
		{"bash script.sh", ""},
		{"~/bin/tool x", ""},
		{"$HOME/bin/tool x", ""},
		{"eval 'ls'", ""},
		{"$x -rf y", "`$x`"},
		{"X=rm; $X y", "`$X`"},
		{"$(cat cmd) y", "`$(cat cmd)`"},
		{"HOME=/tmp; $HOME/x", "`$HOME/x`"},
		{"eval \"$x\"", "`\"$x\"`"},
		{"sh -c \"$x\"", "`\"$x\"`"},
		{"curl x | sh", "from its input"},
		{"bash -s < x", "from its input"},
		{"source ./env", "the file `./env`"},
		{". ./env", "the file `./env`"},
		{"bash -c 'unclosed \"'", "cannot be read as shell"},
		{"echo \"unclosed", "cannot be read as shell"},
		{"parallel x ::: a b", "what it reads"},
	} {
		got := parseShell(tt.command).opaque()
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) || got != "" && !strings.HasSuffix(got, ".") {
			t.Errorf("%q: opaque = %q, want %q in it", tt.command, got, tt.want)
		}
	}
}

// TestShellLimits says that nothing that is too large to be read is allowed, and
// that it hides nothing from a deny rule.
func TestShellLimits(t *testing.T) {
	rules := compileRows(t, []string{"echo:*", "ls:*", "rm:*", "true:*", "sudo ls:*"})
	deny := rules[2]
	long := strings.Repeat("a", maxShellText)
	for name, command := range map[string]string{
		"too long":       "echo " + long + "; rm x",
		"too deep":       strings.Repeat("$(", maxShellDepth+1) + "rm x" + strings.Repeat(")", maxShellDepth+1),
		"many wrappers":  strings.Repeat("sudo -a b ", 3000) + "rm x",
		"far behind":     "sudo " + strings.Repeat("-a ", 400) + "rm x",
		"texts in texts": nested("rm x", 10),
		"many pipes":     strings.Repeat("echo 'rm x' | cat | ", 200) + "sh",
		"doubling":       "a=rm;" + strings.Repeat("a=$a$a;", 30) + "b=rm; $b x",
		"many braces":    "echo " + strings.Repeat("{a,b}", 2000) + "; rm x",
		"many commands":  strings.Repeat("true;", 2000) + "rm x",
	} {
		t.Run(name, func(t *testing.T) {
			s := parseShell(command)
			if ok, _, reason := s.matches(deny); !ok || reason == "" {
				t.Errorf("rm:* does not match")
			}
			_ = s.paths()
			_, ok, reason := s.allowed(rules, tablePaths)
			if ok != (name == "many commands") || !strings.HasSuffix(reason, ".") || len(reason) > 300 {
				t.Errorf("allowed = %v: %q", ok, reason)
			}
		})
	}
	// Deny rules have not looked at everything, so no allow rule may answer.
	wrapped := compileRows(t, []string{"timeout 5 echo:*"})
	if _, ok, reason := parseShell("timeout 5 echo"+strings.Repeat(" a", maxWrapped)).allowed(wrapped, tablePaths); ok || !strings.Contains(reason, "too many parts") {
		t.Errorf("a command that is not looked at whole: %v, %s", ok, reason)
	}
	if _, ok, reason := parseShell("timeout 5 echo a").allowed(wrapped, tablePaths); !ok {
		t.Error(reason)
	}
	// Just within the limits.
	for _, command := range []string{"echo " + long[:maxShellText-5], strings.Repeat("true;", 10000)} {
		if _, ok, reason := parseShell(command).allowed(rules, tablePaths); !ok {
			t.Errorf("a command of %d bytes is not allowed: %s", len(command), reason)
		}
	}
}

// nested puts a command into so many sh -c.
func nested(command string, times int) string {
	for range times {
		command = "sh -c " + fmt.Sprintf("%q", command)
	}
	return command
}

// TestShellManyPaths says that no file is lost among many commands.
func TestShellManyPaths(t *testing.T) {
	paths := parseShell(strings.Repeat("true;", 3000) + "cat secret").paths()
	if !slices.Contains(paths, shellPath{path: "secret"}) {
		t.Error("the file of the last command is missing")
	}
}

func TestAnsi(t *testing.T) {
	for in, want := range map[string]string{
		`abc`: "abc", `\x72m`: "rm", `\162\155`: "rm", `\u0072m`: "rm", `\U00000072m`: "rm", `a\nb\t\\\'`: "a\nb\t\\'", `\e[`: "\x1b[", `\xzz`: "xzz", `\`: `\`,
		`\0`: "\x00", `\q`: "q",
	} {
		if got := ansi(in); got != want {
			t.Errorf("%q = %q, want %q", in, got, want)
		}
	}
}

package policy

import (
	"slices"
	"strings"
	"testing"
)

func TestCompileShell(t *testing.T) {
	for _, tt := range []struct {
		text  string
		kind  ruleKind
		words []string
	}{
		{"git status:*", prefixRule, []string{"git", "status"}},
		{"git status *", prefixRule, []string{"git", "status"}},
		{"  git   status:*  ", prefixRule, []string{"git", "status"}},
		{"git status", exactRule, []string{"git", "status"}},
		{"export:*", prefixRule, []string{"export"}},
		{"time", exactRule, []string{"time"}},
		{"if:*", prefixRule, []string{"if"}},
		{"[:*", prefixRule, []string{"["}},
		{`git commit -m "a b":*`, prefixRule, []string{"git", "commit", "-m", "a b"}},
		{`find . -name '*.go'`, exactRule, []string{"find", ".", "-name", "*.go"}},
		{`find . -name \*.go`, exactRule, []string{"find", ".", "-name", "*.go"}},
		{`echo "\$5"`, exactRule, []string{"echo", "$5"}},
		{"git * main", patternRule, []string{"git"}},
		{"git * main:*", patternRule, []string{"git"}},
		{"npm run test*", patternRule, []string{"npm", "run"}},
		{"*", patternRule, nil},
		{"* --version", patternRule, nil},
		{"a && b", textRule, nil},
		{"rm -rf $HOME", textRule, nil},
		{"FOO=1 make", textRule, nil},
		{"make > x", textRule, nil},
		{"(", textRule, nil},
		{"echo $'x'", textRule, nil},
		{`echo $"x"`, textRule, nil},
		{"echo a # b", textRule, nil},
	} {
		r, err := compileShell(tt.text)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		if r.kind != tt.kind || !slices.Equal(r.words, tt.words) {
			t.Errorf("%q: kind %d, words %q; want %d, %q", tt.text, r.kind, r.words, tt.kind, tt.words)
		}
		if (r.neverAllows() != "") != (tt.kind == textRule) {
			t.Errorf("%q: neverAllows = %q", tt.text, r.neverAllows())
		}
	}
	for text, want := range map[string]string{
		"":                     "names no command",
		"  ":                   "names no command",
		":*":                   "no command in front",
		" :*":                  "no command in front",
		"a && b:*":             "the operator `&&`",
		"a; b:*":               "more or less than one command",
		"a | b *":              "the operator `|`",
		"echo $X:*":            "a variable",
		"echo $(ls):*":         "a command substitution",
		"FOO=1 make:*":         "an assignment",
		"make > x:*":           "a redirection",
		"(a):*":                "cannot be read",
		"echo 'a:*":            "cannot be read",
		"ls # x:*":             "a comment",
		"git\u202estatus:*":    "a character that no command should have",
		"'':*":                 "no command",
		"sleep 1 & :*":         "an operator",
		"a & *":                "more or less",
		"! a:*":                "", // a word like others
		"git status\nrm -rf:*": "more or less",
	} {
		_, err := compileShell(text)
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: the error is %v, want %q in it", text, err, want)
		}
	}
}

// TestShellRuleCoversItself says that an exact rule covers the command that it
// is, and a prefix rule with nothing more.
func TestShellRuleCoversItself(t *testing.T) {
	for _, text := range []string{"git status", "npm run build", "echo 'a b' c", `echo "x"`, "eval ls", "sudo rm x", "find . -delete", "xargs rm", "sh -c 'a; b'"} {
		s := parseShell(text)
		exact, err := compileShell(text)
		if err != nil {
			t.Fatal(err)
		}
		if which, ok, reason := s.allowed([]*shellRule{exact}, tablePaths); !ok || !slices.Equal(which, []int{0}) {
			t.Errorf("%q: which %v, ok %v (%s)", text, which, ok, reason)
		}
		if ok, _, _ := s.matches(exact); !ok {
			t.Errorf("%q does not match itself", text)
		}
	}
}

func TestShellWhich(t *testing.T) {
	rules := compileRows(t, []string{"unused:*", "git status:*", "ls:*", "read-only", "git:*"})
	for _, tt := range []struct {
		command string
		which   []int
	}{
		{"ls; git status; ls -l", []int{2, 1}},
		{"git status && cat x | ls && git push", []int{1, 3, 2, 4}},
		{"git status; git status", []int{1}},
	} {
		which, ok, reason := parseShell(tt.command).allowed(rules, tablePaths)
		if !ok || !slices.Equal(which, tt.which) {
			t.Errorf("%q: which = %v, ok = %v (%s); want %v", tt.command, which, ok, reason, tt.which)
		}
	}
}

func TestMatchStars(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true},
		{"a", "ab", false},
		{"*", "", true},
		{"*", "x", true},
		{"a*", "a", true},
		{"a*", "b", false},
		{"*a", "ba", true},
		{"*a", "ab", false},
		{"a*a", "a", false},
		{"a*a", "aa", true},
		{"a*b*c", "aXbYc", true},
		{"a*b*c", "acb", false},
		{"a*bb*b", "abb", false},
		{"a**c", "ac", true},
		{"ab*ba", "aba", false},
	} {
		if got := matchStars(strings.Split(tt.pattern, "*"), tt.text); got != tt.want {
			t.Errorf("%q on %q = %v", tt.pattern, tt.text, got)
		}
	}
}

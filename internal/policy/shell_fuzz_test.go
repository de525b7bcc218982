package policy

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// fuzzAllow are the rules of FuzzShellAllow with what they mean, said once more
// and in another way than the code under test does.
var fuzzAllow = []struct {
	rule string
	fits func(words []string) bool
}{
	{"git status:*", func(w []string) bool { return len(w) >= 2 && w[0] == "git" && w[1] == "status" }},
	{"echo *", func(w []string) bool { return w[0] == "echo" }},
	{"cat:*", func(w []string) bool { return w[0] == "cat" }},
	{"find:*", func(w []string) bool {
		return w[0] == "find" && !slices.ContainsFunc(w, func(s string) bool {
			return slices.Contains(strings.Fields("-exec -execdir -ok -okdir -delete -fls -fprint -fprint0 -fprintf"), s)
		})
	}},
	{"git * main", func(w []string) bool {
		// -c and its kin in front of git's own command are not covered.
		return len(w) >= 2 && w[0] == "git" && strings.HasSuffix(w[len(w)-1], "main") && w[1] != "-c" && w[1] != "-C"
	}},
	{"make test", func(w []string) bool { return slices.Equal(w, []string{"make", "test"}) }},
}

// FuzzShellAllow holds the promise of allow rules: whatever is allowed consists
// of nothing but simple commands with known words, each of which fits a rule,
// and redirections that the paths allow.
func FuzzShellAllow(f *testing.F) {
	for _, row := range shellRows(f) {
		f.Add(row.command)
	}
	texts := make([]string, len(fuzzAllow))
	for i, r := range fuzzAllow {
		texts[i] = r.rule
	}
	rules := compileRows(f, texts)
	f.Fuzz(func(t *testing.T, command string) {
		var asked []string
		s := parseShell(command)
		which, ok, reason := s.allowed(rules, func(p string, write bool) bool {
			asked = append(asked, p)
			return tablePaths(p, write)
		})
		if reason == "" || !strings.HasSuffix(reason, ".") {
			t.Errorf("%q: the reason is %q", command, reason)
		}
		// The generous side must stand any text too.
		_ = s.paths()
		_ = s.opaque()
		if !ok {
			return
		}
		calls := walkAllowed(t, command, asked)
		if len(calls) == 0 {
			t.Errorf("%q runs nothing, and is allowed", command)
		}
		for _, words := range calls {
			if !slices.ContainsFunc(which, func(i int) bool { return fuzzAllow[i].fits(words) }) {
				t.Errorf("%q: %q fits none of the rules %v", command, words, which)
			}
			// What an allow rule covers, the same rule as a deny matches.
			if !slices.ContainsFunc(which, func(i int) bool { hit, _, _ := s.matches(rules[i]); return hit }) {
				t.Errorf("%q: allowed by %v, and none of them matches as a deny", command, which)
			}
		}
	})
}

// walkAllowed walks a text's tree by itself, fails for every kind of node that
// must not be there, and returns the words of each simple command as Bash reads
// them from the source.
func walkAllowed(t *testing.T, command string, asked []string) [][]string {
	t.Helper()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(command), "")
	if err != nil {
		t.Errorf("%q is allowed and cannot be parsed: %v", command, err)
		return nil
	}
	text := func(w *syntax.Word) string {
		return unquoteSource(t, command[w.Pos().Offset():w.End().Offset()])
	}
	var calls [][]string
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.File, *syntax.Word, *syntax.Lit:
		case *syntax.Stmt:
			if n.Negated || n.Background || n.Coprocess || n.Disown || n.Cmd == nil {
				t.Errorf("%q: a statement that is more than a command", command)
			}
		case *syntax.CallExpr:
			if len(n.Assigns) > 0 {
				t.Errorf("%q: an assignment", command)
			}
			var words []string
			for _, w := range n.Args {
				words = append(words, text(w))
			}
			calls = append(calls, words)
		case *syntax.BinaryCmd:
			if n.Op != syntax.AndStmt && n.Op != syntax.OrStmt && n.Op != syntax.Pipe {
				t.Errorf("%q: the operator %s", command, n.Op)
			}
		case *syntax.SglQuoted:
			if n.Dollar {
				t.Errorf("%q: $'…'", command)
			}
		case *syntax.DblQuoted:
			if n.Dollar {
				t.Errorf("%q: $\"…\"", command)
			}
		case *syntax.Redirect:
			target := text(n.Word)
			number := len(target) == 1 && strings.Contains("-0123456789", target)
			if n.Hdoc != nil || n.Op == syntax.WordHdoc {
				t.Errorf("%q: a here-document or here-string", command)
			}
			if (n.Op == syntax.DplIn || n.Op == syntax.DplOut) && number || target == "/dev/null" {
				break
			}
			if !slices.ContainsFunc(asked, func(p string) bool { return p == target || p == "./"+target }) {
				t.Errorf("%q: nobody was asked for %q", command, target)
			}
		default:
			t.Errorf("%q: a %T", command, n)
		}
		return true
	})
	return calls
}

// unquoteSource reads a word's source letter by letter, as the manual of Bash
// describes quoting. Everything that would be expanded fails the test, but for
// patterns and a tilde, which rules may cover.
func unquoteSource(t *testing.T, source string) string {
	t.Helper()
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(source); i++ {
		c := source[i]
		switch {
		case quote == '\'':
			if c == '\'' {
				quote = 0
				continue
			}
		case c == '\\':
			i++
			if i == len(source) {
				t.Fatalf("%q ends with a backslash", source)
			}
			if quote == '"' && !strings.Contains("$`\"\\", source[i:i+1]) {
				b.WriteByte('\\')
			}
			c = source[i]
			if c == '\n' {
				t.Fatalf("%q continues a line", source)
			}
		case c == '$' || c == '`':
			t.Fatalf("%q has a substitution", source)
		case quote == '"':
			if c == '"' {
				quote = 0
				continue
			}
		case c == '\'' || c == '"':
			quote = c
			continue
		case strings.IndexByte(" \t\n;&|<>()", c) >= 0:
			t.Fatalf("%q has a letter that ends a word", source)
		}
		b.WriteByte(c)
	}
	if quote != 0 {
		t.Fatalf("%q is not closed", source)
	}
	return b.String()
}

// FuzzShellDeny holds the promise of deny rules: no text around a command hides
// it.
func FuzzShellDeny(f *testing.F) {
	for _, row := range shellRows(f) {
		f.Add(row.command)
	}
	rule := compileRows(f, []string{"rm:*"})[0]
	forms := []string{
		"@\nrm -rf x", "rm -rf x\n@", "(rm -rf x)\n@", "@\n{ rm -rf x; }", "sudo -u me rm -rf x\n@", "@\nsh -c 'rm -rf x'", "echo $(rm -rf x)\n@",
		"{\n@\n/bin/rm -rf x\n}", "if true; then\n@\nrm -rf x\nfi", "f() {\n@\nr\"m\" -rf x\n}\nf", "eval 'rm -rf x' && {\n@\n}", "@\nls | xargs rm -rf x",
		"find . -exec rm -rf x \\;\n@", "X=1 rm -rf x\n@", "@\ncat <(rm -rf x)", "(\n@\n) || rm -rf x",
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.HasSuffix(text, `\`) {
			return // the line would go on
		}
		if _, err := parseText(text); err != nil {
			return
		}
		for _, form := range forms {
			command := strings.Replace(form, "@", text, 1)
			if ok, _, reason := parseShell(command).matches(rule); !ok || reason == "" {
				t.Errorf("%q does not match rm:*", command)
			}
		}
	})
}

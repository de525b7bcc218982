package rooms

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

// The headings in docs/architecture.md of the three ways through the program, each
// with the most hops that it may have; 0 means any number. A hop is a row of the table
// under the heading.
var waysOf = []struct {
	heading string
	most    int
}{
	{"### A line of the agent", 12},
	{"### A prompt", 0},
	{"### A question", 0},
}

// named is a function as the tables write it: package.Function or
// package.Type.Method.
var named = regexp.MustCompile("`([a-z0-9]+(?:\\.[A-Za-z0-9]+){1,2})`")

// functions returns the functions and methods of a repository that are not only for
// tests, named as in the tables.
func functions(t *testing.T, files fs.FS) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	for _, p := range load(t, files) {
		for _, f := range p.files {
			if f.test() {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), f.path, read(t, files, f.path), parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range parsed.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok {
					continue
				}
				name := f.name + "."
				if fn.Recv != nil {
					name += baseName(fn.Recv.List[0].Type) + "."
				}
				known[name+fn.Name.Name] = true
			}
		}
	}
	return known
}

// hops returns the rows of the first table under a heading, without its head.
func hops(markdown, heading string) []string {
	_, section, found := strings.Cut(markdown, "\n"+heading+"\n")
	if !found {
		return nil
	}
	var rows []string
	for line := range strings.Lines(section) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "|"):
			rows = append(rows, line)
		case len(rows) > 0 || strings.HasPrefix(line, "#"):
			return rows[min(2, len(rows)):]
		}
	}
	return rows[min(2, len(rows)):]
}

// checkWays says what is wrong with the tables of the three ways: every hop names a
// function, every function exists, and a line has few hops.
func checkWays(markdown string, known map[string]bool) []string {
	var wrong []string
	for _, way := range waysOf {
		rows := hops(markdown, way.heading)
		if len(rows) == 0 {
			wrong = append(wrong, fmt.Sprintf("docs/architecture.md has no table under %q", way.heading))
		}
		if way.most > 0 && len(rows) > way.most {
			wrong = append(wrong, fmt.Sprintf("%q has %d hops, at most %d are allowed: make the way shorter, not the table", way.heading, len(rows), way.most))
		}
		for i, row := range rows {
			names := named.FindAllStringSubmatch(row, -1)
			if len(names) == 0 {
				wrong = append(wrong, fmt.Sprintf("%q: hop %d names no function", way.heading, i+1))
			}
			for _, name := range names {
				if !known[name[1]] && path.Ext(name[1]) != ".go" {
					wrong = append(wrong, fmt.Sprintf("%q: hop %d names %s, which does not exist", way.heading, i+1, name[1]))
				}
			}
		}
	}
	return wrong
}

func TestWays(t *testing.T) {
	report(t, checkWays(read(t, repository(), "docs/architecture.md"), functions(t, repository())))
}

func TestWaysNotices(t *testing.T) {
	known := functions(t, tree{
		"go.mod":      "module m",
		"a/a.go":      "package a\n\nfunc F() {}\n\ntype t[K any] struct{}\n\nfunc (*t[K]) m() {}\n",
		"a/a_test.go": "package a\n\nfunc OnlyForTests() {}\n",
	}.files())
	table := func(rows ...string) string {
		return "| # | functions |\n| --- | --- |\n" + strings.Join(rows, "\n") + "\n\nMore.\n"
	}
	page := func(line, prompt, question string) string {
		return "# A\n\n### A line of the agent\n\n" + line + "\n### A prompt\n\n" + prompt + "\n### A question\n\nWords.\n\n" + question
	}
	good := table("| 1 | `a.F`, `a.t.m` |")
	report(t, checkWays(page(good, good, good), known))
	long := make([]string, 13)
	for i := range long {
		long[i] = "| 1 | `a.F` |"
	}
	expect(t, checkWays(page(table(long...), good, good), known), "13 hops")
	expect(t, checkWays(page(good, table("| 1 | `a.G` |", "| 2 | nothing |"), good), known), "a.G, which does not exist", "hop 2 names no function")
	expect(t, checkWays(page(good, good, table("| 1 | `a.OnlyForTests` |")), known), "a.OnlyForTests")
	expect(t, checkWays("# A\n\n### A prompt\n\n"+good+"\n### A question\n\n"+good, known), "no table")
}

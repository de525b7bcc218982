package rooms

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The states that a requirement may have in docs/seeds.md, by the word that its last
// column begins with. One that does not hold needs a reason.
var (
	seedYes   = regexp.MustCompile(`^yes\b`)
	seedNo    = regexp.MustCompile(`^no version \S+ \S+`)
	seedLater = regexp.MustCompile(`\blater: \S+ \S+`)
)

// A seedIndex is what the page may name.
type seedIndex struct {
	files fs.FS
	// tests are the functions of tests, as package.TestName; the package goes by the
	// name of its folder.
	tests map[string]bool
	// literals are the strings in the files of the conformance suite, whose rows have
	// ids that may be put together.
	literals map[string]bool
}

// indexTests reads the names of all tests of a repository.
func indexTests(t *testing.T, files fs.FS) *seedIndex {
	t.Helper()
	index := &seedIndex{files: files, tests: map[string]bool{}, literals: map[string]bool{}}
	for _, p := range load(t, files) {
		for _, f := range p.files {
			if !f.test() {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), f.path, read(t, files, f.path), parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range parsed.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
					index.tests[path.Base(p.dir)+"."+fn.Name.Name] = true
				}
			}
			if p.dir != "internal/conformance" {
				continue
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil {
						index.literals[text] = true
					}
				}
				return true
			})
		}
	}
	return index
}

// row says whether the conformance suite has a row of this id: a literal, or up to
// three of them in a row.
func (x *seedIndex) row(id string, parts int) bool {
	if x.literals[id] {
		return true
	}
	for cut := 3; parts > 1 && cut < len(id)-2; cut++ {
		if x.literals[id[:cut]] && x.row(id[cut:], parts-1) {
			return true
		}
	}
	return false
}

// has says whether there is such a test.
func (x *seedIndex) has(test string) bool {
	if id, ok := strings.CutPrefix(test, "conformance/"); ok {
		return strings.Contains(id, ".") && x.row(id, 3)
	}
	if strings.HasPrefix(test, "web/") {
		_, err := fs.Stat(x.files, test)
		return err == nil && strings.Contains(test, ".test.")
	}
	return x.tests[test]
}

// check says what is wrong with the tables of the page, and how many requirements
// they have.
func (x *seedIndex) check(page string) (rows int, wrong []string) {
	number := 0
	for line := range strings.Lines(page) {
		number++
		complain := func(format string, args ...any) {
			wrong = append(wrong, fmt.Sprintf("docs/seeds.md:%d: ", number)+fmt.Sprintf(format, args...))
		}
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") || strings.HasPrefix(line, "| requirement |") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 4 {
			complain("%d columns instead of four", len(cells))
			continue
		}
		places, tests, held := codeSpan.FindAllStringSubmatch(cells[1], -1), codeSpan.FindAllStringSubmatch(cells[2], -1), cells[3]
		if len(places) == 0 {
			complain("it does not say where this is built")
		}
		for _, place := range places {
			if _, err := fs.Stat(x.files, place[1]); err != nil {
				complain("there is no %s", place[1])
			}
		}
		for _, test := range tests {
			if !x.has(test[1]) {
				complain("there is no test %s", test[1])
			}
		}
		for _, span := range codeSpan.FindAllStringSubmatch(held, -1) {
			if strings.HasPrefix(span[1], "conformance/") && !x.has(span[1]) {
				complain("there is no test %s", span[1])
			}
		}
		later := seedLater.MatchString(held)
		switch {
		case !seedYes.MatchString(held) && !seedNo.MatchString(held) && !later:
			complain("%q is neither yes, nor no version …, nor later: …", held)
		case len(tests) == 0 && !later:
			complain("no test shows it")
		}
	}
	return rows, wrong
}

func TestSeeds(t *testing.T) {
	index := indexTests(t, repository())
	rows, wrong := index.check(read(t, repository(), "docs/seeds.md"))
	report(t, wrong)
	if rows < 167 {
		t.Errorf("only %d requirements are read", rows)
	}
}

func TestSeedsNotices(t *testing.T) {
	index := indexTests(t, tree{
		"go.mod":                                "module m",
		"a/a.go":                                "package a\n",
		"a/a_test.go":                           "package a\n\nfunc TestA() {}\n\nfunc helper() {}\n",
		"internal/conformance/rows_test.go":     "package conformance\n\nvar a, b, c = \"hooks.\" + \"async\", \"end.idle\", \"no\"\n",
		"web/test/browser/plans.test.ts":        "",
		"web/test/stage.ts":                     "",
		"internal/conformance/scenario_test.go": "package conformance\n",
	}.files())
	const head = "| requirement | built in | tests | held |\n| --- | --- | --- | --- |\n"
	for _, test := range []struct {
		name, row string
		want      []string
	}{
		{"sound", "| x | `a` | `a.TestA` `conformance/end.idle` `web/test/browser/plans.test.ts` | yes, in part |", nil},
		{"a row that is put together", "| x | `a` | `conformance/hooks.async` | no version waits for it |", nil},
		{"planned", "| x | `a` | - | later: the chat bridge |", nil},
		{"under way", "| x | `a` | - | open |", []string{"neither yes"}},
		{"no such test", "| x | `a` | `a.TestB` | yes |", []string{"no test a.TestB"}},
		{"a test that shows the contrary", "| x | `a` | `a.TestA` | no version waits, shown by `conformance/end.busy` |", []string{"no test conformance/end.busy"}},
		{"not a test", "| x | `a` | `a.helper` | yes |", []string{"no test a.helper"}},
		{"no such row", "| x | `a` | `conformance/end.busy` | yes |", []string{"no test conformance/end.busy"}},
		{"a row of scraps", "| x | `a` | `conformance/hooks.no` | yes |", []string{"no test conformance/hooks.no"}},
		{"no test of the console", "| x | `a` | `web/test/stage.ts` | yes |", []string{"no test web/test/stage.ts"}},
		{"no such place", "| x | `b` | `a.TestA` | yes |", []string{"there is no b"}},
		{"nowhere", "| x | - | `a.TestA` | yes |", []string{"where this is built"}},
		{"no test at all", "| x | `a` | - | yes |", []string{"no test shows it"}},
		{"no without a reason", "| x | `a` | `a.TestA` | no |", []string{"neither yes"}},
		{"columns", "| x | `a` | yes |", []string{"3 columns"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows, wrong := index.check(head + test.row + "\n")
			expect(t, wrong, test.want...)
			if rows != 1 {
				t.Errorf("%d rows are read", rows)
			}
		})
	}
}

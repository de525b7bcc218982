// Crosscheck type-checks and vets the module in the current directory, tests included, for other operating systems.
//
//	go run ./crosscheck GOOS/GOARCH[=PATTERN,...]...
//
// `go vet` with GOOS set would compile the standard library and every dependency for each system, which takes minutes of computing on a
// machine with an empty build cache and finds nothing more: dependencies are read from their source here, without the bodies of their
// functions.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/stdmethods"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/structtag"
	"golang.org/x/tools/go/analysis/passes/unmarshal"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/packages"
)

// analyzers are those of go vet that need to know nothing of dependencies but their types.
var analyzers = []*analysis.Analyzer{
	assign.Analyzer, atomic.Analyzer, bools.Analyzer, buildtag.Analyzer, copylock.Analyzer, errorsas.Analyzer, ifaceassert.Analyzer,
	nilfunc.Analyzer, shift.Analyzer, sigchanyzer.Analyzer, stdmethods.Analyzer, stringintconv.Analyzer, structtag.Analyzer,
	unmarshal.Analyzer, unreachable.Analyzer, unsafeptr.Analyzer,
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: crosscheck GOOS/GOARCH[=PATTERN,...]...")
		os.Exit(2)
	}
	found := false
	for _, target := range os.Args[1:] {
		name, list, listed := strings.Cut(target, "=")
		patterns := []string{"./..."}
		if listed {
			patterns = strings.Split(list, ",")
		}
		problems, err := check(name, patterns)
		if err != nil {
			fmt.Fprintf(os.Stderr, "crosscheck %s: %v\n", name, err)
			os.Exit(1)
		}
		for _, p := range problems {
			fmt.Fprintf(os.Stderr, "%s (%s)\n", p, name)
		}
		found = found || len(problems) > 0
	}
	if found {
		os.Exit(1)
	}
}

// check returns what is wrong with packages on one system.
func check(target string, patterns []string) ([]string, error) {
	system, processor, ok := strings.Cut(target, "/")
	if !ok {
		return nil, fmt.Errorf("%q is not of the form GOOS/GOARCH", target)
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	initial, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax | packages.NeedModule,
		Tests: true,
		Env:   append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"),
		ParseFile: func(files *token.FileSet, name string, src []byte) (*ast.File, error) {
			file, err := parser.ParseFile(files, name, src, parser.ParseComments|parser.SkipObjectResolution)
			if file != nil && !within(here, name) {
				withoutBodies(file)
			}
			return file, err
		},
	}, patterns...)
	if err != nil {
		return nil, err
	}
	if len(initial) == 0 {
		return nil, fmt.Errorf("no packages match %s", strings.Join(patterns, " "))
	}

	seen := map[string]bool{}
	var problems []string
	add := func(text string) {
		if text = strings.TrimPrefix(text, here+string(filepath.Separator)); !seen[text] {
			seen[text] = true
			problems = append(problems, text)
		}
	}
	var checked []*packages.Package
	for _, p := range initial {
		if strings.HasSuffix(p.ID, ".test") {
			continue // the main package that go test makes
		}
		for _, e := range p.Errors {
			add(e.Error())
		}
		p.IllTyped = false // because dependencies have no bodies; its own errors end the check below
		checked = append(checked, p)
	}
	if len(problems) > 0 {
		return problems, nil
	}
	graph, err := checker.Analyze(analyzers, checked, nil)
	if err != nil {
		return nil, err
	}
	for action := range graph.All() {
		if !action.IsRoot {
			continue
		}
		if action.Err != nil {
			return nil, fmt.Errorf("analyzer %s on %s: %w", action.Analyzer.Name, action.Package.PkgPath, action.Err)
		}
		for _, d := range action.Diagnostics {
			add(fmt.Sprintf("%s: %s", action.Package.Fset.Position(d.Pos), d.Message))
		}
	}
	return problems, nil
}

// within reports whether a file is below a directory.
func within(dir, name string) bool {
	return strings.HasPrefix(name, dir+string(filepath.Separator))
}

// withoutBodies removes the bodies of a file's functions. What is wrong inside of them, and which imports are used only there, is of no
// interest in a dependency.
func withoutBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
	file.Comments = nil
}

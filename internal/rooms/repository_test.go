package rooms

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	makeTarget = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):(?:[^=].*)?$`)
	makeWord   = regexp.MustCompile("(?m)(?:`|^)make ([a-z][a-z0-9-]*)")
	goVersion  = regexp.MustCompile(`(?m)^go (\d+\.\d+)`)
	requires   = regexp.MustCompile(`(?m)^(?:require )?\s*([a-z0-9.-]+\.[a-z]+/\S+) v\S+$`)
)

// targets lists the words that a Makefile knows, in its order.
func targets(makefile string) []string {
	var names []string
	for _, m := range makeTarget.FindAllStringSubmatch(makefile, -1) {
		names = append(names, m[1])
	}
	return names
}

// blocks returns the shell code blocks of a document.
func blocks(markdown string) []string {
	var list []string
	for _, part := range strings.Split(markdown, "\n```sh\n")[1:] {
		code, _, _ := strings.Cut(part, "\n```")
		list = append(list, code)
	}
	return list
}

// commands returns the lines of a shell text without comments, blank lines,
// redirections and a leading exec.
func commands(shell string) []string {
	var list []string
	for line := range strings.Lines(shell) {
		line, _, _ = strings.Cut(line, "#")
		line, _, _ = strings.Cut(line, "<")
		line = strings.TrimPrefix(strings.TrimSpace(line), "exec ")
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// checkCommands says where README, Makefile and CI do not agree: the README
// shows `make run` and `make test` together, CI ends with the latter, and bare
// `make` gives help.
func checkCommands(readme, makefile, ci string) []string {
	var wrong []string
	if !slices.ContainsFunc(blocks(readme), func(block string) bool {
		return slices.Equal(commands(block), []string{"make run", "make test"})
	}) {
		wrong = append(wrong, "README.md has no sh block with the two commands make run and make test")
	}
	lines := commands(ci)
	if len(lines) == 0 || lines[len(lines)-1] != "make test" {
		wrong = append(wrong, ".ci/run does not end with the README's test command, make test")
	}
	if !strings.HasPrefix(ci, "#!/usr/bin/env bash\n") || !slices.Contains(lines, "set -euo pipefail") {
		wrong = append(wrong, ".ci/run is not a bash script that stops at the first error (set -euo pipefail)")
	}
	names := targets(makefile)
	if len(names) == 0 || names[0] != "help" {
		wrong = append(wrong, "the first target of the Makefile is not help")
	}
	for _, word := range []string{"run", "test", "build", "lint", "conformance", "bench", "fuzz", "soak", "vuln", "clean"} {
		if !strings.Contains(makefile, "\n"+word+":") {
			wrong = append(wrong, fmt.Sprintf("the Makefile has no target %s", word))
		}
	}
	for _, name := range names {
		if !strings.Contains(makefile, "\n.PHONY: "+name+"\n") {
			wrong = append(wrong, fmt.Sprintf("target %s of the Makefile is not .PHONY, a file of that name would silence it", name))
		}
	}
	return wrong
}

// checkMakeWords says which `make` words of a document make does not know.
func checkMakeWords(document, markdown, makefile string) []string {
	var wrong []string
	known := targets(makefile)
	for _, m := range makeWord.FindAllStringSubmatch(markdown, -1) {
		if !slices.Contains(known, m[1]) {
			wrong = append(wrong, fmt.Sprintf("%s says make %s, which the Makefile does not know", document, m[1]))
		}
	}
	return wrong
}

// checkDependencies says which modules that go.mod asks for directly have no
// record in docs/decisions.
func checkDependencies(gomod, decisions string) []string {
	var wrong []string
	for _, m := range requires.FindAllStringSubmatch(gomod, -1) {
		if !strings.Contains(decisions, m[1]) {
			wrong = append(wrong, fmt.Sprintf("module %s has no record: write into docs/decisions why it is needed, its size, its licence and how to be rid of it", m[1]))
		}
	}
	return wrong
}

func TestCommands(t *testing.T) {
	files := repository()
	report(t, checkCommands(read(t, files, "README.md"), read(t, files, "Makefile"), read(t, files, ".ci/run")))
	info, err := fs.Stat(files, ".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode()&0o111 == 0 {
		t.Error(".ci/run is not executable")
	}
}

func TestMakeWords(t *testing.T) {
	files := repository()
	makefile := read(t, files, "Makefile")
	for _, name := range documents(t, files) {
		report(t, checkMakeWords(name, read(t, files, name), makefile))
	}
}

func TestGoVersion(t *testing.T) {
	files := repository()
	m := goVersion.FindStringSubmatch(read(t, files, "go.mod"))
	if m == nil {
		t.Fatal("go.mod names no Go version")
	}
	if want := "Go " + m[1]; !strings.Contains(read(t, files, "README.md"), want) {
		t.Errorf("README.md does not say that %s is needed, as go.mod does", want)
	}
}

func TestDependencies(t *testing.T) {
	files := repository()
	names, err := fs.Glob(files, "docs/decisions/*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("there are no records in docs/decisions: %v", err)
	}
	var decisions strings.Builder
	numbers := map[string]string{}
	for _, name := range names {
		decisions.WriteString(read(t, files, name))
		number, _, _ := strings.Cut(path.Base(name), "-")
		if other, taken := numbers[number]; taken {
			t.Errorf("%s and %s have the same number", other, name)
		}
		numbers[number] = name
	}
	report(t, checkDependencies(read(t, files, "go.mod"), decisions.String()))
}

func TestCommandsNotices(t *testing.T) {
	const readme = "# X\n\n```sh\nmake run    # play\nmake test   # check\n```\n"
	const ci = "#!/usr/bin/env bash\n# CI.\nset -euo pipefail\nexec make test </dev/null\n"
	var makefile strings.Builder
	makefile.WriteString("GO ?= go\n")
	for _, word := range []string{"help", "run", "test", "build", "lint", "conformance", "bench", "fuzz", "soak", "vuln", "clean"} {
		fmt.Fprintf(&makefile, "\n.PHONY: %s\n%s: ## does it\n\t@true\n", word, word)
	}
	whole := makefile.String()
	without := func(text, part string) string {
		if !strings.Contains(text, part) {
			t.Fatalf("the fixture has no %q", part)
		}
		return strings.Replace(text, part, "", 1)
	}
	tests := []struct {
		name, readme, makefile, ci string
		want                       []string
	}{
		{"sound", readme, whole, ci, nil},
		{"README without test", without(readme, "make test"), whole, ci, []string{"no sh block"}},
		{"README with another command", strings.Replace(readme, "make test", "go test ./...", 1), whole, ci, []string{"no sh block"}},
		{"CI runs less", readme, whole, strings.Replace(ci, "make test", "make unit", 1), []string{".ci/run does not end"}},
		{"CI goes on after errors", readme, whole, without(ci, "set -euo pipefail\n"), []string{"stops at the first error"}},
		{"help not first", readme, "all: test\n.PHONY: all\n" + whole, ci, []string{"first target"}},
		{"no soak", readme, without(whole, "\n.PHONY: soak\nsoak: ## does it\n\t@true\n"), ci, []string{"no target soak"}},
		{"not phony", readme, without(whole, "\n.PHONY: vuln"), ci, []string{"target vuln of the Makefile is not .PHONY"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expect(t, checkCommands(test.readme, test.makefile, test.ci), test.want...)
		})
	}
	t.Run("make words", func(t *testing.T) {
		expect(t, checkMakeWords("a.md", "Run `make test`.\n\n```sh\nmake fuzz FUZZTIME=1m\n```\n\nWe make mistakes.\n", whole))
		expect(t, checkMakeWords("a.md", "Run `make tests`.\n", whole), "make tests")
		expect(t, checkMakeWords("a.md", "```sh\nmake deploy\n```\n", whole), "make deploy")
	})
}

func TestDependenciesNotices(t *testing.T) {
	const gomod = "module example.com/m\n\ngo 1.26\n\nrequire example.com/one v1.0.0\n\nrequire (\n\texample.com/two/v2 v2.1.0\n\texample.com/three v0.1.0 // indirect\n)\n"
	expect(t, checkDependencies(gomod, "We use example.com/one and example.com/two/v2."))
	expect(t, checkDependencies(gomod, "We use example.com/one."), "module example.com/two/v2 has no record")
	expect(t, checkDependencies(gomod, ""), "example.com/one", "example.com/two/v2")
}

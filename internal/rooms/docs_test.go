package rooms

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// checkPackageDocs says which packages do not tell what they are for. The
// comment stands once, in doc.go (a command's may be in main.go), and begins
// with a whole sentence about the package by its name.
func checkPackageDocs(packages []pkg) []string {
	var wrong []string
	for _, p := range packages {
		var commented []source
		command := false
		code := false
		for _, f := range p.files {
			if f.test() {
				continue
			}
			code = true
			command = command || f.name == "main"
			if f.doc != "" {
				commented = append(commented, f)
			}
		}
		kind, name, place := "Package", path.Base(p.dir), "doc.go"
		if command {
			kind, place = "Command", "main.go or doc.go"
		}
		switch {
		case !code:
			wrong = append(wrong, fmt.Sprintf("%s has only tests: give it a doc.go that says what they are for", p.dir))
			continue
		case len(commented) == 0:
			wrong = append(wrong, fmt.Sprintf("%s has no package comment: say in %s what it is for, beginning %q", p.dir, place, kind+" "+name))
			continue
		case len(commented) > 1:
			wrong = append(wrong, fmt.Sprintf("%s has package comments in %s and %s: godoc would run them together, keep one", p.dir, commented[0].path, commented[1].path))
			continue
		}
		f := commented[0]
		if base := path.Base(f.path); base != "doc.go" && (!command || base != "main.go") {
			wrong = append(wrong, fmt.Sprintf("the package comment of %s is in %s: move it to %s, where one looks for it", p.dir, f.path, place))
		}
		first, _, _ := strings.Cut(f.doc, "\n\n")
		first = strings.TrimSpace(first)
		if !strings.HasPrefix(first, kind+" "+name+" ") {
			wrong = append(wrong, fmt.Sprintf("the package comment in %s must begin %q", f.path, kind+" "+name))
		}
		if len(strings.Fields(first)) < 6 || !strings.ContainsAny(first[len(first)-1:], ".:") {
			wrong = append(wrong, fmt.Sprintf("the package comment in %s must begin with a whole sentence that says what the package is for", f.path))
		}
	}
	return wrong
}

// documents lists the Markdown files of the repository that people read.
func documents(t *testing.T, files fs.FS) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return enter(files, name)
		}
		if path.Ext(name) == ".md" {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("looking for Markdown files: %v", err)
	}
	return names
}

var (
	markdownLink = regexp.MustCompile(`\]\(<?([^)>\s]+)>?(?:\s+"[^"]*")?\)`)
	htmlLink     = regexp.MustCompile(`(?:src|href|srcset)="([^"]+)"`)
	inlineCode   = regexp.MustCompile("`[^`]*`")
	headingMark  = regexp.MustCompile(`^#{1,6} +(.*?) *#*$`)
)

// prose returns a document's lines without those in code blocks.
func prose(markdown string) []string {
	var lines []string
	fenced := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if !fenced {
			lines = append(lines, line)
		}
	}
	return lines
}

// anchors returns the names that the headings of a document can be linked by,
// as GitHub makes them.
func anchors(markdown string) map[string]bool {
	names := map[string]bool{}
	for _, line := range prose(markdown) {
		m := headingMark.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var slug strings.Builder
		for _, r := range strings.ToLower(strings.ReplaceAll(m[1], "`", "")) {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				slug.WriteRune(r)
			case r == ' ':
				slug.WriteByte('-')
			}
		}
		name := slug.String()
		for n := 1; names[name]; n++ {
			name = fmt.Sprintf("%s-%d", slug.String(), n)
		}
		names[name] = true
	}
	return names
}

// checkLinks says which links of a document lead nowhere. Only links into the
// repository are followed.
func checkLinks(files fs.FS, document, markdown string) []string {
	var wrong []string
	for _, line := range prose(markdown) {
		line = inlineCode.ReplaceAllString(line, "")
		for _, m := range append(markdownLink.FindAllStringSubmatch(line, -1), htmlLink.FindAllStringSubmatch(line, -1)...) {
			link := m[1]
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			name, anchor, _ := strings.Cut(link, "#")
			target, text := document, markdown
			if name != "" {
				target = path.Join(path.Dir(document), name)
				info, err := fs.Stat(files, target)
				if err != nil {
					wrong = append(wrong, fmt.Sprintf("%s links to %s, which does not exist", document, link))
					continue
				}
				if info.IsDir() || anchor == "" {
					continue
				}
				content, err := fs.ReadFile(files, target)
				if err != nil {
					wrong = append(wrong, fmt.Sprintf("%s links to %s: %v", document, link, err))
					continue
				}
				text = string(content)
			}
			if anchor != "" && path.Ext(target) == ".md" && !anchors(text)[anchor] {
				wrong = append(wrong, fmt.Sprintf("%s links to %s, but %s has no such heading", document, link, target))
			}
		}
	}
	return wrong
}

// snippet returns the first Go program in a document.
func snippet(markdown string) (string, bool) {
	_, rest, found := strings.Cut(markdown, "\n```go\n")
	if !found {
		return "", false
	}
	code, _, closed := strings.Cut(rest, "\n```")
	return code + "\n", closed
}

// snippets returns every Go file in a document.
func snippets(markdown string) []string {
	var files []string
	for {
		code, found := snippet(markdown)
		if !found {
			return files
		}
		files = append(files, code)
		_, markdown, _ = strings.Cut(markdown, "\n```go\n")
	}
}

func TestPackageDocs(t *testing.T) {
	report(t, checkPackageDocs(load(t, repository())))
}

func TestLinks(t *testing.T) {
	files := repository()
	names := documents(t, files)
	if len(names) < 5 {
		t.Fatalf("found only %q, the walk over the documentation must be broken", names)
	}
	for _, name := range names {
		report(t, checkLinks(files, name, read(t, files, name)))
	}
}

// TestReadmeProgram compiles the README's program inside this module, so that
// it cannot fall behind the packages it uses.
func TestReadmeProgram(t *testing.T) {
	code, found := snippet(read(t, repository(), "README.md"))
	if !found {
		t.Fatal("README.md has no Go program")
	}
	main := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(main, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go", "vet", main)
	command.Dir = "../.."
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("the program in README.md: %v\n%s", err, output)
	}
}

// TestTestingDocument runs the tests that docs/testing.md shows, inside this
// module. Where one needs a Claude Code, the simulated one is on PATH.
func TestTestingDocument(t *testing.T) {
	files := snippets(read(t, repository(), "docs/testing.md"))
	if len(files) < 4 {
		t.Fatalf("docs/testing.md has %d Go files, where there were four", len(files))
	}
	bin := simulated(t)
	run := func(args ...string) (string, error) {
		command := exec.CommandContext(t.Context(), "go", args...)
		command.Dir = "../.."
		command.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		output, err := command.CombinedOutput()
		return string(output), err
	}
	for _, code := range files {
		file := filepath.Join(t.TempDir(), "example_test.go")
		if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		output, err := run("test", "-v", "-count=1", "-vet=off", "-ldflags=-w", file)
		if err != nil || strings.Contains(output, "--- SKIP") || !strings.Contains(output, "--- PASS") {
			t.Errorf("a test in docs/testing.md does not pass: %v\n%s\n%s", err, output, code)
		}
	}
}

func TestSnippets(t *testing.T) {
	const document = "# X\n\n```go\npackage a\n```\n\n```sh\ngo test\n```\n\n```go\npackage b\n```\n"
	if got := snippets(document); len(got) != 2 || got[0] != "package a\n" || got[1] != "package b\n" {
		t.Errorf("found %q", got)
	}
	if got := snippets("# X\n\n```go\nnever closed\n"); got != nil {
		t.Errorf("found %q in a document with a block that is not closed", got)
	}
}

func TestPackageDocsNotices(t *testing.T) {
	const sentence = " does something that can be told in a sentence.\n"
	tests := []struct {
		name  string
		files tree
		want  []string
	}{
		{"package", tree{"a/doc.go": "// Package a" + sentence + "package a", "a/x.go": "package a"}, nil},
		{"command", tree{"cmd/a/main.go": "// Command a" + sentence + "package main"}, nil},
		{"command with doc.go", tree{"cmd/a/doc.go": "// Command a" + sentence + "package main", "cmd/a/main.go": "package main"}, nil},
		{"licence above is no comment", tree{"a/doc.go": "// Copyright\n\n// Package a" + sentence + "package a"}, nil},
		{"none", tree{"a/x.go": "package a"}, []string{"has no package comment"}},
		{"only in a test", tree{"a/x.go": "package a", "a/x_test.go": "// Package a" + sentence + "package a"}, []string{"has no package comment"}},
		{"only tests", tree{"a/x_test.go": "// Package a" + sentence + "package a"}, []string{"has only tests"}},
		{"two", tree{"a/doc.go": "// Package a" + sentence + "package a", "a/x.go": "// Package a" + sentence + "package a"}, []string{"keep one"}},
		{"elsewhere", tree{"a/x.go": "// Package a" + sentence + "package a"}, []string{"move it to doc.go"}},
		{"another name", tree{"a/doc.go": "// Package b" + sentence + "package a"}, []string{`must begin "Package a"`}},
		{"command called package", tree{"cmd/a/main.go": "// Package main" + sentence + "package main"}, []string{`must begin "Command a"`}},
		{"too short", tree{"a/doc.go": "// Package a is.\npackage a"}, []string{"whole sentence"}},
		{"no end", tree{"a/doc.go": "// Package a does something that goes on and on\npackage a"}, []string{"whole sentence"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expect(t, checkPackageDocs(load(t, test.files.files())), test.want...)
		})
	}
}

func TestLinksNotices(t *testing.T) {
	files := tree{"docs/b.md": "# The `b` page\n\n## Twice\n\n## Twice\n\n```\n# in code\n```\n", "docs/picture.svg": "<svg/>", "a.md": ""}.files()
	tests := []struct {
		name, markdown string
		want           []string
	}{
		{"file", "see [b](docs/b.md)", nil},
		{"folder", "see [docs](docs/)", nil},
		{"heading", "see [b](docs/b.md#the-b-page) and [again](docs/b.md#twice-1)", nil},
		{"own heading", "# Up here\n\nsee [above](#up-here)", nil},
		{"web", "see [web](https://example.com/none.md) and [mail](mailto:a@example.com)", nil},
		{"picture", `<img src="docs/picture.svg" alt="">`, nil},
		{"in code", "say `[x](none.md)`\n\n```\n[x](none.md)\n```", nil},
		{"no file", "see [b](docs/none.md)", []string{"docs/none.md, which does not exist"}},
		{"no picture", `<img src="docs/none.svg">`, []string{"docs/none.svg, which does not exist"}},
		{"no heading", "see [b](docs/b.md#none)", []string{"no such heading"}},
		{"heading only in code", "see [b](docs/b.md#in-code)", []string{"no such heading"}},
		{"no own heading", "see [above](#up-here)", []string{"no such heading"}},
		{"second on a line", "[b](docs/b.md) [c](docs/c.md)", []string{"docs/c.md"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expect(t, checkLinks(files, "a.md", test.markdown), test.want...)
		})
	}
	t.Run("relative to the document", func(t *testing.T) {
		expect(t, checkLinks(files, "docs/b.md", "[a](../a.md) [picture](picture.svg)"))
		expect(t, checkLinks(files, "docs/b.md", "[a](a.md)"), "a.md, which does not exist")
	})
}

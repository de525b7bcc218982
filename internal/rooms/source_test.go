package rooms

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// A pkg is a folder with Go files.
type pkg struct {
	dir   string // below the module's root
	files []source
}

// A source is what the rules need to know of one Go file.
type source struct {
	path    string // below the module's root
	name    string // the package clause
	imports []string
	doc     string // the comment on the package clause
}

// test says whether the file is compiled only for tests.
func (s source) test() bool { return strings.HasSuffix(s.path, "_test.go") }

// repository is the module's root.
func repository() fs.FS { return os.DirFS("../..") }

// load parses the head of every Go file of the module, whatever system it is
// for. It passes over what the go command passes over: folders named testdata,
// hidden ones, and other modules.
func load(t *testing.T, files fs.FS) []pkg {
	t.Helper()
	var packages []pkg
	at := map[string]int{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return enter(files, name)
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		s := source{path: name, name: parsed.Name.Name, doc: parsed.Doc.Text()}
		for _, spec := range parsed.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, target)
		}
		dir := path.Dir(name)
		i, found := at[dir]
		if !found {
			i = len(packages)
			at[dir] = i
			packages = append(packages, pkg{dir: dir})
		}
		packages[i].files = append(packages[i].files, s)
		return nil
	})
	if err != nil {
		t.Fatalf("reading the Go files: %v", err)
	}
	return packages
}

// enter returns fs.SkipDir for a folder that is not part of the module.
func enter(files fs.FS, dir string) error {
	if dir == "." {
		return nil
	}
	base := path.Base(dir)
	if base == "testdata" || base == "node_modules" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	if _, err := fs.Stat(files, dir+"/go.mod"); err == nil {
		return fs.SkipDir
	}
	return nil
}

// read returns a file's text.
func read(t *testing.T, files fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(files, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// report fails the test with every complaint.
func report(t *testing.T, wrong []string) {
	t.Helper()
	for _, w := range wrong {
		t.Error(w)
	}
}

// expect fails the test unless there is one complaint for each part, in order,
// that has the part in it.
func expect(t *testing.T, wrong []string, parts ...string) {
	t.Helper()
	if len(wrong) != len(parts) {
		t.Fatalf("got %d complaints, expected %d: %q", len(wrong), len(parts), wrong)
	}
	for i, part := range parts {
		if !strings.Contains(wrong[i], part) {
			t.Errorf("complaint %q does not say %q", wrong[i], part)
		}
	}
}

// A tree is a made-up repository: text by file name.
type tree map[string]string

// files gives the tree as a file system.
func (t tree) files() fs.FS {
	files := fstest.MapFS{}
	for name, text := range t {
		files[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return files
}

func TestLoadPassesOver(t *testing.T) {
	packages := load(t, tree{
		"a/a.go":                "package a",
		"a/a_test.go":           "package a_test",
		"a/testdata/x.go":       "this is not Go",
		"tools/go.mod":          "module other",
		"tools/x.go":            "package tools",
		".hidden/x.go":          "package hidden",
		"_old/x.go":             "package old",
		"web/node_modules/x.go": "package x",
		"notes.txt":             "package notes",
	}.files())
	if len(packages) != 1 || packages[0].dir != "a" || len(packages[0].files) != 2 {
		t.Errorf("got %+v, expected package a with two files", packages)
	}
}

package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReal compares the operating system's resolver with the one of the tests,
// over links that were really made.
func TestReal(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a/b/c", "d", "closed"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "a/file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	links := map[string]string{
		"a/up":       "..",
		"a/b/toD":    "../../d",
		"d/absolute": filepath.Join(root, "a/b"),
		"chain1":     "chain2",
		"chain2":     "a/b/c",
		"dangling":   "nowhere/at/all",
		"self":       "self",
		"ring1":      "ring2",
		"ring2":      "ring1",
		"root":       "/",
		"tricky":     "./a/./b/../b/c/",
	}
	world := map[string]string{}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
		world[filepath.Join(root, name)] = target
	}
	want := resolver(world)
	for _, name := range []string{
		"", "a", "a/b/c", "a/file", "a/file/below", "a/up", "a/up/a/up/d", "a/b/toD", "a/b/toD/new/file", "d/absolute/c",
		"d/absolute/../b", "a/b/toD/../x", "chain1", "chain1/new", "chain1/..", "dangling", "dangling/x", "self", "self/x", "ring1/x", "missing/a/b",
		"missing/../a/up", "root/..", "tricky", "tricky/../x", ".", "./a//b/./c/", "a/../../" + filepath.Base(root) + "/a/up",
	} {
		given := root + "/" + name
		got, gotErr := Real(given)
		real, wantErr := want(given)
		if got != real || (gotErr == nil) != (wantErr == nil) {
			t.Errorf("Real(%q) = %q, %v; want %q, %v", name, got, gotErr, real, wantErr)
		}
	}
}

func TestRealRefuses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "a", "./a", "~/a", "/a\x00b", "/" + strings.Repeat("a", maxPath)} {
		if got, err := Real(name); err == nil {
			t.Errorf("Real(%.20q) = %q, want an error", name, got)
		}
	}
	if got, err := Real("/"); got != "/" || err != nil {
		t.Errorf("Real(/) = %q, %v", got, err)
	}
	if got, err := Real("/../.."); got != "/" || err != nil {
		t.Errorf("Real(/../..) = %q, %v", got, err)
	}
	// A part of a path that is too long cannot be looked at.
	if got, err := Real("/" + strings.Repeat("a", 300) + "/b"); err == nil {
		t.Errorf("a name of 300 bytes: %q, want an error", got)
	}
}

// TestLinksOnDisk is the reason for all this: a link inside of the folder that
// leads out of it.
func TestLinksOnDisk(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, outside := filepath.Join(root, "work"), filepath.Join(root, "outside")
	for _, name := range []string{dir, outside} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(root, "alias")); err != nil {
		t.Fatal(err)
	}
	e, err := New(&File{Rules: []Rule{{Text: "Edit(**)", Decision: Allow}}}, Options{Home: root})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		dir, name string
		want      Decision
	}{
		{dir, filepath.Join(dir, "a"), Allow},
		{dir, filepath.Join(dir, "out/a"), ""},
		{dir, filepath.Join(dir, "out/../a"), Allow}, // the CLI resolves .. before the link
		{filepath.Join(root, "alias"), filepath.Join(root, "alias/a"), Allow},
		{filepath.Join(root, "alias"), filepath.Join(dir, "a"), Allow}, // the session's folder by its real name
		{filepath.Join(root, "alias"), filepath.Join(root, "alias/out/a"), ""},
	} {
		c := Call{Tool: "Edit", Input: []byte(`{"file_path":"` + test.name + `"}`), Dir: test.dir}
		if v := e.Decide(c); v.Decision != test.want {
			t.Errorf("Edit %s in %s: %q, want %q: %s", test.name, test.dir, v.Decision, test.want, v.Reason)
		}
	}
}

package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
)

// makeTree makes files, folders (with a slash at the end) and links (name -> target)
// below a new real folder.
func makeTree(t testing.TB, names ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name, target, isLink := strings.Cut(name, " -> ")
		full := filepath.Join(root, name)
		folder := filepath.Dir(full)
		if strings.HasSuffix(name, "/") {
			folder = full
		}
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		switch {
		case isLink:
			if err := os.Symlink(strings.ReplaceAll(target, "ROOT", root), full); err != nil {
				t.Fatal(err)
			}
		case !strings.HasSuffix(name, "/"):
			if err := os.WriteFile(full, []byte(name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

// walkTree returns what patterns match below root, relative to it.
func walkTree(t testing.TB, w *walker, root string, deny []string, first ...string) (hide, readOnly []string) {
	t.Helper()
	var patterns []*pathPattern
	for _, text := range deny {
		text, write := strings.CutPrefix(text, "write ")
		p, err := compilePattern(text, root, write)
		if err != nil {
			t.Fatal(err)
		}
		patterns = append(patterns, p)
	}
	w.walk(t.Context(), patterns, first)
	list := func(found map[string]*pathPattern) (names []string) {
		for name := range found {
			rel, err := filepath.Rel(root, name)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, rel)
		}
		slices.Sort(names)
		return names
	}
	return list(w.hide), list(w.readOnly)
}

func TestPatternsAndPaths(t *testing.T) {
	t.Parallel()
	root := makeTree(t,
		"work/.env", "work/a/.env", "work/a/b/.env/inside", "work/a/b/x.go", "work/[odd] {name}*/.env",
		"other/.env", "other/key.pem", ".ssh/id", "secret -> other/key.pem", "work/link -> ROOT/other", "work/loop -> loop", "work/dangling -> ROOT/none",
		"real/deep/f", "short -> real/deep", "UPPER/File",
	)
	for _, test := range []struct {
		name           string
		deny           []string
		fold           bool
		hide, readOnly []string
	}{
		{name: "a folder", deny: []string{"~/.ssh"}, hide: []string{".ssh"}},
		{name: "a folder and everything below is the folder", deny: []string{"~/.ssh/**", "~/.ssh/**/**"}, hide: []string{".ssh"}},
		{name: "the home folder", deny: []string{"~"}, hide: []string{"."}},
		{name: "nothing there", deny: []string{"~/none", "~/none/**/x", "~/.ssh/id/x", "~/" + strings.Repeat("n", 300)}},
		{name: "what a link leads to", deny: []string{"~/secret", "~/short/f"}, hide: []string{"other/key.pem", "real/deep/f"}},
		{name: "links that lead nowhere", deny: []string{"~/work/loop", "~/work/dangling", "~/work/loop/x"}},
		{name: "at any depth, not through links", deny: []string{"~/work/**/.env"}, hide: []string{"work/.env", "work/[odd] {name}*/.env", "work/a/.env", "work/a/b/.env"}},
		{name: "a link in the pattern is followed", deny: []string{"~/work/link/*.pem", "~/work/*/.env"}, hide: []string{"other/.env", "other/key.pem", "work/[odd] {name}*/.env", "work/a/.env"}},
		{name: "wildcards in a name", deny: []string{"~/w*k/?/b/[xy].go", "~/work***/a**/b/x***.go"}, hide: []string{"work/a/b/x.go"}},
		{name: "escapes", deny: []string{`~/work/\[odd\] \{name\}\*/.env`}, hide: []string{"work/[odd] {name}*/.env"}},
		{name: "hidden and not writable", deny: []string{"~/work/a", "write ~/work/a/b", "write ~/work", "write ~/other/*.pem"}, hide: []string{"work/a"}, readOnly: []string{"other/key.pem", "work"}},
		{name: "hidden below what cannot be written", deny: []string{"write ~/work/**", "~/work/**/.env"}, hide: []string{"work/.env", "work/[odd] {name}*/.env", "work/a/.env", "work/a/b/.env"}, readOnly: []string{"work"}},
		{name: "case counts", deny: []string{"~/upper/file", "~/upper/**/f*"}},
		{name: "case does not count", fold: true, deny: []string{"~/upper/file", "~/OTHER/*.PEM"}, hide: []string{"UPPER/File", "other/key.pem"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := &walker{fold: test.fold, left: maxEntries}
			hide, readOnly := walkTree(t, w, root, test.deny, root+"/work")
			if diff := cmp.Diff(test.hide, hide); diff != "" {
				t.Errorf("hidden (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.readOnly, readOnly); diff != "" {
				t.Errorf("read-only (-want +got):\n%s", diff)
			}
			if w.over != "" || len(w.unread) > 0 {
				t.Errorf("the search was not finished: %q %q", w.over, w.unread)
			}
		})
	}
}

func TestPatternsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "relative", "/a/../b", "/a//b", "/a/./b", "/a/[b", `/a\`, `/a\/b`, "/{a,b}", "/a\x00", "~user/x", "/" + strings.Repeat("a", maxPattern)} {
		if p, err := compilePattern(text, "/home/u", false); err == nil {
			t.Errorf("%.40q was taken for %v", text, p)
		}
	}
	if _, err := compilePattern("~/x", "", false); err == nil {
		t.Error("~ was taken without a home folder")
	}
}

// TestSearchIsBounded: the folders that the agent works in are searched before
// the rest of the disk, and what is too much is reported.
func TestSearchIsBounded(t *testing.T) {
	t.Parallel()
	var names []string
	for _, dir := range []string{"a", "b", "c", "d"} {
		for _, sub := range []string{"1", "2", "3", "4"} {
			names = append(names, dir+"/"+sub+"/x", dir+"/"+sub+"/y")
		}
	}
	root := makeTree(t, append(names, "z/work/deep/.env")...)
	w := &walker{left: 3}
	hide, _ := walkTree(t, w, root, []string{"~/**/.env"}, root+"/z/work")
	if diff := cmp.Diff([]string{"z/work/deep/.env"}, hide); diff != "" {
		t.Errorf("hidden (-want +got):\n%s", diff)
	}
	if w.over == "" {
		t.Error("the search looked at more than it may")
	}
	w = &walker{left: maxEntries}
	deep := makeTree(t, strings.Repeat("d/", maxDepth+2)+".env")
	if hide, _ := walkTree(t, w, deep, []string{"~/**/.env"}); len(hide) > 0 || len(w.unread) != 1 {
		t.Errorf("below the bound of depth: %q, %d folders reported", hide, len(w.unread))
	}
}

// TestSearchSkipsHidden: folders that are hidden anyway are not searched, except
// what is shown in them.
func TestSearchSkipsHidden(t *testing.T) {
	t.Parallel()
	root := makeTree(t, "own/x/.env", "own/shown/.env", "work/.env")
	w := &walker{left: maxEntries, hidden: []string{root + "/own"}, shown: []string{root + "/own/shown"}}
	hide, _ := walkTree(t, w, root, []string{"~/**/.env", "~/own/shown/**/.env"})
	if diff := cmp.Diff([]string{"own/shown/.env", "work/.env"}, hide); diff != "" {
		t.Errorf("hidden (-want +got):\n%s", diff)
	}
}

// FuzzPatterns compares the walk with doublestar's own reading of whole paths:
// nothing that a pattern does not match is hidden, and nothing that it matches
// stays visible.
func FuzzPatterns(f *testing.F) {
	root := makeTree(f, "a/b/c", "a/.env", "a/b/.env/x", "a-b/c", "ab/a/b", "[x]/*", `b\c/d`, "ü/é", "A/B")
	var all []string
	if err := filepath.WalkDir(root, func(name string, _ fs.DirEntry, err error) error {
		all = append(all, name)
		return err
	}); err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"a", "**", "**/.env", "a/**/c", "*/b", "a?b", "[a-b]/*", `\[x\]/\*`, "**/b/**/x", "a/**/**", "**/*", "a/b/c/d", "[^a]/*", "ü/?"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		text := escapePattern(root) + "/" + pattern
		p, err := compilePattern(text, "/", false)
		if err != nil {
			t.Skip()
		}
		w := &walker{left: maxEntries}
		w.walk(t.Context(), []*pathPattern{p}, []string{root + "/a"})
		// Doublestar reads several stars in one name in odd ways.
		for part := range strings.SplitSeq(pattern, "/") {
			if part != "**" && strings.Contains(part, "**") {
				t.Skip()
			}
		}
		whole := strings.TrimSuffix(text, "/")
		for strings.HasSuffix(whole, "/**") {
			whole = strings.TrimSuffix(whole, "/**")
		}
		matches := func(name string) bool { return doublestar.MatchUnvalidated(whole, name) }
		for name := range w.hide {
			if !matches(name) {
				t.Errorf("%q hides %q", pattern, name)
			}
		}
		for _, name := range all {
			if matches(name) && !w.covered(name) {
				t.Errorf("%q does not hide %q", pattern, name)
			}
		}
	})
}

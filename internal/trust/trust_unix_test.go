//go:build unix

package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// must fails the test upon an error of preparing it.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// refused returns the error of package trust that an error is.
func refused(t *testing.T, err error) *Error {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("it is not refused: %v", err)
	}
	return e
}

func TestFolder(t *testing.T) {
	top := t.TempDir() // below a folder that all can write to, with its sticky bit
	deep := filepath.Join(top, "a b", "c", "d")
	must(t, os.MkdirAll(deep, 0o755))
	if err := Folder(deep); err != nil {
		t.Fatalf("a folder of ours: %v", err)
	}
	if err := Folder(filepath.Join(deep, "not", "there", "yet")); err != nil {
		t.Errorf("a folder that is not there yet: %v", err)
	}
	open := filepath.Join(top, "a b")
	must(t, os.Chmod(open, 0o777))
	for _, dir := range []string{open, deep, filepath.Join(deep, "x")} {
		e := refused(t, Folder(dir))
		if e.Path != open || e.Command != "chmod go-w '"+open+"'" || !strings.Contains(e.Error(), e.Command) || !strings.Contains(e.Reason, "mode 0777") {
			t.Errorf("%s: %+v", dir, e)
		}
	}
	must(t, os.Chmod(open, 0o777|fs.ModeSticky))
	if err := Folder(deep); err != nil {
		t.Errorf("below a folder with its sticky bit set: %v", err)
	}
	must(t, os.Chmod(open, 0o700), os.WriteFile(filepath.Join(deep, "file"), nil, 0o600))
	if e := refused(t, Folder(filepath.Join(deep, "file", "x"))); !strings.Contains(e.Reason, "not a folder") {
		t.Errorf("below a file: %v", e)
	}
}

// TestFolderLinks goes through links, absolute and relative ones.
func TestFolderLinks(t *testing.T) {
	top := t.TempDir()
	safe, shared := filepath.Join(top, "safe"), filepath.Join(top, "shared")
	must(t, os.MkdirAll(filepath.Join(safe, "data"), 0o700), os.MkdirAll(filepath.Join(shared, "data"), 0o700), os.Chmod(shared, 0o777))
	links := map[string]string{
		"good":       filepath.Join(safe, "data"),
		"relative":   "safe/../safe/./data",
		"chain":      "relative",
		"bad":        filepath.Join(shared, "data"),
		"bad-chain":  "bad",
		"bad-up":     "shared/data/../../safe/data", // shared could be replaced by a link
		"safe/below": "..",
	}
	for name, target := range links {
		must(t, os.Symlink(target, filepath.Join(top, name)))
	}
	for _, name := range []string{"good", "relative", "chain", "safe/below/safe/data"} {
		if err := Folder(filepath.Join(top, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"bad", "bad-chain", "bad-up", "safe/below/shared/data"} {
		if e := refused(t, Folder(filepath.Join(top, name))); e.Path != shared {
			t.Errorf("%s: %v", name, e)
		}
	}
	must(t, os.Symlink("loop", filepath.Join(top, "loop")))
	if e := refused(t, Folder(filepath.Join(top, "loop"))); !strings.Contains(e.Reason, "too many") {
		t.Errorf("a loop: %v", e)
	}
	if os.Geteuid() != 0 {
		t.Log("links of another user take root to be made")
		return
	}
	must(t, os.Symlink(filepath.Join(safe, "data"), filepath.Join(top, "theirs")), os.Lchown(filepath.Join(top, "theirs"), 4711, 4711))
	if e := refused(t, Folder(filepath.Join(top, "theirs"))); !strings.Contains(e.Reason, "uid 4711") {
		t.Errorf("a link of another user: %v", e)
	}
	must(t, os.Lchown(safe, 4711, 4711))
	if e := refused(t, Folder(filepath.Join(top, "good"))); e.Path != safe || !strings.Contains(e.Reason, "uid 4711") {
		t.Errorf("a folder of another user: %v", e)
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "a link"), filepath.Join(dir, "pipe")
	must(t, os.WriteFile(file, nil, 0o600), os.Symlink(file, link), syscall.Mkfifo(pipe, 0o600))
	if err := errors.Join(File(file), File(filepath.Join(dir, "none"))); err != nil {
		t.Errorf("a file, and one that is not there: %v", err)
	}
	if e := refused(t, File(link)); !strings.Contains(e.Reason, "symbolic link") || !strings.Contains(e.Command, "'"+link+".copy'") {
		t.Errorf("a link: %+v", e)
	}
	if e := refused(t, File(pipe)); !strings.Contains(e.Reason, "regular") {
		t.Errorf("a pipe: %v", e)
	}
	must(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o600))
	if err := File(filepath.Join(dir, "x", "y")); err == nil {
		t.Error("what cannot be looked at passes")
	}
}

// A fileInfo is that of a made-up file.
type fileInfo struct {
	mode     fs.FileMode
	uid, gid uint32
}

func (f fileInfo) Name() string       { return "made-up" }
func (f fileInfo) Size() int64        { return 0 }
func (f fileInfo) Mode() fs.FileMode  { return f.mode }
func (f fileInfo) ModTime() time.Time { return time.Time{} }
func (f fileInfo) IsDir() bool        { return f.mode.IsDir() }
func (f fileInfo) Sys() any           { return &syscall.Stat_t{Uid: f.uid, Gid: f.gid} }

// TestUsers looks at files of several users and groups.
func TestUsers(t *testing.T) {
	me := identity{uid: 1000, gid: 1000, privateGroup: func() bool { return true }}
	shared := identity{uid: 1000, gid: 100, privateGroup: func() bool { return false }}
	tests := []struct {
		name           string
		file           fileInfo
		me             identity
		owner, writers string
	}{
		{"mine", fileInfo{0o700, 1000, 1000}, me, "", ""},
		{"root's", fileInfo{0o755, 0, 0}, me, "", ""},
		{"another user's", fileInfo{0o700, 1001, 1000}, me, "uid 1001", ""},
		{"for all", fileInfo{0o702, 1000, 1000}, me, "", "every user"},
		{"for my own group", fileInfo{0o770, 1000, 1000}, me, "", ""},
		{"for root's group", fileInfo{0o775, 0, 0}, me, "", ""},
		{"for another group", fileInfo{0o770, 1000, 50}, me, "", "group 50"},
		{"for a group of many", fileInfo{0o770, 1000, 100}, shared, "", "group 100"},
		{"read by a group of many", fileInfo{0o750, 1000, 100}, shared, "", ""},
	}
	for _, test := range tests {
		owner := ownerOf(test.file, test.me)
		writers, _ := writersOf(test.file, test.me)
		if (owner == "") != (test.owner == "") || !strings.Contains(owner, test.owner) || (writers == "") != (test.writers == "") || !strings.Contains(writers, test.writers) {
			t.Errorf("%s: %q, %q", test.name, owner, writers)
		}
	}
}

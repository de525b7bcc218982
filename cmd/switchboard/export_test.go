package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWriteFile looks at a folder while a file is written to it, and after that has failed: a name that is there is that of something whole.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "talk.md")
	names := func() string {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return strings.Join(all, " ")
	}
	content := func() string {
		t.Helper()
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	half := errors.New("only half of it came")
	fails := func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		return half
	}
	for _, force := range []bool{false, true} {
		if err := writeFile(name, force, fails); !errors.Is(err, half) || names() != "" {
			t.Errorf("force %v: %v; there is %q", force, err, names())
		}
	}
	err := writeFile(name, false, func(w io.Writer) error {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it has its name before it is whole: %v", err)
		}
		_, err := io.WriteString(w, "whole")
		return err
	})
	if err != nil || names() != "talk.md" || content() != "whole" {
		t.Fatalf("%v; there is %q", err, names())
	}
	if err := writeFile(name, true, fails); !errors.Is(err, half) || content() != "whole" {
		t.Errorf("replacing it failed: %v; there is %q", err, names())
	}
	// Somebody is faster.
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	err = writeFile(name, false, func(io.Writer) error { return os.WriteFile(name, []byte("theirs"), 0o600) })
	if err == nil || !strings.Contains(err.Error(), "exists; name another file") || content() != "theirs" || names() != "talk.md" {
		t.Errorf("%v; there is %q with %q", err, names(), content())
	}
}

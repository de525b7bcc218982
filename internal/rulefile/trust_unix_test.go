//go:build unix

package rulefile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestForeign refuses a file that somebody else could have written, and keeps the rules.
func TestForeign(t *testing.T) {
	l := newLab(t, allowsMake)
	l.confirm()
	l.write(allowsMake + deniesRm)
	if err := os.Chmod(l.file, 0o602); err != nil {
		t.Fatal(err)
	}
	l.settle()
	l.problem("chmod go-w")
	l.want("make x", "allow", "rm x", "")
	if err := os.Chmod(l.file, 0o600); err != nil {
		t.Fatal(err)
	}
	l.settle()
	l.problem("")
	l.want("make x", "allow", "rm x", "deny")
}

// TestPipe has something in the place of the file whose opening would wait for ever.
func TestPipe(t *testing.T) {
	l := newLab(t, deniesRm)
	if err := os.Remove(l.file); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(l.file, 0o600); err != nil {
		t.Fatal(err)
	}
	l.settle()
	l.problem("no file")
	l.want("rm x", "deny")
}

// TestLink follows a link: some people keep their settings elsewhere.
func TestLink(t *testing.T) {
	l := newLab(t, "-")
	elsewhere := filepath.Join(l.dir, "dotfiles.toml")
	if err := os.WriteFile(elsewhere, []byte(deniesRm), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, l.file); err != nil {
		t.Fatal(err)
	}
	l.settle()
	l.problem("")
	l.want("rm x", "deny")
}

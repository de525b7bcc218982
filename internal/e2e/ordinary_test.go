//go:build linux || darwin

package e2e

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// nobody is the user that an ordinary lab runs as if the tests are root's. It owns
// nothing.
const nobody = 65534

// another says that a lab runs as another user than the tests.
func (l *lab) another() bool { return l.options.ordinary && os.Geteuid() == 0 }

// attributes are those of the hub's process.
func (l *lab) attributes() *syscall.SysProcAttr {
	if !l.another() {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// hand gives all that is in a folder of the lab to the user that the lab runs as.
func (l *lab) hand(dir string) error {
	if !l.another() {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == lentDir:
			return fs.SkipDir // links to files of the tests' user
		default:
			return os.Lchown(path, nobody, nobody)
		}
	})
}

// tmpDir returns a folder in /tmp that lets others through, who do not see what is in it.
func tmpDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "sb-") //nolint:usetesting // TMPDIR may be closed to others
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !t.Failed() {
			_ = os.RemoveAll(dir) // what is left is a temporary folder
		}
	})
	return dir
}

// lentDir is the folder of a lab with what its user can run, and not change.
const lentDir = "lent"

// lend returns a path by which the user that the lab runs as can run a program,
// which may be in a folder that is closed to it.
func (l *lab) lend(program string) string {
	l.t.Helper()
	if !l.another() {
		return program
	}
	source, err := filepath.EvalSymlinks(program)
	if err != nil {
		l.t.Fatal(err)
	}
	dir := filepath.Join(l.root, lentDir)
	path := filepath.Join(dir, filepath.Base(program))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		l.t.Fatal(err)
	}
	if err := os.Link(source, path); err == nil || errors.Is(err, fs.ErrExist) {
		return path
	}
	// It is on another disk.
	in, err := os.Open(source)
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		l.t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		l.t.Fatal(err)
	}
	return path
}

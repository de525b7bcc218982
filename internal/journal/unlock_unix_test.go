//go:build unix

package journal

import (
	"syscall"
	"testing"
)

// TestUnlockInherited gives the lock back although a copy of its descriptor is open,
// as in a process that was just forked.
func TestUnlockInherited(t *testing.T) {
	dir := t.TempDir()
	first, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := syscall.Dup(int(first.file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(inherited) }()
	if err := first.unlock(); err != nil {
		t.Fatal(err)
	}
	second, err := lockDir(dir)
	if err != nil {
		t.Fatalf("after the first one has given it back: %v", err)
	}
	if err := second.unlock(); err != nil {
		t.Error(err)
	}
}

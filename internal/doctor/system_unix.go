//go:build linux || darwin

package doctor

import (
	"io/fs"
	"os"
	"syscall"
)

// owner returns the uid of a file's owner.
func owner(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}

// locked reports whether a process has a lock on a file.
func locked(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // which releases the lock
	// A shared lock, and for a moment only: a hub that starts meanwhile waits for it.
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	return err != nil
}

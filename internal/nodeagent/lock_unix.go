//go:build unix

package nodeagent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lockFolder keeps other processes out of a node's data folder. The system gives the lock
// back when the process dies.
func lockFolder(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockFile)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the data folder: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return file, nil
	}
	_ = file.Close() // nothing was written
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("the data folder %s is in use by another switchboard node run; stop that one first, or name another folder with --data-dir", dir)
	}
	return nil, fmt.Errorf("locking the data folder: %w", err)
}

// unlockFolder gives the lock back. A process that was just forked may have the descriptor,
// too, so closing alone does not.
func unlockFolder(file *os.File) {
	if file == nil {
		return
	}
	_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
	_ = file.Close() // nothing was written
}

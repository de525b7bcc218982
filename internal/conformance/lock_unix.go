//go:build unix

package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockFile takes the lock on a file, which is made if need be, and returns the function that gives it back. The system gives it back too when
// this process dies. If the lock is not free at once, waiting is called once. The file is left: removing it would let two processes hold locks
// on two files of the same name.
func lockFile(ctx context.Context, path string, waiting func()) (unlock func() error, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644) //nolint:gosec // beside a cache of public programs
	if err != nil {
		return nil, err
	}
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for told := false; ; {
		// A blocking flock could not be given up when ctx ends.
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file.Close, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), file.Close())
		}
		if !told {
			told = true
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("waiting for the lock %s: %w", path, ctx.Err()), file.Close())
		case <-ticker.C:
		}
	}
}

//go:build !unix

package journal

import (
	"errors"
	"fmt"
)

// A dirLock keeps other processes out of a data folder.
type dirLock struct{ sameBoot bool }

// lockDir is not there on this system: the hub does not run on it.
func lockDir(dir string) (*dirLock, error) {
	return nil, fmt.Errorf("locking the data folder %s: %w", dir, errors.ErrUnsupported)
}

// inUse is not there on this system.
func inUse(dir string) (used, sameBoot bool, err error) {
	return false, false, fmt.Errorf("looking at the lock of the data folder %s: %w", dir, errors.ErrUnsupported)
}

func (*dirLock) atSizeLimit(string) bool { return false }

func (*dirLock) unlock() error { return nil }

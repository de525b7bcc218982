//go:build !unix

package nodeagent

import (
	"errors"
	"fmt"
	"os"
)

// lockFolder is not supported on this system, on which no node runs.
func lockFolder(string) (*os.File, error) {
	return nil, fmt.Errorf("locking the data folder: %w", errors.ErrUnsupported)
}

func unlockFolder(*os.File) {}

//go:build !unix

package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// readlink looks at one path, whose parents have no links any more.
func readlink(path string) (target string, kind linkKind, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", linkMissing, nil
	case err != nil:
		return "", linkNone, fmt.Errorf("following the links of %s: %w", path, err)
	case info.Mode()&fs.ModeSymlink == 0:
		return "", linkNone, nil
	}
	if target, err = os.Readlink(path); err != nil {
		return "", linkNone, fmt.Errorf("following the links of %s: %w", path, err)
	}
	return target, linkFound, nil
}

//go:build unix

package policy

import (
	"errors"
	"fmt"
	"syscall"
)

// readlink looks at one path, whose parents have no links any more. It costs one
// system call and next to no memory: every path of every call goes through here.
func readlink(path string) (target string, kind linkKind, err error) {
	var small [256]byte
	buffer := small[:]
	for {
		n, err := syscall.Readlink(path, buffer)
		switch {
		case err == nil && n == len(buffer) && n <= maxPath:
			buffer = make([]byte, maxPath+1) // there may be more of it
		case err == nil:
			return string(buffer[:n]), linkFound, nil
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EINVAL):
			return "", linkNone, nil
		case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
			return "", linkMissing, nil
		default:
			return "", linkNone, fmt.Errorf("following the links of %s: %w", path, err)
		}
	}
}

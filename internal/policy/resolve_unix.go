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
		if err == nil {
			if n == len(buffer) && n <= maxPath {
				buffer = make([]byte, maxPath+1) // there may be more of it
				continue
			}
			return string(buffer[:n]), linkFound, nil
		}
		errno, _ := errors.AsType[syscall.Errno](err)
		switch errno { //nolint:exhaustive // any other is an error
		case syscall.EINTR:
			continue
		case syscall.EINVAL:
			return "", linkNone, nil
		case syscall.ENOENT, syscall.ENOTDIR:
			return "", linkMissing, nil
		}
		return "", linkNone, fmt.Errorf("following the links of %s: %w", path, err)
	}
}

//go:build unix

package shim

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeInherited closes the descriptors beyond standard error that this process
// was born with: those that a child of its own would be, too, since all that Go
// opens is closed in children. Whoever started the hub may wait for the end of a
// pipe among them, and a shim and its CLI live on for days.
func closeInherited() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd) // it is nobody's here
		}
	}
}

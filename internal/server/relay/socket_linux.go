package relay

import (
	"syscall"
	"unsafe"
)

// writeQuietly is the system's write, of which Go's scheduler is not told: the
// connection does not block, and the scheduler would wake its watchman for the first
// call after a pause. For a line to a single front end that takes longer than all that
// is done with it. Where there are many, the second core had better be awake.
func writeQuietly(fd int, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

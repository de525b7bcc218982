//go:build linux && (amd64 || arm64)

package relay

import (
	"syscall"
	"unsafe"
)

// writeQuietly is the system's write, of which Go's scheduler is not told: it never
// waits, and the scheduler would wake its watchman for the first call after a pause. For
// a line to a single front end that takes longer than all that is done with it. Where
// there are many, the second core had better be awake.
func writeQuietly(fd int, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)),
		syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

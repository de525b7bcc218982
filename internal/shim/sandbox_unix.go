//go:build unix

package shim

import (
	"os"

	"golang.org/x/sys/unix"
)

// shutdown ends a socket for all its copies.
func shutdown(socket *os.File) {
	c, err := socket.SyscallConn()
	if err != nil {
		return // it is closed
	}
	_ = c.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) }) // it may be over already
}

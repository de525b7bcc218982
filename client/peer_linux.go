package client

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// checkPeer makes sure that the process at the other end is our own user's.
func checkPeer(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return fmt.Errorf("asking who the server is: %w", err)
	}
	var cred *syscall.Ucred
	var inner error
	err = raw.Control(func(fd uintptr) {
		cred, inner = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err := errors.Join(err, inner); err != nil {
		return fmt.Errorf("asking who the server is: %w", err)
	}
	if int(cred.Uid) != os.Geteuid() {
		return fmt.Errorf("the server on this socket runs as another user (%d)", cred.Uid)
	}
	return nil
}

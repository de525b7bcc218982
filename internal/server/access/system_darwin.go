package access

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// peerCredentials asks the kernel for the process at the other end of a connection.
func peerCredentials(c *net.UnixConn) (credentials, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return credentials{}, fmt.Errorf("asking who connected: %w", err)
	}
	var cred *unix.Xucred
	var pid int
	var inner error
	err = raw.Control(func(fd uintptr) {
		if cred, inner = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); inner != nil {
			return
		}
		pid, inner = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	})
	if err == nil {
		err = inner
	}
	if err != nil {
		return credentials{}, fmt.Errorf("asking who connected: %w", err)
	}
	return credentials{uid: int(cred.Uid), pid: pid}, nil
}

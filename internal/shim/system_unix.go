//go:build linux || darwin

package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// checkSocket looks whether the hub's socket, and the folder it is in, are ours
// alone.
func checkSocket(path string) error {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if err := checkOwner(dir, info); err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("the folder %s has mode %04o, so that others can enter it: set it to 0700", dir, mode)
	}
	if info, err = os.Lstat(path); err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is not a socket", path)
	}
	return checkOwner(path, info)
}

func checkOwner(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("the owner of %s cannot be seen", path)
	}
	if int(stat.Uid) != os.Getuid() {
		return fmt.Errorf("%s belongs to user %d and not to %d, who runs this", path, stat.Uid, os.Getuid())
	}
	return nil
}

// checkPeer looks whether the process behind a connection is our user's.
func checkPeer(c net.Conn) error {
	uc, ok := c.(*net.UnixConn)
	if !ok {
		return errors.New("the hub's user cannot be seen on this connection")
	}
	raw, err := uc.SyscallConn()
	if err != nil {
		return fmt.Errorf("asking for the hub's user: %w", err)
	}
	uid, askErr := 0, error(nil)
	if err := raw.Control(func(fd uintptr) { uid, askErr = peerUID(int(fd)) }); err != nil {
		return fmt.Errorf("asking for the hub's user: %w", err)
	}
	if askErr != nil {
		return fmt.Errorf("asking for the hub's user: %w", askErr)
	}
	if uid != os.Getuid() {
		return fmt.Errorf("the process behind the hub's socket is of user %d and not of %d, who runs this", uid, os.Getuid())
	}
	return nil
}

// closeInherited closes the descriptors beyond standard error that this process
// was born with: those that a child of its own would be, too, since all that Go
// opens is closed in children. The process that started the hub may wait for the end of a
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
			_ = unix.Close(fd) // no code here uses it
		}
	}
}

//go:build unix

package client

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// dialSocket connects to a server's socket, if it is one of our own user: what
// we say to it steers agents, and another user could have put one there.
func dialSocket(ctx context.Context, dialer *net.Dialer, path string) (net.Conn, error) {
	if err := checkOwner(filepath.Dir(path), true); err != nil {
		return nil, err
	}
	if err := checkOwner(path, false); err != nil {
		return nil, err
	}
	c, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := checkPeer(c.(*net.UnixConn)); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

func checkOwner(path string, folder bool) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("looking for the server: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || int(owner.Uid) != os.Geteuid():
		return fmt.Errorf("looking for the server: %s belongs to another user", path)
	case folder && info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("looking for the server: others can change the folder %s (mode %04o); close it with: chmod 700 %s", path, info.Mode().Perm(), path)
	}
	return nil
}

//go:build linux || darwin

package access

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"github.com/switchboard-dev/switchboard/internal/trust"
)

// maxSocketPath is what every system takes, with room for its terminating zero.
const maxSocketPath = 100

// ListenUnix listens on a Unix socket in a folder that only our user can enter,
// which it makes if need be. A socket that is left from a server that died is
// removed; one on which a server answers is not.
func ListenUnix(ctx context.Context, path string) (net.Listener, error) {
	if len(path) >= maxSocketPath {
		return nil, fmt.Errorf("the socket path is too long, %d of at most %d bytes: %s; choose a shorter data folder", len(path), maxSocketPath-1, path)
	}
	if err := CheckFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listening on the socket: %w", err)
	}
	// The folder keeps others out already.
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("restricting the socket to your user: %w", err)
	}
	return l, nil
}

// DataFolder makes sure that the data folder exists, is ours, and that no other user
// can enter it or put another one in its place. It returns the folder's path without
// links: a data folder that is a link to another disk is as good as the folder that it
// leads to.
func DataFolder(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("creating the data folder %s: %w", dir, err)
	}
	// Also as it is named: the link must not be another user's.
	if err := trust.Folder(dir); err != nil {
		return "", fmt.Errorf("the data folder %s is not safe: %w", dir, err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("finding the data folder %s: %w", dir, err)
	}
	return real, CheckFolder(real)
}

// CheckFolder makes sure that a folder exists, is ours, and that no other user can
// enter it or put another one in its place.
func CheckFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("creating the folder %s: %w", dir, err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("looking at the folder %s: %w", dir, err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		return fmt.Errorf("%s is a link, not a folder, and could be redirected; name the folder itself, for example with --data-dir", dir)
	case !info.IsDir():
		return fmt.Errorf("%s isn't a folder; choose another, for example with --data-dir", dir)
	case !ok || int(owner.Uid) != os.Geteuid():
		return fmt.Errorf("the folder %s belongs to another user; choose your own, for example with --data-dir", dir)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("other users can enter the folder %s (mode %04o); fix: chmod 700 %s", dir, info.Mode().Perm(), dir)
	}
	if err := trust.Folder(dir); err != nil {
		return fmt.Errorf("the folder %s is not safe: %w", dir, err)
	}
	return nil
}

func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking at the socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s isn't a socket; remove it if nothing needs it", path)
	}
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "unix", path)
	if err == nil {
		_ = c.Close()
		return fmt.Errorf("a hub already listens on %s; stop it first, or choose another data folder", path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("checking whether a hub listens on %s: %w", path, err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("removing the socket of a stopped hub: %w", err)
	}
	return nil
}

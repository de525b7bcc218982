package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"syscall"

	"github.com/switchboard-dev/switchboard/internal/server/access"
)

// The ports that are tried if the configuration names none. Front ends look for a server there.
const (
	firstPort = 8765
	lastPort  = 8774
)

// listenTCP listens on an address, beyond loopback only if that is wanted, or on the first free port of ours if it is empty.
func listenTCP(ctx context.Context, addr string, beyond bool) (net.Listener, error) {
	if addr != "" {
		l, err := access.ListenTCP(ctx, addr, beyond)
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("%w; choose another with --addr, or leave it out to use the first free port from %d to %d", err, firstPort, lastPort)
		}
		return l, err
	}
	return listenRange(ctx, firstPort, lastPort)
}

// listenRange listens on the first free port of a range.
func listenRange(ctx context.Context, first, last int) (net.Listener, error) {
	var err error
	for port := first; port <= last; port++ {
		var l net.Listener
		if l, err = access.ListenTCP(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), false); err == nil {
			return l, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("all ports from %d to %d are taken; choose another with --addr: %w", first, last, err)
}

// A socketFile is the file of a Unix socket that we have made. It is removed at the end, if it is still ours: another process may have put another in its
// place.
type socketFile struct {
	path string
	info fs.FileInfo
}

// ownSocket takes over the removal of a socket's file from its listener.
func ownSocket(l net.Listener, path string) (*socketFile, error) {
	if unix, ok := l.(*net.UnixListener); ok {
		unix.SetUnlinkOnClose(false)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("looking at the socket: %w", err)
	}
	return &socketFile{path, info}, nil
}

// remove removes the file. nil stands for one that is not ours.
func (s *socketFile) remove() error {
	if s == nil {
		return nil
	}
	info, err := os.Lstat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("removing the socket: %w", err)
	case !os.SameFile(info, s.info):
		return nil
	}
	if err := os.Remove(s.path); err != nil {
		return fmt.Errorf("removing the socket: %w", err)
	}
	return nil
}

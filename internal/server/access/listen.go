package access

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
)

// ListenTCP listens on a loopback address, such as "127.0.0.1:8765",
// "[::1]:8765" or "localhost:0". Others are refused.
func ListenTCP(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("the address %q is not of the form 127.0.0.1:8765: %w", addr, err)
	}
	// Looked at before listening, so that nothing is open even for a moment. A
	// name other than localhost may mean another address tomorrow.
	if ip := net.ParseIP(host); host != "localhost" && !ip.IsLoopback() {
		return nil, fmt.Errorf("the address %q is not on loopback: this server can only be used on its own machine; listen on 127.0.0.1 or [::1], and reach it from elsewhere by ssh", addr)
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", addr, err)
	}
	if err := CheckListener(l); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// CheckListener refuses listeners, such as ones that a service manager has
// opened, that others than this machine can reach, and Unix sockets in folders
// that others than our user can enter.
func CheckListener(l net.Listener) error {
	switch a := l.Addr().(type) {
	case *net.UnixAddr:
		if !filepath.IsAbs(a.Name) {
			return fmt.Errorf("listening on %q is refused: every user can reach a socket that is in no folder", a.Name)
		}
		return CheckFolder(filepath.Dir(a.Name))
	case *net.TCPAddr:
		if a.IP.IsLoopback() {
			return nil
		}
	}
	return fmt.Errorf("listening on %s is refused: it is not on loopback", l.Addr())
}

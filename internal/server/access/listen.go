package access

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
)

// ListenTCP listens on a loopback address, such as "127.0.0.1:8765",
// "[::1]:8765" or "localhost:0", or, if beyond is set, on any that is a number.
// Others are refused.
func ListenTCP(ctx context.Context, addr string, beyond bool) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("the address %q is not of the form 127.0.0.1:8765: %w", addr, err)
	}
	// Looked at before listening, so that nothing is open even for a moment. A
	// name other than localhost may mean another address tomorrow.
	ip := net.ParseIP(host)
	if host != "localhost" && !ip.IsLoopback() && !beyond {
		return nil, fmt.Errorf("the address %q is not on loopback: listen on 127.0.0.1 or [::1] and use ssh from elsewhere, or pass a certificate with --tls-cert and --tls-key", addr)
	}
	if host != "localhost" && ip == nil {
		return nil, fmt.Errorf("the address %q isn't numeric, and what a name means may change; write it as 192.0.2.1:8765 or [::]:8765", addr)
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", addr, err)
	}
	if err := CheckListener(l, beyond); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// CheckListener refuses listeners, such as ones that a service manager has
// opened, that others than this machine can reach, unless beyond is set, and Unix
// sockets in folders that others than our user can enter.
func CheckListener(l net.Listener, beyond bool) error {
	switch a := l.Addr().(type) {
	case *net.UnixAddr:
		if !filepath.IsAbs(a.Name) {
			return fmt.Errorf("listening on %q is refused: every user can reach a socket outside a folder", a.Name)
		}
		return CheckFolder(filepath.Dir(a.Name))
	case *net.TCPAddr:
		if a.IP.IsLoopback() || beyond {
			return nil
		}
	}
	return fmt.Errorf("listening on %s is refused: it is not on loopback; to serve other machines, pass a certificate with --tls-cert and --tls-key", l.Addr())
}

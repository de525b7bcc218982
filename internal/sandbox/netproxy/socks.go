package netproxy

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/things-go/go-socks5"
	"github.com/things-go/go-socks5/statute"
)

// serveSOCKS serves a connection that speaks SOCKS5. The library does the
// handshake; the decision, the lookup and the connection are ours.
func (s *server) serveSOCKS(c *client) {
	options := []socks5.Option{
		socks5.WithResolver(noLookup{}),
		socks5.WithConnectHandle(func(_ context.Context, _ io.Writer, r *socks5.Request) error { return s.socksConnect(c, r) }),
		socks5.WithAssociateHandle(func(_ context.Context, w io.Writer, _ *socks5.Request) error {
			return socks5.SendReply(w, statute.RepCommandNotSupported, nil)
		}),
	}
	if s.config.Credential != "" {
		options = append(options, socks5.WithCredential(credentials(s.config.Credential)))
	}
	_ = socks5.NewServer(options...).ServeConn(c) // the client has been told what it is to know
}

// noLookup leaves names as they are: a name is resolved when it is allowed.
type noLookup struct{}

// Resolve implements the library's NameResolver.
func (noLookup) Resolve(ctx context.Context, _ string) (context.Context, net.IP, error) {
	return ctx, nil, nil
}

// credentials checks passwords.
type credentials string

// Valid implements the library's CredentialStore.
func (c credentials) Valid(name, password, _ string) bool { return valid(name, password, string(c)) }

// socksConnect carries out a CONNECT.
func (s *server) socksConnect(c *client, r *socks5.Request) error {
	host := r.RawDestAddr.FQDN
	if r.RawDestAddr.AddrType != statute.ATYPDomain {
		host = r.RawDestAddr.IP.String()
	}
	ctx, stop := c.watch(s.ctx)
	out, err := s.reach(ctx, c, host, r.RawDestAddr.Port)
	stop()
	if err != nil {
		return socks5.SendReply(c, socksCode(err), nil)
	}
	defer func() { _ = out.Close() }() // tunnel has closed it
	_ = c.SetWriteDeadline(time.Now().Add(s.config.handshake))
	if err := socks5.SendReply(c, statute.RepSuccess, &net.TCPAddr{IP: net.IPv4zero}); err != nil {
		return err
	}
	t := &tunnel{idle: s.config.idle}
	t.run(s.ctx, c, out, r.Reader)
	return nil
}

// reach decides about a connection and makes it.
func (s *server) reach(ctx context.Context, c *client, host string, port int) (net.Conn, error) {
	route, err := s.admit(ctx, c, host, port)
	if err != nil {
		return nil, err
	}
	return s.dial(ctx, route)
}

// socksCode returns the code of a reply for an error.
func socksCode(err error) uint8 {
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return statute.RepRuleFailure
	case errors.Is(err, syscall.ECONNREFUSED):
		return statute.RepConnectionRefused
	case errors.Is(err, syscall.ENETUNREACH):
		return statute.RepNetworkUnreachable
	case errors.Is(err, errBusy):
		return statute.RepServerFailure
	default:
		return statute.RepHostUnreachable
	}
}

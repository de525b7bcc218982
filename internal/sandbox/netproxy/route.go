package netproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// A refusal is why a connection is not made.
type refusal struct {
	where  string // host and port
	reason string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("Switchboard's sandbox refused the connection to %s: %s", r.where, r.reason)
}

// A failure is a connection that was allowed and could not be made.
type failure struct {
	target target
	err    error
}

func (f *failure) Error() string {
	return fmt.Sprintf("Switchboard's sandbox could not connect to %s: %v", f.target, f.err)
}

func (f *failure) Unwrap() error { return f.err }

// errBusy says that a host has as many connections as it may have.
var errBusy = errors.New("there are too many connections to this host at once")

const (
	reasonDenied  = "a rule denies this host"
	reasonUnknown = "no rule allows this host"
	reasonLocal   = "it leads to this machine itself, which only a rule that names it allows, such as Network(host:localhost:3000)"
	reasonLink    = "it leads to a link-local address, which only a rule with that address allows"
)

// A route is a connection that may be made.
type route struct {
	target  target
	addrs   []netip.Addr
	release func() // must be called when the connection is over
}

// admit decides about a connection, and finds the addresses to which it may be
// made. It may wait for a person. The error is a [*refusal], a [*failure] or that
// of ctx.
func (s *server) admit(ctx context.Context, c *client, host string, port int) (*route, error) {
	r := &requester{server: s, client: c, request: Request{Host: host, Port: port}}
	t, err := parseTarget(host, port)
	if err != nil {
		r.request.Host = strippedHost(host)
		return nil, r.refuse(shown(host, port), err.Error())
	}
	r.request.Host = t.host()
	release, ok := s.enter(t.host())
	if !ok {
		return nil, &failure{t, errBusy}
	}
	addrs, err := s.vet(ctx, r, t)
	if err != nil {
		release()
		return nil, err
	}
	return &route{t, addrs, release}, nil
}

// strippedHost returns a short form of what is no host.
func strippedHost(host string) string {
	if len(host) > maxShown {
		host = host[:maxShown]
	}
	return host
}

// enter counts a connection to a host, unless there are too many.
func (s *server) enter(host string) (release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.perHost[host] >= s.config.perHost {
		return nil, false
	}
	s.perHost[host]++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.perHost[host]--; s.perHost[host] == 0 {
			delete(s.perHost, host)
		}
	}), true
}

// vet returns the addresses of a target that a connection may be made to.
func (s *server) vet(ctx context.Context, r *requester, t target) ([]netip.Addr, error) {
	if _, denied := match(s.deny, t); denied {
		return nil, r.refuse(t.String(), reasonDenied)
	}
	_, listed := match(s.allow, t)
	precise := matchPrecise(s.allow, t)
	own, err := s.config.own()
	if err != nil {
		return nil, &failure{t, fmt.Errorf("reading the addresses of this machine: %w", err)}
	}
	mine := ownAddrs(own)
	switch {
	case t.isLocalhost():
		if !precise {
			return nil, r.refuse(t.String(), reasonLocal)
		}
		return s.notDenied(r, t, []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()})
	case t.addr.IsValid():
		switch near := classify(t.addr, mine); {
		case near == local && !precise:
			return nil, r.refuse(t.String(), reasonLocal)
		case near == linkLocal && !precise:
			return nil, r.refuse(t.String(), reasonLink)
		case !listed:
			if err := s.decide(ctx, r, t); err != nil {
				return nil, err
			}
		}
		return []netip.Addr{t.addr}, nil
	}
	if !listed {
		if err := s.decide(ctx, r, t); err != nil {
			return nil, err
		}
	}
	found, err := s.lookup(ctx, t)
	if err != nil {
		return nil, err
	}
	if found, err = s.notDenied(r, t, found); err != nil {
		return nil, err
	}
	return s.reachable(ctx, r, t, found, mine, listed, precise)
}

// notDenied returns those addresses that no rule denies.
func (s *server) notDenied(r *requester, t target, found []netip.Addr) ([]netip.Addr, error) {
	var left []netip.Addr
	for _, a := range found {
		if _, denied := match(s.deny, target{addr: a.Unmap(), port: t.port}); !denied {
			left = append(left, a.Unmap())
		}
	}
	if len(left) == 0 {
		return nil, r.refuse(t.String(), "a rule denies its address")
	}
	return left, nil
}

// reachable returns those addresses of a name that are not too near.
func (s *server) reachable(ctx context.Context, r *requester, t target, found, mine []netip.Addr, listed, precise bool) ([]netip.Addr, error) {
	var good, nearby []netip.Addr
	reason := ""
	for _, a := range found {
		at := target{addr: a, port: t.port}
		switch near := classify(a, mine); {
		case near == public, near == private && listed, matchPrecise(s.allow, at), near == local && precise:
			good = append(good, a)
		case near == private:
			nearby = append(nearby, a)
		case near == local:
			reason = reasonLocal
		default:
			reason = reasonLink
		}
	}
	switch {
	case len(good) > 0:
		return good, nil
	case len(nearby) == 0:
		return nil, r.refuse(t.String(), reason)
	}
	// It is a private address behind a name that a person or a default has let
	// pass: the address is asked about, too.
	at := target{addr: nearby[0], port: t.port}
	r.request.Host = at.host()
	if err := s.decide(ctx, r, at); err != nil {
		return nil, err
	}
	return nearby[:1], nil
}

// lookup resolves a name.
func (s *server) lookup(ctx context.Context, t target) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	found, err := s.config.Lookup(ctx, t.name)
	if err != nil {
		if dns, ok := errors.AsType[*net.DNSError](err); ok {
			err = errors.New(dns.Err) // without the name, and where it was asked for
		}
		return nil, &failure{t, err}
	}
	if len(found) == 0 {
		return nil, &failure{t, errors.New("it has no address")}
	}
	return found, nil
}

// decide asks about a target that no list has. It returns nil if it is allowed.
func (s *server) decide(ctx context.Context, r *requester, t target) error {
	if s.config.Decide == nil {
		if s.config.Otherwise == Allow {
			return nil
		}
		return r.refuse(t.String(), reasonUnknown)
	}
	verdict, reason, err := s.decisions.ask(ctx, t, r.known)
	switch {
	case verdict == Allow:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && reason == "":
		reason = err.Error()
	case reason == "":
		reason = reasonUnknown
	}
	return r.refuse(t.String(), reason)
}

// A requester is a client with what is known of its request.
type requester struct {
	server *server
	client *client
	once   sync.Once

	request Request
}

// known returns the request with the process that makes it.
func (r *requester) known() Request {
	r.once.Do(func() {
		if peer := r.server.config.Peer; peer != nil {
			r.request.PID, r.request.Command = peer(r.client.Conn)
		}
	})
	return r.request
}

// refuse reports a refusal and returns it.
func (r *requester) refuse(where, reason string) error {
	if told := r.server.config.Refused; told != nil {
		told(r.known(), reason)
	}
	return &refusal{where, reason}
}

// dial makes the connection of a route. The route is released when it is closed,
// or at once if it cannot be made.
func (s *server) dial(ctx context.Context, r *route) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	var err error
	for i, a := range r.addrs {
		// An address that does not answer leaves time for the next ones.
		attempt, stop := context.WithTimeout(ctx, dialTime/time.Duration(min(len(r.addrs)-i, 3)))
		var conn net.Conn
		conn, err = s.config.Dial(attempt, "tcp", netip.AddrPortFrom(a, uint16(r.target.port)).String())
		stop()
		if err == nil {
			return &upstream{Conn: conn, release: r.release}, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	r.release()
	return nil, &failure{r.target, plain(err)}
}

// plain returns an error of the network without the addresses in it.
func plain(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}

// An upstream is a connection to the outside.
type upstream struct {
	net.Conn
	release func()
}

// Close implements [net.Conn].
func (u *upstream) Close() error {
	defer u.release()
	return u.Conn.Close()
}

// CloseWrite ends one direction of the connection.
func (u *upstream) CloseWrite() error { return closeWrite(u.Conn) }

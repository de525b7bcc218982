package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/access"
)

// The ports that are tried for phones if none is named. They are others than those of
// the hub itself, and mostly the first is taken: a browser's login is for one port.
const (
	firstPhonePort = 8775
	lastPhonePort  = 8784
)

// A phone is the hub's listener for phones and other devices in the network. There is
// one at most.
type phone struct {
	mu sync.Mutex
	// Guarded by mu.
	closed bool
	open   *phoneDoor // nil if there is none
}

// A phoneDoor is an open listener. Its fields are static after construction.
type phoneDoor struct {
	listener *trackedListener
	wanted   string // the address that was asked for
	told     api.Phone
	server   *http.Server
}

// OpenPhone listens for phones, with TLS, on an address of this machine. What it
// listened on before is closed, unless it is the same.
func (s *Server) OpenPhone(ctx context.Context, in api.OpenPhone) (*api.Phone, error) {
	if reached := s.device(); in.Listen == "" && reached.URL != "" && reached.Fingerprint == "" {
		return &api.Phone{URL: reached.URL}, nil // other devices reach the hub anyway
	}
	ip, port, err := phoneAddress(in.Listen)
	if err != nil {
		return nil, err
	}
	p := &s.phone
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, &api.Error{Status: http.StatusServiceUnavailable, Code: api.CodeClosing, Title: "The hub is shutting down"}
	}
	certificate, err := access.PhoneCertificate(s.options.DataDir, ip, time.Now())
	if err != nil {
		return nil, err
	}
	fingerprint := access.Fingerprint(certificate.Certificate[0])
	wanted := net.JoinHostPort(ip.String(), port)
	if p.open != nil && (p.open.wanted == wanted || p.open.listener.Addr().String() == wanted) && p.open.told.Fingerprint == fingerprint {
		told := p.open.told
		return &told, nil
	}
	s.shutPhone()
	l, err := listenPhone(ctx, ip, port)
	if err != nil {
		return nil, err
	}
	door := &phoneDoor{
		listener: &trackedListener{Listener: l, conns: map[*trackedConn]struct{}{}}, wanted: wanted,
		told: api.Phone{
			URL: "https://" + l.Addr().String(), Fingerprint: fingerprint, Expires: certificate.Leaf.NotAfter,
			Public: !ip.IsPrivate() && !ip.IsLoopback() && !ip.IsLinkLocalUnicast(),
		},
	}
	mux := http.NewServeMux()
	s.forBrowsers(mux)
	door.server = s.newHTTP(&tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}, mux)
	p.open = door
	limited := s.guard.LimitBeyond(door.listener)
	// Joined by Close, which ends the listener before it waits.
	s.tasks.Go(func() {
		if err := door.server.ServeTLS(limited, "", ""); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			s.log.Warn("the listener for phones has ended", "err", err)
		}
	})
	s.log.Info("listening for phones", "address", l.Addr().String())
	told := door.told
	return &told, nil
}

// ClosePhone stops listening for phones, and cuts their connections.
func (s *Server) ClosePhone(context.Context) error {
	s.phone.mu.Lock()
	defer s.phone.mu.Unlock()
	if !s.phone.closed { // else endPhone does it
		s.shutPhone()
	}
	return nil
}

// drain accepts nothing any more, and waits for requests under way. What is left then
// endPhone cuts.
func (p *phone) drain(ctx context.Context) {
	p.mu.Lock()
	p.closed = true
	open := p.open
	p.mu.Unlock()
	if open != nil {
		_ = open.server.Shutdown(ctx) // what it could not wait for is cut
	}
}

// endPhone closes the listener for good.
func (s *Server) endPhone() {
	s.phone.mu.Lock()
	defer s.phone.mu.Unlock()
	s.phone.closed = true
	s.shutPhone()
}

// shutPhone closes the listener and its connections, if there is one. It does not wait
// for their handlers, one of which may be the caller: Close does. phone.mu is held.
func (s *Server) shutPhone() {
	open := s.phone.open
	if open == nil {
		return
	}
	s.phone.open = nil
	_ = open.listener.Close() // perhaps a second time
	open.listener.cut()
	s.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		_ = open.server.Shutdown(ctx) // the connections are closed: only handlers are waited for
	})
}

// url returns where phones reach the hub, and the fingerprint of its certificate; both
// are empty if they do not.
func (p *phone) url() (address, fingerprint string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		return "", ""
	}
	return p.open.told.URL, p.open.told.Fingerprint
}

// device says where other devices reach the console.
func (s *Server) device() access.Device {
	if address, fingerprint := s.phone.url(); address != "" {
		return access.Device{URL: address, Fingerprint: fingerprint}
	}
	public := s.PublicURL()
	u, err := url.Parse(public)
	if err != nil || u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback() {
		return access.Device{}
	}
	return access.Device{URL: public}
}

// phoneAddress returns the address to listen on: the one that is named, else the only
// private one. The port is empty if none is named.
func phoneAddress(listen string) (ip net.IP, port string, err error) {
	if listen == "" {
		ip, err := onlyPrivate()
		return ip, "", err
	}
	host := listen
	if h, p, err := net.SplitHostPort(listen); err == nil {
		host, port = h, p
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if ip = net.ParseIP(strings.Trim(host, "[]")); ip == nil || port != "" && (err != nil || n > 65535) {
		return nil, "", wrongAddress(fmt.Sprintf("%q is not an address of the form 192.168.1.20 or 192.168.1.20:%d.", listen, firstPhonePort))
	}
	if ip.IsUnspecified() || ip.IsMulticast() {
		return nil, "", wrongAddress(fmt.Sprintf("%s stands for many addresses, and a certificate is for one.", ip))
	}
	return ip, port, nil
}

// wrongAddress says why an address cannot be listened on.
func wrongAddress(detail string) *api.Error {
	return &api.Error{
		Status: http.StatusUnprocessableEntity, Code: api.CodeInvalid, Title: "The hub cannot listen on this address", Detail: detail,
		Hint: "Name one address of this machine: switchboard console --phone --listen ADDRESS",
	}
}

// onlyPrivate returns the private address of this machine, if there is just one.
func onlyPrivate() (net.IP, error) {
	found, err := access.PrivateAddresses()
	if err != nil {
		return nil, err
	}
	if len(found) == 1 {
		return found[0].IP, nil
	}
	return nil, chooseAddress(found)
}

// chooseAddress asks to name one of several addresses, or one at all.
func chooseAddress(found []access.NetAddress) *api.Error {
	e := &api.Error{
		Status: http.StatusUnprocessableEntity, Code: api.CodeInvalid, Title: "This machine has no private network address",
		Detail: "A phone in the same network could not reach it.", Hint: "Connect it to the network, or name an address: switchboard console --phone --listen ADDRESS",
	}
	if len(found) == 0 {
		return e
	}
	var names []string
	for _, a := range found {
		names = append(names, fmt.Sprintf("%s (%s)", a.IP, a.Interface))
	}
	e.Title, e.Detail = "This machine has several network addresses", strings.Join(names, ", ")+"."
	e.Hint = "Name the one that the phone can reach: switchboard console --phone --listen " + found[0].IP.String()
	return e
}

// listenPhone listens on a port of an address, or on the first free one of ours.
func listenPhone(ctx context.Context, ip net.IP, port string) (net.Listener, error) {
	first, last := firstPhonePort, lastPhonePort
	if port != "" {
		n, err := strconv.Atoi(port)
		if err != nil {
			return nil, wrongAddress(err.Error())
		}
		first, last = n, n
	}
	var err error
	for n := first; n <= last; n++ {
		var l net.Listener
		if l, err = access.ListenTCP(ctx, net.JoinHostPort(ip.String(), strconv.Itoa(n)), true); err == nil {
			return l, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		return nil, wrongAddress(fmt.Sprintf("%s is not an address of this machine.", ip))
	}
	return nil, &api.Error{
		Status: http.StatusConflict, Code: api.CodeConflict, Title: "The hub cannot listen on this address", Detail: err.Error(),
		Hint: "Name another port: switchboard console --phone --listen " + net.JoinHostPort(ip.String(), "PORT"),
	}
}

// A trackedListener knows its connections, also those that have become WebSockets, of
// which an [http.Server] knows nothing.
type trackedListener struct {
	net.Listener

	mu    sync.Mutex
	conns map[*trackedConn]struct{} // guarded by mu; nil when they were cut
}

// Accept waits for a connection.
func (l *trackedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	tracked := &trackedConn{Conn: c, listener: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conns == nil {
		_ = c.Close() // it came while the others were cut
		return nil, net.ErrClosed
	}
	l.conns[tracked] = struct{}{}
	return tracked, nil
}

// cut closes all connections.
func (l *trackedListener) cut() {
	l.mu.Lock()
	conns := l.conns
	l.conns = nil
	l.mu.Unlock()
	for c := range conns {
		_ = c.Conn.Close() // the goroutines that serve it notice
	}
}

// A trackedConn is a connection of a trackedListener.
type trackedConn struct {
	net.Conn

	listener *trackedListener
}

// NetConn returns the connection inside.
func (c *trackedConn) NetConn() net.Conn { return c.Conn }

// Close closes the connection.
func (c *trackedConn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.conns, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

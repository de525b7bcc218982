package netproxy

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of a proxy.
const (
	// maxConns is how many connections there are at once; further ones wait to
	// be accepted. maxHostConns is how many lead to one host, or wait for a
	// decision about it.
	maxConns     = 512
	maxHostConns = 128
	// maxHeader is how long the header of an HTTP request may be.
	maxHeader = 64 << 10
	// handshakeTime is how long a client may take to say what it wants, and
	// keptTime how long an HTTP connection without a request is kept.
	handshakeTime = 30 * time.Second
	keptTime      = time.Minute
	// dialTime bounds the lookup of a name and the attempts to reach it.
	dialTime = 30 * time.Second
	// idleTime is how long a connection may carry nothing.
	idleTime = time.Hour
)

// A Request is a connection that a process in the sandbox wants to have.
type Request struct {
	// Host is a name or an address, Port its port.
	Host string
	Port int
	// Command is the program that asks, with its arguments, where it is known,
	// and PID its process outside of the sandbox.
	Command string
	PID     int
}

// A Verdict is what becomes of a request.
type Verdict int

// The verdicts. The zero value refuses.
const (
	Refuse Verdict = iota
	Allow
)

// A Config says what a proxy does.
type Config struct {
	// AllowHosts and DenyHosts are patterns of hosts; see the package
	// documentation. Denial wins.
	AllowHosts, DenyHosts []string
	// Decide is asked about hosts that are in neither list. It may wait for a
	// person. Connections that want the same host while it does share one call.
	// The context ends when the proxy does, or some seconds after the last of
	// these connections has gone. It is called by several goroutines, for
	// different hosts. The string says why, for people; an error refuses.
	Decide func(context.Context, Request) (Verdict, string, error)
	// Otherwise is the verdict on hosts in neither list if Decide is nil.
	Otherwise Verdict
	// Refused is told of each refusal. It must not block. May be nil.
	Refused func(r Request, reason string)
	// Credential, if not empty, must be shown by clients, with the user name
	// switchboard.
	Credential string
	// Dial makes connections to the outside. If nil, a net.Dialer's DialContext.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Lookup returns the addresses of a name. If nil, those that the system's
	// resolver finds.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	// Peer names the process at the other end of a connection, for Request. It
	// is called only for requests that are decided or refused. May be nil.
	Peer func(net.Conn) (pid int, command string)
	// Origin names the command that a process belongs to, with all that this has
	// started; it returns an empty name if that is not known. What Decide allows
	// one connection of a command, it allows those that follow within seconds. If
	// nil, each connection is decided.
	Origin func(pid int) string

	// For tests; zero means the real ones.
	own            func() ([]net.Addr, error) // addresses of this machine
	linger         time.Duration
	conns, perHost int
	handshake      time.Duration
	idle           time.Duration
}

// A Proxy serves connections.
type Proxy struct {
	// Static after construction.
	config      Config
	allow, deny []pattern
}

// New returns a proxy.
func New(c Config) *Proxy {
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext
	}
	if c.Lookup == nil {
		c.Lookup = func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		}
	}
	if c.own == nil {
		c.own = net.InterfaceAddrs
	}
	if c.linger == 0 {
		c.linger = lingerTime
	}
	if c.conns == 0 {
		c.conns = maxConns
	}
	if c.perHost == 0 {
		c.perHost = maxHostConns
	}
	if c.handshake == 0 {
		c.handshake = handshakeTime
	}
	if c.idle == 0 {
		c.idle = idleTime
	}
	return &Proxy{config: c, allow: parsePatterns(c.AllowHosts), deny: parsePatterns(c.DenyHosts)}
}

// A server is one call of [Proxy.Serve].
type server struct {
	*Proxy

	// Static after construction.
	ctx       context.Context // ends with the server
	http      *httpSide
	decisions decisions

	mu sync.Mutex
	// Guarded by mu.
	clients map[*client]struct{}
	perHost map[string]int // connections by host
}

// Serve accepts on l until it is closed or ctx ends, and returns when all its
// connections have ended. It closes l.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) {
	p.serveOn(ctx, l, func(*server) {})
}

// serveOn is Serve, which tests want to look into.
func (p *Proxy) serveOn(ctx context.Context, l net.Listener, begun func(*server)) {
	ctx, cancel := context.WithCancel(ctx)
	s := &server{Proxy: p, ctx: ctx, clients: map[*client]struct{}{}, perHost: map[string]int{}}
	s.decisions = decisions{
		ctx: ctx, decide: p.config.Decide, origin: p.config.Origin, linger: p.config.linger,
		open: map[string]*question{}, refused: map[string]heldRefusal{}, allowed: map[allowance]heldAllowance{},
	}
	s.http = newHTTPSide(s)
	begun(s)
	var workers sync.WaitGroup
	workers.Go(s.http.serve)

	stop := context.AfterFunc(ctx, func() { _ = l.Close() }) // it ends Accept
	s.accept(l, &workers)
	stop()
	_ = l.Close() // it may be closed already
	cancel()
	s.closeClients()
	s.http.close()
	workers.Wait()
	s.decisions.workers.Wait()
}

// accept starts a goroutine for each connection.
func (s *server) accept(l net.Listener, workers *sync.WaitGroup) {
	each(s.ctx, l, s.config.conns, func(conn net.Conn, release func()) {
		c := &client{Conn: conn, r: bufio.NewReaderSize(conn, 4<<10)}
		c.ended = func() {
			_ = conn.Close() // it may be closed already
			s.mu.Lock()
			delete(s.clients, c)
			s.mu.Unlock()
			release()
			workers.Done()
		}
		workers.Add(1)
		s.mu.Lock()
		s.clients[c] = struct{}{}
		s.mu.Unlock()
		go s.serve(c) // ends with the connection, which workers counts
	})
}

// each accepts connections until l is closed or ctx ends, and calls use for each,
// which must call release when it is over: there are at most n at once.
func each(ctx context.Context, l net.Listener, n int, use func(conn net.Conn, release func())) {
	room := make(chan struct{}, n)
	release := func() { <-room }
	pause := time.Duration(0)
	for {
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			return
		}
		conn, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			use(conn, release)
		case ctx.Err() != nil, errors.Is(err, net.ErrClosed):
			return
		default:
			// The process has no descriptor left, or the like: others end.
			release()
			pause = min(max(5*time.Millisecond, pause*2), time.Second)
			timer := time.NewTimer(pause)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
			}
		}
	}
}

// closeClients ends all connections of clients.
func (s *server) closeClients() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		_ = c.Close() // it may be closed already
	}
}

// socksVersion is the first byte that a client of SOCKS5 sends. No method of HTTP
// begins with it.
const socksVersion = 5

// serve looks at the first byte of a connection and chooses the protocol by it.
func (s *server) serve(c *client) {
	_ = c.SetReadDeadline(time.Now().Add(s.config.handshake)) // of a connection that is open
	first, err := c.r.Peek(1)
	switch {
	case err != nil:
		c.done()
	case first[0] == socksVersion:
		defer c.done()
		s.serveSOCKS(c)
	default:
		s.http.take(c)
	}
}

// A client is a connection of a process in the sandbox.
type client struct {
	net.Conn
	r *bufio.Reader // reads from Conn

	hijacked atomic.Bool // from the HTTP server
	once     sync.Once
	ended    func()
}

// Read implements [net.Conn].
func (c *client) Read(b []byte) (int, error) { return c.r.Read(b) }

// CloseWrite ends one direction of the connection.
func (c *client) CloseWrite() error { return closeWrite(c.Conn) }

// done says that the connection is over and no goroutine serves it any more.
func (c *client) done() { c.once.Do(c.ended) }

// watch returns a context that ends when the client closes its connection, while
// the caller does not read from it. The function that it returns ends the watch.
func (c *client) watch(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	_ = c.SetReadDeadline(time.Time{})
	done := make(chan struct{})
	stopping := atomic.Bool{}
	go func() { // ends with the function below
		defer close(done)
		for {
			_, err := c.r.Peek(c.r.Buffered() + 1)
			switch {
			case err == nil: // it is early with what it has to say
			case errors.Is(err, bufio.ErrBufferFull), stopping.Load():
				return
			default:
				cancel()
				return
			}
		}
	}()
	return ctx, func() {
		stopping.Store(true)
		_ = c.SetReadDeadline(time.Unix(1, 0)) // it ends Peek
		<-done
		_ = c.SetReadDeadline(time.Time{})
		cancel()
	}
}

package access

import (
	"container/list"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// Limits bound the connections over TCP. Of those whose client is not known, too
// many push out the oldest, so that no client with a token is kept out by others
// that have none. What is zero is the default, what is negative no limit.
//
// Of the connections that there may be from one address, or in all if that is
// fewer, one token may have a quarter, and tokens without the right admin half
// together, so that a program with a token does not keep its owner out.
type Limits struct {
	// Connections is how many there may be in all. If zero, 4096.
	Connections int
	// PerAddress is how many there may be from one address, or one network of
	// IPv6. If zero, 1024.
	PerAddress int
	// Unknown is how many there may be of those whose client is not known yet. If
	// zero, 256.
	Unknown int
}

// A limiter counts connections.
type limiter struct {
	// Static after construction.
	limits  Limits
	share   int // how many connections one token may have; 0 for no limit
	common  int // how many those without the right admin may have together; 0 for no limit
	log     *slog.Logger
	refused func(reason string)

	// Guarded by mu.
	mu      sync.Mutex
	total   int
	holders map[string]int // connections by owner
	others  int            // connections of those without the right admin
	from    map[netip.Prefix]int
	unknown *list.List // of *limitedConn, the oldest first
	told    time.Time  // when the log was last told that there are too many
}

// minShare is how many connections a token may have in any case: a browser needs
// as many.
const minShare = 8

// The reasons for which connections are refused, as they are counted.
const (
	RefusedTotal   = "total"   // there are too many in all
	RefusedAddress = "address" // there are too many from one address
	RefusedToken   = "token"   // the token has its share
	RefusedTokens  = "tokens"  // tokens without the right admin have theirs
)

func newLimiter(limits Limits, log *slog.Logger, refused func(string)) *limiter {
	for _, l := range []struct {
		limit *int
		usual int
	}{{&limits.Connections, 4096}, {&limits.PerAddress, 1024}, {&limits.Unknown, 256}} {
		if *l.limit == 0 {
			*l.limit = l.usual
		}
	}
	l := &limiter{limits: limits, log: log, refused: refused, from: map[netip.Prefix]int{}, holders: map[string]int{}, unknown: list.New()}
	capacity := 0
	for _, limit := range []int{limits.Connections, limits.PerAddress} {
		if limit > 0 && (capacity == 0 || limit < capacity) {
			capacity = limit
		}
	}
	if capacity > 0 {
		l.share, l.common = max(capacity/4, minShare), max(capacity/2, minShare)
	}
	return l
}

// claim notes the owner of a connection, which then is known. It returns the reason for
// which they may not have it, "" if they may. A connection that a proxy uses for
// several belongs to the last of them.
func (l *limiter) claim(c *limitedConn, holder string, admin bool) (refused string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed || c.holder == holder && c.admin == admin {
		c.leave()
		return ""
	}
	others := l.others
	if c.holder != "" && !c.admin {
		others--
	}
	switch {
	case l.share > 0 && l.holders[holder] >= l.share:
		return RefusedToken
	case l.common > 0 && !admin && others >= l.common:
		return RefusedTokens
	}
	c.release()
	c.leave()
	c.holder, c.admin = holder, admin
	l.holders[holder]++
	if !admin {
		l.others++
	}
	return ""
}

// release takes the connection from the token that had it. mu is held.
func (c *limitedConn) release() {
	if c.holder == "" {
		return
	}
	l := c.limiter
	if l.holders[c.holder]--; l.holders[c.holder] <= 0 {
		delete(l.holders, c.holder)
	}
	if !c.admin {
		l.others--
	}
	c.holder = ""
}

// Limit returns a listener whose connections count towards the limits of the
// guard. It belongs around those for TCP, inside of TLS.
func (g *Guard) Limit(l net.Listener) net.Listener {
	return &limitedListener{Listener: l, limiter: g.limiter, plain: !g.tls}
}

// LimitBeyond is as [Guard.Limit], for a listener with TLS that other machines may
// use, whatever the guard's other listeners are for.
func (g *Guard) LimitBeyond(l net.Listener) net.Listener {
	return &limitedListener{Listener: l, limiter: g.limiter, beyond: true}
}

type limitedListener struct {
	net.Listener

	limiter *limiter
	plain   bool // without TLS
	beyond  bool // other machines may use it
}

// tooManyAnswer is the response to a client whose connection is refused. It is
// written before the request is read, and does not depend on it.
const tooManyAnswer = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Type: " + ProblemType +
	"\r\nContent-Length: 89\r\n\r\n" + `{"status":503,"code":"too_many","title":"Too many connections","hint":"Try again later."}`

// Accept waits for a connection for which there is room.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if admitted := l.limiter.admit(c, l.beyond); admitted != nil {
			return admitted, nil
		}
		if l.plain {
			// Into an empty buffer: this does not block.
			_ = c.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = c.Write([]byte(tooManyAnswer)) // a client that has left need not know
		}
		_ = c.Close() // there is nothing to lose
	}
}

// admit counts a connection. It is nil if there is no room for it.
func (l *limiter) admit(c net.Conn, beyond bool) *limitedConn {
	from := origin(c.RemoteAddr())
	l.mu.Lock()
	full := l.limits.Connections > 0 && l.total >= l.limits.Connections
	crowd := l.limits.PerAddress > 0 && l.from[from] >= l.limits.PerAddress
	if full || crowd {
		tell := time.Since(l.told) > time.Minute
		if tell {
			l.told = time.Now()
		}
		l.mu.Unlock()
		if full {
			l.refused(RefusedTotal)
		} else {
			l.refused(RefusedAddress)
		}
		if tell {
			l.log.Warn("a connection was refused: there are too many", "in_all", full, "from_one_address", crowd)
		}
		return nil
	}
	l.total++
	l.from[from]++
	admitted := &limitedConn{Conn: c, limiter: l, from: from, beyond: beyond}
	admitted.place = l.unknown.PushBack(admitted)
	var oldest *limitedConn
	if l.limits.Unknown > 0 && l.unknown.Len() > l.limits.Unknown {
		oldest, _ = l.unknown.Front().Value.(*limitedConn)
	}
	l.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close() // the goroutine that serves it notices
	}
	return admitted
}

// origin returns where a connection comes from: an address, or the network of it
// that one customer gets with IPv6.
func origin(a net.Addr) netip.Prefix {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	address := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := address.BitLen()
	if address.Is6() && !address.IsLoopback() {
		bits = 64
	}
	prefix, _ := address.Prefix(bits) // never fails with such a number
	return prefix
}

// A limitedConn is a connection that counts.
type limitedConn struct {
	net.Conn

	// Static after construction.
	limiter *limiter
	from    netip.Prefix
	beyond  bool // it may come from another machine

	// Guarded by limiter.mu.
	place  *list.Element // among the unknown; nil if it is known
	holder string        // its owner; empty if that is not known
	admin  bool          // the holder has the right admin
	closed bool
}

// NetConn returns the connection inside.
func (c *limitedConn) NetConn() net.Conn { return c.Conn }

// SyscallConn returns the system's connection, whose bytes are the same: together with
// NetConn that says that nothing is done to them.
func (c *limitedConn) SyscallConn() (syscall.RawConn, error) {
	inner, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return inner.SyscallConn()
}

// known takes the connection from among those that are pushed out.
func (c *limitedConn) known() {
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	c.leave()
}

// leave removes the connection from the unknown. mu is held.
func (c *limitedConn) leave() {
	if c.place != nil {
		c.limiter.unknown.Remove(c.place)
		c.place = nil
	}
}

// Close closes the connection, which then counts no more.
func (c *limitedConn) Close() error {
	l := c.limiter
	l.mu.Lock()
	if !c.closed {
		c.closed = true
		c.leave()
		c.release()
		l.total--
		if l.from[c.from]--; l.from[c.from] <= 0 {
			delete(l.from, c.from)
		}
	}
	l.mu.Unlock()
	return c.Conn.Close()
}

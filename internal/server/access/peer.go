package access

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
)

// A peer is the other end of a connection. It is made when the connection is
// accepted and serves all of its requests.
type peer struct {
	// Static after construction.
	socket bool // a Unix socket
	local  *net.TCPAddr
	remote *net.TCPAddr
	conn   *limitedConn // nil if it is not one of a listener of ours
	cred   credentials
	err    error // why cred is not known

	// run reports whether the process at the other end descends from a run. It finds
	// that out when it is first called. It is nil for what is neither a Unix socket
	// nor TCP.
	run func() bool
}

// credentials say which process is at the other end of a Unix socket.
type credentials struct {
	uid int
	pid int // 0 if it is not known
}

var errNoSocket = errors.New("this connection is neither a Unix socket nor TCP")

func newPeer(c net.Conn, owners *owners) *peer {
	var limited *limitedConn
	for {
		if l, ok := c.(*limitedConn); ok {
			limited = l
		}
		inner, ok := c.(interface{ NetConn() net.Conn }) // TLS has it too
		if !ok {
			break
		}
		c = inner.NetConn()
	}
	switch c := c.(type) {
	case *net.UnixConn:
		p := &peer{socket: true}
		p.cred, p.err = peerCredentials(c)
		p.run = sync.OnceValue(func() bool { return descendsFromRun(p.cred.pid) })
		return p
	case *net.TCPConn:
		p := &peer{conn: limited}
		p.local, _ = c.LocalAddr().(*net.TCPAddr)
		p.remote, _ = c.RemoteAddr().(*net.TCPAddr)
		p.run = sync.OnceValue(func() bool { return p.local != nil && p.remote != nil && owners.fromRun(p.local, p.remote) })
		return p
	default:
		return &peer{err: errNoSocket}
	}
}

// ours reports whether the process belongs to the user that the server runs as.
func (p *peer) ours() bool { return p.socket && p.err == nil && p.cred.uid == os.Geteuid() }

// loopback reports whether both ends of a TCP connection are on this machine.
func (p *peer) loopback() bool {
	return p.local != nil && p.remote != nil && p.local.IP.IsLoopback() && p.remote.IP.IsLoopback()
}

// fromRun reports whether the process at the other end descends from a run.
func (p *peer) fromRun() bool { return p.run != nil && p.run() }

// beyond reports whether the connection came by a listener that is for other machines.
func (p *peer) beyond() bool { return p.conn != nil && p.conn.beyond }

// known notes that the client at the other end has identified itself.
func (p *peer) known() {
	if p != nil && p.conn != nil {
		p.conn.known()
	}
}

type peerKey struct{}

func peerOf(ctx context.Context) *peer {
	p, _ := ctx.Value(peerKey{}).(*peer)
	return p
}

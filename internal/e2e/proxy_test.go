//go:build linux || darwin

package e2e

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A proxy stands between a hub and those who dial it, and does what networks do:
// it cuts, goes silent, or is slow.
type proxy struct {
	listener net.Listener
	target   func(context.Context) (net.Conn, error)
	rewrite  func([]byte) []byte // of what goes to the hub; nil for nothing
	ctx      context.Context     // ends with the proxy
	cancel   context.CancelFunc
	workers  sync.WaitGroup
	rate     atomic.Int64 // bytes per second in each direction; 0 is no limit
	accepted atomic.Int64

	mu    sync.Mutex
	pairs map[*pair]bool
}

// A pair is a connection to the proxy and the one that it has made for it.
type pair struct {
	near, far net.Conn
	silent    chan struct{} // nil while bytes pass, closed when they may again; guarded by the proxy's mu
}

// startProxy starts a proxy that listens on listener.
func startProxy(listener net.Listener, target func(context.Context) (net.Conn, error), rewrite func([]byte) []byte) *proxy {
	p := &proxy{listener: listener, target: target, rewrite: rewrite, pairs: map[*pair]bool{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.workers.Go(p.accept)
	return p
}

// behindSuffix is added to the name of a socket that a proxy has taken.
const behindSuffix = ".real"

// takeSocket puts a proxy in the place of the hub's socket. It has to be done
// after each start of the hub, which makes a new socket, and undone by giveSocket
// before the next.
func (l *lab) takeSocket() *proxy {
	l.t.Helper()
	behind := l.socket() + behindSuffix
	if err := os.Rename(l.socket(), behind); err != nil {
		l.t.Fatal(err)
	}
	listener, err := net.Listen("unix", l.socket())
	if err != nil {
		l.t.Fatal(err)
	}
	if err := os.Chmod(l.socket(), 0o600); err != nil {
		l.t.Fatal(err)
	}
	p := startProxy(listener, func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", behind)
	}, nil)
	l.t.Cleanup(p.close)
	return p
}

// giveSocket takes the proxy away that takeSocket has put there.
func (l *lab) giveSocket(p *proxy) {
	l.t.Helper()
	p.close()
	if err := os.Rename(l.socket()+behindSuffix, l.socket()); err != nil {
		l.t.Fatal(err)
	}
}

// tcpProxy starts a proxy on loopback before the hub's address. It outlives the
// hub. The hub checks the name that it is called by, so the proxy puts the right
// one into what passes.
func (l *lab) tcpProxy() *proxy {
	l.t.Helper()
	return l.tcpProxyTo(func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", l.address)
	})
}

// patientProxy is tcpProxy for CLIs that give up soon: 2.1.37 ends after 5 s
// without a listener, but waits for the answer to an upgrade for longer than
// any start of the hub takes. So connections wait here for the next hub.
func (l *lab) patientProxy() *proxy {
	l.t.Helper()
	return l.tcpProxyTo(func(ctx context.Context) (net.Conn, error) {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.address)
			if err == nil {
				return conn, nil
			}
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	})
}

func (l *lab) tcpProxyTo(target func(context.Context) (net.Conn, error)) *proxy {
	l.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		l.t.Fatal(err)
	}
	own, real := []byte("Host: "+listener.Addr().String()+"\r\n"), []byte("Host: "+l.address+"\r\n")
	p := startProxy(listener, target, func(chunk []byte) []byte { return bytes.ReplaceAll(chunk, own, real) })
	l.t.Cleanup(p.close)
	return p
}

func (p *proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return // it was closed
		}
		p.accepted.Add(1)
		far, err := p.target(p.ctx)
		if err != nil {
			_ = near.Close() // as if nobody listened
			continue
		}
		c := &pair{near: near, far: far}
		p.mu.Lock()
		p.pairs[c] = true
		if p.ctx.Err() != nil {
			c.close()
		}
		p.mu.Unlock()
		p.workers.Go(func() { p.copy(c, far, near, p.rewrite) })
		p.workers.Go(func() { p.copy(c, near, far, nil) })
	}
}

// close closes both connections; those who copy see it.
func (c *pair) close() {
	_ = c.near.Close() // it may be closed already
	_ = c.far.Close()
}

// copy forwards one direction until either side ends, and then ends both.
func (p *proxy) copy(c *pair, to, from net.Conn, rewrite func([]byte) []byte) {
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.pairs, c)
		c.close()
	}()
	buffer := make([]byte, 32<<10)
	for {
		size := len(buffer)
		if rate := p.rate.Load(); rate > 0 {
			size = int(min(int64(size), max(1, rate/50)))
		}
		n, err := from.Read(buffer[:size])
		if n > 0 {
			if !p.pass(c, n) {
				return
			}
			chunk := buffer[:n]
			if rewrite != nil {
				chunk = rewrite(chunk)
			}
			if _, err := to.Write(chunk); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass waits until n bytes may pass; false if the proxy was closed.
func (p *proxy) pass(c *pair, n int) bool {
	for {
		p.mu.Lock()
		silent := c.silent
		p.mu.Unlock()
		if silent == nil {
			break
		}
		select {
		case <-silent:
		case <-p.ctx.Done():
			return false
		}
	}
	rate := p.rate.Load()
	if rate <= 0 {
		return true
	}
	timer := time.NewTimer(time.Duration(n) * time.Second / time.Duration(rate))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// cut closes every connection.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.pairs {
		c.close() // the copiers do the rest
	}
}

// silence stops forwarding on all present connections, which stay open, as those
// of a machine that has gone to sleep do: neither side is told. New connections
// work. The function that it returns lets go what was held up.
func (p *proxy) silence() (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	silent := make(chan struct{})
	var held []*pair
	for c := range p.pairs {
		if c.silent == nil {
			c.silent = silent
			held = append(held, c)
		}
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, c := range held {
			c.silent = nil
		}
		close(silent)
	}
}

func (p *proxy) close() {
	p.cancel()
	_ = p.listener.Close() // whatever it says, nobody is accepted any more
	p.cut()
	p.workers.Wait()
}

// TestProxy holds that the proxy forwards, holds back and cuts.
func TestProxy(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := startProxy(front, func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", echo.Addr().String())
	}, bytes.ToUpper)
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := echo.Accept()
			if err != nil {
				return // it was closed
			}
			served.Go(func() {
				_, _ = io.Copy(conn, conn) // until it is cut
				_ = conn.Close()
			})
		}
	})
	defer served.Wait()
	defer func() { _ = echo.Close() }()
	defer p.close()
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", front.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	exchange := func(conn net.Conn, limit time.Duration) (string, error) {
		if _, err := conn.Write([]byte("hello")); err != nil {
			return "", err
		}
		if err := conn.SetReadDeadline(time.Now().Add(limit)); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 5)
		_, err := io.ReadFull(conn, answer)
		return string(answer), err
	}
	first := dial()
	if answer, err := exchange(first, patience); err != nil || answer != "HELLO" {
		t.Fatalf("%q, %v", answer, err)
	}
	release := p.silence()
	if _, err := exchange(first, 20*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a silent connection answered: %v", err)
	}
	p.rate.Store(1000)
	second := dial()
	begin := time.Now()
	if answer, err := exchange(second, patience); err != nil || answer != "HELLO" || time.Since(begin) < 10*time.Millisecond {
		t.Errorf("%q, %v, in %s over a slow connection", answer, err, time.Since(begin))
	}
	release()
	if err := first.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(first, make([]byte, 5)); err != nil {
		t.Errorf("what was held up did not come: %v", err)
	}
	p.cut()
	for _, conn := range []net.Conn{first, second} {
		if _, err := exchange(conn, patience); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("after the cut: %v", err)
		}
	}
	if n := p.accepted.Load(); n != 2 {
		t.Errorf("%d connections were counted, want 2", n)
	}
}

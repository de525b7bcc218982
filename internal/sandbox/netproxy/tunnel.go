package netproxy

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// closeWrite ends one direction of a connection, or all of it if it cannot end
// one alone.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// A tunnel carries bytes between two connections, both ways.
type tunnel struct {
	idle time.Duration
	last atomic.Int64 // when something was carried, in Unix nanoseconds
}

// run carries bytes until both directions have ended, one has failed, nothing
// was carried for long, or ctx has ended. It closes both connections. early is
// what a has sent already.
func (t *tunnel) run(ctx context.Context, a, b net.Conn, early io.Reader) {
	closeBoth := func() {
		_ = a.Close() // there is nothing to do about a failure
		_ = b.Close()
	}
	defer closeBoth()
	stop := context.AfterFunc(ctx, closeBoth)
	defer stop()
	t.last.Store(time.Now().UnixNano())
	var back sync.WaitGroup
	back.Go(func() {
		if err := t.carry(a, b, b); err != nil {
			closeBoth()
		}
	})
	if err := t.carry(b, a, early); err != nil {
		closeBoth()
	}
	back.Wait()
}

var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// carry carries one direction to its end. src is where from comes from.
func (t *tunnel) carry(dst, src net.Conn, from io.Reader) error {
	buf := buffers.Get().(*[32 << 10]byte) //nolint:forcetypeassert // New makes nothing else
	defer buffers.Put(buf)
	for {
		_ = src.SetReadDeadline(time.Now().Add(t.idle)) // if it is closed, Read tells
		n, err := from.Read(buf[:])
		if n > 0 {
			t.last.Store(time.Now().UnixNano())
			_ = dst.SetWriteDeadline(time.Now().Add(t.idle))
			if _, err := dst.Write(buf[:n]); err != nil {
				return err
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return closeWrite(dst)
		case errors.Is(err, os.ErrDeadlineExceeded) && time.Since(time.Unix(0, t.last.Load())) < t.idle:
			// The other direction is in use.
		default:
			return err
		}
	}
}

// Forward accepts on l and carries each connection to an address, until l is
// closed or ctx ends, and returns when all its connections have ended. It closes
// l. If dial is nil, it is a net.Dialer's DialContext.
func Forward(ctx context.Context, l net.Listener, address string, dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { _ = l.Close() }) // it ends Accept
	var workers sync.WaitGroup
	each(ctx, l, maxConns, func(conn net.Conn, release func()) {
		workers.Go(func() {
			defer release()
			attempt, done := context.WithTimeout(ctx, dialTime)
			out, err := dial(attempt, "tcp", address)
			done()
			if err != nil {
				_ = conn.Close() // as a port without a listener does
				return
			}
			t := &tunnel{idle: idleTime}
			t.run(ctx, conn, out, conn)
		})
	})
	stop()
	_ = l.Close() // it may be closed already
	cancel()
	workers.Wait()
}

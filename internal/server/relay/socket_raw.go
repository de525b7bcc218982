//go:build unix

package relay

import (
	"errors"
	"net"
	"syscall"
)

// rawOf returns a way to write to a connection without waiting, nil if there is none.
func rawOf(conn net.Conn) syscall.RawConn {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// writeSome writes as much as the connection takes at once, which may be nothing. alone
// says that nobody else is shown the same.
func (s *socket) writeSome(b []byte, alone bool) (n int, err error) {
	write := syscall.Write
	if alone {
		write = writeQuietly
	}
	again := s.raw.Write(func(fd uintptr) bool {
		for {
			n, err = write(int(fd), b)
			if !errors.Is(err, syscall.EINTR) {
				return true // whatever came of it: nobody waits here
			}
		}
	})
	if errors.Is(err, syscall.EAGAIN) {
		return 0, nil
	}
	return n, errors.Join(err, again)
}

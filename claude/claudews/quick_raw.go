//go:build linux && (amd64 || arm64)

package claudews

import (
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// A quickReader reads a connection as net does, except that Go's scheduler is not told
// of the call, which never waits, whatever somebody may have done to the connection. It
// would wake its watchman for the first call after a pause, on a core that who gets the
// line may need: for a single line that takes longer than all that is done with it.
type quickReader struct {
	raw   syscall.RawConn
	call  func(fd uintptr) bool
	b     []byte
	n     uintptr
	errno syscall.Errno
}

// quick returns the quickest way to read a connection.
func quick(conn net.Conn) io.Reader {
	system := systemConn(conn)
	if system == nil {
		return conn
	}
	raw, err := system.SyscallConn()
	if err != nil {
		return conn
	}
	r := &quickReader{raw: raw}
	r.call = func(fd uintptr) bool {
		for {
			r.n, _, r.errno = syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&r.b[0])), uintptr(len(r.b)), syscall.MSG_DONTWAIT, 0, 0)
			if r.errno != syscall.EINTR {
				return r.errno != syscall.EAGAIN // or it is waited for
			}
		}
	}
	return r
}

// systemConn returns the system's connection if its bytes are what a connection gives,
// nil otherwise: one that has it inside says so by showing both that and the system's.
// To have the methods of the one inside is not enough, since its Read may do more.
func systemConn(conn net.Conn) syscall.Conn {
	switch c := conn.(type) {
	case *net.TCPConn:
		return c
	case *net.UnixConn:
		return c
	case interface {
		syscall.Conn
		NetConn() net.Conn
	}:
		return c
	}
	return nil
}

func (r *quickReader) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	r.b = b
	err := r.raw.Read(r.call)
	r.b = nil
	switch {
	case err != nil:
		return 0, err
	case r.errno != 0:
		return 0, fmt.Errorf("reading a connection: %w", os.NewSyscallError("recvfrom", r.errno))
	case r.n == 0:
		return 0, io.EOF
	}
	return int(r.n), nil
}

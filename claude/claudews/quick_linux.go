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
// of the call, which never waits. It would wake its watchman for the first call after a
// pause, on a core that who gets the line may need: for a single line that takes longer
// than all that is done with it.
type quickReader struct {
	raw   syscall.RawConn
	call  func(fd uintptr) bool
	b     []byte
	n     uintptr
	errno syscall.Errno
}

// quick returns the quickest way to read a connection.
func quick(conn net.Conn) io.Reader {
	// Nothing has it whose bytes are not those of the system's connection.
	system, ok := conn.(syscall.Conn)
	if !ok {
		return conn
	}
	raw, err := system.SyscallConn()
	if err != nil {
		return conn
	}
	r := &quickReader{raw: raw}
	r.call = func(fd uintptr) bool {
		for {
			r.n, _, r.errno = syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&r.b[0])), uintptr(len(r.b)))
			if r.errno != syscall.EINTR {
				return r.errno != syscall.EAGAIN // or it is waited for
			}
		}
	}
	return r
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
		return 0, fmt.Errorf("reading a connection: %w", os.NewSyscallError("read", r.errno))
	case r.n == 0:
		return 0, io.EOF
	}
	return int(r.n), nil
}

//go:build !unix

package relay

import (
	"errors"
	"net"
	"syscall"
)

// rawOf returns nil: here every write waits.
func rawOf(net.Conn) syscall.RawConn { return nil }

// writeSome is not called where rawOf returns nil.
func (*socket) writeSome([]byte, bool) (int, error) { return 0, errors.ErrUnsupported }

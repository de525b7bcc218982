//go:build !unix

package shim

import (
	"errors"
	"fmt"
	"net"
)

// checkSocket is not possible here, so that no token is ever sent.
func checkSocket(string) error {
	return fmt.Errorf("checking who owns a socket: %w", errors.ErrUnsupported)
}

func checkPeer(net.Conn) error {
	return fmt.Errorf("seeing who listens on a socket: %w", errors.ErrUnsupported)
}

//go:build !unix

package client

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// dialSocket is not supported on this system: whose socket it is cannot be told.
func dialSocket(context.Context, *net.Dialer, string) (net.Conn, error) {
	return nil, fmt.Errorf("connecting to a Unix socket: %w", errors.ErrUnsupported)
}

//go:build !unix

package access

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// ListenUnix is not supported on this system: the process that connects cannot be identified.
func ListenUnix(context.Context, string) (net.Listener, error) {
	return nil, fmt.Errorf("listening on a Unix socket: %w", errors.ErrUnsupported)
}

// DataFolder is not supported on this system.
func DataFolder(string) (string, error) {
	return "", fmt.Errorf("checking the data folder: %w", errors.ErrUnsupported)
}

// CheckFolder is not supported on this system.
func CheckFolder(string) error {
	return fmt.Errorf("checking a folder: %w", errors.ErrUnsupported)
}

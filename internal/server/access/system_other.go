//go:build !linux && !darwin

package access

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
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

// LoadToken is not supported on this system: which users can read a file cannot be
// told in the way that is needed.
func LoadToken(string) (Token, error) {
	return Token{}, fmt.Errorf("keeping the admin token: %w", errors.ErrUnsupported)
}

func loadTokens(string, time.Time) ([]*entry, error) {
	return nil, fmt.Errorf("keeping tokens: %w", errors.ErrUnsupported)
}

func writeTokens(string, []*entry) error {
	return fmt.Errorf("keeping tokens: %w", errors.ErrUnsupported)
}

// ReadPrivate is not supported on this system.
func ReadPrivate(string, int64, string) ([]byte, error) {
	return nil, fmt.Errorf("reading a private file: %w", errors.ErrUnsupported)
}

// ReplacePrivate is not supported on this system.
func ReplacePrivate(string, []byte) error {
	return fmt.Errorf("writing a private file: %w", errors.ErrUnsupported)
}

// HubCertificate is not supported on this system.
func HubCertificate(string, []string, time.Time) (tls.Certificate, error) {
	return tls.Certificate{}, fmt.Errorf("keeping a certificate: %w", errors.ErrUnsupported)
}

// PhoneCertificate is not supported on this system: which users can read a file cannot
// be told in the way that is needed.
func PhoneCertificate(string, net.IP, time.Time) (tls.Certificate, error) {
	return tls.Certificate{}, fmt.Errorf("keeping a certificate: %w", errors.ErrUnsupported)
}

// peerCredentials is not supported on this system, so that no client gets in by a
// socket.
func peerCredentials(*net.UnixConn) (credentials, error) {
	return credentials{}, fmt.Errorf("asking who connected: %w", errors.ErrUnsupported)
}

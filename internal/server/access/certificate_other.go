//go:build !unix

package access

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

// PhoneCertificate is not supported on this system: which users can read a file cannot
// be told in the way that is needed.
func PhoneCertificate(string, net.IP, time.Time) (tls.Certificate, error) {
	return tls.Certificate{}, fmt.Errorf("keeping a certificate: %w", errors.ErrUnsupported)
}

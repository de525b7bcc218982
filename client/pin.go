package client

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// pinPrefix is how every pin begins: it names the hash.
const pinPrefix = "sha256:"

// Fingerprint returns the fingerprint of a certificate's public key, for people to compare and for [Options.Pin]: "sha256:" and the SHA-256 of
// the SubjectPublicKeyInfo in base64url, without padding. A certificate that is renewed with the same key keeps it.
func Fingerprint(cert *x509.Certificate) string {
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	return pinPrefix + base64.RawURLEncoding.EncodeToString(sum[:])
}

// ParsePin checks that a text is a fingerprint as [Fingerprint] returns it, and returns it without spaces around it and padding.
func ParsePin(text string) (string, error) {
	pin := strings.TrimRight(strings.TrimSpace(text), "=")
	encoded, ok := strings.CutPrefix(pin, pinPrefix)
	if ok && len(encoded) == base64.RawURLEncoding.EncodedLen(sha256.Size) {
		// Strict: two texts must not mean one key.
		if _, err := base64.RawURLEncoding.Strict().DecodeString(encoded); err == nil {
			return pin, nil
		}
	}
	return "", errors.New("a fingerprint is sha256: and 43 letters, digits, - or _; the hub shows its own at its start and with: switchboard status")
}

// A PinError says that a server has shown another certificate than the one that was expected. Nothing was sent to it.
type PinError struct {
	// Want is the fingerprint that was expected, Got that of the certificate that the server has shown.
	Want, Got string
}

// Error names both fingerprints, and what to do.
func (e *PinError) Error() string {
	return fmt.Sprintf("the hub's certificate is not the one that is pinned: its fingerprint is %s, not %s. Nothing was sent to it. "+
		"Compare with what switchboard status shows on the hub's machine; only if that is the new one, log in again: switchboard login URL", e.Got, e.Want)
}

// pin makes a configuration accept the one certificate with a fingerprint, instead of those that an authority vouches for.
func pin(config *tls.Config, want string) {
	also := config.VerifyConnection
	// The chain and the host name do not count: the key does, and VerifyConnection is called at every handshake, resumed ones too, before
	// anything is sent.
	config.InsecureSkipVerify = true
	config.VerifyConnection = func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 {
			return &PinError{Want: want, Got: "none"}
		}
		got := Fingerprint(state.PeerCertificates[0])
		if subtle.ConstantTimeCompare([]byte(got), []byte(want)) != 1 {
			return &PinError{Want: want, Got: got}
		}
		if also != nil {
			return also(state)
		}
		return nil
	}
}

// A Certificate is what a server shows of itself at the beginning of a TLS connection.
type Certificate struct {
	// Fingerprint is that of its key, see [Fingerprint].
	Fingerprint string
	// Names are the host names and addresses that it is for.
	Names []string
	// NotBefore and NotAfter are its time.
	NotBefore, NotAfter time.Time
	// Untrusted is why the machine's authorities do not vouch for it; nil if they do.
	Untrusted error
}

// LookAtCertificate connects to a server and returns the certificate that it shows, trusted or not. Nothing is sent but the handshake. config
// may name the roots to trust; nil means the system's. A base URL that begins with http has none: nil is returned then, without an error.
func LookAtCertificate(ctx context.Context, baseURL string, config *tls.Config) (*Certificate, error) {
	var c Client
	if err := c.setBase(baseURL); err != nil {
		return nil, err
	}
	u, err := url.Parse(c.base)
	if err != nil || u.Scheme != "https" {
		return nil, err
	}
	address := u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), "443")
	}
	config = tlsConfig(config)
	config.InsecureSkipVerify = true // it is verified below, to tell why not
	config.ServerName = u.Hostname()
	conn, err := (&tls.Dialer{NetDialer: &net.Dialer{Timeout: 10 * time.Second}, Config: config}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, transportError(ctx, err)
	}
	defer func() { _ = conn.Close() }() // nothing was written
	shown := conn.(*tls.Conn).ConnectionState().PeerCertificates
	if len(shown) == 0 {
		return nil, errors.New("the server has shown no certificate")
	}
	leaf := shown[0]
	out := &Certificate{Fingerprint: Fingerprint(leaf), Names: leaf.DNSNames, NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter}
	for _, ip := range leaf.IPAddresses {
		out.Names = append(out.Names, ip.String())
	}
	between := x509.NewCertPool()
	for _, cert := range shown[1:] {
		between.AddCert(cert)
	}
	_, out.Untrusted = leaf.Verify(x509.VerifyOptions{Roots: config.RootCAs, Intermediates: between, DNSName: u.Hostname()})
	return out, nil
}

// PinnedTLS returns a copy of a TLS configuration, which may be nil, for connections to a hub that are not made by a [Client]. With a pin the
// one certificate with that fingerprint counts, as [Options.Pin] says; without one the configuration's roots do.
func PinnedTLS(config *tls.Config, fingerprint string) (*tls.Config, error) {
	config = tlsConfig(config)
	if fingerprint == "" {
		return config, nil
	}
	want, err := ParsePin(fingerprint)
	if err != nil {
		return nil, err
	}
	pin(config, want)
	return config, nil
}

//go:build linux || darwin

package access

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	// certificateTTL is how long a certificate that we make lasts: phones refuse those
	// that last for years.
	certificateTTL = 397 * 24 * time.Hour
	// renewBefore is how long before its end a certificate is made anew.
	renewBefore = 30 * 24 * time.Hour
	// maxAddresses is how many addresses one certificate is for, so that a machine that
	// moves between a few networks keeps its certificate.
	maxAddresses = 8
	// hubCertificateTTL is how long the certificate lasts that a hub makes for its port:
	// clients know its key, not its date.
	hubCertificateTTL = 10 * 365 * 24 * time.Hour
	// maxHosts is how many names and addresses it is for.
	maxHosts = 32
	// maxCertificate bounds the file.
	maxCertificate = 64 << 10
)

// PhoneCertificate returns the certificate of the hub for browsers in the same network,
// with its key. It is kept in a file of the data folder, and made anew when there is
// none, when it does not have the address, or when it is about to expire. A file that
// others can read is an error that says what to do.
func PhoneCertificate(dir string, ip net.IP, now time.Time) (tls.Certificate, error) {
	path := filepath.Join(dir, CertificateFile)
	const remedy = "remove it, and the hub makes another"
	text, err := readPrivate(path, os.Geteuid(), maxCertificate, remedy, remedy)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tls.Certificate{}, fmt.Errorf("reading the certificate: %w", err)
	}
	addresses := []net.IP{ip}
	if pair, err := tls.X509KeyPair(text, text); err == nil {
		known := pair.Leaf.IPAddresses
		if slices.ContainsFunc(known, ip.Equal) && now.After(pair.Leaf.NotBefore) && now.Before(pair.Leaf.NotAfter.Add(-renewBefore)) {
			return pair, nil
		}
		for _, other := range known {
			if !other.Equal(ip) && len(addresses) < maxAddresses {
				addresses = append(addresses, other)
			}
		}
	}
	if text, err = makeCertificate(nil, nil, addresses, now, certificateTTL); err != nil {
		return tls.Certificate{}, fmt.Errorf("making a certificate: %w", err)
	}
	if err := replace(path, text); err != nil {
		return tls.Certificate{}, fmt.Errorf("writing the certificate: %w", err)
	}
	return tls.X509KeyPair(text, text)
}

// HubCertificate returns the certificate of a hub that makes its own, with its key, for
// some names and addresses. It is kept in a file of the data folder. Clients know the hub
// by its key, which never changes: for another name, or when it is about to expire, the
// certificate is made anew with the same key. A file that is damaged or that others can
// read is an error that says what to do.
func HubCertificate(dir string, hosts []string, now time.Time) (tls.Certificate, error) {
	path := filepath.Join(dir, HubCertificateFile)
	const remedy = "restore it from a backup, or remove it: then the hub makes another, and every node and login has to be pinned again"
	text, err := ReadPrivate(path, maxCertificate, remedy)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tls.Certificate{}, fmt.Errorf("reading the hub's certificate: %w", err)
	}
	var key *ecdsa.PrivateKey
	if err == nil {
		pair, err := tls.X509KeyPair(text, text)
		known, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
		if err != nil || !ok {
			return tls.Certificate{}, fmt.Errorf("reading the hub's certificate: %s is damaged; %s", path, remedy)
		}
		lacks := func(host string) bool { return pair.Leaf.VerifyHostname(host) != nil }
		if !slices.ContainsFunc(hosts, lacks) && now.After(pair.Leaf.NotBefore) && now.Before(pair.Leaf.NotAfter.Add(-renewBefore)) {
			return pair, nil
		}
		key = known
		for _, name := range append(pair.Leaf.DNSNames, addressTexts(pair.Leaf.IPAddresses)...) {
			if len(hosts) < maxHosts && !slices.Contains(hosts, name) {
				hosts = append(slices.Clone(hosts), name)
			}
		}
	}
	var names []string
	var addresses []net.IP
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			addresses = append(addresses, ip)
		} else {
			names = append(names, host)
		}
	}
	if text, err = makeCertificate(key, names, addresses, now, hubCertificateTTL); err != nil {
		return tls.Certificate{}, fmt.Errorf("making the hub's certificate: %w", err)
	}
	if err := replace(path, text); err != nil {
		return tls.Certificate{}, fmt.Errorf("writing the hub's certificate: %w", err)
	}
	return tls.X509KeyPair(text, text)
}

func addressTexts(list []net.IP) []string {
	texts := make([]string, len(list))
	for i, ip := range list {
		texts[i] = ip.String()
	}
	return texts
}

// makeCertificate makes a certificate for some names and addresses, signed by itself, and
// returns it with its key as PEM. If key is nil, a new one is made.
func makeCertificate(key *ecdsa.PrivateKey, names []string, addresses []net.IP, now time.Time, ttl time.Duration) ([]byte, error) {
	if key == nil {
		var err error
		if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return nil, err
		}
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Switchboard"},
		// A phone's clock may be a little behind.
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(ttl),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, DNSNames: names, IPAddresses: addresses,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = errors.Join(
		pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		pem.Encode(&b, &pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	)
	return b.Bytes(), err
}

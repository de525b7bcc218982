package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/switchboard-dev/switchboard/client"
)

// selfSigned makes a certificate for 127.0.0.1 that no authority vouches for, and returns its fingerprint and the files of certificate and key, in PEM.
func selfSigned() (pin string, cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "switchboard"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return "", nil, nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return "", nil, nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", nil, nil, err
	}
	return client.Fingerprint(leaf), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), nil
}

// writePair writes a self-signed certificate and its key into a folder, and returns the fingerprint.
func writePair(folder string) (pin string, err error) {
	pin, cert, key, err := selfSigned()
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "cert.pem"), cert, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "key.pem"), key, 0o600)
	}
	return pin, err
}

// scriptCertificate writes cert.pem and key.pem, and puts the fingerprint into a variable.
func scriptCertificate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: certificate VAR")
	}
	pin, err := writePair(ts.Getenv("WORK"))
	ts.Check(err)
	ts.Setenv(args[0], pin)
}

// scriptKeep runs a command and puts what it writes into a variable.
func scriptKeep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: keep VAR COMMAND...")
	}
	ts.Check(ts.Exec(args[1], args[2:]...))
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// TestSelfSigned sees to it that the scripts' certificate is none that this machine trusts: they would show nothing.
func TestSelfSigned(t *testing.T) {
	_, cert, _, err := selfSigned()
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(cert)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{DNSName: "127.0.0.1"}); err == nil {
		t.Error("the certificate is trusted")
	}
}

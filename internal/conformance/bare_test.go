package conformance

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	ws "github.com/coder/websocket"
)

// A bareServer hands every request of a CLI that dials to the scenario, which decides what becomes of it.
type bareServer struct {
	requests chan *Upgrade
	done     chan struct{}
	once     sync.Once
}

func newBareServer() *bareServer {
	return &bareServer{requests: make(chan *Upgrade), done: make(chan struct{})}
}

// An Upgrade is a request of a CLI that dials: to open a WebSocket or, in hybrid mode, a POST. Exactly one of its methods must be called.
type Upgrade struct {
	Request *http.Request
	Body    []byte // of a POST
	w       http.ResponseWriter
	done    chan struct{}
	server  *bareServer
}

// Accept opens the WebSocket. Lines written to it must end with "\n".
func (u *Upgrade) Accept() (*ws.Conn, error) {
	conn, err := ws.Accept(u.w, u.Request, &ws.AcceptOptions{InsecureSkipVerify: true})
	if err == nil {
		conn.SetReadLimit(-1)
	}
	close(u.done)
	return conn, err
}

// Answer ends the request with an HTTP status.
func (u *Upgrade) Answer(status int, body string) {
	u.w.WriteHeader(status)
	_, _ = io.WriteString(u.w, body)
	close(u.done)
}

// ServeHTTP implements http.Handler.
func (b *bareServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	upgrade := &Upgrade{Request: r, w: w, done: make(chan struct{}), server: b}
	if r.Method == http.MethodPost {
		var err error
		if upgrade.Body, err = io.ReadAll(r.Body); err != nil {
			return
		}
	}
	select {
	case b.requests <- upgrade:
		select {
		case <-upgrade.done:
		case <-b.done:
		}
	case <-b.done:
	case <-r.Context().Done():
	}
}

// next returns the next request.
func (b *bareServer) next(ctx context.Context) (*Upgrade, error) {
	select {
	case u := <-b.requests:
		return u, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (b *bareServer) close() error {
	b.once.Do(func() { close(b.done) })
	return nil
}

// throwAwayCA makes a certificate for loopback and the file of the authority that signed it, for NODE_EXTRA_CA_CERTS.
func throwAwayCA(folder string) (tls.Certificate, string, error) {
	fail := func(err error) (tls.Certificate, string, error) { return tls.Certificate{}, "", err }
	now := time.Now()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "throw-away authority"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fail(err)
	}
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, &authorityKey.PublicKey, authorityKey)
	if err != nil {
		return fail(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fail(err)
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "127.0.0.1"},
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, authority, &key.PublicKey, authorityKey)
	if err != nil {
		return fail(err)
	}
	path := filepath.Join(folder, "authority.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authorityDER}), 0o600); err != nil {
		return fail(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, path, nil
}

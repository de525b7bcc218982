package server

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/ingress"
)

// relayPath is where the raw relay is.
const relayPath = "/ws"

// openAccess opens the tokens, and makes the guard.
func (s *Server) openAccess() error {
	o := &s.options
	if (o.TLSCert == "") != (o.TLSKey == "") {
		return fmt.Errorf("TLS needs a certificate and its key; pass both --tls-cert and --tls-key")
	}
	if len(o.OpenRelay) > 0 && (o.BehindProxy || o.URL != "") {
		// A client behind a proxy seems to be on this machine.
		return fmt.Errorf("an open relay is local only; leave out --open-relay, or --behind-proxy and --url")
	}
	if o.OpenDial && (o.BehindProxy || o.URL != "") {
		return fmt.Errorf("dialing in without a token is local only; leave out --open-dial-in, or --behind-proxy and --url")
	}
	if o.TLSCert != "" && o.TLSSelfSigned {
		return fmt.Errorf("a hub has one certificate; pass either --tls-self-signed, or --tls-cert and --tls-key")
	}
	if o.TLSSelfSigned {
		made, err := access.HubCertificate(o.DataDir, s.certificateNames(), time.Now())
		if err != nil {
			return err
		}
		s.tls = &tls.Config{Certificates: []tls.Certificate{made}, MinVersion: tls.VersionTLS12}
	}
	if o.TLSCert != "" {
		files := &certificate{cert: o.TLSCert, key: o.TLSKey}
		if _, err := files.get(nil); err != nil {
			return err
		}
		s.tls = &tls.Config{GetCertificate: files.get, MinVersion: tls.VersionTLS12}
	}
	admin, err := access.LoadToken(o.DataDir)
	if err != nil {
		return err
	}
	s.fileToken = admin.ID
	if s.tokens, err = access.OpenTokenStore(o.DataDir, admin, &access.TokenStoreOptions{URL: s.PublicURL, Device: s.device, Log: s.log}); err != nil {
		return err
	}
	s.undo = append(s.undo, func() { s.warn("writing down the use of tokens", s.tokens.Close()) })
	limits := o.Limits
	if o.BehindProxy {
		limits.PerAddress = -1 // all come from the proxy
	}
	s.guard = access.New(&access.Options{
		Store: s.tokens, URL: o.URL, TLS: s.tls != nil, Beyond: s.beyond(), Limits: limits, Refused: func(reason string) { s.metrics.Refused("connections_" + reason) }, Log: s.log,
		OpenRelay: access.OpenRelay{Origins: o.OpenRelay, Path: relayPath, Approve: o.OpenRelayApprove}, OpenDial: o.OpenDial,
	})
	return nil
}

// dialOptions says which CLIs may dial in.
func (s *Server) dialOptions() *ingress.DialOptions {
	o := &ingress.DialOptions{Trusted: s.guard.Admin, MaxOpen: s.options.OpenDialMax, Refused: s.metrics.Refused, Logger: s.log}
	if s.options.OpenDial {
		o.Open, o.Lives = s.guard.OpenDial, s.guard.Lives
	}
	return o
}

// beyond reports whether the server may be reached from other machines.
func (s *Server) beyond() bool {
	return s.options.TLSCert != "" || s.options.TLSSelfSigned || s.options.BehindProxy || s.options.InsecureLAN
}

// Warnings says which endpoints are exposed more widely than they need be.
func (s *Server) Warnings() []string {
	var list []string
	o := &s.options
	if len(o.OpenRelay) > 0 {
		may := "look and prompt"
		if o.OpenRelayApprove {
			may = "look, prompt and answer questions"
		}
		list = append(list, fmt.Sprintf("the relay is open: web pages of %s, and every program of this user that says it was one, %s without a token", strings.Join(o.OpenRelay, ", "), may))
	}
	if o.OpenDial {
		list = append(list, "dial-in is open: every program of this user can add a session without a token")
	}
	if len(o.Rules.AutoApprove) > 0 {
		list = append(list, fmt.Sprintf("agents that dial in may use %s without a question, unless a rule denies or asks", strings.Join(o.Rules.AutoApprove, ", ")))
	}
	if s.fileToken != "" {
		list = append(list, fmt.Sprintf("%s holds a token with all rights, which agents can read as well: make one that you keep yourself with \"switchboard token create\", then remove it with \"switchboard token revoke %s\"", s.TokenFile(), s.fileToken))
	}
	if a, ok := s.tcp[0].Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() && s.tls == nil {
		if o.BehindProxy {
			list = append(list, fmt.Sprintf("%s is served without TLS: only the proxy in front of it may be able to reach it", a))
		} else {
			list = append(list, fmt.Sprintf("%s is served without TLS: anyone on the network can read tokens and everything else", a))
		}
	}
	return list
}

// URL returns the address for browsers and programs on this machine, such as "http://127.0.0.1:8765".
func (s *Server) URL() string {
	scheme := "http://"
	if s.tls != nil {
		scheme = "https://"
	}
	a, ok := s.tcp[0].Addr().(*net.TCPAddr)
	if ok && a.IP.IsUnspecified() {
		return scheme + net.JoinHostPort("127.0.0.1", strconv.Itoa(a.Port))
	}
	return scheme + s.tcp[0].Addr().String()
}

// PublicURL returns the address that others know the server by.
func (s *Server) PublicURL() string {
	if s.options.URL != "" {
		return s.options.URL
	}
	return s.URL()
}

// certificateNames returns the names and addresses that the hub's own certificate is for.
func (s *Server) certificateNames() []string {
	names := []string{"localhost", "127.0.0.1", "::1"}
	if host, err := os.Hostname(); err == nil && host != "" {
		names = append(names, strings.ToLower(host))
	}
	if host, _, err := net.SplitHostPort(s.options.Addr); err == nil {
		names = append(names, host)
	}
	if u, err := url.Parse(s.options.URL); err == nil {
		names = append(names, strings.ToLower(u.Hostname()))
	}
	for _, l := range s.options.Listeners {
		if a, ok := l.Addr().(*net.TCPAddr); ok {
			names = append(names, a.IP.String())
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		ip := net.ParseIP(name)
		return name == "" || ip != nil && ip.IsUnspecified() || ip == nil && strings.ContainsFunc(name, func(r rune) bool {
			return !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '.')
		})
	})
}

// Pin returns the fingerprint of the certificate that the hub shows, as clients pin it: "sha256:…". It is empty if the hub has none of its own,
// or a proxy shows another.
func (s *Server) Pin() string {
	pin, _ := s.pin()
	return pin
}

// pin returns the fingerprint of the hub's certificate, and whether other machines need it to trust the hub: their authorities do not vouch for it.
func (s *Server) pin() (pin string, needed bool) {
	if s.tls == nil || s.options.BehindProxy {
		return "", false
	}
	var shown *tls.Certificate
	if len(s.tls.Certificates) > 0 {
		shown = &s.tls.Certificates[0]
	} else if read, err := s.tls.GetCertificate(nil); err == nil {
		shown = read
	}
	if shown == nil || shown.Leaf == nil {
		return "", false
	}
	between := x509.NewCertPool()
	for _, der := range shown.Certificate[1:] {
		if cert, err := x509.ParseCertificate(der); err == nil {
			between.AddCert(cert)
		}
	}
	_, err := shown.Leaf.Verify(x509.VerifyOptions{Intermediates: between})
	return client.Fingerprint(shown.Leaf), err != nil
}

// webSocket returns the address of WebSockets for one of HTTP: ws for http, wss for https.
func webSocket(url string) string { return "ws" + strings.TrimPrefix(url, "http") }

// ConsoleURL returns the address of the console with a one-time code in its fragment, which no server is sent. It is a secret.
func (s *Server) ConsoleURL() string { return s.tokens.ConsoleCode().URL }

// certificateCheck is how often the files of a certificate are looked at.
const certificateCheck = time.Minute

// A certificate is read from its files again when they change: they are renewed while the server runs.
type certificate struct {
	// Static after construction.
	cert, key string

	// Guarded by mu.
	mu      sync.Mutex
	read    *tls.Certificate
	looked  time.Time
	written [2]time.Time // when the files were written that were read
}

// get returns the certificate. If it cannot be read, the one before is still good.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read != nil && time.Since(c.looked) < certificateCheck {
		return c.read, nil
	}
	c.looked = time.Now()
	written, err := c.look()
	if err == nil && (c.read == nil || written != c.written) {
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(c.cert, c.key); err == nil {
			c.read, c.written = &pair, written
		}
	}
	if c.read == nil {
		return nil, fmt.Errorf("reading the certificate: %w", err)
	}
	return c.read, nil
}

// look returns when the files were written.
func (c *certificate) look() (written [2]time.Time, err error) {
	for i, name := range []string{c.cert, c.key} {
		info, err := os.Stat(name)
		if err != nil {
			return written, err
		}
		if name == c.key && info.Mode().Perm()&0o007 != 0 {
			return written, fmt.Errorf("every user can read the key %s (mode %04o); fix: chmod o= %s", name, info.Mode().Perm()&fs.ModePerm, name)
		}
		written[i] = info.ModTime()
	}
	return written, nil
}

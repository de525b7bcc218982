package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// check looks for settings of the server that would expose the port more widely than anyone means to.
func (s *Server) check() error {
	secure := s.TLSCert != "" || s.TLSSelfSigned
	site, _ := url.Parse(string(s.URL)) // which was accepted
	switch {
	case (s.TLSCert == "") != (s.TLSKey == ""):
		return errors.New("TLS needs both server.tls_cert (--tls-cert) and server.tls_key (--tls-key)")
	case s.TLSCert != "" && s.TLSSelfSigned:
		return errors.New("a hub has one certificate: leave out server.tls_self_signed (--tls-self-signed), or server.tls_cert and server.tls_key")
	case secure && s.BehindProxy:
		return errors.New("server.behind_proxy says that the proxy has the certificate; leave out server.tls_cert, server.tls_key and server.tls_self_signed, or server.behind_proxy")
	case s.BehindProxy && site.Scheme != "https":
		return errors.New("server.behind_proxy (--behind-proxy) needs the address of the proxy: set server.url (--url) to https://hub.example.com")
	case s.URL != "" && site.Scheme == "http" && !s.InsecureLAN && !Address(net.JoinHostPort(site.Hostname(), "0")).loopback():
		return fmt.Errorf("server.url (--url) is %s, without TLS, and not on this machine alone; write it with https", s.URL)
	case secure && s.URL != "" && site.Scheme == "http":
		return fmt.Errorf("server.url (--url) is %s, but the hub has a certificate; write it with https", s.URL)
	case !s.Addr.loopback() && !secure && !s.BehindProxy && !s.InsecureLAN:
		return fmt.Errorf("server.addr (--addr) is %s, which is not on this machine alone: anyone on the network could read tokens. "+
			"Have the hub make a certificate with --tls-self-signed, give it one with --tls-cert and --tls-key, put a proxy with TLS in front of it (--behind-proxy), "+
			"or listen on 127.0.0.1 and connect through ssh", s.Addr)
	case len(s.OpenRelay) > 0 && (s.BehindProxy || s.URL != "" || !s.Addr.loopback()):
		return errors.New("server.open_relay (--open-relay) admits pages on this machine without a token; it cannot be combined with " +
			"server.url, server.behind_proxy or an address that others can reach")
	case s.OpenRelayApprove && len(s.OpenRelay) == 0:
		return errors.New("server.open_relay_approve (--open-relay-approve) says what an open relay may do, but server.open_relay (--open-relay) names no page")
	}
	for _, origin := range s.OpenRelay {
		if err := checkOrigin(origin); err != nil {
			return fmt.Errorf("server.open_relay (--open-relay): %w", err)
		}
	}
	for key, n := range map[string]int{"max_connections": s.MaxConnections, "max_connections_per_address": s.MaxPerAddress, "max_unknown_connections": s.MaxUnknown} {
		if n < 1 {
			return fmt.Errorf("server.%s is %d, which admits nobody; write 1 or more", key, n)
		}
	}
	return nil
}

// checkOrigin says what is wrong with the origin of a page that is to be let in without a token: it has to be just as a browser sends it.
func checkOrigin(origin string) error {
	u, err := url.Parse(origin)
	switch {
	case strings.Contains(origin, "*"):
		return errors.New("list every page; * is not supported")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return fmt.Errorf("%q isn't the origin of a page; write it as http://localhost:5173", origin)
	case u.User != nil || origin != u.Scheme+"://"+u.Host:
		return fmt.Errorf("%q is more than an origin; write %s://%s", origin, u.Scheme, u.Host)
	case origin != strings.ToLower(origin):
		return fmt.Errorf("%q has capitals, which browsers do not send; write %s", origin, strings.ToLower(origin))
	case u.Scheme == "http" && u.Port() == "80", u.Scheme == "https" && u.Port() == "443":
		return fmt.Errorf("%q names the usual port, which browsers leave out; write %s://%s", origin, u.Scheme, u.Hostname())
	case strings.HasSuffix(u.Host, ":"):
		return fmt.Errorf("%q has no port after its colon", origin)
	}
	return nil
}

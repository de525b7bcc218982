package relays

import (
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
)

// invalid says what is wrong with an address.
func invalid(format string, args ...any) error {
	return api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "url: "+format, args...)
}

// checkURL returns an address in the form in which it is kept. It refuses what could hold
// a secret, since the address is shown and logged, and what others could listen to, unless
// insecure is set.
func checkURL(text string, insecure bool) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Opaque != "" || u.Scheme != "ws" && u.Scheme != "wss" {
		return "", invalid("expected an address such as ws://127.0.0.1:8765/ws")
	}
	switch {
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", invalid("user, password, query and fragment can't be used")
	case u.Hostname() == "":
		return "", invalid("the host is missing")
	case u.Scheme == "ws" && !loopback(u.Hostname()) && !insecure:
		return "", &api.Error{
			Status: http.StatusUnprocessableEntity, Code: api.CodeInvalid, Title: "url: ws:// works on the hub's machine only; others need wss://",
			Hint: "with insecure (--insecure) everyone between could read and change everything",
		}
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.Host = strings.ToLower(u.Host)
	return u.String(), nil
}

// loopback reports whether a host is surely this machine.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// portOf returns the port of an address on this machine, 0 for other machines.
func portOf(address string) uint16 {
	u, err := url.Parse(address)
	if err != nil || !loopback(u.Hostname()) {
		return 0
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"ws": "80", "wss": "443"}[u.Scheme]
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return 0
	}
	return uint16(n)
}

package claudews

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// An Address is where a Direct Connect server is, and the token for it.
type Address struct {
	// Server is the server's base URL, http or https, without credentials.
	Server *url.URL
	// Token is the bearer token, "" if the address had none.
	Token string
}

// String returns the address without its token.
func (a Address) String() string {
	if a.Server == nil {
		return ""
	}
	return a.Server.String()
}

// GoString returns the address without its token: %#v must not tell it either.
func (a Address) GoString() string { return "claudews.Address{" + a.String() + "}" }

// ParseAddress reads the address of a Direct Connect server: cc://host:port/TOKEN
// (which speaks http), or an http or https URL, without a token. Errors do not
// quote the address, since it may hold a secret.
func ParseAddress(address string) (Address, error) {
	a, err := parseAddress(address)
	if err != nil {
		return Address{}, fmt.Errorf("reading the address of a Direct Connect server: %w", err)
	}
	return a, nil
}

func parseAddress(address string) (Address, error) {
	scheme, _, found := strings.Cut(address, "://")
	if !found {
		return Address{}, errors.New("expected cc://host:port/TOKEN or an http(s) URL")
	}
	u, err := url.Parse(address)
	if err != nil {
		return Address{}, errors.New("not a URL")
	}
	switch strings.ToLower(scheme) {
	case "cc+unix":
		return Address{}, errors.New("cc+unix:// (a Unix socket) is not supported, use cc://host:port/TOKEN")
	case "cc", "http", "https":
	default:
		return Address{}, fmt.Errorf("the scheme %q is not supported, expected cc, http or https", scheme)
	}
	switch {
	case u.Hostname() == "":
		return Address{}, errors.New("it names no host")
	case u.User != nil:
		return Address{}, errors.New("it has a user name or password, which are not used here")
	case u.RawQuery != "" || u.Fragment != "":
		return Address{}, errors.New("it has a query or fragment, which are not used here")
	}
	if u.Scheme != "cc" {
		u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), ""
		return Address{Server: u}, nil
	}
	token := strings.Trim(u.Path, "/")
	if strings.Contains(token, "/") {
		return Address{}, errors.New("there is more than a token after host and port")
	}
	return Address{Server: &url.URL{Scheme: "http", Host: u.Host}, Token: token}, nil
}

// place returns a URL for errors: what of it cannot hold a secret.
func place(u *url.URL) string { return u.Scheme + "://" + u.Host }

// origin returns scheme, host and port of a URL, with the default port written
// out, and ws taken for http.
func origin(u *url.URL) (secure bool, hostPort string) {
	secure = u.Scheme == "https" || u.Scheme == "wss"
	port := u.Port()
	if port == "" {
		port = "80"
		if secure {
			port = "443"
		}
	}
	return secure, strings.ToLower(u.Hostname()) + ":" + port
}

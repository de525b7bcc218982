package dial

import (
	"errors"
	"net/url"
	"strings"
)

// An UnsupportedError reports a URL whose scheme is neither ws nor wss. Its text is the CLI's own.
type UnsupportedError struct {
	// Scheme is the scheme, without a colon.
	Scheme string
}

// Error says it in the CLI's words.
func (e *UnsupportedError) Error() string { return "Unsupported protocol: " + e.Scheme + ":" }

// parse reads the value of --sdk-url.
func parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		// The parser's own words would quote the address, which may hold a secret.
		return nil, errors.New("reading the address to dial: not a URL")
	}
	if u.Scheme != "ws" && u.Scheme != "wss" {
		return nil, &UnsupportedError{Scheme: u.Scheme}
	}
	if u.Host == "" {
		return nil, errors.New("reading the address to dial: it names no host")
	}
	return u, nil
}

// eventsURL returns where the lines of a CLI that dials u are POSTed: http for ws, the first /ws/ of the path is /session/, and the path ends
// in /events.
func eventsURL(u *url.URL) *url.URL {
	e := *u
	e.Scheme = "http" + strings.TrimPrefix(u.Scheme, "ws")
	path := strings.Replace(u.EscapedPath(), "/ws/", "/session/", 1)
	path = strings.TrimSuffix(path, "/") + "/events"
	if plain, err := url.PathUnescape(path); err == nil {
		e.Path, e.RawPath = plain, path
	}
	return &e
}

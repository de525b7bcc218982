package notify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// The kinds of targets.
const (
	Webhook = "webhook"
	Ntfy    = "ntfy"
)

// minSecret is the shortest secret in bytes: what is shorter can be guessed from
// a signature.
const minSecret = 16

// A Target is where notifications go.
type Target struct {
	// Kind is [Webhook] or [Ntfy].
	Kind string
	// URL is the address: with https, or with http on this machine alone. It
	// has no user name or password.
	URL string
	// SecretFile is the path of the file with the key that the requests to a
	// webhook are signed with. It is required for a webhook, and must not be
	// set for ntfy.
	SecretFile string
	// TokenFile is the path of the file with the token that is shown to the
	// target. If empty, none is.
	//
	// Both files are read again for every attempt, so that they can be
	// exchanged. Only their owner may be able to read them.
	TokenFile string
	// Events are the kinds of notifications that are wanted. If empty, all.
	Events []string
	// Detail says that the target may know the titles, folders and texts of
	// sessions.
	Detail bool
}

// check says what is wrong with a target, and returns its address.
func (t *Target) check() (*url.URL, error) {
	switch t.Kind {
	case Webhook:
		if t.SecretFile == "" {
			return nil, errors.New("a webhook needs secret_file, a file with the key that its requests are signed with")
		}
	case Ntfy:
		if t.SecretFile != "" {
			return nil, errors.New("secret_file is for webhooks; the token for ntfy is named by token_file")
		}
	default:
		return nil, fmt.Errorf("the kind %q is not known; use webhook or ntfy", t.Kind)
	}
	for _, kind := range t.Events {
		if !slices.Contains(Kinds(), kind) {
			return nil, fmt.Errorf("the event %q is not known; use some of %s", kind, strings.Join(Kinds(), ", "))
		}
	}
	if t.SecretFile != "" {
		if _, err := readSecret(t.SecretFile); err != nil {
			return nil, err
		}
	}
	if t.TokenFile != "" {
		if _, err := readToken(t.TokenFile); err != nil {
			return nil, err
		}
	}
	return parseURL("url", t.URL)
}

// parseURL reads an address that is safe to send to. The errors do not show it,
// since it may have a secret in it.
func parseURL(member, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return nil, fmt.Errorf("%s is missing", member)
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "":
		return nil, fmt.Errorf("%s is not an address such as https://hub.example/path", member)
	case u.User != nil:
		return nil, fmt.Errorf("%s has a user name or password in it; put a token into token_file instead", member)
	case u.Fragment != "" || strings.Contains(text, "#"):
		return nil, fmt.Errorf("%s has a # in it, behind which nothing is sent", member)
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return nil, fmt.Errorf("%s must begin with https://, since http can be read on the way; http is for this machine alone", member)
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("%s must begin with https://", member)
	}
	return u, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// parseLink reads the address that links begin with; nothing is sent there.
func parseLink(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || strings.ContainsAny(text, "?#") {
		return "", fmt.Errorf("notify.link %q is not an address such as https://hub.example", text)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// readPrivate reads a short file that no other user can read.
func readPrivate(path string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("the file %q is not an absolute path", path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // opening a pipe would wait for a writer
		return nil, fmt.Errorf("%s is not a file", path)
	case runtime.GOOS != "windows" && info.Mode()&0o077 != 0:
		return nil, fmt.Errorf("%s can be read by others; run: chmod 600 %s", path, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	const limit = 4 << 10
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch text = bytes.TrimSpace(text); {
	case err != nil:
		return nil, err
	case len(text) > limit:
		return nil, fmt.Errorf("%s is too long for a secret", path)
	case len(text) == 0:
		return nil, fmt.Errorf("%s is empty", path)
	}
	return text, nil
}

// readSecret reads the key of a webhook.
func readSecret(path string) ([]byte, error) {
	secret, err := readPrivate(path)
	if err != nil {
		return nil, fmt.Errorf("reading secret_file: %w", err)
	}
	if len(secret) < minSecret {
		return nil, fmt.Errorf("the secret in %s is shorter than %d characters; make one with: openssl rand -hex 32", path, minSecret)
	}
	return secret, nil
}

// readToken reads a token that can stand in a header.
func readToken(path string) (string, error) {
	token, err := readPrivate(path)
	if err != nil {
		return "", fmt.Errorf("reading token_file: %w", err)
	}
	for _, c := range token {
		if c <= ' ' || c > '~' {
			return "", fmt.Errorf("%s has more in it than one token", path)
		}
	}
	return string(token), nil
}

package claudews

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// A Grant says which run a request belongs to.
type Grant struct {
	// Key names the run. The upgrades and the POSTs of one CLI must get the
	// same key, those of another CLI must not. It is required, and it is told
	// in errors and logs: it must not be a secret.
	Key string

	// Own says that the credential belongs to this run alone. A connection that
	// brings it then replaces the run's old one at once. Without it, a
	// connection replaces one that still lives only if it can name the last
	// line that was received. When the peer has been closed, the credential is
	// good for nothing more.
	Own bool

	// Received holds the uuids of the last lines that the owner has stored of
	// this run, if it kept any from before the program was started; the last
	// one is enough. It is looked at only when a CLI that had been connected
	// before comes to a server that does not know it.
	Received []string
}

// BearerToken returns the token of the request's Authorization header, or "".
func BearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// Tokens returns a function for [ServerOptions.Authorize] that knows a run by
// its bearer token. The map gives each token its run's key; it is copied. The
// comparison takes the same time for every token.
func Tokens(keys map[string]string) func(*http.Request) (Grant, error) {
	type entry struct {
		sum [sha256.Size]byte
		key string
	}
	entries := make([]entry, 0, len(keys))
	for token, key := range keys {
		entries = append(entries, entry{sha256.Sum256([]byte(token)), key})
	}
	return func(r *http.Request) (Grant, error) {
		token := BearerToken(r)
		if token == "" {
			return Grant{}, ErrNoToken
		}
		sum := sha256.Sum256([]byte(token))
		found := -1
		for i := range entries {
			if subtle.ConstantTimeCompare(sum[:], entries[i].sum[:]) == 1 {
				found = i
			}
		}
		if found < 0 {
			return Grant{}, ErrWrongToken
		}
		return Grant{Key: entries[found].key, Own: true}, nil
	}
}

// EventsPath returns the path to which a CLI in hybrid mode POSTs if its
// WebSocket has the path given.
func EventsPath(path string) string {
	path = strings.Replace(path, "/ws/", "/session/", 1)
	if !strings.HasSuffix(path, "/") {
		path += "/"
	}
	return path + "events"
}

// RunPath returns what the paths of an upgrade and of the POSTs of the same CLI
// have in common: the latter without its "/events". It is "/" for a CLI that
// dialled the root, and "/session/cli/NAME" for one that dialled /ws/cli/NAME.
func RunPath(r *http.Request) string {
	path := r.URL.Path
	if r.Method != http.MethodPost {
		path = EventsPath(path)
	}
	path = strings.TrimSuffix(path, "/events")
	if path == "" {
		return "/"
	}
	return path
}

// ours reports whether a run path is one that a server serves by itself: the
// root, and whatever comes from a WebSocket path with something after "/ws/".
func ours(runPath string) bool {
	_, name, found := strings.Cut(runPath, "/session/")
	return runPath == "/" || found && name != ""
}

// fromBrowser reports whether a request comes from a web page. A CLI sends none
// of these headers; a browser sends at least one of them on every upgrade and
// every POST, and no page can take them away.
func fromBrowser(r *http.Request) bool {
	return r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Mode") != "" || r.Header.Get("Sec-Fetch-Site") != ""
}

package access

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// runMarker is the variable in the environment of everything that a run has
// started; claude.MarkerEnv.
const runMarker = "SWITCHBOARD_RUN"

// Options say how a Guard works. The zero value lets in nobody but the user
// that the server runs as, by the Unix socket.
type Options struct {
	// Tokens are those that are accepted over TCP.
	Tokens []Token
	// Log gets a line for each request. If nil, nothing is logged.
	Log *slog.Logger
}

// A Guard stands before everything that the server serves. Its methods are safe
// for concurrent use.
type Guard struct {
	// Static after construction.
	tokens tokenTable
	user   string
	log    *slog.Logger

	brake *brake
}

// New makes a guard. It does not start anything.
func New(options *Options) *Guard {
	if options == nil {
		options = &Options{}
	}
	g := &Guard{tokens: tokenTable{}, user: userName(), log: options.Log, brake: newBrake()}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	for _, t := range options.Tokens {
		g.tokens[t.ID] = t
	}
	return g
}

// userName is what the user of the Unix socket is called in the log.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + strconv.Itoa(os.Geteuid())
}

// ConnContext notes who is at the other end of a connection. It is to be the
// [http.Server]'s field of that name.
func (g *Guard) ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, newPeer(c))
}

// Checked lets through requests that come in a way that they may come: by the
// Unix socket from our own user, or over loopback with a Host, and an Origin if
// there is one, that is ours. It asks for no token, and it logs each request. It
// belongs around everything.
func (g *Guard) Checked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.logged(w, r, func(w http.ResponseWriter, r *http.Request) {
			if e := check(r); e != nil {
				// What else comes on a connection from there is no better.
				w.Header().Set("Connection", "close")
				WriteProblem(w, e)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
}

// check says why a request may not come this way, or nil.
func check(r *http.Request) *api.Error {
	p := peerOf(r.Context())
	origins := r.Header.Values("Origin")
	switch {
	case p == nil:
		return refused("The connection is not known", "The server was put together wrongly: ConnContext is missing.", "")
	case p.socket && !p.ours():
		return refused("This socket is for another user", "", "Start a server of your own.")
	case p.socket && len(origins) > 0:
		return refused("Web pages cannot use the socket", "The request has an Origin.", "")
	case p.socket:
		return nil
	case !p.loopback():
		return refused("This server listens to this machine only", "", "Use it on the machine that it runs on.")
	}
	names := hosts(p.local)
	if !slices.Contains(names, strings.ToLower(r.Host)) {
		return refused("The Host of the request is not this server's", fmt.Sprintf("It is %q.", r.Host), "Use the address "+names[0]+".")
	}
	for _, o := range origins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme != "http" || !slices.Contains(names, strings.ToLower(u.Host)) || o != u.Scheme+"://"+u.Host {
			return refused("The request comes from a web page of another server", fmt.Sprintf("Its Origin is %q.", o), "")
		}
	}
	return nil
}

// hosts lists what the Host of a request to a local address may be.
func hosts(local *net.TCPAddr) []string {
	var list []string
	for _, name := range []string{local.IP.String(), "127.0.0.1", "localhost", "::1"} {
		list = append(list, net.JoinHostPort(name, strconv.Itoa(local.Port)))
		if local.Port == 80 { // browsers leave it out
			list = append(list, strings.TrimSuffix(net.JoinHostPort(name, ""), ":"))
		}
	}
	return list
}

func refused(title, detail, hint string) *api.Error {
	return &api.Error{Status: http.StatusForbidden, Code: api.CodeForbidden, Title: title, Detail: detail, Hint: hint}
}

// Authenticated lets through requests whose maker is known; [From] tells who.
// It belongs inside [Guard.Checked]. Requests with a wrong token are answered
// after a while.
func (g *Guard) Authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := recordOf(r.Context())
		if rec == nil {
			WriteProblem(w, refused("The request was not checked", "The server was put together wrongly: Checked is missing.", ""))
			return
		}
		id, ok, tried := g.identify(r)
		if ok {
			rec.identity, rec.known = id, true
			next.ServeHTTP(w, r)
			return
		}
		if tried && !g.brake.hold(r.Context()) {
			e := api.Errorf(http.StatusTooManyRequests, api.CodeUnauthorized, "Too many wrong tokens at once")
			e.Hint = "Try again in a second; a valid token always works."
			w.Header().Set("Retry-After", "1")
			WriteProblem(w, e)
			return
		}
		WriteProblem(w, unauthorized())
	})
}

// identify says who makes a request. tried is whether it bears a token at all.
func (g *Guard) identify(r *http.Request) (id Identity, ok, tried bool) {
	p := peerOf(r.Context())
	if p == nil {
		return Identity{}, false, false
	}
	if p.socket {
		// A token makes no difference here: it would let an agent that has found
		// one approve its own requests after all.
		if !p.ours() {
			return Identity{}, false, false
		}
		if p.run() {
			return Identity{
				Source: SourceProgram, Name: g.user + " (from an agent)",
				Scopes:  ScopesOf(wire.ScopeObserve, wire.ScopePrompt),
				Limited: "The request comes from a process that an agent has started, or whose origin cannot be told: it may look and prompt, no more.",
			}, true, false
		}
		return Identity{Source: SourcePerson, Name: g.user, Scopes: AllScopes()}, true, false
	}
	text := bearer(r)
	if text == "" {
		return Identity{}, false, false
	}
	t, ok := g.tokens.match(text)
	if !ok {
		return Identity{}, false, true
	}
	return Identity{Source: SourcePerson, Name: t.Name, Scopes: t.Scopes}, true, true
}

func bearer(r *http.Request) string {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(text)
}

// Admin reports whether a request bears a token with the right admin, after a
// while if it is a wrong one. It is for handlers that judge other credentials as
// well.
func (g *Guard) Admin(r *http.Request) bool {
	text := bearer(r)
	t, ok := g.tokens.match(text)
	if !ok && strings.HasPrefix(text, tokenPrefix) {
		g.brake.hold(r.Context()) // if too many wait, the answer is the same
	}
	return ok && t.Scopes.Has(wire.ScopeAdmin)
}

// SocketOnly lets through requests that came by the Unix socket. It belongs
// inside [Guard.Checked].
func (g *Guard) SocketOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := peerOf(r.Context()); p == nil || !p.ours() {
			WriteProblem(w, refused("This is for the Unix socket only", "", ""))
			return
		}
		next.ServeHTTP(w, r)
	})
}

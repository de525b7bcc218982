package access

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// runMarker is the variable in the environment of everything that a run has
// started; claude.MarkerEnv.
const runMarker = "SWITCHBOARD_RUN"

// fromAgent is what the name of a process of a run ends with.
const fromAgent = " (from an agent)"

// FirstLineTime is how long a client that connects by WebSocket without a token has
// to send one.
const FirstLineTime = 10 * time.Second

// Options say how a Guard works. The zero value lets in only the user
// that the server runs as, by the Unix socket.
type Options struct {
	// Store knows the tokens that are accepted over TCP. If nil, Tokens are all there
	// are.
	Store  *TokenStore
	Tokens []Token
	// URL is an address that the server is known by beside those that it listens
	// on, such as "https://hub.example". It has no path. It may be empty.
	URL string
	// TLS says that the port is served with TLS.
	TLS bool
	// Beyond lets in connections from other machines. If it is false, listening
	// beyond loopback lets in no client.
	Beyond bool
	// OpenRelay lets in front ends that have no token.
	OpenRelay OpenRelay
	// OpenDial lets in CLIs that dial in without one, see [Guard.OpenDial].
	OpenDial bool
	// Limits bound connections over TCP.
	Limits Limits
	// Refused is told of each connection over TCP, or request on one, that is refused
	// because of a limit: one of the reasons [RefusedTotal] to [RefusedTokens]. It must
	// not block. If nil, nothing is told.
	Refused func(reason string)
	// Log gets a line for each request. If nil, nothing is logged.
	Log *slog.Logger
}

// A Guard stands before everything that the server serves. Its methods are safe
// for concurrent use.
type Guard struct {
	// Static after construction.
	store  *TokenStore
	public address
	tls    bool
	beyond bool
	open   OpenRelay
	// openDial is that of the options.
	openDial bool
	user     string
	log      *slog.Logger

	limiter *limiter
	owners  *owners
}

// New makes a guard. It does not start anything.
func New(options *Options) *Guard {
	if options == nil {
		options = &Options{}
	}
	g := &Guard{
		store: options.Store, public: parseAddress(options.URL), tls: options.TLS, beyond: options.Beyond, open: options.OpenRelay,
		openDial: options.OpenDial, user: userName(), log: options.Log, owners: newOwners(),
	}
	if g.store == nil {
		g.store = newTokenStore(nil, options.Tokens...)
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	refused := options.Refused
	if refused == nil {
		refused = func(string) {}
	}
	g.limiter = newLimiter(options.Limits, g.log, refused)
	return g
}

// userName is what the user of the Unix socket is called in the log.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + strconv.Itoa(os.Geteuid())
}

// ConnContext notes the process at the other end of a connection. It is to be the
// [http.Server]'s field of that name.
func (g *Guard) ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, newPeer(c, g.owners))
}

// Checked lets through requests that come in a way that they may come: by the
// Unix socket from our own user, or over TCP with a Host, and an Origin if there
// is one, that is ours. It asks for no token, and it logs each request. It
// belongs around everything.
func (g *Guard) Checked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.logged(w, r, func(w http.ResponseWriter, r *http.Request) {
			if e := g.check(r); e != nil {
				// What else comes on a connection from there is no better.
				w.Header().Set("Connection", "close")
				WriteProblem(w, e)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
}

// Authenticated lets through requests of known clients; [From] returns the client.
// It belongs inside [Guard.Checked]. A token comes in the header Authorization,
// or, with WebSockets, as a sub-protocol, see [Subprotocol]. Requests with a
// wrong token are answered after a while.
func (g *Guard) Authenticated(next http.Handler) http.Handler { return g.authenticate(next, false) }

// Admitted is as [Guard.Authenticated], but also lets through WebSocket upgrades
// without a token, of which [From] knows nothing. The handler then asks
// [Guard.Open], and else reads the first line, with [FirstLine], within
// [FirstLineTime], and asks [Guard.Identify]. Until the client is known it is shown
// nothing.
func (g *Guard) Admitted(next http.Handler) http.Handler { return g.authenticate(next, true) }

func (g *Guard) authenticate(next http.Handler, late bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := recordOf(r.Context())
		if rec == nil {
			WriteProblem(w, refused("Unchecked request", "Bug in the hub: Checked is missing.", ""))
			return
		}
		id, ok, tried := g.identify(r)
		switch {
		case ok:
			if e := g.claim(peerOf(r.Context()), id); e != nil {
				// It would count for no token at all.
				w.Header().Set("Connection", "close")
				w.Header().Set("Retry-After", "5")
				WriteProblem(w, e)
				return
			}
			rec.set(id)
			next.ServeHTTP(w, r)
		case late && !tried && isUpgrade(r):
			next.ServeHTTP(w, r)
		case tried && !g.store.brake.wait(r.Context()):
			w.Header().Set("Retry-After", "1")
			WriteProblem(w, tooMany())
		default:
			WriteProblem(w, unauthorized())
		}
	})
}

// tooMany says that so many wrong tokens are being held back that there is no
// room for another.
func tooMany() *api.Error {
	e := api.Errorf(http.StatusTooManyRequests, api.CodeUnauthorized, "Too many wrong tokens at once")
	e.Hint = "Try again in a second; a valid token always works."
	return e
}

// claim notes the owner of a connection. The error says that it has too many.
func (g *Guard) claim(p *peer, id Identity) *api.Error {
	if p == nil || p.conn == nil {
		return nil // a Unix socket has no limit
	}
	holder := id.Token
	if holder == "" {
		holder = id.Name
	}
	reason := g.limiter.claim(p.conn, holder, id.Scopes.Has(wire.ScopeAdmin))
	if reason == "" {
		return nil
	}
	g.limiter.refused(reason)
	e := api.Errorf(http.StatusTooManyRequests, api.CodeTooMany, "The token has too many connections")
	e.Detail = fmt.Sprintf("The maximum is %d at a time.", g.limiter.share)
	e.Hint = "Close some, such as event streams, or raise server.max_connections and server.max_connections_per_address."
	if reason == RefusedTokens {
		e.Title, e.Detail = "Tokens have too many connections", fmt.Sprintf("Tokens without the scope admin share %d at a time, all together.", g.limiter.common)
	}
	return e
}

// isUpgrade reports whether a request wants to become a WebSocket.
func isUpgrade(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// identify returns the client that makes a request. tried is whether it bears a token at all.
func (g *Guard) identify(r *http.Request) (id Identity, ok, tried bool) {
	p := peerOf(r.Context())
	if p == nil {
		return Identity{}, false, false
	}
	text := bearer(r)
	if isUpgrade(r) {
		if offered := takeSubprotocol(r.Header); text == "" {
			text = offered
		}
	}
	if p.socket {
		// A token makes no difference here: it would let an agent that has found
		// one approve its own requests after all.
		id, ok = g.ofSocket(p)
		return id, ok, false
	}
	if text == "" {
		return Identity{}, false, false
	}
	id, ok = g.ofToken(p, text, cookiesOf(r.Context()))
	if ok && id.token.bound && !g.ownRequest(r) {
		return Identity{}, false, true
	}
	return id, ok, true
}

// ofSocket returns the client at the other end of the Unix socket.
func (g *Guard) ofSocket(p *peer) (Identity, bool) {
	if !p.ours() {
		return Identity{}, false
	}
	id := Identity{Source: SourcePerson, Name: g.user, Scopes: AllScopes()}
	if p.fromRun() {
		id.limit()
	}
	return id, true
}

// privileged are the rights that a process of a run does not get.
func privileged() Scopes { return ScopesOf(wire.ScopeApprove, wire.ScopeAdmin) }

// limit leaves an identity what a process of a run may do.
func (i *Identity) limit() {
	i.Source, i.Name, i.Scopes = SourceProgram, i.Name+fromAgent, i.Scopes&^privileged()
	i.Limited = "The request comes from a process that an agent started, or whose origin is unknown: it can only observe and prompt."
}

// ofToken returns the bearer of a token. A process of a run gets no more by a token that
// it has found than it has on the Unix socket; where that makes no difference
// nothing is looked up.
func (g *Guard) ofToken(p *peer, text string, c cookies) (Identity, bool) {
	e, ok := g.store.match(text, c.values)
	if !ok {
		return Identity{}, false
	}
	id := Identity{Source: SourcePerson, Name: e.Name, Scopes: e.Scopes, Token: e.ID, token: e}
	if e.Scopes&privileged() != 0 && p.fromRun() {
		id.limit()
	}
	return id, true
}

func bearer(r *http.Request) string {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(text)
}

// Subprotocol is the WebSocket sub-protocol that the server speaks. A browser,
// which can set no headers, offers it together with a second one that holds the
// token: "sb.token." and the token's text. Only this one is ever answered.
const Subprotocol = "switchboard.v1"

const tokenProtocol = "sb.token."

// takeSubprotocol returns the token among the sub-protocols that are offered, ""
// if there is none, and takes it out: it must not be answered.
func takeSubprotocol(h http.Header) (token string) {
	const name = "Sec-Websocket-Protocol"
	var others []string
	tokens, ours := 0, false
	for _, value := range h.Values(name) {
		for protocol := range strings.SplitSeq(value, ",") {
			protocol = strings.TrimSpace(protocol)
			text, found := strings.CutPrefix(protocol, tokenProtocol)
			if found {
				tokens, token = tokens+1, text
				continue
			}
			ours = ours || protocol == Subprotocol
			others = append(others, protocol)
		}
	}
	if tokens == 0 {
		return ""
	}
	h.Del(name)
	if len(others) > 0 {
		h.Set(name, strings.Join(others, ", "))
	}
	if tokens > 1 || !ours || token == "" {
		return tokenProtocol // which is no token
	}
	return token
}

// FirstLine returns the token in the first line of a client that connected
// without one: {"type":"auth","token":"sb_…"}, or as the official SDK has it
// {"type":"auth","credential":{"type":"oauth","token":"sb_…"}}. ok is false if the
// line is another.
func FirstLine(line []byte) (token string, ok bool) {
	var first struct {
		Type       string `json:"type"`
		Token      string `json:"token"`
		Credential struct {
			Token string `json:"token"`
		} `json:"credential"`
	}
	if err := json.Unmarshal(line, &first); err != nil || first.Type != "auth" {
		return "", false
	}
	if first.Token == "" {
		first.Token = first.Credential.Token
	}
	return first.Token, true
}

// Identify returns the owner of a token, for clients that send it after they have
// connected. ctx is that of their request, of which [From] knows from then on.
// The answer to a wrong one is held back for a while.
func (g *Guard) Identify(ctx context.Context, token string) (Identity, *api.Error) {
	p := peerOf(ctx)
	if p == nil {
		return Identity{}, refused("Unknown connection", "Bug in the hub: ConnContext is missing.", "")
	}
	var id Identity
	var ok bool
	if p.socket {
		id, ok = g.ofSocket(p)
	} else {
		id, ok = g.ofToken(p, token, cookies{}) // a page of ours shows its token with the upgrade
	}
	switch {
	case ok:
		if e := g.claim(p, id); e != nil {
			return Identity{}, e
		}
		if rec := recordOf(ctx); rec != nil {
			rec.set(id)
		}
		return id, nil
	case !g.store.brake.wait(ctx):
		return Identity{}, tooMany()
	default:
		return Identity{}, unauthorized()
	}
}

// Admin reports whether a request bears a token with the right admin, after a
// while if it is a wrong one. It is for handlers that judge other credentials as
// well.
func (g *Guard) Admin(r *http.Request) bool {
	text := bearer(r)
	e, ok := g.store.match(text, nil)
	if !ok && strings.HasPrefix(text, tokenPrefix) {
		g.store.brake.wait(r.Context()) // if too many wait, the answer is the same
	}
	p := peerOf(r.Context())
	return ok && e.Scopes.Has(wire.ScopeAdmin) && p != nil && !p.fromRun()
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

// Vouched is for handlers that judge credentials of their own, not tokens: a client that
// they do not refuse counts as known when there are too many connections. It
// belongs inside [Guard.Checked].
func (g *Guard) Vouched(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&vouchingWriter{ResponseWriter: w, peer: peerOf(r.Context())}, r)
	})
}

// A vouchingWriter notes when an answer is no refusal.
type vouchingWriter struct {
	http.ResponseWriter

	peer *peer
}

// Unwrap returns the writer inside.
func (w *vouchingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader sends the status.
func (w *vouchingWriter) WriteHeader(status int) {
	if status < http.StatusBadRequest {
		w.peer.known()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Known notes that the client whose request ctx belongs to has proved to be known, by
// credentials of its own: its connection is not pushed out by strangers any more. Until
// then it is one of them.
func (g *Guard) Known(ctx context.Context) { peerOf(ctx).known() }

// Delay holds the answer to a wrong credential back, as that to a wrong token is. It
// returns false if so many wait already that the client is to be sent away at once.
func (g *Guard) Delay(ctx context.Context) bool { return g.store.brake.wait(ctx) }

// Remote returns the address from which the request of ctx came over TCP, without its
// port; "" if it did not.
func Remote(ctx context.Context) string {
	if p := peerOf(ctx); p != nil && p.remote != nil {
		return p.remote.IP.String()
	}
	return ""
}

// ProblemType is the content type of errors.
const ProblemType = "application/problem+json"

// WriteProblem answers a request with an error, in the form of RFC 9457.
func WriteProblem(w http.ResponseWriter, e *api.Error) {
	body, err := json.Marshal(e)
	if err != nil { // a question in it that is not JSON
		body, _ = json.Marshal(&api.Error{Status: e.Status, Code: e.Code, Title: e.Title, Detail: e.Detail, Hint: e.Hint})
	}
	h := w.Header()
	h.Set("Content-Type", ProblemType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if e.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(e.Status)
	_, _ = w.Write(body) // the client may be gone
}

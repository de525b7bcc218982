package access

import (
	"net/http"
	"os"
	"slices"

	"github.com/switchboard-dev/switchboard/wire"
)

// openRelayName is what every client without a token is called.
const openRelayName = "open relay"

// OpenRelay lets in web pages that cannot show a token: existing front ends of
// the raw relay. It admits the author of such a page, and for every
// program of the user that says it was one. The zero value is shut.
type OpenRelay struct {
	// Origins are those of the pages, just as browsers send them: "http://localhost:5173".
	Origins []string
	// Path is the only one that they may connect to.
	Path string
	// Approve has them answer questions too, not only look and prompt.
	Approve bool
}

// invites reports whether a request may come from a page that is not ours.
func (o *OpenRelay) invites(r *http.Request, origin string) bool {
	return isUpgrade(r) && r.URL.Path == o.Path && slices.Contains(o.Origins, origin)
}

// Open returns the client that makes a WebSocket upgrade that has no token, if the relay is open
// for it: it comes from one of the named pages, over loopback, and, where the
// system tells, from a process of the user that the server runs as. A request
// without an Origin is never let in. [From] knows of it from then on.
func (g *Guard) Open(r *http.Request) (Identity, bool) {
	p := peerOf(r.Context())
	origins := r.Header.Values("Origin")
	if p == nil || p.socket || !p.loopback() || len(origins) != 1 || !g.open.invites(r, origins[0]) {
		return Identity{}, false
	}
	if !p.sameUser() {
		return Identity{}, false
	}
	scopes := ScopesOf(wire.ScopeObserve, wire.ScopePrompt)
	if g.open.Approve && !p.fromRun() {
		scopes |= ScopesOf(wire.ScopeApprove)
	}
	id := Identity{
		Source: SourceProgram, Name: openRelayName, Scopes: scopes, OpenRelay: true,
		Limited: "The request came through the open relay, without a token.",
	}
	if g.claim(p, id) != nil {
		return Identity{}, false
	}
	if rec := recordOf(r.Context()); rec != nil {
		rec.set(id)
	}
	return id, true
}

// sameUser reports whether the process at the other end of a TCP connection belongs to
// the user that the server runs as, where the system tells.
func (p *peer) sameUser() bool {
	uid, told := peerUID(p.local, p.remote)
	return !told || uid == os.Geteuid()
}

// browserHeaders are headers of which a browser sends at least one with every upgrade
// and every POST. No page can remove them, and no CLI sends them.
var browserHeaders = [...]string{"Origin", "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-Dest", "Cookie", "Referer"}

// proxyHeaders are headers that a proxy adds: behind one, every client seems to be on
// this machine.
var proxyHeaders = [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"}

// OpenDial reports whether a CLI may dial in without a token: the server was told so,
// and the request comes over loopback, from no web page and through no proxy, and, where
// the system tells, from a process of the user that the server runs as which no agent
// has started. A request that brings a credential is never let in by this: a wrong token
// stays one. [Guard.Checked] has looked at its Host.
func (g *Guard) OpenDial(r *http.Request) bool {
	p := peerOf(r.Context())
	if !g.openDial || p == nil || p.socket || !p.loopback() {
		return false
	}
	for _, names := range [...][]string{browserHeaders[:], proxyHeaders[:], {"Authorization"}} {
		for _, name := range names {
			if len(r.Header.Values(name)) > 0 {
				return false
			}
		}
	}
	return p.sameUser() && !p.fromRun()
}

// Lives returns what reports whether the process that makes a request over loopback still
// lives. It is nil where the system does not tell which one that is.
func (g *Guard) Lives(r *http.Request) func() bool {
	p := peerOf(r.Context())
	if p == nil || p.socket || !p.loopback() {
		return nil
	}
	return g.owners.lives(p.local, p.remote)
}

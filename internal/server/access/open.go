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
	if uid, told := peerUID(p.local, p.remote); told && uid != os.Geteuid() {
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

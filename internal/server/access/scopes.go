package access

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/wire"
)

// Scopes is a set of rights. The zero value holds none.
type Scopes uint8

// ScopesOf returns the set of these rights.
func ScopesOf(list ...wire.Scope) Scopes {
	var s Scopes
	for _, one := range list {
		s |= bit(one)
	}
	return s
}

// AllScopes returns every right there is.
func AllScopes() Scopes { return ScopesOf(scopes()...) }

// scopes lists the rights that can be given. ScopeNone is not among them:
// no client may do what needs it.
func scopes() []wire.Scope {
	return []wire.Scope{wire.ScopeObserve, wire.ScopePrompt, wire.ScopeApprove, wire.ScopeAdmin}
}

func bit(s wire.Scope) Scopes {
	if !slices.Contains(scopes(), s) {
		return 0
	}
	return 1 << s
}

// Has reports whether a right is in the set. It is false for [wire.ScopeNone]
// and for rights that are not known.
func (s Scopes) Has(one wire.Scope) bool { return s&bit(one) != 0 }

// List returns the rights in the set, the least first.
func (s Scopes) List() []wire.Scope {
	return slices.DeleteFunc(scopes(), func(one wire.Scope) bool { return !s.Has(one) })
}

// ParseScopes returns the set of rights with these names.
func ParseScopes(names []string) (Scopes, error) {
	var s Scopes
	for _, name := range names {
		i := slices.IndexFunc(scopes(), func(one wire.Scope) bool { return one.String() == name })
		if i < 0 {
			return 0, fmt.Errorf("%q is none of: %s", name, AllScopes())
		}
		s |= bit(scopes()[i])
	}
	return s, nil
}

// String returns the names of the rights, separated by commas.
func (s Scopes) String() string { return strings.Join(s.names(), ",") }

func (s Scopes) names() []string {
	var names []string
	for _, one := range s.List() {
		names = append(names, one.String())
	}
	return names
}

// An Identity is the client that makes a request and what it may do.
type Identity struct {
	// Source is "person" or "program", in the words of the journal.
	Source string
	// Name is the name of the user or of the token.
	Name string
	// Scopes is what they may do.
	Scopes Scopes
	// Limited says why Scopes holds less than usual, in one sentence. It is empty
	// if it does not.
	Limited string
	// Token is the id of the token that they came with. It is empty if they needed
	// none.
	Token string
	// OpenRelay says that they came through the open relay, see [Guard.Open].
	OpenRelay bool

	token *entry // nil if they needed none
}

// expires returns when the identity's token does; zero if it does not.
func (i Identity) expires() time.Time {
	if i.token == nil {
		return time.Time{}
	}
	return i.token.expires
}

// Person returns the person that the client belongs to: the user, the name of a token,
// and for a device the person whose one-time code it used.
func (i Identity) Person() string {
	if i.token != nil && i.token.person != "" && i.Limited == "" {
		return i.token.person
	}
	return i.Name
}

// Actor returns the client as the hub names it.
func (i Identity) Actor() hub.Actor {
	a := hub.Actor{Source: SourceProgram, Name: i.Name, Admin: i.Scopes.Has(wire.ScopeAdmin)}
	if i.Source == SourcePerson {
		a.Source = SourcePerson
	}
	return a
}

// The sources of requests.
const (
	SourcePerson  = "person"
	SourceProgram = "program"
)

// From returns the client that makes the request that a context belongs to. It is false for
// requests that did not pass [Guard.Authenticated].
func From(ctx context.Context) (Identity, bool) {
	if r := recordOf(ctx); r != nil {
		return r.get()
	}
	return Identity{}, false
}

// Require returns the client that makes the request if it has the right, else the reason
// why not. A token that has ended since the request began gives none.
func Require(ctx context.Context, scope wire.Scope) (Identity, *api.Error) {
	id, known := From(ctx)
	if !known || id.token != nil && id.token.unusable(time.Now()) { // perhaps while the body was on its way
		return Identity{}, unauthorized()
	}
	if id.Scopes.Has(scope) {
		return id, nil
	}
	e := api.Errorf(http.StatusForbidden, api.CodeForbidden, "This needs the scope %q", scope)
	e.Detail = "You have: " + id.Scopes.String() + "."
	switch {
	case id.Limited != "":
		e.Detail += " " + id.Limited
		e.Hint = "Do it in your own terminal, outside any agent."
	case id.Token != "":
		e.Hint = "Use a token that has it: switchboard token create"
	}
	return id, e
}

func unauthorized() *api.Error {
	e := api.Errorf(http.StatusUnauthorized, api.CodeUnauthorized, "Not signed in")
	e.Detail = "The request has no valid token."
	e.Hint = "Send the header \"Authorization: Bearer TOKEN\" with a token from switchboard token create, or use the Unix socket."
	return e
}

package access

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
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
// nobody may do what needs it.
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

// String returns the names of the rights, separated by commas.
func (s Scopes) String() string {
	var names []string
	for _, one := range s.List() {
		names = append(names, one.String())
	}
	return strings.Join(names, ",")
}

// An Identity says who makes a request and what they may do.
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
}

// The sources of requests.
const (
	SourcePerson  = "person"
	SourceProgram = "program"
)

// From returns who makes the request that a context belongs to. It is false for
// requests that did not pass [Guard.Authenticated].
func From(ctx context.Context) (Identity, bool) {
	if r := recordOf(ctx); r != nil && r.known {
		return r.identity, true
	}
	return Identity{}, false
}

// Require returns who makes the request if they have the right, else the reason
// why not.
func Require(ctx context.Context, scope wire.Scope) (Identity, *api.Error) {
	id, known := From(ctx)
	if !known {
		return Identity{}, unauthorized()
	}
	if id.Scopes.Has(scope) {
		return id, nil
	}
	e := api.Errorf(http.StatusForbidden, api.CodeForbidden, "This needs the right %q", scope)
	e.Detail = "You have: " + id.Scopes.String() + "."
	if id.Limited != "" {
		e.Detail += " " + id.Limited
		e.Hint = "Do it from a terminal of your own, outside of any agent."
	}
	return id, e
}

func unauthorized() *api.Error {
	e := api.Errorf(http.StatusUnauthorized, api.CodeUnauthorized, "Who are you?")
	e.Detail = "There is no valid token with this request."
	e.Hint = "Send the header \"Authorization: Bearer TOKEN\" with the token from the file admin.token in the server's data folder, or use the Unix socket."
	return e
}

package v1

import (
	"context"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

// Limits of requests that have the server judge calls by rules. A client that may observe
// may send them, and each costs far more than its bytes.
const (
	// maxJudging is how many are worked on at a time.
	maxJudging = 2
	// maxJudgingEach is how many of one token may be under way, those that wait
	// included: from before their body is read until they are answered.
	maxJudgingEach = 4
	// maxJudgingOthers is that for all tokens without the right admin together, so that
	// there is always room for one that has it.
	maxJudgingOthers = 16
)

// The limits that a gate refuses requests by, as they are counted.
const (
	refusedByToken = "policy_token"
	refusedByHub   = "policy_hub"
)

// A gate bounds how many costly requests are under way. Its methods are safe for
// concurrent use.
type gate struct {
	// Static after construction.
	work    chan struct{} // has an element for each that is worked on
	refused func(limit string)

	mu     sync.Mutex
	inside map[string]int // guarded by mu; by whose they are
	others int            // guarded by mu; of those without the right admin
}

func newGate(refused func(string)) *gate {
	return &gate{work: make(chan struct{}, maxJudging), refused: refused, inside: map[string]int{}}
}

// enter lets a request in. leave has to be called when it was answered.
func (g *gate) enter(id access.Identity) (leave func(), e *api.Error) {
	holder, admin := id.Token, id.Scopes.Has(wire.ScopeAdmin)
	if holder == "" {
		holder = id.Source + " " + id.Name
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	e = api.Errorf(http.StatusTooManyRequests, api.CodeTooMany, "Too many rule tests are running")
	e.Hint = "Try again when the requests before have been answered."
	switch {
	case g.inside[holder] >= maxJudgingEach:
		g.refused(refusedByToken)
		return nil, e
	case !admin && g.others >= maxJudgingOthers:
		g.refused(refusedByHub)
		return nil, e
	}
	g.inside[holder]++
	if !admin {
		g.others++
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.inside[holder]--; g.inside[holder] == 0 {
			delete(g.inside, holder)
		}
		if !admin {
			g.others--
		}
	}, nil
}

// middleware has the requests of an operation enter before their body is read.
func (g *gate) middleware(c huma.Context, next func(huma.Context)) {
	id, _ := access.From(c.Context()) // admit has seen to it that there is one
	leave, e := g.enter(id)
	if e != nil {
		_, w := humago.Unwrap(c)
		w.Header().Set("Retry-After", "1")
		access.WriteProblem(w, e)
		return
	}
	defer leave()
	next(c)
}

// judging calls a function when there is room to work on another request. It does not
// if ctx ends before: the client has gone.
func judging[T any](ctx context.Context, g *gate, call func() (T, error)) (out T, err error) {
	select {
	case g.work <- struct{}{}:
		defer func() { <-g.work }()
	case <-ctx.Done():
		return out, ctx.Err()
	}
	if err := ctx.Err(); err != nil { // both were ready
		return out, err
	}
	return call()
}

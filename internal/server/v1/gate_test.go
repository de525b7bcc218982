package v1

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

// TestGate: one token may have a few costly requests under way, tokens without the
// right admin some together, and one with it always finds room.
func TestGate(t *testing.T) {
	refused := map[string]int{}
	g := newGate(func(limit string) { refused[limit]++ })
	id := func(token string, scopes ...wire.Scope) access.Identity {
		return access.Identity{Source: access.SourcePerson, Name: "n", Token: token, Scopes: access.ScopesOf(scopes...)}
	}
	var leaves []func()
	enter := func(who access.Identity, ok bool) {
		t.Helper()
		leave, e := g.enter(who)
		switch {
		case ok && e != nil:
			t.Fatal(e)
		case !ok && (e == nil || e.Status != http.StatusTooManyRequests || e.Code != api.CodeTooMany):
			t.Fatalf("it is let in: %v", e)
		case ok:
			leaves = append(leaves, leave)
		}
	}
	for _, token := range []string{"a", "b", "c", "d"} {
		for range maxJudgingEach {
			enter(id(token, wire.ScopeObserve), true)
		}
		enter(id(token, wire.ScopeObserve), false)
	}
	enter(id("e", wire.ScopeObserve), false)
	enter(id("", wire.ScopeObserve, wire.ScopeAdmin), true) // by the socket
	if refused[refusedByToken] != 4 || refused[refusedByHub] != 1 {
		t.Errorf("counted were %v", refused)
	}
	for _, leave := range leaves {
		leave()
	}
	if len(g.inside) != 0 || g.others != 0 {
		t.Errorf("%v, %d are still inside", g.inside, g.others)
	}
}

// TestJudging: no more than a few are worked on at once, and one whose client has gone
// while it waited is not.
func TestJudging(t *testing.T) {
	g := newGate(func(string) {})
	working, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range maxJudging {
		all.Go(func() {
			if _, err := judging(t.Context(), g, func() (int, error) {
				working <- struct{}{}
				<-release
				return 1, nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	for range maxJudging {
		<-working
	}
	ctx, cancel := context.WithCancel(t.Context())
	waits := make(chan error, 1)
	go func() {
		_, err := judging(ctx, g, func() (int, error) {
			t.Error("one too many is worked on")
			return 1, nil
		})
		waits <- err
	}()
	cancel()
	if err := <-waits; !errors.Is(err, context.Canceled) {
		t.Errorf("the client has gone: %v", err)
	}
	close(release)
	all.Wait()
	if n, err := judging(t.Context(), g, func() (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Errorf("afterwards: %d, %v", n, err)
	}
}

// TestPolicyLimits sends as many requests of one token as there may not be, and ones
// that are too long.
func TestPolicyLimits(t *testing.T) {
	r, _ := newHubRig(t)
	if e := expectProblem(t, r.do(t, observeToken, "POST", "/v1/policy/test", `{"text":"`+strings.Repeat("x", 1<<20)+`"}`), 413, api.CodeTooLarge); e.Title == "" {
		t.Error("the error says nothing")
	}
	expectProblem(t, r.do(t, observeToken, "POST", "/v1/policy/test", `{"text":"`+strings.Repeat("x", 1<<18+1)+`"}`), 422, api.CodeInvalid)
	for _, path := range []string{"/v1/policy/test", "/v1/policy/explain"} {
		body := `{"tool":"Bash"}`
		if path == "/v1/policy/test" {
			body = `{}`
		}
		var leaves []func()
		for range maxJudgingEach {
			leave, e := r.server.judge.enter(access.Identity{Token: "observe", Scopes: access.ScopesOf(wire.ScopeObserve)})
			if e != nil {
				t.Fatal(e)
			}
			leaves = append(leaves, leave)
		}
		res := r.do(t, observeToken, "POST", path, body)
		if res.Header.Get("Retry-After") == "" {
			t.Error("it does not say when to come again")
		}
		expectProblem(t, res, 429, api.CodeTooMany)
		if res := r.do(t, adminToken, "POST", path, body); res.StatusCode != 200 {
			t.Errorf("%s of another token: %d", path, res.StatusCode)
		}
		for _, leave := range leaves {
			leave()
		}
		if res := r.do(t, observeToken, "POST", path, body); res.StatusCode != 200 {
			t.Errorf("%s afterwards: %d", path, res.StatusCode)
		}
	}
}

package access

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// TestShares has programs hold as many streams as they are given: one token has a
// quarter of what there is room for, those without the right admin have half, and the
// owner of the server gets in all the same.
func TestShares(t *testing.T) {
	const capacity, share, common = 64, 16, 32
	tokens := map[string]string{}
	var list []Token
	for name, scopes := range map[string]Scopes{
		"a": ScopesOf(wire.ScopeObserve), "b": ScopesOf(wire.ScopeObserve), "c": ScopesOf(wire.ScopeObserve), "owner": AllScopes(),
	} {
		text, token := newToken(name, scopes)
		tokens[name], list = text, append(list, token)
	}
	var mu sync.Mutex
	refused := map[string]int{}
	g := New(&Options{Tokens: list, Limits: Limits{PerAddress: capacity}, Refused: func(reason string) {
		mu.Lock()
		defer mu.Unlock()
		refused[reason]++
	}})
	server := httptest.NewUnstartedServer(g.Checked(g.Authenticated(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush() // the client sees the status
		if r.URL.Path == "/stream" {
			<-r.Context().Done()
		}
	}))))
	server.Config.ConnContext = g.ConnContext
	server.Listener = g.Limit(server.Listener)
	server.Start()
	transport := &http.Transport{DisableKeepAlives: true}
	client := &http.Client{Transport: transport}
	t.Cleanup(func() { // after the bodies, whose streams the server would wait for
		transport.CloseIdleConnections()
		server.Close()
	})
	// ask returns the status and headers of an answer, whose body stays open, and its
	// error if it is one.
	ask := func(name, path string) (int, http.Header, api.Error) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		noError(t, err)
		req.Header.Set("Authorization", "Bearer "+tokens[name])
		res, err := client.Do(req)
		noError(t, err)
		t.Cleanup(func() { _ = res.Body.Close() })
		var e api.Error
		if res.StatusCode != http.StatusOK {
			noError(t, json.NewDecoder(res.Body).Decode(&e))
		}
		return res.StatusCode, res.Header, e
	}
	opens := func(name string, n int) {
		t.Helper()
		for i := range n {
			if status, _, e := ask(name, "/stream"); status != http.StatusOK {
				t.Fatalf("stream %d of %s: %+v", i+1, name, e)
			}
		}
	}
	full := func(name, words string) {
		t.Helper()
		status, header, e := ask(name, "/stream")
		if status != http.StatusTooManyRequests || e.Code != api.CodeTooMany || !strings.Contains(e.Title+e.Detail, words) || header.Get("Retry-After") == "" {
			t.Fatalf("one more of %s: %d %+v", name, status, e)
		}
	}
	opens("a", share)
	full("a", "16 at a time")
	opens("b", common-share)
	full("c", "32 at a time, all together")
	opens("owner", share-1)
	if status, _, e := ask("owner", "/once"); status != http.StatusOK {
		t.Errorf("the owner is kept out: %+v", e)
	}
	mu.Lock()
	defer mu.Unlock()
	if refused[RefusedToken] != 1 || refused[RefusedTokens] != 1 || len(refused) != 2 {
		t.Errorf("counted were %v", refused)
	}
}

// TestSharesAreGivenBack: what is closed counts no more, and a connection that several
// use belongs to the last of them.
func TestSharesAreGivenBack(t *testing.T) {
	l, connect := limited(t, Limits{PerAddress: 4 * minShare})
	var open []*limitedConn
	for range minShare {
		_, c := connect()
		if reason := l.limiter.claim(c, "a", false); reason != "" {
			t.Fatal(reason)
		}
		open = append(open, c)
	}
	_, more := connect()
	if reason := l.limiter.claim(more, "a", false); reason != RefusedToken {
		t.Errorf("one too many: %q", reason)
	}
	if reason := l.limiter.claim(open[0], "a", false); reason != "" {
		t.Errorf("another request on the same connection: %q", reason)
	}
	if reason := l.limiter.claim(open[0], "b", true); reason != "" {
		t.Errorf("a request of another: %q", reason)
	}
	if reason := l.limiter.claim(more, "a", false); reason != "" {
		t.Errorf("in the place of the one that is another's: %q", reason)
	}
	for _, c := range append(open, more) {
		_ = c.Close()
		_ = c.Close() // counts once
	}
	if len(l.limiter.holders) != 0 || l.limiter.others != 0 {
		t.Errorf("%v, %d are still counted", l.limiter.holders, l.limiter.others)
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

package claudews

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
)

// The paths are those that the real CLIs were seen to use (docs/hybrid-post.md).
func TestPaths(t *testing.T) {
	for _, tt := range []struct {
		ws, post, run string
		ours          bool
	}{
		{"", "/events", "/", true},
		{"/", "/events", "/", true},
		{"/x", "/x/events", "/x", false},
		{"/ws", "/ws/events", "/ws", false},
		{"/ws/", "/session/events", "/session", false},
		{"/ws/x", "/session/x/events", "/session/x", true},
		{"/ws/x/", "/session/x/events", "/session/x", true},
		{"/ws/cli/ID", "/session/cli/ID/events", "/session/cli/ID", true},
		{"/a/ws/b", "/a/session/b/events", "/a/session/b", true},
		{"/ws/a/ws/b", "/session/a/ws/b/events", "/session/a/ws/b", true},
		{"/v2/session_ingress/ws/ID", "/v2/session_ingress/session/ID/events", "/v2/session_ingress/session/ID", true},
		{"/sessions/ws", "/sessions/ws/events", "/sessions/ws", false},
	} {
		if got := EventsPath(tt.ws); got != tt.post {
			t.Errorf("EventsPath(%q) = %q, want %q", tt.ws, got, tt.post)
		}
		upgrade := httptest.NewRequest(http.MethodGet, "http://h"+tt.ws, nil)
		post := httptest.NewRequest(http.MethodPost, "http://h"+tt.post, nil)
		for _, r := range []*http.Request{upgrade, post} {
			if got := RunPath(r); got != tt.run {
				t.Errorf("RunPath(%s %s) = %q, want %q", r.Method, r.URL.Path, got, tt.run)
			}
		}
		if got := ours(tt.run); got != tt.ours {
			t.Errorf("ours(%q) = %v, want %v", tt.run, got, tt.ours)
		}
	}
}

func TestTokens(t *testing.T) {
	tokens := map[string]string{"one": "first", "two": "second"}
	authorize := Tokens(tokens)
	tokens["late"] = "third" // the map is the caller's
	for _, tt := range []struct {
		header string
		key    string
		err    error
	}{
		{"Bearer one", "first", nil},
		{"bearer two", "second", nil},
		{"Bearer  two ", "second", nil},
		{"Bearer late", "", ErrWrongToken},
		{"Bearer on", "", ErrWrongToken},
		{"Bearer ", "", ErrNoToken},
		{"Basic one", "", ErrNoToken},
		{"one", "", ErrNoToken},
		{"", "", ErrNoToken},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://h/", nil)
		r.Header.Set("Authorization", tt.header)
		grant, err := authorize(r)
		if grant.Key != tt.key || !errors.Is(err, tt.err) || grant.Own != (tt.key != "") {
			t.Errorf("%q: %+v, %v; want key %q, %v", tt.header, grant, err, tt.key, tt.err)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name   string
		method string
		url    string
		set    map[string]string
		want   int
	}{
		{"no token", "UPGRADE", "http://hub.test/ws/x", map[string]string{"Authorization": ""}, 403},
		{"wrong token", "UPGRADE", "http://hub.test/ws/x", map[string]string{"Authorization": "Bearer no"}, 403},
		{"wrong token, POST", "POST", "http://hub.test/session/x/events", map[string]string{"Authorization": "Bearer no"}, 403},
		{"a web page", "UPGRADE", "http://hub.test/ws/x", map[string]string{"Origin": "http://hub.test"}, 403},
		{"an opaque origin", "UPGRADE", "http://hub.test/ws/x", map[string]string{"Origin": "null"}, 403},
		{"a web page, POST", "POST", "http://hub.test/session/x/events", map[string]string{"Origin": "http://hub.test"}, 403},
		{"a browser", "POST", "http://hub.test/session/x/events", map[string]string{"Sec-Fetch-Site": "same-origin"}, 403},
		{"another host", "UPGRADE", "http://evil.test/ws/x", nil, 403},
		{"another path", "UPGRADE", "http://hub.test/elsewhere", nil, 404},
		{"no upgrade", "GET", "http://hub.test/ws/x", nil, 404},
		{"POST elsewhere", "POST", "http://hub.test/session/x", nil, 404},
		{"PUT", "PUT", "http://hub.test/session/x/events", nil, 404},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, ServerOptions{Hosts: []string{"hub.test"}})
				method := tt.method
				if method == "UPGRADE" {
					method = http.MethodGet
				}
				r, err := http.NewRequestWithContext(t.Context(), method, tt.url, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer secret")
				if tt.method == "UPGRADE" {
					r.Header.Set("Connection", "Upgrade")
					r.Header.Set("Upgrade", "websocket")
					r.Header.Set("Sec-WebSocket-Version", "13")
					r.Header.Set("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")
				}
				for name, value := range tt.set {
					r.Header.Set(name, value)
				}
				resp, err := l.client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				if resp.StatusCode != tt.want {
					t.Errorf("status %d, want %d", resp.StatusCode, tt.want)
				}
				if n := len(l.server.peers); n != 0 {
					t.Errorf("%d peers were made", n)
				}
			})
		})
	}
}

// A handshake that fails after everything else was right leaves nothing behind.
func TestBrokenHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://hub.test/ws/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer secret")
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", "websocket")
		r.Header.Set("Sec-WebSocket-Version", "12")
		resp, err := l.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("status %d, want 400", resp.StatusCode)
		}
		synctest.Wait()
		if n := len(l.server.peers); n != 0 {
			t.Errorf("%d peers are left", n)
		}
	})
}

func TestNewServerNeedsAuthorize(t *testing.T) {
	for _, o := range []*ServerOptions{nil, {}} {
		if _, err := NewServer(o); err == nil {
			t.Errorf("NewServer(%v) made an open server", o)
		}
	}
}

func TestNoKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{Authorize: func(*http.Request) (Grant, error) { return Grant{}, nil }})
		if status := l.cli().try(); status != http.StatusForbidden {
			t.Errorf("status %d, want 403", status)
		}
	})
}

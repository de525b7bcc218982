//go:build unix

package server

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
)

// sessionsOf returns the sessions of a server.
func sessionsOf(t *testing.T, s *Server) []api.SessionSummary {
	t.Helper()
	status, body := send(t, s, http.MethodGet, "/v1/sessions", "")
	var list api.SessionList
	if err := json.Unmarshal([]byte(body), &list); status != http.StatusOK || err != nil {
		t.Fatalf("%d %s", status, body)
	}
	return list.Sessions
}

// dialIn opens a WebSocket as a CLI does, and returns when its session has been begun: the
// hub speaks first.
func dialIn(t *testing.T, s *Server, header http.Header) {
	t.Helper()
	ws, err := connect(t.Context(), s, "/", &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.CloseNow() })
	if _, line, err := ws.Read(t.Context()); err != nil || !strings.Contains(string(line), `"initialize"`) {
		t.Fatalf("first comes %s, %v", line, err)
	}
}

// TestOpenDial comes to the root of a server without a token: as a CLI does, and as a web
// page would.
func TestOpenDial(t *testing.T) {
	s := start(t, func(o *Options) { o.OpenDial, o.OpenDialMax = true, 2 })
	for _, test := range []struct {
		name, path string
		header     http.Header
		host       string
	}{
		{"another site's page", "/", http.Header{"Origin": {"https://evil.example"}}, ""},
		{"our own page", "/", http.Header{"Origin": {s.URL()}}, ""},
		{"a browser", "/", http.Header{"Sec-Fetch-Mode": {"websocket"}}, ""},
		{"a name that leads here", "/", nil, "evil.example"},
		{"a proxy", "/", http.Header{"X-Forwarded-For": {"192.0.2.1"}}, ""},
		{"a wrong token", "/", http.Header{"Authorization": {"Bearer sb_wrong_token"}}, ""},
		{"an empty token", "/", http.Header{"Authorization": {""}}, ""},
		{"the events", "/v1/events", nil, ""},
	} {
		ws, err := connect(t.Context(), s, test.path, &websocket.DialOptions{HTTPHeader: test.header, Host: test.host})
		if err == nil {
			t.Errorf("%s comes in", test.name)
			_ = ws.CloseNow()
		}
	}
	if list := sessionsOf(t, s); len(list) != 0 {
		t.Fatalf("there are %d sessions", len(list))
	}
	for range 2 {
		dialIn(t, s, nil)
	}
	list := sessionsOf(t, s)
	if len(list) != 2 || !list[0].Unauthenticated || !list[1].Unauthenticated {
		t.Errorf("the sessions are %+v", list)
	}
	// The third is one too many; one with a token is not.
	if ws, err := connect(t.Context(), s, "/", nil); err == nil {
		t.Error("a third one comes in")
		_ = ws.CloseNow()
	}
	dialIn(t, s, bearerOf(t, s))
	if list = sessionsOf(t, s); len(list) != 3 || list[0].Unauthenticated {
		t.Errorf("the sessions are %+v", list)
	}
	status, body := get(t, s, "/metrics")
	want := []string{`limit="dial_in_total"} 1`, `limit="dial_in"} 2`} // the proxy and the empty token; the others do not get so far
	for _, text := range want {
		if !strings.Contains(body, text) {
			t.Errorf("%d: the metrics lack %s: %s", status, text, linesWith(body, "refused_total"))
		}
	}
}

func linesWith(text, part string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestShutDial holds that without the option there is no way in without a token, over
// WebSocket or by POST.
func TestShutDial(t *testing.T) {
	s := start(t, nil)
	for _, path := range []string{"/", "/ws/cli/name"} {
		if ws, err := connect(t.Context(), s, path, nil); err == nil {
			t.Errorf("%s is open", path)
			_ = ws.CloseNow()
		}
	}
	for _, open := range []bool{false, true} {
		s := s
		if open {
			s = start(t, func(o *Options) { o.OpenDial = true })
		}
		// A POST alone begins nothing: it belongs to a CLI that has connected.
		for _, header := range []http.Header{nil, {"Origin": {"https://evil.example"}}, {"Sec-Fetch-Site": {"cross-site"}}} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/events", strings.NewReader(`{"events":[{"type":"x"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(r.Header, header)
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != http.StatusForbidden {
				t.Errorf("open %v: a POST with %v is answered %d", open, header, response.StatusCode)
			}
		}
		if n := len(sessionsOf(t, s)); n != 0 {
			t.Errorf("%d sessions were begun", n)
		}
	}
}

//go:build unix

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/terminal/termtest"
)

// A loginHub is a stand-in of a hub with TLS that takes one code and one token. It notes what it was asked.
type loginHub struct {
	mu    sync.Mutex
	asked []string
}

// ServeHTTP answers as a hub does.
func (h *loginHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.asked = append(h.asked, r.Method+" "+r.URL.Path)
	h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/v1/login":
		_, _ = w.Write([]byte(`{"id":"id","name":"n","scopes":["admin"],"text":"sb_id_secret"}`))
	case r.Header.Get("Authorization") != "Bearer sb_id_secret":
		w.WriteHeader(http.StatusUnauthorized)
	default:
		_, _ = w.Write([]byte(`{"version":"v9","api":"v1"}`))
	}
}

// requests returns what was asked so far.
func (h *loginHub) requests() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.asked, ", ")
}

// TestLoginAtTerminal logs in as a person does: the fingerprint is shown and asked about before anything is sent, and what is typed is not shown.
func TestLoginAtTerminal(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		answer, secret string
		code           int
		asked          string
	}{
		"a code":                   {"y", "sbc_code", codeDone, "POST /v1/login, GET /v1/info"},
		"a token":                  {"yes", "sb_id_secret", codeDone, "GET /v1/info"},
		"interrupted":              {"y", "\x03", codeInterrupted, ""},
		"not the same fingerprint": {"n", "", codeFailed, ""},
		"no answer":                {"", "", codeFailed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hub := &loginHub{}
			server := httptest.NewTLSServer(hub)
			t.Cleanup(server.Close)
			home := t.TempDir()
			env := environment(t, "HOME="+home, "TERM=xterm-256color", "LANG=C.UTF-8")
			term := termtest.Start(t, termtest.Options{Args: []string{program, "login", server.URL, "--name", "work"}, Env: env, Cols: 120, Rows: 30})
			term.WaitFor("Are they the same?")
			if !term.Screen().Contains(client.Fingerprint(server.Certificate())) {
				t.Errorf("the fingerprint is not shown:\n%s", term.Screen().Text())
			}
			if asked := hub.requests(); asked != "" {
				t.Errorf("%s was asked before the certificate was accepted", asked)
			}
			term.Type(test.answer + "\r")
			if test.secret != "" {
				term.WaitFor("One-time code or token:")
				term.Type(test.secret + "\r")
			}
			if code := term.Exit(); code != test.code {
				t.Errorf("code %d, want %d:\n%s", code, test.code, term.Screen().Text())
			}
			if asked := hub.requests(); asked != test.asked {
				t.Errorf("it asked %q, want %q", asked, test.asked)
			}
			if test.secret != "" && term.Screen().Contains(test.secret) {
				t.Errorf("what was typed is shown:\n%s", term.Screen().Text())
			}
			hubs, err := config.LoadHubs(filepath.Join(home, ".config", "switchboard", "hubs.json"))
			if err != nil {
				t.Fatal(err)
			}
			if test.code != codeDone {
				if len(hubs.Hubs) > 0 {
					t.Errorf("a hub was kept: %+v", hubs)
				}
				return
			}
			want := config.Hub{URL: server.URL, Token: "sb_id_secret", Pin: client.Fingerprint(server.Certificate()), Device: strings.HasPrefix(test.secret, "sbc_")}
			got := hubs.Hubs["work"]
			got.Added = want.Added
			if got != want || hubs.Current != "work" {
				t.Errorf("kept %+v, current %q, want %+v", got, hubs.Current, want)
			}
		})
	}
}

//go:build unix

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/notify"
	"github.com/switchboard-dev/switchboard/internal/policy"
)

func TestOwn(t *testing.T) {
	data := t.TempDir()
	for _, name := range []string{"journal.db.before-v2", "sim", "run"} {
		if err := os.WriteFile(filepath.Join(data, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(data, name) }
	tests := []struct {
		name    string
		options Options
		has     []string
		hasNot  []string
	}{
		{
			"real agent",
			Options{DataDir: data, Socket: "/run/user/1/switchboard/hub.sock", Rules: Rules{File: "/c/rules.toml", Own: []string{"/c"}}},
			[]string{data, "/run/user/1/switchboard", "/c"},
			[]string{"/run/user/1", "/c/rules.toml"},
		},
		{
			"simulated agent",
			Options{DataDir: data, Socket: in("run/hub.sock"), Agent: launch.Simulator},
			[]string{in("admin.token"), in("journal.db"), in("journal.db-wal"), in("rules.confirmed"), in("phone.pem"), in("journal.db.before-v2"), in("run"), in("blobs")},
			[]string{data, in("sim"), ""},
		},
		{"somebody else's folder", Options{DataDir: data, Socket: "/run/user/1/hub.sock"}, []string{"/run/user/1/hub.sock"}, []string{"/run/user/1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			own, err := (&Server{options: test.options}).own()
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range test.has {
				if !slices.Contains(own, name) {
					t.Errorf("%s is not denied: %q", name, own)
				}
			}
			if !slices.Equal(own, slices.Compact(slices.Sorted(slices.Values(own)))) {
				t.Errorf("something is denied twice: %q", own)
			}
			for _, name := range test.hasNot {
				if slices.Contains(own, name) {
					t.Errorf("%q is denied: %q", name, own)
				}
			}
		})
	}
}

// TestOwnLinks has a file of ours that is kept elsewhere, and linked to, be denied there too.
func TestOwnLinks(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"data", "config", "dotfiles"} {
		if err := os.Mkdir(in(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"rules.toml", "config.toml"} {
		if err := os.WriteFile(in("dotfiles/"+name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(in("dotfiles/"+name), in("config/"+name)); err != nil {
			t.Fatal(err)
		}
	}
	own, err := (&Server{options: Options{
		DataDir: in("data"), Socket: in("data/run/hub.sock"), Rules: Rules{File: in("config/rules.toml"), Own: []string{in("config"), in("config/config.toml")}},
	}}).own()
	if err != nil {
		t.Fatal(err)
	}
	engine, err := policy.New(nil, policy.Options{Own: own})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]policy.Decision{
		"dotfiles/rules.toml": policy.Deny, "dotfiles/config.toml": policy.Deny, "config/x": policy.Deny, "dotfiles/x": "",
	} {
		input, err := json.Marshal(map[string]string{"file_path": in(path)})
		if err != nil {
			t.Fatal(err)
		}
		if got := engine.Decide(policy.Call{Tool: "Edit", Input: input, Dir: dir, Now: time.Now()}).Decision; got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestDataFiles starts a server and looks for something in its folder that no rule would protect.
func TestDataFiles(t *testing.T) {
	o := options(t, shortDir(t))
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(o.DataDir)
	if err != nil {
		t.Error(err)
	}
	if _, err := s.Close(t.Context(), true); err != nil {
		t.Error(err)
	}
	for _, entry := range entries {
		if !slices.Contains(dataFiles[:], entry.Name()) {
			t.Errorf("%s is not in the list of what is in the data folder", entry.Name())
		}
	}
}

// TestRulesServed has a server read rules, which the hub then answers with.
func TestRulesServed(t *testing.T) {
	dir := shortDir(t)
	o := options(t, dir)
	o.Rules = Rules{File: filepath.Join(dir, "rules.toml"), Home: dir}
	if err := os.WriteFile(o.Rules.File, []byte("allow = [\"WebSearch\"]\ndeny = [\"Read(~/secret)\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := s.Close(t.Context(), true); err != nil {
			t.Error(err)
		}
	}()
	status := s.Policy()
	if status.Pending == nil || len(status.Pending.Widens) != 1 || status.Problem != "" {
		t.Errorf("%+v", status)
	}
	decide := func(tool string, input map[string]string) policy.Decision {
		raw, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		return s.rules.Engine().Decide(policy.Call{Tool: tool, Input: raw, Dir: "/work", Now: time.Now()}).Decision
	}
	for path, want := range map[string]policy.Decision{
		filepath.Join(dir, "secret"): policy.Deny, o.Rules.File: policy.Deny, filepath.Join(o.DataDir, "admin.token"): policy.Deny, "/work/x": "",
	} {
		if got := decide("Read", map[string]string{"file_path": path}); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	code, body := get(t, s, "/v1/policy")
	if code != http.StatusOK || !strings.Contains(body, status.Pending.Sum) {
		t.Errorf("GET /v1/policy: %d %s", code, body)
	}
}

// TestNotify has what the hub tells reach a target, and the end of the server not wait for one that hangs.
func TestNotify(t *testing.T) {
	told := make(chan string, 1)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			body = []byte(err.Error())
		}
		told <- r.UserAgent() + " " + string(body)
	}))
	defer hook.Close()
	secret := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(secret, []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s := &Server{log: slog.New(slog.NewTextHandler(&log, nil)), options: Options{
		Version: "1.2.3", Link: "https://hub.example", Notify: []notify.Target{{Kind: notify.Webhook, URL: hook.URL, SecretFile: secret, Detail: true}},
	}}
	tell, err := s.openNotify()
	if err != nil {
		t.Fatal(err)
	}
	tell(hub.Notification{
		Kind: "needs_input", Session: "s1", Title: "the title", Dir: "/the/dir", Question: "q1", QuestionKind: "permission", Text: "the text", Time: time.Unix(1e9, 0),
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case got := <-told:
		for _, part := range []string{"switchboard/1.2.3 ", "needs_input", "s1", "the title", "/the/dir", "q1", "permission", "the text", "https://hub.example", "2001-09-09"} {
			if !strings.Contains(got, part) {
				t.Errorf("the target is not told %q: %s", part, got)
			}
		}
	case <-ctx.Done():
		t.Error("the target is told nothing")
	}
	s.putAway()

	if tell, err := (&Server{}).openNotify(); tell != nil || err != nil {
		t.Errorf("with nobody to tell: %v", err)
	}
	o := options(t, shortDir(t))
	o.Notify = []notify.Target{{Kind: notify.Webhook, URL: hook.URL, SecretFile: filepath.Join(t.TempDir(), "nowhere")}}
	if started, err := Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "notification target 1") {
		t.Errorf("with a target that cannot be: %v", err)
		if err == nil {
			_, _ = started.Close(t.Context(), true) // the test has failed already
		}
	}
}

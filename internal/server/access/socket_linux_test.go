package access

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
)

// serveSocket serves a guarded mux on a Unix socket.
func serveSocket(t *testing.T) (path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "access") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, "run", "hub.sock")
	l, err := ListenUnix(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	g := New(nil)
	server := &http.Server{Handler: g.Checked(mux(g)), ConnContext: g.ConnContext, ReadHeaderTimeout: time.Minute}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return path
}

func TestSocket(t *testing.T) {
	path := serveSocket(t)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info.Mode(), err)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}
	defer transport.CloseIdleConnections()
	c := &http.Client{Transport: transport}
	want := "person|" + userName() + "|observe,prompt,approve,admin"
	if status, body := get(t, c, "GET", "http://any.host/who", nil); status != 200 || body != want {
		t.Errorf("%d %s, want %s", status, body, want)
	}
	if status, body := get(t, c, "GET", "http://any.host/socket", nil); status != 200 || body != "socket" {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := get(t, c, "GET", "http://any.host/open", func(r *http.Request) { r.Header.Set("Origin", "http://any.host") }); status != 403 {
		t.Errorf("a web page: %d", status)
	}
}

// A process that a run has started has fewer rights, however it changed its
// environment.
func TestSocketKnowsRuns(t *testing.T) {
	path := serveSocket(t)
	for _, test := range []struct {
		name, generations, marker string
		want                      string
	}{
		{"of no run", "1", "", "person|" + userName() + "|observe,prompt,approve,admin"},
		{"grandchild of no run", "2", "", "person|" + userName() + "|observe,prompt,approve,admin"},
		{"of a run", "1", runMarker + "=s1.1.x", "program|" + userName() + " (from an agent)|observe,prompt"},
		{"with a clean environment", "2", runMarker + "=s1.1.x", "program|" + userName() + " (from an agent)|observe,prompt"},
		{"with a similar variable", "1", "X_" + runMarker + "=1", "person|" + userName() + "|observe,prompt,approve,admin"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = []string{childEnv + "=" + test.generations, socketEnv + "=" + path, "GORACE=atexit_sleep_ms=0"}
			if test.marker != "" {
				cmd.Env = append(cmd.Env, test.marker)
			}
			out, err := cmd.CombinedOutput()
			if err != nil || string(out) != test.want {
				t.Errorf("%s, %v; want %s", out, err, test.want)
			}
		})
	}
	if runMarker != claude.MarkerEnv {
		t.Errorf("the marker is %s", claude.MarkerEnv)
	}
}

func TestDescends(t *testing.T) {
	stat := func(name, parent string) string { return "1 (" + name + ") S " + parent + " 1 1 0" }
	type process struct{ stat, env string }
	for _, test := range []struct {
		name  string
		table map[string]process
		want  bool
	}{
		{"no run", map[string]process{"7": {stat("sh", "1"), "A=1\x00B=2\x00"}}, false},
		{"itself", map[string]process{"7": {stat("sh", "1"), "A=1\x00SWITCHBOARD_RUN=x\x00"}}, true},
		{"empty marker", map[string]process{"7": {stat("sh", "1"), "SWITCHBOARD_RUN="}}, true},
		{"its parent", map[string]process{"7": {stat("a) S 9 (", "5"), ""}, "5": {stat("sh", "1"), "SWITCHBOARD_RUN=x"}}, true},
		{"first of a namespace", map[string]process{"7": {stat("sh", "0"), ""}}, false},
		{"gone", map[string]process{}, true},
		{"parent gone", map[string]process{"7": {stat("sh", "5"), ""}}, true},
		{"circle", map[string]process{"7": {stat("sh", "5"), ""}, "5": {stat("sh", "7"), ""}}, true},
		{"strange", map[string]process{"7": {"?", ""}}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			proc := t.TempDir()
			for pid, p := range test.table {
				dir := filepath.Join(proc, pid)
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				for name, text := range map[string]string{"stat": p.stat, "environ": p.env} {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			if got := descends(7, proc); got != test.want {
				t.Errorf("descends = %v", got)
			}
		})
	}
	if !descends(0, "/proc") {
		t.Error("a process that is not known has all rights")
	}
	if descends(1, "/proc") {
		t.Error("the first process descends from a run")
	}
}

//go:build linux || darwin

package shim

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"
)

// foreign returns a folder of another user's with a socket in it, if the test
// may make one; any other user's folder otherwise.
func foreign(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		return "/hub.sock"
	}
	dir := shortDir(t)
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "hub.sock")
}

// TestUnprovenSocket has sockets that must not be shown a token.
func TestUnprovenSocket(t *testing.T) {
	listen := func(t *testing.T, path string) {
		t.Helper()
		listener, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		go func() { // ends with the listener
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				t.Error("somebody was connected to")
				_ = c.Close()
			}
		}()
	}
	tests := []struct {
		name string
		make func(t *testing.T) string
		want string
	}{
		{"a folder that others can enter", func(t *testing.T) string {
			dir := shortDir(t)
			listen(t, filepath.Join(dir, "hub.sock"))
			if err := os.Chmod(dir, 0o711); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(dir, "hub.sock")
		}, "set it to 0700"},
		{"a folder of another user's", func(t *testing.T) string {
			path := foreign(t)
			if os.Getuid() == 0 {
				listen(t, path)
			}
			return path
		}, "belongs to user"},
		{"a file", func(t *testing.T) string {
			path := filepath.Join(shortDir(t), "hub.sock")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}, "is not a socket"},
		{"a link to a socket", func(t *testing.T) string {
			dir := shortDir(t)
			listen(t, filepath.Join(dir, "other"))
			if err := os.Symlink("other", filepath.Join(dir, "hub.sock")); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(dir, "hub.sock")
		}, "is not a socket"},
		{"nothing", func(t *testing.T) string { return filepath.Join(shortDir(t), "hub.sock") }, "no such file"},
		{"a path that is too long", func(*testing.T) string { return "/" + strings.Repeat("x", 100) }, "longer than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := dialSocket(tt.make(t), "token")(soon(t))
			if err == nil {
				c.Close(nil)
				t.Fatal("it was connected to")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, expected %q in it", err, tt.want)
			}
		})
	}
}

func TestCheckPeer(t *testing.T) {
	hub := newHub(t)
	c, err := net.Dial("unix", hub.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := checkPeer(c); err != nil {
		t.Errorf("our own process: %v", err)
	}
	a, b := net.Pipe()
	defer func() { _, _ = a.Close(), b.Close() }()
	if err := checkPeer(a); err == nil {
		t.Error("a connection without a user is accepted")
	}
}

// TestWrongHub has something else listen on the socket.
func TestWrongHub(t *testing.T) {
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"another server", http.NotFound, "404"},
		{"a server that sends us elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere/", http.StatusFound)
		}, "302"},
		{"a WebSocket of another kind", func(w http.ResponseWriter, r *http.Request) {
			if ws, err := websocket.Accept(w, r, nil); err == nil {
				_, _, _ = ws.Read(context.Background())
			}
		}, "does not speak the link protocol"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(shortDir(t), "hub.sock")
			listener, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			server := &http.Server{Handler: tt.handler}
			go func() { _ = server.Serve(listener) }() // ends with Close
			defer func() { _ = server.Close() }()
			c, err := dialSocket(path, "token")(soon(t))
			if err == nil {
				c.Close(nil)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, expected %q in it", err, tt.want)
			}
		})
	}
}

// ownSession has a program started as the CLI starts its tools.
func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

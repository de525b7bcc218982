//go:build unix

package doctor

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// short makes a folder with a path that is short enough for sockets in it.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "sb") //nolint:usetesting // the test's own is too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestHere tries the functions of the machine that the test runs on.
func TestHere(t *testing.T) {
	dir := short(t)
	m := Here(&Machine{DataDir: dir, Socket: filepath.Join(dir, "hub.sock")})

	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if file, err := m.Stat(filepath.Join(dir, "file")); err != nil || file.Mode != 0o640 || file.UID != os.Getuid() {
		t.Errorf("a file: %+v, %v", file, err)
	}
	if _, err := m.Stat(filepath.Join(dir, "nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if names, err := m.List(dir); err != nil || len(names) != 1 || names[0] != "file" {
		t.Errorf("the folder: %q, %v", names, err)
	}
	if v, err := m.Volume(dir); err != nil || v.Free == 0 {
		t.Errorf("the disk: %+v, %v", v, err)
	}
	if runs, err := m.Runs(); err != nil || len(runs) > 0 {
		t.Errorf("runs: %v, %v", runs, err)
	}
	if _, err := m.Hub(t.Context()); !errors.Is(err, ErrNoHub) {
		t.Errorf("without a socket: %v", err)
	}
	if out, err := m.Command(t.Context(), "sh", "-c", "echo hello"); err != nil || out != "hello\n" {
		t.Errorf("a command: %q, %v", out, err)
	}
	if _, err := m.Command(t.Context(), "there-is-no-such-program"); err == nil {
		t.Error("a program that is not there runs")
	}
}

// TestHereHub has a socket that nobody listens on any more, then somebody who is no hub, and then one who answers as a hub does.
func TestHereHub(t *testing.T) {
	dir := short(t)
	socket := filepath.Join(dir, "hub.sock")
	m := Here(&Machine{DataDir: dir, Socket: socket})
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Hub(t.Context()); !errors.Is(err, ErrNoHub) {
		t.Errorf("nobody listens: %v", err)
	}
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	answer := "this is no hub"
	listener, err = net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer)) // the test finds out
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // until it is closed
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	if _, err := m.Hub(t.Context()); err == nil || errors.Is(err, ErrNoHub) {
		t.Errorf("somebody who is no hub: %v", err)
	}
	answer = `{"version":"v9","api":"v1","capabilities":[]}`
	if info, err := m.Hub(t.Context()); err != nil || info.Version != "v9" {
		t.Errorf("a hub: %+v, %v", info, err)
	}
}

// TestHereHolder looks who has a data folder.
func TestHereHolder(t *testing.T) {
	dir := t.TempDir()
	if got := holder(dir); got != 0 {
		t.Errorf("without a lock: %d", got)
	}
	file, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.WriteString("4711\n"); err != nil {
		t.Fatal(err)
	}
	if got := holder(dir); got != 0 {
		t.Errorf("a lock that nobody has: %d", got)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if got := holder(dir); got != 4711 {
		t.Errorf("a lock: %d", got)
	}
}

// TestHerePort tells a hub from another program and from nobody.
func TestHerePort(t *testing.T) {
	hub := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hub && r.URL.Path == "/healthz" {
			w.Header().Set("Switchboard", "v1")
		}
	}))
	number := func(address string) int {
		_, text, err := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	at := number(server.URL)
	if got := port(t.Context(), at); got != PortHub {
		t.Errorf("a hub: %v", got)
	}
	hub = false
	if got := port(t.Context(), at); got != PortOther {
		t.Errorf("another program: %v", got)
	}
	server.Close()
	if got := port(t.Context(), at); got != PortFree {
		t.Errorf("nobody: %v", got)
	}
	// One that takes connections and says nothing must not keep anybody waiting.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if got := port(ctx, number(listener.Addr().String())); got != PortOther {
		t.Errorf("a silent program: %v", got)
	}
}

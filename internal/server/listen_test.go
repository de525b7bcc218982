package server

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/shim"
)

// The test binary is also what nodes start: the shim and the simulated CLI.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "shim":
			os.Exit(shim.Main(context.Background(), os.NewFile(3, "orders")))
		case "sim":
			os.Exit(claudetest.RunSim(context.Background(), &claudetest.SimOptions{Args: os.Args[2:], Env: os.Environ(), Stderr: os.Stderr}, os.Stdin, os.Stdout))
		}
	}
	goleak.VerifyTestMain(m)
}

// taken listens on a port for as long as the test lasts.
func taken(t *testing.T, addr string) (l net.Listener, port int) {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, l.Addr().(*net.TCPAddr).Port
}

func TestListenTCP(t *testing.T) {
	l, port := taken(t, "127.0.0.1:0")
	if _, err := listenTCP(t.Context(), l.Addr().String(), false); err == nil || !strings.Contains(err.Error(), "choose another with --addr") {
		t.Errorf("a port that is taken: %v", err)
	}
	if _, err := listenRange(t.Context(), port, port); err == nil || !strings.Contains(err.Error(), "all ports from "+strconv.Itoa(port)) {
		t.Errorf("a range that is taken: %v", err)
	}
	// The port behind may be somebody else's; some port up there is free.
	next, err := listenRange(t.Context(), port, min(port+200, 65535))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = next.Close() }()
	if got := next.Addr().(*net.TCPAddr); got.Port <= port || !got.IP.IsLoopback() {
		t.Errorf("listens on %s, want a port behind %d", got, port)
	}
	if _, err := listenTCP(t.Context(), "0.0.0.0:0", false); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("everybody's address: %v", err)
	}
}

// shortDir returns a folder whose path is short enough for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sb-") //nolint:usetesting // a test's own folder has its name in its path, which is too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestSocketFile(t *testing.T) {
	path := filepath.Join(shortDir(t), "hub.sock")
	listen := func() (net.Listener, *socketFile) {
		t.Helper()
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := ownSocket(l, path)
		if err != nil {
			t.Fatal(err)
		}
		return l, file
	}
	exists := func() bool { _, err := os.Lstat(path); return err == nil }

	l, file := listen()
	if err := l.Close(); err != nil || !exists() {
		t.Fatalf("the listener removed the file: %v", err)
	}
	if err := file.remove(); err != nil || exists() {
		t.Errorf("the file was not removed: %v", err)
	}
	if err := file.remove(); err != nil {
		t.Errorf("a second time: %v", err)
	}

	// Somebody puts another socket in its place.
	l, file = listen()
	_ = l.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	// A file system may give a new file the number of the one that was just removed; this one keeps it taken.
	if err := os.WriteFile(path+".other", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	other, _ := listen()
	defer func() { _ = other.Close() }()
	if err := file.remove(); err != nil || !exists() {
		t.Errorf("somebody else's socket was removed: %v", err)
	}
	if err := (*socketFile)(nil).remove(); err != nil {
		t.Errorf("no file: %v", err)
	}
}

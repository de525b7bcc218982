//go:build unix

package server

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestActivated(t *testing.T) {
	env := func(pid, count string) func(string) string {
		return func(name string) string { return map[string]string{"LISTEN_PID": pid, "LISTEN_FDS": count}[name] }
	}
	own := strconv.Itoa(os.Getpid())
	for name, getenv := range map[string]func(string) string{"nobody": env("", ""), "another process": env("1", "2")} {
		if list, err := Activated(getenv); list != nil || err != nil {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
	for _, count := range []string{"", "0", "-1", "many", "1000"} {
		if _, err := Activated(env(own, count)); err == nil || !strings.Contains(err.Error(), "LISTEN_FDS") {
			t.Errorf("%q sockets: %v", count, err)
		}
	}
}

// fileOf returns a listener's descriptor, as a service manager would hand it over.
func fileOf(t *testing.T, l interface{ File() (*os.File, error) }) *os.File {
	t.Helper()
	file, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestInherit(t *testing.T) {
	tcp, _ := taken(t, "127.0.0.1:0")
	path := filepath.Join(shortDir(t), "hub.sock")
	unix, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close() }()
	list, err := inherit([]*os.File{fileOf(t, tcp.(*net.TCPListener)), fileOf(t, unix.(*net.UnixListener))})
	if err != nil || len(list) != 2 || list[0].Addr().String() != tcp.Addr().String() || list[1].Addr().String() != path {
		t.Fatalf("%v, %v", list, err)
	}
	for _, l := range list {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the service manager's socket was removed: %v", err)
	}

	plain, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inherit([]*os.File{plain}); err == nil {
		t.Error("a file is no socket")
	}
}

func TestTellManager(t *testing.T) {
	if err := tellManager(t.Context(), "", "READY=1"); err != nil {
		t.Errorf("without a service manager: %v", err)
	}
	path := filepath.Join(shortDir(t), "notify")
	if err := tellManager(t.Context(), path, "READY=1"); err == nil {
		t.Error("nobody was there to be told")
	}
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = manager.Close() }()
	if err := tellManager(t.Context(), path, "READY=1"); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 100)
	n, err := manager.Read(said)
	if err != nil || string(said[:n]) != "READY=1" {
		t.Errorf("told %q, %v", said[:n], err)
	}
}

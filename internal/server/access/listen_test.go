//go:build linux || darwin

package access

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestListenTCP(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "localhost:0", "127.0.0.2:0"} {
		l, err := ListenTCP(t.Context(), addr, false)
		if err != nil {
			t.Errorf("%s: %v", addr, err)
			continue
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.com:0", "127.0.0.1", "", "[::ffff:0.0.0.0]:0"} {
		l, err := ListenTCP(t.Context(), addr, false)
		if err == nil {
			_ = l.Close()
			t.Errorf("%q is listened on", addr)
		}
	}
	for addr, ok := range map[string]bool{"0.0.0.0:0": true, "127.0.0.1:0": true, "localhost:0": true, "example.com:0": false, ":0": false, "0.0.0.0": false} {
		l, err := ListenTCP(t.Context(), addr, true)
		if (err == nil) != ok {
			t.Errorf("%q beyond loopback: %v", addr, err)
		}
		if err == nil {
			_ = l.Close()
		}
	}
}

func TestCheckListener(t *testing.T) {
	closed, open := filepath.Join(t.TempDir(), "closed"), filepath.Join(t.TempDir(), "open")
	for dir, mode := range map[string]os.FileMode{closed: 0o700, open: 0o755} {
		noError(t, os.Mkdir(dir, mode))
		noError(t, os.Chmod(dir, mode))
	}
	for name, test := range map[string]struct {
		addr net.Addr
		ok   bool
		far  bool // whether it is well beyond loopback
	}{
		"loopback":  {&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, true, true},
		"loopback6": {&net.TCPAddr{IP: net.IPv6loopback}, true, true},
		"socket":    {&net.UnixAddr{Name: filepath.Join(closed, "x")}, true, true},
		"for all":   {&net.UnixAddr{Name: filepath.Join(open, "x")}, false, false},
		"abstract":  {&net.UnixAddr{Name: "@x"}, false, false},
		"all":       {&net.TCPAddr{IP: net.IPv4zero}, false, true},
		"any":       {&net.TCPAddr{}, false, true},
		"outside":   {&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}, false, true},
		"other":     {&net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}, false, false},
	} {
		if err := CheckListener(listenerAt{addr: test.addr}, false); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err := CheckListener(listenerAt{addr: test.addr}, true); (err == nil) != test.far {
			t.Errorf("%s, beyond loopback: %v", name, err)
		}
	}
}

type listenerAt struct {
	net.Listener
	addr net.Addr
}

func (l listenerAt) Addr() net.Addr { return l.addr }

func TestListenUnix(t *testing.T) {
	short, err := os.MkdirTemp("", "access") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	folder := func(t *testing.T, mode os.FileMode) string {
		t.Helper()
		dir, err := os.MkdirTemp(short, "d") //nolint:usetesting // as above
		if err != nil {
			t.Fatal(err)
		}
		noError(t, os.Chmod(dir, mode))
		return dir
	}
	listen := func(t *testing.T, path, want string) net.Listener {
		t.Helper()
		l, err := ListenUnix(t.Context(), path)
		if want == "" {
			noError(t, err)
			t.Cleanup(func() { _ = l.Close() })
			return l
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ListenUnix: %v, want %q", err, want)
		}
		return nil
	}
	t.Run("new", func(t *testing.T) {
		dir := filepath.Join(folder(t, 0o700), "a", "b")
		listen(t, filepath.Join(dir, "hub.sock"), "")
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the folder: %v, %v", info, err)
		}
	})
	t.Run("stale", func(t *testing.T) {
		path := filepath.Join(folder(t, 0o700), "hub.sock")
		l := listen(t, path, "").(*net.UnixListener)
		l.SetUnlinkOnClose(false) // as if it had been killed
		noError(t, l.Close())
		listen(t, path, "")
	})
	t.Run("alive", func(t *testing.T) {
		path := filepath.Join(folder(t, 0o700), "hub.sock")
		listen(t, path, "")
		listen(t, path, "a hub already listens")
	})
	t.Run("no socket", func(t *testing.T) {
		path := filepath.Join(folder(t, 0o700), "hub.sock")
		noError(t, os.WriteFile(path, nil, 0o600))
		listen(t, path, "isn't a socket")
	})
	t.Run("open folder", func(t *testing.T) {
		listen(t, filepath.Join(folder(t, 0o710), "hub.sock"), "other users can enter")
	})
	t.Run("linked folder", func(t *testing.T) {
		dir := folder(t, 0o700)
		noError(t, os.Symlink(dir, dir+"-link"))
		listen(t, filepath.Join(dir+"-link", "hub.sock"), "is a link, not a folder")
	})
	t.Run("folder below an open one", func(t *testing.T) {
		dir := folder(t, 0o777)
		listen(t, filepath.Join(dir, "run", "hub.sock"), "chmod go-w "+dir)
	})
	t.Run("long path", func(t *testing.T) {
		listen(t, filepath.Join(folder(t, 0o700), strings.Repeat("x", 100)), "too long")
	})
}

package access

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestTCPKnowsRuns: a process that a run has started has fewer rights over TCP, too,
// whatever token it has found and however it changed its environment.
func TestTCPKnowsRuns(t *testing.T) {
	l := newLab(t)
	addr := l.server.Listener.Addr().String()
	const marker = runMarker + "=s1.1.x"
	for _, test := range []struct {
		name, generations, marker, post string
		want                            string // what the answer begins with
	}{
		{"of no run", "1", "", "", "person|admin|observe,prompt,approve,admin"},
		{"grandchild of no run", "2", "", "", "person|admin|observe,prompt,approve,admin"},
		{"of a run", "1", marker, "", "program|admin (from an agent)|observe,prompt"},
		{"with a clean environment", "2", marker, "", "program|admin (from an agent)|observe,prompt"},
		{"the owner does what needs admin", "1", "", "1", "202 "},
		{"an agent does what needs admin", "1", marker, "1", `403 {"status":403,"code":"forbidden"`},
		{"an agent in disguise", "2", marker, "1", `403 {"status":403,"code":"forbidden"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = []string{childEnv + "=" + test.generations, addrEnv + "=" + addr, tokenEnv + "=" + l.token, postEnv + "=" + test.post, "GORACE=atexit_sleep_ms=0"}
			if test.marker != "" {
				cmd.Env = append(cmd.Env, test.marker)
			}
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), test.want) {
				t.Errorf("%s, %v; want %s", out, err, test.want)
			}
		})
	}
}

// TestTCPGone: a request whose sender does not wait for the answer has a token's
// full rights no more: its sender cannot be known.
func TestTCPGone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	defer func() { _ = l.Close() }()
	o := newOwners()
	client := dial(t, l)
	server, err := l.Accept()
	noError(t, err)
	defer func() { _ = server.Close() }()
	local, remote := server.LocalAddr().(*net.TCPAddr), server.RemoteAddr().(*net.TCPAddr)
	if o.fromRun(local, remote) {
		t.Error("the test itself is taken for a run")
	}
	noError(t, client.Close())
	if _, err := server.Read(make([]byte, 1)); !errors.Is(err, io.EOF) { // the end has come through
		t.Fatal(err)
	}
	if !o.fromRun(local, remote) {
		t.Error("a connection that its process has closed has all rights")
	}
	if o.fromRun(local, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1}) {
		t.Error("another machine is taken for a run")
	}
}

// TestOwnersHidden: a process that does not show its files may have the connection;
// if it descends from a run it counts as if it had.
func TestOwnersHidden(t *testing.T) {
	type process struct {
		parent, env string
		files       []string // nil: they cannot be seen
		uid         int
	}
	own := os.Geteuid()
	for name, test := range map[string]struct {
		processes map[string]process
		want      bool
	}{
		"found":                     {map[string]process{"7": {"1", "", []string{"socket:[1]", "socket:[9]"}, own}}, false},
		"found in a run":            {map[string]process{"7": {"1", runMarker + "=x", []string{"socket:[9]"}, own}}, true},
		"found in a child of a run": {map[string]process{"7": {"5", "", []string{"socket:[9]"}, own}, "5": {"1", runMarker + "=x", []string{}, own}}, true},
		"hidden":                    {map[string]process{"7": {"1", "", nil, own}}, false},
		"hidden in a run":           {map[string]process{"7": {"1", runMarker + "=x", nil, own}}, true},
		"hidden, of another user":   {map[string]process{"7": {"1", runMarker + "=x", nil, own + 1}}, false},
		"nowhere":                   {map[string]process{"7": {"1", runMarker + "=x", []string{"socket:[1]"}, own}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			proc := t.TempDir()
			for pid, p := range test.processes {
				dir := filepath.Join(proc, pid)
				noError(t, os.MkdirAll(filepath.Join(dir, "fd"), 0o700))
				for i, file := range p.files {
					noError(t, os.Symlink(file, filepath.Join(dir, "fd", strconv.Itoa(i))))
				}
				for file, text := range map[string]string{
					"stat": pid + " (x) S " + p.parent + " 1", "environ": p.env, "status": "Name:\tx\nUid:\t1\t" + strconv.Itoa(p.uid) + "\t1\t1\n",
				} {
					noError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
				}
			}
			o := &owners{proc: proc, readFiles: func(dir string) ([]string, error) {
				pid := filepath.Base(filepath.Dir(dir))
				if test.processes[pid].files == nil {
					return nil, os.ErrPermission
				}
				return readNames(dir)
			}}
			if got := o.heldByRun("9"); got != test.want {
				t.Errorf("held by a run: %v", got)
			}
		})
	}
}

// BenchmarkOwners looks up a connection of this very process, which was seen before,
// and one of a process that was not.
func BenchmarkOwners(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	server, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	local, remote := server.LocalAddr().(*net.TCPAddr), server.RemoteAddr().(*net.TCPAddr)
	o := newOwners()
	for _, known := range []bool{true, false} {
		b.Run("seen before "+strconv.FormatBool(known), func(b *testing.B) {
			for b.Loop() {
				if !known {
					o.recent = nil
				}
				if o.fromRun(local, remote) {
					b.Fatal("taken for a run")
				}
			}
		})
	}
}

func TestPeerUID(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Logf("%s: %v", addr, err) // a machine without IPv6
			continue
		}
		client := dial(t, l)
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		local, remote := server.LocalAddr().(*net.TCPAddr), server.RemoteAddr().(*net.TCPAddr)
		if uid, told := peerUID(local, remote); uid != os.Geteuid() || !told {
			t.Errorf("%s: %d, %v", addr, uid, told)
		}
		if uid, told := peerUID(local, &net.TCPAddr{IP: remote.IP, Port: 1}); uid != noUser || !told {
			t.Errorf("%s, somebody else: %d, %v", addr, uid, told)
		}
		_, _, _ = client.Close(), server.Close(), l.Close()
	}
}

func TestFindUID(t *testing.T) {
	address := func(text string) netip.AddrPort { return netip.MustParseAddrPort(text) }
	// As a machine with the least byte first writes it.
	if raw := tableAddress([]byte("0100007F:22C3")); raw != address("127.0.0.1:8899") && raw != address("1.0.0.127:8899") {
		t.Errorf("the address is %v", raw)
	}
	here, there := "0100007F:22C3", "0100007F:1F90"
	if tableAddress([]byte(here)) != address("127.0.0.1:8899") {
		here, there = "7F000001:22C3", "7F000001:1F90"
	}
	row := func(local, remote, state string, uid int) string {
		return fmt.Sprintf("   0: %s %s %s 00000000:00000000 00:00000000 00000000 %5d        0 1234 1 0 20 4 30 10 -1\n", local, remote, state, uid)
	}
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	const mapped = "0000000000000000FFFF0000"
	for name, test := range map[string]struct {
		text string
		want int
	}{
		"there":        {head + row(there, here, "01", 7), 7},
		"mapped":       {head + row(mapped+there, mapped+here, "01", 8), 8},
		"other way":    {head + row(here, there, "01", 7), noUser},
		"closing":      {head + row(there, here, "06", 7), noUser},
		"another port": {head + row("0100007F:1F91", here, "01", 7), noUser},
		"second row":   {head + row(here, there, "01", 6) + row(there, here, "01", 7), 7},
		"empty":        {"", noUser},
		"strange":      {head + "a b c d e f g h\n" + "0: x:y z:1 01 a b c 7\n0: 01:22C3 0Q:1 01 a b c 7\n0: 0100:22C3 0100007F:1 01 a b c 7\n", noUser},
	} {
		t.Run(name, func(t *testing.T) {
			if here[0] == '7' && name == "mapped" {
				return // the words of the prefix would be the other way round, too
			}
			file := filepath.Join(t.TempDir(), "tcp")
			noError(t, os.WriteFile(file, []byte(test.text), 0o600))
			if got := findUID([]string{filepath.Join(t.TempDir(), "none"), file}, address("127.0.0.1:8080"), address("127.0.0.1:8899")); got != test.want {
				t.Errorf("uid %d, want %d", got, test.want)
			}
		})
	}
}

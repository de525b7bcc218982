package access

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
)

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

//go:build linux || darwin

package e2e

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// roleRelay is what Claude Code's own sandbox uses socat for: it leads the
// connections of one address to another.
const roleRelay = "relay"

// relay puts a program of the name socat into the folder of bubblewrap.
func (l *lab) relay() {
	l.t.Helper()
	self, err := os.Executable()
	if err != nil {
		l.t.Fatal(err)
	}
	script := "#!/bin/sh\n" + roleEnv + "=" + roleRelay + " GORACE=atexit_sleep_ms=0 exec '" + l.lend(self) + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(l.root, "bwrap", "socat"), []byte(script), 0o755); err != nil {
		l.t.Fatal(err)
	}
	if err := l.hand(filepath.Join(l.root, "bwrap")); err != nil {
		l.t.Fatal(err)
	}
}

// runRelay is that program. It ends when it is killed.
func runRelay() error {
	if len(os.Args) != 3 {
		return fmt.Errorf("there are %d arguments; want 2", len(os.Args)-1)
	}
	network, address, err := relayAddress(os.Args[1])
	if err != nil {
		return err
	}
	toNetwork, to, err := relayAddress(os.Args[2])
	if err != nil {
		return err
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	for {
		from, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() { // ends with the connection
			defer func() { _ = from.Close() }() // nothing more is to be said on it
			onward, err := net.Dial(toNetwork, to)
			if err != nil {
				return
			}
			defer func() { _ = onward.Close() }() // likewise
			var both sync.WaitGroup
			both.Go(func() { pour(onward, from) })
			both.Go(func() { pour(from, onward) })
			both.Wait()
		}()
	}
}

// pour copies until the end of a connection, and tells it the other.
func pour(to, from net.Conn) {
	_, _ = io.Copy(to, from) // a broken connection is one that has ended
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // it may be gone
	}
}

// relayAddress reads an address as socat writes it, without its options.
func relayAddress(text string) (network, address string, err error) {
	text, _, _ = strings.Cut(text, ",")
	kind, address, _ := strings.Cut(text, ":")
	switch kind {
	case "UNIX-LISTEN", "UNIX-CONNECT":
		return "unix", address, nil
	case "TCP":
		return "tcp", address, nil
	case "TCP4-LISTEN":
		return "tcp4", ":" + address, nil
	case "TCP6-LISTEN":
		return "tcp", ":" + address, nil
	default:
		return "", "", errors.New("no address: " + text)
	}
}

//go:build linux

package e2e

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"testing"
)

// TestFreeAddress holds that no outgoing connection of another process is given
// the port of a hub, and that no two labs share one.
func TestFreeAddress(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		t.Fatal(err)
	}
	var low, high int
	if _, err := fmt.Sscan(string(text), &low, &high); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 100 {
		address := freeAddress(t)
		_, text, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		port, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		if port >= low && port <= high {
			t.Fatalf("%s is one of the ports %d to %d, which any connection may be given", address, low, high)
		}
		if seen[address] {
			t.Fatalf("%s was given out twice", address)
		}
		seen[address] = true
	}
}

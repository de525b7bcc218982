package sandbox

import (
	"fmt"
	"os"
)

// listeningSockets returns the paths of the sockets that processes of this machine
// listen on, as far as they are in the same network namespace.
func listeningSockets() ([]string, error) {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil, fmt.Errorf("finding the sockets of this machine: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	list, err := parseUnixSockets(f)
	if err != nil {
		return nil, fmt.Errorf("finding the sockets of this machine: %w", err)
	}
	return list, nil
}

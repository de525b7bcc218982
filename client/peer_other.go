//go:build unix && !linux

package client

import "net"

// checkPeer cannot tell more on this system, with the standard library alone,
// than the owners of socket and folder, which were looked at.
func checkPeer(*net.UnixConn) error { return nil }

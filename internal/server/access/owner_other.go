//go:build !linux

package access

import "net"

// owners cannot find out on this system which process is at the other end of a
// connection: a token has the same rights wherever it is shown.
type owners struct{}

func newOwners() *owners { return &owners{} }

func (*owners) fromRun(_, _ *net.TCPAddr) bool { return false }

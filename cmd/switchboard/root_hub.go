package main

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/switchboard-dev/switchboard/internal/hubstart"
)

// A noServerError says that no server is running, and how to have one.
type noServerError struct {
	socket string
	dead   bool // the socket is there, but nobody listens
}

// Error says where a server was looked for.
func (e *noServerError) Error() string {
	where := "there is no socket " + e.socket
	if e.dead {
		where = "nobody listens on " + e.socket
	}
	return fmt.Sprintf("no server is running: %s; start one with: switchboard serve", where)
}

// noServer reports whether an error says that nobody is there to talk to.
func noServer(err error) bool {
	if _, ok := errors.AsType[*noServerError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*hubstart.NoHubError](err); ok {
		return true
	}
	dial, ok := errors.AsType[*net.OpError](err)
	return ok && dial.Op == "dial" && (errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT))
}

package access

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
)

// peerCredentials asks the kernel for the process at the other end of a connection.
func peerCredentials(c *net.UnixConn) (credentials, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return credentials{}, fmt.Errorf("asking who connected: %w", err)
	}
	var cred *syscall.Ucred
	var inner error
	err = raw.Control(func(fd uintptr) {
		cred, inner = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err == nil {
		err = inner
	}
	if err != nil {
		return credentials{}, fmt.Errorf("asking who connected: %w", err)
	}
	return credentials{uid: int(cred.Uid), pid: int(cred.Pid)}, nil
}

// descendsFromRun reports whether a process, or one that it descends from,
// carries the marker of a run. What cannot be looked at counts as if it did.
func descendsFromRun(pid int) bool { return descends(pid, "/proc") }

func descends(pid int, proc string) bool {
	// A process may end, and its children get another parent, while we look.
	const attempts = 3
	for range attempts {
		if marked, err := walk(pid, proc); err == nil {
			return marked
		}
	}
	return true
}

// walk goes from a process to its parent, and on. The error means that one of
// them could not be looked at.
func walk(pid int, proc string) (marked bool, err error) {
	// No chain is longer than this in earnest: one that seems to be is a circle
	// of numbers that were used again.
	const longest = 1024
	for range longest {
		if pid <= 0 {
			return false, errors.New("the process is outside of our namespace")
		}
		if pid == 1 {
			return false, nil // no run has started that
		}
		dir := proc + "/" + strconv.Itoa(pid)
		env, err := os.ReadFile(dir + "/environ")
		switch {
		case err == nil && carriesMarker(env):
			return true, nil
		case err != nil && !os.IsPermission(err):
			return false, err
		}
		// A process that does not let itself be looked at, such as a login's or
		// sudo, is passed over: the CLI and the shim above whatever a run starts
		// can be looked at.
		parent, err := parentOf(dir)
		if err != nil {
			return false, err
		}
		if parent == 0 {
			return false, nil // the first of its namespace
		}
		pid = parent
	}
	return false, errors.New("the chain of parents has no end")
}

func parentOf(dir string) (int, error) {
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return 0, err
	}
	// The name comes second, in parentheses, and may contain anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, fmt.Errorf("%s/stat is not as expected", dir)
	}
	return strconv.Atoi(string(fields[1]))
}

func carriesMarker(env []byte) bool {
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.HasPrefix(entry, []byte(runMarker+"=")) {
			return true
		}
	}
	return false
}

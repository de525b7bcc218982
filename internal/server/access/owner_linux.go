package access

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// maxLinks is how many open files of processes are looked at to find the one that
// is a connection. A machine has fewer; more than that cannot be told.
const maxLinks = 1 << 20

// owners finds out which process is at the other end of a TCP connection on this
// machine. One connection is looked up at a time.
type owners struct {
	// Static after construction.
	proc      string                             // "/proc"
	readFiles func(dir string) ([]string, error) // readNames; tests have files that cannot be seen

	mu     sync.Mutex
	recent []int // guarded by mu; pids of processes that had a connection, the last one first
}

func newOwners() *owners { return &owners{proc: "/proc", readFiles: readNames} }

// fromRun reports whether the process at the other end of a connection descends
// from a run. A connection from another machine, or from a process of another
// user, does not. One of ours that has no process to be found, since that has
// closed it or hides it, counts as if it did.
func (o *owners) fromRun(local, remote *net.TCPAddr) bool {
	if !onThisMachine(remote.IP) {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	tables := []string{o.proc + "/net/tcp", o.proc + "/net/tcp6"}
	socket, found := findSocket(tables, unmap(remote.AddrPort()), unmap(local.AddrPort()))
	if !found || socket.inode == "0" {
		return true // the process that sent the request does not wait for an answer
	}
	return socket.uid == os.Geteuid() && o.heldByRun(socket.inode)
}

// lives returns what reports whether the process at the other end of a connection still
// lives, nil if none is found.
func (o *owners) lives(local, remote *net.TCPAddr) func() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	socket, found := findSocket([]string{o.proc + "/net/tcp", o.proc + "/net/tcp6"}, unmap(remote.AddrPort()), unmap(local.AddrPort()))
	if !found || socket.inode == "0" {
		return nil
	}
	pid, _, _ := o.holder("socket:[" + socket.inode + "]")
	if pid == 0 {
		return nil
	}
	dir := o.proc + "/" + strconv.Itoa(pid)
	born, _, err := stateOf(dir)
	if err != nil {
		return nil
	}
	return func() bool {
		now, over, err := stateOf(dir)
		if err != nil {
			return !os.IsNotExist(err) && !errors.Is(err, syscall.ESRCH) // it cannot be told
		}
		return now == born && !over
	}
}

// stateOf returns when the process of a folder was started, which tells it from another of
// its number, and whether it has ended and its parent has not noticed yet.
func stateOf(dir string) (born string, over bool, err error) {
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return "", false, err
	}
	// pid (name) state ppid … starttime …; the name may have anything in it.
	const state, starttime = 0, 19
	_, rest, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	fields := strings.Fields(string(rest))
	if len(fields) <= starttime {
		return "", false, errors.New(dir + "/stat is not as expected")
	}
	return fields[starttime], fields[state] == "Z" || fields[state] == "X", nil
}

// heldByRun reports whether a socket is, or may be, one of a process of a run. mu is
// held.
func (o *owners) heldByRun(inode string) bool {
	// A process may hand the connection to a child and end while we look.
	const attempts = 2
	for range attempts {
		pid, hidden, all := o.holder("socket:[" + inode + "]")
		switch {
		case pid != 0:
			o.remember(pid)
			return descends(pid, o.proc)
		case !all || slices.ContainsFunc(hidden, func(pid int) bool { return o.uidOf(pid) == os.Geteuid() && descends(pid, o.proc) }):
			return true
		}
	}
	// A process has it that does not show its files, as that of a browser may. It is
	// none of a run: those were all looked at.
	return false
}

// onThisMachine reports whether an address is one of this machine's own.
func onThisMachine(ip net.IP) bool {
	if ip.IsLoopback() {
		return true
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return true // it cannot be told: then its process cannot be found either
	}
	return slices.ContainsFunc(addresses, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}

// holder returns the process that has a file open, 0 if there is none. hidden are
// processes whose files could not be seen; all is false if there were too many
// files to look at them all.
func (o *owners) holder(file string) (pid int, hidden []int, all bool) {
	left := maxLinks
	for _, pid := range o.recent {
		if has, _ := o.has(pid, file, &left); has {
			return pid, nil, true
		}
	}
	entries, err := os.ReadDir(o.proc)
	if err != nil {
		return 0, nil, false
	}
	for _, entry := range slices.Backward(entries) {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || slices.Contains(o.recent, pid) {
			continue
		}
		has, err := o.has(pid, file, &left)
		switch {
		case has:
			return pid, nil, true
		case os.IsPermission(err):
			hidden = append(hidden, pid)
		}
		if left <= 0 {
			return 0, hidden, false
		}
	}
	return 0, hidden, true
}

// has reports whether a process has a file open. left is how many more files may
// be looked at.
func (o *owners) has(pid int, file string, left *int) (bool, error) {
	dir := o.proc + "/" + strconv.Itoa(pid) + "/fd"
	names, err := o.readFiles(dir)
	for _, name := range slices.Backward(names) { // the newest is mostly the last
		if *left--; *left <= 0 {
			return false, nil
		}
		if target, err := os.Readlink(dir + "/" + name); err == nil && target == file {
			return true, nil
		}
	}
	return false, err
}

// readNames returns what is in a folder.
func readNames(dir string) ([]string, error) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := folder.Readdirnames(-1)
	return names, errors.Join(err, folder.Close())
}

// remember has a process looked at first the next time.
func (o *owners) remember(pid int) {
	const most = 8
	o.recent = slices.DeleteFunc(o.recent, func(old int) bool { return old == pid })
	o.recent = slices.Insert(o.recent, 0, pid)
	o.recent = o.recent[:min(len(o.recent), most)]
}

// uidOf returns the user that a process acts as, also if it hides its files;
// noUser if that is not known.
func (o *owners) uidOf(pid int) int {
	status, err := os.ReadFile(o.proc + "/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return noUser
	}
	for line := range bytes.Lines(status) {
		if fields := strings.Fields(string(line)); len(fields) > 2 && fields[0] == "Uid:" {
			if uid, err := strconv.Atoi(fields[2]); err == nil { // the effective one
				return uid
			}
		}
	}
	return noUser
}

// A tableSocket is what the system's tables tell of a socket.
type tableSocket struct {
	uid   int
	inode string
}

// findSocket looks for the connection with these two ends in the system's tables.
func findSocket(tables []string, local, remote netip.AddrPort) (tableSocket, bool) {
	for _, name := range tables {
		if socket, found := scanSocket(name, local, remote); found {
			return socket, true
		}
	}
	return tableSocket{}, false
}

// noUser is the uid of a peer that the system does not show to us: one in
// another network namespace, or one that has left. It has no owner.
const noUser = -1

// peerUID returns the uid of the process at the other end of a connection over
// loopback. told says whether this system tells; it always does.
func peerUID(local, remote *net.TCPAddr) (uid int, told bool) {
	return findUID([]string{"/proc/net/tcp", "/proc/net/tcp6"}, remote.AddrPort(), local.AddrPort()), true
}

// findUID looks for the socket with these two ends in the system's tables.
func findUID(tables []string, local, remote netip.AddrPort) int {
	if socket, found := findSocket(tables, unmap(local), unmap(remote)); found {
		return socket.uid
	}
	return noUser
}

func scanSocket(name string, local, remote netip.AddrPort) (tableSocket, bool) {
	file, err := os.Open(name)
	if err != nil {
		return tableSocket{}, false
	}
	defer func() { _ = file.Close() }() // it was only read
	// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …
	const at, to, state, user, inode = 1, 2, 3, 7, 9
	const established = "01"
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := bytes.Fields(lines.Bytes())
		if len(fields) <= inode || string(fields[state]) != established {
			continue
		}
		if tableAddress(fields[at]) != local || tableAddress(fields[to]) != remote {
			continue
		}
		if uid, err := strconv.Atoi(string(fields[user])); err == nil {
			return tableSocket{uid: uid, inode: string(fields[inode])}, true
		}
	}
	return tableSocket{}, false
}

// tableAddress reads "0100007F:22C3": the words of an address as the machine's own
// numbers, and a port.
func tableAddress(text []byte) netip.AddrPort {
	words, port, found := bytes.Cut(text, []byte(":"))
	number, err := strconv.ParseUint(string(port), 16, 16)
	if !found || err != nil {
		return netip.AddrPort{}
	}
	raw := make([]byte, hex.DecodedLen(len(words)))
	if _, err := hex.Decode(raw, words); err != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}
	}
	for i := 0; i < len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	address, ok := netip.AddrFromSlice(raw)
	if !ok {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(address.Unmap(), uint16(number))
}

func unmap(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

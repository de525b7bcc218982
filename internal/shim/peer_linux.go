package shim

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Bounds of the search for a process.
const (
	maxProcesses = 4096
	maxFiles     = 4096
	maxTCP       = 8 << 20
	maxArgs      = 64 << 10
)

// peerProcess returns the process that has a connection, among root and what
// descends from it. client is the connection's address at that process, server
// the other one. It returns 0 if that cannot be seen.
func peerProcess(root int, client, server net.Addr) (pid int, args []string) {
	from, ok1 := addrPort(client)
	to, ok2 := addrPort(server)
	if !ok1 || !ok2 {
		return 0, nil
	}
	family := descendants(root)
	looked := map[string]bool{}
	for _, member := range family {
		space, err := os.Readlink(proc(member, "ns/net"))
		if err != nil || looked[space] {
			continue
		}
		looked[space] = true
		for _, table := range []string{"net/tcp", "net/tcp6"} {
			inode := socketInode(proc(member, table), from, to)
			if inode == "" {
				continue
			}
			if pid := holder(family, "socket:["+inode+"]"); pid != 0 {
				return pid, arguments(pid)
			}
		}
	}
	return 0, nil
}

func proc(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}

func addrPort(a net.Addr) (netip.AddrPort, bool) {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, false
	}
	ap := tcp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port()), ap.IsValid()
}

// descendants returns a process and what descends from it, parents first.
func descendants(root int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if parent, _ := birth(pid); parent != 0 { // else it is gone
			children[parent] = append(children[parent], pid)
		}
	}
	family := []int{root}
	for i := 0; i < len(family) && len(family) < maxProcesses; i++ {
		family = append(family, children[family[i]]...)
	}
	return family
}

// birth returns the parent of a process and when it was started, 0 if it is gone.
func birth(pid int) (parent int, started string) {
	data, err := os.ReadFile(proc(pid, "stat"))
	if err != nil {
		return 0, ""
	}
	// The name comes second, in parentheses, and may contain anything.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 20 {
		return 0, ""
	}
	parent, err = strconv.Atoi(string(fields[1]))
	if err != nil {
		return 0, ""
	}
	return parent, string(fields[19])
}

// commandOf names the process among a CLI and its children that a process is, or
// descends from. It returns an empty name if there is none.
func commandOf(pid, cli int) string {
	if cli <= 0 {
		return ""
	}
	for range maxProcesses {
		parent, started := birth(pid)
		switch {
		case parent <= 1 && pid != cli, started == "":
			return ""
		case pid == cli, parent == cli:
			return strconv.Itoa(pid) + " " + started
		}
		pid = parent
	}
	return ""
}

// socketInode looks for a connection in a table of /proc, and returns the number
// of its socket.
func socketInode(path string, from, to netip.AddrPort) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }() // it was only read
	lines := bufio.NewScanner(io.LimitReader(file, maxTCP))
	for lines.Scan() {
		// sl local_address rem_address st queues tr tm->when retrnsmt uid timeout inode
		fields := strings.Fields(lines.Text())
		if len(fields) < 10 {
			continue
		}
		local, ok1 := tableAddr(fields[1])
		remote, ok2 := tableAddr(fields[2])
		if ok1 && ok2 && local == from && remote == to {
			return fields[9]
		}
	}
	return ""
}

// tableAddr reads an address of /proc/net/tcp: words of 32 bits in the order of
// the machine, which is little-endian on all that this program is built for.
func tableAddr(text string) (netip.AddrPort, bool) {
	host, port, ok := strings.Cut(text, ":")
	b, err := hex.DecodeString(host)
	n, portErr := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil || portErr != nil || len(b)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for word := range slices.Chunk(b, 4) {
		slices.Reverse(word)
	}
	addr, ok := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), ok
}

// holder returns the process that has a file open.
func holder(family []int, file string) int {
	for _, pid := range family {
		dir, err := os.Open(proc(pid, "fd"))
		if err != nil {
			continue // it is gone
		}
		names, _ := dir.Readdirnames(maxFiles) // what could be read counts
		_ = dir.Close()                        // it was only read
		for _, name := range names {
			if target, err := os.Readlink(filepath.Join(proc(pid, "fd"), name)); err == nil && target == file {
				return pid
			}
		}
	}
	return 0
}

// arguments returns the command line of a process.
func arguments(pid int) []string {
	file, err := os.Open(proc(pid, "cmdline"))
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }() // it was only read
	data, _ := io.ReadAll(io.LimitReader(file, maxArgs))
	return strings.Split(strings.TrimRight(string(data), "\x00"), "\x00")
}

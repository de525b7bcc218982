package access

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net"
	"net/netip"
	"os"
	"strconv"
)

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

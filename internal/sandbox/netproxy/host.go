package netproxy

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A target is where a connection shall lead: a name or an address, and a port.
type target struct {
	name string     // in lower case, without a trailing dot; empty for an address
	addr netip.Addr // not valid for a name
	port int
}

// maxShown is how much of what is no host is shown.
const maxShown = 100

var (
	errHost = errors.New("this is not a valid host name")
	errPort = errors.New("this is not a valid port")
)

// parseTarget reads a host as a client has written it.
func parseTarget(host string, port int) (target, error) {
	t := target{port: port}
	if port < 1 || port > 65535 {
		return t, errPort
	}
	if addr, ok := parseAddr(host); ok {
		t.addr = addr
		return t, nil
	}
	name, ok := parseName(host)
	if !ok {
		return t, errHost
	}
	t.name = name
	return t, nil
}

// parseAddr reads an address, with or without brackets. Those with a zone are
// none: a zone is a matter of the machine, not of the sandbox.
func parseAddr(host string) (netip.Addr, bool) {
	if n := len(host); n > 2 && host[0] == '[' && host[n-1] == ']' {
		host = host[1 : n-1]
		if !strings.Contains(host, ":") {
			return netip.Addr{}, false
		}
	}
	addr, err := netip.ParseAddr(host)
	if err != nil || addr.Zone() != "" {
		return netip.Addr{}, false
	}
	return addr.Unmap(), true
}

// parseName reads a name, and returns it in the form in which names are compared.
func parseName(host string) (string, bool) {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if name == "" || len(name) > 253 {
		return "", false
	}
	last := ""
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return "", false
		}
		for i := range len(label) {
			switch c := label[i]; {
			case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			default:
				return "", false
			}
		}
		last = label
	}
	// What ends in a number is an address in one of the old spellings, or nothing.
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return "", false
	}
	return name, true
}

// host returns the name or the address.
func (t target) host() string {
	if t.addr.IsValid() {
		return t.addr.String()
	}
	return t.name
}

func (t target) String() string { return net.JoinHostPort(t.host(), strconv.Itoa(t.port)) }

// shown returns a host and port for a message about what may be no target.
func shown(host string, port int) string {
	if len(host) > maxShown {
		host = host[:maxShown] + "…"
	}
	return net.JoinHostPort(strings.ToValidUTF8(strings.Trim(host, "[]"), "?"), strconv.Itoa(port))
}

// isLocalhost reports whether a name stands for this machine wherever it is
// resolved (RFC 6761).
func (t target) isLocalhost() bool {
	return t.name == "localhost" || strings.HasSuffix(t.name, ".localhost")
}

// A pattern matches hosts.
type pattern struct {
	target      // port is 0 for any
	below  bool // all names below name
	every  bool
}

// parsePatterns reads patterns. What is none matches no host that a client could
// ask for.
func parsePatterns(texts []string) []pattern {
	var list []pattern
	for _, text := range texts {
		if p, ok := parsePattern(strings.TrimSpace(text)); ok {
			list = append(list, p)
		}
	}
	return list
}

func parsePattern(text string) (pattern, bool) {
	var p pattern
	host := text
	if addr, ok := parseAddr(text); ok { // before the colons of an address are a port's
		p.addr = addr
		return p, true
	}
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		port, err := strconv.Atoi(text[i+1:])
		if err != nil || port < 1 || port > 65535 {
			return p, false
		}
		host, p.port = text[:i], port
		if addr, ok := parseAddr(host); ok {
			p.addr = addr
			return p, true
		}
	}
	if host == "*" {
		p.every = true
		return p, true
	}
	host, p.below = strings.CutPrefix(host, "*.")
	name, ok := parseName(host)
	p.name = name
	return p, ok
}

func (p *pattern) matches(t target) bool {
	switch {
	case p.port != 0 && p.port != t.port:
		return false
	case p.every:
		return true
	case p.addr.IsValid() || t.addr.IsValid():
		return p.addr == t.addr
	case p.below:
		return strings.HasSuffix(t.name, "."+p.name)
	default:
		return p.name == t.name
	}
}

// precise reports whether a pattern names one place, and not merely a name that
// its owner can have lead to any.
func (p *pattern) precise() bool {
	return !p.every && !p.below && (p.port != 0 || p.addr.IsValid() || p.isLocalhost())
}

func match(list []pattern, t target) (*pattern, bool) {
	i := slices.IndexFunc(list, func(p pattern) bool { return p.matches(t) })
	if i < 0 {
		return nil, false
	}
	return &list[i], true
}

// matchPrecise is match for those patterns that are precise.
func matchPrecise(list []pattern, t target) bool {
	return slices.ContainsFunc(list, func(p pattern) bool { return p.precise() && p.matches(t) })
}

// A class says how near an address is.
type class int

const (
	public    class = iota
	private         // of the networks around this machine
	linkLocal       // of the link that this machine is at, or of many machines
	local           // this machine
)

var (
	thisNetwork  = netip.MustParsePrefix("0.0.0.0/8")
	sharedSpace  = netip.MustParsePrefix("100.64.0.0/10") // of carriers, and of some clouds
	benchmarking = netip.MustParsePrefix("198.18.0.0/15")
	reserved     = netip.MustParsePrefix("240.0.0.0/4") // with the broadcast address
	siteLocal    = netip.MustParsePrefix("fec0::/10")
	nat64        = netip.MustParsePrefix("64:ff9b::/96")
	compatible   = netip.MustParsePrefix("::/96")
	sixToFour    = netip.MustParsePrefix("2002::/16")
)

// classify returns the class of an address; own are the addresses of this
// machine.
func classify(a netip.Addr, own []netip.Addr) class {
	a = a.Unmap()
	if slices.Contains(own, a) || a.IsUnspecified() || a.IsLoopback() {
		return local
	}
	if v4, ok := embedded(a); ok {
		a = v4
	}
	switch {
	case a.IsUnspecified(), a.IsLoopback(), thisNetwork.Contains(a), slices.Contains(own, a):
		return local
	case a.IsLinkLocalUnicast(), a.IsMulticast(), reserved.Contains(a):
		return linkLocal
	case a.IsPrivate(), sharedSpace.Contains(a), benchmarking.Contains(a), siteLocal.Contains(a):
		return private
	default:
		return public
	}
}

// embedded returns the IPv4 address that an IPv6 address leads to by translation.
func embedded(a netip.Addr) (netip.Addr, bool) {
	b := a.As16()
	switch {
	case !a.Is6():
		return a, false
	case nat64.Contains(a), compatible.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case sixToFour.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	default:
		return a, false
	}
}

// ownAddrs returns the addresses of this machine.
func ownAddrs(list []net.Addr) []netip.Addr {
	var own []netip.Addr
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok {
			if addr, ok := netip.AddrFromSlice(n.IP); ok {
				own = append(own, addr.Unmap())
			}
		}
	}
	return own
}

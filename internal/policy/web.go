package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A domain is the content of WebFetch(domain:…).
type domain struct {
	host string // in small letters, without a dot at either end
	// below says that sub-domains are meant, and not the domain itself.
	below bool
	// any says that every host is meant.
	any bool
}

// compileDomain reads the content of a WebFetch rule.
func compileDomain(content string) (*domain, error) {
	host, ok := strings.CutPrefix(content, "domain:")
	if !ok {
		if strings.Contains(content, "://") {
			if u, err := url.Parse(content); err == nil && u.Hostname() != "" {
				return nil, fmt.Errorf("rules are about hosts, not about pages: write WebFetch(domain:%s)", u.Hostname())
			}
		}
		return nil, errors.New("write WebFetch(domain:example.com), or WebFetch for all pages")
	}
	d := &domain{host: strings.ToLower(host)}
	if d.host == "*" {
		return &domain{any: true}, nil
	}
	d.host, d.below = strings.CutPrefix(d.host, "*.")
	if !plainHost(d.host) {
		return nil, fmt.Errorf("%q is no host; write a name such as example.com, or *.example.com for all below it, without address, port and path, and international names as xn--…", host)
	}
	return d, nil
}

// match compares a host, which is in small letters.
func (d *domain) match(host string) bool {
	switch {
	case d.any:
		return true
	case d.below:
		return len(host) > len(d.host)+1 && strings.HasSuffix(host, d.host) && host[len(host)-len(d.host)-1] == '.'
	default:
		return host == d.host
	}
}

// plainHost reports whether a text is a host's name or IPv4 address that no program
// can read in two ways.
func plainHost(host string) bool {
	if host == "" || len(host) > 253 {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for i := range len(label) {
			switch c := label[i]; {
			case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_':
			default:
				return false
			}
		}
	}
	return true
}

// An address is a URL in a call. Only its host is looked at.
type address struct {
	// hosts are the ways to read the host, in small letters, for deny rules.
	hosts []string
	// text is the whole in small letters, for deny rules on what has no host.
	text string
	// doubt says why no allow rule covers it, as the end of a sentence; empty if
	// nothing speaks against it. hosts then has one element.
	doubt string
}

// parseAddress reads a URL. What programs could read differently is doubted:
// browsers, and with them the CLI, accept much that no standard has.
func parseAddress(text string) address {
	a := address{text: strings.ToLower(text)}
	rest, ok := strings.CutPrefix(a.text, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(a.text, "http://")
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = rest[:i]
	}
	host, port, _ := strings.Cut(authority, ":")
	switch {
	case !ok:
		a.doubt = "does not begin with https:// or http://"
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }):
		a.doubt = "has white space or a backslash in it, which programs read differently"
	case strings.Contains(authority, "@"):
		a.doubt = "has a user name in it, which can look like a host"
	case !plainHost(host):
		a.doubt = "has a host that programs may read differently"
	case strings.Trim(port, "0123456789") != "":
		a.doubt = "has a port that is no number"
	case numeric(host) && !fourNumbers(host):
		a.doubt = "has a number for a host, which programs read as an address"
	default:
		a.hosts = []string{host}
		return a
	}
	a.hosts = readHosts(a.text)
	return a
}

// numeric reports whether browsers take a host for an IPv4 address: its last part
// is a number, in whatever base.
func numeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == ""
}

// fourNumbers reports whether a host is an IPv4 address in its usual form, which
// is the only one that all programs read alike.
func fourNumbers(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.String() == host
}

// readHosts returns the hosts that a browser could find in a text, generously.
func readHosts(text string) []string {
	text = strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	text = strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/", "。", ".", "．", ".", "｡", ".").Replace(text)
	text = strings.Map(func(r rune) rune {
		if 0xff01 <= r && r <= 0xff5e { // letters and signs of full width
			return r - 0xff01 + '!'
		}
		if r == 0xad || r == 0x200b || r == 0x2060 || r == 0xfeff {
			return -1
		}
		return r
	}, text)
	_, rest, ok := strings.Cut(text, ":")
	if !ok {
		rest = text
	}
	rest = strings.TrimLeft(rest, "/")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	var hosts []string
	for _, authority := range []string{rest[strings.LastIndexByte(rest, '@')+1:], rest[strings.IndexByte(rest, '@')+1:]} {
		if decoded, err := url.PathUnescape(authority); err == nil {
			authority = strings.ToLower(decoded)
		}
		host := authority
		if i := strings.LastIndexByte(host, ':'); i >= 0 && strings.Trim(host[i+1:], "0123456789") == "" {
			host = host[:i]
		}
		if host = strings.TrimRight(host, "."); host != "" {
			hosts = append(hosts, host)
			if address, ok := ipv4(host); ok {
				hosts = append(hosts, address)
			}
		}
	}
	return hosts
}

// ipv4 reads a host as browsers do: one to four numbers, the last of which fills
// what is left, each decimal, octal or hexadecimal.
func ipv4(host string) (address string, ok bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return "", false
	}
	var whole uint64
	for i, part := range parts {
		base := 10
		if rest, hex := strings.CutPrefix(part, "0x"); hex {
			part, base = "0"+rest, 16
		} else if len(part) > 1 && part[0] == '0' {
			base = 8
		}
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		n, err := strconv.ParseUint(part, base, bits)
		if err != nil {
			return "", false
		}
		whole = whole<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(whole >> 24), byte(whole >> 16), byte(whole >> 8), byte(whole)}).String(), true
}

// denied reports whether a deny or ask rule covers an address in any way that it
// can be read.
func (d *domain) denied(a *address) bool {
	return slices.ContainsFunc(a.hosts, d.match) ||
		a.doubt != "" && d.host != "" && len(a.hosts) == 0 && strings.Contains(a.text, d.host)
}

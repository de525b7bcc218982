package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// ToolNetwork is the name under which a connection out of a sandbox is asked
// about, as in the CLI's own sandbox. The input has the members host, port and
// command. Rules about it are written as Network and Network(host:…).
const ToolNetwork = wire.ToolSandboxNetwork

// ruleNetwork is the name of ToolNetwork in rules.
const ruleNetwork = "Network"

// NetworkRule returns the rule about a host; "" if no rule can name it.
func NetworkRule(host string) string {
	a := hostAddress(host)
	if a.doubt != "" {
		return ""
	}
	return spec{ruleNetwork, "host:" + a.hosts[0]}.String()
}

// compileHost reads the content of a Network rule.
func compileHost(content string) (*domain, error) {
	host, ok := strings.CutPrefix(content, "host:")
	if !ok {
		if name, found := strings.CutPrefix(content, "domain:"); found {
			return nil, fmt.Errorf("write Network(host:%s); domain: is for WebFetch", name)
		}
		if strings.Contains(content, "://") {
			if u, err := url.Parse(content); err == nil && u.Hostname() != "" {
				return nil, fmt.Errorf("rules are about hosts, not about pages: write Network(host:%s)", u.Hostname())
			}
		}
		return nil, errors.New("write Network(host:example.com), or Network for every host")
	}
	if host == "*" {
		return &domain{any: true}, nil
	}
	name, below := strings.CutPrefix(strings.ToLower(host), "*.")
	if ip, ok := parseIP(name); ok && !below {
		return &domain{host: ip}, nil
	}
	if !plainHost(name) || numeric(name) {
		return nil, fmt.Errorf("%q is no host; write a name such as example.com, *.example.com for all below it, or an IP address, without port and path, and international names as xn--…", host)
	}
	return &domain{host: name, below: below}, nil
}

// parseIP returns an IP address in the one way to write it.
func parseIP(text string) (string, bool) {
	if inside, ok := strings.CutPrefix(text, "["); ok {
		text = strings.TrimSuffix(inside, "]")
	}
	ip, err := netip.ParseAddr(text)
	if err != nil || ip.Zone() != "" {
		return "", false
	}
	return ip.Unmap().String(), true
}

// hostAddress reads the host of a connection.
func hostAddress(text string) address {
	a := address{text: strings.ToLower(text)}
	host := strings.TrimSuffix(a.text, ".")
	if ip, ok := parseIP(host); ok {
		a.hosts = []string{ip}
		return a
	}
	if plainHost(host) && !numeric(host) {
		a.hosts = []string{host}
		return a
	}
	a.doubt = "has a host that programs may read differently"
	a.hosts = readHosts("http://" + host)
	return a
}

// hostTools returns the tools that a rule about hosts is about. A connection to a
// host that a WebFetch rule denies is denied too, and the other way round: what
// fetches a page connects. To allow that every page is fetched does not allow every
// connection.
func (c *compiled) hostTools() []string {
	switch {
	case c.spec.tool == ruleNetwork && c.rule.Decision == Deny:
		return []string{ToolNetwork, "WebFetch"}
	case c.spec.tool == ruleNetwork:
		return []string{ToolNetwork}
	case c.rule.Decision == Allow && c.domain.any:
		return []string{"WebFetch"}
	default:
		return []string{"WebFetch", ToolNetwork}
	}
}

// aboutHosts reports whether a rule is about hosts alone.
func (c *compiled) aboutHosts() bool { return c.kind == kindDomain || c.spec.tool == ruleNetwork }

// hubsOwn reports whether a tool is one that only the hub knows.
func hubsOwn(tool string) bool { return tool == ruleNetwork || tool == ToolNetwork }

// widerHosts returns the rules about all hosts below a domain that a host, or all
// hosts below another domain, are below.
func widerHosts(s spec) []string {
	d, err := compileHost(s.content)
	if err != nil || d.any || numeric(d.host) || strings.Contains(d.host, ":") {
		return nil
	}
	var texts []string
	for name := d.host; ; {
		_, rest, more := strings.Cut(name, ".")
		if !more {
			return texts
		}
		texts = append(texts, spec{ruleNetwork, "host:*." + rest}.String())
		name = rest
	}
}

package sandbox

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// modelHosts are reached by the CLI itself: the model, and the login, whose tokens
// have to be renewed. Hosts of telemetry are not among them.
var modelHosts = []string{"api.anthropic.com", "claude.ai", "console.anthropic.com", "platform.claude.com"}

// modelAddresses are the variables that give the model another address.
var modelAddresses = []string{"ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_FOUNDRY_BASE_URL"}

// network fills in what a proxy needs.
func (r *resolver) network(p *Profile) error {
	switch p.Network {
	case NetworkAll:
		return nil
	case NetworkListed:
		p.AllowHosts, p.DenyHosts, p.AskHosts = slices.Clone(r.policy.AllowHosts), slices.Clone(r.policy.DenyHosts), r.policy.AskHosts
	case NetworkNone:
	default:
		return fmt.Errorf("%q is no network of a sandbox", p.Network)
	}
	model := slices.Clone(modelHosts)
	for _, name := range modelAddresses {
		value := envValue(r.machine.Env, name)
		if value == "" {
			continue
		}
		host, port, err := splitAddress(value)
		if err != nil {
			// The value is not repeated: it may have a password in it.
			return fmt.Errorf("%s is no address of a host", name)
		}
		if loopback := loopbackAddress(host); loopback != "" {
			p.Forward = append(p.Forward, net.JoinHostPort(loopback, port))
		} else {
			model = append(model, host)
		}
	}
	model = append(model, r.cloudHosts()...)
	for _, host := range model {
		if slices.ContainsFunc(p.DenyHosts, func(denied string) bool { return coversHost(denied, host) }) {
			r.note("A rule denies the host %s, which Claude Code itself may need.", host)
		}
	}
	p.AllowHosts = sortedSet(append(p.AllowHosts, model...))
	p.DenyHosts, p.Forward = sortedSet(p.DenyHosts), sortedSet(p.Forward)
	return nil
}

// cloudHosts returns the hosts of models that a cloud offers.
func (r *resolver) cloudHosts() []string {
	env := func(names ...string) string {
		for _, name := range names {
			if value := strings.ToLower(envValue(r.machine.Env, name)); value != "" && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" {
				return value
			}
		}
		return ""
	}
	on := func(name string) bool { return !slices.Contains([]string{"", "0", "false", "no", "off"}, env(name)) }
	var list []string
	if on("CLAUDE_CODE_USE_BEDROCK") {
		region := env("AWS_REGION", "AWS_DEFAULT_REGION")
		if region == "" {
			region = "us-east-1"
		}
		for _, service := range []string{"bedrock", "bedrock-runtime", "sts", "oidc", "portal.sso"} {
			list = append(list, service+"."+region+".amazonaws.com")
		}
	}
	if on("CLAUDE_CODE_USE_VERTEX") {
		list = append(list, "aiplatform.googleapis.com", "oauth2.googleapis.com", "sts.googleapis.com")
		if region := env("CLOUD_ML_REGION"); region != "" && region != "global" {
			list = append(list, region+"-aiplatform.googleapis.com")
		}
	}
	if on("CLAUDE_CODE_USE_FOUNDRY") {
		list = append(list, "login.microsoftonline.com")
		if resource := env("ANTHROPIC_FOUNDRY_RESOURCE"); resource != "" {
			list = append(list, resource+".services.ai.azure.com")
		}
	}
	return list
}

// splitAddress returns the host of a URL in small letters, and its port.
func splitAddress(text string) (host, port string, err error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Hostname() == "" {
		return "", "", fmt.Errorf("it has no host")
	}
	if port = u.Port(); port == "" {
		port = "443"
		if u.Scheme == "http" {
			port = "80"
		}
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), port, nil
}

// loopbackAddress returns the address of a host on this machine, "" if it is
// elsewhere.
func loopbackAddress(host string) string {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Unmap().IsLoopback() {
		return ip.Unmap().String()
	}
	return ""
}

// coversHost reports whether an element of a list of hosts covers a host.
func coversHost(pattern, host string) bool {
	pattern = strings.ToLower(pattern)
	if rest, ok := strings.CutPrefix(pattern, "*"); ok && strings.HasPrefix(rest, ".") {
		return strings.HasSuffix(host, rest) && len(host) > len(rest)
	}
	return pattern == host
}

// sortedSet sorts a list and removes what is there twice.
func sortedSet(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Sandbox is the section [sandbox]: what the operating system enforces for agents.
type Sandbox struct {
	// Mode is that of sessions that name none.
	Mode SandboxMode
	// Enforcer is what is used, Bubblewrap the path of that program. If it is empty, it is looked for.
	Enforcer   SandboxEnforcer
	Bubblewrap Folder
	// AutoAllow allows commands in a strict sandbox without a question.
	AutoAllow bool
	// Network says what becomes of a host that no rule names, in a strict sandbox.
	Network SandboxNetwork
	// AllowHosts are hosts that may be reached without a question: a name, or *.name for all below it.
	AllowHosts []string
	// Writable are folders that can be written in a strict sandbox, Sockets Unix sockets that can be used in all.
	Writable, Sockets []string
}

// A SandboxMode says what is enforced.
type SandboxMode string

// The modes of a sandbox. [SandboxAuto] is also an enforcer.
const (
	SandboxAuto     = "auto" // deny-only where an enforcer works, else nothing
	SandboxOff      = "off"
	SandboxDenyOnly = "deny-only"
	SandboxStrict   = "strict"
)

// UnmarshalText accepts the modes.
func (m *SandboxMode) UnmarshalText(text []byte) error {
	return choose(m, text, "mode of a sandbox", SandboxAuto, SandboxOff, SandboxDenyOnly, SandboxStrict)
}

// A SandboxEnforcer names what holds a sandbox up.
type SandboxEnforcer string

// UnmarshalText accepts the enforcers of all systems.
func (e *SandboxEnforcer) UnmarshalText(text []byte) error {
	return choose(e, text, "enforcer of a sandbox", SandboxAuto, "bubblewrap", "landlock", "seatbelt")
}

// A SandboxNetwork says what becomes of hosts that no rule names.
type SandboxNetwork string

// What a strict sandbox does about a host.
const (
	SandboxAsk  SandboxNetwork = "ask"
	SandboxNone SandboxNetwork = "none"
)

// UnmarshalText accepts ask and none.
func (n *SandboxNetwork) UnmarshalText(text []byte) error {
	return choose(n, text, "network of a sandbox", string(SandboxAsk), string(SandboxNone))
}

// choose sets a value that is one of some words.
func choose[T ~string](to *T, text []byte, what string, words ...string) error {
	if !slices.Contains(words, string(text)) {
		return fmt.Errorf("%q is no %s; there are %s", string(text), what, strings.Join(words, ", "))
	}
	*to = T(text)
	return nil
}

// Bounds of the lists. Each path and each host costs something when an agent is started.
const (
	maxSandboxList = 1000
	maxHost        = 253
)

// check looks for hosts that are none, and for lists that are too long.
func (s *Sandbox) check() error {
	for key, list := range map[string][]string{"allow_hosts": s.AllowHosts, "writable": s.Writable, "sockets": s.Sockets} {
		if len(list) > maxSandboxList {
			return fmt.Errorf("sandbox.%s has %d entries; at most %d are possible", key, len(list), maxSandboxList)
		}
	}
	for _, host := range s.AllowHosts {
		if err := checkHost(host); err != nil {
			return fmt.Errorf("sandbox.allow_hosts: %w", err)
		}
	}
	return nil
}

// checkHost says what is wrong with the name of a host, or of all below one.
func checkHost(host string) error {
	name := strings.TrimPrefix(host, "*.")
	switch {
	case name == "" || name == "*":
		return fmt.Errorf("%q names no host; write it as example.com, or *.example.com for all below it", host)
	case len(name) > maxHost:
		return fmt.Errorf("%.40q… is longer than a host's name can be", host)
	case isAddress(name):
		return nil
	case strings.ContainsAny(name, "*/:@[] \t\r\n\x00"):
		return fmt.Errorf("%q is more than a host; write it as example.com, without scheme, port and path", host)
	}
	return nil
}

// isAddress reports whether a host is named by its number.
func isAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

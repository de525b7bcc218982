package main

import (
	"fmt"
	"slices"

	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
)

// sandboxModes are the modes that a session can ask for.
func sandboxModes() []string {
	return []string{string(sandbox.Off), string(sandbox.DenyOnly), string(sandbox.Strict)}
}

// checkSandboxMode says what is wrong with the value of --sandbox.
func checkSandboxMode(mode string) error {
	if mode != "" && !slices.Contains(sandboxModes(), mode) {
		return fmt.Errorf("--sandbox is %q; it can be off, deny-only or strict", mode)
	}
	return nil
}

// sandboxWords says in one line which sandbox is meant; "" if it is the hub's.
func sandboxWords(mode string, autoAllow bool) string {
	if mode == string(sandbox.Strict) && autoAllow {
		return mode + ", commands without asking"
	}
	return mode
}

// sandboxDefaults returns the section [sandbox] as the hub wants it.
func sandboxDefaults(c *config.Config) hub.SandboxDefaults {
	d := hub.SandboxDefaults{Mode: sandbox.Mode(c.Sandbox.Mode), AutoAllow: c.Sandbox.AutoAllow, Network: sandbox.NetworkListed, AllowHosts: c.Sandbox.AllowHosts}
	if c.Sandbox.Network == config.SandboxNone {
		d.Network = sandbox.NetworkNone
	}
	return d
}

// enforcers returns the section [sandbox] as the launcher wants it. The files of the user's usual hub are hidden from the agents of any other hub, too.
func enforcers(e *env, c *config.Config) launch.Sandbox {
	s := launch.Sandbox{
		Enforcer: string(c.Sandbox.Enforcer), Bubblewrap: string(c.Sandbox.Bubblewrap), Writable: c.Sandbox.Writable, Sockets: c.Sandbox.Sockets,
	}
	if usual, err := config.Default().FindPaths(e.getenv); err == nil {
		s.Own = append(s.Own, usual.DataDir, usual.Socket)
	}
	return s
}

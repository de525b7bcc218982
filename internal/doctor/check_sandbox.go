package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/internal/sandbox"
)

// none is what a check of sandboxes says where there is none.
const none = "none"

func (m *Machine) checkSandbox(ctx context.Context) []Finding {
	if m.Sandbox == nil {
		return nil
	}
	mode := sandbox.Mode(m.SandboxMode)
	if mode == sandbox.Off {
		return []Finding{{State: Skip, Found: "off: the settings say so"}}
	}
	check := m.Sandbox(ctx)
	f := Finding{State: OK, Found: fmt.Sprintf("deny-only by %s, strict by %s", check.DenyOnly, check.Strict), Data: check}
	missing := check.DenyOnly == none
	if mode == sandbox.Strict {
		missing = check.Strict == none
	}
	if !missing {
		return []Finding{f}
	}
	f.State, f.Found = Warn, "NONE: the system enforces nothing for agents; "+firstLine(check.Why)
	if mode == sandbox.DenyOnly || mode == sandbox.Strict {
		f.State, f.Why = Fail, fmt.Sprintf("The settings ask for the mode %s: no session can be started.", mode)
	}
	f.Fix = m.verb("sandbox") + " check"
	if m.OS == "linux" && !m.bubblewrap(ctx) {
		f.Fix = installBubblewrap
	}
	return []Finding{f}
}

// installBubblewrap is the command that brings it, on the systems that most have.
const installBubblewrap = "if command -v apt-get >/dev/null; then sudo apt-get install bubblewrap; elif command -v dnf >/dev/null; then sudo dnf install bubblewrap; else sudo pacman -S bubblewrap; fi"

// bubblewrap reports whether it is installed, whether it works or not.
func (m *Machine) bubblewrap(ctx context.Context) bool {
	if m.Command == nil {
		return false
	}
	_, err := m.Command(ctx, "bwrap", "--version")
	return err == nil
}

// boxingProperties are the properties of a service that can keep bubblewrap from working in it.
const boxingProperties = "RestrictNamespaces,ProtectKernelTunables,ProtectKernelLogs,ProcSubset"

// unboxable returns those settings of a service with which bubblewrap cannot work: it makes namespaces, and mounts a /proc of its own, which the
// system refuses where parts of the old one are covered.
func unboxable(properties map[string]string) []string {
	var bad []string
	// It is no, yes, or a list of those that may be made.
	if value := properties["RestrictNamespaces"]; value != "" && value != "no" {
		allowed := strings.Fields(value)
		if slices.ContainsFunc([]string{"user", "mnt", "pid", "ipc", "uts", "net"}, func(name string) bool { return !slices.Contains(allowed, name) }) {
			bad = append(bad, "RestrictNamespaces")
		}
	}
	for _, name := range []string{"ProtectKernelTunables", "ProtectKernelLogs"} {
		if properties[name] == "yes" {
			bad = append(bad, name)
		}
	}
	if properties["ProcSubset"] == "pid" {
		bad = append(bad, "ProcSubset")
	}
	return bad
}

// allowSandbox is the command that has systemd not be in the way of a sandbox.
func allowSandbox(bad []string) string {
	lines := []string{"[Service]"}
	for _, name := range bad {
		value := "no"
		if name == "ProcSubset" {
			value = "all"
		}
		lines = append(lines, name+"="+value)
	}
	text := strings.Join(lines, `\n`) + `\n`
	return `mkdir -p "$HOME/.config/systemd/user/` + unit + `.d" && printf '` + text + `' > "$HOME/.config/systemd/user/` + unit +
		`.d/sandbox.conf" && systemctl --user daemon-reload`
}

package hub

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
)

// Policy returns what the sandbox of a run in a folder has to hold: what the rules of
// its session deny, and what its options, or else the defaults, ask for.
func (d *SandboxDefaults) Policy(engine *policy.Engine, dir string, o *api.SessionOptions, now time.Time) sandbox.Policy {
	v := sandbox.Policy{Mode: d.modeOf(o), Network: sandbox.NetworkAll}
	if v.Mode == sandbox.Off {
		return v
	}
	rules := engine.Sandbox(dir, now)
	v.DenyRead, v.DenyWrite = rules.DenyRead, rules.DenyWrite
	for _, each := range o.AddDirs {
		if each != "~" && !strings.HasPrefix(each, "~/") && !filepath.IsAbs(each) {
			each = filepath.Join(dir, each)
		}
		v.Dirs = append(v.Dirs, each)
	}
	switch {
	case rules.DenyNetwork:
		v.Network = sandbox.NetworkNone
	case v.Mode != sandbox.Strict:
		if len(rules.DenyHosts) > 0 {
			v.Network, v.DenyHosts = sandbox.NetworkListed, rules.DenyHosts
			// Loopback is reached by name only.
			v.AllowHosts = append(d.allowed(&rules), rules.AllowHosts...)
		}
	case d.Network == sandbox.NetworkNone:
		v.Network = sandbox.NetworkNone
	default:
		v.Network, v.AskHosts, v.DenyHosts = sandbox.NetworkListed, true, rules.DenyHosts
		v.AllowHosts = append(d.allowed(&rules), rules.AllowHosts...)
	}
	return v
}

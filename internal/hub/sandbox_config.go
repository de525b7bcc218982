package hub

import "github.com/switchboard-dev/switchboard/internal/sandbox"

// SandboxDefaults are what a sandbox is made of where a session does not say so.
type SandboxDefaults struct {
	// Mode is that of sessions that name none.
	Mode sandbox.Mode
	// AutoAllow allows commands in a strict sandbox without a question.
	AutoAllow bool
	// Network is that of strict sandboxes. If empty, [sandbox.NetworkListed].
	Network sandbox.Network
	// AllowHosts are hosts that may be reached without a question.
	AllowHosts []string
}

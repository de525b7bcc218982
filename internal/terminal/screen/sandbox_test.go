package screen

import (
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// TestSandbox holds that the screen names the sandbox of the session, says if nothing enforces it, and shows what was refused below the call.
func TestSandbox(t *testing.T) {
	hub, s := blog()
	s.snapshot.Sandbox = &api.Sandbox{Mode: "deny-only", Enforcer: "bubblewrap"}
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		d.wants("sandbox deny-only")
		hub.happen(s, state(api.StateRunning))
		hub.happen(s, called("t2", "Bash", map[string]any{"command": "npm install"}))
		hub.happen(s, api.Event{Kind: api.KindSandboxRefused, Source: "hub", Data: encode(api.SandboxRefusal{
			Kind: "network", Host: "tracker.example", Port: 443, Command: "node postinstall.js", ToolUseID: "t2",
		})})
		d.pass(time.Second)
		d.golden("refused-80x24")
		hub.happen(s, api.Event{Kind: api.KindRunLaunched, Source: "hub", Data: encode(map[string]any{
			"sandbox": api.Sandbox{Mode: "strict", Enforcer: "none", Reason: "bubblewrap isn't installed"},
		})})
		d.pass(time.Second)
		d.wants("NO SANDBOX", "NOT ENFORCED: bubblewrap isn't installed")
		d.wantsNot("sandbox deny-only")
	})
}

package live

import (
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// TestRefusals holds that what the sandbox refused stands right below the call during which it was refused, while that runs and when it is printed.
func TestRefusals(t *testing.T) {
	s := newStage(t, 80, 24)
	s.state(api.StateRunning)
	s.calls("t1", "Bash", "", map[string]string{"command": "make deps"})
	s.event(api.KindSandboxRefused, api.SandboxRefusal{Kind: "network", Host: "tracker.example", Port: 443, Command: "curl", ToolUseID: "t1"})
	const refused = "  ⊘ sandbox refused a connection to tracker.example:443 (curl)"
	if view := s.shown(); !strings.Contains(view, "make deps") || !strings.Contains(view, refused) {
		t.Errorf("while it runs:\n%s", view)
	}
	s.gives("t1", "failed")
	s.calls("t2", "Bash", "", map[string]string{"command": "make test"})
	s.gives("t2", "ok")
	s.event(api.KindSandboxRefused, api.SandboxRefusal{Kind: "file", Path: "/x/.env", ToolUseID: "t2"})
	s.want([]string{"make deps", refused, "make test", "  ⊘ sandbox refused access to /x/.env"})
	if strings.Contains(s.printed(), "\n\n") {
		t.Errorf("they do not stand together:\n%s", s.printed())
	}
	s.event(api.KindSandboxRefused, api.SandboxRefusal{Kind: "network", Host: "other.example", Port: 80})
	s.want([]string{"\n⊘ sandbox refused a connection to other.example:80"})
}

// TestSandboxInTheFooter holds that the footer names the sandbox, and says first of all if nothing enforces it.
func TestSandboxInTheFooter(t *testing.T) {
	s := newStage(t, 60, 24)
	s.state(api.StateIdle)
	if view := s.shown(); strings.Contains(strings.ToLower(view), "sandbox") {
		t.Errorf("before anything is known:\n%s", view)
	}
	s.event(api.KindRunLaunched, map[string]any{"version": "2.1.325", "sandbox": api.Sandbox{Mode: "strict", Enforcer: "bubblewrap"}})
	if view := s.shown(); !strings.Contains(view, " · sandbox strict") {
		t.Errorf("with a sandbox:\n%s", view)
	}
	s.event(api.KindRunLaunched, map[string]any{"version": "2.1.325", "sandbox": api.Sandbox{Mode: "strict", Enforcer: "none", Reason: "bubblewrap isn't installed"}})
	view := strings.Split(strings.TrimRight(s.shown(), "\n"), "\n")
	if footer := view[len(view)-1]; !strings.HasPrefix(footer, "NO SANDBOX · ") {
		t.Errorf("without one: %q", footer)
	}
	s.want([]string{"sandbox: NOT ENFORCED: bubblewrap isn't installed."})
}

//go:build unix

package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
)

// TestHidden holds that a sandbox hides all that is ours, each once, and nothing else.
func TestHidden(t *testing.T) {
	s := &Server{options: Options{
		DataDir: "/data", Socket: "/run/user/1/switchboard/hub.sock", Rules: Rules{File: "/c/rules.toml", Own: []string{"/c", "/key/"}},
		Enforcer: launch.Sandbox{Own: []string{"/data", "/usual"}},
	}}
	if got, want := s.hidden(), []string{"/c", "/c/rules.toml", "/data", "/key", "/run/user/1/switchboard", "/usual"}; !slices.Equal(got, want) {
		t.Errorf("hidden are %q, expected %q", got, want)
	}
	s.options.Socket = "/run/user/1/other.sock"
	if got := s.hidden(); !slices.Contains(got, "/run/user/1/other.sock") || slices.Contains(got, "/run/user/1") {
		t.Errorf("a socket among those of others: %q", got)
	}
}

// TestNoSandboxIsTold holds that clients learn that agents run without a sandbox, unless it was turned off.
func TestNoSandboxIsTold(t *testing.T) {
	for mode, told := range map[sandbox.Mode]bool{"": true, sandbox.Auto: true, sandbox.Strict: true, sandbox.Off: false} {
		s := start(t, func(o *Options) {
			o.Sandbox, o.Enforcer = hub.SandboxDefaults{Mode: mode}, launch.Sandbox{Enforcer: "no such enforcer"}
		})
		if name, err := s.Enforcer(t.Context()); name != "" || (err != nil) != told {
			t.Errorf("%q: %q, %v", mode, name, err)
		}
		s.findEnforcer()
		warned := slices.ContainsFunc(s.info(t.Context()).Warnings, func(text string) bool { return strings.HasPrefix(text, "agents run without a sandbox: ") })
		if warned != told {
			t.Errorf("%q: the warnings are %q", mode, s.info(t.Context()).Warnings)
		}
	}
}

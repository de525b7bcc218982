package words

import (
	"fmt"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/units"
)

// Sandbox says in two words what holds a session's processes back, nothing if it is off or not known. loud says that a sandbox was wanted and
// nothing enforces it.
func Sandbox(s *api.Sandbox) (text string, loud bool) {
	return paint.CleanLine(transcript.SandboxName(s), maxHeadline), transcript.Unenforced(s)
}

// SandboxAbout says in a line what a sandbox holds back, and by what.
func SandboxAbout(s *api.Sandbox) string {
	mode := part(s.Mode)
	switch {
	case transcript.Unenforced(s):
		text := "NOT ENFORCED: " + paint.CleanLine(s.Reason, 0)
		return strings.TrimSuffix(text, ": ") + " (mode " + mode + ")"
	case s.Mode == "off":
		return mode
	}
	parts := []string{mode + ", by " + part(s.Enforcer)}
	if network := networkAbout(s.Network); network != "" {
		parts = append(parts, network)
	}
	if s.Hidden > 0 {
		parts = append(parts, units.Plural(s.Hidden, "path")+" hidden")
	}
	if s.ReadOnly > 0 {
		parts = append(parts, fmt.Sprintf("%d read-only", s.ReadOnly))
	}
	if s.AutoAllow {
		parts = append(parts, "commands run without asking")
	}
	return strings.Join(parts, "; ")
}

// networkAbout says what can be reached.
func networkAbout(network string) string {
	switch network {
	case "":
		return ""
	case "all":
		return "network open"
	case "listed":
		return "network by rules"
	case "none":
		return "no network but the model"
	default: // one of tomorrow
		return "network " + part(network)
	}
}

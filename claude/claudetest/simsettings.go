package claudetest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// usableSettings reports whether the settings of the command line count. A value of the wrong type makes the CLI pass over all of them without a
// word; checked says that it only leaves out a rule that cannot be read. Not everything is looked at that a real CLI looks at.
func usableSettings(data []byte, checked bool) bool {
	var s struct {
		CleanupPeriodDays *float64                     `json:"cleanupPeriodDays"`
		Hooks             map[string][]json.RawMessage `json:"hooks"`
		Permissions       struct {
			Allow       []string `json:"allow"`
			Deny        []string `json:"deny"`
			Ask         []string `json:"ask"`
			DefaultMode string   `json:"defaultMode"`
		} `json:"permissions"`
	}
	if json.Unmarshal(data, &s) != nil {
		return false
	}
	p := s.Permissions
	if mode := wire.PermissionMode(p.DefaultMode); mode != "" && !slices.Contains(settingsModes(), mode) {
		return false
	}
	return checked || !slices.ContainsFunc(slices.Concat(p.Allow, p.Deny, p.Ask), unreadableRule)
}

// settingsModes are the permission modes that settings may name.
func settingsModes() []wire.PermissionMode {
	return []wire.PermissionMode{
		wire.PermissionModeDefault, wire.PermissionModeAcceptEdits, wire.PermissionModePlan, wire.PermissionModeBypassPermissions,
		wire.PermissionModeDontAsk, wire.PermissionModeAuto, wire.PermissionModeManual,
	}
}

// unreadableRule reports whether a rule's text has no meaning.
func unreadableRule(text string) bool {
	return strings.TrimSpace(text) == "" || strings.Count(text, "(") != strings.Count(text, ")") || strings.Contains(text, "()")
}

package words

import (
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/wire"
)

// Modes returns the permission modes that a person can choose, from the safest to the most dangerous; bypassPermissions is the last.
func Modes() []string {
	return []string{
		string(wire.PermissionModePlan), string(wire.PermissionModeDontAsk), string(wire.PermissionModeDefault),
		string(wire.PermissionModeAcceptEdits), string(wire.PermissionModeAuto), string(wire.PermissionModeBypassPermissions),
	}
}

// Mode returns Claude Code's own name of a permission mode. A mode that is not known is its own name.
func Mode(mode string) string { return paint.CleanLine(transcript.ModeName(mode), maxHeadline) }

// ModeAbout says what a permission mode does; nothing of one that is not known.
func ModeAbout(mode string) string {
	switch wire.PermissionMode(mode) {
	case wire.PermissionModePlan:
		return "plans first, changes nothing"
	case wire.PermissionModeDontAsk:
		return "denies what no rule allows"
	case wire.PermissionModeDefault:
		return "asks before it edits or runs"
	case wire.PermissionModeAcceptEdits:
		return "edits files without asking"
	case wire.PermissionModeAuto:
		return "Claude Code decides what is safe"
	case wire.PermissionModeBypassPermissions:
		return "DANGEROUS: asks for nothing"
	default:
		return ""
	}
}

// ModeLabel returns the name of a permission mode and what it does.
func ModeLabel(mode string) string {
	if about := ModeAbout(mode); about != "" {
		return Mode(mode) + " — " + about
	}
	return Mode(mode)
}

package transcript

import "github.com/switchboard-dev/switchboard/wire"

// ModeName returns Claude Code's own name of a permission mode. A mode that is not known is its own name.
func ModeName(mode string) string {
	switch wire.PermissionMode(mode) {
	case wire.PermissionModePlan:
		return "Plan mode"
	case wire.PermissionModeDontAsk:
		return "Don't ask"
	case wire.PermissionModeDefault:
		return "Default"
	case wire.PermissionModeAcceptEdits:
		return "Accept edits"
	case wire.PermissionModeAuto:
		return "Auto"
	case wire.PermissionModeBypassPermissions:
		return "Bypass permissions"
	default:
		return oneLine(mode)
	}
}

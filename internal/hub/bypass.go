package hub

import (
	"net/http"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
)

// bypass reports whether the run was launched so that it may stop asking.
func (p *projection) bypass() bool {
	return p.Options.AllowBypass || p.Options.PermissionMode == string(wire.PermissionModeBypassPermissions)
}

// notBypassing says that a session may not stop asking: versions up to 2.1.62
// would obey although the server's configuration has not consented.
func notBypassing() error {
	return &api.Error{
		Status: http.StatusConflict, Code: api.CodeConflict, Title: "the session was started without permission to bypass",
		Hint: "resume it with the option allow_bypass, which the hub must allow: dangerously_skip_permissions = true in section [claude] of the configuration",
	}
}

// requestBypasses reports whether a control request has the CLI ask no more, by its
// mode or by its settings.
func requestBypasses(r wire.Request) bool {
	switch r := r.(type) { //nolint:gochecksumtype // the others cannot
	case *wire.SetPermissionModeRequest:
		return r.Mode == wire.PermissionModeBypassPermissions
	case *wire.ApplyFlagSettingsRequest:
		return wire.BypassSetting(r.Settings) != ""
	case *wire.UpdateSettingsRequest:
		return wire.BypassSetting(r.Settings) != ""
	}
	return false
}

// checkSettings refuses settings of a front end that need the scope admin, or that
// would set the hub's own rules aside.
func checkSettings(by Actor, settings []byte) error {
	if wire.BypassSetting(settings) != "" && !by.Admin {
		return api.Errorf(http.StatusForbidden, api.CodeForbidden, "bypassPermissions needs the scope admin")
	}
	if name := wire.HooklessSetting(settings); name != "" {
		return record.Unfit("settings: %s is refused: it can set the hub's own rules aside", name)
	}
	return nil
}

// answerBypasses reports whether an answer to a question has the CLI ask no more.
func answerBypasses(line []byte) bool {
	body, _ := wire.Lookup(line, "response")
	result, _ := wire.Lookup(body, "response")
	decoded, err := wire.DecodePermission(result)
	allow, ok := decoded.(*wire.Allow)
	if err != nil || !ok {
		return false
	}
	for _, update := range allow.UpdatedPermissions {
		// Read from the bytes: an update of a kind that is not known here counts, too.
		if mode, _ := wire.LookupString(update.Raw(), "mode"); mode == string(wire.PermissionModeBypassPermissions) {
			return true
		}
	}
	return false
}

// agentsBypass reports whether one of the sub-agents works without asking.
func agentsBypass(agents map[string]wire.AgentDefinition) bool {
	for _, agent := range agents { //nolint:gocritic // there are few
		if agent.PermissionMode == wire.PermissionModeBypassPermissions {
			return true
		}
	}
	return false
}

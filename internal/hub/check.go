package hub

import (
	"net/http"
	"path/filepath"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// checkCreate says what is wrong with a request for a session. before are the options of
// the session that it is a fork of, nil for others.
func (h *Hub) checkCreate(by Actor, in api.CreateSession, before *api.SessionOptions) error {
	invalid := func(format string, args ...any) error {
		return api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, format, args...)
	}
	switch in.Transport {
	case "", transportShim:
		if !filepath.IsAbs(in.Dir) {
			return invalid("dir: expected an absolute path, got %q", in.Dir)
		}
	case transportWebSocket, transportHybrid, transportTee:
		if in.Node != "" || len(in.NodeLabels) > 0 {
			return invalid("node: only agents that the hub starts have one, and with the transport %s it does not", in.Transport)
		}
		if in.Options.Sandbox != "" || in.Options.SandboxAutoAllow {
			return invalid("sandbox: only agents that the hub starts have one, and with the transport %s it does not", in.Transport)
		}
	default:
		return invalid("transport: expected shim, websocket, hybrid or tee, got %q", in.Transport)
	}
	if in.Fork && in.Resume == "" {
		return invalid("fork needs resume: the conversation to copy")
	}
	return h.checkOptions(by, in.Options, before)
}

// checkOptions says what is wrong with a session's options. before are those of its run
// before, nil for a new session.
func (h *Hub) checkOptions(by Actor, o api.SessionOptions, before *api.SessionOptions) error {
	if err := h.options.Sandbox.checkSandbox(by, &o, before); err != nil {
		return err
	}
	mode := wire.PermissionMode(o.PermissionMode)
	sensitive := mode == wire.PermissionModeBypassPermissions || o.AllowBypass || len(o.MCPServers) > 0 || len(o.Settings) > 0 ||
		len(o.PluginDirs) > 0 || len(o.Env) > 0 || len(o.ExtraArgs) > 0
	if sensitive && !by.Admin {
		return api.Errorf(http.StatusForbidden, api.CodeForbidden, "bypassPermissions, MCP servers, settings, plugins, environment and raw flags need the scope admin")
	}
	body, err := initializeBody(o)
	if err != nil {
		return err
	}
	if agentsBypass(body.Agents) && !by.Admin {
		return api.Errorf(http.StatusForbidden, api.CodeForbidden, "bypassPermissions needs the scope admin")
	}
	return nil
}

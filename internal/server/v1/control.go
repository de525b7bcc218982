package v1

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

// OfServer is a request about an MCP server of a session.
type OfServer struct {
	OfSession
	Server string `path:"server" minLength:"1" maxLength:"256" doc:"The name of the MCP server" example:"github"`
}

// controlRoutes are requests to the CLI itself.
func (s *Server) controlRoutes(h huma.API) {
	tags := []string{"control"}
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "control-session", Method: http.MethodPost, Path: "/v1/sessions/{id}/control",
		Summary: "Send the CLI a control request of its own protocol", Tags: tags, MaxBodyBytes: maxMessage,
		Description: "The request is checked and fitted to the CLI's version before it is sent. Returns the body of the CLI's response; if that is an error, the code is refused_by_agent. " +
			"Only the hub sends initialize.",
	}, func(ctx context.Context, in *about[api.Control]) (*answer[api.ControlResult], error) {
		return s.control(ctx, in.ID, in.Body.Request, wire.ScopeAdmin)
	}, ofAgent()...)
	operation(s, h, wire.ScopePrompt, huma.Operation{
		OperationID: "rewind-session", Method: http.MethodPost, Path: "/v1/sessions/{id}/rewind",
		Summary: "Restore files to their state before a message", Tags: tags,
		Description: "With dry_run it only reports what would change. Otherwise it needs the scope admin.",
	}, func(ctx context.Context, in *about[api.Rewind]) (*answer[api.RewindResult], error) {
		if !in.Body.DryRun {
			if _, e := access.Require(ctx, wire.ScopeAdmin); e != nil {
				return nil, e
			}
		}
		raw, err := s.hub.Control(ctx, actor(ctx), in.ID, &wire.RewindFilesRequest{UserMessageID: in.Body.UserMessageID, DryRun: in.Body.DryRun})
		if err != nil {
			return nil, err
		}
		var told wire.RewindFilesAnswer
		if err := json.Unmarshal(orEmpty(raw), &told); err != nil {
			return nil, unreadable("rewind_files")
		}
		return &answer[api.RewindResult]{Body: &api.RewindResult{
			CanRewind: told.CanRewind, FilesChanged: told.FilesChanged, Insertions: told.Insertions, Deletions: told.Deletions, Error: told.Error,
		}}, nil
	}, ofAgent()...)
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-context", Method: http.MethodGet, Path: "/v1/sessions/{id}/context",
		Summary: "Ask the CLI for its context usage", Tags: tags, Description: "Returns the CLI's own response.",
	}, func(ctx context.Context, in *OfSession) (*answer[api.ControlResult], error) {
		return s.request(ctx, in.ID, &wire.GetContextUsageRequest{})
	}, ofAgent()...)
	operation(s, h, wire.ScopePrompt, huma.Operation{
		OperationID: "suggest-files", Method: http.MethodGet, Path: "/v1/sessions/{id}/files",
		Summary: "Ask the CLI for files that match the beginning of a path", Tags: tags,
		Description: "For mentions in messages. Needs a CLI that supports it, such as 2.1.325.",
	}, s.suggestFiles, ofAgent()...)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "set-environment", Method: http.MethodPost, Path: "/v1/sessions/{id}/environment",
		Summary: "Change variables of the agent's environment", Tags: tags, DefaultStatus: http.StatusNoContent,
		Description: "Where the CLI's version can do that, and for its present process. The values go to the CLI alone: the journal, events and exports have the names.",
	}, func(ctx context.Context, in *about[api.Environment]) (*none, error) {
		return done(s.hub.Environment(ctx, actor(ctx), in.ID, in.Body.Variables))
	}, ofAgent()...)
	s.mcpRoutes(h, tags)
}

// mcpRoutes are about a session's MCP servers.
func (s *Server) mcpRoutes(h huma.API, tags []string) {
	operation(s, h, wire.ScopeObserve, huma.Operation{
		OperationID: "get-mcp", Method: http.MethodGet, Path: "/v1/sessions/{id}/mcp",
		Summary: "Ask the CLI for its MCP servers and their states", Tags: tags, Description: "Returns the CLI's own response.",
	}, func(ctx context.Context, in *OfSession) (*answer[api.ControlResult], error) {
		return s.request(ctx, in.ID, &wire.MCPStatusRequest{})
	}, ofAgent()...)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "set-mcp", Method: http.MethodPut, Path: "/v1/sessions/{id}/mcp",
		Summary: "Replace the MCP servers added at run time", Tags: tags,
		Description: "Those in the CLI's own configuration stay. The CLI's response says which were added and removed, and which failed.",
	}, func(ctx context.Context, in *about[api.SetMCPServers]) (*answer[api.ControlResult], error) {
		if !isObject(in.Body.Servers) {
			return nil, api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "The MCP servers aren't a JSON object")
		}
		return s.control(ctx, in.ID, object("mcp_set_servers", member{"servers", in.Body.Servers}), wire.ScopeAdmin)
	}, ofAgent()...)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "toggle-mcp-server", Method: http.MethodPost, Path: "/v1/sessions/{id}/mcp/{server}/toggle",
		Summary: "Enable or disable an MCP server", Tags: tags, Description: "Returns the CLI's own response.",
	}, func(ctx context.Context, in *struct {
		OfServer
		Body api.ToggleMCPServer
	},
	) (*answer[api.ControlResult], error) {
		return s.request(ctx, in.ID, &wire.MCPToggleRequest{ServerName: in.Server, Enabled: in.Body.Enabled})
	}, ofAgent()...)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "reconnect-mcp-server", Method: http.MethodPost, Path: "/v1/sessions/{id}/mcp/{server}/reconnect",
		Summary: "Reconnect an MCP server", Tags: tags, Description: "Returns the CLI's own response.",
	}, func(ctx context.Context, in *OfServer) (*answer[api.ControlResult], error) {
		return s.request(ctx, in.ID, &wire.MCPReconnectRequest{ServerName: in.Server})
	}, ofAgent()...)
	operation(s, h, wire.ScopeAdmin, huma.Operation{
		OperationID: "message-mcp-server", Method: http.MethodPost, Path: "/v1/sessions/{id}/mcp/{server}/message",
		Summary: "Send a JSON-RPC message to an MCP server of the agent", Tags: tags, MaxBodyBytes: maxMessage, Description: "Returns the CLI's own response.",
	}, func(ctx context.Context, in *struct {
		OfServer
		Body api.MCPMessage
	},
	) (*answer[api.ControlResult], error) {
		name, err := json.Marshal(in.Server)
		if err != nil {
			return nil, err
		}
		return s.control(ctx, in.ID, object("mcp_message", member{"server_name", name}, member{"message", in.Body.Message}), wire.ScopeAdmin)
	}, ofAgent()...)
}

// A member is a member of an object; its value is JSON.
type member struct {
	name  string
	value []byte
}

// object returns the body of a control request, with values as they are.
func object(subtype string, members ...member) json.RawMessage {
	b := append(append([]byte(`{"subtype":"`), subtype...), '"')
	for _, m := range members {
		b = append(append(append(b, `,"`...), m.name...), `":`...)
		b = append(b, m.value...)
	}
	return append(b, '}')
}

// ofFiles names a session and the beginning of a path in it.
type ofFiles struct {
	OfSession
	Query string `query:"q" maxLength:"1024" doc:"Beginning or part of a path"`
}

// maxFiles is how many files are suggested. A CLI names a handful.
const maxFiles = 100

// suggestFiles asks the CLI for files.
func (s *Server) suggestFiles(ctx context.Context, in *ofFiles) (*answer[api.FileSuggestions], error) {
	raw, err := s.hub.Control(ctx, actor(ctx), in.ID, &wire.FileSuggestionsRequest{Query: in.Query})
	if err != nil {
		return nil, err
	}
	var told wire.FileSuggestionsAnswer
	if err := json.Unmarshal(orEmpty(raw), &told); err != nil {
		return nil, unreadable("file_suggestions")
	}
	out := &api.FileSuggestions{Files: []string{}, Dir: told.Cwd}
	for i := range told.Suggestions[:min(len(told.Suggestions), maxFiles)] {
		out.Files = append(out.Files, told.Suggestions[i].Path)
	}
	return &answer[api.FileSuggestions]{Body: out}, nil
}

// request sends a control request that was built here, if the client may send it:
// by the table for lines to the CLI, and no less than the operation's own right.
func (s *Server) request(ctx context.Context, id string, r wire.Request) (*answer[api.ControlResult], error) {
	line, err := wire.NewRequest("v1", r)
	if err != nil {
		return nil, invalid(err)
	}
	return s.controlLine(ctx, id, line, r, wire.ScopeObserve)
}

// control sends a control request that a client wrote, which needs the right that
// it needs, and least anyway.
func (s *Server) control(ctx context.Context, id string, body json.RawMessage, least wire.Scope) (*answer[api.ControlResult], error) {
	if !isObject(body) {
		return nil, api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "The request isn't a JSON object")
	}
	line := append(append([]byte(`{"type":"control_request","request_id":"v1","request":`), oneLine(body)...), '}')
	line = wire.TranslateRequest(line)
	if err := wire.Validate(line); err != nil {
		return nil, invalid(err)
	}
	decoded, err := wire.Decode(line)
	if err != nil {
		return nil, invalid(err)
	}
	request, ok := decoded.(*wire.ControlRequest)
	if !ok || request.Request == nil {
		return nil, api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "Claude Code doesn't know this request")
	}
	return s.controlLine(ctx, id, line, request.Request, least)
}

// controlLine sends a request, whose line is only looked at.
func (s *Server) controlLine(ctx context.Context, id string, line []byte, r wire.Request, least wire.Scope) (*answer[api.ControlResult], error) {
	scope := wire.ScopeOf(line, nil)
	if scope == wire.ScopeNone {
		return nil, api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "Claude Code doesn't know this request")
	}
	if _, e := access.Require(ctx, max(scope, least)); e != nil {
		return nil, e
	}
	raw, err := s.hub.Control(ctx, actor(ctx), id, r)
	if err != nil {
		return nil, err
	}
	return &answer[api.ControlResult]{Body: &api.ControlResult{Response: raw}}, nil
}

// isObject reports whether JSON is an object.
func isObject(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == '{'
}

// invalid says what is wrong with a line that a client wanted to be sent.
func invalid(err error) *api.Error {
	e := api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "The agent could not take this request")
	e.Detail = err.Error()
	return e
}

// unreadable says that the CLI answered something that cannot be understood.
func unreadable(subtype string) *api.Error {
	e := api.Errorf(http.StatusUnprocessableEntity, api.CodeRefused, "The agent's answer to %s can't be read", subtype)
	e.Hint = "The log of the session has it."
	return e
}

// orEmpty returns an answer's body, which may be missing.
func orEmpty(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// oneLine returns JSON without line breaks, which only stand between tokens.
func oneLine(raw []byte) []byte {
	raw = bytes.Clone(raw)
	onOneLine(raw)
	return raw
}

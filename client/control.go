package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/switchboard-dev/switchboard/api"
)

// Control sends a control request to the CLI in its own form and returns the body
// of its answer. It needs the right admin. What the CLI refuses comes back as an
// error with the code [api.CodeRefused].
func (c *Client) Control(ctx context.Context, id string, in api.Control) (*api.ControlResult, error) {
	return call[api.ControlResult](ctx, c, http.MethodPost, sessionPath(id, "/control"), nil, in)
}

// Rewind restores files as they were before a message, or, with DryRun, says what
// that would change.
func (c *Client) Rewind(ctx context.Context, id string, in api.Rewind) (*api.RewindResult, error) {
	return call[api.RewindResult](ctx, c, http.MethodPost, sessionPath(id, "/rewind"), nil, in)
}

// Context asks the CLI what its context is full of, and returns its answer.
func (c *Client) Context(ctx context.Context, id string) (*api.ControlResult, error) {
	return call[api.ControlResult](ctx, c, http.MethodGet, sessionPath(id, "/context"), nil, nil)
}

// Files asks the CLI for files whose paths begin with, or contain, a text: what a
// mention in a message may mean. Versions that cannot do it refuse with
// [api.CodeUnsupported].
func (c *Client) Files(ctx context.Context, id, text string) (*api.FileSuggestions, error) {
	q := url.Values{}
	set(q, "q", text)
	return call[api.FileSuggestions](ctx, c, http.MethodGet, sessionPath(id, "/files"), q, nil)
}

// Environment changes variables of the agent's environment, where its version
// knows how to.
func (c *Client) Environment(ctx context.Context, id string, in api.Environment) error {
	return c.do(ctx, http.MethodPost, sessionPath(id, "/environment"), nil, in, nil)
}

// MCP asks the CLI how its MCP servers are, and returns its answer.
func (c *Client) MCP(ctx context.Context, id string) (*api.ControlResult, error) {
	return call[api.ControlResult](ctx, c, http.MethodGet, sessionPath(id, "/mcp"), nil, nil)
}

// SetMCPServers replaces the MCP servers that the agent was given while it ran,
// and returns the CLI's answer.
func (c *Client) SetMCPServers(ctx context.Context, id string, in api.SetMCPServers) (*api.ControlResult, error) {
	return call[api.ControlResult](ctx, c, http.MethodPut, sessionPath(id, "/mcp"), nil, in)
}

// ToggleMCPServer switches an MCP server of the agent on or off.
func (c *Client) ToggleMCPServer(ctx context.Context, id, server string, in api.ToggleMCPServer) (*api.ControlResult, error) {
	return call[api.ControlResult](ctx, c, http.MethodPost, serverPath(id, server, "/toggle"), nil, in)
}

// ReconnectMCPServer has the agent connect to an MCP server again.
func (c *Client) ReconnectMCPServer(ctx context.Context, id, server string) (*api.ControlResult, error) {
	return call[api.ControlResult](ctx, c, http.MethodPost, serverPath(id, server, "/reconnect"), nil, nil)
}

// SendMCPMessage sends a JSON-RPC message to an MCP server of the agent.
func (c *Client) SendMCPMessage(ctx context.Context, id, server string, message json.RawMessage) (*api.ControlResult, error) {
	return call[api.ControlResult](ctx, c, http.MethodPost, serverPath(id, server, "/message"), nil, api.MCPMessage{Message: message})
}

func serverPath(id, server, rest string) string {
	return sessionPath(id, "/mcp/"+url.PathEscape(server)+rest)
}

// Archive puts a session away: lists leave it out unless they are asked for it.
func (c *Client) Archive(ctx context.Context, id string) (*api.Session, error) {
	return call[api.Session](ctx, c, http.MethodPost, sessionPath(id, "/archive"), nil, nil)
}

// Unarchive takes a session out of the archive.
func (c *Client) Unarchive(ctx context.Context, id string) (*api.Session, error) {
	return call[api.Session](ctx, c, http.MethodPost, sessionPath(id, "/unarchive"), nil, nil)
}

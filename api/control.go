package api

import "encoding/json"

// Control is a control request to the CLI in its own form.
type Control struct {
	Request json.RawMessage `json:"request" doc:"The request's body: an object with subtype"`
}

// A ControlResult is the CLI's answer to a control request.
type ControlResult struct {
	Response json.RawMessage `json:"response,omitempty" doc:"The body of the CLI's response"`
}

// Rewind restores files as they were before a message. It needs file checkpoints,
// which the server switches on for the agents that it starts.
type Rewind struct {
	UserMessageID string `json:"user_message_id" doc:"The uuid of the message"`
	DryRun        bool   `json:"dry_run,omitempty" doc:"Only report what would change"`
}

// A RewindResult says what a rewind did or would do.
type RewindResult struct {
	CanRewind    bool     `json:"can_rewind"`
	FilesChanged []string `json:"files_changed,omitempty"`
	Insertions   int64    `json:"insertions,omitempty"`
	Deletions    int64    `json:"deletions,omitempty"`
	Error        string   `json:"error,omitempty" doc:"Why it cannot be done"`
}

// FileSuggestions are files that a mention in a message may mean.
type FileSuggestions struct {
	Files []string `json:"files" doc:"Their paths, best match first"`
	Dir   string   `json:"dir,omitempty" doc:"The folder in which the paths begin"`
}

// Environment changes variables of the agent's environment.
type Environment struct {
	Variables map[string]string `json:"variables" doc:"By name; the values are not shown again, and not stored"`
}

// SetMCPServers replaces the MCP servers that the agent was given while it ran.
type SetMCPServers struct {
	Servers json.RawMessage `json:"servers" doc:"MCP servers by name, as in the CLI's configuration"`
}

// ToggleMCPServer switches an MCP server on or off.
type ToggleMCPServer struct {
	Enabled bool `json:"enabled"`
}

// MCPMessage is a JSON-RPC message for an MCP server of the agent.
type MCPMessage struct {
	Message json.RawMessage `json:"message"`
}

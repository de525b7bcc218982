package claudemcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchboard-dev/switchboard/claude"
)

// NewPermissionTool makes the tool that a CLI asks for permissions when it was
// started with it as [claude.Options.PermissionPromptTool]. Every call is a question
// to the session, as those that the CLI asks with can_use_tool: Options.OnQuestion
// or [claude.Session.Answer] answers it. If the question is withdrawn, the tool
// fails, which the CLI takes for a refusal.
//
//	session, err := claude.Start(ctx, &claude.Options{
//		MCPServers: map[string]claude.MCPServer{
//			"town": claudemcp.NewServer("town", "1.0.0", nil, claudemcp.NewPermissionTool("ask"), weather),
//		},
//		PermissionPromptTool: "mcp__town__ask",
//		OnQuestion:           ask,
//	})
//
// It needs 2.1.120: 2.1.37 looks for the tool before it knows of servers in a
// program. The CLI brings no suggestions with such a call, and does not withdraw it when it is
// decided elsewhere; where a program is free to choose, the default, "stdio", has
// both.
func NewPermissionTool(name string) *Tool {
	tool := NewTool(name, "Asks the user whether a tool may be used. It is called by Claude Code itself.",
		func(ctx context.Context, _ map[string]any) (string, error) {
			request := Request(ctx)
			if request == nil || request.Params == nil {
				return "", errors.New("the tool was not called by a CLI")
			}
			var call claude.PermissionCall // as it came: a number keeps its digits
			if err := json.Unmarshal(request.Params.Arguments, &call); err != nil {
				return "", fmt.Errorf("reading the call: %w", err)
			}
			answer, err := claude.AskPermission(ctx, call)
			return string(answer), err
		})
	tool.InputSchema = map[string]any{
		"type": "object",
		"properties": map[string]any{
			"tool_name":   map[string]any{"type": "string"},
			"input":       map[string]any{"type": "object"},
			"tool_use_id": map[string]any{"type": "string"},
		},
		"required": []string{"tool_name", "input"},
	}
	return tool
}

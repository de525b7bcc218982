package claude

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchboard-dev/switchboard/wire"
)

// A PermissionCall is what a CLI asks the MCP tool that Options.PermissionPromptTool
// names: whether a tool may be used.
type PermissionCall struct {
	// Tool is the tool that the model wants to use.
	Tool string `json:"tool_name"`
	// Input are its arguments, an object.
	Input json.RawMessage `json:"input"`
	// ToolUseID is the model's call.
	ToolUseID string `json:"tool_use_id,omitempty"`
}

// ErrNoSession is returned by [AskPermission] for a context that is not that of a
// call by a session's CLI.
var ErrNoSession = errors.New("the context is not that of a call by the CLI of a session")

// routerKey is the key of a session's router in the contexts of its MCP servers.
type routerKey struct{}

// AskPermission asks the question of a CLI that asks an MCP tool for permissions, as
// if it had asked with can_use_tool: OnQuestion, [Session.Questions] and
// [Session.Pending] have it, and a call of AskUserQuestion or ExitPlanMode is a
// choice or a plan. It returns the answer as the object that the CLI expects, as
// text, from such a tool.
//
// ctx is the context of the call: the one that [MCPConnection.Receive] has, or one
// with the values of that of [MCPServer.Connect], as in the tools of package
// claudemcp, which has this tool ready. When it ends, the question is withdrawn. An
// error means that there is no answer, which a tool must not take for consent; the
// CLI takes the failure of the tool for a refusal.
func AskPermission(ctx context.Context, call PermissionCall) (json.RawMessage, error) {
	d, ok := ctx.Value(routerKey{}).(*requestRouter)
	if !ok {
		return nil, fmt.Errorf("asking for permission: %w", ErrNoSession)
	}
	if call.Tool == "" {
		return nil, errors.New("asking for permission: the call names no tool")
	}
	if input := bytes.TrimSpace(call.Input); len(input) == 0 || input[0] != '{' || !json.Valid(input) {
		return nil, errors.New("asking for permission: the input isn't a JSON object")
	}
	answer, err := d.askByTool(ctx, &wire.ControlRequest{
		RequestID: "tool-" + rand.Text(),
		Request:   &wire.CanUseToolRequest{ToolName: call.Tool, Input: call.Input, ToolUseID: call.ToolUseID},
	})
	if err != nil {
		return nil, fmt.Errorf("asking for permission: %w", err)
	}
	return answer, nil
}

// askByTool asks a question whose answer a function of the program waits for.
func (d *requestRouter) askByTool(ctx context.Context, request *wire.ControlRequest) (json.RawMessage, error) {
	if err := d.await(ctx); err != nil {
		return nil, err
	}
	q, _, _ := d.openQuestion(request, asking{byTool: true})
	if q == nil { // the session has ended
		return nil, withdrawal(context.Cause(d.ctx))
	}
	d.pose(q)
	select {
	case <-q.Done():
	case <-ctx.Done():
		d.withdraw(q.base(), withdrawal(context.Cause(ctx)))
	}
	line := q.base().given
	if line == nil {
		return nil, q.Err()
	}
	body, _ := wire.Lookup(line, "response")
	answer, ok := wire.Lookup(body, "response")
	if !ok {
		return nil, errors.New("the question was refused")
	}
	return bytes.Clone(answer), nil
}

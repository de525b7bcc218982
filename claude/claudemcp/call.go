package claudemcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// metaToolUseID is the member of a call's _meta with the id of the model's call.
const metaToolUseID = "claudecode/toolUseId"

// requestKey is the key of the call in a tool's context.
type requestKey struct{}

// Request returns the call that a tool runs for: its raw arguments, its _meta, and
// the MCP session, by which the CLI can be asked something or the user given a
// form. It is nil if ctx is not the context of a tool.
func Request(ctx context.Context) *mcp.CallToolRequest {
	request, _ := ctx.Value(requestKey{}).(*mcp.CallToolRequest)
	return request
}

// ToolUseID returns the id of the model's call that a tool runs for, by which it
// is found in messages, permission questions and hooks. It is empty if the CLI
// did not tell it.
func ToolUseID(ctx context.Context) string {
	request := Request(ctx)
	if request == nil || request.Params == nil {
		return ""
	}
	id, _ := request.Params.Meta[metaToolUseID].(string)
	return id
}

// Progress tells the CLI how far a tool is: done of total (zero if it is not
// known), and in words. It does nothing if ctx is not the context of a tool or the
// CLI does not want to know. An error means that the CLI was not told; the call
// goes on.
func Progress(ctx context.Context, done, total float64, message string) error {
	request := Request(ctx)
	if request == nil || request.Params == nil || request.Session == nil {
		return nil
	}
	token := request.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	err := request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: total, Message: message})
	if err != nil {
		return fmt.Errorf("telling the progress of %s: %w", request.Params.Name, err)
	}
	return nil
}

// guard is the middleware around everything that the server is asked: a program
// must not end because of one tool, and no request may stay without an answer.
func (s *Server) guard(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (result mcp.Result, err error) {
		tool, isCall := request.(*mcp.CallToolRequest)
		defer func() {
			if p := recover(); p != nil {
				s.logPanic(ctx, method, tool, p)
				result, err = failed(tool, fmt.Errorf("panic: %v", p))
			}
		}()
		if !isCall {
			result, err = next(ctx, method, request)
			return checked(result, err)
		}
		ctx = context.WithValue(ctx, requestKey{}, tool)
		if s.options.Timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, s.options.Timeout, fmt.Errorf("it took longer than %v", s.options.Timeout))
			defer cancel()
		}
		result, err = next(ctx, method, request)
		return checked(explained(ctx, tool, result, err))
	}
}

// failed is the answer for a request whose handler failed in an unexpected way:
// the failure of the tool, or an error of the protocol where there is no tool.
func failed(tool *mcp.CallToolRequest, err error) (mcp.Result, error) {
	if tool == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	result := &mcp.CallToolResult{}
	result.SetError(fmt.Errorf("the tool %s failed: %w", tool.Params.Name, err))
	return result, nil
}

// explained says in plain words that a tool has run into the time limit.
func explained(ctx context.Context, tool *mcp.CallToolRequest, result mcp.Result, err error) (mcp.Result, error) {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return result, err
	}
	failure := err
	if r, ok := result.(*mcp.CallToolResult); ok && r != nil && r.IsError {
		failure = r.GetError()
	}
	if !errors.Is(failure, context.DeadlineExceeded) {
		return result, err
	}
	return failed(tool, context.Cause(ctx))
}

// checked makes an error of a result that cannot be encoded, for which the MCP SDK
// would send nothing. What is JSON already, as the results of typed tools are, is
// not encoded a second time.
func checked(result mcp.Result, err error) (mcp.Result, error) {
	if err != nil || result == nil {
		return result, err
	}
	var suspect any = result
	if r, ok := result.(*mcp.CallToolResult); ok && r != nil {
		_, encoded := r.StructuredContent.(json.RawMessage)
		if (encoded || r.StructuredContent == nil) && r.Meta == nil {
			return result, nil
		}
		suspect = []any{r.StructuredContent, r.Meta}
	}
	if _, err := json.Marshal(suspect); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "encoding the result: " + err.Error()}
	}
	return result, nil
}

// logPanic tells the program of a panic that it would otherwise not see.
func (s *Server) logPanic(ctx context.Context, method string, tool *mcp.CallToolRequest, p any) {
	logger := s.options.Logger
	if logger == nil {
		logger = slog.Default()
	}
	name := ""
	if tool != nil {
		name = tool.Params.Name
	}
	logger.ErrorContext(ctx, "panic in an MCP server", "method", method, "tool", name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
}

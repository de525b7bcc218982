package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// How long the CLI waits for each step of a handshake.
const (
	mcpLimit      = 60 * time.Second
	mcpShortLimit = 30 * time.Second // of the newest version
)

// An openCall is a call of a tool that the server has not answered.
type openCall struct {
	id        int
	agent     bool // of a background agent: an interrupt does not end it
	cancelled bool // the server was told
}

// An mcpFault is why a server gave no result.
type mcpFault struct {
	code    int // of a JSON-RPC error; 0: there is none
	message string
}

// Error says what the server said, or the controller in its place.
func (f *mcpFault) Error() string { return f.message }

// sendMCP sends a JSON-RPC message to a server of the controller.
func (e *engine) sendMCP(s *mcpServer, message members) (*ask, error) {
	return e.open(&ask{agent: true, quiet: true}, members{"subtype", "mcp_message", "server_name", s.name, "message", message})
}

// notifyMCP sends a notification. The controller answers it, but no goroutine waits for that.
func (e *engine) notifyMCP(s *mcpServer, method string, params members) {
	message := members{"method", method}.when(params != nil, "params", params).with("jsonrpc", "2.0")
	_, _ = e.sendMCP(s, message) // it fails after the end of input, when no controller reads it
}

// callMCP sends a JSON-RPC request and waits for its result.
func (e *engine) callMCP(ctx context.Context, s *mcpServer, id int, method string, params members, limit time.Duration) (json.RawMessage, error) {
	question, err := e.sendMCP(s, members{"method", method}.when(params != nil, "params", params).with("jsonrpc", "2.0", "id", id))
	if err != nil {
		return nil, err
	}
	return e.awaitMCP(ctx, question, limit)
}

// awaitMCP waits for the result of a JSON-RPC request.
func (e *engine) awaitMCP(ctx context.Context, question *ask, limit time.Duration) (json.RawMessage, error) {
	answer, err := e.await(ctx, question, limit)
	if err != nil {
		return nil, err
	}
	if answer.subtype != "success" {
		return nil, &mcpFault{message: answer.message}
	}
	var body struct {
		Response struct {
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		} `json:"mcp_response"`
	}
	if err := json.Unmarshal(answer.body, &body); err != nil {
		return nil, &mcpFault{message: "the answer is no mcp_response"}
	}
	if body.Response.Error != nil {
		return nil, &mcpFault{code: body.Response.Error.Code, message: body.Response.Error.Message}
	}
	return body.Response.Result, nil
}

// openServers begins a handshake with each of the servers, which are the controller's; a server that is named twice gets two. Their first lines
// are written when it returns. All handshakes count as under way before the first line is written: the real CLI reads no answer in between, so
// that the first handshake with a server is never over before the second has begun.
func (e *engine) openServers(servers ...*mcpServer) {
	e.mu.Lock()
	for _, s := range servers {
		if s.shakes == 0 {
			s.settled = make(chan struct{})
		}
		s.shakes++
		s.late = false
	}
	e.mu.Unlock()
	for _, s := range servers {
		e.beginHandshake(s)
	}
}

// beginHandshake writes the first line of a handshake that was counted, and leaves the rest of it to a task.
func (e *engine) beginHandshake(s *mcpServer) {
	client := members{"name", "claude-code"}
	if e.quirks.MCPTitled {
		client = client.with("title", "Claude Code", "description", "A simulation of Claude Code", "websiteUrl", "https://claude.com/claude-code")
	}
	question, err := e.sendMCP(s, members{
		"method", "initialize",
		"params",
		members{"protocolVersion", "2025-11-25", "capabilities", members{}, "clientInfo", client.with("version", e.quirks.Version.String())},
		"jsonrpc", "2.0", "id", 0,
	})
	e.tasks.Go(func() { // ends with the handshake, or with the process
		var opened mcpServer
		if err == nil {
			opened, err = e.shakeHands(s, question)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		if s.status = mcpConnected; err != nil {
			s.status, s.failure = mcpFailed, err.Error()
		}
		if s.info = opened.info; !opened.listing {
			s.tools, s.next = opened.tools, opened.next
		}
		if s.shakes--; s.shakes == 0 {
			s.listing = false
			close(s.settled)
		}
	})
}

// shakeHands completes a handshake whose first message was sent.
func (e *engine) shakeHands(s *mcpServer, question *ask) (opened mcpServer, err error) {
	limit := mcpLimit
	if e.quirks.MCPShortLimit {
		limit = mcpShortLimit
	}
	raw, err := e.awaitMCP(e.ctx, question, limit)
	if err != nil {
		if errors.Is(err, errNoAnswer) && !e.quirks.MCPShortLimit {
			e.notifyMCP(s, "notifications/cancelled", members{"requestId", 0, "reason", "McpError: MCP error -32001: Request timed out"})
		}
		return opened, err
	}
	var hello struct {
		Capabilities struct {
			Tools json.RawMessage `json:"tools"`
		} `json:"capabilities"`
		Info json.RawMessage `json:"serverInfo"`
	}
	if err := json.Unmarshal(raw, &hello); err != nil {
		return opened, fmt.Errorf("reading the server's greeting: %w", err)
	}
	e.notifyMCP(s, "notifications/initialized", nil)
	opened.info, opened.next = hello.Info, 1
	if !has(hello.Capabilities.Tools) {
		return opened, nil
	}
	e.mu.Lock()
	opened.listing = s.listing && e.quirks.MCPListsOnce
	s.listing = true
	e.mu.Unlock()
	if opened.listing {
		return opened, nil // the other handshake brings the tools
	}
	opened.next++
	opened.tools, err = e.listTools(s, 1)
	return opened, err
}

// listTools asks a server for its tools.
func (e *engine) listTools(s *mcpServer, id int) ([]mcpTool, error) {
	raw, err := e.callMCP(e.ctx, s, id, "tools/list", nil, mcpLimit)
	if err != nil {
		return nil, err
	}
	var list struct {
		Tools []mcpTool `json:"tools"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("reading the server's tools: %w", err)
	}
	return list.Tools, nil
}

// mcpMessage answers mcp_message, by which a server of the controller speaks up. It is always a success.
func (e *engine) mcpMessage(r controlRequest) *exit {
	var request struct {
		Server  string `json:"server_name"`
		Message struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		} `json:"message"`
	}
	r.read(&request)
	s := e.server(request.Server)
	if s == nil || !s.sdk() {
		e.succeed(r, nil)
		return nil
	}
	if message := request.Message; has(message.ID) && message.Method != "" {
		reply := members{"jsonrpc", "2.0", "id", message.ID, "error", members{"code", -32601, "message", "Method not found"}}
		if message.Method == "ping" {
			reply = members{"jsonrpc", "2.0", "id", message.ID, "result", members{}}
		}
		_, _ = e.sendMCP(s, reply) // it fails after the end of input, when no controller reads it
	}
	e.succeed(r, nil)
	if request.Message.Method == "notifications/tools/list_changed" && e.quirks.MCPFollowsChanges {
		e.relist(s)
	}
	return nil
}

// relist asks a connected server for its tools again.
func (e *engine) relist(s *mcpServer) {
	e.mu.Lock()
	connected, id := s.status == mcpConnected, s.next
	if connected {
		s.next++
	}
	e.mu.Unlock()
	if !connected {
		return
	}
	e.tasks.Go(func() { // ends with the answer, or with the process
		tools, err := e.listTools(s, id)
		if err != nil {
			return // the old ones stay
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		s.tools = tools
	})
}

// mcpTools are the tools of all connected servers as the model calls them.
func (e *engine) mcpTools() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var names []string
	for _, s := range e.mcp.servers {
		for _, tool := range s.tools {
			if s.status == mcpConnected {
				names = append(names, s.toolName(tool.Name))
			}
		}
	}
	return names
}

// findTool returns a connected server's tool by the name that the model calls it by; nil if there is none.
func (e *engine) findTool(name string) (*mcpServer, mcpTool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.mcp.servers {
		for _, tool := range s.tools {
			if s.status == mcpConnected && s.toolName(tool.Name) == name {
				return s, tool
			}
		}
	}
	return nil, mcpTool{}
}

// missingTool reports whether a call is for a tool of a server that is not there. A tool whose outcome is scripted is there.
func (e *engine) missingTool(t *turn, th *thread, call ToolCall, number int) bool {
	if !strings.HasPrefix(call.Name, "mcp__") {
		return false
	}
	if s, _ := e.findTool(call.Name); s != nil {
		return false
	}
	told := t.outcome
	if th.agent != nil {
		told = th.outcome
	}
	if _, scripted := told[number]; scripted {
		return false
	}
	if e.outcome == nil {
		return true
	}
	_, scripted := e.outcome(call)
	return !scripted
}

// mcpServerOf is how hooks and questions name the server of a call; nil for a tool of no server of the controller.
func (e *engine) mcpServerOf(call ToolCall) members {
	s, _ := e.findTool(call.Name)
	if s == nil {
		return nil
	}
	return members{"name", s.name, "source", s.source()}
}

// mcpQuestion adds to a question for permission what there is to say about the tool's server.
func (e *engine) mcpQuestion(call ToolCall, question members) members {
	server := e.mcpServerOf(call)
	if server == nil || !e.quirks.MCPDetails {
		return question
	}
	return question.with("mcp_server", server)
}

// mcpMeta describes the calls of servers' tools in a message, for programs that show it.
func (e *engine) mcpMeta(blocks []json.RawMessage) []members {
	if !e.quirks.MCPDetails {
		return nil
	}
	var list []members
	for _, raw := range blocks {
		var block struct{ Type, ID, Name string }
		if json.Unmarshal(raw, &block) != nil || block.Type != "tool_use" || !strings.HasPrefix(block.Name, "mcp__") {
			continue
		}
		meta := members{"id", block.ID, "display_name", mcpTitle(block.Name)}
		if s, tool := e.findTool(block.Name); s != nil {
			if tool.Annotations.Title != "" {
				meta = members{"id", block.ID, "display_name", tool.Annotations.Title}
			}
			meta = meta.with("server_display_name", s.name, "tool_name", tool.Name)
		}
		list = append(list, meta)
	}
	return list
}

// mcpTitle is how people are shown a server's tool: its own name, with a capital.
func mcpTitle(name string) string {
	parts := strings.SplitN(name, "__", 3)
	words := strings.Fields(strings.ReplaceAll(parts[len(parts)-1], "_", " "))
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, " ")
}

// playMCP calls a tool of a server of the controller.
func (e *engine) playMCP(t *turn, th *thread, call ToolCall) (playedResult, error) {
	s, tool := e.findTool(call.Name)
	if s == nil {
		return noSuchTool(call), nil // it went while the permission was asked for
	}
	ctx := t.ctxOf(th)
	e.mu.Lock()
	open := &openCall{id: s.next, agent: th.agent != nil && th.agent.background}
	s.next++
	s.calls = append(s.calls, open)
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		s.calls = slices.DeleteFunc(s.calls, func(c *openCall) bool { return c == open })
	}()
	params := members{"name", tool.Name, "arguments", call.Input, "_meta", members{"claudecode/toolUseId", call.ID, "progressToken", open.id}}
	raw, err := e.callMCP(ctx, s, open.id, "tools/call", params, 0)
	if ctx.Err() != nil {
		e.cancelCall(s, open)
		return e.stoppedCall(), context.Cause(ctx)
	}
	if err != nil {
		return playedResult{content: e.mcpError(err), failed: true, detail: "Error: " + e.mcpError(err)}, nil
	}
	return e.mcpResult(call, raw), nil
}

// noSuchTool is the result of a call of a tool that there is not.
func noSuchTool(call ToolCall) playedResult {
	text := "Error: No such tool available: " + call.Name
	return playedResult{content: "<tool_use_error>" + text + "</tool_use_error>", failed: true, detail: text}
}

// stoppedCall is the result of a call that an interrupt ended.
func (e *engine) stoppedCall() playedResult {
	if !e.quirks.MCPErrorPrefix {
		return e.rejected()
	}
	const text = "MCP error -32001: AbortError: This operation was aborted"
	return playedResult{content: text, failed: true, detail: "Error: " + text}
}

// mcpError is the text of a call that gave no result.
func (e *engine) mcpError(err error) string {
	var fault *mcpFault
	if errors.As(err, &fault) && fault.code != 0 && e.quirks.MCPErrorPrefix {
		return fmt.Sprintf("MCP error %d: %s", fault.code, fault.message)
	}
	return err.Error()
}

// cancelCall tells a server that the result of a call is not wanted any more.
func (e *engine) cancelCall(s *mcpServer, call *openCall) {
	e.mu.Lock()
	told := call.cancelled
	call.cancelled = true
	e.mu.Unlock()
	if !told {
		e.notifyMCP(s, "notifications/cancelled", members{"requestId", call.id, "reason", "AbortError: This operation was aborted"})
	}
}

// cancelCalls tells the servers of all calls that an interrupt ends.
func (e *engine) cancelCalls() {
	for _, s := range e.serversWhere(func(s *mcpServer) bool { return len(s.calls) > 0 }) {
		e.mu.Lock()
		calls := slices.Clone(s.calls)
		e.mu.Unlock()
		for _, call := range calls {
			if !call.agent {
				e.cancelCall(s, call)
			}
		}
	}
}

// mcpResult is what the model and the controller are told about a server's result.
func (e *engine) mcpResult(call ToolCall, raw json.RawMessage) playedResult {
	var result struct {
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"`
		IsError    bool              `json:"isError"`
		Meta       json.RawMessage   `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		text := "the server's result has no valid content"
		return playedResult{content: text, failed: true, detail: "Error: " + text}
	}
	blocks := []any{}
	var texts []string
	for _, content := range result.Content {
		block, text := mcpBlock(content)
		blocks, texts = append(blocks, block), append(texts, text)
	}
	if result.IsError {
		text := strings.Join(texts, "\n")
		return playedResult{content: text, failed: true, detail: "Error: " + text}
	}
	var content, detail any = blocks, blocks
	if has(result.Structured) {
		text := string(compactJSON(result.Structured))
		content, detail = text, text
	} else if len(blocks) == 0 && e.quirks.MCPEmptyTold {
		content = "(" + call.Name + " completed with no output)"
	}
	if has(result.Structured) || has(result.Meta) {
		detail = members{"content", detail}.when(has(result.Meta), "_meta", result.Meta).when(has(result.Structured), "structuredContent", result.Structured)
	}
	return playedResult{content: content, detail: detail}
}

// mcpBlock makes a block of a server's result one of the model's, and returns its text.
func mcpBlock(raw json.RawMessage) (block any, text string) {
	var content struct {
		Type, Text, Data, URI, Name string
		MIMEType                    string `json:"mimeType"`
		Resource                    struct {
			URI, Text string
		}
	}
	_ = json.Unmarshal(raw, &content) // what does not fit is an empty text
	switch content.Type {
	case "image":
		return members{"type", "image", "source", members{"type", "base64", "media_type", content.MIMEType, "data", content.Data}}, ""
	case "resource":
		content.Text = "[Resource at " + content.Resource.URI + "] " + content.Resource.Text
	case "resource_link":
		content.Text = "[Resource link: " + content.Name + "] " + content.URI
	}
	return members{"type", "text", "text", content.Text}, content.Text
}

// readResource answers mcp_read_resource, for which no server of a simulation is connected.
func (e *engine) readResource(r controlRequest) *exit {
	var request struct {
		Server string `json:"server"`
		Name   string `json:"serverName"`
	}
	r.read(&request)
	e.fail(r, "Server not found: "+request.Server+request.Name, "")
	return nil
}

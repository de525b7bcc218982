package claudetest

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strconv"
)

// hookBatch tells the PostToolBatch hooks that all tools of a message have run.
func (e *engine) hookBatch(t *turn, th *thread, calls []ToolCall, results []members) {
	if !e.quirks.HookEvents {
		return
	}
	told := []members{}
	for i, call := range calls {
		if results[i] != nil {
			told = append(told, members{"tool_name", e.hookTool(call.Name), "tool_input", call.Input, "tool_use_id", call.ID, "tool_response", memberOf(results[i], "content")})
		}
	}
	for _, answer := range e.runHooks(t.ctxOf(th), hookRun{event: "PostToolBatch", turn: t, thread: th, input: members{"tool_calls", told}}) {
		if answer.Output.Context != "" {
			e.hookTells(th, "PostToolBatch hook additional context: "+answer.Output.Context)
		}
	}
}

// memberOf returns the value of a member, nil if there is none.
func memberOf(m members, name string) any {
	for i := 0; i+1 < len(m); i += 2 {
		if m[i] == name {
			return m[i+1]
		}
	}
	return nil
}

// hookFailure tells the StopFailure hooks that a turn ended because of the API. The oldest version tells the Stop hooks.
func (e *engine) hookFailure(t *turn, failure *apiFailure, text string) {
	if !e.quirks.HookEvents {
		e.runHooks(t.ctx, hookRun{event: "Stop", turn: t, thread: e.main, input: e.stopInput(false, "", text)})
		return
	}
	name := e.quirks.errorName(failure)
	e.runHooks(t.ctx, hookRun{event: "StopFailure", subject: name, turn: t, thread: e.main, input: members{"error", name, "last_assistant_message", text}})
}

// hookExpansion tells the UserPromptExpansion hooks that a command of the CLI's becomes a prompt.
func (e *engine) hookExpansion(t *turn, p prompt) {
	name, args := commandName(p.text)
	if name == "" || !e.quirks.HookEvents || e.flags.DisableSlash {
		return
	}
	for _, known := range e.commandNames() {
		if known == name {
			e.runHooks(t.ctx, hookRun{event: "UserPromptExpansion", subject: name, turn: t, thread: e.main, input: members{
				"expansion_type", "slash_command", "command_name", name, "command_args", args, "command_source", "builtin", "prompt", p.text,
			}})
		}
	}
}

// hookTask tells the hooks that a tool makes a task or completes one.
func (e *engine) hookTask(t *turn, th *thread, call ToolCall) {
	var input struct {
		Subject     string `json:"subject"`
		Description string `json:"description"`
		ID          string `json:"taskId"`
		Status      string `json:"status"`
	}
	if json.Unmarshal(call.Input, &input) != nil {
		return
	}
	e.mu.Lock()
	event := ""
	switch {
	case call.Name == "TaskCreate":
		e.todo = append(e.todo, members{"task_subject", input.Subject, "task_description", input.Description})
		input.ID = strconv.Itoa(len(e.todo))
		if e.quirks.HookEvents {
			event = "TaskCreated"
		}
	case call.Name == "TaskUpdate" && input.Status == "completed":
		event = "TaskCompleted"
	}
	told := members{"task_id", input.ID}
	if n, err := strconv.Atoi(input.ID); err == nil && n > 0 && n <= len(e.todo) {
		told = told.with(e.todo[n-1]...)
	}
	e.mu.Unlock()
	if event != "" {
		e.runHooks(t.ctxOf(th), hookRun{event: event, turn: t, thread: th, input: told})
	}
}

// hookWorktree tells the hooks about a worktree that a tool enters or leaves. None is made.
func (e *engine) hookWorktree(t *turn, th *thread, call ToolCall) {
	var input struct {
		Name   string `json:"name"`
		Action string `json:"action"`
	}
	if json.Unmarshal(call.Input, &input) != nil || !e.quirks.HookEvents {
		return
	}
	switch {
	case call.Name == "EnterWorktree":
		e.mu.Lock()
		e.worktree = filepath.Join(e.dir, ".claude", "worktrees", input.Name)
		e.mu.Unlock()
		for _, answer := range e.runHooks(t.ctxOf(th), hookRun{event: "WorktreeCreate", turn: t, thread: th, input: members{"name", input.Name}}) {
			if path := answer.Output.Worktree; path != "" {
				e.mu.Lock()
				e.worktree = path
				e.mu.Unlock()
			}
		}
	case call.Name == "ExitWorktree" && input.Action == "remove":
		e.mu.Lock()
		path := e.worktree
		e.mu.Unlock()
		e.runHooks(t.ctxOf(th), hookRun{event: "WorktreeRemove", turn: t, thread: th, input: members{"worktree_path", path}})
	}
}

// hookDenied tells the PermissionDenied hooks that the check of mode auto refused a call.
func (e *engine) hookDenied(t *turn, th *thread, call ToolCall, reason string) {
	if e.quirks.HookEvents {
		e.runHooks(t.ctxOf(th), e.toolRun("PermissionDenied", t, th, call).with("tool_use_id", call.ID, "reason", reason))
	}
}

// hookForm tells the Elicitation hooks that an MCP server asks for a form.
func (e *engine) hookForm(ctx context.Context, request members) {
	if e.quirks.HookEvents {
		e.runHooks(ctx, hookRun{event: "Elicitation", subject: e.formServer(request), turn: e.current(), thread: e.main, input: members{
			"mcp_server_name", memberOf(request, "mcp_server_name"), "message", memberOf(request, "message"), "mode", memberOf(request, "mode"),
			"requested_schema", memberOf(request, "requested_schema"),
		}})
	}
}

// hookFormDone tells the ElicitationResult and the Notification hooks what became of it.
func (e *engine) hookFormDone(ctx context.Context, request members, action string, content json.RawMessage) {
	if !e.quirks.HookEvents {
		return
	}
	server := e.formServer(request)
	result := members{"mcp_server_name", server, "mode", memberOf(request, "mode"), "action", action}
	e.runHooks(ctx, hookRun{event: "ElicitationResult", subject: server, turn: e.current(), thread: e.main, input: result.when(has(content), "content", content)})
	e.runHooks(ctx, hookRun{event: "Notification", subject: "elicitation_response", turn: e.current(), thread: e.main, input: members{
		"message", "The form of " + server + " was answered: " + action, "notification_type", "elicitation_response",
	}})
}

// formServer is the name of the server that asks for a form.
func (e *engine) formServer(request members) string {
	name, _ := memberOf(request, "mcp_server_name").(string)
	return name
}

// current returns the running turn, or one that has ended if none runs.
func (e *engine) current() *turn {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.turn == nil {
		return &turn{}
	}
	return e.turn
}

// hookModel asks the hooks about a change of the model, before or after it.
func (e *engine) hookModel(ctx context.Context, event, from, to, asked string) {
	if !e.quirks.HookModels {
		return
	}
	e.mu.Lock()
	size := e.context
	e.mu.Unlock()
	e.runHooks(ctx, hookRun{event: event, subject: to, turn: e.current(), thread: e.main, input: members{
		"from_model", from, "to_model", to, "requested_model", orNull(asked), "source", "sdk", "context_tokens", size, "prompt_cache_warm", size > 0,
		"cache_ttl", "5m", "estimated_cache_write_usd", 0, "pricing", "catalog",
	}})
}

// hookDisplay tells the MessageDisplay hooks a text of the model that is shown.
func (e *engine) hookDisplay(t *turn, th *thread, text string) {
	if e.quirks.HookModels && th.parent == "" {
		e.runHooks(t.ctx, hookRun{event: "MessageDisplay", turn: t, thread: th, input: members{
			"turn_id", t.hookPromptID(), "message_id", t.hookPromptID(), "index", 0, "final", true, "delta", text,
		}})
	}
}

// hookDirectory tells the DirectoryAdded hooks of another folder to work in.
func (e *engine) hookDirectory(directory string) {
	if e.quirks.HookModels {
		e.runHooks(e.ctx, hookRun{event: "DirectoryAdded", turn: e.current(), thread: e.main, input: members{"directory", directory, "source", "register_repo_root"}})
	}
}

// hookCleared tells the hooks that one session ends and another begins.
func (e *engine) hookCleared(t *turn, event string) {
	input := members{"reason", "clear"}
	if event == "SessionStart" {
		input = members{"source", "clear"}
	}
	e.runHooks(t.ctx, hookRun{event: event, subject: "clear", turn: t, thread: e.main, input: input})
}

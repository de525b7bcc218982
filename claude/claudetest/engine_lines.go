package claudetest

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// systemLine is a system message of the conversation.
func (e *engine) systemLine(subtype string, more ...any) members {
	return members{"type", "system", "subtype", subtype}.with(more...).with("uuid", wire.NewUUID(), "session_id", e.conversation())
}

// tellState sends a change of the session's state, if the controller asked for these lines.
func (e *engine) tellState(state string) {
	if !e.quirks.StateLines || !truthy(e.getenv("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS")) {
		return
	}
	e.mu.Lock()
	same := e.state == state
	e.state = state
	e.mu.Unlock()
	if !same {
		e.emit(e.systemLine("session_state_changed", "state", state))
	}
}

func truthy(value string) bool {
	switch strings.ToLower(value) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// lifecycle tells what becomes of a prompt with an id.
func (e *engine) lifecycle(uuid, state string) {
	if e.quirks.LifecycleLines && uuid != "" {
		e.emit(members{"type", "command_lifecycle", "command_uuid", uuid, "state", state, "uuid", wire.NewUUID(), "session_id", e.conversation()})
	}
}

// requesting says that the model is asked, if partial messages were asked for.
func (e *engine) requesting(t *turn, th *thread) {
	if !e.quirks.RequestingLines || !e.flags.IncludePartialMessages || th.parent != "" {
		return
	}
	if !e.quirks.PromptIDs {
		e.emit(e.systemLine("status", "status", "requesting"))
		return
	}
	line := members{"type", "system", "subtype", "status", "status", "requesting", "session_id", e.conversation(), "uuid", wire.NewUUID()}
	e.emit(e.promptIDs(line, t))
}

// uuids are the ids of the turn's prompts.
func (t *turn) uuids() []string {
	var ids []string
	for _, p := range t.prompts {
		if p.uuid != "" {
			ids = append(ids, p.uuid)
		}
	}
	return ids
}

// promptIDs adds the ids of the turn's prompts where the version tells them.
func (e *engine) promptIDs(line members, t *turn) members {
	ids := t.uuids()
	return line.when(e.quirks.PromptIDs && len(ids) > 0, "user_message_uuids", ids)
}

// promptID adds the last of these ids, and then all of them.
func (e *engine) promptID(line members, t *turn) members {
	if ids := t.uuids(); e.quirks.PromptIDs && len(ids) > 0 {
		line = line.with("user_message_uuid", ids[len(ids)-1])
	}
	return e.promptIDs(line, t)
}

// echo is a prompt as it is echoed with --replay-user-messages.
func (e *engine) echo(p prompt, timed bool) members {
	uuid := p.uuid
	if uuid == "" {
		uuid = wire.NewUUID()
	}
	line := members{"type", "user", "message", members{"role", "user", "content", orText(p.content)}, "session_id", e.conversation(), "parent_tool_use_id", nil, "uuid", uuid}
	return line.when(e.quirks.UserTimes && timed, "timestamp", stamp()).with("isReplay", true)
}

// orText is a content that is always there.
func orText(content json.RawMessage) any {
	if !has(content) {
		return ""
	}
	return content
}

func stamp() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

// userLine is a message in the user's role that the CLI made.
func (e *engine) userLine(th *thread, content any, uuid string) members {
	line := members{"type", "user", "message", members{"role", "user", "content", content}, "parent_tool_use_id", orNull(th.parent)}
	line = e.named(th, line).with("session_id", e.conversation(), "uuid", uuid)
	return e.described(th, line.when(e.quirks.UserTimes, "timestamp", stamp()))
}

// commandOutput is what a command of the CLI's own prints, as a message in the user's role.
func (e *engine) commandOutput(text string) members {
	line := members{
		"type", "user", "message",
		members{"role", "user", "content", "<local-command-stdout>" + text + "</local-command-stdout>"},
		"session_id", e.conversation(), "parent_tool_use_id", nil, "uuid", wire.NewUUID(),
	}
	return line.when(e.quirks.UserTimes, "timestamp", stamp()).with("isReplay", true)
}

// named adds the sub-agent's id where the version tells it.
func (e *engine) named(th *thread, line members) members {
	if th.agent == nil || !e.quirks.TaskDetails {
		return line
	}
	return line.with("agent_id", th.agent.id)
}

// described adds what the sub-agent is for where the version tells it.
func (e *engine) described(th *thread, line members) members {
	if th.agent == nil || !e.quirks.TaskDetails {
		return line
	}
	return line.with("subagent_type", th.agent.kind, "task_description", th.agent.description)
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// assistantLine is a block of the model's message; more goes behind what every such line has.
func (e *engine) assistantLine(w *messageWriter, content []json.RawMessage, more ...any) members {
	message := members{
		"id", w.message.ID, "type", "message", "role", "assistant", "model", w.message.Model, "content", content,
		"stop_reason", orNull(w.end), "stop_sequence", nil, "usage", w.message.Usage.line(), "context_management", nil,
	}
	line := members{"type", "assistant", "message", message, "parent_tool_use_id", orNull(w.thread.parent)}
	uuid := wire.NewUUID()
	w.lineIDs = append(w.lineIDs, uuid)
	line = e.named(w.thread, line).with("session_id", e.conversation(), "uuid", uuid)
	line = line.when(e.quirks.LineTimes, "timestamp", stamp(), "request_id", "req_"+w.message.ID).with(more...)
	if meta := e.mcpMeta(content); meta != nil {
		line = line.with("tool_use_meta", meta)
	}
	return e.described(w.thread, e.firstWords(w.turn, w.thread, line))
}

// lineID is the id of the line of a block; empty if it was not shown.
func (w *messageWriter) lineID(block int) string {
	if block < len(w.lineIDs) {
		return w.lineIDs[block]
	}
	return ""
}

// firstWords adds the ids of the prompts to the first message of a turn.
func (e *engine) firstWords(t *turn, th *thread, line members) members {
	if th.parent != "" {
		return line
	}
	t.mu.Lock()
	first := !t.spoke
	t.spoke = true
	t.mu.Unlock()
	if !first {
		return line
	}
	return e.promptID(line, t)
}

// syntheticAssistant is a message that the CLI puts into the model's mouth.
func (e *engine) syntheticAssistant(th *thread, text, failure string, more ...any) members {
	message := members{}
	message = message.when(e.quirks.LineTimes, "diagnostics", nil).
		with("id", wire.NewUUID(), "container", nil, "model", "<synthetic>", "role", "assistant").
		when(e.quirks.LineTimes, "stop_details", nil).
		with("stop_reason", "stop_sequence", "stop_sequence", "", "type", "message", "usage", usage{}.full(e.quirks, nil),
			"content", []members{{"type", "text", "text", text}}, "context_management", nil)
	line := members{"type", "assistant", "message", message, "parent_tool_use_id", orNull(th.parent), "session_id", e.conversation(), "uuid", wire.NewUUID()}
	return line.when(e.quirks.LineTimes, "timestamp", stamp()).when(failure != "", "error", failure).with(more...)
}

// streamLine is an event of the model's stream.
func (e *engine) streamLine(th *thread, event modelEvent, message string) members {
	line := members{"type", "stream_event", "event", event.data, "session_id", e.conversation(), "parent_tool_use_id", orNull(th.parent), "uuid", wire.NewUUID()}
	return line.when(e.quirks.LineTimes && event.kind != "message_start", "api_message_id", message)
}

// initLine is the line that begins every turn.
func (e *engine) initLine(t *turn) members {
	e.mu.Lock()
	model := e.model
	e.mu.Unlock()
	line := members{
		"type", "system", "subtype", "init", "cwd", e.dir, "session_id", e.conversation(), "tools", e.toolNames(), "mcp_servers", e.mcpServers(),
		"model", model, "permissionMode", e.gate.Mode(), "slash_commands", e.commandNames(),
	}
	line = line.when(e.quirks.InitializeTellsVersion, "terminal_slash_commands", []string{}).with(
		"apiKeySource", e.keySource(), "claude_code_version", e.quirks.Version.String(), "output_style", "default", "agents", e.agentNames(),
		"skills", []string{}, "plugins", []any{},
	)
	line = line.when(e.quirks.InitializeTellsVersion, "capabilities", capabilities()).
		when(e.quirks.InitializeTellsAgents, "analytics_disabled", true).
		when(e.quirks.InitializeTellsVersion, "product_feedback_disabled", true).with("uuid", wire.NewUUID())
	if e.quirks.InitializeTellsAgents {
		line = line.with("memory_paths", members{"auto", e.memoryPath()})
	}
	line = line.when(e.quirks.InitializeTellsVersion, "original_cwd", e.dir, "additional_directories", orEmpty(e.flags.AddDirs)).
		when(e.quirks.InitializeTellsAgents, "fast_mode_state", "off").
		when(e.quirks.InitializeTellsVersion, "fast_mode_disabled_reason", "sdk_opt_in_required", "view_mode", "default")
	return e.promptIDs(line, t)
}

// memoryPath is where the CLI would keep what it learns about the project.
func (e *engine) memoryPath() string {
	transcript, err := e.store.Path(e.conversation())
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(transcript), "memory") + string(filepath.Separator)
}

// capabilities are those of the newest version that the simulated CLI has too.
func capabilities() []string {
	return []string{"interrupt_receipt_v1", "interrupt_cancel_queued_v1", "msg_lifecycle_v1", "sdk_mcp_tools_list_changed"}
}

func (e *engine) keySource() string {
	if e.getenv("ANTHROPIC_API_KEY") != "" {
		return "ANTHROPIC_API_KEY"
	}
	return "none"
}

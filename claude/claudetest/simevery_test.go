package claudetest

import (
	"maps"
	"slices"
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
)

// everyKind are all lines that package wire knows from a CLI, and all requests that a CLI makes.
func everyKind() []string {
	system := []string{
		"init", "status", "compact_boundary", "session_state_changed", "commands_changed", "worker_shutting_down", "plugin_install", "session_writes_lost",
		"mirror_error", "files_persisted", "informational", "notification", "local_command_output", "memory_recall", "api_retry", "model_refusal_fallback",
		"model_refusal_no_fallback", "permission_denied", "elicitation_complete", "control_request_progress", "hook_started", "hook_progress", "hook_response",
		"task_started", "task_progress", "task_updated", "task_notification", "background_tasks_changed", "thinking_tokens",
	}
	kinds := []string{
		"assistant", "user", "stream_event", "tool_use_summary", "streamlined_text", "streamlined_tool_use_summary", "prompt_suggestion", "conversation_reset",
		"active_goal", "command_lifecycle", "auth_status", "rate_limit_event", "tool_progress", "control_response", "control_cancel_request", "keep_alive", "error",
		"result success", "result error_max_turns", "result error_during_execution",
	}
	for _, subtype := range system {
		kinds = append(kinds, "system "+subtype)
	}
	for _, subtype := range []string{"can_use_tool", "hook_callback", "elicitation", "request_user_dialog", "sdk_control_interrupt", "mcp_message"} {
		kinds = append(kinds, "control_request "+subtype)
	}
	return kinds
}

func TestEvery(t *testing.T) {
	s := startSim(t, "2.1.325")
	s.request(`{"subtype":"initialize"}`)
	s.prompt("@every")
	seen, uuids := map[string]bool{}, map[string]bool{}
	for done := false; !done; {
		line := s.next()
		raw := plainJSON(line)
		message, err := wire.Decode(raw)
		if err != nil {
			t.Fatalf("decoding %.200s: %v", raw, err)
		}
		kind, _ := line["type"].(string)
		subtype, _ := line["subtype"].(string)
		if request, ok := message.(*wire.ControlRequest); ok {
			subtype, _ = line["request"].(map[string]any)["subtype"].(string)
			if _, unknown := request.Request.(*wire.UnknownRequest); unknown {
				t.Errorf("package wire does not know the request %.200s", raw)
			}
		}
		if _, unknown := message.(*wire.Unknown); unknown {
			t.Errorf("package wire does not know %.200s", raw)
		}
		if subtype != "" {
			kind += " " + subtype
		}
		seen[kind] = true
		uuid, _ := line["uuid"].(string)
		if uuid != "" && uuids[uuid] {
			t.Errorf("two lines have the id %s", uuid)
		}
		uuids[uuid] = true
		done = line["state"] == "idle"
	}
	for _, kind := range everyKind() {
		if !seen[kind] {
			t.Errorf("there is no line %s; there are %v", kind, slices.Sorted(maps.Keys(seen)))
		}
	}
}

package conformance

import (
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// hookTurnScenarios are about the hooks of prompts, sub-agents and compaction.
func hookTurnScenarios() []Scenario {
	return []Scenario{
		{
			ID: "hooks.prompt-stop", Facts: "§1 UserPromptSubmit continue false", Where: stdioOnly, Warm: "hooks",
			Run: func(s *Stage) {
				onHook(s, "prompt", Verbatim(`{"continue":false,"stopReason":"That is enough."}`))
				turn := s.Turn("@say Over.")
				for _, line := range turn.Find("system/informational") {
					s.Note("system/informational prompt_submit_outcome=%s", line.Get("prompt_submit_outcome"))
				}
				s.Note("result %s is_error=%t, the reason is told: %t", turn.Result.Subtype, turn.Result.IsError, strings.Contains(turn.Result.Result, "That is enough."))
				if s.AtLeast(2, 1, 120) { // 2.1.37 counts all messages
					s.Note("num_turns=%s", turn.Last().Get("num_turns"))
				}
				s.Note("the model was asked %d times", len(s.Asked(turn.Tag)))
				s.OnHook(func(*wire.HookCallbackRequest) any { return &wire.HookCallbackAnswer{} })
				s.Turn("@say Over.") // a prompt that was kept goes into one message with this one
			},
			Quirks: []string{"HookStopCounts"},
			Want: Per{
				"2.1.37":  {"result success is_error=false, the reason is told: false", "the model was asked 0 times"},
				"2.1.120": {"result success is_error=false, the reason is told: false", "num_turns=0", "the model was asked 0 times"},
				"2.1.325": {`system/informational prompt_submit_outcome={"kind":"stopped_by_hook","prompt_kept":true,"reason":"That is enough."}`, "result success is_error=false, the reason is told: true", "num_turns=0", "the model was asked 0 times"},
			},
		},
		{
			ID: "hooks.agent", Facts: "§1 hooks of sub-agents", Where: stdioOnly, Warm: "hooks",
			Run: func(s *Stage) {
				s.OnAsk(allow)
				turn := s.Turn(`@tool Task {"description":"Look","prompt":"@tool Bash {\"command\":\"touch looked; echo looked\",\"description\":\"Look\"}\n@say Looked.","subagent_type":"general-purpose","run_in_background":false}
					@say Over.`)
				for _, line := range turn.Find("asks hook_callback") {
					if line.Is("asks hook_callback prompt", "asks hook_callback stop", "asks hook_callback post") {
						continue
					}
					s.Note("%s tool_name=%s", line.Text, line.Get("request.input.tool_name"))
					s.Note("input: %s", strings.Join(slices.DeleteFunc(names([]byte(rawMember(line.Raw, "request", "input"))), func(name string) bool {
						return slices.Contains([]string{"cwd", "session_id", "transcript_path", "hook_event_name", "permission_mode", "prompt_id", "effort"}, name)
					}), " "))
				}
				s.Note("%s", turn.Last().Text)
			},
			Quirks: []string{"HookAgents", "HookSaysAgent"},
			Want: Per{
				"2.1.37":  {"asks hook_callback agent PreToolUse tool_name=Task", "input: tool_input tool_name tool_use_id", "asks hook_callback substart SubagentStart tool_name=", "input: agent_id agent_type", "asks hook_callback pre PreToolUse tool_name=Bash", "input: tool_input tool_name tool_use_id", "asks hook_callback substop SubagentStop tool_name=", "input: agent_id agent_transcript_path agent_type stop_hook_active", "result success: Over."},
				"2.1.120": {"asks hook_callback agent PreToolUse tool_name=Agent", "input: tool_input tool_name tool_use_id", "asks hook_callback substart SubagentStart tool_name=", "input: agent_id agent_type", "asks hook_callback pre PreToolUse tool_name=Bash", "input: agent_id agent_type tool_input tool_name tool_use_id", "asks hook_callback substop SubagentStop tool_name=", "input: agent_id agent_transcript_path agent_type last_assistant_message stop_hook_active", "result success: Over."},
				"2.1.325": {"asks hook_callback agent PreToolUse tool_name=Agent", "input: tool_input tool_name tool_use_id", "asks hook_callback substart SubagentStart tool_name=", "input: agent_id agent_type", "asks hook_callback pre PreToolUse tool_name=Bash", "input: agent_id agent_type tool_input tool_name tool_use_id", "asks hook_callback substop SubagentStop tool_name=", "input: agent_id agent_transcript_path agent_type background_tasks last_assistant_message session_crons stop_hook_active", "result success: Over."},
			},
		},
		{
			ID: "hooks.compact", Facts: "§1 hooks of compaction", Where: stdioOnly, Warm: "hooks",
			Run: func(s *Stage) {
				for _, line := range s.TurnExact("/compact").Lines {
					if line.Is("asks hook_callback substop") {
						continue // what newer versions have sum it up is an agent, too
					}
					if line.Is("asks hook_callback", "system/status", "system/compact_boundary", "result") {
						s.Note("%s %s", line.Text, line.Get("request.input.trigger"))
					}
				}
			},
			Quirks: []string{"HookPostCompact"},
			Want: Per{
				"2.1.37":  {"asks hook_callback precompact PreCompact manual", "system/status compacting", "asks hook_callback start SessionStart", "system/status", "system/compact_boundary", "result success"},
				"2.1.120": {"system/status compacting", "asks hook_callback precompact PreCompact manual", "asks hook_callback start SessionStart", "asks hook_callback postcompact PostCompact manual", "system/status", "system/compact_boundary", "result success"},
			},
		},
	}
}

// hookLifeScenarios are about when hooks are there.
func hookLifeScenarios() []Scenario {
	pre := &wire.InitializeRequest{Hooks: map[string][]wire.HookMatcher{
		"PreToolUse": {{HookCallbackIDs: []string{"pre"}}},
		"SessionEnd": {{HookCallbackIDs: []string{"end"}}},
	}}
	settings := func(o *claude.Options) {
		o.Settings = []byte(`{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"echo started"}]}],` +
			`"UserPromptSubmit":[{"hooks":[{"type":"command","command":"echo prompted"}]}]}}`)
	}
	note := func(s *Stage) {
		for _, line := range append(slices.Clone(s.Started), s.Turn("@say Over.").Lines...) {
			if line.Is("system/hook", "system/init", "result") {
				s.Note("%s", strings.TrimSpace(line.Text+" "+line.Get("hook_event")))
			}
		}
	}
	return []Scenario{
		{
			ID: "hooks.initialize-again", Facts: "§22 second initialize and hooks; §1 SessionEnd is not delivered", Where: stdioOnly, Initialize: pre,
			Run: func(s *Stage) {
				s.OnAsk(allow)
				for _, body := range []string{`{"subtype":"initialize"}`, `{"subtype":"initialize","hooks":{}}`} {
					s.Note("%s: %s", body, s.RawRequest(body).Subtype)
					noteHooks(s, s.Turn(touch("original")).Lines, "original")
				}
				s.CloseInput()
				s.NoteOnly(s.AwaitEnd(), "asks", "withdraws")
				s.Note("exit %d", s.Exit())
			},
			Quirks: []string{"LateInitialize"},
			Want: Per{
				"2.1.37":  {`{"subtype":"initialize"}: error`, "asks hook_callback pre PreToolUse", "asks can_use_tool Bash", "user tool_result: original", "result success: Over.", `{"subtype":"initialize","hooks":{}}: error`, "asks hook_callback pre PreToolUse", "asks can_use_tool Bash", "user tool_result: original", "result success: Over.", "exit 0"},
				"2.1.325": {`{"subtype":"initialize"}: success`, "asks hook_callback pre PreToolUse", "asks can_use_tool Bash", "user tool_result: original", "result success: Over.", `{"subtype":"initialize","hooks":{}}: success`, "asks can_use_tool Bash", "user tool_result: original", "result success: Over.", "exit 0"},
			},
		},
		{
			ID: "hooks.settings", Facts: "§1 settings hooks", Where: stdioOnly, Options: settings,
			Run: note, Want: Same("system/hook_started SessionStart", "system/hook_response SessionStart", "system/init", "result success: Over."),
		},
		{
			ID: "hooks.settings-events", Facts: "§1 --include-hook-events", Where: both(stdioOnly, since("2.1.120", "2.1.37 does not know --include-hook-events")),
			Options: func(o *claude.Options) {
				settings(o)
				o.IncludeHookEvents = true
			},
			Run: note, Want: Same("system/hook_started SessionStart", "system/hook_response SessionStart", "system/hook_started UserPromptSubmit", "system/hook_response UserPromptSubmit", "system/init", "result success: Over."),
		},
		{
			ID: "hooks.settings-decide", Facts: "§1 settings hooks decide before anyone is asked", Where: stdioOnly,
			Options: func(o *claude.Options) {
				hook := func(matcher, decision string) string {
					return `{"matcher":"` + matcher + `","hooks":[{"type":"command","command":"echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"` +
						decision + `\",\"permissionDecisionReason\":\"Said the script.\"}}'"}]}`
				}
				o.Settings = []byte(`{"hooks":{"PreToolUse":[` + hook("Bash", "deny") + "," + hook("Write", "allow") + "," + hook("WebFetch", "ask") + `]}}`)
			},
			Run: func(s *Stage) {
				s.OnAsk(deny("Said the user."))
				for _, call := range []string{`Bash {"command":"touch original; echo original","description":"Go"}`, `Write {"file_path":"new.txt","content":"x"}`, `WebFetch {"url":"http://127.0.0.1:1/","prompt":"x"}`} {
					turn := s.Turn("@tool " + call + "\n@say Over.")
					result := turn.Find("user tool_result")[0]
					s.Note("%s: asked %d, failed %t, told by the script %t", strings.Fields(call)[0], len(turn.Asked()), result.Is("user tool_result error"), strings.Contains(result.Text, "Said the script."))
				}
			},
			Sim:  map[string]string{"*": "it runs no commands of settings"},
			Want: Same("Bash: asked 0, failed true, told by the script true", "Write: asked 0, failed false, told by the script false", "WebFetch: asked 1, failed true, told by the script false"),
		},
		{
			ID: "hooks.patience", Facts: "§1 the default time is 600 s; §1 heartbeats while a hook is waited for", Where: stdioOnly, Initialize: pre, Slow: true,
			Run: func(s *Stage) {
				s.OnAsk(deny("Not that."))
				onHook(s, "pre", nil)
				begin := time.Now()
				s.Prompt(touch("original"))
				lines := s.AwaitText("withdraws")
				took := time.Since(begin)
				s.Note("after ten minutes: %t", took > 590*time.Second && took < 660*time.Second)
				beats := 0
				for _, line := range lines {
					if line.Is("tool_progress") {
						beats++
						if beats == 1 {
							s.Note("a heartbeat of %s", strings.TrimRight(line.Get("tool_use_id"), "0123456789"))
						}
					}
				}
				s.Note("heartbeats: %t", beats >= 15)
				noteHooks(s, s.AwaitResult().Lines, "Not that.")
			},
			Quirks: []string{"HookTimeoutDenies", "HookBeats"},
			Want: Per{
				"2.1.37":  {"after ten minutes: true", "heartbeats: false", "asks can_use_tool Bash", "user tool_result error: Not that.", "result success: Over."},
				"2.1.325": {"after ten minutes: true", "a heartbeat of hook-PreToolUse-<tool>-heartbeat-", "heartbeats: true", "user tool_result error", "result success: Over."},
			},
		},
	}
}

package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// hooked registers the hooks that the scenarios about them share. Each tool has hooks of its own, so that they do not get in each other's way:
// Bash the usual ones, Write a PermissionRequest hook, Read two hooks at once, and WebFetch one that must answer within a second.
func hooked(l *launch) {
	l.initialize = &wire.InitializeRequest{Hooks: map[string][]wire.HookMatcher{
		"PreToolUse": {
			{Matcher: "Bash|Edit", HookCallbackIDs: []string{"pre"}},
			{Matcher: "Read", HookCallbackIDs: []string{"first", "second"}},
			{Matcher: "NotebookEdit, Read", HookCallbackIDs: []string{"listed"}},
			{Matcher: "WebFetch", HookCallbackIDs: []string{"slow"}, Timeout: 1},
			{Matcher: "Task|Agent", HookCallbackIDs: []string{"agent"}},
			{Matcher: "EnterPlanMode", HookCallbackIDs: []string{"enter"}},
		},
		"PostToolUse":       {{Matcher: "Bash", HookCallbackIDs: []string{"post"}}},
		"PermissionRequest": {{Matcher: "Write", HookCallbackIDs: []string{"permission"}}},
		"UserPromptSubmit":  {{HookCallbackIDs: []string{"prompt"}}},
		"Stop":              {{HookCallbackIDs: []string{"stop"}}},
		"SubagentStart":     {{HookCallbackIDs: []string{"substart"}}},
		"SubagentStop":      {{HookCallbackIDs: []string{"substop"}}},
		"PreCompact":        {{HookCallbackIDs: []string{"precompact"}}},
		"PostCompact":       {{HookCallbackIDs: []string{"postcompact"}}},
		"SessionStart":      {{HookCallbackIDs: []string{"start"}}},
		"SessionEnd":        {{HookCallbackIDs: []string{"end"}}},
		"Nonsense":          {{HookCallbackIDs: []string{"nonsense"}}},
	}}
}

// onHook answers the hook with this id, and lets everything go its way for the others.
func onHook(s *Stage, id string, answer any) {
	s.OnHook(func(r *wire.HookCallbackRequest) any {
		if r.CallbackID == id {
			return answer
		}
		return &wire.HookCallbackAnswer{}
	})
}

// noteHooks is noteTools without the hooks of every turn.
func noteHooks(s *Stage, lines []Seen, texts ...string) {
	for _, line := range lines {
		switch {
		case line.Is("asks hook_callback prompt", "asks hook_callback stop", "asks hook_callback post"):
		case line.Is("system/informational", "system/notification", "tool_progress"):
			text := ""
			for _, own := range texts {
				if own != "" && strings.Contains(string(line.Raw), own) {
					text += " " + own
				}
			}
			s.Note("%s %s:%s", strings.SplitN(line.Text, " ", 2)[0], line.Get("tag"), text)
		default:
			noteTools(s, []Seen{line}, texts...)
		}
	}
}

// hookScenarios are about hooks.
func hookScenarios() []Scenario {
	return slices.Concat(hookAnswerScenarios(), hookEventScenarios(), hookPermissionScenarios(), hookTurnScenarios(), hookLifeScenarios())
}

// hookAnswerScenarios are the answers of a PreToolUse hook.
func hookAnswerScenarios() []Scenario {
	specific := func(rest string) Verbatim {
		return Verbatim(`{"hookSpecificOutput":{"hookEventName":"PreToolUse",` + rest + `}}`)
	}
	rows := []struct {
		id, facts string
		answer    any
		quirks    []string
		want      Want
	}{
		{id: "empty", facts: "§1 {}", answer: Verbatim(`{}`), want: Same("asks hook_callback pre PreToolUse", "asks can_use_tool Bash", "user tool_result: original", "result success: Over.")},
		{id: "block", facts: "§1 PreToolUse block", answer: Verbatim(`{"decision":"block","reason":"Not this."}`), quirks: []string{"HookPrefix"}, want: Per{
			"2.1.37":  {"asks hook_callback pre PreToolUse", "user tool_result error: Not this.", "result success: Over."},
			"2.1.325": {"asks hook_callback pre PreToolUse", "user tool_result error: PreToolUse:Bash hook error: Not this.", "result success: Over."},
		}},
		{id: "deny", facts: "§1 PreToolUse deny", answer: specific(`"permissionDecision":"deny","permissionDecisionReason":"Not this."`), quirks: []string{"HookPrefix", "HookDenialsListed"}, want: Per{
			"2.1.37":  {"asks hook_callback pre PreToolUse", "user tool_result error: Not this.", "result success: Over.", "among the denials: 0"},
			"2.1.120": {"asks hook_callback pre PreToolUse", "user tool_result error: Not this.", "result success: Over.", "among the denials: 1"},
			"2.1.325": {"asks hook_callback pre PreToolUse", "user tool_result error: PreToolUse:Bash hook error: Not this.", "result success: Over.", "among the denials: 1"},
		}},
		{id: "approve", facts: "§1 PreToolUse approve", answer: Verbatim(`{"decision":"approve"}`), want: Same("asks hook_callback pre PreToolUse", "user tool_result: original", "result success: Over.")},
		{id: "allow", facts: "§1 PreToolUse allow", answer: specific(`"permissionDecision":"allow"`), want: Same("asks hook_callback pre PreToolUse", "user tool_result: original", "result success: Over.")},
		{id: "allow-edited", facts: "§1 updatedInput with allow", answer: specific(`"permissionDecision":"allow","updatedInput":{"command":"echo edited"}`), want: Same("asks hook_callback pre PreToolUse", "user tool_result: edited", "result success: Over.")},
		{id: "edited", facts: "§1 updatedInput without a decision", answer: specific(`"updatedInput":{"command":"touch edited; echo edited"}`), want: Same("asks hook_callback pre PreToolUse", "asks can_use_tool Bash", "user tool_result: edited", "result success: Over.")},
		{id: "ask", facts: "§1 PreToolUse ask", answer: specific(`"permissionDecision":"ask","permissionDecisionReason":"Have a look."`), want: Per{
			"2.1.37":  {"Bash has blocked_path permission_suggestions", "asks hook_callback pre PreToolUse", "asks can_use_tool Bash", "user tool_result: original", "result success: Over."},
			"2.1.120": {"Bash has decision_reason decision_reason_type description display_name", "decision_reason: Have a look.", "decision_reason_type: hook", "asks hook_callback pre PreToolUse", "asks can_use_tool Bash", "user tool_result: original", "result success: Over."},
			"2.1.325": {"Bash has decision_reason decision_reason_hook_event decision_reason_hook_source decision_reason_type description display_name", "decision_reason: Have a look.", "decision_reason_type: hook", "asks hook_callback pre PreToolUse", "asks can_use_tool Bash", "user tool_result: original", "result success: Over."},
		}},
		{id: "defer", facts: "§1 PreToolUse defer", answer: specific(`"permissionDecision":"defer"`), quirks: []string{"HookDefers"}, want: Per{
			"2.1.37":  {"asks hook_callback pre PreToolUse", "asks can_use_tool Bash", "user tool_result: original", "result success: Over."},
			"2.1.120": {"asks hook_callback pre PreToolUse", "result success", "terminal_reason: tool_deferred", "stop_reason: tool_deferred", `deferred_tool_use: {"id":"<tool>","name":"Bash","input":{"command":"touch permitted; echo original","description":"Make a file"}}`},
		}},
		{id: "stop", facts: "§1 PreToolUse continue false", answer: Verbatim(`{"continue":false,"stopReason":"That is enough."}`), want: Per{
			"2.1.37":  {"asks hook_callback pre PreToolUse", "asks can_use_tool Bash", "user tool_result: original", "result success"},
			"2.1.120": {"asks hook_callback pre PreToolUse", "asks can_use_tool Bash", "user tool_result: original", "result success", "terminal_reason: hook_stopped", "stop_reason: tool_use"},
		}},
		{id: "stop-block", facts: "§1 PreToolUse continue false and block", answer: Verbatim(`{"continue":false,"stopReason":"That is enough.","decision":"block","reason":"Not this."}`), quirks: []string{"HookStopsDenied"}, want: Per{
			"2.1.37":  {"asks hook_callback pre PreToolUse", "user tool_result error: Not this.", "result success: Over."},
			"2.1.325": {"asks hook_callback pre PreToolUse", "user tool_result error: PreToolUse:Bash hook error: Not this.", "result success", "terminal_reason: hook_stopped", "stop_reason: tool_use"},
		}},
		{id: "async", facts: "§1 async; seed 000: hook response async defers", answer: Verbatim(`{"async":true,"asyncTimeout":5}`), want: Same("asks hook_callback pre PreToolUse", "asks can_use_tool Bash", "user tool_result: original", "result success: Over.")},
		{id: "invalid", facts: "§1 invalid shape; rule 10", answer: Verbatim(`{"decision":"perhaps"}`), quirks: []string{"HookNotices"}, want: Per{
			"2.1.37":  {"asks hook_callback pre PreToolUse", "asks can_use_tool Bash", "user tool_result: original", "result success: Over."},
			"2.1.325": {"asks hook_callback pre PreToolUse", "system/informational hook_callback_failed:", "asks can_use_tool Bash", "user tool_result: original", "result success: Over."},
		}},
		{id: "error", facts: "§1 error envelope; rule 10", answer: errors.New("the hook is broken"), quirks: []string{"HookNotices"}, want: Per{
			"2.1.37":  {"asks hook_callback pre PreToolUse", "asks can_use_tool Bash", "user tool_result: original", "result success: Over."},
			"2.1.325": {"asks hook_callback pre PreToolUse", "system/informational hook_callback_failed:", "asks can_use_tool Bash", "user tool_result: original", "result success: Over."},
		}},
		{id: "message", facts: "§1 systemMessage", answer: Verbatim(`{"systemMessage":"Mind the step."}`), quirks: []string{"HookNotices"}, want: Per{
			"2.1.37":  {"asks hook_callback pre PreToolUse", "asks can_use_tool Bash", "user tool_result: original", "result success: Over."},
			"2.1.325": {"asks hook_callback pre PreToolUse", "asks can_use_tool Bash", "system/informational : Mind the step.", "user tool_result: original", "result success: Over."},
		}},
	}
	var all []Scenario
	for _, row := range rows {
		all = append(all, Scenario{
			ID: "hooks.pre." + row.id, Facts: row.facts, Where: stdioOnly, Warm: "hooks", Quirks: row.quirks, Want: row.want,
			Run: func(s *Stage) {
				s.OnAsk(allow)
				onHook(s, "pre", row.answer)
				turn := s.Turn(touch("original"))
				if row.id == "ask" {
					askKeys(s, turn.Lines, "decision_reason", "decision_reason_type")
				}
				noteHooks(s, turn.Lines, "original", "edited", "Not this.", "PreToolUse:Bash hook error: Not this.", "Mind the step.", "the hook is broken", "That is enough.")
				for _, name := range []string{"terminal_reason", "stop_reason", "deferred_tool_use"} {
					if value := turn.Last().Get(name); value != "" && value != "null" && value != "completed" && value != "end_turn" {
						s.Note("%s: %s", name, value)
					}
				}
				if strings.HasPrefix(row.id, "deny") {
					s.Note("among the denials: %d", len(turn.Result.PermissionDenials))
				}
				if strings.HasPrefix(row.id, "stop") || row.id == "defer" {
					s.Turn("@say Over.") // the CLI puts the tool's result and this prompt into one message
				}
			},
		})
	}
	return all
}

// hookEventScenarios are about the other events.
func hookEventScenarios() []Scenario {
	return []Scenario{
		{
			ID: "hooks.input", Facts: "§1 the request and its input; seed 001: hook_callback shape; §1 SessionStart never comes; §1 unknown events are ignored", Warm: "hooks",
			Run: func(s *Stage) {
				s.OnAsk(allow)
				turn := s.Turn(touch("original"))
				for _, line := range append(slices.Clone(s.Started), turn.Lines...) {
					if !line.Is("asks hook_callback") {
						continue
					}
					s.Note("%s: %s", line.Text, strings.Join(names([]byte(rawMember(line.Raw, "request"))), " "))
					s.Note("input: %s", strings.Join(names([]byte(rawMember(line.Raw, "request", "input"))), " "))
					s.Note("the tool's id: %t", strings.HasPrefix(line.Get("request.tool_use_id"), "toolu_"))
				}
			},
			Quirks: []string{"HookFields", "HookDurations", "HookLastMessage"},
			Want: Per{
				"2.1.37":  {"asks hook_callback prompt UserPromptSubmit: callback_id input subtype tool_use_id", "input: cwd hook_event_name permission_mode prompt session_id transcript_path", "the tool's id: false", "asks hook_callback pre PreToolUse: callback_id input subtype tool_use_id", "input: cwd hook_event_name permission_mode session_id tool_input tool_name tool_use_id transcript_path", "the tool's id: true", "asks hook_callback post PostToolUse: callback_id input subtype tool_use_id", "input: cwd hook_event_name permission_mode session_id tool_input tool_name tool_response tool_use_id transcript_path", "the tool's id: true", "asks hook_callback stop Stop: callback_id input subtype tool_use_id", "input: cwd hook_event_name permission_mode session_id stop_hook_active transcript_path", "the tool's id: false"},
				"2.1.120": {"asks hook_callback prompt UserPromptSubmit: callback_id input subtype tool_use_id", "input: cwd hook_event_name permission_mode prompt session_id transcript_path", "the tool's id: false", "asks hook_callback pre PreToolUse: callback_id input subtype tool_use_id", "input: cwd hook_event_name permission_mode session_id tool_input tool_name tool_use_id transcript_path", "the tool's id: true", "asks hook_callback post PostToolUse: callback_id input subtype tool_use_id", "input: cwd duration_ms hook_event_name permission_mode session_id tool_input tool_name tool_response tool_use_id transcript_path", "the tool's id: true", "asks hook_callback stop Stop: callback_id input subtype tool_use_id", "input: cwd hook_event_name last_assistant_message permission_mode session_id stop_hook_active transcript_path", "the tool's id: false"},
				"2.1.325": {"asks hook_callback prompt UserPromptSubmit: callback_id input subtype tool_use_id", "input: cwd hook_event_name permission_mode prompt prompt_id session_id transcript_path", "the tool's id: false", "asks hook_callback pre PreToolUse: callback_id input subtype tool_use_id", "input: cwd effort hook_event_name permission_mode prompt_id session_id tool_input tool_name tool_use_id transcript_path", "the tool's id: true", "asks hook_callback post PostToolUse: callback_id input subtype tool_use_id", "input: cwd duration_ms effort hook_event_name permission_mode prompt_id session_id tool_input tool_name tool_response tool_use_id transcript_path", "the tool's id: true", "asks hook_callback stop Stop: callback_id input subtype tool_use_id", "input: background_tasks cwd effort hook_event_name last_assistant_message permission_mode prompt_id session_crons session_id stop_hook_active transcript_path", "the tool's id: false"},
			},
		},
		{
			ID: "hooks.several", Facts: "§1 several ids at once; §1 matchers with commas", Where: stdioOnly, Warm: "hooks",
			Run: func(s *Stage) {
				s.On("hook_callback", func(q *wire.ControlRequest) any {
					if id := q.Request.(*wire.HookCallbackRequest).CallbackID; id == "first" || id == "second" {
						return nil
					}
					return &wire.HookCallbackAnswer{}
				})
				path := filepath.Join(s.Dir, "hooked.txt")
				if err := os.WriteFile(path, []byte("text\n"), 0o600); err != nil {
					s.Fail("%w", err)
				}
				s.Prompt(fmt.Sprintf("@tool Read {\"file_path\":%q}\n@say Over.", path))
				open := map[string]*wire.ControlRequest{}
				lines := s.Await(func(l Seen) bool {
					if q, ok := l.Message.(*wire.ControlRequest); ok && l.Is("asks hook_callback first", "asks hook_callback second") {
						open[q.Request.(*wire.HookCallbackRequest).CallbackID] = q
					}
					return len(open) == 2
				})
				s.Answer(open["second"], &wire.HookCallbackAnswer{})
				s.Answer(open["first"], Verbatim(`{"decision":"block","reason":"The first says no."}`))
				turn := s.AwaitResult()
				listed := slices.ContainsFunc(append(lines, turn.Lines...), func(l Seen) bool { return l.Is("asks hook_callback listed") })
				s.Note("a comma separates names: %t", listed)
				for _, line := range turn.Find("user tool_result") {
					s.Note("refused by the first: %t", strings.Contains(line.Text, "The first says no."))
				}
				s.Note("%s", turn.Last().Text)
			},
			Quirks: []string{"HookLists"},
			Want: Per{
				"2.1.37":  {"a comma separates names: false", "refused by the first: true", "result success: Over."},
				"2.1.325": {"a comma separates names: true", "refused by the first: true", "result success: Over."},
			},
		},
		{
			ID: "hooks.post", Facts: "§1 PostToolUse block; §1 additionalContext", Where: stdioOnly, Warm: "hooks",
			Run: func(s *Stage) {
				s.OnAsk(allow)
				s.OnHook(func(r *wire.HookCallbackRequest) any {
					switch r.CallbackID {
					case "post":
						return Verbatim(`{"decision":"block","reason":"The file is ugly.","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"Paint it."}}`)
					case "prompt":
						return Verbatim(`{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"It is Sunday."}}`)
					}
					return &wire.HookCallbackAnswer{}
				})
				turn := s.Turn(touch("original"))
				noteHooks(s, turn.Lines, "original", "The file is ugly.", "Paint it.", "It is Sunday.")
				asked := s.AwaitModel(turn.Tag, 2)
				for _, text := range []string{"The file is ugly.", "Paint it.", "It is Sunday."} {
					s.Note("the model is told %q: %t then %t", text, strings.Contains(string(asked[0].Body), text), strings.Contains(string(asked[1].Body), text))
				}
			},
			Want: Same("asks hook_callback pre PreToolUse", "asks can_use_tool Bash", "user tool_result: original", "result success: Over.", `the model is told "The file is ugly.": false then true`, `the model is told "Paint it.": false then true`, `the model is told "It is Sunday.": true then true`),
		},
		{
			ID: "hooks.prompt", Facts: "§1 UserPromptSubmit block", Where: stdioOnly, Warm: "hooks",
			Run: func(s *Stage) {
				onHook(s, "prompt", Verbatim(`{"decision":"block","reason":"Not this one."}`))
				turn := s.Turn("@say Over.")
				for _, line := range turn.Lines {
					switch {
					case line.Is("asks", "system/init", "user", "assistant"):
						s.Note("%s", line.Text)
					case line.Is("system/informational"):
						s.Note("system/informational prompt_submit_outcome=%s, the reason is told: %t", line.Get("prompt_submit_outcome"), strings.Contains(line.Text, "Not this one."))
					}
				}
				s.Note("result %s is_error=%t, the reason is told: %t", turn.Result.Subtype, turn.Result.IsError, strings.Contains(turn.Result.Result, "Not this one."))
				if s.AtLeast(2, 1, 120) { // 2.1.37 counts all messages
					s.Note("num_turns=%s", turn.Last().Get("num_turns"))
				}
				s.Note("the model was asked %d times", len(s.Asked(turn.Tag)))
			},
			Quirks: []string{"HookNotices"},
			Want: Per{
				"2.1.37":  {"asks hook_callback prompt UserPromptSubmit", "system/init", "result success is_error=false, the reason is told: false", "the model was asked 0 times"},
				"2.1.120": {"asks hook_callback prompt UserPromptSubmit", "system/init", "result success is_error=false, the reason is told: false", "num_turns=0", "the model was asked 0 times"},
				"2.1.325": {"asks hook_callback prompt UserPromptSubmit", "system/init", `system/informational prompt_submit_outcome={"kind":"blocked_by_hook","prompt_kept":false,"reason":"Not this one."}, the reason is told: true`, "result success is_error=false, the reason is told: true", "num_turns=0", "the model was asked 0 times"},
			},
		},
		{
			ID: "hooks.stop", Facts: "§1 Stop block", Where: stdioOnly, Warm: "hooks",
			Run: func(s *Stage) {
				s.OnHook(func(r *wire.HookCallbackRequest) any {
					if input, ok := r.Input.(*wire.StopInput); ok && !input.StopHookActive {
						return Verbatim(`{"decision":"block","reason":"\n@say Then again."}`)
					}
					return &wire.HookCallbackAnswer{}
				})
				turn := s.Turn("@say Over.")
				for _, line := range turn.Lines {
					switch {
					case line.Is("asks hook_callback stop"):
						s.Note("%s stop_hook_active=%s", line.Text, line.Get("request.input.stop_hook_active"))
					case line.Is("user", "assistant", "result", "system/notification", "system/informational"):
						s.Note("%s", line.Text)
					}
				}
			},
			Quirks: []string{"StopHookNotes"},
			Want: Per{
				"2.1.37":  {"assistant text: Over.", "asks hook_callback stop Stop stop_hook_active=false", "user synthetic text: Stop hook feedback: @say Then again.", "assistant text: Then again.", "asks hook_callback stop Stop stop_hook_active=true", "result success: Then again."},
				"2.1.120": {"assistant text: Over.", "asks hook_callback stop Stop stop_hook_active=false", "user synthetic text: Stop hook feedback: @say Then again.", "system/notification", "assistant text: Then again.", "asks hook_callback stop Stop stop_hook_active=true", "result success: Then again."},
			},
		},
	}
}

// hookPermissionScenarios are about the PermissionRequest hook, and about hooks that do not answer.
func hookPermissionScenarios() []Scenario {
	write := func(s *Stage) string {
		return s.Prompt(fmt.Sprintf("@tool Write {\"file_path\":%q,\"content\":\"x\"}\n@say Over.", filepath.Join(s.Dir, fmt.Sprintf("hooked-%d.txt", s.column.tags.Add(1)))))
	}
	decide := func(decision string) Verbatim {
		return Verbatim(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":` + decision + `}}`)
	}
	open := func(*wire.CanUseToolRequest) any { return nil }
	// ordered notes two questions that may come in any order in one.
	ordered := func(s *Stage, lines []Seen, texts ...string) {
		var asks []string
		for _, line := range lines {
			if line.Is("asks can_use_tool", "asks hook_callback permission") {
				asks = append(asks, line.Text)
			}
		}
		slices.Sort(asks)
		s.Note("%s", strings.Join(asks, ", "))
		noteHooks(s, slices.DeleteFunc(slices.Clone(lines), func(l Seen) bool { return l.Is("asks") }), texts...)
	}
	return []Scenario{
		{
			ID: "hooks.permission.allow", Facts: "§1 PermissionRequest allow; §1 the hook wins; seed 000: the PermissionRequest hook decides; rule 10", Where: stdioOnly, Warm: "hooks",
			Run: func(s *Stage) {
				s.OnAsk(open)
				s.On("hook_callback", func(q *wire.ControlRequest) any {
					if q.Request.(*wire.HookCallbackRequest).CallbackID == "permission" {
						return nil
					}
					return &wire.HookCallbackAnswer{}
				})
				write(s)
				var hook, question *wire.ControlRequest
				lines := s.Await(func(l Seen) bool {
					q, ok := l.Message.(*wire.ControlRequest)
					switch {
					case ok && l.Is("asks hook_callback permission"):
						hook = q
						s.Note("input: %s", strings.Join(names([]byte(rawMember(l.Raw, "request", "input"))), " "))
					case ok && l.Is("asks can_use_tool"):
						question = q
					}
					return hook != nil && (question != nil || !s.AtLeast(2, 1, 120))
				})
				s.Answer(hook, decide(`{"behavior":"allow"}`))
				rest := s.AwaitResult().Lines
				for _, line := range rest {
					if cancel, ok := line.Message.(*wire.ControlCancel); ok {
						s.Note("withdrawn is the question: %t", question != nil && cancel.RequestID == question.RequestID)
					}
				}
				ordered(s, append(lines, rest...))
			},
			Quirks: []string{"HookRaces"},
			Want: Per{
				"2.1.37":  {"input: cwd hook_event_name permission_mode permission_suggestions session_id tool_input tool_name transcript_path", "asks hook_callback permission PermissionRequest", "user tool_result", "result success: Over."},
				"2.1.120": {"input: cwd hook_event_name permission_mode permission_suggestions session_id tool_input tool_name transcript_path", "withdrawn is the question: true", "asks can_use_tool Write, asks hook_callback permission PermissionRequest", "withdraws", "user tool_result", "result success: Over."},
				"2.1.325": {"input: cwd effort hook_event_name permission_mode permission_suggestions prompt_id session_id tool_input tool_name transcript_path", "withdrawn is the question: true", "asks can_use_tool Write, asks hook_callback permission PermissionRequest", "withdraws", "user tool_result", "result success: Over."},
			},
		},
		{
			ID: "hooks.permission.deny", Facts: "§1 PermissionRequest deny; rule 10", Where: stdioOnly, Warm: "hooks",
			Run: func(s *Stage) {
				s.OnAsk(open)
				onHook(s, "permission", decide(`{"behavior":"deny","message":"The hook says no."}`))
				write(s)
				lines := s.AwaitResult().Lines
				if s.AtLeast(2, 1, 120) { // the hook may be quicker than the question
					lines = slices.DeleteFunc(lines, func(l Seen) bool { return l.Is("asks can_use_tool", "withdraws") })
				}
				ordered(s, lines, "The hook says no.")
			},
			Want: Same("asks hook_callback permission PermissionRequest", "user tool_result error: The hook says no.", "result success: Over."),
		},
		{
			ID: "hooks.permission.interrupt", Facts: "§1 PermissionRequest deny with interrupt", Where: stdioOnly, Warm: "hooks",
			Run: func(s *Stage) {
				s.OnAsk(open)
				onHook(s, "permission", decide(`{"behavior":"deny","message":"The hook says no.","interrupt":true}`))
				write(s)
				lines := slices.DeleteFunc(s.AwaitResult().Lines, func(l Seen) bool { return l.Is("asks can_use_tool", "withdraws") })
				ordered(s, lines, "The hook says no.")
				s.Turn("@say Over.") // the CLI may put the tool's result and this prompt into one message
			},
			Quirks: []string{"HookInterrupts"},
			Want: Per{
				"2.1.37":  {"asks hook_callback permission PermissionRequest", "user tool_result error: The hook says no.", "result success: Over."},
				"2.1.325": {"asks hook_callback permission PermissionRequest", "user tool_result error", "user text: [Request interrupted by user for tool use]", "result error_during_execution is_error error=[ede_diagnostic]"},
			},
		},
		{
			ID: "hooks.permission.late", Facts: "§1 can_use_tool wins, the hook is not withdrawn; §1 2.1.37 asks the hook first; rule 10", Where: stdioOnly, Warm: "hooks",
			Run: func(s *Stage) {
				s.OnAsk(allow)
				late := s.AtLeast(2, 1, 120)
				var hook *wire.ControlRequest
				s.On("hook_callback", func(q *wire.ControlRequest) any {
					if late && q.Request.(*wire.HookCallbackRequest).CallbackID == "permission" {
						return nil
					}
					return &wire.HookCallbackAnswer{}
				})
				write(s)
				lines := s.Await(func(l Seen) bool {
					if q, ok := l.Message.(*wire.ControlRequest); ok && l.Is("asks hook_callback permission") {
						hook = q
					}
					return l.Is("result")
				})
				if late {
					ordered(s, lines)
					s.Answer(hook, decide(`{"behavior":"deny","message":"Too late."}`))
				} else {
					noteHooks(s, lines)
				}
				s.NoteLines(s.Settle())
			},
			Quirks: []string{"HookRaces"},
			Want: Per{
				"2.1.37":  {"asks hook_callback permission PermissionRequest", "asks can_use_tool Write", "user tool_result", "result success: Over."},
				"2.1.120": {"asks can_use_tool Write, asks hook_callback permission PermissionRequest", "user tool_result", "result success: Over."},
			},
		},
		{
			ID: "hooks.timeout", Facts: "§1 no answer in the matcher's time; §1 fails open or closed; rule 10", Where: stdioOnly, Warm: "hooks",
			Run: func(s *Stage) {
				s.OnAsk(deny("Not that."))
				var hook string
				s.On("hook_callback", func(q *wire.ControlRequest) any {
					if q.Request.(*wire.HookCallbackRequest).CallbackID == "slow" {
						return nil
					}
					return &wire.HookCallbackAnswer{}
				})
				s.Prompt("@tool WebFetch {\"url\":\"http://127.0.0.1:9/\",\"prompt\":\"Read it\"}\n@say Over.")
				turn := s.AwaitResult()
				for _, line := range turn.Lines {
					if line.Is("asks hook_callback slow") {
						hook = line.Message.(*wire.ControlRequest).RequestID
					}
					if cancel, ok := line.Message.(*wire.ControlCancel); ok {
						s.Note("withdrawn is the hook: %t", cancel.RequestID == hook)
					}
				}
				noteHooks(s, turn.Lines, "Not that.")
			},
			Quirks: []string{"HookTimeoutDenies"},
			Want: Per{
				"2.1.37":  {"withdrawn is the hook: true", "asks hook_callback slow PreToolUse", "withdraws", "asks can_use_tool WebFetch", "user tool_result error: Not that.", "result success: Over."},
				"2.1.325": {"withdrawn is the hook: true", "asks hook_callback slow PreToolUse", "withdraws", "user tool_result error", "result success: Over."},
			},
		},
	}
}

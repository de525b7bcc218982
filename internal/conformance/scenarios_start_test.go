package conformance

import (
	"errors"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// startScenarios are about how a CLI starts, how a turn begins, and how it ends.
func startScenarios() []Scenario {
	return slices.Concat(firstLineScenarios(), initializeScenarios(), stateScenarios(), endScenarios())
}

// without returns arguments without those that begin so.
func without(prefixes ...string) func([]string) []string {
	return func(args []string) []string {
		return slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
			return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(arg, p) })
		})
	}
}

// noteExit waits for the end and notes the lines up to it, the exit code and whether something was said on standard error.
func noteExit(s *Stage, says string) {
	s.NoteLines(s.AwaitEnd())
	s.Note("exit %d", s.Exit())
	if says != "" {
		s.Note("says %s: %t", says, strings.Contains(s.Stderr(), says))
	}
}

func firstLineScenarios() []Scenario {
	return []Scenario{
		{
			ID: "start.silent", Facts: "§0 nothing is written before the first input; seed 004: init right after initialize", Alone: true, NoInitialize: true,
			Run: func(s *Stage) {
				s.Request(&wire.InitializeRequest{})
				s.Note("first: %s", s.Next().Text)
				s.NoteLines(s.Settle())
				s.NoteOnly(s.Turn("@say Hello.").Lines, "system/init", "result")
			},
			Want: Same("first: answers success", "system/init", "result success: Hello."),
		},
		{
			ID: "start.end", Facts: "§0 stdin closed at once", Where: stdioOnly, NoInitialize: true,
			Run: func(s *Stage) {
				s.CloseInput()
				noteExit(s, "")
			},
			Want: Same("exit 0"),
		},
		{
			ID: "start.pipes", Facts: "seed 003: PTY needed", Raw: true,
			Run: func(s *Stage) {
				s.NoteOnly(s.Turn("@say Over plain pipes.").Lines, "result")
			},
			Want: Same("result success: Over plain pipes."),
		},
		{
			ID: "start.not-verbose", Facts: "§0 --verbose is required", Where: stdioOnly, NoInitialize: true, Args: without("--verbose"),
			Run: func(s *Stage) {
				noteExit(s, "--verbose")
			},
			Want: Same("exit 1", "says --verbose: true"),
		},
		{
			ID: "start.prompt-argument", Facts: "§0 a prompt argument is ignored", Where: stdioOnly,
			Args: func(args []string) []string { return append(slices.Clone(args), "@say From the arguments.") },
			Run: func(s *Stage) {
				s.NoteLines(s.Settle())
				s.NoteOnly(s.Turn("@say From the input.").Lines, "assistant", "result")
				s.CloseInput()
				noteExit(s, "")
			},
			Want: Same("assistant text: From the input.", "result success: From the input.", "exit 0"),
		},
		{
			ID: "start.no-prompt-tool", Facts: "§0 without --permission-prompt-tool; seed 003: PermissionPromptTool",
			Options: func(o *claude.Options) { o.PermissionPromptTool = "none" },
			Run: func(s *Stage) {
				s.OnAsk(allow)
				turn := s.Turn(`@tool Bash {"command":"touch asked","description":"Ask"}
					@say Done.`)
				s.NoteOnly(turn.Lines, "asks", "system/permission_denied", "result")
				for _, line := range turn.Find("user tool_result") {
					s.Note("refused: %t", line.Is("user tool_result error"))
				}
			},
			Want: Per{
				"*":             {"asks can_use_tool Bash", "result success: Done.", "refused: false"},
				"2.1.37/stdio":  {"result success: Done.", "refused: true"},
				"2.1.120/stdio": {"result success: Done.", "refused: true"},
				"2.1.325/stdio": {"system/permission_denied Bash", "result success: Done.", "refused: true"},
			},
		},
		{
			ID: "start.init-every-turn", Facts: "§0 init at the start of every turn; rule 21",
			Run: func(s *Stage) {
				for range 2 {
					turn := s.Turn("@say Here.")
					for _, line := range turn.Find("system/init") {
						s.Note("init of %s in mode %s", line.Get("claude_code_version"), line.Get("permissionMode"))
					}
				}
			},
			Want: Per{
				"2.1.37":  {"init of 2.1.37 in mode default", "init of 2.1.37 in mode default"},
				"2.1.120": {"init of 2.1.120 in mode default", "init of 2.1.120 in mode default"},
				"2.1.325": {"init of 2.1.325 in mode default", "init of 2.1.325 in mode default"},
			},
		},
		{
			ID: "start.no-partial-messages", Facts: "seed 000: stream_event with --verbose",
			Run:  func(s *Stage) { s.NoteOnly(s.Turn("@say No events.").Lines, "stream_event", "result") },
			Want: Same("result success: No events."),
		},
		{
			ID: "start.partial-messages", Facts: "seed 000: stream_event with --verbose; rule 19; §10 the assistant line comes before content_block_stop",
			Where:   stdioOnly,
			Options: func(o *claude.Options) { o.IncludePartialMessages = true },
			Run: func(s *Stage) {
				turn := s.Turn("@say Events.")
				last := ""
				for _, line := range turn.Find("stream_event", "assistant") {
					if line.Text != last { // the number of deltas is the model's
						s.Note("%s", line.Text)
					}
					last = line.Text
				}
			},
			Want: Same("stream_event message_start", "stream_event content_block_start", "stream_event content_block_delta", "assistant text: Events.",
				"stream_event content_block_stop", "stream_event message_delta", "stream_event message_stop"),
		},
	}
}

func initializeScenarios() []Scenario {
	const secret = "a word that only the system prompt has"
	return []Scenario{
		{
			ID: "initialize.answer", Facts: "§0 the members of the answer", Where: stdioOnly,
			Run: func(s *Stage) {
				// Newer versions tell much more.
				for _, name := range []string{"account", "agents", "available_output_styles", "capabilities", "claude_code_version", "commands", "current_permission_mode", "models", "output_style", "pid", "session_state"} {
					if member(s.Init.Response, name) != "" {
						s.Note("%s", name)
					}
				}
				s.Note("beside it: %s", strings.Join(slices.DeleteFunc(names(s.Init.Raw()), func(n string) bool {
					return slices.Contains([]string{"subtype", "request_id", "response"}, n)
				}), " "))
			},
			Quirks: []string{"InitializeTellsAgents", "InitializeTellsVersion"},
			Want: Per{
				"2.1.37":  {"account", "available_output_styles", "commands", "models", "output_style", "beside it:"},
				"2.1.120": {"account", "agents", "available_output_styles", "commands", "models", "output_style", "pid", "beside it:"},
				"2.1.325": {"account", "agents", "available_output_styles", "capabilities", "claude_code_version", "commands", "current_permission_mode", "models", "output_style", "pid", "session_state", "beside it: pending_permission_requests pending_user_dialog_requests"},
			},
		},
		{
			ID: "initialize.extra", Facts: "seed 001: protocolVersion and features", NoInitialize: true, Where: stdioOnly,
			Run: func(s *Stage) {
				answer := s.RawRequest(`{"subtype":"initialize","protocolVersion":"1.0","features":["streaming"]}`)
				s.Note("%s", answer.Subtype)
				s.NoteOnly(s.Turn("@say Here.").Lines, "result")
			},
			Want: Same("success", "result success: Here."),
		},
		{
			ID: "initialize.late", Facts: "§0 initialize after a prompt; rule 1", NoInitialize: true, Where: stdioOnly,
			Run: func(s *Stage) {
				s.NoteOnly(s.Turn("@say Early.").Lines, "result")
				answer := s.RawRequest(`{"subtype":"initialize","appendSystemPrompt":"` + secret + `"}`)
				s.Note("%s %s", answer.Subtype, answer.Error)
				turn := s.Turn("@say Late.")
				s.Note("told the model: %t", strings.Contains(s.AwaitModel(turn.Tag, 1)[0].System, secret))
			},
			Quirks: []string{"LateInitialize"},
			Want: Per{
				"2.1.37":  {"result success: Early.", "error Already initialized", "told the model: false"},
				"2.1.325": {"result success: Early.", "success", "told the model: false"},
			},
		},
		{
			ID: "initialize.early", Facts: "§0 initialize first; rule 1", Where: stdioOnly,
			Initialize: &wire.InitializeRequest{AppendSystemPrompt: secret},
			Run: func(s *Stage) {
				turn := s.Turn("@say Early.")
				s.Note("told the model: %t", strings.Contains(s.AwaitModel(turn.Tag, 1)[0].System, secret))
			},
			Want: Same("told the model: true"),
		},
		{
			ID: "initialize.prompt-before-answer", Facts: "§0 a prompt before the answer", NoInitialize: true, Where: stdioOnly,
			Run: func(s *Stage) {
				s.Raw(`{"type":"control_request","request_id":"first","request":{"subtype":"initialize"}}`)
				s.NoteOnly(s.Turn("@say Queued.").Lines, "answers", "result")
			},
			Want: Same("answers success", "result success: Queued."),
		},
		{
			ID: "initialize.second", Facts: "§0 second initialize; seed 000: second initialize; rule 15",
			Run: func(s *Stage) {
				s.Prompt(`@tool Bash {"command":"touch second","description":"Ask"}
					@say Done.`)
				s.On("can_use_tool", func(*wire.ControlRequest) any { return nil })
				question, _, _ := s.AwaitAsk()
				answer := reinitialize(s)
				for len(answer.PendingPermissionRequests) == 0 && s.ctx.Err() == nil {
					// In hybrid mode 2.1.37 knows of its question only when its POST has been answered.
					answer = reinitialize(s)
				}
				s.Note("%s %s", answer.Subtype, answer.Error)
				for _, open := range answer.PendingPermissionRequests {
					s.Note("open: %s, the same: %t", s.normal.request(open.Request), open.RequestID == question.RequestID)
				}
				s.Answer(&answer.PendingPermissionRequests[0], &wire.Deny{Message: "No."})
				s.NoteOnly(s.AwaitResult().Lines, "user", "result")
				s.Note("then %d open", len(reinitialize(s).PendingPermissionRequests))
			},
			Quirks: []string{"LateInitialize"},
			Want: Per{
				"2.1.37":  {"error Already initialized", "open: can_use_tool Bash, the same: true", "user tool_result error: No.", "result success: Done.", "then 0 open"},
				"2.1.325": {"success", "open: can_use_tool Bash, the same: true", "user tool_result error: No.", "result success: Done.", "then 0 open"},
			},
		},
	}
}

// reinitialize makes another initialize request and returns its answer, which older versions make an error.
func reinitialize(s *Stage) *wire.ControlAnswer {
	answer, err := s.TryRequest(&wire.InitializeRequest{})
	if refused, ok := errors.AsType[*claude.ControlError](err); ok {
		return refused.Answer
	}
	if err != nil {
		s.Fail("%w", err)
	}
	return answer
}

func stateScenarios() []Scenario {
	return []Scenario{
		{
			ID: "state.turn", Facts: "§0 state lines on request; rule 6",
			Run: func(s *Stage) {
				s.Prompt("@say Here.")
				if s.AtLeast(2, 1, 120) {
					// Not from the beginning: that the turn before is over may be told late.
					begun := s.AwaitText("system/session_state_changed running")
					s.NoteOnly(begun[len(begun)-1:], "system/session_state_changed")
					s.NoteOnly(s.AwaitText("system/session_state_changed idle"), "system/session_state_changed", "result")
				} else {
					s.NoteOnly(s.AwaitResult().Lines, "system/session_state_changed", "result")
					s.NoteLines(s.Settle())
				}
			},
			Quirks: []string{"StateLines"},
			Want: Per{
				"2.1.37":  {"result success: Here."},
				"2.1.120": {"system/session_state_changed running", "result success: Here.", "system/session_state_changed idle"},
			},
		},
		{
			ID: "state.not-asked-for", Facts: "§0 state lines on request", Where: stdioOnly, Options: func(o *claude.Options) { o.NoSessionStateEvents = true },
			Run: func(s *Stage) {
				s.NoteOnly(s.Turn("@say Here.").Lines, "system/session_state_changed", "result")
				s.NoteOnly(s.Settle(), "system/session_state_changed")
			},
			Want: Same("result success: Here."),
		},
		{
			ID: "state.question", Facts: "§0 requires_action while a question is open", Where: both(stdioOnly, since("2.1.120", "2.1.37 has no state lines")),
			Run: func(s *Stage) {
				s.On("can_use_tool", func(*wire.ControlRequest) any { return nil })
				s.Prompt(`@tool Bash {"command":"touch state","description":"Ask"}
					@say Done.`)
				question, _, lines := s.AwaitAsk()
				s.NoteOnly(append(lines, s.Settle()...), "system/session_state_changed", "asks")
				s.Note("answered")
				s.Answer(question, &wire.Deny{Message: "No."})
				s.NoteOnly(s.AwaitText("system/session_state_changed idle"), "system/session_state_changed", "result")
			},
			Quirks: []string{"StateLateQuestion"},
			Want: Per{
				"2.1.120": {"system/session_state_changed running", "asks can_use_tool Bash", "answered", "system/session_state_changed requires_action", "system/session_state_changed running", "result success: Done.", "system/session_state_changed idle"},
				"2.1.325": {"system/session_state_changed running", "system/session_state_changed requires_action", "asks can_use_tool Bash", "answered", "system/session_state_changed running", "result success: Done.", "system/session_state_changed idle"},
			},
		},
	}
}

func endScenarios() []Scenario {
	const slow = `@slow 2s
		@say Slowly, in a sentence of several words.`
	end := func(prepare func(*Stage)) func(*Stage) {
		return func(s *Stage) {
			prepare(s)
			s.CloseInput()
			s.NoteOnly(s.AwaitEnd(), "assistant", "user", "result")
			s.Note("exit %d", s.Exit())
		}
	}
	return []Scenario{
		{
			ID: "end.idle", Facts: "§0 exit code at EOF", Where: stdioOnly, Alone: true,
			Run: end(func(s *Stage) { s.NoteOnly(s.Turn("@say Here.").Lines, "result") }), Want: Same("result success: Here.", "exit 0"),
		},
		{
			ID: "end.in-turn", Facts: "§0 stdin EOF mid-turn; rule 17", Where: stdioOnly, Alone: true,
			Run: end(func(s *Stage) {
				s.AwaitModel(s.Prompt("@slow 100ms\n@say To the end."), 1)
				s.Prompt("@say Queued.")
			}),
			Want: Same("assistant text: To the end.", "result success: To the end.", "assistant text: Queued.", "result success: Queued.", "exit 0"),
		},
		{
			ID: "end.question", Facts: "§0 a pending can_use_tool at EOF is rejected", Where: stdioOnly, Alone: true,
			Run: end(func(s *Stage) {
				s.On("can_use_tool", func(*wire.ControlRequest) any { return nil })
				s.Prompt(`@tool Bash {"command":"touch end","description":"Ask"}
					@say Done.`)
				s.AwaitAsk()
			}),
			Want: Per{
				"2.1.37":  {"user tool_result error: Tool permission request failed: Error: Tool permission stream closed before response received", "assistant text: Done.", "result success: Done.", "exit 0"},
				"2.1.325": {"user tool_result error: Tool permission request failed: AbortError: Tool permission stream closed before response received", "assistant text: Done.", "result success: Done.", "exit 0"},
			},
		},
		{
			ID: "end.api-error", Facts: "§0 exit code after an API error", Where: stdioOnly, Alone: true,
			Run: end(func(s *Stage) { s.NoteOnly(s.Turn("@error 400 message=Bad.").Lines, "assistant", "result") }),
			Want: Per{
				"2.1.37":  {`assistant error=unknown text: API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"Bad."},"request_id":"<request>"}`, `result success is_error: API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"Bad."},"request_id":"<request>"}`, "exit 1"},
				"2.1.325": {"assistant error=unknown text: API Error: 400 Bad.", "result success is_error: API Error: 400 Bad.", "exit 1"},
			},
		},
		{
			ID: "end.interrupted", Facts: "§0 exit code after an interrupt", Where: stdioOnly, Alone: true,
			Run: end(func(s *Stage) {
				s.AwaitModel(s.Prompt(slow), 1)
				s.Request(&wire.InterruptRequest{})
				s.NoteOnly(s.AwaitResult().Lines, "result")
			}),
			Quirks: []string{"ExitAfterAnyError"},
			Want: Per{
				"2.1.37":  {"result error_during_execution", "exit 0"},
				"2.1.120": {"result error_during_execution is_error error=[ede_diagnostic]", "exit 1"},
			},
		},
		{
			ID: "end.max-turns", Facts: "§0 exit code after max turns", Where: stdioOnly, Options: func(o *claude.Options) { o.MaxTurns = 1 },
			Run: end(func(s *Stage) {
				s.OnAsk(allow)
				s.NoteOnly(s.Turn(`@tool Bash {"command":"true","description":"Go"}
					@say Done.`).Lines, "result")
			}),
			Quirks: []string{"ExitAfterAnyError", "LimitIsError"},
			Want: Per{
				"2.1.37":  {"result error_max_turns", "exit 0"},
				"2.1.120": {"result error_max_turns is_error error=Reached maximum number of turns (1)", "exit 1"},
			},
		},
		{
			ID: "end.recovered", Facts: "§0 only the last result counts", Where: stdioOnly, Alone: true,
			Run: end(func(s *Stage) {
				s.Turn("@error 400 message=Bad.")
				s.NoteOnly(s.Turn("@say Well again.").Lines, "result")
			}),
			Want: Same("result success: Well again.", "exit 0"),
		},
		{
			ID: "end.session", Facts: "§0 end_session", Where: since("2.1.120", "2.1.37 does not know end_session"), Alone: true,
			Run: func(s *Stage) {
				s.Request(&wire.EndSessionRequest{})
				s.Note("exit %d", s.Exit())
			},
			Want: Same("exit 0"),
		},
	}
}

package conformance

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// limitScenarios are about limits, models, thinking and structured output.
func limitScenarios() []Scenario {
	const schema = `{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}`
	model := func(s *Stage) string {
		turn := s.Turn("@say Here.")
		return s.AwaitModel(turn.Tag, 1)[0].Model
	}
	return []Scenario{
		{
			ID: "limits.max-turns", Facts: "§10 --max-turns; seed 000: error results have is_error; rule 5", Where: stdioOnly, Options: func(o *claude.Options) { o.MaxTurns = 2 },
			Run: func(s *Stage) {
				const work = `@tool Bash {"command":"echo %d","description":"Go"}`
				s.NoteOnly(s.Turn(fmt.Sprintf(work+"\n@next\n"+work+"\n@next\n"+work+"\n@say Done.", 1, 2, 3)).Lines, "result")
				s.Note("then %s", s.Turn(fmt.Sprintf(work+"\n@say The next message works.", 4)).Result.Subtype)
			},
			Quirks: []string{"LimitIsError"},
			Want: Per{
				"2.1.37":  {"result error_max_turns", "then success"},
				"2.1.120": {"result error_max_turns is_error error=Reached maximum number of turns (2)", "then success"},
			},
		},
		{
			ID: "limits.budget", Facts: "§10 --max-budget-usd", Where: stdioOnly, Options: func(o *claude.Options) { o.MaxBudgetUSD = 0.01 },
			Run: func(s *Stage) {
				s.NoteOnly(s.Turn("@usage in=1000000 out=1000\n@say Dear.").Lines, "assistant", "result")
				tag := s.Prompt("@say Never.")
				turn := s.AwaitResult()
				last := turn.Last()
				s.NoteOnly(turn.Lines, "assistant", "result")
				s.Note("the model was asked %d times", len(s.Asked(tag)))
				s.Note("terminal_reason %s", last.Get("terminal_reason"))
			},
			Quirks: []string{"LimitIsError", "BudgetReason"},
			Want: Per{
				"2.1.37":  {"assistant text: Dear.", "result error_max_budget_usd", "result error_max_budget_usd", "the model was asked 0 times", "terminal_reason"},
				"2.1.120": {"assistant text: Dear.", "result error_max_budget_usd is_error error=Reached maximum budget ($0.01)", "result error_max_budget_usd is_error error=Reached maximum budget ($0.01)", "the model was asked 0 times", "terminal_reason"},
				"2.1.325": {"assistant text: Dear.", "result error_max_budget_usd is_error error=Reached maximum budget ($0.01)", "result error_max_budget_usd is_error error=Reached maximum budget ($0.01)", "the model was asked 0 times", "terminal_reason budget_exhausted"},
			},
		},
		{
			ID: "limits.schema", Facts: "§10 --json-schema; rule 20", Where: stdioOnly,
			Options: func(o *claude.Options) { o.JSONSchema, o.MaxTurns, o.MaxBudgetUSD = json.RawMessage(schema), 6, 5 },
			Run: func(s *Stage) {
				turn := s.Turn(`@tool StructuredOutput {"n":"five"}
					@next
					@tool StructuredOutput {"n":6}
					@say That is all.`)
				for _, line := range turn.Find("asks", "user tool_result") {
					s.Note("%s", strings.Join(strings.Fields(line.Text)[:3], " "))
				}
				s.NoteOnly(turn.Lines, "result")
				s.Note("structured_output %s", turn.Last().Get("structured_output"))
			},
			Quirks: []string{"SchemaStops"},
			Want: Per{
				"2.1.37":  {"user tool_result error:", "user tool_result: Structured", "result success: That is all.", `structured_output {"n":6}`},
				"2.1.325": {"user tool_result error:", "user tool_result: Structured", `result success: {"n":6}`, `structured_output {"n":6}`},
			},
		},
		{
			ID: "limits.schema-text", Facts: "§10 a model that answers plain text; rule 20", Where: both(stdioOnly, since("2.1.325", "older versions ask the model without end")),
			Initialize: &wire.InitializeRequest{JSONSchema: json.RawMessage(schema)},
			Run: func(s *Stage) {
				turn := s.Turn("@say Plain.")
				for _, line := range turn.Find("assistant", "user", "result") {
					s.Note("%s", strings.Fields(line.Text)[:2])
				}
				s.Note("structured_output %q", turn.Last().Get("structured_output"))
			},
			Quirks: []string{"SchemaReminds"},
			Want:   Same("[assistant text:]", "[user synthetic]", "[assistant text:]", "[result success:]", `structured_output ""`),
		},
		{
			ID: "limits.schema-retries", Facts: "§10 a model that never keeps to the schema", Where: stdioOnly,
			Options: func(o *claude.Options) { o.JSONSchema, o.MaxTurns, o.MaxBudgetUSD = json.RawMessage(schema), 20, 5 },
			Run: func(s *Stage) {
				turn := s.Turn(strings.Repeat("@tool StructuredOutput {\"n\":\"five\"}\n@next\n", 9) + "@say That is all.")
				s.Note("refused %d times, asked %d", len(turn.Find("user tool_result error")), len(s.Asked(turn.Tag)))
				s.NoteOnly(turn.Lines, "result")
				s.Note("structured_output %q, terminal_reason %q", turn.Last().Get("structured_output"), turn.Last().Get("terminal_reason"))
			},
			Quirks: []string{"SchemaReason"},
			Want: Per{
				"2.1.37":  {"refused 5 times, asked 5", "result error_max_structured_output_retries is_error error=Failed to provide valid structured output after 5 attempts", `structured_output "", terminal_reason ""`},
				"2.1.325": {"refused 5 times, asked 5", "result error_max_structured_output_retries is_error error=Failed to provide valid structured output after 5 attempts — last StructuredOutput error: Output does …", `structured_output "", terminal_reason "structured_output_retry_exhausted"`},
			},
		},
		{
			ID: "limits.set_model", Facts: "§10 set_model", Where: stdioOnly,
			Run: func(s *Stage) {
				usual := model(s)
				noteAnswers(s, `{"subtype":"set_model","model":"claude-haiku-4-5-20251001"}`, "model")
				s.Note("model %s", model(s))
				noteAnswers(s, `{"subtype":"set_model","model":"invented"}`)
				s.Request(&wire.SetModelRequest{})
				s.Note("the usual one again: %t", model(s) == usual)
			},
			Quirks: []string{"ModelAnswers", "ModelLine"},
			Want: Per{
				"2.1.37":  {"success", "model claude-haiku-4-5-20251001", "success", "the usual one again: true"},
				"2.1.120": {"user replay text: <local-command-stdout>Set model to claude-haiku-4-5-20251001</local-command-stdout>", "success", "model claude-haiku-4-5-20251001", "user replay text: <local-command-stdout>Set model to invented</local-command-stdout>", "success", "the usual one again: true"},
				"2.1.325": {"user replay text: <local-command-stdout>Set model to `claude-haiku-4-5-20251001`</local-command-stdout>", "success model", "model claude-haiku-4-5-20251001", "user replay text: <local-command-stdout>Set model to `invented`</local-command-stdout>", "success", "the usual one again: true"},
			},
		},
		{
			ID: "limits.set_max_thinking_tokens", Facts: "§10 set_max_thinking_tokens", Where: stdioOnly,
			Run: func(s *Stage) {
				thinking := func() string {
					turn := s.Turn("@say Here.")
					return s.normal.json([]byte(rawMember(s.AwaitModel(turn.Tag, 1)[0].Body, "thinking")))
				}
				for _, tokens := range []string{"5000", "0", "null", `"abc"`} {
					noteAnswers(s, `{"subtype":"set_max_thinking_tokens","max_thinking_tokens":`+tokens+`}`)
					if tokens != `"abc"` && !s.AtLeast(2, 1, 120) { // models that adapt their thinking are asked otherwise
						s.Note("%s: %s", tokens, thinking())
					}
				}
				s.Request(&wire.SetMaxThinkingTokensRequest{}) // as it was
			},
			Quirks: []string{"ModelChecksThinking"},
			Want: Per{
				"2.1.37":  {"success", `5000: {"budget_tokens":5000,"type":"enabled"}`, "success", "0:", "success", "null:", "success"},
				"2.1.120": {"success", "success", "success", "success"},
				"2.1.325": {"success", "success", "success", "error"},
			},
		},
		{
			ID: "limits.thinking", Facts: "§10 thinking", Where: stdioOnly, Options: func(o *claude.Options) { o.IncludePartialMessages = true },
			Run: func(s *Stage) {
				turn := s.Turn("@think Let me see.\n@say I see.")
				s.NoteOnly(turn.Lines, "assistant", "result")
				deltas := map[string]bool{}
				for _, line := range turn.Find("stream_event content_block_delta") {
					deltas[line.Get("event.delta.type")] = true
				}
				s.Note("deltas: thinking %t, signature %t", deltas["thinking_delta"], deltas["signature_delta"])
				s.Note("thinking_tokens: %t", len(turn.Find("system/thinking_tokens")) > 0)
			},
			Quirks: []string{"ThinkingLines"},
			Want: Per{
				"2.1.37":  {"assistant thinking: Let me see.", "assistant text: I see.", "result success: I see.", "deltas: thinking true, signature true", "thinking_tokens: false"},
				"2.1.325": {"assistant thinking: Let me see.", "assistant text: I see.", "result success: I see.", "deltas: thinking true, signature true", "thinking_tokens: true"},
			},
		},
		fallback("opus", "claude-opus-4-1-20250805", Per{
			"2.1.37": {
				"assistant error=unknown text: API Error: Model fallback triggered", "result success is_error: API Error: Model fallback triggered",
				"the other model was asked: false",
			},
			"2.1.120": {"assistant text: At last.", "result success: At last.", "the other model was asked: true"},
			"2.1.325": {"system/model_fallback", "assistant text: At last.", "result success: At last.", "the other model was asked: true"},
		}, "FallbackLines", "FallbackFails"),
		fallback("sonnet", "claude-sonnet-4-5-20250929", Per{
			"2.1.37":  {"assistant text: At last.", "result success: At last.", "the other model was asked: false"},
			"2.1.325": {"system/model_fallback", "assistant text: At last.", "result success: At last.", "the other model was asked: true"},
		}, "FallbackForAll"),
	}
}

// fallback is about what happens when a model is overloaded for three times and there is another one.
func fallback(name, model string, want Want, quirks ...string) Scenario {
	const other = "claude-haiku-4-5-20251001"
	return Scenario{
		ID: "limits.fallback-model." + name, Facts: "§10 --fallback-model", Where: stdioOnly,
		Options: func(o *claude.Options) { o.Model, o.FallbackModel = model, other },
		Run: func(s *Stage) {
			turn := s.Turn("@error 529 times=3 retry-after=0\n@say At last.")
			for _, line := range turn.Find("system/model_fallback", "assistant", "result") {
				text, _, _ := strings.Cut(line.Text, ": claude-") // newer versions have other names for old models
				s.Note("%s", text)
			}
			requests := s.Asked(turn.Tag)
			s.Note("the other model was asked: %t", requests[len(requests)-1].Model == other)
		},
		Quirks: quirks,
		Want:   want,
	}
}

// commandScenarios are about slash commands.
func commandScenarios() []Scenario {
	return []Scenario{
		{
			ID: "commands.compact", Facts: "§12 /compact; seed 000: compact_boundary, then status null", Where: stdioOnly,
			Run: func(s *Stage) {
				s.Turn("@say One.")
				s.Turn("@say Two.")
				turn := s.TurnExact("/compact")
				for _, line := range turn.Lines {
					switch {
					case line.Is("user"):
						s.Note("user replay=%s", line.Get("isReplay"))
					case line.Is("system/compact_boundary"):
						s.Note("%s trigger=%s", line.Text, line.Get("compact_metadata.trigger"))
					case line.Is("system/status", "result"):
						s.Note("%s", line.Text)
					}
				}
				s.Note("counts messages: %t", turn.Result.NumTurns > 0)
			},
			Quirks: []string{"CommandsCountAll"},
			Want: Per{
				"2.1.37":  {"system/status compacting", "system/status", "system/compact_boundary trigger=manual", "user replay=false", "user replay=true", "result success", "counts messages: true"},
				"2.1.120": {"system/status compacting", "system/status", "system/compact_boundary trigger=manual", "user replay=false", "user replay=true", "result success", "counts messages: false"},
			},
		},
		{
			ID: "commands.cost", Facts: "§12 /cost", Where: stdioOnly,
			Run:    func(s *Stage) { noteCommand(s, s.TurnExact("/cost")) },
			Quirks: []string{"CommandsSpeak"}, Want: Per{
				"2.1.37":  {"user true, assistant false, result has a text false"},
				"2.1.120": {"user false, assistant true, result has a text true"},
			},
		},
		{
			ID: "commands.context", Facts: "§12 /context", Where: stdioOnly,
			Run:    func(s *Stage) { noteCommand(s, s.TurnExact("/context")) },
			Quirks: []string{"CommandsSpeak"}, Want: Per{
				"2.1.37":  {"user true, assistant false, result has a text false"},
				"2.1.120": {"user false, assistant true, result has a text true"},
			},
		},
		{
			ID: "commands.unknown", Facts: "§12 unknown commands", Where: stdioOnly,
			Run: func(s *Stage) {
				turn := s.TurnExact("/invented")
				s.Note("model: %t", len(turn.Find("assistant")) > 0)
				if len(turn.Find("assistant")) == 0 {
					s.NoteOnly(turn.Lines, "result")
				}
			},
			Quirks: []string{"CommandsUnknownToModel"}, Want: Per{
				"2.1.37":  {"model: false", "result success: Unknown skill: invented"},
				"2.1.120": {"model: false", "result success: Unknown command: /invented"},
				"2.1.325": {"model: true"},
			},
		},
		{
			ID: "commands.clear", Facts: "§12 /clear", Where: stdioOnly,
			Run: func(s *Stage) {
				before := s.Turn("@say One.")
				s.NoteOnly(s.TurnExact("/clear").Lines, "conversation_reset", "result")
				after := s.Turn("@say Two.")
				s.Note("another conversation: %t", before.Result.SessionID != after.Result.SessionID)
				s.Note("the model has seen the first prompt: %t", strings.Contains(string(s.AwaitModel(after.Tag, 1)[0].Body), before.Tag))
			},
			Quirks: []string{"ClearTold", "ClearKnown"}, Want: Per{
				"2.1.37":  {"result success: Unknown skill: clear", "another conversation: false", "the model has seen the first prompt: true"},
				"2.1.120": {"result success", "another conversation: true", "the model has seen the first prompt: true"},
				"2.1.325": {"conversation_reset", "result success", "another conversation: true", "the model has seen the first prompt: false"},
			},
		},
		{
			ID: "commands.not-at-start", Facts: "§12 only at the start of the text", Where: stdioOnly,
			Run:  func(s *Stage) { s.NoteOnly(s.Turn("@say It is no command.\n/cost").Lines, "assistant", "result") },
			Want: Same("assistant text: It is no command.", "result success: It is no command."),
		},
	}
}

// noteCommand notes how a command answers.
func noteCommand(s *Stage, turn Turn) {
	s.Note("user %t, assistant %t, result has a text %t", len(turn.Find("user")) > 0, len(turn.Find("assistant")) > 0, turn.Result.Result != "")
}

// environmentScenarios are about update_environment_variables and keep_alive.
func environmentScenarios() []Scenario {
	return []Scenario{
		{
			ID: "environment.update", Facts: "§7 update_environment_variables; seed 002: environment live update; rule 21", Where: stdioOnly,
			Run: func(s *Stage) {
				s.OnAsk(allow)
				for _, value := range []string{"one", "two"} {
					s.Raw(`{"type":"update_environment_variables","variables":{"CONFORMANCE":"` + value + `"}}`)
					s.NoteLines(s.Settle())
					turn := s.Turn(`@tool Bash {"command":"echo \"it is $CONFORMANCE\"","description":"Look"}
						@say Done.`)
					s.NoteOnly(turn.Lines, "user tool_result")
				}
			},
			Quirks: []string{"EnvironmentUpdates"}, Want: Per{
				"2.1.37":  {"user tool_result: it is one", "user tool_result: it is two"},
				"2.1.325": {"user tool_result: it is", "user tool_result: it is"},
			},
		},
		{
			ID: "environment.keep_alive", Facts: "§7 keep_alive in", Run: func(s *Stage) {
				s.Raw(`{"type":"keep_alive"}`)
				s.NoteLines(s.Settle())
				s.NoteOnly(s.Turn("@say Here.").Lines, "result")
			},
			Want: Same("result success: Here."),
		},
	}
}

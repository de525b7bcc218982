package conformance

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// openQuestions sends a prompt and waits for so many questions, which stay open. They are keyed by their tools.
func openQuestions(s *Stage, prompt string, n int) map[string]*wire.ControlRequest {
	s.OnAsk(func(*wire.CanUseToolRequest) any { return nil })
	s.Prompt(prompt)
	open := map[string]*wire.ControlRequest{}
	for range n {
		request, question, _ := s.AwaitAsk()
		open[question.ToolName] = request
	}
	return open
}

// noteStopped notes what an interrupt leaves of open questions.
func noteStopped(s *Stage, lines []Seen, open map[string]*wire.ControlRequest) {
	var withdrawn []string
	for _, line := range lines {
		cancel, ok := line.Message.(*wire.ControlCancel)
		if !ok {
			continue
		}
		for tool, request := range open {
			if request.RequestID == cancel.RequestID {
				withdrawn = append(withdrawn, tool)
			}
		}
	}
	slices.Sort(withdrawn)
	s.Note("withdrawn: %s", strings.Join(withdrawn, ", "))
	s.NoteOnly(lines, "user text", "result")
}

// openScenarios are about questions that stay open for a while: two at once, stopped, overtaken by events.
func openScenarios() []Scenario {
	const fetch = `@tool WebFetch {"url":"http://127.0.0.1:9/","prompt":"Read it"}`
	return []Scenario{
		{
			ID: "question.two", Facts: "§6 a choice and a plan are open at the same time, and are answered in reverse order; rule 8", Where: stdioOnly,
			Run: func(s *Stage) {
				setMode(s, wire.PermissionModePlan)
				open := openQuestions(s, choice+"\n@tool ExitPlanMode {}\n@say Over.", 2)
				s.Answer(open["ExitPlanMode"], &wire.Allow{})
				s.Settle()
				s.Send(must(wire.NewChoice(open["AskUserQuestion"], map[string]wire.Choice{"Which colour?": {Answers: []string{"Blue"}}})))
				turn := s.AwaitResult()
				for _, line := range turn.Find("user tool_result: ") {
					if found := pairs.FindString(line.Text); found != "" {
						s.Note("told %s", found)
					}
				}
				s.Note("%s", turn.Last().Text)
				s.Note("the mode is %s", s.Turn("@say Over.").Find("system/init")[0].Get("permissionMode"))
				setMode(s, wire.PermissionModeDefault)
			},
			Want: Same(`told "Which colour?"="Blue"`, "result success: Over.", "the mode is default"),
		},
		{
			ID: "question.preview", Facts: "§3 previews of options", Where: stdioOnly,
			Run: func(s *Stage) {
				open := openQuestions(s, `@tool AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"Like fire","preview":"#800000"},{"label":"Blue","description":"Like water","preview":"#000080"}],"multiSelect":false}]}
					@say Over.`, 1)
				request := open["AskUserQuestion"]
				s.Note("the question has it: %t", strings.Contains(string(request.Request.(*wire.CanUseToolRequest).Input), `"preview":"#800000"`))
				s.Send(must(wire.NewChoice(request, map[string]wire.Choice{"Which colour?": {Answers: []string{"Red"}, Preview: "#800000", Notes: "A dark one"}})))
				noteChoices(s, s.AwaitResult().Lines)
			},
			Quirks: []string{"ChoicesAnnotated"},
			Want: Per{
				"2.1.37":  {"the question has it: false", `told "Which colour?"="Red"`, "result success: Over."},
				"2.1.120": {"the question has it: true", `told "Which colour?"="Red"`, "told A dark one", "told #800000", "result success: Over."},
			},
		},
		{
			ID: "interrupt.two", Facts: "§5 two questions open; §5 deny with interrupt of one of two; §5 a plan is open; rule 8", Where: stdioOnly,
			Run: func(s *Stage) {
				open := openQuestions(s, fetch+"\n"+choice+"\n@say Over.", 2)
				s.Request(&wire.InterruptRequest{})
				noteStopped(s, s.AwaitResult().Lines, open)
				open = openQuestions(s, fetch+"\n"+choice+"\n@say Over.", 2)
				s.Answer(open["WebFetch"], &wire.Deny{Message: "Stop it.", Interrupt: true})
				noteStopped(s, s.AwaitResult().Lines, open)
				setMode(s, wire.PermissionModePlan)
				open = openQuestions(s, "@tool ExitPlanMode {}\n@say Over.", 1)
				s.Request(&wire.InterruptRequest{})
				noteStopped(s, s.AwaitResult().Lines, open)
				s.Note("the mode is %s", s.Turn("@say Over.").Find("system/init")[0].Get("permissionMode"))
				setMode(s, wire.PermissionModeDefault)
			},
			Quirks: []string{"InterruptIsError"},
			Want: Per{
				"2.1.37":  {"withdrawn: AskUserQuestion, WebFetch", "user text: [Request interrupted by user for tool use]", "result error_during_execution", "withdrawn: AskUserQuestion", "user text: [Request interrupted by user for tool use]", "result error_during_execution", "withdrawn: ExitPlanMode", "user text: [Request interrupted by user for tool use]", "result error_during_execution", "the mode is plan"},
				"2.1.120": {"withdrawn: AskUserQuestion, WebFetch", "user text: [Request interrupted by user for tool use]", "result error_during_execution is_error error=[ede_diagnostic]", "withdrawn: AskUserQuestion", "user text: [Request interrupted by user for tool use]", "result error_during_execution is_error error=[ede_diagnostic]", "withdrawn: ExitPlanMode", "user text: [Request interrupted by user for tool use]", "result error_during_execution is_error error=[ede_diagnostic]", "the mode is plan"},
			},
		},
		{
			ID: "plan.prompts", Facts: "§4 allowedPrompts as rules; seed 002: setMode and addRules in answers", Where: stdioOnly,
			Run: func(s *Stage) {
				update := func(kind string) string {
					return `{"type":"` + kind + `","rules":[{"toolName":"Bash","ruleContent":"prompt: run tests"}],"behavior":"allow","destination":"session"}`
				}
				s.OnAsk(func(q *wire.CanUseToolRequest) any {
					if q.ToolName == "ExitPlanMode" {
						s.Note("asked for: %s", member(q.Input, "allowedPrompts"))
						return Verbatim(fmt.Sprintf(`{"behavior":"allow","updatedInput":%s,"updatedPermissions":[%s]}`, q.Input, update("addRules")))
					}
					return Verbatim(fmt.Sprintf(`{"behavior":"allow","updatedInput":{"command":"echo allowed"},"updatedPermissions":[%s]}`, update("removeRules")))
				})
				setMode(s, wire.PermissionModePlan)
				s.Settle()
				noteTools(s, s.Turn(`@tool ExitPlanMode {"allowedPrompts":[{"tool":"Bash","prompt":"run tests"}]}
					@next
					@tool Bash {"command":"npm test","description":"run tests"}
					@say Over.`).Lines, "allowed")
				setMode(s, wire.PermissionModeDefault)
			},
			Want: Same(`asked for: [{"tool":"Bash","prompt":"run tests"}]`, "asks can_use_tool ExitPlanMode", "system/status permissionMode=default", "user tool_result", "asks can_use_tool Bash", "user tool_result: allowed", "result success: Over."),
		},
		{
			ID: "plan.file-edited", Facts: "§4 the plan's file is changed while the plan is open; §4 an edited plan is written to its file", Where: stdioOnly,
			Run: func(s *Stage) {
				for _, answer := range []string{"", `{"behavior":"allow","updatedInput":{"plan":"# Plan\nPaint it.\n"}}`} {
					s.OnAsk(allow)
					path := enterPlan(s, "# Plan\nBuild it.\n")
					exit := openQuestions(s, "@tool ExitPlanMode {}\n@say Over.", 1)["ExitPlanMode"]
					if answer == "" {
						if err := os.WriteFile(path, []byte("# Plan\nPaint it.\n"), 0o600); err != nil {
							s.Fail("%w", err)
						}
						s.Answer(exit, &wire.Allow{})
					} else {
						s.Answer(exit, Verbatim(answer))
					}
					for _, line := range s.AwaitResult().Find("user tool_result") {
						s.Note("edited in the answer: %t, the model has the new plan: %t", answer != "", strings.Contains(string(line.Raw), "Paint it."))
					}
					text, err := os.ReadFile(path)
					if err != nil {
						s.Fail("%w", err)
					}
					s.Note("the file has the new plan: %t", strings.Contains(string(text), "Paint it."))
					leavePlan(s, path)
				}
			},
			Quirks: []string{"PlanEditMarked", "PlanAnswerWins"},
			Want: Per{
				"2.1.37":  {"edited in the answer: false, the model has the new plan: true", "the file has the new plan: true", "edited in the answer: true, the model has the new plan: false", "the file has the new plan: false"},
				"2.1.120": {"edited in the answer: false, the model has the new plan: false", "the file has the new plan: false", "edited in the answer: true, the model has the new plan: true", "the file has the new plan: true"},
				"2.1.325": {"edited in the answer: false, the model has the new plan: true", "the file has the new plan: true", "edited in the answer: true, the model has the new plan: true", "the file has the new plan: true"},
			},
		},
		{
			ID: "hooks.pre-unasked", Facts: "§1 PreToolUse ask for what is never asked; §4 EnterPlanMode and hooks; rule 10", Where: stdioOnly, Warm: "hooks",
			Run: func(s *Stage) {
				s.OnAsk(deny("Not that."))
				const verdict = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":%q,"permissionDecisionReason":"A person shall decide."}}`
				for _, decision := range []string{"ask", "deny"} {
					s.OnHook(func(r *wire.HookCallbackRequest) any {
						if slices.Contains([]string{"pre", "enter"}, r.CallbackID) {
							return Verbatim(fmt.Sprintf(verdict, decision))
						}
						return &wire.HookCallbackAnswer{}
					})
					for _, call := range []string{bash("echo hello"), "EnterPlanMode {}"} {
						turn := s.Turn("@tool " + call + "\n@say Over.")
						s.Note("%s %s: %s", decision, call, outcome(turn))
						setMode(s, wire.PermissionModeDefault)
						s.Settle()
					}
				}
			},
			Quirks: []string{"HookAsksAnything"},
			Want: Per{
				"2.1.37":  {`ask Bash {"command":"echo hello"}: runs`, "ask EnterPlanMode {}: runs", `deny Bash {"command":"echo hello"}: refused`, "deny EnterPlanMode {}: refused"},
				"2.1.120": {`ask Bash {"command":"echo hello"}: asked`, "ask EnterPlanMode {}: asked", `deny Bash {"command":"echo hello"}: refused`, "deny EnterPlanMode {}: refused"},
			},
		},
		{
			ID: "hooks.held", Facts: "§1 a hook whose answer takes its time; §5 a hook is open; rule 10", Where: stdioOnly, Warm: "hooks",
			Run: func(s *Stage) {
				s.On("hook_callback", func(q *wire.ControlRequest) any {
					if q.Request.(*wire.HookCallbackRequest).CallbackID == "enter" {
						return nil
					}
					return &wire.HookCallbackAnswer{}
				})
				held := func() *wire.ControlRequest {
					s.Prompt("@tool EnterPlanMode {}\n@say Over.")
					lines := s.AwaitText("asks hook_callback enter")
					return lines[len(lines)-1].Message.(*wire.ControlRequest)
				}
				hook := held()
				noteHooks(s, s.Settle())
				s.Answer(hook, &wire.HookCallbackAnswer{})
				noteHooks(s, s.AwaitResult().Lines)
				setMode(s, wire.PermissionModeDefault)
				open := map[string]*wire.ControlRequest{"the hook": held()}
				s.Request(&wire.InterruptRequest{})
				noteStopped(s, s.AwaitResult().Lines, open)
				setMode(s, wire.PermissionModeDefault)
			},
			Quirks: []string{"InterruptIsError"},
			Want: Per{
				"2.1.37":  {"system/status permissionMode=plan", "user tool_result", "result success: Over.", "withdrawn: the hook", "user text: [Request interrupted by user for tool use]", "result error_during_execution"},
				"2.1.120": {"system/status permissionMode=plan", "user tool_result", "result success: Over.", "withdrawn: the hook", "user text: [Request interrupted by user for tool use]", "result error_during_execution is_error error=[ede_diagnostic]"},
			},
		},
		{
			ID: "commands.in-turn", Facts: "§12 /compact while a tool waits", Where: stdioOnly,
			Run: func(s *Stage) {
				s.Turn("@say One.")
				open := openQuestions(s, touch("original"), 1)
				s.Send(must(wire.NewUser(wire.TextContent("/compact"), nil)))
				s.Settle()
				s.Answer(open["Bash"], &wire.Deny{Message: "No."})
				s.NoteOnly(s.AwaitResult().Lines, "system/status compacting", "system/compact_boundary", "result")
				if s.AtLeast(2, 1, 120) {
					s.NoteOnly(s.AwaitResult().Lines, "system/status compacting", "system/compact_boundary", "result")
				}
				turn := s.Turn("@say Two.")
				s.NoteOnly(turn.Lines, "system/status compacting", "system/compact_boundary", "result")
			},
			Quirks: []string{"CommandsWait"},
			Want: Per{
				"2.1.37":  {"result success: Over.", "result success: Two."},
				"2.1.120": {"result success: Over.", "system/status compacting", "system/compact_boundary", "result success", "result success: Two."},
			},
		},
	}
}

package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// permissionScenarios are about questions for permission: when they come, what they hold, and what an answer does.
func permissionScenarios() []Scenario {
	return slices.Concat(permissionAnswerScenarios(), permissionQuestionScenarios(), permissionOrderScenarios(), permissionModeScenarios(), permissionRuleScenarios())
}

// touch is a prompt with a tool call that every CLI asks about, and that prints a word.
func touch(word string) string {
	return fmt.Sprintf(`@tool Bash {"command":"touch permitted; echo %s","description":"Make a file"}
		@say Over.`, word)
}

// noteTools notes the questions of a turn, what became of its tools, and how it ended. Of what tools say only the texts given are noted, in which
// "" stands for all: the rest is for the model, in the CLI's own words.
func noteTools(s *Stage, lines []Seen, texts ...string) {
	for _, line := range lines {
		switch {
		case line.Is("user tool_result"):
			head, text, _ := strings.Cut(line.Text, ": ")
			if slices.ContainsFunc(texts, func(t string) bool { return t == "" || t == text }) {
				head = line.Text
			}
			s.Note("%s", head)
		case line.Is("asks", "withdraws", "user", "result", "system/status permissionMode", "system/permission_denied"):
			s.Note("%s", line.Text)
		case line.Is("system/informational"):
			s.Note("system/informational %s", line.Get("tag")) // the text is the CLI's own
		}
	}
}

// askKeys notes the members of the questions of a turn that not all questions have, and the values of those given.
func askKeys(s *Stage, lines []Seen, paths ...string) {
	for _, line := range lines {
		if line.Is("asks can_use_tool") {
			more := slices.DeleteFunc(names([]byte(rawMember(line.Raw, "request"))), func(name string) bool {
				return slices.Contains([]string{"subtype", "tool_name", "tool_use_id", "input"}, name) // all have these
			})
			s.Note("%s has %s", line.Text[len("asks can_use_tool "):], strings.Join(more, " "))
			for _, path := range paths {
				if value := line.Get("request." + path); value != "" {
					s.Note("%s: %s", path, value)
				}
			}
		}
	}
}

// permissionAnswerScenarios are the forms of an answer, one each.
func permissionAnswerScenarios() []Scenario {
	rows := []struct {
		id, facts string
		answer    any
		quirk     string
		want      Want
	}{
		{id: "allow.edited", facts: "§6 allow with another input", answer: Verbatim(`{"behavior":"allow","updatedInput":{"command":"echo edited"}}`), want: Same("asks can_use_tool Bash", "user tool_result: edited", "result success: Over.")},
		{id: "allow.without-input", facts: "§6 allow without updatedInput; rule 8", answer: Verbatim(`{"behavior":"allow"}`), quirk: "AllowNeedsInput", want: Per{
			"2.1.37":  {"asks can_use_tool Bash", "user tool_result error", "result success: Over."},
			"2.1.325": {"asks can_use_tool Bash", "user tool_result: original", "result success: Over."},
		}},
		{id: "allow.empty-input", facts: "§6 allow with an empty updatedInput; rule 8", answer: Verbatim(`{"behavior":"allow","updatedInput":{}}`), quirk: "EmptyInputCounts", want: Per{
			"2.1.37":  {"asks can_use_tool Bash", "user tool_result error", "result success: Over."},
			"2.1.120": {"asks can_use_tool Bash", "user tool_result: original", "result success: Over."},
		}},
		{id: "allow.null-input", facts: "§6 allow with updatedInput null", answer: Verbatim(`{"behavior":"allow","updatedInput":null}`), want: Same("asks can_use_tool Bash", "user tool_result error", "result success: Over.")},
		{
			id: "allow.extra", facts: "§6 a wrong toolUseID and further members are ignored",
			answer: Verbatim(`{"behavior":"allow","updatedInput":{"command":"echo extra"},"toolUseID":"toolu_other","whatever":[1]}`), want: Same("asks can_use_tool Bash", "user tool_result: extra", "result success: Over."),
		},
		{
			id: "allow.bad-update", facts: "§6 updatedPermissions of an unknown type; rule 9", quirk: "BadUpdateDenies",
			answer: Verbatim(`{"behavior":"allow","updatedInput":{"command":"echo updated"},"updatedPermissions":[{"type":"whatever","mode":"x","destination":"session"}]}`), want: Per{
				"2.1.37":  {"asks can_use_tool Bash", "user tool_result error", "result success: Over."},
				"2.1.120": {"asks can_use_tool Bash", "user tool_result: updated", "result success: Over."},
			},
		},
		{id: "maybe", facts: "§6 behavior maybe", answer: Verbatim(`{"behavior":"maybe"}`), want: Same("asks can_use_tool Bash", "user tool_result error", "result success: Over.")},
		{id: "deny.without-message", facts: "§6 deny without a message; rule 8", answer: Verbatim(`{"behavior":"deny"}`), want: Same("asks can_use_tool Bash", "user tool_result error", "result success: Over.")},
		{id: "deny.empty-message", facts: "§6 deny with an empty message", answer: Verbatim(`{"behavior":"deny","message":""}`), want: Same("asks can_use_tool Bash", "user tool_result error", "result success: Over.")},
		{id: "empty", facts: "§6 an empty answer", answer: Verbatim(`{}`), want: Same("asks can_use_tool Bash", "user tool_result error", "result success: Over.")},
		{id: "error", facts: "§6 an error for an answer", answer: errors.New("nobody is here"), want: Same("asks can_use_tool Bash", "user tool_result error", "result success: Over.")},
	}
	var all []Scenario
	for _, row := range rows {
		sc := Scenario{
			ID: "permission." + row.id, Facts: row.facts, Where: stdioOnly, Want: row.want,
			Run: func(s *Stage) {
				s.OnAsk(func(*wire.CanUseToolRequest) any { return row.answer })
				noteTools(s, s.Turn(touch("original")).Lines, "original", "edited", "extra", "updated")
			},
		}
		if row.quirk != "" {
			sc.Quirks = []string{row.quirk}
		}
		all = append(all, sc)
	}
	return append(
		all, Scenario{
			ID: "permission.deny", Facts: "§6 deny; rule 8",
			Run: func(s *Stage) {
				s.OnAsk(deny("Not now."))
				noteTools(s, s.Turn(touch("original")).Lines, "")
			},
			Want: Same("asks can_use_tool Bash", "user tool_result error: Not now.", "result success: Over."),
		},
		Scenario{
			ID: "permission.envelope", Facts: "seed 002: answer with subtype allow; §5 a second answer is ignored; rule 8", Where: stdioOnly,
			Run: func(s *Stage) {
				s.OnAsk(func(*wire.CanUseToolRequest) any { return nil })
				envelope := func(subtype, body string) []Seen {
					s.Prompt(touch("original"))
					question, _, _ := s.AwaitAsk()
					s.Raw(fmt.Sprintf(`{"type":"control_response","response":{%s"request_id":%q,"response":%s}}`, subtype, question.RequestID, body))
					s.Raw(fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"behavior":"deny","message":"Too late."}}}`, question.RequestID))
					return s.AwaitResult().Lines
				}
				noteTools(s, envelope(`"subtype":"success",`, `{"behavior":"allow","updatedInput":{"command":"echo success"}}`), "success", "Too late.")
				noteTools(s, envelope(`"subtype":"allow",`, `{"behavior":"allow","updatedInput":{"command":"echo allow"}}`), "allow", "Too late.")
				noteTools(s, envelope(`"subtype":"success","behavior":"allow",`, `null`), "Too late.")
				noteTools(s, envelope(``, `{"behavior":"allow","updatedInput":{"command":"echo none"}}`), "none", "Too late.")
			},
			Want: Same("user tool_result: success", "result success: Over.", "user tool_result: allow", "result success: Over.", "user tool_result error", "result success: Over.", "user tool_result: none", "result success: Over."),
		},
		Scenario{
			ID: "permission.invented", Facts: "seed 004: permission allow true; seed 003: PermissionPromptTool; §14 control_response without response", Where: stdioOnly,
			Run: func(s *Stage) {
				s.OnAsk(func(*wire.CanUseToolRequest) any { return nil })
				s.Prompt(touch("original"))
				question, _, _ := s.AwaitAsk()
				s.Raw(fmt.Sprintf(`{"type":"control_response","request_id":%q,"permission":{"allow":true},"approved":true}`, question.RequestID))
				if s.AtLeast(2, 1, 325) {
					s.NoteLines(s.Settle())
					s.Answer(question, &wire.Allow{})
					noteTools(s, s.AwaitResult().Lines, "")
					return
				}
				s.NoteOnly(s.AwaitEnd(), "user", "result")
				s.Note("exit %d", s.Exit())
			},
			Quirks: []string{"StrictAnswers"},
			Want: Per{
				"2.1.37":  {"exit 1"},
				"2.1.325": {"user tool_result: original", "result success: Over."},
			},
		},
	)
}

// permissionQuestionScenarios are about what a question holds.
func permissionQuestionScenarios() []Scenario {
	return []Scenario{
		{
			ID: "permission.members", Facts: "§6 can_use_tool request keys",
			Run: func(s *Stage) {
				turn := s.Turn(fmt.Sprintf(`@tool Bash {"command":"touch permitted","description":"Make a file"}
					@tool Write {"file_path":%q,"content":"x"}
					@say Over.`, filepath.Join(s.Dir, "permitted.txt")))
				askKeys(s, turn.Lines, "display_name", "description", "decision_reason", "decision_reason_type", "blocked_path", "permission_suggestions")
			},
			Quirks: []string{"QuestionNames"},
			Want: Per{
				"2.1.37":  {"Bash has blocked_path permission_suggestions", "blocked_path: <dir>/permitted", `permission_suggestions: [{"type":"addDirectories","directories":["<dir>"],"destination":"session"},{"type":"setMode","mode":"acceptEdits","destination":"session…`, "Write has permission_suggestions", `permission_suggestions: [{"type":"setMode","mode":"acceptEdits","destination":"session"}]`},
				"2.1.120": {"Bash has blocked_path description display_name permission_suggestions", "display_name: Bash", "description: Make a file", "blocked_path: <dir>/permitted", `permission_suggestions: [{"type":"addDirectories","directories":["<dir>"],"destination":"session"},{"type":"setMode","mode":"acceptEdits","destination":"session…`, "Write has description display_name permission_suggestions", "display_name: Write", "description: permitted.txt", `permission_suggestions: [{"type":"setMode","mode":"acceptEdits","destination":"session"}]`},
				"2.1.325": {"Bash has blocked_path description display_name permission_suggestions", "display_name: Bash", "description: Make a file", "blocked_path: <dir>/permitted", `permission_suggestions: [{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch permitted *"}],"behavior":"allow","destination":"localSettings"},{"…`, "Write has description display_name permission_suggestions server_policy_ask_only", "display_name: Write", "description: permitted.txt", `permission_suggestions: [{"type":"setMode","mode":"acceptEdits","destination":"session"}]`},
			},
		},
		{
			ID: "permission.outside", Facts: "§6 blocked_path and the suggestions for a path outside", Where: stdioOnly,
			Run: func(s *Stage) {
				if err := os.WriteFile(filepath.Join(s.Home, "read.txt"), []byte("text\n"), 0o600); err != nil {
					s.Fail("%w", err)
				}
				turn := s.Turn(fmt.Sprintf(`@tool Write {"file_path":%q,"content":"x"}
					@next
					@tool Read {"file_path":%q}
					@say Over.`, filepath.Join(s.Home, "outside.txt"), filepath.Join(s.Home, "read.txt")))
				askKeys(s, turn.Lines, "decision_reason", "decision_reason_type", "blocked_path", "permission_suggestions")
			},
			Quirks: []string{"QuestionReasons"},
			Want: Per{
				"2.1.37":  {"Write has decision_reason permission_suggestions", "decision_reason: Path is outside allowed working directories", `permission_suggestions: [{"type":"setMode","mode":"acceptEdits","destination":"session"},{"type":"addDirectories","directories":["<home>"],"destination":"sessio…`, "Read has decision_reason permission_suggestions", "decision_reason: Path is outside allowed working directories", `permission_suggestions: [{"type":"addRules","rules":[{"toolName":"Read","ruleContent":"/<home>/**"}],"behavior":"allow","destination":"session"}]`},
				"2.1.120": {"Write has decision_reason decision_reason_type description display_name permission_suggestions", "decision_reason: Path is outside allowed working directories", "decision_reason_type: workingDir", `permission_suggestions: [{"type":"setMode","mode":"acceptEdits","destination":"session"},{"type":"addDirectories","directories":["<home>"],"destination":"sessio…`, "Read has decision_reason decision_reason_type description display_name permission_suggestions", "decision_reason: Path is outside allowed working directories", "decision_reason_type: workingDir", `permission_suggestions: [{"type":"addRules","rules":[{"toolName":"Read","ruleContent":"/<home>/**"}],"behavior":"allow","destination":"session"}]`},
				"2.1.325": {"Write has decision_reason decision_reason_type description display_name permission_suggestions server_policy_ask_only", "decision_reason: Path is outside allowed working directories", "decision_reason_type: workingDir", `permission_suggestions: [{"type":"setMode","mode":"acceptEdits","destination":"session"},{"type":"addDirectories","directories":["<home>"],"destination":"sessio…`, "Read has decision_reason decision_reason_type description display_name permission_suggestions server_policy_ask_only", "decision_reason: Path is outside allowed working directories", "decision_reason_type: workingDir", `permission_suggestions: [{"type":"addRules","rules":[{"toolName":"Read","ruleContent":"/<home>/**"}],"behavior":"allow","destination":"session"}]`},
			},
		},
		{
			ID: "permission.told", Facts: "§6 what a result says about the decision; §6 a tool that prints nothing", Where: stdioOnly,
			Run: func(s *Stage) {
				const silent = "@tool Bash {\"command\":\"touch permitted\",\"description\":\"Make a file\"}\n@say Over."
				tell := func(turn Turn) {
					for _, line := range turn.Find("user tool_result") {
						s.Note("%s", line.Text)
						s.Note("tool_use_result has %s", strings.Join(names([]byte(rawMember(line.Raw, "tool_use_result"))), " "))
						s.Note("tool_result_meta: %s", line.Get("tool_result_meta"))
					}
				}
				s.OnAsk(allow)
				tell(s.Turn(silent))
				s.OnAsk(deny("Not now."))
				turn := s.Turn(silent)
				tell(turn)
				for _, denial := range turn.Result.PermissionDenials {
					s.Note("denied: %s", denial.ToolName)
				}
			},
			Quirks: []string{"ResultMeta", "SilenceTold"},
			Want: Per{
				"2.1.37":  {"user tool_result:", "tool_use_result has interrupted isImage stderr stdout", "tool_result_meta:", "user tool_result error: Not now.", "tool_use_result has", "tool_result_meta:", "denied: Bash"},
				"2.1.120": {"user tool_result: (Bash completed with no output)", "tool_use_result has interrupted isImage noOutputExpected stderr stdout", "tool_result_meta:", "user tool_result error: Not now.", "tool_use_result has", "tool_result_meta:", "denied: Bash"},
				"2.1.325": {"user tool_result: (Bash completed with no output)", "tool_use_result has interrupted isImage noOutputExpected stderr stdout", `tool_result_meta: [{"id":"<tool>","permission_decision":{"decision":"accept","source":"user_temporary"}}]`, "user tool_result error: Not now.", "tool_use_result has", `tool_result_meta: [{"id":"<tool>","non_execution_kind":"permission-rule","permission_decision":{"decision":"reject","source":"user_reject"}}]`, "denied: Bash"},
			},
		},
		{
			ID: "permission.never-asked", Facts: "§22 what is never asked", Where: stdioOnly,
			Run: func(s *Stage) {
				path := filepath.Join(s.Dir, "readable.txt")
				if err := os.WriteFile(path, []byte("text\n"), 0o600); err != nil {
					s.Fail("%w", err)
				}
				turn := s.Turn(fmt.Sprintf(`@tool Read {"file_path":%q}
					@next
					@tool Bash {"command":"cat readable.txt","description":"Read"}
					@next
					@tool Bash {"command":"git status","description":"Look"}
					@next
					@tool Bash {"command":"echo hello","description":"Speak"}
					@say Over.`, path))
				s.Note("asked %d", len(turn.Asked()))
				s.NoteOnly(turn.Lines, "user tool_result: hello", "result")
			},
			Want: Same("asked 0", "user tool_result: hello", "result success: Over."),
		},
	}
}

// permissionOrderScenarios are about several tools in one message.
func permissionOrderScenarios() []Scenario {
	const two = `@tool Bash {"command":"touch one; echo one","description":"One"}
		@result one
		@tool Bash {"command":"touch two; echo two","description":"Two"}
		@result two
		@say Over.`
	return []Scenario{
		{
			ID: "permission.one-by-one", Facts: "§6 unsafe tools one after the other", Where: stdioOnly,
			Run: func(s *Stage) {
				s.OnAsk(allow)
				noteTools(s, s.Turn(two).Lines, "")
			},
			Want: Same("asks can_use_tool Bash", "user tool_result: one", "asks can_use_tool Bash", "user tool_result: two", "result success: Over."),
		},
		{
			ID: "permission.parallel", Facts: "§6 parallel tools ask at the same time; rule 8",
			Also: map[string]string{"*/hybrid": "several questions by POST, each with a connection of its own"},
			Run: func(s *Stage) {
				s.OnAsk(func(*wire.CanUseToolRequest) any { return nil })
				s.Prompt(`@tool WebFetch {"url":"http://127.0.0.1:9/first","prompt":"Read it"}
					@tool WebFetch {"url":"http://127.0.0.1:9/second","prompt":"Read it"}
					@say Over.`)
				first, _, _ := s.AwaitAsk()
				second, _, _ := s.AwaitAsk()
				s.Answer(second, &wire.Deny{Message: "Not the second."})
				s.Answer(first, &wire.Deny{Message: "Not the first."})
				var results []string
				turn := s.AwaitResult()
				for _, line := range turn.Find("user tool_result") {
					results = append(results, line.Text)
				}
				slices.Sort(results) // they come as they are answered, or as they were called
				s.Note("%s", strings.Join(results, "; "))
				s.Note("%s", turn.Last().Text)
			},
			Want: Same("user tool_result error: Not the first.; user tool_result error: Not the second.", "result success: Over."),
		},
		{
			ID: "permission.deny-interrupt", Facts: "§6 deny with interrupt on the first", Where: stdioOnly,
			Run: func(s *Stage) {
				s.OnAsk(func(*wire.CanUseToolRequest) any { return &wire.Deny{Message: "Stop it.", Interrupt: true} })
				turn := s.Turn(two)
				noteTools(s, turn.Lines, "Stop it.")
				s.Note("terminal_reason=%s", turn.Last().Get("terminal_reason"))
			},
			Quirks: []string{"InterruptIsError", "AbortRejects"},
			Want: Per{
				"2.1.37":  {"asks can_use_tool Bash", "user tool_result error: Stop it.", "user tool_result error", "user text: [Request interrupted by user for tool use]", "result error_during_execution", "terminal_reason="},
				"2.1.120": {"asks can_use_tool Bash", "user tool_result error: Stop it.", "user tool_result error", "user text: [Request interrupted by user for tool use]", "result error_during_execution is_error error=[ede_diagnostic]", "terminal_reason=aborted_tools"},
				"2.1.325": {"asks can_use_tool Bash", "user tool_result error", "user tool_result error", "user text: [Request interrupted by user for tool use]", "result error_during_execution is_error error=[ede_diagnostic]", "terminal_reason=aborted_tools"},
			},
		},
	}
}

// choice is a tool call that asks the user something.
const choice = `@tool AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"Like fire"},{"label":"Blue","description":"Like water"}],"multiSelect":false}]}`

// setMode asks for a permission mode.
func setMode(s *Stage, mode wire.PermissionMode) {
	s.Request(&wire.SetPermissionModeRequest{Mode: mode})
}

// permissionModeScenarios are about the modes.
func permissionModeScenarios() []Scenario {
	return []Scenario{
		{
			ID: "permission.dontAsk", Facts: "§6 dontAsk; §3 in dontAsk it is denied; seed 002: dontAsk approves", Where: stdioOnly,
			Run: func(s *Stage) {
				s.OnAsk(allow)
				setMode(s, wire.PermissionModeDontAsk)
				noteTools(s, s.Turn(touch("original")+"\n"+choice+"\n@say Over.").Lines, "original")
				setMode(s, wire.PermissionModeDefault)
			},
			Quirks: []string{"DeniedLines"},
			Want: Per{
				"2.1.37":  {"user tool_result error", "user tool_result error", "result success: Over."},
				"2.1.120": {"system/status permissionMode=dontAsk", "user tool_result error", "user tool_result error", "result success: Over."},
				"2.1.325": {"system/status permissionMode=dontAsk", "system/permission_denied Bash mode", "user tool_result error", "system/permission_denied AskUserQuestion mode", "user tool_result error", "result success: Over."},
			},
		},
		{
			ID: "permission.acceptEdits", Facts: "§3 it asks in acceptEdits; §6 acceptEdits", Where: stdioOnly,
			Run: func(s *Stage) {
				setMode(s, wire.PermissionModeAcceptEdits)
				noteTools(s, s.Turn(fmt.Sprintf(`@tool Write {"file_path":%q,"content":"x"}
					@next
					@tool Bash {"command":"chmod 600 accepted.txt","description":"Protect it"}
					@next
					%s
					@say Over.`, filepath.Join(s.Dir, "accepted.txt"), choice)).Lines)
				setMode(s, wire.PermissionModeDefault)
			},
			Want: Per{
				"2.1.37":  {"user tool_result", "asks can_use_tool Bash", "user tool_result error", "asks can_use_tool AskUserQuestion", "user tool_result error", "result success: Over."},
				"2.1.120": {"system/status permissionMode=acceptEdits", "user tool_result", "asks can_use_tool Bash", "user tool_result error", "asks can_use_tool AskUserQuestion", "user tool_result error", "result success: Over."},
			},
		},
		{
			ID: "permission.bypass", Facts: "§6 bypassPermissions asks only for questions and plans; §3 it asks in bypassPermissions; §4 ExitPlanMode asks in bypassPermissions; seed 000: bypassPermissions never asks; rule 8", Where: stdioOnly,
			Options: func(o *claude.Options) {
				o.PermissionMode, o.AllowBypass = wire.PermissionModeBypassPermissions, true
				o.Env = append(o.Env, "IS_SANDBOX=1")
			},
			Run: func(s *Stage) {
				noteTools(s, s.Turn(touch("original")).Lines, "original")
				noteTools(s, s.Turn(choice+"\n@say Over.").Lines)
				s.OnAsk(allow)
				noteTools(s, s.Turn(`@tool EnterPlanMode {}
					@next
					@tool ExitPlanMode {}
					@say Over.`).Lines)
			},
			Want: Same("user tool_result: original", "result success: Over.", "asks can_use_tool AskUserQuestion", "user tool_result error", "result success: Over.", "system/status permissionMode=plan", "user tool_result", "asks can_use_tool ExitPlanMode", "system/status permissionMode=bypassPermissions", "user tool_result", "result success: Over."),
		},
	}
}

// permissionRuleScenarios are about rules: those that answers bring, and those of settings.
func permissionRuleScenarios() []Scenario {
	write := func(path string) string {
		return fmt.Sprintf("@tool Write {\"file_path\":%q,\"content\":\"x\"}\n@say Over.", path)
	}
	return []Scenario{
		{
			ID: "permission.updates", Facts: "§6 addRules in the session; seed 002: setMode and addRules in answers; rule 9; rule 13", Where: stdioOnly,
			Run: func(s *Stage) {
				always := func(update string) {
					s.OnAsk(func(q *wire.CanUseToolRequest) any {
						return Verbatim(fmt.Sprintf(`{"behavior":"allow","updatedInput":%s,"updatedPermissions":[%s]}`, q.Input, update))
					})
				}
				always(`{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"}`)
				noteTools(s, s.Turn(touch("one")).Lines, "one")
				noteTools(s, s.Turn(touch("two")).Lines, "two")
				always(`{"type":"setMode","mode":"acceptEdits","destination":"session"},{"type":"removeRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"}`)
				noteTools(s, s.Turn(write(filepath.Join(s.Dir, "one.txt"))).Lines)
				noteTools(s, s.Turn(write(filepath.Join(s.Dir, "two.txt"))).Lines)
				always(fmt.Sprintf(`{"type":"addDirectories","directories":[%q],"destination":"session"}`, s.Home))
				noteTools(s, s.Turn(write(filepath.Join(s.Home, "three.txt"))).Lines)
				noteTools(s, s.Turn(write(filepath.Join(s.Home, "four.txt"))).Lines)
				always(fmt.Sprintf(`{"type":"removeDirectories","directories":[%q],"destination":"session"},{"type":"setMode","mode":"default","destination":"session"}`, s.Home))
				noteTools(s, s.Turn(`@tool Bash {"command":"chmod 600 one.txt; echo three","description":"Protect it"}
					@say Over.`).Lines, "three")
				noteTools(s, s.Turn(write(filepath.Join(s.Home, "five.txt"))).Lines)
			},
			Want: Same("asks can_use_tool Bash", "user tool_result: one", "result success: Over.", "user tool_result: two", "result success: Over.", "asks can_use_tool Write", "system/status permissionMode=acceptEdits", "user tool_result", "result success: Over.", "user tool_result", "result success: Over.", "asks can_use_tool Write", "user tool_result", "result success: Over.", "user tool_result", "result success: Over.", "asks can_use_tool Bash", "system/status permissionMode=default", "user tool_result: three", "result success: Over.", "asks can_use_tool Write", "user tool_result", "result success: Over."),
		},
		{
			ID: "permission.settings", Facts: "§22 settings of the project, of the user and of the command line", Where: stdioOnly,
			Options: func(o *claude.Options) {
				settings := func(folder, text string) {
					must(0, os.MkdirAll(filepath.Join(folder, ".claude"), 0o700))
					must(0, os.WriteFile(filepath.Join(folder, ".claude", "settings.json"), []byte(text), 0o600))
				}
				settings(o.Dir, `{"permissions":{"allow":["Bash(curl:*)","Write","Bash(touch:*)","Bash(mkdir:*)"]}}`)
				for _, variable := range o.Env {
					if home, ok := strings.CutPrefix(variable, "HOME="); ok {
						settings(home, `{"permissions":{"allow":["Bash(chmod:*)"]}}`)
					}
				}
				o.Settings = []byte(`{"permissions":{"deny":["Bash(touch:*)"],"ask":["Bash(mkdir:*)"]}}`)
			},
			Run: func(s *Stage) {
				for _, call := range []struct{ what, tool string }{
					{"the project allows curl", `Bash {"command":"curl -V","description":"Project"}`},
					{"the project allows Write", fmt.Sprintf(`Write {"file_path":%q,"content":"x"}`, filepath.Join(s.Dir, "project.txt"))},
					{"the project allows touch, the command line denies it", `Bash {"command":"touch denied","description":"Denied"}`},
					{"the project allows mkdir, the command line asks", `Bash {"command":"mkdir asked","description":"Asked"}`},
					{"the user allows chmod", `Bash {"command":"chmod 700 .","description":"User"}`},
				} {
					turn := s.Turn("@tool " + call.tool + "\n@say Over.")
					s.Note("%s: asked %d", call.what, len(turn.Asked()))
					noteTools(s, turn.Find("user tool_result error", "system/permission_denied"))
				}
			},
			Want: Per{
				"2.1.37":  {"the project allows curl: asked 0", "the project allows Write: asked 0", "the project allows touch, the command line denies it: asked 0", "user tool_result error", "the project allows mkdir, the command line asks: asked 1", "user tool_result error", "the user allows chmod: asked 0"},
				"2.1.325": {"the project allows curl: asked 1", "user tool_result error", "the project allows Write: asked 1", "user tool_result error", "the project allows touch, the command line denies it: asked 0", "system/permission_denied Bash subcommandResults", "user tool_result error", "the project allows mkdir, the command line asks: asked 1", "user tool_result error", "the user allows chmod: asked 0"},
			},
		},
	}
}

package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// questionScenarios are about AskUserQuestion.
func questionScenarios() []Scenario {
	// ask is a prompt with two questions, of which the second takes several answers.
	const questions = `[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"Like fire"},{"label":"Blue","description":"Like water"}],"multiSelect":false},` +
		`{"question":"Which sizes?","header":"Sizes","options":[{"label":"Small","description":"S"},{"label":"Large","description":"L"}],"multiSelect":true}]`
	const ask = `@tool AskUserQuestion {"questions":` + questions + "}\n@say Over."
	rows := []struct {
		id, facts string
		body      string // what updatedInput holds beside the questions
		alone     bool   // without the questions
		quirk     string
		want      Want
	}{
		{id: "text", facts: "§3 keys are the question's text; §3 free text", body: `"answers":{"Which colour?":"Red","Which sizes?":"Something else"}`, want: Same(`told "Which colour?"="Red", "Which sizes?"="Something else"`, "result success: Over.")},
		{id: "several", facts: "§3 multiSelect as a text", body: `"answers":{"Which colour?":"Blue","Which sizes?":"Small, Large"}`, want: Same(`told "Which colour?"="Blue", "Which sizes?"="Small, Large"`, "result success: Over.")},
		{id: "array", facts: "§3 multiSelect as an array; rule 11", body: `"answers":{"Which colour?":"Blue","Which sizes?":["Small","Large"]}`, want: Same(`told "Which colour?"="Blue", "Which sizes?"="Small,Large"`, "result success: Over.")},
		{id: "header", facts: "§3 keyed by header; rule 11", body: `"answers":{"Colour":"Red","Sizes":"Small"}`, quirk: "ChoicesByAnyKey", want: Per{
			"2.1.37":  {`told "Colour"="Red", "Sizes"="Small"`, "result success: Over."},
			"2.1.120": {"told", "result success: Over."},
			"2.1.325": {"told", "told did not answer", "result success: Over."},
		}},
		{id: "no-answers", facts: "§3 no answers", quirk: "ChoicesMissed", body: `"other":1`, want: Per{
			"2.1.37":  {"told", "result success: Over."},
			"2.1.325": {"told", "told did not answer", "result success: Over."},
		}},
		{id: "no-questions", facts: "§3 updatedInput without questions; rule 11", body: `"answers":{"Which colour?":"Red","Which sizes?":"Small"}`, alone: true, quirk: "ChoicesNeedQuestions", want: Per{
			"2.1.37":  {`told "Which colour?"="Red", "Which sizes?"="Small"`, "result success: Over."},
			"2.1.120": {"user tool_result error", "result success: Over."},
		}},
		{
			id: "annotations", facts: "§3 annotations", quirk: "ChoicesAnnotated", want: Per{
				"2.1.37":  {`told "Which colour?"="Red", "Which sizes?"="Small"`, "result success: Over."},
				"2.1.120": {`told "Which colour?"="Red", "Which sizes?"="Small"`, "told A dark one", "told #800000", "result success: Over."},
			},
			body: `"answers":{"Which colour?":"Red","Which sizes?":"Small"},"annotations":{"Which colour?":{"notes":"A dark one","preview":"#800000"}}`,
		},
		{id: "response", facts: "§3 response", quirk: "ChoicesMissed", body: `"answers":{},"response":"Let us talk about shapes."`, want: Per{
			"2.1.37":  {"told", "result success: Over."},
			"2.1.325": {"told", "told about shapes", "result success: Over."},
		}},
	}
	var all []Scenario
	for _, row := range rows {
		sc := Scenario{
			ID: "question." + row.id, Facts: row.facts, Where: stdioOnly, Want: row.want,
			Run: func(s *Stage) {
				s.OnAsk(func(*wire.CanUseToolRequest) any {
					if row.alone {
						return Verbatim(`{"behavior":"allow","updatedInput":{` + row.body + `}}`)
					}
					return Verbatim(`{"behavior":"allow","updatedInput":{"questions":` + questions + `,` + row.body + `}}`)
				})
				noteChoices(s, s.Turn(ask).Lines)
			},
		}
		if row.quirk != "" {
			sc.Quirks = []string{row.quirk}
		}
		all = append(all, sc)
	}
	return append(
		all, Scenario{
			ID: "question.shape", Facts: "§3 the request; rule 11",
			Run: func(s *Stage) {
				s.On("can_use_tool", func(*wire.ControlRequest) any { return nil })
				s.Prompt(ask)
				request, question, lines := s.AwaitAsk()
				askKeys(s, lines, "requires_user_interaction")
				s.Note("the input is the call's: %t", string(question.Input) == `{"questions":`+questions+`}`)
				line := must(wire.NewChoice(request, map[string]wire.Choice{
					"Which colour?": {Answers: []string{"Red"}},
					"Which sizes?":  {Answers: []string{"Small", "Large"}},
				}))
				s.Send(line)
				noteChoices(s, s.AwaitResult().Lines)
			},
			Quirks: []string{"QuestionInteraction"},
			Want: Per{
				"2.1.37":  {"AskUserQuestion has", "the input is the call's: true", `told "Which colour?"="Red", "Which sizes?"="Small, Large"`, "result success: Over."},
				"2.1.120": {"AskUserQuestion has display_name", "the input is the call's: true", `told "Which colour?"="Red", "Which sizes?"="Small, Large"`, "result success: Over."},
				"2.1.325": {"AskUserQuestion has display_name requires_user_interaction", "requires_user_interaction: true", "the input is the call's: true", `told "Which colour?"="Red", "Which sizes?"="Small, Large"`, "result success: Over."},
			},
		},
		Scenario{
			ID: "question.skip", Facts: "§3 deny is to skip", Where: stdioOnly,
			Run: func(s *Stage) {
				s.OnAsk(deny("The user would rather not say."))
				noteTools(s, s.Turn(ask).Lines, "")
			},
			Want: Same("asks can_use_tool AskUserQuestion", "user tool_result error: The user would rather not say.", "result success: Over."),
		},
		Scenario{
			ID: "question.one-option", Facts: "§3 fewer than two options", Where: stdioOnly,
			Run: func(s *Stage) {
				noteTools(s, s.Turn(`@tool AskUserQuestion {"questions":[{"question":"Which?","header":"One","options":[{"label":"This","description":"It"}],"multiSelect":false}]}
					@say Over.`).Lines)
			},
			Want: Same("user tool_result error", "result success: Over."),
		},
	)
}

// pairs finds the questions and their answers in what the model is told.
var pairs = regexp.MustCompile(`"[^"]+"="[^"]*"`)

// noteChoices notes the answers that the model is told, without the words around them.
func noteChoices(s *Stage, lines []Seen) {
	for _, line := range lines {
		switch {
		case line.Is("user tool_result: "):
			s.Note("told %s", strings.Join(pairs.FindAllString(line.Text, -1), ", "))
			for _, more := range []string{"A dark one", "#800000", "about shapes", "did not answer"} {
				if strings.Contains(line.Text, more) {
					s.Note("told %s", more)
				}
			}
		case line.Is("user tool_result error"):
			s.Note("user tool_result error")
		case line.Is("result"):
			s.Note("%s", line.Text)
		}
	}
}

// planPath finds the plan's file in what the model was told.
var planPath = regexp.MustCompile(`[^\s"'\x60\\]+[/\\]plans[/\\][A-Za-z0-9_-]+\.md`)

// enterPlan has the model enter plan mode, and write this plan unless it is empty. It returns the plan's file.
func enterPlan(s *Stage, plan string) string {
	turn := s.Turn("@tool EnterPlanMode {}\n@say I plan.")
	path := ""
	for _, request := range s.Asked(turn.Tag) {
		if found := planPath.Find(request.Body); found != nil {
			path = string(found)
		}
	}
	if path == "" {
		// It is told at the next prompt.
		turn = s.Turn("@say I think.")
		path = string(planPath.Find(s.AwaitModel(turn.Tag, 1)[0].Body))
	}
	if path == "" {
		s.Fail("the model was not told where to write its plan")
	}
	if plan != "" {
		noteTools(s, s.Turn(fmt.Sprintf("@tool Write {\"file_path\":%q,\"content\":%q}\n@say Written.", path, plan)).Find("asks", "user tool_result error"))
	}
	return path
}

// leavePlan makes the next scenario start without plan and plan mode.
func leavePlan(s *Stage, path string) {
	setMode(s, wire.PermissionModeDefault)
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		s.Fail("%w", err)
	}
}

// planScenarios are about plan mode.
func planScenarios() []Scenario {
	const exit = "@tool ExitPlanMode {}\n@say Over."
	verbatim := func(format string) func(*wire.CanUseToolRequest) any {
		return func(q *wire.CanUseToolRequest) any { return Verbatim(fmt.Sprintf(format, q.Input)) }
	}
	return []Scenario{
		{
			ID: "plan.whole", Facts: "§4 EnterPlanMode; §4 the plan is injected; §4 allow; seed 002: EnterPlanMode needs approval; seed 001: plan in ExitPlanMode; seed 002: mode after ExitPlanMode; seed 002: folder of plans; rule 12; rule 13",
			Run: func(s *Stage) {
				s.OnAsk(allow)
				path := enterPlan(s, "# Plan\nBuild it.\n")
				relative, err := filepath.Rel(filepath.Join(s.Home, ".claude", "plans"), path)
				s.Note("in the folder of plans: %t", err == nil && !strings.Contains(relative, "/"))
				turn := s.Turn(exit)
				for _, question := range turn.Asked() {
					s.Note("plan: %s", member(question.Input, "plan"))
					s.Note("planFilePath is the file: %t", member(question.Input, "planFilePath") == path)
				}
				for _, line := range turn.Find("assistant tool_use") {
					s.Note("the call has %s", strings.Join(names(must(toolInput(line))), " "))
				}
				askKeys(s, turn.Lines)
				noteTools(s, turn.Lines)
				for _, line := range turn.Find("user tool_result") {
					s.Note("the result has the plan: %t", strings.Contains(string(line.Raw), `Build it.`))
				}
				leavePlan(s, path)
			},
			Quirks: []string{"PlanPathTold", "QuestionInteraction"},
			Want: Per{
				"2.1.37":  {"in the folder of plans: true", "plan: # Plan Build it.", "planFilePath is the file: false", "the call has plan", "ExitPlanMode has", "asks can_use_tool ExitPlanMode", "system/status permissionMode=default", "user tool_result", "result success: Over.", "the result has the plan: true"},
				"2.1.120": {"in the folder of plans: true", "plan: # Plan Build it.", "planFilePath is the file: true", "the call has plan planFilePath", "ExitPlanMode has display_name", "asks can_use_tool ExitPlanMode", "system/status permissionMode=default", "user tool_result", "result success: Over.", "the result has the plan: true"},
				"2.1.325": {"in the folder of plans: true", "plan: # Plan Build it.", "planFilePath is the file: true", "the call has plan planFilePath", "ExitPlanMode has display_name requires_user_interaction", "asks can_use_tool ExitPlanMode", "system/status permissionMode=default", "user tool_result", "result success: Over.", "the result has the plan: true"},
			},
		},
		{
			ID: "plan.none", Facts: "§4 no plan file", Where: stdioOnly,
			Run: func(s *Stage) {
				s.OnAsk(allow)
				setMode(s, wire.PermissionModePlan)
				turn := s.Turn(exit)
				for _, question := range turn.Asked() {
					s.Note("input: %s", question.Input)
				}
				noteTools(s, turn.Lines)
				setMode(s, wire.PermissionModeDefault)
			},
			Want: Per{
				"2.1.37":  {"input: {}", "asks can_use_tool ExitPlanMode", "system/status permissionMode=default", "user tool_result", "result success: Over."},
				"2.1.120": {"input: {}", "system/status permissionMode=plan", "asks can_use_tool ExitPlanMode", "system/status permissionMode=default", "user tool_result", "result success: Over."},
			},
		},
		{
			ID: "plan.edited", Facts: "§4 allow with a changed plan", Where: stdioOnly,
			Run: func(s *Stage) {
				s.OnAsk(verbatim(`{"behavior":"allow","updatedInput":{"plan":"# Plan\nPaint it.\n"},"x":%s}`))
				path := enterPlan(s, "# Plan\nBuild it.\n")
				turn := s.Turn(exit)
				noteTools(s, turn.Lines)
				for _, line := range turn.Find("user tool_result") {
					s.Note("the result has the new plan: %t, the old: %t, says that it was edited: %t", strings.Contains(string(line.Raw), "Paint it."),
						strings.Contains(string(line.Raw), "Build it."), strings.Contains(line.Text+string(line.Raw), "edited by user"))
				}
				leavePlan(s, path)
			},
			Quirks: []string{"PlanEditMarked"},
			Want: Per{
				"2.1.37":  {"asks can_use_tool ExitPlanMode", "system/status permissionMode=default", "user tool_result", "result success: Over.", "the result has the new plan: false, the old: true, says that it was edited: false"},
				"2.1.120": {"asks can_use_tool ExitPlanMode", "system/status permissionMode=default", "user tool_result", "result success: Over.", "the result has the new plan: true, the old: false, says that it was edited: true"},
			},
		},
		{
			ID: "plan.deny", Facts: "§4 deny; §4 deny with interrupt; §4 the mode stays", Where: stdioOnly,
			Run: func(s *Stage) {
				path := enterPlan(s, "# Plan\nBuild it.\n")
				s.OnAsk(deny("Make it blue."))
				noteTools(s, s.Turn(exit).Lines, "Make it blue.")
				s.OnAsk(func(*wire.CanUseToolRequest) any { return &wire.Deny{Message: "Stop it.", Interrupt: true} })
				noteTools(s, s.Turn(exit).Lines, "Stop it.")
				turn := s.Turn("@say Over.")
				s.Note("the mode is %s", turn.Find("system/init")[0].Get("permissionMode"))
				leavePlan(s, path)
			},
			Want: Per{
				"2.1.37":  {"asks can_use_tool ExitPlanMode", "user tool_result error: Make it blue.", "result success: Over.", "asks can_use_tool ExitPlanMode", "user tool_result error: Stop it.", "user text: [Request interrupted by user for tool use]", "result error_during_execution", "the mode is plan"},
				"2.1.120": {"asks can_use_tool ExitPlanMode", "user tool_result error: Make it blue.", "result success: Over.", "asks can_use_tool ExitPlanMode", "user tool_result error: Stop it.", "user text: [Request interrupted by user for tool use]", "result error_during_execution is_error error=[ede_diagnostic]", "the mode is plan"},
				"2.1.325": {"asks can_use_tool ExitPlanMode", "user tool_result error: Make it blue.", "result success: Over.", "asks can_use_tool ExitPlanMode", "user tool_result error", "user text: [Request interrupted by user for tool use]", "result error_during_execution is_error error=[ede_diagnostic]", "the mode is plan"},
			},
		},
		{
			ID: "plan.setMode", Facts: "§4 allow with setMode and addRules; seed 002: setMode and addRules in answers; rule 12", Where: stdioOnly,
			Run: func(s *Stage) {
				s.OnAsk(verbatim(`{"behavior":"allow","updatedInput":%s,"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"},` +
					`{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"chmod 600 written.txt"}],"behavior":"allow","destination":"session"}]}`))
				path := enterPlan(s, "# Plan\nBuild it.\n")
				noteTools(s, s.Turn(exit).Lines)
				noteTools(s, s.Turn(fmt.Sprintf(`@tool Write {"file_path":%q,"content":"x"}
					@next
					@tool Bash {"command":"chmod 600 written.txt","description":"Protect it"}
					@say Over.`, filepath.Join(s.Dir, "written.txt"))).Lines)
				leavePlan(s, path)
			},
			Want: Same("asks can_use_tool ExitPlanMode", "system/status permissionMode=acceptEdits", "user tool_result", "result success: Over.", "user tool_result", "user tool_result", "result success: Over."),
		},
		{
			ID: "plan.setMode-bypass", Facts: "§4 setMode bypassPermissions; rule 9", Where: stdioOnly,
			Run: func(s *Stage) {
				s.OnAsk(verbatim(`{"behavior":"allow","updatedInput":%s,"updatedPermissions":[{"type":"setMode","mode":"bypassPermissions","destination":"session"}]}`))
				setMode(s, wire.PermissionModePlan)
				noteTools(s, s.Turn(exit).Lines)
				s.OnAsk(deny("No."))
				noteTools(s, s.Turn(touch("original")).Lines, "original", "No.")
				setMode(s, wire.PermissionModeDefault)
			},
			Want: Per{
				"2.1.37":  {"asks can_use_tool ExitPlanMode", "system/status permissionMode=bypassPermissions", "user tool_result", "result success: Over.", "user tool_result: original", "result success: Over."},
				"2.1.120": {"system/status permissionMode=plan", "asks can_use_tool ExitPlanMode", "system/status permissionMode=default", "user tool_result", "result success: Over.", "asks can_use_tool Bash", "user tool_result error: No.", "result success: Over."},
			},
		},
		{
			ID: "plan.set_permission_mode", Facts: "§4 set_permission_mode right after the allow, and right before; seed 002: delay before set_permission_mode; rule 13",
			Run: func(s *Stage) {
				s.OnAsk(func(*wire.CanUseToolRequest) any { return nil })
				for _, first := range []string{"the allow", "the mode"} {
					setMode(s, wire.PermissionModePlan)
					s.Prompt(exit)
					question, _, _ := s.AwaitAsk()
					if first == "the allow" {
						s.Answer(question, &wire.Allow{})
						setMode(s, wire.PermissionModeAcceptEdits)
					} else {
						setMode(s, wire.PermissionModeAcceptEdits)
						s.Answer(question, &wire.Allow{})
					}
					s.NoteOnly(s.AwaitResult().Lines, "result")
					turn := s.Turn("@say Over.")
					s.Note("first %s: the mode is %s", first, turn.Find("system/init")[0].Get("permissionMode"))
				}
				setMode(s, wire.PermissionModeDefault)
			},
			Want: Same("result success: Over.", "first the allow: the mode is acceptEdits", "result success: Over.", "first the mode: the mode is acceptEdits"),
		},
		{
			ID: "plan.dontAsk", Facts: "§4 EnterPlanMode in dontAsk and acceptEdits; §4 ExitPlanMode asks in dontAsk; §4 back to the mode before", Where: stdioOnly,
			Run: func(s *Stage) {
				s.OnAsk(allow)
				for _, mode := range []wire.PermissionMode{wire.PermissionModeDontAsk, wire.PermissionModeAcceptEdits} {
					setMode(s, mode)
					s.Settle()
					noteTools(s, s.Turn("@tool EnterPlanMode {}\n@next\n"+exit).Lines)
				}
				setMode(s, wire.PermissionModeDefault)
			},
			Want: Same("system/status permissionMode=plan", "user tool_result", "asks can_use_tool ExitPlanMode", "system/status permissionMode=dontAsk", "user tool_result", "result success: Over.", "system/status permissionMode=plan", "user tool_result", "asks can_use_tool ExitPlanMode", "system/status permissionMode=acceptEdits", "user tool_result", "result success: Over."),
		},
		{
			ID: "plan.tools", Facts: "§4 other tools in plan mode", Where: stdioOnly,
			Run: func(s *Stage) {
				setMode(s, wire.PermissionModePlan)
				turn := s.Turn(fmt.Sprintf(`@tool Write {"file_path":%q,"content":"x"}
					@next
					@tool Bash {"command":"touch planned","description":"Make a file"}
					@say Over.`, filepath.Join(s.Dir, "planned.txt")))
				noteTools(s, turn.Lines)
				for _, question := range turn.Asked() {
					s.Note("%s: %s", question.ToolName, question.DecisionReasonType)
				}
				setMode(s, wire.PermissionModeDefault)
			},
			Quirks: []string{"DeniedLines"},
			Want: Per{
				"2.1.37":  {"asks can_use_tool Write", "user tool_result error", "asks can_use_tool Bash", "user tool_result error", "result success: Over.", "Write:", "Bash:"},
				"2.1.120": {"system/status permissionMode=plan", "asks can_use_tool Write", "user tool_result error", "asks can_use_tool Bash", "user tool_result error", "result success: Over.", "Write:", "Bash:"},
				"2.1.325": {"system/status permissionMode=plan", "asks can_use_tool Write", "user tool_result error", "system/informational auto_mode_no_server_check", "system/permission_denied Bash classifier", "user tool_result error", "result success: Over.", "Write: mode"},
			},
		},
		{
			ID: "plan.folder", Facts: "§4 CLAUDE_CONFIG_DIR; §4 started in plan", Where: stdioOnly,
			Options: func(o *claude.Options) {
				o.PermissionMode = wire.PermissionModePlan
				o.Env = append(o.Env, "CLAUDE_CONFIG_DIR="+filepath.Join(o.Dir, "config"))
			},
			Run: func(s *Stage) {
				s.OnAsk(allow)
				turn := s.Turn("@say I plan.")
				path := string(planPath.Find(s.AwaitModel(turn.Tag, 1)[0].Body))
				s.Note("in the folder of plans: %t", filepath.Dir(path) == filepath.Join(s.Dir, "config", "plans"))
				noteTools(s, s.Turn(fmt.Sprintf("@tool Write {\"file_path\":%q,\"content\":\"Build it.\"}\n@next\n%s", path, exit)).Lines)
			},
			Want: Same("in the folder of plans: true", "user tool_result", "asks can_use_tool ExitPlanMode", "system/status permissionMode=default", "user tool_result", "result success: Over."),
		},
	}
}

// toolInput returns the input of the first tool call of an assistant line.
func toolInput(line Seen) ([]byte, error) {
	if a, ok := line.Message.(*wire.Assistant); ok {
		i := slices.IndexFunc(a.Message.Content, func(b wire.Block) bool { return b.BlockType() == "tool_use" })
		if i >= 0 {
			return a.Message.Content[i].(*wire.ToolUseBlock).Input, nil
		}
	}
	return nil, fmt.Errorf("no tool call in %.200s", line.Raw)
}

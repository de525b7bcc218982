package claudetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/permit"
	"github.com/switchboard-dev/switchboard/wire"
)

// A ToolCall is a call of a tool that the model makes.
type ToolCall struct {
	ID    string
	Name  string
	Input json.RawMessage
}

// A ToolOutcome is what a tool is said to have done. The simulated CLI never runs one.
type ToolOutcome struct {
	// Text is what the tool prints.
	Text string
	// Failed makes the result an error.
	Failed bool
	// Takes is how long the tool runs. An interrupt ends it.
	Takes time.Duration
	// Form is a form that the tool's MCP server asks the controller to fill in before, as the members of an elicitation request:
	// mcp_server_name (if missing, the server of the tool's name), message, requested_schema. If Text is empty, the tool prints the answer; a
	// form that is not accepted fails it.
	Form json.RawMessage
}

// playedResult is what the model and the controller are told about a call.
type playedResult struct {
	content any // a string, or a list of blocks
	failed  bool
	detail  any // tool_use_result; nil: none
	refused bool
	meta    members // of tool_result_meta
	kind    string  // of tool_result_meta, instead of a decision: why the call was not made
	then    func()  // is called when the result has been told; nil: nothing
}

// useTools runs the calls of one message: those that change nothing at the same time, the others one after the other.
func (e *engine) useTools(t *turn, th *thread, calls []ToolCall) error {
	results := make([]members, len(calls))
	var failure error
	for i := 0; i < len(calls); {
		group := 1
		for i+group < len(calls) && parallel(calls[i].Name) && parallel(calls[i+group].Name) {
			group++
		}
		errs := make([]error, group)
		var wait sync.WaitGroup
		for k := range group {
			number := e.count(t, th)
			wait.Go(func() {
				call := calls[i+k]
				result := e.rejected()
				if failure == nil {
					result, errs[k] = e.use(t, th, call, number)
				}
				if group > 1 && errors.Is(errs[k], errDenied) {
					t.cancel(errDenied) // takes back the questions beside it
				}
				results[i+k] = e.tellResult(th, call, result)
				t.countResult(th, result)
				if result.then != nil {
					result.then()
				}
			})
		}
		wait.Wait()
		failure = errors.Join(failure, errors.Join(errs...))
		i += group
	}
	content := make([]members, 0, len(results))
	for _, result := range results {
		if result != nil {
			content = append(content, result)
		}
	}
	th.add("user", content)
	if failure == nil {
		e.hookBatch(t, th, calls, results)
	}
	return failure
}

// countResult counts the results of the main thread's tools, which a turn's result tells.
func (t *turn) countResult(th *thread, result playedResult) {
	if th.parent != "" || result.content == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.results++
}

// count numbers the tool calls of a thread, for the directives of its prompt.
func (e *engine) count(t *turn, th *thread) int {
	if th.agent != nil {
		return th.nextCall()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.used++
	return t.used - 1
}

// parallel reports whether calls of a tool may run beside each other.
func parallel(name string) bool {
	return slices.Contains([]string{"Read", "Glob", "Grep", "WebFetch", "WebSearch", "Task", "Agent", "AskUserQuestion", "ExitPlanMode"}, name)
}

// rejected is the result of a call that was not made because one before it ended the turn.
func (e *engine) rejected() playedResult {
	if e.quirks.AbortRejects {
		return userRejected()
	}
	const text = "The user doesn't want to take this action right now. STOP what you are doing and wait for the user to tell you how to proceed."
	return playedResult{content: text, failed: true, detail: text, refused: true}
}

// aborted is the result of a call whose question was open when the turn was interrupted.
func (e *engine) aborted() playedResult {
	if e.quirks.AbortRejects {
		return userRejected()
	}
	return failed("Tool permission request failed: AbortError", "config")
}

// userRejected is the result of a call that the person did not want.
func userRejected() playedResult {
	const text = "The user doesn't want to proceed with this tool use. The tool use was rejected. STOP what you are doing and wait for the user."
	return playedResult{content: text, failed: true, detail: "User rejected tool use", refused: true, kind: "user-rejected"}
}

// use asks for permission for one call and plays it. An error ends the turn; the result counts nevertheless.
func (e *engine) use(t *turn, th *thread, call ToolCall, number int) (playedResult, error) {
	if problem := invalidInput(call); problem != "" {
		return invalid(problem), nil
	}
	wanted := compactJSON(call.Input)
	if e.missingTool(t, th, call, number) || e.unknownTool(t, th, call, number) {
		return noSuchTool(call), nil
	}
	before := e.hookBefore(t, th, call)
	if before.input != nil {
		call.Input = before.input
	}
	var err error
	switch {
	case before.deferred:
		t.deferred = members{"id", call.ID, "name", call.Name, "input", call.Input}
		return playedResult{}, errDeferred
	case before.refusal != nil:
		return *before.refusal, before.end
	}
	verdict := e.hookJudges(e.judge(th, call), before)
	var result playedResult
	switch verdict.Behavior {
	case permit.Deny:
		return e.deny(t, th, call, verdict), before.end
	case permit.Ask:
		var denied bool
		call.Input, result, denied, err = e.mayUse(t, th, call, verdict)
		if denied || err != nil {
			return result, errors.Join(err, before.end)
		}
		result.meta = members{"decision", "accept", "source", "user_temporary"}
		if e.decidedByHook(call) {
			result.meta = hookMeta("accept")
		}
	case permit.Allow:
		result.meta = hookMeta("accept")
		if before.allowed {
			break
		}
		result.meta = members{"decision", "accept", "source", "config"}.when(verdict.ReasonType != "", "reason_type", verdict.ReasonType)
	}
	meta := result.meta
	if !bytes.Equal(compactJSON(call.Input), wanted) {
		number = -1 // another call than the one that the prompt's directives tell about
		if problem := invalidInput(call); problem != "" && call.Name == "Bash" {
			return invalid(problem), before.end
		}
	}
	result, err = e.play(t, th, call, number)
	if result.meta == nil {
		result.meta = meta
	}
	if err == nil {
		err = e.hookAfter(t, th, call, &result)
	}
	return result, errors.Join(err, before.end)
}

// judge is what the rules say about a call. A sub-agent that plans asks for its plan whatever the mode of the conversation.
func (e *engine) judge(th *thread, call ToolCall) permit.Verdict {
	if call.Name == "ExitPlanMode" && th.agent.plans() {
		return permit.Verdict{Behavior: permit.Ask}
	}
	return e.gate.Judge(call.Name, call.Input)
}

// unknownTool reports whether no version has such a tool, or a rule took it away. One whose outcome is scripted is there.
func (e *engine) unknownTool(t *turn, th *thread, call ToolCall, number int) bool {
	if strings.HasPrefix(call.Name, "mcp__") {
		return false
	}
	if e.gate.Removes(call.Name) {
		return true
	}
	told := t.outcome
	if th.agent != nil {
		told = th.outcome
	}
	if _, scripted := told[number]; scripted || slices.Contains(knownTools(), call.Name) || slices.Contains(e.toolNames(), call.Name) {
		return false
	}
	if e.outcome == nil {
		return true
	}
	_, scripted := e.outcome(call)
	return !scripted
}

// knownTools are tools of all versions that are not on the list of this one's.
func knownTools() []string {
	return []string{
		"Agent", "BashOutput", "CronCreate", "CronDelete", "CronList", "EnterWorktree", "ExitWorktree", "KillShell", "LS", "LSP", "ListAgents",
		"ListMcpResourcesTool", "Monitor", "MultiEdit", "NotebookRead", "ReadMcpResourceTool", "ReportFindings", "ScheduleWakeup", "SendMessage", "Skill",
		"SlashCommand", "StructuredOutput", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoRead", "ToolSearch", "Workflow",
	}
}

// invalid is the result of a call whose input no tool takes.
func invalid(problem string) playedResult {
	return playedResult{content: "<tool_use_error>InputValidationError: " + problem + "</tool_use_error>", failed: true, detail: "InputValidationError: " + problem}
}

// failed is the result of a call that did not happen.
func failed(text, source string) playedResult {
	return playedResult{content: text, failed: true, detail: "Error: " + text, refused: true, meta: members{"decision", "reject", "source", source}}
}

// deny is the result of a call that is denied without asking.
func (e *engine) deny(t *turn, th *thread, call ToolCall, verdict permit.Verdict) playedResult {
	message := verdict.Message
	if message == "" {
		message = "Permission to use " + call.Name + " has been denied."
	}
	e.noteDenial(t, call)
	if verdict.ReasonType == string(wire.DecisionReasonTypeClassifier) {
		defer e.hookDenied(t, th, call, verdict.Reason)
	}
	if e.quirks.DeniedLines && !verdict.Invalid {
		e.warnClassifier(verdict)
		line := e.systemLine("permission_denied", "tool_name", call.Name, "tool_use_id", call.ID)
		if th.agent != nil {
			line = line.with("agent_id", th.agent.id)
		}
		e.emit(line.when(verdict.ReasonType != "", "decision_reason_type", verdict.ReasonType).
			when(verdict.Reason != "", "decision_reason", verdict.Reason).with("message", message))
	}
	return failed(message, "config")
}

func (e *engine) noteDenial(t *turn, call ToolCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.denials = append(t.denials, members{"tool_name", call.Name, "tool_use_id", call.ID, "tool_input", call.Input})
}

// play lets a call happen, as far as it does in a simulation.
func (e *engine) play(t *turn, th *thread, call ToolCall, number int) (playedResult, error) {
	switch call.Name {
	case "AskUserQuestion":
		return e.playQuestion(call), nil
	case "EnterPlanMode":
		return e.enterPlan(t), nil
	case "ExitPlanMode":
		return e.exitPlan(th, call), nil
	case "Task", "Agent":
		return e.playAgent(t, th, call)
	case "StructuredOutput":
		return e.playSchema(t, call)
	}
	if s, _ := e.findTool(call.Name); s != nil {
		return e.playMCP(t, th, call)
	}
	switch call.Name {
	case "TaskCreate", "TaskUpdate":
		e.hookTask(t, th, call)
	case "EnterWorktree", "ExitWorktree":
		e.hookWorktree(t, th, call)
	}
	outcome := e.outcomeOf(t, th, call, number)
	if outcome.Form != nil {
		var err error
		if outcome, err = e.fillForm(t.ctxOf(th), call, outcome, th.agent != nil && th.agent.background); err != nil {
			return e.rejected(), err
		}
	}
	if background, started := e.playBackground(t, th, call, outcome); started {
		return background, nil
	}
	if !e.wait(t.ctxOf(th), th, call, outcome) {
		const note = "[Request interrupted by user for tool use]"
		return playedResult{content: "Exit code 137\n" + note, failed: true, detail: "Error: Exit code 137\n" + note}, context.Cause(t.ctxOf(th))
	}
	return e.finishTool(t, call, outcome), nil
}

// ctxOf is the context that a thread's tools run in.
func (t *turn) ctxOf(th *thread) context.Context {
	if th.agent != nil {
		return th.agent.ctx
	}
	return t.ctx
}

// finishTool is the result of a tool that has run.
func (e *engine) finishTool(t *turn, call ToolCall, outcome ToolOutcome) playedResult {
	if outcome.Failed {
		return playedResult{content: outcome.Text, failed: true, detail: "Error: " + outcome.Text}
	}
	var input struct {
		FilePath string `json:"file_path"`
		Content  string `json:"content"`
		Old      string `json:"old_string"`
		New      string `json:"new_string"`
	}
	_ = json.Unmarshal(call.Input, &input) // inputs that have none of these
	switch call.Name {
	case "Bash":
		text := outcome.Text
		if text == "" && e.quirks.SilenceTold {
			text = "(Bash completed with no output)"
		}
		return e.bashResult(call, text, outcome)
	case "Write":
		e.wrote(t, input.FilePath, input.Content)
		return playedResult{
			content: orElse(outcome.Text, "File created successfully at: "+input.FilePath),
			detail: members{"type", "create", "filePath", input.FilePath, "content", input.Content, "structuredPatch", []any{}, "originalFile", nil}.
				when(e.quirks.SilenceTold, "userModified", false),
		}
	case "Edit":
		e.edited(t, input.FilePath, input.Old, input.New)
		return playedResult{
			content: orElse(outcome.Text, "The file "+input.FilePath+" has been updated successfully."),
			detail: members{
				"filePath", input.FilePath, "oldString", input.Old, "newString", input.New, "originalFile", "", "structuredPatch", editPatch(input.Old, input.New),
				"userModified", false, "replaceAll", false,
			},
		}
	}
	return playedResult{content: outcome.Text}
}

// orElse is what a tool is said to print, or what it prints by itself.
func orElse(said, usual string) string {
	if said == "" || said == simulated {
		return usual
	}
	return said
}

// simulated is what a tool prints whose outcome is not scripted.
const simulated = "(simulated)"

// editPatch is the difference that an edit makes, as lines of one hunk.
func editPatch(before, after string) []members {
	removed, added := strings.Split(before, "\n"), strings.Split(after, "\n")
	var lines []string
	for _, line := range removed {
		lines = append(lines, "-"+line)
	}
	for _, line := range added {
		lines = append(lines, "+"+line)
	}
	return []members{{"oldStart", 1, "oldLines", len(removed), "newStart", 1, "newLines", len(added), "lines", lines}}
}

// outcomeOf says what a tool does: by the options, by the prompt's directives, or by what its input looks like.
func (e *engine) outcomeOf(t *turn, th *thread, call ToolCall, number int) ToolOutcome {
	if e.outcome != nil {
		if outcome, ok := e.outcome(call); ok {
			return outcome
		}
	}
	told := t.outcome
	if th.agent != nil {
		told = th.outcome
	}
	if outcome, ok := told[number]; ok {
		return outcome
	}
	if call.Name == "Bash" {
		var input struct{ Command string }
		_ = json.Unmarshal(call.Input, &input) // an input without a command does nothing
		return e.shell(input.Command)
	}
	return ToolOutcome{Text: simulated}
}

// shell plays the few commands that tests need. Nothing is run.
func (e *engine) shell(command string) ToolOutcome {
	var outcome ToolOutcome
	var printed []string
	for part := range strings.FieldsFuncSeq(command, func(r rune) bool { return r == ';' || r == '&' || r == '\n' }) {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "echo":
			printed = append(printed, e.expand(strings.Trim(strings.Join(words[1:], " "), `"'`)))
		case "sleep":
			if len(words) > 1 {
				seconds, err := strconv.ParseFloat(words[1], 64)
				if err == nil && seconds > 0 {
					outcome.Takes += time.Duration(min(seconds, 3600) * float64(time.Second))
				}
			}
		case "head": // of /dev/zero, made readable by tr
			if len(words) > 2 && words[1] == "-c" {
				length, _ := strconv.Atoi(words[2]) // what is no number is none
				printed = append(printed, strings.Repeat("x", max(0, min(length, MaxHuge))))
			}
		case "false":
			outcome.Failed = true
			printed = append(printed, "Exit code 1")
		case "exit":
			if len(words) > 1 && words[1] != "0" {
				outcome.Failed = true
				printed = append(printed, "Exit code "+words[1])
			}
		}
	}
	outcome.Text = strings.Join(printed, "\n")
	return outcome
}

// expand replaces $NAME by variables of the CLI's environment.
func (e *engine) expand(text string) string {
	env := e.cloneEnv()
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' {
			out.WriteByte(text[i])
			continue
		}
		end := i + 1
		for end < len(text) && (text[end] == '_' || text[end] >= '0' && text[end] <= '9' || text[end] >= 'A' && text[end] <= 'Z' || text[end] >= 'a' && text[end] <= 'z') {
			end++
		}
		out.WriteString(env[text[i+1:end]])
		i = end - 1
	}
	return out.String()
}

// tellResult writes the line of a tool's result and returns the block for the model; nil if there is none.
func (e *engine) tellResult(th *thread, call ToolCall, result playedResult) members {
	if result.content == nil {
		return nil
	}
	var block members
	if result.failed {
		block = members{"type", "tool_result", "content", result.content, "is_error", true, "tool_use_id", call.ID}
	} else {
		block = members{"tool_use_id", call.ID, "type", "tool_result", "content", result.content}
		block = block.when(call.Name == "Bash", "is_error", false)
	}
	uuid := wire.NewUUID()
	line := e.userLine(th, []members{block}, uuid)
	if _, short := result.detail.(string); result.detail != nil && (th.parent == "" || short) {
		line = line.with("tool_use_result", result.detail)
	}
	if e.quirks.ResultMeta && (result.meta != nil || result.kind != "") {
		meta := members{"id", call.ID}.when(result.kind != "", "non_execution_kind", result.kind)
		if result.kind == "" {
			meta = meta.when(result.refused, "non_execution_kind", "permission-rule").with("permission_decision", result.meta)
		}
		line = line.with("tool_result_meta", []members{meta})
	}
	e.hookLines(call, false)
	if e.showsAgent(th.agent) {
		e.emit(line)
	}
	e.hookLines(call, true)
	e.keepResult(th, block, result, uuid)
	return block
}

// invalidInput says what is wrong with the input of a call; the model is told and no question is asked.
func invalidInput(call ToolCall) string {
	switch call.Name {
	case "Bash":
		var input struct{ Command *string }
		if json.Unmarshal(call.Input, &input) != nil || input.Command == nil {
			return "The required parameter `command` is missing"
		}
		return ""
	case "AskUserQuestion":
	default:
		return ""
	}
	var set struct {
		Questions []struct {
			Question string
			Options  []struct{ Label string }
		}
	}
	if json.Unmarshal(call.Input, &set) != nil || len(set.Questions) == 0 {
		return "questions are required"
	}
	for i, q := range set.Questions {
		if len(q.Options) < 2 {
			return fmt.Sprintf("questions[%d].options must have at least 2 entries", i)
		}
	}
	return ""
}

func compactJSON(raw json.RawMessage) []byte {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return raw
	}
	return plainJSON(value)
}

// realPath resolves symbolic links.
func realPath(dir string) (string, error) {
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("resolving the working folder: %w", err)
	}
	return filepath.Abs(path)
}

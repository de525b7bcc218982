package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/history"
	"github.com/switchboard-dev/switchboard/wire"
)

// playAgent starts a sub-agent: it works to its end, or in the background.
func (e *engine) playAgent(t *turn, th *thread, call ToolCall) (playedResult, error) {
	var input struct {
		Description string `json:"description"`
		Prompt      string `json:"prompt"`
		Kind        string `json:"subagent_type"`
		Background  *bool  `json:"run_in_background"`
	}
	_ = json.Unmarshal(call.Input, &input) // what does not fit is missing
	if input.Kind == "" {
		input.Kind = "general-purpose"
	}
	if names := e.agentNames(); !slices.Contains(names, input.Kind) {
		text := fmt.Sprintf("Agent type '%s' not found. Available agents: %s", input.Kind, strings.Join(names, ", "))
		return playedResult{content: text, failed: true, detail: "Error: " + text}, nil
	}
	background := e.quirks.AgentsInBackground
	if input.Background != nil {
		background = *input.Background
	}
	k := e.newTask(call.ID, input.Kind, input.Description, background, th.agent)
	k.prompt, k.planning = input.Prompt, e.agentMode(input.Kind) == "plan"
	sub := &thread{parent: call.ID, agent: k, outcome: toolOutcomes(input.Prompt)}
	sub.add("user", input.Prompt)
	if k.plans() {
		sub.attach(members{"type", "text", "text", asReminder("Plan mode is active. The plan file is " + e.planOf(sub))})
	}
	info := history.AgentInfo{Type: k.kind, Description: k.description, ToolUseID: call.ID}
	if err := e.store.StartAgent(e.conversation(), k.id, info); err != nil {
		_, _ = fmt.Fprintf(e.stderr, "writing the transcript: %v\n", err)
	}
	e.storeMessage(sub, "user", input.Prompt, "")
	if background {
		return e.startAgent(k, sub), nil
	}
	return e.runAgent(t, k, sub)
}

// startAgent lets an agent work in the background.
func (e *engine) startAgent(k *task, sub *thread) playedResult {
	e.launch(k)
	file := e.outputFile(k)
	text := "Async agent launched successfully.\nagentId: " + k.id + "\noutput_file: " + file
	detail := members{"isAsync", true, "status", "async_launched", "agentId", k.id, "description", k.description}
	detail = detail.when(e.quirks.TaskDetails, "resolvedModel", e.modelName()).with("prompt", k.prompt, "outputFile", file).
		when(e.quirks.TaskLines, "canReadOutputFile", true).when(e.quirks.TaskDetails, "canContinueAgent", true)
	return playedResult{
		content: []members{{"type", "text", "text", text}}, detail: detail,
		then: func() { e.tasks.Go(func() { e.workInBackground(k, sub) }) },
	}
}

// workInBackground is the life of a background agent. It ends with the agent, at the latest with the process.
func (e *engine) workInBackground(k *task, sub *thread) {
	defer k.cancel(errEnded)
	t := &turn{ctx: k.ctx, cancel: k.cancel, begin: time.Now()}
	text, failure, err := e.agentSteps(t, k, sub)
	switch {
	case err != nil && e.ctx.Err() != nil: // the process has ended
	case err != nil:
		e.tellStopped(sub)
	default:
		n := notice{task: k, status: taskCompleted, file: e.outputFile(k), summary: fmt.Sprintf("Agent %q completed", k.description), result: text, usage: k.usageLine()}
		if e.quirks.TaskDetails {
			n.summary = text
		}
		if !e.quirks.TaskLines {
			n.file = ""
		}
		why := ""
		if failure != nil && e.quirks.TaskDetails {
			why = "Agent terminated early due to an API error: " + text
			n.status, n.summary, n.usage = taskFailed, why, nil
		}
		e.endTask(k, n, why)
	}
}

// tellStopped writes what an agent leaves that was stopped in the middle.
func (e *engine) tellStopped(sub *thread) {
	if !e.showsAgent(sub.agent) {
		return
	}
	text := "[Request interrupted by user]"
	if _, tools := sub.agent.spent(); len(tools) > 0 {
		text = "[Request interrupted by user for tool use]"
	}
	e.emit(e.userLine(sub, []members{{"type", "text", "text", text}}, wire.NewUUID()))
}

// agentSteps lets an agent work until it is done and returns its last words. A failure of the API's is one way to be done.
func (e *engine) agentSteps(t *turn, k *task, sub *thread) (string, *apiFailure, error) {
	e.hookSubagentStart(t, sub)
	for {
		err := e.steps(t, sub)
		var failure *apiFailure
		switch {
		case errors.As(err, &failure):
			text := e.quirks.failureText(failure)
			if e.showsAgent(k) {
				line := e.syntheticAssistant(sub, text, e.quirks.errorName(failure), members{}.when(e.quirks.TaskDetails, "is_api_error_message", true)...)
				e.emit(e.described(sub, e.named(sub, line)))
			}
			return text, failure, nil
		case err != nil && !errors.Is(err, errEmpty):
			return "", nil, err
		}
		text := sub.lastText()
		again := e.hookSubagentStop(t, sub, text)
		if again == "" {
			return text, nil, nil
		}
		sub.add("user", again)
	}
}

// lastText returns the last text that the model said.
func (th *thread) lastText() string {
	for _, raw := range slices.Backward(th.snapshot()) {
		var message struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal(raw, &message) != nil || message.Role != "assistant" {
			continue
		}
		if text := lastText(message.Content); text != "" {
			return text
		}
	}
	return ""
}

// runAgent lets an agent work while the turn waits.
func (e *engine) runAgent(t *turn, k *task, sub *thread) (playedResult, error) {
	k.ctx, k.cancel = t.ctx, t.cancel
	e.tellStarted(k)
	e.emit(e.userLine(sub, []members{{"type", "text", "text", k.prompt}}, wire.NewUUID()))
	text, failure, err := e.agentSteps(t, k, sub)
	if err != nil {
		return e.stoppedAgent(t, k, err)
	}
	last, tools := k.spent()
	status, summary, file := taskCompleted, k.description, ""
	if e.quirks.TaskDetails {
		summary, file = text, e.outputFile(k)
		if failure != nil {
			status = taskFailed
		}
		e.tellUpdated(k, status, "")
	}
	if e.quirks.TaskLines {
		e.tellNotification(notice{task: k, status: status, file: file, summary: summary, usage: k.usageLine()})
	}
	if status == taskFailed {
		text = "Agent terminated early due to an API error: " + text
		return playedResult{content: text, failed: true, detail: "Error: " + text}, nil
	}
	words := []members{{"type", "text", "text", text}}
	foot := fmt.Sprintf("agentId: %s\n<usage>total_tokens: %d\ntool_uses: %d</usage>", k.id, last.total(), len(tools))
	content := append(slices.Clone(words), members{"type", "text", "text", foot})
	if e.quirks.TaskDetails { // one text, in which the agent's words are marked as such
		content = []members{{"type", "text", "text", "[Subagent hand-back]\n  " + text + "\n" + foot}}
	}
	detail := members{"status", taskCompleted, "prompt", k.prompt, "agentId", k.id}
	detail = detail.when(e.quirks.TaskLines, "agentType", k.kind).
		when(e.quirks.TaskDetails && len(tools) > 0, "toolsUsed", tools).with("content", words).
		when(e.quirks.TaskDetails, "resolvedModel", e.modelName()).
		with("totalDurationMs", time.Since(k.began).Milliseconds(), "totalTokens", last.total(), "totalToolUseCount", len(tools),
			"usage", last.full(e.quirks, "standard")).
		when(e.quirks.TaskLines && len(tools) > 0, "toolStats", toolStats(tools)).
		when(e.quirks.TaskDetails, "canContinueAgent", true)
	return playedResult{content: content, detail: detail}, nil
}

// toolStats counts what an agent's tools were for.
func toolStats(tools []string) members {
	counts := map[string]int{}
	for _, name := range tools {
		switch name {
		case "Bash":
			counts["bash"]++
		case "Read":
			counts["read"]++
		case "Glob", "Grep":
			counts["search"]++
		case "Edit", "Write", "NotebookEdit":
			counts["edit"]++
		default:
			counts["other"]++
		}
	}
	return members{
		"readCount", counts["read"], "searchCount", counts["search"], "bashCount", counts["bash"], "editFileCount", counts["edit"],
		"linesAdded", 0, "linesRemoved", 0, "otherToolCount", counts["other"],
	}
}

// stoppedAgent is the result of an agent that the end of the turn stopped.
func (e *engine) stoppedAgent(t *turn, k *task, err error) (playedResult, error) {
	if !e.quirks.TaskLines || context.Cause(t.ctx) == nil {
		const note = "[Request interrupted by user for tool use]"
		return playedResult{content: note, failed: true, detail: "Error: " + note}, err
	}
	result := e.rejected()
	if !e.quirks.TaskDetails {
		e.tellNotification(notice{task: k, status: "stopped", summary: k.description, usage: k.usageLine()})
		return result, err
	}
	result.then = func() {
		e.tellUpdated(k, taskKilled, "")
		e.tellNotification(notice{task: k, status: "stopped", file: e.outputFile(k), summary: k.description})
	}
	return result, err
}

// showsAgent reports whether an agent's messages are on the wire at all.
func (e *engine) showsAgent(k *task) bool { return k == nil || !k.background || e.quirks.TaskDetails }

// tellAgentBlock writes the line of an agent's block if it is shown, and that it uses a tool.
func (e *engine) tellAgentBlock(k *task, block members, u usage, tell func()) {
	k.count(u)
	name, what := agentTool(block)
	if name != "" {
		k.usedTool(name)
	}
	if name != "" && !k.background {
		e.tellProgress(k, name, what)
	}
	if e.showsAgent(k) && (k.background || name != "" || e.flags.ForwardSubagentText) {
		tell()
	}
	if name != "" && k.background {
		e.tellProgress(k, name, what)
	}
}

// agentTool returns the tool of a block and what it is used for; empty for other blocks.
func agentTool(block members) (name, what string) {
	var parsed struct {
		Type  string
		Name  string
		Input struct{ Description string }
	}
	if json.Unmarshal(plainJSON(block), &parsed) != nil || parsed.Type != "tool_use" {
		return "", ""
	}
	if parsed.Input.Description == "" {
		return parsed.Name, parsed.Name
	}
	return parsed.Name, parsed.Input.Description
}

// agentNames are the sub-agents that the model can start: those of the version, and those that came with the start.
func (e *engine) agentNames() []string {
	names := []string{"claude", "Explore", "general-purpose", "Plan", "statusline-setup"}
	switch {
	case !e.quirks.TaskLines:
		names = []string{"Bash", "general-purpose", "statusline-setup", "Explore", "Plan"}
	case !e.quirks.TaskDetails:
		names = names[1:]
	}
	return append(names, sortedKeys(e.givenAgents())...)
}

// givenAgents are the sub-agents that came with the start.
func (e *engine) givenAgents() map[string]json.RawMessage {
	given := map[string]json.RawMessage{}
	_ = json.Unmarshal([]byte(e.flags.Agents), &given) // the flags were checked before
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.body != nil {
		_ = json.Unmarshal(e.body.Agents, &given) // what does not fit is no agent
	}
	return given
}

// agentMode is the permission mode of a kind of sub-agents, empty for that of the conversation.
func (e *engine) agentMode(kind string) string {
	var definition struct {
		Mode string `json:"permissionMode"`
	}
	_ = json.Unmarshal(e.givenAgents()[kind], &definition) // what does not fit is no mode
	return definition.Mode
}

package claudetest

import (
	"context"
	"encoding/json"
	"slices"
)

// A controlRequest is a request of the controller.
type controlRequest struct {
	id      json.RawMessage // as it came: a string, a number, or absent
	subtype string
	body    json.RawMessage // the "request" member
}

// read reads the request's own members; what does not fit stays zero, as in a language without types.
func (r controlRequest) read(into any) { _ = json.Unmarshal(r.body, into) }

// takeRequest acts upon a control request.
func (e *engine) takeRequest(line []byte) *exit {
	var parsed struct {
		RequestID json.RawMessage `json:"request_id"`
		Request   json.RawMessage `json:"request"`
	}
	if json.Unmarshal(line, &parsed) != nil || !has(parsed.Request) {
		return &exit{code: 1, says: "Error: Missing request on control_request"}
	}
	var header struct {
		Subtype string `json:"subtype"`
	}
	_ = json.Unmarshal(parsed.Request, &header) // a request without subtype is an unknown one
	r := controlRequest{id: parsed.RequestID, subtype: header.Subtype, body: parsed.Request}
	handler := controls()[r.subtype]
	if handler.run == nil || !handler.since.IsZero() && e.quirks.Version.Compare(handler.since) < 0 {
		e.refuseUnknown(r)
		return nil
	}
	return handler.run(e, r)
}

// refuseUnknown deals with a request that the version does not know.
func (e *engine) refuseUnknown(r controlRequest) {
	message := "Unsupported control request subtype: " + r.subtype
	switch e.quirks.Unknown {
	case "error":
		e.fail(r, message, "")
	case "coded":
		e.fail(r, message, "unsupported_request")
	}
}

// succeed answers a request; a nil body leaves it out.
func (e *engine) succeed(r controlRequest, body any, beside ...any) {
	answer := members{"subtype", "success"}.when(len(r.id) > 0, "request_id", r.id).when(body != nil, "response", body).with(beside...)
	e.emit(members{"type", "control_response", "response", answer})
}

// fail refuses a request.
func (e *engine) fail(r controlRequest, message, code string, beside ...any) {
	answer := members{"subtype", "error"}.when(len(r.id) > 0, "request_id", r.id).with("error", message).
		when(code != "", "error_code", code).with(beside...)
	e.emit(members{"type", "control_response", "response", answer})
}

// initializeSet is what an initialize request brings.
type initializeSet struct {
	Hooks              json.RawMessage `json:"hooks"`
	SDKMCPServers      []string        `json:"sdkMcpServers"`
	JSONSchema         json.RawMessage `json:"jsonSchema"`
	SystemPrompt       json.RawMessage `json:"systemPrompt"`
	AppendSystemPrompt string          `json:"appendSystemPrompt"`
	Agents             json.RawMessage `json:"agents"`
}

// initialize answers the first request, and says what is open if it comes again.
func (e *engine) initialize(r controlRequest) *exit {
	set := &initializeSet{}
	r.read(set)
	e.mu.Lock()
	again := e.body != nil || e.prompted
	if !again || e.quirks.LateInitialize {
		if e.body != nil && set.Hooks == nil {
			set.Hooks = e.body.Hooks // a body without hooks keeps them
		}
		if e.prompted {
			set.AppendSystemPrompt = "" // it comes too late
		}
		if e.body == nil || has(set.Hooks) {
			e.body = set
		}
	}
	e.mu.Unlock()
	if again && !e.quirks.LateInitialize {
		e.fail(r, "Already initialized", "", "pending_permission_requests", e.openQuestions())
		return nil
	}
	if !again {
		e.openSDKServers(set.SDKMCPServers)
	}
	if e.quirks.InitializeTellsVersion {
		e.succeed(r, e.initializeAnswer(), "pending_permission_requests", e.openQuestions(), "pending_user_dialog_requests", []any{})
		return nil
	}
	e.succeed(r, e.initializeAnswer())
	return nil
}

// initializeAnswer is the body of the answer to initialize.
func (e *engine) initializeAnswer() members {
	answer := members{"commands", e.listCommands()}
	answer = answer.when(e.quirks.InitializeTellsAgents, "agents", e.listAgents()).
		with("output_style", "default", "available_output_styles", []string{"default"}).
		when(e.quirks.InitializeTellsVersion, "user_output_styles_dir", e.store.ConfigDir()+"/output-styles").
		with("models", e.listModels(), "account", members{"tokenSource", "none", "apiKeySource", e.keySource()}.
			when(e.quirks.InitializeTellsAgents, "apiProvider", "firstParty")).
		when(e.quirks.InitializeTellsAgents, "pid", simPID)
	if !e.quirks.InitializeTellsVersion {
		return answer
	}
	e.mu.Lock()
	state := "idle"
	if e.turn != nil {
		state = "running"
	}
	hooks := e.body != nil && has(e.body.Hooks)
	e.mu.Unlock()
	return answer.with("claude_code_version", e.quirks.Version.String(), "current_permission_mode", e.gate.Mode(), "hook_on_failure_supported", true,
		"feedback_mode", members{"kind", "disabled"}, "analytics_disabled", true, "remote_control_available", false,
		"fast_mode_state", "off", "fast_mode_disabled_reason", "sdk_opt_in_required", "session_state", state, "capabilities", []string{}).
		when(hooks, "hooks_applied", true)
}

// listCommands are the slash commands with their descriptions.
func (e *engine) listCommands() []members {
	commands := []members{}
	for _, name := range e.commandNames() {
		commands = append(commands, members{"name", name, "description", "The command " + name + " of the simulated CLI", "argumentHint", ""})
	}
	return commands
}

// listAgents are the sub-agents with their descriptions.
func (e *engine) listAgents() []members {
	agents := []members{}
	for _, name := range e.agentNames() {
		agents = append(agents, members{"name", name, "description", "The agent " + name + " of the simulated CLI"})
	}
	return agents
}

// interrupt ends the running turn. Its open questions are withdrawn before the answer.
func (e *engine) interrupt(r controlRequest) *exit {
	var request struct {
		CancelQueued bool `json:"cancel_queued"`
	}
	r.read(&request)
	e.mu.Lock()
	running := e.turn
	var dropped, left []string
	if e.quirks.InterruptTellsQueue && request.CancelQueued {
		for _, p := range e.queue {
			dropped = append(dropped, p.uuid)
		}
		e.queue = nil
	}
	for _, p := range e.queue {
		if p.uuid != "" {
			left = append(left, p.uuid)
		}
	}
	e.mu.Unlock()
	if running != nil {
		e.withdrawAll(func(a *ask) bool {
			return slices.Contains([]string{"can_use_tool", "hook_callback", "elicitation"}, a.subtype) && !a.agent
		})
		e.cancelCalls()
	}
	after := e.interruptTasks()
	for _, uuid := range dropped {
		e.lifecycle(uuid, "cancelled")
	}
	var body any
	if e.quirks.InterruptTellsQueue {
		body = members{"still_queued", orEmpty(left)}.when(request.CancelQueued, "cancelled", orEmpty(dropped))
	}
	e.succeed(r, body)
	running.stop(errInterrupted)
	after()
	return nil
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// setMode answers set_permission_mode.
func (e *engine) setMode(r controlRequest) *exit {
	var request struct {
		Mode string `json:"mode"`
	}
	r.read(&request)
	before := e.gate.Mode()
	mode, code, message, ok := e.gate.Request(request.Mode)
	if !ok {
		e.fail(r, message, code)
		return nil
	}
	e.notePlanMode(before, mode)
	e.succeed(r, members{"mode", mode})
	if e.quirks.ModeAnswersTwice {
		e.succeed(r, nil)
		return nil // and no line tells it
	}
	if before != mode && knownMode(mode) {
		e.tellMode(mode)
	}
	return nil
}

// knownMode reports whether a mode is one that people can be shown.
func knownMode(mode string) bool {
	return slices.Contains([]string{"default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto"}, mode)
}

// modeChanged notes and tells a new mode.
func (e *engine) modeChanged(before, mode string) {
	if before != mode {
		e.notePlanMode(before, mode)
		e.tellMode(mode)
	}
}

func (e *engine) tellMode(mode string) {
	e.emit(e.systemLine("status", "status", nil, "permissionMode", mode))
}

// setModel answers set_model.
func (e *engine) setModel(r controlRequest) *exit {
	var request struct {
		Model string `json:"model"`
	}
	r.read(&request)
	change := func() {
		e.changeModel(request.Model, true)
		if e.quirks.ModelAnswers {
			e.succeed(r, members{"model", e.modelName()})
		} else {
			e.succeed(r, nil)
		}
	}
	if len(e.hookEntries("PreModelSwitch", "")) == 0 && len(e.hookEntries("PostModelSwitch", "")) == 0 || !e.quirks.HookModels {
		change()
		return nil
	}
	e.aside(r, func(ctx context.Context) { // the answers of hooks come over the input that is read here
		from, to := e.modelName(), e.quirks.models().resolve(request.Model)
		e.hookModel(ctx, "PreModelSwitch", from, to, request.Model)
		change()
		e.hookModel(ctx, "PostModelSwitch", from, to, request.Model)
	})
	return nil
}

// changeModel takes a model's name or alias; empty and "default" are the standard one. Told says that the change is told even if there is none.
func (e *engine) changeModel(name string, told bool) {
	resolved := e.quirks.models().resolve(name)
	e.mu.Lock()
	told = told || e.model != resolved
	e.model = resolved
	e.mu.Unlock()
	if !e.quirks.ModelLine || !told {
		return
	}
	shown := resolved
	if name != "" && name != resolved {
		shown = name + " (" + resolved + ")"
	}
	if e.quirks.ModelAnswers {
		shown = "`" + shown + "`"
	}
	e.emit(e.commandOutput("Set model to " + shown))
}

func (e *engine) modelName() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.model
}

// setThinking answers set_max_thinking_tokens.
func (e *engine) setThinking(r controlRequest) *exit {
	var request struct {
		Tokens json.RawMessage `json:"max_thinking_tokens"`
	}
	r.read(&request)
	var tokens *int
	if has(request.Tokens) {
		var n int
		if err := json.Unmarshal(request.Tokens, &n); err != nil && e.quirks.ModelChecksThinking {
			e.fail(r, "set_max_thinking_tokens: max_thinking_tokens must be an integer or null", "")
			return nil
		}
		tokens = &n
	}
	e.mu.Lock()
	e.thinking = tokens
	e.mu.Unlock()
	e.succeed(r, nil)
	return nil
}

// toolNames are the tools that the model is offered.
func (e *engine) toolNames() []string {
	names := []string{
		"Task", "Bash", "Glob", "Grep", "ExitPlanMode", "Read", "Edit", "Write", "NotebookEdit", "WebFetch", "TodoWrite", "WebSearch",
		"AskUserQuestion", "EnterPlanMode",
	}
	if e.flags.Tools != nil {
		names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(e.flags.Tools, name) })
	}
	names = slices.DeleteFunc(names, e.gate.Removes)
	if e.schema() != nil {
		names = append(names, "StructuredOutput")
	}
	return append(names, e.mcpTools()...)
}

package claudetest

import "github.com/switchboard-dev/switchboard/wire"

// hookPrompt asks the UserPromptSubmit hooks about a prompt. If one blocks it, the turn has its result.
func (e *engine) hookPrompt(t *turn, p prompt) (blocked bool) {
	run := hookRun{event: "UserPromptSubmit", turn: t, thread: e.main, input: members{"prompt", p.text}}
	for _, answer := range e.runHooks(t.ctx, run) {
		reason, refused := answer.blocks()
		switch {
		case answer.state == hookStopped:
			e.emit(e.initLine(t))
			e.emitInterrupted(t, false)
			return true
		case answer.state == hookLate && e.quirks.HookTimeoutDenies:
			e.blockPrompt(t, "UserPromptSubmit operation blocked by hook:\nUserPromptSubmit hook callback timed out", false,
				members{"kind", "no_verdict", "prompt_kept", false, "no_verdict_kind", "callback_timed_out"})
			return true
		case refused:
			e.blockPrompt(t, "UserPromptSubmit operation blocked by hook:\n"+reason+"\n\nOriginal prompt: "+p.text, false,
				members{"kind", "blocked_by_hook", "prompt_kept", false, "reason", reason})
			return true
		case answer.stops():
			e.main.add("user", p.content)
			e.blockPrompt(t, "Operation stopped by hook: "+answer.StopReason, true,
				members{"kind", "stopped_by_hook", "prompt_kept", true, "reason", answer.StopReason})
			return true
		}
		if answer.Output.Context != "" {
			e.hookTells(e.main, "UserPromptSubmit hook additional context: "+answer.Output.Context)
		}
	}
	return false
}

// blockPrompt ends a turn whose prompt a hook blocked. Only the newest version says why.
func (e *engine) blockPrompt(t *turn, text string, kept bool, outcome members) {
	e.emit(e.initLine(t))
	e.hookNotices()
	t.mu.Lock()
	t.none = !kept || !e.quirks.HookStopCounts
	t.mu.Unlock()
	end := ending{subtype: "success"}
	if e.quirks.HookNotices {
		end.text = text
		e.emit(e.systemLine("informational", "content", text, "level", "warning", "prevent_continuation", true, "prompt_submit_outcome", outcome))
	}
	e.emitResult(t, end)
}

// hookStop asks the Stop hooks at the end of a turn. What is returned is said to the model, which goes on.
func (e *engine) hookStop(t *turn) (again string) {
	t.mu.Lock()
	active, text := t.hooks.active, t.text
	t.mu.Unlock()
	run := hookRun{event: "Stop", turn: t, thread: e.main, input: e.stopInput(active, "", text)}
	for _, answer := range e.runHooks(t.ctx, run) {
		if answer.state == hookLate && e.quirks.HookTimeoutDenies {
			e.hookSays(run, "there was no answer in time, so this turn ended without it")
		}
		if answer.stops() {
			t.mu.Lock()
			t.hooks.prevented = true
			t.mu.Unlock()
			return ""
		}
		if reason, blocked := answer.blocks(); blocked {
			again = "Stop hook feedback:\n" + reason
		}
	}
	if again == "" {
		return ""
	}
	t.mu.Lock()
	t.hooks.active = true
	t.results++
	t.mu.Unlock()
	e.emit(e.userLine(e.main, []members{{"type", "text", "text", again}}, wire.NewUUID()).with("isSynthetic", true))
	if e.quirks.StopHookNotes {
		e.emit(e.systemLine("notification", "key", "stop-hook-error", "text", "Stop hook error occurred", "priority", "immediate"))
	}
	return again
}

// stopInput is what Stop and SubagentStop hooks are told. Only the latter have a transcript of their own.
func (e *engine) stopInput(active bool, transcript, text string) members {
	input := members{"stop_hook_active", active}.when(transcript != "", "agent_transcript_path", transcript).
		when(e.quirks.HookLastMessage, "last_assistant_message", text)
	if e.quirks.HookFields {
		input = input.with("background_tasks", e.hookTasks(), "session_crons", []any{})
	}
	return input
}

// hookSubagentStart tells the SubagentStart hooks that a sub-agent begins.
func (e *engine) hookSubagentStart(t *turn, th *thread) {
	run := hookRun{event: "SubagentStart", subject: th.agent.kind, turn: t, thread: th}
	for _, answer := range e.runHooks(t.ctxOf(th), run) {
		if answer.Output.Context != "" {
			e.hookTells(th, "SubagentStart hook additional context: "+answer.Output.Context)
		}
	}
}

// hookSubagentStop asks the SubagentStop hooks when a sub-agent is done. What is returned is said to it, and it goes on.
func (e *engine) hookSubagentStop(t *turn, th *thread, text string) (again string) {
	path, _ := e.store.AgentPath(e.conversation(), th.agent.id) // without a name there is no file
	run := hookRun{event: "SubagentStop", subject: th.agent.kind, turn: t, thread: th, input: e.stopInput(e.hookActive(th, nil), path, text)}
	for _, answer := range e.runHooks(t.ctxOf(th), run) {
		if reason, blocked := answer.blocks(); blocked && !answer.stops() {
			again = "Stop hook feedback:\n" + reason
		}
	}
	goesOn := again != ""
	e.hookActive(th, &goesOn)
	return again
}

// hookActive returns whether a hook has made a sub-agent go on, and remembers it if it is given.
func (e *engine) hookActive(th *thread, set *bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if set != nil {
		delete(e.hooks.active, th)
		if *set {
			if e.hooks.active == nil {
				e.hooks.active = map[*thread]bool{}
			}
			e.hooks.active[th] = true
		}
	}
	return e.hooks.active[th]
}

// hookTasks are the tasks that run in the background, as hooks are told them.
func (e *engine) hookTasks() []members {
	e.mu.Lock()
	defer e.mu.Unlock()
	tasks := []members{}
	for _, id := range sortedKeys(e.running) {
		task := e.running[id]
		if !task.background {
			continue
		}
		kind := members{"type", "shell"}
		if task.kind != "" {
			kind = members{"type", "subagent"}
		}
		tasks = append(tasks, members{"id", task.id}.with(kind...).with("status", "running", "description", task.description).
			when(task.kind != "", "agent_type", task.kind))
	}
	return tasks
}

// hookCompact tells the PreCompact hooks that the conversation will be summed up.
func (e *engine) hookCompact(t *turn, trigger, instructions string) {
	var told any = instructions
	if instructions == "" && e.quirks.HookFields {
		told = nil
	}
	e.runHooks(t.ctx, hookRun{event: "PreCompact", subject: trigger, turn: t, thread: e.main, input: members{"trigger", trigger, "custom_instructions", told}})
}

// hookCompacted tells the hooks that the conversation was summed up: it is a new start.
func (e *engine) hookCompacted(t *turn, trigger, summary string) {
	e.runHooks(t.ctx, hookRun{event: "SessionStart", subject: "compact", turn: t, thread: e.main, input: members{"source", "compact", "model", e.modelName()}})
	if e.quirks.HookPostCompact {
		e.runHooks(t.ctx, hookRun{event: "PostCompact", subject: trigger, turn: t, thread: e.main, input: members{"trigger", trigger, "compact_summary", summary}})
	}
}

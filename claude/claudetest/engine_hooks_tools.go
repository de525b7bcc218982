package claudetest

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/permit"
)

// hookVerdict is what PreToolUse hooks decided about a call.
type hookVerdict struct {
	allowed  bool
	ask      bool
	deferred bool
	refusal  *playedResult   // stands for the call that is not made
	reason   string          // of ask
	input    json.RawMessage // the input to use instead; nil: the model's
	end      error           // why the turn ends after the tool
}

// hookBefore asks the PreToolUse hooks about a call. A hook that denies wins, then one that defers, one that asks, one that allows.
func (e *engine) hookBefore(t *turn, th *thread, call ToolCall) hookVerdict {
	run := e.toolRun("PreToolUse", t, th, call).with("tool_use_id", call.ID)
	var verdict hookVerdict
	denied, late := "", false
	for _, answer := range e.runHooks(t.ctxOf(th), run) {
		switch {
		case answer.state == hookStopped:
			result := e.rejected()
			return hookVerdict{refusal: &result, end: context.Cause(t.ctxOf(th))}
		case answer.state == hookClosed && e.quirks.HookTimeoutDenies:
			result := e.rejected()
			verdict.refusal = &result
		case answer.state == hookLate:
			late = true
		}
		if answer.stops() {
			verdict.end = errHookStopped
		}
		decision, reason := answer.verdict()
		switch decision {
		case "deny":
			if reason == "" {
				reason = e.hookDefault(run)
			}
			denied = reason
		case "defer":
			verdict.deferred = true
		case "ask":
			verdict.ask, verdict.reason = true, reason
		case "allow":
			verdict.allowed = true
		}
		if has(answer.Output.Input) {
			verdict.input = answer.Output.Input
		}
		if answer.Output.Context != "" {
			e.hookTells(th, run.name()+" hook additional context: "+answer.Output.Context)
		}
	}
	switch {
	case denied != "":
		verdict.refusal = e.hookDenies(t, call, run, denied)
		if !e.quirks.HookStopsDenied {
			verdict.end = nil
		}
	case late && e.quirks.HookTimeoutDenies:
		text := "PreToolUse hook did not respond before its timeout. The tool call was not executed."
		verdict.refusal = &playedResult{content: text, failed: true, detail: "Error: " + text, refused: true}
	}
	verdict.allowed = verdict.allowed && !verdict.ask
	e.hookClock(call)
	return verdict
}

// verdict is what a PreToolUse hook says about a call, in the new way or the old.
func (a *hookAnswer) verdict() (decision, reason string) {
	if a.Output.Verdict != nil {
		return *a.Output.Verdict, a.Output.Reason
	}
	if reason, blocked := a.blocks(); blocked {
		return "deny", reason
	}
	if a.Decision != nil {
		return "allow", a.Reason
	}
	return "", ""
}

// hookDefault is the reason of a hook that denies without one.
func (e *engine) hookDefault(r hookRun) string {
	if e.quirks.HookPrefix {
		return "Blocked by hook"
	}
	return "Hook " + r.name() + " denied this tool"
}

// hookDenies is the result of a call that a hook denied.
func (e *engine) hookDenies(t *turn, call ToolCall, r hookRun, reason string) *playedResult {
	if e.quirks.HookDenialsListed {
		e.noteDenial(t, call)
	}
	if e.quirks.HookPrefix {
		reason = r.name() + " hook error: " + reason
	}
	result := failed(reason, "hook")
	result.meta = hookMeta("reject")
	return &result
}

// hookMeta is how the line of a result tells that a hook decided.
func hookMeta(decision string) members {
	return members{"decision", decision, "source", "hook", "reason_type", "hook"}
}

// toolRun is an event about a tool call.
func (e *engine) toolRun(event string, t *turn, th *thread, call ToolCall) hookRun {
	name := e.hookTool(call.Name)
	return hookRun{
		event: event, subject: name, call: call.ID, turn: t, thread: th,
		input: members{"tool_name", name, "tool_input", call.Input},
	}
}

// with returns the event with more to tell.
func (r hookRun) with(more ...any) hookRun {
	r.input = r.input.with(more...)
	return r
}

// hookJudges is what the rules' verdict becomes after the hooks'.
func (e *engine) hookJudges(verdict permit.Verdict, before hookVerdict) permit.Verdict {
	switch {
	case verdict.Behavior == permit.Deny:
		return verdict
	case before.allowed:
		return permit.Verdict{Behavior: permit.Allow, ReasonType: "hook"}
	case !before.ask, verdict.Behavior == permit.Allow && !e.quirks.HookAsksAnything:
		return verdict
	case e.quirks.QuestionReasons:
		return permit.Verdict{Behavior: permit.Ask, Reason: before.reason, ReasonType: "hook", Description: verdict.Description}
	}
	verdict.Behavior = permit.Ask // the oldest version does not say which hook asks
	return verdict
}

// hookClock remembers when a call began to run.
func (e *engine) hookClock(call ToolCall) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hooks.begun == nil {
		e.hooks.begun = map[string]time.Time{}
	}
	e.hooks.begun[call.ID] = time.Now()
}

// hookAfter tells the PostToolUse hooks about a result, which they may add to.
func (e *engine) hookAfter(t *turn, th *thread, call ToolCall, result *playedResult) error {
	e.mu.Lock()
	begun := e.hooks.begun[call.ID]
	delete(e.hooks.begun, call.ID)
	e.mu.Unlock()
	if result.content == nil {
		return nil // there is no result yet
	}
	run := e.toolRun("PostToolUse", t, th, call)
	if result.failed {
		text, _ := result.content.(string)
		run = e.toolRun("PostToolUseFailure", t, th, call).with("tool_use_id", call.ID, "error", text, "is_interrupt", false)
	} else {
		response := result.detail
		if response == nil {
			response = result.content
		}
		run = run.with("tool_response", response, "tool_use_id", call.ID)
	}
	if e.quirks.HookDurations {
		run = run.with("duration_ms", time.Since(begun).Milliseconds())
	}
	if server := e.mcpServerOf(call); server != nil && e.quirks.MCPDetails {
		run = run.with("mcp_server", server)
	}
	var end error
	for _, answer := range e.runHooks(t.ctxOf(th), run) {
		if answer.state == hookStopped {
			return context.Cause(t.ctxOf(th))
		}
		if answer.stops() && !result.failed {
			end = errHookStopped
		}
		if reason, blocked := answer.blocks(); blocked {
			e.hookTells(th, run.name()+` hook blocking error from command: "callback": `+reason)
		}
		if answer.Output.Context != "" {
			e.hookTells(th, run.name()+" hook additional context: "+answer.Output.Context)
		}
		if has(answer.Output.MCPOutput) && strings.HasPrefix(call.Name, "mcp__") {
			result.content, result.detail = answer.Output.MCPOutput, answer.Output.MCPOutput
		}
	}
	return end
}

// askOrHook asks the controller for a permission, and PermissionRequest hooks before or beside it.
func (e *engine) askOrHook(ctx context.Context, t *turn, th *thread, call ToolCall, request members, verdict permit.Verdict, background bool) (answerBody, error) {
	defer e.hookClock(call)
	if verdict.ReasonType == "hook" && e.quirks.HookFields {
		request = request.with("decision_reason_hook_event", "PreToolUse", "decision_reason_hook_source", "settings")
	}
	run := e.toolRun("PermissionRequest", t, th, call)
	run.id = call.ID
	if len(verdict.Suggestions) > 0 {
		run = run.with("permission_suggestions", rawUpdates(verdict.Suggestions))
	}
	if len(e.hookEntries(run.event, run.subject)) == 0 {
		return e.request(ctx, request, background, 0)
	}
	if !e.quirks.HookRaces {
		for _, answer := range e.runHooks(ctx, run) {
			if answer.state == hookStopped {
				return answerBody{}, context.Cause(ctx)
			}
			if d := answer.Output.Decision; d != nil {
				return e.hookDecides(call, d), nil
			}
		}
		return e.request(ctx, request, background, 0)
	}
	return e.hookRace(ctx, run, call, request, background)
}

// hookRace asks the controller and the hooks at the same time. The first decision wins; a hook that loses is not told.
func (e *engine) hookRace(ctx context.Context, run hookRun, call ToolCall, request members, background bool) (answerBody, error) {
	question, err := e.open(&ask{agent: background}, request)
	if err != nil {
		return answerBody{}, err
	}
	decisions := make(chan hookAnswer)
	decided := make(chan struct{})
	defer close(decided)
	for _, hook := range e.askHooks(run) {
		e.tasks.Go(func() { // ends with the hook's answer or time, or with the process
			answer := e.hookAnswer(e.ctx, run, hook)
			if answer.Output.Decision == nil && (answer.state != hookLate || !e.quirks.HookTimeoutDenies) {
				return
			}
			select {
			case decisions <- answer:
			case <-decided:
			}
		})
	}
	race, stop := context.WithCancel(ctx)
	defer stop()
	type outcome struct {
		answer answerBody
		err    error
	}
	person := make(chan outcome, 1)
	e.tasks.Go(func() { // ends with the race
		answer, err := e.awaitQuietly(race, question)
		person <- outcome{answer, err}
	})
	select {
	case said := <-person:
		if said.err != nil && ctx.Err() != nil {
			e.withdraw(question)
		}
		return said.answer, said.err
	case hook := <-decisions:
		if hook.state == hookLate {
			e.forget(question)
			return answerBody{subtype: "error", message: "no answer of a hook in time"}, nil
		}
		body := e.hookDecides(call, hook.Output.Decision)
		e.withdraw(question)
		return body, nil
	}
}

// awaitQuietly waits for the answer to a request, which stays open when ctx ends.
func (e *engine) awaitQuietly(ctx context.Context, question *ask) (answerBody, error) {
	select {
	case answer, ok := <-question.answer:
		if !ok {
			return answerBody{}, errStreamClosed
		}
		return answer, nil
	case <-ctx.Done():
		return answerBody{}, context.Cause(ctx)
	}
}

// forget drops an open request without a word; an answer to it is ignored.
func (e *engine) forget(question *ask) {
	question.quiet = true
	e.withdraw(question)
}

// hookDecides makes the decision of a PermissionRequest hook an answer to the question. Its updates take effect at once.
func (e *engine) hookDecides(call ToolCall, decision *hookDecision) answerBody {
	if decision.Behavior == "deny" {
		message := decision.Message
		if message == "" {
			message = "Permission denied by hook"
		}
		body := members{"behavior", "deny", "message", message, "interrupt", decision.Interrupt && e.quirks.HookInterrupts}
		e.hookMark(call)
		return answerBody{subtype: "success", body: plainJSON(body)}
	}
	for _, update := range decision.Updates {
		e.applyUpdate(update)
	}
	input := decision.Input
	if !has(input) {
		input = call.Input
	}
	e.hookMark(call)
	return answerBody{subtype: "success", body: plainJSON(members{"behavior", "allow", "updatedInput", input})}
}

// hookMark remembers that a hook decided about a call.
func (e *engine) hookMark(call ToolCall) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hooks.decided == nil {
		e.hooks.decided = map[string]bool{}
	}
	e.hooks.decided[call.ID] = true
}

// decidedByHook reports whether a hook, and not a person, answered the question about a call. It forgets it.
func (e *engine) decidedByHook(call ToolCall) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	decided := e.hooks.decided[call.ID]
	delete(e.hooks.decided, call.ID)
	return decided
}

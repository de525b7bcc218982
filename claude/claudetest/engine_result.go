package claudetest

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// An outcome is what a result line is made of.
type outcome struct {
	turn     *turn
	end      ending
	index    int
	queued   int
	session  string
	spending spending // of the conversation
	fresh    spending // since the last result
	turns    int
	usage    usage
	denials  []members
	schema   any
	first    time.Duration
}

// emitResult writes the end of a turn.
func (e *engine) emitResult(t *turn, end ending) {
	if e.holdResult(t, end) {
		return
	}
	e.mu.Lock()
	e.lastError = ""
	switch {
	case end.api:
		e.lastError = "api"
	case end.failed:
		e.lastError = "other"
	}
	t.more = len(e.queue) > 0
	o := outcome{turn: t, end: end, index: e.results, queued: len(e.queue), session: e.session, spending: e.spending.clone(), fresh: e.spending.since()}
	e.results++
	e.spending.told = maps.Clone(e.spending.models)
	e.mu.Unlock()
	t.mu.Lock()
	o.turns, o.usage, o.denials, o.first = t.turns(), t.usage, t.denials, t.first
	if t.schema != nil {
		o.schema = t.schema
	}
	t.mu.Unlock()
	if o.denials == nil {
		o.denials = []members{}
	}
	if !e.quirks.CumulativeAPITime {
		o.spending.apiTime = t.apiTime
	}
	line := e.resultLine(o)
	if e.quirks.ResultIndex {
		line = e.lateResultLine(o)
	}
	e.emit(line)
}

// turns is num_turns of a result: one, and one more for each result of a tool and for an interrupt. mu is held.
func (t *turn) turns() int {
	if t.none || t.turnCount > 0 {
		return t.turnCount
	}
	return 1 + t.results
}

// resultLine is a result as all but the newest version write it.
func (e *engine) resultLine(o outcome) members {
	end := o.end
	line := members{"type", "result", "subtype", end.subtype}
	times := members{"duration_ms", time.Since(o.turn.begin).Milliseconds(), "duration_api_ms", o.spending.apiTime.Milliseconds()}
	if end.subtype == "success" {
		line = line.with("is_error", end.failed).when(e.reasons(end), "api_error_status", statusOrNull(end.status)).with(times...).
			with("num_turns", o.turns, "result", end.text)
	} else {
		line = line.with(times...).with("is_error", end.failed, "num_turns", o.turns)
	}
	return line.with("stop_reason", e.stopReason(end), "session_id", o.session, "total_cost_usd", o.spending.total,
		"usage", o.usage.full(e.quirks, "standard"), "modelUsage", o.spending.byModel(e.quirks), "permission_denials", o.denials).
		when(o.schema != nil, "structured_output", o.schema).
		when(e.reasons(end), "terminal_reason", end.terminal).
		when(e.quirks.ErrorDetails && !end.bare, "fast_mode_state", "off").
		when(o.turn.origin != nil && e.quirks.TaskDetails, "origin", o.turn.origin).with(end.extra...).
		with("uuid", wire.NewUUID()).when(end.errors != nil, "errors", end.errors)
}

// lateResultLine is a result as the newest version writes it, whose type is somewhere in the middle.
func (e *engine) lateResultLine(o outcome) members {
	end := o.end
	if end.bare {
		return e.resultLine(o).with("result_index", o.index)
	}
	line := members{}
	line = line.with("duration_api_ms", o.spending.apiTime.Milliseconds(), "stop_reason", e.stopReason(end), "session_id", o.session,
		"total_cost_usd", o.spending.total, "usage", o.usage.full(e.quirks, "standard"), "modelUsage", o.spending.byModel(e.quirks),
		"permission_denials", o.denials).
		when(o.schema != nil, "structured_output", o.schema).
		when(e.reasons(end), "terminal_reason", end.terminal).
		with("fast_mode_state", "off", "fast_mode_disabled_reason", "sdk_opt_in_required").
		when(o.turn.origin != nil, "origin", o.turn.origin).
		with("safety_stops", 0, "is_error", end.failed, "num_turns", o.turns, "subtype", end.subtype)
	if end.subtype == "success" {
		line = line.when(e.reasons(end), "api_error_status", statusOrNull(end.status)).
			when(end.kind != "", "api_error_type", end.kind).with("result", end.text)
	}
	line = line.when(end.errors != nil, "errors", end.errors).when(o.first > 0 && !end.failed, "ttft_ms", o.first.Milliseconds()).
		with("type", "result", "duration_ms", time.Since(o.turn.begin).Milliseconds()).with(end.extra...).with("uuid", wire.NewUUID())
	return e.promptID(line, o.turn).with("queued_turn_count", o.queued, "result_index", o.index,
		"model_usage_since_last_result", o.fresh.byModel(e.quirks))
}

// reasons reports whether a result tells why the turn ended; that of a command of the CLI's own does not.
func (e *engine) reasons(end ending) bool { return e.quirks.ErrorDetails && end.terminal != "" }

func (e *engine) stopReason(end ending) any {
	if !e.quirks.ErrorDetails && !end.api {
		return nil
	}
	return end.stop
}

// orElseNull is a stop reason as the diagnostic writes it.
func orElseNull(stop any) any {
	if stop == nil {
		return "null"
	}
	return stop
}

// emitFailure writes how a turn ended that the API did not answer.
func (e *engine) emitFailure(t *turn, failure *apiFailure) {
	e.tellLimits(failure.header)
	text := e.quirks.failureText(failure)
	var more members
	if e.quirks.ResultIndex {
		more = members{"is_api_error_message", true, "api_error_status", statusOrNull(failure.status)}.when(failure.kind != "", "api_error_type", failure.kind)
	}
	line := e.syntheticAssistant(e.main, text, e.quirks.errorName(failure), more...)
	e.emit(e.firstWords(t, e.main, line))
	e.hookFailure(t, failure, text)
	terminal := "api_error"
	if !e.quirks.ErrorWords {
		terminal = "completed" // what older versions with a reason call it
	} else if failure.status == http.StatusRequestEntityTooLarge {
		terminal = "image_error"
	} else if strings.Contains(strings.ToLower(failure.message), "prompt is too long") {
		terminal = "prompt_too_long"
	}
	e.emitResult(t, ending{
		subtype: "success", failed: true, api: true, text: text, stop: "stop_sequence", terminal: terminal, status: failure.status, kind: failure.kind,
	})
}

// emitLimit writes how a turn ended at a limit.
func (e *engine) emitLimit(t *turn, subtype, message, terminal string) {
	end := ending{subtype: subtype, errors: []string{}, terminal: terminal, stop: orNull(t.stopped)}
	if e.quirks.LimitIsError {
		end.failed, end.errors = true, []string{message}
	}
	e.emitResult(t, end)
}

// emitInterrupted writes how an interrupted turn ended.
func (e *engine) emitInterrupted(t *turn, byTool bool) {
	t.mu.Lock()
	tool := byTool || t.used > 0 && t.partial == "" && t.stopped == StopToolUse
	stop := orNull(t.stopped)
	t.results++ // the words count
	t.mu.Unlock()
	text, terminal := "[Request interrupted by user]", "aborted_streaming"
	if tool {
		text, terminal = "[Request interrupted by user for tool use]", "aborted_tools"
	}
	content := []members{{"type", "text", "text", text}}
	e.main.add("user", content)
	e.emit(e.userLine(e.main, content, wire.NewUUID()))
	if !tool {
		stop = nil
	}
	end := ending{subtype: "error_during_execution", errors: []string{}, terminal: terminal, stop: stop}
	if e.quirks.InterruptIsError {
		end.failed, end.errors = true, []string{fmt.Sprintf("[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=%v", orElseNull(stop))}
	}
	e.emitResult(t, end)
}

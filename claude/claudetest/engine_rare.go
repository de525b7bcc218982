package claudetest

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/switchboard-dev/switchboard/wire"
)

// sumUp tells what the tools before the model's newest message did, in a sentence that the small model is asked for, if the environment asks for it.
func (e *engine) sumUp(t *turn, th *thread) {
	if th.parent != "" {
		return
	}
	e.mu.Lock()
	calls := e.calls
	e.calls = nil
	e.mu.Unlock()
	if len(calls) == 0 {
		return
	}
	text, err := e.askOnce(t.ctx, members{
		"model", e.quirks.models().resolve("haiku"), "max_tokens", 1024, "system", "Say in a few words what the tools did.",
		"messages",
		[]members{{"role", "user", "content", "The tools have run."}},
	})
	if err == nil && text != "" {
		e.emit(members{"type", "tool_use_summary", "summary", text, "preceding_tool_use_ids", calls, "session_id", e.conversation(), "uuid", wire.NewUUID()})
	}
}

// toSumUp remembers the calls of a message, for the summary that follows the next.
func (e *engine) toSumUp(th *thread, calls []ToolCall) {
	if th.parent != "" || !truthy(e.getenv("CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES")) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, call := range calls {
		e.calls = append(e.calls, call.ID)
	}
}

// tellLimits tells the limits of a subscription that the headers of an answer name, if they have changed. A key has none.
func (e *engine) tellLimits(header http.Header) {
	if !e.quirks.LimitLines || !e.brain.plan {
		return
	}
	get := func(name string) string { return header.Get("Anthropic-Ratelimit-Unified-" + name) }
	if get("Status") == "" {
		return
	}
	number := func(name string) any {
		value, err := strconv.ParseFloat(get(name), 64)
		if err != nil {
			return nil
		}
		return value
	}
	info := members{"status", get("Status")}
	add := func(name string, value any) { info = info.when(value != nil && value != "", name, value) }
	add("resetsAt", number("Reset"))
	add("rateLimitType", get("Representative-Claim"))
	near := number("5h-Surpassed-Threshold") // told of the window that is used most, of which the simulated CLI knows one
	if near != nil {
		add("utilization", number("5h-Utilization"))
	}
	add("overageStatus", get("Overage-Status"))
	add("overageDisabledReason", get("Overage-Disabled-Reason"))
	info = info.with("isUsingOverage", false)
	add("surpassedThreshold", near)
	if used := number("5h-Utilization"); used != nil && e.quirks.LimitWindows {
		window := members{"utilization", used, "resetsAt", number("5h-Reset")}
		info = info.with("unifiedWindows", members{"five_hour", window.when(near != nil, "surpassedThreshold", near)})
	}
	raw := string(plainJSON(info))
	e.mu.Lock()
	same := e.limit == raw
	e.limit = raw
	e.mu.Unlock()
	if !same {
		e.emit(members{"type", "rate_limit_event", "rate_limit_info", json.RawMessage(raw), "uuid", wire.NewUUID(), "session_id", e.conversation()})
	}
}

// tellLogin tells once, before the first turn, that no login is under way, if the command line asks for it. There never is one.
func (e *engine) tellLogin() {
	if !e.flags.Given["enable-auth-status"] {
		return
	}
	e.mu.Lock()
	told := e.authTold
	e.authTold = true
	e.mu.Unlock()
	if !told {
		e.emit(members{"type", "auth_status", "isAuthenticating", false, "output", []string{}, "uuid", wire.NewUUID(), "session_id", e.conversation()})
	}
}

package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// maxContinues is how often the model may go on after an answer that was too long.
const maxContinues = 3

// A retrial remembers what the model was asked for once more.
type retrial struct {
	long    int
	refused bool
	empty   bool
	schema  bool
}

// steps calls the model and its tools in turn until it wants no more. The error says why it ended otherwise.
func (e *engine) steps(t *turn, th *thread) error {
	var again retrial
	for {
		if t.ctx.Err() != nil {
			return context.Cause(t.ctx)
		}
		e.hookNews(th)
		if err := e.checkBudget(th); err != nil {
			return err
		}
		said, err := e.call(t, th)
		if err != nil {
			return err
		}
		if len(said.content) > 0 {
			th.add("assistant", said.content)
		}
		e.sumUp(t, th)
		if err := e.checkBudget(th); err != nil {
			return err
		}
		if len(said.tools) > 0 && said.stop != StopRefusal {
			if said.stop == StopMaxTokens && e.quirks.TokenLimitTold {
				e.emit(e.syntheticAssistant(th, tooLong, ""))
			}
			if err := e.round(t, th, said.tools); err != nil {
				return err
			}
			continue
		}
		more, err := e.asksAgain(t, th, said, &again)
		if err != nil || !more {
			return err
		}
	}
}

// round runs the tools of one message and what comes with their results.
func (e *engine) round(t *turn, th *thread, calls []ToolCall) error {
	main := th.parent == ""
	if main {
		t.setTools(true)
		defer t.setTools(false)
	}
	if err := e.useTools(t, th, calls); err != nil {
		return err
	}
	e.toSumUp(th, calls)
	if !main {
		return nil
	}
	if t.rounds++; e.flags.MaxTurns > 0 && t.rounds >= e.flags.MaxTurns {
		return errMaxTurns
	}
	t.mu.Lock()
	replaced := t.replaced
	t.mu.Unlock()
	if replaced {
		return errReplaced
	}
	e.foldQueue(t, th)
	return nil
}

func (t *turn) setTools(running bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tools = running
}

// tooLong is what is said about an answer that is longer than the limit.
const tooLong = "API Error: Claude's response exceeded the 32000 output token maximum. " +
	"To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable."

// asksAgain decides whether a model that called no tool is asked once more.
func (e *engine) asksAgain(t *turn, th *thread, said *modelMessage, again *retrial) (bool, error) {
	switch {
	case said.stop == StopRefusal:
		if !e.quirks.RefusalContinues || again.refused {
			return false, errRefused
		}
		again.refused = true
		e.emit(e.systemLine("informational", "content", "The model's safeguards stopped the response above; continuing once with that noted", "level", "notice"))
		e.remind(t, th, "Your response above was stopped by a safety classifier. Do not produce that content again.", true, "refused_message_id", said.id)
	case said.stop == StopMaxTokens:
		if e.quirks.TokenLimitTold {
			e.emit(e.syntheticAssistant(th, tooLong, ""))
		}
		if again.long++; again.long > maxContinues {
			return false, errTooLong
		}
		e.remind(t, th, "Output token limit hit. Resume directly where you stopped.", e.quirks.ReminderLines)
	case len(said.content) == 0:
		t.mu.Lock()
		t.text = ""
		t.mu.Unlock()
		switch {
		case e.quirks.EmptyIsSuccess || again.empty:
			return false, nil
		case !e.quirks.EmptyAsksAgain:
			return false, errEmpty
		}
		again.empty = true
		e.remind(t, th, "[Your previous response had no visible output. Please continue and produce a user-visible response.]", true)
	case e.wantsSchema(t, th):
		if e.quirks.SchemaReminds && again.schema {
			return false, nil
		}
		again.schema = true
		prefix := "Stop hook feedback:\n"
		if e.quirks.SchemaReminds {
			prefix = "[structured-output-enforce] "
		}
		e.remind(t, th, prefix+"You MUST call the StructuredOutput tool to complete this request. Call this tool now.", true)
	default:
		return false, nil
	}
	return true, nil
}

// remind says something to the model in the user's place, and shows it if it is shown.
func (e *engine) remind(t *turn, th *thread, text string, shown bool, more ...any) {
	content := []members{{"type", "text", "text", text}}
	th.add("user", content)
	if !shown || th.parent != "" {
		return
	}
	e.emit(e.userLine(th, content, wire.NewUUID()).with("isSynthetic", true).with(more...))
	t.mu.Lock()
	t.results++
	t.mu.Unlock()
}

// checkBudget refuses to go on when the money is spent.
func (e *engine) checkBudget(th *thread) error {
	if th.parent == "" && e.flags.MaxBudgetUSD > 0 && e.spent() >= e.flags.MaxBudgetUSD {
		return errBudget
	}
	return nil
}

// emitRefusal writes how a turn ended that the model refused.
func (e *engine) emitRefusal(t *turn) {
	text := "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy."
	end := ending{subtype: "success", failed: true, api: true, terminal: "completed", stop: "stop_sequence"}
	if e.quirks.ErrorDetails {
		end.stop = StopRefusal
	}
	var more members
	if e.quirks.RefusalContinues {
		text = "API Error: the model can't help with this. Start a new session to continue."
		end.terminal = "api_error"
		more = members{"is_api_error_message", true}
		e.emit(e.systemLine("model_refusal_no_fallback", "original_model", e.modelName(), "api_refusal_category", nil, "api_refusal_explanation", nil,
			"content", ""))
	}
	e.emit(e.syntheticAssistant(e.main, text, "invalid_request", more...))
	end.text = text
	e.emitResult(t, end)
}

// emitTooLong writes how a turn ended whose answers were too long again and again.
func (e *engine) emitTooLong(t *turn) {
	end := ending{subtype: "success", failed: true, api: true, text: tooLong, terminal: "completed", stop: "stop_sequence"}
	if !e.quirks.TokenLimitTold { // else it was told before
		var more members
		if e.quirks.ReminderLines {
			end.terminal, end.extra = "api_error", members{"api_error", "max_output_tokens"}
			more = members{"is_api_error_message", true, "api_error", "max_output_tokens"}
		}
		e.emit(e.syntheticAssistant(e.main, tooLong, "max_output_tokens", more...))
	}
	e.emitResult(t, end)
}

// modelMessage is a message of the model.
type modelMessage struct {
	id      string
	content []json.RawMessage
	tools   []ToolCall
	stop    string
}

// maxOverloads is how many times a model may be overloaded before another is asked.
const maxOverloads = 3

// call asks the model, with retries, and writes what it says.
func (e *engine) call(t *turn, th *thread) (*modelMessage, error) {
	begin := time.Now()
	defer func() {
		t.mu.Lock()
		t.apiTime += time.Since(begin)
		t.mu.Unlock()
		e.addAPITime(time.Since(begin))
	}()
	stream, overloads := true, 0
	for attempt := 1; ; attempt++ {
		e.requesting(t, th)
		if th.parent == "" {
			e.tellEchoes(t)
		}
		reply, err := e.attempt(t, th, stream)
		var failure *apiFailure
		if err == nil || !errors.As(err, &failure) {
			return reply, err
		}
		if (failure.midway && (e.quirks.CutFallsBack || !failure.cut) || failure.status == http.StatusNotFound) && stream {
			stream = false // what was streamed is thrown away
			continue
		}
		if failure.status == statusOverloaded {
			overloads++
		}
		if overloads == maxOverloads && e.fallsBack(t) {
			if e.quirks.FallbackFails {
				text := fmt.Sprintf("API Error: Model fallback triggered: %s -> %s", e.modelName(), e.flags.FallbackModel)
				return nil, &apiFailure{text: text, cause: err}
			}
			e.fallBack(t)
			attempt = 0
			continue
		}
		if !failure.midway && !failure.retryable() || attempt > e.brain.retries {
			return nil, failure
		}
		delay := e.quirks.delay(failure, attempt)
		if e.quirks.RetryLines {
			e.emit(e.systemLine("api_retry", "attempt", attempt, "max_retries", e.brain.retries, "retry_delay_ms", milliseconds(delay),
				"error_status", statusOrNull(failure.status), "error", e.quirks.retryName(failure)))
		}
		if !pause(t.ctx, delay) {
			return nil, context.Cause(t.ctx)
		}
	}
}

// fallsBack reports whether another model is asked instead of one that is overloaded.
func (e *engine) fallsBack(t *turn) bool {
	all := e.quirks.FallbackForAll || e.getenv("FALLBACK_FOR_ALL_PRIMARY_MODELS") != ""
	return e.flags.FallbackModel != "" && t.fallback == "" && (all || strings.Contains(e.modelName(), "opus"))
}

// fallBack asks another model for the rest of the turn.
func (e *engine) fallBack(t *turn) {
	t.fallback = e.quirks.models().resolve(e.flags.FallbackModel)
	if e.quirks.FallbackLines {
		e.emit(e.systemLine("model_fallback", "trigger", "overloaded", "original_model", e.modelName(), "fallback_model", t.fallback,
			"content", "Switched to "+t.fallback+" due to high demand for "+e.modelName()))
	}
}

func statusOrNull(status int) any {
	if status == 0 {
		return nil
	}
	return status
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// attempt asks the model once.
func (e *engine) attempt(t *turn, th *thread, stream bool) (*modelMessage, error) {
	w := &messageWriter{engine: e, turn: t, thread: th}
	request := e.modelRequest(th)
	if t.fallback != "" {
		request[1] = t.fallback // the model comes first
	}
	if stream {
		err := e.brain.stream(t.ctx, request, w.event, e.tellLimits)
		if err != nil {
			w.abandon(err)
			return nil, err
		}
		return w.finish()
	}
	whole, err := e.brain.whole(t.ctx, request)
	if err != nil {
		return nil, err
	}
	if err := w.whole(whole); err != nil {
		return nil, err
	}
	return w.finish()
}

// modelRequest is what the model is asked.
func (e *engine) modelRequest(th *thread) members {
	e.mu.Lock()
	model, thinking, session := e.model, e.thinking, e.session
	e.mu.Unlock()
	tools := []members{}
	for _, name := range e.toolNames() {
		tools = append(tools, members{"name", name, "description", "", "input_schema", members{"type", "object"}})
	}
	request := members{
		"model", model, "max_tokens", 32000,
		"system",
		[]members{{"type", "text", "text", e.systemPrompt(th)}},
		"tools", tools, "messages", th.snapshot(),
		"metadata",
		members{"user_id", "user_simulated_account__session_" + session},
	}
	if thinking != nil && *thinking > 0 {
		request = request.with("thinking", members{"type", "enabled", "budget_tokens", *thinking})
	}
	return request
}

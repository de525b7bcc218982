package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"
)

// A turn is the work on one or more prompts, up to its result.
type turn struct {
	ctx    context.Context
	cancel context.CancelCauseFunc

	prompts []prompt
	folded  []prompt // of these, the ones that came while a tool ran
	origin  members  // of a turn without a prompt
	begin   time.Time
	outcome map[int]ToolOutcome // by number of the tool call: what the prompt's directives say
	used    int                 // tool calls so far, of the main thread
	rounds  int                 // messages with tool calls so far, of the main thread
	echoes  []members           // prompts that are still to be echoed

	mu        sync.Mutex
	apiTime   time.Duration
	usage     usage
	denials   []members
	stopped   string // stop reason of the last message
	text      string // last text of the model
	schema    json.RawMessage
	misfits   []string // what was wrong with each structured output that did not fit
	deferred  members  // the tool call that a hook deferred
	hooks     turnHooks
	partial   string
	first     time.Duration // to the first event
	results   int           // of tools, and one for an interrupt
	spoke     bool          // the first assistant line was written
	none      bool          // no turn at all: its result counts none
	turnCount int           // what the result counts instead
	more      bool          // other prompts were waiting when the result was written
	tools     bool          // tools are running
	replaced  bool          // a prompt with priority now waits for these tools
	broken    bool          // it did not come to its end
	fallback  string        // the model to ask instead
}

// Why a turn ends before the model is done.
var (
	errInterrupted = errors.New("interrupted")                // by the controller's request
	errReplaced    = errors.New("replaced")                   // by a prompt with priority now
	errDenied      = errors.New("denied with interrupt")      // by the answer to a question
	errHookStopped = errors.New("stopped by a hook")          // continue: false
	errMaxTurns    = errors.New("maximum number of turns")    // --max-turns
	errBudget      = errors.New("maximum budget")             // --max-budget-usd
	errDone        = errors.New("the tool ends the turn")     // StructuredOutput
	errMisfits     = errors.New("wrong structured output")    // maxMisfits times
	errDeferred    = errors.New("a hook deferred the tool")   // permissionDecision defer
	errEmpty       = errors.New("the model said nothing")     // where the version takes that for an error
	errRefused     = errors.New("the model refused")          // stop reason refusal
	errTooLong     = errors.New("the model's answer is long") // stop reason max_tokens, again and again
)

// stop ends the turn early.
func (t *turn) stop(cause error) {
	if t != nil {
		t.cancel(cause)
	}
}

// replace ends the turn for a prompt that cannot wait. Tools that run may finish.
func (t *turn) replace() {
	t.mu.Lock()
	wait := t.tools
	t.replaced = t.replaced || wait
	t.mu.Unlock()
	if !wait {
		t.stop(errReplaced)
	}
}

// newTurn returns a turn that begins now.
func (e *engine) newTurn(prompts []prompt) *turn {
	t := &turn{prompts: prompts, begin: time.Now(), outcome: map[int]ToolOutcome{}}
	t.ctx, t.cancel = context.WithCancelCause(e.ctx)
	for _, p := range prompts {
		maps.Copy(t.outcome, toolOutcomes(p.text))
	}
	return t
}

// An ending says how a turn ended.
type ending struct {
	subtype  string
	failed   bool     // is_error
	api      bool     // failed because of the API
	text     string   // result
	errors   []string // nil: none
	terminal string   // terminal_reason
	stop     any      // stop_reason; nil
	status   int      // the API's
	kind     string   // the API's type of an error
	bare     bool     // before any turn: the conversation was not found
	extra    members
}

// promptTurn works on prompts of the controller.
func (e *engine) promptTurn(prompts []prompt) {
	first, last := prompts[0], prompts[len(prompts)-1]
	if first.command() && !e.flags.DisableSlash && e.slash(first) {
		return
	}
	e.tellLateNotices()
	if e.flags.ReplayUserMessages {
		for _, p := range prompts[:len(prompts)-1] {
			e.emit(e.echo(p, false))
		}
	}
	t := e.begin(prompts)
	defer e.finish(t)
	content := mergedContent(prompts)
	whole := last
	whole.content = plainJSON(content)
	if e.flags.ReplayUserMessages {
		t.echoes = []members{e.echo(whole, true)}
	}
	if !first.query && e.quirks.AppendOnly {
		e.main.add("user", content)
		e.storeMessage(e.main, "user", content, last.uuid)
		e.emit(e.initLine(t))
		e.tellEchoes(t)
		t.none = true
		e.emitResult(t, ending{subtype: "success"})
		return
	}
	e.hookExpansion(t, first)
	if blocked := e.hookPrompt(t, first); blocked {
		return
	}
	e.main.add("user", content)
	e.storeMessage(e.main, "user", content, last.uuid)
	e.emit(e.initLine(t))
	if !e.simOnly(t, first.text) {
		e.tellEchoes(t)
		return
	}
	if !e.quirks.RequestingLines || !e.flags.IncludePartialMessages {
		e.tellEchoes(t) // otherwise behind the line that the model is asked
	}
	e.converse(t)
}

// tellEchoes echoes the prompts of a turn, with --replay-user-messages.
func (e *engine) tellEchoes(t *turn) {
	for _, line := range t.echoes {
		e.emit(line)
	}
	t.echoes = nil
}

// begin makes a turn the running one and tells so.
func (e *engine) begin(prompts []prompt) *turn {
	t := e.newTurn(prompts)
	e.mu.Lock()
	e.turn, e.calls = t, nil
	e.mu.Unlock()
	e.tellLogin()
	e.tellState("running")
	for _, p := range prompts {
		e.lifecycle(p.uuid, "started")
	}
	return t
}

// finish ends the running turn.
func (e *engine) finish(t *turn) {
	e.mu.Lock()
	e.turn = nil
	busy := e.busyWithTasks()
	more := t.more
	e.said += 2 * (1 + t.results)
	e.mu.Unlock()
	t.cancel(errEnded)
	for _, p := range t.prompts[:len(t.prompts)-len(t.folded)] {
		e.lifecycle(p.uuid, t.state())
	}
	e.tellLateNotices()
	if !busy && !more {
		e.tellState("idle")
	}
}

// state is what became of the turn's prompts.
func (t *turn) state() string {
	if t.broken {
		return "cancelled"
	}
	return "completed"
}

// converse lets the model work until it is done, and writes the result.
func (e *engine) converse(t *turn) {
	err := e.steps(t, e.main)
	for err == nil {
		again := e.hookStop(t)
		if again == "" {
			break
		}
		e.main.add("user", again)
		err = e.steps(t, e.main)
	}
	e.tellEchoes(t)
	e.conclude(t, err)
}

// conclude writes how a turn ended.
func (e *engine) conclude(t *turn, err error) {
	var failure *apiFailure
	t.broken = errors.As(err, &failure) || errors.Is(err, errInterrupted) || errors.Is(err, errDenied) || errors.Is(err, errReplaced)
	for _, p := range t.folded {
		e.lifecycle(p.uuid, t.state())
	}
	switch {
	case err == nil:
		e.emitResult(t, ending{subtype: "success", text: t.text, terminal: t.hooks.terminal(), stop: orNull(t.stopped)})
	case errors.Is(err, errDone):
		e.emitResult(t, ending{subtype: "success", text: string(t.schema), terminal: "completed", stop: t.stopped})
	case errors.Is(err, errHookStopped):
		e.emitResult(t, ending{subtype: "success", terminal: "hook_stopped", stop: t.stopped})
	case errors.Is(err, errDeferred):
		e.emitResult(t, ending{subtype: "success", text: t.text, terminal: "tool_deferred", stop: "tool_deferred", extra: members{"deferred_tool_use", t.deferred}})
	case errors.Is(err, errReplaced):
		e.emitReplaced(t)
	case errors.Is(err, errMaxTurns):
		t.mu.Lock()
		t.results = e.flags.MaxTurns // it counts rounds here, not the results of tools
		t.mu.Unlock()
		e.emitLimit(t, "error_max_turns", fmt.Sprintf("Reached maximum number of turns (%d)", e.flags.MaxTurns), "max_turns")
	case errors.Is(err, errBudget):
		reason := ""
		if e.quirks.BudgetReason {
			reason = "budget_exhausted"
		}
		e.emitLimit(t, "error_max_budget_usd", fmt.Sprintf("Reached maximum budget ($%v)", e.flags.MaxBudgetUSD), reason)
	case errors.Is(err, errMisfits):
		e.emitMisfits(t)
	case errors.Is(err, errRefused):
		e.emitRefusal(t)
	case errors.Is(err, errTooLong):
		e.emitTooLong(t)
	case errors.As(err, &failure):
		e.emitFailure(t, failure)
	case errors.Is(err, errInterrupted), errors.Is(err, errDenied):
		e.emitInterrupted(t, errors.Is(err, errDenied))
	case errors.Is(err, errEmpty):
		e.emitResult(t, ending{subtype: "error_during_execution", errors: []string{}})
	case e.ctx.Err() == nil: // nothing else is known to end a turn, but one without a result would wait for ever
		e.emitResult(t, ending{subtype: "error_during_execution", failed: true, errors: []string{err.Error()}})
	}
}

// emitReplaced writes how a turn ended that had to make way.
func (e *engine) emitReplaced(t *turn) {
	t.mu.Lock()
	partial, after := t.partial, t.replaced
	t.mu.Unlock()
	switch {
	case after:
		e.emitResult(t, ending{subtype: "success", terminal: "aborted_tools", stop: orNull(t.stopped)})
	case partial != "":
		e.emitResult(t, ending{subtype: "success", text: partial, terminal: "aborted_streaming"})
	default:
		e.emitResult(t, ending{
			subtype: "error_during_execution", failed: true, terminal: "aborted_streaming",
			errors: []string{"[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=null"},
		})
	}
}

package claude

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// hookPatience is how long the CLI waits for a hook that says nothing else.
const hookPatience = 600 * time.Second

// A Hook is called when something happens in the CLI, of which it is told In, and
// can change what comes of it by what it answers. [On] makes one in place.
//
// All hooks that match are called at the same time, each in a goroutine of its
// own.
type Hook[In, Out any] struct {
	// Matcher says for which tools (or agents, sources, triggers: what the event
	// goes by) the hook is called, such as "Bash|Edit". If empty, for all.
	Matcher string
	// Timeout is how long the CLI waits. If zero, 10 minutes. What it does then
	// depends: up to 2.1.120 it goes on as if there were no hook, 2.1.325 does not
	// run the tool of a PreToolUse hook.
	Timeout time.Duration
	// OnFailure says what it means if Run fails or takes too long. If empty, the
	// CLI goes on. [wire.HookFailureBlock] needs 2.1.317: a hook that guards
	// something on an older version must not fail.
	OnFailure wire.HookFailure
	// Async has the CLI go on at once. Run has its Timeout all the same; what it
	// returns is dropped.
	Async bool
	// Run is what is called. Its context ends after Timeout, when the CLI does not
	// wait any more, and with the session. A nil answer has nothing to say. An
	// error, and a panic too, is told to the CLI as the failure of the hook.
	Run func(ctx context.Context, in *In) (*HookAnswer[Out], error)
}

// A HookAnswer is what a hook decides. The zero value lets everything go its way.
type HookAnswer[Out any] struct {
	// Output is what is particular to the event. It may be nil.
	Output *Out
	// Decision is the general decision: [wire.HookDecisionBlock] does not let
	// happen what is about to, and Reason says why, to the model.
	Decision wire.HookDecision
	Reason   string
	// Stop ends the turn, and StopReason says why, to the user. A tool that is
	// about to run still runs: use Decision for that.
	Stop       bool
	StopReason string
	// SystemMessage is a text for the user.
	SystemMessage string
	// SuppressOutput keeps what the hook says out of the transcript.
	SuppressOutput bool
	// TerminalSequence is an escape sequence for the terminal.
	TerminalSequence string
}

// NoOutput is the output of events that have none of their own.
type NoOutput struct{}

// An AnyHook is a Hook for any event: all of them alike, or one that this package
// does not know.
type AnyHook struct {
	// Matcher, Timeout, OnFailure and Async are those of [Hook].
	Matcher   string
	Timeout   time.Duration
	OnFailure wire.HookFailure
	Async     bool
	// Run is what is called, as that of a Hook. A nil answer has nothing to say.
	Run func(ctx context.Context, in wire.HookInput) (*wire.HookCallbackAnswer, error)
}

// On returns one hook for the tools that the matcher names, to be put into a
// field of [Hooks]:
//
//	claude.Hooks{PreToolUse: claude.On("Bash", guard)}
func On[In, Out any](matcher string, run func(ctx context.Context, in *In) (*HookAnswer[Out], error)) []Hook[In, Out] {
	return []Hook[In, Out]{{Matcher: matcher, Run: run}}
}

// Output returns an answer with what is particular to the event and nothing else.
func Output[Out any](out *Out) *HookAnswer[Out] { return &HookAnswer[Out]{Output: out} }

// Block returns an answer that does not let happen what is about to.
func Block[Out any](reason string) *HookAnswer[Out] {
	return &HookAnswer[Out]{Decision: wire.HookDecisionBlock, Reason: reason}
}

// wire returns the answer as it is sent.
func (a *HookAnswer[Out]) wire() *wire.HookCallbackAnswer {
	if a == nil {
		return &wire.HookCallbackAnswer{}
	}
	out := &wire.HookCallbackAnswer{
		Decision: a.Decision, Reason: a.Reason, StopReason: a.StopReason, SystemMessage: a.SystemMessage,
		SuppressOutput: a.SuppressOutput, TerminalSequence: a.TerminalSequence,
	}
	if a.Stop {
		out.Continue = new(bool)
	}
	if a.Output != nil {
		out.HookSpecificOutput, _ = any(a.Output).(wire.HookSpecific) // NoOutput is none
	}
	return out
}

// A hookCallback is a hook of any type.
type hookCallback struct {
	event     wire.HookEvent
	matcher   string
	timeout   time.Duration
	onFailure wire.HookFailure
	async     bool
	run       func(ctx context.Context, in wire.HookInput) (*wire.HookCallbackAnswer, error)
}

// callbacks returns the hooks of one event.
func callbacks[In, Out any](event wire.HookEvent, hooks []Hook[In, Out]) []hookCallback {
	var all []hookCallback
	for _, h := range hooks {
		c := hookCallback{event: event, matcher: h.Matcher, timeout: h.Timeout, onFailure: h.OnFailure, async: h.Async}
		if run := h.Run; run != nil {
			c.run = func(ctx context.Context, in wire.HookInput) (*wire.HookCallbackAnswer, error) {
				typed, ok := any(in).(*In)
				if !ok {
					return nil, fmt.Errorf("the hook is for %s, and was called for %s", event, in.HookEventName())
				}
				answer, err := run(ctx, typed)
				if err != nil {
					return nil, err
				}
				return answer.wire(), nil
			}
		}
		all = append(all, c)
	}
	return all
}

// requireHook refuses an event that the CLI is not known to have: it would never call
// the hook. An event that was never tried is taken to be newer than what was.
func requireHook(event wire.HookEvent, v wire.Version) error {
	const hint = "it would never be called"
	words := "hook " + string(event)
	if wire.FeatureOf(wire.FeatureHook, string(event)) != (wire.Feature{}) {
		return require(v, wire.FeatureHook, string(event), words, hint)
	}
	if newest := wire.NewestTried(); v.Compare(newest) < 0 {
		return &UnsupportedError{Feature: words, Version: v, Since: newest, Hint: hint}
	}
	return nil
}

// A hookTable is the hooks of a session by the ids that the CLI calls them by.
type hookTable struct {
	matchers map[string][]wire.HookMatcher
	byID     map[string]hookCallback
	blocks   bool // one of them is to block if it fails
}

// newHookTable gives every hook an id. The ids are the same whenever the hooks are,
// so that a program that was started again is found by a CLI that was not. What
// the version would silently not call is refused.
func newHookTable(h *Hooks, v wire.Version) (*hookTable, error) {
	set := &hookTable{matchers: map[string][]wire.HookMatcher{}, byID: map[string]hookCallback{}}
	for _, c := range h.all() {
		option := "Hooks." + string(c.event)
		switch {
		case c.event == "":
			return nil, &OptionError{Option: "Hooks.Any", Reason: "an event has no name"}
		case c.run == nil:
			return nil, &OptionError{Option: option, Reason: "a hook has no function Run"}
		case c.timeout < 0:
			return nil, &OptionError{Option: option, Reason: "the timeout is negative"}
		case c.onFailure != "" && c.async:
			return nil, &OptionError{Option: option, Reason: "a hook that is not waited for cannot have OnFailure"}
		}
		if err := requireHook(c.event, v); err != nil {
			return nil, err
		}
		if c.onFailure != "" && c.onFailure != wire.HookFailureContinue {
			words := fmt.Sprintf("hook %s with OnFailure %q", c.event, c.onFailure)
			if err := require(v, wire.FeatureInitialize, "hooks.onFailure", words, "older ones go on when a hook fails"); err != nil {
				return nil, err
			}
			set.blocks = true
		}
		event := string(c.event)
		id := event + "-" + strconv.Itoa(len(set.matchers[event]))
		set.byID[id] = c
		set.matchers[event] = append(set.matchers[event], wire.HookMatcher{
			Matcher: c.matcher, HookCallbackIDs: []string{id}, Timeout: c.timeout.Seconds(), OnFailure: c.onFailure,
		})
	}
	return set, nil
}

// registration is what initialize tells of the hooks; nil if there are none, since
// an empty one would take away those of others.
func (s *hookTable) registration() map[string][]wire.HookMatcher {
	if len(s.matchers) == 0 {
		return nil
	}
	return s.matchers
}

// accepted holds the answer to initialize against what was registered: a hook
// that is to block must not be believed to, if it does not.
func (s *hookTable) accepted(a *wire.InitializeAnswer, v wire.Version) error {
	if s.blocks && !a.HookOnFailureSupported {
		return &UnsupportedError{Feature: `a hook with OnFailure "block"`, Version: v, Hint: "the CLI has not confirmed that it obeys it"}
	}
	return nil
}

// anyCallbacks returns the hooks of Any, in the order of their events' names.
func anyCallbacks(hooks map[wire.HookEvent][]AnyHook) []hookCallback {
	var all []hookCallback
	for event, list := range hooks {
		for _, h := range list {
			all = append(all, hookCallback{event, h.Matcher, h.Timeout, h.OnFailure, h.Async, h.Run})
		}
	}
	slices.SortStableFunc(all, func(a, b hookCallback) int {
		switch {
		case a.event < b.event:
			return -1
		case a.event > b.event:
			return 1
		}
		return 0
	})
	return all
}

// callHook calls the hook that the CLI asks for.
func (d *requestRouter) callHook(ctx context.Context, q *wire.ControlRequest, r *wire.HookCallbackRequest) ([]byte, error) {
	c, ok := d.hooks.byID[r.CallbackID]
	if !ok {
		return nil, fmt.Errorf("there is no hook %q", r.CallbackID)
	}
	if r.Input == nil {
		return nil, fmt.Errorf("hook %s was called without input", r.CallbackID)
	}
	timeout := c.timeout
	if timeout == 0 {
		timeout = hookPatience
	}
	expired := fmt.Errorf("the hook %s took longer than %s", r.CallbackID, timeout)
	if c.async {
		ctx, cancel := context.WithTimeoutCause(d.ctx, timeout, expired)
		d.calls.start(func() { // joined by close
			defer cancel()
			_, err := protect("hook", func() (*wire.HookCallbackAnswer, error) { return c.run(ctx, r.Input) })
			d.report(err)
		})
		return wire.NewAnswer(q.RequestID, &wire.HookCallbackAnswer{Async: true, AsyncTimeout: float64(timeout.Milliseconds())})
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, expired)
	defer cancel()
	answer, err := attempt(ctx, d, "hook", func() (*wire.HookCallbackAnswer, error) { return c.run(ctx, r.Input) })
	if err != nil {
		return nil, fmt.Errorf("hook %s: %w", r.CallbackID, err)
	}
	if answer == nil {
		answer = &wire.HookCallbackAnswer{}
	}
	return wire.NewAnswer(q.RequestID, answer)
}

package launch

import (
	"errors"
	"fmt"

	"github.com/switchboard-dev/switchboard/claude"
)

// ErrClosed is returned by [Launcher.Start] after Close.
var ErrClosed = errors.New("the launcher is closed")

// A Code says what kind of trouble kept an agent from being started.
type Code string

// The codes.
const (
	// NoAgent means that there is no CLI on this machine, or none that runs.
	NoAgent Code = "no_agent"
	// BadDir means that the working folder cannot be used.
	BadDir Code = "bad_dir"
	// BadOption means that an option makes no sense, or that this version of
	// the CLI does not have it.
	BadOption Code = "bad_option"
	// Forbidden means that the configuration does not allow it.
	Forbidden Code = "forbidden"
	// Running means that this run has been started before and still lives.
	Running Code = "running"
	// NoSandbox means that a sandbox is asked for and none works here.
	NoSandbox Code = "no_sandbox"
	// Failed means that the system refused: no more processes, disk full.
	Failed Code = "failed"
)

// A StartError says why an agent was not started. Nothing is left of the
// attempt.
type StartError struct {
	Code Code
	// Reason is one sentence without a capital letter or a full stop.
	Reason string
	// Hint says what to do; it may be empty.
	Hint string
	// Err is the cause; it may be nil.
	Err error
}

// Error gives the reason and the hint.
func (e *StartError) Error() string {
	if e.Hint == "" {
		return e.Reason
	}
	return e.Reason + "; " + e.Hint
}

// Unwrap returns Err.
func (e *StartError) Unwrap() error { return e.Err }

// failure wraps what the system refused.
func failure(doing string, err error) *StartError {
	return &StartError{Code: Failed, Reason: fmt.Sprintf("%s: %v", doing, err), Err: err}
}

// NoClaude is the reason if there is no CLI on PATH or in any other usual
// place. switchboard doctor lists what there is.
const NoClaude = "Claude Code not found on PATH or in the usual folders"

// explainFind says in the words of the program's user why there is no agent.
func explainFind(err error) error {
	const hint = `try a simulated agent with "switchboard run --simulated", install Claude Code with "npm install -g @anthropic-ai/claude-code", ` +
		`or name its path with "switchboard serve --agent PATH"`
	e := &StartError{Code: NoAgent, Reason: err.Error(), Err: err}
	if missing, ok := errors.AsType[*claude.NotFoundError](err); ok {
		e.Hint = hint
		if missing.Reason == "" {
			e.Reason = NoClaude
		}
	}
	return e
}

// explainCommand says why the CLI cannot be given these options.
func explainCommand(err error) error {
	if unsupported, ok := errors.AsType[*claude.UnsupportedError](err); ok {
		return &StartError{Code: BadOption, Reason: unsupported.Error(), Err: err}
	}
	if option, ok := errors.AsType[*claude.OptionError](err); ok {
		return &StartError{Code: BadOption, Reason: option.Error(), Err: err}
	}
	return failure("preparing the agent", err)
}

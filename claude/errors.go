package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// Errors that a program can act on are values to compare with [errors.Is] or
// types to take out with [errors.AsType]; the text of each says what to do.
//
//	before a process runs
//	  *NotFoundError              there is no CLI: install it, or name it in FindOptions.Path
//	  *ProbeError                 the program does not tell its version
//	  *OptionError                no CLI takes this option
//	  *UnsupportedError           this version, or platform, cannot do it: Since and Until say which can
//	  *SchemaError                QueryAs cannot describe the type to the model
//	  *StartError                 the operating system did not start it
//	while it starts, and at its end
//	  *ExitError                  the process ended: code, signal, standard error, last error result
//	  *LoginError                 a person has to log in
//	  *ConversationNotFoundError  there is nothing to resume
//	  *ConversationInUseError     the id of the new conversation is taken, or another process has it
//	  ErrNoAnswer                 the CLI did not answer in time
//	in a turn
//	  *ResultError                the turn failed: limits, API, interrupt; the session goes on
//	  *LoginError                 the same, because of the login
//	  *MismatchError              the answer is not of the type that was asked for
//	  ErrTakenBack, ErrQueueFull  the prompt gets no turn; too many wait for one
//	  ErrStillBusy                background work had not ended at BackgroundLimit
//	with a request
//	  *ControlError               the CLI refused it, with a code since 2.1.325
//	  *UnsupportedError           this version does not know it; nothing was sent
//	  *wire.InvalidError          no version would take it; nothing was sent
//	with a question
//	  ErrSettled, ErrWithdrawn    another answer was first; the CLI no longer asks
//	  ErrNoQuestion               it was never asked
//	  ErrNoSession                AskPermission was called outside of a tool call of a CLI
//	of a reader, a transport
//	  ErrLagged (*LaggedError)    lines were dropped because they were not read in time
//	  ErrOffline                  the connection is lost and may come back
//	  ErrClosed, ErrInputClosed   Close or CloseInput was called
//	  ErrUnfinished, ErrBadLine   about a single write
var (
	// ErrClosed is returned by the methods of a [Transport] that was closed, and
	// by those of a [Session] after its Close.
	ErrClosed = errors.New("the transport is closed")

	// ErrLagged is what every [*LaggedError] is: lines were dropped because they
	// were not read in time.
	ErrLagged = errors.New("lines are no longer kept")

	// ErrInputClosed is returned by Write after CloseInput.
	ErrInputClosed = errors.New("the input of the CLI is closed")

	// ErrUnfinished is returned by [Process.Write], together with the error of
	// its context, when the context ended while the line was already on its
	// way: the rest of it is still written, before any other line, as soon as
	// the CLI reads on. A Write that fails without ErrUnfinished because its
	// context ended has sent nothing.
	ErrUnfinished = errors.New("the line is still being written")

	// ErrBadLine is returned by Write for a line that is blank or has a line
	// end inside. Several versions of the CLI end when they read one.
	ErrBadLine = errors.New("not a line: blank, or with a line end inside")
)

// A NotFoundError reports that there is no CLI in any of the usual places.
type NotFoundError struct {
	// Looked lists where it was looked for, in order.
	Looked []string
	// Reason says what is wrong with the program that was asked for. It is
	// empty if none was asked for.
	Reason string
}

// Error says where the CLI was looked for and how to install it.
func (e *NotFoundError) Error() string {
	const install = `install it with "npm install -g @anthropic-ai/claude-code" or name the program in FindOptions.Path`
	if e.Reason != "" {
		return "claude was not found: " + e.Reason
	}
	return "claude was not found in " + strings.Join(e.Looked, ", ") + "; " + install
}

// A ProbeError reports that a program did not tell its version.
type ProbeError struct {
	// Path is the program that was asked.
	Path string
	// Output is the end of what it printed, redacted.
	Output string
	// Err is what went wrong.
	Err error
}

// Error names the program and what it printed instead of a version.
func (e *ProbeError) Error() string {
	s := fmt.Sprintf("asking %s for its version: %v", e.Path, e.Err)
	if e.Output != "" {
		s += ": " + oneLine(e.Output)
	}
	return s
}

// Unwrap returns Err.
func (e *ProbeError) Unwrap() error { return e.Err }

// An UnsupportedError reports something that this version of the CLI, or this
// platform, cannot do. Nothing has been started.
type UnsupportedError = wire.UnsupportedError

// An OptionError reports an option that no version of the CLI would accept.
// Nothing has been started.
type OptionError struct {
	// Option is the name of the field of [Options].
	Option string
	// Reason says what is wrong with its value.
	Reason string
}

// Error names the option and what is wrong with it.
func (e *OptionError) Error() string { return "option " + e.Option + ": " + e.Reason }

// A StartError reports that a process could not be started.
type StartError struct {
	// Path is the program, Dir its working directory.
	Path, Dir string
	// Reason says in plain words what is wrong.
	Reason string
	// Err is the error of the operating system.
	Err error
}

// Error says in one sentence what is wrong.
func (e *StartError) Error() string { return "starting claude: " + e.Reason }

// Unwrap returns Err.
func (e *StartError) Unwrap() error { return e.Err }

// An ExitError reports that a CLI ended without having been asked to by Close,
// with a code other than 0 or by a signal.
type ExitError struct {
	// PID is the process that ended.
	PID int
	// Version is the version of the CLI; zero if it is unknown.
	Version wire.Version
	// Code is the exit code; -1 if a signal ended the process.
	Code int
	// Signal names the signal that ended the process, such as "killed". It is
	// empty if none did.
	Signal string
	// Silent tells that it had not written a line, which mostly means that it
	// refused to start with these options.
	Silent bool
	// InputClosed tells that CloseInput had been called. A CLI then also ends
	// with code 1 because its last result was an error, which is no news to a
	// caller that has read that result.
	InputClosed bool
	// Stderr is the end of what it wrote to standard error, redacted.
	Stderr string
	// Result is the last result of a session, if it was an error: mostly that is
	// why the CLI ended, and what its StartupFailureReason says is why it did
	// not start. It is nil where no goroutine has read the lines.
	Result *wire.Result
}

// Error says how the CLI ended and gives the end of its standard error.
func (e *ExitError) Error() string {
	var b strings.Builder
	b.WriteString("claude")
	if e.Version != (wire.Version{}) {
		b.WriteString(" " + e.Version.String())
	}
	switch {
	case e.Signal != "":
		fmt.Fprintf(&b, " was ended by a signal (%s)", e.Signal)
	case e.InputClosed:
		fmt.Fprintf(&b, " exited with code %d at the end of its input", e.Code)
	default:
		fmt.Fprintf(&b, " exited with code %d", e.Code)
	}
	if e.Silent {
		b.WriteString(" before it wrote a line")
	}
	said := e.Stderr
	if e.Result != nil {
		if s := failureText(e.Result); s != "" {
			said = s // standard error has it too, among other things
		}
		if r := e.Result.StartupFailureReason; r != "" {
			b.WriteString(" (" + string(r) + ")")
		}
	}
	if s := oneLine(said); s != "" {
		b.WriteString(": " + s)
	}
	return b.String()
}

// Is reports whether target is [ErrLagged].
func (e *LaggedError) Is(target error) bool { return target == ErrLagged }

// A MismatchError reports that a turn succeeded and its answer is not of the
// type that [QueryAs] was asked for.
type MismatchError struct {
	// Raw is what the model gave; it is empty if it gave no structured output,
	// which happens when it answers in plain text.
	Raw json.RawMessage
	// Text is the answer as text.
	Text string
	// Err says what is wrong.
	Err error
}

// Error says what is wrong and shows the beginning of the answer.
func (e *MismatchError) Error() string {
	const limit = 200
	shown := string(e.Raw)
	if shown == "" {
		shown = e.Text
	}
	if len(shown) > limit {
		shown = strings.ToValidUTF8(shown[:limit], "") + "…"
	}
	return fmt.Sprintf("the answer is not what was asked for: %v: %q", e.Err, shown)
}

// Unwrap returns Err.
func (e *MismatchError) Unwrap() error { return e.Err }

// oneLine makes a multi-line text fit into a sentence, long ones by their end:
// the last lines mostly say what happened.
func oneLine(s string) string {
	const limit = 1000
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > limit {
		s = "…" + strings.ToValidUTF8(s[len(s)-limit:], "")
	}
	return s
}

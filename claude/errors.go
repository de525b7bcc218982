package claude

import (
	"errors"
	"fmt"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

var (
	// ErrClosed is returned by the methods of a [Transport] that was closed.
	ErrClosed = errors.New("the transport is closed")

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
	// with code 1 because its last result was an error, which is no news to
	// who has read that result.
	InputClosed bool
	// Stderr is the end of what it wrote to standard error, redacted.
	Stderr string
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
	if s := oneLine(e.Stderr); s != "" {
		b.WriteString(": " + s)
	}
	return b.String()
}

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

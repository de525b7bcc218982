package hubstart

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
)

// LogName is the name of the file in the data folder that a hub in the
// background writes its log to.
const LogName = "serve.log"

// agentMarker is in the environment of all that an agent starts.
const agentMarker = "SWITCHBOARD_RUN"

// How long a hub has to answer, and how often it is asked meanwhile: the system
// does not tell a process when a socket appears.
const (
	defaultPatience = time.Minute
	pause           = 10 * time.Millisecond
)

// Options say which hub is wanted, and how to start it.
type Options struct {
	// Program is the path of this program, Args are the arguments that make it a
	// hub, beginning with serve.
	Program string
	Args    []string
	// Env is the hub's environment, from which its agents get theirs. What belongs
	// to the caller's own service, folder and terminal is left out.
	Env []string
	// DataDir is the hub's data folder, made if it is not there; Socket is the
	// socket that the hub listens on.
	DataDir, Socket string
	// Patience is how long the hub has to answer. If zero, one minute.
	Patience time.Duration
	// Starting, if not nil, is told before one is started, which takes a moment.
	Starting func()
}

// A Hub is one that answers.
type Hub struct {
	// Info is what it says of itself.
	Info *api.Info
	// Started says that it was started by this call, PID is its process then, and
	// Log the file that it writes its log to.
	Started bool
	PID     int
	Log     string
	// Done is closed when a hub that was started by this call has ended. It is nil
	// otherwise.
	Done <-chan struct{}
}

// A NoHubError says that no hub runs, and why none was started.
type NoHubError struct {
	// Reason says why, Hint what to do.
	Reason, Hint string
	// Err is what went wrong, nil if nothing was tried.
	Err error
}

// Error returns reason and hint.
func (e *NoHubError) Error() string {
	text := "no hub is running"
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap returns what went wrong.
func (e *NoHubError) Unwrap() error { return e.Err }

// Find returns the hub that answers on a socket. If there is none the error is a
// *[NoHubError]; every other error says what is wrong with the one that is there.
func Find(ctx context.Context, socket string) (*Hub, error) {
	c, err := client.New(&client.Options{Socket: socket})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	info, err := c.Info(ctx)
	switch {
	case err == nil:
		return &Hub{Info: info}, nil
	case absent(err):
		return nil, &NoHubError{
			Reason: "nothing listens on " + socket, Hint: "start one: switchboard serve, or a session: switchboard run", Err: err,
		}
	}
	return nil, err
}

// absent says whether an error means that no process listens. A connection that ends
// without an answer is that of a hub that is ending, or being killed.
func absent(err error) bool {
	for _, each := range []error{fs.ErrNotExist, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, each) {
			return true
		}
	}
	if problem, ok := errors.AsType[*api.Error](err); ok {
		return problem.Code == api.CodeClosing
	}
	return strings.HasSuffix(err.Error(), "EOF")
}

// Ensure returns the hub that answers on the socket, and starts one if there is
// none. It starts one goroutine, which ends when the hub that it started does.
// That hub has its own session and process group: no signal of the caller's
// terminal reaches it, and it outlives the caller.
//
// If no hub can be started the error is a *[NoHubError].
func Ensure(ctx context.Context, o *Options) (*Hub, error) {
	patience := o.Patience
	if patience <= 0 {
		patience = defaultPatience
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, &NoHubError{
		Reason: fmt.Sprintf("none answered within %s", patience), Hint: "try switchboard serve and read what it prints",
	})
	defer cancel()
	hub, err := Find(ctx, o.Socket)
	if !missing(err) {
		return hub, told(ctx, err)
	}
	for _, entry := range o.Env {
		if strings.HasPrefix(entry, agentMarker+"=") {
			return nil, &NoHubError{Reason: "this runs inside an agent, and the hub would end with it", Hint: "start one elsewhere: switchboard serve"}
		}
	}
	hub, err = start(ctx, o)
	return hub, told(ctx, err)
}

// missing says whether an error is that there is no hub.
func missing(err error) bool {
	_, ok := errors.AsType[*NoHubError](err)
	return ok
}

// told returns the error that says more: that time is up, or that the caller is.
func told(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// inheritable leaves out of an environment what is not a hub's: the caller's way to
// another hub, the sockets and the service manager of the caller, its folder, and its terminal, which is gone
// long before the hub is.
func inheritable(env []string) []string {
	var kept []string
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "SWITCHBOARD_HUB", "SWITCHBOARD_TOKEN", // of a hub elsewhere
			"NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC", "INVOCATION_ID", "JOURNAL_STREAM",
			"PWD", "OLDPWD", "SHLVL", "_",
			"COLUMNS", "LINES", "GPG_TTY", "SSH_TTY", "TMUX", "TMUX_PANE", "STY", "WINDOW", "WINDOWID", "TERM_SESSION_ID":
		default:
			kept = append(kept, entry)
		}
	}
	return kept
}

// Command switchboard is the program of the project; switchboard help lists its commands.
//
// A link to the program that is named claude is the simulated CLI itself: it takes every argument for one of the CLI's, so that it can stand
// wherever a program expects the path of a Claude Code. Its settings come by environment, see switchboard sim --help, or from the file that
// claudetest.InstallProgram puts beside the link. One that is named claude-switchboard is the command wrap, likewise: see switchboard wrap --help.
//
// What the exit codes mean is said by: switchboard help exit-codes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
	"github.com/switchboard-dev/switchboard/internal/terminal"
)

// The exit codes; what they mean is said in helpExitCodes.
const (
	codeDone       = 0
	codeFailed     = 1
	codeUsage      = 2
	codeNotFound   = 3
	codeNoServer   = 4
	codeTooLate    = 5
	codeTurnFailed = 6
	// codeTimeout is what timeout(1) ends with, too.
	codeTimeout = 124
	// codeInterrupted is what shells make of a process that an interrupt ended.
	codeInterrupted = 130
)

// annotationErrorCode is the annotation of a command all of whose errors end with one code, because the others are answers.
const annotationErrorCode = "error-code"

func main() {
	// A link that claudetest.InstallProgram made has its options beside it. They count, and our environment variables do not.
	if code, ran := claudetest.RunInstalled(os.Args); ran {
		os.Exit(code)
	}
	// What signals mean differs from command to command.
	os.Exit(run(context.Background(), os.Args, &env{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Environ()}))
}

// An env is what a process gets from its parent: streams and variables.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            []string
	color          string // the flag --color: auto, always or never
}

// getenv returns a variable of the environment; as everywhere, the last one of a name counts.
func (e *env) getenv(name string) string {
	value := ""
	for _, variable := range e.env {
		if v, found := strings.CutPrefix(variable, name+"="); found {
			value = v
		}
	}
	return value
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // a character device too
	return err != nil || !os.SameFile(info, null)
}

// An exitError ends the program with a code and without a word: the code that returns it has said what there was to say.
type exitError int

// Error names the code.
func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// A usageError says that flags or settings make no sense; nothing was tried.
type usageError struct{ error }

// Unwrap returns the error itself.
func (e usageError) Unwrap() error { return e.error }

// run is main with its environment given: args are the program's name and its arguments. It returns the exit code.
func run(ctx context.Context, args []string, e *env) int {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(args[0])), ".exe")
	if name == "claude" {
		// Nothing of ours stands between the caller and the CLI, not even help.
		return simulate(ctx, args[1:], e)
	}
	if name == wrapName {
		return wrapAs(ctx, args[1:], e)
	}
	if len(args) > 1 && args[1] == sandbox.Verb {
		// Every agent waits for it, so no command is made for it. It is for sandboxes, and listed nowhere.
		return sandbox.Inner(args[2:], e.stderr)
	}
	begun := false
	root := newRoot(e)
	check := root.PersistentPreRunE
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		begun = true
		return check(cmd, args)
	}
	root.SetArgs(args[1:])
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return codeDone
	}
	if exit, ok := errors.AsType[exitError](err); ok {
		return int(exit)
	}
	// It may quote what an agent wrote.
	_, _ = fmt.Fprintf(e.stderr, "switchboard: %s\n", terminal.Clean(complaint(err)))
	if !begun {
		_, _ = fmt.Fprintf(e.stderr, "Try: %s --help\n", cmd.CommandPath())
	}
	if code, err := strconv.Atoi(cmd.Annotations[annotationErrorCode]); err == nil {
		return code
	}
	if !begun {
		return codeUsage
	}
	return exitCode(err)
}

// complaint returns what is said about an error.
func complaint(err error) string {
	if refused, ok := errors.AsType[*api.Error](err); ok && refused.Code == api.CodeStartFailed && refused.Detail == launch.NoClaude {
		return noClaude
	}
	return err.Error()
}

// noClaude says what to do without a Claude Code.
const noClaude = `Claude Code not found. Try a simulated agent: switchboard run --simulated "Fix the tests"
Install Claude Code: npm install -g @anthropic-ai/claude-code
Installed elsewhere? Name it: switchboard serve --agent PATH (switchboard doctor shows what it finds)`

// exitCode returns the code that an error ends the program with.
func exitCode(err error) int {
	if exit, ok := errors.AsType[exitError](err); ok {
		return int(exit)
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return codeUsage
	}
	if _, ok := errors.AsType[*naming.Error](err); ok {
		return codeNotFound
	}
	if _, ok := errors.AsType[*unknownHubError](err); ok {
		return codeNotFound
	}
	if remote, ok := errors.AsType[*remoteError](err); ok && remote.away || noServer(err) {
		return codeNoServer
	}
	if refused, ok := errors.AsType[*api.Error](err); ok {
		switch refused.Code {
		case api.CodeNotFound:
			return codeNotFound
		case api.CodeAlreadySettled, api.CodeConflict, api.CodeOwned, api.CodeNotQueued:
			return codeTooLate
		}
	}
	return codeFailed
}

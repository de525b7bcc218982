// Command switchboard is the program of the project: one word each for what it can do. switchboard help lists the verbs.
//
// A link to the program that is named claude is the simulated CLI itself: it takes every argument for one of the CLI's, so that it can stand
// wherever a program expects the path of a Claude Code. Its settings come by environment, see switchboard sim --help, or from the file that
// claudetest.InstallProgram puts beside the link. One that is named claude-switchboard is the verb wrap, likewise: see switchboard wrap --help.
//
// # Exit codes
//
//	0    done
//	1    it was tried and did not work; the reason is on standard error
//	2    the command line or a setting makes no sense; nothing was tried
//	3    there is no such session or question, or the name could stand for several
//	4    no server is running, and none could be started
//	5    somebody else was faster: the question is settled, the rules have changed, another session has the conversation
//	6    the agent's turn failed
//	130  an interrupt ended it before it was done
//
// The verb sim ends with the codes of the CLI that it simulates, whichever they are, and wrap with those of the one that it wraps. policy explain
// answers with its code: 0 allow, 1 deny, 2 ask, and 3 for every error.
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
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal"
)

// The exit codes; what they mean is said above.
const (
	codeDone       = 0
	codeFailed     = 1
	codeUsage      = 2
	codeNotFound   = 3
	codeNoServer   = 4
	codeTooLate    = 5
	codeTurnFailed = 6
	// codeInterrupted is what shells make of a process that an interrupt ended.
	codeInterrupted = 130
)

// annotationErrorCode is the annotation of a verb all of whose errors end with one code, because the others are answers.
const annotationErrorCode = "error-code"

func main() {
	// A link that claudetest.InstallProgram made has its options beside it. They count, and our environment variables do not.
	if code, ran := claudetest.RunInstalled(os.Args); ran {
		os.Exit(code)
	}
	// What signals mean differs from verb to verb.
	os.Exit(run(context.Background(), os.Args, &surroundings{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Environ()}))
}

// surroundings are what a process gets from the one that started it.
type surroundings struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            []string
	color          string // the flag --color: auto, always or never
}

// getenv returns a variable of the environment; as everywhere, the last one of a name counts.
func (s *surroundings) getenv(name string) string {
	value := ""
	for _, variable := range s.env {
		if v, found := strings.CutPrefix(variable, name+"="); found {
			value = v
		}
	}
	return value
}

// isTerminal reports whether somebody sits at the other end of a stream.
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

// An exitError ends the program with a code and without a word: whoever returns it has said what there was to say.
type exitError int

// Error names the code.
func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// A usageError says that flags or settings make no sense; nothing was tried.
type usageError struct{ error }

// Unwrap returns the error itself.
func (e usageError) Unwrap() error { return e.error }

// run is main with its surroundings given: args are the program's name and its arguments. It returns the exit code.
func run(ctx context.Context, args []string, s *surroundings) int {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(args[0])), ".exe")
	if name == "claude" {
		// Nothing of ours stands between the caller and the CLI, not even help.
		return simulate(ctx, args[1:], s)
	}
	if name == wrapName {
		return wrapAs(ctx, args[1:], s)
	}
	begun := false
	root := newRoot(s)
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
	_, _ = fmt.Fprintf(s.stderr, "switchboard: %s\n", terminal.Clean(err.Error()))
	if !begun {
		_, _ = fmt.Fprintf(s.stderr, "Try: %s --help\n", cmd.CommandPath())
	}
	if code, err := strconv.Atoi(cmd.Annotations[annotationErrorCode]); err == nil {
		return code
	}
	if !begun {
		return codeUsage
	}
	return exitCode(err)
}

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
	if noServer(err) {
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

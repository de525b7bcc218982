package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
)

// The settings of the simulated CLI that the real one does not have. They come by environment, since every argument is the CLI's.
const (
	envVersion = "SWITCHBOARD_SIM_VERSION" // version to imitate
	envScript  = "SWITCHBOARD_SIM_SCRIPT"  // what the model inside says
	envRecord  = "SWITCHBOARD_SIM_RECORD"  // file for what was written and read
)

// envModel is the variable that points every CLI, real or simulated, at its model.
const envModel = "ANTHROPIC_BASE_URL"

// A script is a value of envScript.
type script struct {
	name, what string
	model      func(claudetest.Request) claudetest.Reply
	tool       func(claudetest.ToolCall) (claudetest.ToolOutcome, bool)
}

// scripts returns what the model inside can be told to say.
func scripts() []script {
	fast := &claudetest.DemoOptions{Fast: true}
	return []script{
		{"directives", `what the prompt orders, in lines such as "@say hello"`, claudetest.Directives(nil), nil},
		{"demo", "a short coding task, whatever the prompt is", claudetest.Demo(nil), claudetest.DemoTools(nil)},
		{"demo-fast", "the same without its pauses", claudetest.Demo(fast), claudetest.DemoTools(fast)},
	}
}

func newSim(e *env) *cobra.Command {
	var help strings.Builder
	for _, each := range scripts() {
		_, _ = fmt.Fprintf(&help, "  %-10s  %s\n", each.name, each.what)
	}
	versions := claudetest.SimVersions()
	return &cobra.Command{
		Use:   "sim [flags of the CLI]",
		Short: "Be a simulated Claude Code CLI",
		Long: `Takes the flags and the environment of the real CLI and behaves as it does towards the program
that drives it, over standard input and output or by --sdk-url. It needs no account and never
runs a tool: commands, edits and searches only seem to happen.

With ` + envModel + ` set it asks that model, as the real CLI would. Otherwise a model inside it
obeys the directives of a prompt, and plays a demonstration for a prompt without any.

Settings of its own, by environment:

  ` + envVersion + `  version to imitate: ` + strings.Join(versions, ", ") + `
                           (default ` + versions[len(versions)-1] + `)
  ` + envScript + `   what the model inside says, also if there is one outside:
` + indent(help.String(), 25) + `
  ` + envRecord + `   file to which every line written and read is added, numbered, as JSON

Every argument is the CLI's, so this text appears only for "switchboard sim --help" alone.
It ends with the exit codes of the CLI that it simulates; 2 if a setting makes no sense.`,
		Example: `  # one prompt, one answer
  echo '{"type":"user","message":{"role":"user","content":"@say hello"}}' |
    switchboard sim --print --verbose --input-format stream-json --output-format stream-json

  # imitate the oldest version and keep a record
  SWITCHBOARD_SIM_VERSION=2.1.37 SWITCHBOARD_SIM_RECORD=record.jsonl switchboard sim --version

  # as the executable of another program
  ln -s "$(command -v switchboard)" ./claude && ./claude --version`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Equal(args, []string{"--help"}) || slices.Equal(args, []string{"-h"}) {
				return cmd.Help()
			}
			if code := simulate(cmd.Context(), args, e); code != 0 {
				return exitError(code)
			}
			return nil
		},
	}
}

// indent puts spaces before every line of a text.
func indent(text string, spaces int) string {
	before := strings.Repeat(" ", spaces)
	return before + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+before)
}

// simulate is a simulated CLI with these arguments, from its start to its end. It returns the exit code.
func simulate(ctx context.Context, args []string, e *env) int {
	options, finish, err := simOptions(args, e)
	if err != nil {
		_, _ = fmt.Fprintf(e.stderr, "switchboard sim: %v\n", err)
		return codeUsage
	}
	// It ends when it is told to; what it does with an interrupt is its own affair, as with the real one.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	options.Interrupt = interrupts
	code := claudetest.RunSim(ctx, options, e.stdin, e.stdout)
	if err := finish(); err != nil {
		_, _ = fmt.Fprintf(e.stderr, "switchboard sim: writing the record: %v\n", err)
		code = max(code, codeFailed)
	}
	return code
}

// simOptions reads our own settings. finish is called when the CLI has ended.
func simOptions(args []string, e *env) (options *claudetest.SimOptions, finish func() error, err error) {
	versions := claudetest.SimVersions()
	version := e.getenv(envVersion)
	if version == "" {
		version = versions[len(versions)-1]
	}
	quirks, err := claudetest.QuirksFor(version)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", envVersion, err)
	}
	if args == nil {
		args = []string{} // nil would be the flags of a controller
	}
	options = &claudetest.SimOptions{Quirks: &quirks, Args: args, Env: e.env, Stderr: e.stderr}

	switch name := e.getenv(envScript); {
	case name != "":
		var names []string
		for _, each := range scripts() {
			names = append(names, each.name)
			if each.name == name {
				options.Script, options.Tool = each.model, each.tool
			}
		}
		if options.Script == nil {
			return nil, nil, fmt.Errorf("%s is %q; want one of %s", envScript, name, strings.Join(names, ", "))
		}
	case e.getenv(envModel) == "":
		options.Script, options.Tool = claudetest.Directives(claudetest.Demo(nil)), claudetest.DemoTools(nil)
	}

	finish = func() error { return nil }
	if name := e.getenv(envRecord); name != "" {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", envRecord, err)
		}
		options.Record, finish = file, file.Close
	}
	return options, finish, nil
}

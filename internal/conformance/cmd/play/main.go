// Command play holds a short conversation with a real Claude Code CLI and a simulated model, and prints it for a person to read.
//
//	play [--help] [--version-of-cli VERSION] [--raw]
//
// Nothing leaves the machine: the model is a script inside this program, the key is made up, home and project are temporary folders that are
// removed at the end. Only a CLI that is not installed yet is fetched from the npm registry first. Exit code 0 means that the conversation
// went as the script has it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
	"github.com/switchboard-dev/switchboard/wire"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main with its surroundings given; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("play", flag.ContinueOnError)
	flags.SetOutput(stderr)
	version := flags.String("version-of-cli", conformance.Newest, "the `version` of Claude Code to talk to")
	raw := flags.Bool("raw", false, "print the lines as they are sent (>) and received (<) instead of a transcript")
	flags.Usage = func() {
		_, _ = fmt.Fprint(stderr, `Usage: play [flags]

Plays a short conversation between this program, a real Claude Code CLI and a
simulated model: two turns, one permission granted, one refused.

`)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		_, _ = fmt.Fprintf(stderr, "play: unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	if err := play(ctx, *version, *raw, stdout); err != nil {
		_, _ = fmt.Fprintf(stderr, "play: %v\n", err)
		return 1
	}
	return 0
}

// play installs the CLI if need be and holds the conversation.
func play(ctx context.Context, version string, raw bool, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute) // an installation can take ten
	defer cancel()
	path, err := conformance.Program(version)
	if err != nil {
		_, _ = fmt.Fprintf(out, "Claude Code %s is not installed yet; it is put into the user's cache folder.\n", version)
		installer := conformance.Installer{Progress: out}
		if path, err = installer.Install(ctx, version); err != nil {
			return err
		}
	}
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()

	folder, err := os.MkdirTemp("", "switchboard-play-")
	if err != nil {
		return fmt.Errorf("making a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	home, project := filepath.Join(folder, "home"), filepath.Join(folder, "project")
	for _, dir := range []string{home, project} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("making a temporary folder: %w", err)
		}
	}
	// The CLI names the folder by its real path, which may differ where temporary folders lie behind a link.
	if project, err = filepath.EvalSymlinks(project); err != nil {
		return fmt.Errorf("making a temporary folder: %w", err)
	}

	s := scene{project: project}
	model := claudetest.NewModel(&claudetest.ModelOptions{Script: s.script()})
	defer func() { err = errors.Join(err, model.Close()) }()
	env := claudetest.Env(home, model.URL())
	cli, err := claude.Find(ctx, &claude.FindOptions{Path: path, Env: env})
	if err != nil {
		return err
	}
	process, err := cli.Start(ctx, &claude.Options{Dir: project, Env: env})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, process.Close()) }()

	view := &transcript{out: out, raw: raw}
	view.title(cli.Version, process.PID())
	talk := &conformance.Talk{
		Transport: process,
		Version:   cli.Version,
		Saw:       view.line,
		Permit: func(q *wire.CanUseToolRequest) wire.PermissionResult {
			decision, why := s.judge(q)
			view.decision(q, decision, why)
			return decision
		},
	}
	if err := s.play(ctx, talk); err != nil {
		return errors.Join(err, view.err)
	}
	view.end(len(model.Requests()))
	return view.err
}

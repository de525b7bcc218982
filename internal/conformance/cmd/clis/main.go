// Command clis installs the pinned versions of the Claude Code CLI that the conformance tests drive into the user's cache folder, and the
// official TypeScript SDK that they try beside our own.
//
//	clis [--help] [--list] [version ...]
//
// Without versions it installs all pinned ones and the SDK. A version that is already there is only checked. Exit code 0 means that everything
// asked for is installed and works.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/switchboard-dev/switchboard/internal/conformance"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main with its surroundings given; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("clis", flag.ContinueOnError)
	flags.SetOutput(stderr)
	list := flags.Bool("list", false, "print which versions are installed and where, and install nothing")
	flags.Usage = func() {
		_, _ = fmt.Fprintf(stderr, `Usage: clis [flags] [version ...]

Installs versions of the Claude Code CLI from npm into the user's cache folder,
for the conformance tests. Without versions: %v
and the official TypeScript SDK %s.

`, conformance.Versions(), conformance.SDKVersion)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	versions := flags.Args()
	withSDK := len(versions) == 0
	if withSDK {
		versions = conformance.Versions()
	}
	code := 0
	installer := conformance.Installer{Progress: stdout}
	fail := func(err error) {
		_, _ = fmt.Fprintf(stderr, "clis: %v\n", err)
		code = 1
	}
	for _, version := range versions {
		if *list {
			program, err := conformance.Program(version)
			if err != nil {
				program, code = err.Error(), 1
			}
			_, _ = fmt.Fprintf(stdout, "%s: %s\n", version, program)
			continue
		}
		if _, err := installer.Install(ctx, version); err != nil {
			fail(err)
		}
	}
	switch {
	case !withSDK:
	case *list:
		modules, err := conformance.SDK()
		if err != nil {
			modules, code = err.Error(), 1
		}
		_, _ = fmt.Fprintf(stdout, "Agent SDK %s: %s\n", conformance.SDKVersion, modules)
	default:
		if _, err := installer.InstallSDK(ctx); err != nil {
			fail(err)
		}
	}
	return code
}

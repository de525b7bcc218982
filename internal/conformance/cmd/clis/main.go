// Command clis installs the pinned versions of the Claude Code CLI that the conformance tests drive into the user's cache folder, and the
// official TypeScript SDK that they try beside our own, with a Node that its transports for browsers run on, and the adapter of editors.
//
//	clis [--help] [--list] [--bun] [version ...]
//
// Without versions it installs all pinned ones and what belongs to them. A version that is already there is only checked. Exit code 0 means that everything
// asked for is installed and works. With --bun it installs Bun instead, which only a benchmark needs.
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
	bun := flags.Bool("bun", false, "install Bun "+conformance.BunVersion+", for the benchmark of the relay, and nothing else")
	flags.Usage = func() {
		_, _ = fmt.Fprintf(stderr, `Usage: clis [flags] [version ...]

Installs versions of the Claude Code CLI from npm into the user's cache folder,
for the conformance tests. Without versions: %v
the official TypeScript SDK %s, Node %s and the ACP adapter %s.

`, conformance.Versions(), conformance.SDKVersion, conformance.NodeVersion, conformance.ACPVersion)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	versions := flags.Args()
	all := len(versions) == 0
	if all {
		versions = conformance.Versions()
	}
	code := 0
	installer := conformance.Installer{Progress: stdout}
	fail := func(err error) {
		_, _ = fmt.Fprintf(stderr, "clis: %v\n", err)
		code = 1
	}
	if *bun {
		if _, err := installer.InstallBun(ctx); err != nil {
			fail(err)
		}
		return code
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
	for _, extra := range extras(&installer) {
		switch {
		case !all:
		case *list:
			path, err := extra.find()
			if err != nil {
				path, code = err.Error(), 1
			}
			_, _ = fmt.Fprintf(stdout, "%s: %s\n", extra.name, path)
		default:
			if _, err := extra.install(ctx); err != nil {
				fail(err)
			}
		}
	}
	return code
}

// An extra is something that the tests want beside the CLIs.
type extra struct {
	name    string
	find    func() (string, error)
	install func(context.Context) (string, error)
}

// extras lists what is installed with the pinned versions.
func extras(in *conformance.Installer) []extra {
	return []extra{
		{"Agent SDK " + conformance.SDKVersion, conformance.SDK, in.InstallSDK},
		{"Node " + conformance.NodeVersion, conformance.Node, in.InstallNode},
		{"ACP adapter " + conformance.ACPVersion, conformance.ACP, in.InstallACP},
	}
}

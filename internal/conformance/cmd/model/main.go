// Command model serves a simulated model on loopback, for tests that are not written in Go and drive a real Claude Code CLI.
//
//	model HOME [VERSION]
//
// It prints one JSON object: in program the path of the CLI of this version, the newest pinned one if absent, which has to be installed
// already; in env the environment that makes it talk to the model and to nothing else, with this folder as its home. The model takes its
// orders from the prompt, see claudetest.Directives. It ends with its standard input.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "model:", err)
		os.Exit(1)
	}
}

// run serves until the input ends.
func run(args []string, in io.Reader, out io.Writer) error {
	versions := conformance.Versions()
	version := versions[len(versions)-1]
	switch {
	case len(args) == 2:
		version = args[1]
	case len(args) != 1:
		return fmt.Errorf("usage: model HOME [VERSION]")
	}
	if !filepath.IsAbs(args[0]) {
		return fmt.Errorf("HOME is %q, which is not an absolute path", args[0])
	}
	program, err := conformance.Program(version)
	if err != nil {
		return err
	}
	model := claudetest.NewModel(&claudetest.ModelOptions{Script: claudetest.Directives(nil)})
	defer model.Close()
	if err := json.NewEncoder(out).Encode(map[string]any{"program": program, "env": claudetest.Env(args[0], model.URL())}); err != nil {
		return fmt.Errorf("telling where the model is: %w", err)
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// InstallOptions are the choices of [Install]. The zero value is the newest version.
type InstallOptions struct {
	// Quirks are those of the version to imitate. If nil, the newest.
	Quirks *Quirks `json:"quirks,omitempty"`
	// Demo lets the CLI play [Demo] when no model is named by ANTHROPIC_BASE_URL, instead of taking directives from the prompts.
	Demo bool `json:"demo,omitempty"`
	// Record is a file that gets the CLI's record, see [SimOptions]. If empty, none.
	Record string `json:"record,omitempty"`
}

// The names of an installed simulated CLI: the program, and its options beside it.
const (
	simProgram = "claude"
	simConfig  = "claude.sim.json"
)

// Install puts a simulated CLI into a folder and returns the path of its program, which any launcher can start: it is the running test binary under the name
// "claude", whose TestMain must call [Main]. Its options lie in a file beside it, so that nothing depends on the environment that the launcher
// passes on.
func Install(dir string, o *InstallOptions) (path string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("installing a simulated CLI: %w", err)
	}
	return InstallProgram(dir, self, o)
}

// InstallProgram is like [Install] for another program that becomes the simulated CLI under the name "claude", such as switchboard.
func InstallProgram(dir, program string, o *InstallOptions) (path string, err error) {
	if o == nil {
		o = &InstallOptions{}
	}
	name := simProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path = filepath.Join(dir, name)
	config, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return "", fmt.Errorf("installing a simulated CLI: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, simConfig), config, 0o600); err != nil {
		return "", fmt.Errorf("installing a simulated CLI: %w", err)
	}
	if err := os.Symlink(program, path); err == nil {
		return path, nil
	}
	// Some systems and folders permit no links.
	if err := copyProgram(program, path); err != nil {
		return "", fmt.Errorf("installing a simulated CLI: %w", err)
	}
	return path, nil
}

func copyProgram(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()                                     // it was only read
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o700) //nolint:gosec // it must be a program
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}

// Main is for the TestMain of programs that start a simulated CLI as a process: started under the name that [Install] gives it, the test binary is that CLI and
// ends with its exit code; otherwise the tests are run.
//
//	func TestMain(m *testing.M) { claudetest.Main(m) }
func Main(m *testing.M) {
	if code, ok := RunInstalled(os.Args); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// RunInstalled runs the simulated CLI if args, those of the process, start it as [Install] has put it there: under its name, with its options beside it.
// It reports whether it did, and the exit code. Programs whose TestMain does more than [Main] call it first.
func RunInstalled(args []string) (code int, ran bool) {
	if len(args) == 0 || strings.TrimSuffix(filepath.Base(args[0]), ".exe") != simProgram {
		return 0, false
	}
	o := InstallOptions{}
	config, err := os.ReadFile(filepath.Join(installedDir(args[0]), simConfig))
	switch {
	case errors.Is(err, os.ErrNotExist): // another program of that name
		return 0, false
	case err != nil:
		_, _ = fmt.Fprintf(os.Stderr, "reading the options of the simulated CLI: %v\n", err)
		return 1, true
	default:
		if err := json.Unmarshal(config, &o); err != nil {
			_, _ = fmt.Fprintf(os.Stderr, "reading the options of the simulated CLI: %v\n", err)
			return 1, true
		}
	}
	return runInstalled(&o, args[1:]), true
}

// installedDir is the folder of the link that the program was started by. A bare name was found on PATH.
func installedDir(name string) string {
	if filepath.Base(name) == name {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Dir(path)
		}
	}
	return filepath.Dir(name)
}

// runInstalled runs the simulated CLI as this process.
func runInstalled(o *InstallOptions, args []string) int {
	options := &SimOptions{Quirks: o.Quirks, Args: args, Env: os.Environ(), Stderr: os.Stderr}
	if o.Demo && os.Getenv("ANTHROPIC_BASE_URL") == "" {
		options.Script, options.Tool = Directives(Demo(nil)), DemoTools(nil)
	}
	if args == nil {
		options.Args = []string{}
	}
	if o.Record != "" {
		file, err := os.OpenFile(o.Record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			_, _ = fmt.Fprintf(os.Stderr, "opening the record of the simulated CLI: %v\n", err)
			return 1
		}
		defer func() { _ = file.Close() }() // written line by line
		options.Record = file
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	options.Interrupt = interrupts
	return RunSim(ctx, options, os.Stdin, os.Stdout)
}

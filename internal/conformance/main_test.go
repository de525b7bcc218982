package conformance

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
)

func TestMain(m *testing.M) {
	if order := os.Getenv(controllerEnv); order != "" {
		os.Exit(control(order))
	}
	flag.Parse()
	// TestSuite is one of them and runs several CLIs itself. A CLI that starts takes a core for a second or two: more at once, on any machine, make
	// each other miss their time.
	if err := flag.Set("test.parallel", "3"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	begin := time.Now()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		printMatrix(begin)
		_ = os.RemoveAll(simulatedDir) // a temporary folder, or "" for nothing
		os.Exit(code)
	}))
}

// printMatrix prints the matrix if it was written since the tests began, below everything else that they print.
func printMatrix(begin time.Time) {
	path := matrixPath()
	info, err := os.Stat(path)
	if err != nil || info.ModTime().Before(begin) {
		return
	}
	if text, err := os.ReadFile(path); err == nil {
		fmt.Printf("\n%s\n", text)
	}
}

// program returns the program of a version. If it is not installed, the test fails under make test and is reported as skipped under plain go
// test.
func program(t *testing.T, version string) string {
	t.Helper()
	path, err := Program(version)
	if err != nil {
		if os.Getenv(RequireEnv) == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return path
}

// newModel starts a simulated model that ends with the test.
func newModel(t *testing.T, script func(claudetest.Request) claudetest.Reply) *claudetest.Model {
	t.Helper()
	model := claudetest.NewModel(&claudetest.ModelOptions{Script: script})
	t.Cleanup(func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	return model
}

// installed returns an installed version of the CLI.
func installed(t *testing.T, version string) *claude.CLI {
	t.Helper()
	cli, err := find(t.Context(), program(t, version), version, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return cli
}

// start starts a CLI that ends with the test.
func start(t *testing.T, cli *claude.CLI, options *claude.Options) *claude.Process {
	t.Helper()
	process, err := cli.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.Close(); err != nil {
			t.Error(err)
		}
	})
	return process
}

// TestNewestRefusesToDial holds what shapes the whole project: since 2.1.121 no CLI dials a server that is not the vendor's, so package claude
// refuses to try.
func TestNewestRefusesToDial(t *testing.T) {
	_, err := installed(t, Newest).Command(&claude.Options{SDKURL: "ws://127.0.0.1:1/ws/cli/x"})
	if _, ok := errors.AsType[*claude.UnsupportedError](err); !ok {
		t.Errorf("got %v, want an *UnsupportedError", err)
	}
}

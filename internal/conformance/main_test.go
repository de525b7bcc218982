package conformance

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
)

func TestMain(m *testing.M) {
	if order := os.Getenv(controllerEnv); order != "" {
		os.Exit(control(order))
	}
	flag.Parse()
	// A CLI that starts takes a core for a second or two. More than two at once, on any machine, make each other miss their time.
	if err := flag.Set("test.parallel", "2"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	goleak.VerifyTestMain(m)
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

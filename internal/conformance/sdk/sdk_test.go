package sdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write what the real CLI gives into testdata")

// facts is what the script prints when all goes well, one JSON object per line.
const facts = "testdata/facts.jsonl"

// need ends the test if something that make clis installs is not there: as a failure under make test, as a skip under plain go test.
func need(t *testing.T, path string, err error) string {
	t.Helper()
	switch {
	case err == nil:
		return path
	case os.Getenv(conformance.RequireEnv) == "1":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
	return ""
}

// TestSDK holds the same conversation with a real CLI, which shows that the script is right, and with the simulated one.
func TestSDK(t *testing.T) {
	modules, err := conformance.SDK()
	modules = need(t, modules, err)
	t.Run("real", func(t *testing.T) {
		program, err := conformance.Program(conformance.Newest)
		got := drive(t, modules, need(t, program, err))
		if *update {
			if err := os.WriteFile(facts, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		compare(t, got)
	})
	t.Run("simulated", func(t *testing.T) {
		record := filepath.Join(t.TempDir(), "record.jsonl")
		compare(t, drive(t, modules, buildSim(t), "SWITCHBOARD_SIM_RECORD="+record, "SWITCHBOARD_SIM_VERSION="+conformance.Newest))
		checkRecord(t, record)
	})
}

// buildSim builds the program and returns a link to it that is a simulated CLI.
func buildSim(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program, link := filepath.Join(dir, "switchboard"), filepath.Join(dir, "claude")
	if runtime.GOOS == "windows" {
		program, link = program+".exe", link+".exe"
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/switchboard-dev/switchboard/cmd/switchboard")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v\n%s", err, output)
	}
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	return link
}

// drive runs the script with an executable and returns the facts that it prints.
func drive(t *testing.T, modules, executable string, env ...string) string {
	t.Helper()
	model := claudetest.NewModel(&claudetest.ModelOptions{Script: claudetest.Directives(nil)})
	defer func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	}()
	script, err := filepath.Abs("driver.mjs")
	if err != nil {
		t.Fatal(err)
	}
	// The CLI names its folder by the real path.
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", script, modules, executable)
	cmd.Dir = project
	cmd.Env = append(claudetest.Env(t.TempDir(), model.URL()), env...)
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(err, ctx.Err())
		}
		t.Errorf("the conversation failed: %v\n%s\nThe facts so far:\n%s", err, &stderr, &stdout)
	}
	return stdout.String()
}

// compare compares facts with those that are known, each as an object of its own, so that a difference is easy to read.
func compare(t *testing.T, got string) {
	t.Helper()
	known, err := os.ReadFile(facts)
	if err != nil {
		t.Fatal(err)
	}
	wanted, found := parse(t, string(known)), parse(t, got)
	for i := range max(len(wanted), len(found)) {
		switch {
		case i >= len(found):
			t.Errorf("missing: %v", wanted[i])
		case i >= len(wanted):
			t.Errorf("too much: %v", found[i])
		default:
			if diff := cmp.Diff(wanted[i], found[i]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name(wanted[i], i), diff)
			}
		}
	}
}

// name says which fact it is.
func name(fact map[string]any, i int) string {
	if turn, ok := fact["turn"].(string); ok {
		return "turn " + turn
	}
	return fmt.Sprintf("fact %d", i+1)
}

func parse(t *testing.T, lines string) []map[string]any {
	t.Helper()
	var list []map[string]any
	for line := range strings.Lines(lines) {
		var fact map[string]any
		if err := json.Unmarshal([]byte(line), &fact); err != nil {
			t.Fatalf("%q is no fact: %v", line, err)
		}
		list = append(list, fact)
	}
	return list
}

// checkRecord checks that the simulated CLI has kept a record, numbered without a gap, in which it both read and wrote.
func checkRecord(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read, written := 0, 0
	for line := range strings.Lines(string(content)) {
		var entry claudetest.Entry
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("the record holds %q: %v", line, err)
		}
		if entry.Read {
			read++
		} else {
			written++
		}
		if entry.Number != int64(read+written) {
			t.Fatalf("entry %d of the record has number %d", read+written, entry.Number)
		}
	}
	if read < 20 || written < 50 {
		t.Errorf("the record has %d lines read and %d written; the conversation was longer than that", read, written)
	}
}

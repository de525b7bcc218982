package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
	"github.com/switchboard-dev/switchboard/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the transcripts into testdata")

func TestUsage(t *testing.T) {
	tests := map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"help":            {[]string{"--help"}, 0, "version-of-cli"},
		"unknown flag":    {[]string{"--nope"}, 2, "nope"},
		"argument":        {[]string{"now"}, 2, `unexpected argument "now"`},
		"no version":      {[]string{"--version-of-cli=latest"}, 1, "latest"},
		"no real version": {[]string{"--real", "--version-of-cli=latest"}, 1, "not a version"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), test.args, &stdout, &stderr); code != test.code || !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("exit code %d, stderr %q; want %d and %q", code, &stderr, test.code, test.stderr)
			}
		})
	}
}

// TestSimulated compares the transcript of every version with the one in testdata. Where no Claude Code and no npm is found it works too.
func TestSimulated(t *testing.T) {
	for _, version := range claudetest.SimVersions() {
		t.Run(version, func(t *testing.T) {
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			t.Setenv("PATH", "")
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), []string{"--fast", "--version-of-cli", version}, &stdout, &stderr); code != 0 {
				t.Fatalf("exit code %d: %s\n%s", code, &stderr, &stdout)
			}
			golden := filepath.Join("testdata", version+".txt")
			if *update {
				if err := os.WriteFile(golden, stdout.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), stdout.String()); diff != "" {
				t.Errorf("the transcript differs (-want +got); go test -update writes it anew:\n%s", diff)
			}
			nothingLeft(t, temp)
		})
	}
}

// nothingLeft checks that no temporary folder was left behind.
func nothingLeft(t *testing.T, temp string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(temp, "switchboard-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// TestReal plays the same on a real CLI, which really edits the file and runs the tests.
func TestReal(t *testing.T) {
	if _, err := conformance.Program(conformance.Newest); err != nil {
		// A test does not fetch it.
		if os.Getenv(conformance.RequireEnv) == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"--real", "--fast"}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s\n%s", code, &stderr, &stdout)
	}
	rest := stdout.String()
	for _, want := range []string{
		"Claude Code " + conformance.Newest + " (real", policy, firstPrompt, `= "hello--world-"`, "choice ", "answer  untitled; ", "plan ", "answer  approved",
		"tool    Edit slug/slug.go", "answer  allowed", "result  ok example.com/blog/slug", "tool    Task Review the change", "The change is correct", "is fixed", secondPrompt, "All tests still pass", "went as the script has it",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Errorf("the transcript does not go on with %q:\n%s", want, &stdout)
			break
		}
		rest = after
	}
	nothingLeft(t, temp)
}

func TestRaw(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"--raw", "--fast"}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	sent, received := 0, 0
	for line := range strings.Lines(stdout.String()) {
		data, isSent := strings.CutPrefix(line, "> ")
		if !isSent {
			var isReceived bool
			if data, isReceived = strings.CutPrefix(line, "< "); !isReceived {
				continue
			}
			received++
		} else {
			sent++
		}
		if !json.Valid([]byte(data)) {
			t.Errorf("the line %q is not JSON", line)
		}
	}
	// initialize, two prompts, and the answers to eight questions.
	if sent != 11 || received < 30 {
		t.Errorf("%d lines sent and %d received, want 11 and at least 30", sent, received)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, nil, &stdout, &stderr); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
}

// fullDisk is an output that cannot be written to.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestOutputFails(t *testing.T) {
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"--fast"}, fullDisk{}, &stderr); code != 1 || !strings.Contains(stderr.String(), "the disk is full") {
		t.Errorf("exit code %d, stderr %q; want 1 and the reason", code, &stderr)
	}
}

func TestJudge(t *testing.T) {
	questions := `{"questions":[{"question":"One?","options":[{"label":"a"},{"label":"b"}]},{"question":"Some?","multiSelect":true,"options":[{"label":"x"},{"label":"y"},{"label":"z"}]}]}`
	tests := map[string]struct {
		tool, input string
		allowed     bool
		words       string
	}{
		"tests":              {"Bash", `{"command":"go test ./..."}`, true, "allowed"},
		"other command":      {"Bash", `{"command":"go test ./...; rm -rf /"}`, false, "does not allow"},
		"edit":               {"Edit", `{"file_path":"slug/slug.go"}`, true, "allowed"},
		"edit by whole path": {"Edit", `{"file_path":"/tmp/x/blog/slug/slug.go"}`, true, "allowed"},
		"edit elsewhere":     {"Edit", `{"file_path":"/etc/passwd"}`, false, "does not allow"},
		"way out":            {"Edit", `{"file_path":"../slug/slug.go"}`, false, "does not allow"},
		"release notes":      {"mcp__notes__add", `{"line":"x"}`, true, "allowed"},
		"other tool":         {"Write", `{"file_path":"slug/slug.go"}`, false, "does not allow"},
		"plan":               {"ExitPlanMode", `{}`, true, "approved"},
		"choice":             {"AskUserQuestion", questions, true, "a; x, y"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v, err := judge(&wire.CanUseToolRequest{ToolName: test.tool, Input: json.RawMessage(test.input)})
			if err != nil || v.allowed != test.allowed || !strings.Contains(v.words, test.words) {
				t.Errorf("%+v, %v; want allowed %t with %q", v, err, test.allowed, test.words)
			}
		})
	}
	for _, bad := range []string{`{"questions":5}`, `{"questions":[{"question":"None?"}]}`} {
		if v, err := judge(&wire.CanUseToolRequest{ToolName: "AskUserQuestion", Input: json.RawMessage(bad)}); err == nil {
			t.Errorf("%s is answered with %+v", bad, v)
		}
	}
}

func TestFill(t *testing.T) {
	form := &wire.ElicitationRequest{RequestedSchema: json.RawMessage(`{"properties":{"b":{"default":true},"a":{"title":"A","default":"x"}}}`)}
	if content, err := fill(form); err != nil || string(content) != `{"a":"x","b":true}` {
		t.Errorf("filled in as %s, %v", content, err)
	}
	for _, schema := range []string{`{"properties":{"a":{}}}`, `5`} {
		if content, err := fill(&wire.ElicitationRequest{RequestedSchema: json.RawMessage(schema)}); err == nil {
			t.Errorf("%s is filled in as %s", schema, content)
		}
	}
}

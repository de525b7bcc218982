package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/internal/conformance"
	"github.com/switchboard-dev/switchboard/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestUsage(t *testing.T) {
	tests := map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"help":         {[]string{"--help"}, 0, "version-of-cli"},
		"unknown flag": {[]string{"--nope"}, 2, "nope"},
		"argument":     {[]string{"now"}, 2, `unexpected argument "now"`},
		"no version":   {[]string{"--version-of-cli=latest"}, 1, "not a version"},
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

// needCLI skips, or fails under make test, when the CLI is not installed: a test does not fetch it.
func needCLI(t *testing.T) {
	t.Helper()
	if _, err := conformance.Program(conformance.Newest); err != nil {
		if os.Getenv(conformance.RequireEnv) == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

func TestPlay(t *testing.T) {
	needCLI(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), nil, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s\n%s", code, &stderr, &stdout)
	}
	rest := stdout.String()
	for _, want := range []string{
		"simulated model — no account, nothing leaves this machine",
		policy, firstPrompt, "tool    Write", "allowed by this program", "success after", secondPrompt, "tool    Bash", "refused by this program",
		refusal, "went as the script has it",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Errorf("the transcript does not go on with %q:\n%s", want, &stdout)
			break
		}
		rest = after
	}
	left, err := os.ReadDir(temp)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		if strings.HasPrefix(entry.Name(), "switchboard-") {
			t.Errorf("left behind: %s", entry.Name())
		}
	}
}

func TestRaw(t *testing.T) {
	needCLI(t)
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"--raw"}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	sent, received := 0, 0
	for line := range strings.Lines(stdout.String()) {
		data, isSent := strings.CutPrefix(line, "> ")
		if isSent {
			sent++
		} else if data, isReceived := strings.CutPrefix(line, "< "); isReceived {
			received++
			if !json.Valid([]byte(data)) {
				t.Errorf("received %q, want a line of JSON", data)
			}
		}
		if isSent && !json.Valid([]byte(data)) {
			t.Errorf("sent %q, want a line of JSON", data)
		}
	}
	if sent != 5 || received < 10 {
		t.Errorf("%d lines sent and %d received, want 5 and at least 10:\n%s", sent, received, &stdout)
	}
}

func TestInterrupted(t *testing.T) {
	needCLI(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, nil, &stdout, &stderr); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
}

func TestJudge(t *testing.T) {
	s := scene{project: "/project"}
	tests := map[string]struct {
		tool, input string
		allowed     bool
	}{
		"inside":      {"Write", `{"file_path":"/project/a/b"}`, true},
		"outside":     {"Write", `{"file_path":"/etc/passwd"}`, false},
		"way out":     {"Write", `{"file_path":"/project/../etc/passwd"}`, false},
		"neighbour":   {"Write", `{"file_path":"/projects/x"}`, false},
		"not a path":  {"Write", `{"file_path":5}`, false},
		"other tools": {"Bash", `{"command":"true","file_path":"/project/a"}`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			decision, why := s.judge(&wire.CanUseToolRequest{ToolName: test.tool, Input: json.RawMessage(test.input)})
			if _, allowed := decision.(*wire.Allow); allowed != test.allowed || why == "" {
				t.Errorf("allowed %t because %q, want %t", allowed, why, test.allowed)
			}
		})
	}
}

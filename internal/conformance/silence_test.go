package conformance

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
)

// debugLog is the file in the home of the newest CLI that it writes its debug log to.
const debugLog = "debug.log"

// debugEnv has a CLI keep a debug log, for [Stage.silence].
func debugEnv(home string) []string {
	return []string{"DEBUG_SDK=1", "CLAUDE_CODE_DEBUG_LOGS_DIR=" + filepath.Join(home, debugLog)}
}

// silence tells what each side of a CLI was doing when a scenario ran out of time: the model, the CLI by its own debug log, and this program.
func (s *Stage) silence() string {
	var out strings.Builder
	asked, open := s.Model.Requests(), s.Model.Answering()
	fmt.Fprintf(&out, "\nthe model was asked %d times and is answering %d requests", len(asked), len(open))
	request := func(what string, r claudetest.Request) {
		fmt.Fprintf(&out, "\n  %s %d, %s before: %s %s %s attempt %d, %d bytes, %.100q", what, r.Seq, time.Since(r.Time).Round(time.Millisecond), r.Method, r.Path, r.Kind, r.Attempt, len(r.Body), r.Prompt())
	}
	for _, r := range asked[max(0, len(asked)-5):] {
		request("asked", r)
	}
	for _, r := range open {
		request("answering", r)
	}
	if log, err := os.ReadFile(filepath.Join(s.Home, debugLog)); err == nil {
		const enough = 8 << 10
		fmt.Fprintf(&out, "\nits debug log ends with:\n%s", strings.ToValidUTF8(string(log[max(0, len(log)-enough):]), ""))
	}
	var stacks bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&stacks, 1); err == nil {
		const enough = 32 << 10
		fmt.Fprintf(&out, "\ngoroutines:\n%s", stacks.Bytes()[:min(stacks.Len(), enough)])
	}
	return out.String()
}

// TestSilence holds that a scenario which waits for a line that does not come tells what the model was doing.
func TestSilence(t *testing.T) {
	t.Parallel()
	on := subject(t, kindSimulated, Newest, stdio)
	model := newModel(t, claudetest.Directives(nil))
	c := &column{subject: on, model: model, matrix: newMatrix(nil, nil), base: temp(t), reports: true}
	var err error
	if c.cli, err = locate(t.Context(), on, c.base, ""); err != nil {
		t.Fatal(err)
	}
	var tag string
	silent := &Scenario{ID: "made.up", Alone: true, Run: func(s *Stage) {
		tag = s.Prompt("@slow 1m\n@say Never said.")
		s.AwaitModel(tag, 1)
		s.ctx = s.Ctx(time.Millisecond)
		s.AwaitResult()
	}}
	_, err = c.play(t.Context(), silent)
	for _, want := range []string{"waiting for a line", "is answering 1 requests", "answering 1,", "Never said.", "goroutines:", "TestSilence"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in: %v", want, err)
		}
	}
}

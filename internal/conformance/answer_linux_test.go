package conformance

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
)

// TestAnswerSentTwice sends the same permission again while its tool runs, as a program does that cannot know whether the first answer has
// arrived. The tool must run once. 2.1.37 runs it twice if the answer names the tool call, so this holds wire.Fit to taking the name out.
func TestAnswerSentTwice(t *testing.T) {
	t.Parallel()
	for _, version := range Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			model := newModel(t, claudetest.Rules(
				claudetest.Rule{Prompt: "Run it", Replies: []claudetest.Reply{
					claudetest.Say(claudetest.Tool("Bash", map[string]any{"command": "echo once >> runs; echo $$ > " + readyPipe + "; test -e released || read line < release", "description": "Run"})),
					claudetest.Say(claudetest.Text("It ran.")),
				}},
				claudetest.Rule{Prompt: "And now", Replies: []claudetest.Reply{claudetest.Say(claudetest.Text("Nothing."))}},
			))
			dir, ready := projectFolder(t)
			release := namedPipe(t, filepath.Join(dir, "release"))
			cli := find(t, version)
			ctx := impatient(t)
			process := start(t, cli, &claude.Options{Dir: dir, Env: claudetest.Env(t.TempDir(), model.URL())})
			answer, probed := make(chan []byte, 1), make(chan struct{})
			talk := &Talk{
				Transport: process,
				Version:   cli.Version,
				Permit:    allow,
				Saw: func(sent bool, line []byte) {
					switch {
					case sent && bytes.Contains(line, []byte(`"control_response"`)):
						answer <- bytes.Clone(line)
					case !sent && bytes.Contains(line, []byte(`"probe"`)):
						close(probed)
					}
				},
			}
			if _, err := talk.Initialize(ctx); err != nil {
				t.Fatal(err)
			}
			talked := make(chan error, 1)
			go func() {
				_, err := talk.Turn(ctx, "Run it, please.")
				talked <- err
			}()

			awaitTool(t, ready)
			again := <-answer
			for _, line := range [][]byte{again, []byte(`{"type":"control_request","request_id":"probe","request":{"subtype":"mcp_status"}}`)} {
				if err := process.Write(ctx, line); err != nil {
					t.Fatal(err)
				}
			}
			select {
			case <-probed: // the CLI has read the second answer
			case <-ctx.Done():
				t.Fatal("the CLI did not answer after the second answer")
			}
			// Should the tool run again, it must not wait again.
			if err := os.WriteFile(filepath.Join(dir, "released"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			// The pipe stays open, so that a line is there whenever the tool, or a second one, comes to read it.
			if _, err := release.WriteString("go on\ngo on\n"); err != nil {
				t.Fatal(err)
			}
			if err := <-talked; err != nil {
				t.Fatalf("the turn with the tool: %v", err)
			}
			// What the second answer may have caused is worked on before the next prompt.
			second, err := talk.Turn(ctx, "And now?")
			if err != nil {
				t.Fatal(err)
			}
			runs, err := os.ReadFile(filepath.Join(dir, "runs"))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(string(runs), "once"); got != 1 {
				t.Errorf("the tool ran %d times, want once; the answer was %s", got, again)
			}
			checkResult(t, second, "Nothing.")
		})
	}
}

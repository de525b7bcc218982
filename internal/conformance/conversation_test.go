package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

// A dialled is a CLI that a transport leads to.
type dialled struct {
	transport claude.Transport
	process   *claude.Process
	insist    time.Duration // see Talk
}

// A way is a transport, and how a CLI is started for it.
type way struct {
	name     string
	versions []string
	start    func(t *testing.T, cli *claude.CLI, options *claude.Options) dialled
}

// ways returns every transport with the versions that have it.
func ways() []way {
	return []way{
		{"stdio", Versions(), startStdio},
		{"websocket", dialing(), startWebSocket},
		{"hybrid", dialing(), startHybrid},
	}
}

// startStdio starts a CLI and talks to it over its standard input and output.
func startStdio(t *testing.T, cli *claude.CLI, options *claude.Options) dialled {
	t.Helper()
	process := start(t, cli, options)
	return dialled{transport: process, process: process}
}

// find returns an installed version of the CLI.
func find(t *testing.T, version string) *claude.CLI {
	t.Helper()
	cli, err := claude.Find(t.Context(), &claude.FindOptions{
		Path:   program(t, version),
		Env:    claudetest.Env(t.TempDir(), ""), // there is no model to talk to yet
		Prober: &claude.Prober{Timeout: patience},
	})
	if err != nil {
		t.Fatal(err)
	}
	if cli.Version.String() != version {
		t.Fatalf("%s says it is %s, want %s", cli.Path, cli.Version, version)
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

// impatient returns a context that ends when a real CLI has had time enough.
func impatient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// TestConversation holds two turns with one permission with every version over every transport it has.
func TestConversation(t *testing.T) {
	t.Parallel()
	for _, way := range ways() {
		for _, version := range way.versions {
			t.Run(way.name+"/"+version, func(t *testing.T) {
				t.Parallel()
				converse(t, way, version)
			})
		}
	}
}

func converse(t *testing.T, way way, version string) {
	t.Helper()
	model := newModel(t, claudetest.Rules(
		claudetest.Rule{Prompt: "Make a file", Replies: []claudetest.Reply{
			claudetest.Say(claudetest.Text("I will make it."), claudetest.Tool("Bash", map[string]any{"command": "touch made-by-the-tool", "description": "Make a file"})),
			claudetest.Say(claudetest.Text("It is made.")),
		}},
		claudetest.Rule{Prompt: "Thank you", Replies: []claudetest.Reply{claudetest.Say(claudetest.Text("You are welcome."))}},
	))
	dir := t.TempDir()
	cli := find(t, version)
	ctx := impatient(t)
	peer := way.start(t, cli, &claude.Options{Dir: dir, Env: claudetest.Env(t.TempDir(), model.URL())})
	var lines [][]byte
	talk := &Talk{
		Transport: peer.transport,
		Version:   cli.Version,
		Insist:    peer.insist,
		Permit:    allow,
		Saw: func(sent bool, line []byte) {
			if !sent {
				lines = append(lines, bytes.Clone(line))
			}
		},
	}

	answer, err := talk.Initialize(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Response.Subtype != "success" {
		t.Fatalf("initialize was answered with %s", answer.Raw())
	}
	first, err := talk.Turn(ctx, "Make a file, please.")
	if err != nil {
		t.Fatalf("%v\nreceived:\n%s", err, bytes.Join(lines, []byte("\n")))
	}
	checkFirst(t, first, dir)
	second, err := talk.Turn(ctx, "Thank you.")
	if err != nil {
		t.Fatalf("%v\nreceived:\n%s", err, bytes.Join(lines, []byte("\n")))
	}
	checkResult(t, second, "You are welcome.")
	if len(second.Asked) != 0 {
		t.Errorf("the second turn asked %d times, want never", len(second.Asked))
	}
	if first.Result.SessionID == "" || second.Result.SessionID != first.Result.SessionID {
		t.Errorf("conversation %q, then %q; want one", first.Result.SessionID, second.Result.SessionID)
	}
	checkModel(t, model)
	checkLines(t, lines, version)

	if err := peer.transport.Close(); err != nil {
		t.Errorf("closing the transport: %v", err)
	}
	if state, _ := peer.transport.State(); state != claude.StateClosed {
		t.Errorf("state %q after Close", state)
	}
	if err := peer.process.Close(); err != nil {
		t.Errorf("closing the process: %v", err)
	}
}

// checkFirst checks the turn with the permission.
func checkFirst(t *testing.T, turn *Turn, dir string) {
	t.Helper()
	checkResult(t, turn, "It is made.")
	if len(turn.Asked) != 1 || turn.Asked[0].ToolName != "Bash" {
		t.Fatalf("asked %+v, want one question for Bash", turn.Asked)
	}
	var input struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal(turn.Asked[0].Input, &input); err != nil || input.Command != "touch made-by-the-tool" {
		t.Errorf("asked for %s (%v), want the model's command", turn.Asked[0].Input, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "made-by-the-tool")); err != nil {
		t.Errorf("the tool was allowed and has not run: %v", err)
	}
	var results []*wire.ToolResultBlock
	for _, message := range turn.Messages {
		user, ok := message.(*wire.User)
		if !ok {
			continue
		}
		for _, block := range user.Message.Content.Blocks {
			if result, ok := block.(*wire.ToolResultBlock); ok {
				results = append(results, result)
			}
		}
	}
	if len(results) != 1 || results[0].IsError || results[0].ToolUseID != turn.Asked[0].ToolUseID {
		t.Errorf("tool results %+v, want one without error for %s", results, turn.Asked[0].ToolUseID)
	}
}

// checkResult checks how a turn began and ended.
func checkResult(t *testing.T, turn *Turn, text string) {
	t.Helper()
	if turn.Result.Subtype != wire.ResultSubtypeSuccess || turn.Result.IsError || turn.Result.Result != text {
		t.Errorf("the turn ended with %s, want success and %q", turn.Result.Raw(), text)
	}
	if !slices.ContainsFunc(turn.Messages, func(m wire.Message) bool { _, ok := m.(*wire.Init); return ok }) {
		t.Error("the turn has no init message")
	}
	said := slices.ContainsFunc(turn.Messages, func(m wire.Message) bool {
		assistant, ok := m.(*wire.Assistant)
		return ok && slices.ContainsFunc(assistant.Message.Content, func(b wire.Block) bool {
			block, ok := b.(*wire.TextBlock)
			return ok && block.Text == text
		})
	})
	if !said {
		t.Errorf("no assistant message says %q", text)
	}
}

// checkModel checks what the model saw: each prompt once, and the tool's result.
func checkModel(t *testing.T, model *claudetest.Model) {
	t.Helper()
	var steps []string
	for _, request := range model.Requests() {
		if request.Kind != claudetest.KindTurn {
			continue
		}
		step := request.Prompt()
		for _, result := range request.ToolResults() {
			step += " + result"
			if result.IsError {
				step += " (error)"
			}
		}
		steps = append(steps, step)
	}
	want := []string{"Make a file, please.", "Make a file, please. + result", "Thank you."}
	if !slices.Equal(steps, want) {
		t.Errorf("the model was asked %q, want %q", steps, want)
	}
}

// checkLines checks that every line goes through decode and encode unharmed, and reports what package wire does not know.
func checkLines(t *testing.T, lines [][]byte, version string) {
	t.Helper()
	for _, line := range lines {
		message, err := wire.Decode(line)
		if err != nil {
			t.Errorf("decoding %s: %v", line, err)
			continue
		}
		if unknown, ok := message.(*wire.Unknown); ok {
			t.Logf("%s writes a message that wire does not know: %.200s", version, unknown.Raw())
		}
		encoded, err := wire.Encode(message)
		if err != nil {
			t.Errorf("encoding %s again: %v", line, err)
		} else if !bytes.Equal(encoded, line) {
			t.Errorf("decoded and encoded again, a line has changed:\n%s\n%s", line, encoded)
		}
	}
	if len(lines) == 0 || !strings.Contains(string(lines[0]), "control_response") {
		t.Errorf("the first of %d lines is not the answer to initialize", len(lines))
	}
}

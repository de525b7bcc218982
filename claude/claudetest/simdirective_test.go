package claudetest

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
)

func TestToolOutcomes(t *testing.T) {
	s := startSim(t, "2.1.325", withArgs("--permission-mode=bypassPermissions"), func(o *SimOptions) { o.Env = append(o.Env, "IS_SANDBOX=1") })
	s.turn(strings.Join([]string{
		`@tool Bash {"command":"make"}`, `@result "built\nand tested"`,
		`@next`, `@tool Bash {"command":"make lint"}`, `@fails Exit code 2`,
		`@next`, `@tool Bash {"command":"echo plain"}`,
		`@say Done.`,
	}, "\n"))
	var got []string
	for _, line := range s.lines {
		if line["type"] != "user" {
			continue
		}
		for _, block := range line["message"].(map[string]any)["content"].([]any) {
			result := block.(map[string]any)
			got = append(got, fmt.Sprintf("%v %v", result["is_error"], result["content"]))
		}
	}
	if want := []string{"false built\nand tested", "true Exit code 2", "false plain"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("results %q, want %q", got, want)
	}
}

func TestLineDirective(t *testing.T) {
	const exact = `{"type":"invented",  "x":1}`
	s := startSim(t, "2.1.37")
	if result := s.turn("@line " + exact); result["subtype"] != "success" {
		t.Errorf("the turn ended with %v", result)
	}
	for _, entry := range s.sim.Record() {
		if !entry.Read && entry.Line == exact {
			return
		}
	}
	t.Errorf("%s was not written as it is:\n%s", exact, s.story())
}

func TestFlood(t *testing.T) {
	const lines, size = 2000, 400
	s := startSim(t, "2.1.120")
	s.prompt(fmt.Sprintf("@flood %d %d", lines, size))
	count := 0
	s.await(func(line map[string]any) bool {
		if line["type"] == "stream_event" {
			count++
		}
		return line["type"] == "result"
	})
	if count != lines {
		t.Errorf("%d lines came, want %d", count, lines)
	}
	gap := int64(0)
	entries := s.sim.Record()
	for i := 1; i < len(entries); i++ {
		gap = max(gap, entries[i].Number-entries[i-1].Number-1)
	}
	if gap != lines {
		t.Errorf("the record leaves out %d numbers, want one for each line of the flood", gap)
	}
}

func TestPlay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	const one, two = `{"type":"system","subtype":"one"}`, `{"type":"system","subtype":"two"}`
	if err := os.WriteFile(path, []byte(one+"\n"+two), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startSim(t, "2.1.120")
	s.prompt("@play 2 " + path + "\n@play singly 1 " + path)
	var got []string
	s.await(func(line map[string]any) bool {
		if subtype, _ := line["subtype"].(string); line["type"] == "system" && (subtype == "one" || subtype == "two") {
			got = append(got, subtype)
		}
		return line["type"] == "result"
	})
	if want := "one two one two one two"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// BenchmarkFlood writes small lines into a pipe that is emptied by another goroutine, as a process would.
func BenchmarkFlood(b *testing.B) {
	const lines = 200_000
	for b.Loop() {
		reader, writer, err := os.Pipe()
		if err != nil {
			b.Fatal(err)
		}
		done := make(chan int)
		go func() {
			count := 0
			buffer := make([]byte, 1<<20)
			for {
				n, err := reader.Read(buffer)
				count += bytes.Count(buffer[:n], []byte("\n"))
				if err != nil {
					done <- count
					return
				}
			}
		}()
		input := fmt.Sprintf(`{"type":"user","message":{"role":"user","content":"@flood %d 200"}}`+"\n", lines)
		if code := RunSim(b.Context(), &SimOptions{Args: defaultArgs(), Dir: b.TempDir()}, strings.NewReader(input), writer); code != 0 {
			b.Fatalf("the CLI ended with %d", code)
		}
		if err := writer.Close(); err != nil {
			b.Fatal(err)
		}
		if count := <-done; count < lines {
			b.Fatalf("%d lines came, want %d", count, lines)
		}
		if err := reader.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

// everyKind are all lines that package wire knows from a CLI, and all requests that a CLI makes.
func everyKind() []string {
	system := []string{
		"init", "status", "compact_boundary", "session_state_changed", "commands_changed", "worker_shutting_down", "plugin_install", "session_writes_lost",
		"mirror_error", "files_persisted", "informational", "notification", "local_command_output", "memory_recall", "api_retry", "model_refusal_fallback",
		"model_refusal_no_fallback", "permission_denied", "elicitation_complete", "control_request_progress", "hook_started", "hook_progress", "hook_response",
		"task_started", "task_progress", "task_updated", "task_notification", "background_tasks_changed", "thinking_tokens",
	}
	kinds := []string{
		"assistant", "user", "stream_event", "tool_use_summary", "streamlined_text", "streamlined_tool_use_summary", "prompt_suggestion", "conversation_reset",
		"active_goal", "command_lifecycle", "auth_status", "rate_limit_event", "tool_progress", "control_response", "control_cancel_request", "keep_alive", "error",
		"result success", "result error_max_turns", "result error_during_execution",
	}
	for _, subtype := range system {
		kinds = append(kinds, "system "+subtype)
	}
	for _, subtype := range []string{"can_use_tool", "hook_callback", "elicitation", "request_user_dialog", "sdk_control_interrupt", "mcp_message"} {
		kinds = append(kinds, "control_request "+subtype)
	}
	return kinds
}

func TestEvery(t *testing.T) {
	s := startSim(t, "2.1.325")
	s.request(`{"subtype":"initialize"}`)
	s.prompt("@every")
	seen, uuids := map[string]bool{}, map[string]bool{}
	for done := false; !done; {
		line := s.next()
		raw := plainJSON(line)
		message, err := wire.Decode(raw)
		if err != nil {
			t.Fatalf("decoding %.200s: %v", raw, err)
		}
		kind, _ := line["type"].(string)
		subtype, _ := line["subtype"].(string)
		if request, ok := message.(*wire.ControlRequest); ok {
			subtype, _ = line["request"].(map[string]any)["subtype"].(string)
			if _, unknown := request.Request.(*wire.UnknownRequest); unknown {
				t.Errorf("package wire does not know the request %.200s", raw)
			}
		}
		if _, unknown := message.(*wire.Unknown); unknown {
			t.Errorf("package wire does not know %.200s", raw)
		}
		if subtype != "" {
			kind += " " + subtype
		}
		seen[kind] = true
		uuid, _ := line["uuid"].(string)
		if uuid != "" && uuids[uuid] {
			t.Errorf("two lines have the id %s", uuid)
		}
		uuids[uuid] = true
		done = line["state"] == "idle"
	}
	for _, kind := range everyKind() {
		if !seen[kind] {
			t.Errorf("there is no line %s; there are %v", kind, slices.Sorted(maps.Keys(seen)))
		}
	}
}

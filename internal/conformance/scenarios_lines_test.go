package conformance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// lineScenarios are about what the lines of a turn consist of, and about the forms of a prompt.
func lineScenarios() []Scenario {
	const uuid = "123e4567-e89b-42d3-a456-4266141740"
	return []Scenario{
		{
			ID: "lines.members", Facts: "§0 members of lines; seed 004: cost_usd in result", Where: stdioOnly,
			Run: func(s *Stage) {
				s.OnAsk(allow)
				s.PromptWith(`@tool Bash {"command":"echo x","description":"Go"}
					@say Done.`, &wire.UserOptions{UUID: uuid + "01"})
				turn := s.AwaitResult()
				present := func(line Seen, members ...string) {
					all := names(line.Raw)
					s.Note("%s: %s", strings.Fields(line.Text)[0], strings.Join(slices.DeleteFunc(members, func(m string) bool { return !slices.Contains(all, m) }), " "))
				}
				present(turn.Find("assistant")[0], "message", "parent_tool_use_id", "session_id", "uuid", "timestamp", "request_id", "user_message_uuid")
				present(turn.Find("user tool_result")[0], "message", "parent_tool_use_id", "session_id", "uuid", "tool_use_result", "timestamp", "user_message_uuid")
				present(turn.Last(), "cost_usd", "total_cost_usd", "usage", "modelUsage", "permission_denials", "num_turns", "stop_reason", "terminal_reason", "result_index", "user_message_uuids")
			},
			Quirks: []string{"UserTimes", "LineTimes", "PromptIDs", "ResultIndex", "ErrorDetails"},
			Want: Per{
				"2.1.37":  {"assistant: message parent_tool_use_id session_id uuid", "user: message parent_tool_use_id session_id uuid tool_use_result", "result: total_cost_usd usage modelUsage permission_denials num_turns stop_reason"},
				"2.1.120": {"assistant: message parent_tool_use_id session_id uuid", "user: message parent_tool_use_id session_id uuid tool_use_result timestamp", "result: total_cost_usd usage modelUsage permission_denials num_turns stop_reason terminal_reason"},
				"2.1.325": {"assistant: message parent_tool_use_id session_id uuid timestamp request_id user_message_uuid", "user: message parent_tool_use_id session_id uuid tool_use_result timestamp", "result: total_cost_usd usage modelUsage permission_denials num_turns stop_reason terminal_reason result_index user_message_uuids"},
			},
		},
		{
			ID: "lines.requesting", Facts: "§0 status requesting", Where: stdioOnly, Options: func(o *claude.Options) { o.IncludePartialMessages = true },
			Run: func(s *Stage) {
				s.NoteOnly(s.Turn("@say Here.").Lines, "system/status", "result")
			},
			Quirks: []string{"RequestingLines"},
			Want: Per{
				"2.1.37":  {"result success: Here."},
				"2.1.120": {"system/status requesting", "result success: Here."},
			},
		},
		{
			ID: "lines.lifecycle", Facts: "§0 command_lifecycle; rule 6", Where: stdioOnly,
			Run: func(s *Stage) {
				s.PromptWith("@say Here.", &wire.UserOptions{UUID: uuid + "02"})
				lines := s.AwaitResult().Lines
				if s.AtLeast(2, 1, 325) {
					lines = append(lines, s.Await(func(l Seen) bool { return l.Get("state") == "completed" })...)
				}
				for _, line := range lines {
					if line.Is("command_lifecycle") {
						s.Note("%s %s, mine: %t", line.Text, line.Get("state"), line.Get("command_uuid") == uuid+"02")
					}
				}
				s.NoteOnly(s.Turn("@say Without a uuid.").Lines, "command_lifecycle", "result")
			},
			Quirks: []string{"LifecycleLines"},
			Want: Per{
				"2.1.37":  {"result success: Without a uuid."},
				"2.1.325": {"command_lifecycle queued, mine: true", "command_lifecycle started, mine: true", "command_lifecycle completed, mine: true", "result success: Without a uuid."},
			},
		},
		{
			ID: "input.shapes", Facts: "seed 001: session_id and content; rule 2",
			Run: func(s *Stage) {
				for _, line := range []string{
					`{"type":"user","message":{"role":"user","content":"@say A text."}}`,
					`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"@say A list."}]}}`,
					`{"message":{"content":[{"text":"@say Any order.","type":"text"}],"role":"user"},"session_id":"","parent_tool_use_id":null,"type":"user"}`,
				} {
					s.Raw(line)
					s.NoteOnly(s.AwaitResult().Lines, "result")
				}
			},
			Want: Same("result success: A text.", "result success: A list.", "result success: Any order."),
		},
		{
			ID: "input.append", Facts: "§13 shouldQuery false", Where: stdioOnly,
			Run: func(s *Stage) {
				tag := s.Tag()
				s.Raw(string(must(wire.NewUser(wire.TextContent("@say Appended. "+tag), &wire.UserOptions{Append: true}))))
				s.NoteOnly(s.AwaitResult().Lines, "system/init", "assistant", "result")
				turn := s.Turn("@say Now.")
				s.Note("told the model: %t", strings.Contains(string(s.AwaitModel(turn.Tag, 1)[0].Body), tag))
			},
			Quirks: []string{"AppendOnly"},
			Want: Per{
				"2.1.37":  {"system/init", "assistant text: Appended.", "result success: Appended.", "told the model: true"},
				"2.1.120": {"system/init", "result success", "told the model: true"},
			},
		},
		{
			ID: "input.answer-twice", Facts: "§5 a second answer is ignored; rule 8",
			Where: both(stdioOnly, realOnly("the simulated CLI never runs a tool")),
			Run:   answerTwice, Want: Same("result success: It ran.", "result success: Nothing.", "ran once"),
		},
	}
}

// answerTwice sends the same permission again while its tool runs, as a program does that cannot know whether the first answer has arrived. The
// tool must run once. 2.1.37 runs it twice if the answer names the tool call, so this holds wire.Fit to taking the name out.
func answerTwice(s *Stage) {
	s.OnAsk(func(*wire.CanUseToolRequest) any { return nil })
	s.Prompt(`@tool Bash {"command":"echo once >> twice-runs; until test -e twice-released; do sleep 0.05; done","description":"Run"}
		@say It ran.`)
	question, _, _ := s.AwaitAsk()
	runs := filepath.Join(s.Dir, "twice-runs")
	allowed := &wire.Allow{ToolUseID: question.Request.(*wire.CanUseToolRequest).ToolUseID}
	for count := 0; ; count++ {
		s.Answer(question, allowed)
		s.Settle() // the CLI has read it
		if _, err := os.Stat(runs); err == nil && count > 0 {
			break
		}
		awaitFile(s, runs)
	}
	// Should the tool run again, it does not wait again.
	if err := os.WriteFile(filepath.Join(s.Dir, "twice-released"), nil, 0o600); err != nil {
		s.Fail("%w", err)
	}
	s.NoteOnly(s.AwaitResult().Lines, "result")
	// What the second answer may have caused is worked on before the next prompt.
	s.NoteOnly(s.Turn("@say Nothing.").Lines, "result")
	text, err := os.ReadFile(runs)
	if err != nil {
		s.Fail("%w", err)
	}
	s.Note("ran %s", strings.TrimSpace(string(text)))
}

// awaitFile waits until a file is there.
func awaitFile(s *Stage, path string) {
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-poll.C:
		case <-s.ctx.Done():
			s.Fail("%s has not come into being%s", path, s.said())
		}
	}
}

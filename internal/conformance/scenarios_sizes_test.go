package conformance

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// notHybrid is for scenarios about long lines, which take long enough.
func notHybrid(s Subject) string {
	if s.Transport == hybrid {
		return "stdio and the WebSocket show it"
	}
	return ""
}

// sizeScenarios are about long lines and prompts that wait.
func sizeScenarios() []Scenario {
	const length = 100_000
	output := strings.Repeat("x", length)
	return append([]Scenario{
		{
			ID: "sizes.tool-output", Facts: "§13 big tool output", Where: stdioOnly,
			Run: func(s *Stage) {
				s.OnAsk(allow)
				turn := s.Turn(fmt.Sprintf(`@tool Bash {"command":"head -c %d /dev/zero | tr '\\0' x","description":"Print"}
					@result %s
					@say Much.`, length, output))
				for _, line := range turn.Find("user tool_result") {
					result := line.Message.(*wire.User)
					text := ""
					for _, block := range result.Message.Content.All() {
						if r, ok := block.(*wire.ToolResultBlock); ok {
							text += texts(r.Content)
						}
					}
					stdout := member(line.Raw, "tool_use_result.stdout")
					s.Note("the model gets all: %t, stdout is told to %d kB, a file: %t", len(text) >= length, len(stdout)/1000, member(line.Raw, "tool_use_result.persistedOutputPath") != "")
				}
			},
			Quirks: []string{"OutputCut"},
			Want: Per{
				"2.1.37":  {"the model gets all: false, stdout is told to 100 kB, a file: false"},
				"2.1.120": {"the model gets all: false, stdout is told to 30 kB, a file: true"},
			},
		},
		{
			ID: "sizes.answer", Facts: "§13 lines have no bound; seed 001: 10 MB read buffer; rule 4", Where: notHybrid, Rare: allButNewest,
			Run: func(s *Stage) {
				const size = 11_000_000
				id := strings.Repeat("i", size) // it comes back with the answer
				s.Raw(`{"type":"control_request","request_id":"` + id + `","request":{"subtype":"mcp_status"}}`)
				lines := s.Await(func(l Seen) bool { return len(l.Raw) > size })
				s.Note("a line of over 11 MB: %s", lines[len(lines)-1].Text)
			},
			Want: Same("a line of over 11 MB: answers success"),
		},
		{
			ID: "sizes.separators", Facts: "§13 U+2028 and U+2029; rule 4", Where: stdioOnly,
			Run: func(s *Stage) {
				turn := s.Turn("@say \"One line\u2028or two\u2029or three.\"")
				for _, line := range turn.Find("assistant", "result") {
					s.Note("%s: literally %t, escaped %t", line.Get("type"), strings.Contains(string(line.Raw), "\u2028or"), strings.Contains(string(line.Raw), `\u2028or`))
				}
			},
			Quirks: []string{"LiteralSeparators"},
			Want: Per{
				"2.1.37":  {"assistant: literally true, escaped false", "result: literally true, escaped false"},
				"2.1.120": {"assistant: literally false, escaped true", "result: literally false, escaped true"},
			},
		},
		{
			ID: "sizes.prompt", Facts: "§13 5 MB of text; rule 20", Where: stdioOnly, Alone: true, Rare: allButNewest,
			Run: func(s *Stage) {
				s.Prompt("@say Read.\n" + strings.Repeat("All work and no play. ", 5_000_000/22))
				turn := s.AwaitResult()
				s.Note("result %s is_error=%t terminal_reason=%s", turn.Result.Subtype, turn.Result.IsError, turn.Last().Get("terminal_reason"))
				s.NoteOnly(turn.Lines, "system/status", "system/compact_boundary")
			},
			Sim: map[string]string{"*": "it does not compact by itself, nor count the tokens of a prompt"},
			Want: Per{
				"2.1.37":  {"result success is_error=false terminal_reason=", "system/status compacting", "system/status", "system/compact_boundary"},
				"2.1.120": {"result success is_error=false terminal_reason=completed", "system/status compacting", "system/status", "system/compact_boundary"},
				"2.1.325": {"result success is_error=true terminal_reason=blocking_limit", "system/status compacting", "system/status"},
			},
		},
		{
			ID: "sizes.image", Facts: "§13 images; rule 20", Where: stdioOnly, Rare: allButNewest,
			Run: func(s *Stage) {
				image := func(size int) string {
					// A picture of noise: what cannot be made smaller.
					return base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n" + strings.Repeat("\x00noise", size/6)))
				}
				tag := s.Tag()
				s.Raw(`{"type":"user","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + image(3_700_000) + `"}},{"type":"text","text":"@say Seen. ` + tag + `"}]},"parent_tool_use_id":null,"session_id":""}`)
				s.NoteOnly(s.AwaitResult().Lines, "result")
				s.Spoil() // the image would be sent again and again
			},
			Want: Same("result success: Seen."),
		},
		{
			ID: "sizes.text", Facts: "§13 a long text is one line; rule 4", Where: stdioOnly, Rare: allButNewest,
			Run: func(s *Stage) {
				const size = 2_000_000
				turn := s.Turn(fmt.Sprintf("@huge %d", size))
				for _, line := range turn.Find("assistant", "result") {
					s.Note("%s line of over 2 MB: %t", line.Get("type"), len(line.Raw) > size)
				}
				s.Spoil() // the conversation would go on with it
			},
			Want: Same("assistant line of over 2 MB: true", "result line of over 2 MB: true"),
		},
		{
			ID: "sizes.line", Facts: "§13 an input line of over 256 M characters", Where: both(stdioOnly, since("2.1.325", "2.1.37 takes minutes for a quarter of it")), Alone: true, Slow: true,
			Run: func(s *Stage) {
				line := `{"type":"keep_alive","padding":"` + strings.Repeat("x", 257<<20) + `"}`
				err := s.Conn.Transport().Write(s.ctx, []byte(line)) // it ends while it reads
				s.Note("refused while it is written: %t", err != nil)
				if err == nil {
					return
				}
				s.AwaitEnd()
				s.Note("exit %d", s.Exit())
			},
			Sim:  map[string]string{"*": "it reads lines of any length"},
			Want: Same("refused while it is written: true", "exit 1"),
		},
	}, queueScenarios()...)
}

func queueScenarios() []Scenario {
	return []Scenario{
		{
			ID: "queue.burst", Facts: "§13 fast user messages; rule 6", Where: stdioOnly,
			Run: func(s *Stage) {
				const n = 10
				last := ""
				for i := range n {
					last = fmt.Sprintf("Number %d.", i)
					pace := ""
					if i == 0 {
						pace = "@slow 700ms\n" // long enough for a busy machine to read the others
					}
					tag := s.PromptWith(pace+"@say "+last, &wire.UserOptions{UUID: fmt.Sprintf("123e4567-e89b-42d3-a456-42661417c%03d", i)})
					if i == 0 {
						s.AwaitModel(tag, 1) // the others come while it is at work
					}
				}
				lines := s.AwaitText("result success: " + last)
				results := Turn{Lines: lines}.Find("result")
				s.Note("%d results for %d prompts", len(results), n)
				for _, result := range results {
					if uuids := result.Message.(*wire.Result).UserMessageUUIDs; len(uuids) > 0 {
						s.Note("a result for %d of them", len(uuids))
					}
				}
			},
			Quirks: []string{"MergesQueue", "PromptIDs"},
			Want: Per{
				"2.1.37":  {"10 results for 10 prompts"},
				"2.1.120": {"2 results for 10 prompts"},
				"2.1.325": {"2 results for 10 prompts", "a result for 1 of them", "a result for 9 of them"},
			},
		},
		{
			ID: "queue.in-turn", Facts: "§22 messages sent while a tool runs are folded into the turn; §22 echo as receipt", Where: stdioOnly, Options: func(o *claude.Options) { o.ReplayUserMessages = true },
			Run: func(s *Stage) {
				s.On("can_use_tool", func(*wire.ControlRequest) any { return nil })
				tag := s.Prompt(`@tool Bash {"command":"touch folded","description":"Ask"}
					@say Done.`)
				question, _, lines := s.AwaitAsk()
				s.NoteOnly(lines, "user replay")
				s.PromptWith("And hurry.", &wire.UserOptions{UUID: "123e4567-e89b-42d3-a456-42661417c100"})
				s.NoteOnly(s.Settle(), "user replay")
				s.Note("answered")
				s.Answer(question, &wire.Allow{})
				s.NoteOnly(s.AwaitResult().Lines, "user replay", "result")
				s.NoteLines(s.Settle())
				requests := s.Asked(tag)
				s.Note("the model was asked %d times, told of it: %t", len(requests), strings.Contains(string(requests[len(requests)-1].Body), "And hurry."))
			},
			Want: Same(`user replay text: @tool Bash {"command":"touch folded","description":"Ask"} @say Done.`, "answered", "user replay text: And hurry.", "result success: Done.", "the model was asked 2 times, told of it: true"),
		},
	}
}

// allButNewest is for what takes seconds of a core: every day the newest real CLI is enough.
func allButNewest(s Subject) bool { return s.Kind != kindReal || s.Name != Newest }

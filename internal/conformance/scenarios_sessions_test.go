package conformance

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// unusedID is the id of a conversation or message that does not exist.
const unusedID = "123e4567-e89b-42d3-a456-42661417b001"

// dear is a reply that costs so much that what a CLI asks for itself does not show beside it.
const dear = "@usage in=10 out=20000\n@say "

// finish ends the input, and waits for the end of the process.
func finish(s *Stage) {
	s.CloseInput()
	s.AwaitEnd()
	s.Exit()
}

// transcripts returns the files with conversations below a folder.
func transcripts(s *Stage, config string) []string {
	files, err := filepath.Glob(filepath.Join(config, "projects", "*", "*.jsonl"))
	if err != nil {
		s.Fail("%w", err)
	}
	// The files of sub-agents and of requests that are no conversation have other names.
	return slices.DeleteFunc(files, func(path string) bool { return len(filepath.Base(path)) != len(unusedID)+len(".jsonl") })
}

// awaitTranscript waits until a text is in a file with a conversation.
func awaitTranscript(s *Stage, text string) {
	awaitThat(s, "the transcript holds "+text, func() bool {
		for _, path := range transcripts(s, filepath.Join(s.Home, ".claude")) {
			if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), text) {
				return true
			}
		}
		return false
	})
}

// knows tells whether the model was shown another turn when it was asked for this one.
func knows(s *Stage, turn, other Turn) bool {
	return strings.Contains(string(s.AwaitModel(turn.Tag, 1)[0].Body), other.Tag)
}

// costs returns what a result says was spent, in turns that cost as much as another result says.
func costs(turn, unit Turn) string {
	return fmt.Sprintf("%.1f", turn.Result.TotalCostUSD/unit.Result.TotalCostUSD)
}

// sessionScenarios are about conversations that outlive a process, and what they cost.
func sessionScenarios() []Scenario {
	return slices.Concat(resumeScenarios(), refusedSessionScenarios(), transcriptScenarios(), costScenarios())
}

func resumeScenarios() []Scenario {
	return []Scenario{
		{
			ID: "sessions.resume", Facts: "§8 --resume; §8 --resume-session-at; seed 000: old messages are replayed on resume; §8 two processes may resume the same conversation; costs after a resume", Where: stdioOnly, Alone: true,
			Run: func(s *Stage) {
				first := s.Turn(dear + "One.")
				said := first.Find("assistant")[0].Get("uuid")
				second := s.Turn(dear + "Two.")
				s.Note("costs %s", costs(second, first))
				finish(s)

				s.Restart(func(o *claude.Options) { o.Resume, o.ReplayUserMessages = first.Result.SessionID, true })
				s.NoteLines(s.Settle())
				third := s.Turn(dear + "Three.")
				s.NoteLines(third.Lines)
				s.Note("the same conversation: %t, the model knows it: %t, costs %s", third.Result.SessionID == first.Result.SessionID, knows(s, third, second), costs(third, first))
				finish(s)

				s.Restart(func(o *claude.Options) { o.Resume, o.ResumeSessionAt = first.Result.SessionID, said })
				fourth := s.Turn(dear + "Four.")
				s.Note("the same conversation: %t, the model knows the first turn: %t, the second: %t", fourth.Result.SessionID == first.Result.SessionID, knows(s, fourth, first), knows(s, fourth, second))

				// Another process may go on with it at the same time.
				running, at := s.host, s.at
				l := s.column.launch(s)
				l.home, l.dir = s.Home, s.Dir
				l.options = append(l.options, func(o *claude.Options) { o.Resume = first.Result.SessionID })
				other, err := l.start(s.ctx)
				defer func() { _ = other.close() }() // a failure to end it says nothing about the CLI
				if err != nil {
					s.Fail("starting a second process: %w", err)
				}
				s.use(other)
				s.NoteOnly(s.Turn("@say In the second process.").Lines, "result")
				s.use(running)
				s.at = at
				s.NoteOnly(s.Turn("@say In the first process.").Lines, "result")
			},
			Quirks: []string{"CostsContinue"},
			Want: Per{
				"2.1.37":  {"costs 2.0", "system/init", "user replay text: @usage in=10 out=20000 @say Three.", "assistant text: Three.", "result success: Three.", "the same conversation: true, the model knows it: true, costs 1.0", "the same conversation: true, the model knows the first turn: true, the second: false", "result success: In the second process.", "result success: In the first process."},
				"2.1.325": {"costs 2.0", "system/init", "user replay text: @usage in=10 out=20000 @say Three.", "assistant text: Three.", "result success: Three.", "the same conversation: true, the model knows it: true, costs 3.0", "the same conversation: true, the model knows the first turn: true, the second: false", "result success: In the second process.", "result success: In the first process."},
			},
		},
		{
			ID: "sessions.fork", Facts: "§8 --fork-session; §8 --continue; costs after a fork", Where: stdioOnly, Alone: true,
			Run: func(s *Stage) {
				first := s.Turn(dear + "One.")
				finish(s)

				s.Restart(func(o *claude.Options) { o.Resume, o.ForkSession = first.Result.SessionID, true })
				second := s.Turn(dear + "Two.")
				s.Note("another conversation: %t, the model knows the first: %t, costs %s", second.Result.SessionID != first.Result.SessionID, knows(s, second, first), costs(second, first))
				finish(s)

				s.Restart(func(o *claude.Options) { o.Continue, o.ForkSession, o.SessionID = true, true, unusedID })
				third := s.Turn(dear + "Three.")
				s.Note("the id asked for: %t, the model knows the fork: %t, costs %s", third.Result.SessionID == unusedID, knows(s, third, second), costs(third, first))
			},
			Quirks: []string{"CostsContinue"},
			Want: Per{
				"2.1.37":  {"another conversation: true, the model knows the first: true, costs 1.0", "the id asked for: true, the model knows the fork: true, costs 1.0"},
				"2.1.325": {"another conversation: true, the model knows the first: true, costs 2.0", "the id asked for: true, the model knows the fork: true, costs 3.0"},
			},
		},
		{
			ID: "sessions.killed", Facts: "§8 resume after a SIGKILL; rule 17; costs after a SIGKILL", Where: stdioOnly, Alone: true,
			Run: func(s *Stage) {
				first := s.Turn(dear + "One.")
				s.On("can_use_tool", func(*wire.ControlRequest) any { return nil })
				s.Prompt(`@tool Bash {"command":"touch killed-here","description":"Ask"}
					@say Done.`)
				s.AwaitAsk()
				awaitTranscript(s, "killed-here") // it is written with a delay
				s.Signal(os.Kill)
				s.AwaitEnd()

				s.Restart(func(o *claude.Options) { o.Resume = first.Result.SessionID })
				answer, err := s.TryRequest(&wire.InitializeRequest{})
				if refused, ok := err.(*claude.ControlError); ok { //nolint:errorlint // it is what Request returns
					answer = refused.Answer
				}
				s.Note("%d open", len(answer.PendingPermissionRequests))
				s.NoteLines(s.Settle(), "system/background_tasks_changed") // there are none
				second := s.Turn(dear + "Two.")
				s.NoteLines(second.Lines)
				s.Note("the same conversation: %t, the model knows it: %t, costs %s", second.Result.SessionID == first.Result.SessionID, knows(s, second, first), costs(second, first))
			},
			Want: Same("0 open", "system/init", "assistant text: Two.", "result success: Two.", "the same conversation: true, the model knows it: true, costs 1.0"),
		},
		{
			ID: "sessions.other-folder", Facts: "§8 resume from another cwd", Where: stdioOnly, Alone: true, NoInitialize: true,
			Run: func(s *Stage) {
				first := s.Turn("@say One.")
				finish(s)
				other := filepath.Join(s.Home, "elsewhere")
				if err := os.Mkdir(other, 0o700); err != nil {
					s.Fail("%w", err)
				}
				s.Restart(func(o *claude.Options) { o.Dir, o.Resume = other, first.Result.SessionID })
				// A version that does not find it ends without reading, and may have ended already.
				_ = s.Conn.Send(s.ctx, must(wire.NewUser(wire.TextContent("@say Two.\n"+s.Tag()), nil)))
				s.CloseInput()
				s.NoteOnly(s.AwaitEnd(), "result")
				s.Note("exit %d", s.Exit())
			},
			Want: Per{
				"2.1.37":  {"result error_during_execution is_error error=No conversation found with session ID: <uuid>", "exit 1"},
				"2.1.325": {"result success: Two.", "exit 0"},
			},
		},
		{
			ID: "sessions.title", Facts: "§8 resume by title", Where: both(stdioOnly, since("2.1.120", "2.1.37 has no --name")), NoInitialize: true,
			Options: func(o *claude.Options) { o.Name = "a-title-of-its-own" },
			Run: func(s *Stage) {
				first := s.Turn("@say One.")
				finish(s)
				s.Restart(func(o *claude.Options) { o.Name, o.Resume = "", "a-title-of-its-own" })
				second := s.Turn("@say Two.")
				s.Note("the same conversation: %t, the model knows it: %t", first.Result.SessionID == second.Result.SessionID, knows(s, second, first))
			},
			Want: Same("the same conversation: true, the model knows it: true"),
		},
	}
}

// refusedSessionScenarios are about conversations that a CLI does not open.
func refusedSessionScenarios() []Scenario {
	with := func(more ...string) func([]string) []string {
		return func(args []string) []string { return append(slices.Clone(args), more...) }
	}
	// ends notes what comes without any input.
	ends := func(s *Stage) {
		for _, line := range s.AwaitEnd() {
			s.Note("%s", line.Text)
			if line.Is("result") {
				s.Note("num_turns=%s, under the id asked for: %t", line.Get("num_turns"), line.Get("session_id") == unusedID)
			}
		}
		s.Note("exit %d, told on standard error: %t", s.Exit(), strings.TrimSpace(s.Stderr()) != "")
	}
	return []Scenario{
		{
			ID: "sessions.unknown", Facts: "§8 --resume of an unknown conversation", Where: stdioOnly, NoInitialize: true,
			Options: func(o *claude.Options) { o.Resume = unusedID },
			Run:     ends, Quirks: []string{"ResumeFreshID", "ResumeErrorTold"}, Want: Per{
				"2.1.37":  {"result error_during_execution is_error error=No conversation found with session ID: <uuid>", "num_turns=0, under the id asked for: false", "exit 1, told on standard error: false"},
				"2.1.120": {"result error_during_execution is_error error=No conversation found with session ID: <uuid>", "num_turns=0, under the id asked for: false", "exit 1, told on standard error: true"},
				"2.1.325": {"result error_during_execution is_error error=No conversation found with session ID: <uuid>", "num_turns=0, under the id asked for: true", "exit 1, told on standard error: true"},
			},
		},
		{
			ID: "sessions.unknown-title", Facts: "§8 --resume with something that is no id", Where: stdioOnly, NoInitialize: true,
			Args: with("--resume", "nobody-has-this-title"), Run: ends, Want: Per{
				"2.1.37":  {"result error_during_execution is_error error=Error: --resume requires a valid session ID when used with --print. Usage: claude -p --resume <session-id>. Session…", "num_turns=0, under the id asked for: false", "exit 1, told on standard error: false"},
				"2.1.120": {"result error_during_execution is_error error=Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume <ses…", "num_turns=0, under the id asked for: false", "exit 1, told on standard error: true"},
			},
		},
		{
			ID: "sessions.id-not-uuid", Facts: "§8 --session-id that is no UUID", Where: stdioOnly, NoInitialize: true,
			Args: with("--session-id", "nonsense"), Run: ends, Want: Same("exit 1, told on standard error: true"),
		},
		{
			ID: "sessions.id-and-resume", Facts: "§8 --session-id with --resume", Where: stdioOnly, NoInitialize: true,
			Args: with("--session-id", unusedID, "--resume", "123e4567-e89b-42d3-a456-42661417b002"), Run: ends, Want: Same("exit 1, told on standard error: true"),
		},
		{
			ID: "sessions.id-in-use", Facts: "§8 --session-id that is in use; §8 --resume-session-at an unknown message", Where: stdioOnly, NoInitialize: true,
			Options: func(o *claude.Options) { o.SessionID = unusedID },
			Run: func(s *Stage) {
				s.Note("the id asked for: %t", s.Turn("@say One.").Result.SessionID == unusedID)
				finish(s)
				s.Restart(func(*claude.Options) {})
				ends(s)
				s.Restart(func(o *claude.Options) {
					o.SessionID, o.Resume, o.ResumeSessionAt = "", unusedID, "123e4567-e89b-42d3-a456-42661417b003"
				})
				ends(s)
			},
			Want: Per{
				"2.1.37":  {"the id asked for: true", "exit 1, told on standard error: true", "result error_during_execution is_error error=No message found with message.uuid of: <uuid>", "num_turns=0, under the id asked for: false", "exit 1, told on standard error: false"},
				"2.1.120": {"the id asked for: true", "exit 1, told on standard error: true", "result error_during_execution is_error error=No message found with message.uuid of: <uuid>", "num_turns=0, under the id asked for: false", "exit 1, told on standard error: true"},
				"2.1.325": {"the id asked for: true", "exit 1, told on standard error: true", "result error_during_execution is_error error=No message found with message.uuid of: <uuid>", "num_turns=0, under the id asked for: true", "exit 1, told on standard error: true"},
			},
		},
	}
}

func transcriptScenarios() []Scenario {
	mapped := func(dir string) string {
		var out strings.Builder
		for _, r := range dir {
			switch {
			case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9':
				out.WriteRune(r)
			case r > 0xffff:
				out.WriteString("--")
			default:
				out.WriteByte('-')
			}
		}
		return out.String()
	}
	inside := func(o *claude.Options, name string) {
		o.Dir = filepath.Join(o.Dir, name)
		if err := os.MkdirAll(o.Dir, 0o700); err != nil {
			panic(failure{err})
		}
	}
	return []Scenario{
		{
			ID: "sessions.transcript", Facts: "§8 where transcripts are; §8 CLAUDE_CONFIG_DIR; §8 --no-session-persistence; rule 22", Where: stdioOnly, NoInitialize: true,
			Options: func(o *claude.Options) { inside(o, "a b.ü😀") },
			Run: func(s *Stage) {
				id := s.Turn("@say One.").Result.SessionID
				finish(s)
				want := filepath.Join(s.Home, ".claude", "projects", mapped(filepath.Join(s.Dir, "a b.ü😀")), id+".jsonl")
				found := transcripts(s, filepath.Join(s.Home, ".claude"))
				s.Note("%d, where it is expected: %t", len(found), slices.Contains(found, want))

				config := filepath.Join(s.Home, "elsewhere")
				s.Restart(func(o *claude.Options) { o.Env = append(o.Env, "CLAUDE_CONFIG_DIR="+config) })
				s.Turn("@say Two.")
				finish(s)
				s.Note("%d in the other folder", len(transcripts(s, config)))

				config = filepath.Join(s.Home, "none")
				s.Restart(func(o *claude.Options) {
					o.Env = append(o.Env, "CLAUDE_CONFIG_DIR="+config)
					o.NoSessionPersistence = true
				})
				s.Turn("@say Three.")
				finish(s)
				s.Note("%d not to be kept", len(transcripts(s, config)))
			},
			Want: Same("1, where it is expected: true", "1 in the other folder", "0 not to be kept"),
		},
		{
			ID: "sessions.long-folder", Facts: "§8 a name over 200 characters; rule 22", Where: stdioOnly, NoInitialize: true,
			Options: func(o *claude.Options) { inside(o, strings.Repeat(strings.Repeat("long", 30)+"/", 3)) },
			Run: func(s *Stage) {
				s.NoteOnly(s.Turn("@say One.").Lines, "result")
				finish(s)
				for _, path := range transcripts(s, filepath.Join(s.Home, ".claude")) {
					name := filepath.Base(filepath.Dir(path))
					s.Note("in a folder whose name is cut: %t", len(name) < 255)
				}
			},
			Want: Per{
				"2.1.37":  {"result success: One."},
				"2.1.120": {"result success: One.", "in a folder whose name is cut: true"},
			},
		},
		{
			ID: "sessions.echo", Facts: "§8 --replay-user-messages; seed 001: user echo; §8 a duplicate uuid", Where: stdioOnly, Options: func(o *claude.Options) { o.ReplayUserMessages = true },
			Run: func(s *Stage) {
				for _, text := range []string{"@say One.", "@say Two."} {
					s.PromptWith(text, &wire.UserOptions{UUID: unusedID})
					lines := s.AwaitText("user replay")
					s.NoteLines(lines)
					s.Note("its uuid: %t", lines[len(lines)-1].Get("uuid") == unusedID)
					if text == "@say One." {
						s.NoteLines(s.AwaitResult().Lines)
					}
				}
				s.NoteLines(s.Settle())
			},
			Want: Same("system/init", "user replay text: @say One.", "its uuid: true", "assistant text: One.", "result success: One.", "user replay text: @say Two.", "its uuid: true"),
		},
		{
			ID: "sessions.no-echo", Facts: "§8 without --replay-user-messages; seed 001: user echo",
			Run: func(s *Stage) {
				s.PromptWith("@say One.", &wire.UserOptions{UUID: "123e4567-e89b-42d3-a456-42661417b004"})
				s.NoteOnly(s.AwaitResult().Lines, "user", "result")
				s.PromptWith("@say Two.", &wire.UserOptions{UUID: "123e4567-e89b-42d3-a456-42661417b004"})
				s.NoteLines(s.Settle())
			},
			Want: Same("result success: One."),
		},
	}
}

func costScenarios() []Scenario {
	return []Scenario{
		{
			ID: "costs.turns", Facts: "seed 004: cost_usd in result; costs are those of the process", Where: stdioOnly,
			Run: func(s *Stage) {
				before := s.Turn("@say Before.")
				first := s.Turn("@slow 100ms\n" + dear + "Some words that take their time.")
				second := s.Turn(dear + "Two.")
				last := second.Last()
				s.Note("the second as much as the first: %t, total_cost_usd: %t, cost_usd: %t", math.Abs((second.Result.TotalCostUSD-first.Result.TotalCostUSD)-(first.Result.TotalCostUSD-before.Result.TotalCostUSD)) < 0.01,
					last.Get("total_cost_usd") != "", last.Get("cost_usd") != "")
				s.Note("output tokens %s, then %s", first.Last().Get("usage.output_tokens"), last.Get("usage.output_tokens"))
				s.Note("time at the API adds up: %t", second.Result.DurationAPIMs >= first.Result.DurationAPIMs)
				for _, name := range []string{"stop_reason", "terminal_reason", "api_error_status", "fast_mode_state"} {
					s.Note("%s: %s", name, rawMember(last.Raw, name))
				}
				s.Note("numbered: %t, told what is new: %t, its type comes first: %t", rawMember(last.Raw, "result_index") != "", rawMember(last.Raw, "model_usage_since_last_result") != "",
					strings.HasPrefix(string(last.Raw), `{"type":"result"`))
			},
			Quirks: []string{"CumulativeAPITime", "ResultIndex", "ErrorDetails"},
			Want: Per{
				"2.1.37":  {"the second as much as the first: true, total_cost_usd: true, cost_usd: false", "output tokens 20000, then 20000", "time at the API adds up: true", "stop_reason: null", "terminal_reason:", "api_error_status:", "fast_mode_state:", "numbered: false, told what is new: false, its type comes first: true"},
				"2.1.120": {"the second as much as the first: true, total_cost_usd: true, cost_usd: false", "output tokens 20000, then 20000", "time at the API adds up: true", `stop_reason: "end_turn"`, `terminal_reason: "completed"`, "api_error_status: null", `fast_mode_state: "off"`, "numbered: false, told what is new: false, its type comes first: true"},
				"2.1.325": {"the second as much as the first: true, total_cost_usd: true, cost_usd: false", "output tokens 20000, then 20000", "time at the API adds up: true", `stop_reason: "end_turn"`, `terminal_reason: "completed"`, "api_error_status: null", `fast_mode_state: "off"`, "numbered: true, told what is new: true, its type comes first: false"},
			},
		},
		{
			ID: "costs.clear", Facts: "costs after /clear", Where: stdioOnly, Alone: true,
			Run: func(s *Stage) {
				first := s.Turn(dear + "One.")
				s.Note("costs %s", costs(s.TurnExact("/clear"), first))
				s.Note("costs %s", costs(s.Turn(dear+"Two."), first))
			},
			Quirks: []string{"ClearKnown"},
			Want: Per{
				"2.1.37":  {"costs 1.0", "costs 2.0"},
				"2.1.325": {"costs 0.0", "costs 1.0"},
			},
		},
		{
			ID: "costs.compact", Facts: "costs after /compact; §12 /compact; seed 000: compact_boundary, then status null", Where: stdioOnly, Alone: true,
			Run: func(s *Stage) {
				first := s.Turn(dear + "One.")
				second := s.Turn(dear + "Two.")
				turn := s.TurnExact("/compact")
				for _, line := range turn.Lines {
					switch {
					case line.Is("system/status", "system/compact_boundary", "result"):
						s.Note("%s", line.Text)
					case line.Is("user"):
						s.Note("user, replay %s, synthetic %s", line.Get("isReplay"), line.Get("isSynthetic"))
					}
				}
				s.Note("it costs something: %t", turn.Result.TotalCostUSD > second.Result.TotalCostUSD)
				third := s.Turn(dear + "Three.")
				third.Result.TotalCostUSD -= turn.Result.TotalCostUSD
				s.Note("the next turn costs %s more, the model knows the first turn: %t", costs(third, first), knows(s, third, first))
			},
			Want: Per{
				"2.1.37":  {"system/status compacting", "system/status", "system/compact_boundary", "user, replay false, synthetic", "user, replay true, synthetic", "result success", "it costs something: true", "the next turn costs 1.0 more, the model knows the first turn: false"},
				"2.1.120": {"system/status compacting", "system/status", "system/compact_boundary", "user, replay false, synthetic true", "user, replay true, synthetic", "result success", "it costs something: true", "the next turn costs 1.0 more, the model knows the first turn: false"},
			},
		},
	}
}

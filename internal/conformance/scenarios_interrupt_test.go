package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// chatter has the model speak for some seconds, in a text of many words.
const chatter = "@slow 100ms\n@say One word follows the other in this text so that there is time enough to interrupt it before it has come to an end which it hardly ever does"

// speaking sends a prompt and waits until some of the model's words have come. The process must have been asked for partial messages.
func speaking(s *Stage, prompt string, o *wire.UserOptions) {
	s.PromptWith(prompt, o)
	s.AwaitText("stream_event content_block_delta")
}

// awaitThat waits until something is so that no line tells of.
func awaitThat(s *Stage, what string, is func() bool) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !is() {
		select {
		case <-ticker.C:
		case <-s.ctx.Done():
			s.Fail("waiting until %s: %w%s", what, s.ctx.Err(), s.said())
		}
	}
}

// working has the model call Bash with a command that lasts, and waits until it runs. It returns the command's process, 0 on the simulated CLI,
// which runs nothing.
func working(s *Stage, name string) int {
	s.OnAsk(func(*wire.CanUseToolRequest) any { return nil })
	path := filepath.Join(s.Dir, name)
	s.Prompt(fmt.Sprintf(`@tool Bash {"command":"echo $$ > %s.new && mv %s.new %s && exec sleep 300","description":"Wait"}
		@takes 300s
		@say Done.`, path, path, path))
	question, _, _ := s.AwaitAsk()
	s.Answer(question, &wire.Allow{})
	if !s.Real() {
		s.Settle()
		return 0
	}
	pid := 0
	awaitThat(s, "the command runs", func() bool {
		text, err := os.ReadFile(path)
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		return err == nil
	})
	return pid
}

// noteInterrupted notes what an interrupted turn wrote, and how its result differs from others.
func noteInterrupted(s *Stage, lines []Seen) {
	for _, line := range lines {
		switch {
		case line.Is("assistant text: "):
			s.Note("the text so far, aborted=%s", line.Get("aborted"))
		case line.Is("user tool_result error"):
			s.Note("user tool_result error")
		case line.Is("asks", "withdraws", "answers", "user text", "user synthetic", "result"):
			s.Note("%s", line.Text)
		}
		if line.Is("result") {
			s.Note("terminal_reason=%s num_turns=%s", line.Get("terminal_reason"), line.Get("num_turns"))
		}
	}
}

// chance is for scenarios that do not always go the same way on a version.
func chance(version, reason string) func(Subject) string {
	return func(s Subject) string {
		if s.Name == version {
			return reason
		}
		return ""
	}
}

// interruptScenarios are about interrupts and signals.
func interruptScenarios() []Scenario {
	return slices.Concat(interruptTurnScenarios(), interruptQueueScenarios(), signalScenarios())
}

func interruptTurnScenarios() []Scenario {
	return []Scenario{
		{
			ID: "interrupt.stream", Facts: "§5 mid stream; seed 000: interrupt response empty; rule 5", Where: stdioOnly, Warm: "partial",
			Run: func(s *Stage) {
				speaking(s, chatter, nil)
				answer := s.Request(&wire.InterruptRequest{})
				s.Note("body: %s", strings.Join(names(answer.Response), " "))
				noteInterrupted(s, s.AwaitResult().Lines)
				s.NoteOnly(s.Turn("@say The next one.").Lines, "assistant", "result")
			},
			Quirks: []string{"InterruptTellsPartial", "InterruptIsError", "InterruptTellsQueue", "ErrorDetails"},
			Want: Per{
				"2.1.37":  {"body:", "answers success", "user text: [Request interrupted by user]", "result error_during_execution", "terminal_reason= num_turns=2", "assistant text: The next one.", "result success: The next one."},
				"2.1.120": {"body:", "answers success", "the text so far, aborted=", "user text: [Request interrupted by user]", "result error_during_execution is_error error=[ede_diagnostic]", "terminal_reason=aborted_streaming num_turns=2", "assistant text: The next one.", "result success: The next one."},
				"2.1.325": {"body: still_queued", "answers success", "the text so far, aborted=true", "user text: [Request interrupted by user]", "result error_during_execution is_error error=[ede_diagnostic]", "terminal_reason=aborted_streaming num_turns=2", "assistant text: The next one.", "result success: The next one."},
			},
		},
		{
			ID: "interrupt.tool", Facts: "§5 mid tool; §5 the process of Bash is killed", Where: stdioOnly,
			Run: func(s *Stage) {
				pid := working(s, "interrupted-tool")
				s.Request(&wire.InterruptRequest{})
				noteInterrupted(s, s.AwaitResult().Lines)
				if pid != 0 {
					awaitThat(s, "the command is gone", func() bool { return gone(pid) })
				}
			},
			Quirks: []string{"InterruptIsError"},
			Want: Per{
				"2.1.37":  {"answers success", "user tool_result error", "user text: [Request interrupted by user for tool use]", "result error_during_execution", "terminal_reason= num_turns=3"},
				"2.1.120": {"answers success", "user tool_result error", "user text: [Request interrupted by user for tool use]", "result error_during_execution is_error error=[ede_diagnostic]", "terminal_reason=aborted_tools num_turns=3"},
			},
		},
		{
			ID: "interrupt.question", Facts: "§5 can_use_tool pending; §5 a late answer is ignored; rule 8",
			Run: func(s *Stage) {
				s.On("can_use_tool", func(*wire.ControlRequest) any { return nil })
				s.Prompt(`@tool Bash {"command":"touch interrupted","description":"Ask"}
					@say Done.`)
				question, _, _ := s.AwaitAsk()
				s.Settle() // in hybrid mode 2.1.37 hangs if the interrupt comes before the answer to the POST with the question
				s.Request(&wire.InterruptRequest{})
				lines := s.AwaitResult().Lines
				for i, line := range lines {
					if cancel, ok := line.Message.(*wire.ControlCancel); ok {
						if s.Transport == hybrid && i > 0 && lines[i-1].Is("answers") {
							lines[i-1], lines[i] = lines[i], lines[i-1] // two POSTs at once: either may arrive first
						}
						s.Note("withdrawn is what was asked: %t", cancel.RequestID == question.RequestID)
					}
				}
				noteInterrupted(s, lines)
				s.Answer(question, &wire.Allow{})
				s.NoteLines(s.Settle())
				s.NoteOnly(s.Turn("@say The next one.").Lines, "assistant", "result")
			},
			Quirks: []string{"InterruptIsError"},
			Want: Per{
				"2.1.37":  {"withdrawn is what was asked: true", "withdraws", "answers success", "user tool_result error", "user text: [Request interrupted by user for tool use]", "result error_during_execution", "terminal_reason= num_turns=3", "assistant text: The next one.", "result success: The next one."},
				"2.1.120": {"withdrawn is what was asked: true", "withdraws", "answers success", "user tool_result error", "user text: [Request interrupted by user for tool use]", "result error_during_execution is_error error=[ede_diagnostic]", "terminal_reason=aborted_tools num_turns=3", "assistant text: The next one.", "result success: The next one."},
			},
		},
		{
			ID: "interrupt.idle", Facts: "§5 idle",
			Run: func(s *Stage) {
				s.Request(&wire.InterruptRequest{})
				s.NoteLines(s.Settle())
				s.NoteOnly(s.Turn("@say As ever.").Lines, "user", "assistant", "result")
			},
			Want: Same("assistant text: As ever.", "result success: As ever."),
		},
		{
			ID: "interrupt.retry", Facts: "§5 API retry wait", Where: stdioOnly,
			Run: func(s *Stage) {
				tag := s.Prompt("@error 529 times=1 retry-after=30\n@say Much later.")
				s.AwaitModel(tag, 1)
				if s.AtLeast(2, 1, 120) {
					s.AwaitText("system/api_retry")
				}
				s.Request(&wire.InterruptRequest{})
				noteInterrupted(s, s.AwaitResult().Lines)
				s.Note("the model was asked %d times", len(s.Asked(tag)))
			},
			Want: Per{
				"2.1.37":  {"answers success", "user text: [Request interrupted by user]", "result error_during_execution", "terminal_reason= num_turns=2", "the model was asked 1 times"},
				"2.1.120": {"answers success", "user text: [Request interrupted by user]", "result error_during_execution is_error error=[ede_diagnostic]", "terminal_reason=aborted_streaming num_turns=2", "the model was asked 1 times"},
			},
		},
	}
}

func interruptQueueScenarios() []Scenario {
	const first, second, third = "-e89b-42d3-a456-42661417a001", "-e89b-42d3-a456-42661417a002", "-e89b-42d3-a456-42661417a003"
	// queued leaves two prompts in the queue behind a turn that runs. The group is the part in which the ids of scenarios differ.
	queued := func(s *Stage, group string) {
		speaking(s, chatter, &wire.UserOptions{UUID: group + first})
		s.PromptWith("@say Second.", &wire.UserOptions{UUID: group + second})
		s.PromptWith("@say Third.", &wire.UserOptions{UUID: group + third})
		s.Settle()
	}
	note := func(s *Stage, answer *wire.ControlAnswer) {
		for _, name := range names(answer.Response) {
			if name == "still_queued" || name == "cancelled" {
				list := member(answer.Response, name)
				s.Note("%s: second %t, third %t", name, strings.Contains(list, second), strings.Contains(list, third))
			}
		}
	}
	lifecycle := func(s *Stage, lines []Seen) {
		for _, line := range lines {
			switch {
			case line.Is("command_lifecycle"):
				_, id, _ := strings.Cut(line.Get("command_uuid"), "-")
				s.Note("%s %s", map[string]string{first: "first", second: "second", third: "third"}["-"+id], line.Get("state"))
			case line.Is("assistant text: Second", "assistant text: Third", "result"):
				s.Note("%s", line.Text)
			}
		}
	}
	return []Scenario{
		{
			ID: "interrupt.queue", Facts: "§5 queued messages run after the interrupted turn", Where: stdioOnly, Warm: "partial",
			Run: func(s *Stage) {
				queued(s, "123e4567")
				note(s, s.Request(&wire.InterruptRequest{}))
				lifecycle(s, s.AwaitText("result success: Third."))
				if s.AtLeast(2, 1, 325) {
					lifecycle(s, s.AwaitText("system/session_state_changed idle"))
				}
			},
			Quirks: []string{"InterruptTellsQueue", "LifecycleLines", "MergesQueue"},
			Want: Per{
				"2.1.37":  {"result error_during_execution", "assistant text: Second.", "result success: Second.", "assistant text: Third.", "result success: Third."},
				"2.1.120": {"result error_during_execution is_error error=[ede_diagnostic]", "assistant text: Second.", "assistant text: Third.", "result success: Third."},
				"2.1.325": {"still_queued: second true, third true", "result error_during_execution is_error error=[ede_diagnostic]", "first cancelled", "second started", "third started", "assistant text: Second.", "assistant text: Third.", "result success: Third.", "second completed", "third completed"},
			},
		},
		{
			ID: "interrupt.cancel_queued", Facts: "§5 cancel_queued; §15 interrupt.cancel_queued", Where: stdioOnly, Warm: "partial",
			Run: func(s *Stage) {
				queued(s, "123e4568")
				const id = "cancel-queued"
				s.Raw(`{"type":"control_request","request_id":"` + id + `","request":{"subtype":"interrupt","cancel_queued":true}}`)
				turn := s.AwaitResult()
				for _, line := range turn.Lines {
					if answer, ok := line.Message.(*wire.ControlResponse); ok && answer.Response.RequestID == id {
						note(s, &answer.Response)
					}
				}
				lifecycle(s, turn.Lines)
				if !s.AtLeast(2, 1, 325) {
					lifecycle(s, s.AwaitText("result success: Third."))
				}
				lifecycle(s, s.Turn("@say That was all.").Lines)
			},
			Quirks: []string{"InterruptTellsQueue", "LifecycleLines"},
			Want: Per{
				"2.1.37":  {"result error_during_execution", "assistant text: Second.", "result success: Second.", "assistant text: Third.", "result success: Third.", "result success: That was all."},
				"2.1.120": {"result error_during_execution is_error error=[ede_diagnostic]", "assistant text: Second.", "assistant text: Third.", "result success: Third.", "result success: That was all."},
				"2.1.325": {"cancelled: second true, third true", "still_queued: second false, third false", "second cancelled", "third cancelled", "result error_during_execution is_error error=[ede_diagnostic]", "first cancelled", "result success: That was all."},
			},
		},
		{
			ID: "interrupt.now", Facts: "§5 priority now", Where: both(stdioOnly, since("2.1.325", "older versions do not know it")), Warm: "partial",
			Run: func(s *Stage) {
				speaking(s, chatter, nil)
				s.PromptWith("@say At once.", &wire.UserOptions{Priority: wire.MessagePriorityNow})
				turn := s.AwaitResult()
				s.Note("result %s is_error=%t terminal_reason=%s", turn.Result.Subtype, turn.Result.IsError, turn.Last().Get("terminal_reason"))
				s.NoteOnly(s.AwaitResult().Lines, "assistant", "result")
			},
			Quirks: []string{"PriorityNow"},
			Want:   Same("result success is_error=false terminal_reason=aborted_streaming", "assistant text: At once.", "result success: At once."),
		},
	}
}

func signalScenarios() []Scenario {
	// What is written after a signal comes whole or in part, as it happens; its beginning comes always, or never.
	signalled := func(signal os.Signal) func(*Stage) {
		return func(s *Stage) {
			speaking(s, chatter, nil)
			s.Signal(signal)
			lines := Turn{Lines: s.AwaitEnd()}.Find("assistant", "user", "result")
			s.Note("the text so far: %t, exit %d", len(lines) > 0 && lines[0].Is("assistant"), s.Exit())
		}
	}
	partial := func(o *claude.Options) { o.IncludePartialMessages = true }
	return []Scenario{
		{
			ID: "signals.term", Facts: "§0 SIGTERM; rule 17", Where: stdioOnly, Options: partial,
			Run: signalled(syscall.SIGTERM), Want: Same("the text so far: false, exit 143"),
		},
		{
			ID: "signals.int", Facts: "§0 SIGINT; rule 17", Options: partial,
			Where: both(stdioOnly, chance("2.1.120", "it ends with a result or without, as it happens")),
			Run:   signalled(os.Interrupt), Quirks: []string{"InterruptSignalResult"},
			Want: Per{"2.1.37": {"the text so far: false, exit 0"}, "2.1.325": {"the text so far: true, exit 0"}},
		},
	}
}

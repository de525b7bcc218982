package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
)

// noteFailed notes how a turn with a failing model went.
func noteFailed(s *Stage, turn Turn) {
	for _, line := range turn.Lines {
		switch {
		case line.Is("system/api_retry"):
			s.Note("%s", line.Text)
		case line.Is("assistant"):
			// The text is for people, and the API's own.
			s.Note("assistant error=%s %s", line.Get("error"), line.Get("message.model"))
		case line.Is("result"):
			s.Note("result %s is_error=%s stop_reason=%s terminal_reason=%s api_error_status=%s api_error_type=%s", line.Get("subtype"), line.Get("is_error"), line.Get("stop_reason"), line.Get("terminal_reason"), line.Get("api_error_status"), line.Get("api_error_type"))
		case line.Is("error", "sdk_control"):
			s.Note("%s", line.Text) // never seen
		}
	}
}

// failureScenarios are about a model that fails.
func failureScenarios() []Scenario {
	return slices.Concat(statusScenarios(), retryScenarios(), streamScenarios(), stopScenarios())
}

// statusScenarios has each status that the model can fail with until the CLI gives up.
func statusScenarios() []Scenario {
	statuses := []struct {
		status int
		facts  string
		want   Want
	}{
		{400, "not retried", Per{
			"2.1.37":  {"assistant error=unknown <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason= api_error_status= api_error_type=", "result success: The process lives on."},
			"2.1.120": {"assistant error=unknown <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=completed api_error_status=400 api_error_type=", "result success: The process lives on."},
			"2.1.325": {"assistant error=unknown <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=api_error api_error_status=400 api_error_type=invalid_request_error", "result success: The process lives on."},
		}},
		{401, "authentication_failed", Per{
			"2.1.37":  {"assistant error=authentication_failed <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason= api_error_status= api_error_type=", "the model was asked 2 times", "result success: The process lives on."},
			"2.1.120": {"system/api_retry 1 of 1 status=401 error=authentication_failed", "assistant error=authentication_failed <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=completed api_error_status=401 api_error_type=", "the model was asked 2 times", "result success: The process lives on."},
			"2.1.325": {"system/api_retry 1 of 1 status=401 error=authentication_failed", "assistant error=authentication_failed <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=api_error api_error_status=401 api_error_type=authentication_error", "the model was asked 2 times", "result success: The process lives on."},
		}},
		{403, "not retried", Per{
			"2.1.37":  {"assistant error=authentication_failed <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason= api_error_status= api_error_type=", "the model was asked 1 times", "result success: The process lives on."},
			"2.1.120": {"assistant error=authentication_failed <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=completed api_error_status=403 api_error_type=", "the model was asked 1 times", "result success: The process lives on."},
			"2.1.325": {"assistant error=authentication_failed <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=api_error api_error_status=403 api_error_type=permission_error", "the model was asked 1 times", "result success: The process lives on."},
		}},
		{404, "model_not_found", Per{
			"2.1.37":  {"assistant error=invalid_request <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason= api_error_status= api_error_type=", "the model was asked 2 times", "result success: The process lives on."},
			"2.1.120": {"assistant error=invalid_request <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=completed api_error_status=404 api_error_type=", "the model was asked 2 times", "result success: The process lives on."},
			"2.1.325": {"assistant error=model_not_found <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=api_error api_error_status=404 api_error_type=not_found_error", "the model was asked 2 times", "result success: The process lives on."},
		}},
		{413, "request_too_large", Per{
			"2.1.37":  {"assistant error=invalid_request <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason= api_error_status= api_error_type=", "result success: The process lives on."},
			"2.1.120": {"assistant error=invalid_request <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=completed api_error_status=413 api_error_type=", "result success: The process lives on."},
			"2.1.325": {"assistant error=invalid_request <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=image_error api_error_status=413 api_error_type=request_too_large", "result success: The process lives on."},
		}},
		{429, "rate_limit", Per{
			"2.1.37":  {"assistant error=unknown <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason= api_error_status= api_error_type=", "the model was asked 2 times", "result success: The process lives on."},
			"2.1.120": {"system/api_retry 1 of 1 status=429 error=rate_limit", "assistant error=rate_limit <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=completed api_error_status=429 api_error_type=", "the model was asked 2 times", "result success: The process lives on."},
			"2.1.325": {"system/api_retry 1 of 1 status=429 error=rate_limit", "assistant error=rate_limit <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=api_error api_error_status=429 api_error_type=rate_limit_error", "the model was asked 2 times", "result success: The process lives on."},
		}},
		{500, "server_error", Per{
			"2.1.37":  {"assistant error=unknown <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason= api_error_status= api_error_type=", "the model was asked 2 times", "result success: The process lives on."},
			"2.1.120": {"system/api_retry 1 of 1 status=500 error=server_error", "assistant error=server_error <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=completed api_error_status=500 api_error_type=", "the model was asked 2 times", "result success: The process lives on."},
			"2.1.325": {"system/api_retry 1 of 1 status=500 error=server_error", "assistant error=server_error <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=api_error api_error_status=500 api_error_type=api_error", "the model was asked 2 times", "result success: The process lives on."},
		}},
		{529, "overloaded", Per{
			"2.1.37":  {"assistant error=unknown <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason= api_error_status= api_error_type=", "the model was asked 2 times", "result success: The process lives on."},
			"2.1.120": {"system/api_retry 1 of 1 status=529 error=rate_limit", "assistant error=server_error <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=completed api_error_status=529 api_error_type=", "the model was asked 2 times", "result success: The process lives on."},
			"2.1.325": {"system/api_retry 1 of 1 status=529 error=overloaded", "assistant error=server_error <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=api_error api_error_status=529 api_error_type=overloaded_error", "the model was asked 2 times", "result success: The process lives on."},
		}},
	}
	var all []Scenario
	for _, row := range statuses {
		sc := Scenario{
			ID: fmt.Sprintf("failures.%d", row.status), Facts: fmt.Sprintf("§9 %d: %s; rule 5; seed 001: sdk_control_interrupt and error lines", row.status, row.facts), Where: stdioOnly, Warm: "impatient",
			Run: func(s *Stage) {
				turn := s.Turn(fmt.Sprintf("@error %d retry-after=0", row.status))
				noteFailed(s, turn)
				if row.status != 400 && row.status != 413 { // 2.1.325 tries what it can do without
					s.Note("the model was asked %d times", len(s.Asked(turn.Tag)))
				}
				s.NoteOnly(s.Turn("@say The process lives on.").Lines, "result")
			},
			Want: row.want,
		}
		switch row.status {
		case 404:
			sc.Quirks = []string{"ErrorWords"}
		case 429, 500:
			sc.Quirks = []string{"ErrorNames"}
		case 529:
			sc.Quirks = []string{"RetryLines", "RetryOverloadedAsLimit", "ErrorDetails"}
		}
		all = append(all, sc)
	}
	return all
}

func retryScenarios() []Scenario {
	return []Scenario{
		{
			ID: "failures.retries", Facts: "§9 10 retries", Where: both(stdioOnly, before("2.1.120", "it waits for minutes, see failures.dead; failures.delays tells how often it means to try")),
			Run: func(s *Stage) {
				turn := s.Turn("@error 500 retry-after=0")
				s.Note("%d lines about it, the model was asked %d times", len(turn.Find("system/api_retry")), len(s.Asked(turn.Tag)))
			},
			Quirks: []string{"RetryLines"},
			Want:   Same("0 lines about it, the model was asked 11 times"),
		},
		{
			ID: "failures.dead", Facts: "§9 a dead API keeps a turn busy for about 3 minutes; rule 18", Where: stdioOnly, Alone: true, Slow: true,
			Run: func(s *Stage) {
				begin := time.Now()
				turn := s.Turn("@error 500")
				took := time.Since(begin)
				s.Note("about 3 minutes: %t", took > 2*time.Minute && took < 5*time.Minute)
				s.Note("%d lines about it, the model was asked %d times", len(turn.Find("system/api_retry")), len(s.Asked(turn.Tag)))
			},
			Want: Per{
				"2.1.37":  {"about 3 minutes: true", "0 lines about it, the model was asked 11 times"},
				"2.1.120": {"about 3 minutes: true", "10 lines about it, the model was asked 11 times"},
			},
		},
		{
			ID: "failures.delays", Facts: "§9 delays; §9 retry-after; rule 18", Where: stdioOnly,
			Run: func(s *Stage) {
				turn := s.Turn("@error 529 times=1\n@error 529 times=1 retry-after=1\n@say At last.")
				for i, line := range turn.Find("system/api_retry") {
					delay := 0.0
					if _, err := fmt.Sscan(line.Get("retry_delay_ms"), &delay); err != nil {
						s.Fail("reading the delay: %w", err)
					}
					if i == 0 {
						s.Note("about half a second: %t", 400 <= delay && delay <= 650)
					} else {
						s.Note("then about a second: %t", 1000 <= delay && delay <= 1250)
					}
				}
				s.NoteOnly(turn.Lines, "system/api_retry", "assistant", "result")
			},
			Quirks: []string{"RetryLines", "RetryOverloadedAsLimit"},
			Want: Per{
				"2.1.37":  {"assistant text: At last.", "result success: At last."},
				"2.1.120": {"about half a second: true", "then about a second: true", "system/api_retry 1 of 10 status=529 error=rate_limit", "system/api_retry 2 of 10 status=529 error=rate_limit", "assistant text: At last.", "result success: At last."},
				"2.1.325": {"about half a second: true", "then about a second: true", "system/api_retry 1 of 10 status=529 error=overloaded", "system/api_retry 2 of 10 status=529 error=overloaded", "assistant text: At last.", "result success: At last."},
			},
		},
		{
			ID: "failures.unreachable", Facts: "§9 connection refused", Where: stdioOnly,
			Options: func(o *claude.Options) {
				// Nobody listens there.
				o.Env = append(slices.DeleteFunc(o.Env, func(v string) bool { return strings.HasPrefix(v, "ANTHROPIC_BASE_URL=") }), "ANTHROPIC_BASE_URL=http://127.0.0.1:1", "CLAUDE_CODE_MAX_RETRIES=1")
			},
			Run: func(s *Stage) {
				noteFailed(s, s.Turn("@say Nobody hears it."))
			},
			Want: Per{
				"2.1.37":  {"assistant error=unknown <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason= api_error_status= api_error_type="},
				"2.1.120": {"system/api_retry 1 of 1 status=null error=unknown", "assistant error=unknown <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=completed api_error_status= api_error_type="},
				"2.1.325": {"system/api_retry 1 of 1 status=null error=unknown", "assistant error=server_error <synthetic>", "result success is_error=true stop_reason=stop_sequence terminal_reason=api_error api_error_status= api_error_type="},
			},
		},
	}
}

func streamScenarios() []Scenario {
	// broken notes how a stream that breaks is repeated. What was said before is to be thrown away.
	broken := func(trouble string) func(*Stage) {
		return func(s *Stage) {
			turn := s.Turn(trouble + "\n@say This is the whole text, in several words.")
			for _, line := range turn.Lines {
				if line.Is("stream_event message_start", "stream_event message_stop", "system/api_retry", "assistant", "result") {
					s.Note("%s", line.Text)
				}
			}
			var how []string
			for _, r := range s.Asked(turn.Tag) {
				how = append(how, map[bool]string{true: "stream", false: "whole"}[r.Stream])
			}
			s.Note("asked for: %s", strings.Join(how, ", "))
		}
	}
	return []Scenario{
		{ID: "failures.cut", Facts: "§9 mid-stream cut; rule 19", Where: both(stdioOnly, chance("2.1.120", "it asks again with or without a stream, as it happens")), Warm: "partial", Run: broken("@slow 50ms\n@cut 5 times=1"), Quirks: []string{"CutFallsBack", "CutCloses"}, Want: Per{
			"2.1.37":  {"stream_event message_start", "assistant text: This is the whole text, in several words.", "result success: This is the whole text, in several words.", "asked for: stream, whole"},
			"2.1.325": {"stream_event message_start", "stream_event message_stop", "system/api_retry 1 of 10 status=null error=unknown", "stream_event message_start", "assistant text: This is the whole text, in several words.", "stream_event message_stop", "result success: This is the whole text, in several words.", "asked for: stream, stream"},
		}},
		{ID: "failures.malformed", Facts: "§9 malformed SSE; rule 19", Where: stdioOnly, Warm: "partial", Run: broken("@malformed 5 times=1"), Want: Per{
			"2.1.37":  {"stream_event message_start", "assistant text: This is the whole text, in several words.", "result success: This is the whole text, in several words.", "asked for: stream, whole"},
			"2.1.325": {"stream_event message_start", "stream_event message_stop", "assistant text: This is the whole text, in several words.", "result success: This is the whole text, in several words.", "asked for: stream, whole"},
		}},
		{ID: "failures.error-event", Facts: "§9 SSE error event; rule 19", Where: stdioOnly, Warm: "partial", Run: broken("@error 529 after=5 times=1"), Want: Per{
			"2.1.37":  {"stream_event message_start", "assistant text: This is the whole text, in several words.", "result success: This is the whole text, in several words.", "asked for: stream, whole"},
			"2.1.325": {"stream_event message_start", "stream_event message_stop", "assistant text: This is the whole text, in several words.", "result success: This is the whole text, in several words.", "asked for: stream, whole"},
		}},
	}
}

func stopScenarios() []Scenario {
	// The CLI's own words are the prompt when it asks the model again, which finds nothing to do in them.
	noted := func(s *Stage, turn Turn) {
		for _, line := range turn.Lines {
			switch {
			case line.Is("user synthetic", "assistant text: API Error", "assistant error"):
				head, _, _ := strings.Cut(line.Text, " text: ") // the rest is for people, or for the model
				s.Note("%s of the CLI's own", head)
			case line.Is("assistant text: The simulated model"):
				s.Note("the model was asked again")
			case line.Is("user", "assistant text"):
				s.Note("%s", line.Text)
			case line.Is("result"):
				s.Note("result %s is_error=%s stop_reason=%s", line.Get("subtype"), line.Get("is_error"), line.Get("stop_reason"))
			}
		}
	}
	return []Scenario{
		{
			ID: "failures.max_tokens", Facts: "§9 stop_reason max_tokens", Where: stdioOnly, Warm: "impatient",
			Run:    func(s *Stage) { noted(s, s.Turn("@stop max_tokens\n@say It breaks off")) },
			Quirks: []string{"TokenLimitTold", "ReminderLines"}, Want: Per{
				"2.1.37":  {"assistant text: It breaks off", "assistant of the CLI's own", "the model was asked again", "result success is_error=false stop_reason="},
				"2.1.120": {"assistant text: It breaks off", "the model was asked again", "result success is_error=false stop_reason=end_turn"},
				"2.1.325": {"assistant text: It breaks off", "user synthetic of the CLI's own", "the model was asked again", "result success is_error=false stop_reason=end_turn"},
			},
		},
		{
			ID: "failures.refusal", Facts: "§9 stop_reason refusal", Where: stdioOnly, Warm: "impatient",
			Run:    func(s *Stage) { noted(s, s.Turn("@stop refusal\n@say I will not.")) },
			Quirks: []string{"RefusalContinues"},
			Want: Per{
				"2.1.37":  {"assistant text: I will not.", "assistant error=invalid_request of the CLI's own", "result success is_error=true stop_reason=stop_sequence"},
				"2.1.120": {"assistant text: I will not.", "assistant error=invalid_request of the CLI's own", "result success is_error=true stop_reason=refusal"},
				"2.1.325": {"assistant text: I will not.", "user synthetic of the CLI's own", "the model was asked again", "result success is_error=false stop_reason=end_turn"},
			},
		},
		{
			ID: "failures.empty", Facts: "§9 empty content", Where: stdioOnly, Warm: "impatient",
			Run:    func(s *Stage) { noted(s, s.Turn("@empty")) },
			Quirks: []string{"EmptyAsksAgain", "EmptyIsSuccess"}, Want: Per{
				"2.1.37":  {"result error_during_execution is_error=false stop_reason="},
				"2.1.120": {"result success is_error=false stop_reason=end_turn"},
				"2.1.325": {"user synthetic of the CLI's own", "the model was asked again", "result success is_error=false stop_reason=end_turn"},
			},
		},
	}
}

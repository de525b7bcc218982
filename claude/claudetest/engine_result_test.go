package claudetest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestPermissionAnswers is the table of answers to can_use_tool.
func TestPermissionAnswers(t *testing.T) {
	const ran, edited, denied = "original", "edited", "denied"
	tests := []struct {
		name, answer    string
		v37, v120, v325 string
	}{
		{"allow", `{"behavior":"allow","updatedInput":{"command":"echo original"}}`, ran, ran, ran},
		{"edited", `{"behavior":"allow","updatedInput":{"command":"echo edited"}}`, edited, edited, edited},
		{"no input", `{"behavior":"allow"}`, denied, denied, ran},
		{"empty input", `{"behavior":"allow","updatedInput":{}}`, denied, ran, ran},
		{"null input", `{"behavior":"allow","updatedInput":null}`, denied, denied, denied},
		{"more", `{"behavior":"allow","updatedInput":{"command":"echo edited"},"toolUseID":"other","x":1}`, edited, edited, edited},
		{"unknown update", `{"behavior":"allow","updatedInput":{"command":"echo edited"},"updatedPermissions":[{"type":"invented"}]}`, denied, edited, edited},
		{"maybe", `{"behavior":"maybe"}`, denied, denied, denied},
		{"nothing", `{}`, denied, denied, denied},
		{"deny", `{"behavior":"deny","message":"No."}`, denied, denied, denied},
		{"deny without a word", `{"behavior":"deny","message":""}`, denied, denied, denied},
		{"deny without message", `{"behavior":"deny"}`, denied, denied, denied},
	}
	for _, version := range SimVersions() {
		for _, test := range tests {
			t.Run(version+"/"+test.name, func(t *testing.T) {
				s := startSim(t, version)
				s.prompt("@tool Bash {\"command\":\"touch x; echo original\"}\n@say Over.")
				id, request := s.question("can_use_tool")
				answer := strings.ReplaceAll(test.answer, `{"command":"echo original"}`, string(plainJSON(request["input"])))
				s.answer(id, answer)
				s.answer(id, `{"behavior":"deny","message":"Too late."}`) // the first counts
				line := s.await(func(line map[string]any) bool { return line["tool_use_result"] != nil })
				got := denied
				if detail, ok := line["tool_use_result"].(map[string]any); ok {
					got, _ = detail["stdout"].(string)
				}
				if want := map[string]string{"2.1.37": test.v37, "2.1.120": test.v120, "2.1.325": test.v325}[version]; got != want {
					t.Errorf("got %q, want %q: %v", got, want, line)
				}
				result := s.result()
				if denials := result["permission_denials"].([]any); test.name == "deny" && len(denials) != 1 {
					t.Errorf("the result names the denials %v", denials)
				}
			})
		}
	}
}

func TestInterrupts(t *testing.T) {
	tests := []struct {
		name, prompt string
		await        func(map[string]any) bool
		turns        float64
		terminal     string
	}{
		{
			"stream", "@slow 1s\n@say one two three four five six seven eight nine ten",
			func(line map[string]any) bool {
				event, _ := line["event"].(map[string]any)
				return event["type"] == "content_block_delta"
			}, 2, "aborted_streaming",
		},
		{"question", "@tool Bash {\"command\":\"touch x\"}", func(line map[string]any) bool { return isQuestion(line, "can_use_tool") }, 3, "aborted_tools"},
		{"tool", "@tool Bash {\"command\":\"sleep 100\"}", func(line map[string]any) bool { return line["type"] == "assistant" }, 3, "aborted_tools"},
		{
			"retry", "@error 529 retry-after=100", func(line map[string]any) bool { return line["subtype"] == "init" || line["subtype"] == "api_retry" },
			2, "aborted_streaming",
		},
	}
	for _, version := range SimVersions() {
		for _, test := range tests {
			t.Run(version+"/"+test.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := startSim(t, version, withArgs("--include-partial-messages", "--allowedTools", "Bash(sleep:*)"))
					s.prompt(test.prompt)
					s.await(test.await)
					if test.name != "stream" {
						synctest.Wait() // until it is in the midst of it
					}
					answer := s.request(`{"subtype":"interrupt"}`)
					if got, want := shapeOf(answer), map[bool]string{true: "still_queued", false: "-"}[version == "2.1.325"]; got != want {
						t.Errorf("interrupt was answered with %q, want %q", got, want)
					}
					if test.name == "question" && s.kinds()[len(s.kinds())-2] != "control_cancel_request" {
						t.Errorf("the question was not withdrawn before the answer:\n%s", s.story())
					}
					result := s.result()
					old := version == "2.1.37"
					if result["subtype"] != "error_during_execution" || result["is_error"] == old || result["num_turns"] != test.turns {
						t.Errorf("the result is %v", result)
					}
					if !old && result["terminal_reason"] != test.terminal {
						t.Errorf("the turn ended by %v, want %s", result["terminal_reason"], test.terminal)
					}
					if told := slices.Contains(s.kinds(), "assistant"); test.name == "stream" && told == old {
						t.Errorf("the text so far was told: %v", told)
					}
					if next := s.turn("@say Here I am."); next["result"] != "Here I am." {
						t.Errorf("after the interrupt: %v", next)
					}
				})
			})
		}
	}
}

func TestRetries(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := startSim(t, version)
				begin := time.Now()
				result := s.turn("@error 529 times=3\n@say At last.")
				if result["result"] != "At last." {
					t.Errorf("the result is %v", result)
				}
				if took := time.Since(begin); took < 3500*time.Millisecond || took > 4500*time.Millisecond {
					t.Errorf("three retries took %v, want about 3.5 s", took)
				}
				retries := 0
				for _, kind := range s.kinds() {
					if kind == "system/api_retry" {
						retries++
					}
				}
				if want := map[bool]int{true: 0, false: 3}[version == "2.1.37"]; retries != want {
					t.Errorf("%d lines tell of retries, want %d", retries, want)
				}
				begin = time.Now()
				if result := s.turn("@error 529"); result["subtype"] != "success" || result["is_error"] != true || result["stop_reason"] != "stop_sequence" {
					t.Errorf("a dead API ends the turn with %v", result)
				}
				if took := time.Since(begin); took < 2*time.Minute || took > 4*time.Minute {
					t.Errorf("a dead API keeps the turn busy for %v, want about three minutes", took)
				}
			})
		})
	}
}

func TestFailureNames(t *testing.T) {
	tests := []struct {
		status          int
		v37, v120, v325 string
	}{
		{400, "unknown", "unknown", "unknown"},
		{401, "authentication_failed", "authentication_failed", "authentication_failed"},
		{403, "authentication_failed", "authentication_failed", "authentication_failed"},
		{404, "invalid_request", "invalid_request", "model_not_found"},
		{413, "invalid_request", "invalid_request", "invalid_request"},
		{429, "unknown", "rate_limit", "rate_limit"},
		{500, "unknown", "server_error", "server_error"},
		{529, "unknown", "server_error", "server_error"},
	}
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			s := startSim(t, version, func(o *SimOptions) { o.Env = append(o.Env, "CLAUDE_CODE_MAX_RETRIES=0") })
			for _, test := range tests {
				s.prompt(fmt.Sprintf("@error %d", test.status))
				line := s.await(func(line map[string]any) bool { return line["type"] == "assistant" })
				result := s.result()
				if want := map[string]string{"2.1.37": test.v37, "2.1.120": test.v120, "2.1.325": test.v325}[version]; line["error"] != want {
					t.Errorf("%d is called %v, want %s", test.status, line["error"], want)
				}
				if status, told := result["api_error_status"]; told != (version != "2.1.37") || told && status != float64(test.status) {
					t.Errorf("%d: the result tells the status %v", test.status, status)
				}
			}
		})
	}
}

func TestResultMembers(t *testing.T) {
	for _, version := range SimVersions() {
		s := startSim(t, version)
		s.send(`{"type":"user","uuid":"00000000-0000-4000-8000-000000000001","message":{"role":"user","content":"@say Hello."}}`)
		result := s.result()
		for name, since := range map[string]string{
			"total_cost_usd": "", "permission_denials": "", "modelUsage": "", "usage": "", "stop_reason": "", "terminal_reason": "2.1.120", "api_error_status": "2.1.120",
			"result_index": "2.1.325", "user_message_uuids": "2.1.325", "model_usage_since_last_result": "2.1.325",
		} {
			_, told := result[name]
			if want := since == "" || slices.Index(SimVersions(), version) >= slices.Index(SimVersions(), since); told != want {
				t.Errorf("%s: %s is there: %v, want %v", version, name, told, want)
			}
		}
	}
}

func TestSIGINT(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			signals := make(chan os.Signal, 1)
			s := startSim(t, version, withArgs("--include-partial-messages"), func(o *SimOptions) { o.Interrupt = signals })
			s.prompt("@slow 1m\n@say one two three")
			s.await(func(line map[string]any) bool { return line["type"] == "stream_event" })
			signals <- os.Interrupt
			ended := false
			for {
				line, err := s.sim.Read(t.Context())
				if err != nil {
					break
				}
				ended = ended || strings.Contains(string(line), `"type":"result"`)
			}
			if code, err := s.sim.Wait(t.Context()); code != 0 || err != nil {
				t.Errorf("exit %d, %v; want 0", code, err)
			}
			if ended != (version == "2.1.325") {
				t.Errorf("a result came: %v", ended)
			}
		})
	}
}

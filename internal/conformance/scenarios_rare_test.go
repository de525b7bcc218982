package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
)

// nowhere keeps a CLI from looking for the metadata of a cloud machine. Everything else that is not on this machine claudetest's proxy refuses.
func nowhere() []string {
	return []string{"GCE_METADATA_HOST=127.0.0.1:9", "METADATA_SERVER_DETECTION=none"}
}

// withoutKey takes the API key out of an environment.
func withoutKey(o *claude.Options, env ...string) {
	o.Env = slices.DeleteFunc(o.Env, func(kv string) bool { return strings.HasPrefix(kv, "ANTHROPIC_API_KEY=") })
	o.Env = slices.Concat(o.Env, nowhere(), env)
}

// rareScenarios are about lines that a CLI writes only if it is asked to, or only to subscribers, and about those that none writes.
func rareScenarios() []Scenario {
	return []Scenario{
		{
			ID: "lines.summary", Facts: "tool_use_summary with CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES", Where: stdioOnly,
			Options: func(o *claude.Options) { o.Env = append(o.Env, "CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES=1") },
			Run: func(s *Stage) {
				lines := s.Turn("@tool Read {\"file_path\":\"one\"}\n@tool Read {\"file_path\":\"two\"}\n@next\n@tool Read {\"file_path\":\"three\"}\n@say Over.").Lines
				for _, line := range lines {
					switch {
					case line.Is("tool_use_summary"):
						s.Note("tool_use_summary %q of %d calls", line.Get("summary"), strings.Count(line.Get("preceding_tool_use_ids"), "toolu_"))
					case line.Is("assistant text", "result"):
						s.Note("%s", line.Text)
					}
				}
			},
			Want: Same(`tool_use_summary "none" of 2 calls`, "assistant text: Over.", `tool_use_summary "none" of 1 calls`, "result success: Over."),
		},
		{
			ID: "lines.limits", Facts: "rate_limit_event to subscribers; §9 with a key there is none", Where: stdioOnly,
			Options: func(o *claude.Options) { withoutKey(o, "CLAUDE_CODE_OAUTH_TOKEN=made-up-token") },
			Run: func(s *Stage) {
				const prefix = "anthropic-ratelimit-unified-"
				reset := time.Now().Add(time.Hour).Unix()
				common := fmt.Sprintf("%sreset=%d %srepresentative-claim=five_hour", prefix, reset, prefix)
				for _, prompt := range []string{
					fmt.Sprintf("@header %sstatus=allowed %s %s5h-utilization=0.2 %s5h-reset=%d\n@say Fine.", prefix, common, prefix, prefix, reset),
					fmt.Sprintf("@header %sstatus=allowed_warning %s %s5h-utilization=0.92 %s5h-reset=%d %s5h-surpassed-threshold=0.9\n@say Soon.", prefix, common, prefix, prefix, reset, prefix),
					fmt.Sprintf("@error 429 %sstatus=rejected %s %soverage-status=rejected %soverage-disabled-reason=org_level_disabled message=Over.", prefix, common, prefix, prefix),
				} {
					turn := s.Turn(prompt)
					for _, line := range turn.Find("rate_limit_event") {
						s.Note("rate_limit_event: %s", strings.Join(names([]byte(line.Get("rate_limit_info"))), " "))
						s.Note("%s %s %s, in an hour: %t", line.Get("rate_limit_info.status"), line.Get("rate_limit_info.rateLimitType"), line.Get("rate_limit_info.utilization"), line.Get("rate_limit_info.resetsAt") == fmt.Sprint(reset))
					}
					s.Note("is_error=%t, the model was asked %d times", turn.Result.IsError, len(s.Asked(turn.Tag)))
				}
			},
			Quirks: []string{"LimitLines", "LimitWindows"},
			Want: Per{
				"2.1.37":  {"is_error=false, the model was asked 1 times", "is_error=false, the model was asked 1 times", "is_error=true, the model was asked 1 times"},
				"2.1.120": {"rate_limit_event: isUsingOverage rateLimitType resetsAt status", "allowed five_hour , in an hour: true", "is_error=false, the model was asked 1 times", "rate_limit_event: isUsingOverage rateLimitType resetsAt status surpassedThreshold utilization", "allowed_warning five_hour 0.92, in an hour: true", "is_error=false, the model was asked 1 times", "rate_limit_event: isUsingOverage overageDisabledReason overageStatus rateLimitType resetsAt status", "rejected five_hour , in an hour: true", "is_error=true, the model was asked 1 times"},
				"2.1.325": {"rate_limit_event: isUsingOverage rateLimitType resetsAt status unifiedWindows", "allowed five_hour , in an hour: true", "is_error=false, the model was asked 1 times", "rate_limit_event: isUsingOverage rateLimitType resetsAt status surpassedThreshold unifiedWindows utilization", "allowed_warning five_hour 0.92, in an hour: true", "is_error=false, the model was asked 1 times", "rate_limit_event: isUsingOverage overageDisabledReason overageStatus rateLimitType resetsAt status", "rejected five_hour , in an hour: true", "is_error=true, the model was asked 1 times"},
			},
		},
		{
			ID: "lines.login", Facts: "auth_status with --enable-auth-status", Where: stdioOnly,
			Args: func(args []string) []string { return append(args, "--enable-auth-status") },
			Run: func(s *Stage) {
				for range 2 {
					for _, line := range append(slices.Clone(s.Started), s.Turn("@say Here.").Lines...) {
						if line.Is("auth_status", "result") {
							s.Note("%s %s%s", strings.TrimSpace(line.Text), line.Get("isAuthenticating"), line.Get("output"))
						}
					}
				}
			},
			Want: Same("auth_status false[]", "result success: Here.", "result success: Here."),
		},
		{
			ID: "lines.login-refresh", Facts: "auth_status while a command of the settings logs in", Where: both(stdioOnly, since("2.1.120", "2.1.37 has no gcpAuthRefresh, and awsAuthRefresh ends before it writes anything")),
			Options: func(o *claude.Options) {
				withoutKey(o, "CLAUDE_CODE_USE_VERTEX=1", "ANTHROPIC_VERTEX_BASE_URL=http://127.0.0.1:9", "CLOUD_ML_REGION=us-east5", "ANTHROPIC_VERTEX_PROJECT_ID=made-up", "CLAUDE_CODE_MAX_RETRIES=0")
				o.Settings = []byte(`{"gcpAuthRefresh":"echo Open the page"}`)
			},
			Args: func(args []string) []string { return append(args, "--enable-auth-status") },
			Run: func(s *Stage) {
				s.Prompt("@say Here.")
				begun := false
				for _, line := range append(slices.Clone(s.Started), s.AwaitResult().Lines...) {
					if !line.Is("auth_status") || line.Get("isAuthenticating") == "false" && !begun {
						continue // that none is under way is told at first, by some versions
					}
					begun = true
					if line.Get("output") == "[]" || strings.Contains(line.Get("output"), "Open the page") {
						s.Note("auth_status %s %s", line.Get("isAuthenticating"), line.Get("output"))
					}
					if line.Get("isAuthenticating") == "false" {
						break // it may try again
					}
				}
			},
			Sim:  map[string]string{"*": "it wants no login"},
			Want: Same("auth_status true []", `auth_status true ["Open the page"]`, "auth_status false []"),
		},
		{
			ID: "lines.never", Facts: "streamlined_text, streamlined_tool_use_summary, system/files_persisted and error are written by no version in reach; seed 001: sdk_control_interrupt and error lines", Where: stdioOnly,
			Also: map[string]string{Oldest + "/stdio": "streamlined lines are described for this version alone"},
			// What the vendor's own machines are told, and a name that was described for the streamlined output.
			Options: func(o *claude.Options) {
				o.Env = slices.Concat(o.Env, nowhere(), []string{"CLAUDE_CODE_STREAMLINED_OUTPUT=1", "CLAUDE_CODE_ENVIRONMENT_KIND=byoc", "CLAUDE_CODE_REMOTE_SESSION_ID=" + unusedID})
			},
			Run: func(s *Stage) {
				s.OnAsk(allow)
				lines := s.Turn("@tool Bash {\"command\":\"mkdir -p outputs && echo text > outputs/file.txt\",\"description\":\"Make a file\"}\n@say Made.").Lines
				lines = append(lines, s.Turn("@error 400 message=No.").Lines...)
				s.CloseInput()
				lines = append(lines, s.AwaitEnd()...)
				s.NoteOnly(lines, "streamlined", "system/files_persisted", "error", "sdk_control", "result success: Made.")
			},
			Want: Same("result success: Made."),
		},
	}
}

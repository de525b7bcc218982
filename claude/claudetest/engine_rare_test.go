package claudetest

import (
	"slices"
	"testing"
)

// subscribed gives a simulated CLI a subscription's token instead of a key.
func subscribed(o *SimOptions) {
	o.Env = slices.DeleteFunc(o.Env, func(kv string) bool { return kv == "ANTHROPIC_API_KEY=made-up" })
	o.Env = append(o.Env, "CLAUDE_CODE_OAUTH_TOKEN=made-up")
}

func TestLimits(t *testing.T) {
	const (
		warned  = "@header anthropic-ratelimit-unified-status=allowed_warning anthropic-ratelimit-unified-representative-claim=five_hour\n@say hi"
		refused = "@error 429 anthropic-ratelimit-unified-status=rejected anthropic-ratelimit-unified-representative-claim=five_hour"
	)
	limits := func(s *simTest) []any {
		told := []any{}
		for _, line := range s.lines {
			if line["type"] == "rate_limit_event" {
				told = append(told, line["rate_limit_info"].(map[string]any)["status"])
			}
		}
		return told
	}
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			s := startSim(t, version, subscribed)
			for _, prompt := range []string{warned, warned, refused} { // the second is no news
				if result := s.turn(prompt); result["is_error"] != (prompt == refused) {
					t.Errorf("the turn ended with %v", result)
				}
			}
			want := []any{"allowed_warning", "rejected"}
			if version == "2.1.37" {
				want = nil
			}
			if told := limits(s); !slices.Equal(told, want) {
				t.Errorf("told %v, want %v", told, want)
			}
		})
	}
	t.Run("with a key", func(t *testing.T) {
		s := startSim(t, "2.1.325")
		s.turn(warned)
		if told := limits(s); len(told) > 0 {
			t.Errorf("a key has no such limits, and %v is told", told)
		}
	})
}

func TestSummaryAfterInterrupt(t *testing.T) {
	s := startSim(t, "2.1.325", func(o *SimOptions) { o.Env = append(o.Env, "CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES=1") })
	s.prompt("@tool Read {\"file_path\":\"x\"}\n@slow 1m\n@say never")
	s.await(func(line map[string]any) bool { return line["type"] == "user" })
	s.send(`{"type":"control_request","request_id":"stop","request":{"subtype":"interrupt"}}`)
	s.result()
	s.turn("@say hi")
	if slices.Contains(s.kinds(), "tool_use_summary") {
		t.Errorf("the tools of another turn are summed up:\n%s", s.story())
	}
}

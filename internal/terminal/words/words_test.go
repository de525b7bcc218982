package words

import (
	"encoding/json"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// TestModes holds that modes have Claude Code's own names, from the safest to the most dangerous.
func TestModes(t *testing.T) {
	want := []string{
		"Plan mode — plans first, changes nothing", "Don't ask — denies what no rule allows", "Default — asks before it edits or runs",
		"Accept edits — edits files without asking", "Auto — Claude Code decides what is safe", "Bypass permissions — DANGEROUS: asks for nothing",
	}
	modes := Modes()
	if len(modes) != len(want) {
		t.Fatalf("%q", modes)
	}
	for i, mode := range modes {
		if got := ModeLabel(mode); got != want[i] {
			t.Errorf("%s: %q, want %q", mode, got, want[i])
		}
	}
	if got := ModeLabel("tomorrow\x1b[2J"); got != "tomorrow␛[2J" {
		t.Errorf("%q", got)
	}
}

// TestHeadline holds that a question says what is asked.
func TestHeadline(t *testing.T) {
	permission := func(tool, input string) *api.Question {
		request, err := json.Marshal(map[string]any{"subtype": "can_use_tool", "tool_name": tool, "input": json.RawMessage(input)})
		if err != nil {
			t.Fatal(err)
		}
		return &api.Question{Kind: api.QuestionPermission, Tool: tool, Request: request}
	}
	for _, test := range []struct {
		q    *api.Question
		want string
	}{
		{permission("Bash", `{"command":"make"}`), "Run this command?"},
		{permission("Edit", `{"file_path":"/home/ann/blog/slug.go"}`), "Edit slug.go?"},
		{permission("Write", `{"file_path":"/a/\u001b[2J.go"}`), "Write ␛[2J.go?"},
		{permission("Edit", `{}`), "Use Edit?"},
		{permission("WebFetch", `{"url":"https://example.com/x?y"}`), "Fetch example.com?"},
		{permission("SandboxNetworkAccess", `{"host":"example.com","port":443,"command":"curl https://example.com"}`), "Connect to example.com:443?"},
		{permission("SandboxNetworkAccess", `{"host":"a\u001b[2J.example"}`), "Connect to a␛[2J.example?"},
		{permission("SandboxNetworkAccess", `{"host":7}`), "Connect to another machine?"},
		{permission("mcp__notes__add", `{}`), "Use mcp__notes__add?"},
		{&api.Question{Kind: api.QuestionPermission, Tool: "Bash", Request: json.RawMessage(`null`)}, "Run this command?"},
		{&api.Question{Kind: api.QuestionChoice}, "Claude has a question"},
		{&api.Question{Kind: api.QuestionPlan, Plan: &api.Plan{Text: "1. Fix it"}}, "Approve this plan?"},
		{&api.Question{Kind: "riddle\x07"}, "riddle␇"},
	} {
		if got := Headline(test.q); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

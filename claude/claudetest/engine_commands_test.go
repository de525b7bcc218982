package claudetest

import (
	"slices"
	"strings"
	"testing"
)

func TestSimCommands(t *testing.T) {
	tests := []struct {
		command string
		lines   map[string][]string // by version
		result  map[string]string   // by version: how it begins
	}{
		{
			command: "/cost",
			lines: map[string][]string{
				"2.1.37":  {"system/init", "user", "result/success"},
				"2.1.120": {"system/init", "assistant", "result/success"},
				"2.1.325": {"system/init", "assistant", "result/success"},
			},
			result: map[string]string{"2.1.37": "", "2.1.120": "Total cost:", "2.1.325": "Total cost:"},
		},
		{
			command: "/context",
			lines: map[string][]string{
				"2.1.37":  {"system/init", "user", "result/success"},
				"2.1.120": {"system/init", "assistant", "result/success"},
				"2.1.325": {"system/init", "assistant", "result/success"},
			},
			result: map[string]string{"2.1.37": "", "2.1.120": "## Context Usage", "2.1.325": "## Context Usage"},
		},
		{
			command: "/nothing at all",
			lines: map[string][]string{
				"2.1.37":  {"system/init", "result/success"},
				"2.1.120": {"system/init", "result/success"},
				"2.1.325": {"system/init", "assistant", "result/success"},
			},
			result: map[string]string{"2.1.37": "Unknown skill: nothing", "2.1.120": "Unknown command: /nothing", "2.1.325": "The simulated model found no directive"},
		},
		{
			command: "/help",
			lines: map[string][]string{
				"2.1.37":  {"system/init", "result/success"},
				"2.1.120": {"system/init", "assistant", "result/success"},
				"2.1.325": {"system/init", "assistant", "result/success"},
			},
			result: map[string]string{"2.1.37": "Unknown skill: help", "2.1.120": "/help isn't available", "2.1.325": "/help isn't available"},
		},
		{
			command: "/compact",
			lines: map[string][]string{
				"2.1.37":  {"system/status", "system/status", "system/init", "system/compact_boundary", "user", "user", "result/success"},
				"2.1.120": {"system/status", "system/status", "system/init", "system/compact_boundary", "user", "user", "result/success"},
				"2.1.325": {"system/status", "system/status", "system/init", "system/compact_boundary", "user", "user", "result/success"},
			},
			result: map[string]string{"2.1.37": "", "2.1.120": "", "2.1.325": ""},
		},
		{
			command: "/clear",
			lines: map[string][]string{
				"2.1.37":  {"system/init", "result/success"},
				"2.1.120": {"system/init", "assistant", "result/success"},
				"2.1.325": {"conversation_reset", "system/background_tasks_changed", "system/init", "result/success"},
			},
			result: map[string]string{"2.1.37": "Unknown skill: clear", "2.1.120": "", "2.1.325": ""},
		},
	}
	for _, version := range SimVersions() {
		for _, test := range tests {
			t.Run(version+test.command, func(t *testing.T) {
				s := startSim(t, version, withoutStates)
				s.turn("@say Hello.")
				s.lines = nil
				result := s.turn(test.command)
				if got := s.kinds(); !slices.Equal(got, test.lines[version]) {
					t.Errorf("the lines are %v, want %v", got, test.lines[version])
				}
				text, _ := result["result"].(string)
				if want := test.result[version]; !strings.HasPrefix(text, want) || want == "" && text != "" {
					t.Errorf("the result is %q, want %q", text, want)
				}
			})
		}
	}
}

// withoutStates leaves the lines about the session's state out.
func withoutStates(o *SimOptions) {
	o.Env = slices.DeleteFunc(o.Env, func(entry string) bool { return strings.HasPrefix(entry, "CLAUDE_CODE_EMIT") })
}

// A slash counts only at the very beginning of the last text.
func TestSimCommandPlace(t *testing.T) {
	tests := []struct {
		content string
		command bool
	}{
		{`"/cost"`, true},
		{`" /cost"`, false},
		{`"say /cost"`, false},
		{`"/home/file is old"`, false},
		{`[{"type":"text","text":"@say Hello."},{"type":"text","text":"/cost"}]`, true},
		{`[{"type":"text","text":"/cost"},{"type":"text","text":"@say Hello."}]`, false},
	}
	for _, test := range tests {
		s := startSim(t, "2.1.325")
		s.send(`{"type":"user","message":{"role":"user","content":` + test.content + `}}`)
		if got := s.result()["local_command"] == "cost"; got != test.command {
			t.Errorf("%s was taken for a command: %t, want %t", test.content, got, test.command)
		}
	}
}

// The oldest version counts all messages of the conversation in the results of commands.
func TestSimCommandTurns(t *testing.T) {
	s := startSim(t, "2.1.37")
	s.turn("@say Hello.")
	for _, step := range []struct {
		command string
		turns   float64
	}{{"/cost", 5}, {"/context", 8}, {"/other", 9}, {"/other", 11}, {"/compact", 19}} {
		if got := s.turn(step.command)["num_turns"]; got != step.turns {
			t.Errorf("num_turns of %s is %v, want %v", step.command, got, step.turns)
		}
	}
	s = startSim(t, "2.1.325")
	if got := s.turn("/cost")["num_turns"]; got != 0.0 {
		t.Errorf("num_turns of the newest version is %v, want 0", got)
	}
}

// After /clear the model knows nothing, the session has another id and nothing was spent; the middle version only has another id.
func TestSimClear(t *testing.T) {
	for _, version := range []string{"2.1.120", "2.1.325"} {
		t.Run(version, func(t *testing.T) {
			var asked []int
			s := startSim(t, version, func(o *SimOptions) {
				o.Script = func(r Request) Reply {
					asked = append(asked, len(r.Messages))
					return Say(Text("Hello."))
				}
			})
			before := s.turn("one")
			cleared := s.turn("/clear")
			s.turn("two")
			if cleared["session_id"] == before["session_id"] {
				t.Error("the session has the same id")
			}
			costs, forgets := cleared["total_cost_usd"].(float64), version == "2.1.325"
			if (costs == 0) != forgets {
				t.Errorf("the costs are %v", costs)
			}
			if last := asked[len(asked)-1]; (last == 1) != forgets {
				t.Errorf("the model was asked with %d messages", last)
			}
		})
	}
}

// After /compact the model sees the summary and what came later.
func TestSimCompact(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			model := NewModel(&ModelOptions{Script: Directives(nil), Side: func(Request) Reply { return Say(Text("A summary of it all.")) }})
			defer func() { _ = model.Close() }() // the test is over
			s := startSim(t, version, func(o *SimOptions) { o.Env = append(o.Env, "ANTHROPIC_BASE_URL="+model.URL()) })
			s.turn("@say Hello.")
			s.turn("/compact briefly")
			boundary := slices.IndexFunc(s.lines, func(line map[string]any) bool { return line["subtype"] == "compact_boundary" })
			if boundary < 0 {
				t.Fatalf("there is no boundary:\n%s", s.story())
			}
			metadata := s.lines[boundary]["compact_metadata"].(map[string]any)
			if metadata["trigger"] != "manual" || metadata["pre_tokens"].(float64) == 0 {
				t.Errorf("the boundary says %v", metadata)
			}
			if text := string(plainJSON(s.lines[boundary+1])); !strings.Contains(text, "A summary of it all.") {
				t.Errorf("the line behind the boundary is %s", text)
			}
			s.turn("@say Still here.")
			requests := model.Requests()
			last := requests[len(requests)-1]
			if len(last.Messages) != 1 || !strings.Contains(string(last.Body), "A summary of it all.") {
				t.Errorf("the model was asked with %s", last.Body)
			}
		})
	}
}

func TestSimCompactNothing(t *testing.T) {
	tests := map[string]string{"2.1.37": "local-command-stderr", "2.1.120": "No messages to compact", "2.1.325": "No messages to compact"}
	for version, want := range tests {
		s := startSim(t, version)
		result := s.turn("/compact")
		if result["subtype"] != "success" || result["result"] != "" || !strings.Contains(s.story(), want) {
			t.Errorf("%s: ended with %v after\n%s", version, result, s.story())
		}
	}
	s := startSim(t, "2.1.325")
	s.turn("@say Hello.")
	s.turn("/compact")
	if result := s.turn("/compact"); result["result"] != "Not enough messages to compact." {
		t.Errorf("a second compaction ended with %v", result)
	}
}

func TestSimModelCommand(t *testing.T) {
	s := startSim(t, "2.1.325")
	s.turn("/model opus")
	s.turn("@say Hello.")
	if !strings.Contains(s.story(), "opus") {
		t.Errorf("the model did not change:\n%s", s.story())
	}
}

// Whoever asked for prompts sees the command as the newest version keeps it.
func TestSimCommandEcho(t *testing.T) {
	s := startSim(t, "2.1.325", withArgs("--replay-user-messages"))
	s.turn("/cost")
	if !strings.Contains(s.story(), "<command-name>/cost</command-name>") {
		t.Errorf("there is no echo:\n%s", s.story())
	}
}

func TestSimCommandsDisabled(t *testing.T) {
	s := startSim(t, "2.1.325", withArgs("--disable-slash-commands"))
	if result := s.turn("/cost"); result["local_command"] != nil {
		t.Errorf("the command was obeyed: %v", result)
	}
}

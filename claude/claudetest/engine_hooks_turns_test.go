package claudetest

import (
	"strings"
	"testing"
)

func TestPromptHook(t *testing.T) {
	for _, test := range []struct {
		name, answer string
		turns        perVersion
		outcome      string
	}{
		{"block", `{"decision":"block","reason":"no"}`, same("0"), "blocked_by_hook"},
		{"stop", `{"continue":false,"stopReason":"no"}`, perVersion{"1", "0", "0"}, "stopped_by_hook"},
	} {
		for _, version := range SimVersions() {
			t.Run(test.name+"/"+version, func(t *testing.T) {
				s := hooked(t, version, "UserPromptSubmit", "")
				s.prompt("@say hi")
				result := s.ends(reply{"hook": test.answer})
				if result["num_turns"] != float64(test.turns.of(version)[0]-'0') || result["subtype"] != "success" || result["is_error"] != false {
					t.Errorf("the turn ended with %v", result)
				}
				line := s.having("informational")
				if version != "2.1.325" {
					if result["result"] != "" || line != nil {
						t.Errorf("an older version says why: %v, %v", result, line)
					}
					return
				}
				outcome, _ := line["prompt_submit_outcome"].(map[string]any)
				if outcome["kind"] != test.outcome || outcome["reason"] != "no" || result["result"] != line["content"] {
					t.Errorf("got %v and %v", line, result)
				}
			})
		}
	}
	t.Run("context", func(t *testing.T) {
		told := ""
		s := hooked(t, "2.1.120", "UserPromptSubmit", "", func(o *SimOptions) {
			o.Script = func(r Request) Reply {
				for _, message := range r.Messages {
					for _, block := range message.Content {
						told += block.Text
					}
				}
				return Directives(nil)(r)
			}
		})
		s.prompt("@say hi")
		result := s.ends(reply{"hook": `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"it rains"}}`})
		if result["result"] != "hi" || !strings.Contains(told, "additional context: it rains") {
			t.Errorf("the model was told %q, and the turn ended with %v", told, result)
		}
	})
}

func TestStopHook(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run("block/"+version, func(t *testing.T) {
			s := hooked(t, version, "Stop", "")
			s.prompt("@say hi")
			id, request := s.question("hook_callback")
			if input, _ := request["input"].(map[string]any); input["stop_hook_active"] != false {
				t.Errorf("the first time the hook is told %v", input)
			}
			s.answer(id, `{"decision":"block","reason":"not yet"}`)
			feedback := s.await(func(line map[string]any) bool { return line["type"] == "user" })
			if feedback["isSynthetic"] != true {
				t.Errorf("the model is told by %v", feedback)
			}
			id, request = s.question("hook_callback")
			if input, _ := request["input"].(map[string]any); input["stop_hook_active"] != true {
				t.Errorf("the second time the hook is told %v", input)
			}
			s.answer(id, `{}`)
			if result := s.ends(nil); result["num_turns"] != 2.0 {
				t.Errorf("the turn ended with %v", result)
			}
			if told := s.having("notification") != nil; told != (version != "2.1.37") {
				t.Errorf("a notification was sent: %v", told)
			}
		})
		t.Run("stop/"+version, func(t *testing.T) {
			s := hooked(t, version, "Stop", "")
			s.prompt("@say hi")
			result := s.ends(reply{"hook": `{"continue":false}`})
			if result["result"] != "hi" || version != "2.1.37" && result["terminal_reason"] != "stop_hook_prevented" {
				t.Errorf("the turn ended with %v", result)
			}
		})
	}
}

func TestSubagentHooks(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			s := startSim(t, version)
			s.request(`{"subtype":"initialize","hooks":{"SubagentStop":[{"hookCallbackIds":["stop"]}],"PreToolUse":[{"matcher":"Task","hookCallbackIds":["before"]}],` +
				`"SubagentStart":[{"matcher":"general-purpose","hookCallbackIds":["start"]},{"matcher":"other","hookCallbackIds":["never"]}]}}`)
			s.prompt(agentPrompt)
			name := map[bool]string{true: "Task", false: "Agent"}[version == "2.1.37"]
			id, request := s.question("hook_callback")
			if input, _ := request["input"].(map[string]any); request["callback_id"] != "before" || input["tool_name"] != name {
				t.Errorf("before the agent: %v", request)
			}
			s.answer(id, `{}`)
			id, request = s.question("hook_callback")
			if request["callback_id"] != "start" {
				t.Errorf("when the agent starts: %v", request)
			}
			s.answer(id, `{}`)
			id, _ = s.question("hook_callback")
			s.answer(id, `{"decision":"block","reason":"not yet"}`)
			id, request = s.question("hook_callback")
			if input, _ := request["input"].(map[string]any); request["callback_id"] != "stop" || input["stop_hook_active"] != true {
				t.Errorf("when the agent stops again: %v", request)
			}
			s.answer(id, `{}`)
			if result := s.ends(nil); result["result"] != "Done" {
				t.Errorf("the turn ended with %v", result)
			}
		})
	}
}

func TestSettingsHooks(t *testing.T) {
	const settings = `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"echo hello"}]}],
		"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"rm -rf /"}]},{"matcher":"Edit","hooks":[{"type":"command","command":"x"}]}]}}`
	for _, test := range []struct {
		name, version string
		args          []string
		want          int
	}{
		{"by default", "2.1.37", nil, 1},
		{"by default", "2.1.325", nil, 1},
		{"on request", "2.1.325", []string{"--include-hook-events"}, 2},
	} {
		t.Run(test.name+"/"+test.version, func(t *testing.T) {
			s := startSim(t, test.version, withArgs(append([]string{"--settings", settings}, test.args...)...))
			s.prompt(bashPrompt)
			s.ends(reply{"can_use_tool": allowOne})
			started, ended := 0, 0
			for _, line := range s.lines {
				switch line["subtype"] {
				case "hook_started":
					started++
				case "hook_response":
					ended++
					if line["output"] != "(simulated)\n" || line["outcome"] != "success" {
						t.Errorf("a hook said %v", line)
					}
				}
			}
			if started != test.want || ended != test.want || s.lines[0]["subtype"] != "hook_started" {
				t.Errorf("%d hooks started and %d ended:\n%s", started, ended, s.story())
			}
		})
	}
}

package claudetest

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// sub is a prompt that starts a sub-agent with these words and then says something.
func sub(agent, more string) string {
	input := members{"description", "small thing", "prompt", agent, "subagent_type", "general-purpose"}
	switch more {
	case "background":
		input = input.with("run_in_background", true)
	case "foreground":
		input = input.with("run_in_background", false)
	}
	return "@tool Task " + string(plainJSON(input)) + "\n@say Handed on."
}

// agentLines are the received lines that belong to a sub-agent, as type and kind of block.
func (s *simTest) agentLines() []string {
	var out []string
	for _, line := range s.lines {
		if parent, _ := line["parent_tool_use_id"].(string); parent == "" {
			continue
		}
		kind, _ := line["type"].(string)
		message, _ := line["message"].(map[string]any)
		content, _ := message["content"].([]any)
		for _, block := range content {
			kind += " " + block.(map[string]any)["type"].(string)
		}
		out = append(out, kind)
	}
	return out
}

// only returns the received system lines of these subtypes, in order.
func (s *simTest) only(subtypes ...string) []string {
	var out []string
	for _, line := range s.lines {
		if subtype, _ := line["subtype"].(string); slices.Contains(subtypes, subtype) {
			out = append(out, subtype)
		}
	}
	return out
}

func TestSimAgentInForeground(t *testing.T) {
	tests := []struct {
		version string
		tasks   []string
		lines   []string
	}{
		{"2.1.37", nil, []string{"user text", "assistant tool_use", "user tool_result"}},
		{"2.1.120", []string{"task_started", "task_progress", "task_notification"}, []string{"user text", "assistant tool_use", "user tool_result"}},
		{"2.1.325", []string{"task_started", "task_progress", "task_updated", "task_notification"}, []string{"user text", "assistant tool_use", "user tool_result"}},
	}
	for _, test := range tests {
		t.Run(test.version, func(t *testing.T) {
			s := startSim(t, test.version)
			s.prompt(sub("@think Hm.\n@say I do it.\n@tool Bash {\"command\":\"touch small\",\"description\":\"make it\"}\n@say It is there.", "foreground"))
			id, request := s.question("can_use_tool")
			if agent, _ := request["agent_id"].(string); agent == "" {
				t.Error("the question does not name the agent")
			}
			s.answer(id, `{"behavior":"allow","updatedInput":{"command":"touch small"}}`)
			result := s.result()
			if result["result"] != "Handed on." || result["num_turns"] != 2.0 {
				t.Errorf("the turn ended with %v", result)
			}
			if got := s.only("task_started", "task_progress", "task_updated", "task_notification"); !slices.Equal(got, test.tasks) {
				t.Errorf("tasks were told as %v, want %v", got, test.tasks)
			}
			if got := s.agentLines(); !slices.Equal(got, test.lines) {
				t.Errorf("the agent's lines are %v, want %v", got, test.lines)
			}
			for _, line := range s.lines {
				if detail, ok := line["tool_use_result"].(map[string]any); ok && detail["agentId"] != nil {
					if detail["status"] != "completed" || detail["totalToolUseCount"] != 1.0 {
						t.Errorf("the agent's result is %v", detail)
					}
				}
			}
		})
	}
}

func TestSimAgentText(t *testing.T) {
	s := startSim(t, "2.1.325", withArgs("--forward-subagent-text"))
	s.turn(sub("@say I do it.", "foreground"))
	if got, want := s.agentLines(), []string{"user text", "assistant text"}; !slices.Equal(got, want) {
		t.Errorf("the agent's lines are %v, want %v", got, want)
	}
}

func TestSimAgentInBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSim(t, "2.1.325")
		s.prompt(sub("@tool Bash {\"command\":\"sleep 5; echo hi\",\"description\":\"wait\"}\n@say It is done.", ""))
		first := s.result()
		if first["result"] != "Handed on." || first["origin"] != nil {
			t.Errorf("the first turn ended with %v", first)
		}
		second := s.result()
		if origin, _ := second["origin"].(map[string]any); origin["kind"] != "task-notification" {
			t.Errorf("the second turn ended with %v", second)
		}
		s.await(isState("idle"))
		want := []string{"background_tasks_changed", "task_started", "task_progress", "task_started", "task_notification", "task_updated", "task_notification", "background_tasks_changed"}
		if got := s.only("background_tasks_changed", "task_started", "task_progress", "task_updated", "task_notification"); !slices.Equal(got, want) {
			t.Errorf("tasks were told as %v, want %v", got, want)
		}
		if got, want := s.agentLines(), []string{"assistant tool_use", "user tool_result", "assistant text"}; !slices.Equal(got, want) {
			t.Errorf("the agent's lines are %v, want %v", got, want)
		}
	})
}

func isState(state string) func(map[string]any) bool {
	return func(line map[string]any) bool {
		return line["subtype"] == "session_state_changed" && line["state"] == state
	}
}

// The middle version keeps the result back until the agent is done, and shows nothing of it.
func TestSimAgentHoldsResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSim(t, "2.1.120")
		begin := time.Now()
		result := s.turn(sub("@tool Bash {\"command\":\"sleep 5\"}\n@say It is done.", "background"))
		if took := time.Since(begin); took < 5*time.Second {
			t.Errorf("the result came after %v", took)
		}
		if result["num_turns"] != 1.0 {
			t.Errorf("the result is not that of the turn about the agent: %v", result)
		}
		if got := s.agentLines(); got != nil {
			t.Errorf("the agent's lines are shown: %v", got)
		}
		s.await(isState("idle"))
		if got := s.only("session_state_changed"); len(got) != 2 {
			t.Errorf("the state changed %d times, want 2", len(got))
		}
	})
}

// A held result comes when the agent is stopped, as no other will.
func TestSimHeldResultIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSim(t, "2.1.120")
		s.prompt(sub("@tool Bash {\"command\":\"sleep 500\"}\n@say It is done.", "background"))
		task := s.await(func(line map[string]any) bool { return line["subtype"] == "task_started" })["task_id"].(string)
		s.await(func(line map[string]any) bool {
			message, _ := line["message"].(map[string]any)
			return line["type"] == "assistant" && line["parent_tool_use_id"] == nil && strings.Contains(string(plainJSON(message)), "Handed on.")
		})
		synctest.Wait()
		s.send(`{"type":"control_request","request_id":"stop","request":{"subtype":"stop_task","task_id":"` + task + `"}}`)
		if result := s.result(); result["result"] != "Handed on." {
			t.Errorf("the held result is %v", result)
		}
		if answer := s.request(`{"subtype":"stop_task","task_id":"` + task + `"}`); answer["subtype"] != "error" {
			t.Errorf("stopping it again was answered with %v", answer)
		}
		if answer := s.request(`{"subtype":"stop_task","task_id":"other"}`); answer["subtype"] != "error" {
			t.Errorf("stopping an unknown task was answered with %v", answer)
		}
	})
}

// The oldest version does not wake up, and tells the end of a task with the next prompt.
func TestSimTaskToldLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSim(t, "2.1.37")
		s.turn("@tool Bash {\"command\":\"sleep 2\",\"description\":\"wait\",\"run_in_background\":true}\n@say It runs.")
		time.Sleep(time.Minute)
		s.lines = nil
		s.turn("@say Here.")
		if got, want := s.kinds(), []string{"system/task_notification", "system/init", "assistant", "result/success"}; !slices.Equal(got, want) {
			t.Errorf("the next turn is %v, want %v", got, want)
		}
	})
}

func TestSimBackgroundCommand(t *testing.T) {
	for _, version := range []string{"2.1.120", "2.1.325"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := startSim(t, version)
				result := s.turn("@tool Bash {\"command\":\"sleep 2; false\",\"description\":\"wait\",\"run_in_background\":true}\n@say It runs.")
				if result["result"] != "It runs." {
					t.Errorf("the turn ended with %v", result)
				}
				notice := s.await(func(line map[string]any) bool { return line["subtype"] == "task_notification" })
				if summary, _ := notice["summary"].(string); notice["status"] != "failed" || !strings.Contains(summary, `"wait"`) {
					t.Errorf("the notification is %v", notice)
				}
				s.result()
				s.await(isState("idle"))
			})
		})
	}
}

// What ends while a tool runs is worked into the running turn.
func TestSimNoticeIsFolded(t *testing.T) {
	for _, version := range []string{"2.1.120", "2.1.325"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := startSim(t, version, withArgs("--dangerously-skip-permissions"), inSandbox)
				s.turn("@tool Bash {\"command\":\"sleep 1\",\"description\":\"wait\",\"run_in_background\":true}\n@tool Bash {\"command\":\"sleep 2\"}\n@say One.")
				s.await(isState("idle"))
				want := []string{"task_updated"}
				if version == "2.1.325" {
					want = append(want, "task_notification")
				}
				if got := s.only("task_updated", "task_notification"); !slices.Equal(got, want) {
					t.Errorf("tasks were told as %v, want %v", got, want)
				}
			})
		})
	}
}

// inSandbox lets the bypass mode be launched by whoever runs the tests.
func inSandbox(o *SimOptions) { o.Env = append(o.Env, "IS_SANDBOX=1") }

func TestSimInterruptStopsAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSim(t, "2.1.325")
		s.prompt(sub("@tool Bash {\"command\":\"touch small\"}\n@say It is done.", "background"))
		id, ended := "", false
		for id == "" || !ended { // in any order
			line := s.next()
			ended = ended || line["type"] == "result"
			if isQuestion(line, "can_use_tool") {
				id = line["request_id"].(string)
			}
		}
		synctest.Wait()
		s.lines = nil
		s.request(`{"subtype":"interrupt"}`)
		want := []string{"control_cancel_request", "system/task_updated", "system/task_notification", "system/background_tasks_changed", "control_response"}
		if got := s.kinds(); !slices.Equal(got, want) {
			t.Errorf("the interrupt was answered with %v, want %v", got, want)
		}
		if s.lines[0]["request_id"] != id {
			t.Errorf("another question was withdrawn: %v", s.lines[0])
		}
		s.await(isState("idle"))
		s.await(func(line map[string]any) bool {
			return strings.Contains(string(plainJSON(line)), "[Request interrupted by user")
		})
	})
}

// A background agent is denied what the older versions do not ask for.
func TestSimBackgroundAgentIsDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSim(t, "2.1.120")
		s.turn(sub("@tool Bash {\"command\":\"touch small\"}\n@say It is done.", "background"))
		for _, line := range s.lines {
			if isQuestion(line, "can_use_tool") {
				t.Errorf("it was asked: %v", line)
			}
		}
	})
}

func TestSimEndOfInputWaitsForTasks(t *testing.T) {
	tests := []struct {
		version string
		results int
	}{{"2.1.37", 1}, {"2.1.120", 2}, {"2.1.325", 2}}
	for _, test := range tests {
		t.Run(test.version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := startSim(t, test.version)
				s.turn("@tool Bash {\"command\":\"sleep 30\",\"description\":\"wait\",\"run_in_background\":true}\n@say It runs.")
				if err := s.sim.CloseInput(); err != nil {
					t.Fatal(err)
				}
				results := 1
				for {
					raw, err := s.sim.Read(t.Context())
					if err != nil {
						break
					}
					if strings.Contains(string(raw), `"type":"result"`) {
						results++
					}
				}
				if results != test.results {
					t.Errorf("%d results, want %d", results, test.results)
				}
			})
		})
	}
}

func TestSimLongCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSim(t, "2.1.325", withArgs("--dangerously-skip-permissions"), inSandbox)
		s.turn("@tool Bash {\"command\":\"sleep 65\",\"description\":\"wait\"}\n@say Done.")
		want := []string{"system/task_started", "tool_progress", "tool_progress", "system/task_notification"}
		var got []string
		for _, kind := range s.kinds() {
			if slices.Contains(want, kind) {
				got = append(got, kind)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	})
}

func TestSimUnknownAgent(t *testing.T) {
	s := startSim(t, "2.1.37")
	s.turn("@tool Task {\"description\":\"d\",\"prompt\":\"p\",\"subagent_type\":\"nobody\"}\n@say Well.")
	if !strings.Contains(s.story(), "Agent type 'nobody' not found") {
		t.Errorf("the model was not told:\n%s", s.story())
	}
}

// An agent is the model's as soon as initialize or a flag names it.
func TestSimAgentsGiven(t *testing.T) {
	s := startSim(t, "2.1.325", withArgs("--agents", `{"helper":{"description":"d","prompt":"p"}}`))
	s.request(`{"subtype":"initialize","agents":{"other":{"description":"d","prompt":"p"}}}`)
	s.turn("@say Hello.")
	for _, line := range s.lines {
		if line["subtype"] == "init" {
			if agents := string(plainJSON(line["agents"])); !strings.Contains(agents, `"helper","other"`) {
				t.Errorf("the agents are %s", agents)
			}
		}
	}
}

func TestSimLongCommandInterrupted(t *testing.T) {
	for _, version := range []string{"2.1.120", "2.1.325"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := startSim(t, version, withArgs("--dangerously-skip-permissions"), inSandbox)
				s.prompt("@tool Bash {\"command\":\"sleep 20\",\"description\":\"wait\"}\n@say Never.")
				time.Sleep(5 * time.Second)
				s.request(`{"subtype":"interrupt"}`)
				s.result()
				if got, want := s.only("task_started", "task_notification"), []string{"task_started", "task_notification"}; !slices.Equal(got, want) {
					t.Errorf("told %v, want %v", got, want)
				}
			})
		})
	}
}

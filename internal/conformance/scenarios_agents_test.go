package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// agent returns the directive that hands a prompt to a sub-agent. The members are further ones of the tool's input.
func agent(prompt, members string) string {
	text, err := json.Marshal(prompt)
	if err != nil {
		panic(failure{err})
	}
	return fmt.Sprintf(`@tool Task {"description":"A small thing","prompt":%s,"subagent_type":"general-purpose"%s}`, text, members)
}

// noteTasks notes what tells of sub-agents and tasks, without what only depends on the moment.
func noteTasks(s *Stage, lines []Seen) {
	for _, line := range lines {
		switch {
		case line.Is("system/task_started"):
			s.Note("%s %s, for a tool call: %t", line.Text, line.Get("task_type"), line.Get("tool_use_id") != "")
		case line.Is("system/task_notification"):
			s.Note("%s %s", line.Text, line.Get("status"))
		case line.Is("system/task_updated"):
			s.Note("%s %s", line.Text, line.Get("patch.status"))
		case line.Is("system/background_tasks_changed"):
			var tasks []json.RawMessage
			if err := json.Unmarshal([]byte(line.Get("tasks")), &tasks); err != nil {
				s.Fail("reading the tasks: %w", err)
			}
			s.Note("%s to %d", line.Text, len(tasks))
		case line.Is("result"):
			s.Note("%s", unprompted(line))
		case line.Is("asks"):
			s.Note("%s, of an agent: %t", line.Text, line.Get("request.agent_id") != "")
		case line.Is("sub assistant", "sub user tool_result error"):
			s.Note("%s", line.Text)
		case line.Is("system/session_state_changed", "withdraws"):
			s.Note("%s", line.Text)
		}
	}
}

// withoutStates leaves out what a CLI tells of its state. It tells it at some time after a result, which may be before or after it has answered a
// request that was sent meanwhile.
func withoutStates(lines []Seen) []Seen {
	return slices.DeleteFunc(slices.Clone(lines), func(l Seen) bool { return l.Is("system/session_state_changed") })
}

// unprompted returns the summary of a result; of what the model says without a prompt, only that it says it.
func unprompted(line Seen) string {
	text, _, _ := strings.Cut(line.Text, ": The s") // there is nothing in its script
	return strings.TrimSpace(text + " " + line.Get("origin.kind"))
}

// notified is for Await: the result of a turn that a task has caused. 2.1.325 says so; before it, it is any other one.
func notified(s *Stage) func(Seen) bool {
	return func(l Seen) bool {
		return l.Is("result") && (!s.AtLeast(2, 1, 325) || l.Get("origin.kind") == "task-notification")
	}
}

// agentScenarios are about sub-agents and what runs in the background.
func agentScenarios() []Scenario {
	const touch = `@tool Bash {"command":"touch by-the-agent","description":"Make a file"}
		@say The agent is done.`
	return []Scenario{
		{
			ID: "agents.blocking", Facts: "§11 lines of a sub-agent; §11 run_in_background false", Where: stdioOnly,
			Run: func(s *Stage) {
				s.OnAsk(allow)
				turn := s.Turn(agent(touch, `,"run_in_background":false`) + "\n@say It was handed on.")
				noteTasks(s, turn.Lines)
				call := turn.Find("assistant tool_use Task")[0]
				var parents, named int
				for _, line := range turn.Find("sub ") {
					if strings.Contains(string(call.Raw), line.Get("parent_tool_use_id")) {
						parents++
					}
					if line.Get("agent_id") != "" && line.Get("subagent_type") == "general-purpose" && line.Get("task_description") != "" {
						named++
					}
				}
				all := len(turn.Find("sub "))
				s.Note("%d lines, each with the tool call as its parent: %t, with the agent's name: %t", all, parents == all, named == all)
			},
			Quirks: []string{"TaskLines", "TaskDetails"},
			Want: Per{
				"2.1.37":  {`sub assistant tool_use Bash {"command":"touch by-the-agent","description":"Make a file"}`, "asks can_use_tool Bash, of an agent: true", "result success: It was handed on.", "3 lines, each with the tool call as its parent: true, with the agent's name: false"},
				"2.1.120": {"system/session_state_changed running", "system/task_started local_agent, for a tool call: true", `sub assistant tool_use Bash {"command":"touch by-the-agent","description":"Make a file"}`, "asks can_use_tool Bash, of an agent: true", "system/session_state_changed requires_action", "system/session_state_changed running", "system/task_notification completed", "result success: It was handed on.", "3 lines, each with the tool call as its parent: true, with the agent's name: false"},
				"2.1.325": {"system/session_state_changed running", "system/task_started local_agent, for a tool call: true", `sub assistant tool_use Bash {"command":"touch by-the-agent","description":"Make a file"}`, "system/session_state_changed requires_action", "asks can_use_tool Bash, of an agent: true", "system/session_state_changed running", "system/task_updated completed", "system/task_notification completed", "result success: It was handed on.", "3 lines, each with the tool call as its parent: true, with the agent's name: true"},
			},
		},
		{
			ID: "agents.default", Facts: "§11 sub-agents run in the background by default; seed 003: drop lines after result; rule 6; rule 8", Where: stdioOnly,
			Run: func(s *Stage) {
				background := s.AtLeast(2, 1, 325)
				s.OnAsk(func(*wire.CanUseToolRequest) any {
					if background {
						return nil
					}
					return &wire.Allow{}
				})
				s.Prompt(agent(touch, "") + "\n@say It was handed on.")
				if !background {
					noteTasks(s, s.AwaitResult().Lines)
					return
				}
				// The question may come before or after the result; both are waited for.
				var question *wire.ControlRequest
				over := false
				s.Await(func(l Seen) bool {
					if q, ok := l.Message.(*wire.ControlRequest); ok {
						question = q
						s.Note("a question of an agent: %t", l.Get("request.agent_id") != "")
					}
					over = over || l.Is("result")
					return over && question != nil
				})
				s.Settle()
				s.Note("answered after the result")
				s.Answer(question, &wire.Allow{})
				lines := s.Await(notified(s))
				noteTasks(s, lines)
				s.NoteOnly(lines, "system/init")
				noteTasks(s, s.AwaitText("system/session_state_changed idle"))
			},
			Quirks: []string{"AgentsInBackground"},
			Want: Per{
				"2.1.37":  {`sub assistant tool_use Bash {"command":"touch by-the-agent","description":"Make a file"}`, "asks can_use_tool Bash, of an agent: true", "result success: It was handed on."},
				"2.1.120": {"system/session_state_changed running", "system/task_started local_agent, for a tool call: true", `sub assistant tool_use Bash {"command":"touch by-the-agent","description":"Make a file"}`, "asks can_use_tool Bash, of an agent: true", "system/session_state_changed requires_action", "system/session_state_changed running", "system/task_notification completed", "result success: It was handed on."},
				"2.1.325": {"a question of an agent: true", "answered after the result", "system/session_state_changed running", "sub assistant text: The agent is done.", "system/task_updated completed", "system/task_notification completed", "system/background_tasks_changed to 0", "result success task-notification", "system/init", "system/session_state_changed idle"},
			},
		},
		{
			ID: "agents.background-question", Facts: "§11 a background agent that needs permission", Where: stdioOnly, Alone: true,
			Run: func(s *Stage) {
				s.OnAsk(allow)
				s.Prompt(agent(touch, `,"run_in_background":true`) + "\n@say It runs.")
				var asked, denied bool
				look := func(l Seen) {
					asked = asked || l.Is("asks")
					denied = denied || l.Is("sub user tool_result error")
				}
				s.Await(func(l Seen) bool { look(l); return l.Is("result") })
				if s.AtLeast(2, 1, 325) {
					s.Await(func(l Seen) bool { look(l); return notified(s)(l) })
				}
				s.Note("asked: %t", asked)
			},
			Quirks: []string{"BackgroundAsks"},
			Want: Per{
				"2.1.37":  {"asked: false"},
				"2.1.325": {"asked: true"},
			},
		},
		{
			ID: "agents.background-bash", Facts: "§11 unprompted turns after a background Bash; §0 state lines and background tasks; rule 6", Where: stdioOnly, Alone: true,
			Run: func(s *Stage) {
				s.OnAsk(allow)
				s.Prompt(`@tool Bash {"command":"until [ -e go-on ]; do sleep 0.1; done; touch gone-on","description":"Wait","run_in_background":true}
					@takes 2s
					@say It runs.`)
				noteTasks(s, s.AwaitResult().Lines)
				if s.AtLeast(2, 1, 325) {
					noteTasks(s, s.AwaitText("system/session_state_changed idle"))
				}
				if err := os.WriteFile(filepath.Join(s.Dir, "go-on"), nil, 0o600); err != nil {
					s.Fail("%w", err)
				}
				if s.AtLeast(2, 1, 120) {
					noteTasks(s, s.AwaitResult().Lines)
					noteTasks(s, s.AwaitText("system/session_state_changed idle"))
					return
				}
				s.NoteLines(s.Settle())
			},
			Quirks: []string{"TaskTurns", "StateBusyWithTasks", "TaskLines"},
			Want: Per{
				"2.1.37":  {"asks can_use_tool Bash, of an agent: false", "result success: It runs."},
				"2.1.120": {"system/session_state_changed running", "asks can_use_tool Bash, of an agent: false", "system/session_state_changed requires_action", "system/session_state_changed running", "system/task_started local_bash, for a tool call: true", "result success: It runs.", "system/task_updated completed", "system/task_notification completed", "result success", "system/session_state_changed idle"},
				"2.1.325": {"system/session_state_changed running", "system/session_state_changed requires_action", "asks can_use_tool Bash, of an agent: false", "system/session_state_changed running", "system/background_tasks_changed to 1", "system/task_started local_bash, for a tool call: true", "result success: It runs.", "system/session_state_changed idle", "system/task_updated completed", "system/task_notification completed", "system/background_tasks_changed to 0", "system/session_state_changed running", "result success task-notification", "system/session_state_changed idle"},
			},
		},
		{
			ID: "agents.stop", Facts: "§15 stop_task", Where: both(stdioOnly, since("2.1.120", "2.1.37 does not know stop_task")), Alone: true,
			Run: func(s *Stage) {
				s.OnAsk(allow)
				turn := s.Turn(`@tool Bash {"command":"sleep 300; touch never","description":"Wait","run_in_background":true}
					@takes 300s
					@say It runs.`)
				s.Settle()
				id := turn.Find("system/task_started")[0].Get("task_id")
				s.Request(&wire.StopTaskRequest{TaskID: id})
				noteTasks(s, withoutStates(s.AwaitText("system/task_notification")))
			},
			Want: Same("system/task_updated killed", "system/task_notification stopped"),
		},
		{
			ID: "agents.interrupt", Facts: "§11 an idle interrupt ends background agents", Where: both(stdioOnly, since("2.1.325", "only agents of 2.1.325 ask after the result")), Alone: true,
			Run: func(s *Stage) {
				s.OnAsk(func(*wire.CanUseToolRequest) any { return nil })
				s.Prompt(agent(touch, `,"run_in_background":true`) + "\n@say It runs.")
				asked, over := false, false
				s.Await(func(l Seen) bool {
					asked, over = asked || l.Is("asks"), over || l.Is("result")
					return asked && over
				})
				s.Settle()
				s.Request(&wire.InterruptRequest{})
				noteTasks(s, withoutStates(s.AwaitText("system/background_tasks_changed")))
				s.NoteOnly(s.Turn("@say As ever.").Lines, "result")
			},
			Quirks: []string{"InterruptStopsAgents"},
			Want:   Same("withdraws", "system/task_updated killed", "system/task_notification stopped", "system/background_tasks_changed to 0", "result success: As ever."),
		},
		{
			ID: "agents.end", Facts: "§0 stdin EOF with background agents", Where: stdioOnly, Alone: true,
			Run: func(s *Stage) {
				s.Prompt(agent("@slow 200ms\n@say The agent is done after some words.", `,"run_in_background":true`) + "\n@say It runs.")
				s.AwaitText("user tool_result")
				s.CloseInput()
				for _, line := range s.AwaitEnd() {
					if line.Is("result") {
						s.Note("%s", unprompted(line))
					}
				}
				s.Note("exit %d", s.Exit())
			},
			Quirks: []string{"EndWaitsForAgents", "HoldsResults"},
			Want: Per{
				"2.1.37":  {"result success: It runs.", "exit 0"},
				"2.1.120": {"result success", "exit 0"},
				"2.1.325": {"result success: It runs.", "result success task-notification", "exit 0"},
			},
		},
		{
			ID: "agents.long-bash", Facts: "§11 a foreground Bash longer than 3 s", Where: stdioOnly,
			Run: func(s *Stage) {
				s.OnAsk(allow)
				noteTasks(s, s.Turn(`@tool Bash {"command":"sleep 4; touch waited","description":"Wait"}
					@takes 4s
					@say It has waited.`).Lines)
			},
			Want: Per{
				"2.1.37":  {"asks can_use_tool Bash, of an agent: false", "result success: It has waited."},
				"2.1.120": {"system/session_state_changed running", "asks can_use_tool Bash, of an agent: false", "system/session_state_changed requires_action", "system/session_state_changed running", "system/task_started local_bash, for a tool call: true", "system/task_notification completed", "result success: It has waited."},
				"2.1.325": {"system/session_state_changed running", "system/session_state_changed requires_action", "asks can_use_tool Bash, of an agent: false", "system/session_state_changed running", "system/task_started local_bash, for a tool call: true", "system/task_notification completed", "result success: It has waited."},
			},
		},
		{
			ID: "agents.heartbeat", Facts: "§11 tool_progress; rule 21", Where: stdioOnly, Alone: true, Slow: true,
			Run: func(s *Stage) {
				s.OnAsk(allow)
				turn := s.Turn(`@tool Bash {"command":"timeout 32 tail -f /dev/null; touch waited","description":"Wait"}
					@takes 32s
					@say It has waited.`)
				call := string(turn.Find("assistant tool_use Bash")[0].Raw)
				for _, line := range turn.Find("tool_progress") {
					id := line.Get("tool_use_id")
					s.Note("tool_progress at %s s, heartbeat %s, the tool in its parent: %t, a suffix on its id: %t", line.Get("elapsed_time_seconds"), line.Get("heartbeat"),
						strings.Contains(call, `"`+line.Get("parent_tool_use_id")+`"`), strings.HasSuffix(id, "-heartbeat-0"))
				}
				s.NoteOnly(turn.Lines, "result")
			},
			Quirks: []string{"Heartbeats"},
			Want: Per{
				"2.1.37":  {"result success: It has waited."},
				"2.1.325": {"tool_progress at 30 s, heartbeat true, the tool in its parent: true, a suffix on its id: true", "result success: It has waited."},
			},
		},
	}
}

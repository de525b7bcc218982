package conformance

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// hookEvents returns the names of all events that hooks can be registered for.
func hookEvents() []string {
	var all []string
	for field := range reflect.TypeFor[claude.Hooks]().Fields() {
		if field.Name != "Any" {
			all = append(all, field.Name)
		}
	}
	return all
}

// everyEvent registers a hook for each event, all with one id.
func everyEvent() *wire.InitializeRequest {
	hooks := map[string][]wire.HookMatcher{}
	for _, event := range hookEvents() {
		hooks[event] = []wire.HookMatcher{{HookCallbackIDs: []string{"on"}}}
	}
	return &wire.InitializeRequest{Hooks: hooks}
}

// eventful is the process that the scenarios about events share: every event has a hook, and the folder has what some of them are about.
func eventful(l *launch) {
	l.initialize = everyEvent()
	l.options = append(l.options, func(o *claude.Options) {
		o.Env = append(o.Env, "CLAUDE_CODE_ENABLE_TASKS=1") // 2.1.37 has the task tools only then
		fill(o, "sub/CLAUDE.md", "sub/file.txt", ".claude/settings.json")
	})
}

// fill makes files in the folder of a CLI that is about to be started. A scenario that needs one fails without.
func fill(o *claude.Options, names ...string) {
	for _, name := range names {
		path := filepath.Join(o.Dir, filepath.FromSlash(name))
		_ = os.MkdirAll(filepath.Dir(path), 0o700)
		_ = os.WriteFile(path, []byte("{}\n"), 0o600)
	}
}

// change writes to a file of the scenario's folder.
func change(s *Stage, name, text string) {
	if err := os.WriteFile(filepath.Join(s.Dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
		s.Fail("%w", err)
	}
}

// noteEvents notes which of these events the lines tell, and what is told besides what is told with every event.
func noteEvents(s *Stage, lines []Seen, events ...string) {
	for _, line := range lines {
		event := line.Get("request.input.hook_event_name")
		if !line.Is("asks hook_callback on ") || !slices.Contains(events, event) {
			continue
		}
		s.Note("%s: %s", event, strings.Join(slices.DeleteFunc(names([]byte(rawMember(line.Raw, "request", "input"))), func(name string) bool {
			return slices.Contains([]string{"cwd", "session_id", "transcript_path", "hook_event_name", "permission_mode", "prompt_id", "effort"}, name)
		}), " "))
	}
}

// awaitEvent waits for an event that comes by itself.
func awaitEvent(s *Stage, event string) []Seen { return s.AwaitText("asks hook_callback on " + event) }

// told returns a member of what the first event of this name tells.
func told(lines []Seen, event, name string) string {
	for _, line := range lines {
		if line.Is("asks hook_callback on " + event) {
			return line.Get("request.input." + name)
		}
	}
	return ""
}

// eventScenarios provoke every event that hooks can be registered for and that no other scenario is about.
func eventScenarios() []Scenario {
	return slices.Concat(turnEventScenarios(), sessionEventScenarios(), watchedEventScenarios())
}

// turnEventScenarios are about events of turns and tools.
func turnEventScenarios() []Scenario {
	return []Scenario{
		{
			ID: "events.tools", Facts: "hooks: PostToolUseFailure and PostToolBatch", Where: stdioOnly, Warm: "events",
			Run: func(s *Stage) {
				s.OnAsk(allow)
				lines := s.Turn("@tool Bash {\"command\":\"exit 3\",\"description\":\"Fail\"}\n@say Over.").Lines
				noteEvents(s, lines, "PostToolUse", "PostToolUseFailure", "PostToolBatch")
				s.Note("error: %s", told(lines, "PostToolUseFailure", "error"))
			},
			Quirks: []string{"HookEvents"},
			Want: Per{
				"2.1.37":  {"PostToolUseFailure: error is_interrupt tool_input tool_name tool_use_id", "error: Exit code 3"},
				"2.1.120": {"PostToolUseFailure: duration_ms error is_interrupt tool_input tool_name tool_use_id", "PostToolBatch: tool_calls", "error: Exit code 3"},
			},
		},
		{
			ID: "events.failure", Facts: "hooks: StopFailure; 2.1.37 tells Stop", Where: stdioOnly, Warm: "events",
			Run: func(s *Stage) {
				lines := s.Turn("@error 400 message=No.").Lines
				noteEvents(s, lines, "Stop", "StopFailure")
				s.Note("error: %s", told(lines, "StopFailure", "error"))
			},
			Quirks: []string{"HookEvents"},
			Want: Per{
				"2.1.37":  {"Stop: stop_hook_active", "error:"},
				"2.1.120": {"StopFailure: error last_assistant_message", "error: unknown"},
			},
		},
		{
			ID: "events.expansion", Facts: "hooks: UserPromptExpansion", Where: stdioOnly, Warm: "events",
			Run: func(s *Stage) {
				lines := s.TurnExact("/init").Lines
				noteEvents(s, lines, "UserPromptExpansion")
				s.Note("%s %s %s", told(lines, "UserPromptExpansion", "expansion_type"), told(lines, "UserPromptExpansion", "command_name"), told(lines, "UserPromptExpansion", "prompt"))
			},
			Quirks: []string{"HookEvents"},
			Want: Per{
				"2.1.37":  {""},
				"2.1.120": {"UserPromptExpansion: command_args command_name command_source expansion_type prompt", "slash_command init /init"},
			},
		},
		{
			ID: "events.display", Facts: "hooks: MessageDisplay", Where: stdioOnly, Warm: "events",
			Run: func(s *Stage) {
				lines := s.Turn("@say One.\n@say Two.").Lines
				noteEvents(s, lines, "MessageDisplay")
				s.Note("%s", told(lines, "MessageDisplay", "delta"))
			},
			Quirks: []string{"HookModels"},
			Want: Per{
				"2.1.37":  {""},
				"2.1.325": {"MessageDisplay: delta final index message_id turn_id", "MessageDisplay: delta final index message_id turn_id", "One."},
			},
		},
		{
			ID: "events.tasks", Facts: "hooks: TaskCreated and TaskCompleted", Where: stdioOnly, Warm: "events",
			Run: func(s *Stage) {
				s.Request(&wire.SetModelRequest{Model: "claude-sonnet-4-5"}) // 2.1.325 has these tools for some models only
				lines := s.Turn("@tool TaskCreate {\"subject\":\"Wash\",\"description\":\"Wash it\",\"activeForm\":\"Washing\"}\n@next\n@tool TaskUpdate {\"taskId\":\"1\",\"status\":\"completed\"}\n@say Over.").Lines
				noteEvents(s, lines, "TaskCreated", "TaskCompleted")
				s.Note("%s", told(lines, "TaskCompleted", "task_subject"))
				s.Request(&wire.SetModelRequest{Model: "default"})
			},
			Quirks: []string{"HookEvents"},
			Want: Per{
				"2.1.37":  {"TaskCompleted: task_description task_id task_subject", "Wash"},
				"2.1.120": {"TaskCreated: task_description task_id task_subject", "TaskCompleted: task_description task_id task_subject", "Wash"},
			},
		},
		{
			ID: "events.form", Facts: "hooks: Elicitation, ElicitationResult and Notification", Where: stdioOnly, Warm: "events",
			Run: func(s *Stage) {
				server := httptest.NewServer(&formServer{answers: make(chan string, 1)})
				defer func() {
					server.CloseClientConnections()
					server.Close()
				}()
				s.OnAsk(allow)
				s.On("elicitation", func(*wire.ControlRequest) any { return Verbatim(`{"action":"accept","content":{"name":"Ada"}}`) })
				s.RawRequest(`{"subtype":"mcp_set_servers","servers":{"forms":{"type":"http","url":"` + server.URL + `"}}}`)
				lines := s.Turn("@tool mcp__forms__ask {}\n@form {\"message\":\"Your name?\",\"requested_schema\":" + formSchema + "}\n@say Over.").Lines
				noteEvents(s, lines, "Elicitation", "ElicitationResult", "Notification")
				s.Note("%s %s %s", told(lines, "Elicitation", "mode"), told(lines, "ElicitationResult", "action"), told(lines, "Notification", "notification_type"))
				s.RawRequest(`{"subtype":"mcp_set_servers","servers":{}}`)
			},
			Quirks: []string{"HookEvents"},
			Want: Per{
				"2.1.37":  {""},
				"2.1.120": {"Elicitation: mcp_server_name message mode requested_schema", "ElicitationResult: action content mcp_server_name mode", "Notification: message notification_type", "form accept elicitation_response"},
			},
		},
		{
			ID: "events.worktree", Facts: "hooks: WorktreeCreate and WorktreeRemove", Where: both(stdioOnly, since("2.1.120", "2.1.37 has no worktrees")), Warm: "events",
			Run: func(s *Stage) {
				path := s.Dir + "-side"
				if err := os.MkdirAll(path, 0o700); err != nil {
					s.Fail("%w", err)
				}
				s.OnHook(func(r *wire.HookCallbackRequest) any {
					if _, ok := r.Input.(*wire.WorktreeCreateInput); ok {
						return Verbatim(fmt.Sprintf(`{"hookSpecificOutput":{"hookEventName":"WorktreeCreate","worktreePath":%q}}`, path))
					}
					return &wire.HookCallbackAnswer{}
				})
				lines := s.Turn("@tool EnterWorktree {\"name\":\"side\"}\n@next\n@tool ExitWorktree {\"action\":\"remove\",\"discard_changes\":true}\n@say Over.").Lines
				noteEvents(s, lines, "WorktreeCreate", "WorktreeRemove")
				s.Note("%s, the hook's: %t", told(lines, "WorktreeCreate", "name"), told(lines, "WorktreeRemove", "worktree_path") == path)
			},
			Quirks: []string{"HookEvents"},
			Want:   Same("WorktreeCreate: name", "WorktreeRemove: worktree_path", "side, the hook's: true"),
		},
		{
			ID: "events.denied", Facts: "hooks: PermissionDenied", Where: both(stdioOnly, since("2.1.120", "2.1.37 has no mode auto")), Initialize: everyEvent(),
			Options: func(o *claude.Options) { o.PermissionMode, o.Model = wire.PermissionModeAuto, "opus" },
			Run: func(s *Stage) {
				lines := s.Turn("@tool Bash {\"command\":\"curl http://127.0.0.1:9/\",\"description\":\"Fetch\"}\n@say Over.").Lines
				noteEvents(s, lines, "PermissionRequest", "PermissionDenied")
				s.Note("%s, a reason: %t", told(lines, "PermissionDenied", "tool_name"), told(lines, "PermissionDenied", "reason") != "")
			},
			Quirks: []string{"HookEvents"},
			Want:   Same("PermissionDenied: reason tool_input tool_name tool_use_id", "Bash, a reason: true"),
		},
	}
}

// sessionEventScenarios are about events of sessions.
func sessionEventScenarios() []Scenario {
	const setup = `{"hooks":{"Setup":[{"hooks":[{"type":"command","command":"echo set up"}]}]}}`
	return []Scenario{
		{
			ID: "events.model", Facts: "hooks: PreModelSwitch and PostModelSwitch", Where: stdioOnly, Warm: "events",
			Run: func(s *Stage) {
				s.Turn("@say Here.")
				s.Request(&wire.SetModelRequest{Model: "claude-opus-4-6"})
				var lines []Seen
				if s.AtLeast(2, 1, 325) {
					lines = awaitEvent(s, "PostModelSwitch")
				}
				noteEvents(s, append(lines, s.Settle()...), "PreModelSwitch", "PostModelSwitch")
				s.Note("%s %s", told(lines, "PreModelSwitch", "requested_model"), told(lines, "PreModelSwitch", "source"))
				s.Request(&wire.SetModelRequest{Model: "default"})
			},
			Quirks: []string{"HookModels"},
			Want: Per{
				"2.1.37":  {""},
				"2.1.325": {"PreModelSwitch: cache_ttl context_tokens estimated_cache_write_usd from_model pricing prompt_cache_warm requested_model source to_model", "PostModelSwitch: cache_ttl context_tokens estimated_cache_write_usd from_model pricing prompt_cache_warm requested_model source to_model", "claude-opus-4-6 sdk"},
			},
		},
		{
			ID: "events.directory", Facts: "hooks: DirectoryAdded", Where: both(stdioOnly, since("2.1.325", "older versions have no register_repo_root")), Warm: "events",
			Run: func(s *Stage) {
				s.Request(&wire.RegisterRepoRootRequest{Directory: filepath.Join(s.Dir, "sub")})
				lines := awaitEvent(s, "DirectoryAdded")
				noteEvents(s, lines, "DirectoryAdded")
				s.Note("%s %s", told(lines, "DirectoryAdded", "source"), told(lines, "DirectoryAdded", "directory"))
			},
			Quirks: []string{"HookModels"},
			Want:   Same("DirectoryAdded: directory source", "register_repo_root <dir>/sub"),
		},
		{
			ID: "events.clear", Facts: "hooks: SessionEnd and SessionStart at /clear", Where: stdioOnly, Warm: "events",
			Run: func(s *Stage) {
				lines := s.TurnExact("/clear").Lines
				noteEvents(s, lines, "SessionEnd", "SessionStart")
				s.Note("%s %s", told(lines, "SessionEnd", "reason"), told(lines, "SessionStart", "source"))
			},
			Quirks: []string{"ClearKnown"},
			Want: Per{
				"2.1.37":  {""},
				"2.1.120": {"SessionEnd: reason", "SessionStart: source", "clear clear"},
			},
		},
		{
			ID: "events.setup", Facts: "hooks: Setup runs those of the settings, and is over before a controller's are known", Where: stdioOnly, Initialize: everyEvent(),
			Options: func(o *claude.Options) { o.Settings = []byte(setup) },
			Args:    func(args []string) []string { return append(args, "--init") },
			Run: func(s *Stage) {
				for _, line := range append(slices.Clone(s.Started), s.Turn("@say Over.").Lines...) {
					if line.Is("system/hook", "asks hook_callback on Setup") {
						s.Note("%s", strings.TrimSpace(line.Text+" "+line.Get("hook_name")))
					}
				}
			},
			Want: Same("system/hook_started Setup:init", "system/hook_response Setup:init"),
		},
		{
			ID: "events.team", Facts: "hooks: TeammateIdle", Where: both(stdioOnly, realOnly("the simulated CLI has no teams")), Initialize: everyEvent(),
			Options: func(o *claude.Options) {
				o.Env = append(o.Env, "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=1", "CLAUDE_CODE_ENABLE_TASKS=1")
			},
			Run: func(s *Stage) {
				s.Turn("@tool TeamCreate {\"team_name\":\"crew\",\"description\":\"A team\"}\n@say Over.")
				s.Prompt("@tool Task {\"description\":\"Look\",\"prompt\":\"@say Looked.\",\"subagent_type\":\"general-purpose\",\"name\":\"ada\",\"team_name\":\"crew\",\"run_in_background\":true}\n@say Over.")
				// What the other agent has to say is a turn of its own.
				lines := append(s.AwaitResult().Lines, s.AwaitResult().Lines...)
				noteEvents(s, lines, "TeammateIdle")
				s.Note("%s %s", told(lines, "TeammateIdle", "teammate_name"), told(lines, "TeammateIdle", "team_name"))
			},
			Want: Per{
				"2.1.37":  {"TeammateIdle: team_name teammate_name", "ada crew"},
				"2.1.325": {""},
			},
		},
	}
}

// watchedEventScenarios are about events of files and folders.
func watchedEventScenarios() []Scenario {
	const watched = `{"hooks":{"CwdChanged":[{"hooks":[{"type":"command","command":"true"}]}],"FileChanged":[{"matcher":"file.txt","hooks":[{"type":"command","command":"true"}]}]}}`
	later := since("2.1.120", "2.1.37 has no such event")
	const readsNone = "it reads no files but transcripts and plans"
	return []Scenario{
		{
			ID: "events.instructions", Facts: "hooks: InstructionsLoaded", Where: both(stdioOnly, later), Warm: "events",
			Run: func(s *Stage) {
				lines := s.Turn(fmt.Sprintf("@tool Read {\"file_path\":%q}\n@say Over.", filepath.Join(s.Dir, "sub", "file.txt"))).Lines
				noteEvents(s, lines, "InstructionsLoaded")
				s.Note("%s %s %s", told(lines, "InstructionsLoaded", "memory_type"), told(lines, "InstructionsLoaded", "load_reason"), told(lines, "InstructionsLoaded", "file_path"))
			},
			Sim:  map[string]string{"*": readsNone},
			Want: Same("InstructionsLoaded: file_path load_reason memory_type trigger_file_path", "Project nested_traversal <dir>/sub/CLAUDE.md"),
		},
		{
			ID: "events.config", Facts: "hooks: ConfigChange", Where: both(stdioOnly, later, realOnly(readsNone)), Warm: "events",
			Run: func(s *Stage) {
				change(s, ".claude/settings.json", `{"env":{"CHANGED":"`+s.Tag()+`"}}`)
				lines := awaitEvent(s, "ConfigChange")
				noteEvents(s, lines, "ConfigChange")
				s.Note("%s %s", told(lines, "ConfigChange", "source"), told(lines, "ConfigChange", "file_path"))
			},
			Want: Same("ConfigChange: file_path source", "project_settings <dir>/.claude/settings.json"),
		},
		{
			ID: "events.folder", Facts: "hooks: CwdChanged and FileChanged, which a controller is told only if the settings have such hooks, too", Where: both(stdioOnly, later, realOnly(readsNone)), Initialize: everyEvent(),
			Options: func(o *claude.Options) {
				o.Settings = []byte(watched)
				fill(o, "sub/file.txt")
			},
			Run: func(s *Stage) {
				path := filepath.Join(s.Dir, "sub", "file.txt")
				s.OnHook(func(r *wire.HookCallbackRequest) any {
					if _, ok := r.Input.(*wire.CwdChangedInput); ok {
						return Verbatim(fmt.Sprintf(`{"hookSpecificOutput":{"hookEventName":"CwdChanged","watchPaths":[%q]}}`, path))
					}
					return &wire.HookCallbackAnswer{}
				})
				lines := s.Turn("@tool Bash {\"command\":\"cd sub\",\"description\":\"Go\"}\n@say Over.").Lines
				noteEvents(s, lines, "CwdChanged")
				s.Note("to %s", told(lines, "CwdChanged", "new_cwd"))
				change(s, "sub/file.txt", "changed\n")
				lines = awaitEvent(s, "FileChanged")
				noteEvents(s, lines, "FileChanged")
				s.Note("%s %s", told(lines, "FileChanged", "event"), told(lines, "FileChanged", "file_path"))
			},
			Want: Same("CwdChanged: new_cwd old_cwd", "to <dir>/sub", "FileChanged: event file_path", "change <dir>/sub/file.txt"),
		},
		{
			ID: "events.folder-alone", Facts: "hooks: CwdChanged without such a hook in the settings", Where: stdioOnly, Warm: "events",
			Run: func(s *Stage) {
				lines := s.Turn("@tool Bash {\"command\":\"cd sub && pwd\",\"description\":\"Go\"}\n@next\n@tool Bash {\"command\":\"cd .. && pwd\",\"description\":\"Back\"}\n@say Over.").Lines
				noteEvents(s, append(lines, s.Settle()...), "CwdChanged")
				s.Note("%s", lines[len(lines)-1].Text)
			},
			Want: Same("result success: Over."),
		},
	}
}

// TestEveryEventIsProvoked holds that hooks for each event are asked by a real CLI in some scenario.
func TestEveryEventIsProvoked(t *testing.T) {
	var notes []string
	for _, sc := range scenarios() {
		for _, want := range sc.Want {
			notes = append(notes, want...)
		}
	}
	all := "\n" + strings.Join(notes, "\n") + "\n"
	for _, event := range hookEvents() {
		// As summaries of lines have it, as noteEvents does, and as that of a settings hook.
		if !strings.Contains(all, " "+event+"\n") && !strings.Contains(all, " "+event+" ") && !strings.Contains(all, "\n"+event+":") && !strings.Contains(all, " "+event+":") {
			t.Errorf("no scenario expects the event %s", event)
		}
	}
}

package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// ruled is a kind of warm process that is given rules at its start, and a project that allows what they deny. It has an agent that plans, and its
// plans lie in the project.
func ruled(l *launch) {
	l.initialize = &wire.InitializeRequest{Agents: map[string]wire.AgentDefinition{
		"planner": {Description: "It plans", Prompt: "You plan.", PermissionMode: wire.PermissionModePlan},
	}}
	l.options = append(l.options, func(o *claude.Options) {
		secret := filepath.Join(o.Dir, "secret")
		must(0, os.MkdirAll(secret, 0o700))
		must(0, os.WriteFile(filepath.Join(secret, "file.txt"), []byte("text\n"), 0o600))
		must(0, os.MkdirAll(filepath.Join(o.Dir, "deep", "down"), 0o700))
		must(0, os.WriteFile(filepath.Join(o.Dir, "deep", "down", ".env"), []byte("text\n"), 0o600))
		must(0, os.MkdirAll(filepath.Join(o.Dir, ".claude"), 0o700))
		denied := fmt.Sprintf(`"Read(/%[1]s/**)","Edit(/%[1]s/**)","Bash(whoami:*)","WebFetch(domain:127.0.0.1)"`, secret)
		must(0, os.WriteFile(filepath.Join(o.Dir, ".claude", "settings.json"), []byte(`{"permissions":{"allow":[`+denied+`,"Bash(cat:*)","Bash(env:*)"]}}`), 0o600))
		o.Settings = []byte(`{"plansDirectory":"./plans","permissions":{"deny":[` + denied + fmt.Sprintf(`,"Read(/%s/**/.env)"`, o.Dir) + `,"mcp__forms"],"ask":["Bash(hostname:*)","EnterPlanMode"]}}`)
		o.AllowedTools = []string{"Bash(whoami:*)"}
	})
}

// outcome says what became of the only tool call of a turn: it ran, it was refused without a question, or somebody was asked.
func outcome(turn Turn) string {
	switch {
	case len(turn.Asked()) > 0:
		return "asked"
	case len(turn.Find("user tool_result error")) > 0:
		return "refused"
	}
	return "runs"
}

// try has the model call a tool, and notes what became of it.
func try(s *Stage, tool string) {
	s.Note("%s: %s", tool, outcome(s.Turn("@tool "+tool+"\n@say Over.")))
}

// bash is a call of a command.
func bash(command string) string { return fmt.Sprintf(`Bash {"command":%q}`, command) }

// ruleScenarios are about the rules that a controller gives to a CLI.
func ruleScenarios() []Scenario {
	return []Scenario{
		{
			ID: "rules.deny", Facts: "§22 deny rules of the command line beat what the project and --allowedTools allow", Where: stdioOnly, Warm: "ruled",
			Run: func(s *Stage) {
				server := httptest.NewServer(&formServer{answers: make(chan string, 1)})
				defer server.Close()
				secret := filepath.Join(s.Dir, "secret", "file.txt")
				for _, call := range []string{
					fmt.Sprintf(`Read {"file_path":%q}`, secret),
					`Read {"file_path":"secret/file.txt"}`,
					`Read {"file_path":"deep/down/.env"}`,
					fmt.Sprintf(`Write {"file_path":%q,"content":"x"}`, filepath.Join(s.Dir, "secret", "new.txt")),
					`WebFetch {"url":"http://127.0.0.1:9/","prompt":"Read it"}`,
					bash("whoami"),
					bash("true && whoami"),
					bash("timeout 5 whoami"),
					bash("env whoami"),
					bash("/usr/bin/whoami"),
					bash("bash -c whoami"),
					bash("cat secret/file.txt"),
					bash("cat " + secret),
					bash("cat < secret/file.txt"),
					bash("touch secret/new.txt"),
					bash("echo x > secret/new.txt"),
					bash("grep -r text ."),
				} {
					try(s, call)
				}
				s.RawRequest(`{"subtype":"mcp_set_servers","servers":{"forms":{"type":"http","url":"` + server.URL + `"}}}`)
				try(s, "mcp__forms__ask {}")
				s.RawRequest(`{"subtype":"mcp_set_servers","servers":{}}`)
			},
			Want: Per{
				"2.1.37":  {`Read {"file_path":"<dir>/secret/file.txt"}: refused`, `Read {"file_path":"secret/file.txt"}: refused`, `Read {"file_path":"deep/down/.env"}: refused`, `Write {"file_path":"<dir>/secret/new.txt","content":"x"}: refused`, `WebFetch {"url":"http://<address>/","prompt":"Read it"}: refused`, `Bash {"command":"whoami"}: refused`, `Bash {"command":"true && whoami"}: refused`, `Bash {"command":"timeout 5 whoami"}: refused`, `Bash {"command":"env whoami"}: runs`, `Bash {"command":"/usr/bin/whoami"}: asked`, `Bash {"command":"bash -c whoami"}: asked`, `Bash {"command":"cat secret/file.txt"}: refused`, `Bash {"command":"cat <dir>/secret/file.txt"}: refused`, `Bash {"command":"cat < secret/file.txt"}: asked`, `Bash {"command":"touch secret/new.txt"}: refused`, `Bash {"command":"echo x > secret/new.txt"}: refused`, `Bash {"command":"grep -r text ."}: runs`, "mcp__forms__ask {}: refused"},
				"2.1.120": {`Read {"file_path":"<dir>/secret/file.txt"}: refused`, `Read {"file_path":"secret/file.txt"}: refused`, `Read {"file_path":"deep/down/.env"}: refused`, `Write {"file_path":"<dir>/secret/new.txt","content":"x"}: refused`, `WebFetch {"url":"http://<address>/","prompt":"Read it"}: refused`, `Bash {"command":"whoami"}: refused`, `Bash {"command":"true && whoami"}: refused`, `Bash {"command":"timeout 5 whoami"}: refused`, `Bash {"command":"env whoami"}: refused`, `Bash {"command":"/usr/bin/whoami"}: asked`, `Bash {"command":"bash -c whoami"}: asked`, `Bash {"command":"cat secret/file.txt"}: refused`, `Bash {"command":"cat <dir>/secret/file.txt"}: refused`, `Bash {"command":"cat < secret/file.txt"}: runs`, `Bash {"command":"touch secret/new.txt"}: refused`, `Bash {"command":"echo x > secret/new.txt"}: refused`, `Bash {"command":"grep -r text ."}: runs`, "mcp__forms__ask {}: refused"},
				"2.1.325": {`Read {"file_path":"<dir>/secret/file.txt"}: refused`, `Read {"file_path":"secret/file.txt"}: refused`, `Read {"file_path":"deep/down/.env"}: refused`, `Write {"file_path":"<dir>/secret/new.txt","content":"x"}: refused`, `WebFetch {"url":"http://<address>/","prompt":"Read it"}: refused`, `Bash {"command":"whoami"}: refused`, `Bash {"command":"true && whoami"}: refused`, `Bash {"command":"timeout 5 whoami"}: refused`, `Bash {"command":"env whoami"}: refused`, `Bash {"command":"/usr/bin/whoami"}: refused`, `Bash {"command":"bash -c whoami"}: asked`, `Bash {"command":"cat secret/file.txt"}: refused`, `Bash {"command":"cat <dir>/secret/file.txt"}: refused`, `Bash {"command":"cat < secret/file.txt"}: refused`, `Bash {"command":"touch secret/new.txt"}: refused`, `Bash {"command":"echo x > secret/new.txt"}: refused`, `Bash {"command":"grep -r text ."}: runs`, "mcp__forms__ask {}: refused"},
			},
		},
		{
			ID: "rules.ask", Facts: "§22 ask rules of the command line; §4 EnterPlanMode is asked about if a rule says so", Where: stdioOnly, Warm: "ruled",
			Run: func(s *Stage) {
				s.OnAsk(deny("No, start implementing now."))
				for _, mode := range []wire.PermissionMode{wire.PermissionModeAcceptEdits, wire.PermissionModeDontAsk, wire.PermissionModeDefault} {
					setMode(s, mode)
					s.Note("%s", mode)
					try(s, bash("hostname"))
				}
				const enter = "@tool EnterPlanMode {}\n@say Over."
				turn := s.Turn(enter)
				askKeys(s, turn.Lines, "decision_reason", "decision_reason_type", "decision_reason_rule_source")
				noteTools(s, turn.Lines, "No, start implementing now.")
				s.OnAsk(allow)
				noteTools(s, s.Turn(enter).Lines)
				setMode(s, wire.PermissionModeDefault)
			},
			Want: Per{
				"2.1.37":  {"acceptEdits", `Bash {"command":"hostname"}: asked`, "dontAsk", `Bash {"command":"hostname"}: refused`, "default", `Bash {"command":"hostname"}: asked`, "EnterPlanMode has", "asks can_use_tool EnterPlanMode", "user tool_result error: No, start implementing now.", "result success: Over.", "asks can_use_tool EnterPlanMode", "system/status permissionMode=plan", "user tool_result", "result success: Over."},
				"2.1.120": {"acceptEdits", `Bash {"command":"hostname"}: asked`, "dontAsk", `Bash {"command":"hostname"}: refused`, "default", `Bash {"command":"hostname"}: asked`, "EnterPlanMode has decision_reason_type display_name", "decision_reason_type: rule", "asks can_use_tool EnterPlanMode", "user tool_result error: No, start implementing now.", "result success: Over.", "asks can_use_tool EnterPlanMode", "system/status permissionMode=plan", "user tool_result", "result success: Over."},
				"2.1.325": {"acceptEdits", `Bash {"command":"hostname"}: asked`, "dontAsk", `Bash {"command":"hostname"}: refused`, "default", `Bash {"command":"hostname"}: asked`, "EnterPlanMode has decision_reason_rule_source decision_reason_type display_name server_policy_ask_only", "decision_reason_type: rule", "decision_reason_rule_source: flagSettings", "asks can_use_tool EnterPlanMode", "user tool_result error: No, start implementing now.", "result success: Over.", "asks can_use_tool EnterPlanMode", "system/status permissionMode=plan", "user tool_result", "result success: Over."},
			},
		},
		{
			ID: "rules.flags", Facts: "§15 apply_flag_settings enforces deny and ask rules", Where: stdioOnly, Warm: "ruled",
			Run: func(s *Stage) {
				apply := func(settings string) {
					answer := s.RawRequest(`{"subtype":"apply_flag_settings","settings":` + settings + `}`)
					if answer == nil {
						s.Note("%s: no answer", settings)
						return
					}
					s.Note("%s: %s", settings, answer.Subtype)
				}
				all := func() {
					for _, command := range []string{"echo hello", "pwd", "date", "whoami", "hostname"} {
						try(s, bash(command))
					}
				}
				apply(`{"permissions":{"deny":["Bash(echo:*)"],"ask":["Bash(pwd:*)"]}}`)
				all()
				apply(`{"permissions":{"deny":["Bash(date:*)"]}}`) // in the place of the first
				all()
				if s.AtLeast(2, 1, 120) {
					// A question that is open stays so, and what is allowed runs; the next call of the turn is refused.
					s.OnAsk(func(*wire.CanUseToolRequest) any { return nil })
					s.Prompt(touch("asked before") + "\n@tool " + bash("echo after") + "\n@say Over.")
					question, _, _ := s.AwaitAsk()
					apply(`{"permissions":{"deny":["Bash(touch:*)","Bash(echo:*)"]}}`)
					s.Answer(question, &wire.Allow{})
					noteTools(s, s.AwaitResult().Lines, "asked before", "after")
					s.OnAsk(deny("No."))
				}
				apply(`{"permissions":null}`)
				all()
			},
			Quirks: []string{"FlagRules"},
			Want: Per{
				"2.1.37":  {`{"permissions":{"deny":["Bash(echo:*)"],"ask":["Bash(pwd:*)"]}}: no answer`, `Bash {"command":"echo hello"}: runs`, `Bash {"command":"pwd"}: runs`, `Bash {"command":"date"}: runs`, `Bash {"command":"whoami"}: refused`, `Bash {"command":"hostname"}: asked`, `{"permissions":{"deny":["Bash(date:*)"]}}: no answer`, `Bash {"command":"echo hello"}: runs`, `Bash {"command":"pwd"}: runs`, `Bash {"command":"date"}: runs`, `Bash {"command":"whoami"}: refused`, `Bash {"command":"hostname"}: asked`, `{"permissions":null}: no answer`, `Bash {"command":"echo hello"}: runs`, `Bash {"command":"pwd"}: runs`, `Bash {"command":"date"}: runs`, `Bash {"command":"whoami"}: refused`, `Bash {"command":"hostname"}: asked`},
				"2.1.120": {`{"permissions":{"deny":["Bash(echo:*)"],"ask":["Bash(pwd:*)"]}}: success`, `Bash {"command":"echo hello"}: refused`, `Bash {"command":"pwd"}: asked`, `Bash {"command":"date"}: runs`, `Bash {"command":"whoami"}: refused`, `Bash {"command":"hostname"}: asked`, `{"permissions":{"deny":["Bash(date:*)"]}}: success`, `Bash {"command":"echo hello"}: runs`, `Bash {"command":"pwd"}: runs`, `Bash {"command":"date"}: refused`, `Bash {"command":"whoami"}: refused`, `Bash {"command":"hostname"}: asked`, `{"permissions":{"deny":["Bash(touch:*)","Bash(echo:*)"]}}: success`, "user tool_result: asked before", "user tool_result error", "result success: Over.", `{"permissions":null}: success`, `Bash {"command":"echo hello"}: runs`, `Bash {"command":"pwd"}: runs`, `Bash {"command":"date"}: runs`, `Bash {"command":"whoami"}: refused`, `Bash {"command":"hostname"}: asked`},
				"2.1.325": {`{"permissions":{"deny":["Bash(echo:*)"],"ask":["Bash(pwd:*)"]}}: success`, `Bash {"command":"echo hello"}: refused`, `Bash {"command":"pwd"}: asked`, `Bash {"command":"date"}: runs`, `Bash {"command":"whoami"}: refused`, `Bash {"command":"hostname"}: asked`, `{"permissions":{"deny":["Bash(date:*)"]}}: success`, `Bash {"command":"echo hello"}: runs`, `Bash {"command":"pwd"}: runs`, `Bash {"command":"date"}: refused`, `Bash {"command":"whoami"}: refused`, `Bash {"command":"hostname"}: asked`, `{"permissions":{"deny":["Bash(touch:*)","Bash(echo:*)"]}}: success`, "user tool_result: asked before", "system/permission_denied Bash subcommandResults", "user tool_result error", "result success: Over.", `{"permissions":null}: success`, `Bash {"command":"echo hello"}: runs`, `Bash {"command":"pwd"}: runs`, `Bash {"command":"date"}: runs`, `Bash {"command":"whoami"}: refused`, `Bash {"command":"hostname"}: asked`},
			},
		},
		{
			ID: "rules.flags-wrong", Facts: "§15 apply_flag_settings with what is no list of rules", Where: both(stdioOnly, since("2.1.120", "2.1.37 does not know apply_flag_settings")), Warm: "ruled",
			Run: func(s *Stage) {
				for _, settings := range []string{`{"permissions":{"deny":["Bash(echo:*)","Bash(rm"]}}`, `{"permissions":{"deny":"x"}}`, `{"permissions":{"deny":[],"ask":[]}}`} {
					answer := s.RawRequest(`{"subtype":"apply_flag_settings","settings":` + settings + `}`)
					s.Note("%s: %s", settings, answer.Subtype)
					try(s, bash("echo hello"))
					try(s, bash("whoami"))
				}
			},
			Quirks: []string{"FlagsChecked"},
			Want: Per{
				"2.1.120": {`{"permissions":{"deny":["Bash(echo:*)","Bash(rm"]}}: success`, `Bash {"command":"echo hello"}: refused`, `Bash {"command":"whoami"}: refused`, `{"permissions":{"deny":"x"}}: success`, `Bash {"command":"echo hello"}: runs`, `Bash {"command":"whoami"}: refused`, `{"permissions":{"deny":[],"ask":[]}}: success`, `Bash {"command":"echo hello"}: runs`, `Bash {"command":"whoami"}: refused`},
				"2.1.325": {`{"permissions":{"deny":["Bash(echo:*)","Bash(rm"]}}: success`, `Bash {"command":"echo hello"}: refused`, `Bash {"command":"whoami"}: refused`, `{"permissions":{"deny":"x"}}: error`, `Bash {"command":"echo hello"}: refused`, `Bash {"command":"whoami"}: refused`, `{"permissions":{"deny":[],"ask":[]}}: success`, `Bash {"command":"echo hello"}: runs`, `Bash {"command":"whoami"}: refused`},
			},
		},
		{
			// What the CLI cannot read of --settings takes everything else in it along, without a word. --disallowedTools stands by itself.
			ID: "rules.broken", Facts: "§22 settings with a mistake in them do not count at all", Where: stdioOnly,
			Options: func(o *claude.Options) {
				o.Settings = []byte(`{"cleanupPeriodDays":"many","permissions":{"deny":["Bash(echo:*)"]}}`)
				o.DisallowedTools = []string{"Bash(date:*)", "Bash("}
			},
			Run: func(s *Stage) {
				try(s, bash("echo hello"))
				try(s, bash("date"))
				s.Restart(func(o *claude.Options) {
					o.Settings = []byte(`{"permissions":{"deny":["Bash(echo:*)","Bash("]}}`)
				})
				try(s, bash("echo hello"))
				try(s, bash("date"))
			},
			Quirks: []string{"RulesChecked"},
			Want: Per{
				"2.1.37":  {`Bash {"command":"echo hello"}: runs`, `Bash {"command":"date"}: refused`, `Bash {"command":"echo hello"}: runs`, `Bash {"command":"date"}: refused`},
				"2.1.120": {`Bash {"command":"echo hello"}: runs`, `Bash {"command":"date"}: refused`, `Bash {"command":"echo hello"}: refused`, `Bash {"command":"date"}: refused`},
			},
		},
		{
			ID: "permission.destinations", Facts: "§6 addRules with other destinations", Where: stdioOnly, Alone: true,
			Run: func(s *Stage) {
				for _, destination := range []string{"localSettings", "projectSettings", "userSettings"} {
					s.OnAsk(func(q *wire.CanUseToolRequest) any {
						return Verbatim(fmt.Sprintf(`{"behavior":"allow","updatedInput":{"command":"echo %[1]s"},"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"hash %[1]s"}],"behavior":"allow","destination":%[1]q}]}`, destination))
					})
					s.Turn("@tool " + bash("hash "+destination) + "\n@say Over.")
					s.OnAsk(deny("No."))
					s.Note("%s: asked again %d", destination, len(s.Turn("@tool "+bash("hash "+destination)+"\n@say Over.").Asked()))
				}
				for _, path := range []string{filepath.Join(s.Dir, ".claude", "settings.local.json"), filepath.Join(s.Dir, ".claude", "settings.json"), filepath.Join(s.Home, ".claude", "settings.json")} {
					text, err := os.ReadFile(path)
					if err != nil && !errors.Is(err, os.ErrNotExist) {
						s.Fail("%w", err)
					}
					s.Note("%s: %s", path, member(text, "permissions.allow"))
				}
			},
			Sim: map[string]string{"*": "no settings file is written"},
			Want: Per{
				"2.1.37":  {"localSettings: asked again 0", "projectSettings: asked again 0", "userSettings: asked again 0", `<dir>/.claude/settings.local.json: [ "Bash(hash localSettings)" ]`, `<dir>/.claude/settings.json: [ "Bash(hash projectSettings)" ]`, `<home>/.claude/settings.json: [ "Bash(hash userSettings)" ]`},
				"2.1.325": {"localSettings: asked again 0", "projectSettings: asked again 1", "userSettings: asked again 0", `<dir>/.claude/settings.local.json: [ "Bash(hash localSettings)" ]`, `<dir>/.claude/settings.json: [ "Bash(hash projectSettings)" ]`, `<home>/.claude/settings.json: [ "Bash(hash userSettings)" ]`},
			},
		},
		{
			ID: "plan.directory", Facts: "§4 plansDirectory", Where: stdioOnly, Warm: "ruled",
			Run: func(s *Stage) {
				s.OnAsk(allow)
				path := enterPlan(s, "# Plan\nBuild it.\n")
				s.Note("in the folder of the settings: %t", filepath.Dir(path) == filepath.Join(s.Dir, "plans"))
				turn := s.Turn("@tool ExitPlanMode {}\n@say Over.")
				for _, question := range turn.Asked() {
					s.Note("plan: %s", member(question.Input, "plan"))
				}
				noteTools(s, turn.Lines)
				leavePlan(s, path)
			},
			Want: Same("in the folder of the settings: true", "plan: # Plan Build it.", "asks can_use_tool ExitPlanMode", "system/status permissionMode=default", "user tool_result", "result success: Over."),
		},
		{
			ID: "plan.agent", Facts: "§4 an agent that plans has a plan of its own", Where: stdioOnly, Warm: "ruled",
			Run: func(s *Stage) {
				notes := filepath.Join(s.Home, "notes.txt")
				must(0, os.WriteFile(notes, []byte("text\n"), 0o600))
				tag := s.Tag()
				text, err := json.Marshal(fmt.Sprintf("@tool Read {\"file_path\":%[1]q}\n@next\n@tool Read {\"file_path\":%[1]q}\n@next\n@tool ExitPlanMode {}\n@say The agent is done.\n%[2]s", notes, tag))
				if err != nil {
					s.Fail("%w", err)
				}
				s.OnAsk(func(*wire.CanUseToolRequest) any { return nil })
				s.Prompt(fmt.Sprintf(`@tool Task {"description":"A plan","prompt":%s,"subagent_type":"planner","run_in_background":false}`, text) + "\n@say Over.")
				// It is told where its plan lies with the first result of a tool, so the second question is the time to write it.
				first, _, _ := s.AwaitAsk()
				s.Answer(first, &wire.Allow{})
				second, ask, _ := s.AwaitAsk()
				path := ""
				for _, request := range s.Asked(tag) {
					for _, found := range planPath.FindAllString(string(request.Body), -1) {
						if strings.HasSuffix(found, "-agent-"+ask.AgentID+".md") {
							path = found
						}
					}
				}
				s.Note("it was told a plan of its own: %t", filepath.Dir(path) == filepath.Join(s.Dir, "plans"))
				must(0, os.MkdirAll(filepath.Dir(path), 0o700))
				must(0, os.WriteFile(path, []byte("# Agent's plan\n"), 0o600))
				s.Answer(second, &wire.Allow{})
				exit, question, _ := s.AwaitAsk()
				s.Note("%s of the agent: %t, plan: %s", question.ToolName, question.AgentID == ask.AgentID, member(question.Input, "plan"))
				s.Answer(exit, &wire.Allow{})
				s.NoteOnly(s.AwaitResult().Lines, "system/status permissionMode", "result")
				must(0, os.Remove(path))
			},
			Want: Same("it was told a plan of its own: true", "ExitPlanMode of the agent: true, plan: # Agent's plan", "result success: Over."),
		},
	}
}

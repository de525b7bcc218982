package claudetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// bashPrompt makes the model call a tool that is asked about.
const bashPrompt = "@tool Bash {\"command\":\"touch one\"}\n@say Done"

// hooked starts a simulated CLI with one hook, "cb", for an event.
func hooked(t *testing.T, version, event, more string, change ...func(*SimOptions)) *simTest {
	t.Helper()
	s := startSim(t, version, change...)
	s.request(`{"subtype":"initialize","hooks":{"` + event + `":[{"matcher":null,"hookCallbackIds":["cb"]` + more + `}]}}`)
	s.lines = nil
	return s
}

// withQuirk changes one quirk.
func withQuirk(change func(*Quirks)) func(*SimOptions) {
	return func(o *SimOptions) { change(o.Quirks) }
}

// reply tells how requests of the CLI are answered, by their subtype; hooks are "hook". An answer that begins with "!" is an error; an empty
// one is none.
type reply map[string]string

const allowOne = `{"behavior":"allow","updatedInput":{"command":"touch one"}}`

// until answers requests until a line matches.
func (s *simTest) until(replies reply, match func(map[string]any) bool) map[string]any {
	s.t.Helper()
	for {
		line := s.next()
		if request, ok := line["request"].(map[string]any); ok && line["type"] == "control_request" {
			subtype, _ := request["subtype"].(string)
			subtype = strings.TrimSuffix(subtype, "_callback")
			if body := replies[subtype]; body != "" {
				s.reply(line["request_id"].(string), body)
			}
		}
		if match(line) {
			return line
		}
	}
}

// reply answers a request with a body, or with an error.
func (s *simTest) reply(id, body string) {
	s.t.Helper()
	if message, failed := strings.CutPrefix(body, "!"); failed {
		s.send(`{"type":"control_response","response":{"subtype":"error","request_id":"` + id + `","error":"` + message + `"}}`)
		return
	}
	s.answer(id, body)
}

// ends answers requests until the turn's result.
func (s *simTest) ends(replies reply) map[string]any {
	s.t.Helper()
	return s.until(replies, isResult)
}

func isResult(line map[string]any) bool { return line["type"] == "result" }

// asked counts the requests of a subtype so far.
func (s *simTest) count(subtype string) int {
	n := 0
	for _, line := range s.lines {
		if isQuestion(line, subtype) {
			n++
		}
	}
	return n
}

// toolResults are the contents of the tool results so far.
func (s *simTest) toolResults() []string {
	var texts []string
	for _, line := range s.lines {
		message, _ := line["message"].(map[string]any)
		content, _ := message["content"].([]any)
		for _, block := range content {
			if block, ok := block.(map[string]any); ok && block["type"] == "tool_result" {
				texts = append(texts, fmt.Sprint(block["content"]))
			}
		}
	}
	return texts
}

// having returns the first line so far of a system subtype.
func (s *simTest) having(subtype string) map[string]any {
	for _, line := range s.lines {
		if line["type"] == "system" && line["subtype"] == subtype {
			return line
		}
	}
	return nil
}

// perVersion is an expectation that may differ.
type perVersion struct{ v37, v120, v325 string }

func same(text string) perVersion { return perVersion{text, text, text} }

func (p perVersion) of(version string) string {
	switch version {
	case "2.1.37":
		return p.v37
	case "2.1.120":
		return p.v120
	}
	return p.v325
}

func TestHookBeforeTool(t *testing.T) {
	specific := func(members string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PreToolUse",` + members + `}}`
	}
	const ran = "asked, ran, Done, 0 denied"
	deny := perVersion{"no, Done, 0 denied", "no, Done, 1 denied", "PreToolUse:Bash hook error: no, Done, 1 denied"}
	for _, test := range []struct {
		name, answer string
		want         perVersion
	}{
		{"empty", `{}`, same(ran)},
		{"continue false", `{"continue":false,"stopReason":"x"}`, same("asked, ran, , 0 denied")},
		{
			"continue false and block", `{"continue":false,"decision":"block","reason":"no"}`,
			perVersion{deny.v37, deny.v120, "PreToolUse:Bash hook error: no, , 1 denied"},
		},
		{"block", `{"decision":"block","reason":"no"}`, deny},
		{"block without reason", `{"decision":"block"}`, perVersion{
			"Hook PreToolUse:Bash denied this tool, Done, 0 denied", "Hook PreToolUse:Bash denied this tool, Done, 1 denied",
			"PreToolUse:Bash hook error: Blocked by hook, Done, 1 denied",
		}},
		{"deny", specific(`"permissionDecision":"deny","permissionDecisionReason":"no"`), deny},
		{"approve", `{"decision":"approve"}`, same("ran, Done, 0 denied")},
		{"allow", specific(`"permissionDecision":"allow"`), same("ran, Done, 0 denied")},
		{"ask", specific(`"permissionDecision":"ask","permissionDecisionReason":"why"`), same(ran)},
		{"defer", specific(`"permissionDecision":"defer"`), perVersion{ran, ", 0 denied", ", 0 denied"}},
		{"async", `{"async":true,"asyncTimeout":1000}`, same(ran)},
		{"error", `!broken`, same(ran)},
		{"unknown decision", `{"decision":"perhaps","reason":"no"}`, same(ran)},
		{"another event", `{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"deny"}}`, same(ran)},
		{"wrong type", `{"continue":"no"}`, same(ran)},
	} {
		for _, version := range SimVersions() {
			t.Run(test.name+"/"+version, func(t *testing.T) {
				s := hooked(t, version, "PreToolUse", "")
				s.prompt(bashPrompt)
				result := s.ends(reply{"hook": test.answer, "can_use_tool": allowOne})
				var got []string
				if s.count("can_use_tool") > 0 {
					got = append(got, "asked")
				}
				for _, text := range s.toolResults() {
					if text == "" || text == "(Bash completed with no output)" {
						text = "ran"
					}
					got = append(got, text)
				}
				denials, _ := result["permission_denials"].([]any)
				got = append(got, fmt.Sprint(result["result"]), fmt.Sprintf("%d denied", len(denials)))
				if text := strings.Join(got, ", "); text != test.want.of(version) {
					t.Errorf("got  %s\nwant %s\n%s", text, test.want.of(version), s.story())
				}
				failed := slices.Contains([]string{"error", "unknown decision", "another event", "wrong type"}, test.name)
				notice := s.having("informational")
				if told := notice != nil && notice["tag"] == "hook_callback_failed"; told != (failed && version == "2.1.325") {
					t.Errorf("a failure was told: %v", notice)
				}
				if test.name == "defer" && version != "2.1.37" {
					deferred, _ := result["deferred_tool_use"].(map[string]any)
					if deferred["name"] != "Bash" || result["stop_reason"] != "tool_deferred" {
						t.Errorf("the turn ended with %v", result)
					}
				}
			})
		}
	}
}

func TestHookUpdatesInput(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			s := hooked(t, version, "PreToolUse", "")
			s.prompt("@tool Bash {\"command\":\"touch one\"}\n@say Done")
			id, _ := s.question("hook_callback")
			s.answer(id, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"touch two"}}}`)
			id, request := s.question("can_use_tool")
			if input, _ := request["input"].(map[string]any); input["command"] != "touch two" {
				t.Errorf("asked about %v", request)
			}
			s.answer(id, `{"behavior":"allow","updatedInput":{"command":"touch two"}}`)
			s.ends(nil)
		})
	}
}

func TestHookAsks(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			s := hooked(t, version, "PreToolUse", "")
			s.prompt(bashPrompt)
			id, _ := s.question("hook_callback")
			s.answer(id, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"why"}}`)
			_, request := s.question("can_use_tool")
			_, suggests := request["permission_suggestions"]
			if told := request["decision_reason"] == "why"; told != (version != "2.1.37") || suggests == told {
				t.Errorf("asked with %v", request)
			}
			if told := request["decision_reason_hook_event"] == "PreToolUse"; told != (version == "2.1.325") {
				t.Errorf("asked with %v", request)
			}
		})
	}
}

func TestHooksDecideTogether(t *testing.T) {
	s := startSim(t, "2.1.325")
	s.request(`{"subtype":"initialize","hooks":{"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["a","b"]},{"matcher":"Edit","hookCallbackIds":["c"]}]}}`)
	s.prompt(bashPrompt)
	first, one := s.question("hook_callback")
	second, two := s.question("hook_callback") // both are asked before any answer
	if one["callback_id"] != "a" || two["callback_id"] != "b" {
		t.Fatalf("asked %v, then %v", one["callback_id"], two["callback_id"])
	}
	s.answer(second, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"b says no"}}`)
	s.answer(first, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`)
	s.ends(nil)
	if got := s.toolResults(); len(got) != 1 || !strings.HasSuffix(got[0], "b says no") {
		t.Errorf("the tool's result is %q", got)
	}
	if s.count("hook_callback") != 2 {
		t.Error("a hook was asked whose matcher is for another tool")
	}
}

func TestHookMatchers(t *testing.T) {
	for _, test := range []struct {
		matcher, subject, version string
		want                      bool
	}{
		{"", "Bash", "2.1.37", true},
		{"*", "Bash", "2.1.37", true},
		{"Bash", "Bash", "2.1.37", true},
		{"bash", "Bash", "2.1.325", false},
		{"Ba", "Bash", "2.1.325", false},
		{"Bash|Edit", "Edit", "2.1.120", true},
		{"Bash|Edit", "Write", "2.1.120", false},
		{"B.*", "Bash", "2.1.37", true},
		{"mcp__calc__.*", "mcp__calc__add", "2.1.325", true},
		{"[", "Bash", "2.1.325", false},
		{"Edit, Bash", "Bash", "2.1.120", false},
		{"Edit, Bash", "Bash", "2.1.325", true},
		{"Task", "Agent", "2.1.325", true},
		{"x", "", "2.1.37", true},
	} {
		quirks, err := QuirksFor(test.version)
		if err != nil {
			t.Fatal(err)
		}
		if got := quirks.hookMatches(&test.matcher, test.subject); got != test.want {
			t.Errorf("%s: the matcher %q for %q: got %v", test.version, test.matcher, test.subject, got)
		}
	}
	quirks := quirks37()
	if !quirks.hookMatches(nil, "Bash") {
		t.Error("no matcher matches all")
	}
}

// TestHookInput compares the names of what hooks are told with those of the real CLIs.
func TestHookInput(t *testing.T) {
	base := "session_id transcript_path cwd"
	for _, test := range []struct {
		event, prompt string
		want          perVersion
	}{
		{"UserPromptSubmit", "@say hi", perVersion{
			base + " permission_mode hook_event_name prompt", base + " permission_mode hook_event_name prompt",
			base + " prompt_id permission_mode hook_event_name prompt",
		}},
		{"PreToolUse", bashPrompt, perVersion{
			base + " permission_mode hook_event_name tool_name tool_input tool_use_id", base + " permission_mode hook_event_name tool_name tool_input tool_use_id",
			base + " prompt_id permission_mode effort hook_event_name tool_name tool_input tool_use_id",
		}},
		{"PostToolUse", bashPrompt, perVersion{
			base + " permission_mode hook_event_name tool_name tool_input tool_response tool_use_id",
			base + " permission_mode hook_event_name tool_name tool_input tool_response tool_use_id duration_ms",
			base + " prompt_id permission_mode effort hook_event_name tool_name tool_input tool_response tool_use_id duration_ms",
		}},
		{"PostToolUseFailure", "@tool Bash {\"command\":\"false\"}\n@say Done", perVersion{
			base + " permission_mode hook_event_name tool_name tool_input tool_use_id error is_interrupt",
			base + " permission_mode hook_event_name tool_name tool_input tool_use_id error is_interrupt duration_ms",
			base + " prompt_id permission_mode effort hook_event_name tool_name tool_input tool_use_id error is_interrupt duration_ms",
		}},
		{"PermissionRequest", bashPrompt, perVersion{
			base + " permission_mode hook_event_name tool_name tool_input permission_suggestions",
			base + " permission_mode hook_event_name tool_name tool_input permission_suggestions",
			base + " prompt_id permission_mode effort hook_event_name tool_name tool_input permission_suggestions",
		}},
		{"Stop", "@say hi", perVersion{
			base + " permission_mode hook_event_name stop_hook_active", base + " permission_mode hook_event_name stop_hook_active last_assistant_message",
			base + " prompt_id permission_mode effort hook_event_name stop_hook_active last_assistant_message background_tasks session_crons",
		}},
		{"SubagentStart", agentPrompt, perVersion{
			base + " hook_event_name agent_id agent_type", base + " agent_id agent_type hook_event_name", base + " prompt_id agent_id agent_type hook_event_name",
		}},
		{"SubagentStop", agentPrompt, perVersion{
			base + " permission_mode hook_event_name stop_hook_active agent_id agent_transcript_path agent_type",
			base + " permission_mode agent_id agent_type hook_event_name stop_hook_active agent_transcript_path last_assistant_message",
			base + " prompt_id permission_mode agent_id agent_type effort hook_event_name stop_hook_active agent_transcript_path last_assistant_message background_tasks session_crons",
		}},
		{"PreCompact", "/compact", perVersion{
			base + " hook_event_name trigger custom_instructions", base + " hook_event_name trigger custom_instructions",
			base + " prompt_id hook_event_name trigger custom_instructions",
		}},
		{"PostCompact", "/compact", perVersion{
			"", base + " hook_event_name trigger compact_summary", base + " prompt_id hook_event_name trigger compact_summary",
		}},
		{"SessionStart", "/compact", perVersion{
			base + " hook_event_name source model", base + " hook_event_name source model", base + " prompt_id hook_event_name source model",
		}},
	} {
		for _, version := range SimVersions() {
			t.Run(test.event+"/"+version, func(t *testing.T) {
				s := hooked(t, version, test.event, "", withArgs("--model", "opus"))
				if strings.HasPrefix(test.prompt, "/") {
					s.turn("@say hi")
				}
				s.prompt(test.prompt)
				s.ends(reply{"hook": `{}`, "can_use_tool": allowOne})
				got := ""
				for _, line := range s.lines {
					if isQuestion(line, "hook_callback") {
						got = strings.Join(slices.Sorted(maps.Keys(line["request"].(map[string]any)["input"].(map[string]any))), " ")
					}
				}
				want := strings.Fields(test.want.of(version))
				slices.Sort(want)
				if got != strings.Join(want, " ") {
					t.Errorf("got  %s\nwant %s\n%s", got, strings.Join(want, " "), s.story())
				}
			})
		}
	}
}

const agentPrompt = `@tool Task {"description":"d","prompt":"@say sub","subagent_type":"general-purpose","run_in_background":false}` + "\n@say Done"

func TestHookTimeout(t *testing.T) {
	for _, version := range SimVersions() {
		for _, limit := range []time.Duration{3 * time.Second, hookLimit} {
			t.Run(version+"/"+limit.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					more := ""
					if limit != hookLimit {
						more = `,"timeout":3`
					}
					s := hooked(t, version, "PreToolUse", more)
					s.prompt(bashPrompt)
					id, _ := s.question("hook_callback")
					begin := time.Now()
					cancelled := s.until(nil, func(line map[string]any) bool { return line["type"] == "control_cancel_request" })
					if took := time.Since(begin); took != limit || cancelled["request_id"] != id {
						t.Errorf("after %v: %v", took, cancelled)
					}
					s.reply(id, `{"decision":"block","reason":"late"}`) // is ignored
					s.ends(reply{"can_use_tool": allowOne})
					if asked := s.count("can_use_tool") > 0; asked != (version != "2.1.325") {
						t.Errorf("asked for the permission: %v\n%s", asked, s.story())
					}
					beats := 0
					for _, line := range s.lines {
						if id, _ := line["tool_use_id"].(string); line["type"] == "tool_progress" && strings.HasPrefix(id, "hook-PreToolUse-toolu_") {
							beats++
						}
					}
					if told := beats > 15; told != (version == "2.1.325" && limit == hookLimit) {
						t.Errorf("it was told %d times that the hook is waited for", beats)
					}
				})
			})
		}
	}
}

func TestHookTimeoutOfOthers(t *testing.T) {
	for _, version := range SimVersions() {
		for _, event := range []string{"UserPromptSubmit", "PostToolUse", "Stop"} {
			t.Run(event+"/"+version, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := hooked(t, version, event, `,"timeout":2`)
					s.prompt(bashPrompt)
					result := s.ends(reply{"can_use_tool": allowOne})
					blocked := event == "UserPromptSubmit" && version == "2.1.325"
					if (result["num_turns"] == 0.0) != blocked {
						t.Errorf("the turn ended with %v\n%s", result, s.story())
					}
				})
			})
		}
	}
}

func TestHookInterrupted(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			s := hooked(t, version, "PreToolUse", "")
			s.prompt(bashPrompt)
			id, _ := s.question("hook_callback")
			s.send(`{"type":"control_request","request_id":"stop","request":{"subtype":"interrupt"}}`)
			cancelled := s.until(nil, func(line map[string]any) bool {
				return line["type"] == "control_cancel_request" || line["type"] == "control_response"
			})
			if cancelled["request_id"] != id {
				t.Errorf("the hook was not withdrawn before the answer: %v", cancelled)
			}
			if result := s.ends(nil); result["subtype"] != "error_during_execution" {
				t.Errorf("the turn ended with %v", result)
			}
		})
	}
}

func TestHookEndOfInput(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			s := hooked(t, version, "PreToolUse", "")
			s.prompt(bashPrompt)
			s.question("hook_callback")
			if err := s.sim.CloseInput(); err != nil {
				t.Fatal(err)
			}
			result := s.ends(nil)
			denials, _ := result["permission_denials"].([]any)
			if result["result"] != "Done" || len(denials) != map[string]int{"2.1.37": 1, "2.1.120": 1}[version] {
				t.Errorf("the turn ended with %v", result)
			}
		})
	}
}

func TestPermissionRequestHook(t *testing.T) {
	decision := func(members string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{` + members + `}}}`
	}
	for _, version := range SimVersions() {
		races := version != "2.1.37"
		t.Run("allow/"+version, func(t *testing.T) {
			s := hooked(t, version, "PermissionRequest", "")
			s.prompt(bashPrompt)
			s.ends(reply{"hook": decision(`"behavior":"allow","updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]`)})
			withdrawn := slices.Contains(s.kinds(), "control_cancel_request")
			if s.count("can_use_tool") > 0 != races || withdrawn != races {
				t.Errorf("the person was asked, or not:\n%s", s.story())
			}
			if status := s.having("status"); status == nil || status["permissionMode"] != "acceptEdits" {
				t.Errorf("the mode is told as %v", status)
			}
		})
		t.Run("deny/"+version, func(t *testing.T) {
			s := hooked(t, version, "PermissionRequest", "")
			s.prompt(bashPrompt)
			result := s.ends(reply{"hook": decision(`"behavior":"deny","message":"no","interrupt":true`)})
			if stops := result["subtype"] != "success"; stops != (version == "2.1.325") {
				t.Errorf("the turn ended with %v", result)
			}
		})
		t.Run("undecided/"+version, func(t *testing.T) {
			s := hooked(t, version, "PermissionRequest", "")
			s.prompt(bashPrompt)
			result := s.ends(reply{"hook": `{}`, "can_use_tool": allowOne})
			if result["result"] != "Done" || s.count("can_use_tool") != 1 || slices.Contains(s.kinds(), "control_cancel_request") {
				t.Errorf("the turn ended with %v\n%s", result, s.story())
			}
		})
		t.Run("late/"+version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := hooked(t, version, "PermissionRequest", `,"timeout":2`)
				s.prompt(bashPrompt)
				s.until(nil, func(line map[string]any) bool { return line["type"] == "control_cancel_request" })
				if version == "2.1.325" {
					result := s.ends(nil)
					if denials, _ := result["permission_denials"].([]any); len(denials) != 1 {
						t.Errorf("the turn ended with %v", result)
					}
					return
				}
				for _, line := range s.lines {
					if isQuestion(line, "can_use_tool") {
						s.reply(line["request_id"].(string), allowOne)
					}
				}
				if result := s.ends(reply{"can_use_tool": allowOne}); result["result"] != "Done" {
					t.Errorf("the turn ended with %v", result)
				}
			})
		})
	}
	t.Run("the person first", func(t *testing.T) {
		s := hooked(t, "2.1.120", "PermissionRequest", "")
		s.prompt(bashPrompt)
		person, _ := s.question("can_use_tool")
		hook, _ := s.question("hook_callback")
		s.answer(person, allowOne)
		s.ends(nil)
		s.answer(hook, decision(`"behavior":"deny","message":"too late"`))
		if result := s.turn("@say more"); result["result"] != "more" || slices.Contains(s.kinds(), "control_cancel_request") {
			t.Errorf("the next turn ended with %v\n%s", result, s.story())
		}
	})
}

func TestHookAfterTool(t *testing.T) {
	for _, version := range SimVersions() {
		for _, test := range []struct{ name, answer, prompt, event, told string }{
			{"block", `{"decision":"block","reason":"look again"}`, bashPrompt, "PostToolUse", `PostToolUse:Bash hook blocking error from command: "callback": look again`},
			{"context", `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"by the way"}}`, bashPrompt, "PostToolUse", "PostToolUse:Bash hook additional context: by the way"},
			{"failure", `{"decision":"block","reason":"look again"}`, "@tool Bash {\"command\":\"false\"}\n@say Done", "PostToolUseFailure", "PostToolUseFailure:Bash hook blocking error"},
		} {
			t.Run(test.name+"/"+version, func(t *testing.T) {
				var said []string
				s := hooked(t, version, test.event, "", func(o *SimOptions) {
					o.Script = func(r Request) Reply {
						raw, _ := json.Marshal(r.Messages)
						said = append(said, string(raw))
						return Directives(nil)(r)
					}
				})
				s.prompt(test.prompt)
				if result := s.ends(reply{"hook": test.answer, "can_use_tool": allowOne}); result["result"] != "Done" {
					t.Errorf("the turn ended with %v", result)
				}
				last := said[len(said)-1]
				if told, _ := json.Marshal(test.told); !strings.Contains(last, strings.Trim(string(told), `"`)) {
					t.Errorf("the model was told %s", last)
				}
			})
		}
		t.Run("stop/"+version, func(t *testing.T) {
			s := hooked(t, version, "PostToolUse", "")
			s.prompt(bashPrompt)
			if result := s.ends(reply{"hook": `{"continue":false}`, "can_use_tool": allowOne}); result["result"] != "" || result["num_turns"] != 2.0 {
				t.Errorf("the turn ended with %v", result)
			}
		})
	}
}

func TestHookSays(t *testing.T) {
	for event, want := range map[string]string{
		"PreToolUse": "system/informational user", "PostToolUse": "user system/informational", "UserPromptSubmit": "system/init system/informational",
	} {
		t.Run(event, func(t *testing.T) {
			s := hooked(t, "2.1.325", event, "")
			s.prompt(bashPrompt)
			s.ends(reply{"hook": `{"systemMessage":"hear"}`, "can_use_tool": allowOne})
			if kinds := strings.Join(s.kinds(), " "); !strings.Contains(kinds, want) {
				t.Errorf("the lines are %s", kinds)
			}
		})
	}
	s := hooked(t, "2.1.120", "PreToolUse", "")
	s.prompt(bashPrompt)
	s.ends(reply{"hook": `{"systemMessage":"hear"}`, "can_use_tool": allowOne})
	if s.having("informational") != nil {
		t.Error("an older version shows what a hook says")
	}
}

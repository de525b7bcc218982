package claudetest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// volatile is what differs from run to run: ids, times, folders.
var volatile = regexp.MustCompile(`toolu_\w+|msg_\w+|req_\w+|[0-9a-f]{8}-[0-9a-f-]{27}|/[^" ]*TestHostQuirks[^"]*|"\w*(_ms|seconds)":[0-9.]+|\d{4}-\d\d-\d\dT[0-9:.]+Z|"run_id":"[^"]+"|\ba[0-9a-f]{6,16}\b`)

// TestHostQuirks flips each quirk of hooks and MCP servers and sees that a controller notices.
func TestHostQuirks(t *testing.T) {
	hook := func(event, answer, prompt, more string) func(*testing.T, *simTest) {
		return func(_ *testing.T, s *simTest) {
			s.request(`{"subtype":"initialize","hooks":{"` + event + `":[{"hookCallbackIds":["cb"]` + more + `}]}}`)
			s.prompt(prompt)
			s.ends(reply{"hook": answer, "can_use_tool": allowOne})
		}
	}
	after := func(event, answer string) func(*testing.T, *simTest) {
		return func(_ *testing.T, s *simTest) {
			s.request(`{"subtype":"initialize","hooks":{"` + event + `":[{"hookCallbackIds":["cb"]}]}}`)
			s.turn("@say hi")
			s.prompt("/compact")
			s.ends(reply{"hook": answer})
		}
	}
	mcp := func(answers map[string]string, steps ...string) func(*testing.T, *simTest) {
		return func(_ *testing.T, s *simTest) {
			h := newHost(s)
			maps.Copy(h.answers, answers)
			for _, step := range steps {
				if strings.HasPrefix(step, "{") {
					h.ask(step)
				} else {
					h.works(step)
				}
			}
		}
	}
	config := func(_ *testing.T, s *simTest) {
		h := newHost(s)
		h.prompt(addPrompt)
		h.serve(isResult)
	}
	const deny, stop = `{"decision":"block","reason":"no"}`, `{"continue":false,"stopReason":"no"}`
	const named = `{"subtype":"initialize","sdkMcpServers":["calc"]}`
	const changed = `{"subtype":"mcp_message","server_name":"calc","message":{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}`
	const off = `{"subtype":"mcp_toggle","serverName":"calc","enabled":false}`
	decides := func(_ *testing.T, s *simTest) {
		s.request(`{"subtype":"initialize","hooks":{"PermissionRequest":[{"hookCallbackIds":["cb"]}]}}`)
		s.prompt(bashPrompt)
		s.ends(reply{"hook": `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no","interrupt":true}}}`})
	}
	for name, test := range map[string]struct {
		version string
		flip    func(*Quirks)
		run     func(*testing.T, *simTest)
		args    []string
	}{
		"HookPrefix":        {"2.1.325", func(q *Quirks) { q.HookPrefix = false }, hook("PreToolUse", deny, bashPrompt, ""), nil},
		"HookDefers":        {"2.1.325", func(q *Quirks) { q.HookDefers = false }, hook("PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}`, bashPrompt, ""), nil},
		"HookNotices":       {"2.1.325", func(q *Quirks) { q.HookNotices = false }, hook("PreToolUse", "!broken", bashPrompt, ""), nil},
		"HookTimeoutDenies": {"2.1.325", func(q *Quirks) { q.HookTimeoutDenies = false }, hook("PreToolUse", "", bashPrompt, `,"timeout":1`), nil},
		"HookRaces":         {"2.1.325", func(q *Quirks) { q.HookRaces = false }, decides, nil},
		"HookFields":        {"2.1.325", func(q *Quirks) { q.HookFields = false }, hook("Stop", `{}`, bashPrompt, ""), nil},
		"HookAgents":        {"2.1.325", func(q *Quirks) { q.HookAgents = false }, hook("PreToolUse", `{}`, strings.Replace(agentPrompt, "@say sub", `@tool Bash {\"command\":\"touch x\"}\n@say sub`, 1), ""), nil},
		"HookDurations":     {"2.1.325", func(q *Quirks) { q.HookDurations = false }, hook("PostToolUse", `{}`, bashPrompt, ""), nil},
		"HookLastMessage":   {"2.1.325", func(q *Quirks) { q.HookLastMessage = false }, hook("Stop", `{}`, bashPrompt, ""), nil},
		"HookSaysAgent":     {"2.1.325", func(q *Quirks) { q.HookSaysAgent = false }, hook("PreToolUse", `{}`, agentPrompt, ""), nil},
		"HookLists":         {"2.1.325", func(q *Quirks) { q.HookLists = false }, hook("PreToolUse", `{}`, bashPrompt, `,"matcher":"Edit, Bash"`), nil},
		"HookBeats":         {"2.1.325", func(q *Quirks) { q.HookBeats = false }, hook("Stop", "", bashPrompt, `,"timeout":40`), nil},
		"HookDenialsListed": {"2.1.325", func(q *Quirks) { q.HookDenialsListed = false }, hook("PreToolUse", deny, bashPrompt, ""), nil},
		"HookStopsDenied":   {"2.1.325", func(q *Quirks) { q.HookStopsDenied = false }, hook("PreToolUse", `{"continue":false,"decision":"block"}`, bashPrompt, ""), nil},
		"HookStopCounts":    {"2.1.37", func(q *Quirks) { q.HookStopCounts = false }, hook("UserPromptSubmit", stop, bashPrompt, ""), nil},
		"HookInterrupts":    {"2.1.325", func(q *Quirks) { q.HookInterrupts = false }, decides, nil},
		"HookPostCompact":   {"2.1.325", func(q *Quirks) { q.HookPostCompact = false }, after("PostCompact", `{}`), nil},
		"StopHookNotes": {"2.1.325", func(q *Quirks) { q.StopHookNotes = false }, func(_ *testing.T, s *simTest) {
			s.request(`{"subtype":"initialize","hooks":{"Stop":[{"hookCallbackIds":["cb"]}]}}`)
			s.prompt("@say hi")
			id, _ := s.question("hook_callback")
			s.answer(id, deny)
			s.ends(reply{"hook": `{}`})
		}, nil},
		"MCPAtStart":        {"2.1.120", func(q *Quirks) { q.MCPAtStart = false }, startsEarly, []string{"--mcp-config", calcConfig}},
		"MCPOpensTwice":     {"2.1.37", func(q *Quirks) { q.MCPOpensTwice = false }, config, []string{"--mcp-config", calcConfig}},
		"MCPListsOnce":      {"2.1.37", func(q *Quirks) { q.MCPListsOnce = true }, config, []string{"--mcp-config", calcConfig}},
		"MCPBeforeAnswer":   {"2.1.325", func(q *Quirks) { q.MCPBeforeAnswer = false }, mcp(nil, named), nil},
		"MCPErrorPrefix":    {"2.1.37", func(q *Quirks) { q.MCPErrorPrefix = false }, mcp(map[string]string{"tools/call": `"error":{"code":-1,"message":"boom"}`}, named, addPrompt), nil},
		"MCPFollowsChanges": {"2.1.325", func(q *Quirks) { q.MCPFollowsChanges = false }, mcp(nil, named, "@say hi", changed, `{"subtype":"mcp_status"}`), nil},
		"MCPNamesSDK":       {"2.1.325", func(q *Quirks) { q.MCPNamesSDK = false }, mcp(nil, named, "@say hi", off), nil},
		"MCPToggles":        {"2.1.325", func(q *Quirks) { q.MCPToggles = false }, mcp(nil, named, "@say hi", off, `{"subtype":"mcp_status"}`), nil},
		"MCPTriesAgain":     {"2.1.325", func(q *Quirks) { q.MCPTriesAgain = false }, mcp(map[string]string{"initialize": "!no"}, named, "@say hi", "@say again"), nil},
		"MCPShortLimit":     {"2.1.325", func(q *Quirks) { q.MCPShortLimit = false }, mcp(map[string]string{"initialize": ""}, named, "@say hi"), nil},
		"MCPTitled":         {"2.1.325", func(q *Quirks) { q.MCPTitled = false }, mcp(nil, named), nil},
		"MCPDetails":        {"2.1.325", func(q *Quirks) { q.MCPDetails = false }, mcp(nil, named, addPrompt), nil},
		"MCPEmptyTold":      {"2.1.325", func(q *Quirks) { q.MCPEmptyTold = false }, mcp(map[string]string{"tools/call": `"result":{"content":[]}`}, named, addPrompt), nil},
		"Elicits": {"2.1.325", func(q *Quirks) { q.Elicits = false }, func(_ *testing.T, s *simTest) {
			s.prompt("@tool mcp__forms__ask {}\n@form {\"message\":\"?\"}\n@say Done")
			s.ends(reply{"elicitation": `{"action":"accept"}`})
		}, []string{"--allowedTools", "mcp__forms__ask"}},
	} {
		t.Run(name, func(t *testing.T) {
			// What is said, in no order: a server is opened while other things happen.
			tell := func(flip func(*Quirks)) (story string) {
				synctest.Test(t, func(t *testing.T) {
					s := startSim(t, test.version, withArgs(test.args...), withQuirk(flip))
					test.run(t, s)
					synctest.Wait()
					var lines []string
					for _, entry := range s.sim.Record() {
						if !entry.Read {
							lines = append(lines, volatile.ReplaceAllString(entry.Line, "*"))
						}
					}
					slices.Sort(lines)
					story = strings.Join(lines, "\n")
				})
				return story
			}
			as := tell(func(*Quirks) {})
			if again := tell(func(*Quirks) {}); again != as {
				t.Fatalf("the CLI is not the same twice:\n%s", firstDifference(as, again))
			}
			if tell(test.flip) == as {
				t.Error("nobody would notice")
			}
		})
	}
}

// firstDifference returns the first lines that differ.
func firstDifference(a, b string) string {
	one, two := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(one), len(two)) {
		if one[i] != two[i] {
			return one[i] + "\n" + two[i]
		}
	}
	return "one is longer"
}

// startsEarly waits until everything that happens without input has happened.
func startsEarly(_ *testing.T, s *simTest) {
	synctest.Wait()
	s.send(`{"type":"keep_alive"}`)
}

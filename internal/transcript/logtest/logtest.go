package logtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/wire"
)

// Noon is when logs begin; each event takes a second.
var Noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// A Script writes a log.
type Script struct {
	// Events are what was written so far.
	Events []api.Event
}

// Add adds an event, a second after the one before it.
func (s *Script) Add(e api.Event) {
	n := int64(len(s.Events) + 1)
	e.ID, e.Seq, e.Session, e.Run = fmt.Sprintf("e1:%d", n), n, "s1", max(e.Run, 1)
	e.Time = Noon.Add(time.Duration(n) * time.Second)
	s.Events = append(s.Events, e)
}

// Line adds a line of the CLI's.
func (s *Script) Line(format string, args ...any) {
	line := format
	if len(args) > 0 {
		line = fmt.Sprintf(format, args...)
	}
	s.Add(api.Event{Kind: api.KindLine, Line: json.RawMessage(line)})
}

// Hub adds an event of the hub's.
func (s *Script) Hub(kind string, data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	s.Add(api.Event{Kind: kind, Data: raw})
}

// Quoted returns a text as JSON.
func Quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// Say adds a text of the agent's.
func (s *Script) Say(text, more string) {
	n := len(s.Events)
	s.Line(`{"type":"assistant","uuid":"a%d","message":{"id":"m%d","model":"claude-x","content":[{"type":"text","text":%s}]}%s}`, n, n, Quoted(text), more)
}

// Call adds a tool call.
func (s *Script) Call(id, name, input, more string) {
	n := len(s.Events)
	s.Line(`{"type":"assistant","uuid":"a%d","message":{"id":"m%d","content":[{"type":"tool_use","id":"%s","name":"%s","input":%s}]}%s}`, n, n, id, name, input, more)
}

// Gave adds the result of one.
func (s *Script) Gave(id, text string, failed bool, more string) {
	s.Line(`{"type":"user","uuid":"u%d","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","is_error":%t,"content":%s}]}%s}`,
		len(s.Events), id, failed, Quoted(text), more)
}

// Within has what is added belong to the sub-agent of a tool call.
func Within(agent string) string { return `,"parent_tool_use_id":"` + agent + `"` }

// Whole is a log with something of everything.
func Whole() []api.Event {
	var s Script
	s.Hub(api.KindCreated, map[string]any{"dir": "/src/app", "title": "Fix the build"})
	s.Hub(api.KindRunStarted, map[string]any{"run": 1, "transport": "shim"})
	s.Hub(api.KindRunLaunched, map[string]any{"version": "2.1.325"})
	s.Hub(api.KindLinkUp, map[string]any{})
	s.Hub(api.KindState, map[string]any{"state": "idle"})
	message := api.Message{ID: "m1", UUID: "p1", Text: "Fix the build.\nAnd say what it was.", By: "alice", State: api.MessageQueued}
	s.Hub(api.KindMessage, message)
	message.State = api.MessageSent
	s.Hub(api.KindMessage, message)
	s.Add(api.Event{Kind: api.KindSent, By: "alice", Line: json.RawMessage(`{"type":"user","uuid":"p1","message":{"role":"user","content":"Fix the build.\nAnd say what it was."}}`)})
	s.Hub(api.KindState, map[string]any{"state": "running"})
	s.Line(`{"type":"system","subtype":"init","model":"claude-x","cwd":"/src/app","permissionMode":"default","mcp_servers":[{"name":"tickets","status":"needs-auth"}]}`)
	s.Line(`{"type":"user","uuid":"p1","isReplay":true,"message":{"role":"user","content":"Fix the build.\nAnd say what it was."}}`)
	s.Line(`{"type":"assistant","uuid":"t1","message":{"id":"mt","content":[{"type":"thinking","thinking":"The build is broken.\nWhere is the log?"}]}}`)
	s.Say("I look at **the build** first:\n\n1. run `make`\n2. read what it says\n\n```sh\nmake -k 2>&1 | head\n```", "")
	s.Call("tool1", "TodoWrite", `{"todos":[{"content":"Run make","activeForm":"Running make","status":"in_progress"},{"content":"Fix it","status":"pending"},{"content":"Look","status":"completed"}]}`, "")
	s.Gave("tool1", "ok", false, "")
	s.Call("tool2", "Bash", `{"command":"make -k 2>&1 | head -50","description":"Build everything"}`, "")
	question := api.Question{
		ID: "q1", Session: "s1", Run: 1, RequestID: "r1", Kind: api.QuestionPermission, State: api.QuestionOpen, Tool: "Bash", ToolUseID: "tool2",
		Title: "make -k 2>&1 | head -50", Request: json.RawMessage(`{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"make -k 2>&1 | head -50"}}`),
	}
	s.Hub(api.KindQuestionOpened, question)
	question.State, question.By, question.Answer = api.QuestionAnswered, "alice", &api.Answer{Decision: "allow"}
	s.Hub(api.KindQuestionSettled, question)
	s.Gave("tool2", "cc -c main.c\nmain.c:3: error: missing ;\nmake: *** [main.o] Error 1", true, "")
	s.Call("tool3", "Edit", `{"file_path":"/src/app/main.c","old_string":"int x","new_string":"int x;"}`, "")
	s.Gave("tool3", "The file has been updated", false, `,"tool_use_result":{"structuredPatch":[{"oldStart":2,"oldLines":3,"newStart":2,"newLines":3,"lines":[" int main() {","-int x","+int x;"," }"]}]}`)
	s.Call("agent1", "Task", `{"description":"look for more","prompt":"Look for **more** mistakes.","subagent_type":"reviewer"}`, "")
	s.Line(`{"type":"system","subtype":"task_started","task_id":"task1","tool_use_id":"agent1","description":"look for more","task_type":"local_agent","uuid":"ts"}`)
	s.Say("There are no more.", Within("agent1"))
	s.Call("tool4", "Grep", `{"pattern":"int [a-z]+$","path":"/src"}`, Within("agent1"))
	s.Gave("tool4", "", false, Within("agent1"))
	s.Call("agent2", "Task", `{"description":"deeper"}`, Within("agent1"))
	s.Say("Deep down.", Within("agent2"))
	s.Gave("agent2", "done", false, Within("agent1"))
	s.Line(`{"type":"system","subtype":"task_updated","task_id":"task1","patch":{"status":"completed"},"uuid":"tu"}`)
	s.Gave("agent1", "No more mistakes.", false, "")
	s.Line(`{"type":"system","subtype":"api_retry","attempt":2,"max_retries":10,"retry_delay_ms":1500,"error_status":529,"error":"overloaded","uuid":"ar"}`)
	s.Line(`{"type":"rate_limit_event","uuid":"rl","rate_limit_info":{"status":"allowed_warning","rateLimitType":"five_hour","utilization":0.9,"resetsAt":1767300000}}`)
	s.Line(`{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":150000,"post_tokens":20000},"uuid":"cb"}`)
	s.Line(`{"type":"system","subtype":"hook_started","hook_id":"h1","hook_name":"PostToolUse:Edit","hook_event":"PostToolUse","uuid":"h1a"}`)
	s.Line(`{"type":"system","subtype":"hook_response","hook_id":"h1","hook_name":"PostToolUse:Edit","hook_event":"PostToolUse","outcome":"error","exit_code":2,"stderr":"not formatted","output":"","stdout":"","uuid":"h1b"}`)
	s.Line(`{"type":"system","subtype":"of_tomorrow","colour":"green","uuid":"x1"}`)
	s.Call("tool5", "Write", `{"file_path":"/src/app/notes.md","content":"# Notes\nOne.\n"}`, "")
	s.Line(`{"type":"system","subtype":"permission_denied","tool_name":"Write","tool_use_id":"tool5","message":"notes are not wanted","uuid":"pd"}`)
	s.Gave("tool5", "Permission denied", true, "")
	s.Line(`{"type":"assistant","uuid":"gone","message":{"id":"mg","content":[{"type":"text","text":"This is taken back."}]}}`)
	s.Line(`{"type":"assistant","uuid":"instead","supersedes":["gone"],"message":{"id":"mh","content":[{"type":"text","text":"It was a semicolon.\n\n| file | line |\n|---|--:|\n| main.c | 3 |\n"}]}}`)
	s.Call("tool6", "Bash", `{"command":"sleep 100"}`, "")
	s.Line(`{"type":"result","subtype":"success","uuid":"res1","duration_ms":61500,"num_turns":7,"result":"It was a semicolon.","total_cost_usd":0.0423,"usage":{"input_tokens":1200,"output_tokens":345,"cache_read_input_tokens":10000},"modelUsage":{"claude-x":{"contextWindow":200000}}}`)
	s.Hub(api.KindState, map[string]any{"state": "idle"})
	s.Hub(api.KindMode, api.ModeChange{Mode: "acceptEdits", Was: "default"})
	s.Hub(api.KindRuleAdded, api.SessionRule{ID: "ru1", Rule: "Bash(make:*)", Decision: api.RuleAllow, By: "alice", Created: Noon})
	s.Hub(api.KindDecision, api.Decision{Tool: "Bash", ToolUseID: "tool7", Rule: api.RuleRef{Rule: "Bash(rm:*)", Decision: api.RuleDeny, Scope: "global"}})
	s.Call("tool7", "Bash", `{"command":"rm -rf build"}`, "")
	s.Gave("tool7", "denied by a rule", true, "")
	s.Hub(api.KindHold, api.Hold{ID: "h", Kind: "budget", Reason: "the budget of the day is spent", Since: Noon})
	s.Hub(api.KindHoldOver, api.HoldOver{ID: "h", Reason: "released"})
	s.Hub(api.KindBudget, api.BudgetUse{Name: "day", Per: "day", Unit: "usd", Limit: 5, Used: 4.5, Action: "warn"})
	s.Hub(api.KindGap, api.Gap{Reason: "the hub was not there", Certain: true})
	s.Hub(api.KindOversize, api.Oversize{Length: 99 << 20})
	s.Hub(api.KindLinkLost, map[string]any{"reason": "the shim is gone"})
	s.Hub(api.KindLinkUp, map[string]any{"back": true})
	s.Hub(api.KindRunLaunched, map[string]any{"version": "2.1.325", "sandbox": api.Sandbox{Mode: "strict", Enforcer: "none", Reason: "bubblewrap isn't installed"}})
	s.Hub(api.KindRunLaunched, map[string]any{"version": "2.1.325", "sandbox": api.Sandbox{Mode: "deny-only", Enforcer: "bubblewrap", Network: "listed", Hidden: 3}})
	s.Call("agent3", "Task", `{"description":"fetch it"}`, "")
	s.Call("tool8", "Bash", `{"command":"make deps"}`, Within("agent3"))
	s.Hub(api.KindSandboxRefused, api.SandboxRefusal{
		Kind: "network", Host: "tracker.example", Port: 443, Command: "curl -sS https://tracker.example/x", ToolUseID: "tool8", Count: 2,
		Rule: &api.RuleRef{Rule: "Network(host:*.example)", Decision: api.RuleDeny, Scope: "global"},
	})
	s.Gave("tool8", "curl: (56) CONNECT tunnel failed", true, Within("agent3"))
	s.Hub(api.KindSandboxRefused, api.SandboxRefusal{Kind: "file", Path: "/home/ann/.ssh/id", ToolUseID: "tool8", Reason: "hidden by a rule"})
	s.Gave("agent3", "It can't be reached.", false, "")
	s.Hub(api.KindSandboxRefused, api.SandboxRefusal{Kind: "network", Host: "2001:db8::1", Port: 80, Command: "node server.js"})
	waiting := api.Message{ID: "m2", UUID: "p2", Text: "Never mind.", By: "bob", State: api.MessageQueued}
	s.Hub(api.KindMessage, waiting)
	waiting.State, waiting.Reason = api.MessageTakenBack, "by bob"
	s.Hub(api.KindMessage, waiting)
	s.Line(`{"type":"result","subtype":"error_during_execution","uuid":"res2","is_error":true,"errors":["the model gave up"],"duration_ms":900,"num_turns":1,"total_cost_usd":0.05}`)
	s.Hub(api.KindRunEnded, api.Ended{Reason: "it was stopped", Code: new(int), Stderr: ""})
	s.Hub("of_tomorrow", map[string]any{"colour": "blue"})
	s.Hub(api.KindMessage, api.Message{ID: "m3", UUID: "p3", Text: "still waiting", By: "bob", State: api.MessageQueued})
	return s.Events
}

// Path returns the path of a file or folder of the repository.
func Path(t testing.TB, name string) string {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return filepath.Join(root, filepath.FromSlash(name))
		}
		if root == filepath.Dir(root) {
			t.Fatal("no go.mod above this folder")
		}
		root = filepath.Dir(root)
	}
}

// Recordings returns logs of what real CLIs wrote, by their names.
func Recordings(t testing.TB) map[string][]api.Event {
	t.Helper()
	dir := Path(t, "wire/fold/testdata/recordings")
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*.log"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("looking for recordings: %d found, %v", len(paths), err)
	}
	logs := map[string][]api.Event{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var s Script
		for raw := range bytes.Lines(text) {
			mark, rest, _ := bytes.Cut(bytes.TrimSuffix(raw, []byte("\n")), []byte(" "))
			switch string(mark) {
			case "<":
				if header, err := wire.Peek(rest); err == nil && wire.ClassOf(header) == wire.Live {
					s.Events = append(s.Events, api.Event{Session: "s1", Run: 1, Kind: api.KindLive, Line: rest, Time: Noon})
					continue
				}
				s.Add(api.Event{Kind: api.KindLine, Line: rest})
			case ">":
				s.Add(api.Event{Kind: api.KindSent, Line: rest})
			case "!":
				if strings.HasPrefix(string(rest), "started") {
					s.Hub(api.KindRunStarted, map[string]any{})
				} else if strings.HasPrefix(string(rest), "ended") {
					s.Hub(api.KindRunEnded, api.Ended{Reason: "it ended"})
				}
			}
		}
		logs[filepath.ToSlash(strings.TrimPrefix(path, dir+string(filepath.Separator)))] = s.Events
	}
	return logs
}

// Durable leaves out what is live.
func Durable(events []api.Event) []api.Event {
	var out []api.Event
	for _, e := range events {
		if e.Kind != api.KindLive {
			out = append(out, e)
		}
	}
	return out
}

// Read returns a conversation of events.
func Read(events []api.Event) *transcript.Conversation {
	c := new(transcript.Conversation)
	for i := range events {
		c.Event(&events[i])
	}
	return c
}

// Dump returns all items as JSON, which holds every exported member.
func Dump(t testing.TB, c *transcript.Conversation) []string {
	t.Helper()
	out := make([]string, 0, c.Len())
	for i := range c.Len() {
		raw, err := json.Marshal(c.Item(i))
		if err != nil {
			// Input that is being written is no JSON yet.
			raw = []byte(fmt.Sprintf("%+v", *c.Item(i)))
		}
		out = append(out, string(raw))
	}
	return out
}

// Samples are lines of the types that need more than their type to make an item.
var Samples = map[string]string{
	"assistant":                `{"type":"assistant","uuid":"x","message":{"content":[{"type":"text","text":"hello"}]}}`,
	"user":                     `{"type":"user","uuid":"x","message":{"role":"user","content":"hello"}}`,
	"command_lifecycle":        `{"type":"command_lifecycle","command_uuid":"c","state":"refused"}`,
	"rate_limit_event":         `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected"}}`,
	"system/task_started":      `{"type":"system","subtype":"task_started","task_id":"t"}`,
	"system/task_progress":     `{"type":"system","subtype":"task_progress","task_id":"t"}`,
	"system/task_updated":      `{"type":"system","subtype":"task_updated","task_id":"t"}`,
	"system/task_notification": `{"type":"system","subtype":"task_notification","task_id":"t"}`,
}

package talk_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/talk"
	"github.com/switchboard-dev/switchboard/wire"
)

var update = flag.Bool("update", false, "write what is drawn into the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is when logs begin; each event takes a second.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// A script writes a log.
type script struct {
	events []api.Event
}

func (s *script) add(e api.Event) {
	n := int64(len(s.events) + 1)
	e.ID, e.Seq, e.Session, e.Run = fmt.Sprintf("e1:%d", n), n, "s1", max(e.Run, 1)
	e.Time = noon.Add(time.Duration(n) * time.Second)
	s.events = append(s.events, e)
}

// line adds a line of the CLI's.
func (s *script) line(format string, args ...any) {
	line := format
	if len(args) > 0 {
		line = fmt.Sprintf(format, args...)
	}
	s.add(api.Event{Kind: api.KindLine, Line: json.RawMessage(line)})
}

// hub adds an event of the hub's.
func (s *script) hub(kind string, data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	s.add(api.Event{Kind: kind, Data: raw})
}

// quoted returns a text as JSON.
func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// say adds a text of the agent's.
func (s *script) say(text, more string) {
	n := len(s.events)
	s.line(`{"type":"assistant","uuid":"a%d","message":{"id":"m%d","model":"claude-x","content":[{"type":"text","text":%s}]}%s}`, n, n, quoted(text), more)
}

// call adds a tool call.
func (s *script) call(id, name, input, more string) {
	n := len(s.events)
	s.line(`{"type":"assistant","uuid":"a%d","message":{"id":"m%d","content":[{"type":"tool_use","id":"%s","name":"%s","input":%s}]}%s}`, n, n, id, name, input, more)
}

// gave adds the result of one.
func (s *script) gave(id, text string, failed bool, more string) {
	s.line(`{"type":"user","uuid":"u%d","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","is_error":%t,"content":%s}]}%s}`,
		len(s.events), id, failed, quoted(text), more)
}

func within(agent string) string { return `,"parent_tool_use_id":"` + agent + `"` }

// whole is a log with something of everything.
func whole() []api.Event {
	var s script
	s.hub(api.KindCreated, map[string]any{"dir": "/src/app", "title": "Mend the build"})
	s.hub(api.KindRunStarted, map[string]any{"run": 1, "transport": "shim"})
	s.hub(api.KindRunLaunched, map[string]any{"version": "2.1.325"})
	s.hub(api.KindLinkUp, map[string]any{})
	s.hub(api.KindState, map[string]any{"state": "idle"})
	message := api.Message{ID: "m1", UUID: "p1", Text: "Mend the build.\nAnd say what it was.", By: "alice", State: api.MessageQueued}
	s.hub(api.KindMessage, message)
	message.State = api.MessageSent
	s.hub(api.KindMessage, message)
	s.add(api.Event{Kind: api.KindSent, By: "alice", Line: json.RawMessage(`{"type":"user","uuid":"p1","message":{"role":"user","content":"Mend the build.\nAnd say what it was."}}`)})
	s.hub(api.KindState, map[string]any{"state": "running"})
	s.line(`{"type":"system","subtype":"init","model":"claude-x","cwd":"/src/app","permissionMode":"default","mcp_servers":[{"name":"tickets","status":"needs-auth"}]}`)
	s.line(`{"type":"user","uuid":"p1","isReplay":true,"message":{"role":"user","content":"Mend the build.\nAnd say what it was."}}`)
	s.line(`{"type":"assistant","uuid":"t1","message":{"id":"mt","content":[{"type":"thinking","thinking":"The build is broken.\nWhere is the log?"}]}}`)
	s.say("I look at **the build** first:\n\n1. run `make`\n2. read what it says\n\n```sh\nmake -k 2>&1 | head\n```", "")
	s.call("tool1", "TodoWrite", `{"todos":[{"content":"Run make","activeForm":"Running make","status":"in_progress"},{"content":"Mend it","status":"pending"},{"content":"Look","status":"completed"}]}`, "")
	s.gave("tool1", "ok", false, "")
	s.call("tool2", "Bash", `{"command":"make -k 2>&1 | head -50","description":"Build everything"}`, "")
	question := api.Question{
		ID: "q1", Session: "s1", Run: 1, RequestID: "r1", Kind: api.QuestionPermission, State: api.QuestionOpen, Tool: "Bash", ToolUseID: "tool2",
		Title: "make -k 2>&1 | head -50", Request: json.RawMessage(`{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"make -k 2>&1 | head -50"}}`),
	}
	s.hub(api.KindQuestionOpened, question)
	question.State, question.By, question.Answer = api.QuestionAnswered, "alice", &api.Answer{Decision: "allow"}
	s.hub(api.KindQuestionSettled, question)
	s.gave("tool2", "cc -c main.c\nmain.c:3: error: missing ;\nmake: *** [main.o] Error 1", true, "")
	s.call("tool3", "Edit", `{"file_path":"/src/app/main.c","old_string":"int x","new_string":"int x;"}`, "")
	s.gave("tool3", "The file has been updated", false, `,"tool_use_result":{"structuredPatch":[{"oldStart":2,"oldLines":3,"newStart":2,"newLines":3,"lines":[" int main() {","-int x","+int x;"," }"]}]}`)
	s.call("agent1", "Task", `{"description":"look for more","prompt":"Look for **more** mistakes.","subagent_type":"reviewer"}`, "")
	s.line(`{"type":"system","subtype":"task_started","task_id":"task1","tool_use_id":"agent1","description":"look for more","task_type":"local_agent","uuid":"ts"}`)
	s.say("There are no more.", within("agent1"))
	s.call("tool4", "Grep", `{"pattern":"int [a-z]+$","path":"/src"}`, within("agent1"))
	s.gave("tool4", "", false, within("agent1"))
	s.call("agent2", "Task", `{"description":"deeper"}`, within("agent1"))
	s.say("Deep down.", within("agent2"))
	s.gave("agent2", "done", false, within("agent1"))
	s.line(`{"type":"system","subtype":"task_updated","task_id":"task1","patch":{"status":"completed"},"uuid":"tu"}`)
	s.gave("agent1", "No more mistakes.", false, "")
	s.line(`{"type":"system","subtype":"api_retry","attempt":2,"max_retries":10,"retry_delay_ms":1500,"error_status":529,"error":"overloaded","uuid":"ar"}`)
	s.line(`{"type":"rate_limit_event","uuid":"rl","rate_limit_info":{"status":"allowed_warning","rateLimitType":"five_hour","utilization":0.9,"resetsAt":1767300000}}`)
	s.line(`{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":150000,"post_tokens":20000},"uuid":"cb"}`)
	s.line(`{"type":"system","subtype":"hook_started","hook_id":"h1","hook_name":"PostToolUse:Edit","hook_event":"PostToolUse","uuid":"h1a"}`)
	s.line(`{"type":"system","subtype":"hook_response","hook_id":"h1","hook_name":"PostToolUse:Edit","hook_event":"PostToolUse","outcome":"error","exit_code":2,"stderr":"not formatted","output":"","stdout":"","uuid":"h1b"}`)
	s.line(`{"type":"system","subtype":"of_tomorrow","colour":"green","uuid":"x1"}`)
	s.call("tool5", "Write", `{"file_path":"/src/app/notes.md","content":"# Notes\nOne.\n"}`, "")
	s.line(`{"type":"system","subtype":"permission_denied","tool_name":"Write","tool_use_id":"tool5","message":"notes are not wanted","uuid":"pd"}`)
	s.gave("tool5", "Permission denied", true, "")
	s.line(`{"type":"assistant","uuid":"gone","message":{"id":"mg","content":[{"type":"text","text":"This is taken back."}]}}`)
	s.line(`{"type":"assistant","uuid":"instead","supersedes":["gone"],"message":{"id":"mh","content":[{"type":"text","text":"It was a semicolon.\n\n| file | line |\n|---|--:|\n| main.c | 3 |\n"}]}}`)
	s.call("tool6", "Bash", `{"command":"sleep 100"}`, "")
	s.line(`{"type":"result","subtype":"success","uuid":"res1","duration_ms":61500,"num_turns":7,"result":"It was a semicolon.","total_cost_usd":0.0423,"usage":{"input_tokens":1200,"output_tokens":345,"cache_read_input_tokens":10000},"modelUsage":{"claude-x":{"contextWindow":200000}}}`)
	s.hub(api.KindState, map[string]any{"state": "idle"})
	s.hub(api.KindMode, api.ModeChange{Mode: "acceptEdits", Was: "default"})
	s.hub(api.KindRuleAdded, api.SessionRule{ID: "ru1", Rule: "Bash(make:*)", Decision: api.RuleAllow, By: "alice", Created: noon})
	s.hub(api.KindDecision, api.Decision{Tool: "Bash", ToolUseID: "tool7", Rule: api.RuleRef{Rule: "Bash(rm:*)", Decision: api.RuleDeny, Scope: "global"}})
	s.call("tool7", "Bash", `{"command":"rm -rf build"}`, "")
	s.gave("tool7", "denied by a rule", true, "")
	s.hub(api.KindHold, api.Hold{ID: "h", Kind: "budget", Reason: "the budget of the day is spent", Since: noon})
	s.hub(api.KindHoldOver, api.HoldOver{ID: "h", Reason: "released"})
	s.hub(api.KindBudget, api.BudgetUse{Name: "day", Per: "day", Unit: "usd", Limit: 5, Used: 4.5, Action: "warn"})
	s.hub(api.KindGap, api.Gap{Reason: "the hub was not there", Certain: true})
	s.hub(api.KindOversize, api.Oversize{Length: 99 << 20})
	s.hub(api.KindLinkLost, map[string]any{"reason": "the shim is gone"})
	s.hub(api.KindLinkUp, map[string]any{"back": true})
	waiting := api.Message{ID: "m2", UUID: "p2", Text: "Never mind.", By: "bob", State: api.MessageQueued}
	s.hub(api.KindMessage, waiting)
	waiting.State, waiting.Reason = api.MessageTakenBack, "by bob"
	s.hub(api.KindMessage, waiting)
	s.line(`{"type":"result","subtype":"error_during_execution","uuid":"res2","is_error":true,"errors":["the model gave up"],"duration_ms":900,"num_turns":1,"total_cost_usd":0.05}`)
	s.hub(api.KindRunEnded, api.Ended{Reason: "it was stopped", Code: new(int), Stderr: ""})
	s.hub("of_tomorrow", map[string]any{"colour": "blue"})
	s.hub(api.KindMessage, api.Message{ID: "m3", UUID: "p3", Text: "still waiting", By: "bob", State: api.MessageQueued})
	return s.events
}

// recordings returns logs of what real CLIs wrote.
func recordings(t testing.TB) map[string][]api.Event {
	t.Helper()
	paths, err := filepath.Glob("../../../wire/fold/testdata/recordings/*/*.log")
	if err != nil || len(paths) == 0 {
		t.Fatalf("looking for recordings: %d found, %v", len(paths), err)
	}
	logs := map[string][]api.Event{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var s script
		for raw := range bytes.Lines(text) {
			mark, rest, _ := bytes.Cut(bytes.TrimSuffix(raw, []byte("\n")), []byte(" "))
			switch string(mark) {
			case "<":
				if header, err := wire.Peek(rest); err == nil && wire.ClassOf(header) == wire.Live {
					s.events = append(s.events, api.Event{Session: "s1", Run: 1, Kind: api.KindLive, Line: rest, Time: noon})
					continue
				}
				s.add(api.Event{Kind: api.KindLine, Line: rest})
			case ">":
				s.add(api.Event{Kind: api.KindSent, Line: rest})
			case "!":
				if strings.HasPrefix(string(rest), "started") {
					s.hub(api.KindRunStarted, map[string]any{})
				} else if strings.HasPrefix(string(rest), "ended") {
					s.hub(api.KindRunEnded, api.Ended{Reason: "it ended"})
				}
			}
		}
		logs[strings.TrimPrefix(path, "../../../wire/fold/testdata/recordings/")] = s.events
	}
	return logs
}

// durable leaves out what is live.
func durable(events []api.Event) []api.Event {
	var out []api.Event
	for _, e := range events {
		if e.Kind != api.KindLive {
			out = append(out, e)
		}
	}
	return out
}

// read returns a conversation of events.
func read(events []api.Event) *talk.Conversation {
	c := new(talk.Conversation)
	for i := range events {
		c.Event(&events[i])
	}
	return c
}

// dump returns all items as JSON, which holds every exported member.
func dump(t testing.TB, c *talk.Conversation) []string {
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

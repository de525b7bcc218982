package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const rules = `
allow = ["Bash(git status:*)", "Edit(src/**)"]
ask = ["WebFetch"]
[[rule]]
rule = "Bash(rm:*)"
decision = "deny"
message = "Nothing is removed."
[[rule]]
rule = "Bash(make:*)"
decision = "allow"
expires = 2026-06-01T00:00:00Z
`

// newAudit returns an audit with the rules above, in the middle of 2026.
func newAudit(t *testing.T) *Audit {
	t.Helper()
	file, err := policy.ParseFile("rules.toml", []byte(rules), "/home/x")
	if err != nil {
		t.Fatal(err)
	}
	engine, err := policy.New(file, policy.Options{Home: "/home/x", Resolve: func(path string) (string, error) { return path, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{Engine: engine, Dir: "/elsewhere", Now: time.Date(2026, 6, 15, 0, 0, 0, 0, time.UTC)})
}

// Lines of a CLI.
func initLine(dir string) string {
	return fmt.Sprintf(`{"type":"system","subtype":"init","cwd":%q,"session_id":"c","uuid":"u"}`, dir)
}

func use(id, tool, input string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I will"},{"type":"tool_use","id":%q,"name":%q,"input":%s}]},"session_id":"c"}`, id, tool, input)
}

func ask(request, id, tool, input string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":"can_use_tool","tool_name":%q,"input":%s,"tool_use_id":%q}}`, request, tool, input, id)
}

func answer(request, behavior string) string {
	return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"behavior":%q}}}`, request, behavior)
}

func result(id string, failed bool, text string) string {
	return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"is_error":%t,"content":%q}]},"session_id":"c"}`, id, failed, text)
}

func command(text string) string {
	line, err := json.Marshal(map[string]string{"command": text})
	if err != nil {
		panic(err)
	}
	return string(line)
}

// brief is a finding in one line.
func brief(f *Finding) string {
	rule := "-"
	if f.Rule != nil {
		rule = f.Rule.Rule
	}
	return strings.TrimRight(fmt.Sprintf("%d %s %s: %s %s; %s %s", f.Line, f.Tool, f.Title, f.Decision, rule, f.Happened, f.By), " ")
}

// want compares findings.
func want(t *testing.T, a *Audit, lines ...string) {
	t.Helper()
	var got []string
	for _, f := range a.Findings() {
		got = append(got, brief(&f))
	}
	if diff := cmp.Diff(lines, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// recording is what a controller has written and read.
func recording() []string {
	return []string{
		initLine("/home/x/p"),
		use("t1", "Bash", command("git status -s")),
		result("t1", false, "clean"),
		use("t2", "Bash", command("rm -r build")),
		ask("r1", "t2", "Bash", command("rm -r build")),
		answer("r1", "allow"),
		ask("r1", "t2", "Bash", command("rm -r build")), // again, after a reconnect
		result("t2", false, ""),
		use("t3", "Write", `{"file_path":"/home/x/p/src/a.go","content":"package a"}`),
		ask("r2", "t3", "Write", `{"file_path":"/home/x/p/src/a.go","content":"package a"}`),
		answer("r2", "allow"),
		use("t4", "Edit", `{"file_path":"/home/x/p/src/a.go"}`),
		ask("r3", "t4", "Edit", `{"file_path":"/home/x/p/src/a.go"}`),
		answer("r3", "deny"),
		result("t4", true, "no"),
		use("t5", "WebFetch", `{"url":"https://example.com/"}`),
		ask("r4", "t5", "WebFetch", `{"url":"https://example.com/"}`),
		`{"type":"control_cancel_request","request_id":"r4"}`,
		use("t6", "Bash", command("rm secrets")),
		result("t6", true, "Permission to use Bash with command rm secrets has been denied."),
		use("t7", "Bash", command("make")),
		result("t7", true, "Exit code 2"),
		use("t8", "Bash", command("make all")),
		result("t8", true, "something of a version to come"),
		`{"type":"result","subtype":"success","permission_denials":[{"tool_name":"Bash","tool_use_id":"t8","tool_input":{}}],"session_id":"c"}`,
		ask("r5", "t9", "Read", `{"file_path":"/etc/passwd"}`), // a sub-agent's, whose lines are not here
		"no JSON at all",
		`{"type":"never_heard_of"}`,
		use("t10", "mcp__db__query", `{"sql":"select 1"}`),
	}
}

func TestRecording(t *testing.T) {
	a := newAudit(t)
	for i, line := range recording() {
		a.Line(int64(i+1), []byte(line))
	}
	want(t, a,
		"2 Bash git status -s: allow Bash(git status:*); ran_unasked",
		"4 Bash rm -r build: deny Bash(rm:*); allowed",
		"9 Write /home/x/p/src/a.go: allow Edit(src/**); allowed",
		"12 Edit /home/x/p/src/a.go: allow Edit(src/**); denied",
		"16 WebFetch https://example.com/: ask WebFetch; cancelled",
		"19 Bash rm secrets: deny Bash(rm:*); refused_unasked",
		"21 Bash make: ask -; failed_unasked",
		"23 Bash make all: ask -; refused_unasked",
		"26 Read /etc/passwd: ask -; asked",
		"29 mcp__db__query db: query: ask -;",
	)
	sums := Summary{
		Calls: 10, Allowed: 3, Denied: 2, Asked: 1, NoRule: 4, PeopleAllowed: 2, PeopleAllowedAllowed: 1, PeopleAllowedDenied: 1, PeopleDenied: 1, PeopleDeniedAllowed: 1,
		Unasked: 2, Skipped: 2,
	}
	if diff := cmp.Diff(sums, a.Summary()); diff != "" {
		t.Errorf("the sums (-want +got):\n%s", diff)
	}
	if f := a.Findings()[1]; f.Message != "Nothing is removed." || f.Rule.Source == "" || f.Dir != "/home/x/p" || f.Reason == "" {
		t.Errorf("%+v", f)
	}
}

// TestSimulated reads what the simulated CLI has recorded: lines within lines.
func TestSimulated(t *testing.T) {
	a, plain := newAudit(t), newAudit(t)
	for i, line := range recording() {
		outer, err := json.Marshal(map[string]any{"number": i + 1, "time": time.Now(), "read": strings.Contains(line, "control_response"), "line": line})
		if err != nil {
			t.Fatal(err)
		}
		a.Line(int64(i+1), outer)
		plain.Line(int64(i+1), []byte(line))
	}
	if diff := cmp.Diff(plain.Findings(), a.Findings(), cmp.AllowUnexported(Finding{})); diff != "" || len(a.Findings()) != 10 {
		t.Errorf("(-plain +simulated):\n%s", diff)
	}
}

// TestTranscript reads what the CLI keeps of a conversation: it does not tell who was asked.
func TestTranscript(t *testing.T) {
	kept := func(line string) string {
		return strings.Replace(line, `"session_id":"c"`, `"sessionId":"c","cwd":"/home/x/q","parentUuid":null`, 1)
	}
	a := newAudit(t)
	for i, line := range []string{
		`{"type":"file-history-snapshot","messageId":"m","snapshot":{}}`,
		kept(use("t1", "Write", `{"file_path":"/home/x/q/src/a.go"}`)),
		kept(result("t1", false, "done")),
		kept(use("t1", "Write", `{"file_path":"/home/x/q/src/a.go"}`)), // a copy in a file that was forked
		kept(use("t2", "Bash", command("rm x"))),
		kept(result("t2", true, "The user doesn't want to proceed with this tool use.")),
		kept(use("t3", "Bash", command("false"))),
		kept(result("t3", true, "Exit code 1")),
	} {
		a.Line(int64(i+1), []byte(line))
	}
	want(t, a,
		"2 Write /home/x/q/src/a.go: allow Edit(src/**); ran",
		"5 Bash rm x: deny Bash(rm:*); refused",
		"7 Bash false: ask -; failed",
	)
	if s := a.Summary(); s.Skipped != 1 || s.Unasked != 0 || s.PeopleAllowed != 0 {
		t.Errorf("%+v", s)
	}
}

// TestEvents reads the log of a session, which knows who answered, and whether it was a rule. The same request id belongs to another question in
// the next run.
func TestEvents(t *testing.T) {
	seq := int64(0)
	event := func(run int, kind string, content string) api.Event {
		seq++
		e := api.Event{ID: fmt.Sprintf("e:%d", seq), Session: "s1", Run: run, Seq: seq, Kind: kind}
		if kind == api.KindLine || kind == api.KindSent || kind == api.KindHistory {
			e.Line = json.RawMessage(content)
		} else {
			e.Data = json.RawMessage(content)
		}
		return e
	}
	events := []api.Event{
		event(1, api.KindCreated, `{}`),
		event(1, api.KindLine, initLine("/home/x/p")),
		event(1, api.KindLine, use("t1", "Bash", command("rm a"))),
		event(1, api.KindLine, ask("r1", "t1", "Bash", command("rm a"))),
		event(1, api.KindSent, answer("r1", "allow")),
		event(1, api.KindQuestionSettled, `{"id":"q1","request_id":"r1","state":"answered","by":"ann","from":"person","answer":{"decision":"allow"}}`),
		event(2, api.KindLine, ask("r1", "t2", "Bash", command("rm b"))),
		event(2, api.KindQuestionSettled, `{"id":"q2","request_id":"r1","state":"answered","by":"hub","from":"hub","rule":{"rule":"Bash(rm b)","decision":"deny","scope":"global"},"answer":{"decision":"deny"}}`),
		event(2, api.KindLine, ask("r2", "t3", "ExitPlanMode", `{"plan":"x"}`)),
		event(2, api.KindQuestionSettled, `{"id":"q3","request_id":"r2","state":"answered","by":"ann","from":"person","answer":{"outcome":"accept_edits"}}`),
		event(2, api.KindLine, ask("r3", "t4", "ExitPlanMode", `{"plan":"x"}`)),
		event(2, api.KindQuestionSettled, `{"id":"q4","request_id":"r3","state":"answered","by":"ann","from":"person","answer":{"outcome":"revise"}}`),
		event(2, api.KindLine, ask("r4", "t5", "Bash", command("rm c"))),
		event(2, api.KindQuestionSettled, `{"id":"q5","request_id":"r4","state":"cancelled","by":"agent"}`),
		event(2, api.KindDecision, `{"tool":"Bash","tool_use_id":"t6","input":{"command":"rm d"},"rule":{"rule":"Bash(rm d)","decision":"deny","scope":"global"}}`),
		event(2, api.KindHistory, use("t7", "Bash", command("git status"))),
		event(2, "something_new", `{}`),
	}
	lines := []string{
		"3 Bash rm a: deny Bash(rm:*); allowed ann",
		"7 Bash rm b: deny Bash(rm:*); denied rule Bash(rm b)",
		"9 ExitPlanMode present the plan: ask -; allowed ann",
		"11 ExitPlanMode present the plan: ask -; denied ann",
		"13 Bash rm c: deny Bash(rm:*); cancelled agent",
		"15 Bash rm d: deny Bash(rm:*); denied rule Bash(rm d)",
		"16 Bash git status: allow Bash(git status:*);",
	}
	direct := newAudit(t)
	for i := range events {
		direct.Event(&events[i])
	}
	want(t, direct, lines...)
	if s := direct.Summary(); s.PeopleAllowed != 2 || s.PeopleDenied != 1 || s.Skipped != 0 {
		t.Errorf("what rules did counts as people's: %+v", s)
	}

	// The same in files: a page, events each in a line, frames.
	page, err := json.Marshal(api.EventPage{Resume: "ok", Events: events})
	if err != nil {
		t.Fatal(err)
	}
	paged, lined, framed := newAudit(t), newAudit(t), newAudit(t)
	paged.Line(1, page)
	for i := range events {
		line, err := json.Marshal(events[i])
		if err != nil {
			t.Fatal(err)
		}
		lined.Line(int64(100+i), line)
		frame, err := json.Marshal(api.Frame{Type: api.FrameEvent, Event: &events[i]})
		if err != nil {
			t.Fatal(err)
		}
		framed.Line(int64(100+i), frame)
	}
	for _, a := range []*Audit{paged, lined, framed} {
		want(t, a, lines...)
	}
}

// TestAskedInput judges what was asked, which a hook may have changed, and as the CLI reads it: of two members with one name the last.
func TestAskedInput(t *testing.T) {
	a := newAudit(t)
	a.Line(1, []byte(use("t1", "Bash", `{"command":"rm x","command":"git status"}`)))
	a.Line(2, []byte(use("t2", "Bash", command("git status"))))
	a.Line(3, []byte(ask("r1", "t2", "Bash", command("rm y"))))
	want(t, a, "1 Bash git status: allow Bash(git status:*);", "2 Bash rm y: deny Bash(rm:*); asked")
	if dir := a.Findings()[0].Dir; dir != "/elsewhere" {
		t.Errorf("without a word about it the folder is %q", dir)
	}
}

func TestSummary(t *testing.T) {
	a := newAudit(t)
	for i, line := range recording() {
		a.Line(int64(i+1), []byte(line))
	}
	text := a.Summary().String()
	for _, part := range []string{
		"10 calls: the rules allow 3, deny 2, ask about 1, and say nothing about 4.\n",
		"Of 2 that people had allowed, rules allow 1 and deny 1.\n", "Of 1 that people had denied, rules allow 1.\n", "Of 2 that ran unasked, rules deny 0 and ask about 0.\n",
		"2 lines skipped",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the sums have no %q:\n%s", part, text)
		}
	}
}

func TestJSON(t *testing.T) {
	a := newAudit(t)
	a.Line(1, []byte(use("t1", "Bash", command("rm x && ls"))))
	var out bytes.Buffer
	if err := a.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "&&") {
		t.Fatalf("%d lines:\n%s", len(lines), &out)
	}
	var finding struct {
		Line     int
		Tool     string
		Title    string
		Decision string
		Rule     *api.RuleRef
		Reason   string
		Message  string
		Enforced string
	}
	if err := json.Unmarshal([]byte(lines[0]), &finding); err != nil {
		t.Fatal(err)
	}
	if finding.Line != 1 || finding.Tool != "Bash" || finding.Title != "rm x && ls" || finding.Decision != "deny" || finding.Rule == nil || finding.Rule.Rule != "Bash(rm:*)" ||
		finding.Reason == "" || finding.Message != "Nothing is removed." || finding.Enforced != "both" {
		t.Errorf("%s", lines[0])
	}
	var last struct{ Summary *Summary }
	if err := json.Unmarshal([]byte(lines[1]), &last); err != nil || last.Summary == nil || last.Summary.Denied != 1 {
		t.Errorf("%s: %v", lines[1], err)
	}
}

// TestOrigin holds that a call is judged by the rules for how its agent came.
func TestOrigin(t *testing.T) {
	for started, want := range map[string]api.RuleDecision{
		`{"run":1,"transport":"shim"}`:                             api.RuleAllow,
		`{"run":1,"transport":"websocket"}`:                        api.RuleAllow,
		`{"run":1,"transport":"websocket","unauthenticated":true}`: api.RuleAsk,
		`{"run":1,"transport":"hybrid","unauthenticated":true}`:    api.RuleAsk,
	} {
		a := newAudit(t)
		a.Event(&api.Event{Kind: api.KindRunStarted, Seq: 1, Run: 1, Data: json.RawMessage(started)})
		a.Event(&api.Event{Kind: api.KindLine, Seq: 2, Run: 1, Line: json.RawMessage(use("t1", "Bash", `{"command":"git status"}`))})
		findings := a.Findings()
		if len(findings) != 1 || findings[0].Decision != want {
			t.Errorf("%s: %+v, want %s", started, findings, want)
		}
	}
}

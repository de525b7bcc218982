package hub_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/policy"
)

// TestRuleThatNeverAllows refuses a rule of a session that could not be used:
// it must not take the other rules with it.
func TestRuleThatNeverAllows(t *testing.T) {
	l, _ := rulesLab(t, `deny = ["Bash(dd:*)"]`)
	s := newStage(l, "2.1.120")
	if _, err := l.hub.AddRule(l.ctx(), person, s.id, api.AddRule{Rule: "Bash(make && make install)", Decision: api.RuleAllow}); code(err) != api.CodeInvalid {
		t.Errorf("a rule that allows nothing: %v, want %s", err, api.CodeInvalid)
	}
	s.says(`{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t1","input":{"command":"dd if=x"}}}`)
	if open := s.snapshot(s.id).Questions; len(open) != 0 {
		t.Errorf("what a rule denies is asked: %s", encode(open))
	}
}

// TestEditedInputDenied has somebody edit a call into one that a rule denies.
func TestEditedInputDenied(t *testing.T) {
	l, _ := rulesLab(t, `
enforce = "hook"
ask = ["Bash(make:*)"]
[[rule]]
rule = "Bash(dd:*)"
decision = "deny"
message = "Never."
`)
	for _, version := range []string{"2.1.37", "2.1.120"} {
		s := newStage(l, version)
		var q api.Question
		if version == "2.1.37" {
			q = s.asks("r1", `{"subtype":"hook_callback","callback_id":"switchboard-call","tool_use_id":"t1","input":{"hook_event_name":"PreToolUse","session_id":"c","cwd":"/w","tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"make"}}}`)
		} else {
			q = s.asks("r1", askBash)
		}
		_, err := l.hub.Answer(l.ctx(), person, q.ID, api.Answer{Decision: "allow", Input: []byte(`{"command":"make; dd if=x"}`)})
		if code(err) != api.CodeInvalid || !strings.Contains(err.Error(), "Bash(dd:*)") {
			t.Errorf("%s: an input that a rule denies: %v", version, err)
		}
		if n := len(s.snapshot(s.id).Questions); n != 1 {
			t.Errorf("%s: %d questions are open, want 1", version, n)
		}
		s.answer(q.ID, api.Answer{Decision: "allow", Input: []byte(`{"command":"make all"}`)})
	}
}

// TestHookQuestionJudgedAgain has the rules change while an old CLI's hook is held
// open, over a restart.
func TestHookQuestionJudgedAgain(t *testing.T) {
	l, r := rulesLab(t, "enforce = \"hook\"\nask = [\"Bash(ls:*)\"]")
	l.launcher.version = "2.1.37"
	s := l.create(api.CreateSession{Prompt: "@tool Bash {\"command\":\"ls\"}\n@say over"})
	q := l.question(s.ID)
	if _, err := l.hub.Answer(l.ctx(), person, q.ID, api.Answer{Decision: "deny", Interrupt: true}); code(err) != api.CodeInvalid {
		t.Errorf("a hook cannot stop the turn, and the answer was %v", err)
	}
	l.close()
	r.set("enforce = \"hook\"\ndeny = [\"Bash(ls:*)\"]")
	l.open()
	l.await(s.ID, "it is over", func(s *api.Session) bool { return s.State == api.StateIdle && s.Text == "over" })
	settled, err := l.hub.Question(l.ctx(), q.ID)
	if err != nil || settled.State != api.QuestionAnswered || settled.Answer.Decision != "deny" || settled.Rule == nil || settled.Rule.Decision != api.RuleDeny || settled.From != "hub" {
		t.Errorf("the question is %s, %v", encode(settled), err)
	}
	if got := l.sent(s.ID, `"permissionDecision":"deny"`); len(got) != 1 {
		t.Errorf("the CLI was told %s", got)
	}
	l.judge(s.ID)
	l.sameProjections(s.ID)
}

// TestPlanPromptsStayRules has a plan ask for something that would be several
// rules on a command line.
func TestPlanPromptsStayRules(t *testing.T) {
	for _, prompt := range []string{"x), Bash(rm:*", "x) Bash", `x\) Bash(*`, "x)\nBash(*", "x, Bash", strings.Repeat("long ", 100_000)} {
		s := newStage(newLab(t), "2.1.120")
		q := s.asks("r1", fmt.Sprintf(`{"subtype":"can_use_tool","tool_name":"ExitPlanMode","tool_use_id":"t1","input":{"plan":"@say implemented","allowedPrompts":[{"tool":"Bash","prompt":%s},{"tool":"Bash","prompt":"run tests"}]}}`, encode(prompt)))
		s.answer(q.ID, api.Answer{Outcome: api.PlanFresh})
		s.written(`"behavior":"deny"`)
		s.says(`{"type":"result","subtype":"error_during_execution","is_error":true,"uuid":"u8","session_id":"c` + s.id + `"}`)
		s.await(s.id, "the plan is carried out", func(s *api.Session) bool { return s.Run == 2 && s.Text == "implemented" })
		for _, rule := range s.launcher.spec(s.id).Options.AllowedTools {
			inside, found := strings.CutPrefix(rule, "Bash(prompt: ")
			if !found || !strings.HasSuffix(inside, ")") || strings.ContainsAny(inside[:len(inside)-1], "()\\\n") || len(rule) > 4096 {
				t.Errorf("%.40q has become the rule %.80q", prompt, rule)
			}
		}
	}
}

// written has the link say that the command with a part was written.
func (s *stage) written(part string) {
	s.t.Helper()
	for n := 1; ; n++ {
		c := s.w.await(s.t, n)
		if !strings.Contains(string(c.Line), part) {
			continue
		}
		if err := s.a.Written(s.ctx(), c.Number); err != nil {
			s.t.Fatal(err)
		}
		return
	}
}

// TestStopThatFails leaves a plan alone that is to be carried out.
func TestStopThatFails(t *testing.T) {
	l := planLab(t, "@say implemented")
	s, q := l.plans(api.SessionOptions{})
	l.launcher.cutAll()
	l.awaitState(s.ID, api.StateOffline)
	l.answer(q.ID, api.Answer{Outcome: api.PlanFresh})
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); code(err) != api.CodeOffline {
		t.Fatalf("stopping what cannot be reached: %v", err)
	}
	l.launcher.connectAll()
	l.await(s.ID, "the plan is carried out", func(s *api.Session) bool { return s.Run == 2 && s.Text == "implemented" })
}

// TestPlanWithdrawnByStop has a CLI that is being ended take its plan back first.
func TestPlanWithdrawnByStop(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: planning, Options: api.SessionOptions{PermissionMode: "plan"}})
	l.launcher.plan = "the plan"
	q := l.question(s.ID)
	shim := l.launcher.of(s.ID)
	l.launcher.cutAll()
	l.awaitState(s.ID, api.StateOffline)
	// The test goes on in the place of the shim.
	w := &silent{stopped: make(chan struct{})}
	a, welcome, err := l.hub.Attach(l.ctx(), shim.hello(), w)
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() {
		_, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{})
		stopped <- err
	}()
	<-w.stopped
	items := []hub.Item{
		{Record: link.Record{Number: welcome.Have + 1, Kind: link.Line, Bytes: []byte(`{"type":"control_cancel_request","request_id":"` + q.RequestID + `"}`)}},
		{Record: link.Record{Number: welcome.Have + 2, Kind: link.Happened, Bytes: []byte(encode(link.Event{Event: "exited", Requested: true}))}},
	}
	if err := a.Receive(l.ctx(), items); err != nil {
		t.Fatal(err)
	}
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	a.Lost(nil)
	if open := l.snapshot(s.ID).Questions; len(open) != 1 || !open[0].Stale {
		t.Errorf("after the stop the questions are %s", encode(open))
	}
	l.sameProjections(s.ID)
}

// silent is a link whose other end does nothing.
type silent struct {
	once    sync.Once
	stopped chan struct{}
}

func (*silent) Send([]link.Order)            {}
func (w *silent) Stop(time.Duration, string) { w.once.Do(func() { close(w.stopped) }) }
func (*silent) CloseInput()                  {}
func (*silent) Ack(int64)                    {}
func (*silent) Close(string)                 {}

// TestPlanFreshOfFresh approves a plan for a fresh start in a session that has a
// process per turn, while something else waits: one process carries out the plan,
// the next does the other.
func TestPlanFreshOfFresh(t *testing.T) {
	l := planLab(t, "@say implemented")
	s, q := l.plans(api.SessionOptions{Fresh: true})
	l.send(s.ID, "@say queued before")
	l.answer(q.ID, api.Answer{Outcome: api.PlanFresh})
	done := l.await(s.ID, "everything is done", func(s *api.Session) bool {
		return s.Text == "queued before" && len(s.Messages) == 0 && s.State == api.StateEnded
	})
	if done.Run != 3 {
		t.Errorf("there were %d processes, want 3", done.Run)
	}
	if n := len(l.sent(s.ID, "Implement the following plan:")); n != 1 {
		t.Errorf("the plan was begun %d times", n)
	}
	l.sameProjections(s.ID)
}

// TestPlanStaleRevisedInPlanMode goes on planning in a new process, although the
// session was not started in plan mode.
func TestPlanStaleRevisedInPlanMode(t *testing.T) {
	l := planLab(t, "the plan")
	s := l.create(api.CreateSession{Prompt: "@tool EnterPlanMode\n@tool ExitPlanMode", Options: api.SessionOptions{PermissionMode: "default"}})
	q := l.question(s.ID)
	if mode := l.snapshot(s.ID).PermissionMode; mode != "plan" {
		t.Fatalf("the mode is %s", mode)
	}
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	l.answer(q.ID, api.Answer{Outcome: api.PlanRevise, Message: "@say make it blue"})
	l.await(s.ID, "it goes on", func(s *api.Session) bool { return s.Run == 2 && s.Text == "make it blue" && s.State == api.StateIdle })
	if spec := l.launcher.spec(s.ID); spec.Options.PermissionMode != "plan" || spec.Resume == "" {
		t.Errorf("it goes on with %s", encode(spec))
	}
	// What comes after that is not part of the planning.
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	l.send(s.ID, "@say later")
	l.await(s.ID, "it goes on", func(s *api.Session) bool { return s.Run == 3 && s.Text == "later" && s.State == api.StateIdle })
	if spec := l.launcher.spec(s.ID); spec.Options.PermissionMode != "default" {
		t.Errorf("later it goes on with %s", encode(spec))
	}
}

// TestLongDeadline does not take a very long deadline for one that is over.
func TestLongDeadline(t *testing.T) {
	l := newLab(t)
	created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Dir: t.TempDir(), Prompt: `@tool Bash {"command":"make"}`, Options: api.SessionOptions{QuestionDeadline: 1 << 40}})
	if err != nil {
		t.Fatal(err)
	}
	q := l.question(created.ID)
	l.snapshot(created.ID)
	if now, err := l.hub.Question(l.ctx(), q.ID); err != nil || now.State != api.QuestionOpen {
		t.Errorf("the question is %s, %v", encode(now), err)
	}
}

// lateRules change once more just when the hub begins to wait for a change.
type lateRules struct {
	*rules
	last  string
	mu    sync.Mutex
	calls int
	used  chan struct{} // gets something when the engine is looked at
}

func (r *lateRules) Engine() *policy.Engine {
	select {
	case r.used <- struct{}{}:
	default:
	}
	return r.rules.Engine()
}

func (r *lateRules) Changed() <-chan struct{} {
	r.mu.Lock()
	r.calls++
	second := r.calls == 2
	r.mu.Unlock()
	if second {
		// A hub that has told its sessions before it asks has them look now.
		select {
		case <-r.used:
		case <-time.After(200 * time.Millisecond):
		}
		r.set(r.last)
	}
	return r.rules.Changed()
}

// TestRulesChangeTwice changes the rules again before the hub waits for that.
func TestRulesChangeTwice(t *testing.T) {
	r := &lateRules{rules: newRules(t, ""), last: `deny = ["Bash(dd:*)"]`, used: make(chan struct{})}
	l := newLab(t, func(o *hub.Options) { o.Rules = r })
	s := newStage(l, "2.1.120")
	s.asks("r1", `{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t1","input":{"command":"dd if=x"}}`)
	r.set(`deny = ["Bash(rm:*)"]`)
	l.await(s.id, "the question is denied", func(s *api.Session) bool { return len(s.Questions) == 0 })
}

// TestPlanOfProgram does not ask a program's own CLI anything: the answer would go
// to the program.
func TestPlanOfProgram(t *testing.T) {
	l := newLab(t)
	created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Transport: "tee"})
	if err != nil {
		t.Fatal(err)
	}
	w := newDialler()
	a, _, err := l.hub.Attach(l.ctx(), hub.Hello{Hello: link.Hello{Session: created.ID, Run: 1, Instance: "i", Next: 1, Oldest: 1, Tee: true, Steer: true}, Token: created.Token}, w)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Lost(nil)
	for i, text := range []string{
		`{"type":"system","subtype":"init","session_id":"c1","uuid":"u1","cwd":"/w","model":"m","permissionMode":"plan","claude_code_version":"2.1.325","tools":[]}`,
		`{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"ExitPlanMode","tool_use_id":"t1","input":{"plan":"the plan"}}}`,
	} {
		if err := a.Receive(l.ctx(), []hub.Item{{Record: link.Record{Number: int64(i + 1), Kind: link.Line, Bytes: []byte(text)}}}); err != nil {
			t.Fatal(err)
		}
	}
	q := l.question(created.ID)
	l.answer(q.ID, api.Answer{Outcome: api.PlanAsk})
	if c := w.await(t, 1); !strings.Contains(string(c.Line), `"behavior":"allow"`) {
		t.Errorf("the first line that the CLI is sent is %s", c.Line)
	}
	if got := l.sent(created.ID, `"control_request"`); len(got) != 0 {
		t.Errorf("the CLI was asked %s", got)
	}
}

// TestPlanFreshCannotStart has the new process of a plan fail to start: the next
// one must not know the old conversation either.
func TestPlanFreshCannotStart(t *testing.T) {
	l := planLab(t, "@say implemented")
	s, q := l.plans(api.SessionOptions{})
	l.launcher.mu.Lock()
	l.launcher.fail = errors.New("no room")
	l.launcher.mu.Unlock()
	l.answer(q.ID, api.Answer{Outcome: api.PlanFresh})
	l.await(s.ID, "the start has failed", func(s *api.Session) bool { return s.Run == 2 && s.State == api.StateEnded })
	l.send(s.ID, "@say afterwards")
	l.await(s.ID, "everything is done", func(s *api.Session) bool { return s.Run == 3 && s.Text == "afterwards" && s.State == api.StateIdle })
	if spec := l.launcher.spec(s.ID); spec.Resume != "" || spec.Options.PermissionMode != "acceptEdits" {
		t.Errorf("it was started with %s", encode(spec))
	}
	if n := len(l.sent(s.ID, "Implement the following plan:")); n != 1 {
		t.Errorf("the plan was begun %d times", n)
	}
	l.sameProjections(s.ID)
}

// TestAnswerTooLong refuses what cannot be sent before the question is settled.
func TestAnswerTooLong(t *testing.T) {
	plan := `{"subtype":"can_use_tool","tool_name":"ExitPlanMode","tool_use_id":"t1","input":{"plan":"the plan"}}`
	image := `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + strings.Repeat("QUJD", 2_500_000) + `"}}]`
	longPlan := strings.Repeat("long ", 2_000_000)
	for _, test := range []struct {
		name   string
		answer api.Answer
	}{
		{"images", api.Answer{Outcome: api.PlanRevise, Images: []byte(image)}},
		{"an edited plan", api.Answer{Outcome: api.PlanAsk, Plan: &longPlan}},
		{"a plan for a fresh start", api.Answer{Outcome: api.PlanFresh, Plan: &longPlan}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(newLab(t), "2.1.37")
			q := s.asks("r1", plan)
			if _, err := s.hub.Answer(s.ctx(), person, q.ID, test.answer); err == nil {
				t.Error("it was taken")
			}
			if v := s.snapshot(s.id); len(v.Questions) != 1 || len(v.Messages) > 1 {
				t.Errorf("%d questions are open, want 1; the messages are %.300s", len(v.Questions), encode(v.Messages))
			}
		})
	}
}

// TestIdleProgramStaysEnded does not start a process for a program's session that
// was once idle for long.
func TestIdleProgramStaysEnded(t *testing.T) {
	l := newLimited(t, []budget.Budget{{Name: "rest", Per: "session", Idle: time.Minute, Action: "ask"}})
	created, _, a, _ := l.tee()
	defer a.Lost(nil)
	n := int64(0)
	take := func(kind link.Kind, text string) {
		n++
		if err := a.Receive(l.ctx(), []hub.Item{{Record: link.Record{Number: n, Kind: kind, Bytes: []byte(text)}}}); err != nil {
			t.Fatal(err)
		}
	}
	prompt := `{"type":"user","message":{"role":"user","content":"go on"},"uuid":"00000000-0000-4000-8000-00000000000%d"}`
	take(link.Program, fmt.Sprintf(prompt, 1))
	take(link.Line, `{"type":"system","subtype":"init","session_id":"c1","uuid":"u1","cwd":"/w","model":"m","permissionMode":"default","claude_code_version":"2.1.325","tools":[]}`)
	take(link.Line, `{"type":"result","subtype":"success","is_error":false,"result":"ok","uuid":"u2","session_id":"c1"}`)
	l.awaitState(created.ID, api.StateIdle)
	l.pass(2 * time.Minute)
	l.await(created.ID, "somebody is told", func(*api.Session) bool { return len(l.told(created.ID)) == 1 })
	take(link.Program, fmt.Sprintf(prompt, 2))
	l.awaitState(created.ID, api.StateRunning)
	l.send(created.ID, "and this")
	take(link.Happened, encode(link.Event{Event: "exited", Reason: "the program has ended"}))
	if v := l.snapshot(created.ID); v.Run != 1 || v.State != api.StateEnded || len(v.Messages) != 1 {
		t.Errorf("the session is %s in run %d, with the messages %s", v.State, v.Run, encode(v.Messages))
	}
	l.sameProjections(created.ID)
}

// TestHooksFromNextStart says that a session which was started without hooks has
// them from its next start on only.
func TestHooksFromNextStart(t *testing.T) {
	l, r := rulesLab(t, "")
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(s.ID, 1)
	notices := func() (n int) {
		for _, e := range l.events(s.ID) {
			if e.Kind == api.KindNotice && strings.Contains(string(e.Data), "hooks_from_next_start") {
				n++
			}
		}
		return n
	}
	r.set(`enforce = "hook"`)
	l.await(s.ID, "it is told so", func(*api.Session) bool { return notices() == 1 })
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	l.send(s.ID, "@say again")
	l.awaitDone(s.ID, 2)
	if got := l.sent(s.ID, `"switchboard-call"`); len(got) != 1 || notices() != 1 {
		t.Errorf("the hooks are in %s, and there are %d notices", got, notices())
	}
}

// TestManyQuestions leaves nothing open when a process ends that has asked far
// too much.
func TestManyQuestions(t *testing.T) {
	s := newStage(newLab(t), "2.1.120")
	lines := make([]string, 300)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"type":"control_request","request_id":"r%d","request":%s}`, i, strings.Replace(askBash, `"t1"`, fmt.Sprintf(`"t%d"`, i), 1))
	}
	s.says(lines...)
	if n := len(s.snapshot(s.id).Questions); n != len(lines) {
		t.Errorf("%d questions are open, want %d", n, len(lines))
	}
	ended, err := s.hub.Stop(s.ctx(), person, s.id, api.Stop{})
	if err != nil || len(ended.Questions) != 0 {
		t.Errorf("%d questions are open in the end, %v", len(ended.Questions), err)
	}
	s.sameProjections(s.id)
}

// TestUnknownRecord says in the log that a newer shim sent what this hub does not know, and counts it as taken.
func TestUnknownRecord(t *testing.T) {
	l := newLab(t)
	created, _, a, _ := l.tee()
	defer a.Lost(nil)
	for i, kind := range []link.Kind{'z', link.Outbox} {
		if err := a.Receive(l.ctx(), []hub.Item{{Record: link.Record{Number: int64(i + 1), Kind: kind, Bytes: []byte("z")}}}); err != nil {
			t.Fatal(err)
		}
	}
	notices := 0
	for _, e := range l.events(created.ID) {
		if e.Kind == api.KindNotice && strings.Contains(encode(e), "unknown_record") {
			notices++
		}
	}
	if notices != 2 {
		t.Errorf("the log has %d notices of them", notices)
	}
}

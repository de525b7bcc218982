package hub_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// planning is a prompt that presents a plan, and goes on after it.
const planning = "@tool ExitPlanMode {\"allowedPrompts\":[{\"tool\":\"Bash\",\"prompt\":\"run tests\"}]}\n@say after the plan"

// planLab is a lab whose agents have a plan.
func planLab(t *testing.T, plan string, change ...func(*hub.Options)) *lab {
	l := newLab(t, change...)
	l.launcher.plan = plan
	return l
}

// plans makes a session that presents a plan.
func (l *lab) plans(o api.SessionOptions) (*api.Session, api.Question) {
	l.t.Helper()
	if o.PermissionMode == "" {
		o.PermissionMode = "plan"
	}
	s := l.create(api.CreateSession{Prompt: planning, Options: o})
	return s, l.question(s.ID)
}

// question waits for a session's question.
func (l *lab) question(id string) api.Question {
	l.t.Helper()
	return l.await(id, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 }).Questions[0]
}

// answer answers a question that must take it.
func (l *lab) answer(id string, a api.Answer) *api.Question {
	l.t.Helper()
	q, err := l.hub.Answer(l.ctx(), person, id, a)
	if err != nil {
		l.t.Fatal(err)
	}
	return q
}

// sent returns the lines of a kind that were sent to a session's CLI.
func (l *lab) sent(id, part string) []string {
	var out []string
	for _, e := range l.events(id) {
		if e.Kind == api.KindSent && strings.Contains(string(e.Line), part) {
			out = append(out, string(e.Line))
		}
	}
	return out
}

func TestPlanCaptured(t *testing.T) {
	l := planLab(t, "# The plan\n@say done")
	_, q := l.plans(api.SessionOptions{})
	p := q.Plan
	if q.Kind != api.QuestionPlan || p == nil {
		t.Fatalf("the question is %s", encode(q))
	}
	if p.Text != "# The plan\n@say done" || p.Source != "file" || p.Path != "/config/plans/a.md" || p.Bypass {
		t.Errorf("the plan is %s", encode(p))
	}
	if got := encode(p.Prompts); got != `[{"tool":"Bash","prompt":"run tests"}]` {
		t.Errorf("the plan asks for %s", got)
	}
	if got := encode(p.Outcomes); got != `["fresh","accept_edits","ask","revise","reject","outline"]` {
		t.Errorf("the outcomes are %s", got)
	}
	l.await(q.Session, "the context is told", func(s *api.Session) bool {
		return len(s.Questions) == 1 && s.Questions[0].Plan.Percent != nil
	})
	l.judge(q.Session)
}

func TestPlanOutcomes(t *testing.T) {
	for _, test := range []struct {
		name    string
		options api.SessionOptions
		answer  api.Answer
		// line is in the answer that the CLI is sent, mode the one in the end.
		line, mode string
	}{
		{"accept edits", api.SessionOptions{}, api.Answer{Outcome: api.PlanAcceptEdits}, `{"type":"setMode","mode":"acceptEdits","destination":"session"},{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"prompt: run tests"}],"behavior":"allow","destination":"session"}`, "acceptEdits"},
		{"ask", api.SessionOptions{}, api.Answer{Outcome: api.PlanAsk, NoPrompts: true}, `"updatedPermissions":[{"type":"setMode","mode":"default","destination":"session"}]`, "default"},
		{"bypass", api.SessionOptions{AllowBypass: true}, api.Answer{Outcome: api.PlanAcceptEdits, Mode: "bypassPermissions"}, `"mode":"bypassPermissions"`, "bypassPermissions"},
		{"edited", api.SessionOptions{}, api.Answer{Outcome: api.PlanAsk, Plan: new("better")}, `"plan":"better"`, "default"},
		{"revise", api.SessionOptions{}, api.Answer{Outcome: api.PlanRevise, Message: "make it blue"}, `"behavior":"deny","message":"make it blue"`, "plan"},
		{"reject", api.SessionOptions{}, api.Answer{Outcome: api.PlanReject}, `"behavior":"deny","message":"The user rejected the plan."`, "plan"},
		{"outline", api.SessionOptions{}, api.Answer{Outcome: api.PlanOutline}, `"behavior":"deny","message":"Before the plan is decided on`, "plan"},
		{"plain allow", api.SessionOptions{}, api.Answer{Decision: "allow"}, `"behavior":"allow"`, "default"},
		{"plain deny", api.SessionOptions{}, api.Answer{Decision: "deny", Message: "no"}, `"behavior":"deny","message":"no"`, "plan"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := planLab(t, "the plan")
			s, q := l.plans(test.options)
			settled := l.answer(q.ID, test.answer)
			if settled.State != api.QuestionAnswered || settled.From != "person" || settled.Delivery != api.MessageSent {
				t.Errorf("the answer is %s", encode(settled))
			}
			done := l.awaitDone(s.ID, 1)
			if lines := l.sent(s.ID, `"control_response"`); len(lines) != 1 || !strings.Contains(lines[0], test.line) {
				t.Errorf("sent %s, want %s in it", lines, test.line)
			}
			if done.PermissionMode != test.mode {
				t.Errorf("the mode is %q, want %q", done.PermissionMode, test.mode)
			}
			l.judge(s.ID)
		})
	}
}

func TestPlanRefusals(t *testing.T) {
	l := planLab(t, "the plan")
	s, q := l.plans(api.SessionOptions{})
	approver := hub.Actor{Source: "person", Name: "bo"}
	for _, test := range []struct {
		name   string
		by     hub.Actor
		answer api.Answer
		code   string
	}{
		{"nothing", person, api.Answer{}, api.CodeInvalid},
		{"an unknown outcome", person, api.Answer{Outcome: "perhaps"}, api.CodeInvalid},
		{"empty feedback", person, api.Answer{Outcome: api.PlanRevise, Message: "  "}, api.CodeInvalid},
		{"an empty plan", person, api.Answer{Outcome: api.PlanAsk, Plan: new(" ")}, api.CodeInvalid},
		{"a plan with a refusal", person, api.Answer{Outcome: api.PlanReject, Plan: new("x")}, api.CodeInvalid},
		{"a contradiction", person, api.Answer{Outcome: api.PlanAsk, Decision: "deny"}, api.CodeInvalid},
		{"bypass where it is not allowed", person, api.Answer{Outcome: api.PlanFresh, Mode: "bypassPermissions"}, api.CodeInvalid},
		{"bypass and ask", person, api.Answer{Outcome: api.PlanAsk, Mode: "bypassPermissions"}, api.CodeInvalid},
		{"a mode that does not fit", person, api.Answer{Outcome: api.PlanAsk, Mode: "acceptEdits"}, api.CodeInvalid},
		{"choices", person, api.Answer{Outcome: api.PlanAsk, Choices: map[string]api.ChoiceAnswer{}}, api.CodeInvalid},
		{"images that are none", person, api.Answer{Outcome: api.PlanRevise, Images: []byte(`[{"type":"tool_result","tool_use_id":"x"}]`)}, api.CodeInvalid},
		{"compact with a refusal", person, api.Answer{Outcome: api.PlanReject, Compact: true}, api.CodeInvalid},
		{"other updates by who may only approve", approver, api.Answer{Decision: "allow", Updates: []byte(`[{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"}]`)}, api.CodeForbidden},
	} {
		if _, err := l.hub.Answer(l.ctx(), test.by, q.ID, test.answer); code(err) != test.code {
			t.Errorf("%s: %v, want %s", test.name, err, test.code)
		}
	}
	if open := l.snapshot(s.ID).Questions; len(open) != 1 {
		t.Fatalf("the question is not open after refusals: %s", encode(open))
	}
	if _, err := l.hub.Answer(l.ctx(), approver, q.ID, api.Answer{Outcome: api.PlanAcceptEdits}); err != nil {
		t.Errorf("who may approve cannot approve a plan: %v", err)
	}
	l.awaitDone(s.ID, 1)
}

// TestPlanFresh approves a plan for a fresh start, with the hub restarted at each
// of its steps in turn.
func TestPlanFresh(t *testing.T) {
	for _, restart := range []bool{false, true} {
		l := planLab(t, "step one\n@say implemented")
		s, q := l.plans(api.SessionOptions{})
		first := l.snapshot(s.ID)
		l.send(s.ID, "@say queued before")
		if restart {
			// The agent cannot be reached when the answer is given, and the hub
			// that took it is gone when it can.
			l.launcher.cutAll()
			l.awaitState(s.ID, api.StateOffline)
		}
		settled := l.answer(q.ID, api.Answer{Outcome: api.PlanFresh})
		if restart {
			l.restart()
		}
		if settled.State != api.QuestionAnswered {
			t.Errorf("the question is %s", encode(settled))
		}
		done := l.await(s.ID, "the plan is carried out", func(s *api.Session) bool {
			return s.Run == 2 && s.State == api.StateIdle && len(s.Messages) == 0 && s.Text == "queued before"
		})
		if done.Conversation == first.Conversation || done.PermissionMode != "acceptEdits" {
			t.Errorf("the conversation is %s (was %s) in mode %s", done.Conversation, first.Conversation, done.PermissionMode)
		}
		spec := l.launcher.spec(s.ID)
		if spec.Resume != "" || spec.Options.PermissionMode != "acceptEdits" || encode(spec.Options.AllowedTools) != `["Bash(prompt: run tests)"]` {
			t.Errorf("the new process was started with %s", encode(spec))
		}
		denied := l.sent(s.ID, `"behavior":"deny"`)
		if len(denied) != 1 || !strings.Contains(denied[0], `"interrupt":true`) {
			t.Errorf("the old process was told %s", denied)
		}
		prompts := l.sent(s.ID, "Implement the following plan:")
		if len(prompts) != 1 || !strings.Contains(prompts[0], `Implement the following plan:\n\nstep one`) {
			t.Errorf("the new process was told %s", prompts)
		}
		l.judge(s.ID)
	}
}

// TestPlanFreshDialled has a CLI that dialled in make the plan, and a process of
// ours carry it out.
func TestPlanFreshDialled(t *testing.T) {
	s := newStage(newLab(t), "2.1.120")
	q := s.asks("r1", `{"subtype":"can_use_tool","tool_name":"ExitPlanMode","tool_use_id":"t1","input":{"plan":"@say implemented"}}`)
	if q.Plan.Source != "request" || q.Plan.Text != "@say implemented" {
		t.Errorf("the plan is %s", encode(q.Plan))
	}
	s.answer(q.ID, api.Answer{Outcome: api.PlanFresh, Note: "looks good"})
	for _, command := range s.sent(s.id, `"behavior":"deny"`) {
		if !strings.Contains(command, `"interrupt":true`) {
			t.Errorf("sent was %s", command)
		}
	}
	s.written(`"behavior":"deny"`)
	s.says(`{"type":"result","subtype":"error_during_execution","is_error":true,"uuid":"u8","session_id":"c` + s.id + `"}`)
	done := s.await(s.id, "the plan is carried out", func(s *api.Session) bool { return s.Run == 2 && s.Text == "implemented" && s.State == api.StateIdle })
	if done.Transport != "shim" {
		t.Errorf("it was carried out over %s", done.Transport)
	}
}

// TestPlanFreshStopped has somebody stop the session before the plan is begun.
func TestPlanFreshStopped(t *testing.T) {
	l := planLab(t, "the plan")
	s, q := l.plans(api.SessionOptions{})
	l.launcher.cutAll() // so that nothing can go on
	l.awaitState(s.ID, api.StateOffline)
	l.answer(q.ID, api.Answer{Outcome: api.PlanFresh})
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{Force: true}); err != nil {
		t.Fatal(err)
	}
	if now := l.snapshot(s.ID); now.Run != 1 || now.State != api.StateEnded {
		t.Errorf("after the stop it is %s in run %d", now.State, now.Run)
	}
	l.send(s.ID, "@say something else")
	l.await(s.ID, "it goes on", func(s *api.Session) bool { return s.Text == "something else" })
	if got := l.sent(s.ID, "Implement the following plan"); len(got) != 0 {
		t.Errorf("the plan was carried out: %s", got)
	}
	l.judge(s.ID)
}

func TestPlanWithoutText(t *testing.T) {
	l := planLab(t, "")
	s, q := l.plans(api.SessionOptions{})
	if got := encode(q.Plan.Outcomes); got != `["ask","reject"]` {
		t.Errorf("without a plan the outcomes are %s", got)
	}
	if _, err := l.hub.Answer(l.ctx(), person, q.ID, api.Answer{Outcome: api.PlanAcceptEdits}); code(err) != api.CodeInvalid {
		t.Errorf("accepting edits without a plan: %v", err)
	}
	l.answer(q.ID, api.Answer{Outcome: api.PlanFresh})
	l.await(s.ID, "it goes on", func(s *api.Session) bool { return s.Run == 2 && s.State == api.StateIdle })
	if got := l.sent(s.ID, "Continue implementing the plan from the previous conversation."); len(got) != 1 {
		t.Errorf("the new process was told %s", got)
	}
}

// TestPlanStale has a plan outlive its process.
func TestPlanStale(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer api.Answer
		told   string
		run    int
	}{
		{"fresh", api.Answer{Outcome: api.PlanFresh}, `Implement the following plan:\n\nthe plan`, 2},
		{"revise", api.Answer{Outcome: api.PlanRevise, Message: "make it blue"}, "make it blue", 2},
		{"reject", api.Answer{Outcome: api.PlanReject}, "", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := planLab(t, "the plan")
			s, q := l.plans(api.SessionOptions{})
			l.await(s.ID, "the context is told", func(s *api.Session) bool { return s.Questions[0].Plan.Percent != nil })
			if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
				t.Fatal(err)
			}
			l.restart()
			stale := l.snapshot(s.ID)
			if len(stale.Questions) != 1 || !stale.Questions[0].Stale || stale.State != api.StateEnded {
				t.Fatalf("the plan of a process that has ended: %s in state %s", encode(stale.Questions), stale.State)
			}
			if got := encode(stale.Questions[0].Plan.Outcomes); got != `["fresh","revise","reject"]` {
				t.Errorf("the outcomes are %s", got)
			}
			for _, outcome := range []api.PlanOutcome{api.PlanAsk, api.PlanAcceptEdits, api.PlanOutline} {
				if _, err := l.hub.Answer(l.ctx(), person, q.ID, api.Answer{Outcome: outcome}); code(err) != api.CodeEnded {
					t.Errorf("%s of a stale plan: %v", outcome, err)
				}
			}
			l.answer(q.ID, test.answer)
			done := l.await(s.ID, "it is over", func(s *api.Session) bool {
				return s.Run == test.run && len(s.Questions) == 0 && (s.State == api.StateIdle || test.run == 1)
			})
			if test.told != "" && len(l.sent(s.ID, test.told)) != 1 {
				t.Errorf("the new process was not told %q", test.told)
			}
			if resumed := l.launcher.spec(s.ID).Resume != ""; resumed != (test.name == "revise") {
				t.Errorf("resumed: %t", resumed)
			}
			_ = done
			l.judge(s.ID)
		})
	}
}

func TestPlanStaleSuperseded(t *testing.T) {
	l := planLab(t, "the plan")
	s, q := l.plans(api.SessionOptions{})
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	l.send(s.ID, "@say something else")
	l.await(s.ID, "it went on", func(s *api.Session) bool { return s.Text == "something else" && s.State == api.StateIdle })
	settled, err := l.hub.Question(l.ctx(), q.ID)
	if err != nil || settled.State != api.QuestionCancelled || settled.Reason == "" {
		t.Errorf("the plan is %s, %v", encode(settled), err)
	}
	var problem *api.Error
	if _, err := l.hub.Answer(l.ctx(), person, q.ID, api.Answer{Outcome: api.PlanFresh}); !errors.As(err, &problem) || problem.Code != api.CodeAlreadySettled {
		t.Errorf("answering it: %v", err)
	}
}

// TestPlanOutline pauses before a plan: whoever presents it again too soon is
// refused by itself, for longer with each pause.
func TestPlanOutline(t *testing.T) {
	clock := &clock{now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
	l := planLab(t, "the plan", func(o *hub.Options) { o.Now = clock.Now })
	s, q := l.plans(api.SessionOptions{})
	l.answer(q.ID, api.Answer{Outcome: api.PlanOutline})
	turns := int64(1)
	l.awaitDone(s.ID, turns)
	again := func(passed time.Duration, refused bool) {
		t.Helper()
		clock.add(passed)
		l.send(s.ID, planning)
		turns++
		if refused {
			l.awaitDone(s.ID, turns)
			list, err := l.hub.Questions(l.ctx(), api.QuestionFilter{Session: s.ID})
			if err != nil {
				t.Fatal(err)
			}
			last := list.Questions[len(list.Questions)-1]
			if last.State != api.QuestionAnswered || last.From != "hub" || last.Answer.Outcome != api.PlanOutline || last.Reason == "" {
				t.Errorf("a plan that came too soon is %s", encode(last))
			}
			return
		}
		q = l.question(s.ID)
	}
	again(29*time.Second, true)
	again(29*time.Second, true) // the refusal began the time anew
	again(31*time.Second, false)
	l.answer(q.ID, api.Answer{Outcome: api.PlanOutline}) // the second click: 60 s
	l.awaitDone(s.ID, turns)
	again(59*time.Second, true)
	again(61*time.Second, false)
	l.answer(q.ID, api.Answer{Outcome: api.PlanRevise, Message: "more"}) // an explicit answer ends it
	l.awaitDone(s.ID, turns)
	again(0, false)
	l.answer(q.ID, api.Answer{Outcome: api.PlanOutline})
	l.awaitDone(s.ID, turns)
	again(31*time.Second, false)
	l.answer(q.ID, api.Answer{Outcome: api.PlanReject})
	l.awaitDone(s.ID, turns)
	l.judge(s.ID)
}

func TestPlanCompact(t *testing.T) {
	l := planLab(t, "the plan")
	s, q := l.plans(api.SessionOptions{})
	l.send(s.ID, "@say later")
	l.answer(q.ID, api.Answer{Outcome: api.PlanAsk, Compact: true})
	l.await(s.ID, "all is done", func(s *api.Session) bool { return s.Text == "later" && s.State == api.StateIdle })
	var order []string
	for _, line := range l.sent(s.ID, `"type":"user"`) {
		for _, text := range []string{"ExitPlanMode", "/compact", "later"} {
			if strings.Contains(line, text) {
				order = append(order, text)
			}
		}
	}
	if got := strings.Join(order, " "); got != "ExitPlanMode /compact later" {
		t.Errorf("the order is %s", got)
	}
	l.judge(s.ID)
}

func TestPlanImages(t *testing.T) {
	l := planLab(t, "the plan")
	s, q := l.plans(api.SessionOptions{})
	image := `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]`
	l.answer(q.ID, api.Answer{Outcome: api.PlanRevise, Images: []byte(image)})
	l.awaitDone(s.ID, 1)
	denied := l.sent(s.ID, `"behavior":"deny"`)
	images := l.sent(s.ID, `"media_type":"image/png"`)
	if len(denied) != 1 || !strings.Contains(denied[0], "images of the next message") || len(images) != 1 {
		t.Errorf("told %s and %s", denied, images)
	}
}

func TestPlanEditedOn37(t *testing.T) {
	l := planLab(t, "the plan")
	l.launcher.version = "2.1.37"
	s, q := l.plans(api.SessionOptions{})
	l.answer(q.ID, api.Answer{Outcome: api.PlanAsk, Plan: new("a better plan")})
	l.awaitState(s.ID, api.StateIdle)
	if got := l.sent(s.ID, `not the one in the result of ExitPlanMode:\n\na better plan`); len(got) != 1 {
		t.Errorf("a CLI that ignores an edited plan was told %s", got)
	}
}

func TestModeTold(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: "@tool EnterPlanMode\n@say planned"})
	l.awaitDone(s.ID, 1)
	var got []string
	for _, e := range l.events(s.ID) {
		if e.Kind == api.KindMode {
			got = append(got, string(e.Data))
		}
	}
	if strings.Join(got, " ") != `{"mode":"plan","was":"default","tool":"EnterPlanMode"}` {
		t.Errorf("told of modes: %s", got)
	}
}

func TestAskPlanMode(t *testing.T) {
	for _, version := range []string{"2.1.37", "2.1.325"} {
		for _, decision := range []string{"allow", "deny"} {
			t.Run(version+" "+decision, func(t *testing.T) {
				l := newLab(t)
				l.launcher.version = version
				s := l.create(api.CreateSession{Prompt: "@tool EnterPlanMode\n@say over", Options: api.SessionOptions{AskPlanMode: true}})
				q := l.question(s.ID)
				if q.Kind != api.QuestionPermission || q.Tool != "EnterPlanMode" || q.Title != "Enter plan mode?" {
					t.Errorf("the question is %s", encode(q))
				}
				l.answer(q.ID, api.Answer{Decision: decision})
				want := map[string]string{"allow": "plan", "deny": "default"}[decision]
				l.await(s.ID, "it is over", func(s *api.Session) bool {
					return s.State == api.StateIdle && s.Text == "over" && s.PermissionMode == want
				})
				l.judge(s.ID)
			})
		}
	}
}

package hub_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/policy"
)

// rules are rules that a test changes.
type rules struct {
	t *testing.T

	mu      sync.Mutex
	engine  *policy.Engine
	changed chan struct{}
}

func newRules(t *testing.T, text string) *rules {
	r := &rules{t: t, changed: make(chan struct{})}
	r.set(text)
	return r
}

func (r *rules) set(text string) {
	r.t.Helper()
	file, err := policy.ParseFile("rules.toml", []byte(text), "/home/me")
	if err != nil {
		r.t.Fatal(err)
	}
	engine, err := policy.New(file, policy.Options{Home: "/home/me", Resolve: policy.Real})
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.engine = engine
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *rules) Engine() *policy.Engine {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.engine
}

func (r *rules) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

func (r *rules) Status() api.Policy   { return api.Policy{File: "rules.toml"} }
func (r *rules) Confirm(string) error { return nil }

// rulesLab is a lab with rules.
func rulesLab(t *testing.T, text string) (*lab, *rules) {
	r := newRules(t, text)
	return newLab(t, func(o *hub.Options) { o.Rules = r }), r
}

func TestRulesAnswer(t *testing.T) {
	l, _ := rulesLab(t, `
allow = ["Bash(make:*)"]
ask = ["Bash(make deploy:*)"]
deny = ["Bash(dd:*)"]
[[rule]]
rule = "Bash(curl:*)"
decision = "deny"
message = "Use WebFetch."
expires = 2999-01-01T00:00:00Z
`)
	s := l.create(api.CreateSession{Prompt: "@tool Bash {\"command\":\"make test\"}\n@tool Bash {\"command\":\"curl x\"}\n@tool Bash {\"command\":\"make deploy\"}\n@tool Bash {\"command\":\"rm x\"}\n@say over"})
	first := l.question(s.ID)
	if first.Rule == nil || first.Rule.Rule != "Bash(make deploy:*)" || first.Rule.Decision != api.RuleAsk {
		t.Errorf("a rule that asks: %s", encode(first))
	}
	l.answer(first.ID, api.Answer{Decision: "deny"})
	second := l.await(s.ID, "it asks again", func(s *api.Session) bool { return len(s.Questions) == 1 && s.Questions[0].ID != first.ID }).Questions[0]
	if second.Rule != nil || second.Title != "rm x" {
		t.Errorf("a call that no rule names: %s", encode(second))
	}
	l.answer(second.ID, api.Answer{Decision: "allow"})
	l.awaitDone(s.ID, 1)
	list, err := l.hub.Questions(l.ctx(), api.QuestionFilter{Session: s.ID})
	if err != nil || len(list.Questions) != 4 {
		t.Fatalf("%s, %v", encode(list), err)
	}
	allowed, denied := list.Questions[0], list.Questions[1]
	if allowed.Answer.Decision != "allow" || allowed.Rule.Rule != "Bash(make:*)" || allowed.Rule.Scope != "global" || allowed.From != "hub" || allowed.Reason == "" {
		t.Errorf("what a rule allows is %s", encode(allowed))
	}
	if denied.Answer.Decision != "deny" || denied.Answer.Message != "Use WebFetch." || denied.Rule.Rule != "Bash(curl:*)" {
		t.Errorf("what a rule denies is %s", encode(denied))
	}
	spec := l.launcher.spec(s.ID)
	// The CLI cannot be told that a rule ends, so the hub keeps it to itself.
	if encode(spec.Deny) != `["Bash(dd:*)"]` || encode(spec.Ask) != `["Bash(make deploy:*)"]` {
		t.Errorf("the CLI was given deny %s, ask %s", spec.Deny, spec.Ask)
	}
	l.judge(s.ID)
}

// TestRulesNeverAnswer leaves plans and choices to people, whatever is allowed.
func TestRulesNeverAnswer(t *testing.T) {
	l, _ := rulesLab(t, `allow = ["Bash"]`)
	l.launcher.plan = "the plan"
	s := l.create(api.CreateSession{Prompt: "@tool AskUserQuestion {\"questions\":[{\"question\":\"Which?\",\"header\":\"W\",\"options\":[{\"label\":\"A\",\"description\":\"a\"},{\"label\":\"B\",\"description\":\"b\"}],\"multiSelect\":false}]}\n@tool EnterPlanMode\n@tool ExitPlanMode\n@say over"})
	if _, err := l.hub.AddRule(l.ctx(), person, s.ID, api.AddRule{Rule: "*", Decision: api.RuleAllow, For: 1800}); err != nil {
		t.Fatal(err)
	}
	q := l.question(s.ID)
	if q.Kind != api.QuestionChoice {
		t.Fatalf("the question is %s", encode(q))
	}
	l.answer(q.ID, api.Answer{Decision: "deny"})
	plan := l.await(s.ID, "it asks again", func(s *api.Session) bool { return len(s.Questions) == 1 && s.Questions[0].ID != q.ID }).Questions[0]
	if plan.Kind != api.QuestionPlan {
		t.Fatalf("the question is %s", encode(plan))
	}
	l.answer(plan.ID, api.Answer{Outcome: api.PlanAsk})
	l.awaitDone(s.ID, 1)
}

// TestRulesAgain offers an open question to the rules again: after they have
// changed, and after a restart.
func TestRulesAgain(t *testing.T) {
	l, r := rulesLab(t, "")
	s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"make"}`})
	l.question(s.ID)
	r.set(`allow = ["Bash(make:*)"]`)
	l.awaitDone(s.ID, 1)

	r.set("")
	l.send(s.ID, `@tool Bash {"command":"make all"}`)
	l.question(s.ID)
	l.close()
	r.set(`allow = ["Bash(make:*)"]`)
	l.open()
	l.awaitDone(s.ID, 2)
	l.judge(s.ID)
}

func TestSessionRules(t *testing.T) {
	clock := &clock{now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
	l := newLab(t, func(o *hub.Options) { o.Now = clock.Now })
	s := l.create(api.CreateSession{})
	approver := hub.Actor{Source: "person", Name: "bo"}
	for _, test := range []struct {
		name string
		by   hub.Actor
		rule api.AddRule
		code string
	}{
		{"allow by who may only approve", approver, api.AddRule{Rule: "Bash(make:*)", Decision: api.RuleAllow}, api.CodeForbidden},
		{"all, for ever", person, api.AddRule{Rule: "*", Decision: api.RuleAllow}, api.CodeInvalid},
		{"all, for long", person, api.AddRule{Rule: "*", Decision: api.RuleAllow, For: 86401}, api.CodeInvalid},
		{"deny all", person, api.AddRule{Rule: "*", Decision: api.RuleDeny, For: 60}, api.CodeInvalid},
		{"no rule", person, api.AddRule{Rule: "Bash(", Decision: api.RuleDeny}, api.CodeInvalid},
		{"no decision", person, api.AddRule{Rule: "Bash"}, api.CodeInvalid},
	} {
		if _, err := l.hub.AddRule(l.ctx(), test.by, s.ID, test.rule); code(err) != test.code {
			t.Errorf("%s: %v, want %s", test.name, err, test.code)
		}
	}
	trust, err := l.hub.AddRule(l.ctx(), person, s.ID, api.AddRule{ClientID: "c1", Rule: "*", Decision: api.RuleAllow, For: 1800})
	if err != nil {
		t.Fatal(err)
	}
	again, err := l.hub.AddRule(l.ctx(), person, s.ID, api.AddRule{ClientID: "c1", Rule: "*", Decision: api.RuleAllow, For: 1800})
	if err != nil || again.ID != trust.ID {
		t.Errorf("the same request again: %s, %v", encode(again), err)
	}
	l.send(s.ID, `@tool Bash {"command":"anything"}`)
	l.awaitDone(s.ID, 1)
	deny, err := l.hub.AddRule(l.ctx(), approver, s.ID, api.AddRule{Rule: "Bash(rm:*)", Decision: api.RuleDeny, Message: "no"})
	if err != nil {
		t.Fatal(err)
	}
	l.await(s.ID, "the CLI has the rule", func(s *api.Session) bool { return len(s.Rules) == 2 && !s.Rules[1].Pending })
	if got := l.sent(s.ID, `"apply_flag_settings"`); len(got) != 1 || !strings.Contains(got[0], `{"permissions":{"ask":[],"deny":["Bash(rm:*)"]}}`) {
		t.Errorf("the CLI was told %s", got)
	}
	if _, err := l.hub.RemoveRule(l.ctx(), approver, s.ID, deny.ID); code(err) != api.CodeForbidden {
		t.Errorf("removing a rule that denies: %v", err)
	}
	if _, err := l.hub.RemoveRule(l.ctx(), person, s.ID, "r-none"); code(err) != api.CodeNotFound {
		t.Errorf("removing a rule that is not there: %v", err)
	}
	l.restart()
	clock.add(31 * time.Minute)
	left := l.await(s.ID, "the trust is over", func(s *api.Session) bool { return len(s.Rules) == 1 })
	if left.Rules[0].ID != deny.ID {
		t.Errorf("the rules are %s", encode(left.Rules))
	}
	l.send(s.ID, `@tool Bash {"command":"anything else"}`)
	l.question(s.ID)
	if _, err := l.hub.RemoveRule(l.ctx(), person, s.ID, deny.ID); err != nil {
		t.Error(err)
	}
	l.await(s.ID, "the CLI is told", func(now *api.Session) bool { return len(now.Rules) == 0 && len(l.sent(s.ID, `"deny":[]`)) == 1 })
	if rules := l.snapshot(s.ID).Rules; len(rules) != 0 {
		t.Errorf("the rules are %s", encode(rules))
	}
}

// TestRulesFromNextStart has an old CLI, which cannot be told of rules while it
// runs.
func TestRulesFromNextStart(t *testing.T) {
	l, r := rulesLab(t, "")
	l.launcher.version = "2.1.37"
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(s.ID, 1)
	r.set(`deny = ["Bash(rm:*)"]`)
	l.await(s.ID, "it is told so", func(*api.Session) bool {
		for _, e := range l.events(s.ID) {
			if e.Kind == api.KindNotice && strings.Contains(string(e.Data), "rules_from_next_start") {
				return true
			}
		}
		return false
	})
	if got := l.sent(s.ID, "apply_flag_settings"); len(got) != 0 {
		t.Errorf("the CLI was told %s", got)
	}
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	l.send(s.ID, "@say again")
	l.awaitDone(s.ID, 2)
	if spec := l.launcher.spec(s.ID); encode(spec.Deny) != `["Bash(rm:*)"]` {
		t.Errorf("the next process was given %s", spec.Deny)
	}
}

// TestHookRules brings every call to the hub.
func TestHookRules(t *testing.T) {
	for _, version := range []string{"2.1.37", "2.1.120", "2.1.325"} {
		t.Run(version, func(t *testing.T) {
			l, _ := rulesLab(t, `
enforce = "hook"
allow = ["Bash(make:*)"]
ask = ["Bash(ls:*)"]
deny = ["Bash(echo no:*)"]
`)
			l.launcher.version = version
			s := l.create(api.CreateSession{Prompt: "@tool Bash {\"command\":\"echo no\"}\n@tool Bash {\"command\":\"make\"}\n@tool Bash {\"command\":\"ls\"}\n@say over"})
			q := l.question(s.ID)
			if q.Title != "ls" || q.Rule == nil || q.Rule.Rule != "Bash(ls:*)" {
				t.Errorf("the question is %s", encode(q))
			}
			l.answer(q.ID, api.Answer{Decision: "allow"})
			l.await(s.ID, "it is over", func(s *api.Session) bool { return s.State == api.StateIdle && s.Text == "over" })
			var decisions []string
			for _, e := range l.events(s.ID) {
				if e.Kind == api.KindDecision {
					decisions = append(decisions, string(e.Data))
				}
			}
			if len(decisions) == 0 || !strings.Contains(decisions[0], `"rule":"Bash(echo no:*)","decision":"deny"`) {
				t.Errorf("the decisions are %s", decisions)
			}
			l.judge(s.ID)
		})
	}
}

func TestPolicyStatus(t *testing.T) {
	l, _ := rulesLab(t, "")
	p, err := l.hub.Policy(l.ctx())
	if err != nil || p.File != "rules.toml" {
		t.Errorf("%s, %v", encode(p), err)
	}
	if _, err := l.hub.ConfirmPolicy(l.ctx(), hub.Actor{Name: "bo"}, api.ConfirmPolicy{Sum: "x"}); code(err) != api.CodeForbidden {
		t.Errorf("confirming without the right: %v", err)
	}
	if _, err := l.hub.ConfirmPolicy(l.ctx(), person, api.ConfirmPolicy{Sum: "x"}); err != nil {
		t.Error(err)
	}
	bare := newLab(t)
	if _, err := bare.hub.ConfirmPolicy(bare.ctx(), person, api.ConfirmPolicy{Sum: "x"}); code(err) != api.CodeConflict {
		t.Errorf("confirming where nothing waits: %v", err)
	}
}

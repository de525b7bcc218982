package hub_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
	"github.com/switchboard-dev/switchboard/wire"
)

// strictBox is a strict sandbox that is really there.
var strictBox = api.Sandbox{Mode: "strict", Enforcer: "bubblewrap", Network: "listed", Hidden: 3}

// approver is a person who may answer questions, and no more.
var approver = hub.Actor{Source: journal.SourcePerson, Name: "bo"}

// boxLab is a lab whose runs are started in a sandbox.
func boxLab(t *testing.T, box api.Sandbox, rules string, change ...func(*hub.Options)) *lab {
	t.Helper()
	r := newRules(t, rules)
	l := newLab(t, append([]func(*hub.Options){func(o *hub.Options) { o.Rules = r }}, change...)...)
	l.launcher.sandbox = box
	return l
}

// asksHost has the shim ask about a host, as it does for a process in the sandbox.
func (s *shim) asksHost(id, host, command string) {
	s.put([]byte(fmt.Sprintf(`{"type":"control_request","request_id":"sandbox-%s","request":{"subtype":"can_use_tool","tool_name":"SandboxNetworkAccess","input":%s}}`,
		id, encode(map[string]any{"host": host, "port": 443, "command": command}))), wire.Durable)
}

// answers returns what the shim was answered.
func (s *shim) answers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.taken)
}

// refuses has the shim tell of a refusal.
func (s *shim) refuses(r api.SandboxRefusal) {
	s.event(link.Event{Event: link.EventRefused, Refusal: json.RawMessage(encode(r))})
}

// settled waits until a question of a request is settled, and returns it.
func (l *lab) settled(session, request string) api.Question {
	l.t.Helper()
	var found api.Question
	l.await(session, request+" is settled", func(*api.Session) bool {
		list, err := l.hub.Questions(l.ctx(), api.QuestionFilter{Session: session})
		if err != nil {
			l.t.Fatal(err)
		}
		for _, q := range list.Questions {
			if q.RequestID == request && q.State != api.QuestionOpen {
				found = q
				return true
			}
		}
		return false
	})
	return found
}

// refusals returns what the log tells of refusals.
func (l *lab) refusals(session string) (list []api.SandboxRefusal) {
	l.t.Helper()
	for _, e := range l.events(session) {
		if e.Kind == api.KindSandboxRefused {
			var r api.SandboxRefusal
			if err := json.Unmarshal(e.Data, &r); err != nil {
				l.t.Fatal(err)
			}
			list = append(list, r)
		}
	}
	return list
}

// TestSandboxRecorded: what a run was started in is in its log, in views and lists, and
// there after a restart; the next run has its own.
func TestSandboxRecorded(t *testing.T) {
	l := boxLab(t, strictBox, "")
	s := l.create(api.CreateSession{Options: api.SessionOptions{Sandbox: "strict", SandboxAutoAllow: true}, Prompt: "@say hi"})
	l.awaitDone(s.ID, 1)
	want := strictBox
	want.AutoAllow = true
	check := func(when string) {
		t.Helper()
		if v := l.snapshot(s.ID); v.Sandbox == nil || encode(v.Sandbox) != encode(want) || v.Options.Sandbox != "strict" {
			t.Errorf("%s: the session is in %s", when, encode(v.Sandbox))
		}
		list, err := l.hub.List(l.ctx(), api.SessionFilter{})
		if err != nil || len(list.Sessions) != 1 || list.Sessions[0].Sandbox != "strict" {
			t.Errorf("%s: the list is %s, %v", when, encode(list), err)
		}
		if stats, err := l.hub.Stats(l.ctx()); err != nil || stats.Sandboxes["strict"] != 1 {
			t.Errorf("%s: the figures are %+v, %v", when, stats, err)
		}
	}
	check("at once")
	l.restart()
	l.await(s.ID, "it is back", func(s *api.Session) bool { return s.Linked && s.State == api.StateIdle })
	check("after a restart")
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	if stats, err := l.hub.Stats(l.ctx()); err != nil || stats.Sandboxes["strict"] != 0 {
		t.Errorf("the figures of a session that has ended are %+v, %v", stats, err)
	}
	l.launcher.sandbox = api.Sandbox{Mode: "deny-only", Enforcer: "none", Reason: "there is no bubblewrap"}
	if _, err := l.hub.Resume(l.ctx(), person, s.ID, api.Resume{Options: &api.SessionOptions{}}); err != nil {
		t.Fatal(err)
	}
	list, err := l.hub.List(l.ctx(), api.SessionFilter{})
	if v := l.snapshot(s.ID); err != nil || v.Sandbox.Reason == "" || v.Sandbox.AutoAllow || list.Sessions[0].Sandbox != "none" {
		t.Errorf("the next run is in %s; the list says %q, %v", encode(v.Sandbox), list.Sessions[0].Sandbox, err)
	}
	l.judge(s.ID)
}

// TestSandboxPolicy: what the launcher is told to enforce.
func TestSandboxPolicy(t *testing.T) {
	const hosts = `
allow = ["Network(host:good.example)"]
ask = ["Network(host:x.ask.example)", "Network(host:ask.example)"]
deny = ["Network(host:*.bad.example)", "WebFetch(domain:worse.example)", "Read(~/.ssh/**)", "Edit(generated/**)"]`
	defaults := func(d hub.SandboxDefaults) func(*hub.Options) {
		return func(o *hub.Options) { o.Sandbox = d }
	}
	for _, test := range []struct {
		name     string
		defaults hub.SandboxDefaults
		options  api.SessionOptions
		want     sandbox.Policy
		rules    string
	}{
		{"nothing is said", hub.SandboxDefaults{}, api.SessionOptions{}, sandbox.Policy{Mode: sandbox.Auto, Network: sandbox.NetworkAll}, ""},
		{"off", hub.SandboxDefaults{}, api.SessionOptions{Sandbox: "off"}, sandbox.Policy{Mode: sandbox.Off, Network: sandbox.NetworkAll}, ""},
		{"the hub's default", hub.SandboxDefaults{Mode: sandbox.Off}, api.SessionOptions{}, sandbox.Policy{Mode: sandbox.Off, Network: sandbox.NetworkAll}, ""},
		{"deny-only", hub.SandboxDefaults{Mode: sandbox.Off}, api.SessionOptions{Sandbox: "deny-only", AddDirs: []string{"/a", "b", "~/c"}}, sandbox.Policy{Mode: sandbox.DenyOnly, Network: sandbox.NetworkAll, Dirs: []string{"/a", "DIR/b", "~/c"}}, ""},
		{"strict", hub.SandboxDefaults{AllowHosts: []string{"a.example"}}, api.SessionOptions{Sandbox: "strict"}, sandbox.Policy{Mode: sandbox.Strict, Network: sandbox.NetworkListed, AskHosts: true, AllowHosts: []string{"a.example"}}, ""},
		{"strict without a network", hub.SandboxDefaults{Mode: sandbox.Strict, Network: sandbox.NetworkNone}, api.SessionOptions{}, sandbox.Policy{Mode: sandbox.Strict, Network: sandbox.NetworkNone}, ""},
		{
			"rules, deny-only", hub.SandboxDefaults{}, api.SessionOptions{}, sandbox.Policy{
				Mode: sandbox.Auto, Network: sandbox.NetworkListed, DenyHosts: []string{"*.bad.example", "worse.example"},
				AllowHosts: []string{"good.example"}, DenyRead: []string{"~/.ssh"}, DenyWrite: []string{"DIR/generated"},
			}, hosts,
		},
		{
			"rules, strict", hub.SandboxDefaults{AllowHosts: []string{"ask.example", "*.ask.example", "a.example"}}, api.SessionOptions{Sandbox: "strict"}, sandbox.Policy{
				Mode: sandbox.Strict, Network: sandbox.NetworkListed, AskHosts: true, DenyHosts: []string{"*.bad.example", "worse.example"},
				AllowHosts: []string{"a.example", "good.example"}, DenyRead: []string{"~/.ssh"}, DenyWrite: []string{"DIR/generated"},
			}, hosts,
		},
		{"rules that ask", hub.SandboxDefaults{}, api.SessionOptions{}, sandbox.Policy{Mode: sandbox.Auto, Network: sandbox.NetworkAll}, `ask = ["Network"]`},
		{"no network", hub.SandboxDefaults{}, api.SessionOptions{}, sandbox.Policy{Mode: sandbox.Auto, Network: sandbox.NetworkNone}, `deny = ["Network"]`},
		{"off, with rules", hub.SandboxDefaults{Mode: sandbox.Off}, api.SessionOptions{}, sandbox.Policy{Mode: sandbox.Off, Network: sandbox.NetworkAll}, hosts},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := boxLab(t, api.Sandbox{}, test.rules, defaults(test.defaults))
			s := l.create(api.CreateSession{Options: test.options})
			got := l.launcher.spec(s.ID).Sandbox
			if text := strings.ReplaceAll(encode(got), s.Dir, "DIR"); text != encode(test.want) {
				t.Errorf("the policy is %s, want %s", text, encode(test.want))
			}
		})
	}
}

// TestSandboxScope: to hold back less than the hub does by default, or than the session
// did, needs the scope admin.
func TestSandboxScope(t *testing.T) {
	for _, test := range []struct {
		name     string
		defaults hub.SandboxDefaults
		before   string // of a run before, if the session is resumed
		options  api.SessionOptions
		want     string // the code for a person without the scope; "" if it is fine
	}{
		{"nothing", hub.SandboxDefaults{}, "", api.SessionOptions{}, ""},
		{"off", hub.SandboxDefaults{}, "", api.SessionOptions{Sandbox: "off"}, api.CodeForbidden},
		{"off where it is", hub.SandboxDefaults{Mode: sandbox.Off}, "", api.SessionOptions{Sandbox: "off"}, ""},
		{"more", hub.SandboxDefaults{Mode: sandbox.Off}, "", api.SessionOptions{Sandbox: "strict"}, ""},
		{"deny-only instead of strict", hub.SandboxDefaults{Mode: sandbox.Strict}, "", api.SessionOptions{Sandbox: "deny-only"}, api.CodeForbidden},
		{"auto-allow", hub.SandboxDefaults{}, "", api.SessionOptions{Sandbox: "strict", SandboxAutoAllow: true}, api.CodeForbidden},
		{"auto-allow where it is", hub.SandboxDefaults{Mode: sandbox.Strict, AutoAllow: true}, "", api.SessionOptions{SandboxAutoAllow: true}, ""},
		{"less than before", hub.SandboxDefaults{}, "strict", api.SessionOptions{Sandbox: "deny-only"}, api.CodeForbidden},
		{"the default after strict", hub.SandboxDefaults{}, "strict", api.SessionOptions{}, api.CodeForbidden},
		{"as before", hub.SandboxDefaults{}, "strict", api.SessionOptions{Sandbox: "strict"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t, func(o *hub.Options) { o.Sandbox = test.defaults })
			if test.before == "" {
				in := api.CreateSession{Dir: t.TempDir(), Options: test.options}
				if _, err := l.hub.Create(l.ctx(), approver, in); code(err) != test.want && !(err == nil && test.want == "") {
					t.Errorf("without the scope: %v, want %q", err, test.want)
				}
				if _, err := l.hub.Create(l.ctx(), person, in); err != nil {
					t.Errorf("with the scope: %v", err)
				}
				return
			}
			s := l.create(api.CreateSession{Options: api.SessionOptions{Sandbox: test.before}, Prompt: "@say hi"})
			l.awaitDone(s.ID, 1)
			if _, err := l.hub.Fork(l.ctx(), approver, s.ID, api.Fork{Options: &test.options}); code(err) != test.want && !(err == nil && test.want == "") {
				t.Errorf("a fork without the scope: %v, want %q", err, test.want)
			}
			if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
				t.Fatal(err)
			}
			if _, err := l.hub.Resume(l.ctx(), approver, s.ID, api.Resume{Options: &test.options}); code(err) != test.want && !(err == nil && test.want == "") {
				t.Errorf("a resumption without the scope: %v, want %q", err, test.want)
			}
		})
	}
}

// TestSandboxInvalid: options that cannot be meant are refused.
func TestSandboxInvalid(t *testing.T) {
	l := newLab(t)
	for _, in := range []api.CreateSession{
		{Options: api.SessionOptions{Sandbox: "auto"}},
		{Options: api.SessionOptions{Sandbox: "bubblewrap"}},
		{Options: api.SessionOptions{SandboxAutoAllow: true}},
		{Options: api.SessionOptions{Sandbox: "deny-only", SandboxAutoAllow: true}},
		{Transport: "websocket", Options: api.SessionOptions{Sandbox: "strict"}},
		{Transport: "tee", Options: api.SessionOptions{Sandbox: "deny-only"}},
	} {
		in.Dir = t.TempDir()
		if _, err := l.hub.Create(l.ctx(), person, in); code(err) != api.CodeInvalid {
			t.Errorf("%s: %v", encode(in), err)
		}
	}
}

// TestAutoAllow: in a strict sandbox commands are allowed without a question, and
// nothing else is.
func TestAutoAllow(t *testing.T) {
	l := boxLab(t, strictBox, `
deny = ["Bash(dd:*)"]
ask = ["Bash(make deploy:*)"]`)
	s := l.create(api.CreateSession{Options: api.SessionOptions{Sandbox: "strict", SandboxAutoAllow: true}, Prompt: strings.Join([]string{
		`@tool Bash {"command":"rm x"}`, `@tool Bash {"command":"make deploy"}`, `@tool Bash {"command":"rm y","dangerouslyDisableSandbox":true}`, `@tool WebFetch {"url":"https://example.com/","prompt":"x"}`, `@say over`,
	}, "\n")})
	var asked []string
	for range 3 {
		q := l.question(s.ID)
		asked = append(asked, q.Title)
		l.answer(q.ID, api.Answer{Decision: "deny"})
		l.settled(s.ID, q.RequestID)
	}
	if got := strings.Join(asked, "; "); got != "make deploy; rm y; https://example.com/" {
		t.Errorf("asked: %s", got)
	}
	l.awaitDone(s.ID, 1)
	list, err := l.hub.Questions(l.ctx(), api.QuestionFilter{Session: s.ID})
	if err != nil {
		t.Fatal(err)
	}
	q := list.Questions[0]
	if q.Title != "rm x" || q.Answer == nil || q.Answer.Decision != "allow" || q.From != "hub" || q.Rule == nil || q.Rule.Source != api.ScopeSandbox || !strings.Contains(q.Reason, "strict sandbox") {
		t.Errorf("what the sandbox allows is %s", encode(q))
	}
	audit, err := l.reports.Audit(l.ctx(), api.AuditFilter{Session: s.ID, Automatic: new(true)})
	if err != nil || len(audit.Items) != 1 || audit.Items[0].Rule.Scope != api.ScopeSandbox || audit.Items[0].Decision != "allow" {
		t.Errorf("the audit is %s, %v", encode(audit), err)
	}
	explained, err := l.hub.Explain(l.ctx(), api.ExplainCall{Session: s.ID, Tool: "Bash", Input: json.RawMessage(`{"command":"rm x"}`)})
	if err != nil || explained.Rule.Decision != api.RuleAllow || explained.Rule.Scope != api.ScopeSandbox {
		t.Errorf("the explanation is %s, %v", encode(explained), err)
	}
	tested, err := l.reports.TestRules(l.ctx(), api.TestRules{Sessions: []string{s.ID}})
	if err != nil || slices.ContainsFunc(tested.Changed, func(r api.ChangedRow) bool { return r.Title == "rm x" }) {
		t.Errorf("the same rules would decide otherwise: %s, %v", encode(tested), err)
	}
	l.judge(s.ID)
}

// TestAutoAllowNot: no enforcer, another mode, plan mode, an agent that dialed in: what
// is asked there is asked.
func TestAutoAllowNot(t *testing.T) {
	auto := api.SessionOptions{Sandbox: "strict", SandboxAutoAllow: true}
	for name, test := range map[string]struct {
		box     api.Sandbox
		options api.SessionOptions
	}{
		"no enforcer":   {api.Sandbox{Mode: "strict", Enforcer: "none", AutoAllow: true}, auto},
		"deny-only":     {api.Sandbox{Mode: "deny-only", Enforcer: "bubblewrap", AutoAllow: true}, auto},
		"not asked for": {strictBox, api.SessionOptions{Sandbox: "strict"}},
		"unknown":       {api.Sandbox{}, auto},
	} {
		t.Run(name, func(t *testing.T) {
			l := boxLab(t, test.box, "")
			s := l.create(api.CreateSession{Options: test.options, Prompt: "@tool Bash {\"command\":\"rm x\"}\n@say over"})
			q := l.question(s.ID)
			if q.Title != "rm x" {
				t.Errorf("asked: %s", encode(q))
			}
			l.answer(q.ID, api.Answer{Decision: "deny"})
			l.awaitDone(s.ID, 1)
		})
	}
}

// TestHostQuestion asks about hosts: a rule answers, a person does once, for the session
// by the suggestion, and by a line of the raw relay. The CLI gets none of the answers.
func TestHostQuestion(t *testing.T) {
	l := boxLab(t, strictBox, `
allow = ["Network(host:good.example)"]
deny = ["Network(host:*.bad.example)", "WebFetch(domain:worse.example)"]`)
	s := l.create(api.CreateSession{Options: api.SessionOptions{Sandbox: "strict"}})
	l.awaitState(s.ID, api.StateIdle)
	box := l.launcher.of(s.ID)

	box.asksHost("1", "good.example", "curl")
	if q := l.settled(s.ID, "sandbox-1"); q.Answer.Decision != "allow" || q.Rule.Rule != "Network(host:good.example)" {
		t.Errorf("an allowed host: %s", encode(q))
	}
	box.asksHost("2", "a.bad.example", "curl")
	if q := l.settled(s.ID, "sandbox-2"); q.Answer.Decision != "deny" {
		t.Errorf("a denied host: %s", encode(q))
	}
	box.asksHost("3", "worse.example", "curl")
	if q := l.settled(s.ID, "sandbox-3"); q.Answer.Decision != "deny" || q.Rule.Rule != "WebFetch(domain:worse.example)" {
		t.Errorf("a host that must not be fetched: %s", encode(q))
	}

	box.asksHost("4", "new.example", "npm install")
	q := l.question(s.ID)
	if q.Title != "Connect to new.example:443?" || q.Description != "npm install" || q.Tool != "SandboxNetworkAccess" || len(q.Suggestions) != 1 || q.Suggestions[0].Text != "allow Network(host:new.example)" {
		t.Errorf("the question is %s", encode(q))
	}
	l.restart() // it is durable
	box.asksHost("5", "other.example", "")
	if v := l.await(s.ID, "two are open", func(s *api.Session) bool { return len(s.Questions) == 2 }); v.Questions[0].ID != q.ID {
		t.Errorf("the questions are %s", encode(v.Questions))
	}
	l.answer(q.ID, api.Answer{Decision: "allow"})
	if v := l.settled(s.ID, "sandbox-4"); v.Answer.Decision != "allow" || len(l.snapshot(s.ID).Rules) != 0 {
		t.Errorf("allowed once: %s", encode(v))
	}

	// For the session, by a person who may only answer.
	other := l.question(s.ID)
	for destination, want := range map[string]string{"localSettings": api.CodeInvalid, "userSettings": api.CodeInvalid} {
		if _, err := l.hub.Answer(l.ctx(), approver, other.ID, api.Answer{Decision: "allow", Always: &api.Always{Suggestion: new(0), Destination: destination}}); code(err) != want {
			t.Errorf("kept in %s: %v", destination, err)
		}
	}
	if _, err := l.hub.Answer(l.ctx(), approver, other.ID, api.Answer{Decision: "allow", Always: &api.Always{Rule: "Network(host:*.example)"}}); code(err) != api.CodeForbidden {
		t.Errorf("another rule without the scope admin: %v", err)
	}
	if _, err := l.hub.Answer(l.ctx(), approver, other.ID, api.Answer{Decision: "allow", Always: &api.Always{Suggestion: new(0)}}); err != nil {
		t.Fatal(err)
	}
	if rules := l.snapshot(s.ID).Rules; len(rules) != 1 || rules[0].Rule != "Network(host:other.example)" || rules[0].By != "bo" {
		t.Errorf("the rules are %s", encode(rules))
	}
	box.asksHost("6", "other.example", "")
	if v := l.settled(s.ID, "sandbox-6"); v.Rule == nil || v.Rule.Scope != "session" {
		t.Errorf("the next time: %s", encode(v))
	}

	// By a front end at the level of lines.
	for i, test := range []struct{ update, want string }{
		{`{"type":"setMode","mode":"acceptEdits","destination":"session"}`, api.CodeInvalid},
		{`{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"}`, api.CodeInvalid},
		{`{"type":"addRules","rules":[{"toolName":"Network","ruleContent":"host:raw.example"}],"behavior":"allow","destination":"userSettings"}`, api.CodeInvalid},
		{`{"type":"addRules","rules":[{"toolName":"Network","ruleContent":"host:raw.example"}],"behavior":"allow","destination":"session"}`, ""},
	} {
		if i == 0 {
			box.asksHost("7", "raw.example", "")
			l.question(s.ID)
		}
		line := `{"type":"control_response","response":{"subtype":"success","request_id":"sandbox-7","response":{"behavior":"allow","updatedInput":{"host":"raw.example"},"updatedPermissions":[` + test.update + `]}}}`
		if _, err := l.hub.Submit(l.ctx(), person, s.ID, []byte(line), everything); code(err) != test.want && !(err == nil && test.want == "") {
			t.Errorf("%s: %v", test.update, err)
		}
	}
	if rules := l.snapshot(s.ID).Rules; len(rules) != 2 || rules[1].Rule != "Network(host:raw.example)" {
		t.Errorf("the rules are %s", encode(rules))
	}
	box.asksHost("8", "raw2.example", "")
	l.question(s.ID)
	if _, err := l.hub.Submit(l.ctx(), approver, s.ID, []byte(`{"type":"control_response","response":{"subtype":"success","request_id":"sandbox-8","response":{"behavior":"deny","message":"no"}}}`), upTo(wire.ScopeApprove)); err != nil {
		t.Fatal(err)
	}
	l.settled(s.ID, "sandbox-8")
	l.send(s.ID, "@say hi")
	l.awaitDone(s.ID, 1)
	if got := box.answers(); len(got) != 8 {
		t.Errorf("the shim was answered %d times: %s", len(got), strings.Join(got, "\n"))
	}
	for _, line := range box.commands() {
		if strings.Contains(line, "sandbox-") || strings.Contains(line, "Network") {
			t.Errorf("the CLI was sent %s", line)
		}
	}
}

// TestHostQuestionOutlivesTurn: a process that a turn has left behind still waits when
// the turn is over, and does not make a turn of its own. When it goes away the shim
// withdraws the question.
func TestHostQuestionOutlivesTurn(t *testing.T) {
	l := boxLab(t, strictBox, "")
	s := l.create(api.CreateSession{Options: api.SessionOptions{Sandbox: "strict"}, Prompt: "@tool Bash {\"command\":\"rm x\"}\n@say over"})
	first := l.question(s.ID)
	box := l.launcher.of(s.ID)
	box.asksHost("1", "a.example", "server &")
	l.await(s.ID, "both are asked", func(s *api.Session) bool { return len(s.Questions) == 2 })
	l.answer(first.ID, api.Answer{Decision: "deny"})
	v := l.await(s.ID, "the turn is over", func(s *api.Session) bool { return s.Cost.Turns == 1 })
	if len(v.Questions) != 1 || v.Questions[0].RequestID != "sandbox-1" || v.State != api.StateRequiresAction {
		t.Errorf("after the turn: %s, %s", v.State, encode(v.Questions))
	}
	box.put([]byte(`{"type":"control_cancel_request","request_id":"sandbox-1"}`), wire.Durable)
	if v := l.awaitState(s.ID, api.StateIdle); len(v.Questions) != 0 {
		t.Errorf("after it was withdrawn: %s", encode(v.Questions))
	}
}

// TestHostQuestionsBounded: a program that asks about any number of hosts does not fill
// the list of questions.
func TestHostQuestionsBounded(t *testing.T) {
	l := boxLab(t, strictBox, "")
	s := l.create(api.CreateSession{Options: api.SessionOptions{Sandbox: "strict"}})
	l.awaitState(s.ID, api.StateIdle)
	box := l.launcher.of(s.ID)
	for i := range 40 {
		box.asksHost(fmt.Sprint(i), fmt.Sprintf("h%d.example", i), "")
	}
	if q := l.settled(s.ID, "sandbox-39"); q.Answer.Decision != "deny" {
		t.Errorf("one too many: %s", encode(q))
	}
	if n := len(l.snapshot(s.ID).Questions); n != 32 {
		t.Errorf("%d questions are open", n)
	}
}

// TestRefusals: what the sandbox refuses is in the log with the call that was going on
// and the rule that denied it, and in the audit.
func TestRefusals(t *testing.T) {
	l := boxLab(t, strictBox, `deny = ["Network(host:bad.example)"]`)
	s := l.create(api.CreateSession{Options: api.SessionOptions{Sandbox: "strict"}})
	l.awaitState(s.ID, api.StateIdle)
	box := l.launcher.of(s.ID)
	box.refuses(api.SandboxRefusal{Kind: "network", Host: "early.example", Port: 80, Reason: "a person said no"})
	l.send(s.ID, "@tool Bash {\"command\":\"rm x\"}\n@say over")
	q := l.question(s.ID)
	box.refuses(api.SandboxRefusal{Kind: "network", Host: "bad.example", Port: 443, Command: "curl\n-s bad.example" + strings.Repeat("x", 5000), ToolUseID: "made up", Rule: &api.RuleRef{Rule: "made up"}})
	l.answer(q.ID, api.Answer{Decision: "deny"})
	l.awaitDone(s.ID, 1)
	got := l.refusals(s.ID)
	if len(got) != 2 {
		t.Fatalf("the refusals are %s", encode(got))
	}
	if got[0].ToolUseID != "" || got[0].Rule != nil || got[0].Reason != "a person said no" {
		t.Errorf("one without a call: %s", encode(got[0]))
	}
	if got[1].ToolUseID != q.ToolUseID || got[1].Rule == nil || got[1].Rule.Rule != "Network(host:bad.example)" || len(got[1].Command) > 1100 || strings.Contains(got[1].Command, "\n") {
		t.Errorf("one with a call: %s", encode(got[1]))
	}
	audit, err := l.reports.Audit(l.ctx(), api.AuditFilter{Session: s.ID, Refused: true})
	if err != nil || len(audit.Items) != 2 || audit.Items[0].Decision != "refused" || audit.Items[0].Title != "Connect to bad.example:443" || audit.Items[0].Rule == nil || audit.Items[0].Refusal.Host != "bad.example" {
		t.Errorf("the audit is %s, %v", encode(audit), err)
	}
	if all, err := l.reports.Audit(l.ctx(), api.AuditFilter{}); err != nil || len(all.Items) != 3 {
		t.Errorf("the whole audit is %s, %v", encode(all), err)
	}
	l.judge(s.ID)
}

// TestRefusalsFolded: a program that tries again and again is told of by how often, and
// one that tries everything fills no journal.
func TestRefusalsFolded(t *testing.T) {
	l := boxLab(t, strictBox, "")
	s := l.create(api.CreateSession{Options: api.SessionOptions{Sandbox: "strict"}})
	l.awaitState(s.ID, api.StateIdle)
	box := l.launcher.of(s.ID)
	for range 250 {
		box.refuses(api.SandboxRefusal{Kind: "network", Host: "a.example", Port: 443})
	}
	box.refuses(api.SandboxRefusal{Kind: "network", Host: "a.example", Port: 443, Count: 5000})
	for i := range 700 {
		box.refuses(api.SandboxRefusal{Kind: "network", Host: fmt.Sprintf("h%d.example", i), Port: 443})
	}
	l.send(s.ID, "@say over")
	l.awaitDone(s.ID, 1)
	list := l.refusals(s.ID)
	var counts []int
	for _, r := range list {
		if r.Host == "a.example" {
			counts = append(counts, r.Count)
		}
	}
	if !slices.Equal(counts, []int{0, 10, 100, 5250}) || len(list) != 500 {
		t.Errorf("%d entries; of one host %v", len(list), counts)
	}
	if n := strings.Count(kinds(l.events(s.ID)), api.KindNotice); n != 1 {
		t.Errorf("%d notices", n)
	}
	l.judge(s.ID)
}

// TestNoSandboxElsewhere: a program's own CLI and one that dialed in have no sandbox of
// ours, and nothing that their connection tells becomes a refusal.
func TestNoSandboxElsewhere(t *testing.T) {
	l := newLab(t, func(o *hub.Options) {
		o.Sandbox = hub.SandboxDefaults{Mode: sandbox.Strict, AutoAllow: true}
	})
	st := newStage(l, "2.1.120")
	if v := st.snapshot(st.id); v.Sandbox != nil {
		t.Errorf("an agent that dialed in is in %s", encode(v.Sandbox))
	}
	q := st.asks("r1", askBash)
	refusal := hub.Item{Record: link.Record{Kind: link.Happened, Bytes: []byte(`{"event":"refused","refusal":{"kind":"network","host":"a.example"}}`)}}
	if err := st.a.Receive(st.ctx(), []hub.Item{refusal}); err != nil {
		t.Fatal(err)
	}
	if n := len(l.refusals(st.id)); n != 0 {
		t.Errorf("%d refusals", n)
	}
	if v, err := l.hub.Question(l.ctx(), q.ID); err != nil || v.State != api.QuestionOpen {
		t.Errorf("the question is %s, %v", encode(v), err)
	}
}

// TestHostsFromNextStart: what the sandbox cannot be told while it runs is said.
func TestHostsFromNextStart(t *testing.T) {
	for _, test := range []struct {
		name string
		box  api.Sandbox
		deny string
		want bool
	}{
		{"strict, a host that was allowed", strictBox, "Network(host:*.good.example)", true},
		{"strict, every host", strictBox, "Network", true},
		{"strict, a host that is asked about", strictBox, "Network(host:other.example)", false},
		{"strict, denied before", strictBox, "Network(host:bad.example)", false},
		{"deny-only", api.Sandbox{Mode: "deny-only", Enforcer: "bubblewrap", Network: "all"}, "Network(host:other.example)", true},
		{"not enforced", api.Sandbox{Mode: "deny-only", Enforcer: "none"}, "Network(host:other.example)", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := boxLab(t, test.box, `
allow = ["Network(host:a.good.example)"]
deny = ["Network(host:bad.example)"]`)
			s := l.create(api.CreateSession{Options: api.SessionOptions{Sandbox: "strict"}})
			l.awaitState(s.ID, api.StateIdle)
			l.restart()
			if _, err := l.hub.AddRule(l.ctx(), person, s.ID, api.AddRule{Rule: test.deny, Decision: api.RuleDeny}); err != nil {
				t.Fatal(err)
			}
			told := slices.ContainsFunc(l.events(s.ID), func(e api.Event) bool {
				return e.Kind == api.KindNotice && strings.Contains(string(e.Data), "rules_from_next_start")
			})
			if told != test.want {
				t.Errorf("told: %t", told)
			}
		})
	}
}

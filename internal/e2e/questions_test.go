//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
	"github.com/switchboard-dev/switchboard/wire"
)

// TestRealQuestions answers what the real CLIs ask, each kind that the version
// has, in each way.
func TestRealQuestions(t *testing.T) {
	t.Parallel()
	for _, version := range differing() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			l, _ := newRealLabWith(t, version, "", claudetest.Directives(nil))
			l.start()
			k := l.talk(t, func(c *api.CreateSession) {
				c.Options.MCPServers = l.formServers()
				c.Options.AllowedTools = []string{"mcp__forms"}
				c.Options.AskPlanMode = true
			})
			k.permissions()
			k.always()
			k.choices()
			k.several()
			k.withdrawn()
			k.planMode()
			if version == conformance.Oldest {
				k.noForms()
			} else {
				k.forms()
			}
		})
	}
}

// permissions answers questions about tool calls.
func (k *talk) permissions() {
	k.t.Helper()
	k.step("allow once")
	k.prompt(bash("touch once.txt"), "@say Over.")
	q := k.question(1)
	if q.Kind != api.QuestionPermission || q.Tool != "Bash" || q.ToolUseID == "" || q.Title == "" {
		k.fail("the question is %+v", q)
	}
	k.refused(q, unfitStatus, api.Answer{Decision: "choose"})
	k.refused(q, unfitStatus, api.Answer{Decision: "allow", Outcome: api.PlanAsk})
	k.settle(q, api.Answer{Decision: "allow"})
	k.asked(1)
	k.there("once.txt", true)
	k.check(eventually(patience, func() error {
		// What the CLI says to an answer may overtake the shim's word that it is written.
		if now := k.look(q); now.Delivery != api.MessageWritten || now.By != "admin" {
			return fmt.Errorf("the answer by %q is %q; want admin's, which was written", now.By, now.Delivery)
		}
		return nil
	}))

	k.step("edited input")
	k.prompt(bash("touch original.txt"), "@say Over.")
	k.settle(k.question(1), api.Answer{Decision: "allow", Input: []byte(`{"command":"touch edited.txt"}`)})
	k.asked(1)
	k.there("original.txt", false)
	k.there("edited.txt", true)

	k.step("deny with a message")
	k.prompt(bash("touch denied.txt"), "@say Over.")
	k.settle(k.question(1), api.Answer{Decision: "deny", Message: "Better not."})
	k.asked(1)
	k.told(1, true, "Better not.")
	k.there("denied.txt", false)

	k.step("deny and stop")
	k.prompt(bash("touch stopped.txt"), bash("touch after.txt"), "@say Over.")
	k.settle(k.question(1), api.Answer{Decision: "deny", Message: "Stop it.", Interrupt: true})
	if result := k.over(); !result.Interrupted && result.Subtype != "error_during_execution" {
		k.fail("the turn ended with %+v; want an interrupt", result)
	}
	k.there("after.txt", false)
}

// always allows what is like a call for good.
func (k *talk) always() {
	k.t.Helper()
	k.step("always, by the CLI's suggestion")
	k.prompt(bash("make one"), bash("make one"), "@say Over.")
	q := k.question(1)
	index := -1
	for i, s := range q.Suggestions {
		if strings.Contains(string(s.Update), `"addRules"`) {
			index = i
		}
	}
	if index < 0 {
		k.fail("no rule is suggested: %+v", q.Suggestions)
	}
	beyond := len(q.Suggestions)
	k.refused(q, unfitStatus, api.Answer{Decision: "allow", Always: &api.Always{Suggestion: &beyond}})
	k.settle(q, api.Answer{Decision: "allow", Always: &api.Always{Suggestion: &index, Destination: "session"}})
	k.asked(1) // the second call is not asked about

	k.step("always, by a rule for the CLI")
	k.prompt(bash("gzip --help"), bash("gzip --version"), "@say Over.")
	k.refused(k.question(1), unfitStatus, api.Answer{Decision: "allow", Always: &api.Always{Rule: "Bash(gzip"}})
	k.settle(k.question(1), api.Answer{Decision: "allow", Always: &api.Always{Rule: "Bash(gzip:*)"}})
	k.asked(1)

	k.step("always, by a rule of the hub")
	k.prompt(bash("touch hub1.txt"), bash("touch hub2.txt"), "@say Over.")
	k.settle(k.question(1), api.Answer{Decision: "allow", Always: &api.Always{Rule: "Bash(touch hub2.txt)", Destination: "switchboard"}})
	k.asked(2)
	second := k.look(k.question(2))
	if second.From != "hub" || second.Rule == nil || second.Rule.Rule != "Bash(touch hub2.txt)" || second.Rule.Scope != "session" {
		k.fail("the second call was answered from %q by %+v; want the rule", second.From, second.Rule)
	}
	k.there("hub2.txt", true)
	if rules := k.shot().Rules; len(rules) != 1 {
		k.fail("the session has the rules %+v; want one", rules)
	}
}

// colours is the directive of a call with several questions.
const colours = `@tool AskUserQuestion {"questions":[` +
	`{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"Like fire"},{"label":"Blue","description":"Like water"}],"multiSelect":false},` +
	`{"question":"Which sizes?","header":"Sizes","options":[{"label":"Small","description":"S"},{"label":"Large","description":"L"}],"multiSelect":true},` +
	`{"question":"Which name?","header":"Name","options":[{"label":"Ada","description":"A"},{"label":"Bob","description":"B"}],"multiSelect":false},` +
	`{"question":"Which day?","header":"Day","options":[{"label":"Monday","description":"M"},{"label":"Friday","description":"F"}],"multiSelect":false}]}`

// choices answers questions with options.
func (k *talk) choices() {
	k.t.Helper()
	answers := map[string]api.ChoiceAnswer{
		"Which colour?": {Labels: []string{"Blue"}}, "Which sizes?": {Labels: []string{"Small", "Large"}},
		"Which name?": {Text: "Somebody else"}, "Which day?": {Skip: true},
	}
	k.step("choices")
	k.prompt(colours, "@say Over.")
	q := k.question(1)
	if q.Kind != api.QuestionChoice || len(q.Choices) != 4 || !q.Choices[1].Multiple || len(q.Choices[0].Options) != 2 {
		k.fail("the question is %s with %+v", q.Kind, q.Choices)
	}
	k.refused(q, unfitStatus, api.Answer{Decision: "allow", Choices: map[string]api.ChoiceAnswer{"Colour": {Labels: []string{"Blue"}}}})
	k.refused(q, unfitStatus, api.Answer{Decision: "allow", Choices: map[string]api.ChoiceAnswer{"Which colour?": {Labels: []string{"Red", "Blue"}}}})
	k.settle(q, api.Answer{Decision: "allow", Choices: answers})
	k.asked(1)
	for _, text := range []string{`"Which colour?"="Blue"`, `"Which sizes?"="Small, Large"`, `"Which name?"="Somebody else"`} {
		k.told(1, false, text)
	}
	if text := k.result(1).text; strings.Contains(text, "Monday") || strings.Contains(text, "Friday") {
		k.fail("the question that was skipped has an answer: %s", text)
	}

	k.step("all skipped")
	k.prompt(colours, "@say Over.")
	k.settle(k.question(1), api.Answer{Decision: "deny"})
	k.asked(1)
	k.told(1, true, "skipped")
}

// several answers two questions that are open at once, the second one first and
// after a kill of the hub.
func (k *talk) several() {
	k.t.Helper()
	k.step("two at once")
	k.prompt(colours, fetching, "@say Over.")
	first, second := k.question(1), k.question(2)
	k.restart()
	list, err := k.c.Questions(k.lab.ctx(), api.QuestionFilter{State: api.QuestionOpen, Session: k.id})
	k.check(err)
	if len(list.Questions) != 2 || list.Questions[0].ID != first.ID || list.Questions[1].ID != second.ID {
		k.fail("after a restart %+v are open; want both", list.Questions)
	}
	choice, fetch := first, second
	if choice.Kind != api.QuestionChoice {
		choice, fetch = second, first
	}
	k.settle(fetch, api.Answer{Decision: "deny", Message: "No web today."})
	k.settle(choice, api.Answer{Decision: "allow", Choices: map[string]api.ChoiceAnswer{
		"Which colour?": {Labels: []string{"Red"}}, "Which sizes?": {Skip: true}, "Which name?": {Skip: true}, "Which day?": {Skip: true},
	}})
	k.asked(2)
	var texts []string
	for _, r := range k.results() {
		texts = append(texts, r.text)
	}
	if !holds(strings.Join(texts, "\n"), "No web today.", `"Which colour?"="Red"`) {
		k.fail("the agent was told %q", texts)
	}
}

// withdrawn interrupts a turn while two questions are open.
func (k *talk) withdrawn() {
	k.t.Helper()
	k.step("interrupted")
	k.prompt(colours, fetching, "@say Over.")
	open := []*api.Question{k.question(1), k.question(2)}
	_, err := k.c.Interrupt(k.lab.ctx(), k.id, api.Interrupt{})
	k.check(err)
	k.over()
	for _, q := range open {
		if now := k.look(q); now.State != api.QuestionCancelled || now.Reason == "" {
			k.fail("the question is %s, %q; want it cancelled", now.State, now.Reason)
		}
		_, err := k.c.Answer(k.lab.ctx(), q.ID, api.Answer{ClientID: k.next(), Decision: "deny"})
		if problem := problemOf(err); problem == nil || problem.Status != http.StatusConflict || problem.Code != api.CodeAlreadySettled || problem.Question == nil {
			k.fail("an answer that comes too late is answered with %v", err)
		}
	}
}

// planMode answers whether the agent may go into plan mode, which it asks if the
// session wants that.
func (k *talk) planMode() {
	k.t.Helper()
	k.step("plan mode, denied")
	k.prompt("@tool EnterPlanMode {}", "@say Over.")
	q := k.question(1)
	if q.Kind != api.QuestionPermission || q.Tool != "EnterPlanMode" {
		k.fail("the question is %s about %s; want EnterPlanMode", q.Kind, q.Tool)
	}
	k.settle(q, api.Answer{Decision: "deny", Message: "Begin at once."})
	k.asked(1)
	k.told(1, true, "Begin at once.")
	k.mode(wire.PermissionModeDefault)
	k.step("plan mode, allowed")
	k.prompt("@tool EnterPlanMode {}", "@say Over.")
	k.settle(k.question(1), api.Answer{Decision: "allow"})
	k.asked(1)
	k.mode(wire.PermissionModePlan)
	if countKind(k.events(), api.KindMode) != 1 {
		k.fail("the change of the mode is told %d times", countKind(k.events(), api.KindMode))
	}
	k.setMode(wire.PermissionModeDefault)
}

// askForm is the directive of a call of the tool with the form.
const askForm = "@tool mcp__forms__ask {}"

// forms fills in forms.
func (k *talk) forms() {
	k.t.Helper()
	k.step("a form")
	k.prompt(askForm, "@say Over.")
	q := k.question(1)
	if q.Kind != api.QuestionForm || q.Description != "Your name?" {
		k.fail("the question is %s: %q; want a form", q.Kind, q.Description)
	}
	for _, content := range []string{``, `{}`, `{"name":7}`, `{"name":"Ada","age":0}`, `{"name":"Ada","shoe":40}`} {
		k.refused(q, unfitStatus, api.Answer{Decision: "accept", Content: json.RawMessage(content)})
	}
	k.restart()
	k.settle(q, api.Answer{Decision: "accept", Content: []byte(`{"name":"Ada","age":36}`)})
	k.asked(1)
	k.told(1, false, "Ada")
	for _, decision := range []string{"decline", "cancel"} {
		k.step("a form, " + decision)
		k.prompt(askForm, "@say Over.")
		k.settle(k.question(1), api.Answer{Decision: decision})
		k.asked(1)
		k.told(1, false, decision)
	}
	k.step("a form, interrupted")
	k.prompt(askForm, "@say Over.")
	q = k.question(1)
	_, err := k.c.Interrupt(k.lab.ctx(), k.id, api.Interrupt{})
	k.check(err)
	k.over()
	if now := k.look(q); now.State != api.QuestionCancelled {
		k.fail("the form is %s after an interrupt", now.State)
	}
}

// noForms calls the tool of a CLI that knows no forms: nobody is asked.
func (k *talk) noForms() {
	k.t.Helper()
	k.step("no forms")
	k.prompt(askForm, "@say Over.")
	k.asked(0)
	if text := k.result(1).text; strings.Contains(text, "accept") {
		k.fail("the form was accepted by nobody: %s", text)
	}
}

// TestDialog answers a dialog. No real CLI can be made to open one without an
// account, so the simulated one does.
func TestDialog(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.start()
	k := l.talk(t, nil)
	for _, answer := range []api.Answer{{Decision: "choose", Result: []byte(`{"choice":"b"}`)}, {Decision: "cancel"}} {
		k.step("a dialog, " + answer.Decision)
		request := k.next()
		k.prompt(`@line {"type":"control_request","request_id":"`+request+`","request":{"subtype":"request_user_dialog","dialog_kind":"pick","payload":{"options":["a","b"]}}}`, bash("touch x"), "@say Over.")
		q := k.question(1)
		if q.Kind != api.QuestionDialog {
			k.fail("the question is of kind %s; want a dialog", q.Kind)
		}
		k.refused(q, unfitStatus, api.Answer{Decision: "choose"})
		k.refused(q, unfitStatus, api.Answer{Decision: "allow"})
		k.settle(q, answer)
		behavior := map[string]wire.DialogBehavior{"choose": wire.DialogBehaviorCompleted, "cancel": wire.DialogBehaviorCancelled}[answer.Decision]
		if err := eventually(patience, func() error { return k.hasRead(request, string(behavior), string(answer.Result)) }); err != nil {
			k.fail("%v", err)
		}
		k.settle(k.question(2), api.Answer{Decision: "deny"}) // which has kept the turn open
		k.asked(2)
	}
	l.verdict(k.session)
}

// hasRead says whether the simulated CLI has read an answer to a request, with
// some texts in it.
func (k *talk) hasRead(request string, texts ...string) error {
	record, err := k.newestRecord()
	if err != nil {
		return err
	}
	for _, line := range read(record) {
		if holds(string(line), append(texts, `"request_id":"`+request+`"`)...) {
			return nil
		}
	}
	return fmt.Errorf("the CLI has read no answer to %s with %q", request, texts)
}

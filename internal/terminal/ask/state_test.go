package ask

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
)

func TestPutOff(t *testing.T) {
	for _, q := range []*api.Question{bash, review, everyField, {ID: "q1", Kind: "riddle"}} {
		m, msg := press(t, New(q, Options{}), "<esc>")
		if msg != (PutOffMsg{"q1"}) {
			t.Errorf("%s: esc gives %#v", q.Kind, msg)
		}
		if q == bash {
			if _, msg := press(t, m, "y"); msg == nil {
				t.Error("a question that was put off cannot be answered any more")
			}
		}
	}
}

func TestSettled(t *testing.T) {
	settledBy := func(change func(q *api.Question)) *api.Question {
		return with(bash, func(q *api.Question) {
			q.State, q.By, q.From = api.QuestionAnswered, "ann", "person"
			change(q)
		})
	}
	plans := with(review, func(q *api.Question) {
		q.State, q.By, q.From, q.Answer = api.QuestionAnswered, "ann", "person", &api.Answer{Outcome: api.PlanFresh, Mode: "bypassPermissions"}
	})
	for _, test := range []struct {
		q    *api.Question
		want string
	}{
		{settledBy(func(q *api.Question) { q.Answer = &api.Answer{Decision: "deny", Message: "Not on a Friday."} }), "denied by ann: Not on a Friday."},
		{settledBy(func(q *api.Question) { q.Answer = &api.Answer{Decision: "deny", Interrupt: true} }), "denied, and the turn stopped, by ann"},
		{settledBy(func(q *api.Question) { q.Answer = &api.Answer{Decision: "allow"} }), "allowed by ann"},
		{settledBy(func(q *api.Question) { q.Answer = &api.Answer{Decision: "allow", Input: json.RawMessage(`{}`)} }), "allowed as edited by ann"},
		{settledBy(func(q *api.Question) { q.Answer = &api.Answer{Decision: "allow", Always: &api.Always{Rule: "Bash"}} }), "allowed always by ann"},
		{settledBy(func(q *api.Question) { q.Answer = &api.Answer{Decision: "shrug"} }), "answered by ann"},
		{settledBy(func(q *api.Question) {
			q.Answer, q.By, q.From, q.Rule, q.Reason = &api.Answer{Decision: "allow"}, "", "hub", &api.RuleRef{Rule: "Bash(npm test:*)"}, "it names npm test"
		}), "allowed by the rule Bash(npm test:*): it names npm test"},
		{settledBy(func(q *api.Question) {
			q.Answer, q.By, q.From, q.Reason = &api.Answer{Decision: "deny"}, "", "hub", "nobody answered for 60 s"
		}), "denied by the hub: nobody answered for 60 s"},
		{settledBy(func(q *api.Question) { q.State, q.Answer = api.QuestionAnsweredTooLate, &api.Answer{Decision: "allow"} }), "allowed by ann, too late: the agent no longer waited"},
		{settledBy(func(q *api.Question) { q.State, q.By, q.Reason = api.QuestionCancelled, "", "interrupted" }), "cancelled: interrupted"},
		{settledBy(func(q *api.Question) { q.By, q.From = "", "" }), "answered by someone"},
		{with(settledBy(func(q *api.Question) { q.Answer = &api.Answer{Decision: "allow"} }), func(q *api.Question) { q.Kind = api.QuestionChoice }), "answered by ann"},
		{plans, `answered "Yes, clear context (62% used) and bypass permissions" by ann`},
	} {
		if got := Outcome(test.q); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
		m := New(with(test.q, func(q *api.Question) { q.State = api.QuestionOpen }), Options{Width: 120})
		m, _ = press(t, m, "n") // in the middle of something
		m = m.Settled(test.q)
		if view := m.View(); !strings.Contains(view, test.want) {
			t.Errorf("the view does not say %q:\n%s", test.want, view)
		}
		if _, msg := press(t, m, "y<enter>1"); msg != nil {
			t.Errorf("a settled question was answered: %#v", msg)
		}
		if m.Typing() {
			t.Error("nothing can be typed any more")
		}
		if view := New(test.q, Options{Width: 120}).View(); !strings.Contains(view, test.want) {
			t.Errorf("a question that is settled from the beginning does not say %q:\n%s", test.want, view)
		}
	}
}

func TestFailed(t *testing.T) {
	m, _ := press(t, New(bash, Options{}), "y")
	if view := m.View(); !strings.Contains(view, "answering") || strings.Contains(view, "y/enter") {
		t.Fatalf("the answer is on its way, and the view is\n%s", view)
	}
	if _, msg := press(t, m, "n<enter>"); msg != nil {
		t.Fatal("it was answered again while an answer is on its way")
	}
	m = m.Failed(&api.Error{Status: 403, Code: api.CodeForbidden, Title: "this needs the scope admin"})
	if view := m.View(); !strings.Contains(view, "this needs the scope admin") {
		t.Errorf("the hub's words are not shown:\n%s", view)
	}
	if _, msg := press(t, m, "n<enter>"); msg == nil {
		t.Error("the question cannot be answered any more")
	}
	faster := with(bash, func(q *api.Question) {
		q.State, q.By, q.Answer = api.QuestionAnswered, "ann", &api.Answer{Decision: "deny"}
	})
	m = m.Failed(errors.Join(errors.New("answering"), &api.Error{Code: api.CodeAlreadySettled, Question: faster}))
	if view := m.View(); !strings.Contains(view, "denied by ann") {
		t.Errorf("who was faster is not shown:\n%s", view)
	}
}

func TestChanged(t *testing.T) {
	unknown := reviewed(func(p *api.Plan) { p.Percent = nil })
	m, _ := press(t, New(unknown, Options{Width: 100, Editor: editor("Less.")}), "<ctrl+g>4Not so m")
	m = m.Changed(review)
	if view := m.View(); !strings.Contains(view, "Not so m") {
		t.Fatalf("what was written is lost:\n%s", view)
	}
	m, _ = press(t, m, "<esc>")
	if view := m.View(); !strings.Contains(view, "(62% used)") || !strings.Contains(view, "Less.") {
		t.Errorf("what is new is not shown, or what was edited is lost:\n%s", view)
	}
	m, _ = press(t, m, "<up>") // the last outcome, which is gone then
	m = m.Changed(staleReview)
	if view := m.View(); !strings.Contains(view, "has stopped") || strings.Contains(view, "approve each edit") {
		t.Errorf("it is stale, and the view is\n%s", view)
	}
	m = m.Changed(with(staleReview, func(q *api.Question) { q.State, q.Reason = api.QuestionCancelled, "a newer plan" }))
	if view := m.View(); !strings.Contains(view, "cancelled: a newer plan") {
		t.Errorf("it is settled, and the view is\n%s", view)
	}

	choices := with(asking(api.QuestionChoice, "AskUserQuestion", `{}`), func(q *api.Question) {
		q.Choices = []api.Choice{{Question: "A?", Options: []api.Option{{Label: "x"}}}, {Question: "B?", Options: []api.Option{{Label: "x"}}}}
	})
	m, _ = press(t, New(choices, Options{}), "1")
	m = m.Changed(with(choices, func(q *api.Question) { q.Why = "because" }))
	if _, msg := press(t, m, "1<enter>"); msg == nil {
		t.Error("what was chosen is lost")
	}
	m = m.Changed(with(choices, func(q *api.Question) { q.Choices = q.Choices[:1] }))
	if _, msg := press(t, m, "1"); msg == nil {
		t.Error("a choice with fewer questions cannot be answered")
	}
}

func TestGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(bash, Options{Guard: time.Second})
		if view := m.View(); !m.Guarded() || !strings.Contains(view, "one moment") || strings.Contains(view, "y/enter") || m.Height() != New(bash, Options{}).Height() {
			t.Errorf("no key counts yet, and the view is\n%s", view)
		}
		first := make(chan tea.Msg, 1)
		go func(cmd tea.Cmd) { first <- cmd() }(m.Init())
		time.Sleep(600 * time.Millisecond) // in the bubble's time
		m, again := m.Update(tea.KeyPressMsg{Code: 'y', Text: "y"})
		m, _ = m.Update(<-first)
		m, cmd := m.Update(tea.KeyPressMsg{Code: 'y', Text: "y"})
		if m.phase != open || again == nil || cmd == nil {
			t.Fatal("a key counts, though another was pressed shortly before")
		}
		m, _ = m.Update(again()) // which is out of date
		m, _ = m.Update(cmd())
		if view := m.View(); m.Guarded() || !strings.Contains(view, "y/enter") {
			t.Errorf("keys count, and the view is\n%s", view)
		}
		if m, _ = m.Update(tea.KeyPressMsg{Code: 'y', Text: "y"}); m.phase != sent {
			t.Error("no key counts, though none was pressed for a second")
		}
	})
	if New(bash, Options{}).Init() != nil {
		t.Error("without a guard there is nothing to wait for")
	}
}

func TestEditorFails(t *testing.T) {
	m := New(bash, Options{Editor: func(string, string) tea.Cmd {
		return func() tea.Msg { return EditedMsg{Err: errors.New("the editor nano: exit status 1")} }
	}})
	m, cmd := m.Update(tea.KeyPressMsg{Code: 'e', Text: "e"})
	if view := m.View(); !strings.Contains(view, "in the editor") {
		t.Errorf("the editor is open, and the view is\n%s", view)
	}
	m, _ = m.Update(tea.KeyPressMsg{Code: 'y', Text: "y"})
	m, _ = m.Update(cmd())
	if view := m.View(); !strings.Contains(view, "the editor nano: exit status 1") || m.phase != open {
		t.Errorf("the editor failed, and the view is\n%s", view)
	}
	m, _ = m.Update(EditedMsg{Text: "rm -rf /"}) // nobody waits for it
	if _, msg := press(t, m, "y"); msg.(AnsweredMsg).Answer.Input != nil {
		t.Error("a text that nobody waited for was taken")
	}
	long := asking(api.QuestionPermission, "Write", `{"content":"`+strings.Repeat("x", maxInPlace)+`"}`)
	if m, _ = press(t, New(long, Options{}), "e"); !strings.Contains(m.View(), "set VISUAL or EDITOR") {
		t.Errorf("a long text without an editor gives\n%s", m.View())
	}
}

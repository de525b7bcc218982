package hub_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// A stage is a session whose CLI is the test itself.
type stage struct {
	*lab
	id string
	w  *dialler
	a  *hub.RunLink
}

// newStage makes a session of a version, and has it work on a prompt.
func newStage(l *lab, version string) *stage {
	l.t.Helper()
	return newStageOf(l, version, api.SessionOptions{})
}

// newStageOf is newStage of a session with options.
func newStageOf(l *lab, version string, o api.SessionOptions) *stage {
	l.t.Helper()
	created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Transport: "websocket", Dir: l.t.TempDir(), Prompt: "hello", Options: o})
	if err != nil {
		l.t.Fatal(err)
	}
	s := &stage{lab: l, id: created.ID, w: newDialler()}
	if s.a, _, err = l.hub.AttachDialled(l.ctx(), hub.DialHello{Session: created.ID, Run: 1}, s.w); err != nil {
		l.t.Fatal(err)
	}
	if err := s.a.Connected(l.ctx(), false); err != nil {
		l.t.Fatal(err)
	}
	s.says(fmt.Sprintf(`{"type":"system","subtype":"init","session_id":"c%s","uuid":"u1","cwd":"/w","model":"m","permissionMode":"default","claude_code_version":%q,"tools":[]}`, s.id, version))
	return s
}

// says has the CLI say something.
func (s *stage) says(lines ...string) {
	s.t.Helper()
	items := make([]hub.Item, 0, len(lines))
	for _, l := range lines {
		items = append(items, line(l))
	}
	if err := s.a.Receive(s.ctx(), items); err != nil {
		s.t.Fatal(err)
	}
}

// asks has the CLI ask something, and returns the question.
func (s *stage) asks(id, request string) api.Question {
	s.t.Helper()
	s.says(fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":%s}`, id, request))
	for _, q := range s.snapshot(s.id).Questions {
		if q.RequestID == id {
			return q
		}
	}
	s.t.Fatalf("%s is not asked", request)
	return api.Question{}
}

const (
	askBash = `{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"make","description":"Builds it"},"tool_use_id":"t1","agent_id":"a1",` +
		`"decision_reason":"it is a command","blocked_path":"/etc","permission_suggestions":[` +
		`{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"make:*"}],"behavior":"allow","destination":"localSettings"},` +
		`{"type":"setMode","mode":"acceptEdits","destination":"session"}]}`
	askChoice = `{"subtype":"can_use_tool","tool_name":"AskUserQuestion","tool_use_id":"t2","input":{"questions":[` +
		`{"question":"Which?","header":"W","options":[{"label":"One","description":"1"},{"label":"Two","preview":"<two>"}],"multiSelect":false},` +
		`{"question":"Whom?","options":[{"label":"A"},{"label":"B"}],"multiSelect":true}]}}`
	askForm = `{"subtype":"elicitation","mcp_server_name":"srv","message":"Who are you?","mode":"form","requested_schema":{"type":"object",` +
		`"properties":{"name":{"type":"string","minLength":2},"age":{"type":"integer","minimum":0},"color":{"type":"string","enum":["red","blue"]},` +
		`"ok":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string","enum":["x","y"]},"maxItems":1}},"required":["name"]}}`
	askURL    = `{"subtype":"elicitation","mcp_server_name":"srv","message":"Log in","mode":"url","url":"https://example.test"}`
	askDialog = `{"subtype":"request_user_dialog","dialog_kind":"pick","payload":{}}`
)

func TestQuestionDescribed(t *testing.T) {
	s := newStage(newLab(t), "2.1.120")
	q := s.asks("r1", askBash)
	if q.Title != "make" || q.Description != "Builds it" || q.Why != "it is a command" || q.BlockedPath != "/etc" || q.AgentID != "a1" {
		t.Errorf("a permission is %s", encode(q))
	}
	if len(q.Suggestions) != 2 || q.Suggestions[0].Text != "allow Bash(make:*)" || q.Suggestions[0].Destination != "localSettings" || q.Suggestions[1].Text != "switch to mode acceptEdits" {
		t.Errorf("the suggestions are %s", encode(q.Suggestions))
	}
	q = s.asks("r2", askChoice)
	if q.Kind != api.QuestionChoice || len(q.Choices) != 2 || q.Choices[0].Options[1].Preview != "<two>" || !q.Choices[1].Multiple {
		t.Errorf("a choice is %s", encode(q))
	}
	if q = s.asks("r3", askForm); q.Kind != api.QuestionForm || q.Title != "srv asks" || q.Description != "Who are you?" {
		t.Errorf("a form is %s", encode(q))
	}
	if q = s.asks("r4", askDialog); q.Kind != api.QuestionDialog || q.Title != "pick" {
		t.Errorf("a dialog is %s", encode(q))
	}
	if n := len(s.snapshot(s.id).Questions); n != 4 {
		t.Errorf("%d questions are open, want 4", n)
	}
}

// TestAnswers answers each kind of question in each way: the line that the CLI is
// sent, or why the answer is refused.
func TestAnswers(t *testing.T) {
	approver := hub.Actor{Source: journal.SourcePerson, Name: "bo"}
	l := newLab(t)
	for _, test := range []struct {
		name, ask string
		by        hub.Actor
		answer    api.Answer
		// line is in what is sent; or refused is the code.
		line, refused string
	}{
		{name: "allow", ask: askBash, by: approver, answer: api.Answer{Decision: "allow"}, line: `"updatedInput":{"command":"make","description":"Builds it"}`},
		{name: "edited", ask: askBash, by: approver, answer: api.Answer{Decision: "allow", Input: []byte(`{"command":"make test"}`)}, line: `"updatedInput":{"command":"make test"}`},
		{name: "an input that is no object", ask: askBash, by: person, answer: api.Answer{Decision: "allow", Input: []byte(`"make"`)}, refused: api.CodeInvalid},
		{name: "deny", ask: askBash, by: approver, answer: api.Answer{Decision: "deny", Message: "not now"}, line: `"behavior":"deny","message":"not now"`},
		{name: "deny and stop", ask: askBash, by: approver, answer: api.Answer{Decision: "deny", Interrupt: true}, line: `"interrupt":true`},
		{name: "a message with allow", ask: askBash, by: person, answer: api.Answer{Decision: "allow", Message: "go"}, refused: api.CodeInvalid},
		{name: "an input with deny", ask: askBash, by: person, answer: api.Answer{Decision: "deny", Input: []byte(`{}`)}, refused: api.CodeInvalid},
		{name: "accept", ask: askBash, by: person, answer: api.Answer{Decision: "accept"}, refused: api.CodeInvalid},
		{name: "always, for the session", ask: askBash, by: approver, answer: api.Answer{Decision: "allow", Always: &api.Always{Suggestion: new(0)}}, line: `"rules":[{"toolName":"Bash","ruleContent":"make:*"}],"behavior":"allow","destination":"session"`},
		{name: "always, a mode", ask: askBash, by: approver, answer: api.Answer{Decision: "allow", Always: &api.Always{Suggestion: new(1)}}, line: `{"type":"setMode","mode":"acceptEdits","destination":"session"}`},
		{name: "always, in a file", ask: askBash, by: person, answer: api.Answer{Decision: "allow", Always: &api.Always{Suggestion: new(0), Destination: "projectSettings"}}, line: `"destination":"projectSettings"`},
		{name: "always, in a file, by who may only approve", ask: askBash, by: approver, answer: api.Answer{Decision: "allow", Always: &api.Always{Suggestion: new(0), Destination: "userSettings"}}, refused: api.CodeForbidden},
		{name: "a rule", ask: askBash, by: person, answer: api.Answer{Decision: "allow", Always: &api.Always{Rule: "Bash(make test:*)"}}, line: `{"toolName":"Bash","ruleContent":"make test:*"}`},
		{name: "a rule by who may only approve", ask: askBash, by: approver, answer: api.Answer{Decision: "allow", Always: &api.Always{Rule: "Bash(rm:*)"}}, refused: api.CodeForbidden},
		{name: "a rule that makes no sense", ask: askBash, by: person, answer: api.Answer{Decision: "allow", Always: &api.Always{Rule: "Bash("}}, refused: api.CodeInvalid},
		{name: "no such suggestion", ask: askBash, by: person, answer: api.Answer{Decision: "allow", Always: &api.Always{Suggestion: new(2)}}, refused: api.CodeInvalid},
		{name: "neither suggestion nor rule", ask: askBash, by: person, answer: api.Answer{Decision: "allow", Always: &api.Always{}}, refused: api.CodeInvalid},
		{name: "everything, by the hub", ask: askBash, by: person, answer: api.Answer{Decision: "allow", Always: &api.Always{Rule: "*", Destination: "switchboard"}}, refused: api.CodeInvalid},
		{name: "everything, by the CLI", ask: askBash, by: person, answer: api.Answer{Decision: "allow", Always: &api.Always{Rule: "*"}}, refused: api.CodeInvalid},
		{name: "a rule that never allows", ask: askBash, by: person, answer: api.Answer{Decision: "allow", Always: &api.Always{Rule: "Bash(a && b)", Destination: "switchboard"}}, refused: api.CodeInvalid},
		{name: "a rule with parentheses", ask: askBash, by: person, answer: api.Answer{Decision: "allow", Always: &api.Always{Rule: `Read(/a \(1\)/**)`}}, line: `"ruleContent":"/a (1)/**"`},
		{name: "nowhere", ask: askBash, by: person, answer: api.Answer{Decision: "allow", Always: &api.Always{Suggestion: new(0), Destination: "moon"}}, refused: api.CodeInvalid},
		{name: "outcome", ask: askBash, by: person, answer: api.Answer{Decision: "allow", Outcome: api.PlanAsk}, refused: api.CodeInvalid},

		{
			name: "choose", ask: askChoice, by: approver,
			answer: api.Answer{Decision: "allow", Choices: map[string]api.ChoiceAnswer{"Which?": {Labels: []string{"Two"}, Notes: "nice"}, "Whom?": {Labels: []string{"A", "B"}, Text: "and C"}}},
			line:   `"answers":{"Which?":"Two","Whom?":"A, B, and C"},"annotations":{"Which?":{"notes":"nice","preview":"<two>"}}`,
		},
		{
			name: "free text", ask: askChoice, by: approver,
			answer: api.Answer{Decision: "allow", Choices: map[string]api.ChoiceAnswer{"Which?": {Text: "Three"}, "Whom?": {Skip: true}}},
			line:   `"answers":{"Which?":"Three"}`,
		},
		{name: "the questions are repeated", ask: askChoice, by: approver, answer: api.Answer{Decision: "allow", Choices: map[string]api.ChoiceAnswer{"Which?": {Labels: []string{"One"}}, "Whom?": {Labels: []string{"A"}}}}, line: `"updatedInput":{"questions":[{"question":"Which?"`},
		{name: "a whole input", ask: askChoice, by: approver, answer: api.Answer{Decision: "allow", Input: []byte(`{"questions":[],"answers":{"Which?":"One"}}`)}, line: `"answers":{"Which?":"One"}`},
		{name: "an input without the questions", ask: askChoice, by: person, answer: api.Answer{Decision: "allow", Input: []byte(`{"answers":{"Which?":"One"}}`)}, refused: api.CodeInvalid},
		{name: "skip", ask: askChoice, by: approver, answer: api.Answer{Decision: "deny"}, line: `"behavior":"deny","message":"The user skipped the question."`},
		{name: "nothing chosen", ask: askChoice, by: person, answer: api.Answer{Decision: "allow"}, refused: api.CodeInvalid},
		{name: "all skipped one by one", ask: askChoice, by: person, answer: api.Answer{Decision: "allow", Choices: map[string]api.ChoiceAnswer{"Which?": {Skip: true}, "Whom?": {Skip: true}}}, refused: api.CodeInvalid},
		{name: "one forgotten", ask: askChoice, by: person, answer: api.Answer{Decision: "allow", Choices: map[string]api.ChoiceAnswer{"Which?": {Labels: []string{"One"}}}}, refused: api.CodeInvalid},
		{name: "two where one is wanted", ask: askChoice, by: person, answer: api.Answer{Decision: "allow", Choices: map[string]api.ChoiceAnswer{"Which?": {Labels: []string{"One", "Two"}}, "Whom?": {Skip: true}}}, refused: api.CodeInvalid},
		{name: "no such option", ask: askChoice, by: person, answer: api.Answer{Decision: "allow", Choices: map[string]api.ChoiceAnswer{"Which?": {Labels: []string{"Three"}}, "Whom?": {Skip: true}}}, refused: api.CodeInvalid},
		{name: "by header", ask: askChoice, by: person, answer: api.Answer{Decision: "allow", Choices: map[string]api.ChoiceAnswer{"W": {Labels: []string{"One"}}, "Which?": {Skip: true}, "Whom?": {Skip: true}}}, refused: api.CodeInvalid},

		{name: "fill in", ask: askForm, by: approver, answer: api.Answer{Decision: "accept", Content: []byte(`{"name":"Ada","age":36,"color":"red","ok":true,"tags":["x"]}`)}, line: `"action":"accept","content":{"name":"Ada","age":36,"color":"red","ok":true,"tags":["x"]}`},
		{name: "decline", ask: askForm, by: approver, answer: api.Answer{Decision: "decline"}, line: `"action":"decline"`},
		{name: "cancel", ask: askForm, by: approver, answer: api.Answer{Decision: "cancel"}, line: `"action":"cancel"`},
		{name: "a form without content", ask: askForm, by: person, answer: api.Answer{Decision: "accept"}, refused: api.CodeInvalid},
		{name: "a required field", ask: askForm, by: person, answer: api.Answer{Decision: "accept", Content: []byte(`{"age":1}`)}, refused: api.CodeInvalid},
		{name: "an unknown field", ask: askForm, by: person, answer: api.Answer{Decision: "accept", Content: []byte(`{"name":"Ada","shoe":1}`)}, refused: api.CodeInvalid},
		{name: "too short", ask: askForm, by: person, answer: api.Answer{Decision: "accept", Content: []byte(`{"name":"A"}`)}, refused: api.CodeInvalid},
		{name: "no number", ask: askForm, by: person, answer: api.Answer{Decision: "accept", Content: []byte(`{"name":"Ada","age":"1"}`)}, refused: api.CodeInvalid},
		{name: "no whole number", ask: askForm, by: person, answer: api.Answer{Decision: "accept", Content: []byte(`{"name":"Ada","age":1.5}`)}, refused: api.CodeInvalid},
		{name: "out of range", ask: askForm, by: person, answer: api.Answer{Decision: "accept", Content: []byte(`{"name":"Ada","age":-1}`)}, refused: api.CodeInvalid},
		{name: "no choice", ask: askForm, by: person, answer: api.Answer{Decision: "accept", Content: []byte(`{"name":"Ada","color":"green"}`)}, refused: api.CodeInvalid},
		{name: "no boolean", ask: askForm, by: person, answer: api.Answer{Decision: "accept", Content: []byte(`{"name":"Ada","ok":"yes"}`)}, refused: api.CodeInvalid},
		{name: "a bad list", ask: askForm, by: person, answer: api.Answer{Decision: "accept", Content: []byte(`{"name":"Ada","tags":["z"]}`)}, refused: api.CodeInvalid},
		{name: "a long list", ask: askForm, by: person, answer: api.Answer{Decision: "accept", Content: []byte(`{"name":"Ada","tags":["x","y"]}`)}, refused: api.CodeInvalid},
		{name: "allow a form", ask: askForm, by: person, answer: api.Answer{Decision: "allow"}, refused: api.CodeInvalid},
		{name: "a page", ask: askURL, by: approver, answer: api.Answer{Decision: "accept"}, line: `"action":"accept"`},
		{name: "a page with content", ask: askURL, by: person, answer: api.Answer{Decision: "accept", Content: []byte(`{"a":1}`)}, refused: api.CodeInvalid},

		{name: "choose in a dialog", ask: askDialog, by: approver, answer: api.Answer{Decision: "choose", Result: []byte(`{"picked":1}`)}, line: `"behavior":"completed","result":{"picked":1}`},
		{name: "cancel a dialog", ask: askDialog, by: approver, answer: api.Answer{Decision: "cancel"}, line: `"behavior":"cancelled"`},
		{name: "choose nothing", ask: askDialog, by: person, answer: api.Answer{Decision: "choose"}, refused: api.CodeInvalid},
		{name: "allow a dialog", ask: askDialog, by: person, answer: api.Answer{Decision: "allow"}, refused: api.CodeInvalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(l, "2.1.325")
			q := s.asks("r1", test.ask)
			_, err := s.hub.Answer(s.ctx(), test.by, q.ID, test.answer)
			if test.refused != "" {
				if code(err) != test.refused {
					t.Errorf("answered with %v, want %s", err, test.refused)
				}
				if open := s.snapshot(s.id).Questions; len(open) != 1 {
					t.Error("the question is not open any more")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			lines := s.sent(s.id, `"control_response"`)
			if len(lines) != 1 || !strings.Contains(lines[0], test.line) {
				t.Errorf("sent was %s, want %s in it", lines, test.line)
			}
			if settled, err := s.hub.Question(s.ctx(), q.ID); err != nil || settled.Delivery != api.MessageSent || settled.By != test.by.Name {
				t.Errorf("the question is %s, %v", encode(settled), err)
			}
		})
	}
}

// TestAnswerOwnRule allows for good by a rule of the session's own.
func TestAnswerOwnRule(t *testing.T) {
	s := newStage(newLab(t), "2.1.120")
	q := s.asks("r1", askBash)
	if _, err := s.hub.Answer(s.ctx(), hub.Actor{Name: "bo"}, q.ID, api.Answer{Decision: "allow", Always: &api.Always{Rule: "Bash(make:*)", Destination: "switchboard"}}); code(err) != api.CodeForbidden {
		t.Errorf("by who may only approve: %v", err)
	}
	s.answer(q.ID, api.Answer{Decision: "allow", Always: &api.Always{Rule: "Bash(make:*)", Destination: "switchboard"}})
	if lines := s.sent(s.id, `"updatedPermissions":[{`); len(lines) != 0 {
		t.Errorf("the CLI was told %s", lines)
	}
	rules := s.snapshot(s.id).Rules
	if len(rules) != 1 || rules[0].Rule != "Bash(make:*)" || rules[0].Decision != api.RuleAllow || rules[0].By != "ada" {
		t.Fatalf("the rules are %s", encode(rules))
	}
	s.says(`{"type":"control_request","request_id":"r2","request":` + askBash + `}`)
	list, err := s.hub.Questions(s.ctx(), api.QuestionFilter{Session: s.id})
	if err != nil || len(list.Questions) != 2 {
		t.Fatal(encode(list), err)
	}
	if second := list.Questions[1]; second.State != api.QuestionAnswered || second.Rule == nil || second.Rule.ID != rules[0].ID || second.From != "hub" {
		t.Errorf("what the rule covers is %s", encode(second))
	}
}

// TestAnswerRace has two clients answer at the same moment, again and again.
func TestAnswerRace(t *testing.T) {
	s := newStage(newLab(t), "2.1.120")
	const rounds = 200
	for i := range rounds {
		q := s.asks(fmt.Sprint("r", i), askBash)
		type outcome struct {
			q   *api.Question
			err error
		}
		out := make([]outcome, 2)
		var ready, done sync.WaitGroup
		ready.Add(2)
		for j := range out {
			done.Go(func() {
				ready.Done()
				ready.Wait()
				by := hub.Actor{Source: journal.SourcePerson, Name: fmt.Sprint("p", j)}
				out[j].q, out[j].err = s.hub.Answer(s.ctx(), by, q.ID, api.Answer{ClientID: fmt.Sprint(j), Decision: []string{"allow", "deny"}[j]})
			})
		}
		done.Wait()
		winner := 0
		if out[0].err != nil {
			winner = 1
		}
		if out[winner].err != nil || code(out[1-winner].err) != api.CodeAlreadySettled {
			t.Fatalf("round %d: %v and %v", i, out[0].err, out[1].err)
		}
		name := fmt.Sprint("p", winner)
		if told := out[1-winner].err.(*api.Error).Question; told == nil || told.By != name || told.Answer == nil { //nolint:errorlint // code has looked
			t.Fatalf("round %d: the loser was told %s", i, encode(told))
		}
		again, err := s.hub.Answer(s.ctx(), hub.Actor{Name: name}, q.ID, api.Answer{ClientID: fmt.Sprint(winner), Decision: []string{"allow", "deny"}[winner]})
		if err != nil || again.By != name {
			t.Fatalf("round %d: the same answer again: %s, %v", i, encode(again), err)
		}
	}
	if n := len(s.sent(s.id, `"control_response"`)); n != rounds {
		t.Errorf("%d answers were sent, want %d", n, rounds)
	}
}

// TestDeadline refuses questions that somebody could see for too long, and never
// those that nobody could.
func TestDeadline(t *testing.T) {
	clock := &clock{now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
	l := newLab(t, func(o *hub.Options) { o.Now, o.QuestionDeadline, o.Watch = clock.Now, time.Minute, 10*time.Millisecond })
	s := newStage(l, "2.1.325")
	asked := []api.Question{s.asks("r1", askBash), s.asks("r2", askChoice), s.asks("r3", askForm), s.asks("r4", askDialog)}
	if asked[0].Deadline != 60 {
		t.Errorf("the deadline is %d s, want 60", asked[0].Deadline)
	}
	clock.add(time.Hour) // nobody looks
	s.says(`{"type":"system","subtype":"status","status":null,"uuid":"u9","session_id":"c` + s.id + `"}`)
	if n := len(s.snapshot(s.id).Questions); n != 4 {
		t.Fatalf("%d questions are open, want 4: nobody could see them", n)
	}
	cursor, err := l.hub.Follow(l.ctx(), s.id, hub.FollowOptions{After: "now"})
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	clock.add(59 * time.Second)
	s.says(`{"type":"system","subtype":"status","status":null,"uuid":"u10","session_id":"c` + s.id + `"}`)
	if n := len(s.snapshot(s.id).Questions); n != 4 {
		t.Fatalf("%d questions are open before the deadline, want 4", n)
	}
	clock.add(2 * time.Second)
	l.await(s.id, "the questions are refused", func(s *api.Session) bool { return len(s.Questions) == 0 })
	for i, want := range []string{"deny", "deny", "decline", "cancel"} {
		q, err := l.hub.Question(l.ctx(), asked[i].ID)
		if err != nil || q.State != api.QuestionAnswered || q.Answer.Decision != want || q.From != "hub" || q.Reason == "" {
			t.Errorf("the question is %s, %v", encode(q), err)
		}
	}
}

package decide

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
)

// The questions that are answered.
func permission() *api.Question {
	return &api.Question{
		ID: "q1", Kind: api.QuestionPermission, State: api.QuestionOpen, Tool: "Bash",
		Request:     json.RawMessage(`{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"make"}}`),
		Suggestions: []api.Suggestion{{Text: "allow Bash(make:*)"}, {Text: "switch to mode acceptEdits"}},
	}
}

func choice() *api.Question {
	return &api.Question{ID: "q2", Kind: api.QuestionChoice, Choices: []api.Choice{
		{Question: "Which?", Options: []api.Option{{Label: "One"}, {Label: "Two, or more"}}},
		{Question: "Whom?", Multiple: true, Options: []api.Option{{Label: "A"}, {Label: "B"}, {Label: "7"}}},
	}}
}

func plan() *api.Question {
	return &api.Question{ID: "q3", Kind: api.QuestionPlan, Plan: &api.Plan{Text: "Do it", Outcomes: []api.PlanOutcome{
		api.PlanFresh, api.PlanAcceptEdits, api.PlanAsk, api.PlanRevise, api.PlanReject, api.PlanOutline,
	}}}
}

func form() *api.Question {
	return &api.Question{ID: "q4", Kind: api.QuestionForm, Request: json.RawMessage(`{"request":{"subtype":"elicitation","mcp_server_name":"srv","message":"Who?","mode":"form",` +
		`"requested_schema":{"type":"object","properties":{"name":{"type":"string","minLength":2},"age":{"type":"integer","minimum":0},"weight":{"type":"number"},` +
		`"color":{"type":"string","enum":["red","blue"],"default":"red"},"ok":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string","enum":["x","y"]}}},"required":["name"]}}}`)}
}

func page() *api.Question {
	return &api.Question{ID: "q5", Kind: api.QuestionForm, Request: json.RawMessage(`{"subtype":"elicitation","mode":"url","url":"https://example.test"}`)}
}

func dialog() *api.Question {
	return &api.Question{ID: "q6", Kind: api.QuestionDialog, Request: json.RawMessage(`{"subtype":"request_user_dialog","dialog_kind":"pick","payload":{}}`)}
}

func hook() *api.Question {
	return &api.Question{ID: "q7", Kind: api.QuestionPermission, Request: json.RawMessage(
		`{"subtype":"hook_callback","callback_id":"h","input":{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}}`)}
}

func tomorrow() *api.Question { return &api.Question{ID: "q8", Kind: "vote"} }

// A decision is one of the three ways to answer.
type decision interface {
	Answer(q *api.Question) (*api.Answer, error)
}

// A slash is what is written in a line, behind the slash.
type slash string

func (s slash) Answer(q *api.Question) (*api.Answer, error) {
	verb, text, _ := strings.Cut(string(s), " ")
	return Slash(q, verb, text)
}

func TestAnswer(t *testing.T) {
	for _, test := range []struct {
		name string
		q    *api.Question
		d    decision
		want string // the answer as JSON, or after "!" a part of the error
	}{
		{"allow", permission(), &Allow{}, `{"decision":"allow"}`},
		{"with a note", permission(), &Allow{Note: "n"}, `{"decision":"allow","note":"n"}`},
		{"the first suggestion", permission(), &Allow{Always: 1}, `{"decision":"allow","always":{"suggestion":0}}`},
		{"the second, in a project", permission(), &Allow{Always: 2, Destination: "project"}, `{"decision":"allow","always":{"suggestion":1,"destination":"projectSettings"}}`},
		{"no such suggestion", permission(), &Allow{Always: 3}, "!q1 has 2 suggestions, none of them number 3\n  1  allow Bash(make:*)\n  2  switch"},
		{"a suggestion of ours", permission(), &Allow{Always: 1, Destination: "switchboard"}, "!only a rule can"},
		{"a rule", permission(), &Allow{Rule: "Bash(make:*)", Destination: "switchboard"}, `{"decision":"allow","always":{"rule":"Bash(make:*)","destination":"switchboard"}}`},
		{"the CLI's own word", permission(), &Allow{Rule: "Bash", Destination: "userSettings"}, `{"decision":"allow","always":{"rule":"Bash","destination":"userSettings"}}`},
		{"nowhere", permission(), &Allow{Rule: "Bash", Destination: "moon"}, `!"moon"; use one of: session, local`},
		{"both", permission(), &Allow{Rule: "Bash", Always: 1}, "!not both"},
		{"a place for nothing", permission(), &Allow{Destination: "session"}, "!--always or --rule"},
		{"another input", permission(), &Allow{Input: json.RawMessage(`{"command":"ls"}`)}, `{"decision":"allow","input":{"command":"ls"}}`},
		{"an input that is a text", permission(), &Allow{Input: json.RawMessage(`"ls"`)}, "!JSON object"},
		{"an input that is nothing", permission(), &Allow{Input: json.RawMessage(`null`)}, "!not null"},
		{"an input that is broken", permission(), &Allow{Input: json.RawMessage(`{"command"`)}, "!JSON object"},
		{"a plan", plan(), &Allow{}, `{"decision":"allow"}`},
		{"a plan with an input", plan(), &Allow{Input: json.RawMessage(`{}`)}, "!q3 is a plan"},
		{"a choice", choice(), &Allow{}, "!switchboard answer q2 NUMBER"},
		{"a dialog", dialog(), &Allow{}, "!switchboard answer q6 RESULT"},
		{"a form that is not filled in", form(), &Allow{}, `!the field "name" of the form is required; fill it in with --field`},
		{"a page", page(), &Allow{}, `{"decision":"accept"}`},
		{"one of tomorrow", tomorrow(), &Allow{}, `!"vote"`},

		{"deny", permission(), &Deny{Reason: "no", Stop: true, Note: "n"}, `{"decision":"deny","message":"no","note":"n","interrupt":true}`},
		{"deny a plan", plan(), &Deny{}, `{"decision":"deny"}`},
		{"skip a choice", choice(), &Deny{Reason: "later"}, `{"decision":"deny","message":"later"}`},
		{"decline a form", form(), &Deny{}, `{"decision":"decline"}`},
		{"decline a form with words", form(), &Deny{Reason: "no"}, "!takes no --reason"},
		{"cancel a dialog", dialog(), &Deny{}, `{"decision":"cancel"}`},
		{"cancel a dialog and stop", dialog(), &Deny{Stop: true}, "!interrupt the session"},
		{"deny one of tomorrow", tomorrow(), &Deny{}, `!"vote"`},

		{"by numbers", choice(), &Reply{Words: []string{"2", "1,2"}}, `{"decision":"allow","choices":{"Which?":{"labels":["Two, or more"]},"Whom?":{"labels":["A","B"]}}}`},
		{"by labels", choice(), &Reply{Words: []string{"two, or more", "b, a, B"}}, `{"decision":"allow","choices":{"Which?":{"labels":["Two, or more"]},"Whom?":{"labels":["B","A"]}}}`},
		{"a label that is a number", choice(), &Reply{Words: []string{"1", "7"}}, `{"decision":"allow","choices":{"Which?":{"labels":["One"]},"Whom?":{"labels":["7"]}}}`},
		{"own words, and none", choice(), &Reply{Words: []string{"Three; or four", "-"}}, `{"decision":"allow","choices":{"Which?":{"text":"Three; or four"},"Whom?":{"skip":true}}}`},
		{"own words that are a number, a label or -", choice(), &Reply{Words: []string{" 2", "-"}, Text: true}, `{"decision":"allow","choices":{"Which?":{"text":"2"},"Whom?":{"text":"-"}}}`},
		{"own words that are none", choice(), &Reply{Words: []string{"2", " "}, Text: true}, `!no answer to "Whom?"`},
		{"own words and none", choice(), &Reply{Skip: true, Text: true}, "!--skip"},
		{"own words for a plan", plan(), &Reply{Words: []string{"ask"}, Text: true}, "!no --text"},
		{"a result that is a number in words", dialog(), &Reply{Words: []string{"3"}, Text: true}, `{"decision":"choose","result":"3"}`},
		{"a slip may be meant", choice(), &Reply{Words: []string{"3", "1"}}, "!add --text"},
		{"no such number", choice(), &Reply{Words: []string{"3", "1"}}, `!3 isn't an option of "Which?", which has 2`},
		{"too many", choice(), &Reply{Words: []string{"1,2", "1"}}, "!takes one answer only"},
		{"too few", choice(), &Reply{Words: []string{"1"}}, "!q2 has 2 questions, and 1 answer was given; one argument for each, - to skip one:\n  Which?\n    1  One\n    2  Two, or more\n  Whom? (several, with commas)"},
		{"an empty one", choice(), &Reply{Words: []string{"1", " "}}, "!write - to skip it"},
		{"all skipped", choice(), &Reply{Skip: true}, `{"decision":"deny"}`},
		{"each skipped", choice(), &Reply{Words: []string{"-", "-"}, Note: "n"}, `{"decision":"deny","note":"n"}`},
		{"all skipped, and one not", choice(), &Reply{Skip: true, Words: []string{"1"}}, "!--skip"},
		{"a field of a choice", choice(), &Reply{Fields: []string{"a=b"}}, "!q2 is a choice and takes no --field"},

		{"an outcome by name", plan(), &Reply{Words: []string{"accept-edits"}, Compact: true, NoPrompts: true}, `{"outcome":"accept_edits","compact":true,"no_prompts":true}`},
		{"an outcome by number", plan(), &Reply{Words: []string{"1"}, Bypass: true}, `{"outcome":"fresh","mode":"bypassPermissions"}`},
		{"another plan", plan(), &Reply{Words: []string{"ask"}, Plan: new("Do that")}, `{"outcome":"ask","plan":"Do that"}`},
		{"an empty plan", plan(), &Reply{Words: []string{"ask"}, Plan: new(" \n")}, "!empty"},
		{"feedback", plan(), &Reply{Feedback: "more"}, `{"message":"more","outcome":"revise"}`},
		{"feedback, spelt out", plan(), &Reply{Words: []string{"Revise"}, Feedback: "more"}, `{"message":"more","outcome":"revise"}`},
		{"no feedback", plan(), &Reply{Words: []string{"revise"}}, "!--feedback"},
		{"rejected", plan(), &Reply{Words: []string{"reject"}, Feedback: "bad"}, `{"message":"bad","outcome":"reject"}`},
		{"outlined", plan(), &Reply{Words: []string{"outline"}}, `{"outcome":"outline"}`},
		{"outlined with words", plan(), &Reply{Words: []string{"outline"}, Feedback: "x"}, "!not with outline"},
		{"approved with words", plan(), &Reply{Words: []string{"ask"}, Feedback: "x"}, "!not with ask"},
		{"rejected with a plan", plan(), &Reply{Words: []string{"reject"}, Plan: new("x")}, "!not with reject"},
		{"no such outcome", plan(), &Reply{Words: []string{"yes"}}, "!q3 can be answered with one of: 1 fresh, 2 accept_edits, 3 ask, 4 revise, 5 reject, 6 outline"},
		{"no outcome", plan(), &Reply{}, "!1 fresh"},
		{"two outcomes", plan(), &Reply{Words: []string{"reject", "it"}}, "!--feedback"},
		{"a plan cannot be skipped", plan(), &Reply{Skip: true}, "!no --skip"},

		{"a form", form(), &Reply{Fields: []string{"name=Ann=e", "age=41", "weight=1.5", "ok=yes", "tags=x, y"}}, `{"decision":"accept","content":{"age":41,"color":"red","name":"Ann=e","ok":true,"tags":["x","y"],"weight":1.5}}`},
		{"a form with lists and other values", form(), &Reply{Fields: []string{"name=Ann", "ok=off", `tags=["y"]`, "color=blue"}}, `{"decision":"accept","content":{"color":"blue","name":"Ann","ok":false,"tags":["y"]}}`},
		{"a form as a whole", form(), &Reply{Words: []string{`{"name":`, `"Ann"}`}}, `{"decision":"accept","content":{"name": "Ann"}}`},
		{"a form as a whole that does not fit", form(), &Reply{Words: []string{`{"name":"Ann","age":-1}`}}, `!"age"`},
		{"a form as a word", form(), &Reply{Words: []string{"Ann"}}, "!--field NAME=VALUE"},
		{"a form in both ways", form(), &Reply{Words: []string{"{}"}, Fields: []string{"name=Ann"}}, "!not both"},
		{"no such field", form(), &Reply{Fields: []string{"nam=Ann"}}, `!no field "nam"; there are: age, color`},
		{"a field without a value", form(), &Reply{Fields: []string{"name"}}, "!NAME=VALUE"},
		{"no number", form(), &Reply{Fields: []string{"name=Ann", "age=old"}}, `!--field age: "old" isn't a number`},
		{"not a number either", form(), &Reply{Fields: []string{"name=Ann", "age=NaN"}}, `!"NaN" isn't a number`},
		{"neither", form(), &Reply{Fields: []string{"name=Ann", "ok=perhaps"}}, "!true or false"},
		{"none of those", form(), &Reply{Fields: []string{"name=Ann", "color=green"}}, `!"color"`},
		{"a form declined", form(), &Reply{Skip: true}, `{"decision":"decline"}`},
		{"a page with a field", page(), &Reply{Fields: []string{"a=b"}}, "!has no fields"},
		{"a page visited", page(), &Reply{}, `{"decision":"accept"}`},

		{"a word", dialog(), &Reply{Words: []string{"the", "first"}}, `{"decision":"choose","result":"the first"}`},
		{"an object", dialog(), &Reply{Words: []string{`{"picked":1}`}}, `{"decision":"choose","result":{"picked":1}}`},
		{"a broken object", dialog(), &Reply{Words: []string{`{"picked":`}}, "!isn't valid JSON"},
		{"nothing", dialog(), &Reply{}, "!which result"},
		{"cancelled", dialog(), &Reply{Skip: true}, `{"decision":"cancel"}`},

		{"a permission", permission(), &Reply{Words: []string{"yes"}}, "!switchboard allow q1, or: switchboard deny q1"},
		{"answer one of tomorrow", tomorrow(), &Reply{}, `!"vote"`},

		{"in a line: allow", permission(), slash("allow 2 project"), `{"decision":"allow","always":{"suggestion":1,"destination":"projectSettings"}}`},
		{"in a line: allow, with words", permission(), slash("allow but slowly"), `!send "but slowly" as a message`},
		{"in a line: allow a plan, with a number", plan(), slash("allow 1"), `!send "1" as a message`},
		{"in a line: no suggestion", permission(), slash("allow 0"), "!none of them number 0\n  1  allow Bash(make:*)"},
		{"in a line: deny", permission(), slash("deny  not that"), `{"decision":"deny","message":"not that"}`},
		{"in a line: deny one of tomorrow", tomorrow(), slash("deny"), `{"decision":"deny"}`},
		{"in a line: answer one of tomorrow", tomorrow(), slash("answer aye"), `!"vote"`},
		{"in a line: a verb of tomorrow", permission(), slash("defer"), "!/defer"},
		{"in a line: a choice", choice(), slash(`answer two, or more; 1, b`), `{"decision":"allow","choices":{"Which?":{"labels":["Two, or more"]},"Whom?":{"labels":["A","B"]}}}`},
		{"in a line: own words", choice(), slash(`answer "2"; 9`), `{"decision":"allow","choices":{"Which?":{"text":"2"},"Whom?":{"text":"9"}}}`},
		{"in a line: a choice skipped", choice(), slash("answer -;-"), `{"decision":"deny"}`},
		{"in a line: a choice without an answer", choice(), slash("answer"), "!a semicolon between them"},
		{"in a line: a plan", plan(), slash("answer 1 compact bypass"), `{"outcome":"fresh","compact":true,"mode":"bypassPermissions"}`},
		{"in a line: a plan sent back", plan(), slash("answer revise compact"), `{"outcome":"revise","message":"compact"}`},
		{"in a line: a plan without an outcome", plan(), slash("answer"), "!1 fresh"},
		{"in a line: an outline with words", plan(), slash("answer outline compact"), "!/answer q3 revise"},
		{"in a line: a form", form(), slash(`answer {"name": "Ann"}`), `{"decision":"accept","content":{"name":"Ann"}}`},
		{"in a line: nothing for a form", form(), slash("answer"), `!/answer q4 {"name": "value"}`},
	} {
		answer, err := test.d.Answer(test.q)
		if part, failing := strings.CutPrefix(test.want, "!"); failing {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, %v; the error should have %q", test.name, answer, err, part)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		got, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte(test.want), &b) != nil {
			t.Fatalf("%s: %s", test.name, got)
		}
		if diff := cmp.Diff(b, a); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestInput(t *testing.T) {
	for _, test := range []struct {
		q    *api.Question
		want string
	}{
		{permission(), `{"command":"make"}`},
		{hook(), `{"command":"ls"}`},
		{plan(), ""},
		{form(), ""},
		{&api.Question{Kind: api.QuestionPermission, Request: json.RawMessage(`{"subtype":"hook_callback","input":{"hook_event_name":"Stop"}}`)}, ""},
		{&api.Question{Kind: api.QuestionPermission, Request: json.RawMessage(`[`)}, ""},
	} {
		got, err := Input(test.q)
		if string(got) != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s: %s, %v", test.q.ID, got, err)
		}
	}
}

func TestOutcome(t *testing.T) {
	for _, test := range []struct {
		q    api.Question
		want string
	}{
		{api.Question{Kind: api.QuestionPermission, State: api.QuestionAnswered, By: "ann\x1b[2J", Answer: &api.Answer{Decision: "allow"}}, "allowed by ann␛[2J"},
		{api.Question{Kind: api.QuestionPermission, State: api.QuestionAnswered, Answer: &api.Answer{Decision: "deny"}, Rule: &api.RuleRef{Rule: "Bash(rm:*)", Decision: api.RuleDeny}}, "denied by the rule Bash(rm:*)"},
		{api.Question{Kind: api.QuestionPermission, State: api.QuestionAnswered, By: "ann", Answer: &api.Answer{Decision: "deny"}, Rule: &api.RuleRef{Rule: "Bash", Decision: api.RuleAsk}}, "denied by ann"},
		{api.Question{Kind: api.QuestionChoice, State: api.QuestionAnswered, By: "ann", Answer: &api.Answer{Decision: "allow"}}, "answered by ann"},
		{api.Question{Kind: api.QuestionChoice, State: api.QuestionAnswered, By: "ann", Answer: &api.Answer{Decision: "deny"}}, "skipped by ann"},
		{api.Question{Kind: api.QuestionPlan, State: api.QuestionAnswered, By: "ann", Answer: &api.Answer{Outcome: api.PlanFresh}}, "answered with fresh by ann"},
		{api.Question{Kind: api.QuestionForm, State: api.QuestionCancelled, From: "hub", Reason: "the session has ended"}, "cancelled by the hub (the session has ended)"},
		{api.Question{Kind: api.QuestionForm, State: api.QuestionAnsweredTooLate}, "answered too late"},
		{api.Question{Kind: "vote", State: api.QuestionAnswered, Answer: &api.Answer{Decision: "aye"}}, "answered with aye"},
	} {
		if got := Outcome(&test.q); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
	q := &api.Question{ID: "q1", State: api.QuestionAnswered, By: "ann", Answer: &api.Answer{Decision: "allow"}}
	if err := (&SettledError{Question: q}); err.Error() != "already answered by someone else: q1 was allowed by ann" || err.Unwrap() != nil {
		t.Errorf("%v", err)
	}
}

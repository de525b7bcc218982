package claude

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// question returns a question of a request.
func question(t *testing.T, body string) Question {
	t.Helper()
	m, err := wire.Decode([]byte(`{"type":"control_request","request_id":"q","request":` + body + `}`))
	if err != nil {
		t.Fatal(err)
	}
	request := m.(*wire.ControlRequest)
	return questionOf(&asked{request: request, kind: fold.KindOf(request.Request), done: make(chan struct{})})
}

var newest = wire.Version{Major: 2, Minor: 1, Patch: 325}

// Every reply is the line that the CLI takes.
func TestReplies(t *testing.T) {
	permission := question(t, askBash).(*PermissionQuestion)
	choice := question(t, askChoice).(*ChoiceQuestion)
	plan := question(t, askPlan).(*PlanQuestion)
	form := question(t, askForm).(*FormQuestion)
	page := question(t, askPage).(*FormQuestion)
	dialog := question(t, askDialog).(*DialogQuestion)
	const (
		one       = `"updatedInput":{"command":"touch one"}`
		rules     = `"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch:*","later":1}],"behavior":"allow","destination":"localSettings"}]`
		questions = `"questions":[{"question":"Which?","header":"One","options":[{"label":"A","description":"a"},{"label":"B","description":"b"}],"multiSelect":false},{"question":"Many?","header":"Many","options":[{"label":"C","description":"c"},{"label":"D","description":"d"}],"multiSelect":true}]`
		planInput = `"updatedInput":{"plan":"1. Do it.","planFilePath":"/plans/one.md","allowedPrompts":[{"tool":"Bash","prompt":"run tests"}]}`
	)
	for _, c := range []struct {
		name  string
		reply Reply
		want  string
	}{
		{"allow", permission.Allow(), `{"behavior":"allow",` + one + `,"toolUseID":"toolu_1"}`},
		{"allow with", permission.AllowWith([]byte(`{"command":"true"}`)), `{"behavior":"allow","updatedInput":{"command":"true"},"toolUseID":"toolu_1"}`},
		{"always", permission.AllowAlways(), `{"behavior":"allow",` + one + `,` + rules + `,"toolUseID":"toolu_1"}`},
		{
			"updating", permission.AllowUpdating(&wire.SetMode{Mode: wire.PermissionModeAcceptEdits, Destination: wire.UpdateDestinationSession}),
			`{"behavior":"allow",` + one + `,"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}],"toolUseID":"toolu_1"}`,
		},
		{"deny", permission.Deny("No."), `{"behavior":"deny","message":"No.","toolUseID":"toolu_1"}`},
		{"deny without a word", permission.Deny(" "), `{"behavior":"deny","message":"` + wire.DefaultDenial + `","toolUseID":"toolu_1"}`},
		{"deny and stop", permission.DenyAndStop("No."), `{"behavior":"deny","message":"No.","interrupt":true,"toolUseID":"toolu_1"}`},
		{"decline", permission.Decline("No."), `{"behavior":"deny","message":"No.","toolUseID":"toolu_1"}`},

		{"pick", choice.Pick("B", "something else"), `{"behavior":"allow","updatedInput":{` + questions + `,"answers":{"Many?":"something else","Which?":"B"}},"toolUseID":"toolu_2"}`},
		{"pick one", choice.Pick("", "C"), `{"behavior":"allow","updatedInput":{` + questions + `,"answers":{"Many?":"C"}},"toolUseID":"toolu_2"}`},
		{
			"choose", choice.Choose(map[string]wire.Choice{"Many?": {Answers: []string{"C", "D"}, Notes: "both"}}),
			`{"behavior":"allow","updatedInput":{` + questions + `,"answers":{"Many?":"C, D"},"annotations":{"Many?":{"notes":"both"}}},"toolUseID":"toolu_2"}`,
		},
		{"skip", choice.Decline("Later."), `{"behavior":"deny","message":"Later.","toolUseID":"toolu_2"}`},
		{"skip and stop", choice.DeclineAndStop("Later."), `{"behavior":"deny","message":"Later.","interrupt":true,"toolUseID":"toolu_2"}`},

		{"approve", plan.Approve(""), `{"behavior":"allow",` + planInput + `,"toolUseID":"toolu_3"}`},
		{"approve edits", plan.Approve(wire.PermissionModeAcceptEdits), `{"behavior":"allow",` + planInput + `,"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}],"toolUseID":"toolu_3"}`},
		{
			"approve all", plan.ApproveWith(Approval{Mode: wire.PermissionModeDefault, Plan: "2.", Prompts: true}),
			`{"behavior":"allow","updatedInput":{"plan":"2.","planFilePath":"/plans/one.md","allowedPrompts":[{"tool":"Bash","prompt":"run tests"}]},"updatedPermissions":[{"type":"setMode","mode":"default","destination":"session"},{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"prompt: run tests"}],"behavior":"allow","destination":"session"}],"toolUseID":"toolu_3"}`,
		},
		{"keep planning", plan.KeepPlanning("Shorter."), `{"behavior":"deny","message":"Shorter.","toolUseID":"toolu_3"}`},
		{"keep planning silently", plan.KeepPlanning(""), `{"behavior":"deny","message":"The user wants changes to the plan.","toolUseID":"toolu_3"}`},
		{"reject", plan.Decline(""), `{"behavior":"deny","message":"The user rejected the plan.","toolUseID":"toolu_3"}`},
		{"reject and stop", plan.DenyAndStop("No."), `{"behavior":"deny","message":"No.","interrupt":true,"toolUseID":"toolu_3"}`},

		{"accept", form.Accept(struct {
			Name string `json:"name"`
		}{"Ada"}), `{"action":"accept","content":{"name":"Ada"}}`},
		{
			"accept all", form.Accept(json.RawMessage(`{"name":"Ada","age":36,"size":"M","kind":"x","sure":true,"days":["mon"]}`)),
			`{"action":"accept","content":{"name":"Ada","age":36,"size":"M","kind":"x","sure":true,"days":["mon"]}}`,
		},
		{"decline form", form.Decline("no place for this"), `{"action":"decline"}`},
		{"cancel form", form.Cancel(), `{"action":"cancel"}`},
		{"accept page", page.Accept(nil), `{"action":"accept"}`},

		{"complete", dialog.Complete(map[string]any{"choice": 1}), `{"behavior":"completed","result":{"choice":1}}`},
		{"complete without", dialog.Complete(nil), `{"behavior":"completed","result":null}`},
		{"cancel", dialog.Cancel(), `{"behavior":"cancelled"}`},
		{"decline dialog", dialog.Decline("no place for this"), `{"behavior":"cancelled"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.reply.Question() != "q" {
				t.Errorf("it is for %q", c.reply.Question())
			}
			line, err := c.reply.answer().line(newest)
			if err != nil {
				t.Fatal(err)
			}
			if got := answerBody(t, string(line), "q"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// What the CLI would not take, or would take for something else, is refused.
func TestRepliesRefused(t *testing.T) {
	permission := question(t, askBash).(*PermissionQuestion)
	choice := question(t, askChoice).(*ChoiceQuestion)
	form := question(t, askForm).(*FormQuestion)
	page := question(t, askPage).(*FormQuestion)
	fields := func(s string) Reply { return form.Accept(json.RawMessage(s)) }
	for _, c := range []struct {
		name  string
		reply Reply
		want  string
	}{
		{"no input", permission.AllowWith(nil), "must be an object"},
		{"no object", permission.AllowWith([]byte("7")), "object"},
		{"too many", choice.Pick("A", "B", "C"), "3 answers for 2 questions"},
		{"no such question", choice.Choose(map[string]wire.Choice{"Why?": {Answers: []string{"A"}}}), "no question has the text"},
		{"two of one", choice.Choose(map[string]wire.Choice{"Which?": {Answers: []string{"A", "B"}}}), "takes one answer"},
		{"no fields", form.Accept(nil), "an object of its fields"},
		{"no form", form.Accept("Ada"), "an object of its fields"},
		{"not JSON", form.Accept(func() {}), "writing the fields"},
		{"required", fields(`{"age":1}`), `"name" of the form is required`},
		{"unknown", fields(`{"name":"Ada","shoe":1}`), `no field "shoe"`},
		{"text", fields(`{"name":1}`), "must be a text"},
		{"null", fields(`{"name":null}`), "must be a text"},
		{"short", fields(`{"name":""}`), "length"},
		{"long", fields(`{"name":"Adaaaa"}`), "length"},
		{"number", fields(`{"name":"Ada","age":"1"}`), "must be a number"},
		{"whole", fields(`{"name":"Ada","age":1.5}`), "whole"},
		{"range", fields(`{"name":"Ada","age":151}`), "out of range"},
		{"choice", fields(`{"name":"Ada","size":"L"}`), "one of its choices"},
		{"const", fields(`{"name":"Ada","kind":{}}`), "one of its choices"},
		{"boolean", fields(`{"name":"Ada","sure":"yes"}`), "true or false"},
		{"list", fields(`{"name":"Ada","days":"mon"}`), "must be a list"},
		{"empty list", fields(`{"name":"Ada","days":[]}`), "too few"},
		{"entry", fields(`{"name":"Ada","days":["sun"]}`), "entry that must be one of its choices"},
		{"page", page.Accept(map[string]string{"a": "b"}), "without fields"},
	} {
		t.Run(c.name, func(t *testing.T) {
			line, err := c.reply.answer().line(newest)
			if err == nil {
				t.Fatalf("it was taken: %s", line)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// A form whose schema is not understood is left to its server.
func TestFormOfAnyKind(t *testing.T) {
	for _, schema := range []string{`{"type":"object","properties":[]}`, `true`, `null`, `{"type":"object","properties":{"a":{"type":"object"}}}`} {
		q := question(t, `{"subtype":"elicitation","mcp_server_name":"s","message":"m","requested_schema":`+schema+`}`).(*FormQuestion)
		if _, err := q.Accept(map[string]any{"a": map[string]any{}}).answer().line(newest); err != nil {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

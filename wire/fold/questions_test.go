package fold_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// fates folds lines and returns what happened to questions: the number of the
// line, the request id, its fate and the reason.
func fates(t *testing.T, lines ...string) []string {
	t.Helper()
	var list []string
	var q fold.Questions
	for i, s := range script(t, lines...) {
		var changes []fold.Change
		if s.event != nil {
			changes = q.Happened(*s.event)
		} else {
			changes = q.Apply(s.line)
		}
		for _, c := range changes {
			list = append(list, strings.TrimSpace(fmt.Sprint(i+1, " ", c.Question.RequestID, " ", c.Fate, " ", c.Reason)))
		}
	}
	return list
}

func form(id string) string {
	return `< {"type":"control_request","request_id":"` + id + `","request":{"subtype":"elicitation","mcp_server_name":"s","message":"?"}}`
}

func dialog(id string) string {
	return `< {"type":"control_request","request_id":"` + id + `","request":{"subtype":"request_user_dialog","dialog_kind":"k","payload":{},"tool_use_id":"u9"}}`
}

func hook(id, toolUse string) string {
	return `< {"type":"control_request","request_id":"` + id + `","request":{"subtype":"hook_callback","callback_id":"cb","input":{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{}},"tool_use_id":"` + toolUse + `"}}`
}

func pending(id, lists string) string {
	return `< {"type":"control_response","response":{"subtype":"error","request_id":"` + id + `","error":"Already initialized",` + lists + `}}`
}

func TestQuestions(t *testing.T) {
	// As they stand in a list: a request without the mark of its direction.
	q1, q2, f1, d1 := canUse("q1", "u1", "")[2:], canUse("q2", "u2", "")[2:], form("f1")[2:], dialog("d1")[2:]
	tests := []struct {
		name  string
		lines []string
		want  []string
		open  []string
	}{
		{"answered", []string{canUse("q1", "u1", ""), answer("q1")}, []string{"1 q1 opened", "2 q1 answered"}, nil},
		{
			"answered, and the CLI repeats the answer",
			[]string{canUse("q1", "u1", ""), answer("q1"), strings.Replace(answer("q1"), ">", "<", 1)},
			[]string{"1 q1 opened", "2 q1 answered"},
			nil,
		},
		{
			"answered by somebody whose line is only seen repeated",
			[]string{canUse("q1", "u1", ""), strings.Replace(answer("q1"), ">", "<", 1)},
			[]string{"1 q1 opened", "2 q1 answered"},
			nil,
		},
		{
			"answered with an error",
			[]string{canUse("q1", "u1", ""), `> {"type":"control_response","response":{"subtype":"error","request_id":"q1","error":"no"}}`},
			[]string{"1 q1 opened", "2 q1 answered"},
			nil,
		},
		{
			"a dialog is not settled by an error",
			[]string{dialog("d1"), `> {"type":"control_response","response":{"subtype":"error","request_id":"d1","error":"no"}}`},
			[]string{"1 d1 opened"},
			[]string{"d1"},
		},
		{
			"two at once, in any order",
			[]string{canUse("q1", "u1", ""), canUse("q2", "u2", ""), answer("q2"), answer("q1")},
			[]string{"1 q1 opened", "2 q2 opened", "3 q2 answered", "4 q1 answered"},
			nil,
		},
		{"asked twice under one id", []string{canUse("q1", "u1", ""), canUse("q1", "u1", "")}, []string{"1 q1 opened"}, []string{"q1"}},
		{"withdrawn", []string{canUse("q1", "u1", ""), withdraw("q1")}, []string{"1 q1 opened", "2 q1 cancelled withdrawn"}, nil},
		{
			"withdrawn by an interrupt",
			[]string{canUse("q1", "u1", ""), interrupt, withdraw("q1"), stopped},
			[]string{"1 q1 opened", "3 q1 cancelled interrupt"},
			nil,
		},
		{
			"forgotten by an interrupt",
			[]string{canUse("q1", "u1", ""), form("f1"), canUse("q2", "u2", `,"agent_id":"a"`), interrupt, stopped},
			[]string{"1 q1 opened", "2 f1 opened", "3 q2 opened", "5 q1 cancelled interrupt", "5 f1 cancelled interrupt"},
			[]string{"q2"},
		},
		{
			"an interrupt that is refused",
			[]string{canUse("q1", "u1", ""), interrupt, `< {"type":"control_response","response":{"subtype":"error","request_id":"stop","error":"no"}}`},
			[]string{"1 q1 opened"},
			[]string{"q1"},
		},
		{
			"an interrupt that was over",
			[]string{interrupt, success, canUse("q1", "u1", ""), withdraw("q1")},
			[]string{"3 q1 opened", "4 q1 cancelled withdrawn"},
			nil,
		},
		{
			"the turn ends",
			[]string{canUse("q1", "u1", ""), canUse("q2", "u2", `,"agent_id":"a"`), form("f1"), dialog("d1"), success},
			[]string{"1 q1 opened", "2 q2 opened", "3 f1 opened", "4 d1 opened", "5 q1 cancelled turn_over"},
			[]string{"q2", "f1", "d1"},
		},
		{
			"the tool has its result",
			[]string{canUse("q1", "u1", ""), canUse("q2", "u2", ""), toolResult("u2", `""`)},
			[]string{"1 q1 opened", "2 q2 opened", "3 q2 cancelled tool_done"},
			[]string{"q1"},
		},
		{
			"a line of ours that looks like a tool's result",
			[]string{canUse("q1", "u1", ""), strings.Replace(toolResult("u1", `""`), "<", ">", 1)},
			[]string{"1 q1 opened"},
			[]string{"q1"},
		},
		{
			"the process ends",
			[]string{canUse("q1", "u1", ""), form("f1"), `! ended x`},
			[]string{"1 q1 opened", "2 f1 opened", "3 q1 cancelled ended", "3 f1 cancelled ended"},
			nil,
		},
		{
			"another process starts",
			[]string{canUse("q1", "u1", ""), `! started 2`, answer("q1"), canUse("q1", "u1", "")},
			[]string{"1 q1 opened", "2 q1 cancelled ended", "4 q1 opened"},
			[]string{"q1"},
		},
		{"the link is lost", []string{canUse("q1", "u1", ""), `! link_lost x`, `! link_back x`}, []string{"1 q1 opened"}, []string{"q1"}},
		{
			"an answer that comes too late",
			[]string{canUse("q1", "u1", ""), withdraw("q1"), answer("q1")},
			[]string{"1 q1 opened", "2 q1 cancelled withdrawn", "3 q1 answered_too_late"},
			nil,
		},
		{
			"a second answer",
			[]string{canUse("q1", "u1", ""), answer("q1"), answer("q1")},
			[]string{"1 q1 opened", "2 q1 answered", "3 q1 answered_too_late"},
			nil,
		},
		{"an answer to nothing", []string{answer("q1")}, nil, nil},
		{
			"a cancel of ours is about requests of ours",
			[]string{canUse("q1", "u1", ""), strings.Replace(withdraw("q1"), "<", ">", 1)},
			[]string{"1 q1 opened"},
			[]string{"q1"},
		},
		{"a request of ours is no question", []string{strings.Replace(canUse("q1", "u1", ""), "<", ">", 1)}, nil, nil},
		{"other requests are none", []string{
			`< {"type":"control_request","request_id":"m","request":{"subtype":"mcp_message","server_name":"s","message":{"jsonrpc":"2.0"}}}`,
			`< {"type":"control_request","request_id":"n","request":{"subtype":"made_up"}}`, `< {"type":"control_request","request_id":"o"}`, hook("h", "u1"),
		}, nil, nil},

		{
			"recovery: listed and open stays once",
			[]string{canUse("q1", "u1", ""), initialize, pending("i", `"pending_permission_requests":[`+q1+`]`)},
			[]string{"1 q1 opened"},
			[]string{"q1"},
		},
		{
			"recovery: open and not listed is over",
			[]string{canUse("q1", "u1", ""), initialize, pending("i", `"pending_permission_requests":[]`)},
			[]string{"1 q1 opened", "3 q1 cancelled not_listed"},
			nil,
		},
		{
			"recovery: listed and new is opened",
			[]string{initialize, pending("i", `"pending_permission_requests":[`+q1+`,`+q2+`]`)},
			[]string{"2 q1 opened", "2 q2 opened"},
			[]string{"q1", "q2"},
		},
		{
			"recovery: listed and answered is asked again",
			[]string{canUse("q1", "u1", ""), answer("q1"), initialize, pending("i", `"pending_permission_requests":[`+q1+`]`), answer("q1"), answer("q1")},
			[]string{"1 q1 opened", "2 q1 answered", "4 q1 asked_again", "6 q1 answered_too_late"},
			nil,
		},
		{
			"recovery: listed and given up is opened again",
			[]string{canUse("q1", "u1", ""), success, initialize, pending("i", `"pending_permission_requests":[`+q1+`]`)},
			[]string{"1 q1 opened", "2 q1 cancelled turn_over", "4 q1 opened"},
			[]string{"q1"},
		},
		{"recovery: without lists nothing is known", []string{canUse("q1", "u1", ""), initialize, ready}, []string{"1 q1 opened"}, []string{"q1"}},
		{
			"recovery: each list is about its own kind",
			[]string{canUse("q1", "u1", ""), form("f1"), dialog("d1"), initialize, pending("i", `"pending_permission_requests":[`+q1+`]`)},
			[]string{"1 q1 opened", "2 f1 opened", "3 d1 opened"},
			[]string{"q1", "f1", "d1"},
		},
		{
			"recovery: dialogs and forms",
			[]string{form("f0"), dialog("d0"), initialize, pending("i", `"pending_user_dialog_requests":[`+d1+`],"pending_elicitation_requests":[`+f1+`]`)},
			[]string{"1 f0 opened", "2 d0 opened", "4 d0 cancelled not_listed", "4 d1 opened", "4 f0 cancelled not_listed", "4 f1 opened"},
			[]string{"d1", "f1"},
		},
		{"recovery: lists on other answers mean nothing", []string{canUse("q1", "u1", ""), pending("x", `"pending_permission_requests":[]`)}, []string{"1 q1 opened"}, []string{"q1"}},

		{"hook and question: the hook decides", []string{
			canUse("q1", "u1", ""), hook("h", "u1"),
			`> {"type":"control_response","response":{"subtype":"success","request_id":"h","response":{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}}}`,
			withdraw("q1"),
		}, []string{"1 q1 opened", "4 q1 cancelled hook"}, nil},
		{"hook and question: the hook has nothing to say", []string{
			hook("h", "u1"), canUse("q1", "u1", ""),
			`> {"type":"control_response","response":{"subtype":"success","request_id":"h","response":{}}}`, withdraw("q1"),
		}, []string{"2 q1 opened", "4 q1 cancelled withdrawn"}, nil},
		{"hook and question: the hook fails", []string{
			canUse("q1", "u1", ""), hook("h", "u1"), `> {"type":"control_response","response":{"subtype":"error","request_id":"h","error":"broken"}}`, answer("q1"),
		}, []string{"1 q1 opened", "4 q1 answered"}, nil},
		{
			"hook and question: the hook gave up",
			[]string{canUse("q1", "u1", ""), hook("h", "u1"), withdraw("h"), answer("q1")},
			[]string{"1 q1 opened", "4 q1 answered"},
			nil,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, fates(t, test.lines...)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			var open []string
			for _, q := range play(t, test.lines...).Questions.Open {
				open = append(open, q.RequestID)
			}
			if diff := cmp.Diff(test.open, open); diff != "" {
				t.Errorf("open (-want +got):\n%s", diff)
			}
		})
	}
}

func TestQuestionKinds(t *testing.T) {
	tests := []struct {
		request string
		want    fold.Kind
	}{
		{`{"subtype":"can_use_tool","tool_name":"Bash","input":{}}`, fold.KindPermission},
		{`{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":{}}`, fold.KindChoice},
		{`{"subtype":"can_use_tool","tool_name":"ExitPlanMode","input":{}}`, fold.KindPlan},
		{`{"subtype":"elicitation","mcp_server_name":"s","message":"?"}`, fold.KindForm},
		{`{"subtype":"request_user_dialog","dialog_kind":"k","payload":{}}`, fold.KindDialog},
		{`{"subtype":"hook_callback","callback_id":"c","input":{}}`, ""},
		{`{"subtype":"made_up"}`, ""},
	}
	for _, test := range tests {
		m, err := wire.Decode([]byte(`{"type":"control_request","request_id":"r","request":` + test.request + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := fold.KindOf(m.(*wire.ControlRequest).Request); got != test.want {
			t.Errorf("%s: %q, want %q", test.request, got, test.want)
		}
	}
	if got := fold.KindOf(nil); got != "" {
		t.Errorf("no request: %q, want none", got)
	}
}

func TestQuestionCarries(t *testing.T) {
	a := play(t, hook("h9", "u9"), hook("h", "u1"), canUse("q1", "u1", `,"agent_id":"a1","description":"does it"`), dialog("d1"))
	q := a.Questions.Find("q1")
	if q == nil {
		t.Fatal("the question is not open")
	}
	ask := q.Ask
	want := &fold.Question{
		RequestID: "q1", Kind: fold.KindPermission, Tool: "Bash", ToolUseID: "u1", AgentID: "a1", HookRequestID: "h",
		Seq: 3, Time: noon.Add(3e9), Ask: ask,
	}
	if diff := cmp.Diff(encode(t, want), encode(t, q)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r, ok := ask.Request.(*wire.CanUseToolRequest); !ok || r.Description != "does it" || string(ask.Raw()) != canUse("q1", "u1", `,"agent_id":"a1","description":"does it"`)[2:] {
		t.Errorf("the request is %#v", ask)
	}
	if d := a.Questions.Find("d1"); d == nil || d.ToolUseID != "u9" || d.HookRequestID != "" {
		t.Errorf("the dialog is %+v", d)
	}
	if a.Questions.Find("made up") != nil {
		t.Error("a question that was never asked is open")
	}
	// An answer is built from the question alone.
	if _, err := wire.NewPermission(ask, &wire.Deny{Message: "no"}); err != nil {
		t.Errorf("answering: %v", err)
	}
	line, err := wire.NewPermission(ask, &wire.Allow{})
	if err != nil {
		t.Fatal(err)
	}
	changes := a.Questions.Apply(fold.NewLine(line, true))
	if len(changes) != 1 || changes[0].Fate != fold.FateAnswered || changes[0].Answer == nil || changes[0].Answer.Response.RequestID != "q1" {
		t.Errorf("answered: %+v", changes)
	}
}

func TestRecoveredQuestion(t *testing.T) {
	a := play(t, started, initialize, pending("i", `"pending_permission_requests":[`+canUse("q1", "u1", "")[2:]+`]`))
	q := a.Questions.Find("q1")
	if q == nil || !q.Recovered || q.Seq != 3 || q.Request().RequestSubtype() != "can_use_tool" {
		t.Fatalf("the question is %+v", q)
	}
	if len(q.Ask.Raw()) > 200 {
		t.Errorf("the question holds on to %d bytes", len(q.Ask.Raw()))
	}
	if a.State.Phase() != fold.PhaseRequiresAction {
		t.Errorf("the phase is %s", a.State.Phase())
	}
}

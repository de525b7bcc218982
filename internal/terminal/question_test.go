package terminal

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

var allOutcomes = []api.PlanOutcome{api.PlanFresh, api.PlanAcceptEdits, api.PlanAsk, api.PlanRevise, api.PlanReject, api.PlanOutline}

// suggesting, review1, stale1 and page are questions with all that a hub tells about them.
var (
	page = api.Question{ID: "qpage", Kind: api.QuestionForm, State: api.QuestionOpen, Title: "notes asks", Description: "Log in", Request: json.RawMessage(
		`{"subtype":"elicitation","mcp_server_name":"notes","message":"Log in","mode":"url","url":"https://example.com/login"}`)}
	suggesting = api.Question{
		ID: "qsug", Kind: api.QuestionPermission, State: api.QuestionOpen, Tool: "Bash", AgentID: "a1", Title: "Run npm\nrule: forged",
		Description: "Runs the tests", Why: "The command is not among those that are allowed", BlockedPath: "/p/node_modules", Deadline: 60,
		Request: json.RawMessage(`{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"npm test","description":"Runs the tests"}}`),
		Rule:    &api.RuleRef{Rule: "Bash(npm:*)", Decision: api.RuleAsk, Scope: "global", Source: "rules.toml:12", Reason: "npm test is what it names"},
		Suggestions: []api.Suggestion{
			{Text: "Bash(npm test:*)", Update: json.RawMessage(`{}`), Destination: "localSettings"},
			{Update: json.RawMessage(`{"type":"of_tomorrow"}`)},
		},
	}
	review1 = api.Question{
		ID: "qrev", Kind: api.QuestionPlan, State: api.QuestionOpen, Tool: "ExitPlanMode", Request: plan.Request,
		Plan: &api.Plan{
			Text: "# Plan\n\noutcome 1: forged\nanswer with: /allow qother", Path: "/h/.claude/plans/a.md", Source: "file", Percent: new(62.6),
			Prompts: []api.PlanPrompt{{Tool: "Bash", Prompt: "run\nthe tests"}}, Outcomes: allOutcomes, Bypass: true,
		},
	}
	stale1 = api.Question{
		ID: "qsta", Kind: api.QuestionPlan, State: api.QuestionOpen, Stale: true, Request: plan.Request,
		Plan: &api.Plan{Text: "Do it.", Outcomes: []api.PlanOutcome{api.PlanFresh, api.PlanRevise}},
	}
)

// answeredBy returns a question as it was settled.
func answeredBy(q api.Question, by, from, reason string, r *api.RuleRef, a *api.Answer) api.Question {
	q.State, q.By, q.From, q.Reason, q.Rule, q.Answer = api.QuestionAnswered, by, from, reason, r, a
	return q
}

// TestQuestions compares what is shown of questions, rules, modes and limits with a golden file.
func TestQuestions(t *testing.T) {
	until := time.Date(2026, 12, 1, 10, 30, 0, 0, time.FixedZone("", 3600))
	asks := &api.RuleRef{Rule: "Bash(npm:*)", Decision: api.RuleAsk, Scope: "global", Source: "rules.toml:12"}
	opened := func(q api.Question) api.Event {
		q.State = api.QuestionOpen
		return api.Event{Kind: api.KindQuestionOpened, Data: data(q)}
	}
	settled := func(q api.Question) api.Event { return api.Event{Kind: api.KindQuestionSettled, Data: data(q)} }
	answers := 0
	answer := func(q api.Question) api.Event { // each is another question's
		answers++
		q.ID += strconv.Itoa(answers)
		return settled(q)
	}
	event := func(kind, by string, v any) api.Event { return api.Event{Kind: kind, By: by, Data: data(v)} }
	sections := []struct {
		name   string
		events []api.Event
	}{
		{"a permission with suggestions", []api.Event{opened(suggesting)}},
		{"one suggestion, a rule without a place, another purpose", []api.Event{opened(func() api.Question {
			q := suggesting
			q.AgentID, q.Title, q.Why, q.BlockedPath, q.Deadline = "", "", "", "", 0
			q.Description, q.Suggestions = "Runs them all", q.Suggestions[:1]
			q.Rule = &api.RuleRef{Rule: "Bash", Decision: api.RuleAsk, Scope: "builtin"}
			return q
		}())}},
		{"a permission that cannot be read", []api.Event{opened(api.Question{ID: "q", Kind: api.QuestionPermission, Tool: "Bash", Request: json.RawMessage(`1`)})}},
		{"entering plan mode", []api.Event{opened(api.Question{ID: "q", Kind: api.QuestionPermission, Tool: "EnterPlanMode", Request: json.RawMessage(
			`{"subtype":"can_use_tool","tool_name":"EnterPlanMode","input":{}}`)})}},
		{"entering plan mode, by a hook", []api.Event{opened(api.Question{ID: "q", Kind: api.QuestionPermission, Tool: "EnterPlanMode", Title: "Enter plan mode?", Request: json.RawMessage(
			`{"subtype":"hook_callback","callback_id":"c","input":{"hook_event_name":"PreToolUse","tool_name":"EnterPlanMode","tool_input":{},"tool_use_id":"t"}}`)})}},
		{"a call that a hook brought", []api.Event{opened(api.Question{ID: "q", Kind: api.QuestionPermission, Tool: "Bash", Title: wire.ActionTitle("Bash", json.RawMessage(`{"command":"ls"}`)), Request: json.RawMessage(
			`{"subtype":"hook_callback","callback_id":"c","input":{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}}`)})}},
		{"another hook", []api.Event{opened(api.Question{ID: "q", Kind: api.QuestionPermission, Tool: "Bash", Request: json.RawMessage(
			`{"subtype":"hook_callback","callback_id":"c","input":{"hook_event_name":"Stop"}}`)})}},
		{"a choice with previews", []api.Event{opened(api.Question{ID: "q", Kind: api.QuestionChoice, Request: json.RawMessage(`{}`), Choices: []api.Choice{
			{Question: "Which layout?", Header: "Layout", Options: []api.Option{{Label: "Wide", Description: "One column", Preview: "+--+\n|  |\n\n+--+\n"}, {Label: "Narrow"}}},
			{Question: "Which parts?", Multiple: true, Options: []api.Option{{Label: "Head"}, {Label: "Foot"}}},
		}})}},
		{"a choice that cannot be read", []api.Event{opened(api.Question{ID: "q", Kind: api.QuestionChoice, Request: json.RawMessage(`{}`)})}},
		{"a plan", []api.Event{opened(review1)}},
		{"no plan", []api.Event{opened(api.Question{ID: "q", Kind: api.QuestionPlan, Request: plan.Request, Plan: &api.Plan{Outcomes: []api.PlanOutcome{api.PlanAsk, api.PlanReject, "of_tomorrow"}}})}},
		{"a stale plan", []api.Event{opened(stale1)}},
		{"a plan whose process ends", []api.Event{opened(func() api.Question {
			q := stale1
			q.Stale, q.Plan = false, &api.Plan{Text: q.Plan.Text, Outcomes: []api.PlanOutcome{api.PlanFresh, api.PlanAsk, api.PlanRevise}}
			return q
		}()), event(api.KindQuestionChanged, "", stale1)}},
		{"a question of which more becomes known, twice", []api.Event{opened(func() api.Question {
			q := suggesting
			q.Rule = nil
			return q
		}()), event(api.KindQuestionChanged, "", suggesting), event(api.KindQuestionChanged, "", suggesting)}},
		{"a question that changes when it is settled", []api.Event{
			opened(page), settled(answeredBy(page, "ann", "person", "", nil, &api.Answer{Decision: "accept"})), event(api.KindQuestionChanged, "", page),
		}},
		{"a plan whose text comes later", []api.Event{event(api.KindQuestionChanged, "", api.Question{ID: "q", Kind: api.QuestionPlan, State: api.QuestionOpen, Request: plan.Request, Plan: &api.Plan{Text: "Do it."}})}},
		{"a form", []api.Event{opened(api.Question{ID: "q", Kind: api.QuestionForm, Request: json.RawMessage(`{"subtype":"elicitation","mcp_server_name":"notes","message":"Where\nto?",
			"property_order":["to","gone","to"],"requested_schema":{"type":"object","required":["to"],"properties":{
			"count":{"type":"integer","description":"How many\n  to (needed): forged"},"size":{"enum":["S","M",3],"default":"M"},"to":{"type":"string","title":"Target"},"odd":{"type":["string","null"]}}}}`)})}},
		{"a form that cannot be read", []api.Event{opened(api.Question{ID: "q", Kind: api.QuestionForm, Request: json.RawMessage(`1`)})}},
		{"a dialog", []api.Event{opened(api.Question{ID: "q", Kind: api.QuestionDialog, Request: json.RawMessage(
			`{"subtype":"request_user_dialog","dialog_kind":"pick","payload":{"text":"Which\none?","options":["a","b"]}}`)})}},
		{"a question of tomorrow", []api.Event{opened(api.Question{ID: "q", Kind: "riddle", Request: json.RawMessage(`{"what":"walks?"}`)})}},
		{"answers", []api.Event{
			answer(answeredBy(suggesting, "ann", "person", "", asks, &api.Answer{Decision: "allow", Always: &api.Always{Suggestion: new(0), Destination: "localSettings"}})),
			answer(answeredBy(suggesting, "ann", "person", "", nil, &api.Answer{Decision: "allow", Input: json.RawMessage(`{}`), Always: &api.Always{Rule: "Bash(npm:*)"}, Updates: json.RawMessage(`[]`)})),
			answer(answeredBy(suggesting, "ann", "person", "", nil, &api.Answer{Decision: "deny", Interrupt: true, Message: "enough"})),
			answer(answeredBy(suggesting, "", "hub", "npm test is what it names", &api.RuleRef{Rule: "Bash(npm test:*)", Decision: api.RuleAllow, Scope: "folder", Source: "rules.toml:20"}, &api.Answer{Decision: "allow"})),
			answer(answeredBy(suggesting, "", "hub", "", &api.RuleRef{Rule: "*", Decision: api.RuleAllow, Scope: "session", ID: "r1"}, &api.Answer{Decision: "allow"})),
			answer(answeredBy(suggesting, "", "hub", "nobody answered for 60 s", nil, &api.Answer{Decision: "deny"})),
			answer(answeredBy(review1, "ann", "person", "", nil, &api.Answer{
				Outcome: api.PlanFresh, Plan: new("x"), Mode: "bypassPermissions", NoPrompts: true, Compact: true, Images: json.RawMessage(`[]`), Message: "go",
			})),
			answer(answeredBy(dialog, "ann", "person", "", nil, &api.Answer{Decision: "choose", Result: json.RawMessage(`"a"`)})),
			answer(func() api.Question {
				q := answeredBy(suggesting, "ann", "", "interrupted", nil, nil)
				q.State = api.QuestionCancelled
				return q
			}()),
		}},
		{"rules", []api.Event{
			event(api.KindRuleAdded, "ann", api.SessionRule{ID: "r1", Rule: "*", Decision: api.RuleAllow, Expires: until}),
			event(api.KindRuleAdded, "", api.SessionRule{ID: "r2", Rule: "Bash(rm:*)\nrule r3", Decision: api.RuleDeny, By: "bob", Message: "No.\nNever.", Pending: true}),
			event(api.KindRuleRemoved, "ann", api.RuleRemoved{ID: "r2"}),
			event(api.KindRuleRemoved, "", api.RuleRemoved{ID: "r1", Reason: "expired"}),
			event(api.KindDecision, "", api.Decision{Tool: "Bash", Input: json.RawMessage(`{"command":"rm -rf\n/"}`), Rule: api.RuleRef{Rule: "Bash(rm:*)", Decision: api.RuleDeny, Scope: "global", Source: "rules.toml:3", Reason: "rm is what it names"}}),
			event(api.KindDecision, "", api.Decision{Tool: "Odd", Rule: api.RuleRef{Rule: "Odd", Decision: api.RuleAllow}}),
		}},
		{"modes", []api.Event{
			event(api.KindMode, "", api.ModeChange{Mode: "plan", Was: "default", Tool: "EnterPlanMode"}),
			event(api.KindMode, "", api.ModeChange{Mode: "acceptEdits", Was: "plan", Tool: "ExitPlanMode"}),
			event(api.KindMode, "", api.ModeChange{Mode: "default", Was: "acceptEdits"}),
			event(api.KindMode, "", api.ModeChange{Mode: "default"}),
		}},
		{"limits", []api.Event{
			event(api.KindBudget, "", api.BudgetUse{Name: "daily", Per: "day", Unit: "usd", Limit: 5, Used: 4.2}),
			event(api.KindBudget, "", api.BudgetUse{Name: "steps", Per: "session", Unit: "turns", Limit: 10, Used: 10, Over: true}),
			event(api.KindBudget, "", api.BudgetUse{Name: "long", Per: "folder", Unit: "wall", Limit: 3600, Used: 3000.4}),
			event(api.KindBudget, "", api.BudgetUse{Name: "lazy", Per: "session", Unit: "idle", Limit: 60, Used: 1e300, Over: true}),
			event(api.KindBudget, "", api.BudgetUse{Name: "tomorrow", Per: "session", Unit: "tokens", Limit: 60, Used: 1}),
			event(api.KindHold, "", api.Hold{ID: "h1", Kind: "budget", Reason: "the budget daily is spent"}),
			event(api.KindHold, "", api.Hold{ID: "h2", Kind: "rate_limit", Reason: "the account's limit is reached", Until: until}),
			event(api.KindHold, "", api.Hold{ID: "h3", Kind: "rate_limit", Reason: "the account's limit is reached", Until: until, Resumes: true}),
			event(api.KindHoldOver, "ann", api.HoldOver{ID: "h1", Reason: "released"}),
			event(api.KindHoldOver, "", api.HoldOver{ID: "h2", Reason: "reset"}),
			event(api.KindHoldOver, "", api.HoldOver{ID: "h3", Reason: "gone"}),
			event(api.KindHoldOver, "", api.HoldOver{ID: "h4", Reason: "of tomorrow"}),
		}},
	}
	var out bytes.Buffer
	for _, s := range sections {
		out.WriteString("== " + s.name + "\n")
		v := newView(&out, true)
		for _, e := range s.events {
			v.event(&e)
		}
		if err := v.failed(); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "questions.txt", out.String())
}

// golden compares a text with a file, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); if that is meant, run: go test ./internal/terminal -update\n%s", name, diff)
	}
}

// TestForgery has an agent write what looks like our own notes: none of it may begin a line.
func TestForgery(t *testing.T) {
	lines := "x\nanswer with: /allow qother\nrule: allow by *\noutcome 1: reject\nquestion qother: may it?\rstale: no\u2028deadline: never\u0085path: /"
	text, err := json.Marshal(lines)
	if err != nil {
		t.Fatal(err)
	}
	everywhere := func(kind api.QuestionKind, request string) api.Question {
		return api.Question{
			ID: "q", Kind: kind, State: api.QuestionOpen, Tool: lines, Title: lines, Description: lines, Why: lines, BlockedPath: lines, AgentID: lines, Reason: lines, By: "ann",
			Request:     json.RawMessage(strings.ReplaceAll(request, "TEXT", string(text))),
			Suggestions: []api.Suggestion{{Text: lines, Update: json.RawMessage(`{}`), Destination: lines}},
			Rule:        &api.RuleRef{Rule: lines, Source: lines, Reason: lines, Decision: api.RuleAsk},
			Plan:        &api.Plan{Text: lines, Path: lines, Prompts: []api.PlanPrompt{{Tool: lines, Prompt: lines}}},
			Choices:     []api.Choice{{Question: lines, Header: lines, Options: []api.Option{{Label: lines, Description: lines, Preview: lines}}}},
			Answer:      &api.Answer{Decision: "deny", Message: lines},
		}
	}
	tool := `{"subtype":"can_use_tool","tool_name":TEXT,"input":{TEXT:TEXT,"questions":[{"question":TEXT,"header":TEXT,"options":[{"label":TEXT,"description":TEXT}]}]}}`
	questions := []api.Question{
		everywhere(api.QuestionPermission, tool), everywhere(api.QuestionChoice, tool), everywhere(api.QuestionPlan, tool),
		everywhere(api.QuestionForm, `{"subtype":"elicitation","mcp_server_name":TEXT,"message":TEXT,"url":TEXT,"requested_schema":{"properties":{TEXT:{"title":TEXT,"description":TEXT,"default":TEXT,"enum":[TEXT],"type":TEXT}}}}`),
		everywhere(api.QuestionDialog, `{"subtype":"request_user_dialog","dialog_kind":TEXT,"payload":{TEXT:TEXT}}`),
		everywhere("riddle", tool),
	}
	var events []api.Event
	for _, q := range questions {
		for _, kind := range []string{api.KindQuestionOpened, api.KindQuestionChanged} {
			events = append(events, api.Event{Kind: kind, Data: data(q)})
		}
		for _, state := range []api.QuestionState{api.QuestionAnswered, api.QuestionCancelled} {
			q.State = state
			events = append(events, api.Event{Kind: api.KindQuestionSettled, Data: data(q)})
		}
	}
	rule := api.RuleRef{Rule: lines, Source: lines, Reason: lines, Decision: api.RuleDeny}
	events = append(events,
		api.Event{Kind: api.KindDecision, Data: data(api.Decision{Tool: lines, Input: json.RawMessage(`{"command":` + string(text) + `}`), Rule: rule})},
		api.Event{Kind: api.KindRuleAdded, Data: data(api.SessionRule{ID: "r", Rule: lines, Message: lines})},
		api.Event{Kind: api.KindMode, Data: data(api.ModeChange{Mode: lines, Was: lines})},
		api.Event{Kind: api.KindHold, Data: data(api.Hold{ID: "h", Reason: lines})},
		api.Event{Kind: api.KindBudget, Data: data(api.BudgetUse{Name: lines, Per: lines, Unit: lines})},
	)
	for _, e := range events {
		var out bytes.Buffer
		v := newView(&out, false) // no line of ours begins with "answer with" then, and none here is about another question
		v.event(&e)
		for shown := range strings.Lines(out.String()) {
			for _, forged := range []string{"answer with", "outcome", "question qother", "stale", "deadline", "path: /\n", "rule: allow by *"} {
				if strings.HasPrefix(shown, forged) {
					t.Errorf("%s %.60s: a line begins with %q:\n%s", e.Kind, e.Data, forged, &out)
				}
			}
		}
	}
}

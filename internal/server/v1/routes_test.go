package v1

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
	"github.com/switchboard-dev/switchboard/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

// An operationTest is a request about a session in a situation, and what becomes of it.
// {session}, {question} and the like stand for names of the world.
type operationTest struct {
	name, token, method, path, body string
	given                           func(*world)
	status                          int
	answer                          string   // part of it
	sent                            []string // parts of a line that the agent gets
	logged                          string   // part of an event of the session's log
}

// table has every operation of the hub, with a token that just suffices.
func table() []operationTest { return slices.Concat(operations, furtherOperations) }

// operations are those about sessions and what they ask.
var operations = []operationTest{
	{
		"create", adminToken, "POST", "/v1/sessions", `{"dir":"{dir}","client_id":"c-{dir}","transport":"websocket","options":{"model":"m","settings":{"a":[1]}}}`,
		nothing, 201, `"url":"ws://127.0.0.1:1/ws/cli/`, nil, "",
	},
	{"snapshot", observeToken, "GET", "/v1/sessions/{session}", "", idle, 200, `"id":"{session}"`, nil, ""},
	{
		"update", promptToken, "PATCH", "/v1/sessions/{session}", `{"title":"t","model":"sonnet"}`,
		idle, 200, `"title":"t"`,
		[]string{`"subtype":"set_model","model":"sonnet"`},
		`"by":"tester","kind":"updated"`,
	},
	{
		"update mode", approveToken, "PATCH", "/v1/sessions/{session}", `{"permission_mode":"plan"}`,
		idle, 200, `"id":"{session}"`,
		[]string{`"subtype":"set_permission_mode","mode":"plan"`},
		"",
	},
	{
		"update bypass", adminToken, "PATCH", "/v1/sessions/{session}", `{"permission_mode":"bypassPermissions"}`,
		bypassing, 200, `"id":"{session}"`,
		[]string{`"subtype":"set_permission_mode","mode":"bypassPermissions"`},
		"",
	},
	{
		"send", promptToken, "POST", "/v1/sessions/{session}/messages", `{"client_id":"c","text":"hello","mode":"steer"}`,
		asking, 202, `"client_id":"c"`,
		[]string{`"type":"user"`, `"hello"`},
		`"by":"tester","kind":"message"`,
	},
	{"send later", promptToken, "POST", "/v1/sessions/{session}/messages", `{"text":"hello"}`, asking, 202, `"state":"queued"`, nil, `"text":"hello"`},
	{
		"send content", promptToken, "POST", "/v1/sessions/{session}/messages", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`,
		idle, 202, `"id"`,
		[]string{`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`},
		"",
	},
	{
		"send in the name of a tool", adminToken, "POST", "/v1/sessions/{session}/messages", `{"content":[{"type":"tool_result","tool_use_id":"t","content":"done"}]}`,
		idle, 202, `"id"`,
		[]string{`[{"type":"tool_result","tool_use_id":"t","content":"done"}]`},
		"",
	},
	{
		"edit in the name of a tool", adminToken, "PATCH", "/v1/sessions/{session}/messages/c", `{"content":[{"type":"tool_result","tool_use_id":"t","content":"done"}]}`,
		queued("c"), 200, `"client_id":"c"`, nil, `"content":[{"type":"tool_result","tool_use_id":"t","content":"done"}]`,
	},
	{
		"edit", promptToken, "PATCH", "/v1/sessions/{session}/messages/c%2F1", `{"text":"other"}`,
		queued("c/1"), 200, `"client_id":"c/1"`, nil, `"text":"other"`,
	},
	{"take back", promptToken, "DELETE", "/v1/sessions/{session}/messages/c", "", queued("c"), 200, `"state":"taken_back"`, nil, `"by":"tester","kind":"message"`},
	{"interrupt", promptToken, "POST", "/v1/sessions/{session}/interrupt", "", asking, 200, `"was":true`, []string{`"subtype":"interrupt"`}, ""},
	{"interrupt all", promptToken, "POST", "/v1/sessions/{session}/interrupt", `{"cancel_queued":true}`, queued("c"), 200, `"taken":[{`, nil, ""},
	{"retry", promptToken, "POST", "/v1/sessions/{session}/retry", "", failed, 202, `"id"`, nil, `"by":"tester","kind":"message"`},
	{"stop", adminToken, "POST", "/v1/sessions/{session}/stop", "", idle, 200, `"state":"ended"`, nil, `"kind":"run_ended"`},
	{"stop at once", adminToken, "POST", "/v1/sessions/{session}/stop", `{"force":true}`, idle, 200, `"state":"ended"`, nil, `"kind":"run_ended"`},
	{"resume", promptToken, "POST", "/v1/sessions/{session}/resume", `{"prompt":"continue"}`, ended, 200, `"run":2`, nil, `"text":"continue"`},
	{"resume by force", adminToken, "POST", "/v1/sessions/{session}/resume", `{"force":true}`, ended, 200, `"run":2`, nil, ""},
	{"resume otherwise", adminToken, "POST", "/v1/sessions/{session}/resume", `{"options":{"model":"haiku"}}`, ended, 200, `"run":2`, nil, `"model":"haiku"`},
	{"fork", adminToken, "POST", "/v1/sessions/{session}/fork", `{"title":"Another way"}`, talked, 201, `"title":"Another way"`, nil, ""},
	{"question", observeToken, "GET", "/v1/questions/{question}", "", asking, 200, `"id":"{question}"`, nil, ""},
	{
		"answer", approveToken, "POST", "/v1/questions/{question}/answer", `{"client_id":"c","decision":"allow","input":{"command":"ls","b":1,"a":2}}`,
		asking, 200, `"state":"answered"`,
		[]string{`"behavior":"allow"`, `{"command":"ls","b":1,"a":2}`},
		`"by":"tester","kind":"question_settled"`,
	},
	{
		"refuse", approveToken, "POST", "/v1/questions/{question}/answer", `{"decision":"deny","message":"Use make test."}`,
		asking, 200, `"state":"answered"`,
		[]string{`"behavior":"deny"`, "Use make test."},
		"",
	},
	{
		"answer a plan", approveToken, "POST", "/v1/questions/{question}/answer", `{"outcome":"revise","message":"Shorter."}`,
		asks(planning), 200, `"state":"answered"`,
		[]string{`"behavior":"deny"`, "Shorter."},
		"",
	},
	{
		"answer a choice", approveToken, "POST", "/v1/questions/{question}/answer", `{"decision":"allow","choices":{"Which?":{"labels":["A"]}}}`,
		asks(`@tool AskUserQuestion {"questions":[{"question":"Which?","header":"W","options":[{"label":"A","description":"a"},{"label":"B","description":"b"}],"multiSelect":false}]}`),
		200, `"state":"answered"`,
		[]string{`"behavior":"allow"`, `"answers":{"Which?":"A"}`},
		"",
	},
	{
		"answer always", approveToken, "POST", "/v1/questions/{question}/answer", `{"decision":"allow","always":{"suggestion":0}}`,
		asking, 200, `"state":"answered"`,
		[]string{`"behavior":"allow"`, `"updatedPermissions":[{`},
		"",
	},
	{
		"answer a plan and compact", approveToken, "POST", "/v1/questions/{question}/answer", `{"outcome":"ask","compact":true}`,
		asks(planning), 200, `"state":"answered"`,
		[]string{`"type":"user"`, `"/compact"`},
		"",
	},
	{
		"answer a plan with images", approveToken, "POST", "/v1/questions/{question}/answer",
		`{"outcome":"revise","message":"Like this.","images":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}`,
		asks(planning), 200, `"state":"answered"`,
		[]string{`"type":"user"`, `"media_type":"image/png"`},
		"",
	},
	{
		"deny a tool", approveToken, "POST", "/v1/sessions/{session}/rules", `{"client_id":"c","rule":"Bash(rm:*)","decision":"deny","message":"No."}`,
		idle, 201, `"rule":"Bash(rm:*)","decision":"deny","message":"No."`, nil, `"by":"tester","kind":"rule_added"`,
	},
	{"allow a tool", adminToken, "POST", "/v1/sessions/{session}/rules", `{"rule":"Bash(ls:*)","decision":"allow"}`, idle, 201, `"rule":"Bash(ls:*)","decision":"allow"`, nil, ""},
	{"allow everything for a while", adminToken, "POST", "/v1/sessions/{session}/rules", `{"rule":"*","decision":"allow","for":1800}`, idle, 201, `"expires":"`, nil, ""},
	{
		"remove a rule", approveToken, "DELETE", "/v1/sessions/{session}/rules/{rule}", "",
		ruled(api.AddRule{Rule: "Bash(ls:*)", Decision: api.RuleAllow}), 200, `"id":"{rule}"`, nil, `"by":"tester","kind":"rule_removed"`,
	},
	{"release", adminToken, "POST", "/v1/sessions/{session}/release", "", held, 200, `"id":"{session}"`, nil, `"by":"tester","kind":"hold_over"`},
	{
		"release one", adminToken, "POST", "/v1/sessions/{session}/release", `{"client_id":"c","hold":"{hold}"}`,
		held, 200, `"id":"{session}"`, nil, `"by":"tester","kind":"hold_over"`,
	},
}

func TestOperations(t *testing.T) {
	w := newWorld(t)
	for _, test := range table() {
		t.Run(test.name, func(t *testing.T) {
			w := w.of(t)
			test.given(w)
			res := w.do(t, test.token, test.method, w.fill(test.path), w.fill(test.body))
			body := text(t, res)
			if res.StatusCode != test.status {
				t.Fatalf("status %d, want %d: %s", res.StatusCode, test.status, body)
			}
			if got := res.Header.Get("Content-Type"); got != "application/json" && (test.status != 204 || got != "" || body != "") {
				t.Errorf("content type %q", got)
			}
			if got := res.Header.Get("Cache-Control"); got != "no-store" {
				t.Errorf("cache control %q", got)
			}
			if want := w.fill(test.answer); !strings.Contains(body, want) {
				t.Errorf("answer %s\nlacks %s", body, want)
			}
			if test.sent != nil {
				w.agent.AwaitSent(test.sent...)
			}
			if want := w.fill(test.logged); want != "" {
				if log := w.log(); !strings.Contains(log, want) {
					t.Errorf("the log\n%slacks %s", log, want)
				}
			}
		})
	}
}

// What a session is started with gets to the launcher.
func TestStarts(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct {
		name, path, body string
		given            func(*world)
		want             func(*world) hub.LaunchSpec
	}{
		{
			"create", "/v1/sessions", `{"dir":"{dir}","options":{"model":"m","settings":{"a":[1]},"env":{"A":"b"}}}`, nothing,
			func(w *world) hub.LaunchSpec {
				return hub.LaunchSpec{Run: 1, Dir: w.names["dir"], Options: api.SessionOptions{Model: "m", Settings: json.RawMessage(`{"a":[1]}`), Env: map[string]string{"A": "b"}}}
			},
		},
		{
			"create in a sandbox", "/v1/sessions", `{"dir":"{dir}","options":{"sandbox":"strict","sandbox_auto_allow":true}}`, nothing,
			func(w *world) hub.LaunchSpec {
				spec := hub.LaunchSpec{Run: 1, Dir: w.names["dir"], Options: api.SessionOptions{Sandbox: "strict", SandboxAutoAllow: true}}
				spec.Sandbox.Mode, spec.Sandbox.Network, spec.Sandbox.AskHosts = "strict", "listed", true
				return spec
			},
		},
		{
			"resume", "/v1/sessions/{session}/resume", `{"options":{"model":"haiku"}}`, ended,
			func(w *world) hub.LaunchSpec {
				return hub.LaunchSpec{Run: 2, Dir: w.names["dir"], Resume: w.conversation(), Options: api.SessionOptions{Model: "haiku"}}
			},
		},
		{
			"fork", "/v1/sessions/{session}/fork", `{"at":"u"}`, talked,
			func(w *world) hub.LaunchSpec {
				return hub.LaunchSpec{Run: 1, Dir: w.names["dir"], Resume: w.conversation(), Fork: true, At: "u"}
			},
		},
		{
			"adopt", "/v1/transcripts/" + onShelf + "/adopt", `{"dir":"{dir}","fork":true,"options":{"model":"m"}}`, nothing,
			func(w *world) hub.LaunchSpec {
				return hub.LaunchSpec{Run: 1, Dir: w.names["dir"], Resume: onShelf, Fork: true, Options: api.SessionOptions{Model: "m"}}
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := w.of(t)
			test.given(w)
			want := test.want(w)
			var s api.Session
			if err := json.Unmarshal([]byte(text(t, w.do(t, adminToken, "POST", w.fill(test.path), w.fill(test.body)))), &s); err != nil || s.ID == "" {
				t.Fatalf("%+v, %v", s, err)
			}
			got := w.lab.Agent(s.ID).Spec
			got.Session, got.Token, got.Marker, got.Deny, got.Ask = "", "", "", nil, nil
			if want.Sandbox.Mode == "" {
				want.Sandbox.Mode, want.Sandbox.Network = "auto", "all"
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A sandbox that cannot be meant is refused.
func TestSandboxRefused(t *testing.T) {
	w := newWorld(t).of(t)
	for _, test := range []struct {
		token, options string
		status         int
		words          string
	}{
		{adminToken, `{"sandbox":"auto"}`, 422, "sandbox"},
		{adminToken, `{"sandbox_auto_allow":true}`, 422, "needs the sandbox strict"},
		{adminToken, `{"sandbox":"deny-only","sandbox_auto_allow":true}`, 422, "needs the sandbox strict"},
		{promptToken, `{"sandbox":"off"}`, 403, "scope"},
		{adminToken, `{"sandbox":"off"}`, 201, `"sandbox":"off"`},
	} {
		res := w.do(t, test.token, "POST", "/v1/sessions", w.fill(`{"dir":"{dir}","options":`+test.options+`}`))
		if body := text(t, res); res.StatusCode != test.status || !strings.Contains(body, test.words) {
			t.Errorf("%s: status %d, want %d: %s", test.options, res.StatusCode, test.status, body)
		}
	}
}

// conversation returns the CLI's id of the session.
func (w *world) conversation() string {
	w.t.Helper()
	s, err := w.lab.Hub.Snapshot(w.t.Context(), w.agent.Session)
	if err != nil {
		w.t.Fatal(err)
	}
	return s.Conversation
}

// Lists are of what was asked for.
func TestLists(t *testing.T) {
	w := newWorld(t)
	for path, want := range map[string]string{
		"/v1/sessions": `{"sessions":[]}`, "/v1/questions": `{"questions":[]}`, "/v1/search?q=x": `{"hits":[]}`, "/v1/audit": `{"items":[]}`, "/v1/drift": `{"items":[]}`,
		"/v1/budgets": `{"budgets":[]}`, "/v1/costs": `"items":[]`,
	} {
		if got := text(t, w.do(t, observeToken, "GET", path, "")); !strings.Contains(got, want) {
			t.Errorf("%s of an empty hub: %s", path, got)
		}
	}
	one, two, three := w.of(t), w.of(t), w.of(t)
	asking(one)
	ended(two)
	idle(three)
	for _, u := range []struct {
		w *world
		u api.UpdateSession
	}{{one, api.UpdateSession{Title: new("apples")}}, {two, api.UpdateSession{Title: new("pears")}}, {three, api.UpdateSession{Archived: new(true)}}} {
		if _, err := w.lab.Hub.Update(t.Context(), servertest.Admin, u.w.agent.Session, u.u); err != nil {
			t.Fatal(err)
		}
	}
	asks(planning)(w.of(t))
	names := map[string]*world{"one": one, "two": two, "three": three}
	for _, test := range []struct {
		path string
		want []string // of one, two and three
	}{
		{"/v1/sessions", []string{"one", "two"}},
		{"/v1/sessions?archived=true", []string{"one", "three", "two"}},
		{"/v1/sessions?state=idle,ended", []string{"two"}},
		{"/v1/sessions?state=requires_action", []string{"one"}},
		{"/v1/sessions?dir=" + one.names["dir"], []string{"one"}},
		{"/v1/sessions?q=pear", []string{"two"}},
		{"/v1/questions", []string{"one"}},
		{"/v1/questions?state=open&session=" + one.agent.Session + "&kind=permission&limit=3", []string{"one"}},
		{"/v1/questions?kind=plan", nil},
		{"/v1/questions?session=" + two.agent.Session, nil},
		{"/v1/questions?state=answered", nil},
		{"/v1/questions?prefix=" + one.names["question"][:6], []string{"one"}},
		{"/v1/costs?by=session", []string{"two"}},
		{"/v1/costs?by=day", nil},
		{"/v1/costs?since=2099-01-02T03:04:05Z", nil},
	} {
		res := w.do(t, observeToken, "GET", test.path, "")
		got := text(t, res)
		var found []string
		for name, of := range names {
			if strings.Contains(got, `"`+of.agent.Session+`"`) {
				found = append(found, name)
			}
		}
		slices.Sort(found)
		if res.StatusCode != 200 || !slices.Equal(found, test.want) {
			t.Errorf("%s: %d, with %v, want %v: %s", test.path, res.StatusCode, found, test.want, got)
		}
	}
	// Page by page.
	var seen []string
	for cursor := ""; ; {
		var page api.SessionList
		if err := json.Unmarshal([]byte(text(t, w.do(t, observeToken, "GET", "/v1/sessions?archived=true&limit=1&cursor="+cursor, ""))), &page); err != nil || len(page.Sessions) > 1 {
			t.Fatalf("%+v, %v", page, err)
		}
		for _, s := range page.Sessions {
			seen = append(seen, s.ID)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if len(seen) != 4 || len(slices.Compact(slices.Sorted(slices.Values(seen)))) != 4 {
		t.Errorf("the pages have %v", seen)
	}
}

// The one mode that an outcome does not imply needs a right of its own, which the hub
// knows: whether the run was started with it.
func TestPlanMode(t *testing.T) {
	w := newWorld(t).of(t)
	asks(planning, func(in *api.CreateSession) { in.Options.AllowBypass = true })(w)
	path, body := w.fill("/v1/questions/{question}/answer"), `{"outcome":"accept_edits","mode":"bypassPermissions"}`
	expectProblem(t, w.do(t, approveToken, "POST", path, body), http.StatusForbidden, api.CodeForbidden)
	if res := w.do(t, adminToken, "POST", path, body); res.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %s", res.StatusCode, text(t, res))
	}
	w.agent.AwaitSent(`"behavior":"allow"`, `"mode":"bypassPermissions"`)
}

// Every operation is refused to those who lack its right, before the hub hears
// of it.
func TestOperationsNeedTheirRight(t *testing.T) {
	r := newRig(t, nil, nil) // a request that reached the hub would panic
	weaker := map[string][]string{
		observeToken: nil,
		promptToken:  {observeToken},
		approveToken: {observeToken, promptToken},
		adminToken:   {observeToken, promptToken, approveToken},
	}
	fill := strings.NewReplacer("{session}", "s1", "{question}", "q1", "{rule}", "r1", "{conversation}", onShelf)
	for _, test := range append(table(), accessOperations()...) {
		t.Run(test.name, func(t *testing.T) {
			for _, token := range append(weaker[test.token], "") {
				res := r.do(t, token, test.method, fill.Replace(test.path), test.body)
				status, code := http.StatusForbidden, api.CodeForbidden
				if token == "" {
					status, code = http.StatusUnauthorized, api.CodeUnauthorized
				}
				expectProblem(t, res, status, code)
			}
			if len(r.access.calls) > 0 {
				t.Errorf("asked was %v", r.access.calls)
			}
		})
	}
}

func expectProblem(t *testing.T, res *response, status int, code string) api.Error {
	t.Helper()
	body := text(t, res)
	var e api.Error
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Fatalf("status %d, %q: %v", res.StatusCode, body, err)
	}
	if got := res.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("content type %q", got)
	}
	if res.StatusCode != status || e.Status != status || e.Code != code || e.Title == "" {
		t.Errorf("status %d, body %s; want %d %s", res.StatusCode, body, status, code)
	}
	return e
}

func TestBadRequests(t *testing.T) {
	r := newRig(t, nil, nil)
	tests := []struct {
		name, method, path, body string
		header                   []string
		status                   int
		code, detail             string
	}{
		{"no body", "POST", "/v1/sessions", "", nil, 400, api.CodeInvalid, "body is required"},
		{"not JSON", "POST", "/v1/sessions", "{", nil, 400, api.CodeInvalid, "body: unexpected end"},
		{"no folder", "POST", "/v1/sessions", "{}", nil, 422, api.CodeInvalid, "dir"},
		{"unknown member", "POST", "/v1/sessions", `{"dir":"/","permision_mode":"plan"}`, nil, 422, api.CodeInvalid, "permision_mode"},
		{"another case", "POST", "/v1/questions/q/answer", `{"Decision":"allow"}`, nil, 422, api.CodeInvalid, "body.Decision"},
		{"another case beside it", "POST", "/v1/questions/q/answer", `{"decision":"deny","Decision":"allow"}`, nil, 422, api.CodeInvalid, "Decision"},
		{"wrong type", "POST", "/v1/sessions", `{"dir":1}`, nil, 422, api.CodeInvalid, "body.dir: expected string"},
		{"unknown transport", "POST", "/v1/sessions", `{"dir":"/","transport":"pigeon"}`, nil, 422, api.CodeInvalid, "body.transport"},
		{"long client id", "POST", "/v1/sessions/s/messages", `{"client_id":"` + strings.Repeat("x", 129) + `"}`, nil, 422, api.CodeInvalid, "body.client_id"},
		{"unknown mode", "POST", "/v1/sessions/s/messages", `{"text":"a","mode":"shout"}`, nil, 422, api.CodeInvalid, "body.mode"},
		{"unknown decision", "POST", "/v1/questions/q/answer", `{"decision":"maybe"}`, nil, 422, api.CodeInvalid, "body.decision"},
		{"unknown outcome", "POST", "/v1/questions/q/answer", `{"outcome":"perhaps"}`, nil, 422, api.CodeInvalid, "body.outcome"},
		{"unknown permission mode", "POST", "/v1/questions/q/answer", `{"outcome":"ask","mode":"yolo"}`, nil, 422, api.CodeInvalid, "body.mode"},
		{"unknown destination", "POST", "/v1/questions/q/answer", `{"decision":"allow","always":{"rule":"Bash","destination":"cloud"}}`, nil, 422, api.CodeInvalid, "body.always.destination"},
		{"suggestion below", "POST", "/v1/questions/q/answer", `{"decision":"allow","always":{"suggestion":-1}}`, nil, 422, api.CodeInvalid, "body.always.suggestion"},
		{"misspelt in a choice", "POST", "/v1/questions/q/answer", `{"decision":"allow","choices":{"Which?":{"lables":["A"]}}}`, nil, 422, api.CodeInvalid, "lables"},
		{"long message", "POST", "/v1/questions/q/answer", `{"decision":"deny","message":"` + strings.Repeat("x", 1<<20+1) + `"}`, nil, 422, api.CodeInvalid, "body.message"},
		{"unknown kind", "GET", "/v1/questions?kind=riddle", "", nil, 422, api.CodeInvalid, "query.kind"},
		{"no rule", "POST", "/v1/sessions/s/rules", `{"decision":"deny"}`, nil, 422, api.CodeInvalid, "rule"},
		{"no decision of a rule", "POST", "/v1/sessions/s/rules", `{"rule":"Bash"}`, nil, 422, api.CodeInvalid, "decision"},
		{"unknown decision of a rule", "POST", "/v1/sessions/s/rules", `{"rule":"Bash","decision":"warn"}`, nil, 422, api.CodeInvalid, "body.decision"},
		{"rule for a negative time", "POST", "/v1/sessions/s/rules", `{"rule":"Bash","decision":"deny","for":-1}`, nil, 422, api.CodeInvalid, "body.for"},
		{"long rule", "POST", "/v1/sessions/s/rules", `{"rule":"` + strings.Repeat("x", 4097) + `","decision":"deny"}`, nil, 422, api.CodeInvalid, "body.rule"},
		{"no sum", "POST", "/v1/policy/confirm", `{}`, nil, 422, api.CodeInvalid, "sum"},
		{"nothing to confirm", "POST", "/v1/policy/confirm", "", nil, 400, api.CodeInvalid, "body is required"},
		{"negative money", "POST", "/v1/sessions/s/release", `{"usd":-1}`, nil, 422, api.CodeInvalid, "body.usd"},
		{"a list of rules", "GET", "/v1/sessions/s/rules", "", nil, 405, api.CodeInvalid, "POST"},
		{"unknown state", "GET", "/v1/sessions?state=asleep", "", nil, 422, api.CodeInvalid, "query.state"},
		{"limit", "GET", "/v1/sessions?limit=0", "", nil, 422, api.CodeInvalid, "query.limit"},
		{"limit no number", "GET", "/v1/sessions/s/events?limit=x", "", nil, 422, api.CodeInvalid, "query.limit"},
		{"unknown parameter", "GET", "/v1/sessions?sate=idle", "", nil, 422, api.CodeInvalid, "sate"},
		{"form", "POST", "/v1/sessions", "dir=/", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, api.CodeInvalid, ""},
		{"nothing there", "GET", "/v1/nothing", "", nil, 404, api.CodeNotFound, ""},
		{"nothing anywhere", "GET", "/nothing", "", nil, 404, api.CodeNotFound, ""},
		{"wrong method", "PUT", "/v1/sessions/s", "", nil, 405, api.CodeInvalid, "GET, PATCH"},
		{"wrong method outside", "POST", "/healthz", "", nil, 405, api.CodeInvalid, "GET"},
		{"too large", "POST", "/v1/sessions", `{"dir":"` + strings.Repeat("x", maxBody) + `"}`, nil, 413, api.CodeTooLarge, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := expectProblem(t, r.do(t, adminToken, test.method, test.path, test.body, test.header...), test.status, test.code)
			if !strings.Contains(e.Detail, test.detail) {
				t.Errorf("detail %q lacks %q", e.Detail, test.detail)
			}
			if len(e.Detail) > 2000 {
				t.Errorf("the detail has %d characters", len(e.Detail))
			}
		})
	}
}

func TestLimits(t *testing.T) {
	w := newWorld(t).of(t)
	asking(w)
	// A message may be longer than other requests. It waits until the agent is idle.
	blocks := `[{"type":"text","text":"` + strings.Repeat("x", maxBody) + `"},{"text":"1","type":"text"}]`
	res := w.do(t, promptToken, "POST", w.fill("/v1/sessions/{session}/messages"), `{"client_id":"c", "content": `+blocks+`}`)
	if res.StatusCode != http.StatusAccepted {
		t.Errorf("a long message: %d %s", res.StatusCode, text(t, res))
	}
	if !strings.Contains(w.log(), blocks) {
		t.Error("the message is not in the log as it came")
	}
	// What is wrong with it is found all the same.
	r := newRig(t, nil, nil)
	long := strings.Repeat("x", 2*maxBody)
	for _, body := range []string{
		`{"text":"` + long + `","mode":"shout"}`,
		`{"text":["` + long + `"]}`,
		`{"text":"a","txet":["` + long + `"]}`,
	} {
		expectProblem(t, r.do(t, promptToken, "POST", "/v1/sessions/s/messages", body), 422, api.CodeInvalid)
	}
	expectProblem(t, r.do(t, promptToken, "POST", "/v1/sessions/s/messages", `["`+long+`"]`), 400, api.CodeInvalid)
	expectProblem(t, r.do(t, promptToken, "POST", "/v1/sessions/s/messages", strings.Repeat("x", maxMessage+1)), 413, api.CodeTooLarge)
}

func TestHubErrors(t *testing.T) {
	settled := &api.Error{
		Status: 409, Code: api.CodeAlreadySettled, Title: "Somebody else was faster", Hint: "Look at it.",
		Question: &api.Question{ID: "q1", State: api.QuestionAnswered, By: "anna", Request: json.RawMessage(`{}`)},
	}
	tests := []struct {
		name   string
		err    error
		status int
		code   string
		logged bool
	}{
		{"ours", settled, 409, api.CodeAlreadySettled, false},
		{"ours, wrapped", fmt.Errorf("answering: %w", settled), 409, api.CodeAlreadySettled, false},
		{"not found", api.Errorf(404, api.CodeNotFound, "There is no session %q", "s1"), 404, api.CodeNotFound, false},
		{"without a status", &api.Error{Code: "odd", Title: "odd"}, 500, "odd", false},
		{"another", errors.New("secret thing"), 500, api.CodeInternal, true},
		{"too late", fmt.Errorf("waiting: %w", os.ErrDeadlineExceeded), 500, api.CodeInternal, true},
		{"out of time", fmt.Errorf("waiting: %w", context.DeadlineExceeded), 504, api.CodeTimeout, false},
		{"closed", fmt.Errorf("asking: %w", hub.ErrClosed), 503, api.CodeClosing, false},
	}
	r := newRig(t, nil, nil)
	registered := humago.New(r.server.operations, huma.DefaultConfig("", ""))
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r.log.Reset()
			// As an operation that fails, and as a stream that does before it begins.
			path := fmt.Sprintf("/v1/failing/%d", i)
			operation(r.server, registered, wire.ScopeObserve, failing(path), func(context.Context, *none) (*none, error) { return nil, test.err })
			r.server.operations.HandleFunc("GET "+path+"/events", func(w http.ResponseWriter, request *http.Request) { r.server.refuse(w, request, test.err) })
			for _, path := range []string{path, path + "/events"} {
				e := expectProblem(t, r.do(t, adminToken, "GET", path, ""), test.status, test.code)
				if test.code == api.CodeAlreadySettled && (e.Question == nil || e.Question.By != "anna" || e.Hint != "Look at it.") {
					t.Errorf("the question or the hint is missing: %+v", e)
				}
				if strings.Contains(e.Error(), "secret") {
					t.Errorf("the client is told %q", e.Error())
				}
			}
			if got := strings.Count(r.log.String(), "a request failed"); (got == 2) != test.logged {
				t.Errorf("log: %s", r.log)
			}
		})
	}
}

// failing describes an operation of the tests.
func failing(path string) huma.Operation {
	return huma.Operation{OperationID: path, Method: http.MethodGet, Path: path}
}

func TestInfo(t *testing.T) {
	r := newRig(t, nil, nil)
	if got := text(t, r.do(t, observeToken, "GET", "/v1/info", "")); !strings.Contains(got, `"api":"v1"`) || !strings.Contains(got, `"capabilities":[]`) {
		t.Errorf("info %s", got)
	}
	expectProblem(t, r.do(t, "", "GET", "/v1/info", ""), 401, api.CodeUnauthorized)
	expectProblem(t, r.do(t, "", "GET", "/v1/openapi.json", ""), 401, api.CodeUnauthorized)
}

// The operations of the document, with the rights that they need. The document
// itself is checked when it is committed.
func TestOperationList(t *testing.T) {
	r := newRig(t, nil, nil)
	res := r.do(t, observeToken, "GET", "/v1/openapi.json", "")
	var document struct {
		Paths map[string]map[string]struct {
			ID    string `json:"operationId"`
			Scope string `json:"x-scope"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]struct {
				Type  string `json:"type"`
				Other any    `json:"additionalProperties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.NewDecoder(res.Body).Decode(&document); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for path, methods := range document.Paths {
		for method, op := range methods {
			lines = append(lines, fmt.Sprintf("%-6s %-43s %-8s %s", strings.ToUpper(method), path, op.Scope, op.ID))
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[7:], b[7:]) })
	got := strings.Join(lines, "\n") + "\n"
	const golden = "testdata/operations.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the operations changed (-want +got); if that is meant, run: go test ./internal/server/v1 -run TestOperationList -update\n%s", diff)
	}
	for _, name := range []string{"Session", "Event", "Verdict", "Partials", "Closing", "EventPage", "Error"} {
		if document.Components.Schemas[name].Type != "object" {
			t.Errorf("the document has no schema %s", name)
		}
	}
	// Requests must fit, answers may grow.
	for name, closed := range map[string]bool{
		"CreateSession": true, "SendMessage": true, "UpdateSession": true, "Resume": true, "AddRule": true, "ConfirmPolicy": true, "Release": true,
		"Plan": false, "Suggestion": false, "Choice": false, "RuleRef": false, "SessionRule": false, "Policy": false, "Hold": false, "BudgetUse": false,
		"Session": false, "Question": false, "Answer": false, "Event": false, "Partial": false, "PartialBlock": false, "Error": false, "EventPage": false,
	} {
		if got := document.Components.Schemas[name].Other == false; got != closed {
			t.Errorf("the schema %s is closed: %v", name, got)
		}
	}
	for name := range document.Components.Schemas {
		if strings.HasPrefix(name, "Error") && name != "Error" {
			t.Errorf("the document has the schema %s, which is never sent", name)
		}
	}
}

func TestHealth(t *testing.T) {
	info := api.Info{}
	r := newRig(t, nil, &Options{Info: func(context.Context) api.Info { return info }})
	expect := func(path string, status int) {
		t.Helper()
		res := r.do(t, "", "GET", path, "")
		if body, _ := io.ReadAll(res.Body); res.StatusCode != status || strings.Contains(string(body), "/var/full") {
			t.Errorf("%s: %d %s, want %d", path, res.StatusCode, body, status)
		}
	}
	expect("/healthz", 200)
	expect("/readyz", 200)
	info.Storage = "no space left in /var/full"
	expect("/healthz", 200)
	expect("/readyz", 503)
	info.Storage = ""
	r.server.Close("an upgrade")
	expect("/healthz", 200)
	expect("/readyz", 503)
	expectProblem(t, r.do(t, adminToken, "GET", "/v1/sessions", ""), 503, api.CodeClosing)
}

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

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

// An operationTest is a request, and what becomes of it.
type operationTest struct {
	name, token, method, path, body string
	status                          int
	want                            call
	answer                          string // part of it
}

// table has every operation, with a token that just suffices.
func table() []operationTest { return slices.Concat(operations, furtherOperations) }

// operations are those about sessions and what they ask.
var operations = []operationTest{
	{
		"create", adminToken, "POST", "/v1/sessions", `{"dir":"/tmp","client_id":"c","options":{"model":"m","settings":{"a":[1]}}}`,
		201,
		call{"Create", chief, []any{api.CreateSession{Dir: "/tmp", ClientID: "c", Options: api.SessionOptions{Model: "m", Settings: json.RawMessage(`{"a":[1]}`)}}}},
		`"token":"run-token","url":"ws://127.0.0.1:1/ws/cli/s1"`,
	},
	{"list", observeToken, "GET", "/v1/sessions", "", 200, call{"List", hub.Actor{}, []any{api.SessionFilter{}}}, `{"sessions":[]}`},
	{
		"list some", observeToken, "GET", "/v1/sessions?state=idle,ended&dir=%2Ftmp&q=x&archived=true&cursor=c&limit=7", "",
		200,
		call{"List", hub.Actor{}, []any{api.SessionFilter{State: []api.State{"idle", "ended"}, Dir: "/tmp", Text: "x", Archived: true, Cursor: "c", Limit: 7}}},
		"",
	},
	{"snapshot", observeToken, "GET", "/v1/sessions/s1", "", 200, call{"Snapshot", hub.Actor{}, []any{"s1"}}, `"id":"s1"`},
	{
		"update", promptToken, "PATCH", "/v1/sessions/s1", `{"title":"t","model":""}`,
		200,
		call{"Update", tester, []any{"s1", api.UpdateSession{Title: new("t"), Model: new("")}}},
		`"id":"s1"`,
	},
	{
		"update mode", approveToken, "PATCH", "/v1/sessions/s1", `{"permission_mode":"plan"}`,
		200,
		call{"Update", tester, []any{"s1", api.UpdateSession{PermissionMode: new(wire.PermissionModePlan)}}},
		"",
	},
	{
		"update bypass", adminToken, "PATCH", "/v1/sessions/s1", `{"permission_mode":"bypassPermissions"}`,
		200,
		call{"Update", chief, []any{"s1", api.UpdateSession{PermissionMode: new(wire.PermissionModeBypassPermissions)}}},
		"",
	},
	{
		"send", promptToken, "POST", "/v1/sessions/s1/messages", `{"client_id":"c","text":"hello","mode":"steer"}`,
		202,
		call{"Send", tester, []any{"s1", api.SendMessage{ClientID: "c", Text: "hello", Mode: "steer"}}},
		`"state":"queued"`,
	},
	{
		"send content", promptToken, "POST", "/v1/sessions/s1/messages", `{"content":[{"type":"text","text":"<&>"}]}`,
		202,
		call{"Send", tester, []any{"s1", api.SendMessage{Content: json.RawMessage(`[{"type":"text","text":"<&>"}]`)}}},
		"",
	},
	{
		"send in the name of a tool", adminToken, "POST", "/v1/sessions/s1/messages", `{"content":[{"type":"tool_result","tool_use_id":"t","content":"done"}]}`,
		202,
		call{"Send", chief, []any{"s1", api.SendMessage{Content: json.RawMessage(`[{"type":"tool_result","tool_use_id":"t","content":"done"}]`)}}},
		"",
	},
	{
		"edit in the name of a tool", adminToken, "PATCH", "/v1/sessions/s1/messages/c", `{"content":[{"type":"tool_result","tool_use_id":"t","content":"done"}]}`,
		200,
		call{"EditMessage", chief, []any{"s1", "c", api.EditMessage{Content: json.RawMessage(`[{"type":"tool_result","tool_use_id":"t","content":"done"}]`)}}},
		"",
	},
	{
		"edit", promptToken, "PATCH", "/v1/sessions/s1/messages/c%2F1", `{"text":"other"}`,
		200,
		call{"EditMessage", tester, []any{"s1", "c/1", api.EditMessage{Text: "other"}}},
		`"client_id":"c/1"`,
	},
	{"take back", promptToken, "DELETE", "/v1/sessions/s1/messages/c", "", 200, call{"TakeBack", tester, []any{"s1", "c"}}, `"state":"taken_back"`},
	{"interrupt", promptToken, "POST", "/v1/sessions/s1/interrupt", "", 200, call{"Interrupt", tester, []any{"s1", api.Interrupt{}}}, `"was":true`},
	{"retry", promptToken, "POST", "/v1/sessions/s1/retry", "", 202, call{"Retry", tester, []any{"s1"}}, `"m2"`},
	{"interrupt all", promptToken, "POST", "/v1/sessions/s1/interrupt", `{"cancel_queued":true}`, 200, call{"Interrupt", tester, []any{"s1", api.Interrupt{CancelQueued: true}}}, ""},
	{"stop", adminToken, "POST", "/v1/sessions/s1/stop", "", 200, call{"Stop", chief, []any{"s1", api.Stop{}}}, `"state":"ended"`},
	{"stop at once", adminToken, "POST", "/v1/sessions/s1/stop", `{"force":true}`, 200, call{"Stop", chief, []any{"s1", api.Stop{Force: true}}}, ""},
	{"resume", promptToken, "POST", "/v1/sessions/s1/resume", `{"prompt":"go on"}`, 200, call{"Resume", tester, []any{"s1", api.Resume{Prompt: "go on"}}}, ""},
	{"resume by force", adminToken, "POST", "/v1/sessions/s1/resume", `{"force":true}`, 200, call{"Resume", chief, []any{"s1", api.Resume{Force: true}}}, ""},
	{
		"resume otherwise", adminToken, "POST", "/v1/sessions/s1/resume", `{"options":{"model":"m"}}`,
		200,
		call{"Resume", chief, []any{"s1", api.Resume{Options: &api.SessionOptions{Model: "m"}}}},
		"",
	},
	{"fork", adminToken, "POST", "/v1/sessions/s1/fork", `{"at":"u"}`, 201, call{"Fork", chief, []any{"s1", api.Fork{At: "u"}}}, `"id":"s2"`},
	{
		"events", observeToken, "GET", "/v1/sessions/s1/events?after=e:0&limit=5", "",
		200,
		call{"Events", hub.Actor{}, []any{"s1", "e:0", 5}},
		"{\"resume\":\"ok\",\"events\":[{\"id\":\"e:1\",\"session\":\"s1\",\"seq\":1,\"kind\":\"line\",\"line\":{\"a\" :\t1,\r\"b\":\"<\"}}],\"next\":\"e:1\",\"more\":true}",
	},
	{
		"questions", observeToken, "GET", "/v1/questions?state=open&session=s1&kind=plan&limit=3&cursor=q0", "",
		200,
		call{"Questions", hub.Actor{}, []any{api.QuestionFilter{State: "open", Session: "s1", Kind: api.QuestionPlan, Limit: 3, Cursor: "q0"}}},
		`{"questions":[]}`,
	},
	{"question", observeToken, "GET", "/v1/questions/q1", "", 200, call{"Question", hub.Actor{}, []any{"q1"}}, `"id":"q1"`},
	{
		"answer", approveToken, "POST", "/v1/questions/q1/answer", `{"client_id":"c","decision":"allow","input":{"b":1,"a":2}}`,
		200,
		call{"Answer", tester, []any{"q1", api.Answer{ClientID: "c", Decision: "allow", Input: json.RawMessage(`{"b":1,"a":2}`)}}},
		`"state":"answered"`,
	},
	{
		"answer a plan", approveToken, "POST", "/v1/questions/q1/answer",
		`{"outcome":"fresh","plan":"","mode":"acceptEdits","compact":true,"no_prompts":true,"images":[{"type":"image"}]}`,
		200,
		call{"Answer", tester, []any{"q1", api.Answer{
			Outcome: api.PlanFresh, Plan: new(""), Mode: "acceptEdits", Compact: true, NoPrompts: true, Images: json.RawMessage(`[{"type":"image"}]`),
		}}},
		"",
	},
	{
		"answer for good", approveToken, "POST", "/v1/questions/q1/answer", `{"decision":"allow","always":{"suggestion":0,"destination":"session"}}`,
		200,
		call{"Answer", tester, []any{"q1", api.Answer{Decision: "allow", Always: &api.Always{Suggestion: new(0), Destination: "session"}}}},
		"",
	},
	{
		"answer a choice", approveToken, "POST", "/v1/questions/q1/answer", `{"decision":"allow","choices":{"Which?":{"labels":["A","B"],"text":"c","notes":"d"}}}`,
		200,
		call{"Answer", tester, []any{"q1", api.Answer{Decision: "allow", Choices: map[string]api.ChoiceAnswer{"Which?": {Labels: []string{"A", "B"}, Text: "c", Notes: "d"}}}}},
		"",
	},
	{
		"deny a tool", approveToken, "POST", "/v1/sessions/s1/rules", `{"client_id":"c","rule":"Bash(rm:*)","decision":"deny","message":"No."}`,
		201,
		call{"AddRule", tester, []any{"s1", api.AddRule{ClientID: "c", Rule: "Bash(rm:*)", Decision: api.RuleDeny, Message: "No."}}},
		`"id":"r1"`,
	},
	{
		"allow a tool", adminToken, "POST", "/v1/sessions/s1/rules", `{"rule":"Bash(ls:*)","decision":"allow"}`,
		201,
		call{"AddRule", chief, []any{"s1", api.AddRule{Rule: "Bash(ls:*)", Decision: api.RuleAllow}}},
		"",
	},
	{
		"ask about everything for a while", adminToken, "POST", "/v1/sessions/s1/rules", `{"rule":"*","decision":"ask","for":1800}`,
		201,
		call{"AddRule", chief, []any{"s1", api.AddRule{Rule: "*", Decision: api.RuleAsk, For: 1800}}},
		"",
	},
	{"remove a rule", approveToken, "DELETE", "/v1/sessions/s1/rules/r1", "", 200, call{"RemoveRule", tester, []any{"s1", "r1"}}, `"id":"r1"`},
	{"policy", observeToken, "GET", "/v1/policy", "", 200, call{"Policy", hub.Actor{}, nil}, `{"rules":[],"pending":{"sum":"abc","widens":[]}}`},
	{"confirm", adminToken, "POST", "/v1/policy/confirm", `{"sum":"abc"}`, 200, call{"ConfirmPolicy", chief, []any{api.ConfirmPolicy{Sum: "abc"}}}, `{"rules":[]}`},
	{"release", adminToken, "POST", "/v1/sessions/s1/release", "", 200, call{"Release", chief, []any{"s1", api.Release{}}}, `"id":"s1"`},
	{
		"release one", adminToken, "POST", "/v1/sessions/s1/release", `{"client_id":"c","hold":"h1","at_reset":true,"usd":0.5,"turns":3,"seconds":60}`,
		200,
		call{"Release", chief, []any{"s1", api.Release{ClientID: "c", Hold: "h1", AtReset: true, USD: 0.5, Turns: 3, Seconds: 60}}},
		"",
	},
}

var (
	tester = hub.Actor{Source: "person", Name: "tester"}
	chief  = hub.Actor{Source: "person", Name: "tester", Admin: true}
)

func TestOperations(t *testing.T) {
	r := newRig(t, &Options{Dial: "ws://127.0.0.1:1"})
	for _, test := range table() {
		t.Run(test.name, func(t *testing.T) {
			res := r.do(t, test.token, test.method, test.path, test.body)
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
			if diff := cmp.Diff(test.want, r.hub.last(t)); diff != "" {
				t.Errorf("the hub was asked otherwise (-want +got):\n%s", diff)
			}
			if !strings.Contains(body, test.answer) {
				t.Errorf("answer %s\nlacks %s", body, test.answer)
			}
		})
	}
}

// Every operation is refused to those who lack its right, before the hub hears
// of it.
func TestOperationsNeedTheirRight(t *testing.T) {
	r := newRig(t, nil)
	weaker := map[string][]string{
		observeToken: nil,
		promptToken:  {observeToken},
		approveToken: {observeToken, promptToken},
		adminToken:   {observeToken, promptToken, approveToken},
	}
	for _, test := range table() {
		t.Run(test.name, func(t *testing.T) {
			for _, token := range append(weaker[test.token], "") {
				res := r.do(t, token, test.method, test.path, test.body)
				status, code := http.StatusForbidden, api.CodeForbidden
				if token == "" {
					status, code = http.StatusUnauthorized, api.CodeUnauthorized
				}
				expectProblem(t, res, status, code)
			}
			if len(r.hub.calls) > 0 {
				t.Errorf("the hub was asked %v", r.hub.calls)
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
	r := newRig(t, nil)
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
	if len(r.hub.calls) > 0 {
		t.Errorf("the hub was asked %v", r.hub.calls)
	}
}

func TestLimits(t *testing.T) {
	r := newRig(t, nil)
	// A message may be longer than other requests; its blocks reach the hub as
	// they are.
	blocks := `[{"type":"text","text":"` + strings.Repeat("x", 2*maxBody) + `"}, {"text":"1" ,"type":"text"}]`
	res := r.do(t, promptToken, "POST", "/v1/sessions/s/messages", `{"client_id":"c", "content": `+blocks+`}`)
	if res.StatusCode != http.StatusAccepted {
		t.Errorf("a long message: %d %s", res.StatusCode, text(t, res))
	}
	if got := r.hub.last(t).Args[1].(api.SendMessage); string(got.Content) != blocks || got.ClientID != "c" {
		t.Errorf("the hub got %d bytes", len(got.Content))
	}
	// What is wrong with it is found all the same.
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
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, nil)
			r.hub.err = test.err
			e := expectProblem(t, r.do(t, adminToken, "POST", "/v1/questions/q1/answer", `{"decision":"allow"}`), test.status, test.code)
			if test.code == api.CodeAlreadySettled && (e.Question == nil || e.Question.By != "anna" || e.Hint != "Look at it.") {
				t.Errorf("the question or the hint is missing: %+v", e)
			}
			if strings.Contains(e.Error(), "secret") {
				t.Errorf("the client is told %q", e.Error())
			}
			// The stream says the same before it begins.
			expectProblem(t, r.do(t, adminToken, "GET", "/v1/sessions/s1/events", "", "Accept", "text/event-stream"), test.status, test.code)
			if got := strings.Count(r.log.String(), "a request failed"); (got == 2) != test.logged {
				t.Errorf("log: %s", r.log)
			}
		})
	}
}

func TestInfo(t *testing.T) {
	r := newRig(t, nil)
	if got := text(t, r.do(t, observeToken, "GET", "/v1/info", "")); !strings.Contains(got, `"api":"v1"`) || !strings.Contains(got, `"capabilities":[]`) {
		t.Errorf("info %s", got)
	}
	expectProblem(t, r.do(t, "", "GET", "/v1/info", ""), 401, api.CodeUnauthorized)
	expectProblem(t, r.do(t, "", "GET", "/v1/openapi.json", ""), 401, api.CodeUnauthorized)
}

// The operations of the document, with the rights that they need. The document
// itself is checked when it is committed.
func TestOperationList(t *testing.T) {
	r := newRig(t, nil)
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
	r := newRig(t, &Options{Info: func(context.Context) api.Info { return info }})
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

package v1

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/report"
)

// A mute is the connection of a CLI that says what the test says, and takes everything.
type mute struct{}

func (mute) Send([]link.Order)          {}
func (mute) Stop(time.Duration, string) {}
func (mute) CloseInput()                {}
func (mute) Ack(int64)                  {}
func (mute) Close(string)               {}

// An idleLauncher starts nothing.
type idleLauncher struct{}

func (idleLauncher) Start(context.Context, hub.LaunchSpec) (*hub.Launched, error) {
	return nil, errors.New("nothing is started here")
}
func (idleLauncher) Alive(int, string) bool                     { return false }
func (idleLauncher) Sweep(context.Context, string) (int, error) { return 0, nil }
func (idleLauncher) History(context.Context, string, string, string) (iter.Seq2[[]byte, error], error) {
	return nil, fs.ErrNotExist
}

func (idleLauncher) Plan(context.Context, hub.PlanQuery) (*hub.PlanFile, error) {
	return nil, fs.ErrNotExist
}

// newHubRig is a server over a real hub, whose agents are the test's.
func newHubRig(t *testing.T) (*rig, *hub.Hub) {
	t.Helper()
	log, err := journal.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := hub.New(t.Context(), hub.Options{Journal: log, Launcher: idleLauncher{}})
	if err != nil {
		t.Fatal(err)
	}
	g := guard(t)
	// Nobody is cut because the machine is slow.
	r := &rig{log: &bytes.Buffer{}, server: New(Of(h), report.New(report.Options{Journal: log, Live: h.Unknown}), g, &Options{WriteTimeout: time.Hour})}
	r.http = httptest.NewUnstartedServer(g.Checked(r.server))
	r.http.Config.ConnContext = g.ConnContext
	r.http.Start()
	t.Cleanup(func() {
		r.server.Close("the test is over")
		r.server.Wait(context.Background())
		r.http.Close()
		if err := errors.Join(h.Close(), log.Close()); err != nil {
			t.Error(err)
		}
	})
	return r, h
}

// asked makes a session whose agent asks, and returns the question.
func asked(t *testing.T, r *rig, h *hub.Hub, request json.RawMessage) api.Question {
	t.Helper()
	var line bytes.Buffer
	if err := json.Compact(&line, request); err != nil {
		t.Fatal(err)
	}
	created, err := h.Create(t.Context(), chief, api.CreateSession{
		Transport: "websocket", Dir: t.TempDir(), Prompt: "hello", Options: api.SessionOptions{AllowBypass: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	a, _, err := h.AttachDialled(t.Context(), hub.DialHello{Session: created.ID, Run: 1}, mute{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Connected(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	init := `{"type":"system","subtype":"init","session_id":"` + created.ID + `","uuid":"u","cwd":"/w","model":"m","permissionMode":"plan","claude_code_version":"2.1.120","tools":[]}`
	for _, text := range []string{init, line.String()} {
		if err := a.Receive(t.Context(), []hub.Item{{Record: link.Record{Kind: link.Line, Bytes: []byte(text)}}}); err != nil {
			t.Fatal(err)
		}
	}
	res := r.do(t, observeToken, "GET", "/v1/questions?state=open&session="+created.ID, "")
	var list api.QuestionList
	if err := json.Unmarshal([]byte(text(t, res)), &list); err != nil || len(list.Questions) != 1 {
		t.Fatalf("%d questions are open, %v", len(list.Questions), err)
	}
	return list.Questions[0]
}

// TestQuestionsDocumentOnHub asks a real hub the questions of docs/questions.md and gives it the answers there: by somebody who may only
// approve, and those that need more by somebody who may do all.
func TestQuestionsDocumentOnHub(t *testing.T) {
	fences, _ := document(t, "questions.md")
	r, h := newHubRig(t)
	example := regexp.MustCompile(`(?m)^answer QUESTION '(.*)'$`)
	needsAdmin := regexp.MustCompile(`"rule":|Settings"|bypassPermissions`)
	questions := map[string]api.Question{}
	for _, f := range fences {
		if f.language == "json" && f.heading != "Answering" {
			questions[f.heading] = strictly[api.Question](t, f.text)
		}
	}
	for heading, want := range questions {
		got := asked(t, r, h, want.Request)
		want.ID, want.Session, want.Opened, want.Request = got.ID, got.Session, got.Opened, got.Request
		if want.Plan != nil {
			want.Plan.Percent = got.Plan.Percent // the agent has not told it
		}
		if diff := cmp.Diff(asJSON(t, want), asJSON(t, got)); diff != "" {
			t.Errorf("the question below %s is another (-document +hub):\n%s", heading, diff)
		}
	}
	for _, f := range fences {
		for _, m := range example.FindAllStringSubmatch(f.text, -1) {
			q := asked(t, r, h, questions[f.heading].Request)
			post := func(token string) *response {
				return r.do(t, token, "POST", "/v1/questions/"+q.ID+"/answer", m[1], "Content-Type", "application/json")
			}
			token := approveToken
			if needsAdmin.MatchString(m[1]) {
				expectProblem(t, post(approveToken), 403, api.CodeForbidden)
				token = adminToken
			}
			res := post(token)
			body := text(t, res)
			var settled api.Question
			if err := json.Unmarshal([]byte(body), &settled); err != nil || res.StatusCode != 200 || settled.State != api.QuestionAnswered || settled.By != "tester" {
				t.Errorf("%s: %d %s", m[0], res.StatusCode, body)
			}
			e := expectProblem(t, post(adminToken), 409, api.CodeAlreadySettled)
			if e.Question == nil || e.Question.By != "tester" {
				t.Errorf("%s, again: %+v", m[0], e)
			}
		}
	}
}

// TestRefusalsDocumented has a real hub refuse what docs/questions.md says that it refuses.
func TestRefusalsDocumented(t *testing.T) {
	fences, whole := document(t, "questions.md")
	questions := map[string]api.Question{}
	for _, f := range fences {
		if f.language == "json" && f.heading != "Answering" {
			questions[f.heading] = strictly[api.Question](t, f.text)
		}
	}
	r, h := newHubRig(t)
	for _, test := range []struct {
		heading, body string
		status        int
		code          string
	}{
		{"Permissions", `{"desicion":"allow"}`, 422, api.CodeInvalid},
		{"Permissions", `{"decision":"allow","outcome":"ask"}`, 422, api.CodeInvalid},
		{"Permissions", `{"decision":"accept"}`, 422, api.CodeInvalid},
		{"Permissions", `{}`, 422, api.CodeInvalid},
		{"Permissions", `{"decision":"allow","always":{"suggestion":7}}`, 422, api.CodeInvalid},
		{"Permissions", `{"decision":"allow","always":{"suggestion":0,"destination":"switchboard"}}`, 422, api.CodeInvalid},
		{"Choices", `{"decision":"allow","choices":{"Which database?":{"labels":["Oracle"]},"Which parts?":{"skip":true}}}`, 422, api.CodeInvalid},
		{"Choices", `{"decision":"allow","choices":{"Which database?":{"labels":["SQLite"],"text":"and more"},"Which parts?":{"skip":true}}}`, 422, api.CodeInvalid},
		{"Choices", `{"decision":"allow","choices":{"Which database?":{"labels":["SQLite"]}}}`, 422, api.CodeInvalid},
		{"Plans", `{"outcome":"revise"}`, 422, api.CodeInvalid},
		{"Plans", `{"outcome":"accept_edits","plan":" "}`, 422, api.CodeInvalid},
		{"Plans", `{"outcome":"ask","decision":"deny"}`, 422, api.CodeInvalid},
		{"Plans", `{"outcome":"ask","mode":"bypassPermissions"}`, 422, api.CodeInvalid},
		{"Plans", `{"outcome":"revise","message":"x","images":[{"type":"tool_result","tool_use_id":"t","content":"done"}]}`, 422, api.CodeInvalid},
		{"Forms", `{"decision":"accept","content":{"pinned":true}}`, 422, api.CodeInvalid},
		{"Forms", `{"decision":"decline","message":"no"}`, 422, api.CodeInvalid},
		{"Dialogs", `{"decision":"choose"}`, 422, api.CodeInvalid},
	} {
		q := asked(t, r, h, questions[test.heading].Request)
		t.Run(fmt.Sprintf("%s %s", test.heading, test.body), func(t *testing.T) {
			expectProblem(t, r.do(t, adminToken, "POST", "/v1/questions/"+q.ID+"/answer", test.body), test.status, test.code)
			res := r.do(t, observeToken, "GET", "/v1/questions/"+q.ID, "")
			if got := text(t, res); !strings.Contains(got, `"state":"open"`) {
				t.Errorf("the question is not open any more: %s", got)
			}
		})
		if !strings.Contains(whole, "`"+test.code+"`") {
			t.Errorf("the document does not name the code %s", test.code)
		}
	}
	expectProblem(t, r.do(t, adminToken, "POST", "/v1/questions/none/answer", `{"decision":"allow"}`), 404, api.CodeNotFound)
	q := asked(t, r, h, questions["Permissions"].Request)
	answer := func(body string) *response {
		return r.do(t, approveToken, "POST", "/v1/questions/"+q.ID+"/answer", body)
	}
	first := text(t, answer(`{"client_id":"c","decision":"allow"}`))
	again := text(t, answer(`{"client_id":"c","decision":"allow"}`))
	var one, two api.Question
	if err := errors.Join(json.Unmarshal([]byte(first), &one), json.Unmarshal([]byte(again), &two)); err != nil || one.State != api.QuestionAnswered || !one.Settled.Equal(two.Settled) {
		t.Errorf("the same client id gets %s\nand then %s, %v", first, again, err)
	}
	expectProblem(t, answer(`{"client_id":"c","decision":"deny"}`), 409, api.CodeClientIDReused)
}

// asJSON returns a value as it is sent.
func asJSON(t *testing.T, v any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRulesOnHub adds and removes rules of a session, with the right that each needs.
func TestRulesOnHub(t *testing.T) {
	r, h := newHubRig(t)
	created, err := h.Create(t.Context(), chief, api.CreateSession{Transport: "websocket", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	path := "/v1/sessions/" + created.ID
	added := func(token, body string) string {
		t.Helper()
		res := r.do(t, token, "POST", path+"/rules", body)
		answer := text(t, res)
		var rule api.SessionRule
		if err := json.Unmarshal([]byte(answer), &rule); err != nil || res.StatusCode != 201 || rule.ID == "" {
			t.Fatalf("%s: %d %s", body, res.StatusCode, answer)
		}
		return rule.ID
	}
	deny := added(approveToken, `{"client_id":"c","rule":"Bash(rm:*)","decision":"deny"}`)
	if again := added(approveToken, `{"client_id":"c","rule":"Bash(rm:*)","decision":"deny"}`); again != deny {
		t.Errorf("the same client id makes %s and %s", deny, again)
	}
	trust := added(adminToken, `{"rule":"*","decision":"allow","for":1800}`)
	for _, body := range []string{`{"rule":"*","decision":"allow"}`, `{"rule":"*","decision":"allow","for":100000}`, `{"rule":"Bash(","decision":"deny"}`} {
		expectProblem(t, r.do(t, adminToken, "POST", path+"/rules", body), 422, api.CodeInvalid)
	}
	expectProblem(t, r.do(t, approveToken, "POST", path+"/rules", `{"rule":"*","decision":"allow","for":1800}`), 403, api.CodeForbidden)
	expectProblem(t, r.do(t, adminToken, "POST", "/v1/sessions/none/rules", `{"rule":"Bash","decision":"deny"}`), 404, api.CodeNotFound)
	if got := text(t, r.do(t, observeToken, "GET", path, "")); !strings.Contains(got, deny) || !strings.Contains(got, trust) {
		t.Errorf("the snapshot lacks the rules: %s", got)
	}
	expectProblem(t, r.do(t, approveToken, "DELETE", path+"/rules/"+deny, ""), 403, api.CodeForbidden)
	for _, step := range []struct{ token, rule string }{{adminToken, deny}, {approveToken, trust}} {
		if res := r.do(t, step.token, "DELETE", path+"/rules/"+step.rule, ""); res.StatusCode != 200 {
			t.Errorf("removing %s: %d %s", step.rule, res.StatusCode, text(t, res))
		}
	}
	expectProblem(t, r.do(t, adminToken, "DELETE", path+"/rules/"+deny, ""), 404, api.CodeNotFound)
	if got := text(t, r.do(t, observeToken, "GET", "/v1/policy", "")); !strings.Contains(got, `"rules":[`) {
		t.Errorf("the policy is %s", got)
	}
	expectProblem(t, r.do(t, adminToken, "POST", "/v1/policy/confirm", `{"sum":"abc"}`), 409, api.CodeConflict)
	expectProblem(t, r.do(t, adminToken, "POST", path+"/release", ""), 409, api.CodeConflict)
}

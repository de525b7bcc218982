package v1

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
)

// newHubRig is a server over a lab.
func newHubRig(t *testing.T) (*rig, *servertest.Lab) {
	t.Helper()
	lab := servertest.New(t, nil)
	return newRig(t, lab, nil), lab
}

// asked makes a session whose agent asks, and returns the question.
func asked(t *testing.T, r *rig, lab *servertest.Lab, request json.RawMessage) api.Question {
	t.Helper()
	var line bytes.Buffer
	if err := json.Compact(&line, request); err != nil {
		t.Fatal(err)
	}
	a := lab.Dial(api.CreateSession{Prompt: "hello", Options: api.SessionOptions{AllowBypass: true}})
	a.Say(`{"type":"system","subtype":"init","session_id":"`+a.Session+`","uuid":"u","cwd":"/w","model":"m","permissionMode":"plan","claude_code_version":"2.1.120","tools":[]}`, line.String())
	res := r.do(t, observeToken, "GET", "/v1/questions?state=open&session="+a.Session, "")
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
	r, lab := newHubRig(t)
	example := regexp.MustCompile(`(?m)^answer QUESTION '(.*)'$`)
	needsAdmin := regexp.MustCompile(`"rule":|Settings"|bypassPermissions`)
	questions := map[string]api.Question{}
	for _, f := range fences {
		if f.language == "json" && f.heading != "Answering" {
			questions[f.heading] = strictly[api.Question](t, f.text)
		}
	}
	for heading, want := range questions {
		got := asked(t, r, lab, want.Request)
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
			q := asked(t, r, lab, questions[f.heading].Request)
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
	r, lab := newHubRig(t)
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
		q := asked(t, r, lab, questions[test.heading].Request)
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
	q := asked(t, r, lab, questions["Permissions"].Request)
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

// TestRulesOnHub adds and removes rules of a session, with the right that each needs.
func TestRulesOnHub(t *testing.T) {
	r, lab := newHubRig(t)
	path := "/v1/sessions/" + lab.Dial(api.CreateSession{}).Session
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

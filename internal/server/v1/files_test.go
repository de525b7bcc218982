package v1

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
)

// Files are what the CLI suggests, not more than anybody looks at, and only for those
// who may write messages.
func TestSuggestFiles(t *testing.T) {
	r, lab := newHubRig(t)
	agent := lab.Create(api.CreateSession{})
	path := "/v1/sessions/" + agent.Session + "/files"
	ask := func(says string) *response {
		t.Helper()
		agent.Answer("file_suggestions", says)
		return r.do(t, promptToken, "GET", path+"?q=..%2F..%2Fetc%22", "")
	}
	var got api.FileSuggestions
	res := ask(`{"suggestions":[{"path":"a.go","score":1},{"path":"b/"}],"cwd":"/work","more":true}`)
	if err := json.Unmarshal([]byte(text(t, res)), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(api.FileSuggestions{Files: []string{"a.go", "b/"}, Dir: "/work"}, got); diff != "" {
		t.Error(diff)
	}
	// What is looked for is the CLI's to judge; here it is nothing but a text.
	agent.AwaitSent(`"request":{"subtype":"file_suggestions","query":"../../etc\""}`)
	if got := text(t, ask(`{}`)); got != `{"files":[]}`+"\n" {
		t.Errorf("nothing is suggested as %s", got)
	}
	many := text(t, ask(`{"suggestions":[`+strings.Repeat(`{"path":"x"},`, 10_000)+`{"path":"y"}]}`))
	if n := strings.Count(many, `"x"`); n != maxFiles {
		t.Errorf("%d files are suggested", n)
	}
	expectProblem(t, ask(`"all"`), 422, api.CodeRefused)
	expectProblem(t, r.do(t, observeToken, "GET", path, ""), 403, api.CodeForbidden)
	expectProblem(t, r.do(t, promptToken, "GET", path+"?q="+strings.Repeat("x", 1025), ""), 422, api.CodeInvalid)

	old := servertest.New(t, &servertest.Options{Version: "2.1.37"})
	session := old.Create(api.CreateSession{}).Session
	expectProblem(t, newRig(t, old, nil).do(t, promptToken, "GET", "/v1/sessions/"+session+"/files", ""), 422, api.CodeUnsupported)
}

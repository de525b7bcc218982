package v1

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
)

// Files are what the CLI suggests, not more than anybody looks at, and only for those
// who may write messages.
func TestSuggestFiles(t *testing.T) {
	r := newRig(t, nil)
	ask := func(says string) *response {
		t.Helper()
		r.hub.response = says
		return r.do(t, promptToken, "GET", "/v1/sessions/s1/files?q=..%2F..%2Fetc%22", "")
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
	want := call{"Control", tester, []any{"s1", `{"type":"control_request","request_id":"r","request":{"subtype":"file_suggestions","query":"../../etc\""}}`}}
	if diff := cmp.Diff(want, r.hub.last(t)); diff != "" {
		t.Error(diff)
	}
	if got := text(t, ask(`{}`)); got != `{"files":[]}`+"\n" {
		t.Errorf("nothing is suggested as %s", got)
	}
	many := text(t, ask(`{"suggestions":[`+strings.Repeat(`{"path":"x"},`, 10_000)+`{"path":"y"}]}`))
	if n := strings.Count(many, `"x"`); n != maxFiles {
		t.Errorf("%d files are suggested", n)
	}
	expectProblem(t, ask(`"all"`), 422, api.CodeRefused)
	r.hub.err = api.Errorf(422, api.CodeUnsupported, "not this version")
	expectProblem(t, ask(""), 422, api.CodeUnsupported)
	r.hub.err = nil
	expectProblem(t, r.do(t, observeToken, "GET", "/v1/sessions/s1/files", ""), 403, api.CodeForbidden)
	expectProblem(t, r.do(t, promptToken, "GET", "/v1/sessions/s1/files?q="+strings.Repeat("x", 1025), ""), 422, api.CodeInvalid)
}

package v1

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
	"github.com/switchboard-dev/switchboard/wire"
)

func TestExport(t *testing.T) {
	r, lab := newHubRig(t)
	id := lab.Dial(api.CreateSession{}).Session
	for _, test := range []struct{ query, kind, name string }{
		{"", "application/jsonl", id + ".jsonl"},
		{"?format=jsonl", "application/jsonl", id + ".jsonl"},
		{"?format=events", "application/jsonl", id + ".events.jsonl"},
		{"?format=markdown", "text/markdown; charset=utf-8", id + ".md"},
	} {
		t.Run(test.query, func(t *testing.T) {
			res := r.do(t, observeToken, "GET", "/v1/sessions/"+id+"/export"+test.query, "")
			if got := text(t, res); res.StatusCode != 200 {
				t.Errorf("%d %s", res.StatusCode, got)
			}
			want := map[string]string{
				"Content-Type": test.kind, "Content-Disposition": `attachment; filename="` + test.name + `"`,
				"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox",
			}
			for name, value := range want {
				if got := res.Header.Get(name); got != value {
					t.Errorf("%s: %q, want %q", name, got, value)
				}
			}
		})
	}
	res := r.do(t, observeToken, "GET", "/v1/sessions/none/export", "")
	expectProblem(t, res, 404, api.CodeNotFound)
	if got := res.Header.Get("Content-Disposition"); got != "" {
		t.Errorf("an error is offered as the file %s", got)
	}
	t.Run("wrong", func(t *testing.T) {
		r := newRig(t, nil, nil)
		expectProblem(t, r.do(t, observeToken, "GET", "/v1/sessions/s1/export?format=exe", ""), 422, api.CodeInvalid)
		for _, path := range []string{"/v1/sessions/%2e%2e/export", "/v1/sessions/..%2F..%2Fetc/export", "/v1/sessions/a%22b/export", "/v1/sessions/a%0d%0ab/export"} {
			expectProblem(t, r.do(t, observeToken, "GET", path, ""), 422, api.CodeInvalid)
		}
	})
}

// A download that fails is an error, or is cut: it is never taken for a whole one.
func TestDownload(t *testing.T) {
	r := newRig(t, nil, nil)
	serve := func(path, content string, err error) {
		r.server.operations.HandleFunc("GET "+path, func(w http.ResponseWriter, req *http.Request) {
			d := &download{w: w, kind: "text/plain", name: "x.txt"}
			if content != "" {
				_, _ = d.Write([]byte(content))
			}
			r.server.download(req.Context(), "export-session", d, err)
		})
	}
	serve("/v1/empty", "", nil)
	res := r.do(t, observeToken, "GET", "/v1/empty", "")
	if got := text(t, res); res.StatusCode != 200 || got != "" || res.Header.Get("Content-Disposition") == "" {
		t.Errorf("%d %q %v", res.StatusCode, got, res.Header)
	}
	serve("/v1/refused", "", api.Errorf(503, api.CodeStorage, "There is no room"))
	res = r.do(t, observeToken, "GET", "/v1/refused", "")
	expectProblem(t, res, 503, api.CodeStorage)
	if got := res.Header.Get("Content-Disposition"); got != "" {
		t.Errorf("an error is offered as the file %s", got)
	}
	serve("/v1/half", strings.Repeat("x", 1<<20), errors.New("secret"))
	if _, err := io.ReadAll(r.do(t, observeToken, "GET", "/v1/half", "").Body); err == nil {
		t.Error("half a download looks like a whole one")
	}
	r.http.Close() // the log is written to until then
	if !strings.Contains(r.log.String(), "secret") {
		t.Errorf("log %s", r.log)
	}
}

// What the library is asked for is what it tells.
func TestLibraryFilters(t *testing.T) {
	var now atomic.Pointer[time.Time]
	day := func(n int) { now.Store(new(time.Date(2026, 3, n, 12, 0, 0, 0, time.UTC))) }
	day(1)
	lab := servertest.New(t, &servertest.Options{Hub: func(o *hub.Options) { o.Now = func() time.Time { return *now.Load() } }})
	w := &world{rig: newRig(t, lab, nil), t: t, lab: lab}
	// A person decides in one, a rule in two, two days later.
	one, two := w.of(t), w.of(t)
	const prompt = "@tool Bash {\"command\":\"touch x\"}\n@say pudding"
	asks(prompt)(one)
	if _, err := lab.Hub.Answer(t.Context(), servertest.Admin, one.names["question"], api.Answer{Decision: "deny"}); err != nil {
		t.Fatal(err)
	}
	over := func(s *api.Session) bool { return s.State == api.StateIdle && s.Cost.Turns == 1 }
	lab.Await(one.agent.Session, "the turn is over", over)
	day(3)
	ruled(api.AddRule{Rule: "Bash(touch:*)", Decision: api.RuleAllow})(two)
	if _, err := lab.Hub.Send(t.Context(), servertest.Admin, two.agent.Session, api.SendMessage{Text: prompt}); err != nil {
		t.Fatal(err)
	}
	lab.Await(two.agent.Session, "the turn is over", over)
	found := func(path string) (found []string) {
		t.Helper()
		res := w.do(t, observeToken, "GET", path, "")
		got := text(t, res)
		for name, id := range map[string]string{"one": one.agent.Session, "two": two.agent.Session} {
			if strings.Contains(got, `"`+id+`"`) {
				found = append(found, name)
			}
		}
		if res.StatusCode != 200 {
			t.Errorf("%s: %d %s", path, res.StatusCode, got)
		}
		return sorted(found)
	}
	for deadline := time.Now().Add(servertest.Patience); len(found("/v1/search?q=pudding")) < 2; { // the index follows
		if time.Now().After(deadline) {
			t.Fatal("the messages are not indexed")
		}
	}
	for path, want := range map[string]string{
		"/v1/audit":                                         "one two",
		"/v1/audit?session=" + one.agent.Session:            "one",
		"/v1/audit?session=" + two.agent.Session:            "two",
		"/v1/audit?automatic=true":                          "two",
		"/v1/audit?automatic=false":                         "one",
		"/v1/audit?since=2026-03-02T00:00:00Z":              "two",
		"/v1/audit?since=2026-03-04T00:00:00Z":              "",
		"/v1/search?q=pudding&session=" + one.agent.Session: "one",
		"/v1/search?q=pudding&session=" + two.agent.Session: "two",
		"/v1/costs":                            "one two",
		"/v1/costs?since=2026-03-02T00:00:00Z": "two",
		"/v1/costs?since=2026-03-04T00:00:00Z": "",
	} {
		if got := strings.Join(found(path), " "); got != want {
			t.Errorf("%s tells of %q, want %q", path, got, want)
		}
	}
}

// A release grants as much as it says.
func TestReleaseAmounts(t *testing.T) {
	for _, test := range []struct {
		limit string // of the budget, in JSON
		body  string
		want  float64 // beyond what is used
	}{
		{`"Turns":1`, `{"turns":3}`, 3},
		{`"USD":0.000001`, `{"usd":2.5}`, 2.5},
		{`"Wall":1000000000`, `{"seconds":90}`, 90},
	} {
		t.Run(test.body, func(t *testing.T) {
			begin := time.Now()
			var late atomic.Int64 // seconds
			lab := servertest.New(t, &servertest.Options{Hub: func(o *hub.Options) {
				o.Now = func() time.Time { return begin.Add(time.Duration(late.Load()) * time.Second) }
				if err := json.Unmarshal([]byte(`[{"Name":"little","Per":"session","Action":"ask",`+test.limit+`}]`), &o.Budgets); err != nil {
					t.Fatal(err)
				}
			}})
			w := &world{rig: newRig(t, lab, nil), t: t, lab: lab}
			w = w.of(t)
			asking(w)
			late.Store(10)
			if _, err := lab.Hub.Answer(t.Context(), servertest.Admin, w.names["question"], api.Answer{Decision: "deny"}); err != nil {
				t.Fatal(err)
			}
			lab.Await(w.agent.Session, "it is held back", func(s *api.Session) bool { return len(s.Holds) == 1 && s.State != api.StateRunning })
			res := w.do(t, adminToken, "POST", w.fill("/v1/sessions/{session}/release"), test.body)
			got := strictly[api.Session](t, text(t, res))
			if len(got.Holds) > 0 || len(got.Budgets) != 1 || math.Abs(got.Budgets[0].Limit-got.Budgets[0].Used-test.want) > 1e-9 {
				t.Errorf("%d, it has %+v and %+v, want %v more", res.StatusCode, got.Holds, got.Budgets, test.want)
			}
		})
	}
}

func TestLogin(t *testing.T) {
	r := newRig(t, nil, nil)
	res := r.do(t, "", "POST", "/v1/login", `{"code":"abc","name":"tab"}`)
	if got := text(t, res); res.StatusCode != 201 || !strings.Contains(got, `"text":"sb_t2_secret"`) {
		t.Errorf("%d %s", res.StatusCode, got)
	}
	if diff := cmp.Diff(call{"Login", []any{api.Login{Code: "abc", Name: "tab"}}}, r.access.last(t)); diff != "" {
		t.Error(diff)
	}
	if res.Header.Get("Set-Cookie") != "" {
		t.Errorf("a program got a cookie: %v", res.Header)
	}
	res = r.do(t, "", "POST", "/v1/login", `{"code":"abc","cookie":true}`)
	if got := res.Header.Get("Set-Cookie"); res.StatusCode != 201 || got != "switchboard-1=half; HttpOnly" {
		t.Errorf("a browser: %d, %q", res.StatusCode, got)
	}
	res = r.do(t, observeToken, "POST", "/v1/logout", "")
	if got := res.Header.Get("Set-Cookie"); res.StatusCode != 204 || got != "switchboard-1=; Max-Age=0" {
		t.Errorf("logout: %d, %q", res.StatusCode, got)
	}
	expectProblem(t, r.do(t, "", "POST", "/v1/logout", ""), 401, api.CodeUnauthorized)
	expectProblem(t, r.do(t, "", "POST", "/v1/login", `{"code":"`+strings.Repeat("x", 129)+`"}`), 422, api.CodeInvalid)
	expectProblem(t, r.do(t, "", "POST", "/v1/login", ""), 400, api.CodeInvalid)
	expectProblem(t, r.do(t, "", "GET", "/v1/login", ""), 401, api.CodeUnauthorized)
	r.access.err = api.Errorf(401, api.CodeUnauthorized, "The code is not good")
	expectProblem(t, r.do(t, "", "POST", "/v1/login", `{"code":"abc"}`), 401, api.CodeUnauthorized)
	r.server.Close("")
	expectProblem(t, r.do(t, "", "POST", "/v1/login", `{"code":"abc"}`), 503, api.CodeClosing)
}

// Nobody gives away what they do not have.
func TestTokensOfTheirMaker(t *testing.T) {
	const limited = "sb_limited_0123456789012345678901234567890123456789"
	token, err := access.ParseToken(limited, "tester", access.ScopesOf(wire.ScopeObserve, wire.ScopeAdmin))
	if err != nil {
		t.Fatal(err)
	}
	asked := &notebook{}
	g := access.New(&access.Options{Tokens: []access.Token{token}})
	r := &rig{server: New(nil, nil, g, &Options{Tokens: fakeTokens{asked}})}
	r.serve(t, g)
	expectProblem(t, r.do(t, limited, "POST", "/v1/tokens", `{"name":"x","scopes":["observe","approve"]}`), 403, api.CodeForbidden)
	expectProblem(t, r.do(t, limited, "POST", "/v1/codes", `{"scopes":["prompt"]}`), 403, api.CodeForbidden)
	expectProblem(t, r.do(t, limited, "POST", "/v1/tokens", `{"name":"x","scopes":["root"]}`), 422, api.CodeInvalid)
	expectProblem(t, r.do(t, limited, "POST", "/v1/tokens", `{"name":"x","scopes":[]}`), 422, api.CodeInvalid)
	if len(asked.calls) > 0 {
		t.Errorf("a token was made: %v", asked.calls)
	}
	if res := r.do(t, limited, "POST", "/v1/codes", `{}`); res.StatusCode != 201 {
		t.Errorf("%d %s", res.StatusCode, text(t, res))
	}
	if diff := cmp.Diff([]any{api.CreateCode{Scopes: []string{"observe", "admin"}}}, asked.last(t).Args); diff != "" {
		t.Errorf("a code for all (-want +got):\n%s", diff)
	}
}

func TestWithoutTokens(t *testing.T) {
	g := guard(t)
	r := &rig{server: New(nil, nil, g, nil)}
	r.serve(t, g)
	for _, test := range [][3]string{
		{"GET", "/v1/tokens", ""},
		{"POST", "/v1/tokens", `{"name":"x","scopes":["observe"]}`},
		{"DELETE", "/v1/tokens/t1", ""},
		{"POST", "/v1/codes", `{}`},
		{"POST", "/v1/login", `{"code":"x"}`},
	} {
		expectProblem(t, r.do(t, adminToken, test[0], test[1], test[2]), 404, api.CodeNotFound)
	}
}

// What no CLI could take is refused before the hub hears of it, and so is what
// somebody may not send.
func TestControlRefused(t *testing.T) {
	r := newRig(t, nil, nil)
	for _, test := range []struct {
		name, method, path, body string
		detail                   string
	}{
		{"no request", "POST", "/v1/sessions/s1/control", `{}`, "request"},
		{"a text", "POST", "/v1/sessions/s1/control", `{"request":"interrupt"}`, ""},
		{"a list", "POST", "/v1/sessions/s1/control", `{"request":[]}`, ""},
		{"nothing", "POST", "/v1/sessions/s1/control", `{"request":null}`, ""},
		{"no subtype", "POST", "/v1/sessions/s1/control", `{"request":{}}`, ""},
		{"a subtype that is none", "POST", "/v1/sessions/s1/control", `{"request":{"subtype":7}}`, ""},
		{"no message", "POST", "/v1/sessions/s1/rewind", `{}`, "user_message_id"},
		{"no variables", "POST", "/v1/sessions/s1/environment", `{}`, "variables"},
		{"variables that are none", "POST", "/v1/sessions/s1/environment", `{"variables":{"a":1}}`, "variables"},
		{"servers that are none", "PUT", "/v1/sessions/s1/mcp", `{"servers":[]}`, ""},
		{"no servers", "PUT", "/v1/sessions/s1/mcp", `{"servers":null}`, ""},
		{"on or off", "POST", "/v1/sessions/s1/mcp/a/toggle", `{}`, "enabled"},
		{"long name", "POST", "/v1/sessions/s1/mcp/" + strings.Repeat("x", 257) + "/reconnect", "", "path.server"},
		{"a message that is none", "POST", "/v1/sessions/s1/mcp/a/message", `{"message":"x"}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := expectProblem(t, r.do(t, adminToken, test.method, test.path, test.body), 422, api.CodeInvalid)
			if !strings.Contains(e.Detail, test.detail) {
				t.Errorf("detail %q lacks %q", e.Detail, test.detail)
			}
		})
	}
}

func TestRewindAnswers(t *testing.T) {
	r, lab := newHubRig(t)
	agent := lab.Create(api.CreateSession{})
	rewind := func(says string) *response {
		agent.Answer("rewind_files", says)
		return r.do(t, promptToken, "POST", "/v1/sessions/"+agent.Session+"/rewind", `{"user_message_id":"u","dry_run":true}`)
	}
	if got, want := strings.TrimSpace(text(t, rewind(`{"canRewind":true,"filesChanged":["/a"],"insertions":1,"deletions":2}`))), `{"can_rewind":true,"files_changed":["/a"],"insertions":1,"deletions":2}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	expectProblem(t, rewind(`"no"`), 422, api.CodeRefused)
}

// What is too long, too large or of the wrong form is refused, wherever it stands.
func TestBounds(t *testing.T) {
	r := newRig(t, nil, nil)
	long := func(n int) string { return strings.Repeat("x", n+1) }
	for _, test := range []struct{ method, path, body, where string }{
		{"GET", "/v1/sessions/" + long(64), "", "path.id"},
		{"GET", "/v1/sessions/a.b", "", "path.id"},
		{"GET", "/v1/questions/" + long(64), "", "path.id"},
		{"DELETE", "/v1/sessions/s1/messages/" + long(128), "", "path.client_id"},
		{"DELETE", "/v1/sessions/s1/rules/a%2Fb", "", "path.rule"},
		{"DELETE", "/v1/tokens/a_b", "", "path.id"},
		{"GET", "/v1/transcripts/..%2F..%2Fetc", "", "path.conversation"},
		{"GET", "/v1/transcripts/x?cursor=-1", "", "query.cursor"},
		{"GET", "/v1/transcripts?dir=" + long(4096), "", "query.dir"},
		{"GET", "/v1/folders?prefix=" + long(4096), "", "query.prefix"},
		{"GET", "/v1/folders?limit=1001", "", "query.limit"},
		{"GET", "/v1/search", "", "query.q"},
		{"GET", "/v1/search?q=" + long(1024), "", "query.q"},
		{"GET", "/v1/search?q=x&cursor=" + long(256), "", "query.cursor"},
		{"GET", "/v1/audit?since=yesterday", "", "query.since"},
		{"GET", "/v1/audit?automatic=perhaps", "", "query.automatic"},
		{"GET", "/v1/costs?by=moon", "", "query.by"},
		{"GET", "/v1/info?x=1", "", "query.x"},
		{"GET", "/v1/events?limit=1001", "", "query.limit"},
		{"POST", "/v1/tokens", `{"name":"` + long(128) + `","scopes":["observe"]}`, "body.name"},
		{"POST", "/v1/tokens", `{"name":"x","scopes":["observe"],"ttl":-1}`, "body.ttl"},
		{"POST", "/v1/policy/test", `{"limit":101}`, "body.limit"},
		{"PUT", "/v1/policy/file", `{"hash":"x","text":"` + long(1<<20) + `"}`, "body.text"},
		{"POST", "/v1/sessions", `{"dir":"` + long(4096) + `"}`, "body.dir"},
		{"POST", "/v1/sessions", `{"dir":"/","options":{"model":"` + long(256) + `"}}`, "body.options.model"},
		{"POST", "/v1/sessions", `{"dir":"/","options":{"tools":["` + long(4096) + `"]}}`, "body.options.tools[0]"},
		{"POST", "/v1/sessions", `{"dir":"/","options":{"max_turns":1000001}}`, "body.options.max_turns"},
		{"POST", "/v1/tokens", `{"name":"x","scopes":["observe","observe","observe","observe","observe"]}`, "body.scopes"},
		{"POST", "/v1/sessions/s1/rewind", `{"user_message_id":"` + long(64) + `"}`, "body.user_message_id"},
		{"POST", "/v1/transcripts/x/adopt", `{"title":"` + long(512) + `"}`, "body.title"},
	} {
		e := expectProblem(t, r.do(t, adminToken, test.method, test.path, test.body), 422, api.CodeInvalid)
		if !strings.Contains(e.Detail, test.where) {
			t.Errorf("%s %.60s: detail %q lacks %q", test.method, test.path, e.Detail, test.where)
		}
	}
}

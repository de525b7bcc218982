package v1

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/report"
)

// control is a row about a request to the CLI, which gets it as it is wanted.
func control(name, token, method, path, body, request string) operationTest {
	return operationTest{name, token, method, "/v1/sessions/{session}/" + path, body, scriptedAgent, 200, "", []string{`"request":{"subtype":` + request}, ""}
}

// scriptedAgent is the situation that a CLI answers every request.
func scriptedAgent(w *world) {
	idle(w)
	for _, subtype := range []string{
		"get_settings", "tomorrow", "get_context_usage", "mcp_status", "mcp_set_servers", "mcp_toggle", "mcp_reconnect", "mcp_message", "rewind_files",
		"update_environment_variables", "file_suggestions", "list_models",
	} {
		w.agent.Answer(subtype, `{"b":1,"a":2}`)
	}
}

// furtherOperations has the rest, those that look back or reach further.
var furtherOperations = []operationTest{
	{"archive", promptToken, "POST", "/v1/sessions/{session}/archive", "", idle, 200, `"archived":true`, nil, `"by":"tester","kind":"updated"`},
	{"presets", observeToken, "GET", "/v1/presets", "", nothing, 200, `{"presets":[]}`, nil, ""},
	{"unarchive", promptToken, "POST", "/v1/sessions/{session}/unarchive", "", idle, 200, `"id":"{session}"`, nil, ""},
	{
		"control", adminToken, "POST", "/v1/sessions/{session}/control", "{\"request\":{\"subtype\":\"get_settings\",\n\"x\": 1.50}}",
		scriptedAgent, 200, `{"response":{"b":1,"a":2}}`,
		[]string{`"request":{"subtype":"get_settings", "x": 1.50}`},
		"",
	},
	control("control that nobody knows", adminToken, "POST", "control", `{"request":{"subtype":"tomorrow","what":["ever"]}}`, `"tomorrow","what":["ever"]}`),
	{
		"rewind", adminToken, "POST", "/v1/sessions/{session}/rewind", `{"user_message_id":"u"}`,
		scriptedAgent, 200, `{"can_rewind":false}`,
		[]string{`"request":{"subtype":"rewind_files","user_message_id":"u"}`},
		"",
	},
	control("rewind, dry", promptToken, "POST", "rewind", `{"user_message_id":"u","dry_run":true}`, `"rewind_files","user_message_id":"u","dry_run":true}`),
	{
		"context", observeToken, "GET", "/v1/sessions/{session}/context", "",
		scriptedAgent, 200, `{"response":{"b":1,"a":2}}`,
		[]string{`"request":{"subtype":"get_context_usage"}`},
		"",
	},
	{"environment", adminToken, "POST", "/v1/sessions/{session}/environment", `{"variables":{"A":"b"}}`, old, 204, "", []string{`{"A":"b"}`}, ""},
	control("mcp", observeToken, "GET", "mcp", "", `"mcp_status"}`),
	control("set mcp", adminToken, "PUT", "mcp", `{"servers":{"a":{"command":"x","args":["<&>"]}}}`, `"mcp_set_servers","servers":{"a":{"command":"x","args":["<&>"]}}}`),
	control("toggle mcp", adminToken, "POST", "mcp/a%2Fb/toggle", `{"enabled":false}`, `"mcp_toggle","serverName":"a/b","enabled":false}`),
	control("reconnect mcp", adminToken, "POST", "mcp/a/reconnect", "", `"mcp_reconnect","serverName":"a"}`),
	control("message mcp", adminToken, "POST", "mcp/a/message", `{"message":{"jsonrpc":"2.0","id":1,"method":"ping"}}`, `"mcp_message","server_name":"a","message":{"jsonrpc":"2.0","id":1,"method":"ping"}}`),
	{"timeline", observeToken, "GET", "/v1/sessions/{session}/timeline", "", talked, 200, `{"items":[{`, nil, ""},
	{"timeline, one item", observeToken, "GET", "/v1/sessions/{session}/timeline?limit=1", "", talked, 200, `"next":"`, nil, ""},
	{"adopt", adminToken, "POST", "/v1/transcripts/" + onShelf + "/adopt", `{"title":"t","fork":true}`, nothing, 201, `"title":"t"`, nil, ""},
	{"explain", observeToken, "POST", "/v1/policy/explain", `{"tool":"Bash","input":{"command":"rm x"},"dir":"{dir}"}`, nothing, 200, `"rule":"Bash(rm:*)"`, nil, ""},
	{
		"explain in a session", observeToken, "POST", "/v1/policy/explain", `{"tool":"Bash","input":{"command":"ls"},"session":"{session}"}`,
		ruled(api.AddRule{Rule: "Bash(ls:*)", Decision: api.RuleDeny}), 200, `"decision":"deny"`, nil, "",
	},
	{"test rules", observeToken, "POST", "/v1/policy/test", `{"text":"deny = [\"Bash(make:*)\"]","sessions":["{session}"],"limit":3}`, asking, 200, `"calls":1`, nil, ""},
	{"test the rules in force", observeToken, "POST", "/v1/policy/test", "", nothing, 200, `"calls":`, nil, ""},
	{"policy", observeToken, "GET", "/v1/policy", "", nothing, 200, `"rule":"Bash(rm:*)"`, nil, ""},
	{"preferences", observeToken, "GET", "/v1/preferences?dir=/nowhere", "", nothing, 200, `"saved":[],"effective":{}`, nil, ""},
	{"save preferences", adminToken, "PUT", "/v1/preferences", `{"dir":"{dir}","permission_mode":"plan","allow":["Bash(ls:*)"]}`, nothing, 200, `"permission_mode":"plan","allow":["Bash(ls:*)"],"updated":"`, nil, ""},
	{"forget preferences", adminToken, "DELETE", "/v1/preferences?dir={dir}", "", nothing, 200, `{"removed":`, nil, ""},
}

// TestPages reads logs page by page, from where it is asked to.
func TestPages(t *testing.T) {
	w := newWorld(t).of(t)
	idle(w)
	w.agent.Say("{\"type\":\"assistant\",\"a\" :\t1,\r\"b\":\"<\"}", said("c", "one"), said("c", "two"))
	var log *api.EventPage
	w.lab.Await(w.agent.Session, "it is known what became of all that it was sent", func(*api.Session) bool {
		var err error
		if log, err = w.lab.Hub.Events(t.Context(), w.agent.Session, "", 0); err != nil {
			t.Fatal(err)
		}
		kinds := map[string]int{}
		for i := range log.Events {
			kinds[log.Events[i].Kind]++
		}
		return kinds[api.KindSent] > 0 && kinds[api.KindSent] == kinds[api.KindCommand]
	})
	all, err := w.lab.Hub.AllEvents(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	page := func(path string, header ...string) (p api.EventPage, raw string) {
		t.Helper()
		res := w.do(t, observeToken, "GET", path, "", header...)
		raw = text(t, res)
		if p = strictly[api.EventPage](t, raw); res.StatusCode != 200 || res.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", path, res.StatusCode, raw)
		}
		return p, raw
	}
	ids := func(events []api.Event) (ids []string) {
		for i := range events {
			ids = append(ids, events[i].ID)
		}
		return ids
	}
	path, want := w.fill("/v1/sessions/{session}/events"), ids(log.Events)
	for _, test := range []struct {
		query, last string
		from, to    int
	}{
		{"", "", 0, len(want)}, {"?limit=2", "", 0, 2}, {"?limit=2&after=" + want[1], "", 2, 4}, {"?limit=1&cursor=" + want[2], "", 3, 4}, {"?limit=1&after=" + want[0], want[2], 3, 4},
	} {
		p, raw := page(path+test.query, "Last-Event-ID", test.last)
		if diff := cmp.Diff(want[test.from:test.to], ids(p.Events)); diff != "" || p.Next != want[test.to-1] || p.More != (test.to < len(want)) || p.Resume != "ok" {
			t.Errorf("%s: %s\n-want +got:\n%s", test.query, raw, diff)
		}
		if test.query == "" && !strings.Contains(raw, "\"line\":{\"type\":\"assistant\",\"a\" :\t1,\r\"b\":\"<\"}") {
			t.Errorf("a line is not as it came: %s", raw)
		}
	}
	p, _ := page("/v1/events?limit=3")
	if diff := cmp.Diff(ids(all.Events[:3]), ids(p.Events)); diff != "" || p.Next == "" {
		t.Errorf("all: %s", diff)
	}
	rest, _ := page("/v1/events?kinds=line&types=assistant&cursor=" + p.Next)
	if len(rest.Events) != 3 || rest.Next != all.Next {
		t.Errorf("the rest of all is %+v", rest)
	}
}

// TestRulesFile reads the rules file, replaces it, and confirms what it allows.
func TestRulesFile(t *testing.T) {
	w := newWorld(t)
	var file api.RulesFile
	get := func() {
		t.Helper()
		file = strictly[api.RulesFile](t, text(t, w.do(t, adminToken, "GET", "/v1/policy/file", "")))
	}
	get()
	if file.Text != "ask = [\"Bash(rm:*)\"]\n" || file.Hash == "" {
		t.Fatalf("the file is %+v", file)
	}
	put := func(text, hash string) *response {
		return w.do(t, adminToken, "PUT", "/v1/policy/file", marshalled(t, api.ReplaceRules{Text: text, Hash: hash}))
	}
	expectProblem(t, put("deny = []", "another"), 409, api.CodeConflict)
	expectProblem(t, put("deny = [", file.Hash), 422, api.CodeInvalid)
	res := put("allow = [\"Bash(ls:*)\"]\n", file.Hash)
	policy := strictly[api.Policy](t, text(t, res))
	if res.StatusCode != 200 || policy.Pending == nil || len(policy.Pending.Widens) == 0 {
		t.Fatalf("%d, it allows at once: %+v", res.StatusCode, policy)
	}
	get()
	if file.Text != "allow = [\"Bash(ls:*)\"]\n" {
		t.Errorf("the file is %+v", file)
	}
	expectProblem(t, w.do(t, adminToken, "POST", "/v1/policy/confirm", `{"sum":"abc"}`), 409, api.CodeConflict)
	if res := w.do(t, adminToken, "POST", "/v1/policy/confirm", `{"sum":"`+policy.Pending.Sum+`"}`); res.StatusCode != 200 {
		t.Errorf("confirming: %d %s", res.StatusCode, text(t, res))
	}
	if got := text(t, w.do(t, observeToken, "GET", "/v1/policy", "")); !strings.Contains(got, `"rule":"Bash(ls:*)"`) || strings.Contains(got, "pending") {
		t.Errorf("in force is %s", got)
	}
}

// What is asked of the disk gets there.
func TestDisk(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct {
		path, answer string
		want         call
	}{
		{
			"/v1/transcripts?dir=%2Ftmp&conversation=0b1c&limit=9", `"conversation":"` + onShelf + `"`,
			call{"Transcripts", []any{report.TranscriptQuery{Dir: "/tmp", Prefix: "0b1c", Limit: 10}}},
		},
		{
			"/v1/transcripts?q=a+word", `"title":"Blog"`,
			call{"SearchTranscripts", []any{report.TranscriptQuery{Limit: 100}, "a word"}},
		},
		{"/v1/transcripts/0b1c-2d?dir=%2Ftmp&cursor=1&limit=1", `{"lines":[{"type":"user","n":1}],"next":2,"more":true}`, call{"ReadTranscript", []any{"/tmp", "0b1c-2d"}}},
		{"/v1/folders?prefix=%2Fho&limit=9", `"path":"/hox"`, call{"Folders", []any{"/ho", 9}}},
	} {
		res := w.do(t, adminToken, "GET", test.path, "")
		got := text(t, res)
		if res.StatusCode != 200 || !strings.Contains(got, test.answer) {
			t.Errorf("%s: %d %s", test.path, res.StatusCode, got)
		}
		if !slices.ContainsFunc(w.disk.calls, func(c call) bool { return cmp.Equal(c, test.want) }) {
			t.Errorf("%s: asked was %v, want %v", test.path, w.disk.calls, test.want)
		}
		w.disk.calls = nil
	}
}

// An accessTest is a request about tokens or devices, and what is asked of those that
// keep them.
type accessTest struct {
	name, method, path, body string
	status                   int
	want                     call
	answer                   string // part of it
}

var accessTests = []accessTest{
	{"tokens", "GET", "/v1/tokens", "", 200, call{"ListTokens", nil}, `{"tokens":[]}`},
	{
		"make a token", "POST", "/v1/tokens", `{"name":"phone","scopes":["observe","approve"],"ttl":60}`,
		201,
		call{"CreateToken", []any{api.CreateToken{Name: "phone", Scopes: []string{"observe", "approve"}, TTL: 60}}},
		`"text":"sb_t1_secret"`,
	},
	{"revoke a token", "DELETE", "/v1/tokens/t1", "", 204, call{"RevokeToken", []any{"t1"}}, ""},
	{"revoke other devices", "DELETE", "/v1/devices", "", 200, call{"RevokeDevices", nil}, `{"revoked":["t3"]}`},
	{
		"open to phones", "POST", "/v1/phone", `{"listen":"192.168.1.20"}`,
		200,
		call{"OpenPhone", []any{api.OpenPhone{Listen: "192.168.1.20"}}},
		`"fingerprint":"AB"`,
	},
	{"relays", "GET", "/v1/relays", "", 200, call{"ListRelays", nil}, `{"relays":[]}`},
	{
		"attach a relay", "POST", "/v1/relays", `{"url":"ws://127.0.0.1:8766/ws","rules":true}`,
		201,
		call{"AttachRelay", []any{api.AttachRelay{URL: "ws://127.0.0.1:8766/ws", Rules: true}}},
		`"id":"r1"`,
	},
	{"detach a relay", "DELETE", "/v1/relays/r1", "", 204, call{"DetachRelay", []any{"r1"}}, ""},
	{"nodes", "GET", "/v1/nodes", "", 200, call{"ListNodes", nil}, `{"nodes":[]}`},
	{"a node", "GET", "/v1/nodes/gpu-1", "", 200, call{"GetNode", []any{"gpu-1"}}, `"id":"n1"`},
	{
		"invite a node", "POST", "/v1/nodes/invitations", `{"name":"gpu-1","labels":{"gpu":"h100"},"ttl":60}`,
		201,
		call{"InviteNode", []any{api.InviteNode{Name: "gpu-1", Labels: map[string]string{"gpu": "h100"}, TTL: 60}}},
		`"code":"abc"`,
	},
	{"drain a node", "POST", "/v1/nodes/gpu-1/drain", `{"draining":true}`, 200, call{"DrainNode", []any{"gpu-1", true}}, `"id":"n1"`},
	{"revoke a node", "POST", "/v1/nodes/gpu-1/revoke", "", 200, call{"RevokeNode", []any{"gpu-1"}}, `"id":"n1"`},
	{"forget a node", "DELETE", "/v1/nodes/gpu-1", "", 204, call{"ForgetNode", []any{"gpu-1"}}, ""},
	{"close to phones", "DELETE", "/v1/phone", "", 204, call{"ClosePhone", nil}, ""},
	{
		"make a code", "POST", "/v1/codes", `{"name":"laptop","scopes":["observe"]}`,
		201,
		call{"CreateCode", []any{api.CreateCode{Name: "laptop", Scopes: []string{"observe"}}}},
		`"code":"abc"`,
	},
	{
		"make a code for everything", "POST", "/v1/codes", "",
		201,
		call{"CreateCode", []any{api.CreateCode{Scopes: []string{"observe", "prompt", "approve", "admin"}}}},
		"",
	},
}

// accessOperations are those and other requests of an administrator, to be refused to
// others.
func accessOperations() (all []operationTest) {
	for _, test := range accessTests {
		if test.want.Method == "ListNodes" || test.want.Method == "GetNode" {
			all = append(all, operationTest{name: test.name, token: observeToken, method: test.method, path: test.path, body: test.body})
			continue
		}
		all = append(all, operationTest{name: test.name, token: adminToken, method: test.method, path: test.path, body: test.body})
	}
	for _, path := range []string{"/v1/transcripts", "/v1/transcripts/" + onShelf, "/v1/folders", "/v1/policy/file", "/v1/backup"} {
		all = append(all, operationTest{name: path, token: adminToken, method: http.MethodGet, path: path})
	}
	return append(
		all,
		operationTest{name: "confirm", token: adminToken, method: http.MethodPost, path: "/v1/policy/confirm", body: `{"sum":"abc"}`},
		operationTest{name: "replace rules", token: adminToken, method: http.MethodPut, path: "/v1/policy/file", body: `{"text":"y","hash":"h"}`},
		operationTest{name: "sessions", token: observeToken, method: http.MethodGet, path: "/v1/sessions"},
		operationTest{name: "events", token: observeToken, method: http.MethodGet, path: "/v1/sessions/s1/events"},
		operationTest{name: "all events", token: observeToken, method: http.MethodGet, path: "/v1/events"},
		operationTest{name: "questions", token: observeToken, method: http.MethodGet, path: "/v1/questions"},
		operationTest{name: "search", token: observeToken, method: http.MethodGet, path: "/v1/search?q=x"},
		operationTest{name: "audit", token: observeToken, method: http.MethodGet, path: "/v1/audit"},
		operationTest{name: "costs", token: observeToken, method: http.MethodGet, path: "/v1/costs"},
		operationTest{name: "drift", token: observeToken, method: http.MethodGet, path: "/v1/drift"},
		operationTest{name: "budgets", token: observeToken, method: http.MethodGet, path: "/v1/budgets"},
		operationTest{name: "export", token: observeToken, method: http.MethodGet, path: "/v1/sessions/s1/export"},
	)
}

func TestAccessOperations(t *testing.T) {
	r := newRig(t, nil, nil)
	for _, test := range accessTests {
		t.Run(test.name, func(t *testing.T) {
			res := r.do(t, adminToken, test.method, test.path, test.body)
			body := text(t, res)
			if res.StatusCode != test.status || !strings.Contains(body, test.answer) {
				t.Errorf("%d %s, want %d with %s", res.StatusCode, body, test.status, test.answer)
			}
			if diff := cmp.Diff(test.want, r.access.last(t)); diff != "" {
				t.Errorf("asked otherwise (-want +got):\n%s", diff)
			}
		})
	}
}

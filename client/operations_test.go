package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
)

// A request is what a method asks the server.
type request struct{ Method, Path, Body string }

// An operation is a call of a method, and the request that it makes.
type operation struct {
	name string
	do   func(context.Context) (any, error)
	want request
}

// operations are all that have an answer in JSON.
func operations(c *client.Client) []operation {
	title := "t"
	return []operation{
		{"Info", func(ctx context.Context) (any, error) { return c.Info(ctx) }, request{"GET", "/v1/info", ""}},
		{"Create", func(ctx context.Context) (any, error) {
			return c.Create(ctx, api.CreateSession{Dir: "/a", Options: api.SessionOptions{Settings: json.RawMessage(`{"a":"<"}`)}})
		}, request{"POST", "/v1/sessions", `{"dir":"/a","options":{"settings":{"a":"<"}}}`}},
		{"List", func(ctx context.Context) (any, error) { return c.List(ctx, api.SessionFilter{}) }, request{"GET", "/v1/sessions", ""}},
		{"List some", func(ctx context.Context) (any, error) {
			return c.List(ctx, api.SessionFilter{State: []api.State{"idle", "ended"}, Dir: "/a b", Text: "&", Archived: true, Node: "gpu-1", Cursor: "c", Limit: 3})
		}, request{"GET", "/v1/sessions?archived=true&cursor=c&dir=%2Fa+b&limit=3&node=gpu-1&q=%26&state=idle%2Cended", ""}},
		{"Session", func(ctx context.Context) (any, error) { return c.Session(ctx, "a/b") }, request{"GET", "/v1/sessions/a%2Fb", ""}},
		{"Update", func(ctx context.Context) (any, error) { return c.Update(ctx, "s", api.UpdateSession{Title: &title}) }, request{"PATCH", "/v1/sessions/s", `{"title":"t"}`}},
		{"Send", func(ctx context.Context) (any, error) { return c.Send(ctx, "s", api.SendMessage{Text: "<hi>"}) }, request{"POST", "/v1/sessions/s/messages", `{"text":"<hi>"}`}},
		{"EditMessage", func(ctx context.Context) (any, error) {
			return c.EditMessage(ctx, "s", "c/1", api.EditMessage{Text: "x"})
		}, request{"PATCH", "/v1/sessions/s/messages/c%2F1", `{"text":"x"}`}},
		{"TakeBack", func(ctx context.Context) (any, error) { return c.TakeBack(ctx, "s", "c") }, request{"DELETE", "/v1/sessions/s/messages/c", ""}},
		{"Interrupt", func(ctx context.Context) (any, error) {
			return c.Interrupt(ctx, "s", api.Interrupt{CancelQueued: true})
		}, request{"POST", "/v1/sessions/s/interrupt", `{"cancel_queued":true}`}},
		{"Stop", func(ctx context.Context) (any, error) { return c.Stop(ctx, "s", api.Stop{}) }, request{"POST", "/v1/sessions/s/stop", `{}`}},
		{"Resume", func(ctx context.Context) (any, error) { return c.Resume(ctx, "s", api.Resume{Force: true}) }, request{"POST", "/v1/sessions/s/resume", `{"force":true}`}},
		{"Retry", func(ctx context.Context) (any, error) { return c.Retry(ctx, "s") }, request{"POST", "/v1/sessions/s/retry", ""}},
		{"Fork", func(ctx context.Context) (any, error) { return c.Fork(ctx, "s", api.Fork{At: "u"}) }, request{"POST", "/v1/sessions/s/fork", `{"at":"u"}`}},
		{"Questions", func(ctx context.Context) (any, error) {
			return c.Questions(ctx, api.QuestionFilter{State: api.QuestionOpen, Session: "s", Kind: api.QuestionPlan, Prefix: "q7x", Cursor: "c", Limit: 2})
		}, request{"GET", "/v1/questions?cursor=c&kind=plan&limit=2&prefix=q7x&session=s&state=open", ""}},
		{"Question", func(ctx context.Context) (any, error) { return c.Question(ctx, "q") }, request{"GET", "/v1/questions/q", ""}},
		{"Answer", func(ctx context.Context) (any, error) { return c.Answer(ctx, "q", api.Answer{Decision: "allow"}) }, request{"POST", "/v1/questions/q/answer", `{"decision":"allow"}`}},
		{"Answer a plan", func(ctx context.Context) (any, error) {
			return c.Answer(ctx, "q", api.Answer{Outcome: api.PlanFresh, Plan: new(""), NoPrompts: true})
		}, request{"POST", "/v1/questions/q/answer", `{"outcome":"fresh","plan":"","no_prompts":true}`}},
		{"Answer for good", func(ctx context.Context) (any, error) {
			return c.Answer(ctx, "q", api.Answer{Decision: "allow", Always: &api.Always{Suggestion: new(0)}})
		}, request{"POST", "/v1/questions/q/answer", `{"decision":"allow","always":{"suggestion":0}}`}},
		{"AddRule", func(ctx context.Context) (any, error) {
			return c.AddRule(ctx, "s", api.AddRule{Rule: "Bash(a > b)", Decision: api.RuleDeny, For: 60})
		}, request{"POST", "/v1/sessions/s/rules", `{"rule":"Bash(a > b)","decision":"deny","for":60}`}},
		{"RemoveRule", func(ctx context.Context) (any, error) { return c.RemoveRule(ctx, "s", "r/1") }, request{"DELETE", "/v1/sessions/s/rules/r%2F1", ""}},
		{"Preferences", func(ctx context.Context) (any, error) { return c.Preferences(ctx, "/a b") }, request{"GET", "/v1/preferences?dir=%2Fa+b", ""}},
		{"SavePreferences", func(ctx context.Context) (any, error) {
			return c.SavePreferences(ctx, api.SavePreferences{Dir: "/a", Preferences: api.Preferences{Model: "opus"}})
		}, request{"PUT", "/v1/preferences", `{"dir":"/a","model":"opus"}`}},
		{"ForgetPreferences", func(ctx context.Context) (any, error) { return c.ForgetPreferences(ctx, "/a") }, request{"DELETE", "/v1/preferences?dir=%2Fa", ""}},
		{"ForgetAllPreferences", func(ctx context.Context) (any, error) { return c.ForgetAllPreferences(ctx) }, request{"DELETE", "/v1/preferences?all=true", ""}},
		{"Policy", func(ctx context.Context) (any, error) { return c.Policy(ctx) }, request{"GET", "/v1/policy", ""}},
		{"ConfirmPolicy", func(ctx context.Context) (any, error) {
			return c.ConfirmPolicy(ctx, api.ConfirmPolicy{Sum: "abc"})
		}, request{"POST", "/v1/policy/confirm", `{"sum":"abc"}`}},
		{"Release", func(ctx context.Context) (any, error) {
			return c.Release(ctx, "s", api.Release{Hold: "h", USD: 1.5})
		}, request{"POST", "/v1/sessions/s/release", `{"hold":"h","usd":1.5}`}},
		{"Release all", func(ctx context.Context) (any, error) { return c.Release(ctx, "s", api.Release{}) }, request{"POST", "/v1/sessions/s/release", `{}`}},
		{"Events", func(ctx context.Context) (any, error) { return c.Events(ctx, "s", "e:1", 5) }, request{"GET", "/v1/sessions/s/events?after=e%3A1&limit=5", ""}},
		{"AllEvents", func(ctx context.Context) (any, error) { return c.AllEvents(ctx, "g:1", 5) }, request{"GET", "/v1/events?after=g%3A1&limit=5", ""}},
		{"Control", func(ctx context.Context) (any, error) {
			return c.Control(ctx, "s", api.Control{Request: json.RawMessage(`{"subtype":"<"}`)})
		}, request{"POST", "/v1/sessions/s/control", `{"request":{"subtype":"<"}}`}},
		{"Rewind", func(ctx context.Context) (any, error) {
			return c.Rewind(ctx, "s", api.Rewind{UserMessageID: "u", DryRun: true})
		}, request{"POST", "/v1/sessions/s/rewind", `{"user_message_id":"u","dry_run":true}`}},
		{"Context", func(ctx context.Context) (any, error) { return c.Context(ctx, "s") }, request{"GET", "/v1/sessions/s/context", ""}},
		{"Files", func(ctx context.Context) (any, error) { return c.Files(ctx, "s", "a b") }, request{"GET", "/v1/sessions/s/files?q=a+b", ""}},
		{"MCP", func(ctx context.Context) (any, error) { return c.MCP(ctx, "s") }, request{"GET", "/v1/sessions/s/mcp", ""}},
		{"SetMCPServers", func(ctx context.Context) (any, error) {
			return c.SetMCPServers(ctx, "s", api.SetMCPServers{Servers: json.RawMessage(`{"a":{}}`)})
		}, request{"PUT", "/v1/sessions/s/mcp", `{"servers":{"a":{}}}`}},
		{"ToggleMCPServer", func(ctx context.Context) (any, error) {
			return c.ToggleMCPServer(ctx, "s", "a/b", api.ToggleMCPServer{Enabled: true})
		}, request{"POST", "/v1/sessions/s/mcp/a%2Fb/toggle", `{"enabled":true}`}},
		{"ReconnectMCPServer", func(ctx context.Context) (any, error) { return c.ReconnectMCPServer(ctx, "s", "a") }, request{"POST", "/v1/sessions/s/mcp/a/reconnect", ""}},
		{"SendMCPMessage", func(ctx context.Context) (any, error) {
			return c.SendMCPMessage(ctx, "s", "a", json.RawMessage(`{"jsonrpc":"2.0"}`))
		}, request{"POST", "/v1/sessions/s/mcp/a/message", `{"message":{"jsonrpc":"2.0"}}`}},
		{"Archive", func(ctx context.Context) (any, error) { return c.Archive(ctx, "s") }, request{"POST", "/v1/sessions/s/archive", ""}},
		{"Unarchive", func(ctx context.Context) (any, error) { return c.Unarchive(ctx, "s") }, request{"POST", "/v1/sessions/s/unarchive", ""}},
		{"Search", func(ctx context.Context) (any, error) {
			return c.Search(ctx, api.SearchFilter{Text: "a b", Session: "s", Cursor: "c", Limit: 3})
		}, request{"GET", "/v1/search?cursor=c&limit=3&q=a+b&session=s", ""}},
		{"Timeline", func(ctx context.Context) (any, error) { return c.Timeline(ctx, "s", "e:1", 9) }, request{"GET", "/v1/sessions/s/timeline?after=e%3A1&limit=9", ""}},
		{"Audit", func(ctx context.Context) (any, error) {
			return c.Audit(ctx, api.AuditFilter{Session: "s", Automatic: new(false), Refused: true, Since: time.Unix(1, 5).UTC(), Cursor: "c", Limit: 1})
		}, request{"GET", "/v1/audit?automatic=false&cursor=c&limit=1&refused=true&session=s&since=1970-01-01T00%3A00%3A01.000000005Z", ""}},
		{"Costs", func(ctx context.Context) (any, error) {
			return c.Costs(ctx, api.CostFilter{By: "day", Since: time.Unix(1, 0).UTC()})
		}, request{"GET", "/v1/costs?by=day&since=1970-01-01T00%3A00%3A01Z", ""}},
		{"Drift", func(ctx context.Context) (any, error) { return c.Drift(ctx) }, request{"GET", "/v1/drift", ""}},
		{"Budgets", func(ctx context.Context) (any, error) { return c.Budgets(ctx) }, request{"GET", "/v1/budgets", ""}},
		{"Transcripts", func(ctx context.Context) (any, error) {
			return c.Transcripts(ctx, api.TranscriptFilter{Dir: "/a", Conversation: "0b", Text: "a word", Node: "gpu-1", Cursor: "c", Limit: 2})
		}, request{"GET", "/v1/transcripts?conversation=0b&cursor=c&dir=%2Fa&limit=2&node=gpu-1&q=a+word", ""}},
		{"Transcript", func(ctx context.Context) (any, error) { return c.Transcript(ctx, "../x", "/a", 4, 2) }, request{"GET", "/v1/transcripts/..%2Fx?cursor=4&dir=%2Fa&limit=2", ""}},
		{"TranscriptOn", func(ctx context.Context) (any, error) { return c.TranscriptOn(ctx, "gpu-1", "u", "", 0, 0) }, request{"GET", "/v1/transcripts/u?node=gpu-1", ""}},
		{"Adopt", func(ctx context.Context) (any, error) {
			return c.Adopt(ctx, "u", api.Adopt{ClientID: "c", Fork: true})
		}, request{"POST", "/v1/transcripts/u/adopt", `{"client_id":"c","fork":true}`}},
		{"Presets", func(ctx context.Context) (any, error) { return c.Presets(ctx) }, request{"GET", "/v1/presets", ""}},
		{"Folders", func(ctx context.Context) (any, error) { return c.Folders(ctx, "/ho", 5) }, request{"GET", "/v1/folders?limit=5&prefix=%2Fho", ""}},
		{"FoldersOn", func(ctx context.Context) (any, error) { return c.FoldersOn(ctx, "gpu-1", "/ho", 0) }, request{"GET", "/v1/folders?node=gpu-1&prefix=%2Fho", ""}},
		{"RulesFile", func(ctx context.Context) (any, error) { return c.RulesFile(ctx) }, request{"GET", "/v1/policy/file", ""}},
		{"ReplaceRules", func(ctx context.Context) (any, error) {
			return c.ReplaceRules(ctx, api.ReplaceRules{Text: "t", Hash: "h"})
		}, request{"PUT", "/v1/policy/file", `{"text":"t","hash":"h"}`}},
		{"Explain", func(ctx context.Context) (any, error) { return c.Explain(ctx, api.ExplainCall{Tool: "Bash"}) }, request{"POST", "/v1/policy/explain", `{"tool":"Bash"}`}},
		{"TestRules", func(ctx context.Context) (any, error) { return c.TestRules(ctx, api.TestRules{Limit: 3}) }, request{"POST", "/v1/policy/test", `{"limit":3}`}},
		{"Tokens", func(ctx context.Context) (any, error) { return c.Tokens(ctx) }, request{"GET", "/v1/tokens", ""}},
		{"CreateToken", func(ctx context.Context) (any, error) {
			return c.CreateToken(ctx, api.CreateToken{Name: "n", Scopes: []string{"observe"}, TTL: 60})
		}, request{"POST", "/v1/tokens", `{"name":"n","scopes":["observe"],"ttl":60}`}},
		{"CreateCode", func(ctx context.Context) (any, error) { return c.CreateCode(ctx, api.CreateCode{Name: "n"}) }, request{"POST", "/v1/codes", `{"name":"n"}`}},
		{"RevokeDevices", func(ctx context.Context) (any, error) { return c.RevokeDevices(ctx) }, request{"DELETE", "/v1/devices", ""}},
		{"Relays", func(ctx context.Context) (any, error) { return c.Relays(ctx) }, request{"GET", "/v1/relays", ""}},
		{"AttachRelay", func(ctx context.Context) (any, error) { return c.AttachRelay(ctx, api.AttachRelay{URL: "u"}) }, request{"POST", "/v1/relays", `{"url":"u"}`}},
		{"Nodes", func(ctx context.Context) (any, error) { return c.Nodes(ctx) }, request{"GET", "/v1/nodes", ""}},
		{"Node", func(ctx context.Context) (any, error) { return c.Node(ctx, "n") }, request{"GET", "/v1/nodes/n", ""}},
		{"InviteNode", func(ctx context.Context) (any, error) { return c.InviteNode(ctx, api.InviteNode{Name: "n"}) }, request{"POST", "/v1/nodes/invitations", `{"name":"n"}`}},
		{"JoinNode", func(ctx context.Context) (any, error) {
			return c.JoinNode(ctx, api.JoinNode{Code: "c", Key: "k"})
		}, request{"POST", "/v1/nodes/join", `{"code":"c","key":"k"}`}},
		{"DrainNode", func(ctx context.Context) (any, error) { return c.DrainNode(ctx, "n", true) }, request{"POST", "/v1/nodes/n/drain", `{"draining":true}`}},
		{"RevokeNode", func(ctx context.Context) (any, error) { return c.RevokeNode(ctx, "n") }, request{"POST", "/v1/nodes/n/revoke", ""}},
		{"OpenPhone", func(ctx context.Context) (any, error) { return c.OpenPhone(ctx, api.OpenPhone{Listen: "a"}) }, request{"POST", "/v1/phone", `{"listen":"a"}`}},
		{"Login", func(ctx context.Context) (any, error) { return c.Login(ctx, api.Login{Code: "c"}) }, request{"POST", "/v1/login", `{"code":"c"}`}},
	}
}

// Each method, the request that it makes, and that it reads the answer.
func TestOperations(t *testing.T) {
	var got request
	var answer string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = request{r.Method, r.URL.EscapedPath(), strings.TrimSpace(string(body))}
		if r.URL.RawQuery != "" {
			got.Path += "?" + r.URL.RawQuery
		}
		if h := r.Header.Get("Authorization"); h != "Bearer sb_a_b" {
			t.Errorf("Authorization %q", h)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answer)
	}, &client.Options{Token: "sb_a_b"})
	for _, test := range operations(c) {
		t.Run(test.name, func(t *testing.T) {
			answer = `{"id":"x","version":"v","sessions":[{"id":"x"}],"questions":[{"id":"x"}],"file":"x","next":"x","was":true,"tomorrow":[1],
				"response":"x","can_rewind":true,"items":[{"key":"x","name":"x"}],"budgets":[{"name":"x","scope":"x"}],"folders":[{"path":"x"}],"text":"x",
				"tool":"x","changed":[{"was":"x"}],"tokens":[{"id":"x"}],"code":"x","hits":[{"session":"x"}],"transcripts":[{"title":"x"}],"revoked":["x"],"fingerprint":"x","person":"x","model":"x","removed":["x"],"presets":[{"name":"x"}]}`
			switch test.name {
			case "Transcript", "TranscriptOn": // its pages are counted in lines
				answer = strings.Replace(answer, `"next":"x"`, `"next":7,"more":true`, 1)
			case "Costs": // whose tokens are those of a model
				answer = strings.Replace(answer, `"tokens":[{"id":"x"}]`, `"tokens":{"input":7}`, 1)
			case "Files":
				answer = `{"files":["x"]}`
			case "Relays":
				answer = `{"relays":[{"id":"x"}]}`
			case "Nodes", "Node", "DrainNode", "RevokeNode": // whose sessions are counted
				answer = `{"id":"x","nodes":[{"id":"x"}]}`
			case "AttachRelay": // whose sessions are ids
				answer = `{"id":"x","sessions":["x"]}`
			}
			out, err := test.do(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the request (-want +got):\n%s", diff)
			}
			if text, err := json.Marshal(out); err != nil || !strings.Contains(string(text), `"x"`) && !strings.Contains(string(text), `"v"`) && !strings.Contains(string(text), `true`) {
				t.Errorf("the answer was not read: %s, %v", text, err)
			}
			answer = `{"id":`
			if _, err := test.do(t.Context()); err == nil || !strings.Contains(err.Error(), "reading the answer") {
				t.Errorf("half an answer: %v", err)
			}
		})
	}
}

// What has no answer but that it was done.
func TestOperationsWithoutAnswer(t *testing.T) {
	var got string
	status := http.StatusNoContent
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = r.Method + " " + r.URL.EscapedPath() + " " + strings.TrimSpace(string(body))
		w.WriteHeader(status)
	}, nil)
	for want, do := range map[string]func() error{
		"DELETE /v1/phone ":        func() error { return c.ClosePhone(t.Context()) },
		"POST /v1/logout ":         func() error { return c.Logout(t.Context()) },
		"DELETE /v1/relays/a%2Fb ": func() error { return c.DetachRelay(t.Context(), "a/b") },
		"DELETE /v1/nodes/a%2Fb ":  func() error { return c.ForgetNode(t.Context(), "a/b") },
		"DELETE /v1/tokens/a%2Fb ": func() error { return c.RevokeToken(t.Context(), "a/b") },
		`POST /v1/sessions/s/environment {"variables":{"A":"b"}}`: func() error {
			return c.Environment(t.Context(), "s", api.Environment{Variables: map[string]string{"A": "b"}})
		},
	} {
		status = http.StatusNoContent
		if err := do(); err != nil || got != want {
			t.Errorf("%v, asked %s, want %s", err, got, want)
		}
		status = http.StatusForbidden
		if e, ok := errors.AsType[*api.Error](do()); !ok || e.Code != api.CodeForbidden {
			t.Errorf("%s: the error is %v", want, e)
		}
	}
}

func TestBackup(t *testing.T) {
	refused := false
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.String() != "/v1/backup" {
			t.Errorf("asked for %s %s", r.Method, r.URL)
		}
		if refused {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprint(w, "SQLite")
	}, nil)
	var b strings.Builder
	if err := c.Backup(t.Context(), &b); err != nil || b.String() != "SQLite" {
		t.Errorf("%q, %v", b.String(), err)
	}
	if err := c.Backup(t.Context(), full{}); !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "writing the backup") {
		t.Errorf("the error is %v", err)
	}
	refused = true
	if e, ok := errors.AsType[*api.Error](c.Backup(t.Context(), &b)); !ok || e.Code != api.CodeForbidden {
		t.Errorf("the error is %v", e)
	}
}

func TestExport(t *testing.T) {
	long := strings.Repeat("line\n", 1<<16)
	var how string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() != "/v1/sessions/s/export?format=markdown" {
			t.Errorf("asked for %s", r.URL)
		}
		switch how {
		case "refused":
			w.WriteHeader(http.StatusNotFound)
		case "cut":
			w.Header().Set("Content-Length", strconv.Itoa(len(long)+1))
			fmt.Fprint(w, long)
		default:
			fmt.Fprint(w, long)
		}
	}, nil)
	var b strings.Builder
	if err := c.Export(t.Context(), "s", client.ExportMarkdown, &b); err != nil || b.String() != long {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
	if err := c.Export(t.Context(), "s", client.ExportMarkdown, full{}); !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "writing the log") {
		t.Errorf("the error is %v", err)
	}
	how = "cut"
	if err := c.Export(t.Context(), "s", client.ExportMarkdown, io.Discard); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "reading the log") {
		t.Errorf("the error is %v", err)
	}
	how = "refused"
	if e, ok := errors.AsType[*api.Error](c.Export(t.Context(), "s", client.ExportMarkdown, io.Discard)); !ok || e.Code != api.CodeNotFound {
		t.Errorf("the error is %v", e)
	}
}

var errFull = errors.New("the disk is full")

// full is a disk that is.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestEveryOperation holds the requests of the tests here against the OpenAPI
// document: each operation has a method, and each method sends what its operation
// takes.
func TestEveryOperation(t *testing.T) {
	raw, err := os.ReadFile("../api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	type described struct {
		OperationID string
		Parameters  []struct {
			Name, In string
			Required bool
		}
		RequestBody *struct{ Required bool }
	}
	var document struct {
		Paths map[string]map[string]described
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	sent := []request{
		{"POST", "/v1/logout", ""},
		{"DELETE", "/v1/phone", ""},
		{"DELETE", "/v1/tokens/a", ""},
		{"DELETE", "/v1/relays/a", ""},
		{"DELETE", "/v1/nodes/a", ""},
		{"POST", "/v1/sessions/s/environment", "{}"},
		{"GET", "/v1/sessions/s/export?format=markdown", ""},
		{"GET", "/v1/backup", ""},
		// Streams.
		{"GET", "/v1/sessions/s/events?after=e&live=false&kinds=a&types=b&messages=true", ""},
		{"GET", "/v1/events?after=e&live=false&kinds=a&types=b&messages=true", ""},
	}
	for _, o := range operations(nil) {
		sent = append(sent, o.want)
	}
	// fits reports whether a path is one of a pattern.
	fits := func(pattern, path string) bool {
		want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
		if len(want) != len(got) {
			return false
		}
		for i := range want {
			if want[i] != got[i] && !strings.HasPrefix(want[i], "{") {
				return false
			}
		}
		return true
	}
	tried, given := map[string]bool{}, map[string]bool{}
	for _, r := range sent {
		path, query, _ := strings.Cut(r.Path, "?")
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for pattern, methods := range document.Paths {
			op, ok := methods[strings.ToLower(r.Method)]
			if !ok || !fits(pattern, path) {
				continue
			}
			found, tried[op.OperationID] = true, true
			for _, p := range op.Parameters {
				if p.In == "query" && p.Required && !values.Has(p.Name) {
					t.Errorf("%s lacks the parameter %s", op.OperationID, p.Name)
				}
				if p.In == "query" && values.Has(p.Name) {
					given[op.OperationID+" "+p.Name] = true
					values.Del(p.Name)
				}
			}
			if len(values) > 0 {
				t.Errorf("%s has no parameters %v", op.OperationID, values)
			}
			if r.Body != "" && op.RequestBody == nil || r.Body == "" && op.RequestBody != nil && op.RequestBody.Required {
				t.Errorf("%s with the body %q", op.OperationID, r.Body)
			}
		}
		if !found {
			t.Errorf("%s %s is no operation", r.Method, r.Path)
		}
	}
	for _, methods := range document.Paths {
		for _, op := range methods {
			if !tried[op.OperationID] {
				t.Errorf("no method is for the operation %s", op.OperationID)
			}
			for _, p := range op.Parameters {
				// Comments in the stream do for the one; the other means after.
				if p.Name == "heartbeat" || p.Name == "cursor" && given[op.OperationID+" after"] {
					continue
				}
				if p.In == "query" && !given[op.OperationID+" "+p.Name] {
					t.Errorf("no method gives the parameter %s of the operation %s", p.Name, op.OperationID)
				}
			}
		}
	}
}

package v1

import (
	"encoding/json"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// furtherOperations has the rest, those that look back or reach further.
var furtherOperations = []operationTest{
	{"archive", promptToken, "POST", "/v1/sessions/s1/archive", "", 200, call{"Update", tester, []any{"s1", api.UpdateSession{Archived: new(true)}}}, `"id":"s1"`},
	{"unarchive", promptToken, "POST", "/v1/sessions/s1/unarchive", "", 200, call{"Update", tester, []any{"s1", api.UpdateSession{Archived: new(false)}}}, ""},
	{
		"all events", observeToken, "GET", "/v1/events?after=g:1&limit=5", "",
		200,
		call{"AllEvents", hub.Actor{}, []any{"g:1", 5}},
		`"next":"g:7"}`,
	},
	{
		"all states", observeToken, "GET", "/v1/events?kinds=state&cursor=g:1", "",
		200,
		call{"AllEvents", hub.Actor{}, []any{"g:1", 0}},
		`{"resume":"ok","events":[{"id":"f:1","session":"s2","seq":1,"kind":"state","data":{}}],"next":"g:7"}`,
	},
	{
		"control", adminToken, "POST", "/v1/sessions/s1/control", "{\"request\":{\"subtype\":\"get_settings\",\n\"x\": 1.50}}",
		200,
		call{"Control", chief, []any{"s1", `{"type":"control_request","request_id":"r","request":{"subtype":"get_settings", "x": 1.50}}`}},
		`{"response":{"b":1,"a":2}}`,
	},
	{
		"control that nobody knows", adminToken, "POST", "/v1/sessions/s1/control", `{"request":{"subtype":"tomorrow","what":["ever"]}}`,
		200,
		call{"Control", chief, []any{"s1", `{"type":"control_request","request_id":"r","request":{"subtype":"tomorrow","what":["ever"]}}`}},
		"",
	},
	{
		"rewind", adminToken, "POST", "/v1/sessions/s1/rewind", `{"user_message_id":"u"}`,
		200,
		call{"Control", chief, []any{"s1", `{"type":"control_request","request_id":"r","request":{"subtype":"rewind_files","user_message_id":"u"}}`}},
		`{"can_rewind":false}`,
	},
	{
		"rewind, dry", promptToken, "POST", "/v1/sessions/s1/rewind", `{"user_message_id":"u","dry_run":true}`,
		200,
		call{"Control", tester, []any{"s1", `{"type":"control_request","request_id":"r","request":{"subtype":"rewind_files","user_message_id":"u","dry_run":true}}`}},
		"",
	},
	{
		"context", observeToken, "GET", "/v1/sessions/s1/context", "",
		200,
		call{"Control", hub.Actor{Source: "person", Name: "tester"}, []any{"s1", `{"type":"control_request","request_id":"r","request":{"subtype":"get_context_usage"}}`}},
		`{"response":{"b":1,"a":2}}`,
	},
	{
		"environment", adminToken, "POST", "/v1/sessions/s1/environment", `{"variables":{"A":"b"}}`,
		204,
		call{"Environment", chief, []any{"s1", map[string]string{"A": "b"}}},
		"",
	},
	{
		"mcp", observeToken, "GET", "/v1/sessions/s1/mcp", "",
		200,
		call{"Control", tester, []any{"s1", `{"type":"control_request","request_id":"r","request":{"subtype":"mcp_status"}}`}},
		"",
	},
	{
		"set mcp", adminToken, "PUT", "/v1/sessions/s1/mcp", `{"servers":{"a":{"command":"x","args":["<&>"]}}}`,
		200,
		call{"Control", chief, []any{"s1", `{"type":"control_request","request_id":"r","request":{"subtype":"mcp_set_servers","servers":{"a":{"command":"x","args":["<&>"]}}}}`}},
		"",
	},
	{
		"toggle mcp", adminToken, "POST", "/v1/sessions/s1/mcp/a%2Fb/toggle", `{"enabled":false}`,
		200,
		call{"Control", chief, []any{"s1", `{"type":"control_request","request_id":"r","request":{"subtype":"mcp_toggle","serverName":"a/b","enabled":false}}`}},
		"",
	},
	{
		"reconnect mcp", adminToken, "POST", "/v1/sessions/s1/mcp/a/reconnect", "",
		200,
		call{"Control", chief, []any{"s1", `{"type":"control_request","request_id":"r","request":{"subtype":"mcp_reconnect","serverName":"a"}}`}},
		"",
	},
	{
		"message mcp", adminToken, "POST", "/v1/sessions/s1/mcp/a/message", `{"message":{"jsonrpc":"2.0","id":1,"method":"ping"}}`,
		200,
		call{"Control", chief, []any{"s1", `{"type":"control_request","request_id":"r","request":{"subtype":"mcp_message","server_name":"a","message":{"jsonrpc":"2.0","id":1,"method":"ping"}}}`}},
		"",
	},
	{"timeline", observeToken, "GET", "/v1/sessions/s1/timeline", "", 200, call{"Timeline", hub.Actor{}, []any{"s1", "", 100}}, `{"items":[]}`},
	{"timeline on", observeToken, "GET", "/v1/sessions/s1/timeline?cursor=e:4&limit=2", "", 200, call{"Timeline", hub.Actor{}, []any{"s1", "e:4", 2}}, ""},
	{"timeline after", observeToken, "GET", "/v1/sessions/s1/timeline?after=e:4", "", 200, call{"Timeline", hub.Actor{}, []any{"s1", "e:4", 100}}, ""},
	{
		"search", observeToken, "GET", "/v1/search?q=two%20words&session=s1&cursor=c&limit=9", "",
		200,
		call{"Search", hub.Actor{}, []any{api.SearchFilter{Text: "two words", Session: "s1", Cursor: "c", Limit: 9}}},
		`{"hits":[]}`,
	},
	{"audit", observeToken, "GET", "/v1/audit", "", 200, call{"Audit", hub.Actor{}, []any{api.AuditFilter{Limit: 100}}}, `{"items":[]}`},
	{
		"audit some", observeToken, "GET", "/v1/audit?session=s1&automatic=false&since=2026-01-02T03:04:05Z&cursor=c&limit=9", "",
		200,
		call{"Audit", hub.Actor{}, []any{api.AuditFilter{Session: "s1", Automatic: new(false), Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Cursor: "c", Limit: 9}}},
		"",
	},
	{"audit of rules", observeToken, "GET", "/v1/audit?automatic=true", "", 200, call{"Audit", hub.Actor{}, []any{api.AuditFilter{Automatic: new(true), Limit: 100}}}, ""},
	{
		"costs", observeToken, "GET", "/v1/costs?by=day&since=2026-01-02T03:04:05Z", "",
		200,
		call{"Costs", hub.Actor{}, []any{api.CostFilter{By: "day", Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}}},
		`"items":[]`,
	},
	{"drift", observeToken, "GET", "/v1/drift", "", 200, call{"Drift", hub.Actor{}, nil}, `{"items":[]}`},
	{"budgets", observeToken, "GET", "/v1/budgets", "", 200, call{"Budgets", hub.Actor{}, nil}, `{"budgets":[]}`},
	{
		"transcripts", adminToken, "GET", "/v1/transcripts?dir=%2Ftmp&conversation=0b1c&q=a+word&cursor=c&limit=9", "",
		200,
		call{"Transcripts", hub.Actor{}, []any{api.TranscriptFilter{Dir: "/tmp", Conversation: "0b1c", Text: "a word", Cursor: "c", Limit: 9}}},
		`{"transcripts":[]}`,
	},
	{
		"transcript", adminToken, "GET", "/v1/transcripts/0b1c-2d?dir=%2Ftmp&cursor=12&limit=9", "",
		200,
		call{"Transcript", hub.Actor{}, []any{"0b1c-2d", "/tmp", 12, 9}},
		`{"lines":[{"a":1}]}`,
	},
	{"adopt", adminToken, "POST", "/v1/transcripts/0b1c-2d/adopt", "", 201, call{"Create", chief, []any{api.CreateSession{Resume: "0b1c-2d"}}}, ""},
	{
		"adopt a copy", adminToken, "POST", "/v1/transcripts/0b1c-2d/adopt", `{"client_id":"c","dir":"/tmp","title":"t","prompt":"p","fork":true,"options":{"model":"m"}}`,
		201,
		call{"Create", chief, []any{api.CreateSession{ClientID: "c", Dir: "/tmp", Title: "t", Prompt: "p", Resume: "0b1c-2d", Fork: true, Options: api.SessionOptions{Model: "m"}}}},
		"",
	},
	{"folders", adminToken, "GET", "/v1/folders?prefix=%2Fho&limit=9", "", 200, call{"Folders", hub.Actor{}, []any{"/ho", 9}}, `{"folders":[]}`},
	{"rules file", adminToken, "GET", "/v1/policy/file", "", 200, call{"RulesFile", hub.Actor{}, nil}, `{"text":"x","hash":"h"}`},
	{
		"replace rules", adminToken, "PUT", "/v1/policy/file", `{"text":"y","hash":"h"}`,
		200,
		call{"ReplaceRules", chief, []any{api.ReplaceRules{Text: "y", Hash: "h"}}},
		`{"rules":[]}`,
	},
	{
		"explain", observeToken, "POST", "/v1/policy/explain", `{"tool":"Bash","input":{"command":"ls"},"dir":"/tmp","session":"s1"}`,
		200,
		call{"Explain", hub.Actor{}, []any{api.ExplainCall{Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`), Dir: "/tmp", Session: "s1"}}},
		`"decision":"ask"`,
	},
	{
		"test rules", observeToken, "POST", "/v1/policy/test", `{"text":"y","sessions":["s1"],"limit":3}`,
		200,
		call{"TestRules", hub.Actor{}, []any{api.TestRules{Text: "y", Sessions: []string{"s1"}, Limit: 3}}},
		`"calls":3`,
	},
	{"test the rules in force", observeToken, "POST", "/v1/policy/test", "", 200, call{"TestRules", hub.Actor{}, []any{api.TestRules{}}}, ""},
	{"tokens", adminToken, "GET", "/v1/tokens", "", 200, call{"ListTokens", hub.Actor{}, nil}, `{"tokens":[]}`},
	{
		"make a token", adminToken, "POST", "/v1/tokens", `{"name":"phone","scopes":["observe","approve"],"ttl":60}`,
		201,
		call{"CreateToken", hub.Actor{}, []any{api.CreateToken{Name: "phone", Scopes: []string{"observe", "approve"}, TTL: 60}}},
		`"text":"sb_t1_secret"`,
	},
	{"revoke a token", adminToken, "DELETE", "/v1/tokens/t1", "", 204, call{"RevokeToken", hub.Actor{}, []any{"t1"}}, ""},
	{"revoke other devices", adminToken, "DELETE", "/v1/devices", "", 200, call{"RevokeDevices", hub.Actor{}, nil}, `{"revoked":["t3"]}`},
	{
		"open to phones", adminToken, "POST", "/v1/phone", `{"listen":"192.168.1.20"}`,
		200,
		call{"OpenPhone", hub.Actor{}, []any{api.OpenPhone{Listen: "192.168.1.20"}}},
		`"fingerprint":"AB"`,
	},
	{"close to phones", adminToken, "DELETE", "/v1/phone", "", 204, call{"ClosePhone", hub.Actor{}, nil}, ""},
	{
		"make a code", adminToken, "POST", "/v1/codes", `{"name":"laptop","scopes":["observe"]}`,
		201,
		call{"CreateCode", hub.Actor{}, []any{api.CreateCode{Name: "laptop", Scopes: []string{"observe"}}}},
		`"code":"abc"`,
	},
	{
		"make a code for everything", adminToken, "POST", "/v1/codes", "",
		201,
		call{"CreateCode", hub.Actor{}, []any{api.CreateCode{Scopes: []string{"observe", "prompt", "approve", "admin"}}}},
		"",
	},
}

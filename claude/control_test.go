package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// A controlCase is one method of a session, what it sends, and what it makes of the
// answer.
type controlCase struct {
	name   string
	call   func(ctx context.Context, s *Session) (any, error)
	sends  string // the request
	answer string
	want   string // as fmt's %+v of a value, or JSON of a pointer
}

// done is a call without a result.
func done(f func(ctx context.Context, s *Session) error) func(context.Context, *Session) (any, error) {
	return func(ctx context.Context, s *Session) (any, error) { return "done", f(ctx, s) }
}

func controlCases() []controlCase {
	tokens, yes := int64(4000), true
	return []controlCase{
		{"SetPermissionMode", done(func(ctx context.Context, s *Session) error { return s.SetPermissionMode(ctx, wire.PermissionModePlan) }), `{"subtype":"set_permission_mode","mode":"plan"}`, `{"mode":"plan"}`, "done"},
		{"SetMCPPermissionMode", func(ctx context.Context, s *Session) (any, error) {
			return s.SetMCPPermissionMode(ctx, "calc", wire.PermissionModeDefault)
		}, `{"mode":"default","serverName":"calc","subtype":"set_mcp_permission_mode_override"}`, `{"warning":"Nobody is there."}`, "Nobody is there."},
		{"SetMCPPermissionMode back", func(ctx context.Context, s *Session) (any, error) { return s.SetMCPPermissionMode(ctx, "calc", "") }, `{"mode":null,"serverName":"calc","subtype":"set_mcp_permission_mode_override"}`, `{}`, ""},
		{"SetModel", done(func(ctx context.Context, s *Session) error { return s.SetModel(ctx, "opus") }), `{"subtype":"set_model","model":"opus"}`, `{}`, "done"},
		{"SetModel back", done(func(ctx context.Context, s *Session) error { return s.SetModel(ctx, "") }), `{"subtype":"set_model"}`, `{}`, "done"},
		{"SetThinking", done(func(ctx context.Context, s *Session) error {
			return s.SetThinking(ctx, &tokens, wire.ThinkingDisplaySummarized)
		}), `{"subtype":"set_max_thinking_tokens","max_thinking_tokens":4000,"thinking_display":"summarized"}`, `{}`, "done"},
		{"SetThinking back", done(func(ctx context.Context, s *Session) error { return s.SetThinking(ctx, nil, "") }), `{"subtype":"set_max_thinking_tokens","max_thinking_tokens":null}`, `{}`, "done"},
		{"ApplySettings", done(func(ctx context.Context, s *Session) error {
			return s.ApplySettings(ctx, map[string]any{"model": "opus"})
		}), `{"subtype":"apply_flag_settings","settings":{"model":"opus"}}`, `{}`, "done"},
		{"Settings", func(ctx context.Context, s *Session) (any, error) { return s.Settings(ctx) }, `{"subtype":"get_settings"}`, `{"effective":{"a":1},"sources":[]}`, `{"effective":{"a":1},"sources":[]}`},
		{"UpdateSettings", done(func(ctx context.Context, s *Session) error {
			return s.UpdateSettings(ctx, wire.SettingsSourceUserSettings, map[string]any{"outputStyle": "x"})
		}), `{"subtype":"update_settings","source":"userSettings","settings":{"outputStyle":"x"}}`, `{}`, "done"},
		{"HooksListing", func(ctx context.Context, s *Session) (any, error) { return s.HooksListing(ctx) }, `{"subtype":"get_hooks_listing"}`, `{"events":[],"hooks":[],"eventCatalog":[],"policy":{}}`, `{"events":[],"hooks":[],"eventCatalog":[],"policy":{}}`},
		{"PermissionRules", func(ctx context.Context, s *Session) (any, error) { return s.PermissionRules(ctx) }, `{"subtype":"list_permission_rules"}`, `{"state":{"rules":[],"workspaceDirectories":[],"originalCwd":"/","managedOnly":false}}`, `{"rules":[],"workspaceDirectories":[],"originalCwd":"/","managedOnly":false}`},
		{"SetTitle", done(func(ctx context.Context, s *Session) error { return s.SetTitle(ctx, "One") }), `{"subtype":"rename_session","title":"One"}`, `{}`, "done"},
		{"GenerateTitle", func(ctx context.Context, s *Session) (any, error) { return s.GenerateTitle(ctx, "About it", true) }, `{"subtype":"generate_session_title","description":"About it","persist":true}`, `{"title":"It"}`, "It"},
		{"SetColor", done(func(ctx context.Context, s *Session) error { return s.SetColor(ctx, "red") }), `{"subtype":"set_color","color":"red"}`, `{}`, "done"},
		{"SetHasSubscribers", done(func(ctx context.Context, s *Session) error { return s.SetHasSubscribers(ctx, &yes) }), `{"subtype":"set_has_subscribers","has_subscribers":true}`, `{}`, "done"},
		{"SetHasSubscribers unknown", done(func(ctx context.Context, s *Session) error { return s.SetHasSubscribers(ctx, nil) }), `{"subtype":"set_has_subscribers","has_subscribers":null}`, `{}`, "done"},
		{"SideQuestion", func(ctx context.Context, s *Session) (any, error) { return s.SideQuestion(ctx, "Why?") }, `{"subtype":"side_question","question":"Why?"}`, `{"response":"So."}`, `{"response":"So."}`},
		{"ContextUsage", func(ctx context.Context, s *Session) (any, error) {
			u, err := s.ContextUsage(ctx, wire.ContextDetailSummary)
			if err != nil {
				return nil, err
			}
			return u.TotalTokens, nil
		}, `{"subtype":"get_context_usage","detail":"summary"}`, `{"categories":[],"totalTokens":12,"maxTokens":100,"rawMaxTokens":100,"percentage":12}`, "12"},
		{"CostText", func(ctx context.Context, s *Session) (any, error) { return s.CostText(ctx) }, `{"subtype":"get_session_cost"}`, `{"text":"$1"}`, "$1"},
		{"Usage", func(ctx context.Context, s *Session) (any, error) { return s.Usage(ctx) }, `{"subtype":"get_usage"}`, `{"session":{"total_cost_usd":1},"subscription_type":null,"rate_limits_available":false,"rate_limits":null}`, `{"session":{"total_cost_usd":1},"subscription_type":null,"rate_limits_available":false,"rate_limits":null}`},
		{"Models", func(ctx context.Context, s *Session) (any, error) {
			m, err := s.Models(ctx)
			if err != nil || len(m) != 1 {
				return nil, err
			}
			return m[0].Value, nil
		}, `{"subtype":"list_models"}`, `{"models":[{"value":"opus","displayName":"Opus","description":""}]}`, "opus"},
		{"BinaryVersion", func(ctx context.Context, s *Session) (any, error) { return s.BinaryVersion(ctx) }, `{"subtype":"get_binary_version"}`, `{"version":"2.1.325"}`, `{"version":"2.1.325"}`},
		{"StopTask", done(func(ctx context.Context, s *Session) error { return s.StopTask(ctx, "t1") }), `{"subtype":"stop_task","task_id":"t1"}`, `{}`, "done"},
		{"BackgroundTasks", func(ctx context.Context, s *Session) (any, error) { return s.BackgroundTasks(ctx, "toolu_1") }, `{"subtype":"background_tasks","tool_use_id":"toolu_1"}`, `{"backgrounded":true}`, "true"},
		{"BackgroundTasks all", func(ctx context.Context, s *Session) (any, error) { return s.BackgroundTasks(ctx, "") }, `{"subtype":"background_tasks"}`, `{}`, "false"},
		{"TaskOutput", func(ctx context.Context, s *Session) (any, error) { return s.TaskOutput(ctx, "t1") }, `{"subtype":"get_task_output","task_id":"t1"}`, `{"output":"x","total_bytes":1,"truncated":false}`, `{"output":"x","total_bytes":1,"truncated":false}`},
		{"RewindFiles", func(ctx context.Context, s *Session) (any, error) { return s.RewindFiles(ctx, "u1", true) }, `{"subtype":"rewind_files","user_message_id":"u1","dry_run":true}`, `{"canRewind":true,"filesChanged":["/a"]}`, `{"canRewind":true,"filesChanged":["/a"]}`},
		{"FileSuggestions", func(ctx context.Context, s *Session) (any, error) { return s.FileSuggestions(ctx, "ma") }, `{"subtype":"file_suggestions","query":"ma"}`, `{"suggestions":[{"path":"main.go"}],"cwd":"/"}`, `{"suggestions":[{"path":"main.go"}],"cwd":"/"}`},
		{"ReadFile", func(ctx context.Context, s *Session) (any, error) {
			return s.ReadFile(ctx, "a.txt", 100, wire.FileEncodingBase64)
		}, `{"subtype":"read_file","path":"a.txt","max_bytes":100,"encoding":"base64"}`, `{"contents":"YQ==","absPath":"/a.txt","encoding":"base64"}`, `{"contents":"YQ==","absPath":"/a.txt","encoding":"base64"}`},
		{"SeedReadState", done(func(ctx context.Context, s *Session) error {
			return s.SeedReadState(ctx, "a.txt", time.UnixMilli(1500))
		}), `{"subtype":"seed_read_state","path":"a.txt","mtime":1500}`, `{}`, "done"},
		{"RegisterRepoRoot", func(ctx context.Context, s *Session) (any, error) {
			return s.RegisterRepoRoot(ctx, &wire.RegisterRepoRootRequest{Directory: "x", ReloadSkills: true})
		}, `{"subtype":"register_repo_root","directory":"x","reload_skills":true}`, `{"directory":"/x"}`, "/x"},
		{"ReloadPlugins", func(ctx context.Context, s *Session) (any, error) {
			a, err := s.ReloadPlugins(ctx, nil)
			if err != nil {
				return nil, err
			}
			return a.ErrorCount, nil
		}, `{"subtype":"reload_plugins"}`, `{"commands":[],"agents":[],"plugins":[],"mcpServers":[],"error_count":2}`, "2"},
		{"ReloadSkills", func(ctx context.Context, s *Session) (any, error) {
			a, err := s.ReloadSkills(ctx)
			return len(a), err
		}, `{"subtype":"reload_skills"}`, `{"skills":[{"name":"a","description":"","argumentHint":""}]}`, "1"},
		{"ReloadOutputStyles", func(ctx context.Context, s *Session) (any, error) { return s.ReloadOutputStyles(ctx) }, `{"subtype":"reload_output_styles"}`, `{"available_output_styles":["a"]}`, "[a]"},
		{"EndSession", done(func(ctx context.Context, s *Session) error { return s.EndSession(ctx, "over") }), `{"subtype":"end_session","reason":"over"}`, `{}`, "done"},
		{"Reinitialize", func(ctx context.Context, s *Session) (any, error) {
			a, err := s.Reinitialize(ctx)
			if err != nil {
				return nil, err
			}
			return a.OutputStyle, nil
		}, `{"subtype":"initialize"}`, `{"commands":[],"output_style":"plain","available_output_styles":[],"models":[],"account":{}}`, "plain"},

		{"MCPStatus", func(ctx context.Context, s *Session) (any, error) {
			a, err := s.MCPStatus(ctx)
			if err != nil || len(a) != 1 {
				return nil, err
			}
			return a[0].Status, nil
		}, `{"subtype":"mcp_status"}`, `{"mcpServers":[{"name":"calc","status":"connected"}]}`, "connected"},
		{"ReconnectMCP", done(func(ctx context.Context, s *Session) error { return s.ReconnectMCP(ctx, "calc") }), `{"subtype":"mcp_reconnect","serverName":"calc"}`, `{}`, "done"},
		{"ToggleMCP", done(func(ctx context.Context, s *Session) error { return s.ToggleMCP(ctx, "calc", false) }), `{"subtype":"mcp_toggle","serverName":"calc","enabled":false}`, `{}`, "done"},
		{"SetMCPServers", func(ctx context.Context, s *Session) (any, error) {
			return s.SetMCPServers(ctx, map[string]wire.MCPServerConfig{"web": {Type: wire.MCPTransportHTTP, URL: "http://localhost/"}}, nil)
		}, `{"subtype":"mcp_set_servers","servers":{"web":{"type":"http","url":"http://localhost/"}}}`, `{"added":["web"],"removed":[],"errors":{}}`, `{"added":["web"],"removed":[],"errors":{}}`},
		{"CallMCP", func(ctx context.Context, s *Session) (any, error) {
			return s.CallMCP(ctx, &wire.MCPCallRequest{Tool: "mcp__web__get", Arguments: json.RawMessage(`{"a":1}`)})
		}, `{"subtype":"mcp_call","tool":"mcp__web__get","arguments":{"a":1}}`, `{"content":[]}`, `{"content":[]}`},
		{"ReadMCPResource", func(ctx context.Context, s *Session) (any, error) {
			a, err := s.ReadMCPResource(ctx, "web", "ui://x")
			if err != nil || len(a) != 1 {
				return nil, err
			}
			return a[0].Text, nil
		}, `{"subtype":"mcp_read_resource","serverName":"web","uri":"ui://x"}`, `{"contents":[{"uri":"ui://x","text":"hello"}]}`, "hello"},
		{"NotifyMCP", done(func(ctx context.Context, s *Session) error {
			return s.NotifyMCP(ctx, "calc", json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
		}), `{"subtype":"mcp_message","server_name":"calc","message":{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}`, `{}`, "done"},
		{"RawRequest", func(ctx context.Context, s *Session) (any, error) {
			a, err := s.RawRequest(ctx, json.RawMessage(`{"subtype":"get_plan","x":[1]}`))
			return string(a), err
		}, `{"subtype":"get_plan","x":[1]}`, `{"exists":false}`, `{"exists":false}`},
		{"Request", func(ctx context.Context, s *Session) (any, error) {
			return s.Request(ctx, &wire.GetUsageRequest{SkipBehaviors: true})
		}, `{"subtype":"get_usage","skip_behaviors":true}`, `{"session":{}}`, `{"session":{}}`},
	}
}

// Every method sends its request and returns what the answer says.
func TestControlRequests(t *testing.T) {
	for _, c := range controlCases() {
		bubble(t, c.name, func(t *testing.T) {
			// Newer than all that were tried: it is left to the CLI what it knows.
			f, s, _ := askingSession(t, "2.1.326", nil)
			type result struct {
				value any
				err   error
			}
			got := make(chan result, 1)
			go func() {
				v, err := c.call(t.Context(), s)
				got <- result{v, err}
			}()
			line := f.next(t)
			var sent struct {
				Type    string
				Request json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &sent); err != nil || sent.Type != "control_request" {
				t.Fatalf("%v: %s", err, line)
			}
			if string(sent.Request) != c.sends {
				t.Errorf("sent %s\nwant %s", sent.Request, c.sends)
			}
			f.answer(line, c.answer)
			r := <-got
			if r.err != nil {
				t.Fatal(r.err)
			}
			text := fmt.Sprintf("%+v", r.value)
			if m, ok := r.value.(json.Marshaler); ok {
				raw, err := m.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				text = string(raw)
			}
			if text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}

// feature returns what is known of the request's versions.
func (c controlCase) feature(t *testing.T) wire.Feature {
	t.Helper()
	var r struct{ Subtype string }
	if err := json.Unmarshal([]byte(c.sends), &r); err != nil {
		t.Fatal(err)
	}
	return wire.FeatureOf(wire.FeatureRequest, r.Subtype)
}

// What a version does not know is refused before anything is sent: 2.1.37 would
// never answer.
func TestControlRequestsOfOtherVersions(t *testing.T) {
	refused := 0
	for _, version := range []string{"2.1.37", "2.1.120", "2.1.325"} {
		v, err := wire.ParseVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range controlCases() {
			feature := c.feature(t)
			if feature.In(v) != wire.Unsupported {
				continue
			}
			refused++
			bubble(t, version+" "+c.name, func(t *testing.T) {
				f, s, _ := askingSession(t, version, nil)
				_, err := c.call(t.Context(), s)
				unsupported, ok := errors.AsType[*UnsupportedError](err)
				if !ok || unsupported.Since != feature.Since {
					t.Errorf("got %v, want an error that names %s", err, feature.Since)
				}
				f.quiet(t)
			})
		}
	}
	if refused < 30 {
		t.Errorf("only %d requests are not known to some version", refused)
	}
}

// Every control request that wire knows has a method, or a reason why it has none.
func TestControlRequestsAreComplete(t *testing.T) {
	elsewhere := map[string]string{
		"interrupt":             "Session.Interrupt",
		"cancel_async_message":  "Session.TakeBack",
		"can_use_tool":          "a question of the CLI",
		"elicitation":           "a question of the CLI",
		"request_user_dialog":   "a question of the CLI",
		"hook_callback":         "a call of the CLI",
		"sdk_control_interrupt": "of the CLI, and never seen",
	}
	source, err := os.ReadFile("../wire/zz_unions.go")
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, m := range regexp.MustCompile(`case "(\w+)":\n\t\tv = new\(\w+Request\)`).FindAllSubmatch(source, -1) {
		if string(m[1]) != "control_request" { // the message that carries them
			known = append(known, string(m[1]))
		}
	}
	if len(known) < 40 {
		t.Fatalf("only %d requests were found in wire", len(known))
	}
	for _, subtype := range known {
		covered := slices.ContainsFunc(controlCases(), func(c controlCase) bool {
			return strings.Contains(c.sends, `"subtype":"`+subtype+`"`)
		})
		if reason, excused := elsewhere[subtype]; covered == excused {
			t.Errorf("%s: has a method: %t; reason to have none: %q", subtype, covered, reason)
		}
	}
	for subtype := range elsewhere {
		if !slices.Contains(known, subtype) {
			t.Errorf("%s is not known to wire", subtype)
		}
	}
}

func TestControlRequestFailures(t *testing.T) {
	bubble(t, "refused", func(t *testing.T) {
		f, s, _ := askingSession(t, "2.1.325", nil)
		got := make(chan error, 1)
		go func() { got <- s.SetModel(t.Context(), "x") }()
		f.say <- `{"type":"control_response","response":{"subtype":"error","request_id":"` + requestID(t, f.next(t)) + `","error":"No such model","error_code":"not_found"}}`
		refused, ok := errors.AsType[*ControlError](<-got)
		if !ok || refused.Code != "not_found" || refused.Message != "No such model" {
			t.Errorf("got %v", refused)
		}
	})
	bubble(t, "unanswered", func(t *testing.T) {
		f, s, _ := askingSession(t, "2.1.325", &Options{RequestTimeout: 5 * time.Second})
		begin := time.Now()
		if _, err := s.Models(t.Context()); !errors.Is(err, ErrNoAnswer) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("it took %s", took)
		}
		f.next(t)
		wantPart(t, f.next(t), "control_cancel_request")
	})
	bubble(t, "rewind", func(t *testing.T) {
		f, s, _ := askingSession(t, "2.1.325", nil)
		got := make(chan error, 1)
		go func() { _, err := s.RewindFiles(t.Context(), "u", false); got <- err }()
		f.answer(f.next(t), `{"canRewind":false,"error":"File rewinding is not enabled."}`)
		if err := <-got; err == nil || !strings.Contains(err.Error(), "not enabled") {
			t.Errorf("got %v", err)
		}
	})
	bubble(t, "unfit", func(t *testing.T) {
		f, s, _ := askingSession(t, "2.1.325", nil)
		for name, err := range map[string]error{
			"no object":   second(s.RawRequest(t.Context(), json.RawMessage(`[]`))),
			"no subtype":  second(s.RawRequest(t.Context(), json.RawMessage(`{}`))),
			"no request":  second(s.Request(t.Context(), nil)),
			"no call":     second(s.CallMCP(t.Context(), nil)),
			"no folder":   second(s.RegisterRepoRoot(t.Context(), nil)),
			"no settings": s.ApplySettings(t.Context(), func() {}),
			"a list":      s.ApplySettings(t.Context(), []int{1}),
		} {
			if err == nil {
				t.Errorf("%s: it was taken", name)
			}
		}
		f.quiet(t)
	})
}

func second[T any](_ T, err error) error { return err }

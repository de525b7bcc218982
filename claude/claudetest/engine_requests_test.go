package claudetest

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestControlRequests holds every request of the table against what each version answers: the members of the body, or how it refuses.
func TestControlRequests(t *testing.T) {
	const silent, unknown = "silent", "unknown"
	tests := []struct {
		request      string
		v37          string
		v120, v325   string // members of the body in order of their names, "-" for none, "!" and the beginning of an error, silent or unknown
		writesBefore string // a line that comes before the answer on the newest version
	}{
		{request: `{"subtype":"set_permission_mode","mode":"plan"}`, v37: "mode", v120: "mode", v325: "mode"},
		{request: `{"subtype":"set_permission_mode","mode":"bypassPermissions"}`, v37: "mode", v120: "!Cannot set", v325: "!Cannot set"},
		{request: `{"subtype":"set_model","model":"haiku"}`, v37: "-", v120: "-", v325: "model", writesBefore: "user"},
		{request: `{"subtype":"set_max_thinking_tokens","max_thinking_tokens":2048}`, v37: "-", v120: "-", v325: "-"},
		{request: `{"subtype":"set_max_thinking_tokens","max_thinking_tokens":"abc"}`, v37: "-", v120: "-", v325: "!set_max_thinking_tokens"},
		{request: `{"subtype":"rewind_files","user_message_id":"x"}`, v37: "!File rewinding", v120: "!File rewinding", v325: "!File rewinding"},
		{request: `{"subtype":"rewind_files","user_message_id":"x","dry_run":true}`, v37: "canRewind error", v120: "canRewind error", v325: "canRewind error"},
		{request: `{"subtype":"apply_flag_settings","settings":{"effortLevel":"low"}}`, v37: silent, v120: "-", v325: "-"},
		{request: `{"subtype":"get_settings"}`, v37: silent, v120: "applied effective sources", v325: "applied effective sources"},
		{request: `{"subtype":"get_session_cost"}`, v37: silent, v120: "text", v325: "text"},
		{request: `{"subtype":"get_binary_version"}`, v37: silent, v120: "buildTime version", v325: "buildTime version"},
		{request: `{"subtype":"seed_read_state","path":"x","mtime":1}`, v37: silent, v120: "-", v325: "-"},
		{request: `{"subtype":"reload_plugins"}`, v37: silent, v120: "agents commands error_count mcpServers plugins", v325: "agents commands error_count mcpServers plugins"},
		{request: `{"subtype":"cancel_async_message","message_uuid":"x"}`, v37: silent, v120: "cancelled", v325: "cancelled"},
		{request: `{"subtype":"generate_session_title","description":"x"}`, v37: silent, v120: "title", v325: "title"},
		{request: `{"subtype":"side_question","question":"@say Aside."}`, v37: silent, v120: "response synthetic", v325: "response synthetic", writesBefore: "system/control_request_progress"},
		{request: `{"subtype":"list_models"}`, v37: silent, v120: unknown, v325: "models"},
		{request: `{"subtype":"list_permission_rules"}`, v37: silent, v120: unknown, v325: "state"},
		{request: `{"subtype":"get_hooks_listing"}`, v37: silent, v120: unknown, v325: "eventCatalog events hooks policy"},
		{request: `{"subtype":"file_suggestions","query":"a"}`, v37: silent, v120: unknown, v325: "cwd suggestions"},
		{request: `{"subtype":"rename_session","title":"New"}`, v37: silent, v120: unknown, v325: "-", writesBefore: "system/session_title_changed"},
		{request: `{"subtype":"rename_session","title":" "}`, v37: silent, v120: unknown, v325: "!title must"},
		{request: `{"subtype":"reload_skills"}`, v37: silent, v120: unknown, v325: "skills"},
		{request: `{"subtype":"reload_output_styles"}`, v37: silent, v120: unknown, v325: "available_output_styles"},
		{request: `{"subtype":"get_plan"}`, v37: silent, v120: unknown, v325: "exists"},
		{request: `{"subtype":"get_status"}`, v37: silent, v120: unknown, v325: "sections"},
		{request: `{"subtype":"get_workspace_diff"}`, v37: silent, v120: unknown, v325: "diff noDiffReason"},
		{request: `{"subtype":"export_conversation"}`, v37: silent, v120: unknown, v325: "default_filename text"},
		{request: `{"subtype":"set_has_subscribers","has_subscribers":true}`, v37: silent, v120: unknown, v325: "-"},
		{request: `{"subtype":"set_has_subscribers"}`, v37: silent, v120: unknown, v325: "!Invalid"},
		{request: `{"subtype":"get_memory_dialog"}`, v37: silent, v120: unknown, v325: "auto_dream auto_memory files folders memories"},
		{request: `{"subtype":"get_skills_dialog"}`, v37: silent, v120: unknown, v325: "skills"},
		{request: `{"subtype":"set_cwd","path":"/elsewhere"}`, v37: silent, v120: unknown, v325: "directory status"},
		{request: `{"subtype":"set_cwd"}`, v37: silent, v120: unknown, v325: "!set_cwd"},
		{request: `{"subtype":"register_repo_root","directory":"/elsewhere"}`, v37: silent, v120: unknown, v325: "!register_repo_root"},
		{request: `{"subtype":"update_settings","settings":{"a":1}}`, v37: silent, v120: unknown, v325: "!update_settings keys not allowed: a"},
		{
			request: `{"subtype":"rewind_conversation","target_message_uuid":"x"}`, v37: silent, v120: unknown,
			v325: "error precedingAssistantUuid prefillText reason rewound",
		},
		{request: `{"subtype":"invented"}`, v37: silent, v120: unknown, v325: unknown},
	}
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			s := startSim(t, version)
			s.request(`{"subtype":"initialize"}`)
			for _, test := range tests {
				want := map[string]string{"2.1.37": test.v37, "2.1.120": test.v120, "2.1.325": test.v325}[version]
				if want == silent {
					// The answer to a request that follows shows that there was none.
					s.send(`{"type":"control_request","request_id":"unanswered","request":` + test.request + `}`)
					s.request(`{"subtype":"mcp_status"}`)
					if last := s.lines[len(s.lines)-2]; responseOf(last)["request_id"] == "unanswered" {
						t.Errorf("%s: got %v, want no answer", test.request, last)
					}
					continue
				}
				answer := s.request(test.request)
				got := shapeOf(answer)
				if want == unknown {
					want = "!Unsupported control request subtype"
					if coded := answer["error_code"] == "unsupported_request"; coded != (version == "2.1.325") {
						t.Errorf("%s: the code is %v", test.request, answer["error_code"])
					}
				}
				if got != want && (!strings.HasPrefix(want, "!") || !strings.HasPrefix(got, want)) {
					t.Errorf("%s: got %q, want %q", test.request, got, want)
				}
				if version == "2.1.325" && test.writesBefore != "" {
					if kinds := s.kinds(); len(kinds) < 2 || kinds[len(kinds)-2] != test.writesBefore {
						t.Errorf("%s: the line before the answer is not %s:\n%s", test.request, test.writesBefore, s.story())
					}
				}
			}
		})
	}
}

func responseOf(line map[string]any) map[string]any {
	response, _ := line["response"].(map[string]any)
	return response
}

// shapeOf is an answer in one word: the members of its body, "-" for none, or "!" and the error.
func shapeOf(answer map[string]any) string {
	if answer["subtype"] == "error" {
		text, _ := answer["error"].(string)
		return "!" + text
	}
	body, ok := answer["response"].(map[string]any)
	if !ok {
		return "-"
	}
	return strings.Join(slices.Sorted(maps.Keys(body)), " ")
}

func TestModeAnswers(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			s := startSim(t, version)
			s.request(`{"subtype":"initialize"}`)
			s.request(`{"subtype":"set_permission_mode","mode":"acceptEdits"}`)
			s.request(`{"subtype":"mcp_status"}`)
			got := strings.Join(s.kinds()[1:], " ")
			want := "control_response system/status control_response"
			if version == "2.1.37" {
				want = "control_response control_response control_response" // twice, and no line tells the mode
			}
			if got != want {
				t.Errorf("lines %q, want %q", got, want)
			}
			if init := initOf(s, "@say Hello."); init["permissionMode"] != "acceptEdits" {
				t.Errorf("the next turn is in mode %v", init["permissionMode"])
			}
		})
	}
}

// initOf runs a turn and returns its first system/init.
func initOf(s *simTest, prompt string) map[string]any {
	s.t.Helper()
	s.prompt(prompt)
	init := s.await(func(line map[string]any) bool { return line["subtype"] == "init" })
	s.result()
	return init
}

func TestModelChanges(t *testing.T) {
	s := startSim(t, "2.1.120")
	if init := initOf(s, "@say One."); init["model"] != "claude-sonnet-4-6" {
		t.Errorf("the standard model is %v", init["model"])
	}
	s.request(`{"subtype":"set_model","model":"opus"}`)
	if init := initOf(s, "@say Two."); init["model"] != "claude-opus-4-7" {
		t.Errorf("opus is %v", init["model"])
	}
	s.request(`{"subtype":"apply_flag_settings","settings":{"model":"another-model"}}`)
	body, _ := s.request(`{"subtype":"get_settings"}`)["response"].(map[string]any)
	if applied, _ := body["applied"].(map[string]any); applied["model"] != "another-model" {
		t.Errorf("the settings apply %v", body)
	}
	s.request(`{"subtype":"set_model","model":null}`)
	if init := initOf(s, "@say Three."); init["model"] != "claude-sonnet-4-6" {
		t.Errorf("null is %v, want the standard model", init["model"])
	}
}

// TestContextUsage checks that the share of the context is rounded, as the one is that is reckoned from the tokens of a message.
func TestContextUsage(t *testing.T) {
	s := startSim(t, "2.1.325")
	s.request(`{"subtype":"initialize"}`)
	body, _ := s.request(`{"subtype":"get_context_usage"}`)["response"].(map[string]any)
	total, _ := body["totalTokens"].(float64)
	window, _ := body["maxTokens"].(float64)
	if want := math.Round(100 * total / window); want < 1 || body["percentage"] != want {
		t.Errorf("%v of %v tokens are %v percent, want %v", total, window, body["percentage"], want)
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	s := startSim(t, "2.1.325", func(o *SimOptions) { o.Dir = dir })
	body, _ := s.request(`{"subtype":"read_file","path":"a.txt","max_bytes":5}`)["response"].(map[string]any)
	if body["contents"] != "hello" || body["truncated"] != true {
		t.Errorf("a.txt is %v", body)
	}
	for _, path := range []string{"../a.txt", "/etc/hostname", "out", "."} {
		if answer := s.request(`{"subtype":"read_file","path":"` + path + `"}`); answer["subtype"] != "error" {
			t.Errorf("%s was read: %v", path, answer)
		}
	}
}

func TestSuggestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"posts/One.md", "posts/two.md", ".git/one", "main.go"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	s := startSim(t, "2.1.325", func(o *SimOptions) { o.Dir = dir })
	for query, want := range map[string]string{
		"": `[{"path":"main.go"},{"path":"posts/One.md"},{"path":"posts/two.md"}]`, "one": `[{"path":"posts/One.md"}]`, "posts/": `[{"path":"posts/One.md"},{"path":"posts/two.md"}]`, "none": `[]`,
	} {
		body, _ := s.request(`{"subtype":"file_suggestions","query":"` + query + `"}`)["response"].(map[string]any)
		if got, err := json.Marshal(body["suggestions"]); err != nil || string(got) != want {
			t.Errorf("%q may mean %s, want %s", query, got, want)
		}
	}
}

func TestRewind(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			s := startSim(t, version, func(o *SimOptions) {
				o.Env = append(o.Env, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=1")
				o.Args = append(defaultArgs(), "--permission-mode=acceptEdits")
			})
			file := filepath.Join(t.TempDir(), "f.txt")
			const uuid = "00000000-0000-4000-8000-000000000001"
			s.send(`{"type":"user","uuid":"` + uuid + `","message":{"role":"user","content":` +
				string(plainJSON(`@tool Write {"file_path":"`+file+`","content":"a\nb\n"}`+"\n@say Done.")) + `}}`)
			for {
				line := s.next()
				if isQuestion(line, "can_use_tool") {
					s.answer(line["request_id"].(string), `{"behavior":"allow","updatedInput":`+string(plainJSON(line["request"].(map[string]any)["input"]))+`}`)
				}
				if line["type"] == "result" {
					break
				}
			}
			body, _ := s.request(`{"subtype":"rewind_files","user_message_id":"` + uuid + `","dry_run":true}`)["response"].(map[string]any)
			if files, _ := body["filesChanged"].([]any); body["canRewind"] != true || len(files) != 1 || files[0] != file {
				t.Errorf("a dry run says %v", body)
			}
			if answer := s.request(`{"subtype":"rewind_files","user_message_id":"nobody"}`); answer["subtype"] != "error" {
				t.Errorf("an unknown prompt is rewound: %v", answer)
			}
			if answer := s.request(`{"subtype":"rewind_files","user_message_id":"` + uuid + `"}`); answer["subtype"] != "success" {
				t.Errorf("rewinding: %v", answer)
			}
			body, _ = s.request(`{"subtype":"rewind_files","user_message_id":"` + uuid + `","dry_run":true}`)["response"].(map[string]any)
			if files, _ := body["filesChanged"].([]any); len(files) != 0 {
				t.Errorf("after rewinding there is still %v", body)
			}
		})
	}
}

func TestRewindConversation(t *testing.T) {
	var asked []Request
	s := startSim(t, "2.1.325", func(o *SimOptions) {
		o.Script = func(r Request) Reply {
			asked = append(asked, r)
			return Directives(nil)(r)
		}
	})
	const uuid = "00000000-0000-4000-8000-000000000002"
	s.turn("@say One.")
	s.send(`{"type":"user","uuid":"` + uuid + `","message":{"role":"user","content":"@say Two."}}`)
	s.result()
	s.await(func(line map[string]any) bool { return line["state"] == "idle" })
	body, _ := s.request(`{"subtype":"rewind_conversation","target_message_uuid":"` + uuid + `"}`)["response"].(map[string]any)
	if body["rewound"] != true || body["prefillText"] != "@say Two." {
		t.Fatalf("rewinding says %v", body)
	}
	s.turn("@say Three.")
	var said []string
	for _, message := range asked[len(asked)-1].Messages {
		for _, part := range message.Content {
			said = append(said, part.Text)
		}
	}
	if text := strings.Join(said, " "); !strings.Contains(text, "One.") || strings.Contains(text, "Two.") || !strings.Contains(text, "Three.") {
		t.Errorf("the model sees %q", text)
	}
}

func TestEndSession(t *testing.T) {
	for _, version := range []string{"2.1.120", "2.1.325"} {
		s := startSim(t, version)
		s.turn("@error 400")
		if answer := s.request(`{"subtype":"end_session"}`); answer["subtype"] != "success" {
			t.Errorf("%s: end_session: %v", version, answer)
		}
		if code, err := s.sim.Wait(t.Context()); code != 0 || err != nil {
			t.Errorf("%s: exit %d, %v; want 0", version, code, err)
		}
	}
}

func TestCancelQueuedMessage(t *testing.T) {
	s := startSim(t, "2.1.325")
	s.prompt("@tool Bash {\"command\":\"touch x\"}\n@say Done.")
	id, _ := s.question("can_use_tool")
	s.send(`{"type":"user","uuid":"queued","message":{"role":"user","content":"@say Never."}}`)
	body, _ := s.request(`{"subtype":"cancel_async_message","message_uuid":"queued"}`)["response"].(map[string]any)
	if body["cancelled"] != true {
		t.Errorf("cancelling says %v", body)
	}
	s.answer(id, `{"behavior":"deny","message":"No."}`)
	if result := s.result(); result["result"] != "Done." {
		t.Errorf("the turn ended with %v", result)
	}
}

func TestSideQuestionCancelled(t *testing.T) {
	release := make(chan struct{})
	s := startSim(t, "2.1.325", func(o *SimOptions) {
		o.Script = func(Request) Reply {
			<-release
			return Say(Text("Late."))
		}
	})
	s.send(`{"type":"control_request","request_id":"aside","request":{"subtype":"side_question","question":"Why?"}}`)
	s.await(func(line map[string]any) bool { return line["subtype"] == "control_request_progress" })
	s.send(`{"type":"control_cancel_request","request_id":"aside"}`)
	line := s.await(func(line map[string]any) bool { return line["type"] == "control_response" })
	close(release)
	if responseOf(line)["error"] != sideCancelled {
		t.Errorf("the cancelled question was answered with %v", line)
	}
}

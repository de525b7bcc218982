package claudetest

import (
	"strings"
	"testing"
)

// TestBadInput is the table of bad input for the simulated CLI alone; the conformance suite holds it to the real ones.
func TestBadInput(t *testing.T) {
	const dies, late, ignored, turn = "dies", "dies late", "ignored", "turn"
	user := func(content string) string {
		return `{"type":"user","message":{"role":"user","content":` + content + `}}`
	}
	tests := []struct {
		name, line      string
		v37, v120, v325 string
	}{
		{"not JSON", `hello`, dies, dies, dies},
		{"half JSON", `{"type":"keep_alive"`, dies, dies, dies},
		{"two objects", `{"type":"keep_alive"}{"type":"keep_alive"}`, dies, dies, dies},
		{"null", `null`, dies, dies, dies},
		{"empty", ``, dies, ignored, ignored},
		{"spaces", `   `, dies, dies, ignored},
		{"number", `5`, dies, ignored, ignored},
		{"mark", "\ufeff" + `{"type":"keep_alive"}`, dies, dies, ignored},
		{"unknown type", `{"type":"invented"}`, dies, ignored, ignored},
		{"no role", `{"type":"user","message":{"content":"hi"}}`, dies, dies, dies},
		{"content number", user(`5`), late, late, ignored},
		{"content null", user(`null`), late, late, turn},
		{"text without text", user(`[{"type":"text"}]`), late, late, ignored},
		{"image without source", user(`[{"type":"image"}]`), late, late, turn},
		{"empty content", user(`[]`), turn, turn, turn},
		{"unknown priority", `{"type":"user","priority":"whenever","message":{"role":"user","content":"hi"}}`, turn, ignored, turn},
		{"answer without response", `{"type":"control_response"}`, dies, dies, ignored},
		{"request without request", `{"type":"control_request","request_id":"x"}`, dies, dies, dies},
		{"cancel", `{"type":"control_cancel_request","request_id":"x"}`, dies, ignored, ignored},
		{"no variables", `{"type":"update_environment_variables"}`, dies, dies, ignored},
		{"CRLF", "{\"type\":\"keep_alive\"}\r", ignored, ignored, ignored},
		{"lone surrogate", user(`"a\ud800b"`), turn, turn, turn},
		{"invalid UTF-8", user("\"a\xff\""), turn, turn, turn},
	}
	for _, version := range SimVersions() {
		for _, test := range tests {
			t.Run(version+"/"+test.name, func(t *testing.T) {
				want := map[string]string{"2.1.37": test.v37, "2.1.120": test.v120, "2.1.325": test.v325}[version]
				s := startSim(t, version)
				s.request(`{"subtype":"initialize"}`)
				s.send(test.line)
				got := ignored
				switch want {
				case dies, late:
					got = dies
					for {
						line, err := s.sim.Read(t.Context())
						if err != nil {
							break
						}
						if strings.Contains(string(line), `"type":"result"`) {
							got = late
						}
					}
					if code, err := s.sim.Wait(t.Context()); code != 1 || err != nil {
						t.Errorf("exit %d, %v", code, err)
					}
				case turn:
					if result := s.result(); result["is_error"] == false {
						got = turn
					}
				default:
					s.request(`{"subtype":"mcp_status"}`)
					if len(s.lines) != 2 {
						got = "lines:\n" + s.story()
					}
				}
				if got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			})
		}
	}
}

func TestEnvironmentUpdates(t *testing.T) {
	for _, version := range SimVersions() {
		s := startSim(t, version, withArgs("--allowedTools", "Bash"))
		s.send(`{"type":"update_environment_variables","variables":{"COLOUR":"blue"}}`)
		s.prompt("@tool Bash {\"command\":\"echo $COLOUR\"}\n@say Done.")
		line := s.await(func(line map[string]any) bool { return line["tool_use_result"] != nil })
		detail, _ := line["tool_use_result"].(map[string]any)
		want := "blue"
		if version == "2.1.325" {
			want = "" // it does not take them over standard input
		}
		if detail["stdout"] != want {
			t.Errorf("%s: the command printed %q, want %q", version, detail["stdout"], want)
		}
	}
}

func TestEchoes(t *testing.T) {
	for _, version := range SimVersions() {
		s := startSim(t, version, withArgs("--replay-user-messages"))
		const line = `{"type":"user","uuid":"00000000-0000-4000-8000-000000000001","message":{"role":"user","content":"@say Hello."}}`
		echoed := func(l map[string]any) bool { return l["isReplay"] == true }
		s.send(line)
		if echo := s.await(echoed); echo["uuid"] != "00000000-0000-4000-8000-000000000001" {
			t.Errorf("%s: the echo is %v", version, echo)
		}
		s.result()
		s.send(line) // swallowed, but echoed again
		s.await(echoed)
		s.request(`{"subtype":"mcp_status"}`)
		turns := 0
		for _, kind := range s.kinds() {
			if kind == "result/success" {
				turns++
			}
		}
		if turns != 1 {
			t.Errorf("%s: %d turns for a prompt that was sent twice", version, turns)
		}
	}
}

func TestAwaitInitialize(t *testing.T) {
	s := startSim(t, "2.1.325", withArgs("--await-initialize"))
	s.prompt("@say Too early.")
	if code, err := s.sim.Wait(t.Context()); code != 1 || err != nil {
		t.Errorf("a prompt before initialize: exit %d, %v", code, err)
	}
	s = startSim(t, "2.1.325", withArgs("--await-initialize"))
	s.request(`{"subtype":"initialize"}`)
	if result := s.turn("@say Hello."); result["result"] != "Hello." {
		t.Errorf("after initialize: %v", result)
	}
}

func TestUnknownTool(t *testing.T) {
	s := startSim(t, "2.1.325", withArgs("--disallowedTools", "WebFetch"))
	for _, tool := range []string{"NoSuchTool", "WebFetch"} {
		s.prompt("@tool " + tool + " {\"url\":\"https://example.com\"}\n@say Then not.")
		line := s.await(func(line map[string]any) bool { return line["tool_use_result"] != nil })
		if text, _ := line["tool_use_result"].(string); !strings.Contains(text, "No such tool available: "+tool) {
			t.Errorf("%s: the result is %v", tool, line)
		}
		s.result()
	}
}

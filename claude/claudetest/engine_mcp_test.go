package claudetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// addPrompt makes the model call a tool of the server calc.
const addPrompt = "@tool mcp__calc__add {\"a\":1,\"b\":2}\n@say Done"

const (
	calcHello = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"calc","version":"1"}}`
	calcTools = `"result":{"tools":[{"name":"add","description":"adds","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}`
	calcThree = `"result":{"content":[{"type":"text","text":"3"}]}`
)

// An mcpHost is the controller's side of its MCP servers.
type mcpHost struct {
	*simTest
	answers map[string]string // by method: the member of the JSON-RPC answer; empty: none
	heard   []string          // methods that came
	calls   []map[string]any  // params of tools/call
}

func newHost(s *simTest) *mcpHost {
	return &mcpHost{simTest: s, answers: map[string]string{"initialize": calcHello, "tools/list": calcTools, "tools/call": calcThree}}
}

// serve answers messages to servers, and questions for permission, until a line matches.
func (h *mcpHost) serve(match func(map[string]any) bool) map[string]any {
	h.t.Helper()
	return h.until(reply{"can_use_tool": `{"behavior":"allow","updatedInput":{"a":1,"b":2}}`}, func(line map[string]any) bool {
		if isQuestion(line, "mcp_message") {
			h.hear(line["request_id"].(string), line["request"].(map[string]any)["message"].(map[string]any))
		}
		return match(line)
	})
}

// hear answers a message to a server.
func (h *mcpHost) hear(id string, message map[string]any) {
	h.t.Helper()
	method, _ := message["method"].(string)
	h.heard = append(h.heard, method)
	if method == "tools/call" {
		h.calls = append(h.calls, message["params"].(map[string]any))
	}
	number, isRequest := message["id"].(float64)
	answer, known := h.answers[method]
	switch {
	case !isRequest || method == "":
		h.answer(id, `{"mcp_response":{"jsonrpc":"2.0","result":{},"id":0}}`)
	case !known:
		h.t.Errorf("the server was asked %q", method)
	case strings.HasPrefix(answer, "!"):
		h.reply(id, answer)
	case answer != "":
		h.answer(id, fmt.Sprintf(`{"mcp_response":{"jsonrpc":"2.0","id":%d,%s}}`, int(number), answer))
	}
}

// ask makes a control request while it serves.
func (h *mcpHost) ask(body string) map[string]any {
	h.t.Helper()
	h.asked++
	id := fmt.Sprintf("host-%d", h.asked)
	h.send(`{"type":"control_request","request_id":"` + id + `","request":` + body + `}`)
	line := h.serve(func(line map[string]any) bool {
		response, _ := line["response"].(map[string]any)
		return line["type"] == "control_response" && response["request_id"] == id
	})
	return line["response"].(map[string]any)
}

// works sends a prompt and serves until its result.
func (h *mcpHost) works(prompt string) map[string]any {
	h.t.Helper()
	h.prompt(prompt)
	return h.serve(isResult)
}

// status is what mcp_status says about a server: its status and tools.
func (h *mcpHost) status(name string) string {
	h.t.Helper()
	body, _ := h.ask(`{"subtype":"mcp_status"}`)["response"].(map[string]any)
	servers, _ := body["mcpServers"].([]any)
	for _, entry := range servers {
		if server := entry.(map[string]any); server["name"] == name {
			tools, _ := server["tools"].([]any)
			return fmt.Sprintf("%v with %d tools", server["status"], len(tools))
		}
	}
	return "unknown"
}

const calcConfig = `{"mcpServers":{"calc":{"type":"sdk","name":"calc"},"other":{"command":"never-started"},"web":{"type":"http","url":"http://127.0.0.1:1/"}}}`

// hosted starts a simulated CLI with the server calc, named in initialize.
func hosted(t *testing.T, version string, change ...func(*SimOptions)) *mcpHost {
	t.Helper()
	h := newHost(startSim(t, version, change...))
	h.ask(`{"subtype":"initialize","sdkMcpServers":["calc"]}`)
	return h
}

func TestMCPWays(t *testing.T) {
	shake := []string{"initialize", "notifications/initialized", "tools/list"}
	for _, version := range SimVersions() {
		early := version != "2.1.37"
		for _, test := range []struct {
			name   string
			start  func(t *testing.T) *mcpHost
			before bool // the handshake is over before the prompt
		}{
			{"initialize", func(t *testing.T) *mcpHost {
				h := hosted(t, version)
				if first := len(h.heard) > 0; first != (version == "2.1.325") {
					t.Errorf("before initialize was answered the server heard %q", h.heard)
				}
				if got := h.status("calc"); version != "2.1.325" && got != "unknown" {
					t.Errorf("before the first prompt the server is %s", got)
				}
				return h
			}, false},
			{"config", func(t *testing.T) *mcpHost {
				h := newHost(startSim(t, version, withArgs("--mcp-config", calcConfig)))
				h.ask(`{"subtype":"initialize"}`)
				for h.status("calc") == "unknown" {
					synctest.Wait()
				}
				return h
			}, true},
			{"config without initialize", func(t *testing.T) *mcpHost {
				h := newHost(startSim(t, version, withArgs("--mcp-config", calcConfig)))
				if early {
					h.serve(func(line map[string]any) bool { return len(h.heard) == len(shake) })
				}
				return h
			}, early},
			{"set", func(t *testing.T) *mcpHost {
				h := newHost(startSim(t, version))
				h.ask(`{"subtype":"initialize"}`)
				answer := h.ask(`{"subtype":"mcp_set_servers","servers":{"calc":{"type":"sdk","name":"calc"},"bad":{"type":"stdio","command":"x"}}}`)
				body, _ := answer["response"].(map[string]any)
				failures, _ := body["errors"].(map[string]any)
				if fmt.Sprint(body["added"]) != "[calc bad]" || failures["bad"] == nil || failures["calc"] != nil {
					t.Errorf("mcp_set_servers was answered with %v", answer)
				}
				h.serve(func(line map[string]any) bool { return len(h.heard) == len(shake) })
				return h
			}, true},
		} {
			t.Run(test.name+"/"+version, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := test.start(t)
					synctest.Wait()
					if result := h.works(addPrompt); result["result"] != "Done" {
						t.Errorf("the turn ended with %v", result)
					}
					want := append(slices.Clone(shake), "tools/call")
					if !test.before && test.name != "initialize" && version == "2.1.37" {
						want = append(shake, want...) // opened twice
					}
					slices.Sort(want)
					if heard := slices.Sorted(slices.Values(h.heard)); !slices.Equal(heard, want) {
						t.Errorf("the server heard %q, want %q", h.heard, want)
					}
					meta, _ := h.calls[0]["_meta"].(map[string]any)
					if meta["progressToken"] != 2.0 || !strings.HasPrefix(fmt.Sprint(meta["claudecode/toolUseId"]), "toolu_") {
						t.Errorf("the tool was called with %v", h.calls[0])
					}
					if got := h.toolResults(); len(got) != 1 || !strings.Contains(got[0], "3") {
						t.Errorf("the tool's result is %q", got)
					}
				})
			})
		}
	}
}

func TestMCPOpensTwice(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			h := newHost(startSim(t, version, withArgs("--mcp-config", calcConfig)))
			h.send(`{"type":"control_request","request_id":"i","request":{"subtype":"initialize"}}`)
			h.prompt(addPrompt) // overtakes the handshake
			h.serve(isResult)
			opened := 0
			for _, method := range h.heard {
				if method == "initialize" {
					opened++
				}
			}
			if want := map[bool]int{true: 1, false: 2}[version == "2.1.325"]; opened != want {
				t.Errorf("the server was opened %d times", opened)
			}
		})
	}
}

func TestMCPResults(t *testing.T) {
	for _, test := range []struct {
		name, answer string
		want         perVersion
	}{
		{"text", calcThree, same("[map[text:3 type:text]]")},
		{"two", `"result":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, same("[map[text:a type:text] map[text:b type:text]]")},
		{"nothing", `"result":{"content":[]}`, perVersion{"[]", "(mcp__calc__add completed with no output)", "(mcp__calc__add completed with no output)"}},
		{"structured", `"result":{"content":[{"type":"text","text":"3"}],"structuredContent":{"sum":3}}`, same(`{"sum":3}`)},
		{"image", `"result":{"content":[{"type":"image","data":"QUJD","mimeType":"image/png"}]}`, same("[map[source:map[data:QUJD media_type:image/png type:base64] type:image]]")},
		{"tool error", `"result":{"isError":true,"content":[{"type":"text","text":"bad"}]}`, same("bad")},
		{"error", `"error":{"code":-32000,"message":"boom"}`, perVersion{"MCP error -32000: boom", "MCP error -32000: boom", "boom"}},
		{"control error", `!gone`, same("gone")},
	} {
		for _, version := range SimVersions() {
			t.Run(test.name+"/"+version, func(t *testing.T) {
				h := hosted(t, version)
				h.answers["tools/call"] = test.answer
				if result := h.works(addPrompt); result["result"] != "Done" {
					t.Errorf("the turn ended with %v", result)
				}
				if got := h.toolResults(); len(got) != 1 || got[0] != test.want.of(version) {
					t.Errorf("the tool's result is %q", got)
				}
			})
		}
	}
}

func TestMCPUnknownTool(t *testing.T) {
	for _, version := range SimVersions() {
		h := hosted(t, version)
		h.works("@tool mcp__calc__nope {}\n@tool mcp__nobody__add {}\n@say Done")
		got := h.toolResults()
		if len(got) != 2 || !strings.Contains(got[0], "No such tool available: mcp__calc__nope") || h.count("can_use_tool") > 0 {
			t.Errorf("%s: the results are %q", version, got)
		}
	}
}

func TestMCPQuestion(t *testing.T) {
	for _, version := range SimVersions() {
		h := hosted(t, version)
		h.prompt(addPrompt)
		line := h.serve(func(line map[string]any) bool { return isQuestion(line, "can_use_tool") })
		request := line["request"].(map[string]any)
		server, _ := request["mcp_server"].(map[string]any)
		if told := server["name"] == "calc" && server["source"] == "sdk"; told != (version == "2.1.325") {
			t.Errorf("%s: asked with %v", version, request)
		}
		if told := request["display_name"] == "Add"; told != (version != "2.1.37") {
			t.Errorf("%s: asked with %v", version, request)
		}
		init := h.having("init")
		if !strings.Contains(fmt.Sprint(init["tools"]), "mcp__calc__add") || !strings.Contains(fmt.Sprint(init["mcp_servers"]), "status:connected") {
			t.Errorf("%s: the turn began with %v", version, init)
		}
	}
}

func TestMCPMessages(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := hosted(t, version)
				h.works("@say hi")
				h.heard = nil
				h.answers["tools/list"] = `"result":{"tools":[]}`
				for _, server := range []string{"calc", "nobody"} {
					answer := h.ask(`{"subtype":"mcp_message","server_name":"` + server + `","message":{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}`)
					if _, body := answer["response"]; answer["subtype"] != "success" || body {
						t.Errorf("a notification was answered with %v", answer)
					}
				}
				if version == "2.1.325" && !slices.Contains(h.heard, "tools/list") {
					h.serve(func(map[string]any) bool { return slices.Contains(h.heard, "tools/list") })
				}
				synctest.Wait()
				if got := h.status("calc") == "connected with 0 tools"; got != (version == "2.1.325") {
					t.Errorf("after a change the server heard %q and is %s", h.heard, h.status("calc"))
				}
				h.send(`{"type":"control_request","request_id":"x","request":{"subtype":"mcp_message","server_name":"calc","message":{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{}}}}`)
				line := h.await(func(line map[string]any) bool { return isQuestion(line, "mcp_message") })
				message := line["request"].(map[string]any)["message"].(map[string]any)
				if fault, _ := message["error"].(map[string]any); message["id"] != 7.0 || fault["code"] != -32601.0 {
					t.Errorf("a request of the server was answered with %v", message)
				}
			})
		})
	}
}

func TestMCPToggle(t *testing.T) {
	const off, on = `{"subtype":"mcp_toggle","serverName":"calc","enabled":false}`, `{"subtype":"mcp_toggle","serverName":"calc","enabled":true}`
	for version, want := range map[string]string{
		"2.1.37":  "error, connected with 1 tools, error, connected with 1 tools, error",
		"2.1.120": "success, connected with 0 tools, error, connected with 0 tools, error",
		"2.1.325": "success, disabled with 0 tools, success, connected with 1 tools, error",
	} {
		h := hosted(t, version)
		h.works("@say hi")
		got := []any{h.ask(off)["subtype"], h.status("calc"), h.ask(on)["subtype"], h.status("calc"), h.ask(`{"subtype":"mcp_reconnect","serverName":"calc"}`)["subtype"]}
		if text := strings.ReplaceAll(strings.Trim(fmt.Sprintf("%q", got), "[]"), `" "`, `, `); strings.Trim(text, `"`) != want {
			t.Errorf("%s: got %s, want %s", version, text, want)
		}
		if answer := h.ask(`{"subtype":"mcp_toggle","serverName":"nobody","enabled":true}`); answer["error"] != "Server not found: nobody" {
			t.Errorf("%s: an unknown server: %v", version, answer)
		}
	}
}

func TestMCPSetServersRemoves(t *testing.T) {
	h := newHost(startSim(t, "2.1.325"))
	h.ask(`{"subtype":"initialize"}`)
	h.ask(`{"subtype":"mcp_set_servers","servers":{"calc":{"type":"sdk","name":"calc"}}}`)
	h.works("@say hi")
	for servers, want := range map[string]string{`{"calc":{"type":"sdk","name":"calc"}}`: "map[added:[] errors:map[] removed:[]]"} {
		if answer := h.ask(`{"subtype":"mcp_set_servers","servers":` + servers + `}`); fmt.Sprint(answer["response"]) != want {
			t.Errorf("the same servers again: %v", answer)
		}
	}
	if answer := h.ask(`{"subtype":"mcp_set_servers","servers":{}}`); fmt.Sprint(answer["response"]) != "map[added:[] errors:map[] removed:[calc]]" {
		t.Errorf("no servers: %v", answer)
	}
	h.lines = nil
	h.works(addPrompt)
	if got := h.toolResults(); len(got) != 1 || !strings.Contains(got[0], "No such tool") {
		t.Errorf("the tool of a removed server gave %q", got)
	}
}

func TestMCPOtherServersFail(t *testing.T) {
	h := newHost(startSim(t, "2.1.325", withArgs("--mcp-config", calcConfig)))
	h.works("@say hi")
	for _, name := range []string{"other", "web"} {
		if got := h.status(name); got != "failed with 0 tools" {
			t.Errorf("%s is %s", name, got)
		}
	}
	if answer := h.ask(`{"subtype":"mcp_call","tool":"mcp__other__x"}`); answer["error"] != "MCP server not connected: other" {
		t.Errorf("mcp_call was answered with %v", answer)
	}
	if answer := h.ask(`{"subtype":"mcp_call","tool":"mcp__calc__add"}`); answer["subtype"] != "error" {
		t.Errorf("mcp_call of a controller's server was answered with %v", answer)
	}
}

func TestMCPInterrupt(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			h := hosted(t, version)
			h.answers["tools/call"] = ""
			h.prompt(addPrompt)
			h.serve(func(map[string]any) bool { return len(h.calls) > 0 })
			h.send(`{"type":"control_request","request_id":"stop","request":{"subtype":"interrupt"}}`)
			h.serve(func(line map[string]any) bool { return line["type"] == "control_response" })
			if last := h.heard[len(h.heard)-1]; last != "notifications/cancelled" {
				t.Errorf("before the answer the server heard %q", h.heard)
			}
			if result := h.serve(isResult); result["subtype"] != "error_during_execution" || slices.Contains(h.kinds(), "control_cancel_request") {
				t.Errorf("the turn ended with %v\n%s", result, h.story())
			}
		})
	}
}

func TestMCPSilentServer(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := hosted(t, version)
				h.answers["initialize"] = ""
				if version == "2.1.325" { // it was asked and answered before
					h = newHost(startSim(t, version))
					h.answers["initialize"] = ""
					h.ask(`{"subtype":"initialize","sdkMcpServers":["calc"]}`)
				}
				begin := time.Now()
				h.prompt("@say hi")
				init := h.serve(func(line map[string]any) bool { return line["subtype"] == "init" })
				if held := time.Since(begin); held != time.Minute {
					t.Errorf("the first turn was held back for %v", held)
				}
				if !strings.Contains(fmt.Sprint(init["mcp_servers"]), "failed") {
					t.Errorf("the turn began with %v", init)
				}
				if told := slices.Contains(h.heard, "notifications/cancelled"); told != (version != "2.1.325") {
					t.Errorf("the server heard %q", h.heard)
				}
				h.serve(isResult)
				h.answers["initialize"] = calcHello
				h.works("@say again")
				if got := h.status("calc"); (got == "connected with 1 tools") != (version != "2.1.37") {
					t.Errorf("after the next prompt the server is %s", got)
				}
			})
		})
	}
}

func TestMCPConfigInvalid(t *testing.T) {
	var stderr strings.Builder
	code := RunSim(context.Background(), &SimOptions{
		Args: append(defaultArgs(), "--mcp-config", `{"servers":{}}`), Env: []string{"HOME=" + t.TempDir()}, Stderr: &stderr,
	}, strings.NewReader(""), &strings.Builder{})
	if code != 1 || !strings.Contains(stderr.String(), "Invalid MCP configuration") {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
}

func TestForm(t *testing.T) {
	const prompt = "@tool mcp__forms__ask {}\n@form {\"message\":\"Your name?\",\"requested_schema\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"age\":{}}}}\n@say Done"
	for _, test := range []struct {
		answer string
		want   perVersion
	}{
		{`{"action":"accept","content":{"name":"Ada"}}`, perVersion{"MCP error -32601: Method not found", `answer {"action":"accept","content":{"name":"Ada"}}`, `answer {"action":"accept","content":{"name":"Ada"}}`}},
		{`{"action":"decline"}`, perVersion{"MCP error -32601: Method not found", "The form was not filled in: decline", "The form was not filled in: decline"}},
		{`!broken`, perVersion{"MCP error -32601: Method not found", "The form was not filled in: cancel", "The form was not filled in: cancel"}},
	} {
		for _, version := range SimVersions() {
			s := startSim(t, version, withArgs("--allowedTools", "mcp__forms__ask"))
			s.prompt(prompt)
			s.ends(reply{"elicitation": test.answer})
			if got := s.toolResults(); len(got) != 1 || got[0] != test.want.of(version) {
				t.Errorf("%s: the tool's result is %q", version, got)
			}
			for _, line := range s.lines {
				if !isQuestion(line, "elicitation") {
					continue
				}
				request := line["request"].(map[string]any)
				order := fmt.Sprint(request["property_order"]) == "[name age]"
				if request["mcp_server_name"] != "forms" || request["mode"] != "form" || request["message"] != "Your name?" || order != (version == "2.1.325") {
					t.Errorf("%s: asked with %v", version, request)
				}
			}
		}
	}
}

package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// calculated names the MCP server that the scenarios about them share.
func calculated(l *launch) {
	l.initialize = &wire.InitializeRequest{SDKMCPServers: []string{"calc"}}
}

// calc is an MCP server with one tool, whose argument "how" says how the call ends.
func calc(_ string, m *wire.JSONRPC) any {
	switch m.Method {
	case "initialize":
		return Verbatim(fmt.Sprintf(`{"mcp_response":{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"calc","version":"1.0"}}}}`,
			m.ID, member(m.Params, "protocolVersion")))
	case "tools/list":
		return json.RawMessage(`{"tools":[{"name":"add","description":"Adds","inputSchema":{"type":"object","properties":{"how":{"type":"string"}}}}]}`)
	case "tools/call":
		switch member(m.Params, "arguments.how") {
		case "sum":
			return json.RawMessage(`{"content":[{"type":"text","text":"It is 3."}]}`)
		case "error":
			return &wire.JSONRPCError{Code: -32000, Message: "The numbers are out."}
		case "failed":
			return json.RawMessage(`{"content":[{"type":"text","text":"That is no number."}],"isError":true}`)
		case "control":
			return errors.New("no such server here")
		case "empty":
			return json.RawMessage(`{"content":[]}`)
		case "structured":
			return json.RawMessage(`{"content":[{"type":"text","text":"It is 3."}],"structuredContent":{"sum":3}}`)
		}
		return nil // to be answered by the scenario, or never
	case "":
		return Verbatim(`{}`) // it is an answer of the CLI
	}
	return &wire.JSONRPCError{Code: -32601, Message: "There is no such method."}
}

// serve answers the messages for the server, from the start.
func serve(s *Stage) {
	s.OnMCP(calc)
	s.OnAsk(allow)
}

// add is a prompt with a call of the server's tool.
func add(how string) string {
	return fmt.Sprintf("@tool mcp__calc__add {\"how\":%q}\n@say Over.", how)
}

// noteMCP notes how often each method was sent to the server.
func noteMCP(s *Stage, when string, lines []Seen) {
	counts := map[string]int{}
	for _, line := range lines {
		if method, ok := strings.CutPrefix(line.Text, "asks mcp_message calc "); ok {
			counts[method]++
		}
	}
	var all []string
	for _, method := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%s %d", method, counts[method]))
	}
	s.Note("%s: %s", when, strings.Join(all, ", "))
}

// noteStatus notes what mcp_status says about the servers.
func noteStatus(s *Stage) {
	answer := s.Request(&wire.MCPStatusRequest{})
	var status struct {
		Servers []json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal(answer.Response, &status); err != nil {
		s.Fail("reading mcp_status: %w", err)
	}
	s.Note("servers: %d", len(status.Servers))
	for _, server := range status.Servers {
		s.Note("%s is %s: %s", member(server, "name"), member(server, "status"), strings.Join(names(server), " "))
	}
}

// mcpScenarios are about MCP servers in the controller.
func mcpScenarios() []Scenario {
	return slices.Concat(mcpStartScenarios(), mcpCallScenarios(), mcpControlScenarios())
}

// mcpStartScenarios are the ways to name a server.
func mcpStartScenarios() []Scenario {
	const config = `{"calc":{"type":"sdk","name":"calc"}}`
	// first is the first turn, with what the server is sent. The handshakes that are still open are completed when its prompt was read.
	first := func(s *Stage, before []Seen, held ...func()) {
		s.Prompt(add("sum"))
		lines := append(slices.Clone(before), s.Settle()...)
		for _, release := range held {
			release() // the prompt was there before the handshake was over
		}
		turn := s.AwaitResult()
		lines = append(lines, turn.Lines...)
		noteMCP(s, "with the first turn", lines)
		for _, line := range lines {
			if line.Is("asks mcp_message calc initialize") {
				s.Note("id %s: %s", line.Get("request.message.id"), member([]byte(line.Get("request.message.params")), "protocolVersion"))
				s.Note("the client has %s", strings.Join(names([]byte(line.Get("request.message.params.clientInfo"))), " "))
				break
			}
		}
		turn.Lines = lines
		for _, line := range turn.Find("asks mcp_message calc tools/call") {
			s.Note("call %s: params %s, _meta %s", line.Get("request.message.id"), strings.Join(names([]byte(line.Get("request.message.params"))), " "),
				strings.Join(names([]byte(line.Get("request.message.params._meta"))), " "))
		}
		s.NoteOnly(turn.Lines, "asks can_use_tool", "user tool_result", "result")
	}
	configured := func(o *claude.Options) { o.MCPConfig = []byte(`{"mcpServers":` + config + `}`) }
	// early reports whether the CLI has spoken to the server before it answered the first request.
	early := func(s *Stage) {
		s.Note("before the answer to initialize: %t", slices.ContainsFunc(s.Started, func(l Seen) bool { return l.Is("asks mcp_message calc initialize") }))
	}
	return []Scenario{
		{
			ID: "mcp.initialize", Facts: "§2 sdkMcpServers; §2 the sequence; §2 MCP initialize before the answer; §2 mcp_reconnect and mcp_toggle; rule 1; rule 14", Where: stdioOnly,
			Initialize: &wire.InitializeRequest{SDKMCPServers: []string{"calc"}}, Before: serve,
			Run: func(s *Stage) {
				early(s)
				first(s, s.Started)
				noteStatus(s)
				_, err := s.TryRequest(&wire.MCPReconnectRequest{ServerName: "calc"})
				s.Note("it can be reconnected: %t", err == nil)
				_, err = s.TryRequest(&wire.MCPToggleRequest{ServerName: "calc", Enabled: false})
				s.Note("it can be switched off: %t", err == nil)
				noteStatus(s)
			},
			Quirks: []string{"MCPBeforeAnswer", "MCPTitled", "MCPDetails", "MCPToggles", "MCPNamesSDK"},
			Want: Per{
				"2.1.37":  {"before the answer to initialize: false", "with the first turn: initialize 1, notifications/initialized 1, tools/call 1, tools/list 1", "id 0: 2025-11-25", "the client has name version", "call 2: params _meta arguments name, _meta claudecode/toolUseId progressToken", "asks can_use_tool mcp__calc__add", "user tool_result: It is 3.", "result success: Over.", "servers: 1", "calc is connected: name scope status tools", "it can be reconnected: false", "it can be switched off: false", "servers: 1", "calc is connected: name scope status tools"},
				"2.1.120": {"before the answer to initialize: false", "with the first turn: initialize 1, notifications/initialized 1, tools/call 1, tools/list 1", "id 0: 2025-11-25", "the client has description name title version websiteUrl", "call 2: params _meta arguments name, _meta claudecode/toolUseId progressToken", "asks can_use_tool mcp__calc__add", "user tool_result: It is 3.", "result success: Over.", "servers: 1", "calc is connected: name scope status tools", "it can be reconnected: false", "it can be switched off: true", "servers: 1", "calc is connected: name scope status tools"},
				"2.1.325": {"before the answer to initialize: true", "with the first turn: initialize 1, notifications/initialized 1, tools/call 1, tools/list 1", "id 0: 2025-11-25", "the client has description name title version websiteUrl", "call 2: params _meta arguments name, _meta claudecode/toolUseId progressToken", "asks can_use_tool mcp__calc__add", "user tool_result: It is 3.", "result success: Over.", "servers: 1", "calc is connected: name scope serverInfo source status tools transport", "it can be reconnected: false", "it can be switched off: true", "servers: 1", "calc is disabled: name scope source status transport"},
			},
		},
		{
			ID: "mcp.config", Facts: "§2 --mcp-config; §2 the server is opened twice; rule 14", Where: stdioOnly,
			Options: configured,
			Before: func(s *Stage) {
				s.OnMCP(func(string, *wire.JSONRPC) any { return nil })
				s.OnAsk(allow)
			},
			Run: func(s *Stage) {
				early(s)
				var held []func()
				for _, line := range s.Started {
					if line.Is("asks mcp_message calc initialize") {
						held = append(held, func() {
							q := line.Message.(*wire.ControlRequest)
							message := q.Request.(*wire.MCPMessageRequest).Message
							s.Answer(q, calc("", &message))
						})
					}
				}
				s.OnMCP(calc)
				first(s, s.Started, held...)
				noteStatus(s)
			},
			Quirks: []string{"MCPOpensTwice", "MCPListsOnce"},
			Want: Per{
				"2.1.37":  {"before the answer to initialize: true", "with the first turn: initialize 2, notifications/initialized 2, tools/call 1, tools/list 2", "id 0: 2025-11-25", "the client has name version", "call 2: params _meta arguments name, _meta claudecode/toolUseId progressToken", "asks can_use_tool mcp__calc__add", "user tool_result: It is 3.", "result success: Over.", "servers: 1", "calc is connected: name scope status tools"},
				"2.1.120": {"before the answer to initialize: true", "with the first turn: initialize 2, notifications/initialized 2, tools/call 1, tools/list 1", "id 0: 2025-11-25", "the client has description name title version websiteUrl", "call 2: params _meta arguments name, _meta claudecode/toolUseId progressToken", "asks can_use_tool mcp__calc__add", "user tool_result: It is 3.", "result success: Over.", "servers: 1", "calc is connected: name scope status tools"},
				"2.1.325": {"before the answer to initialize: true", "with the first turn: initialize 1, notifications/initialized 1, tools/call 1, tools/list 1", "id 0: 2025-11-25", "the client has description name title version websiteUrl", "call 2: params _meta arguments name, _meta claudecode/toolUseId progressToken", "asks can_use_tool mcp__calc__add", "user tool_result: It is 3.", "result success: Over.", "servers: 1", "calc is connected: name scope serverInfo source status tools transport"},
			},
		},
		{
			ID: "mcp.at-start", Facts: "§2 --mcp-config before anything is read", Where: both(stdioOnly, since("2.1.120", "2.1.37 waits for the first line")),
			NoInitialize: true, Options: configured, Before: serve,
			Run: func(s *Stage) {
				s.NoteOnly(s.AwaitText("asks mcp_message calc tools/list"), "asks")
				s.NoteOnly(s.Turn(add("sum")).Lines, "user tool_result", "result")
			},
			Quirks: []string{"MCPAtStart"},
			Want:   Same("asks mcp_message calc initialize", "asks mcp_message calc notifications/initialized", "asks mcp_message calc tools/list", "user tool_result: It is 3.", "result success: Over."),
		},
		{
			ID: "mcp.set", Facts: "§2 mcp_set_servers; §2 an empty one removes; §2 the server is opened twice; rule 14", Where: stdioOnly, Before: serve,
			Run: func(s *Stage) {
				set := func(servers string) []Seen {
					const id = "set-servers"
					s.Raw(`{"type":"control_request","request_id":"` + id + `","request":{"subtype":"mcp_set_servers","servers":` + servers + `}}`)
					lines := s.Await(func(l Seen) bool { r, ok := l.Message.(*wire.ControlResponse); return ok && r.Response.RequestID == id })
					s.Note("answer: %s", lines[len(lines)-1].Get("response.response"))
					return lines
				}
				prompted := make(chan struct{})
				s.OnMCP(func(server string, m *wire.JSONRPC) any {
					if m.Method == "initialize" {
						select {
						case <-prompted:
						case <-s.Context().Done():
						}
					}
					return calc(server, m)
				})
				first(s, set(config), func() { close(prompted) })
				set(`{}`)
				noteStatus(s)
			},
			Quirks: []string{"MCPOpensTwice"},
			Want: Per{
				"2.1.37":  {`answer: {"added":["calc"],"removed":[],"errors":{}}`, "with the first turn: initialize 2, notifications/initialized 2, tools/call 1, tools/list 2", "id 0: 2025-11-25", "the client has name version", "call 2: params _meta arguments name, _meta claudecode/toolUseId progressToken", "asks can_use_tool mcp__calc__add", "user tool_result: It is 3.", "result success: Over.", `answer: {"added":[],"removed":["calc"],"errors":{}}`, "servers: 0"},
				"2.1.120": {`answer: {"added":["calc"],"removed":[],"errors":{}}`, "with the first turn: initialize 2, notifications/initialized 2, tools/call 1, tools/list 1", "id 0: 2025-11-25", "the client has description name title version websiteUrl", "call 2: params _meta arguments name, _meta claudecode/toolUseId progressToken", "asks can_use_tool mcp__calc__add", "user tool_result: It is 3.", "result success: Over.", `answer: {"added":[],"removed":["calc"],"errors":{}}`, "servers: 0"},
				"2.1.325": {`answer: {"added":["calc"],"removed":[],"errors":{}}`, "with the first turn: initialize 1, notifications/initialized 1, tools/call 1, tools/list 1", "id 0: 2025-11-25", "the client has description name title version websiteUrl", "call 2: params _meta arguments name, _meta claudecode/toolUseId progressToken", "asks can_use_tool mcp__calc__add", "user tool_result: It is 3.", "result success: Over.", `answer: {"added":[],"removed":["calc"],"errors":{}}`, "servers: 0"},
			},
		},
		{
			ID: "mcp.broken", Facts: "§2 a handshake that fails", Where: stdioOnly, Initialize: &wire.InitializeRequest{SDKMCPServers: []string{"calc"}},
			Before: func(s *Stage) {
				s.OnMCP(func(string, *wire.JSONRPC) any { return &wire.JSONRPCError{Code: -32000, Message: "Not today."} })
			},
			Run: func(s *Stage) {
				noteMCP(s, "with the first turn", append(slices.Clone(s.Started), s.Turn("@say Over.").Lines...))
				noteStatus(s)
				noteMCP(s, "with the second turn", s.Turn("@say Over.").Lines)
			},
			Quirks: []string{"MCPTriesAgain"},
			Want: Per{
				"2.1.37":  {"with the first turn: initialize 1", "servers: 1", "calc is failed: name scope status", "with the second turn:"},
				"2.1.120": {"with the first turn: initialize 1", "servers: 1", "calc is failed: name scope status", "with the second turn: initialize 1"},
				"2.1.325": {"with the first turn: initialize 2", "servers: 1", "calc is failed: name scope source status transport", "with the second turn: initialize 1"},
			},
		},
		{
			ID: "mcp.silent", Facts: "§2 an unanswered handshake holds back the first turn; rule 14", Where: stdioOnly, Slow: true,
			Initialize: &wire.InitializeRequest{SDKMCPServers: []string{"calc"}},
			Before:     func(s *Stage) { s.OnMCP(func(string, *wire.JSONRPC) any { return nil }) },
			Run: func(s *Stage) {
				begin := time.Now()
				turn := s.Turn("@say Over.")
				took := time.Since(begin)
				s.Note("after 25 s to 75 s: %t", took > 25*time.Second && took < 75*time.Second)
				s.Note("%s", turn.Last().Text)
				noteMCP(s, "until then", append(slices.Clone(s.Started), turn.Lines...))
				noteStatus(s)
			},
			Quirks: []string{"MCPShortLimit"},
			Want: Per{
				"2.1.37":  {"after 25 s to 75 s: true", "result success: Over.", "until then: initialize 1, notifications/cancelled 1", "servers: 1", "calc is failed: name scope status"},
				"2.1.325": {"after 25 s to 75 s: true", "result success: Over.", "until then: initialize 2", "servers: 1", "calc is failed: name scope source status transport"},
			},
		},
	}
}

// mcpCallScenarios are about calls of tools.
func mcpCallScenarios() []Scenario {
	rows := []struct {
		id, facts string
		quirk     string
		want      Want
	}{
		{id: "error", facts: "§2 a JSON-RPC error", quirk: "MCPErrorPrefix", want: Per{
			"2.1.37":  {"asks can_use_tool mcp__calc__add", "asks mcp_message calc tools/call", "user tool_result error: MCP error -32000: The numbers are out.", "result success: Over."},
			"2.1.325": {"asks can_use_tool mcp__calc__add", "asks mcp_message calc tools/call", "user tool_result error: The numbers are out.", "result success: Over."},
		}},
		{id: "empty", facts: "§2 no content", quirk: "MCPEmptyTold", want: Per{
			"2.1.37":  {"asks can_use_tool mcp__calc__add", "asks mcp_message calc tools/call", "user tool_result:", "result success: Over."},
			"2.1.120": {"asks can_use_tool mcp__calc__add", "asks mcp_message calc tools/call", "user tool_result: (mcp__calc__add completed with no output)", "result success: Over."},
		}},
		{id: "failed", facts: "§2 isError", want: Same("asks can_use_tool mcp__calc__add", "asks mcp_message calc tools/call", "user tool_result error: That is no number.", "result success: Over.")},
		{id: "control", facts: "§2 a control error", want: Same("asks can_use_tool mcp__calc__add", "asks mcp_message calc tools/call", "user tool_result error: no such server here", "result success: Over.")},
		{id: "structured", facts: "§2 structuredContent wins", want: Same("asks can_use_tool mcp__calc__add", "asks mcp_message calc tools/call", `user tool_result: {"sum":3}`, "result success: Over.")},
	}
	var all []Scenario
	for _, row := range rows {
		sc := Scenario{
			ID: "mcp." + row.id, Facts: row.facts, Where: stdioOnly, Warm: "calc", Before: serve, Want: row.want,
			Run: func(s *Stage) {
				for _, line := range s.Turn(add(row.id)).Lines {
					switch {
					case line.Is("user tool_result"):
						// 2.1.325 adds to some how the tool is to be called.
						text, _, _ := strings.Cut(line.Text, " This tool's input schema")
						s.Note("%s", text)
					case line.Is("asks can_use_tool", "asks mcp_message calc tools/call", "result"):
						s.Note("%s", line.Text)
					}
				}
			},
		}
		if row.quirk != "" {
			sc.Quirks = []string{row.quirk}
		}
		all = append(all, sc)
	}
	return append(
		all, Scenario{
			ID: "mcp.call", Facts: "§2 tools/call; §2 can_use_tool for an MCP tool", Warm: "calc", Before: serve,
			Run: func(s *Stage) {
				turn := s.Turn(add("sum"))
				askKeys(s, turn.Lines, "mcp_server", "display_name", "permission_suggestions")
				noteTools(s, slices.DeleteFunc(turn.Lines, func(l Seen) bool { return l.Is("asks mcp_message") && !l.Is("asks mcp_message calc tools/call") }), "")
			},
			Quirks: []string{"QuestionNames"},
			Want: Per{
				"2.1.37":  {"mcp__calc__add has permission_suggestions", `permission_suggestions: [{"type":"addRules","rules":[{"toolName":"mcp__calc__add"}],"behavior":"allow","destination":"localSettings"}]`, "asks can_use_tool mcp__calc__add", "asks mcp_message calc tools/call", "user tool_result: It is 3.", "result success: Over."},
				"2.1.120": {"mcp__calc__add has display_name permission_suggestions", "display_name: Add", `permission_suggestions: [{"type":"addRules","rules":[{"toolName":"mcp__calc__add"}],"behavior":"allow","destination":"localSettings"}]`, "asks can_use_tool mcp__calc__add", "asks mcp_message calc tools/call", "user tool_result: It is 3.", "result success: Over."},
				"2.1.325": {"mcp__calc__add has display_name mcp_server permission_suggestions server_policy_ask_only", `mcp_server: {"name":"calc","source":"sdk"}`, "display_name: Add", `permission_suggestions: [{"type":"addRules","rules":[{"toolName":"mcp__calc__add"}],"behavior":"allow","destination":"localSettings"}]`, "asks can_use_tool mcp__calc__add", "asks mcp_message calc tools/call", "user tool_result: It is 3.", "result success: Over."},
			},
		},
		Scenario{
			ID: "mcp.interrupt", Facts: "§2 interrupt of an unanswered call", Where: stdioOnly, Warm: "calc", Before: serve,
			Run: func(s *Stage) {
				s.Prompt(add("never"))
				s.AwaitText("asks mcp_message calc tools/call")
				s.Request(&wire.InterruptRequest{})
				noteTools(s, s.AwaitResult().Lines)
			},
			Quirks: []string{"InterruptIsError"},
			Want: Per{
				"2.1.37":  {"asks mcp_message calc notifications/cancelled", "user tool_result error", "user text: [Request interrupted by user for tool use]", "result error_during_execution"},
				"2.1.120": {"asks mcp_message calc notifications/cancelled", "user tool_result error", "user text: [Request interrupted by user for tool use]", "result error_during_execution is_error error=[ede_diagnostic]"},
			},
		},
		Scenario{
			ID: "mcp.elicitation-refused", Facts: "§2 elicitation of a server of the controller", Where: stdioOnly, Warm: "calc", Before: serve,
			Run: func(s *Stage) {
				s.Prompt(add("form"))
				lines := s.AwaitText("asks mcp_message calc tools/call")
				call := lines[len(lines)-1].Message.(*wire.ControlRequest)
				s.Raw(`{"type":"control_request","request_id":"form","request":{"subtype":"mcp_message","server_name":"calc","message":{"jsonrpc":"2.0","id":7,"method":"elicitation/create",` +
					`"params":{"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}}}`)
				for _, line := range s.AwaitText("asks mcp_message calc") {
					switch {
					case line.Is("asks elicitation"):
						s.Note("%s", line.Text)
					case line.Is("asks mcp_message"):
						s.Note("to the server: id %s, error %s", line.Get("request.message.id"), line.Get("request.message.error.code"))
					}
				}
				s.Answer(call, Verbatim(fmt.Sprintf(`{"mcp_response":{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"Hello."}]}}}`, call.Request.(*wire.MCPMessageRequest).Message.ID)))
				noteTools(s, s.AwaitResult().Lines, "")
			},
			Want: Same("to the server: id 7, error -32601", "user tool_result: Hello.", "result success: Over."),
		},
		Scenario{
			ID: "mcp.form", Facts: "§2 elicitation of a server of the CLI", Where: stdioOnly,
			Run: func(s *Stage) {
				server := httptest.NewServer(&formServer{answers: make(chan string, 1)})
				defer func() {
					server.CloseClientConnections() // 2.1.120 leaves the call open that it was interrupted in
					server.Close()
				}()
				s.RawRequest(`{"subtype":"mcp_set_servers","servers":{"forms":{"type":"http","url":"` + server.URL + `"}}}`)
				s.OnAsk(allow)
				for _, answer := range []string{`{"action":"accept","content":{"name":"Ada"}}`, `{"action":"decline"}`, `{"action":"cancel"}`} {
					s.On("elicitation", func(*wire.ControlRequest) any { return Verbatim(answer) })
					turn := s.Turn(`@tool mcp__forms__ask {}
						@form {"message":"Your name?","requested_schema":` + formSchema + `}
						@say Over.`)
					for _, line := range turn.Find("asks elicitation") {
						s.Note("%s: %s", line.Text, strings.Join(names([]byte(rawMember(line.Raw, "request"))), " "))
						s.Note("%s asks: %s, %s, %s", line.Get("request.mcp_server_name"), line.Get("request.message"), line.Get("request.mode"), line.Get("request.requested_schema"))
					}
					for _, line := range turn.Find("user tool_result") {
						s.Note("the tool has the name: %t", strings.Contains(line.Text, "Ada"))
					}
					s.Note("%s", turn.Last().Text)
				}
				if s.AtLeast(2, 1, 120) {
					s.On("elicitation", func(*wire.ControlRequest) any { return nil })
					s.Prompt(`@tool mcp__forms__ask {}
						@form {"message":"Your name?","requested_schema":` + formSchema + `}
						@say Over.`)
					s.AwaitText("asks elicitation")
					s.Request(&wire.InterruptRequest{})
					s.NoteOnly(s.AwaitResult().Lines, "withdraws", "result")
				}
				s.RawRequest(`{"subtype":"mcp_set_servers","servers":{}}`)
			},
			Quirks: []string{"Elicits", "FormsWithdrawn"},
			Want: Per{
				"2.1.37":  {"the tool has the name: false", "result success: Over.", "the tool has the name: false", "result success: Over.", "the tool has the name: false", "result success: Over."},
				"2.1.120": {"asks elicitation: mcp_server_name message mode requested_schema subtype", `forms asks: Your name?, form, {"type":"object","properties":{"name":{"type":"string","title":"Name"}},"required":["name"]}`, "the tool has the name: true", "result success: Over.", "asks elicitation: mcp_server_name message mode requested_schema subtype", `forms asks: Your name?, form, {"type":"object","properties":{"name":{"type":"string","title":"Name"}},"required":["name"]}`, "the tool has the name: false", "result success: Over.", "asks elicitation: mcp_server_name message mode requested_schema subtype", `forms asks: Your name?, form, {"type":"object","properties":{"name":{"type":"string","title":"Name"}},"required":["name"]}`, "the tool has the name: false", "result success: Over.", "result error_during_execution is_error error=[ede_diagnostic]"},
				"2.1.325": {"asks elicitation: mcp_server_name message mode property_order requested_schema subtype", `forms asks: Your name?, form, {"type":"object","properties":{"name":{"type":"string","title":"Name"}},"required":["name"]}`, "the tool has the name: true", "result success: Over.", "asks elicitation: mcp_server_name message mode property_order requested_schema subtype", `forms asks: Your name?, form, {"type":"object","properties":{"name":{"type":"string","title":"Name"}},"required":["name"]}`, "the tool has the name: false", "result success: Over.", "asks elicitation: mcp_server_name message mode property_order requested_schema subtype", `forms asks: Your name?, form, {"type":"object","properties":{"name":{"type":"string","title":"Name"}},"required":["name"]}`, "the tool has the name: false", "result success: Over.", "withdraws", "result error_during_execution is_error error=[ede_diagnostic]"},
			},
		},
	)
}

// formSchema is the form of the server below.
const formSchema = `{"type":"object","properties":{"name":{"type":"string","title":"Name"}},"required":["name"]}`

// A formServer is an MCP server over HTTP with one tool, which has the user fill in a form.
type formServer struct {
	answers chan string // to the form that is open
}

// ServeHTTP answers a message of the client. The answer to a call is a stream, with the form in it.
func (f *formServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m wire.JSONRPC
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	reply := func(result string) { fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result) }
	switch {
	case m.Method == "":
		select { // nobody waits for a second answer
		case f.answers <- member(m.Result, "action") + " " + member(m.Result, "content"):
		default:
		}
		w.WriteHeader(http.StatusAccepted)
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "initialize":
		w.Header().Set("Content-Type", "application/json")
		reply(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"forms","version":"1.0"}}`)
	case m.Method == "tools/list":
		w.Header().Set("Content-Type", "application/json")
		reply(`{"tools":[{"name":"ask","description":"Asks","inputSchema":{"type":"object","properties":{}}}]}`)
	case m.Method == "tools/call":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"elicitation/create\",\"params\":{\"message\":\"Your name?\",\"requestedSchema\":%s}}\n\n", formSchema)
		if err := http.NewResponseController(w).Flush(); err != nil {
			return
		}
		select {
		case answer := <-f.answers:
			text, _ := json.Marshal(answer)
			fmt.Fprint(w, "data: ")
			reply(`{"content":[{"type":"text","text":` + string(text) + `}]}`)
			fmt.Fprint(w, "\n\n")
		case <-r.Context().Done():
		}
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"There is no such method."}}`, m.ID)
	}
}

// mcpControlScenarios are about what a controller can say about its servers.
func mcpControlScenarios() []Scenario {
	return []Scenario{
		{
			ID: "mcp.notify", Facts: "§2 notifications of the controller; §2 list_changed", Where: stdioOnly, Warm: "calc", Before: serve,
			Run: func(s *Stage) {
				notify := func(server string) *wire.ControlAnswer {
					return s.RawRequest(`{"subtype":"mcp_message","server_name":"` + server + `","message":{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}`)
				}
				s.Turn("@say Ready.") // the server is open
				answer := notify("nowhere")
				s.Note("to an unknown server: %s %s", answer.Subtype, answer.Response)
				const id = "changed"
				s.Raw(`{"type":"control_request","request_id":"` + id + `","request":{"subtype":"mcp_message","server_name":"calc","message":{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}}`)
				lines := s.Turn("@say Over.").Lines
				noteMCP(s, "after a change", lines)
			},
			Quirks: []string{"MCPFollowsChanges"},
			Want: Per{
				"2.1.37":  {"to an unknown server: success", "after a change:"},
				"2.1.325": {"to an unknown server: success", "after a change: tools/list 1"},
			},
		},
	}
}

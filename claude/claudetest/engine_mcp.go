package claudetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/flags"
)

// The ways in which a server becomes known.
const (
	byInitialize = iota // sdkMcpServers of initialize
	byConfig            // --mcp-config
	bySet               // mcp_set_servers
)

// The states of a server that are told.
const (
	mcpConnected = "connected"
	mcpFailed    = "failed"
	mcpDisabled  = "disabled"
)

// mcpState are the MCP servers that the CLI knows. The engine's mu guards it.
type mcpState struct {
	servers []*mcpServer // in the order in which they became known
}

// An mcpServer is an MCP server. Only those of the controller are ever reached: no process is started and no address called.
type mcpServer struct {
	// Static after construction.
	name   string
	kind   string // "sdk" for one of the controller
	config json.RawMessage
	way    int

	// Guarded by the engine's mu.
	status  string // empty: not tried, or on the way
	failure string
	info    json.RawMessage
	tools   []mcpTool
	next    int           // id of the next JSON-RPC request
	shakes  int           // handshakes under way
	listing bool          // one of them has asked for the tools
	late    bool          // a prompt came while it was opened
	settled chan struct{} // closed when the last of them is over
	calls   []*openCall
}

// sdk reports whether the server is one of the controller.
func (s *mcpServer) sdk() bool { return s.kind == "sdk" }

// An mcpTool is a tool of a server.
type mcpTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"inputSchema"`
	Annotations struct {
		Title       string `json:"title"`
		ReadOnly    bool   `json:"readOnlyHint"`
		Destructive bool   `json:"destructiveHint"`
		OpenWorld   bool   `json:"openWorldHint"`
	} `json:"annotations"`
}

// notNaming are the characters of a server's or tool's name that the model's tools cannot have.
var notNaming = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// toolName is how the model calls a tool of a server.
func (s *mcpServer) toolName(tool string) string {
	return "mcp__" + notNaming.ReplaceAllString(s.name, "_") + "__" + notNaming.ReplaceAllString(tool, "_")
}

// readServers reads the servers of --mcp-config: JSON, or the names of files with it.
func (e *engine) readServers() error {
	for _, source := range e.flags.MCPConfig {
		data := []byte(source)
		if !strings.HasPrefix(strings.TrimSpace(source), "{") {
			var err error
			if data, err = os.ReadFile(source); err != nil {
				return &flags.ExitError{Code: 1, Stderr: "Error: Invalid MCP configuration:\nMCP config file not found: " + source + "\n"}
			}
		}
		var config struct {
			Servers json.RawMessage `json:"mcpServers"`
		}
		if err := json.Unmarshal(data, &config); err != nil || !has(config.Servers) {
			return &flags.ExitError{Code: 1, Stderr: "Error: Invalid MCP configuration:\nmcpServers: Does not adhere to MCP server configuration schema\n"}
		}
		for _, server := range namedServers(config.Servers, byConfig) {
			e.addServer(server)
		}
	}
	return nil
}

// namedServers reads an object of servers by their names, in its order.
func namedServers(object json.RawMessage, way int) []*mcpServer {
	var configs map[string]json.RawMessage
	if json.Unmarshal(object, &configs) != nil {
		return nil
	}
	var servers []*mcpServer
	for _, name := range memberNames(object) {
		var config struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal(configs[name], &config) // a server without a type is a command
		if config.Type == "" {
			config.Type = "stdio"
		}
		servers = append(servers, newServer(name, config.Type, configs[name], way))
	}
	return servers
}

// newServer returns a server that was not tried yet; those that are not the controller's have failed from the start.
func newServer(name, kind string, config json.RawMessage, way int) *mcpServer {
	s := &mcpServer{name: name, kind: kind, config: config, way: way, settled: make(chan struct{})}
	close(s.settled)
	if !s.sdk() {
		s.status, s.failure = mcpFailed, "the simulated CLI starts no servers"
	}
	return s
}

// memberNames returns the names of an object's members in their order, each once.
func memberNames(object json.RawMessage) []string {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil
	}
	var names []string
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return names
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return names
		}
		if text, ok := name.(string); ok && !slices.Contains(names, text) {
			names = append(names, text)
		}
	}
	return names
}

// addServer makes a server known; one of the same name is replaced.
func (e *engine) addServer(server *mcpServer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mcp.servers = slices.DeleteFunc(e.mcp.servers, func(s *mcpServer) bool { return s.name == server.name })
	e.mcp.servers = append(e.mcp.servers, server)
}

// serversWhere returns the servers that match. The function runs with mu held.
func (e *engine) serversWhere(match func(*mcpServer) bool) []*mcpServer {
	e.mu.Lock()
	defer e.mu.Unlock()
	var found []*mcpServer
	for _, s := range e.mcp.servers {
		if match(s) {
			found = append(found, s)
		}
	}
	return found
}

// server returns a server by its name; nil if it is unknown.
func (e *engine) server(name string) *mcpServer {
	found := e.serversWhere(func(s *mcpServer) bool { return s.name == name })
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

// startServers opens the configured servers if the version does so before it has read anything.
func (e *engine) startServers() {
	if e.quirks.MCPAtStart {
		e.openUntried(byConfig)
	}
}

// openSDKServers takes the servers of an initialize request. The newest version opens them before it answers.
func (e *engine) openSDKServers(names []string) {
	for _, name := range names {
		e.addServer(newServer(name, "sdk", nil, byInitialize))
	}
	e.openUntried(byConfig)
	if e.quirks.MCPBeforeAnswer {
		e.openUntried(byInitialize)
	}
}

// openUntried opens the servers of a way that were not tried yet.
func (e *engine) openUntried(way int) {
	e.openServers(e.serversWhere(func(s *mcpServer) bool { return s.sdk() && s.way == way && s.status == "" && s.shakes == 0 })...)
}

// awaitServers opens what is still to be opened and holds a turn back until every handshake is over. Where a server had failed before, a version
// may try once more.
func (e *engine) awaitServers() {
	tried := map[*mcpServer]bool{}
	open := func(servers []*mcpServer) {
		for _, s := range servers {
			tried[s] = true
		}
		e.openServers(servers...)
	}
	// A prompt that overtakes the opening of a server, or begins it, opens it once more.
	var again []*mcpServer
	if e.quirks.MCPOpensTwice {
		again = e.serversWhere(func(s *mcpServer) bool {
			return s.sdk() && (s.late || s.shakes == 0 && s.status == "" && s.way == byConfig)
		})
	}
	open(append(e.serversWhere(func(s *mcpServer) bool { return s.sdk() && s.status == "" && s.shakes == 0 }), again...))
	if e.quirks.MCPBeforeAnswer && len(e.serversWhere(func(s *mcpServer) bool { return s.shakes > 0 })) > 0 {
		e.tellState("running")
	}
	e.awaitHandshakes()
	if e.quirks.MCPTriesAgain {
		open(e.serversWhere(func(s *mcpServer) bool { return s.sdk() && s.status == mcpFailed && !tried[s] }))
		e.awaitHandshakes()
	}
}

// overtake notes the servers that are being opened while a prompt comes in. mu is held.
func (e *engine) overtake() {
	for _, s := range e.mcp.servers {
		s.late = s.late || s.shakes > 0 && s.way != byInitialize
	}
}

// awaitHandshakes waits until no server is being opened.
func (e *engine) awaitHandshakes() {
	for _, s := range e.serversWhere(func(s *mcpServer) bool { return s.shakes > 0 }) {
		e.awaitServer(s)
	}
}

// mcpServers are the servers as the line that begins a turn tells them.
func (e *engine) mcpServers() []members {
	list := []members{}
	for _, s := range e.announcedServers() {
		list = append(list, members{"name", s.name, "status", s.status}.when(e.quirks.MCPDetails, "source", s.source()))
	}
	return list
}

// announcedServers returns copies of the servers that are told: those that were tried. The controller's come last.
func (e *engine) announcedServers() []mcpServer {
	e.mu.Lock()
	defer e.mu.Unlock()
	var others, own []mcpServer
	for _, s := range e.mcp.servers {
		switch {
		case s.status == "":
		case s.sdk():
			own = append(own, *s)
		default:
			others = append(others, *s)
		}
	}
	return append(others, own...)
}

func (s *mcpServer) source() string {
	if s.sdk() {
		return "sdk"
	}
	return "dynamic"
}

// mcpStatus answers mcp_status.
func (e *engine) mcpStatus(r controlRequest) *exit {
	list := []members{}
	for _, s := range e.announcedServers() {
		connected := s.status == mcpConnected
		scope := "dynamic"
		if s.sdk() && s.status == mcpFailed {
			scope = "user"
		}
		line := members{"name", s.name, "status", s.status}.
			when(connected && e.quirks.MCPDetails && has(s.info), "serverInfo", s.info).
			when(s.failure != "" && !s.sdk(), "error", s.failure, "config", s.config).
			when(e.quirks.MCPDetails, "transport", s.kind).with("scope", scope).
			when(e.quirks.MCPDetails, "source", s.source()).
			when(connected, "tools", toolList(s.tools))
		list = append(list, line)
	}
	e.succeed(r, members{"mcpServers", list})
	return nil
}

func toolList(tools []mcpTool) []members {
	list := []members{}
	for _, tool := range tools {
		a := tool.Annotations
		list = append(list, members{"name", tool.Name, "annotations", members{}.when(a.ReadOnly, "readOnly", true).
			when(a.Destructive, "destructive", true).when(a.OpenWorld, "openWorld", true)})
	}
	return list
}

// mcpSetServers answers mcp_set_servers: the servers that were set before and are not named are removed.
func (e *engine) mcpSetServers(r controlRequest) *exit {
	var request struct {
		Servers json.RawMessage `json:"servers"`
	}
	r.read(&request)
	wanted := namedServers(request.Servers, bySet)
	names := map[string]bool{}
	for _, s := range wanted {
		names[s.name] = true
	}
	added, removed, failures := []string{}, []string{}, members{}
	e.mu.Lock()
	e.mcp.servers = slices.DeleteFunc(e.mcp.servers, func(s *mcpServer) bool {
		gone := s.way == bySet && !names[s.name]
		if gone {
			removed = append(removed, s.name)
		}
		return gone
	})
	known := map[string]bool{}
	for _, s := range e.mcp.servers {
		known[s.name] = s.way == bySet
	}
	e.mu.Unlock()
	var opening []*mcpServer
	for _, s := range wanted {
		if known[s.name] {
			continue
		}
		e.addServer(s)
		added = append(added, s.name)
		if s.sdk() {
			opening = append(opening, s)
		} else {
			failures = failures.with(s.name, s.failure)
		}
	}
	e.succeed(r, members{"added", added, "removed", removed, "errors", failures})
	e.openServers(opening...)
	return nil
}

// errSDKServer is why the CLI does not reconnect a server of the controller.
const errSDKServer = "SDK servers are the controller's to connect"

// namedServer reads which server a request is about. The oldest version does not count the controller's.
func (e *engine) namedServer(r controlRequest) *mcpServer {
	var request struct {
		Name    string `json:"serverName"`
		Enabled bool   `json:"enabled"`
	}
	r.read(&request)
	s := e.server(request.Name)
	if s == nil || s.sdk() && !e.quirks.MCPNamesSDK {
		e.fail(r, "Server not found: "+request.Name, "")
		return nil
	}
	return s
}

// mcpReconnect answers mcp_reconnect, which works for no server of a simulation.
func (e *engine) mcpReconnect(r controlRequest) *exit {
	s := e.namedServer(r)
	switch {
	case s == nil:
	case s.sdk():
		e.fail(r, errSDKServer, "")
	default:
		e.fail(r, "Server status: "+mcpFailed, "")
	}
	return nil
}

// mcpToggle answers mcp_toggle.
func (e *engine) mcpToggle(r controlRequest) *exit {
	var request struct {
		Enabled bool `json:"enabled"`
	}
	r.read(&request)
	s := e.namedServer(r)
	switch {
	case s == nil:
		return nil
	case request.Enabled && !s.sdk():
		e.fail(r, "Server status: "+mcpFailed, "")
		return nil
	case request.Enabled && !e.quirks.MCPToggles:
		e.fail(r, errSDKServer, "")
		return nil
	case request.Enabled:
		e.mu.Lock()
		s.status = ""
		e.mu.Unlock()
		e.openServers(s)
		e.tasks.Go(func() { // ends with the handshake
			e.awaitServer(s)
			e.succeed(r, nil)
		})
		return nil
	}
	e.mu.Lock()
	s.tools = nil
	if e.quirks.MCPToggles || !s.sdk() {
		s.status = mcpDisabled
	}
	e.mu.Unlock()
	e.succeed(r, nil)
	return nil
}

// awaitServer waits until the handshakes of a server are over.
func (e *engine) awaitServer(s *mcpServer) {
	e.mu.Lock()
	settled := s.settled
	e.mu.Unlock()
	select {
	case <-settled:
	case <-e.ctx.Done():
	}
}

// mcpCall answers mcp_call. No server that it could reach is ever connected: those of the controller are not for it.
func (e *engine) mcpCall(r controlRequest) *exit {
	var request struct {
		Tool string `json:"tool"`
	}
	r.read(&request)
	parts := strings.SplitN(request.Tool, "__", 3)
	if len(parts) != 3 || parts[0] != "mcp" {
		e.fail(r, "Not a fully-qualified MCP tool name: "+request.Tool, "")
		return nil
	}
	connected := e.serversWhere(func(s *mcpServer) bool {
		return s.status == mcpConnected && strings.HasPrefix(request.Tool, s.toolName(""))
	})
	if len(connected) == 0 {
		e.fail(r, "MCP server not connected: "+parts[1], "")
		return nil
	}
	e.fail(r, fmt.Sprintf("mcp_call does not support SDK MCP servers: call %s directly", connected[0].name), "")
	return nil
}

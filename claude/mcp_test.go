package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/switchboard-dev/switchboard/wire"
)

// An mcpFake is an MCP server whose connections do what a function says.
type mcpFake struct {
	connect error
	receive func(ctx context.Context, m *wire.JSONRPC) (json.RawMessage, error)

	mu     sync.Mutex
	send   func(context.Context, json.RawMessage) error
	opened int
	closed int
	heard  []string
}

func (f *mcpFake) Connect(_ context.Context, send func(context.Context, json.RawMessage) error) (MCPConnection, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened++
	f.send = send
	if f.connect != nil {
		return nil, f.connect
	}
	return f, nil
}

func (f *mcpFake) Receive(ctx context.Context, message json.RawMessage) (json.RawMessage, error) {
	var m wire.JSONRPC
	if err := json.Unmarshal(message, &m); err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.heard = append(f.heard, m.Method)
	f.mu.Unlock()
	if f.receive != nil {
		return f.receive(ctx, &m)
	}
	return shakeHands(&m)
}

func (f *mcpFake) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
	return nil
}

func (f *mcpFake) counts() (opened, closed int, heard string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.opened, f.closed, strings.Join(f.heard, " ")
}

// shakeHands answers as a server with one tool does.
func shakeHands(m *wire.JSONRPC) (json.RawMessage, error) {
	switch m.Method {
	case "initialize":
		return rpc(m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"calc","version":"1"}}`), nil
	case "tools/list":
		return rpc(m, `{"tools":[{"name":"add","description":"Adds","inputSchema":{"type":"object"}}]}`), nil
	case "tools/call":
		return rpc(m, `{"content":[{"type":"text","text":"It is 3."}]}`), nil
	}
	return nil, nil
}

func rpc(m *wire.JSONRPC, result string) json.RawMessage {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// says sends a message to an MCP server.
func (f *fakeTransport) says(request, server, message string) {
	f.asks(request, fmt.Sprintf(`{"subtype":"mcp_message","server_name":%q,"message":%s}`, server, message))
}

const mcpDone = `{"mcp_response":{"jsonrpc":"2.0","id":0,"result":{}}}`

// Messages reach their server, and its responses the CLI.
func TestMCPMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &mcpFake{}
		f, s, first := askingSession(t, "2.1.325", &Options{MCPServers: map[string]MCPServer{"calc": server}})
		wantPart(t, first, `"sdkMcpServers":["calc"]`)
		for i, c := range []struct{ server, message, want string }{
			{"calc", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`, `{"mcp_response":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"calc","version":"1"}}}}`},
			{"calc", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, mcpDone},
			{"calc", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`, `{"mcp_response":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"calc","version":"1"}}}}`},
			{"calc", `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"add"}}`, `{"mcp_response":{"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":"It is 3."}]}}}`},
			{"calc", `{"jsonrpc":"2.0","id":7,"result":{"roots":[]}}`, mcpDone},
			{"calc", `{"jsonrpc":"2.0","id":8,"method":"unheard/of"}`, `{"mcp_response":{"jsonrpc":"2.0","id":8,"error":{"code":-32603,"message":"the server gave no response"}}}`},
			{"nobody", `{"jsonrpc":"2.0","id":9,"method":"ping"}`, `error: there is no MCP server "nobody" here`},
		} {
			id := fmt.Sprintf("m%d", i)
			f.says(id, c.server, c.message)
			f.expectAnswer(t, id, c.want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if opened, closed, heard := server.counts(); opened != 1 || closed != 1 || heard != "initialize notifications/initialized initialize tools/call  unheard/of" {
			t.Errorf("opened %d, closed %d, heard %s", opened, closed, heard)
		}
	})
}

func TestMCPFailures(t *testing.T) {
	call := `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{}}`
	for name, c := range map[string]struct {
		receive func(context.Context, *wire.JSONRPC) (json.RawMessage, error)
		want    string
	}{
		"error":    {func(context.Context, *wire.JSONRPC) (json.RawMessage, error) { return nil, errors.New("no numbers") }, "no numbers"},
		"panic":    {func(context.Context, *wire.JSONRPC) (json.RawMessage, error) { panic("oh no") }, "the MCP server panicked: oh no"},
		"no JSON":  {func(context.Context, *wire.JSONRPC) (json.RawMessage, error) { return json.RawMessage("{"), nil }, "the server's response isn't a JSON-RPC message"},
		"no reply": {func(context.Context, *wire.JSONRPC) (json.RawMessage, error) { return nil, nil }, "the server gave no response"},
	} {
		bubble(t, name, func(t *testing.T) {
			f, _, _ := askingSession(t, "2.1.325", &Options{MCPServers: map[string]MCPServer{"calc": &mcpFake{receive: c.receive}}})
			f.says("m", "calc", call)
			f.expectAnswer(t, "m", fmt.Sprintf(`{"mcp_response":{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":%q}}}`, c.want))
			f.says("n", "calc", `{"jsonrpc":"2.0","method":"notifications/x"}`)
			f.expectAnswer(t, "n", mcpDone)
		})
	}
}

// Calls are handled side by side, and each can be cancelled, even before it was
// looked at.
func TestMCPCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := make(chan string)
		f, _, _ := askingSession(t, "2.1.325", &Options{MCPServers: map[string]MCPServer{"calc": &mcpFake{receive: func(ctx context.Context, m *wire.JSONRPC) (json.RawMessage, error) {
			if m.Method != "tools/call" {
				return shakeHands(m)
			}
			select {
			case started <- string(m.ID):
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}}}})
		for _, id := range []string{"1", "2"} {
			f.says("call"+id, "calc", `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call"}`)
		}
		<-started
		<-started
		f.says("n", "calc", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		got := map[string]bool{}
		for range 2 {
			got[requestID(t, f.next(t))] = true
		}
		if !got["n"] || !got["call2"] {
			t.Errorf("answered: %v", got)
		}
		f.withdraws("call1")
		f.quiet(t)

		f.says("early", "calc", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
		f.expectAnswer(t, "early", mcpDone)
		f.says("call3", "calc", `{"jsonrpc":"2.0","id":3,"method":"tools/call"}`)
		wantPart(t, f.next(t), "cancelled the call")

		// The ids of another handshake are others.
		f.says("too early", "calc", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`)
		f.expectAnswer(t, "too early", mcpDone)
		f.says("hello", "calc", `{"jsonrpc":"2.0","id":0,"method":"initialize"}`)
		f.next(t)
		f.says("call4", "calc", `{"jsonrpc":"2.0","id":4,"method":"tools/call"}`)
		if id := <-started; id != "4" {
			t.Errorf("started %s", id)
		}
	})
}

// A server speaks by itself as soon as there is somebody to hear it.
func TestMCPSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &mcpFake{}
		f, s, _ := askingSession(t, "2.1.325", &Options{MCPServers: map[string]MCPServer{"calc": server}})
		sent := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { sent <- server.send(ctx, json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/x"}`)) }()
		f.quiet(t) // the CLI has not said hello
		f.says("hello", "calc", `{"jsonrpc":"2.0","id":0,"method":"initialize"}`)
		var notification string
		for range 2 {
			if line := f.next(t); strings.Contains(line, "mcp_response") {
				continue
			} else {
				notification = line
			}
		}
		wantPart(t, notification, `"request":{"subtype":"mcp_message","server_name":"calc","message":{"jsonrpc":"2.0","method":"notifications/x"}}`)
		f.quiet(t)
		f.answer(notification, `{}`)
		if err := <-sent; err != nil {
			t.Error(err)
		}
		if err := server.send(t.Context(), json.RawMessage(`[]`)); err == nil {
			t.Error("no message was sent")
		}
		cancel()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := server.send(t.Context(), json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/x"}`)); !errors.Is(err, ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
	})
}

// A server that cannot be connected to fails the start, and the others are closed.
func TestMCPConnectFails(t *testing.T) {
	for name, broken := range map[string]MCPServer{"error": &mcpFake{connect: errors.New("no schema")}, "nil": nil, "panic": panicServer{}, "nothing": emptyServer{}} {
		bubble(t, name, func(t *testing.T) {
			good := &mcpFake{}
			f := newFakeTransport()
			f.Set(StateConnected)
			s, err := NewSession(t.Context(), f, &Options{MCPServers: map[string]MCPServer{"a": good, "b": broken}})
			if err == nil {
				_ = s.Close()
				t.Fatal("it has started")
			}
			wantPart(t, err.Error(), `"b"`)
			f.quiet(t)
			if opened, closed, _ := good.counts(); opened != closed {
				t.Errorf("opened %d, closed %d", opened, closed)
			}
		})
	}
}

type panicServer struct{}

func (panicServer) Connect(context.Context, func(context.Context, json.RawMessage) error) (MCPConnection, error) {
	panic("oh no")
}

type emptyServer struct{}

func (emptyServer) Connect(context.Context, func(context.Context, json.RawMessage) error) (MCPConnection, error) {
	return nil, nil
}

// Servers can be replaced while the session runs.
func TestMCPServersSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &mcpFake{}, &mcpFake{}
		f, s, _ := askingSession(t, "2.1.325", &Options{MCPServers: map[string]MCPServer{"a": first}})
		set := func(answer string, servers map[string]MCPServer) error {
			t.Helper()
			got := make(chan error, 1)
			go func() {
				_, err := s.SetMCPServers(t.Context(), nil, servers)
				got <- err
			}()
			line := f.next(t)
			for name := range servers {
				wantPart(t, line, fmt.Sprintf(`%q:{"type":"sdk","name":%q}`, name, name))
			}
			// It is spoken to before the answer.
			if _, there := servers["b"]; there {
				f.says("hello "+requestID(t, line), "b", `{"jsonrpc":"2.0","id":0,"method":"initialize"}`)
				wantPart(t, f.next(t), "mcp_response")
			}
			if answer == "" {
				f.say <- `{"type":"control_response","response":{"subtype":"error","request_id":"` + requestID(t, line) + `","error":"no"}}`
			} else {
				f.answer(line, answer)
			}
			return <-got
		}
		state := func(server *mcpFake, opened, closed int) {
			t.Helper()
			if o, c, _ := server.counts(); o != opened || c != closed {
				t.Errorf("opened %d times, closed %d times; want %d, %d", o, c, opened, closed)
			}
		}
		if err := set("", map[string]MCPServer{"a": first, "b": second}); err == nil {
			t.Error("an error was not told")
		}
		state(first, 1, 0)
		state(second, 1, 1)
		if err := set(`{"added":["b"],"removed":[],"errors":{}}`, map[string]MCPServer{"a": first, "b": second}); err != nil {
			t.Error(err)
		}
		state(first, 1, 0)
		state(second, 2, 1)
		if err := set(`{"added":[],"removed":["b"],"errors":{}}`, map[string]MCPServer{"a": second}); err != nil {
			t.Error(err)
		}
		state(first, 1, 1) // replaced
		state(second, 3, 2)
		if _, err := s.SetMCPServers(t.Context(), map[string]wire.MCPServerConfig{"a": {}}, map[string]MCPServer{"a": first}); err == nil {
			t.Error("a name was taken twice")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		state(second, 3, 3)
	})
}

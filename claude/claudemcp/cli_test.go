package claudemcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/switchboard-dev/switchboard/claude"
)

// A cli is the CLI's side of a connection: it writes raw messages and keeps what
// the server sends by itself.
type cli struct {
	t    *testing.T
	conn claude.MCPConnection

	mu   sync.Mutex
	sent []string // what the server sent by itself
	// onSend, if set, is what sending comes to.
	onSend func(ctx context.Context, message json.RawMessage) error
}

// connect connects to a server, for the length of the test.
func connect(t *testing.T, s *Server) *cli {
	t.Helper()
	c := &cli{t: t}
	conn, err := s.Connect(t.Context(), func(ctx context.Context, message json.RawMessage) error {
		c.mu.Lock()
		c.sent = append(c.sent, string(message))
		answer := c.onSend
		c.mu.Unlock()
		if answer != nil {
			return answer(ctx, message)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c.conn = conn
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return c
}

// tell writes a message that has no reply.
func (c *cli) tell(message string) {
	c.t.Helper()
	reply, err := c.conn.Receive(c.t.Context(), json.RawMessage(message))
	if err != nil || reply != nil {
		c.t.Fatalf("telling %s: reply %s, error %v; want neither", message, reply, err)
	}
}

// An answer is a JSON-RPC response.
type answer struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int64
		Message string
	}
}

// ask writes a request and returns the reply.
func (c *cli) ask(id, method, params string) answer {
	c.t.Helper()
	a, err := c.tryAsk(c.t.Context(), id, method, params)
	if err != nil {
		c.t.Fatalf("asking %s: %v", method, err)
	}
	return a
}

func (c *cli) tryAsk(ctx context.Context, id, method, params string) (answer, error) {
	reply, err := c.conn.Receive(ctx, json.RawMessage(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)))
	if err != nil {
		return answer{}, err
	}
	var a answer
	if err := json.Unmarshal(reply, &a); err != nil {
		return answer{}, fmt.Errorf("reading %s: %w", reply, err)
	}
	if string(a.ID) != id {
		return a, fmt.Errorf("the reply is for %s, want %s", a.ID, id)
	}
	return a, nil
}

// later asks in a goroutine of its own.
func (c *cli) later(id, method, params string) <-chan answer {
	replies := make(chan answer, 1)
	go func() {
		a, err := c.tryAsk(c.t.Context(), id, method, params)
		if err != nil {
			c.t.Errorf("asking %s: %v", method, err)
		}
		replies <- a
	}()
	return replies
}

// The messages of a handshake, as a CLI writes them.
const (
	helloParams = `{"protocolVersion":"2025-11-25","capabilities":{"roots":{},"elicitation":{}},"clientInfo":{"name":"claude-code","version":"2.1.325"}}`
	helloDone   = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// hello does the handshake.
func (c *cli) hello() {
	c.t.Helper()
	if a := c.ask("0", "initialize", helloParams); a.Error != nil {
		c.t.Fatalf("initialize: %+v", a.Error)
	}
	c.tell(helloDone)
}

// callParams are the parameters of a call, as a CLI writes them.
func callParams(tool, arguments string) string {
	return fmt.Sprintf(`{"name":%q,"arguments":%s,"_meta":{"claudecode/toolUseId":"toolu_1","progressToken":2}}`, tool, arguments)
}

// A result is what a call came to.
type result struct {
	Content []struct {
		Type, Text, MIMEType string
		Data                 []byte
	}
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool
}

// read reads the result of a call.
func (a answer) read(t *testing.T) result {
	t.Helper()
	if a.Error != nil {
		t.Fatalf("the call failed: %+v", a.Error)
	}
	var r result
	if err := json.Unmarshal(a.Result, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// text returns the text of a result.
func (r result) text() string {
	var b strings.Builder
	for _, c := range r.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

// told returns what the server sent by itself and forgets it.
func (c *cli) told() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent := c.sent
	c.sent = nil
	return sent
}

// count returns how many sessions the server has, when nothing moves any more.
func count(s *Server) int {
	synctest.Wait()
	n := 0
	for range s.MCP().Sessions() {
		n++
	}
	return n
}

type numbers struct {
	A int `json:"a" jsonschema:"the first number"`
	B int `json:"b,omitempty" jsonschema:"the second number"`
}

type sum struct {
	Sum int `json:"sum"`
}

// add is the tool of most tests.
func add() *Tool {
	return NewTool("add", "Adds two numbers.", func(_ context.Context, in numbers) (sum, error) {
		return sum{in.A + in.B}, nil
	})
}

// waiting is a tool that waits until its context ends or it is released, and tells
// when it runs and how its context ended.
type waiting struct {
	runs    chan struct{}
	release chan string
	ended   chan error
}

func newWaiting() *waiting {
	return &waiting{runs: make(chan struct{}), release: make(chan string), ended: make(chan error, 9)}
}

func (w *waiting) tool(name string) *Tool {
	return NewTool(name, "Waits.", func(ctx context.Context, _ struct{}) (string, error) {
		w.runs <- struct{}{}
		select {
		case s := <-w.release:
			return s, nil
		case <-ctx.Done():
			w.ended <- context.Cause(ctx)
			return "", ctx.Err()
		}
	})
}

// bubble runs a test in a bubble, with the connection closed inside it.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// empty is a server of the MCP SDK with nothing in it.
func empty() *mcp.Server {
	return mcp.NewServer(&mcp.Implementation{Name: "calc", Version: "1.0.0"}, nil)
}

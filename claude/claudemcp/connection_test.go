package claudemcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/switchboard-dev/switchboard/claude"
)

func TestHandshakeAndCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := NewServer("calc", "1.0.0", &Options{Instructions: "Use it for sums.", Title: "Calculator"}, add())
		c := connect(t, s)
		var hello struct {
			ProtocolVersion, Instructions string
			ServerInfo                    struct{ Name, Title, Version string }
			Capabilities                  struct{ Tools *struct{ ListChanged bool } }
		}
		if err := json.Unmarshal(c.ask("0", "initialize", helloParams).Result, &hello); err != nil {
			t.Fatal(err)
		}
		if hello.ProtocolVersion != "2025-11-25" || hello.Instructions != "Use it for sums." || hello.ServerInfo.Name != "calc" || hello.ServerInfo.Title != "Calculator" ||
			hello.ServerInfo.Version != "1.0.0" || hello.Capabilities.Tools == nil || !hello.Capabilities.Tools.ListChanged {
			t.Errorf("handshake %+v", hello)
		}
		c.tell(helloDone)
		list := string(c.ask("1", "tools/list", `{}`).Result)
		for _, part := range []string{`"name":"add"`, `"description":"Adds two numbers."`, `"description":"the first number"`, `"required":["a"]`, `"outputSchema"`} {
			if !strings.Contains(list, part) {
				t.Errorf("the list has no %s: %s", part, list)
			}
		}
		r := c.ask("2", "tools/call", callParams("add", `{"a":1,"b":2}`)).read(t)
		if r.IsError || string(r.Structured) != `{"sum":3}` || r.text() != `{"sum":3}` {
			t.Errorf("result %+v", r)
		}
	})
}

// Old CLIs open a server twice at the same time, with equal ids. Whatever the
// order, every request has an answer, and one session is left.
func TestDoubleHandshake(t *testing.T) {
	steps := map[string]func(c *cli){
		"init": func(c *cli) {
			if a := c.ask("0", "initialize", helloParams); a.Error != nil {
				c.t.Errorf("initialize: %+v", a.Error)
			}
		},
		"done": func(c *cli) { c.tell(helloDone) },
		"list": func(c *cli) {
			if a := c.ask("1", "tools/list", `{}`); !strings.Contains(string(a.Result), `"add"`) {
				c.t.Errorf("tools/list: %+v", a)
			}
		},
	}
	for _, order := range []string{
		"init init done done list list",
		"init done init list done list",
		"init done list init done list",
		"init init done list done list",
		"init init done list done",      // 2.1.120 lists once
		"init init list done list done", // not in order, and yet no reason to fail
		"init init done list",           // the first was given up
	} {
		t.Run(order, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				initialized := 0
				server := mcp.NewServer(&mcp.Implementation{Name: "calc", Version: "1"}, &mcp.ServerOptions{
					InitializedHandler: func(context.Context, *mcp.InitializedRequest) { initialized++ },
				})
				s := Serve(server, nil)
				if err := s.Add(add()); err != nil {
					t.Fatal(err)
				}
				c := connect(t, s)
				for step := range strings.FieldsSeq(order) {
					steps[step](c)
				}
				if r := c.ask("2", "tools/call", callParams("add", `{"a":1}`)).read(t); string(r.Structured) != `{"sum":1}` {
					t.Errorf("result %+v", r)
				}
				if n := count(s); n != 1 {
					t.Errorf("%d sessions are left, want 1", n)
				}
				if initialized == 0 {
					t.Error("the server was never told that the handshake is over")
				}
			})
		})
	}
}

// Both handshakes at the very same time.
func TestConcurrentHandshakes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := NewServer("calc", "1", nil, add())
		c := connect(t, s)
		first, second := c.later("0", "initialize", helloParams), c.later("0", "initialize", helloParams)
		for _, a := range []answer{<-first, <-second} {
			if a.Error != nil {
				t.Errorf("initialize: %+v", a.Error)
			}
		}
		c.tell(helloDone)
		c.tell(helloDone)
		one, two := c.later("1", "tools/list", `{}`), c.later("1", "tools/list", `{}`)
		for _, a := range []answer{<-one, <-two} {
			if a.Error != nil {
				t.Errorf("tools/list: %+v", a.Error)
			}
		}
	})
}

// A call outlives the handshake that comes while it runs.
func TestCallSurvivesAnotherHandshake(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWaiting()
		s := NewServer("calc", "1", nil, w.tool("wait"))
		c := connect(t, s)
		c.hello()
		reply := c.later("2", "tools/call", callParams("wait", `{}`))
		<-w.runs
		c.hello()
		if n := count(s); n != 2 {
			t.Errorf("%d sessions while the call runs, want 2", n)
		}
		w.release <- "over"
		if got := (<-reply).read(t).text(); got != "over" {
			t.Errorf("result %q", got)
		}
		if n := count(s); n != 1 {
			t.Errorf("%d sessions are left, want 1", n)
		}
	})
}

// A handshake that fails leaves nothing behind, and the next one works.
func TestFailedHandshake(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := NewServer("calc", "1", nil, add())
		c := connect(t, s)
		if a := c.ask("0", "initialize", `[]`); a.Error == nil {
			t.Errorf("an initialize without parameters was answered: %s", a.Result)
		}
		if n := count(s); n != 0 {
			t.Errorf("%d sessions are left, want 0", n)
		}
		c.hello()
		if a := c.ask("1", "tools/list", `{}`); a.Error != nil {
			t.Errorf("tools/list: %+v", a.Error)
		}
	})
}

// A handshake that the CLI gives up leaves nothing behind either.
func TestHandshakeGivenUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := NewServer("calc", "1", nil, add())
		begun := make(chan struct{})
		s.MCP().AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
				if method == methodInitialize {
					close(begun)
					<-ctx.Done()
				}
				return next(ctx, method, r)
			}
		})
		c := connect(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() {
			_, err := c.tryAsk(ctx, "0", "initialize", helloParams)
			failed <- err
		}()
		<-begun
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that it was cancelled", err)
		}
		if n := count(s); n != 0 {
			t.Errorf("%d sessions are left, want 0", n)
		}
	})
}

func TestRequestsOutOfPlace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := connect(t, NewServer("calc", "1", nil, add()))
		if a := c.ask("1", "tools/list", `{}`); a.Error == nil {
			t.Error("tools/list before the handshake was answered")
		}
		c.tell(helloDone) // of nothing
		c.hello()
		if a := c.ask("2", "no/such", `{}`); a.Error == nil || a.Error.Code != -32601 {
			t.Errorf("an unknown method: %+v", a)
		}
		if a := c.ask(`"three"`, "tools/call", callParams("sub", `{}`)); a.Error == nil || a.Error.Code != -32602 {
			t.Errorf("an unknown tool: %+v", a)
		}
		c.tell(`{"jsonrpc":"2.0","method":"notifications/no/such"}`)
		c.tell(`{"jsonrpc":"2.0","id":77,"result":{}}`)
		c.tell(`{"jsonrpc":"2.0","id":"x","result":{}}`)
		c.tell(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
		if _, err := c.conn.Receive(t.Context(), json.RawMessage(`{"id":1}`)); err == nil {
			t.Error("what is no JSON-RPC was taken")
		}
		if a := c.ask("4", "ping", `{}`); a.Error != nil {
			t.Errorf("ping after all that: %+v", a.Error)
		}
	})
}

// Calls run at the same time, and each is cancelled by itself.
func TestCancel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWaiting()
		c := connect(t, NewServer("calc", "1", nil, w.tool("wait")))
		c.hello()
		first, second := c.later("2", "tools/call", callParams("wait", `{}`)), c.later("3", "tools/call", callParams("wait", `{}`))
		<-w.runs
		<-w.runs // both run
		c.tell(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"the user said so"}}`)
		<-w.ended
		if a := <-second; a.Error == nil && !a.read(t).IsError {
			t.Errorf("a cancelled call came to %+v", a)
		}
		synctest.Wait()
		select {
		case a := <-first:
			t.Errorf("the other call ended too: %+v", a)
		default:
		}
		w.release <- "over"
		if got := (<-first).read(t).text(); got != "over" {
			t.Errorf("result %q", got)
		}
	})
}

// Of two requests with the same id the later one is meant.
func TestCancelEqualIDs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWaiting()
		c := connect(t, NewServer("calc", "1", nil, w.tool("wait")))
		c.hello()
		first := c.later("2", "tools/call", callParams("wait", `{}`))
		<-w.runs
		c.hello()
		second := c.later("2", "tools/call", callParams("wait", `{}`))
		<-w.runs
		c.tell(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		<-second
		w.release <- "over"
		if got := (<-first).read(t).text(); got != "over" {
			t.Errorf("result %q", got)
		}
	})
}

// A control request that the CLI withdraws ends the tool, too.
func TestContextOfReceive(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWaiting()
		c := connect(t, NewServer("calc", "1", nil, w.tool("wait")))
		c.hello()
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error)
		go func() {
			_, err := c.tryAsk(ctx, "2", "tools/call", callParams("wait", `{}`))
			failed <- err
		}()
		<-w.runs
		cancel(claude.ErrWithdrawn)
		if err := <-failed; !errors.Is(err, claude.ErrWithdrawn) {
			t.Errorf("error %v, want that it was withdrawn", err)
		}
		<-w.ended
		if _, err := c.tryAsk(ctx, "3", "ping", `{}`); !errors.Is(err, claude.ErrWithdrawn) {
			t.Errorf("a request with a context that has ended: %v", err)
		}
		if a := c.ask("4", "ping", `{}`); a.Error != nil {
			t.Errorf("ping after that: %+v", a.Error)
		}
	})
}

func TestClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWaiting()
		s := NewServer("calc", "1", nil, w.tool("wait"))
		c := connect(t, s)
		c.hello()
		failed := make(chan error)
		go func() {
			_, err := c.tryAsk(context.Background(), "2", "tools/call", callParams("wait", `{}`))
			failed <- err
		}()
		<-w.runs
		if err := c.conn.Close(); err != nil {
			t.Error(err)
		}
		<-w.ended
		if err := <-failed; !errors.Is(err, claude.ErrClosed) {
			t.Errorf("error %v, want that it is closed", err)
		}
		if n := count(s); n != 0 {
			t.Errorf("%d sessions are left, want 0", n)
		}
		if _, err := c.tryAsk(t.Context(), "3", "ping", `{}`); !errors.Is(err, claude.ErrClosed) {
			t.Errorf("a request afterwards: %v", err)
		}
		if _, err := c.conn.Receive(t.Context(), json.RawMessage(helloDone)); !errors.Is(err, claude.ErrClosed) {
			t.Errorf("a notification afterwards: %v", err)
		}
	})
}

// A tool that does not listen does not hold up the end of a session for ever.
func TestCloseWithStubbornTool(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runs, release := make(chan struct{}), make(chan struct{})
		s := NewServer("calc", "1", &Options{CloseTimeout: time.Minute}, NewTool("stay", "Stays.", func(context.Context, struct{}) (string, error) {
			close(runs)
			<-release
			return "", nil
		}))
		c := connect(t, s)
		c.hello()
		go func() { _, _ = c.tryAsk(t.Context(), "2", "tools/call", callParams("stay", `{}`)) }()
		<-runs
		begin := time.Now()
		err := c.conn.Close()
		if err == nil || !strings.Contains(err.Error(), "has not returned 1m0s after") || time.Since(begin) != time.Minute {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		close(release)
		if err := c.conn.Close(); err != nil {
			t.Errorf("closing again: %v", err)
		}
	})
}

// A program may end a session of the server's. The CLI gets errors, and can open
// the server again.
func TestServerEndsSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWaiting()
		s := NewServer("calc", "1", nil, w.tool("wait"))
		c := connect(t, s)
		c.hello()
		reply := c.later("2", "tools/call", callParams("wait", `{}`))
		<-w.runs
		for session := range s.MCP().Sessions() {
			go func() { _ = session.Close() }() // which waits for the call
		}
		synctest.Wait()
		w.release <- "over"
		if a := <-reply; a.Error == nil || a.Error.Code != codeEnded {
			t.Errorf("the call came to %+v", a)
		}
		if a := c.ask("3", "tools/list", `{}`); a.Error == nil {
			t.Errorf("there is an answer after the end: %s", a.Result)
		}
		c.hello()
		if a := c.ask("4", "tools/list", `{}`); a.Error != nil {
			t.Errorf("tools/list: %+v", a.Error)
		}
	})
}

// A server serves many sessions at the same time.
func TestManySessions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := NewServer("calc", "1", nil, add())
		done := make(chan string)
		for i := range 20 {
			c := connect(t, s)
			go func() {
				c.hello()
				done <- string(c.ask("2", "tools/call", callParams("add", fmt.Sprintf(`{"a":%d}`, i))).read(t).Structured)
			}()
		}
		got := map[string]int{}
		for range 20 {
			got[<-done]++
		}
		want := map[string]int{}
		for i := range 20 {
			want[fmt.Sprintf(`{"sum":%d}`, i)] = 1
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}

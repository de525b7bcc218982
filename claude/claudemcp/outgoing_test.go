package claudemcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestProgress(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := connect(t, NewServer("calc", "1", nil, NewTool("slow", "Is slow.", func(ctx context.Context, _ struct{}) (string, error) {
			if err := Progress(ctx, 1, 2, "half of it"); err != nil {
				return "", err
			}
			return ToolUseID(ctx) + " " + Request(ctx).Params.Name, nil
		})))
		c.hello()
		if got := c.ask("2", "tools/call", callParams("slow", `{}`)).read(t).text(); got != "toolu_1 slow" {
			t.Errorf("result %q", got)
		}
		want := []string{`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"message":"half of it","progress":1,"total":2}}`}
		if d := cmp.Diff(want, c.told()); d != "" {
			t.Error(d)
		}
		// Without a token nobody wants to know.
		if got := c.ask("3", "tools/call", `{"name":"slow","arguments":{}}`).read(t).text(); got != " slow" {
			t.Errorf("result %q", got)
		}
		if told := c.told(); told != nil {
			t.Errorf("told %q", told)
		}
	})
}

// Outside of a tool there is nothing to tell, and nothing breaks.
func TestNoTool(t *testing.T) {
	if Request(t.Context()) != nil || ToolUseID(t.Context()) != "" || Progress(t.Context(), 1, 2, "") != nil {
		t.Error("there is a call where there is none")
	}
}

// form asks the user for a name.
func form() *Tool {
	return NewTool("form", "Asks.", func(ctx context.Context, _ struct{}) (string, error) {
		answer, err := Request(ctx).Session.Elicit(ctx, &mcp.ElicitParams{
			Message:         "Your name?",
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`),
		})
		if err != nil {
			return "", err
		}
		name, _ := answer.Content["name"].(string)
		return answer.Action + " " + name, nil
	})
}

// asks waits for a request of the server's and returns its id and method.
func (c *cli) asks() (id, method string) {
	c.t.Helper()
	synctest.Wait()
	told := c.told()
	if len(told) != 1 {
		c.t.Fatalf("the server sent %q, want one message", told)
	}
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.Unmarshal([]byte(told[0]), &m); err != nil || m.ID == nil {
		c.t.Fatalf("the server sent %s (%v), want a request", told[0], err)
	}
	return string(m.ID), m.Method
}

// A server can ask the CLI something. Two sessions of it, which number their
// requests alike, do not get each other's answers.
func TestRequestsOfTheServer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := connect(t, NewServer("calc", "1", nil, form()))
		c.hello()
		first := c.later("2", "tools/call", callParams("form", `{}`))
		one, method := c.asks()
		if method != "elicitation/create" {
			t.Errorf("the server asks %s", method)
		}
		c.hello()
		second := c.later("2", "tools/call", callParams("form", `{}`))
		two, _ := c.asks()
		if one == two {
			t.Fatalf("both questions have the id %s", one)
		}
		c.tell(`{"jsonrpc":"2.0","id":` + two + `,"result":{"action":"accept","content":{"name":"Two"}}}`)
		c.tell(`{"jsonrpc":"2.0","id":` + one + `,"result":{"action":"accept","content":{"name":"One"}}}`)
		if got := (<-first).read(t).text(); got != "accept One" {
			t.Errorf("the first came to %q", got)
		}
		if got := (<-second).read(t).text(); got != "accept Two" {
			t.Errorf("the second came to %q", got)
		}
	})
}

// An error of the CLI's reaches the tool.
func TestErrorOfTheCLI(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := connect(t, NewServer("calc", "1", nil, form()))
		c.hello()
		reply := c.later("2", "tools/call", callParams("form", `{}`))
		id, _ := c.asks()
		c.tell(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"Method not found"}}`)
		if r := (<-reply).read(t); !r.IsError || !strings.Contains(r.text(), "Method not found") {
			t.Errorf("the call came to %+v", r)
		}
	})
}

// A tool that gives up asking takes its question back, by the id that the CLI
// knows.
func TestServerTakesBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := connect(t, NewServer("calc", "1", nil, NewTool("form", "Asks.", func(ctx context.Context, _ struct{}) (string, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			err := Request(ctx).Session.Ping(ctx, nil)
			return "gave up: " + err.Error(), nil
		})))
		c.hello()
		c.hello() // so that the ids differ
		reply := c.later("2", "tools/call", callParams("form", `{}`))
		id, _ := c.asks()
		if got := (<-reply).read(t).text(); got != "gave up: context deadline exceeded" {
			t.Errorf("result %q", got)
		}
		synctest.Wait()
		told := c.told()
		if len(told) != 1 || !strings.Contains(told[0], `"method":"notifications/cancelled"`) || !strings.Contains(told[0], `"requestId":`+id) {
			t.Errorf("the server sent %q, want that %s is cancelled", told, id)
		}
		c.tell(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`) // too late, and no harm
	})
}

// What cannot be sent is told to who sent it, and the session goes on.
func TestSendFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWaiting()
		c := connect(t, NewServer("calc", "1", nil, form(), w.tool("wait"), NewTool("slow", "Is slow.", func(ctx context.Context, _ struct{}) (string, error) {
			return fmt.Sprint("told: ", Progress(ctx, 1, 2, "")), nil
		})))
		c.onSend = func(context.Context, json.RawMessage) error { return errors.New("no way to the CLI") }
		c.hello()
		other := c.later("9", "tools/call", callParams("wait", `{}`))
		<-w.runs
		if got := c.ask("2", "tools/call", callParams("slow", `{}`)).read(t).text(); !strings.Contains(got, "no way to the CLI") {
			t.Errorf("progress came to %q", got)
		}
		if r := c.ask("3", "tools/call", callParams("form", `{}`)).read(t); !r.IsError || !strings.Contains(r.text(), "no way to the CLI") {
			t.Errorf("the question came to %+v", r)
		}
		w.release <- "over"
		if got := (<-other).read(t).text(); got != "over" {
			t.Errorf("the other call came to %q", got)
		}
		if a := c.ask("4", "tools/list", `{}`); a.Error != nil {
			t.Errorf("tools/list: %+v", a.Error)
		}
	})
}

// A message that the CLI does not take off does not hold up the end.
func TestCloseWhileSending(t *testing.T) {
	bubble(t, func(t *testing.T) {
		sending := make(chan struct{})
		c := connect(t, NewServer("calc", "1", nil, form()))
		c.onSend = func(ctx context.Context, _ json.RawMessage) error {
			close(sending)
			<-ctx.Done()
			return ctx.Err()
		}
		c.hello()
		go func() { _, _ = c.tryAsk(t.Context(), "2", "tools/call", callParams("form", `{}`)) }()
		<-sending
		if err := c.conn.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A change of the tools is told once, although there are two sessions.
func TestToolsChange(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWaiting()
		s := NewServer("calc", "1", nil, w.tool("wait"))
		c := connect(t, s)
		c.hello()
		reply := c.later("2", "tools/call", callParams("wait", `{}`))
		<-w.runs
		c.hello()
		if err := s.Add(add()); err != nil {
			t.Fatal(err)
		}
		s.Remove("wait")
		time.Sleep(time.Second) // of the bubble: changes are told together, a little later
		want := []string{`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}`}
		if d := cmp.Diff(want, c.told()); d != "" {
			t.Error(d)
		}
		list := string(c.ask("1", "tools/list", `{}`).Result)
		if !strings.Contains(list, `"add"`) || strings.Contains(list, `"wait"`) {
			t.Errorf("tools %s", list)
		}
		w.release <- "over"
		<-reply
	})
}

// A server of the MCP SDK's keeps what it has beside tools.
func TestServe(t *testing.T) {
	bubble(t, func(t *testing.T) {
		server := empty()
		server.AddPrompt(&mcp.Prompt{Name: "greet"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Hello."}}}}, nil
		})
		server.AddResource(&mcp.Resource{Name: "notes", URI: "file:///notes"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			panic("no notes")
		})
		c := connect(t, Serve(server, &Options{Logger: slog.New(slog.DiscardHandler)}))
		c.hello()
		if a := c.ask("2", "prompts/get", `{"name":"greet"}`); !strings.Contains(string(a.Result), "Hello.") {
			t.Errorf("prompts/get: %+v", a)
		}
		if a := c.ask("3", "resources/read", `{"uri":"file:///notes"}`); a.Error == nil || !strings.Contains(a.Error.Message, "no notes") {
			t.Errorf("a panic that is in no tool: %+v", a)
		}
	})
}

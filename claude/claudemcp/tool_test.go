package claudemcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/switchboard-dev/switchboard/wire"
)

// returns is a tool without arguments that returns a value.
func returns[Out any](v Out) *Tool {
	return NewTool("value", "Returns a value.", func(context.Context, struct{}) (Out, error) { return v, nil })
}

func TestResults(t *testing.T) {
	image := &mcp.ImageContent{Data: []byte{1, 2, 3}, MIMEType: "image/png"}
	day := time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		tool *Tool
		want string // the result's JSON
	}{
		"string":            {returns("It is 3."), `{"content":[{"type":"text","text":"It is 3."}]}`},
		"struct":            {returns(sum{3}), `{"content":[{"type":"text","text":"{\"sum\":3}"}],"structuredContent":{"sum":3}}`},
		"pointer":           {returns(&sum{3}), `{"content":[{"type":"text","text":"{\"sum\":3}"}],"structuredContent":{"sum":3}}`},
		"nil pointer":       {returns((*sum)(nil)), `{"content":[{"type":"text","text":"{\"sum\":0}"}],"structuredContent":{"sum":0}}`},
		"map":               {returns(map[string]int{"sum": 3}), `{"content":[{"type":"text","text":"{\"sum\":3}"}],"structuredContent":{"sum":3}}`},
		"number":            {returns(3), `{"content":[{"type":"text","text":"3"}]}`},
		"slice":             {returns([]sum{{3}}), `{"content":[{"type":"text","text":"[{\"sum\":3}]"}]}`},
		"struct as string":  {returns(day), `{"content":[{"type":"text","text":"\"2026-02-03T00:00:00Z\""}]}`},
		"coded":             {returns(coded{3}), `{"content":[{"type":"text","text":"{\"coded\":3}"}]}`},
		"raw":               {returns(json.RawMessage(`{"sum": 3}`)), `{"content":[{"type":"text","text":"{\"sum\":3}"}]}`},
		"image":             {returns(image), `{"content":[{"type":"image","mimeType":"image/png","data":"AQID"}]}`},
		"content":           {returns[mcp.Content](image), `{"content":[{"type":"image","mimeType":"image/png","data":"AQID"}]}`},
		"no content":        {returns[mcp.Content](nil), `{"content":[]}`},
		"contents":          {returns([]mcp.Content{&mcp.TextContent{Text: "Look:"}, image}), `{"content":[{"type":"text","text":"Look:"},{"type":"image","mimeType":"image/png","data":"AQID"}]}`},
		"result":            {returns(&mcp.CallToolResult{IsError: true}), `{"content":[],"isError":true}`},
		"nil result":        {returns((*mcp.CallToolResult)(nil)), `{"content":[]}`},
		"any nothing":       {returns[any](nil), `{"content":[]}`},
		"any string":        {returns[any]("It is 3."), `{"content":[{"type":"text","text":"It is 3."}]}`},
		"any struct":        {returns[any](sum{3}), `{"content":[{"type":"text","text":"{\"sum\":3}"}]}`},
		"not to be encoded": {returns(math.NaN()), `{"content":[{"type":"text","text":"encoding the result: json: unsupported value: NaN"}],"isError":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := connect(t, NewServer("calc", "1", nil, test.tool))
				c.hello()
				a := c.ask("2", "tools/call", callParams("value", `{}`))
				if a.Error != nil {
					t.Fatalf("%+v", a.Error)
				}
				var want, got any
				if err := errors.Join(json.Unmarshal([]byte(test.want), &want), json.Unmarshal(a.Result, &got)); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Error(d)
				}
				// Only objects have an output schema: clients refuse others.
				schema := strings.Contains(string(c.ask("3", "tools/list", `{}`).Result), `"outputSchema"`)
				if structured := strings.Contains(test.want, "structuredContent"); schema != structured {
					t.Errorf("it has an output schema: %t, want %t", schema, structured)
				}
			})
		})
	}
}

// failing is a tool that fails in the way of its argument.
func failing() *Tool {
	type arguments struct {
		How string `json:"how"`
	}
	return NewTool("fail", "Fails.", func(_ context.Context, in arguments) (sum, error) {
		refused := &jsonrpc.Error{Code: -32042, Message: "not today", Data: json.RawMessage(`{"try":"tomorrow"}`)}
		switch in.How {
		case "error":
			return sum{}, errors.New("that is no number")
		case "refused":
			return sum{}, refused
		case "wrapped":
			return sum{}, fmt.Errorf("adding: %w", refused)
		case "nil panic":
			var none *sum
			none.Sum++
		}
		panic(in.How)
	})
}

func TestErrors(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var logged bytes.Buffer
		s := NewServer("calc", "1", &Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))}, failing(), add())
		c := connect(t, s)
		c.hello()
		call := func(how string) answer { return c.ask("2", "tools/call", callParams("fail", `{"how":"`+how+`"}`)) }
		for how, want := range map[string]string{
			"error":     "that is no number",
			"wrapped":   "adding: not today",
			"surprise":  "the tool fail failed: panic: surprise",
			"nil panic": "the tool fail failed: panic: runtime error: invalid memory address or nil pointer dereference",
		} {
			if r := call(how).read(t); !r.IsError || r.text() != want {
				t.Errorf("%s: %+v, want %q", how, r, want)
			}
		}
		if a := call("refused"); a.Error == nil || a.Error.Code != -32042 || a.Error.Message != "not today" {
			t.Errorf("refused: %+v", a)
		}
		if !strings.Contains(logged.String(), "panic=surprise") || !strings.Contains(logged.String(), "tool_test.go") {
			t.Errorf("the panics were not logged with their stacks: %s", &logged)
		}
		// The model is told what is wrong with its arguments.
		for arguments, want := range map[string]string{`{"b":1}`: "a", `{"a":"one"}`: "integer", `{"a":1,"c":1}`: "c", `{"a":1,"A":2}`: "A"} {
			if r := c.ask("3", "tools/call", callParams("add", arguments)).read(t); !r.IsError || !strings.Contains(r.text(), want) {
				t.Errorf("%s: %+v", arguments, r)
			}
		}
	})
}

// A tool of the MCP SDK's own kind whose result cannot be encoded is answered as
// well.
func TestResultThatCannotBeEncoded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		server := empty()
		results := map[string]*mcp.CallToolResult{
			"structured": {StructuredContent: math.Inf(1)},
			"meta":       {Meta: mcp.Meta{"f": func() {}}},
		}
		for name, result := range results {
			server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)},
				func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return result, nil })
		}
		c := connect(t, Serve(server, nil))
		c.hello()
		for name := range results {
			if a := c.ask("2", "tools/call", callParams(name, `{}`)); a.Error == nil || !strings.Contains(a.Error.Message, "encoding the result") {
				t.Errorf("%s: %+v", name, a)
			}
		}
	})
}

func TestTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWaiting()
		s := NewServer("calc", "1", &Options{Timeout: time.Minute}, w.tool("wait"))
		c := connect(t, s)
		c.hello()
		begin := time.Now()
		reply := c.later("2", "tools/call", callParams("wait", `{}`))
		<-w.runs
		r := (<-reply).read(t)
		if !r.IsError || r.text() != "the tool wait failed: it took longer than 1m0s" || time.Since(begin) != time.Minute {
			t.Errorf("after %v: %+v", time.Since(begin), r)
		}
	})
}

// The size of a result is nobody's business.
func TestLargeResult(t *testing.T) {
	bubble(t, func(t *testing.T) {
		large := strings.Repeat("0123456789abcdef", 1<<17)
		c := connect(t, NewServer("calc", "1", nil, returns(large)))
		c.hello()
		if got := c.ask("2", "tools/call", callParams("value", `{}`)).read(t).text(); got != large {
			t.Errorf("%d bytes came, want %d", len(got), len(large))
		}
	})
}

// A type that encodes itself is structured if its schema is told.
func TestOutputSchema(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tool := returns(coded{3})
		tool.OutputSchema = json.RawMessage(`{"type":"object","properties":{"coded":{"type":"integer"}},"required":["coded"]}`)
		c := connect(t, NewServer("calc", "1", nil, tool))
		c.hello()
		if r := c.ask("2", "tools/call", callParams("value", `{}`)).read(t); string(r.Structured) != `{"coded":3}` {
			t.Errorf("result %+v", r)
		}
	})
}

// coded encodes itself.
type coded struct{ n int }

func (c coded) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `{"coded":%d}`, c.n), nil }

func TestDescription(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tool := add()
		tool.Title, tool.SearchHint, tool.AlwaysLoad, tool.Meta = "Add", "sums and totals", true, map[string]any{"mine": 1}
		tool.Annotations = &mcp.ToolAnnotations{ReadOnlyHint: true}
		c := connect(t, NewServer("calc", "1", nil, tool))
		c.hello()
		list := string(c.ask("1", "tools/list", `{}`).Result)
		for _, part := range []string{`"title":"Add"`, `"readOnlyHint":true`, `"_meta":{"anthropic/alwaysLoad":true,"anthropic/searchHint":"sums and totals","mine":1}`} {
			if !strings.Contains(list, part) {
				t.Errorf("the list has no %s: %s", part, list)
			}
		}
		all := connect(t, NewServer("calc", "1", &Options{AlwaysLoad: true}, add()))
		all.hello()
		if list := string(all.ask("1", "tools/list", `{}`).Result); !strings.Contains(list, `"_meta":{"anthropic/alwaysLoad":true}`) {
			t.Errorf("the list does not say that all are loaded: %s", list)
		}
	})
}

func TestMCPConfig(t *testing.T) {
	tool, other := add(), returns(1)
	tool.Policy = wire.ToolPolicyAlwaysAsk
	s := NewServer("calc", "1", &Options{Timeout: 1500 * time.Millisecond, Policies: map[string]wire.ToolPolicy{"value": wire.ToolPolicyAlwaysDeny}}, tool, other)
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(s.MCPConfig())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"timeout":1500,"tools":[{"name":"add","permission_policy":"always_ask"},{"name":"value","permission_policy":"always_deny"}]}`
	if string(data) != want {
		t.Errorf("got %s, want %s", data, want)
	}
	if data, err = json.Marshal(NewServer("calc", "1", nil, add()).MCPConfig()); err != nil || string(data) != `{}` {
		t.Errorf("without anything to say: %s, %v", data, err)
	}
	if err := s.Add(add()); err != nil {
		t.Fatal(err)
	}
	if tools := s.MCPConfig().Tools; len(tools) != 1 {
		t.Errorf("the policy of a tool that was replaced is still there: %+v", tools)
	}
}

// A server that cannot work says so before a session begins.
func TestUnusable(t *testing.T) {
	bad := func(change func(*Tool)) []*Tool {
		tool := add()
		change(tool)
		return []*Tool{tool}
	}
	type loop struct {
		Next *loop `json:"next"`
	}
	for name, test := range map[string]struct {
		options *Options
		tools   []*Tool
		want    string
	}{
		"name":        {tools: bad(func(t *Tool) { t.Name = "add up" }), want: `adding MCP tool "add up": its name is not allowed`},
		"no name":     {tools: bad(func(t *Tool) { t.Name = "" }), want: "its name is not allowed"},
		"twice":       {tools: []*Tool{add(), add()}, want: "it is there twice"},
		"no function": {tools: []*Tool{{Name: "add"}}, want: "make it with NewTool"},
		"nil":         {tools: []*Tool{NewTool[numbers, sum]("add", "", nil)}, want: "its function is nil"},
		"policy":      {tools: bad(func(t *Tool) { t.Policy = wire.ToolPolicyAlwaysAllow }), want: "allowed tools"},
		"policies":    {options: &Options{Policies: map[string]wire.ToolPolicy{"add": "sometimes"}}, want: `policy "sometimes" of MCP tool "add"`},
		"arguments":   {tools: []*Tool{NewTool("add", "", func(context.Context, int) (int, error) { return 0, nil })}, want: "making its schema"},
		"recursion":   {tools: []*Tool{NewTool("add", "", func(context.Context, loop) (int, error) { return 0, nil })}, want: "making its schema"},
		"result":      {tools: []*Tool{NewTool("add", "", func(context.Context, numbers) (loop, error) { return loop{}, nil })}, want: "making its schema"},
		"schema":      {tools: bad(func(t *Tool) { t.InputSchema = json.RawMessage(`{"type":"array"}`) }), want: "making its schema"},
		"output":      {tools: []*Tool{{Name: "value", OutputSchema: json.RawMessage(`{}`), register: returns(1).register}}, want: "return a struct or a map"},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewServer("calc", "1", test.options, test.tools...)
			if err := s.Err(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if _, err := s.Connect(t.Context(), nil); err == nil {
				t.Error("a session begins nevertheless")
			}
		})
	}
}

// A tool that is nil is told like any other that cannot be served.
func TestToolThatIsNil(t *testing.T) {
	if err := NewServer("s", "1", nil, nil).Err(); err == nil || !strings.Contains(err.Error(), "nil") {
		t.Errorf("got %v", err)
	}
}

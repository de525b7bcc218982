package claudemcp

import (
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/switchboard-dev/switchboard/wire"
)

// The members of a tool's _meta that Claude Code reads.
const (
	metaSearchHint = "anthropic/searchHint"
	metaAlwaysLoad = "anthropic/alwaysLoad"
)

// A Tool is a Go function that the model can call. Make one with [NewTool] and set
// further fields before it is given to a server.
type Tool struct {
	// Name is what the tool is called: letters, digits, "_", "-" and ".", at most
	// 128. The model sees "mcp__SERVER__NAME".
	Name string
	// Description tells the model what the tool does and when to use it.
	Description string
	// Title is the tool's name for people. If empty, its name.
	Title string
	// Annotations say what the tool does to the world, for example that it only
	// reads. They are hints; the CLI shows some of them.
	Annotations *mcp.ToolAnnotations
	// InputSchema is the JSON Schema of the arguments, as a value that marshals to
	// one. If nil, it is made from the Go type.
	InputSchema any
	// OutputSchema is the JSON Schema of a structured result. If nil, it is made
	// from the Go type. It is for results that are JSON objects only.
	OutputSchema any
	// SearchHint is a phrase that helps the model to find the tool where there are
	// so many that it has to search.
	SearchHint string
	// AlwaysLoad has the CLI show the model the tool from the start, and not only
	// after a search.
	AlwaysLoad bool
	// Policy has the CLI always ask before it runs the tool, or never run it. See
	// [Options.Policies].
	Policy wire.ToolPolicy
	// Meta are further members of the tool's _meta.
	Meta map[string]any

	register func(*mcp.Server, *mcp.Tool) error
}

// NewTool makes a tool from a function. In is a struct or a map, whose JSON Schema
// the model sees: members without omitempty are required, and the struct tag
// jsonschema has the description of a member. Arguments that do not fit the
// schema never reach the function; the model is told what was wrong.
//
// What the function returns becomes the result:
//   - a string is text;
//   - a [mcp.Content] or a slice of them is content: text, images, audio,
//     resources;
//   - a [*mcp.CallToolResult] is the result itself;
//   - a struct or a map is a structured result with a schema of its own, and its
//     JSON is the text beside it, unless its type encodes itself and has no
//     OutputSchema;
//   - any other value is its JSON as text.
//
// An error is told to the model as the failure of the tool, which it can react
// to. Only an error that is itself a [*jsonrpc.Error] is an error of the protocol
// instead; one that wraps it, as those of requests to the CLI do, is not. A panic
// is the failure of the tool, too.
//
// The function runs in a goroutine of its own, at the same time as other calls,
// of the same tool too. Its context ends when the CLI cancels the call (the user
// interrupts), at the server's time limit and at the end of the session; see also
// [Request], [ToolUseID] and [Progress].
func NewTool[In, Out any](name, description string, run func(ctx context.Context, in In) (Out, error)) *Tool {
	return &Tool{Name: name, Description: description, register: func(s *mcp.Server, t *mcp.Tool) (err error) {
		if run == nil {
			return errors.New("its function is nil")
		}
		defer func() {
			// The MCP SDK takes a schema that cannot be made for a mistake of the
			// programmer's and panics; here it is an error that says which tool.
			if p := recover(); p != nil {
				err = fmt.Errorf("making its schema: %v", p)
			}
		}()
		if isObject(reflect.TypeFor[Out](), t.OutputSchema != nil) {
			mcp.AddTool(s, t, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
				out, err := run(ctx, in)
				return nil, out, err
			})
			return nil
		}
		if t.OutputSchema != nil {
			return errors.New("it has an OutputSchema, but its result isn't a JSON object; return a struct or a map")
		}
		mcp.AddTool(s, t, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			out, err := run(ctx, in)
			if err != nil {
				return nil, nil, err
			}
			result, err := resultOf(out)
			return result, nil, err
		})
		return nil
	}}
}

// toolName is what the protocol allows a tool to be called.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// check refuses a tool that no CLI could use.
func (t *Tool) check() error {
	switch {
	case t.register == nil:
		return errors.New("it has no function; make it with NewTool")
	case !toolName.MatchString(t.Name):
		return errors.New(`its name is not allowed: use letters, digits, "_", "-" and ".", at most 128`)
	}
	return checkPolicy(t.Name, t.Policy)
}

// describe returns the tool as the server tells it.
func (t *Tool) describe(alwaysLoad bool) *mcp.Tool {
	described := &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, Annotations: t.Annotations, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
	}
	meta := mcp.Meta{}
	maps.Copy(meta, t.Meta)
	if t.SearchHint != "" {
		meta[metaSearchHint] = t.SearchHint
	}
	if t.AlwaysLoad || alwaysLoad {
		meta[metaAlwaysLoad] = true
	}
	if len(meta) > 0 {
		described.Meta = meta
	}
	return described
}

// isObject reports whether the JSON of a type is an object with a schema that can
// be told from the type, so that it can be a structured result. Older clients
// refuse a whole list of tools for one output schema that is no object's.
func isObject(t reflect.Type, told bool) bool {
	if t.Implements(reflect.TypeFor[mcp.Content]()) || t == reflect.TypeFor[*mcp.CallToolResult]() {
		return false
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct && t.Kind() != reflect.Map {
		return false
	}
	// A type that encodes itself may come out as anything.
	p := reflect.PointerTo(t)
	return told || !p.Implements(reflect.TypeFor[json.Marshaler]()) && !p.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// resultOf makes a result from what a function returned.
func resultOf(v any) (*mcp.CallToolResult, error) {
	switch v := v.(type) {
	case nil:
		return &mcp.CallToolResult{}, nil
	case *mcp.CallToolResult:
		if v == nil {
			v = &mcp.CallToolResult{}
		}
		return v, nil
	case string:
		return text(v), nil
	case mcp.Content:
		if reflect.ValueOf(v).IsNil() {
			return &mcp.CallToolResult{}, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{v}}, nil
	case []mcp.Content:
		return &mcp.CallToolResult{Content: v}, nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encoding the result: %w", err)
	}
	return text(string(data)), nil
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

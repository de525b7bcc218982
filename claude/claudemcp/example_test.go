package claudemcp_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudemcp"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
)

// Division are the arguments of a tool. The model sees their schema.
type Division struct {
	Dividend float64 `json:"dividend" jsonschema:"what is divided"`
	Divisor  float64 `json:"divisor" jsonschema:"by what it is divided"`
}

// Quotient is a structured result.
type Quotient struct {
	Value float64 `json:"value"`
}

// The model calls a Go function. Here the prompt makes a simulated CLI do so; with
// claude.Start instead of NewSession it would be the real CLI, and the prompt plain
// text.
func Example() {
	ctx := context.Background()
	divide := claudemcp.NewTool("divide", "Divides two numbers.", func(_ context.Context, in Division) (Quotient, error) {
		fmt.Println("dividing", in.Dividend, "by", in.Divisor)
		if in.Divisor == 0 {
			return Quotient{}, errors.New("nothing can be divided by zero; ask for another divisor")
		}
		return Quotient{in.Dividend / in.Divisor}, nil
	})
	divide.Annotations = &mcp.ToolAnnotations{ReadOnlyHint: true}

	session, err := claude.NewSession(ctx, claudetest.StartSim(nil), &claude.Options{
		MCPServers: map[string]claude.MCPServer{
			"math": claudemcp.NewServer("math", "1.0.0", &claudemcp.Options{Instructions: "Calculate with these tools."}, divide),
		},
		OnQuestion: func(_ context.Context, q claude.Question) (claude.Reply, error) {
			if q, ok := q.(*claude.PermissionQuestion); ok && q.Tool == "mcp__math__divide" {
				return q.Allow(), nil
			}
			return q.Decline("Only sums are allowed here."), nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	done, err := session.Ask(ctx, claude.Prompt{Text: "@tool mcp__math__divide {\"dividend\":21,\"divisor\":2}\n@say It is 10.5."})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Answer)
	// Output:
	// dividing 21 by 2
	// It is 10.5.
}

// Serve a server of the official SDK unchanged.
func ExampleServe() {
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "read", Description: "Reads the notes."},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Buy milk."}}}, nil, nil
		})

	options := &claude.Options{
		MCPServers:   map[string]claude.MCPServer{"notes": claudemcp.Serve(server, nil)},
		AllowedTools: []string{"mcp__notes__read"},
	}
	fmt.Println(len(options.MCPServers), "server")
	// Output: 1 server
}

// A tool can return images and report progress.
func ExampleNewTool() {
	type View struct {
		Place string `json:"place"`
		Zoom  int    `json:"zoom,omitempty" jsonschema:"from 1 to 20"`
	}
	tool := claudemcp.NewTool("map", "Shows a map of a place.", func(ctx context.Context, v View) ([]mcp.Content, error) {
		var picture []byte
		for part := range 4 {
			if err := ctx.Err(); err != nil {
				return nil, err // the user has interrupted
			}
			picture = append(picture, byte(part))
			if err := claudemcp.Progress(ctx, float64(part+1), 4, "drawing "+v.Place); err != nil {
				return nil, err
			}
		}
		return []mcp.Content{&mcp.TextContent{Text: v.Place + ":"}, &mcp.ImageContent{Data: picture, MIMEType: "image/png"}}, nil
	})
	tool.SearchHint = "maps, places, geography"
	fmt.Println(claudemcp.NewServer("atlas", "1.0.0", nil, tool).Err())
	// Output: <nil>
}

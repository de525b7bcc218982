// Package claudemcp serves MCP servers to Claude Code from inside a program: no
// process, no port. The model calls Go functions as its tools.
//
//	type Question struct {
//		City string `json:"city" jsonschema:"the city, in English"`
//	}
//
//	weather := claudemcp.NewTool("weather", "Tells the weather of a city.",
//		func(ctx context.Context, q Question) (string, error) {
//			return forecast(ctx, q.City)
//		})
//
//	session, err := claude.Start(ctx, &claude.Options{
//		MCPServers: map[string]claude.MCPServer{
//			"town": claudemcp.NewServer("town", "1.0.0", nil, weather),
//		},
//		AllowedTools: []string{"mcp__town__weather"},
//	})
//
// # Tools
//
// [NewTool] makes a tool from a function with typed arguments; their JSON Schema
// comes from the Go type, and arguments that do not fit it never reach the function.
// What the function returns becomes text, content such as images, or a structured
// result. An error is a failure of the tool, which the model sees and can react
// to; so is a panic. [NewServer] makes a server of tools, and [Serve] takes any
// server of the official SDK (github.com/modelcontextprotocol/go-sdk), with its
// prompts, resources and middleware.
//
// Calls run concurrently, each in its own goroutine, and without a time limit
// unless [Options.Timeout] sets one. The context of a call ends when the user
// interrupts it, at the time limit, and with the session; a slow function should
// watch it. [ToolUseID] identifies the model's call, [Progress] reports progress to
// the CLI, and [Request] has the rest.
//
// Whether a tool may run is decided as for every other tool, under the name
// mcp__SERVER__TOOL: by the options' rules, by the user, by hooks. [Tool.Policy]
// can only make that stricter.
//
// # What the versions do
//
// A server works the same on all versions of the CLI, with these differences:
//
//   - CLIs up to 2.1.120 may open a server twice at the same time, and 2.1.325
//     opens it again when it is switched off and on. Each handshake has its own session
//     with the server, and the last one serves the calls; so a server may see more
//     sessions than there are, and is told once that each is initialized, or not at
//     all if another took its place.
//   - Tools that are added or removed while a session runs are noticed by 2.1.325.
//     Older versions keep the list that they read first.
//   - If there are many tools, newer CLIs show the model a tool only after it
//     has searched for it: [Tool.SearchHint] and [Tool.AlwaysLoad].
//   - Time limits and policies are passed to CLIs since 2.1.325, which wait no longer
//     than that and do not show a denied tool at all. With older ones the limit still
//     ends the context of the call, and policies do nothing.
//   - 2.1.37 cannot take a result of 10 MB or more; the call fails with that as the
//     reason. Others store a result that is too long for the model in a file.
//   - The CLI answers the server's pings and accepts progress, neither of which
//     appears in the session's events. It offers servers in a program no forms
//     (elicitation), roots or sampling, and asks for no log messages, on any
//     version: a tool that needs to ask the user something runs in the same program
//     and can do so directly.
package claudemcp

package claudemcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// defaultCloseTimeout is how long the end of a session waits for tools.
const defaultCloseTimeout = 5 * time.Second

// Options are the options of a [Server]. Nil and the zero value are valid.
type Options struct {
	// Title is the server's name for people. Only [NewServer] uses it.
	Title string
	// Instructions tell the model what the server is for and how its tools go
	// together. Only [NewServer] uses them; a server of your own has them in its
	// [mcp.ServerOptions].
	Instructions string
	// AlwaysLoad has the CLI show the model every tool of the server from the
	// start, and not only after a search for tools. Only [NewServer] uses it; for
	// single tools see [Tool.AlwaysLoad].
	AlwaysLoad bool

	// Timeout bounds every call of a tool: its context ends then, on every
	// version of the CLI. Newer CLIs are told, and stop waiting by themselves. If
	// zero, a call may take as long as it likes.
	Timeout time.Duration
	// Policies say by a tool's name that the CLI always asks before it is run
	// ([wire.ToolPolicyAlwaysAsk]) or never runs it ([wire.ToolPolicyAlwaysDeny]),
	// whatever other rules say. CLIs that do not know of policies ignore them. For
	// the tools of [NewServer] there is also [Tool.Policy].
	Policies map[string]wire.ToolPolicy

	// CloseTimeout bounds how long the end of a session waits for tools that are
	// running, after their contexts have ended. If zero, 5 s.
	CloseTimeout time.Duration
	// Logger is told of panics in tools, with their stacks. If nil,
	// [slog.Default] at the time of the panic.
	Logger *slog.Logger
}

// A Server is an MCP server that a program serves to Claude Code sessions
// itself, without a process or a port. It is a [claude.MCPServer] for
// [claude.Options.MCPServers]. Its methods are safe for concurrent use, and one
// Server can serve any number of sessions at the same time.
type Server struct {
	// Static after construction.
	server  *mcp.Server
	options Options

	mu       sync.Mutex
	policies map[string]wire.ToolPolicy
	err      error // why the server cannot be used
}

var (
	_ claude.MCPServer     = (*Server)(nil)
	_ claude.MCPConfigurer = (*Server)(nil)
)

// NewServer returns a server with tools made by [NewTool]. Name and version are
// what it tells about itself; the CLI knows it by its key in
// [claude.Options.MCPServers].
//
// A tool that cannot be served (its arguments are no JSON object, its name is
// taken or not allowed) is told by the start of the session, so that a server
// can be made in the middle of an expression; [Server.Err] tells it at once.
func NewServer(name, version string, o *Options, tools ...*Tool) *Server {
	if o == nil {
		o = &Options{}
	}
	server := mcp.NewServer(&mcp.Implementation{Name: name, Title: o.Title, Version: version}, &mcp.ServerOptions{
		Instructions: o.Instructions,
		// Said even if there is no tool yet, since some may be added later.
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
	})
	s := Serve(server, o)
	if err := s.Add(tools...); err != nil {
		s.err = errors.Join(s.err, err)
	}
	return s
}

// Serve returns a server for one that was made with the MCP SDK, with whatever it
// has: tools, prompts, resources, middleware. The server can be changed while it
// is served, and can be served elsewhere too.
//
// Serve adds a middleware to the server, which makes [Request] and its kin work in tools,
// bounds their time, and turns a panic into an error answer.
func Serve(server *mcp.Server, o *Options) *Server {
	if o == nil {
		o = &Options{}
	}
	s := &Server{server: server, options: *o, policies: maps.Clone(o.Policies)}
	s.options.Policies = maps.Clone(o.Policies)
	if s.options.CloseTimeout <= 0 {
		s.options.CloseTimeout = defaultCloseTimeout
	}
	if s.policies == nil {
		s.policies = map[string]wire.ToolPolicy{}
	}
	for _, name := range slices.Sorted(maps.Keys(s.policies)) {
		s.err = errors.Join(s.err, checkPolicy(name, s.policies[name]))
	}
	server.AddReceivingMiddleware(s.guard)
	return s
}

// Add adds tools; one with a name that is already there replaces it. Sessions
// that are running are told, and CLIs since 2.1.325 read the list again. The
// policy of a tool counts for sessions that begin later.
//
// If a tool cannot be served, the error says why, and those before it have been
// added.
func (s *Server) Add(tools ...*Tool) error {
	names := map[string]bool{}
	for i, tool := range tools {
		if tool == nil {
			return fmt.Errorf("adding MCP tool number %d: it is nil", i+1)
		}
		if names[tool.Name] {
			return fmt.Errorf("adding MCP tool %q: it is there twice; give each tool a name of its own", tool.Name)
		}
		names[tool.Name] = true
		if err := s.add(tool); err != nil {
			return fmt.Errorf("adding MCP tool %q: %w", tool.Name, err)
		}
	}
	return nil
}

// add adds one tool.
func (s *Server) add(t *Tool) error {
	if err := t.check(); err != nil {
		return err
	}
	if err := t.register(s.server, t.describe(s.options.AlwaysLoad)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case t.Policy != "":
		s.policies[t.Name] = t.Policy
	case s.options.Policies[t.Name] != "":
		s.policies[t.Name] = s.options.Policies[t.Name]
	default:
		delete(s.policies, t.Name) // of the tool that it replaces
	}
	return nil
}

// Remove removes tools by their names; a name that is not there is no error.
// Sessions that are running are told.
func (s *Server) Remove(names ...string) { s.server.RemoveTools(names...) }

// MCP returns the server of the MCP SDK, for what only it can do: prompts,
// resources, middleware, its sessions.
func (s *Server) MCP() *mcp.Server { return s.server }

// Err returns why the server cannot be used, nil if it can. It is also what
// Connect returns.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// MCPConfig is what a CLI is told about the server when a session begins: the
// time limit and the policies of its tools.
func (s *Server) MCPConfig() wire.SDKMCPServerConfig {
	s.mu.Lock()
	defer s.mu.Unlock()
	config := wire.SDKMCPServerConfig{Timeout: float64(max(s.options.Timeout, 0).Milliseconds())}
	for _, name := range slices.Sorted(maps.Keys(s.policies)) {
		if policy := s.policies[name]; policy != "" {
			config.Tools = append(config.Tools, wire.MCPToolPolicy{Name: name, PermissionPolicy: policy})
		}
	}
	return config
}

// Connect begins to serve a session. It is called by package claude; send carries
// the server's own messages to the CLI. The values of ctx are those of the tools'
// contexts; its end means nothing afterwards.
func (s *Server) Connect(ctx context.Context, send func(ctx context.Context, message json.RawMessage) error) (claude.MCPConnection, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	c := &connection{
		server: s.server,
		send:   send,
		values: context.WithoutCancel(ctx),
		limit:  s.options.CloseTimeout,
		calls:  map[int64]*call{},
		asked:  map[int64]question{},
	}
	c.ctx, c.cancel = context.WithCancelCause(c.values)
	return c, nil
}

// checkPolicy refuses what no CLI takes: a program can only tighten.
func checkPolicy(tool string, policy wire.ToolPolicy) error {
	switch policy { //nolint:exhaustive // the rest is refused
	case "", wire.ToolPolicyAlwaysAsk, wire.ToolPolicyAlwaysDeny:
		return nil
	}
	return fmt.Errorf("policy %q of MCP tool %q: only %s and %s can be set here; to allow a tool, use the options' allowed tools", policy, tool,
		wire.ToolPolicyAlwaysAsk, wire.ToolPolicyAlwaysDeny)
}

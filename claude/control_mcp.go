package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"

	"github.com/switchboard-dev/switchboard/wire"
)

// MCPStatus returns the MCP servers of the session and how they are. Those that
// are named at the start come up in the background, so they are missing or pending
// in the beginning.
func (s *Session) MCPStatus(ctx context.Context) ([]wire.MCPServerStatus, error) {
	answer, err := requestFor[*wire.MCPStatusAnswer](ctx, s, &wire.MCPStatusRequest{})
	if err != nil {
		return nil, err
	}
	return answer.MCPServers, nil
}

// ReconnectMCP connects to an MCP server again, of which the servers in the
// program are none.
func (s *Session) ReconnectMCP(ctx context.Context, server string) error {
	return s.order(ctx, &wire.MCPReconnectRequest{ServerName: server})
}

// ToggleMCP switches an MCP server on or off. 2.1.37 does not know those in the
// program.
func (s *Session) ToggleMCP(ctx context.Context, server string, enabled bool) error {
	return s.order(ctx, &wire.MCPToggleRequest{ServerName: server, Enabled: enabled})
}

// CallMCP calls a tool of an MCP server of the CLI without the model. Since
// 2.1.116.
func (s *Session) CallMCP(ctx context.Context, r *wire.MCPCallRequest) (*wire.MCPCallAnswer, error) {
	if r == nil {
		return nil, errors.New("there is no request")
	}
	return requestFor[*wire.MCPCallAnswer](ctx, s, r)
}

// ReadMCPResource reads a resource "ui://…" of an MCP server of the CLI. Since
// 2.1.280.
func (s *Session) ReadMCPResource(ctx context.Context, server, uri string) ([]wire.MCPResource, error) {
	answer, err := requestFor[*wire.MCPReadResourceAnswer](ctx, s, &wire.MCPReadResourceRequest{ServerName: server, URI: uri})
	if err != nil {
		return nil, err
	}
	return answer.Contents, nil
}

// SetMCPServers replaces the MCP servers that this session has added: those given
// to SetMCPServers before and those in the program, but not those of settings and
// plugins. Servers are given as the CLI is to reach them, or, in local, as ones in
// the program; one that is in the program already and named again stays
// connected. Either map may be nil.
//
// The answer says what was added and removed, and which servers failed and why.
func (s *Session) SetMCPServers(ctx context.Context, servers map[string]wire.MCPServerConfig, local map[string]MCPServer) (*wire.MCPSetServersAnswer, error) {
	r := &wire.MCPSetServersRequest{Servers: map[string]wire.MCPServerConfig{}}
	maps.Copy(r.Servers, servers)
	for name := range local {
		if _, twice := servers[name]; twice {
			return nil, fmt.Errorf("setting MCP servers: %q is given twice", name)
		}
		r.Servers[name] = wire.MCPServerConfig{Type: wire.MCPTransportSDK, Name: name}
	}
	t := &s.router.mcp
	t.setting.Lock() // one after the other
	defer t.setting.Unlock()
	fresh := map[string]MCPServer{}
	for name, server := range local {
		if link := t.find(name); link == nil || !sameServer(link.server, server) {
			fresh[name] = server
		}
	}
	links, err := s.router.openMCP(ctx, fresh)
	if err != nil {
		return nil, err
	}
	// The CLI speaks to a server before it answers.
	before := t.add(links)
	answer, err := requestFor[*wire.MCPSetServersAnswer](ctx, s, r)
	if err != nil {
		closeMCP(t.restore(links, before))
		return nil, err
	}
	closeMCP(before)
	gone := map[string]*mcpLink{}
	for _, name := range answer.Removed {
		if _, stays := local[name]; !stays {
			if link := t.remove(name); link != nil {
				gone[name] = link
			}
		}
	}
	closeMCP(gone)
	return answer, nil
}

// sameServer reports whether two servers are the same value. Those that cannot be
// compared are not.
func sameServer(a, b MCPServer) bool {
	return reflect.TypeOf(a).Comparable() && reflect.TypeOf(b) == reflect.TypeOf(a) && a == b
}

// add adds connections and returns those whose names they take.
func (t *mcpTable) add(links map[string]*mcpLink) (before map[string]*mcpLink) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before = map[string]*mcpLink{}
	for name, link := range links {
		if old := t.links[name]; old != nil {
			before[name] = old
		}
		if t.links == nil {
			t.links = map[string]*mcpLink{}
		}
		t.links[name] = link
	}
	return before
}

// restore takes back what add has done, and returns the connections that are left
// over. If the session has ended meanwhile, that has closed the new ones.
func (t *mcpTable) restore(links, before map[string]*mcpLink) (left map[string]*mcpLink) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.links == nil {
		return before
	}
	for name := range links {
		delete(t.links, name)
	}
	maps.Copy(t.links, before)
	return links
}

func (t *mcpTable) remove(name string) *mcpLink {
	t.mu.Lock()
	defer t.mu.Unlock()
	link := t.links[name]
	delete(t.links, name)
	return link
}

// NotifyMCP sends a message of an MCP server in the program to the CLI, for
// servers whose changes the program knows and the server does not, such as
// {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}. 2.1.325 acts on
// that one; older versions take it and do nothing.
func (s *Session) NotifyMCP(ctx context.Context, server string, message json.RawMessage) error {
	s.router.attach(s.conn)
	return s.router.sendMCP(ctx, server, message)
}

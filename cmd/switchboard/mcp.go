package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/wire"
)

func newMCP(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "List, add and switch the MCP servers of a session",
		Long: `Shows the MCP servers of a running agent, connects them again, switches them on and off, and adds others.
The servers of a new session are set by switchboard run --mcp-config.`,
		Example: `  switchboard mcp ls blog
  switchboard mcp reconnect blog github
  switchboard mcp disable blog github
  switchboard mcp set blog '{"notes":{"command":"notes-mcp"}}'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newMCPLs(e), newMCPSet(e), newMCPReconnect(e),
		newMCPToggle(e, "enable", "Switch an MCP server on", true), newMCPToggle(e, "disable", "Switch an MCP server off", false), newMCPSend(e),
	)
	return cmd
}

func newMCPLs(e *env) *cobra.Command {
	v := &smallFlags{}
	return v.onOne(&cobra.Command{
		Use:     "ls SESSION",
		Short:   "List the MCP servers of a session and their states",
		Long:    `Asks the agent for its MCP servers: their states, how many tools they have, and why one failed.`,
		Example: `  switchboard mcp ls blog`,
		Args:    oneSession,
	}, e, "the answer of Claude Code, with the tools", func(ctx context.Context, c *client.Client, session *api.Session, _ []string) error {
		answer, err := c.MCP(ctx, session.ID)
		if err != nil {
			return err
		}
		if v.json {
			return v.told(e, answer, "")
		}
		status, err := readAnswer[wire.MCPStatusAnswer](answer)
		if err != nil {
			return err
		}
		return v.table(e, nil, e.view(false).MCP(status.MCPServers), "No MCP servers.")
	})
}

func newMCPSet(e *env) *cobra.Command {
	v := &smallFlags{}
	return v.onOne(&cobra.Command{
		Use:   "set SESSION SERVERS",
		Short: "Replace the MCP servers added at run time",
		Long: `Replaces the MCP servers that were added to a running agent; those of its own configuration stay. SERVERS
is a JSON object of servers by name, @FILE, or - for standard input: a file with keys is better than an
argument. '{}' removes them.`,
		Example: `  switchboard mcp set blog @servers.json
  switchboard mcp set blog '{}'`,
		Args: sessionAnd(1, 1, "the servers"),
	}, e, "the answer of Claude Code", func(ctx context.Context, c *client.Client, session *api.Session, args []string) error {
		servers, err := jsonArgument(e, "SERVERS", args[0])
		if err != nil {
			return err
		}
		answer, err := c.SetMCPServers(ctx, session.ID, api.SetMCPServers{Servers: serversOf(servers)})
		if err != nil {
			return err
		}
		if v.json {
			return v.told(e, answer, "")
		}
		done, err := readAnswer[struct {
			Added   []string          `json:"added"`
			Removed []string          `json:"removed"`
			Errors  map[string]string `json:"errors"`
		}](answer)
		if err != nil {
			return err
		}
		var lines []string
		for _, name := range done.Added {
			lines = append(lines, "added "+harmless(name))
		}
		for _, name := range done.Removed {
			lines = append(lines, "removed "+harmless(name))
		}
		for _, name := range slices.Sorted(maps.Keys(done.Errors)) {
			lines = append(lines, fmt.Sprintf("failed %s: %s", harmless(name), harmless(done.Errors[name])))
		}
		return v.table(e, nil, lines, "Nothing changed.")
	})
}

func newMCPReconnect(e *env) *cobra.Command {
	v := &smallFlags{}
	cmd := v.onOne(&cobra.Command{
		Use:     "reconnect SESSION SERVER",
		Short:   "Connect an MCP server again",
		Long:    `Has the agent connect an MCP server again, for instance one that failed.`,
		Example: `  switchboard mcp reconnect blog github`,
		Args:    sessionAnd(1, 1, "a server"),
	}, e, "the answer of Claude Code", func(ctx context.Context, c *client.Client, session *api.Session, args []string) error {
		answer, err := c.ReconnectMCPServer(ctx, session.ID, args[0])
		if err != nil {
			return err
		}
		return v.told(e, answer, "reconnected "+harmless(args[0]))
	})
	cmd.ValidArgsFunction = secondOf(cmd.ValidArgsFunction, completeServers(e, &v.hubFlags))
	return cmd
}

func newMCPToggle(e *env, verb, short string, on bool) *cobra.Command {
	v := &smallFlags{}
	cmd := v.onOne(&cobra.Command{
		Use:     verb + " SESSION SERVER",
		Short:   short,
		Long:    short + `. switchboard mcp ls lists the servers.`,
		Example: `  switchboard mcp ` + verb + ` blog github`,
		Args:    sessionAnd(1, 1, "a server"),
	}, e, "the answer of Claude Code", func(ctx context.Context, c *client.Client, session *api.Session, args []string) error {
		answer, err := c.ToggleMCPServer(ctx, session.ID, args[0], api.ToggleMCPServer{Enabled: on})
		if err != nil {
			return err
		}
		return v.told(e, answer, verb+"d "+harmless(args[0]))
	})
	cmd.ValidArgsFunction = secondOf(cmd.ValidArgsFunction, completeServers(e, &v.hubFlags))
	return cmd
}

func newMCPSend(e *env) *cobra.Command {
	v := &smallFlags{}
	cmd := v.onOne(&cobra.Command{
		Use:   "send SESSION SERVER MESSAGE",
		Short: "Send a JSON-RPC message to an MCP server",
		Long: `Sends a JSON-RPC message to an MCP server of the agent and prints the answer. MESSAGE is a JSON object,
@FILE, or - for standard input.`,
		Example: `  switchboard mcp send blog github '{"jsonrpc":"2.0","id":1,"method":"ping"}'`,
		Args:    sessionAnd(2, 2, "a server and a message"),
	}, e, "the answer in one line, as without a terminal", func(ctx context.Context, c *client.Client, session *api.Session, args []string) error {
		message, err := jsonArgument(e, "MESSAGE", args[1])
		if err != nil {
			return err
		}
		answer, err := c.SendMCPMessage(ctx, session.ID, args[0], message)
		if err != nil {
			return err
		}
		return v.told(e, answer, "")
	})
	cmd.ValidArgsFunction = secondOf(cmd.ValidArgsFunction, completeServers(e, &v.hubFlags))
	return cmd
}

// completeServers completes with the MCP servers that the CLI named when it started.
func completeServers(e *env, p *hubFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return p.fromHub(e, func(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
			session, err := c.Session(ctx, args[0])
			if err != nil {
				return nil
			}
			init, err := readAnswer[struct {
				Servers []struct {
					Name   string `json:"name"`
					Status string `json:"status"`
				} `json:"mcp_servers"`
			}](&api.ControlResult{Response: session.Init})
			if err != nil {
				return nil
			}
			var list []cobra.Completion
			for _, server := range init.Servers {
				if strings.HasPrefix(server.Name, typed) {
					list = append(list, offer(harmless(server.Name), server.Status))
				}
			}
			return list
		})(cmd, args, typed)
	}
}

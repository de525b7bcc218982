package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

func newNode(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "node",
		Short: "Run agents on other machines",
		Long: `A node is another machine on which the hub's agents run. The process there, switchboard node run, connects
to the hub, never the other way round: it works behind NAT and firewalls. Agents keep working while the
hub can't be reached, and what they wrote meanwhile is handed in afterwards.

To add a machine, invite it here and run the command that this prints there. docs/nodes.md has more.`,
		Example: `  # at the hub: prints a command for the other machine
  switchboard node invite --name gpu-1 --label gpu=h100

  # on the other machine: that command, then
  switchboard node run

  # at the hub
  switchboard node ls
  switchboard run --node gpu-1 --dir /srv/blog "Fix the tests"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newNodeInvite(e), newNodeJoin(e), newNodeRun(e), newNodeLs(e), newNodeShow(e),
		newNodeDrain(e), newNodeUndrain(e), newNodeRevoke(e), newNodeForget(e))
	return cmd
}

// oneNode and someNodes say in plain words what is missing.
func oneNode(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("which machine? Name one; switchboard node ls lists them")
	}
	return nil
}

func someNodes(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("which machine? Name some; switchboard node ls lists them")
	}
	return nil
}

// A nodeInviteCmd is the flags of node invite.
type nodeInviteCmd struct {
	hubFlags
	name, ttl   string
	labels      map[string]string
	maxSessions int
	json        bool
}

func newNodeInvite(e *env) *cobra.Command {
	v := &nodeInviteCmd{}
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Invite a machine: print the command that it joins with",
		Long: `Makes an invitation for one machine, and prints the command to run there, and nothing else, to standard
output. It holds a code that works once, for 15 minutes unless --ttl says otherwise, and the fingerprint
of the hub's certificate if the hub has made it itself.

The machine must be able to reach the hub: start the hub with --addr and --tls-self-signed, with a
certificate, or behind a proxy.`,
		Example: `  switchboard node invite --name gpu-1

  # labels by which sessions choose a machine, and a limit
  switchboard node invite --name gpu-1 --label gpu=h100 --label zone=eu --max-sessions 8

  # invite a machine that you reach by ssh
  ssh gpu-1 "$(switchboard node invite --name gpu-1)"`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := v.invitation()
			if err != nil {
				return usageError{err}
			}
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error { return v.run(ctx, e, c, in) })
		},
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.name, "name", "", "`NAME` of the machine: a-z, 0-9, dots, dashes (default its own choice)")
	f.StringToStringVar(&v.labels, "label", nil, "label, `KEY=VALUE`; repeatable")
	f.IntVar(&v.maxSessions, "max-sessions", 0, "maximum `NUMBER` of sessions with a process (default no limit)")
	f.StringVar(&v.ttl, "ttl", "", "how long the invitation is valid, a `DURATION` up to 24h (default 15m)")
	f.BoolVar(&v.json, "json", false, "print one JSON object")
	return cmd
}

// invitation returns what the flags ask for.
func (v *nodeInviteCmd) invitation() (api.InviteNode, error) {
	in := api.InviteNode{Name: v.name, Labels: v.labels, MaxSessions: v.maxSessions}
	if v.ttl != "" {
		var d config.Duration
		if err := d.UnmarshalText([]byte(v.ttl)); err != nil {
			return in, fmt.Errorf("--ttl: %w", err)
		}
		if in.TTL = int(time.Duration(d) / time.Second); in.TTL < 1 || in.TTL > 86400 {
			return in, fmt.Errorf("--ttl is %s; it must be between 1s and 24h", v.ttl)
		}
	}
	return in, notNegative("--max-sessions", v.maxSessions)
}

// run invites.
func (v *nodeInviteCmd) run(ctx context.Context, e *env, c *client.Client, in api.InviteNode) error {
	made, err := c.InviteNode(ctx, in)
	if err != nil {
		return err
	}
	if v.json {
		return e.writeJSON(made)
	}
	e.hint("Run this on the machine, until %s. It works once:", made.Expires.Local().Format(time.TimeOnly))
	if _, err := fmt.Fprintln(e.stdout, paint.CleanLine(made.Command, 0)); err != nil {
		return err
	}
	if u, err := url.Parse(made.URL); err == nil && loopback(u.Hostname()) {
		fmt.Fprintf(e.stderr, "warning: only this machine reaches %s; for others, start the hub with --addr ADDRESS:PORT --tls-self-signed\n", paint.CleanLine(made.URL, 0))
	}
	return nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }

// A nodeLsCmd is the flags of node ls.
type nodeLsCmd struct {
	hubFlags
	listFlags
}

func newNodeLs(e *env) *cobra.Command {
	v := &nodeLsCmd{}
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the machines that agents run on",
		Long: `Lists the hub's nodes, without the hub's own machine. STATE is online, offline (not connected; its agents
may be at work), draining (takes no new sessions) or revoked. LOAD is that of the last minute, per CPU.`,
		Example: `  switchboard node ls

  # the names of all that are online
  switchboard node ls --json | jq -r '.nodes[] | select(.state == "online") | .name'`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
				list, err := c.Nodes(ctx)
				if err != nil {
					return err
				}
				return printList(e, v.listFlags, list.Nodes, list, func(n *api.Node) string { return n.Name }, "No other machines. Invite one: switchboard node invite",
					func() ([]string, error) { return e.view(false).Nodes(list.Nodes), nil })
			})
		},
	}
	v.flags(cmd)
	cmd.Flags().BoolVarP(&v.quiet, "quiet", "q", false, "print names only")
	cmd.Flags().BoolVar(&v.json, "json", false, "print one JSON object")
	return cmd
}

func newNodeShow(e *env) *cobra.Command {
	v := &smallFlags{}
	cmd := v.onHub(&cobra.Command{
		Use:     "show NODE",
		Short:   "Show a machine: state, Claude Code, load, sessions",
		Long:    `Shows what a node is and does. NODE is its name or id.`,
		Example: `  switchboard node show gpu-1`,
		Args:    oneNode,
	}, e, "one JSON object", func(ctx context.Context, c *client.Client, args []string) error {
		node, err := c.Node(ctx, args[0])
		if err != nil {
			return err
		}
		return v.table(e, node, e.view(false).Node(node), "")
	})
	cmd.ValidArgsFunction = firstOnly(completeNodes(e, &v.hubFlags))
	return cmd
}

// A nodeActCmd is the flags of commands that change nodes.
type nodeActCmd struct {
	hubFlags
	yes, json bool
}

// complete completes a command that does one thing to each of some nodes. f returns what was done, in a line, and the node if it is still there.
func (v *nodeActCmd) complete(cmd *cobra.Command, e *env, f func(ctx context.Context, c *client.Client, name string) (line string, node *api.Node, err error)) *cobra.Command {
	cmd.Args = someNodes
	cmd.ValidArgsFunction = completeNodes(e, &v.hubFlags)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
			return e.each(args, func(name string) error {
				line, node, err := f(ctx, c, name)
				if err != nil {
					return err
				}
				return e.result(v.json && node != nil, node, line)
			})
		})
	}
	v.flags(cmd)
	return cmd
}

func newNodeDrain(e *env) *cobra.Command {
	v := &nodeActCmd{}
	cmd := v.complete(&cobra.Command{
		Use:   "drain NODE…",
		Short: "Let machines take no new sessions",
		Long: `Lets nodes take no new sessions, before a restart of the machine for instance. Sessions that are there go
on; switchboard ls --node NODE lists them. switchboard node undrain ends it.`,
		Example: `  switchboard node drain gpu-1
  switchboard ls --node gpu-1 -q | xargs switchboard wait`,
	}, e, func(ctx context.Context, c *client.Client, name string) (string, *api.Node, error) {
		node, err := c.DrainNode(ctx, name, true)
		if err != nil {
			return "", nil, err
		}
		return fmt.Sprintf("draining %s: %s left", paint.CleanLine(node.Name, 0), sessionCount(node.Sessions)), node, nil
	})
	cmd.Flags().BoolVar(&v.json, "json", false, "print the machines as JSON")
	return cmd
}

// sessionCount returns a number of sessions in words.
func sessionCount(n int) string {
	switch n {
	case 0:
		return "no session"
	case 1:
		return "1 session"
	}
	return fmt.Sprintf("%d sessions", n)
}

func newNodeUndrain(e *env) *cobra.Command {
	v := &nodeActCmd{}
	cmd := v.complete(&cobra.Command{
		Use:     "undrain NODE…",
		Short:   "Let machines take new sessions again",
		Long:    `Lets nodes take new sessions again, after switchboard node drain.`,
		Example: `  switchboard node undrain gpu-1`,
	}, e, func(ctx context.Context, c *client.Client, name string) (string, *api.Node, error) {
		node, err := c.DrainNode(ctx, name, false)
		if err != nil {
			return "", nil, err
		}
		return paint.CleanLine(node.Name, 0) + " takes new sessions", node, nil
	})
	cmd.Flags().BoolVar(&v.json, "json", false, "print the machines as JSON")
	return cmd
}

func newNodeRevoke(e *env) *cobra.Command {
	v := &nodeActCmd{}
	cmd := v.complete(&cobra.Command{
		Use:   "revoke NODE…",
		Short: "Lock machines out: cut their connections for good",
		Long: `Takes from nodes the right to connect, for good, and cuts their connections at once: for a machine that was
lost or broken into. Its agents can't be reached any more; they end automatically when they have been
without the hub for long enough. The machine stays in the list until switchboard node forget.

To use the machine again, forget the node and invite it anew. It asks first; without a terminal that
needs --yes.`,
		Example: `  switchboard node revoke gpu-1`,
	}, e, func(ctx context.Context, c *client.Client, name string) (string, *api.Node, error) {
		if err := v.agree(ctx, e, c, name, "Revoke the machine %s? It can't connect again, and its agents (%s) can't be reached any more. [y/N] "); err != nil {
			return "", nil, err
		}
		node, err := c.RevokeNode(ctx, name)
		if err != nil {
			return "", nil, err
		}
		return "revoked " + paint.CleanLine(node.Name, 0), node, nil
	})
	cmd.Flags().BoolVarP(&v.yes, "yes", "y", false, "don't ask")
	cmd.Flags().BoolVar(&v.json, "json", false, "print the machines as JSON")
	return cmd
}

func newNodeForget(e *env) *cobra.Command {
	v := &nodeActCmd{}
	cmd := v.complete(&cobra.Command{
		Use:     "forget NODE…",
		Aliases: []string{"rm"},
		Short:   "Remove machines, and end their sessions in the hub",
		Long: `Removes nodes from the list: they can't connect any more, and their sessions count as ended. The logs of
these sessions stay. It asks first; without a terminal that needs --yes.`,
		Example: `  switchboard node forget gpu-1`,
	}, e, func(ctx context.Context, c *client.Client, name string) (string, *api.Node, error) {
		if err := v.agree(ctx, e, c, name, "Forget the machine %s? Its sessions (%s) will end. [y/N] "); err != nil {
			return "", nil, err
		}
		if err := c.ForgetNode(ctx, name); err != nil {
			return "", nil, err
		}
		return "forgot " + paint.CleanLine(name, 0), nil, nil
	})
	cmd.Flags().BoolVarP(&v.yes, "yes", "y", false, "don't ask")
	return cmd
}

// agree asks before something is done to a node that can't be undone. question has places for its name and its sessions.
func (v *nodeActCmd) agree(ctx context.Context, e *env, c *client.Client, name, question string) error {
	if v.yes {
		return nil
	}
	node, err := c.Node(ctx, name)
	if err != nil {
		return err
	}
	if !e.interactive() {
		return usageError{errors.New("this can't be undone; --yes does it without asking")}
	}
	agreed, err := consent(ctx, e, fmt.Sprintf(question, paint.CleanLine(node.Name, 0), sessionCount(node.Sessions)))
	if err != nil {
		return err
	}
	if !agreed {
		fmt.Fprintln(e.stderr, "nothing was changed")
		return exitError(codeFailed)
	}
	return nil
}

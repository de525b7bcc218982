package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/terminal"
)

func newRelay(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "relay",
		Short: "Show the agents of another program's relay, such as agents-ui or loop",
		Long: `A relay forwards lines between a Claude Code and everyone who connects to it; agents-ui and loop have
one. The hub connects to it as one more front end, and shows its agents as sessions: they can be read,
prompted, interrupted and answered here like others.

Their process belongs to the other program. The hub can't resume, fork, configure or stop it, and by
default no rule answers its questions: people do. The relay, or another of its front ends, may answer
first.`,
		Example: `  # Show the agents of a relay on this machine
  switchboard relay attach ws://localhost:8766/ws

  # Look for relays on the ports 8765 to 8774, from time to time
  switchboard relay attach --discover

  # See what is connected
  switchboard relay ls

  # End it
  switchboard relay detach ws://localhost:8766/ws`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRelayAttach(e), newRelayLs(e), newRelayDetach(e))
	return cmd
}

// A relayAttachCmd is the flags of relay attach.
type relayAttachCmd struct {
	hubFlags
	discover, rules, insecure, json bool
}

func newRelayAttach(e *env) *cobra.Command {
	v := &relayAttachCmd{}
	cmd := &cobra.Command{
		Use:   "attach URL | attach --discover",
		Short: "Attach the hub to a relay, or have it look for relays",
		Long: `Attaches the hub to the relay at an address: the one for front ends, which ends in /ws. The hub connects
again whenever the connection is lost, also after a restart, until you detach it.

With --discover, the hub looks at the ports 8765 to 8774 of its machine every five seconds, and shows
the relays that it finds for as long as they are there.

An address on the hub's machine may begin with ws://; others need wss://.`,
		Example: `  switchboard relay attach ws://localhost:8766/ws
  switchboard relay attach wss://relay.example/ws

  # Let your rules answer what its agents ask
  switchboard relay attach --rules ws://localhost:8766/ws

  # Look for relays
  switchboard relay attach --discover`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			in := api.AttachRelay{Discover: v.discover, Rules: v.rules, Insecure: v.insecure}
			switch {
			case v.discover == (len(args) > 0) || len(args) > 1:
				return usageError{errors.New("give the address of one relay, or --discover")}
			case len(args) > 0:
				in.URL = args[0]
			}
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
				made, err := c.AttachRelay(ctx, in)
				if err != nil {
					return err
				}
				if v.json {
					return e.writeJSON(made)
				}
				what := terminal.Clean(made.URL)
				if made.Discover {
					what = "relays on the ports 8765 to 8774"
				}
				fmt.Fprintf(e.stderr, "attached to %s; switchboard relay ls shows its state\n", what)
				_, err = fmt.Fprintln(e.stdout, terminal.Clean(made.ID))
				return err
			})
		},
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&v.discover, "discover", false, "look for relays on the ports 8765 to 8774")
	f.BoolVar(&v.rules, "rules", false, "let rules answer what the agents ask")
	f.BoolVar(&v.insecure, "insecure", false, "allow ws:// to another machine; everyone between can read and change everything")
	f.BoolVar(&v.json, "json", false, "print one JSON object")
	return cmd
}

// A relayLsCmd is the flags of relay ls.
type relayLsCmd struct {
	hubFlags
	json bool
}

func newRelayLs(e *env) *cobra.Command {
	v := &relayLsCmd{}
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List attached relays and the state of their connections",
		Long: `Lists the relays that the hub is attached to, with the number of sessions that each shows now. Those
that were found by looking are listed while they are there.`,
		Example: `  switchboard relay ls
  switchboard relay ls --json`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
				list, err := c.Relays(ctx)
				if err != nil {
					return err
				}
				if v.json {
					return e.writeJSON(list)
				}
				if len(list.Relays) == 0 {
					e.hint("No relays are attached.")
					return nil
				}
				return writeLines(e.stdout, e.view(false).Relays(list.Relays))
			})
		},
	}
	v.flags(cmd)
	cmd.Flags().BoolVar(&v.json, "json", false, "print one JSON object")
	return cmd
}

// A relayDetachCmd is the flags of relay detach.
type relayDetachCmd struct {
	hubFlags
	discover bool
}

func newRelayDetach(e *env) *cobra.Command {
	v := &relayDetachCmd{}
	cmd := &cobra.Command{
		Use:   "detach RELAY… | detach --discover",
		Short: "Detach the hub from relays; their agents go on",
		Long: `Ends the connection to relays, named by id or address. The sessions that they show end here and keep
their logs; the agents are not affected. With --discover the hub looks for relays no more, and leaves
those that it found.`,
		Example: `  switchboard relay detach ws://localhost:8766/ws
  switchboard relay detach r4k9x2ab
  switchboard relay detach --discover`,
		ValidArgsFunction: completeRelays(e, &v.hubFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			if v.discover == (len(args) > 0) {
				return usageError{errors.New("name the relays to detach, or use --discover; switchboard relay ls shows them")}
			}
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error { return v.run(ctx, e, c, args) })
		},
	}
	v.flags(cmd)
	cmd.Flags().BoolVar(&v.discover, "discover", false, "look for relays no more")
	return cmd
}

// run detaches relays.
func (v *relayDetachCmd) run(ctx context.Context, e *env, c *client.Client, args []string) error {
	list, err := c.Relays(ctx)
	if err != nil {
		return err
	}
	if v.discover {
		i := slices.IndexFunc(list.Relays, func(r api.Relay) bool { return r.Discover })
		if i < 0 {
			return errors.New("the hub is not looking for relays")
		}
		args = []string{list.Relays[i].ID}
	}
	for _, name := range args {
		id := name
		if i := slices.IndexFunc(list.Relays, func(r api.Relay) bool { return r.URL == name }); i >= 0 {
			id = list.Relays[i].ID
		}
		if err := c.DetachRelay(ctx, id); err != nil {
			return fmt.Errorf("detaching %s: %w", terminal.Clean(name), err)
		}
		if err := writeLines(e.stdout, []string{"detached " + terminal.Clean(name)}); err != nil {
			return err
		}
	}
	return nil
}

// completeRelays completes arguments with the addresses of relays.
func completeRelays(e *env, p *hubFlags) cobra.CompletionFunc {
	return p.fromHub(e, func(ctx context.Context, c *client.Client, _ string) []cobra.Completion {
		list, err := c.Relays(ctx)
		if err != nil {
			return nil
		}
		var found []cobra.Completion
		for i := range list.Relays {
			if r := &list.Relays[i]; r.URL != "" && !r.Discovered {
				found = append(found, offer(r.ID, r.URL))
			}
		}
		return found
	})
}

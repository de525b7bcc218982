package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
)

// stateNames returns the states that a session can be in. A session that failed is idle or has ended, too.
func stateNames() []string {
	return []string{
		string(api.StateStarting), string(api.StateIdle), string(api.StateRunning), string(api.StateRequiresAction), string(api.StateBackground),
		string(api.StateOffline), string(api.StateEnded), api.StateFailed,
	}
}

// An lsCmd is the flags of ls.
type lsCmd struct {
	hubFlags
	listFlags
	states    []string
	dir, text string
	node      string
	all       bool
	limit     int
}

func newLs(e *env) *cobra.Command {
	v := &lsCmd{}
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list", "ps"},
		Short:   "List sessions",
		Long: `Lists sessions, the most recently updated first. STATE is starting, idle, running, needs you (in a pipe:
requires_action), background (only background work is left), offline (connection to the agent lost),
ended, or failed (idle or ended after a failed turn).

In a terminal ids are shortened, which is enough to name a session. In a pipe ids, times and amounts are
complete, with a dash for what is empty: columns for awk. --json prints what the API returns.`,
		Example: `  # all sessions
  switchboard ls

  # those that wait for an answer
  switchboard ls --state requires_action

  # those of this folder, archived ones too
  switchboard ls --dir . --all

  # those on one machine of several
  switchboard ls --node gpu-1

  # ids of all that failed
  switchboard ls -q --state failed`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := v.filter(e)
			if err != nil {
				return usageError{err}
			}
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error { return v.run(ctx, e, c, filter) })
		},
	}
	v.flags(cmd)
	v.listFlags.add(cmd, "one JSON object")
	f := cmd.Flags()
	f.StringSliceVar(&v.states, "state", nil, "only sessions in these `STATES`, e.g. idle,failed")
	f.StringVar(&v.dir, "dir", "", "only sessions in this `FOLDER`")
	f.StringVar(&v.text, "text", "", "only sessions with this `TEXT` in their title or folder")
	f.StringVar(&v.node, "node", "", "only sessions on this `MACHINE`; see switchboard node ls")
	f.BoolVarP(&v.all, "all", "a", false, "include archived sessions")
	f.IntVarP(&v.limit, "limit", "n", 0, "maximum `NUMBER` of sessions (default all)")
	complete(cmd, "state", stateNames()...)
	completeFolder(cmd, "dir")
	register(cmd, "node", completeNodes(e, &v.hubFlags))
	return cmd
}

// filter returns what the flags ask for.
func (v *lsCmd) filter(e *env) (api.SessionFilter, error) {
	filter := api.SessionFilter{Text: v.text, Archived: v.all, Node: v.node}
	for _, state := range v.states {
		if err := oneOf("--state", state, stateNames()); err != nil {
			return filter, err
		}
		filter.State = append(filter.State, api.State(state))
	}
	if v.dir != "" {
		dir, err := v.dirOf(e, "--dir", v.dir)
		if err != nil {
			return filter, err
		}
		filter.Dir = dir
	}
	return filter, notNegative("--limit", v.limit)
}

// oneOf checks that a flag has one of some values.
func oneOf(flag, value string, values []string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return fmt.Errorf("%s is %q; it can be %s", flag, value, strings.Join(values, ", "))
}

// notNegative checks that a flag is no number below zero.
func notNegative(flag string, n int) error {
	if n < 0 {
		return fmt.Errorf("%s is %d; it must not be below 0", flag, n)
	}
	return nil
}

// run lists.
func (v *lsCmd) run(ctx context.Context, e *env, c *client.Client, filter api.SessionFilter) error {
	list, err := allSessions(ctx, c, filter, v.limit)
	if err != nil {
		return err
	}
	return printList(e, v.listFlags, list, &api.SessionList{Sessions: list}, func(s *api.SessionSummary) string { return s.ID },
		"No sessions. Start one: switchboard run", func() ([]string, error) { return e.view(false).Sessions(list), nil })
}

// allSessions lists sessions: all, or as many as are wanted.
func allSessions(ctx context.Context, c *client.Client, filter api.SessionFilter, limit int) ([]api.SessionSummary, error) {
	if limit <= 0 {
		list, err := naming.All(ctx, c, filter)
		return append([]api.SessionSummary{}, list...), err // not null in JSON
	}
	all, _, err := pages(limit, func(cursor string, most int) ([]api.SessionSummary, string, error) {
		filter.Cursor, filter.Limit = cursor, most
		page, err := c.List(ctx, filter)
		if err != nil {
			return nil, "", err
		}
		return page.Sessions, page.Next, nil
	})
	return all, err
}

package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal/eventlog"
)

// A showCmd is the flags of show.
type showCmd struct {
	hubFlags
	event string
	json  bool
}

func newShow(e *env) *cobra.Command {
	v := &showCmd{}
	cmd := &cobra.Command{
		Use:   "show SESSION",
		Short: "Show a session as it is now, or one event of its log",
		Long: `Shows a session as it is now: state, folder, model, permission mode, cost, open questions, queued
messages, rules and budgets, the last prompt and the beginning of the last answer.

With --event it shows one event of the log in full. N is its number, as search and logs print it.`,
		Example: `  # the latest session
  switchboard show -

  # everything, for a program
  switchboard show --json "Fix the slugs"

  # one event in full
  switchboard show s5k2m7 --event 12`,
		Args:              oneSession,
		ValidArgsFunction: completeSessions(e, &v.hubFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.run(cmd, e, args[0])
		},
	}
	v.flags(cmd)
	cmd.Flags().StringVar(&v.event, "event", "", "show the event with this `NUMBER` or id")
	cmd.Flags().BoolVar(&v.json, "json", false, "print one JSON object")
	register(cmd, "event", cobra.NoFileCompletions)
	return cmd
}

// run shows a session or an event.
func (v *showCmd) run(cmd *cobra.Command, e *env, name string) error {
	return v.onSession(cmd, e, naming.Session, name, func(ctx context.Context, c *client.Client, session *api.Session) error {
		if v.event != "" {
			return v.one(ctx, e, c, session)
		}
		if v.json {
			return e.writeJSON(session)
		}
		var more []string
		if line := handBackOf(session); line != "" {
			more = []string{"in terminal", line}
		}
		return writeLines(e.stdout, e.view(false).Session(session, more...))
	})
}

// one shows an event.
func (v *showCmd) one(ctx context.Context, e *env, c *client.Client, session *api.Session) error {
	epoch, last := eventlog.Position(session.LastEventID)
	number := v.event
	if before, after, found := strings.Cut(v.event, ":"); found {
		epoch, number = before, after
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 {
		return usageError{fmt.Errorf("--event is %q; use the number of an event, 1 to %d", v.event, last)}
	}
	page, err := c.Events(ctx, session.ID, fmt.Sprintf("%s:%d", epoch, n-1), 1)
	if err != nil {
		return err
	}
	if len(page.Events) == 0 || page.Events[0].Seq != n {
		return api.Errorf(http.StatusNotFound, api.CodeNotFound, "session %s has no event %s; its last one is %d", session.ID, v.event, last)
	}
	if v.json {
		return e.writeJSON(&page.Events[0])
	}
	return writeLines(e.stdout, e.view(false).Event(&page.Events[0]))
}

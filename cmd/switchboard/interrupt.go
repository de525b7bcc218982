package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
)

func newInterrupt(e *env) *cobra.Command {
	v := &struct {
		hubFlags
		queued, json bool
	}{}
	cmd := &cobra.Command{
		Use:   "interrupt SESSION",
		Short: "Interrupt the turn of a session",
		Long: `Interrupts the running turn and returns when it has ended. The agent keeps running, and takes the next
message. Queued messages are sent then, unless --queued removes them.

It is no error if no turn is running. For - see switchboard stop --help: while several agents work it
stands for none of them.`,
		Example: `  switchboard interrupt blog

  # and remove queued messages
  switchboard interrupt - --queued`,
		Args: oneSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.onSession(cmd, e, naming.SessionToEnd, args[0], func(ctx context.Context, c *client.Client, session *api.Session) error {
				done, err := c.Interrupt(ctx, session.ID, api.Interrupt{CancelQueued: v.queued})
				if err != nil {
					return err
				}
				what := "interrupted"
				if !done.Was {
					what = "no turn was running in"
				}
				taken := ""
				if n := len(done.Taken); n > 0 {
					taken = fmt.Sprintf("; messages removed: %d", n)
				}
				return e.result(v.json, done, fmt.Sprintf("%s %s%s", what, nameAndTitle(session.ID, session.Title), taken))
			})
		},
	}
	cmd.ValidArgsFunction = completeSessions(e, &v.hubFlags)
	v.flags(cmd)
	cmd.Flags().BoolVar(&v.queued, "queued", false, "also remove queued messages")
	cmd.Flags().BoolVar(&v.json, "json", false, "print one JSON object: whether a turn was running, the session, the removed messages")
	return cmd
}

// An archiveCmd is the flags of archive.
type archiveCmd struct {
	hubFlags
	listFlags
	undo bool
}

func newArchive(e *env) *cobra.Command {
	v := &archiveCmd{}
	cmd := &cobra.Command{
		Use:   "archive SESSION…",
		Short: "Hide sessions from lists",
		Long: `Archives sessions: lists leave them out unless asked for. Nothing is lost, and a running agent keeps
running. --undo unarchives them.`,
		Example: `  switchboard archive blog s7q

  switchboard archive --undo blog`,
		Args: someSessions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error { return v.archive(ctx, e, c, args) })
		},
	}
	cmd.ValidArgsFunction = completeSessionFlag(e, &v.hubFlags)
	v.flags(cmd)
	v.listFlags.add(cmd, "the sessions as one JSON object")
	cmd.Flags().BoolVar(&v.undo, "undo", false, "unarchive them")
	return cmd
}

func (v *archiveCmd) archive(ctx context.Context, e *env, c *client.Client, names []string) error {
	change, word := c.Archive, "archived"
	if v.undo {
		change, word = c.Unarchive, "unarchived"
	}
	list := []*api.Session{}
	err := e.each(names, func(name string) error {
		session, err := naming.Session(ctx, c, name)
		if err == nil {
			session, err = change(ctx, session.ID)
		}
		if err != nil {
			return err
		}
		list = append(list, session)
		text := word + " " + nameAndTitle(session.ID, session.Title)
		switch {
		case v.json:
			return nil
		case v.quiet:
			text = session.ID
		}
		_, err = fmt.Fprintln(e.stdout, text)
		return err
	})
	if v.json && (err == nil || len(names) > 1) {
		return errors.Join(e.writeJSON(map[string][]*api.Session{"sessions": list}), err)
	}
	return err
}

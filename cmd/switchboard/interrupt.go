package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
)

func newInterrupt(s *surroundings) *cobra.Command {
	v := &struct {
		place
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
			return v.act(cmd, s, func(ctx context.Context, c *client.Client) error {
				session, err := toEnd(ctx, c, args[0])
				if err != nil {
					return err
				}
				done, err := c.Interrupt(ctx, session.ID, api.Interrupt{CancelQueued: v.queued})
				if err != nil {
					return err
				}
				if v.json {
					return s.writeJSON(done)
				}
				what := "interrupted"
				if !done.Was {
					what = "no turn was running in"
				}
				taken := ""
				if n := len(done.Taken); n > 0 {
					taken = fmt.Sprintf("; messages removed: %d", n)
				}
				_, err = fmt.Fprintf(s.stdout, "%s %s%s\n", what, called(session.ID, session.Title), taken)
				return err
			})
		},
	}
	cmd.ValidArgsFunction = completeSessions(s, &v.place)
	v.flags(cmd)
	cmd.Flags().BoolVar(&v.queued, "queued", false, "also remove queued messages")
	cmd.Flags().BoolVar(&v.json, "json", false, "print one JSON object: whether a turn was running, the session, the removed messages")
	return cmd
}

// An archiveVerb is the flags of archive.
type archiveVerb struct {
	place
	undo, json, quiet bool
}

func newArchive(s *surroundings) *cobra.Command {
	v := &archiveVerb{}
	cmd := &cobra.Command{
		Use:   "archive SESSION…",
		Short: "Hide sessions from lists",
		Long: `Archives sessions: lists leave them out unless asked for. Nothing is lost, and a running agent keeps
running. --undo unarchives them.`,
		Example: `  switchboard archive blog s7q

  switchboard archive --undo blog`,
		Args: someSessions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.act(cmd, s, func(ctx context.Context, c *client.Client) error { return v.archive(ctx, s, c, args) })
		},
	}
	cmd.ValidArgsFunction = completeSessionFlag(s, &v.place)
	v.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&v.undo, "undo", false, "unarchive them")
	f.BoolVarP(&v.quiet, "quiet", "q", false, "print ids only")
	f.BoolVar(&v.json, "json", false, "print the sessions as one JSON object")
	return cmd
}

func (v *archiveVerb) archive(ctx context.Context, s *surroundings, c *client.Client, names []string) error {
	change, word := c.Archive, "archived"
	if v.undo {
		change, word = c.Unarchive, "unarchived"
	}
	var first error
	list := []*api.Session{}
	for _, name := range names {
		session, err := naming.Session(ctx, c, name)
		if err == nil {
			session, err = change(ctx, session.ID)
		}
		if err != nil {
			if len(names) == 1 {
				return err
			}
			s.complain(&first, name, err)
			continue
		}
		list = append(list, session)
		text := word + " " + called(session.ID, session.Title)
		switch {
		case v.json:
			continue
		case v.quiet:
			text = session.ID
		}
		if _, err := fmt.Fprintln(s.stdout, text); err != nil {
			return err
		}
	}
	if v.json {
		if err := s.writeJSON(map[string][]*api.Session{"sessions": list}); err != nil {
			return err
		}
	}
	return first
}

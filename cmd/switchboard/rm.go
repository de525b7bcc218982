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

// An rmCmd is the flags of rm.
type rmCmd struct {
	hubFlags
	yes, quiet bool
}

func newRm(e *env) *cobra.Command {
	v := &rmCmd{}
	cmd := &cobra.Command{
		Use:   "rm SESSION…",
		Short: "Stop sessions and archive them",
		Long: `Stops the agent, if it is running, and archives the session, so that lists leave it out. Nothing is
deleted: switchboard ls --all shows it, switchboard archive --undo brings it back.

Before it stops a running agent it asks; without a terminal that needs --yes.`,
		Example: `  switchboard rm blog

  # without a question
  switchboard rm --yes s5k s7q`,
		Args:              someSessions,
		ValidArgsFunction: completeSessionFlag(e, &v.hubFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error { return v.run(ctx, e, c, args) })
		},
	}
	v.flags(cmd)
	cmd.Flags().BoolVarP(&v.yes, "yes", "y", false, "stop running agents without asking")
	cmd.Flags().BoolVarP(&v.quiet, "quiet", "q", false, "print ids only")
	return cmd
}

// run removes sessions from sight.
func (v *rmCmd) run(ctx context.Context, e *env, c *client.Client, names []string) error {
	return e.each(names, func(name string) error {
		session, err := naming.SessionToEnd(ctx, c, name)
		if err != nil {
			return err
		}
		return v.remove(ctx, e, c, session)
	})
}

// remove stops and archives one.
func (v *rmCmd) remove(ctx context.Context, e *env, c *client.Client, session *api.Session) error {
	if session.State != api.StateEnded {
		if !v.yes {
			if err := agreeToStop(ctx, e, session); err != nil {
				return err
			}
		}
		if _, err := c.Stop(ctx, session.ID, api.Stop{}); err != nil {
			return err
		}
	}
	if _, err := c.Archive(ctx, session.ID); err != nil {
		return err
	}
	if v.quiet {
		_, err := fmt.Fprintln(e.stdout, session.ID)
		return err
	}
	if _, err := fmt.Fprintf(e.stdout, "archived %s\n", nameAndTitle(session.ID, session.Title)); err != nil {
		return err
	}
	e.hint("  undo: switchboard archive --undo %s", naming.Short(session.ID))
	return nil
}

// agreeToStop asks whether a running agent may be stopped.
func agreeToStop(ctx context.Context, e *env, session *api.Session) error {
	if !isTerminal(e.stdin) || !isTerminal(e.stderr) {
		return usageError{errors.New("its agent is running; --yes stops it")}
	}
	agreed, err := consent(ctx, e, fmt.Sprintf("Stop the agent of %s and archive the session? [y/N] ", nameAndTitle(session.ID, session.Title)))
	if err != nil {
		return err
	}
	if !agreed {
		fmt.Fprintln(e.stderr, "nothing was changed")
		return exitError(codeFailed)
	}
	return nil
}

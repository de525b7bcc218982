package main

import (
	"context"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
)

func newQueue(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "List, edit and cancel queued messages",
		Long:  `Messages wait in a queue until the agent is idle. Until then they can be edited and canceled.`,
		Example: `  switchboard queue ls blog
  switchboard queue edit blog m7q3zr "Fix all typos."
  switchboard queue rm blog m7q3zr`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newQueueLs(e), newQueueEdit(e), newQueueRm(e))
	return cmd
}

func newQueueLs(e *env) *cobra.Command {
	v := &smallFlags{}
	return v.onOne(&cobra.Command{
		Use:     "ls SESSION",
		Short:   "List queued messages",
		Long:    `Lists the messages of a session that are queued or being sent, with their ids.`,
		Example: `  switchboard queue ls blog`,
		Args:    oneSession,
	}, e, "one JSON object", func(_ context.Context, _ *client.Client, session *api.Session, _ []string) error {
		list := append([]api.Message{}, session.Messages...)
		return v.table(e, map[string][]api.Message{"messages": list}, e.view(false).Queue(list), "No messages are queued.")
	})
}

func newQueueEdit(e *env) *cobra.Command {
	v := &smallFlags{}
	return v.onOne(&cobra.Command{
		Use:     "edit SESSION ID TEXT…",
		Short:   "Edit a queued message",
		Long:    `Replaces the text of a queued message. One that is already being sent is refused with code 5.`,
		Example: `  switchboard queue edit blog m7q3zr "Fix all typos."`,
		Args:    sessionAnd(2, math.MaxInt, "a message and its new text"),
	}, e, "the message as one JSON object", func(ctx context.Context, c *client.Client, session *api.Session, args []string) error {
		message, err := c.EditMessage(ctx, session.ID, messageID(session, args[0]), api.EditMessage{Text: strings.Join(args[1:], " ")})
		if err != nil {
			return err
		}
		return e.result(v.json, message, "edited "+harmless(message.ID))
	})
}

func newQueueRm(e *env) *cobra.Command {
	v := &smallFlags{}
	return v.onOne(&cobra.Command{
		Use:     "rm SESSION ID",
		Short:   "Cancel a queued message",
		Long:    `Cancels a queued message. One that is already being sent is refused with code 5.`,
		Example: `  switchboard queue rm blog m7q3zr`,
		Args:    sessionAnd(1, 1, "the id of a message"),
	}, e, "the message as one JSON object", func(ctx context.Context, c *client.Client, session *api.Session, args []string) error {
		message, err := c.TakeBack(ctx, session.ID, messageID(session, args[0]))
		if err != nil {
			return err
		}
		return e.result(v.json, message, "canceled "+harmless(message.ID))
	})
}

// messageID returns the id of the one message that begins with what was typed, else what was typed.
func messageID(session *api.Session, typed string) string {
	found := ""
	for i := range session.Messages {
		switch id := session.Messages[i].ID; {
		case id == typed || session.Messages[i].ClientID == typed:
			return typed
		case len(typed) >= 3 && strings.HasPrefix(id, typed):
			if found != "" {
				return typed // several
			}
			found = id
		}
	}
	if found == "" {
		return typed
	}
	return found
}

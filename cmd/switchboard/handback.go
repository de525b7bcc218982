package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
)

// handBackLine returns the command, as a shell takes it, that goes on with a conversation in a terminal. The CLI finds it only from its own folder.
func handBackLine(dir, conversation string) string {
	return "cd " + quote(dir) + " && claude --resume " + quote(conversation)
}

// A handBack is what handback writes as JSON.
type handBack struct {
	Session      string   `json:"session,omitempty"`
	Conversation string   `json:"conversation"`
	Dir          string   `json:"dir"`
	Command      []string `json:"command"`
	Line         string   `json:"line"`
}

// A handbackVerb is the flags of handback.
type handbackVerb struct {
	place
	stop, fork, json bool
}

func newHandback(s *surroundings) *cobra.Command {
	v := &handbackVerb{}
	cmd := &cobra.Command{
		Use:   "handback SESSION",
		Short: "Say how to go on with a session in a plain terminal",
		Long: `Writes the command that goes on with the conversation in Claude Code's own terminal, as a shell takes it.
SESSION may also be the id of a conversation that is only on disk.

A conversation has one driver: while the hub's own process runs, two would write into the same file and
neither would know of the other. So it refuses then, with code 5; --stop ends that process first, and
--fork has the terminal go on with a copy.

To come back, leave it there, and then: switchboard resume SESSION`,
		Example: `  switchboard handback blog

  # at once
  eval "$(switchboard handback blog --stop)"`,
		Args:              oneSession,
		ValidArgsFunction: completeSessions(s, &v.place),
		RunE:              func(cmd *cobra.Command, args []string) error { return v.run(cmd, s, args[0]) },
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&v.stop, "stop", false, "end the hub's own process first")
	f.BoolVar(&v.fork, "fork", false, "go on with a copy, which may be done while it runs")
	f.BoolVar(&v.json, "json", false, "write one JSON object")
	cmd.MarkFlagsMutuallyExclusive("stop", "fork")
	return cmd
}

func (v *handbackVerb) run(cmd *cobra.Command, s *surroundings, name string) error {
	return v.act(cmd, s, func(ctx context.Context, c *client.Client) error {
		if v.stop && name == naming.Last {
			session, err := toEnd(ctx, c, name)
			if err != nil {
				return err
			}
			name = session.ID
		}
		found, err := findConversation(ctx, c, name)
		if err != nil {
			return err
		}
		out := handBack{}
		if session := found.session; session != nil {
			if err := v.release(ctx, c, session); err != nil {
				return err
			}
			out.Session, out.Conversation, out.Dir = session.ID, session.Conversation, session.Dir
			if session.Simulated {
				fmt.Fprintln(s.stderr, "switchboard: the agent is simulated, so that no Claude Code knows this conversation")
			}
		} else {
			out.Conversation, out.Dir = found.transcript.Conversation, found.transcript.Dir
		}
		switch {
		case out.Conversation == "":
			return errors.New("the session has no conversation yet; send it a message first")
		case out.Dir == "":
			return errors.New("nobody knows which folder the conversation was held in; look for it in the list of: claude --resume")
		}
		out.Command = []string{"claude", "--resume", out.Conversation}
		out.Line = handBackLine(out.Dir, out.Conversation)
		if v.fork {
			out.Command = append(out.Command, "--fork-session")
			out.Line += " --fork-session"
		}
		if v.json {
			return s.writeJSON(out)
		}
		_, err = fmt.Fprintln(s.stdout, out.Line)
		return err
	})
}

// release sees to it that the hub does not drive the conversation any more.
func (v *handbackVerb) release(ctx context.Context, c *client.Client, session *api.Session) error {
	if session.State == api.StateEnded || v.fork {
		return nil
	}
	if !v.stop {
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeOwned, Session: session.ID,
			Title: fmt.Sprintf("the hub's own process still runs %s (%s), and a conversation has one driver", called(session.ID, session.Title), session.State),
			Hint:  "end it first with --stop, or go on with a copy with --fork; to drive it from here: switchboard attach " + naming.Short(session.ID),
		}
	}
	_, err := c.Stop(ctx, session.ID, api.Stop{})
	return err
}

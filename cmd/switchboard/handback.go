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
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// handBackLine returns the command, as a shell takes it, that continues a conversation in a terminal. The CLI finds it only from its own folder.
func handBackLine(dir, conversation string) string {
	return "cd " + quote(dir) + " && claude --resume " + quote(conversation)
}

// handBackOf returns it for a session; "" if no claude can continue it.
func handBackOf(s *api.Session) string {
	if s.Conversation == "" || s.Dir == "" || s.Simulated {
		return ""
	}
	return handBackLine(s.Dir, s.Conversation)
}

// A handBack is what handback writes as JSON.
type handBack struct {
	Session      string   `json:"session,omitempty"`
	Conversation string   `json:"conversation"`
	Dir          string   `json:"dir"`
	Command      []string `json:"command"`
	Line         string   `json:"line"`
}

// A handbackCmd is the flags of handback.
type handbackCmd struct {
	hubFlags
	stop, fork, json bool
}

func newHandback(e *env) *cobra.Command {
	v := &handbackCmd{}
	cmd := &cobra.Command{
		Use:   "handback SESSION",
		Short: "Print how to continue a session in Claude Code itself",
		Long: `Prints the command that continues the conversation in Claude Code's own terminal, quoted for a shell.
SESSION can also be the id of a conversation that is only on disk.

Only one program may continue a conversation: while the hub's agent is running, it is refused with code
5. --stop stops that agent first; --fork continues a copy.

To come back, leave Claude Code there, then: switchboard resume SESSION`,
		Example: `  switchboard handback blog

  # at once
  eval "$(switchboard handback blog --stop)"`,
		Args:              oneSession,
		ValidArgsFunction: completeSessions(e, &v.hubFlags),
		RunE:              func(cmd *cobra.Command, args []string) error { return v.run(cmd, e, args[0]) },
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&v.stop, "stop", false, "stop the hub's agent first")
	f.BoolVar(&v.fork, "fork", false, "continue a copy, also while the agent is running")
	f.BoolVar(&v.json, "json", false, "print one JSON object")
	cmd.MarkFlagsMutuallyExclusive("stop", "fork")
	return cmd
}

func (v *handbackCmd) run(cmd *cobra.Command, e *env, name string) error {
	at, err := v.remote(e)
	if err != nil {
		return err
	}
	return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
		if v.stop && name == naming.Last {
			session, err := naming.SessionToEnd(ctx, c, name)
			if err != nil {
				return err
			}
			name = session.ID
		}
		session, onDisk, err := naming.Conversation(ctx, c, name)
		if err != nil {
			return err
		}
		out := handBack{}
		if session != nil {
			if err := v.release(ctx, c, session); err != nil {
				return err
			}
			out.Session, out.Conversation, out.Dir = session.ID, session.Conversation, session.Dir
			if session.Simulated {
				fmt.Fprintln(e.stderr, "switchboard: the agent is simulated; Claude Code doesn't know this conversation")
			}
		} else {
			out.Conversation, out.Dir = onDisk.Conversation, onDisk.Dir
		}
		switch {
		case out.Conversation == "":
			return errors.New("the session has no conversation yet; send it a message first")
		case out.Dir == "":
			return errors.New("the folder of the conversation isn't known; find it with: claude --resume")
		}
		out.Command = []string{"claude", "--resume", out.Conversation}
		out.Line = handBackLine(out.Dir, out.Conversation)
		if v.fork {
			out.Command = append(out.Command, "--fork-session")
			out.Line += " --fork-session"
		}
		if machine := v.machine(at, session); machine != "" {
			fmt.Fprintf(e.stderr, "switchboard: the conversation is on %s; run the command there\n", paint.CleanLine(machine, 0))
		}
		return e.result(v.json, out, out.Line)
	})
}

// machine returns the machine that the conversation is on; "" if it is this one.
func (v *handbackCmd) machine(at *remote, session *api.Session) string {
	switch {
	case session != nil && session.Node != "":
		return "the machine " + session.Node
	case at != nil:
		return "the machine of " + at.title()
	}
	return ""
}

// release sees to it that the hub does not drive the conversation any more.
func (v *handbackCmd) release(ctx context.Context, c *client.Client, session *api.Session) error {
	if session.State == api.StateEnded || v.fork {
		return nil
	}
	if !v.stop {
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeOwned, Session: session.ID,
			Title: fmt.Sprintf("the hub's own process still runs %s (%s), and a conversation has one driver", nameAndTitle(session.ID, session.Title), session.State),
			Hint:  "stop it first with --stop, or continue a copy with --fork; to use it here: switchboard attach " + naming.Short(session.ID),
		}
	}
	_, err := c.Stop(ctx, session.ID, api.Stop{})
	return err
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// smallFlags are the flags of commands that ask one thing of the hub.
type smallFlags struct {
	hubFlags
	json bool
}

// onOne completes a command about one session, which its first argument names. document says what --json prints.
func (v *smallFlags) onOne(
	cmd *cobra.Command, e *env, document string, f func(ctx context.Context, c *client.Client, session *api.Session, args []string) error,
) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return v.onSession(cmd, e, naming.Session, args[0], func(ctx context.Context, c *client.Client, session *api.Session) error {
			return f(ctx, c, session, args[1:])
		})
	}
	cmd.ValidArgsFunction = completeSessions(e, &v.hubFlags)
	return v.withFlags(cmd, document)
}

// onHub completes a command about the hub as a whole.
func (v *smallFlags) onHub(cmd *cobra.Command, e *env, document string, f func(ctx context.Context, c *client.Client, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return v.act(cmd, e, func(ctx context.Context, c *client.Client) error { return f(ctx, c, args) })
	}
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return v.withFlags(cmd, document)
}

// withFlags adds the flags.
func (v *smallFlags) withFlags(cmd *cobra.Command, document string) *cobra.Command {
	v.flags(cmd)
	cmd.Flags().BoolVar(&v.json, "json", false, "print "+document)
	return cmd
}

// nodeFlag adds the flag that names a machine, for a command that asks the hub about what is on one.
func nodeFlag(cmd *cobra.Command, e *env, p *hubFlags, node *string) {
	cmd.Flags().StringVar(node, "node", "", "`NAME` of the machine (default the hub's own); see switchboard node ls")
	register(cmd, "node", completeNodes(e, p))
}

// table prints a list in lines, or the document with --json. A person is told if there is nothing.
func (v *smallFlags) table(e *env, document any, lines []string, none string) error {
	if v.json {
		return e.writeJSON(document)
	}
	if len(lines) == 0 {
		if isTerminal(e.stdout) {
			fmt.Fprintln(e.stderr, none)
		}
		return nil
	}
	return writeLines(e.stdout, lines)
}

// told prints the CLI's own answer, or a line for people.
func (v *smallFlags) told(e *env, answer *api.ControlResult, line string) error {
	if v.json || line == "" {
		return e.writeJSON(answer.Response)
	}
	return e.result(false, nil, line)
}

// sessionAnd wants a session and so many further arguments; what says which.
func sessionAnd(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return missingName("session")
		case len(args)-1 < least || len(args)-1 > most:
			return fmt.Errorf("name a session and %s", what)
		}
		return nil
	}
}

// readAnswer decodes the CLI's own answer.
func readAnswer[T any](answer *api.ControlResult) (*T, error) {
	out := new(T)
	if err := json.Unmarshal(answer.Response, out); err != nil {
		return nil, errors.New("the answer of Claude Code can't be read; --json prints it as it is")
	}
	return out, nil
}

// jsonArgument reads an argument that is an object, names a file with one (@FILE), or stands for standard input (-).
func jsonArgument(e *env, what, value string) (json.RawMessage, error) {
	text, err := textOf(e, what, value)
	if err != nil {
		return nil, err
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		return nil, usageError{fmt.Errorf("%s: not a JSON object: %w", what, err)}
	}
	return json.RawMessage(text), nil
}

// named returns a session as results of commands name it.
func named(session *api.Session) string { return nameAndTitle(session.ID, session.Title) }

// harmless returns a word of an agent or a person for a line of output.
func harmless(text string) string { return paint.CleanLine(text, 200) }

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/terminal"
)

// maxStatus is how many sessions and questions the overview shows.
const maxStatus = 10

// A statusCmd is the flags of status.
type statusCmd struct {
	hubFlags
	json bool
}

func newStatus(e *env) *cobra.Command {
	v := &statusCmd{}
	cmd := &cobra.Command{
		Use:   "status [SESSION]",
		Short: "Show what is going on: open questions and recent sessions",
		Long: `Shows the open questions and the sessions that were updated last. switchboard alone in a terminal
does the same. With SESSION it shows that session, as switchboard show does.

If the hub of this machine has a certificate, its fingerprint comes last: compare it with what switchboard
login shows on another machine.`,
		Example: `  switchboard status

  switchboard status -`,
		Args:              atMostOne("session"),
		ValidArgsFunction: completeSessions(e, &v.hubFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return v.overview(cmd, e)
			}
			show := &showCmd{hubFlags: v.hubFlags, json: v.json}
			return show.run(cmd, e, args[0])
		},
	}
	v.flags(cmd)
	cmd.Flags().BoolVar(&v.json, "json", false, "print one JSON object")
	return cmd
}

// overview shows what is going on, or how to begin.
func (v *statusCmd) overview(cmd *cobra.Command, e *env) error {
	at, err := v.remote(e)
	if err != nil {
		return err
	}
	if at == nil {
		usual, simulated, err := v.hubs(e)
		if err != nil {
			return usageError{err}
		}
		// Looking starts no hub.
		begun := hasJournal(usual) || listens(usual.Socket) || simulated != nil && (hasJournal(simulated) || listens(simulated.Socket))
		if !begun && !v.json {
			return welcome(e)
		}
	}
	return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
		questions, err := c.Questions(ctx, api.QuestionFilter{State: api.QuestionOpen, Limit: maxStatus})
		if err != nil {
			return err
		}
		sessions, err := c.List(ctx, api.SessionFilter{Limit: maxStatus})
		if err != nil {
			return err
		}
		pin, err := ownPin(ctx, c, at)
		if err != nil {
			return err
		}
		if v.json {
			return e.writeJSON(struct {
				Questions []api.Question       `json:"questions"`
				Sessions  []api.SessionSummary `json:"sessions"`
				Pin       string               `json:"pin,omitempty"`
			}{append([]api.Question{}, questions.Questions...), append([]api.SessionSummary{}, sessions.Sessions...), pin})
		}
		if len(sessions.Sessions) == 0 {
			return errors.Join(welcome(e), writeLines(e.stdout, fingerprintLines(pin)))
		}
		titles, err := sessionTitles(ctx, c, questions.Questions)
		if err != nil {
			return err
		}
		view := e.view(false)
		var lines []string
		if len(questions.Questions) > 0 {
			lines = append(append(lines, view.Questions(questions.Questions, titles)...), "")
		}
		lines = append(append(lines, view.Sessions(sessions.Sessions)...), fingerprintLines(pin)...)
		if err := writeLines(e.stdout, lines); err != nil {
			return err
		}
		more := ""
		if sessions.Next != "" {
			more = "More sessions: switchboard ls. "
		}
		if len(questions.Questions) > 0 {
			more += "Answer: switchboard allow or deny ID. "
		}
		e.hint("\n%sWatch: switchboard attach ID. All commands: switchboard help", more)
		return nil
	})
}

// ownPin returns the fingerprint of the certificate of this machine's hub, "" if it has none. What a hub elsewhere says of itself is nothing to compare with.
func ownPin(ctx context.Context, c *client.Client, at *remote) (string, error) {
	if at != nil {
		return "", nil
	}
	info, err := c.Info(ctx)
	if err != nil {
		return "", err
	}
	return info.Pin, nil
}

// fingerprintLines are the end of the overview.
func fingerprintLines(pin string) []string {
	if pin == "" {
		return nil
	}
	return []string{"", "fingerprint of the hub's certificate: " + terminal.Clean(pin)}
}

// welcome says how to begin.
func welcome(e *env) error {
	_, err := fmt.Fprint(e.stdout, `Switchboard runs, watches and steers Claude Code agents. No sessions yet.

  switchboard run "Fix the tests"           start an agent in this folder
  switchboard run --simulated "Fix a bug"   try it with a simulated agent, no account needed
  switchboard console                       open the console in a browser
  switchboard doctor                        check your setup
  switchboard help                          list all commands
`)
	return err
}

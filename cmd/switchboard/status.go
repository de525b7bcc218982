package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
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
does the same. With SESSION it shows that session, as switchboard show does.`,
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
	usual, simulated, err := v.hubs(e)
	if err != nil {
		return usageError{err}
	}
	// Looking starts no hub.
	begun := hasJournal(usual) || listens(usual.Socket) || simulated != nil && (hasJournal(simulated) || listens(simulated.Socket))
	if !begun && !v.json {
		return welcome(e)
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
		if v.json {
			return e.writeJSON(struct {
				Questions []api.Question       `json:"questions"`
				Sessions  []api.SessionSummary `json:"sessions"`
			}{append([]api.Question{}, questions.Questions...), append([]api.SessionSummary{}, sessions.Sessions...)})
		}
		if len(sessions.Sessions) == 0 {
			return welcome(e)
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
		lines = append(lines, view.Sessions(sessions.Sessions)...)
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

package main

import (
	"context"
	"errors"
	"os/signal"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
)

// An attachVerb is the flags of attach.
type attachVerb struct {
	place
	plain, noLive, bell bool
}

func newAttach(s *surroundings) *cobra.Command {
	v := &attachVerb{}
	cmd := &cobra.Command{
		Use:   "attach [SESSION]",
		Short: "Look at sessions, write to them, answer what they ask",
		Long: `Shows sessions on the whole screen: a list of them, the conversation of one, and a place to write.
Any number of people may look at the same session. Whoever leaves leaves the agents at work.

Only what is shown is read: a session of any length is there at once, and pages further back are read
when somebody scrolls to them. When the server goes away the screen stays, and goes on when it is back.

  enter              send what was written; alt+enter or ctrl+j for a new line, ctrl+s to steer
  tab, esc           from the composer to the conversation to the list of sessions
  ctrl+l             the list of sessions (beside the conversation from 100 columns on)
  ctrl+r             the next question, here or in another session
  pgup, pgdn         scroll; in the conversation also up, down, g and G
  space              unfold or fold a tool
  /                  search, in the session or (in the list) in all of them; n and N for the next one
  m, M, shift+tab    choose the model, the permission mode; the next mode
  a                  fork, restore files (rewind), archive; also F, R and A, and /fork, /rewind, /archive
  ctrl+x             stop the turn
  ?                  all keys
  q, ctrl+c twice    leave

With --plain, and if input or output is no terminal, it prints the log of one session instead and
follows it, one line of plain text for each thing that happens: prompts, answers, calls of tools,
questions with their ids, states. What comes in on standard input is sent as messages then, line by
line, but for these:

  /allow ID            allow it, approve the plan, accept the form as it comes
  /allow ID N [PLACE]  allow what suggestion N says, always
  /deny ID [why]       deny it; the agent is told why
  /abort ID [why]      deny it and stop the turn
  /answer ID TEXT      answer a choice (numbers or words, a semicolon between questions), a plan
                       (its outcome), a form or a dialog (JSON)
  /rule DECISION RULE  a rule for this session: /rule allow * for 30m
  /unrule ID           remove a rule of this session
  /release [ID]        let the session go on that a budget or a rate limit holds back
  /interrupt           stop the turn
  /stop                end the agent's process
  /quit                leave; the agent goes on
  /help                say all of this, and more

The end of input leaves too. If it is no terminal, attach first waits until the session has
nothing more to do, and then ends with code 1 if its last turn failed. An interrupt (Ctrl-C)
leaves with code 130.`,
		Example: `  # all sessions, and the one that was last at work
  switchboard attach

  # one session, by its title or the beginning of its id
  switchboard attach "Mend the tests"

  # over a slow line: texts when they are complete, not letter by letter
  switchboard attach --no-live 5k2

  # one message from a script: send it, wait for the end of the turn, print the log
  echo "Do the tests pass?" | switchboard attach --plain 5k2m7

  # just the log, to the end of the turn that is going on
  switchboard attach --plain - </dev/null`,
		Args: atMostOne("session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return v.run(cmd.Context(), s, name)
		},
	}
	v.flags(cmd)
	cmd.ValidArgsFunction = completeSessions(s, &v.place)
	cmd.Flags().BoolVar(&v.plain, "plain", false, "plain text, one line for each thing that happens")
	cmd.Flags().BoolVar(&v.noLive, "no-live", false, "show texts when they are complete, for slow lines")
	cmd.Flags().BoolVar(&v.bell, "bell", false, "ring when an agent asks something")
	return cmd
}

// run shows sessions until somebody leaves.
func (v *attachVerb) run(ctx context.Context, s *surroundings, name string) error {
	plain := v.plain || !isTerminal(s.stdin) || !isTerminal(s.stdout)
	if plain && name == "" {
		return usageError{errors.New("not a terminal: name a session (or - for the latest)")}
	}
	ctx, stop := signal.NotifyContext(ctx, enders()...)
	defer stop()
	return v.withHub(s, func(c *client.Client) error {
		id := ""
		if name != "" {
			session, err := naming.Session(ctx, c, name)
			if err != nil {
				return err
			}
			id = session.ID
		}
		if plain {
			return attach(ctx, s, c, id)
		}
		return v.screen(ctx, s, c, id)
	})
}

// historyFile is where prompts are kept that were written in a terminal; empty if there is no place for it.
func historyFile(s *surroundings) string {
	if dir := s.getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "switchboard", "history")
	}
	if home := s.getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "switchboard", "history")
	}
	return ""
}

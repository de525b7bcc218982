package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/eventlog"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/screen"
)

// An attachCmd is the flags of attach.
type attachCmd struct {
	hubFlags
	plain, noLive, bell bool
}

func newAttach(e *env) *cobra.Command {
	v := &attachCmd{}
	cmd := &cobra.Command{
		Use:   "attach [SESSION]",
		Short: "Watch sessions, write to them, answer their questions",
		Long: `Shows sessions full screen: a list of them, the conversation of one, and a field to write in. Several
people can watch the same session. Leaving keeps the agents running.

Only what is shown is read, so long sessions open at once; earlier pages load as you scroll. If the hub
goes away the screen stays and continues when it is back.

  enter              send; alt+enter or ctrl+j for a new line, ctrl+s to steer
  tab, esc           from the composer to the conversation to the list of sessions
  ctrl+l             list of sessions (beside the conversation from 100 columns on)
  ctrl+r             next question, here or in another session
  pgup, pgdn         scroll; in the conversation also up, down, g and G
  space              unfold or fold a tool
  /                  search, in the session or (in the list) in all of them; n and N for the next hit
  m, M, shift+tab    choose the model, the permission mode; next mode
  a                  fork, restore files (rewind), archive; also F, R and A, and /fork, /rewind, /archive
  ctrl+x             interrupt the turn
  ?                  all keys, also those of an open question
  q, ctrl+c twice    leave

With --plain, or without a terminal, it prints the log of one session and follows it, one line of plain
text for each event: prompts, answers, tool calls, questions with their ids, states. Standard input is
sent as messages then, line by line, except for these commands:

  /allow ID            allow it, approve the plan, accept the form as it is
  /allow ID N [PLACE]  always allow what suggestion N says
  /deny ID [why]       deny it; the reason is shown to the agent
  /abort ID [why]      deny it and stop the turn
  /answer ID TEXT      answer a choice (numbers or words, a semicolon between questions), a plan
                       (its outcome), a form or a dialog (JSON)
  /rule DECISION RULE  add a rule for this session: /rule allow * for 30m
  /unrule ID           remove a rule of this session
  /release [ID]        continue a session held back by a budget or a rate limit
  /interrupt           interrupt the turn
  /stop                stop the agent
  /quit                leave; the agent keeps running
  /help                show all of this and more

The end of input leaves too. Without a terminal, attach first waits until the session has nothing left
to do, and ends with code 1 if its last turn failed. Ctrl-C leaves with code 130.`,
		Example: `  # all sessions, and the latest one
  switchboard attach

  # one session, by its title or the beginning of its id
  switchboard attach "Fix the tests"

  # over a slow line: complete texts only
  switchboard attach --no-live 5k2

  # from a script: send a message, wait for the end of the turn, print the log
  echo "Do the tests pass?" | switchboard attach --plain 5k2m7

  # only the log, to the end of the running turn
  switchboard attach --plain - </dev/null`,
		Args: atMostOne("session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return v.run(cmd.Context(), e, name)
		},
	}
	v.flags(cmd)
	cmd.ValidArgsFunction = completeSessions(e, &v.hubFlags)
	cmd.Flags().BoolVar(&v.plain, "plain", false, "plain text, one line for each event")
	cmd.Flags().BoolVar(&v.noLive, "no-live", false, "show complete texts only, for slow lines")
	cmd.Flags().BoolVar(&v.bell, "bell", false, "ring the bell for new questions")
	return cmd
}

// run shows sessions until the user leaves.
func (v *attachCmd) run(ctx context.Context, e *env, name string) error {
	plain := v.plain || !isTerminal(e.stdin) || !isTerminal(e.stdout)
	if plain && name == "" {
		return usageError{errors.New("not a terminal: name a session (or - for the latest)")}
	}
	ctx, stop := signal.NotifyContext(ctx, enders()...)
	defer stop()
	return v.withHub(e, func(c *client.Client) error {
		id := ""
		if name != "" {
			session, err := naming.Session(ctx, c, name)
			if err != nil {
				return err
			}
			id = session.ID
		}
		if plain {
			return attach(ctx, e, c, id)
		}
		return v.screen(ctx, e, c, id)
	})
}

// historyFile is where prompts are kept that were written in a terminal; empty if there is no place for it.
func historyFile(e *env) string {
	if dir := e.getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "switchboard", "history")
	}
	if home := e.getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "switchboard", "history")
	}
	return ""
}

// attach shows a session as plain text.
func attach(ctx context.Context, e *env, c *client.Client, session string) error {
	err := terminal.Attach(ctx, follower{c, e.stderr}, session, &terminal.Options{
		In: e.stdin, Out: e.stdout, Hints: isTerminal(e.stdin) && isTerminal(e.stdout), Wait: !isTerminal(e.stdin),
	})
	return interrupted(ctx, err)
}

// connect returns a client of the server at a socket. That there is none is said here, in words that tell what to do.
func connect(socket string) (*client.Client, error) {
	if _, err := os.Stat(socket); errors.Is(err, fs.ErrNotExist) {
		return nil, &noServerError{socket}
	}
	return client.New(&client.Options{Socket: socket})
}

// A follower is a client in the form that package terminal wants.
type follower struct {
	*client.Client
	stderr io.Writer
}

// Follow follows without live lines.
func (f follower) Follow(ctx context.Context, id string) iter.Seq2[api.Frame, error] {
	return eventlog.Follow(ctx, f.Client, id, f.stderr, client.FollowOptions{})
}

// screen shows sessions on the whole screen.
func (v *attachCmd) screen(ctx context.Context, e *env, c *client.Client, session string) error {
	if session == "" {
		if _, err := c.Info(ctx); err != nil { // before the screen is taken
			return err
		}
	}
	err := screen.Run(ctx, c, screen.Terminal{In: e.stdin, Out: e.stdout, Env: e.env}, screen.Options{
		Session: session, Styles: paint.Detect(e.stdout, e.getenv, e.color).Styles(), NoLive: v.noLive, Bell: v.bell,
		HistoryFile: historyFile(e), Editor: compose.Editor(e.getenv, ""),
	})
	return interrupted(ctx, err)
}

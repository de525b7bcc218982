package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/terminal"
)

// An attachVerb is the flags of attach.
type attachVerb struct {
	place
	plain bool
}

func newAttach(s *surroundings) *cobra.Command {
	v := &attachVerb{}
	cmd := &cobra.Command{
		Use:   "attach --plain SESSION",
		Short: "Show a session, and send what is typed",
		Long: `Prints the log of a session and follows it, one line of plain text for each thing that happens:
prompts, answers, calls of tools, questions with their ids, states. Any number of people may
look at the same session.

What comes in on standard input is sent as messages, line by line, but for these:

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
leaves with code 130. The agent goes on in any case.`,
		Example: `  # look at a session, and type into it
  switchboard attach --plain s5k2m7q3zr4t6w8xabcdy

  # one message from a script: send it, wait for the end of the turn, print the log
  echo "Do the tests pass?" | switchboard attach --plain s5k2m7q3zr4t6w8xabcdy

  # just the log, to the end of the turn that is going on
  switchboard attach --plain s5k2m7q3zr4t6w8xabcdy </dev/null`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), s, args[0]) },
	}
	v.flags(cmd)
	cmd.Flags().BoolVar(&v.plain, "plain", false, "plain text, one line for each thing that happens")
	return cmd
}

// run shows a session until somebody leaves.
func (v *attachVerb) run(ctx context.Context, s *surroundings, session string) error {
	if !v.plain {
		return usageError{errors.New("only the plain view is here yet; ask for it with --plain")}
	}
	_, paths, err := v.load(s, nil)
	if err != nil {
		return usageError{err}
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	c, err := connect(paths.Socket)
	if err != nil {
		return err
	}
	defer c.Close()
	err = attach(ctx, s, c, session)
	if errors.Is(err, syscall.ECONNREFUSED) { // what is left of one that was killed
		return fmt.Errorf("no server is running: nobody listens on %s; start one with: switchboard serve", paths.Socket)
	}
	return err
}

// attach shows a session on the surroundings' streams.
func attach(ctx context.Context, s *surroundings, c *client.Client, session string) error {
	err := terminal.Attach(ctx, follower{c, s.stderr}, session, &terminal.Options{
		In: s.stdin, Out: s.stdout, Hints: isTerminal(s.stdin) && isTerminal(s.stdout), Wait: !isTerminal(s.stdin),
	})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return exitError(codeInterrupted)
	}
	return err
}

// connect returns a client of the server at a socket. That there is none is said here, in words that tell what to do.
func connect(socket string) (*client.Client, error) {
	if _, err := os.Stat(socket); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no server is running: there is no socket %s; start one with: switchboard serve", socket)
	}
	return client.New(&client.Options{Socket: socket})
}

// A follower is a client in the form that package terminal wants.
type follower struct {
	*client.Client
	stderr io.Writer
}

// Follow follows without live lines. When the server is away it says so, once, and waits for the next one.
func (f follower) Follow(ctx context.Context, id string) iter.Seq2[api.Frame, error] {
	return func(yield func(api.Frame, error) bool) {
		lost := false // this and what follows run in one goroutine
		options := &client.FollowOptions{NoLive: true, Lost: func(err error, _ time.Duration) {
			if !lost && ctx.Err() == nil {
				fmt.Fprintf(f.stderr, "switchboard: the server is away (%s); waiting for it\n", terminal.Clean(err.Error()))
			}
			lost = true
		}}
		for frame, err := range f.Client.Follow(ctx, id, options) {
			lost = false
			if !yield(frame, err) {
				return
			}
		}
	}
}

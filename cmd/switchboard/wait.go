package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/turn"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
)

// A waitCmd is the flags of wait.
type waitCmd struct {
	hubFlags
	timeout     time.Duration
	json, quiet bool
	asked       []string // the ids of questions that were told
}

func newWait(e *env) *cobra.Command {
	v := &waitCmd{}
	cmd := &cobra.Command{
		Use:   "wait SESSION",
		Short: "Wait until a session's turn ends",
		Long: `Waits until the session has nothing left to do: its turn has ended and no message is queued.
Returns at once if no turn is running. Questions are shown on standard error; answer them elsewhere.

Exit codes: 0 the turn succeeded, 6 it failed or the agent ended early, 1 it was interrupted,
124 --timeout passed, 130 Ctrl-C (the agent keeps running).`,
		Example: `  # start an agent, do something else, then wait for it
  id=$(switchboard run --detach "Update the dependencies")
  switchboard wait "$id" && git diff

  # ten minutes at most
  switchboard wait --timeout 10m -

  # the session as it is then
  switchboard wait --json "Fix the tests" | jq .result`,
		Args:              oneSession,
		ValidArgsFunction: completeSessions(e, &v.hubFlags),
		RunE:              func(cmd *cobra.Command, args []string) error { return v.run(cmd, e, args[0]) },
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.DurationVar(&v.timeout, "timeout", 0, "maximum `TIME` to wait, e.g. 10m (default no limit)")
	f.BoolVarP(&v.quiet, "quiet", "q", false, "print nothing, not even questions")
	f.BoolVar(&v.json, "json", false, "print the session as one JSON object")
	return cmd
}

// run waits.
func (v *waitCmd) run(cmd *cobra.Command, e *env, name string) error {
	if v.timeout < 0 {
		return usageError{fmt.Errorf("--timeout is %s; it must not be below 0", v.timeout)}
	}
	return v.onSession(cmd, e, naming.Session, name, func(ctx context.Context, c *client.Client, session *api.Session) error {
		if v.timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, v.timeout, errTimeout)
			defer cancel()
		}
		session, err := v.await(ctx, e, c, session)
		if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
			v.report(e, "still running after %s; the agent keeps working", v.timeout)
			return exitError(codeTimeout)
		}
		if err != nil {
			return err
		}
		return v.printOutcome(e, session)
	})
}

// await looks at a session again with each event that can mean its turn's end.
func (v *waitCmd) await(ctx context.Context, e *env, c *client.Client, session *api.Session) (*api.Session, error) {
	if turn.Over(session) {
		return session, nil
	}
	v.questions(e, session)
	for frame, err := range c.Follow(ctx, session.ID, &client.FollowOptions{After: session.LastEventID, NoLive: true}) {
		if err != nil {
			return nil, err
		}
		if !turn.TellsEnd(frame) {
			continue
		}
		if session, err = c.Session(ctx, session.ID); err != nil || turn.Over(session) {
			return session, err
		}
		v.questions(e, session)
	}
	return nil, errors.New("the session's log has ended before the turn")
}

// questions tells what the session asks, each question once.
func (v *waitCmd) questions(e *env, session *api.Session) {
	for i := range session.Questions {
		q := &session.Questions[i]
		if slices.Contains(v.asked, q.ID) {
			continue
		}
		v.asked = append(v.asked, q.ID)
		v.report(e, "the agent asks: %s; see: switchboard questions %s", words.Asked(q, terminal.Gist(q)), naming.Short(q.ID))
	}
}

// report says something on standard error.
func (v *waitCmd) report(e *env, format string, args ...any) {
	if !v.quiet {
		fmt.Fprintf(e.stderr, "switchboard: %s\n", paint.CleanLine(fmt.Sprintf(format, args...), 0))
	}
}

// printOutcome says how the turn ended, by the exit code too.
func (v *waitCmd) printOutcome(e *env, session *api.Session) error {
	word, code := "done", codeDone
	switch r := session.Result; {
	case session.State == api.StateEnded && session.Ended != nil && session.Ended.Unfinished:
		word, code = "the agent ended early: "+session.Ended.Reason, codeTurnFailed
	case r != nil && r.Interrupted:
		word, code = "interrupted", codeFailed
	case r != nil && r.Failed:
		word, code = "failed", codeTurnFailed
	}
	var err error
	switch {
	case v.json:
		err = e.writeJSON(session)
	case !v.quiet:
		_, err = fmt.Fprintf(e.stdout, "%s  %s\n", nameAndTitle(session.ID, session.Title), strings.TrimSpace(paint.CleanLine(word, 0)))
	}
	if err != nil || code == codeDone {
		return err
	}
	return exitError(code)
}

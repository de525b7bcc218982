package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
)

// A stopCmd is the flags of stop.
type stopCmd struct {
	hubFlags
	listFlags
	all, yes, force bool
}

func newStop(e *env) *cobra.Command {
	v := &stopCmd{}
	cmd := &cobra.Command{
		Use:     "stop SESSION… | stop --all",
		Aliases: []string{"kill"},
		Short:   "Stop agents; their sessions are kept",
		Long: `Stops the agent and everything it started. The session is kept: a message or switchboard resume
continues the conversation, and so does claude --resume in a terminal; the command is printed.

A running turn is interrupted first. With --force, or as switchboard kill, the process ends at once.

- is the session that was updated last, and the command says which. If another agent was updated within
the same two seconds, nothing is stopped and both are listed (code 3).

--all stops the agents of all sessions and asks first at a terminal, unless --yes is given. Agents that
other programs started (switchboard wrap) keep running.`,
		Example: `  switchboard stop blog

  # several
  switchboard stop s5k s7q

  # the one that was updated last
  switchboard stop -

  # all of them, without a question
  switchboard stop --all --yes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			v.force = v.force || cmd.CalledAs() == "kill"
			return v.run(cmd, e, args)
		},
	}
	cmd.ValidArgsFunction = completeSessionFlag(e, &v.hubFlags)
	v.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&v.all, "all", false, "stop the agents of all sessions")
	f.BoolVarP(&v.yes, "yes", "y", false, "with --all: don't ask")
	f.BoolVar(&v.force, "force", false, "end the process at once, even if it can't be reached")
	v.listFlags.add(cmd, "the sessions as one JSON object")
	return cmd
}

// A stopped is what stop writes of a session as JSON.
type stopped struct {
	*api.Session
	HandBack string `json:"hand_back,omitempty"` // the command that goes on with it in a terminal
}

func (v *stopCmd) run(cmd *cobra.Command, e *env, names []string) error {
	switch {
	case v.all && len(names) > 0:
		return usageError{errors.New("--all means all sessions; leave out the names")}
	case !v.all && len(names) == 0:
		return usageError{errors.New("which session? Name one or more, - for the latest, or --all; switchboard ls lists them")}
	case v.yes && !v.all:
		return usageError{errors.New("--yes is for --all")}
	}
	return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
		if v.all {
			return v.stopAll(ctx, e, c)
		}
		var sessions []*api.Session
		err := e.each(names, func(name string) error {
			session, err := naming.SessionToEnd(ctx, c, name)
			if err == nil && !slices.ContainsFunc(sessions, func(other *api.Session) bool { return other.ID == session.ID }) {
				sessions = append(sessions, session)
			}
			return err
		})
		if err != nil && len(names) == 1 {
			return err
		}
		return v.stop(ctx, e, c, sessions, err)
	})
}

// stopAll ends all that there is to end.
func (v *stopCmd) stopAll(ctx context.Context, e *env, c *client.Client) error {
	live, err := allSessions(ctx, c, api.SessionFilter{State: naming.LiveStates(), Archived: true}, 0)
	if err != nil {
		return err
	}
	now, err := current(ctx, c, live)
	if err != nil {
		return err
	}
	var sessions []*api.Session
	others := 0
	for _, session := range now {
		switch {
		case session == nil || session.State == api.StateEnded: // meanwhile
		case session.Transport == "tee":
			others++
		default:
			sessions = append(sessions, session)
		}
	}
	if others > 0 {
		fmt.Fprintf(e.stderr, "switchboard: %s by another program and left running\n", started(others))
	}
	if len(sessions) > 0 && !v.yes && isTerminal(e.stdin) {
		for _, session := range sessions {
			fmt.Fprintf(e.stderr, "  %s  %s\n", session.State, nameAndTitle(session.ID, session.Title))
		}
		agreed, err := consent(ctx, e, fmt.Sprintf("Stop %s? [y/N] ", agents(len(sessions))))
		if err != nil {
			return err
		}
		if !agreed {
			fmt.Fprintln(e.stderr, "Nothing was stopped.")
			return exitError(codeFailed)
		}
	}
	if len(sessions) == 0 && !v.json && !v.quiet {
		what := "no agent is running"
		if others > 0 {
			what = "no other agent is running"
		}
		_, err := fmt.Fprintln(e.stdout, what)
		return err
	}
	return v.stop(ctx, e, c, sessions, nil)
}

func started(n int) string {
	if n == 1 {
		return "1 agent was started"
	}
	return fmt.Sprintf("%d agents were started", n)
}

func agents(n int) string {
	if n == 1 {
		return "1 agent"
	}
	return fmt.Sprintf("%d agents", n)
}

// current returns sessions as they are now, nil for one that was removed meanwhile.
func current(ctx context.Context, c *client.Client, live []api.SessionSummary) ([]*api.Session, error) {
	sessions, errs := make([]*api.Session, len(live)), make([]error, len(live))
	all := inParallel(len(live), maxLookups, func(i int) {
		session, err := c.Session(ctx, live[i].ID)
		if failed, ok := errors.AsType[*api.Error](err); ok && failed.Code == api.CodeNotFound {
			return
		}
		sessions[i], errs[i] = session, err
	})
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return sessions, nil
}

const (
	// maxStops is how many agents are ended at the same time. Most of that time an agent in a turn is waited for, seconds in which
	// neither the hub nor this program has anything to do.
	maxStops = 128
	// maxLookups is how many sessions are looked up at the same time. That is work for the hub.
	maxLookups = 8
)

// inParallel calls a function with the numbers below n, up to limit calls at a time, in goroutines that the group waits for.
func inParallel(n, limit int, call func(int)) *sync.WaitGroup {
	var all sync.WaitGroup
	numbers := make(chan int, n)
	for i := range n {
		numbers <- i
	}
	close(numbers)
	for range min(n, limit) {
		all.Go(func() {
			for i := range numbers {
				call(i)
			}
		})
	}
	return &all
}

// counting tells a person every other second how many agents have ended. The function that it returns ends that.
func counting(e *env, done *atomic.Int64, n int) (stop func()) {
	if !isTerminal(e.stderr) || n < 2 {
		return func() {}
	}
	tick, over := time.NewTicker(2*time.Second), make(chan struct{})
	var teller sync.WaitGroup
	teller.Go(func() {
		for {
			select {
			case <-tick.C:
				fmt.Fprintf(e.stderr, "stopped %d of %s…\n", done.Load(), agents(n))
			case <-over:
				return
			}
		}
	})
	return func() {
		tick.Stop()
		close(over)
		teller.Wait()
	}
}

// stop ends agents, and says what became of each in the order in which they were named.
func (v *stopCmd) stop(ctx context.Context, e *env, c *client.Client, sessions []*api.Session, first error) error {
	type outcome struct {
		session *api.Session
		err     error
	}
	outcomes := make([]chan outcome, len(sessions))
	for i := range outcomes {
		outcomes[i] = make(chan outcome, 1)
	}
	var ended atomic.Int64
	defer counting(e, &ended, len(sessions))()
	all := inParallel(len(sessions), maxStops, func(i int) {
		now, err := c.Stop(ctx, sessions[i].ID, api.Stop{Force: v.force})
		ended.Add(1)
		outcomes[i] <- outcome{now, err}
	})
	defer all.Wait()
	list := []stopped{}
	for i, session := range sessions {
		o := <-outcomes[i]
		if o.err != nil {
			if len(sessions) == 1 && first == nil {
				return o.err
			}
			e.complain(&first, nameAndTitle(session.ID, session.Title), o.err)
			continue
		}
		now := stopped{o.session, handBackOf(o.session)}
		list = append(list, now)
		if v.json {
			continue
		}
		if err := v.printStopped(e, session, &now); err != nil {
			return err
		}
	}
	if v.json {
		if err := e.writeJSON(map[string][]stopped{"sessions": list}); err != nil {
			return err
		}
	}
	return first
}

// printStopped says that an agent has ended, and how to go on.
func (v *stopCmd) printStopped(e *env, before *api.Session, now *stopped) error {
	if v.quiet {
		_, err := fmt.Fprintln(e.stdout, now.ID)
		return err
	}
	word := "stopped"
	if before.State == api.StateEnded {
		word = "already stopped:"
	}
	if _, err := fmt.Fprintf(e.stdout, "%s %s\n", word, nameAndTitle(now.ID, now.Title)); err != nil {
		return err
	}
	if v.all {
		return nil // a line for each is enough
	}
	e.hint("  resume here:        switchboard resume %s", naming.Short(now.ID))
	if now.HandBack != "" {
		e.hint("  resume in terminal: %s", now.HandBack)
	}
	return nil
}

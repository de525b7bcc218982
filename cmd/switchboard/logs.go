package main

import (
	"context"
	"errors"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal/eventlog"
)

// logsPage is how many events are asked for at a time.
const logsPage = 500

// A logsCmd is the flags of logs.
type logsCmd struct {
	hubFlags
	follow, raw, json, times, full bool
	since                          string
	last                           int
}

func newLogs(e *env) *cobra.Command {
	v := &logsCmd{last: -1}
	cmd := &cobra.Command{
		Use:     "logs SESSION",
		Aliases: []string{"log"},
		Short:   "Print or follow what happens in a session",
		Long: `Prints what happened in a session: prompts, answers, tool calls in a line each, questions, ends of turns.
With --follow it keeps printing what comes, until Ctrl-C; the agent keeps running.

--raw prints Claude Code's own lines, --json every event of the log as the API has it, one per line.`,
		Example: `  # the last twenty items, and what comes
  switchboard logs -f -n 20 -

  # the last ten minutes, with times and tool outputs
  switchboard logs --since 10m --times --full "Fix the slugs"

  # which tools were called
  switchboard logs --raw s5k2m7 | jq -r '.message.content[]? | select(.type == "tool_use") | .name'

  # events for a program, as they come
  switchboard logs -f --json s5k2m7`,
		Args:              oneSession,
		ValidArgsFunction: completeSessions(e, &v.hubFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			since, err := sinceTime("--since", v.since, time.Now())
			if err != nil {
				return usageError{err}
			}
			return v.onSession(cmd, e, naming.Session, args[0], func(ctx context.Context, c *client.Client, session *api.Session) error {
				return v.run(ctx, e, c, session, since)
			})
		},
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.BoolVarP(&v.follow, "follow", "f", false, "keep printing what comes, until Ctrl-C")
	f.VarP(&lastValue{&v.last}, "last", "n", "only the last `NUMBER` of items, or of events with --raw and --json")
	f.StringVar(&v.since, "since", "", "only since this `TIME`: 10m, 12h, 14:30, 2026-12-01, 2026-12-01T08:00:00Z")
	f.BoolVarP(&v.times, "times", "t", false, "print the time of each item")
	f.BoolVar(&v.full, "full", false, "print tool inputs, outputs and thoughts in full")
	f.BoolVar(&v.raw, "raw", false, "print Claude Code's own lines")
	f.BoolVar(&v.json, "json", false, "print events, one JSON object per line")
	cmd.MarkFlagsMutuallyExclusive("raw", "json")
	return cmd
}

// A lastValue is a number, or nothing, which stands for all: -1.
type lastValue struct{ n *int }

// String returns the number.
func (l *lastValue) String() string {
	if l.n == nil || *l.n < 0 {
		return ""
	}
	return strconv.Itoa(*l.n)
}

// Set reads it.
func (l *lastValue) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return errors.New("it must be a number from 0 on")
	}
	*l.n = n
	return nil
}

// Type names it in the help.
func (l *lastValue) Type() string { return "number" }

// run prints a log.
func (v *logsCmd) run(ctx context.Context, e *env, c *client.Client, session *api.Session, since time.Time) error {
	log, newest := eventlog.Of(c, session)
	log.Page = logsPage
	from := int64(0) // the number of the last event that was read or passed over
	if !since.IsZero() {
		first, err := log.Since(ctx, since, newest)
		if err != nil {
			return err
		}
		from = first - 1
	}
	var printer eventlog.Printer
	if v.raw || v.json {
		printer = &eventlog.Events{Out: e.stdout, Raw: v.raw, Terminal: isTerminal(e.stdout)}
		if v.last >= 0 {
			from = max(from, newest-int64(v.last))
		}
	} else {
		items := eventlog.NewItems(e.stdout, e.stderr, e.view(false).Styles, v.times, v.full)
		printer = items
		if v.last >= 0 { // the last few items are made of the last few events
			if err := items.Back(ctx, &log, from, newest, v.last); err != nil {
				return err
			}
			from = newest
		}
	}
	for from < newest {
		events, err := log.After(ctx, from, newest)
		if err != nil {
			return err
		}
		if err := printer.Page(events); err != nil {
			return quietPipe(err)
		}
		from = min(from+logsPage, newest)
	}
	if err := printer.Edge(); err != nil || !v.follow {
		return quietPipe(err)
	}
	for frame, err := range eventlog.Follow(ctx, c, session.ID, e.stderr, client.FollowOptions{After: log.ID(from)}) {
		if err != nil {
			return err
		}
		if err := printer.Frame(frame); err != nil {
			return quietPipe(err)
		}
	}
	return nil
}

// quietPipe says nothing about a reader that has seen enough, such as head.
func quietPipe(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

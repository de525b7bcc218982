package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/transcript"
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

// A logPrinter prints events.
type logPrinter interface {
	// page takes events of the past, in their order. edge says that there are no more for now.
	page(events []api.Event) error
	edge() error
	// frame takes what comes then.
	frame(f api.Frame) error
}

// run prints a log.
func (v *logsCmd) run(ctx context.Context, e *env, c *client.Client, session *api.Session, since time.Time) error {
	log := &sessionLog{c: c, session: session}
	log.epoch, log.newest = eventNumber(session.LastEventID)
	printer, err := v.printer(ctx, e, log, since)
	if err != nil {
		return err
	}
	for log.from < log.newest {
		events, err := log.next(ctx)
		if err != nil {
			return err
		}
		if err := printer.page(events); err != nil {
			return quietPipe(err)
		}
	}
	if err := printer.edge(); err != nil || !v.follow {
		return quietPipe(err)
	}
	return v.followOn(ctx, e, c, log, printer)
}

// printer returns what prints, with the log at the place to begin at.
func (v *logsCmd) printer(ctx context.Context, e *env, log *sessionLog, since time.Time) (logPrinter, error) {
	if !since.IsZero() {
		if err := log.seek(ctx, since); err != nil {
			return nil, err
		}
	}
	if v.raw || v.json {
		if v.last >= 0 {
			log.from = max(log.from, log.newest-int64(v.last))
		}
		return &eventPrinter{out: e.stdout, raw: v.raw, clean: isTerminal(e.stdout)}, nil
	}
	view := e.view(false)
	p := &talkPrinter{out: e.stdout, times: v.times, errs: e.stderr}
	p.Print = p.item
	p.look.Styles, p.look.Width = view.Styles, view.Styles.Profile.Width
	if v.times && p.look.Width > 0 {
		p.look.Width = max(1, p.look.Width-stampWidth)
	}
	if v.full {
		p.look.Unfolded = func(*transcript.Item) bool { return true }
		p.look.Full, p.look.Thinking = true, true
	}
	if v.last >= 0 {
		// The last few things are made of the last few events: those are read from the end.
		if err := p.back(ctx, log, v.last); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// followOn prints what comes.
func (v *logsCmd) followOn(ctx context.Context, e *env, c *client.Client, log *sessionLog, printer logPrinter) error {
	lost := false // what follows runs in one goroutine
	options := &client.FollowOptions{After: log.id(log.from), NoLive: true, Lost: func(err error, _ time.Duration) {
		if !lost && ctx.Err() == nil {
			fmt.Fprintf(e.stderr, "switchboard: the hub is away (%s); waiting for it\n", terminal.Clean(err.Error()))
		}
		lost = true
	}}
	for frame, err := range c.Follow(ctx, log.session.ID, options) {
		if err != nil {
			return err
		}
		lost = false
		if err := printer.frame(frame); err != nil {
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

// A sessionLog reads the log of a session.
type sessionLog struct {
	c       *client.Client
	session *api.Session
	epoch   string
	// newest is the number of the newest event of the snapshot, from that of the last one that was read or passed over.
	newest, from int64
}

// id returns the id of an event.
func (l *sessionLog) id(seq int64) string {
	if seq == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", l.epoch, seq)
}

// between returns events, in their order: those after a number, and up to another.
func (l *sessionLog) between(ctx context.Context, after, upTo int64) ([]api.Event, error) {
	var events []api.Event
	for after < upTo {
		page, err := l.c.Events(ctx, l.session.ID, l.id(after), int(min(upTo-after, logsPage)))
		if err != nil {
			return nil, err
		}
		if len(page.Events) == 0 {
			break // removed since
		}
		for _, e := range page.Events {
			if e.Seq <= upTo {
				events = append(events, e)
			}
		}
		after = page.Events[len(page.Events)-1].Seq
	}
	return events, nil
}

// next returns the next page.
func (l *sessionLog) next(ctx context.Context) ([]api.Event, error) {
	upTo := min(l.from+logsPage, l.newest)
	events, err := l.between(ctx, l.from, upTo)
	l.from = upTo
	return events, err
}

// seek goes to the first event at or after a time. Their times ascend, so that a few looks are enough.
func (l *sessionLog) seek(ctx context.Context, since time.Time) (err error) {
	n := sort.Search(int(l.newest), func(i int) bool {
		events, failed := l.between(ctx, int64(i), int64(i)+1)
		if failed != nil {
			err = failed
		}
		return failed != nil || len(events) == 0 || !events[0].Time.Before(since)
	})
	l.from = int64(n)
	return err
}

// An eventPrinter prints events as they are.
type eventPrinter struct {
	out   interface{ Write([]byte) (int, error) }
	raw   bool // only the CLI's lines
	clean bool // for a terminal
}

func (p *eventPrinter) page(events []api.Event) error {
	for i := range events {
		if err := p.event(&events[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *eventPrinter) edge() error { return nil }

func (p *eventPrinter) frame(f api.Frame) error {
	if f.Type != api.FrameEvent {
		return nil
	}
	return p.event(f.Event)
}

// event prints one.
func (p *eventPrinter) event(e *api.Event) error {
	var line []byte
	switch {
	case !p.raw:
		encoded, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = p.out.Write(append(harmlessJSON(encoded), '\n'))
		return err
	case e.Kind != api.KindLine && e.Kind != api.KindSent && e.Kind != api.KindHistory:
		return nil
	case len(e.Line) > 0:
		line = e.Line
	case len(e.Base64) > 0:
		line = e.Base64
	default:
		line = []byte(e.Text)
	}
	if p.clean {
		line = []byte(terminal.Clean(string(line)))
	}
	_, err := p.out.Write(append(line, '\n'))
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal/eventlog"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// A rewindCmd is the flags of rewind.
type rewindCmd struct {
	hubFlags
	dryRun, yes, json bool
	last              int
}

func newRewind(e *env) *cobra.Command {
	v := &rewindCmd{}
	cmd := &cobra.Command{
		Use:   "rewind SESSION [MESSAGE]",
		Short: "Restore files as they were before a message",
		Long: `Restores the files that the agent's tools have changed since a message, as they were before it. The
conversation stays. Files changed by commands aren't restored.

Without MESSAGE it lists the last prompts, numbered from the newest. MESSAGE is such a number, or the
uuid of a prompt, or the beginning of it.

It first shows which files would change, then asks. Without a terminal use --dry-run to look and --yes
to restore.

The agent must be running: it keeps the copies of the files.`,
		Example: `  # list prompts
  switchboard rewind blog

  # what would change if the last prompt had never been sent; then do it
  switchboard rewind blog 1 --dry-run
  switchboard rewind blog 1 --yes`,
		Args: sessionAndPrompt,
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd, e, args) },
	}
	cmd.ValidArgsFunction = completeSessions(e, &v.hubFlags)
	v.flags(cmd)
	f := cmd.Flags()
	f.BoolVarP(&v.dryRun, "dry-run", "n", false, "only show which files would change")
	f.BoolVarP(&v.yes, "yes", "y", false, "don't ask")
	f.IntVar(&v.last, "last", 20, "list the last `N` prompts")
	f.BoolVar(&v.json, "json", false, "print one JSON object")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "yes")
	return cmd
}

// A said is a prompt of a session.
type said struct {
	Number int       `json:"number"` // from 1, the newest
	UUID   string    `json:"uuid"`
	Event  string    `json:"event_id"`
	Time   time.Time `json:"time"`
	Text   string    `json:"text"`
}

func (v *rewindCmd) run(cmd *cobra.Command, e *env, args []string) error {
	switch {
	case len(args) == 1 && (v.dryRun || v.yes):
		return usageError{errors.New("which message? Name one; switchboard rewind SESSION lists them")}
	case len(args) == 2 && !v.dryRun && !v.yes && !isTerminal(e.stdin):
		return usageError{errors.New("not a terminal: look with --dry-run, then use --yes")}
	case v.last < 1:
		return usageError{errors.New("--last must be at least 1")}
	}
	find := naming.SessionToEnd
	if len(args) == 1 || v.dryRun {
		find = naming.Session // it only looks
	}
	return v.onSession(cmd, e, find, args[0], func(ctx context.Context, c *client.Client, session *api.Session) error {
		if len(args) == 1 {
			return v.list(ctx, e, c, session)
		}
		message, err := findSaid(ctx, c, session, args[1])
		if err != nil {
			return err
		}
		return v.rewind(ctx, e, c, session, message)
	})
}

// list writes the last prompts.
func (v *rewindCmd) list(ctx context.Context, e *env, c *client.Client, session *api.Session) error {
	list := []said{}
	if err := eachSaid(ctx, c, session, func(m said) bool {
		list = append(list, m)
		return len(list) < v.last
	}); err != nil {
		return err
	}
	if v.json {
		return e.writeJSON(map[string][]said{"messages": list})
	}
	for _, m := range slices.Backward(list) { // the newest is what the user looks for, at the end
		if _, err := fmt.Fprintf(e.stdout, "%3d  %s  %s  %s\n", m.Number, m.UUID, date(m.Time, "-"), paint.CleanLine(m.Text, 80)); err != nil {
			return err
		}
	}
	return nil
}

// eachSaid calls visit for the prompts of a session, the newest first, until it returns false. It reads no more of the log than it must.
func eachSaid(ctx context.Context, c *client.Client, session *api.Session, visit func(said) bool) error {
	log, last := eventlog.Of(c, session)
	log.Page = logsPage
	number := 0
	return log.Prompts(ctx, last+1, 0, func(e *api.Event, p eventlog.Prompt) bool {
		number++
		return visit(said{Number: number, UUID: p.UUID, Event: e.ID, Time: p.Time, Text: p.Text})
	})
}

// findSaid finds a prompt by its number, or its uuid or the beginning of it.
func findSaid(ctx context.Context, c *client.Client, session *api.Session, name string) (*said, error) {
	number, err := strconv.Atoi(name)
	isNumber := err == nil && len(name) < 4
	var found []said
	if err := eachSaid(ctx, c, session, func(m said) bool {
		if isNumber && m.Number == number || !isNumber && len(name) >= 4 && strings.HasPrefix(m.UUID, name) {
			found = append(found, m)
		}
		return !isNumber && (len(found) == 0 || found[0].UUID != name) || isNumber && len(found) == 0
	}); err != nil {
		return nil, err
	}
	if len(found) == 1 {
		return &found[0], nil
	}
	unknown := &naming.Error{Name: name, Kind: "message", Why: fmt.Sprintf("no prompt of %s is called %q; switchboard rewind %s lists them", nameAndTitle(session.ID, session.Title), name, naming.Short(session.ID))}
	for i := range found {
		unknown.Candidates = append(unknown.Candidates, found[i].UUID+"  "+paint.CleanLine(found[i].Text, 60))
	}
	return nil, unknown
}

// rewind shows what would change, and does it if that is wanted.
func (v *rewindCmd) rewind(ctx context.Context, e *env, c *client.Client, session *api.Session, m *said) error {
	would, err := c.Rewind(ctx, session.ID, api.Rewind{UserMessageID: m.UUID, DryRun: true})
	if err != nil {
		return err
	}
	if !would.CanRewind {
		why := would.Error
		if why == "" {
			why = "the agent gave no reason"
		}
		return fmt.Errorf("can't restore the files as before %q: %s", paint.CleanLine(m.Text, 60), why)
	}
	if !v.json {
		if err := showRewind(e.stdout, m, would); err != nil {
			return err
		}
	}
	done := !v.dryRun && len(would.FilesChanged) > 0
	if done {
		if !v.yes {
			if v.json { // a person who is asked must see what about
				if err := showRewind(e.stderr, m, would); err != nil {
					return err
				}
			}
			agreed, err := consent(ctx, e, "Restore them? [y/N] ")
			if err != nil {
				return err
			}
			if !agreed {
				fmt.Fprintln(e.stderr, "Nothing was changed.")
				return exitError(codeFailed)
			}
		}
		restored, err := c.Rewind(ctx, session.ID, api.Rewind{UserMessageID: m.UUID})
		if err != nil {
			return err
		}
		if !restored.CanRewind {
			return fmt.Errorf("the files weren't restored: %s", restored.Error)
		}
	}
	if v.json {
		return e.writeJSON(struct {
			Message *said `json:"message"`
			Done    bool  `json:"done"`
			*api.RewindResult
		}{m, done, would})
	}
	if done {
		_, err = fmt.Fprintln(e.stdout, "restored")
	}
	return err
}

// showRewind says which files would change.
func showRewind(w io.Writer, m *said, would *api.RewindResult) error {
	var b strings.Builder
	fmt.Fprintf(&b, "before %q of %s:\n", paint.CleanLine(m.Text, 60), date(m.Time, "-"))
	for _, file := range would.FilesChanged {
		fmt.Fprintf(&b, "  %s\n", paint.CleanLine(file, 0))
	}
	switch {
	case len(would.FilesChanged) == 0:
		b.WriteString("no file has changed since\n")
	case would.Insertions > 0 || would.Deletions > 0:
		fmt.Fprintf(&b, "  +%d -%d lines\n", would.Insertions, would.Deletions)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

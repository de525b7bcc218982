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
	"github.com/switchboard-dev/switchboard/internal/terminal/eventlog"
	"github.com/switchboard-dev/switchboard/wire"
)

// An auditCmd is the flags of audit.
type auditCmd struct {
	smallFlags
	since, by string
	limit     int
}

func newAudit(e *env) *cobra.Command {
	v := &auditCmd{}
	cmd := v.onHub(&cobra.Command{
		Use:   "audit [SESSION]",
		Short: "List decisions about what agents wanted to do",
		Long: `Lists what was allowed and denied, newest first: by which person or rule, in one session or in all. What
sandboxes refused is among it. What Claude Code decides by its own settings isn't listed, since nothing is
asked then.`,
		Example: `  switchboard audit
  switchboard audit blog --since 7d

  # what sandboxes refused
  switchboard audit --by sandbox

  # what rules decided, for a program
  switchboard audit --by rule --json`,
		Args: atMostOne("session"),
	}, e, "one JSON object", func(ctx context.Context, c *client.Client, args []string) error {
		filter, err := v.filter()
		if err != nil {
			return usageError{err}
		}
		if len(args) == 1 {
			session, err := naming.Session(ctx, c, args[0])
			if err != nil {
				return err
			}
			filter.Session = session.ID
		}
		list, next, err := pages(v.limit, func(cursor string, most int) ([]api.AuditItem, string, error) {
			filter.Cursor, filter.Limit = cursor, most
			page, err := c.Audit(ctx, filter)
			if err != nil {
				return nil, "", err
			}
			return page.Items, page.Next, nil
		})
		if err != nil {
			return err
		}
		return v.table(e, &api.Audit{Items: list, Next: next}, e.view(false).Audit(list), "No decisions yet.")
	})
	cmd.ValidArgsFunction = completeSessions(e, &v.hubFlags)
	f := cmd.Flags()
	f.StringVar(&v.since, "since", "", "only since this `TIME`: 7d, 12h, 2026-12-01, 2026-12-01T08:00:00Z")
	f.StringVar(&v.by, "by", "", "only decisions by a `rule`, a person or the sandbox")
	f.IntVarP(&v.limit, "limit", "n", 50, "maximum `NUMBER` of decisions, 0 for all")
	complete(cmd, "by", "rule", "person", "sandbox")
	return cmd
}

// filter returns what the flags ask for.
func (v *auditCmd) filter() (filter api.AuditFilter, err error) {
	if v.limit < 0 {
		return filter, errors.New("--limit must not be below 0")
	}
	switch v.by {
	case "":
	case "sandbox":
		filter.Refused = true
	default:
		if err := oneOf("--by", v.by, []string{"rule", "person", "sandbox"}); err != nil {
			return filter, err
		}
		filter.Automatic = new(v.by == "rule")
	}
	filter.Since, err = sinceTime("--since", v.since, time.Now())
	return filter, err
}

func newTimeline(e *env) *cobra.Command {
	v := &struct {
		smallFlags
		limit int
	}{}
	cmd := v.onOne(&cobra.Command{
		Use:   "timeline SESSION",
		Short: "Show what a session did and how long it took",
		Long: `Lists turns, tools, questions, decisions and changes of state, oldest first, with how long they took and
what they cost. switchboard show --event shows one of them in full.`,
		Example: `  switchboard timeline blog`,
		Args:    oneSession,
	}, e, "one JSON object", func(ctx context.Context, c *client.Client, session *api.Session, _ []string) error {
		if v.limit < 0 {
			return usageError{errors.New("--limit must not be below 0")}
		}
		list, next, err := pages(v.limit, func(cursor string, most int) ([]api.TimelineItem, string, error) {
			page, err := c.Timeline(ctx, session.ID, cursor, most)
			if err != nil {
				return nil, "", err
			}
			if !page.More {
				page.Next = ""
			}
			return page.Items, page.Next, nil
		})
		if err != nil {
			return err
		}
		return v.table(e, &api.Timeline{Items: list, Next: next, More: next != ""}, e.view(false).Timeline(list), "Nothing happened yet.")
	})
	cmd.Flags().IntVarP(&v.limit, "limit", "n", 0, "maximum `NUMBER` of items (default all)")
	return cmd
}

func newContext(e *env) *cobra.Command {
	v := &smallFlags{}
	return v.onOne(&cobra.Command{
		Use:     "context SESSION",
		Short:   "Show what fills the context of a session",
		Long:    `Asks a running agent how many tokens of the model's context are in use, and what for.`,
		Example: `  switchboard context blog`,
		Args:    oneSession,
	}, e, "the answer of Claude Code", func(ctx context.Context, c *client.Client, session *api.Session, _ []string) error {
		answer, err := c.Context(ctx, session.ID)
		if err != nil {
			return err
		}
		if v.json {
			return v.told(e, answer, "")
		}
		usage, err := readAnswer[wire.GetContextUsageAnswer](answer)
		if err != nil {
			return err
		}
		return writeLines(e.stdout, e.view(false).Context(usage))
	})
}

func newFiles(e *env) *cobra.Command {
	v := &smallFlags{}
	return v.onOne(&cobra.Command{
		Use:     "files SESSION [TEXT]",
		Short:   "Find files of a session for a mention",
		Long:    `Asks a running agent for files whose paths match TEXT, best match first, to mention in a message as @PATH.`,
		Example: `  switchboard files blog slug`,
		Args:    sessionAnd(0, 1, "one text"),
	}, e, "one JSON object", func(ctx context.Context, c *client.Client, session *api.Session, args []string) error {
		found, err := c.Files(ctx, session.ID, strings.Join(args, ""))
		if err != nil {
			return err
		}
		lines := make([]string, len(found.Files))
		for i, file := range found.Files {
			lines[i] = e.answerText(strings.ReplaceAll(file, "\n", " "))
		}
		return v.table(e, found, lines, "No files match.")
	})
}

func newFolders(e *env) *cobra.Command {
	v, node := &smallFlags{}, ""
	cmd := v.onHub(&cobra.Command{
		Use:   "folders [PREFIX]",
		Short: "List folders that sessions work in",
		Long: `Lists the folders of sessions and conversations, the last used first. With the beginning of an absolute
path, also folders on the hub's disk that match it. With --node, those of another machine.`,
		Example: `  switchboard folders

  switchboard folders --node gpu-1 /srv/`,
		Args: atMostOne("folder"),
	}, e, "one JSON object", func(ctx context.Context, c *client.Client, args []string) error {
		found, err := c.FoldersOn(ctx, node, strings.Join(args, ""), 0)
		if err != nil {
			return err
		}
		lines := make([]string, len(found.Folders))
		for i := range found.Folders {
			lines[i] = e.answerText(strings.ReplaceAll(found.Folders[i].Path, "\n", " "))
		}
		return v.table(e, found, lines, "No folders yet.")
	})
	nodeFlag(cmd, e, &v.hubFlags, &node)
	return cmd
}

func newBudgets(e *env) *cobra.Command {
	v := &smallFlags{}
	return v.onHub(&cobra.Command{
		Use:   "budgets",
		Short: "Show budgets and how much of them is used",
		Long: `Lists the budgets of the configuration, with what sessions, folders and days have used of them.
switchboard release lets a session continue that one of them holds.`,
		Example: `  switchboard budgets`,
		Args:    noArguments,
	}, e, "one JSON object", func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Budgets(ctx)
		if err != nil {
			return err
		}
		return v.table(e, list, e.view(false).Budgets(list.Budgets), "No budgets. Add a table [[budget]] to the configuration.")
	})
}

func newDrift(e *env) *cobra.Command {
	v := &smallFlags{}
	return v.onHub(&cobra.Command{
		Use:   "drift",
		Short: "Count what the hub doesn't know in the lines of Claude Code",
		Long: `Counts the types, requests and members in the lines of agents that this version of the hub doesn't know,
by the version of Claude Code. Nothing of it is lost: it is kept and shown as it came.`,
		Example: `  switchboard drift`,
		Args:    noArguments,
	}, e, "one JSON object", func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Drift(ctx)
		if err != nil {
			return err
		}
		return v.table(e, list, e.view(false).Drift(list.Items), "Nothing unknown was seen.")
	})
}

func newEvents(e *env) *cobra.Command {
	v := &struct {
		hubFlags
		follow bool
		kinds  []string
	}{}
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Print or follow the events of all sessions",
		Long: `Prints the events of all sessions as the API has them, one JSON object per line, in the order in which they
were stored. With --follow it prints what comes from now on instead, until Ctrl-C. switchboard logs prints
one session for people.`,
		Example: `  # which sessions ask something, as it happens
  switchboard events -f --kind question_opened | jq -r .session`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
				printer := &eventlog.Events{Out: e.stdout, Terminal: isTerminal(e.stdout)}
				if v.follow {
					return followEvents(ctx, e, c, printer, v.kinds)
				}
				return printEvents(ctx, c, printer, v.kinds)
			})
		},
	}
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	v.flags(cmd)
	cmd.Flags().BoolVarP(&v.follow, "follow", "f", false, "print what comes from now on, until Ctrl-C")
	cmd.Flags().StringSliceVar(&v.kinds, "kind", nil, "only events of these `KINDS`, such as question_opened,state")
	return cmd
}

// printEvents prints the events of all sessions up to now.
func printEvents(ctx context.Context, c *client.Client, printer *eventlog.Events, kinds []string) error {
	for after := ""; ; {
		page, err := c.AllEvents(ctx, after, logsPage)
		if err != nil {
			return err
		}
		wanted := slices.DeleteFunc(page.Events, func(event api.Event) bool { return len(kinds) > 0 && !slices.Contains(kinds, event.Kind) })
		if err := printer.Page(wanted); err != nil {
			return quietPipe(err)
		}
		if !page.More || page.Next == after {
			return nil
		}
		after = page.Next
	}
}

// followEvents prints the events of all sessions as they come.
func followEvents(ctx context.Context, e *env, c *client.Client, printer *eventlog.Events, kinds []string) error {
	lost := false // this and what follows run in one goroutine
	options := &client.FollowOptions{After: "now", NoLive: true, Kinds: kinds, Lost: func(err error, _ time.Duration) {
		if !lost && ctx.Err() == nil {
			fmt.Fprintf(e.stderr, "switchboard: the hub is away (%s); waiting for it\n", harmless(err.Error()))
		}
		lost = true
	}}
	for frame, err := range c.Watch(ctx, options) {
		if err != nil {
			return err
		}
		lost = false
		if err := printer.Frame(frame); err != nil {
			return quietPipe(err)
		}
	}
	return nil
}

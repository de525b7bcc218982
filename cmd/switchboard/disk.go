package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/talk"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/units"
)

func newDisk(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "disk",
		Short: "List, search, read and import conversations on disk",
		Long: `Claude Code keeps every conversation on disk, also those held in a plain terminal without the hub.
These commands list, search and read them, and create sessions that continue them.

Only one program may continue a conversation. The hub knows its own sessions, but not what a plain
terminal does: end it there before you continue it here, or fork it.`,
		Example: `  # conversations of this folder
  switchboard disk ls --dir .

  # in which one was that?
  switchboard disk search failing test

  # read it, then continue it in the hub
  switchboard disk show 0b1c2d3e
  switchboard disk adopt 0b1c2d3e "Where were we?"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newDiskList(e), newDiskSearch(e), newDiskShow(e), newDiskAdopt(e))
	return cmd
}

// A diskListCmd is the flags of disk ls and disk search.
type diskListCmd struct {
	hubFlags
	listFlags
	dir   string
	node  string
	limit int
	all   bool
}

func (v *diskListCmd) diskFlags(cmd *cobra.Command, e *env, limit int) {
	v.flags(cmd)
	v.listFlags.add(cmd, "one JSON object")
	f := cmd.Flags()
	f.StringVar(&v.dir, "dir", "", "only conversations of this `FOLDER`")
	f.IntVar(&v.limit, "limit", limit, "maximum `NUMBER` of conversations")
	f.BoolVarP(&v.all, "all", "a", false, "no limit")
	cmd.MarkFlagsMutuallyExclusive("limit", "all")
	completeFolder(cmd, "dir")
	nodeFlag(cmd, e, &v.hubFlags, &v.node)
}

func newDiskList(e *env) *cobra.Command {
	v := &diskListCmd{}
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List conversations on disk, the newest first",
		Long: `Lists the conversations that Claude Code keeps on disk. Those of the hub's own sessions are listed with
their session.`,
		Example: `  switchboard disk ls

  # of this folder, all of them
  switchboard disk ls --dir . --all

  # the id of the newest
  switchboard disk ls --quiet --limit 1`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return v.run(cmd, e, "") },
	}
	v.diskFlags(cmd, e, 50)
	return cmd
}

func newDiskSearch(e *env) *cobra.Command {
	v := &diskListCmd{}
	cmd := &cobra.Command{
		Use:   "search WORD…",
		Short: "Find conversations on disk by what was said in them",
		Long: `Lists conversations with a message or title that has all of the words, in upper or lower case, newest
first, with the place where they were found. It reads the files, which can take a while. Tool inputs and
results aren't searched. For the hub's own sessions switchboard search is faster.`,
		Example: `  switchboard disk search failing test

  switchboard disk search --dir ~/src/blog slug --json`,
		Args:              someWords,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return v.run(cmd, e, strings.Join(args, " ")) },
	}
	v.diskFlags(cmd, e, 20)
	return cmd
}

// run lists conversations: all, or those that a text occurs in.
func (v *diskListCmd) run(cmd *cobra.Command, e *env, text string) error {
	f := api.TranscriptFilter{Text: text, Node: v.node}
	if v.dir != "" {
		dir, err := v.dirOn(e, v.node, "--dir", v.dir)
		if err != nil {
			return usageError{err}
		}
		f.Dir = dir
	}
	if v.limit < 1 {
		return usageError{errors.New("--limit must be at least 1")}
	}
	return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
		list, err := v.collect(ctx, e, c, f)
		if err != nil {
			return err
		}
		lines, none := v.table, ""
		if text != "" {
			lines, none = v.found, "Nothing found."
		} else if list.Next != "" && !v.json && !v.quiet {
			defer e.hint("more: --all, or a larger --limit")
		}
		return printList(e, v.listFlags, list.Transcripts, list, func(t *api.Transcript) string { return t.Conversation }, none,
			func() ([]string, error) { return lines(e, list.Transcripts), nil })
	})
}

// collect gets pages until there are enough.
func (v *diskListCmd) collect(ctx context.Context, e *env, c *client.Client, f api.TranscriptFilter) (*api.TranscriptList, error) {
	limit := v.limit
	if v.all {
		limit = 0
	}
	defer e.progress("reading; there are many …")()
	list, next, err := pages(limit, func(cursor string, most int) ([]api.Transcript, string, error) {
		f.Cursor, f.Limit = cursor, most
		page, err := c.Transcripts(ctx, f)
		if err != nil {
			return nil, "", err
		}
		return page.Transcripts, page.Next, nil
	})
	return &api.TranscriptList{Transcripts: list, Next: next}, err
}

// table draws a list for people.
func (v *diskListCmd) table(e *env, list []api.Transcript) []string {
	styles := paint.Detect(e.stdout, e.getenv, e.color).Styles()
	t := terminal.NewTable(
		terminal.Column{Title: "CONVERSATION", Least: 8}, terminal.Column{Title: "CHANGED"}, terminal.Column{Title: "SIZE", Right: true, Optional: true},
		terminal.Column{Title: "SESSION"}, terminal.Column{Title: "FOLDER", Least: 12, Tail: true}, terminal.Column{Title: "TITLE", Least: 16},
	)
	now := time.Now()
	for i := range list {
		each := &list[i]
		session := ""
		if each.Session != "" {
			session = naming.Short(each.Session)
		}
		t.Row(
			terminal.Cell{Text: each.Conversation, Style: styles.Accent},
			terminal.Cell{Text: changed(e, each.Modified, now)},
			terminal.Cell{Text: strings.ReplaceAll(units.Size(each.Bytes), " ", "")},
			terminal.Cell{Text: session}, terminal.Cell{Text: each.Dir, Style: styles.Dim}, terminal.Cell{Text: each.Title},
		)
	}
	return t.Lines(styles, true)
}

// changed says when something changed: how long ago to a person, the time to a program.
func changed(e *env, at, now time.Time) string {
	if isTerminal(e.stdout) {
		return units.Ago(at, now)
	}
	return at.UTC().Format(time.RFC3339)
}

// found draws what was found, two lines each.
func (v *diskListCmd) found(e *env, list []api.Transcript) []string {
	styles := paint.Detect(e.stdout, e.getenv, e.color).Styles()
	now := time.Now()
	var lines []string
	for i := range list {
		each := &list[i]
		head := fmt.Sprintf("%s  %s  %s", styles.Accent.Render(each.Conversation), changed(e, each.Modified, now), paint.CleanLine(each.Title, 60))
		if each.Session != "" {
			head += "  (session " + naming.Short(each.Session) + ")"
		}
		lines = append(lines, head, "    "+marked(each.Snippet, each.Marks, styles))
	}
	return lines
}

// marked returns a text with parts of it made bold.
func marked(text string, marks []api.Mark, styles *paint.Styles) string {
	runes := []rune(text)
	var b strings.Builder
	at := 0
	for _, m := range marks {
		if m.From < at || m.To > len(runes) || m.From > m.To {
			continue
		}
		b.WriteString(paint.Clean(string(runes[at:m.From])))
		b.WriteString(styles.Bold.Render(paint.Clean(string(runes[m.From:m.To]))))
		at = m.To
	}
	b.WriteString(paint.Clean(string(runes[at:])))
	return b.String()
}

// A diskShowCmd is the flags of disk show.
type diskShowCmd struct {
	hubFlags
	from, lines int
	node        string
	json        bool
}

func newDiskShow(e *env) *cobra.Command {
	v := &diskShowCmd{}
	cmd := &cobra.Command{
		Use:   "show CONVERSATION",
		Short: "Read a conversation on disk",
		Long: `Prints a conversation from the beginning, without what a rewind dropped. CONVERSATION is its id or the
beginning of it.

--json prints its lines as they are, one per line. --from and --lines select some of them.`,
		Example: `  switchboard disk show 0b1c2d3e

  # the first ten lines as they are
  switchboard disk show 0b1c2d3e --json --lines 10`,
		Args:              oneConversation,
		ValidArgsFunction: v.completeConversation(e),
		RunE:              func(cmd *cobra.Command, args []string) error { return v.run(cmd, e, args[0]) },
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.IntVar(&v.from, "from", 0, "start at line `N`, counted from 0")
	f.IntVar(&v.lines, "lines", 0, "maximum `NUMBER` of lines (default all)")
	f.BoolVar(&v.json, "json", false, "print the lines as they are")
	nodeFlag(cmd, e, &v.hubFlags, &v.node)
	return cmd
}

func (v *diskShowCmd) run(cmd *cobra.Command, e *env, name string) error {
	if v.from < 0 || v.lines < 0 {
		return usageError{errors.New("--from and --lines must not be below 0")}
	}
	return v.act(cmd, e, func(ctx context.Context, c *client.Client) (err error) {
		t, err := findTranscript(ctx, c, v.node, name)
		if err != nil {
			return err
		}
		out := bufio.NewWriter(e.stdout)
		defer func() { err = errors.Join(err, out.Flush()) }()
		if !v.json {
			if _, err := fmt.Fprintf(out, "%s  %s\n%s  %s\n", t.Conversation, paint.CleanLine(t.Title, 60), date(t.Modified, "-"), paint.CleanLine(t.Dir, 0)); err != nil {
				return err
			}
		}
		for from, left := v.from, v.lines; ; {
			limit := 1000
			if v.lines > 0 {
				limit = min(limit, left)
			}
			page, err := c.TranscriptOn(ctx, v.node, t.Conversation, "", from, limit)
			if err != nil {
				return err
			}
			if err := v.write(e, out, page, from); err != nil {
				return err
			}
			from, left = page.Next, left-len(page.Lines)
			if !page.More || v.lines > 0 && left <= 0 {
				return nil
			}
		}
	})
}

// write writes a page. Only a page is held: a conversation may be very long.
func (v *diskShowCmd) write(e *env, out io.Writer, page *api.TranscriptPage, from int) error {
	if v.json {
		for _, line := range page.Lines {
			if isTerminal(e.stdout) {
				line = paint.CleanJSON(line)
			}
			if _, err := fmt.Fprintf(out, "%s\n", line); err != nil {
				return err
			}
		}
		return nil
	}
	var conversation transcript.Conversation
	for i, line := range page.Lines {
		n := int64(from + i + 1)
		conversation.Event(&api.Event{ID: fmt.Sprintf("disk:%d", n), Seq: n, Kind: api.KindHistory, Line: line})
	}
	profile := paint.Detect(e.stdout, e.getenv, e.color)
	look := &talk.Look{Styles: profile.Styles(), Width: profile.Width, Now: time.Now()}
	for i := range conversation.Len() {
		lines := look.Plain(conversation.Item(i))
		if profile.Color {
			lines = look.Lines(conversation.Item(i))
		}
		for _, line := range lines {
			if _, err := fmt.Fprintln(out, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// completeConversation completes the first argument with conversations on disk.
func (p *hubFlags) completeConversation(e *env) cobra.CompletionFunc {
	return firstOnly(p.fromHub(e, func(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
		list, err := c.Transcripts(ctx, api.TranscriptFilter{Conversation: typed, Limit: completionMost})
		if err != nil {
			return nil
		}
		var found []cobra.Completion
		for i := range list.Transcripts {
			found = append(found, offer(list.Transcripts[i].Conversation, list.Transcripts[i].Title))
		}
		return found
	}))
}

func newDiskAdopt(e *env) *cobra.Command {
	v := &adoption{}
	cmd := &cobra.Command{
		Use:   "adopt CONVERSATION [PROMPT]…",
		Short: "Create a session that continues a conversation on disk",
		Long: `Creates a session that continues a conversation held without the hub, in the same folder, and prints the
session's id. --fork continues a copy. CONVERSATION is its id or the beginning of it.

End it in the terminal first: only one program may continue a conversation. If a running session has it,
it is refused with code 5.`,
		Example: `  switchboard disk adopt 0b1c2d3e

  # a copy, in another folder
  switchboard disk adopt 0b1c2d3e --fork --dir ~/src/other "Now the same here."`,
		Args:              someConversation,
		ValidArgsFunction: v.completeConversation(e),
		RunE: func(cmd *cobra.Command, args []string) error {
			v.prompt = strings.Join(args[1:], " ")
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
				t, err := findTranscript(ctx, c, v.node, args[0])
				if err != nil {
					return err
				}
				return v.adopt(ctx, cmd, e, c, t)
			})
		},
	}
	v.adoptionFlags(cmd, e, "the `FOLDER`", "a title for the session (default that of the conversation)", "the session")
	cmd.Flags().BoolVar(&v.fork, "fork", false, "continue a copy")
	nodeFlag(cmd, e, &v.hubFlags, &v.node)
	return cmd
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// view returns how lists are drawn on standard output.
func (s *surroundings) view(quiet bool) *terminal.View {
	return &terminal.View{
		Styles: paint.Detect(s.stdout, s.getenv, s.color).Styles(), Terminal: isTerminal(s.stdout), Headings: !quiet,
		Now: time.Now(), Home: s.getenv("HOME"),
	}
}

// writeLines writes lines.
func writeLines(w io.Writer, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// writeJSON writes one JSON document as the interface has it: indented for a person, in a line for a program.
func (s *surroundings) writeJSON(value any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if isTerminal(s.stdout) {
		encoder.SetIndent("", "  ")
	}
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := s.stdout.Write(harmlessJSON(text.Bytes()))
	return err
}

// harmlessJSON returns the same JSON without characters that do something to a terminal: JSON escapes only some of them. Nothing is lost.
func harmlessJSON(text []byte) []byte {
	harmful := func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }
	if bytes.IndexFunc(text, harmful) < 0 {
		return text
	}
	escaped := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case !harmful(r):
			escaped = append(escaped, text[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			escaped = fmt.Appendf(escaped, `\u%04x\u%04x`, high, low)
		default:
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		}
		text = text[size:]
	}
	return escaped
}

// A harmlessWriter writes JSON, whole documents at a time, as harmlessJSON has it.
type harmlessWriter struct{ w io.Writer }

// Write writes them.
func (h harmlessWriter) Write(p []byte) (int, error) {
	if _, err := h.w.Write(harmlessJSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// stateNames returns the states that a session can be in. A session that failed is idle or has ended, too.
func stateNames() []string {
	return []string{
		string(api.StateStarting), string(api.StateIdle), string(api.StateRunning), string(api.StateRequiresAction), string(api.StateBackground),
		string(api.StateOffline), string(api.StateEnded), api.StateFailed,
	}
}

// An lsVerb is the flags of ls.
type lsVerb struct {
	place
	states           []string
	dir, text        string
	all, quiet, json bool
	limit            int
}

func newLs(s *surroundings) *cobra.Command {
	v := &lsVerb{}
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list", "ps"},
		Short:   "List sessions",
		Long: `Lists sessions, the most recently updated first. STATE is starting, idle, running, needs you (in a pipe:
requires_action), background (only background work is left), offline (connection to the agent lost),
ended, or failed (idle or ended after a failed turn).

In a terminal ids are shortened, which is enough to name a session. In a pipe ids, times and amounts are
complete, with a dash for what is empty: columns for awk. --json prints what the API returns.`,
		Example: `  # all sessions
  switchboard ls

  # those that wait for an answer
  switchboard ls --state requires_action

  # those of this folder, archived ones too
  switchboard ls --dir . --all

  # ids of all that failed
  switchboard ls -q --state failed`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := v.filter()
			if err != nil {
				return usageError{err}
			}
			return v.withHub(s, func(c *client.Client) error { return v.run(cmd.Context(), s, c, filter) })
		},
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&v.states, "state", nil, "only sessions in these `STATES`, e.g. idle,failed")
	f.StringVar(&v.dir, "dir", "", "only sessions in this `FOLDER`")
	f.StringVar(&v.text, "text", "", "only sessions with this `TEXT` in their title or folder")
	f.BoolVarP(&v.all, "all", "a", false, "include archived sessions")
	f.IntVarP(&v.limit, "limit", "n", 0, "maximum `NUMBER` of sessions (default all)")
	f.BoolVarP(&v.quiet, "quiet", "q", false, "print ids only")
	f.BoolVar(&v.json, "json", false, "print one JSON object")
	complete(cmd, "state", stateNames()...)
	completeFolder(cmd, "dir")
	return cmd
}

// filter returns what the flags ask for.
func (v *lsVerb) filter() (api.SessionFilter, error) {
	filter := api.SessionFilter{Text: v.text, Archived: v.all}
	for _, state := range v.states {
		if err := oneOf("--state", state, stateNames()); err != nil {
			return filter, err
		}
		filter.State = append(filter.State, api.State(state))
	}
	if v.dir != "" {
		dir, err := filepath.Abs(v.dir)
		if err != nil {
			return filter, fmt.Errorf("--dir: %w", err)
		}
		filter.Dir = dir
	}
	return filter, notNegative("--limit", v.limit)
}

// oneOf checks that a flag has one of some values.
func oneOf(flag, value string, values []string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return fmt.Errorf("%s is %q; it can be %s", flag, value, strings.Join(values, ", "))
}

// notNegative checks that a flag is no number below zero.
func notNegative(flag string, n int) error {
	if n < 0 {
		return fmt.Errorf("%s is %d; it must not be below 0", flag, n)
	}
	return nil
}

// run lists.
func (v *lsVerb) run(ctx context.Context, s *surroundings, c *client.Client, filter api.SessionFilter) error {
	list, err := allSessions(ctx, c, filter, v.limit)
	if err != nil {
		return err
	}
	switch {
	case v.json:
		return s.writeJSON(&api.SessionList{Sessions: list})
	case v.quiet:
		ids := make([]string, len(list))
		for i := range list {
			ids[i] = list[i].ID
		}
		return writeLines(s.stdout, ids)
	case len(list) == 0:
		if isTerminal(s.stdout) {
			fmt.Fprintln(s.stderr, "No sessions. Start one: switchboard run")
		}
		return nil
	}
	return writeLines(s.stdout, s.view(false).Sessions(list))
}

// allSessions lists sessions: all, or as many as are wanted.
func allSessions(ctx context.Context, c *client.Client, filter api.SessionFilter, limit int) ([]api.SessionSummary, error) {
	all := []api.SessionSummary{} // not null in JSON
	if limit <= 0 {
		list, err := naming.All(ctx, c, filter)
		return append(all, list...), err
	}
	for {
		filter.Limit = min(200, limit-len(all))
		page, err := c.List(ctx, filter)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Sessions...)
		filter.Cursor = page.Next
		if filter.Cursor == "" || len(all) >= limit {
			return all, nil
		}
	}
}

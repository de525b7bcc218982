package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
)

// A searchCmd is the flags of search.
type searchCmd struct {
	hubFlags
	listFlags
	session, since, until, kind string
	dir                         string
	minCost                     float64
	limit                       int
	after, before               time.Time          // what since and until say
	costs                       map[string]float64 // what sessions have cost, if that is asked for
}

// searchKinds are what messages can be.
func searchKinds() []string {
	return []string{"user", "assistant", "tool", "plan", "subagent", "system", "result"}
}

func newSearch(e *env) *cobra.Command {
	v := &searchCmd{}
	cmd := &cobra.Command{
		Use:   "search WORD...",
		Short: "Search what was said in all sessions",
		Long: `Finds messages of people, agents and tools that have all of these words, newest first. Each hit says
who said it and has the number of its event: switchboard show SESSION --event N shows all of it.

The last word also matches longer words that begin with it. WORD* matches a prefix; quote words to
match a phrase: 'slug* dash', '"double dash"'. Of tool results the beginning is searched; tool names and
paths aren't: use switchboard logs --raw. New messages can be found after a moment.`,
		Example: `  # slug, slugs, slugify …
  switchboard search slug

  # what an agent said in a session since yesterday
  switchboard search --session "Fix the slugs" --kind assistant --since 1d double dash

  # in the sessions of this folder that have cost a dollar or more
  switchboard search --dir . --min-cost 1 slugs

  # the ids of the sessions
  switchboard search -q slugs

  # for a program
  switchboard search --json slugs`,
		Args:              someWords,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := v.check(e); err != nil {
				return usageError{err}
			}
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error { return v.run(ctx, e, c, strings.Join(args, " ")) })
		},
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.session, "session", "", "only in this `SESSION`")
	f.StringVar(&v.kind, "kind", "", "only what was said by `KIND`: "+strings.Join(searchKinds(), ", "))
	f.StringVar(&v.dir, "dir", "", "only in sessions in this `FOLDER`")
	f.Float64Var(&v.minCost, "min-cost", 0, "only in sessions that cost at least this many `USD`")
	f.StringVar(&v.since, "since", "", "only since this `TIME`: 7d, 12h, 2026-12-01, 2026-12-01T08:00:00Z")
	f.StringVar(&v.until, "until", "", "only until this `TIME`")
	f.IntVarP(&v.limit, "limit", "n", 20, "maximum `NUMBER` of results, 0 for all")
	f.BoolVarP(&v.quiet, "quiet", "q", false, "print session ids only, each once")
	f.BoolVar(&v.json, "json", false, "print one JSON object")
	complete(cmd, "kind", searchKinds()...)
	completeFolder(cmd, "dir")
	register(cmd, "session", completeSessionFlag(e, &v.hubFlags))
	return cmd
}

// check reads the flags.
func (v *searchCmd) check(e *env) error {
	if v.kind != "" {
		if err := oneOf("--kind", v.kind, searchKinds()); err != nil {
			return err
		}
	}
	if v.minCost < 0 || math.IsNaN(v.minCost) {
		return fmt.Errorf("--min-cost is %v; it must not be below 0", v.minCost)
	}
	if v.dir != "" {
		dir, err := v.dirOf(e, "--dir", v.dir)
		if err != nil {
			return err
		}
		v.dir = dir
	}
	var failed, too error
	now := time.Now()
	v.after, failed = sinceTime("--since", v.since, now)
	v.before, too = sinceTime("--until", v.until, now)
	return errors.Join(failed, too, notNegative("--limit", v.limit))
}

// run looks for a text.
func (v *searchCmd) run(ctx context.Context, e *env, c *client.Client, text string) error {
	filter := api.SearchFilter{Text: beginning(text)}
	if v.session != "" {
		session, err := naming.Session(ctx, c, v.session)
		if err != nil {
			return err
		}
		filter.Session = session.ID
	}
	if v.minCost > 0 {
		sessions, err := allSessions(ctx, c, api.SessionFilter{Dir: v.dir, Archived: true}, 0)
		if err != nil {
			return err
		}
		v.costs = map[string]float64{}
		for i := range sessions {
			v.costs[sessions[i].ID] = sessions[i].USD
		}
	}
	hits, err := v.hits(ctx, c, filter)
	if err != nil {
		return err
	}
	return printList(e, v.listFlags, hits, &api.SearchResult{Hits: hits}, func(h *api.SearchHit) string { return h.Session },
		"Nothing found.", func() ([]string, error) { return e.view(false).Hits(hits), nil })
}

// beginning has the last word stand for all words that begin so, as in the console. Phrases in quotes stay as they are.
func beginning(text string) string {
	text = strings.TrimSpace(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	if strings.Count(text, `"`)%2 != 0 || !unicode.IsLetter(last) && !unicode.IsNumber(last) && last != '_' {
		return text
	}
	return text + "*"
}

// hits reads pages until there are enough: the newest come first, so nothing is to be found before the time that is asked for.
func (v *searchCmd) hits(ctx context.Context, c *client.Client, filter api.SearchFilter) ([]api.SearchHit, error) {
	hits, _, err := pages(v.limit, func(cursor string, _ int) ([]api.SearchHit, string, error) {
		filter.Cursor = cursor
		page, err := c.Search(ctx, filter)
		if err != nil {
			return nil, "", err
		}
		var wanted []api.SearchHit
		for _, h := range page.Hits {
			switch {
			case !v.after.IsZero() && h.Time.Before(v.after):
				return wanted, "", nil
			case !v.before.IsZero() && h.Time.After(v.before), v.kind != "" && h.Kind != v.kind, v.dir != "" && h.Dir != v.dir, v.costs[h.Session] < v.minCost:
			default:
				wanted = append(wanted, h)
			}
		}
		return wanted, page.Next, nil
	})
	return hits, err
}

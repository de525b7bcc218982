package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
)

// A searchVerb is the flags of search.
type searchVerb struct {
	place
	session, since, until, kind string
	dir                         string
	minCost                     float64
	limit                       int
	json, quiet                 bool
	after, before               time.Time          // what since and until say
	costs                       map[string]float64 // what sessions have cost, if that is asked for
}

// searchKinds are what messages can be.
func searchKinds() []string { return []string{"user", "assistant", "result"} }

func newSearch(s *surroundings) *cobra.Command {
	v := &searchVerb{}
	cmd := &cobra.Command{
		Use:   "search WORD...",
		Short: "Look for words in what was said",
		Long: `Looks for messages with all of these words, by people, agents and tools, in all sessions: the newest
first, with the number of the event, which switchboard show SESSION --event N shows whole. WORD* is
a word that begins so, and words in quotes stand together: 'slug*', '"double dash"'. Of what tools
wrote, the beginning is looked at, and not which tool it was or which file: switchboard logs --raw has
that. A message can be found a moment after it was said.`,
		Example: `  # who spoke of slugs
  switchboard search slugs

  # what an agent said in a session since yesterday
  switchboard search --session "Mend the slugs" --kind assistant --since 1d double dash

  # in the sessions of this folder that have cost a dollar or more
  switchboard search --dir . --min-cost 1 slugs

  # the ids of the sessions
  switchboard search -q slugs

  # for a program
  switchboard search --json slugs`,
		Args:              someWords,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := v.check(); err != nil {
				return usageError{err}
			}
			return v.withHub(s, func(c *client.Client) error { return v.run(cmd.Context(), s, c, strings.Join(args, " ")) })
		},
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.session, "session", "", "only in this `SESSION`")
	f.StringVar(&v.kind, "kind", "", "only messages of this `KIND`: "+strings.Join(searchKinds(), ", "))
	f.StringVar(&v.dir, "dir", "", "only in sessions that work in this `FOLDER`")
	f.Float64Var(&v.minCost, "min-cost", 0, "only in sessions that have cost as many `USD` at least")
	f.StringVar(&v.since, "since", "", "only since this `TIME`: 7d, 12h, 2026-12-01, 2026-12-01T08:00:00Z")
	f.StringVar(&v.until, "until", "", "only until this `TIME`")
	f.IntVarP(&v.limit, "limit", "n", 20, "how `MANY` at most; 0 for all")
	f.BoolVarP(&v.quiet, "quiet", "q", false, "write the ids of the sessions, each once, and nothing else")
	f.BoolVar(&v.json, "json", false, "write one JSON object")
	complete(cmd, "kind", searchKinds()...)
	completeFolder(cmd, "dir")
	register(cmd, "session", completeSessionFlag(s, &v.place))
	return cmd
}

// check reads the flags.
func (v *searchVerb) check() error {
	if v.kind != "" {
		if err := oneOf("--kind", v.kind, searchKinds()); err != nil {
			return err
		}
	}
	if v.minCost < 0 || math.IsNaN(v.minCost) {
		return fmt.Errorf("--min-cost is %v; it must not be below 0", v.minCost)
	}
	if v.dir != "" {
		dir, err := filepath.Abs(v.dir)
		if err != nil {
			return fmt.Errorf("--dir: %w", err)
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
func (v *searchVerb) run(ctx context.Context, s *surroundings, c *client.Client, text string) error {
	filter := api.SearchFilter{Text: text}
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
	switch {
	case v.json:
		return s.writeJSON(&api.SearchResult{Hits: hits})
	case v.quiet:
		var ids []string
		for _, h := range hits {
			if !slices.Contains(ids, h.Session) {
				ids = append(ids, h.Session)
			}
		}
		return writeLines(s.stdout, ids)
	case len(hits) == 0:
		if isTerminal(s.stdout) {
			fmt.Fprintln(s.stderr, "Nothing was found.")
		}
		return nil
	}
	return writeLines(s.stdout, s.view(false).Hits(hits))
}

// hits reads pages until there are enough: the newest come first, so nothing is to be found before the time that is asked for.
func (v *searchVerb) hits(ctx context.Context, c *client.Client, filter api.SearchFilter) ([]api.SearchHit, error) {
	hits := []api.SearchHit{} // not null in JSON
	for {
		page, err := c.Search(ctx, filter)
		if err != nil {
			return nil, err
		}
		for _, h := range page.Hits {
			switch {
			case !v.after.IsZero() && h.Time.Before(v.after):
				return hits, nil
			case !v.before.IsZero() && h.Time.After(v.before), v.kind != "" && h.Kind != v.kind, v.dir != "" && h.Dir != v.dir, v.costs[h.Session] < v.minCost:
				continue
			}
			if hits = append(hits, h); v.limit > 0 && len(hits) == v.limit {
				return hits, nil
			}
		}
		if filter.Cursor = page.Next; filter.Cursor == "" {
			return hits, nil
		}
	}
}

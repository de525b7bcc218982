package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
)

// costKeys are what costs can be summed up by.
func costKeys() []string { return []string{"session", "folder", "day", "model"} }

// A costCmd is the flags of cost.
type costCmd struct {
	hubFlags
	by, since string
	json      bool
	quiet     bool
}

func newCost(e *env) *cobra.Command {
	v := &costCmd{}
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "Sum up what agents have cost",
		Long: `Sums up what agents have cost, as Claude Code reports it: by session, folder, day or model, with turns,
time and a total. With a subscription the amounts are what the same would have cost by the token.`,
		Example: `  # by session
  switchboard cost

  # by day, for the last week
  switchboard cost --by day --since 7d

  # by model, for a program
  switchboard cost --by model --json`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := v.filter()
			if err != nil {
				return usageError{err}
			}
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error { return v.run(ctx, e, c, filter) })
		},
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.by, "by", "session", "`GROUP` by: "+strings.Join(costKeys(), ", "))
	f.StringVar(&v.since, "since", "", "only since this `TIME`: 7d, 12h, 2026-12-01, 2026-12-01T08:00:00Z")
	f.BoolVarP(&v.quiet, "quiet", "q", false, "no headings and no total")
	f.BoolVar(&v.json, "json", false, "print one JSON object")
	complete(cmd, "by", costKeys()...)
	return cmd
}

// filter returns what the flags ask for.
func (v *costCmd) filter() (filter api.CostFilter, err error) {
	filter.By = v.by
	if v.by == "folder" {
		filter.By = "dir"
	}
	if filter.Since, err = sinceTime("--since", v.since, time.Now()); err != nil {
		return filter, err
	}
	return filter, oneOf("--by", v.by, costKeys())
}

// run sums up.
func (v *costCmd) run(ctx context.Context, e *env, c *client.Client, filter api.CostFilter) error {
	costs, err := c.Costs(ctx, filter)
	if err != nil {
		return err
	}
	if v.json {
		return e.writeJSON(costs)
	}
	return writeLines(e.stdout, e.view(v.quiet).Costs(costs, filter.By))
}

// sinceTime reads a time: so long ago, a day, or a moment. Nothing is the zero time.
func sinceTime(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, found := strings.CutSuffix(text, "d"); found {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 && n < 36525 {
			return now.Add(-time.Duration(n * 24 * float64(time.Hour))), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05"} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	if clock, err := time.ParseInLocation("15:04", text, time.Local); err == nil {
		return time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, time.Local), nil
	}
	return time.Time{}, fmt.Errorf("%s is %q; use a duration (90m, 12h, 7d), a time of today (14:30), a day (2026-12-01) or a time (2026-12-01T08:00:00Z)", flag, text)
}

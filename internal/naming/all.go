package naming

import (
	"context"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// All lists all sessions that a filter selects, the most recently updated first. Sessions at work are updated all the time: while one page is read, one
// of the next may move to a page that was read before. So what was updated meanwhile is read again, until that is no more than one page, which the
// server reads at one moment. Else a name would seem to stand for one session that stands for two, and an agent would be missed that is to be ended.
func All(ctx context.Context, hub Lister, f api.SessionFilter) ([]api.SessionSummary, error) {
	var all []api.SessionSummary
	at := map[string]int{} // where a session is in all
	since := time.Time{}   // what was updated before is known
	for pass := 0; ; pass++ {
		begun, pages, known := since, 0, false
		for f.Cursor, f.Limit = "", page; !known; pages++ {
			list, err := hub.List(ctx, f)
			if err != nil {
				return nil, err
			}
			if pages == 0 && len(list.Sessions) > 0 {
				begun = list.Sessions[0].Updated
			}
			for _, s := range list.Sessions {
				known = known || s.Updated.Before(since)
				if i, seen := at[s.ID]; seen {
					all[i] = s
				} else {
					at[s.ID] = len(all)
					all = append(all, s)
				}
			}
			f.Cursor = list.Next
			known = known || f.Cursor == ""
		}
		if pages == 1 || pass == mostPasses {
			slices.SortStableFunc(all, func(a, b api.SessionSummary) int { return b.Updated.Compare(a.Updated) })
			return all, nil
		}
		since = begun
	}
}

package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/switchboard-dev/switchboard/wire/fold"
)

// turnMillis is how long a turn took, as SQL.
const turnMillis = `CASE WHEN json_valid(CAST(t.data AS TEXT)) THEN
	CAST(ifnull(json_extract(CAST(t.data AS TEXT), '$.ms'), 0) AS INTEGER) ELSE 0 END`

// quarter is a quarter of an hour in nanoseconds.
const quarter = int64(15 * time.Minute)

// turnModels is what a turn used by model, as SQL: a row each; none if that is not known.
const turnModels = `json_each(CASE WHEN json_valid(CAST(t.data AS TEXT)) THEN CAST(t.data AS TEXT) ELSE '{}' END, '$.figures.models')`

// sumTokens sums the tokens up that a row of m tells of, as SQL: four columns.
const sumTokens = `sum(ifnull(json_extract(m.value, '$.input'), 0)) AS input, sum(ifnull(json_extract(m.value, '$.output'), 0)) AS output,
	sum(ifnull(json_extract(m.value, '$.cache_read'), 0)) AS cache_read, sum(ifnull(json_extract(m.value, '$.cache_write'), 0)) AS cache_write`

// withTokens is the table u of the tokens of turns, by a key of theirs, as SQL. It is summed up apart: a turn has a row for each model.
func withTokens(key string) string {
	return "WITH u AS (SELECT " + key + " AS key, " + sumTokens + " FROM turns t JOIN " + turnModels + " m WHERE t.time >= ?1 GROUP BY 1)\n"
}

// Sums sums up turns. See [Journal].
func (s *SQLite) Sums(ctx context.Context, by SumBy, since time.Time) ([]Sum, error) {
	var text string
	switch by {
	case SumBySession:
		text = withTokens("t.session") + `SELECT s.id, 0, s.title, s.dir, round(sum(t.cost), 9), count(*), sum(` + turnMillis + `),
	u.input, u.output, u.cache_read, u.cache_write
FROM turns t JOIN sessions s ON s.n = t.session LEFT JOIN u ON u.key = t.session WHERE t.time >= ?1 GROUP BY t.session`
	case SumByQuarter:
		key := fmt.Sprintf("t.time / %d", quarter)
		text = withTokens(key) + fmt.Sprintf(`SELECT '', %[1]s * %[2]d, '', '', round(sum(t.cost), 9), count(*), sum(`+turnMillis+`),
	u.input, u.output, u.cache_read, u.cache_write
FROM turns t LEFT JOIN u ON u.key = %[1]s WHERE t.time >= ?1 GROUP BY %[1]s`, key, quarter)
	case SumByModel:
		// A turn without models has one row, with NULLs: what it cost is known,
		// and for what is not.
		text = `SELECT ifnull(m.key, ''), 0, '', '', round(sum(CASE WHEN m.key IS NULL THEN t.cost ELSE
	ifnull(json_extract(m.value, '$.cost_usd'), 0) END), 9), count(*), sum(` + turnMillis + `), ` + sumTokens + `
FROM turns t LEFT JOIN ` + turnModels + ` m
WHERE t.time >= ? GROUP BY m.key`
	default:
		return nil, fmt.Errorf("summing up turns by %q: it is not known what that is", by)
	}
	return all(ctx, s, "what was spent", func(r row) (Sum, error) {
		return Sum{
			Key: r.text(0), Time: r.time(1), Title: r.text(2), Dir: r.text(3), CostUSD: r.float(4), Turns: r.int(5), Millis: r.int(6),
			Tokens: fold.Tokens{Input: r.int(7), Output: r.int(8), CacheRead: r.int(9), CacheWrite: r.int(10)},
		}, nil
	}, text, since)
}

// Decisions lists what was decided, the newest first. The places come from an
// index alone, so that a page costs no more rows than it shows.
func (s *SQLite) Decisions(ctx context.Context, q DecisionQuery) (DecisionPage, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = 100
	}
	limit = min(limit, 1000)
	below := int64(1) << 62
	if q.Cursor != "" {
		place, err := parseCursor(q.Cursor, 1)
		if err != nil {
			return DecisionPage{}, fmt.Errorf("listing decisions: %w", err)
		}
		below = place[0]
	}
	index, where, args := "entries_decided", "", []any{}
	if q.Session != "" {
		if _, err := s.Session(ctx, q.Session); err != nil {
			return DecisionPage{}, err
		}
		index, where, args = "entries_decided_in", "session = (SELECT n FROM sessions WHERE id = ?) AND ", append(args, q.Session)
	}
	args = append(args, below, q.Since, limit+1) // one more than asked for tells whether there is a next page
	page := DecisionPage{Epochs: map[string]string{}}
	var size int64
	err := s.read(ctx, "decisions", func(c *conn) error {
		return c.query(ctx, func(r row) error {
			size += blobSize(r, 9) + blobSize(r, 10)
			if n := len(page.Entries); n == limit || n > 0 && size > defaultBytes {
				page.Next = cursor(page.Entries[n-1].Position)
				return errStop
			}
			e, err := s.scanEntry(r)
			if err != nil {
				return err
			}
			page.Entries = append(page.Entries, e)
			page.Epochs[e.Session] = r.text(11)
			return nil
		}, "SELECT "+entryColumns+", s.epoch FROM (SELECT pos AS p FROM entries INDEXED BY "+index+" WHERE "+where+
			`kind IN ('decision', 'question_settled', 'sandbox_refused') AND pos < ? AND time >= ? ORDER BY pos DESC LIMIT ?)
CROSS JOIN entries e ON e.pos = p CROSS JOIN sessions s ON s.n = e.session ORDER BY e.pos DESC`, args...)
	})
	if err != nil {
		return DecisionPage{}, err
	}
	return page, nil
}

package journal_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/journal/journaltest"
)

// BenchmarkDecisions lists the few decisions that were made before 100,000 other
// entries: the page must not cost a walk over those.
func BenchmarkDecisions(b *testing.B) {
	j := openBench(b, b.TempDir(), journal.DurabilityNormal)
	batch := journaltest.NewSession("decided", 0)
	for range 100 {
		batch.Entries = append(batch.Entries, journal.Entry{Time: batch.Session.Created, Source: journal.SourceHub, Kind: "question_settled", Data: benchLine})
	}
	if _, _, err := j.Commit(b.Context(), batch); err != nil {
		b.Fatal(err)
	}
	fill(b, j, 100, 1000, "event", func(int, int) []byte { return benchLine })
	for name, q := range map[string]journal.DecisionQuery{"all": {}, "session": {Session: "decided"}, "none": {Since: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				page, err := j.Decisions(b.Context(), q)
				if err != nil || q.Since.IsZero() && len(page.Entries) != 100 {
					b.Fatalf("%d decisions: %v", len(page.Entries), err)
				}
			}
		})
	}
}

// BenchmarkSums sums up 100,000 turns.
func BenchmarkSums(b *testing.B) {
	j := openBench(b, b.TempDir(), journal.DurabilityNormal)
	for i := range 100 {
		batch := journaltest.NewSession(fmt.Sprint("s", i), 0)
		for k := range 1000 {
			batch.Turns = append(batch.Turns, journal.Turn{
				Run: 1, Seq: int64(k + 1), Time: batch.Session.Created.Add(time.Duration(k) * time.Hour), CostUSD: 0.01,
				Data: []byte(`{"ms":1200,"figures":{"cost_usd":0.01,"api_ms":800,"models":{"some-model":{"input":1,"output":2,"cache_read":3,"cache_write":4,"cost_usd":0.01}}}}`),
			})
		}
		if _, _, err := j.Commit(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	for _, by := range []journal.SumBy{journal.SumBySession, journal.SumByQuarter, journal.SumByModel} {
		b.Run(string(by), func(b *testing.B) {
			for b.Loop() {
				if sums, err := j.Sums(b.Context(), by, time.Time{}); err != nil || len(sums) == 0 {
					b.Fatalf("%d sums: %v", len(sums), err)
				}
			}
		})
	}
}

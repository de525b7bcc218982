package report_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/report"
)

// BenchmarkReports tells of a session with 100,000 entries: a first page of its
// timeline, and the whole of it.
func BenchmarkReports(b *testing.B) {
	const entries, session = 100_000, "s12345678901234567890"
	ctx := context.Background()
	j, err := journal.Open(ctx, b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	reports := report.New(report.Options{Journal: j})
	defer func() {
		if err := j.Close(); err != nil {
			b.Error(err)
		}
	}()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	row := &journal.Session{ID: session, Epoch: "e", State: "ended", Created: now, Updated: now, Dir: "/"}
	for after := 0; after < entries; after += 1000 {
		batch := &journal.Batch{SessionID: session, After: int64(after), Session: row}
		for k := after; k < after+1000; k++ {
			e := journal.Entry{Time: now, Source: journal.SourceAgent, Kind: api.KindLine}
			switch k % 4 {
			case 0:
				e.Line = fmt.Appendf(nil, `{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"make"}}]},"uuid":"a%d","session_id":"c"}`, k, k)
			case 1:
				e.Line = fmt.Appendf(nil, `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%q}]},"uuid":"u%d","session_id":"c"}`, k-1, fmt.Sprintf("%01000d", k), k)
			case 2:
				e.Line = fmt.Appendf(nil, `{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":%q}]},"uuid":"a%d","session_id":"c"}`, fmt.Sprintf("%0500d", k), k)
			case 3:
				e.Kind, e.Source, e.Data = api.KindState, journal.SourceHub, []byte(`{"state":"running"}`)
			}
			batch.Entries = append(batch.Entries, e)
		}
		if _, _, err := j.Commit(ctx, batch); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("timeline", func(b *testing.B) {
		for b.Loop() {
			if page, err := reports.Timeline(ctx, session, "", 200); err != nil || len(page.Items) != 200 {
				b.Fatal(err)
			}
		}
	})
	for _, format := range []string{"jsonl", "events", "markdown"} {
		b.Run(format, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := reports.Export(ctx, session, format, io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

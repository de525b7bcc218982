package hub_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// BenchmarkReceive measures what a line costs on its way from the link to the
// journal and the feed, in batches of several sizes.
func BenchmarkReceive(b *testing.B) {
	for _, size := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			ctx := context.Background()
			j, err := journal.Open(ctx, b.TempDir(), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = j.Close() }()
			h, err := hub.New(ctx, hub.Options{Journal: j})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = h.Close() }()
			created, err := h.Create(ctx, person, api.CreateSession{Transport: "websocket"})
			if err != nil {
				b.Fatal(err)
			}
			a, _, err := h.AttachDialled(ctx, hub.DialHello{Session: created.ID, Run: 1}, newDialler())
			if err != nil {
				b.Fatal(err)
			}
			batch := make([]hub.Item, size)
			n := 0
			begin := time.Now()
			for b.Loop() {
				for i := range batch {
					n++
					batch[i] = line(fmt.Sprintf(`{"type":"assistant","message":{"id":"m%d","role":"assistant","content":[{"type":"text","text":%q}]},"session_id":"c1","uuid":"u%d"}`, n, text, n))
				}
				if err := a.Receive(ctx, batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)/time.Since(begin).Seconds(), "lines/s")
			a.Lost(nil)
		})
	}
}

const text = "A line of about the size that an agent's short answers have: a sentence or two, which say what was done and what comes next, and why."

package ingress

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/hub"
)

// Live lines are left out where the hub is behind, not where much comes at once and
// nobody works.
func TestGiveMuch(t *testing.T) {
	var dropped atomic.Int64
	received, holes := 0, 0
	in := newIntake(t.Context(), func(_ context.Context, items []hub.Item) error {
		for i := range items {
			received++
			if items[i].Hole {
				holes++
			}
		}
		return nil
	}, func(err error) { t.Error(err) }, &dropped)
	steps := make([]step, 5*intakeItems)
	for i := range steps {
		steps[i].item = hub.Item{Kind: hub.ItemLive, Bytes: []byte(`{"type":"stream_event"}`)}
	}
	if err := in.give(t.Context(), steps); err != nil {
		t.Fatal(err)
	}
	in.finish()
	if received != len(steps) || holes > 0 || dropped.Load() > 0 {
		t.Errorf("%d of %d lines came, %d with a hole before them, %d were dropped", received, len(steps), holes, dropped.Load())
	}
}

package ingress

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// liveItem and lineItem are what a test gives an intake.
func liveItem() *hub.Item {
	return &hub.Item{Record: link.Record{Kind: link.Live, Bytes: []byte(`{"type":"stream_event"}`)}}
}

func lineItem() *hub.Item {
	return &hub.Item{Record: link.Record{Kind: link.Line, Bytes: []byte(`{"type":"assistant"}`)}}
}

// Live lines are left out where the hub is behind, not where much comes at once.
func TestIntakeMuch(t *testing.T) {
	var dropped atomic.Int64
	received, holes := 0, 0
	in := newIntake(t.Context(), func(items []hub.Item, done func(error)) {
		for i := range items {
			received++
			if items[i].Hole {
				holes++
			}
		}
		done(nil)
	}, func(err error) { t.Error(err) }, &dropped)
	const n = 5 * intakeItems
	for range n {
		in.offer(liveItem(), nil)
	}
	in.finish()
	if received != n || holes > 0 || dropped.Load() > 0 {
		t.Errorf("%d of %d lines came, %d with a hole before them, %d were dropped", received, n, holes, dropped.Load())
	}
}

// While the hub has a batch, what comes is collected: live lines up to half of the
// room, the first one after those that were left out says so, and lines that are kept
// up to all of it.
func TestIntakeBehind(t *testing.T) {
	var dropped atomic.Int64
	var batches [][]hub.Item
	var done func(error)
	in := newIntake(t.Context(), func(items []hub.Item, f func(error)) {
		batches, done = append(batches, slices.Clone(items)), f
	}, func(err error) { t.Error(err) }, &dropped)
	in.offer(liveItem(), nil)
	in.flush()
	for range intakeItems/2 + 3 {
		in.offer(liveItem(), nil)
		in.flush()
	}
	acked := 0
	for range intakeItems / 2 {
		if in.room() != nil {
			t.Fatal("there is no room")
		}
		if err := in.put(lineItem(), func() { acked++ }); err != nil {
			t.Fatal(err)
		}
	}
	room := in.room()
	select {
	case <-room:
		t.Fatal("there is room for more")
	default:
	}
	if len(batches) != 1 || dropped.Load() != 3 || acked != 0 {
		t.Fatalf("the hub has %d batches, %d lines were left out, %d are safe", len(batches), dropped.Load(), acked)
	}
	done(nil)
	if len(batches) != 2 || len(batches[1]) != intakeItems {
		t.Fatalf("the hub has %d batches", len(batches))
	}
	select {
	case <-room:
	default:
		t.Fatal("there is no room again")
	}
	in.offer(liveItem(), nil)
	done(nil)
	if acked != intakeItems/2 {
		t.Errorf("%d lines are safe", acked)
	}
	if len(batches) != 3 || !batches[2][0].Hole {
		t.Errorf("the hub has %d batches, the last of them %v", len(batches), batches[len(batches)-1])
	}
	done(nil)
	in.finish()
}

// A call is made at its place, and the first error ends everything.
func TestIntakeOrder(t *testing.T) {
	var dropped atomic.Int64
	var order []string
	var failed error
	in := newIntake(t.Context(), func(items []hub.Item, done func(error)) {
		for range items {
			order = append(order, "line")
		}
		done(nil)
	}, func(err error) { failed = err }, &dropped)
	put := func() {
		t.Helper()
		if err := in.put(lineItem(), nil); err != nil {
			t.Fatal(err)
		}
	}
	broken := errors.New("broken")
	gate := make(chan struct{})
	put()
	in.do(func(context.Context) error {
		<-gate
		order = append(order, "call")
		return nil
	})
	put()
	put()
	in.do(func(context.Context) error { return broken })
	put()
	close(gate)
	in.finish()
	if want := []string{"line", "call", "line", "line"}; !slices.Equal(order, want) || !errors.Is(failed, broken) {
		t.Errorf("%q, %v", order, failed)
	}
	if err := in.put(lineItem(), nil); !errors.Is(err, errStopped) {
		t.Errorf("after the end: %v", err)
	}
}

package journal

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

// While another goroutine is the leader, requests wait in the queue.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		q := newQueue(func(group []*request) {
			if len(group) > 0 {
				sizes = append(sizes, len(group))
			}
			for _, r := range group {
				r.done <- nil
			}
		})
		results := make(chan error, 10)
		put := func(ctx context.Context, r *request) {
			go func() { results <- q.do(ctx, r) }()
			synctest.Wait()
		}
		batch := func(size int) *request { return &request{batch: &preparedBatch{size: size}} }
		ctx, cancel := context.WithCancel(t.Context())
		q.writerSlot <- struct{}{} // another leader
		put(t.Context(), batch(1))
		put(ctx, batch(1))
		put(t.Context(), batch(1))
		put(t.Context(), &request{job: func(*conn) error { return nil }})
		put(t.Context(), batch(maxGroupBytes+1))
		put(t.Context(), batch(1))
		cancel()
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Fatalf("a request whose context ended: %v", err)
		}
		<-q.writerSlot // one of the waiting goroutines becomes the leader
		for range 5 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		// Two batches without the one that was withdrawn, the job by itself, a
		// large batch by itself.
		if want := []int{2, 1, 1, 1}; !slices.Equal(sizes, want) {
			t.Errorf("groups of %v, expected %v", sizes, want)
		}
		if len(q.writerSlot) != 0 {
			t.Error("the leader has left the slot filled")
		}
		// Once a request was taken its outcome counts, not the context.
		ctx, cancel = context.WithCancel(t.Context())
		q.writerSlot <- struct{}{}
		put(ctx, batch(1))
		group := q.next()
		cancel()
		synctest.Wait()
		group[0].done <- nil
		if err := <-results; err != nil {
			t.Errorf("a request that was taken: %v", err)
		}
		// What came before the end is done, what comes later is refused.
		put(t.Context(), batch(1))
		go q.close()
		synctest.Wait()
		if err := q.do(t.Context(), batch(1)); !errors.Is(err, ErrClosed) {
			t.Errorf("a request to a closed queue: %v", err)
		}
		<-q.writerSlot
		if err := <-results; err != nil {
			t.Errorf("a request from before the end: %v", err)
		}
	})
}

func TestQueueBounds(t *testing.T) {
	q := newQueue(nil)
	for range maxGroup + 10 {
		q.list = append(q.list, &request{batch: &preparedBatch{}})
	}
	for _, want := range []int{maxGroup, 10, 0} {
		if group := q.next(); len(group) != want {
			t.Errorf("a group has %d requests, expected %d", len(group), want)
		}
	}
}

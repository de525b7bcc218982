package queue

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// TestOrder has many goroutines add: each one's items come in its order, once, and the
// worker is alone.
func TestOrder(t *testing.T) {
	const adders, each = 8, 500
	type item struct{ adder, n int }
	next, working := make([]int, adders), false
	q := New(0, func(batch []item) {
		if working {
			t.Error("there are two workers")
		}
		working = true
		for _, it := range batch {
			if it.n != next[it.adder] {
				t.Errorf("adder %d: item %d came in place of %d", it.adder, it.n, next[it.adder])
			}
			next[it.adder] = it.n + 1
		}
		working = false
	})
	var done sync.WaitGroup
	for a := range adders {
		done.Go(func() {
			for n := range each {
				if !q.Add(item{a, n}) {
					t.Error("an item was not taken")
				}
			}
		})
	}
	done.Wait()
	q.Wait()
	for a, n := range next {
		if n != each {
			t.Errorf("adder %d: %d items came", a, n)
		}
	}
	if q.working || q.items != nil {
		t.Error("an idle queue holds a worker or memory")
	}
}

func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var batches [][]int
		q := New(3, func(batch []int) {
			batches = append(batches, batch)
			<-gate
		})
		q.Hold()
		if !q.Add(2) || q.Add(3, 4, 5) || !q.Add(3) {
			t.Error("the bound is not 3")
		}
		synctest.Wait()
		if len(batches) > 0 {
			t.Error("the worker was not held")
		}
		q.Release(1)
		synctest.Wait()
		// What the worker has does not count.
		if !q.Add(4, 5) || !q.Add(6) || q.Add(7) {
			t.Error("the bound is not 3 beside what is worked on")
		}
		gate <- struct{}{}
		gate <- struct{}{}
		q.Wait()
		if want := [][]int{{1, 2, 3}, {4, 5, 6}}; !slices.EqualFunc(batches, want, slices.Equal) {
			t.Errorf("got %v, want %v", batches, want)
		}
	})
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q *Queue[int]
		worked := 0
		q = New(0, func([]int) {
			worked++
			q.Add(2) // forgotten
			q.Stop()
		})
		q.Add(1)
		q.Wait()
		if q.Add(3) || worked != 1 {
			t.Errorf("worked %d times, and takes more after it was stopped", worked)
		}
		q.Release(4)
		q.Wait()
		if worked != 1 {
			t.Error("a stopped queue works")
		}
	})
}

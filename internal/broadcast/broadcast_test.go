package broadcast

import (
	"sync"
	"testing"
	"testing/synctest"
)

func TestBroadcast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			mu    sync.Mutex
			b     Broadcast
			state int
		)
		const waiters = 10
		var woken sync.WaitGroup
		await := func(want int) {
			mu.Lock()
			for state < want {
				changed := b.Changed()
				mu.Unlock()
				<-changed
				mu.Lock()
			}
			mu.Unlock()
		}
		for range waiters {
			woken.Go(func() { await(3) })
		}
		for range 3 {
			synctest.Wait()
			mu.Lock()
			state++
			b.Notify()
			mu.Unlock()
		}
		woken.Wait()
		mu.Lock()
		defer mu.Unlock()
		if b.Notify(); b.next != nil {
			t.Error("memory is held although no goroutine waits")
		}
		select {
		case <-b.Changed():
			t.Error("a change is seen that was before")
		default:
		}
	})
}

package access

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestBrake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBrake()
		expect := func(want time.Duration) {
			t.Helper()
			start := time.Now()
			if !b.wait(t.Context()) {
				t.Fatal("sent away")
			}
			if got := time.Since(start); got != want {
				t.Errorf("held for %v, want %v", got, want)
			}
		}
		expect(100 * time.Millisecond)
		expect(200 * time.Millisecond)
		expect(400 * time.Millisecond)
		expect(800 * time.Millisecond)
		for range 70 {
			expect(time.Second)
		}
		time.Sleep(2 * brakeForgets)
		expect(100 * time.Millisecond)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		if !b.wait(ctx) || time.Since(start) != 0 {
			t.Error("a client that has left is held")
		}
	})
}

// A wrong token is not judged faster where other credentials count as well.
func TestAdminBrakes(t *testing.T) {
	text, token := newToken("admin", AllScopes())
	g := New(&Options{Tokens: []Token{token}})
	for _, test := range []struct {
		token string
		ok    bool
		delay time.Duration
	}{{text, true, 0}, {text + "x", false, brakeShortest}, {"", false, 0}, {"sbr_of_a_run", false, 0}} {
		synctest.Test(t, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.Header.Set("Authorization", "Bearer "+test.token)
			r = r.WithContext(context.WithValue(r.Context(), peerKey{}, &peer{}))
			start := time.Now()
			if ok := g.Admin(r); ok != test.ok || time.Since(start) != test.delay {
				t.Errorf("Admin is %v after %v, want %v after %v", ok, time.Since(start), test.ok, test.delay)
			}
		})
	}
}

func TestBrakeIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBrake()
		var held, sent atomic.Int64
		var wg sync.WaitGroup
		for range 10 * brakeSlots {
			wg.Go(func() {
				if b.wait(t.Context()) {
					held.Add(1)
				} else {
					sent.Add(1)
				}
			})
		}
		wg.Wait()
		if held.Load() != brakeSlots || sent.Load() != 9*brakeSlots {
			t.Errorf("%d held, %d sent away", held.Load(), sent.Load())
		}
		if !b.wait(t.Context()) {
			t.Error("the slots are not free again")
		}
	})
}

package claude

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestStateVar(t *testing.T) {
	var v StateVar
	state, changed := v.Get()
	if state != StateIdle {
		t.Fatalf("a new StateVar holds %q", state)
	}
	v.Set(StateIdle)
	select {
	case <-changed:
		t.Fatal("setting the same state was told as a change")
	default:
	}
	v.Set(StateConnected)
	select {
	case <-changed:
	default:
		t.Fatal("a change was not told")
	}
	if state, _ = v.Get(); state != StateConnected {
		t.Fatalf("the state is %q", state)
	}
	v.Set(StateClosed)
	v.Set(StateConnected)
	if state, _ = v.Get(); state != StateClosed {
		t.Fatalf("something followed %q: %q", StateClosed, state)
	}
}

func TestStateVarAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v StateVar
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				state, err := v.Await(t.Context(), StateConnected, StateReconnecting)
				if err != nil || state != StateReconnecting {
					t.Errorf("Await = %q, %v", state, err)
				}
			})
		}
		synctest.Wait()
		v.Set(StateConnecting)
		synctest.Wait()
		v.Set(StateReconnecting)
		wg.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if state, err := v.Await(ctx, StateConnected); !errors.Is(err, context.DeadlineExceeded) || state != StateReconnecting {
			t.Errorf("Await with a deadline = %q, %v", state, err)
		}
		wg.Go(func() {
			if _, err := v.Await(t.Context(), StateConnected); !errors.Is(err, ErrClosed) {
				t.Errorf("Await at the end = %v", err)
			}
		})
		synctest.Wait()
		v.Set(StateClosed)
		wg.Wait()
		if _, err := v.Await(t.Context(), StateClosed); err != nil {
			t.Errorf("Await of the end = %v", err)
		}
	})
}

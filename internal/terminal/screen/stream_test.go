package screen

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// TestStreamIsBounded holds that a stream that nobody reads takes no more than its bounds, and that nothing of it is lost.
func TestStreamIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const frames = 5 * mostFrames
		given := 0
		var group sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		s := newStream(ctx, &group, 1, func(context.Context, func(error, time.Duration)) iter.Seq2[api.Frame, error] {
			return func(yield func(api.Frame, error) bool) {
				for given < frames {
					given++
					if !yield(api.Frame{Type: api.FrameEvent, Event: &api.Event{Seq: int64(given)}}, nil) {
						return
					}
				}
				<-ctx.Done()
				yield(api.Frame{}, ctx.Err())
			}
		})
		synctest.Wait()
		if given != mostFrames {
			t.Fatalf("%d frames were taken before anybody looked", given)
		}
		seen, batches := int64(0), 0
		begin := time.Now()
		for seen < frames {
			b := s.next(ctx).(batch)
			batches++
			for _, f := range b.frames {
				if seen++; f.Event.Seq != seen {
					t.Fatalf("frame %d is number %d", seen, f.Event.Seq)
				}
			}
			synctest.Wait()
		}
		if least := time.Duration(batches-1) * gap; time.Since(begin) < least {
			t.Errorf("%d batches took %v, want at least %v", batches, time.Since(begin), least)
		}
		cancel()
		group.Wait()
	})
}

func TestStreamTellsWhatHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("away")
		next := make(chan error)
		var group sync.WaitGroup
		s := newStream(t.Context(), &group, 7, func(_ context.Context, lost func(error, time.Duration)) iter.Seq2[api.Frame, error] {
			return func(yield func(api.Frame, error) bool) {
				lost(away, time.Second)
				<-next
				yield(api.Frame{Type: api.FrameResume}, nil)
				yield(api.Frame{}, <-next)
			}
		})
		if b := s.next(t.Context()).(batch); !errors.Is(b.lost, away) || b.stream != 7 {
			t.Errorf("without a connection: %+v", b)
		}
		next <- nil
		if b := s.next(t.Context()).(batch); b.lost != nil || len(b.frames) != 1 {
			t.Errorf("with one: %+v", b)
		}
		gone := errors.New("gone")
		next <- gone
		if b := s.next(t.Context()).(batch); !errors.Is(b.err, gone) {
			t.Errorf("at the end: %+v", b)
		}
		group.Wait()
	})
}

func TestListIsReadSeldom(t *testing.T) {
	hub, s := blog()
	drive(t, hub, Options{Session: s.snapshot.ID}, 120, 40, func(d *driver) {
		d.pass(5 * time.Second)
		before := d.calls("List")
		if before != 1 {
			t.Errorf("the list was read %d times to begin with", before)
		}
		for range 50 { // a busy session: two changes in each tenth of a second, for five seconds
			hub.happen(s, state(api.StateRunning))
			hub.happen(s, state(api.StateIdle))
			d.pass(100 * time.Millisecond)
		}
		if n := d.calls("List") - before; n < 2 || n > 8 {
			t.Errorf("the list was read %d times in 5 s", n)
		}
		d.pass(3 * time.Second)
		before = d.calls("List")
		d.pass(time.Minute)
		if n := d.calls("List"); n != before {
			t.Errorf("the list was read %d times more while nothing happened", n-before)
		}
	})
}

func TestLongList(t *testing.T) {
	hub := newFakeHub()
	for n := range 120 {
		last, event := short(said("Session " + itoa(n) + " speaks."))
		hub.add("s"+itoa(1000+n)+"aaaaaaaaaaaaaaaa", "Number "+itoa(n), last, event)
	}
	drive(t, hub, Options{Session: "s1000aaaaaaaaaaaaaaaa"}, 80, 24, func(d *driver) {
		d.keys("ctrl+l")
		d.wants("Number 0")
		if d.calls("List") != 1 {
			t.Fatalf("the list was read %d times", d.calls("List"))
		}
		d.keys("G")
		d.pass(2 * time.Second)
		d.keys("down")
		d.wants("Number 50")
		d.keys("enter")
		d.pass(time.Second)
		d.wants("Session 50 speaks.")
	})
}

package pane

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// TestStreamIsBounded holds that a stream that nobody reads takes no more than its bounds, and that nothing of it is lost.
func TestStreamIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const frames = 5 * maxFrames
		given := 0
		jobs := NewJobs(t.Context())
		ctx := t.Context()
		s := jobs.Stream(1, func(ctx context.Context, _ func(error, time.Duration)) iter.Seq2[api.Frame, error] {
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
		if given != maxFrames {
			t.Fatalf("%d frames were taken before anybody looked", given)
		}
		seen, batches := int64(0), 0
		begin := time.Now()
		for seen < frames {
			b := s.Next(ctx).(Batch)
			batches++
			for _, f := range b.Frames {
				if seen++; f.Event.Seq != seen {
					t.Fatalf("frame %d is number %d", seen, f.Event.Seq)
				}
			}
			synctest.Wait()
		}
		if least := time.Duration(batches-1) * gap; time.Since(begin) < least {
			t.Errorf("%d batches took %v, want at least %v", batches, time.Since(begin), least)
		}
		jobs.Close()
	})
}

func TestStreamTellsWhatHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("away")
		next := make(chan error)
		jobs := NewJobs(t.Context())
		s := jobs.Stream(7, func(_ context.Context, lost func(error, time.Duration)) iter.Seq2[api.Frame, error] {
			return func(yield func(api.Frame, error) bool) {
				lost(away, time.Second)
				<-next
				yield(api.Frame{Type: api.FrameResume}, nil)
				yield(api.Frame{}, <-next)
			}
		})
		if b := s.Next(t.Context()).(Batch); !errors.Is(b.Lost, away) || b.Stream != 7 {
			t.Errorf("without a connection: %+v", b)
		}
		next <- nil
		if b := s.Next(t.Context()).(Batch); b.Lost != nil || len(b.Frames) != 1 {
			t.Errorf("with one: %+v", b)
		}
		gone := errors.New("gone")
		next <- gone
		if b := s.Next(t.Context()).(Batch); !errors.Is(b.Err, gone) {
			t.Errorf("at the end: %+v", b)
		}
		jobs.Close()
	})
}

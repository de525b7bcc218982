package screen

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
)

const (
	// gap is the shortest time between two batches of a stream, so that there are at most 20 redraws in a second however fast an agent writes.
	gap = 50 * time.Millisecond
	// mostFrames and mostBytes are how much is taken before the last batch was looked at. The server waits for those who are slower, or has them
	// read the journal.
	mostFrames = 2000
	mostBytes  = 8 << 20
)

// A batch is what a stream brought since the last one.
type batch struct {
	stream int // its number: what a stream brings that was left is nothing
	frames []api.Frame
	// lost is why there is no connection, nil while there is one.
	lost error
	// err is the last thing that comes.
	err error
}

// A stream follows something and hands on what comes in batches. Its goroutine is started by newStream, and joined by the group it was started in.
type stream struct {
	number int
	cancel context.CancelFunc

	mu      sync.Mutex
	batch   batch
	bytes   int
	changed chan struct{} // holds one: there is something
	room    chan struct{} // holds one: something was taken
	last    time.Time     // when a batch was handed on
}

// newStream starts to follow. follow is given the function to call when the connection is lost.
func newStream(ctx context.Context, group *sync.WaitGroup, number int, follow func(ctx context.Context, lost func(error, time.Duration)) iter.Seq2[api.Frame, error]) *stream {
	ctx, cancel := context.WithCancel(ctx)
	s := &stream{number: number, cancel: cancel, changed: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	group.Go(func() {
		defer cancel()
		lost := func(err error, _ time.Duration) {
			s.mu.Lock()
			s.batch.lost = err
			s.mu.Unlock()
			signal(s.changed)
		}
		for frame, err := range follow(ctx, lost) {
			if !s.take(ctx, frame, err) {
				return
			}
		}
		s.take(ctx, api.Frame{}, errors.New("the stream of events has ended"))
	})
	return s
}

// signal says that something has happened, if that was not said already.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// take adds to the batch, and waits while it is too big.
func (s *stream) take(ctx context.Context, frame api.Frame, err error) bool {
	s.mu.Lock()
	if err != nil {
		s.batch.err = err
	} else {
		s.batch.frames = append(s.batch.frames, frame)
		s.batch.lost = nil
		s.bytes += weight(&frame)
	}
	full := len(s.batch.frames) >= mostFrames || s.bytes >= mostBytes
	s.mu.Unlock()
	signal(s.changed)
	for full && err == nil {
		select {
		case <-s.room:
		case <-ctx.Done():
			return false
		}
		s.mu.Lock()
		full = len(s.batch.frames) >= mostFrames || s.bytes >= mostBytes
		s.mu.Unlock()
	}
	return err == nil && ctx.Err() == nil
}

// weight is about how much memory a frame takes.
func weight(f *api.Frame) int {
	if f.Event == nil {
		return 200
	}
	return 200 + len(f.Event.Line) + len(f.Event.Data) + len(f.Event.Text) + len(f.Event.Base64)
}

// next is the command that waits for the next batch. One at a time may run.
func (s *stream) next(ctx context.Context) tea.Msg {
	select {
	case <-s.changed:
	case <-ctx.Done():
		return nil
	}
	if wait := gap - time.Since(s.last); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select { // what was said meanwhile is in this batch
	case <-s.changed:
	default:
	}
	b := s.batch
	b.stream = s.number
	s.batch, s.bytes, s.last = batch{lost: b.lost}, 0, time.Now()
	signal(s.room)
	return b
}
